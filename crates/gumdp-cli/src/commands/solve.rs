//! `gumdp solve`: the exact optimum.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::{self, Distribution, Limits, Solution};
use gumdp::trials::{InfiniteTrials, Trials, TrialsError, solve as solve_trials};
use gumdp::{Cvar, Outer, Risk};
use gumdp_files::{SavedPolicy, Task};
use serde::Serialize;

use super::{Run, load, print_json, use_threads};
use crate::args::{AttitudeArgs, only_the_mean, threads, trials, whole};
use crate::exact::{Certain, unsolved};
use crate::failure::BadInput;
use crate::number::{Attitude, counted, exact_to, long, long_below};
use crate::progress::Progress;
use crate::store::put;

/// Occupancy states that the tail of the cost may take, even if the solution took fewer.
const TAIL_STATES: u64 = 2_000_000;

/// Compute the exact optimum.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp solve msee --beta 50\n  gumdp solve msee --risk cvar:0.95\n  gumdp solve grid-mo --risk mean-cvar:0.9:0.5 --json\n  gumdp solve rooms --beta 10 --save careful.json\n  gumdp solve mine.toml --beta inf --max-states 200000000\n  gumdp solve msee --trials inf --save expected.json"
)]
pub struct SolveArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitude to risk.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
    /// 1 minimises the risk of an episode's cost; inf minimises f of the expected occupancy, the classical problem of infinitely many
    /// trials, for convex objectives and without risk.
    #[arg(long, value_name = "K", default_value = "1", allow_hyphen_values = true, value_parser = trials)]
    pub trials: Trials,
    /// Refuse problems with more occupancy states than this.
    #[arg(long, value_name = "N", default_value_t = 50_000_000, allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: u64,
    /// Use this many threads (default: all cores).
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// Save the optimal policy to this JSON file, for `gumdp evaluate`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// A JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The exact optimum of a problem for one risk measure.
#[derive(Serialize)]
struct Solved<'a> {
    task: &'a str,
    #[serde(flatten)]
    attitude: Attitude,
    #[serde(serialize_with = "crate::trials::serialize")]
    trials: Trials,
    /// The risk of the best policy found, and where the lowest possible one certainly lies.
    #[serde(flatten)]
    lowest: Certain,
    /// The outer variable, for measures that are a minimum over one.
    outer: Option<OuterJson>,
    /// `null` for infinitely many trials.
    mean: Option<f64>,
    method: String,
    states: u64,
    solves: u64,
    seconds: f64,
}

/// The outer variable in JSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OuterJson {
    /// Its name.
    pub variable: &'static str,
    /// Its value.
    #[serde(with = "crate::number")]
    pub value: f64,
}

impl From<Outer> for OuterJson {
    fn from(Outer { variable, value }: Outer) -> Self {
        Self { variable, value }
    }
}

impl Run for SolveArgs {
    /// Prints the exact optimum, and saves the policy that attains it if that is wanted.
    fn run(&self) -> Result<()> {
        use_threads(self.threads)?;
        let task = load(&self.task)?;
        if self.trials != Trials::Finite(1) {
            return self.of_trials(&task);
        }
        let risk = self.attitude.risk(&task)?;
        let progress = Progress::spinner("solving");
        let limits = Limits { max_states: self.max_states, ..Limits::default() };
        let started = Instant::now();
        let solution = oracle::solve(&task.problem, risk, &limits).map_err(|error| unsolved(&task.name, &error))?;
        // The distribution may be far larger than the solution: it is shown where it takes no more, or little.
        let shown =
            Limits { max_states: solution.states.clamp(TAIL_STATES.min(self.max_states), self.max_states), ..limits };
        let distribution = match risk.beta() {
            None if !self.json => oracle::distribution(&task.problem, &solution.policy(), &shown).ok(),
            _ => None,
        };
        let seconds = started.elapsed().as_secs_f64();
        drop(progress);
        if let Some(path) = &self.save {
            save(path, &task, risk, &solution)?;
        }
        let lowest = Certain::from(&solution);
        let Solution { low, high, outer, mean, states, solves, .. } = solution;
        let method = solution.method.to_string();
        if self.json {
            let (task, attitude, outer) = (&task.name, risk.into(), outer.map(OuterJson::from));
            let (mean, trials) = (Some(mean), self.trials);
            return print_json(&Solved {
                task,
                attitude,
                trials,
                lowest,
                outer,
                mean,
                method,
                states,
                solves,
                seconds,
            });
        }
        let mut out = crate::talk::stdout();
        writeln!(out, "{}, {}", task.name, self.attitude.naming(&task).label(risk))?;
        if risk.beta().is_some() {
            writeln!(out, "  optimal ERM  {}", exact_to(12, high))?;
            writeln!(out, "  mean cost    {}", exact_to(12, mean))?;
            writeln!(out, "  by {method}: {} in {seconds:.3} s", counted(states, "state"))?;
            return Ok(());
        }
        writeln!(out, "  lowest risk  {}, certainly not below {}", long(high), long_below(low))?;
        if let Some(outer) = outer {
            writeln!(out, "  at           {outer} (fixed at the first decision)")?;
        }
        writeln!(out, "  mean cost    {}", long(mean))?;
        if let Some(distribution) = distribution {
            print_tail(&distribution, &mut out)?;
        }
        let (solves, states) = (counted(solves, "solve"), counted(states, "state"));
        writeln!(out, "  by {method}: {solves}, {states} in {seconds:.3} s")?;
        Ok(())
    }
}

