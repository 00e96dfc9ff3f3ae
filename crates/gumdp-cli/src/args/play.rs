//! Arguments of `gumdp run` and `gumdp compare`.

use std::path::PathBuf;

use clap::Args;
use gumdp::Risk;
use gumdp::planner::MAX_SIMULATIONS;

use super::{LuckArgs, MAX_RUNS, PolicyArgs, beta, precision, risk, whole};

/// Arguments of `gumdp run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp run rooms\n  gumdp run mdp --beta 0.1,5,10 --runs 1000 --json\n  gumdp run mine.toml --beta -1,0,inf --policy exact\n  gumdp run rooms --risk mean,cvar:0.95,evar:0.95,worst\n  gumdp run grid-mo --preset paper --out paper-grid-mo\n  gumdp run msee --precision 0.005"
)]
pub struct RunArgs {
    /// What is played.
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// Who plays.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Play more until the 95 % interval of the risk is at most this far to either side and costs that matter would have been
    /// met; says how many runs that needs.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = precision)]
    pub precision: Option<f64>,
    /// Never play more runs per β than this for --precision.
    #[arg(long, value_name = "N", requires = "precision", default_value_t = 100_000, allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub max_runs: u64,
}

/// Arguments of `gumdp compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp compare msee\n  gumdp compare grid-mo --beta 1,8 --runs 1000 --out mo\n  gumdp compare mine.toml --beta 0,10 --simulations 2000 --json"
)]
pub struct CompareArgs {
    /// What is played.
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// Solve the problem exactly if it has at most this many occupancy states (default: 20000000, within 256 MiB).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
}

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
