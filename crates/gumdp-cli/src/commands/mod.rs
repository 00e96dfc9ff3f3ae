//! One file per command.

pub mod list;
pub mod plan;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod show;
pub mod solve;
pub mod speed;

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use gumdp::{FileError, Task, tasks};
use serde::Serialize;

use crate::failure::BadInput;

/// The built-in task with this name, or the task of the problem file with this path.
pub fn load(name: &str) -> Result<Task> {
    if let Some(task) = tasks::get(name) {
        return Ok(task);
    }
    let path = Path::new(name);
    let is_path = path.exists() || name.contains(std::path::is_separator) || path.extension().is_some();
    if is_path {
        return Ok(Task::load(path).map_err(bad_file)?);
    }
    let hint = match nearest(name) {
        Some(task) => format!("did you mean \"{task}\"? `gumdp list` shows all tasks"),
        None => "`gumdp list` shows all tasks; a problem file is named by its path, such as ./mine.toml".to_owned(),
    };
    Err(BadInput::new(format!("unknown task \"{name}\"")).hint(hint).into())
}

/// The built-in task that was probably meant: at most a third of the letters, and one more, are wrong or swapped.
fn nearest(name: &str) -> Option<&'static str> {
    let tolerated = name.chars().count() / 3 + 1;
    tasks::NAMES
        .into_iter()
        .map(|task| (strsim::damerau_levenshtein(name, task), task))
        .filter(|&(wrong, task)| wrong <= tolerated && wrong < task.len())
        .min_by_key(|&(wrong, _)| wrong)
        .map(|(_, task)| task)
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

/// A mistake in a problem file, with its hint.
fn bad_file(error: FileError) -> BadInput {
    let bad = BadInput::new(&error);
    match error.hint {
        Some(hint) => bad.hint(hint),
        None => bad,
    }
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
