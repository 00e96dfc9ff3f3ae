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

use std::path::Path;

use anyhow::{Context, Result};
use gumdp::{FileError, Task, tasks};

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
    let nearest = tasks::NAMES
        .into_iter()
        .max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)))
        .filter(|task| strsim::jaro_winkler(name, task) > 0.7);
    let hint = match nearest {
        Some(task) => format!("did you mean \"{task}\"? `gumdp list` shows all tasks"),
        None => "`gumdp list` shows all tasks; a problem file is named by its path, such as ./mine.toml".to_owned(),
    };
    Err(BadInput::new(format!("unknown task \"{name}\"")).hint(hint).into())
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
