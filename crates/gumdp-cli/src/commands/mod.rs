//! The commands, one file for each: its arguments, what it does, what it prints. A new one is a file and its places in this one.

pub mod check;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod evaluate;
pub mod explain;
pub mod frontier;
pub mod list;
pub mod plan;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod show;
pub mod solve;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use gumdp::oracle::{Limits, OracleError};
use gumdp::{EpisodeError, Erm, PolicyFailure, Risk, RunError};
use gumdp_files::{Task, broken_formula, tasks};
use serde::Serialize;

use crate::args::{AttitudeArgs, ExperimentArgs, PolicyArgs, PolicyName, Preset};
use crate::failure::BadInput;
use crate::manifest::{self, Manifest};
use crate::number::Naming;
use crate::results::{Experiment, distinct};
use crate::store::Store;
use crate::talk;

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
  gumdp evaluate rooms --policy pi1     the distribution of a policy of your own
  gumdp show rooms --toml > mine.toml   start a problem of your own
  gumdp reproduce                       every experiment of the paper

Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted.";

/// What was asked for; the help of a command is that of its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    Convert(convert::ConvertArgs),
    Run(run::RunArgs),
    Compare(compare::CompareArgs),
    Solve(solve::SolveArgs),
    Evaluate(evaluate::EvaluateArgs),
    Frontier(frontier::FrontierArgs),
    Explain(explain::ExplainArgs),
    Plan(plan::PlanArgs),
    Reproduce(reproduce::ReproduceArgs),
    Report(report::ReportArgs),
    Replay(replay::ReplayArgs),
    Completions(completions::CompletionsArgs),
}

/// What every command can do.
pub trait Run {
    /// Does it.
    fn run(&self, quiet: bool) -> Result<()>;

    /// The task that is played, planned or solved.
    fn task(&self) -> Option<&str> {
        None
    }
}

impl Command {
    /// The arguments of the command that was asked for.
    pub fn chosen(&self) -> &dyn Run {
        match self {
            Self::List(args) => args,
            Self::Show(args) => args,
            Self::Check(args) => args,
            Self::Convert(args) => args,
            Self::Run(args) => args,
            Self::Compare(args) => args,
            Self::Solve(args) => args,
            Self::Evaluate(args) => args,
            Self::Frontier(args) => args,
            Self::Explain(args) => args,
            Self::Plan(args) => args,
            Self::Reproduce(args) => args,
            Self::Report(args) => args,
            Self::Replay(args) => args,
            Self::Completions(args) => args,
        }
    }
}

/// The built-in task with this name, or the task of the problem file with this path.
pub fn load(name: &str) -> Result<Task> {
    if let Some(task) = tasks::get(name) {
        return Ok(task);
    }
    let path = Path::new(name);
    let is_path = path.exists() || name.contains(std::path::is_separator) || path.extension().is_some();
    if is_path {
        let task = Task::load(path).map_err(BadInput::from)?;
        talk::notes(&task.notes);
        return Ok(task);
    }
    let hint = match gumdp_files::nearest(name, tasks::NAMES) {
        Some(task) => format!("did you mean \"{task}\"? `gumdp list` shows all tasks"),
        None => "`gumdp list` shows all tasks; a problem file is named by its path, such as ./mine.toml".to_owned(),
    };
    Err(BadInput::new(format!("unknown task \"{name}\"")).hint(hint).into())
}

/// Prints a value as JSON, in one write: an error of the pipe stays an error of the pipe.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    io::stdout().lock().write_all(&text)?;
    Ok(())
}

/// Name and title of a task.
pub fn heading(task: &Task) -> String {
    if task.title == task.name { task.name.clone() } else { format!("{}: {}", task.name, task.title) }
}

/// The error of a command; for a formula that broke, which is bad input, with its place and the features for which it broke.
pub fn clarified(error: anyhow::Error, task: Option<&str>) -> anyhow::Error {
    let Some(name) = task.filter(|_| error.chain().any(is_broken_formula)) else { return error };
    let text = match tasks::source(name) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(name).unwrap_or_default(),
    };
    let task = tasks::get(name).or_else(|| Task::load(Path::new(name)).ok());
    match task.and_then(|task| broken_formula(&task, name, &text)) {
        Some(broken) => BadInput::from(broken).into(),
        None => BadInput::new(format!("{error:#}")).into(),
    }
}

/// Whether the objective had no finite value.
fn is_broken_formula(cause: &(dyn std::error::Error + 'static)) -> bool {
    let of_episode = |error: &EpisodeError| {
        matches!(error, EpisodeError::NotFinite | EpisodeError::Policy { failure: PolicyFailure::NotFinite, .. })
    };
    matches!(cause.downcast_ref(), Some(OracleError::NotFinite))
        || cause.downcast_ref().is_some_and(of_episode)
        || cause.downcast_ref().is_some_and(|error: &RunError| of_episode(&error.error))
}

/// Runs something in a pool of this many threads.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    match threads {
        None => work(),
        Some(count) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().context("cannot start threads")?;
            pool.install(work)
        }
    }
}

