//! A frontier by playing, where a problem or the distributions of its costs are too large: every level with common random numbers.

use std::collections::BTreeMap;

use super::{Behaviour, Change, Frontier, Point, TAIL};
use crate::agent::{Agent, AgentError, Spec, Who};
use crate::experiment::{Experiment, ExperimentError, Record, Watch};
use crate::model::{Mdp, Pair};
use crate::oracle::{Distribution, OracleError};
use crate::problem::Problem;
use crate::risk::{Cvar, Erm, Risk, RiskError};
use crate::stats::{self, Interval, Statistic, paired_intervals};

/// The confidence of intervals that decide whether there is a change: three are looked at.
const DECIDING: f64 = 0.99;

/// How a frontier was sampled.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Sampled {
    /// Episodes at each level.
    pub runs: u64,
    /// Simulations per decision; `None` if the optimum played, which could be solved, while its distribution was too large.
    pub simulations: Option<u64>,
    /// Why it is not exact.
    pub because: String,
    /// One for each level.
    pub intervals: Vec<Intervals>,
}

/// 95 % intervals of what is known of a level by sampling, besides that of its risk.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Intervals {
    /// Of the mean.
    pub mean: (f64, f64),
    /// Of the mean of the worst 5 %.
    pub cvar95: (f64, f64),
}

/// Why nothing was sampled.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// There is nobody who plays.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A run could not be played.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// There are no costs.
    #[error(transparent)]
    Costs(#[from] RiskError),
}

impl SampleError {
    /// Whether it ended because it was asked to [stop](crate::Stop).
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Agent(error) => *error == AgentError::Oracle(OracleError::Stopped),
            Self::Experiment(error) => error.is_stopped(),
            Self::Costs(_) => false,
        }
    }
}

/// Plays at each level whom the spec says, for the measure of the level; [`Who::Auto`] solves again only if it could the first
/// time. If it is stopped, what is known of two levels or more is kept ([`Frontier::ended`]). Behaviours are those of the levels; there is a change
/// where the 99 % interval of the paired difference of mean, risk or worst 5 % to the level before excludes 0. `because` says
/// why the frontier is not [exact](super::exact()); `begin` is told of each level before it is played.
///
/// ```
/// use gumdp::oracle::OracleError;
/// use gumdp::{Budget, GuidedSettings, Risk, Spec, Who, frontier};
/// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
/// let who = Who::Guided(GuidedSettings::default());
/// let spec = Spec { budget: Some(Budget::simulations(50)), ..Spec::new(who, Risk::MEAN) };
/// let because = OracleError::TooLarge { reached: 0, projected: None, limit: 0 };
/// let levels = ["mean".parse()?, "erm:50".parse()?];
/// let found = frontier::sampled(&problem, &levels, &spec, 40, &because, &(), |_| {})?;
/// assert!(found.points.iter().all(|point| point.low <= point.value && point.value <= point.high));
/// assert_eq!(found.sampled.unwrap().intervals.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If nobody can be made that plays, or a run could not be played.
pub fn sampled(
    problem: &Problem,
    risks: &[Risk],
    spec: &Spec,
    runs: u64,
    because: &OracleError,
    watch: &dyn Watch,
    begin: impl Fn(Risk),
) -> Result<Frontier, SampleError> {
    let (mut points, mut behaviours, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut intervals, mut earlier, mut ended) = (Vec::new(), None::<Vec<f64>>, None);
    let (mut who, mut planned) = (spec.who.clone(), false);
    for (number, &risk) in risks.iter().enumerate() {
        begin(risk);
        let play = || -> Result<_, SampleError> {
            let agent = Agent::new(problem, &Spec { risk, who: who.clone(), ..spec.clone() })?;
            let stop = &spec.limits.stop;
            let experiment = Experiment { stop, watch, ..Experiment::new(problem, agent.policy(), spec.seed) };
            Ok((experiment.play(Vec::new(), runs)?, agent.solution().is_some()))
        };
        let (records, solved) = match play() {
            Err(error) if number > 1 && error.is_stopped() => {
                ended = Some(OracleError::Stopped);
                break;
            }
            played => played?,
        };
        planned |= !solved;
        if let (Who::Auto(settings), false) = (&who, solved) {
            who = Who::Guided(settings.clone());
        }
        let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
        let behaviour = Behaviour::of_runs(problem, &records)?;
        let shown = [Risk::MEAN, Cvar::new(TAIL)?.into(), risk].map(Statistic::Risk);
        let found = stats::intervals(&costs, &shown, problem.objective().bounds(), spec.seed);
        let [mean, cvar95, (low, high)] = [0, 1, 2].map(|k: usize| (found[k].0.low, found[k].0.high));
        intervals.push(Intervals { mean, cvar95 });
        points.push(Point { risk, value: behaviour.costs.risk(risk), low, high, behaviour: number });
        behaviours.push(behaviour);
        if let Some(earlier) = &earlier {
            let difference = |both: &[Vec<(f64, f64)>]| {
                let [old, new] = [0, 1].map(|k| measured(&both[k], risk));
                [0, 1, 2].map(|k| new[k] - old[k])
            };
            let differences = paired_intervals(&[earlier, &costs], DECIDING, spec.seed, difference);
            if differences.iter().any(|&Interval { low, high }| low > 0.0 || high < 0.0) {
                changes.push(Change { before: number - 1, after: number, level: None, point: number });
            }
        }
        earlier = Some(costs);
    }
    let simulations = spec.budget.filter(|_| planned).and_then(|budget| budget.simulations);
    let sampled = Some(Sampled { runs, simulations, because: because.in_short(), intervals });
    Ok(Frontier { points, behaviours, changes, complete: true, ended, sampled })
}

