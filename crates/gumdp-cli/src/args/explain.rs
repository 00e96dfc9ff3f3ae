//! Arguments of `gumdp explain`.

use std::path::PathBuf;

use clap::Args;
use gumdp::planner::MAX_SIMULATIONS;

use super::{AttitudeArgs, LuckArgs, whole};

/// Arguments of `gumdp explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp explain rooms --beta 50\n  gumdp explain msee --beta 0.1 --depth 4 --out why\n  gumdp explain rooms --risk cvar:0.95\n  gumdp explain grid-msee --beta 1 --runs 20\n\nThe variable that CVaR and EVaR are minima over is fixed at its best value."
)]
pub struct ExplainArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitude to risk.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
    /// Show this many turns of chance, one after the other.
    #[arg(long, value_name = "D", default_value_t = 3, allow_negative_numbers = true, value_parser = whole(0, 100))]
    pub depth: u64,
    /// Show at most this many situations; the most likely come first.
    #[arg(long, value_name = "N", default_value_t = 24, allow_negative_numbers = true, value_parser = whole(1, 10_000))]
    pub nodes: u64,
    /// Solve the problem exactly if it has at most this many occupancy states (default: 20000000, within 256 MiB); else plan.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
    /// Simulations per decision of the planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS))]
    pub simulations: Option<u64>,
    /// Episodes played on from each situation to estimate its risk, where the problem is planned and not solved.
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true, value_parser = whole(1, 1_000_000))]
    pub runs: u64,
    /// Random numbers and threads.
    #[command(flatten)]
    pub luck: LuckArgs,
    /// Folder for the tree as SVG, HTML, text and JSON.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}