/// The attitudes to risk to be played: those given, each once, or the task's.
pub fn risks(args: &ExperimentArgs, task: &Task) -> Vec<Risk> {
    let given = if !args.risk.is_empty() {
        args.risk.clone()
    } else if !args.beta.is_empty() {
        args.beta.iter().map(|&beta| entropic(beta)).collect()
    } else {
        task.defaults.risks()
    };
    distinct(given.into_iter().map(|risk| task.problem.measure(risk)))
}

/// What these attitudes are called.
pub fn naming(args: &ExperimentArgs, task: &Task) -> Naming {
    Naming::new(!args.risk.is_empty() || (args.beta.is_empty() && !task.defaults.risks.is_empty()))
}

/// What the one attitude to risk of a command is called.
pub fn one_naming(given: &AttitudeArgs, task: &Task) -> Naming {
    Naming::new(given.risk.is_some() || (given.beta.is_none() && !task.defaults.risks.is_empty()))
}

/// The one attitude to risk of a command, by either option, or the task's if it has one.
pub fn one_risk(given: &AttitudeArgs, task: &Task) -> Result<Risk> {
    match (given.beta, given.risk, &task.defaults.risks()[..]) {
        (Some(beta), _, _) => Ok(entropic(beta)),
        (None, Some(risk), _) | (None, None, &[risk]) => Ok(task.problem.measure(risk)),
        (None, None, _) => Err(BadInput::new("the attitude to risk is missing")
            .hint("give --beta B or --risk MEASURE, such as --beta 5 or --risk cvar:0.95")
            .into()),
    }
}

/// The entropic risk measure of a β that is a number.
pub fn entropic(beta: f64) -> Risk {
    Erm::new(beta).unwrap_or(Erm::MEAN).into()
}

/// The folder for results, if they are to be written: the one given, or that of the task with a suffix.
pub fn open_store(args: &ExperimentArgs, task: &Task, suffix: &str) -> Result<Option<Store>> {
    let dir = match (&args.out, args.json) {
        (Some(dir), _) => dir.clone(),
        (None, true) => return Ok(None),
        (None, false) => PathBuf::from("gumdp-out").join(format!("{}{suffix}", task.name)),
    };
    Ok(Some(Store::create(&dir).map_err(|error| BadInput::new(format!("{error:#}")))?))
}

/// Makes sure that there is a folder for output.
pub fn output_folder(dir: &Path) -> Result<()> {
    let refusal = |error| BadInput::new(format!("cannot create the output folder {}: {error}", dir.display()));
    Ok(std::fs::create_dir_all(dir).map_err(refusal)?)
}

/// Writes what was played, draws it, and says where it is.
pub fn keep(
    store: &Store,
    command: &str,
    experiment: &Experiment,
    started: Instant,
    quiet: bool,
    draw: impl FnOnce(&Store, &Manifest, &Experiment) -> Result<()>,
) -> Result<()> {
    let manifest = manifest::save(store, command, std::slice::from_ref(experiment), started.elapsed())?;
    draw(store, &manifest, experiment)?;
    if !quiet {
        crate::talk::say!("results, figures and report.html are in {}", store.dir().display());
    }
    Ok(())
}

/// Who chooses the actions. `implied` is an option that means the planner, if one is given besides `--preset paper`.
pub fn policy(args: &PolicyArgs, implied: Option<&str>) -> Result<PolicyName> {
    let paper = (args.preset == Some(Preset::Paper)).then_some("--preset paper");
    let Some(implied) = paper.or(implied) else { return Ok(args.policy.unwrap_or(PolicyName::Auto)) };
    match args.policy {
        None | Some(PolicyName::Planner) => Ok(PolicyName::Planner),
        Some(other) => {
            let name = other.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
            let option = implied.split(' ').next().unwrap_or(implied);
            Err(BadInput::new(format!("{implied} means --policy planner and does not go with --policy {name}"))
                .hint(format!("leave out {option} or --policy"))
                .into())
        }
    }
}

/// How much work an exact solution may take: what is asked for, else much where nothing but the optimum will do, and
/// little where it is one way of several.
pub fn limits(policy: PolicyName, max_states: Option<u64>) -> Limits {
    match (max_states, policy) {
        (Some(max_states), _) => Limits { max_states, ..Limits::default() },
        (None, PolicyName::Exact | PolicyName::BackwardInduction) => Limits::default(),
        (None, _) => Limits::QUICK,
    }
}