impl Behaviour {
    /// What was seen in some runs.
    ///
    /// # Errors
    /// There are none.
    pub fn of_runs(problem: &Problem, runs: &[Record]) -> Result<Self, RiskError> {
        let costs: Vec<f64> = runs.iter().map(|record| record.cost).collect();
        let costs = Distribution::of_samples(&costs).ok_or(RiskError::NoOutcomes)?;
        let mut visits = vec![0.0; problem.mdp().pair_count()];
        let mut occupancy = visits.clone();
        let count = runs.len() as f64;
        for (&pair, mass) in runs.iter().flat_map(|record| record.path.iter().zip(problem.masses())) {
            visits[pair as usize] += 1.0 / count;
            occupancy[pair as usize] += mass / count;
        }
        let first = first_pairs(problem.mdp(), runs.iter().filter_map(|record| record.path.first().copied()));
        Ok(Self { costs, visits, occupancy, first })
    }
}

/// Mean, mean of the worst 5 %, and risk.
fn measured(costs: &[(f64, f64)], risk: Risk) -> [f64; 3] {
    let tail = Cvar::new(TAIL).and_then(|cvar| Risk::from(cvar).of_distribution(costs)).unwrap_or(f64::NAN);
    [Erm::MEAN.of_outcomes(costs.iter().copied()), tail, risk.of_distribution(costs).unwrap_or(f64::NAN)]
}

/// What is done first most often in each initial state that was met. Every level meets the same ones.
fn first_pairs(mdp: &Mdp, first: impl Iterator<Item = u32>) -> Vec<Pair> {
    let mut counts = BTreeMap::<u32, u64>::new();
    for pair in first {
        *counts.entry(pair).or_default() += 1;
    }
    let mut often: Vec<(Pair, u64)> = Vec::new();
    for (pair, count) in counts.into_iter().map(|(pair, count)| (Pair::from(pair), count)) {
        match often.iter_mut().find(|(other, _)| mdp.state(*other) == mdp.state(pair)) {
            Some(known) if known.1 < count => *known = (pair, count),
            Some(_) => (),
            None => often.push((pair, count)),
        }
    }
    often.into_iter().map(|(pair, _)| pair).collect()
}
