//! The commands, one file for each: its arguments, what it does, what it prints. A new one is a file and its places in this one.

pub mod bound;
pub mod check;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod evaluate;
pub mod explain;
pub mod frontier;
pub mod list;
pub mod merge;
pub mod plan;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod show;
pub mod solve;
pub mod status;
pub mod studio;
pub mod sweep;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use gumdp::oracle::OracleError;
use gumdp::words::is_hidden;
use gumdp::{EpisodeError, PolicyFailure, RunError};
use gumdp_files::{Task, broken_formula, tasks};
use serde::Serialize;

use crate::args::ExperimentArgs;
use crate::failure::BadInput;
use crate::manifest::{self, Manifest};
use crate::results::TaskResults;
use crate::store::{Store, json};
use crate::talk::{self, say};

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

    /// Let problem files read files outside of their own folder.
    #[arg(long, global = true)]
    pub allow_files: bool,
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
  gumdp studio rooms                    the same in the browser: draw, slide, watch
  gumdp reproduce                       every experiment of the paper

Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted.";

/// What every command can do.
pub trait Run {
    /// Does it.
    fn run(&self) -> Result<()>;
}

macro_rules! commands {
    ($($name:ident($arguments:ty),)*) => {
        /// What was asked for; the help of a command is that of its arguments.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($name($arguments),)*
        }

        impl Command {
            /// The arguments of the command that was asked for.
            pub fn chosen(&self) -> &dyn Run {
                match self {
                    $(Self::$name(arguments) => arguments,)*
                }
            }
        }
    };
}

commands! {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    Convert(convert::ConvertArgs),
    Run(run::RunArgs),
    Compare(compare::CompareArgs),
    Solve(solve::SolveArgs),
    Bound(bound::BoundArgs),
    Evaluate(evaluate::EvaluateArgs),
    Frontier(frontier::FrontierArgs),
    Explain(explain::ExplainArgs),
    Plan(plan::PlanArgs),
    Sweep(sweep::SweepArgs),
    Status(status::StatusArgs),
    Merge(merge::MergeArgs),
    Reproduce(reproduce::ReproduceArgs),
    Report(report::ReportArgs),
    Replay(replay::ReplayArgs),
    Studio(studio::StudioArgs),
    Completions(completions::CompletionsArgs),
}

static ALLOW_FILES: AtomicBool = AtomicBool::new(false);

/// Whether problem files may read files outside of their own folder from now on.
pub fn allow_files(allow: bool) {
    ALLOW_FILES.store(allow, Ordering::Relaxed);
}

/// Whether they may.
pub fn files_are_allowed() -> bool {
    ALLOW_FILES.load(Ordering::Relaxed)
}

/// The built-in task with this name, or the task of the problem file with this path.
pub fn load(name: &str) -> Result<Task> {
    if let Some(task) = tasks::get(name) {
        return Ok(task);
    }
    let path = Path::new(name);
    let is_path = path.exists() || name.contains(std::path::is_separator) || path.extension().is_some();
    if is_path {
        let task = Task::load_allowing(path, files_are_allowed()).map_err(BadInput::from)?;
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
    let text = String::from_utf8(json(value)?)?;
    // Hidden characters are in texts only, where JSON has an escape for them; it has one of four digits for each.
    let spelled = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    let out = if text.contains(is_hidden) { text.chars().map(spelled).collect() } else { text };
    Ok(io::stdout().lock().write_all(out.as_bytes())?)
}

/// Name and title of a task.
pub fn heading(task: &Task) -> String {
    if task.title == task.name { task.name.clone() } else { format!("{}: {}", task.name, task.title) }
}

/// The error of a command; for a formula that broke, which is bad input, with its place and the features for which it broke.
pub fn clarified(error: anyhow::Error, task: Option<&String>) -> anyhow::Error {
    let Some(name) = task.filter(|_| error.chain().any(is_broken_formula)) else { return error };
    let text = match tasks::source(name) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(name).unwrap_or_default(),
    };
    let task = tasks::get(name).or_else(|| Task::load_allowing(Path::new(name), files_are_allowed()).ok());
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

/// Shares all work among this many threads.
pub fn use_threads(threads: Option<usize>) -> Result<()> {
    threads.map_or(Ok(()), |count| {
        rayon::ThreadPoolBuilder::new().num_threads(count).build_global().context("cannot start threads")
    })
}

/// The folder for results, if they are to be written: the one given, or a usual one unless JSON is printed.
pub fn place(given: Option<&PathBuf>, json: bool, usual: impl FnOnce() -> String) -> Option<PathBuf> {
    given.cloned().or_else(|| (!json).then(|| Path::new("gumdp-out").join(usual())))
}

/// That of an experiment: the usual one is that of the task with a suffix.
pub fn open_store(args: &ExperimentArgs, task: &Task, suffix: &str) -> Result<Option<Store>> {
    let place = place(args.common.out.as_ref(), args.common.json, || format!("{}{suffix}", task.name));
    Ok(place.as_deref().map(Store::create).transpose()?.map(|store| store.drawing(&args.common.figures)))
}

/// Writes what was played, draws it, and says where it is.
pub fn keep(
    store: &Store,
    command: &str,
    experiment: &TaskResults,
    started: Instant,
    draw: impl FnOnce(&Store, &Manifest, &TaskResults) -> Result<()>,
) -> Result<()> {
    let manifest = manifest::save(store, command, std::slice::from_ref(experiment), started.elapsed())?;
    draw(store, &manifest, experiment)?;
    say!("results, figures and report.html are in {}", store.dir().display());
    Ok(())
}