impl SolveArgs {
    /// Prints the lowest f of an expected occupancy, and saves the policy that has it if that is wanted.
    fn of_trials(&self, task: &Task) -> Result<()> {
        if let Trials::Finite(count) = self.trials {
            return Err(BadInput::new(format!("solve knows --trials 1 and inf, not {count}"))
                .hint(format!("gumdp evaluate TASK --policy P --trials {count} computes the mean for a policy"))
                .into());
        }
        only_the_mean(self.attitude.beta.as_slice(), self.attitude.risk.as_slice())?;
        let progress = Progress::spinner("solving");
        let limits = Limits { max_states: self.max_states, ..Limits::default() };
        let started = Instant::now();
        let found = solve_trials(&task.problem, &limits).map_err(|error| match error {
            TrialsError::Oracle(error) => unsolved(&task.name, &error),
            TrialsError::NotConvex => BadInput::new(format!("{}: {error}", task.name))
                .hint("gumdp solve TASK --beta 0 minimises the mean cost of an episode, for any objective")
                .into(),
        })?;
        let seconds = started.elapsed().as_secs_f64();
        drop(progress);
        if let Some(path) = &self.save {
            put(path, "the policy is", &SavedPolicy::text_of_markov(task, &found.policy).map_err(BadInput::new)?)?;
        }
        let InfiniteTrials { value, low, solves, .. } = found;
        let states = (task.problem.mdp().state_count() * task.problem.horizon()) as u64;
        if self.json {
            return print_json(&Solved {
                task: &task.name,
                attitude: Risk::MEAN.into(),
                trials: self.trials,
                lowest: Certain { value, low, high: value },
                outer: None,
                mean: None,
                method: "tangents of f, each solved by backward induction".to_owned(),
                states,
                solves,
                seconds,
            });
        }
        let mut out = crate::talk::stdout();
        writeln!(out, "{}, infinitely many trials", task.name)?;
        writeln!(out, "  lowest f(E d)  {}, certainly not below {}", long(value), long_below(low))?;
        writeln!(
            out,
            "  by a policy of time and state, with chance; {} in {seconds:.3} s",
            counted(solves, "linear problem")
        )?;
        Ok(())
    }
}

/// The upper tail of the cost under the best policy.
fn print_tail(distribution: &Distribution, out: &mut impl Write) -> Result<()> {
    for level in [0.9, 0.95, 0.99] {
        let tail = distribution.risk(Cvar::new(level)?.into());
        let (percent, quantile) = (100.0 * level, distribution.quantile(level));
        writeln!(
            out,
            "  {percent:.0} % of costs are at most {}; the others cost {} on average (CVaR)",
            long(quantile),
            long(tail)
        )?;
    }
    writeln!(out, "  worst cost   {}", long(distribution.max()))?;
    Ok(())
}

/// Saves an optimal policy and says so.
pub fn save(path: &Path, task: &Task, risk: Risk, solution: &Solution) -> Result<()> {
    let spinner = Progress::spinner("saving");
    let text = SavedPolicy::text_of_solution(task, risk, solution).map_err(|error| {
        BadInput::new(error).hint("shorten the horizon, or play it without saving it: gumdp run TASK --policy exact")
    })?;
    drop(spinner);
    put(path, "the optimal policy is", &text)
}
