//! Arguments of `gumdp solve` and `gumdp plan`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gumdp::planner::MAX_SIMULATIONS;

use super::parse::duration;
use super::{AttitudeArgs, PolicyArgs, threads, whole};

/// Arguments of `gumdp solve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp solve msee --beta 50\n  gumdp solve msee --risk cvar:0.95\n  gumdp solve grid-mo --risk mean-cvar:0.9:0.5 --json\n  gumdp solve rooms --beta 10 --save careful.json\n  gumdp solve mine.toml --beta inf --max-states 200000000"
)]
pub struct SolveArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitude to risk.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
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

/// Arguments of `gumdp plan`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp plan rooms --beta 10\n  gumdp plan rooms --risk cvar:0.9\n  gumdp plan grid-mo --beta 8 --time-limit 50ms\n  gumdp plan msee --beta 50 --state s2 --policy planner --simulations 5000"
)]
pub struct PlanArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitude to risk.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
    /// The state to decide in, at time 0 (default: the task's first initial state).
    #[arg(long, value_name = "S")]
    pub state: Option<String>,
    /// Simulations of the planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS), conflicts_with = "time_limit")]
    pub simulations: Option<u64>,
    /// Plan for this long instead, such as 50ms or 2s; implies `--policy planner`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// Who decides.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub seed: u64,
    /// Save the optimal policy, or the planner's settings, to this JSON file, for `gumdp evaluate`.
    #[arg(long, value_name = "FILE", conflicts_with = "time_limit")]
    pub save: Option<PathBuf>,
    /// A JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
}
