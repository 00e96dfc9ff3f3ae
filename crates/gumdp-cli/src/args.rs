//! The command line, as types: the commands. Arguments of the larger ones are in modules of their own.

mod decide;
mod evaluate;
mod explain;
mod frontier;
mod parse;
mod play;
mod shared;
mod study;

pub use decide::{PlanArgs, SolveArgs};
pub use evaluate::EvaluateArgs;
pub use explain::ExplainArgs;
pub use frontier::{FrontierArgs, SweptName};
pub use play::{CompareArgs, ExperimentArgs, RunArgs};
pub use shared::{AttitudeArgs, LuckArgs, PolicyArgs, PolicyName, Preset};
pub use study::{StudyArgs, StudyName};

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use gumdp::Risk;
use parse::{beta, measuring_time, precision, risk, threads, whole};

/// More runs than this are a typing error.
const MAX_RUNS: u64 = 1_000_000_000;

/// Plan, solve and evaluate risk-aware general-utility Markov decision processes.
#[derive(Debug, Parser)]
#[command(name = "gumdp", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// No progress bar and no talk on stderr.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  gumdp run rooms                       play, print a table, draw the figures
  gumdp run mdp --beta 0.1,5,10 --json  the same as data
  gumdp compare msee --beta 50          both planners, the optimum and chance, side by side
  gumdp solve msee --beta 50            the exact optimum
  gumdp solve msee --risk cvar:0.95     the same for the mean of the worst 5 %
  gumdp frontier rooms                  what each attitude to risk costs and saves
  gumdp explain rooms --beta 50         its behaviour as a decision tree
  gumdp evaluate rooms --policy pi1     the law of a policy of your own
  gumdp show rooms --toml > mine.toml   start a problem of your own
  gumdp reproduce                       every experiment of the paper

Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the built-in tasks.
    #[command(after_help = "Examples:\n  gumdp list\n  gumdp list --json")]
    List {
        /// A JSON array instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Show a task: parameters, objective, map.
    #[command(
        after_help = "Examples:\n  gumdp show grid-msee\n  gumdp show mdp --svg mdp.svg\n  gumdp show rooms --toml > mine.toml"
    )]
    Show {
        /// Name of a built-in task, or a problem file.
        task: String,
        /// Print the problem file itself.
        #[arg(long, conflicts_with = "svg")]
        toml: bool,
        /// Draw the task into this SVG file.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Check a problem file or a model to import: all mistakes at once, and what is hardly meant.
    #[command(after_help = "Examples:\n  gumdp check mine.toml\n  gumdp check riverswim.csv --json")]
    Check {
        /// A problem file, or a model as CSV, JSON or DRN.
        file: PathBuf,
        /// A JSON array instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Write a task in another format: transitions as CSV, Storm's DRN, or a problem file (TOML), by extension.
    #[command(
        after_help = "Examples:\n  gumdp convert riverswim.csv riverswim.drn\n  gumdp convert two_dice.drn dice.toml\n  gumdp convert frozen-lake.json lake.csv --rewards split"
    )]
    Convert {
        /// Name of a built-in task, a problem file, or a model as CSV, JSON or DRN.
        #[arg(value_name = "IN")]
        task: String,
        /// The file to write: .csv (with .initial.csv and .parameters.csv beside it), .drn or .toml.
        #[arg(value_name = "OUT")]
        out: PathBuf,
        /// What becomes of rewards that depend on the next state (default: expected).
        #[arg(long, value_enum)]
        rewards: Option<RewardsName>,
        /// Replace files that exist.
        #[arg(long)]
        force: bool,
    },
    /// Play episodes for each β, print one row per β, write results and figures.
    Run(RunArgs),
    /// Play the paper's planner, the default one, the optimum and chance side by side.
    Compare(CompareArgs),
    /// Compute the exact optimum.
    Solve(SolveArgs),
    /// Compute the law of the cost of a policy that you bring, and all its measures.
    Evaluate(EvaluateArgs),
    /// Sweep the attitude to risk: what it costs, what it saves, and where the optimal behaviour changes.
    Frontier(FrontierArgs),
    /// Show the optimal or planned behaviour as a small decision tree.
    Explain(ExplainArgs),
    /// Make one decision and show its reasons.
    Plan(PlanArgs),
    /// Regenerate the paper's experiments with its settings and ours; can be resumed.
    #[command(
        after_help = "Examples:\n  gumdp reproduce\n  gumdp reproduce grid-mo mdp --runs 32\n  gumdp reproduce --paper-only --out paper"
    )]
    Reproduce {
        /// Which experiments (default: all): the names of the built-in tasks.
        #[arg(value_name = "FIGURE")]
        figures: Vec<String>,
        /// Runs per β (default: the paper's 100 and 128).
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
        runs: Option<u64>,
        /// Leave out the runs of the default planner, which take as long again, and the section on them.
        #[arg(long)]
        paper_only: bool,
        /// Random numbers and threads.
        #[command(flatten)]
        luck: LuckArgs,
        /// Folder for results, figures and report.
        #[arg(long, value_name = "DIR", default_value = "gumdp-out/reproduce")]
        out: PathBuf,
    },
    /// Draw figures and report again from saved results.
    #[command(after_help = "Example:\n  gumdp report gumdp-out/rooms")]
    Report {
        /// A folder written by `run`, `compare` or `reproduce`.
        dir: PathBuf,
    },
    /// Show one saved episode step by step.
    #[command(
        after_help = "Examples:\n  gumdp replay gumdp-out/grid-mo --run 3\n  gumdp replay gumdp-out/reproduce --run 0 --task grid-msee --beta 1000"
    )]
    Replay {
        /// A folder written by `run`, `compare` or `reproduce`.
        dir: PathBuf,
        /// Number of the run, from 0.
        #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = whole(0, u64::MAX))]
        run: u64,
        /// The task, if the folder holds several (default: the first).
        #[arg(long)]
        task: Option<String>,
        /// β, if the folder holds several (default: the first).
        #[arg(long, value_name = "B", allow_hyphen_values = true, value_parser = beta)]
        beta: Option<f64>,
        /// The risk measure, if the folder holds several (default: the first).
        #[arg(long, value_name = "MEASURE", value_parser = risk, conflicts_with = "beta")]
        risk: Option<Risk>,
        /// Preset or policy, if the folder holds several (default: the first).
        #[arg(long)]
        preset: Option<String>,
    },
    /// Measure how fast this machine plans, and draw how that scales.
    #[command(after_help = "Example:\n  gumdp speed --out gumdp-out/speed")]
    Speed {
        /// Folder for the curves.
        #[arg(long, value_name = "DIR", default_value = "gumdp-out/speed")]
        out: PathBuf,
        /// Seconds for each measurement.
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, allow_negative_numbers = true, value_parser = measuring_time)]
        seconds: f64,
        /// Runs for each row on the quality of shared decisions.
        #[arg(long, value_name = "N", default_value_t = 500, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(2..))]
        runs: u64,
    },
    /// Measure what each ingredient of the default planner earns, on built-in tasks and on worlds it was not tuned on.
    Study(StudyArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  gumdp completions bash > ~/.local/share/bash-completion/completions/gumdp")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// The task that is played, planned or solved.
    pub fn task(&self) -> Option<&str> {
        match self {
            Self::Run(args) => Some(&args.experiment.task),
            Self::Compare(args) => Some(&args.experiment.task),
            Self::Solve(args) => Some(&args.task),
            Self::Frontier(args) => Some(&args.task),
            Self::Explain(args) => Some(&args.task),
            Self::Evaluate(args) => Some(&args.task),
            Self::Plan(args) => Some(&args.task),
            _ => None,
        }
    }
}

/// What becomes of rewards that depend on the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RewardsName {
    /// A state-action pair costs its expected reward.
    Expected,
    /// States are split by the reward that led to them: the law of the total is exact.
    Split,
}
