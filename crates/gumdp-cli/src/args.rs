//! The command line, as types.

mod evaluate;
mod explain;
mod frontier;

pub use evaluate::EvaluateArgs;
pub use explain::ExplainArgs;
pub use frontier::{FrontierArgs, SweptName};

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use gumdp::Risk;
use gumdp::planner::MAX_SIMULATIONS;

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
        #[arg(long, value_name = "N", value_parser = whole(1, MAX_RUNS))]
        runs: Option<u64>,
        /// Leave out the runs of the default planner, which take as long again, and the section on them.
        #[arg(long)]
        paper_only: bool,
        /// Seed of all random numbers.
        #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole(0, u64::MAX))]
        seed: u64,
        /// Use this many threads (default: all cores).
        #[arg(long, value_name = "T", value_parser = threads)]
        threads: Option<usize>,
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
        #[arg(long, value_name = "K", value_parser = whole(0, u64::MAX))]
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
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = measuring_time)]
        seconds: f64,
        /// Runs for each row on the quality of shared decisions.
        #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(2..))]
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
    /// Play more until the 95 % interval of the ERM is at most this far to either side; says how many runs that needs.
    #[arg(long, value_name = "P", value_parser = precision)]
    pub precision: Option<f64>,
    /// Never play more runs per β than this for --precision.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = whole(1, MAX_RUNS))]
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
    #[arg(long, value_name = "N", value_parser = whole(1, u64::MAX))]
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
    /// Risk measures instead, separated by commas: mean, worst, best, erm:B, seeking:B, cvar:LEVEL, evar:LEVEL or
    /// mean-cvar:LEVEL:WEIGHT.
    #[arg(long, value_name = "MEASURE,…", value_delimiter = ',', value_parser = risk, conflicts_with = "beta")]
    pub risk: Vec<Risk>,
    /// Episodes per β (default: the task's).
    #[arg(long, value_name = "N", value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Simulations per decision of a planner (default: the task's).
    #[arg(long, value_name = "n", value_parser = whole(1, MAX_SIMULATIONS))]
    pub simulations: Option<u64>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole(0, u64::MAX))]
    pub seed: u64,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T", value_parser = threads)]
    pub threads: Option<usize>,
    /// Folder for results and figures (default: one below gumdp-out; with --json nothing is written unless this is given).
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A JSON array instead of a table.
    #[arg(long)]
    pub json: bool,
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
    #[arg(long, value_name = "N", value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
}

/// Arguments of `gumdp solve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp solve msee --beta 50\n  gumdp solve msee --risk cvar:0.95\n  gumdp solve grid-mo --risk mean-cvar:0.9:0.5 --json\n  gumdp solve rooms --beta 10 --save careful.json\n  gumdp solve mine.toml --beta inf --max-states 200000000"
)]
pub struct SolveArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// Attitude to risk: 0 is the mean, inf the worst case, negative seeks risk; the same as --risk erm:B.
    #[arg(long, short, value_name = "B", allow_hyphen_values = true, value_parser = beta)]
    pub beta: Option<f64>,
    /// Risk measure: mean, worst, best, erm:B, seeking:B, cvar:LEVEL, evar:LEVEL or mean-cvar:LEVEL:WEIGHT.
    #[arg(long, value_name = "MEASURE", value_parser = risk, conflicts_with = "beta")]
    pub risk: Option<Risk>,
    /// Refuse problems with more occupancy states than this.
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = whole(1, u64::MAX))]
    pub max_states: u64,
    /// Use this many threads (default: all cores).
    #[arg(long, value_name = "T", value_parser = threads)]
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
    /// Attitude to risk: 0 is the mean, inf the worst case, negative seeks risk; the same as --risk erm:B.
    #[arg(long, short, value_name = "B", allow_hyphen_values = true, value_parser = beta)]
    pub beta: Option<f64>,
    /// Risk measure: mean, worst, best, erm:B, seeking:B, cvar:LEVEL, evar:LEVEL or mean-cvar:LEVEL:WEIGHT.
    #[arg(long, value_name = "MEASURE", value_parser = risk, conflicts_with = "beta")]
    pub risk: Option<Risk>,
    /// The state to decide in, at time 0 (default: the task's first initial state).
    #[arg(long, value_name = "S")]
    pub state: Option<String>,
    /// Simulations of the planner (default: the task's).
    #[arg(long, value_name = "n", value_parser = whole(1, MAX_SIMULATIONS), conflicts_with = "time_limit")]
    pub simulations: Option<u64>,
    /// Plan for this long instead, such as 50ms or 2s; implies `--policy planner`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// Who decides.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole(0, u64::MAX))]
    pub seed: u64,
    /// Save the optimal policy, or the planner's settings, to this JSON file, for `gumdp evaluate`.
    #[arg(long, value_name = "FILE", conflicts_with = "time_limit")]
    pub save: Option<PathBuf>,
    /// A JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
}

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
    #[arg(long, value_name = "N", value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole(0, u64::MAX))]
    pub seed: u64,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T", value_parser = threads)]
    pub threads: Option<usize>,
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

/// What becomes of rewards that depend on the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RewardsName {
    /// A state-action pair costs its expected reward.
    Expected,
    /// States are split by the reward that led to them: the law of the total is exact.
    Split,
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

fn beta(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        // Minus zero is zero: the sum has no sign.
        Ok(beta) if !beta.is_nan() => Ok(beta + 0.0),
        _ => Err("it must be a number in [-inf, inf]".to_owned()),
    }
}

fn risk(text: &str) -> Result<Risk, String> {
    text.parse().map_err(|error: gumdp::ParseRiskError| error.to_string())
}

/// A whole number of a range.
fn whole(low: u64, high: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| match text.trim().parse::<u64>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(format!("it must be a whole number in [{low}, {high}]")),
    }
}

/// Half the width of an interval.
fn precision(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("it must be a positive number, half the width of the interval".to_owned()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count @ 1..=1024) => Ok(count),
        _ => Err("it must be a whole number in [1, 1024]".to_owned()),
    }
}

fn measuring_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("the time must lie in [0, 3600] seconds".to_owned()),
    }
}

/// A time with a unit: 50ms, 2s, 1.5s.
fn duration(text: &str) -> Result<Duration, String> {
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
