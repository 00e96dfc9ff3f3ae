//! Arguments of `gumdp frontier`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gumdp::planner::MAX_SIMULATIONS;

use super::{LuckArgs, beta, whole};

/// Arguments of `gumdp frontier`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp frontier rooms\n  gumdp frontier msee --levels 0,1,10,100,inf --out careful\n  gumdp frontier grid-mo --risk cvar --levels 0,0.5,0.9,0.95 --json\n  gumdp frontier grid-msee --runs 50\n\nEvery level meets the same luck."
)]
pub struct FrontierArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The measure whose level is swept: erm (its β), cvar or evar.
    #[arg(long, value_enum, default_value_t = SweptName::Erm)]
    pub risk: SweptName,
    /// Levels, separated by commas: β in [-inf, inf] for erm (default: 50 from 0 to inf), else in [0, 1] (default: 21 from 0
    /// to 0.99); 6 by default where the planner plays.
    #[arg(long, value_name = "L,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = beta)]
    pub levels: Vec<f64>,
    /// Solve the problem exactly if it has at most this many occupancy states (default: 20000000, within 256 MiB); else the
    /// planner plays at each level.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
    /// Episodes at each level, where the problem is planned and not solved.
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = whole(2, 1_000_000))]
    pub runs: u64,
    /// Simulations per decision of the planner (default: the task's).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = whole(1, MAX_SIMULATIONS))]
    pub simulations: Option<u64>,
    /// Random numbers and threads.
    #[command(flatten)]
    pub luck: LuckArgs,
    /// Folder for results, figures and report (default: gumdp-out/frontier-TASK; with --json nothing is written unless this is
    /// given).
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The measures with a level to sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SweptName {
    /// Entropic risk, over β.
    Erm,
    /// Conditional value at risk: the mean of the worst 1 − level.
    Cvar,
    /// Entropic value at risk.
    Evar,
}
