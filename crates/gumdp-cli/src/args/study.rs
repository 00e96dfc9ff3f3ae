//! Arguments of `gumdp study`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{LuckArgs, MAX_RUNS, whole};

/// Arguments of `gumdp study`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp study\n  gumdp study ablation --task msee --task grid-mo\n  gumdp study worlds --runs 16 --out quick"
)]
pub struct StudyArgs {
    /// Which studies (default: all).
    #[arg(value_enum)]
    pub studies: Vec<StudyName>,
    /// Only this task or world; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub task: Vec<String>,
    /// Episodes for each row (default: some hundreds, fewer where they take long).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Random numbers and threads.
    #[command(flatten)]
    pub luck: LuckArgs,
    /// Folder for rows and figures; rows that it holds are not measured again.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/study")]
    pub out: PathBuf,
}

/// What is studied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StudyName {
    /// The default planner with one ingredient off or changed, on the built-in tasks.
    Ablation,
    /// Both planners on generated worlds that nobody tuned on.
    Worlds,
    /// Both planners with 1, 10 and 100 times the simulations, where the optimum is known.
    Convergence,
}
