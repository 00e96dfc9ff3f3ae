//! Arguments that several commands have, and what their values may be. Those of one command are in its own file.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gumdp::{MAX_SIMULATIONS, Risk};

/// More runs than this are a typing error.
pub const MAX_RUNS: u64 = 1_000_000_000;

/// What is played, and what becomes of it.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// Attitudes to risk, separated by commas: 0 is the mean, inf the worst case, negative seeks risk (default: the task's).
    #[arg(long, short, value_name = "B,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = beta)]
    pub beta: Vec<f64>,
    /// Risk measures instead, separated by commas: mean, worst, best, erm:B, entropic-seeking:B (negative β),
    /// cvar:LEVEL, evar:LEVEL or mean-cvar:LEVEL:WEIGHT.
    #[arg(long, value_name = "MEASURE,…", value_delimiter = ',', value_parser = risk, conflicts_with = "beta")]
    pub risk: Vec<Risk>,
    /// Episodes per β (default: the task's).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Simulations per decision of a planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS))]
    pub simulations: Option<u64>,
    /// Random numbers and threads.
    #[command(flatten)]
    pub luck: LuckArgs,
    /// Folder for results and figures (default: one below gumdp-out; with --json nothing is written unless this is given).
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON array instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// One attitude to risk, by either option.
#[derive(Debug, Args)]
pub struct AttitudeArgs {
    /// Attitude to risk: 0 is the mean, inf the worst case, negative seeks risk; the same as --risk erm:B.
    #[arg(long, short, value_name = "B", allow_hyphen_values = true, value_parser = beta)]
    pub beta: Option<f64>,
    /// Risk measure: mean, worst, best, erm:B, entropic-seeking:B (negative β), cvar:LEVEL, evar:LEVEL or
    /// mean-cvar:LEVEL:WEIGHT.
    #[arg(long, value_name = "MEASURE", value_parser = risk, conflicts_with = "beta")]
    pub risk: Option<Risk>,
}

/// Random numbers, and the threads that share them.
#[derive(Clone, Copy, Debug, Args)]
pub struct LuckArgs {
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub seed: u64,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
}

/// Who chooses the actions.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Settings of the planner; `paper` implies `--policy planner`.
    #[arg(long, value_enum)]
    pub preset: Option<Preset>,
    /// Who chooses the actions (default: auto).
    #[arg(long, value_enum)]
    pub policy: Option<PolicyName>,
    /// Refuse to solve problems with more occupancy states than this (default: 20000000, within 256 MiB, for auto; 50000000
    /// for exact).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
}

/// Settings of the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// The published algorithm with the task's settings.
    Paper,
    /// The guided planner, the best there is; it needs the model's probabilities.
    Default,
}

/// Who chooses the actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicyName {
    /// The exact optimum if it can be computed soon, else the planner.
    Auto,
    /// The guided planner, or ERM-MCTS with `--preset paper`.
    Planner,
    /// Every action equally likely.
    Uniform,
    /// The exact optimum, where it can be computed.
    Exact,
    /// ERM backward induction, for linear objectives.
    BackwardInduction,
}

pub fn beta(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        // Minus zero is zero: the sum has no sign.
        Ok(beta) if !beta.is_nan() => Ok(beta + 0.0),
        _ => Err("it must be a number in [-inf, inf]".to_owned()),
    }
}

pub fn risk(text: &str) -> Result<Risk, String> {
    text.parse().map_err(|error: gumdp::ParseRiskError| error.to_string())
}

/// A whole number of a range.
pub fn whole(low: u64, high: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| match text.trim().parse::<u64>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(format!("it must be a whole number in [{low}, {high}]")),
    }
}

/// Half the width of an interval.
pub fn precision(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("it must be a positive number, half the width of the interval".to_owned()),
    }
}

pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count @ 1..=1024) => Ok(count),
        _ => Err("it must be a whole number in [1, 1024]".to_owned()),
    }
}

/// A time with a unit: 50ms, 2s, 1.5s.
pub fn duration(text: &str) -> Result<Duration, String> {
    let refusal = || "it must be a time such as 50ms, 2s or 1.5s, more than 0 and at most one day".to_owned();
    let (number, seconds_per_unit) = if let Some(number) = text.strip_suffix("ms") {
        (number, 1e-3)
    } else if let Some(number) = text.strip_suffix("us") {
        (number, 1e-6)
    } else if let Some(number) = text.strip_suffix('s') {
        (number, 1.0)
    } else {
        return Err(refusal());
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| refusal())? * seconds_per_unit;
    if seconds > 0.0 && seconds <= 86_400.0 { Ok(Duration::from_secs_f64(seconds)) } else { Err(refusal()) }
}
