//! Arguments that several commands have.

use clap::{Args, ValueEnum};
use gumdp::Risk;

use super::{beta, risk, threads, whole};

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
