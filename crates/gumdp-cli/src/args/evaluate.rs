//! Arguments of `gumdp evaluate`.

use std::path::PathBuf;

use clap::Args;
use gumdp::Risk;

use super::{MAX_RUNS, beta, precision, risk, threads, whole};

/// Arguments of `gumdp evaluate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp evaluate rooms --policy pi1 --beta 1,50\n  gumdp evaluate mine.toml --policy table.csv --out mine\n  gumdp solve msee --beta 50 --save careful.json && gumdp evaluate msee --policy careful.json --beta 50 --json"
)]
pub struct EvaluateArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The policy: a file saved by `solve` or `plan` (.json), a table (.csv: state,action or time,state,action, both with
    /// probability if wanted, or action only), `uniform`, or the name of a script of the task.
    #[arg(long, value_name = "POLICY")]
    pub policy: String,
    /// Attitudes to risk, separated by commas: 0 is the mean, inf the worst case, negative seeks risk (default: that of a
    /// saved policy, else the task's).
    #[arg(long, short, value_name = "B,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = beta)]
    pub beta: Vec<f64>,
    /// Risk measures instead, separated by commas: mean, worst, best, erm:B, entropic-seeking:B (negative β),
    /// cvar:LEVEL, evar:LEVEL or mean-cvar:LEVEL:WEIGHT.
    #[arg(long, value_name = "MEASURE,…", value_delimiter = ',', value_parser = risk, conflicts_with = "beta")]
    pub risk: Vec<Risk>,
    /// Episodes, if the law is too large to be computed (default: 10000; the task's for a planner).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Play more until the 95 % interval of every risk is at most this far to either side.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = precision)]
    pub precision: Option<f64>,
    /// Never play more episodes than this for --precision.
    #[arg(long, value_name = "N", requires = "precision", default_value_t = 1_000_000, allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub max_runs: u64,
    /// Compute the law exactly if the policy reaches at most this many occupancy states (default: 20000000, within 256 MiB).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub max_states: Option<u64>,
    /// Seed of all random numbers (default: that of a saved planner, else 0).
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
    pub seed: Option<u64>,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// Folder for the law or the samples, the measures, a figure and a report.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON object instead of tables.
    #[arg(long)]
    pub json: bool,
}
