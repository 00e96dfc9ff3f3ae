//! Means over several trials, in tables and in JSON.

use std::io::Write;

use anyhow::Result;
use gumdp::oracle::OracleError;
use gumdp::trials::{EvaluationError, Trials, TrialsValue};
use gumdp::{EpisodeError, RunError};
use gumdp_plot::{Field, Table};
use serde::{Serialize, Serializer};

use crate::failure::{BadInput, Interrupted};
use crate::number::{interval, short};

/// Writes a number of trials; infinitely many as a string.
pub fn serialize<S: Serializer>(trials: &Trials, serializer: S) -> Result<S::Ok, S::Error> {
    match trials {
        Trials::Finite(count) => serializer.serialize_u64(*count),
        Trials::Infinite => serializer.serialize_str("inf"),
    }
}

/// The means of a policy for several numbers of trials.
#[derive(Serialize)]
pub struct OfTrials<'a> {
    task: &'a str,
    policy: &'a str,
    seed: u64,
    means: Vec<Mean>,
}

#[derive(Serialize)]
struct Mean {
    #[serde(serialize_with = "serialize")]
    trials: Trials,
    value: f64,
    low: f64,
    high: f64,
    exact: bool,
    episodes: Option<u64>,
    sampled_because: Option<String>,
}

impl From<TrialsValue> for Mean {
    fn from(TrialsValue { trials, value, low, high, sampled }: TrialsValue) -> Self {
        let (episodes, exact) = (sampled.as_ref().map(|sampled| sampled.episodes), sampled.is_none());
        Self { trials, value, low, high, exact, episodes, sampled_because: sampled.map(|sampled| sampled.because) }
    }
}

impl<'a> OfTrials<'a> {
    /// What was found.
    pub fn new(task: &'a str, policy: &'a str, seed: u64, means: Vec<TrialsValue>) -> Self {
        Self { task, policy, seed, means: means.into_iter().map(Mean::from).collect() }
    }

    /// A table.
    pub fn print(&self, heading: &str, out: &mut impl Write) -> Result<()> {
        writeln!(out, "{heading}\n{}", self.policy)?;
        writeln!(out, "mean of f over the average occupancy of several trials; lower is better\n")?;
        let sampled = self.means.iter().any(|mean| !mean.exact);
        let fields = |mean: &Mean| {
            let between = if mean.exact { "exact".to_owned() } else { interval(mean.low, mean.high) };
            let known = sampled.then(|| Field::number("95% interval", between));
            let named =
                [Field::number("trials", mean.trials.to_string()), Field::number("mean of f", short(mean.value))];
            named.into_iter().chain(known).collect()
        };
        Table::of(&self.means, fields).print(out)?;
        writeln!(out)?;
        if !sampled {
            writeln!(out, "exact")?;
        }
        for Mean { trials, episodes, sampled_because, .. } in &self.means {
            if let (Some(episodes), Some(because)) = (episodes, sampled_because) {
                writeln!(out, "{trials}: sampled from {episodes} episodes, seed {} ({because})", self.seed)?;
            }
        }
        Ok(())
    }
}

/// Why there is no mean.
pub fn refused(error: EvaluationError) -> anyhow::Error {
    match error {
        EvaluationError::Oracle(error @ OracleError::NotFinite) => error.into(),
        EvaluationError::Oracle(OracleError::Stopped)
        | EvaluationError::Run(RunError { error: EpisodeError::Stopped { .. }, .. }) => Interrupted.into(),
        EvaluationError::Run(error) => error.into(),
        EvaluationError::TooFew { .. } => BadInput::new(error).hint("raise --runs").into(),
        EvaluationError::Oracle(error) => BadInput::new(error).into(),
    }
}
