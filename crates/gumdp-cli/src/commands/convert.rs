//! `gumdp convert`: a task in another format.

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;
use gumdp_files::{ExportFormat, export};
use gumdp_files::{Task, tasks};

use super::{bad_file, load};
use crate::args::RewardsName;
use crate::failure::BadInput;
use crate::store::write_atomically;
use crate::talk;

/// Writes a task in the format that the extension of `out` stands for.
pub fn convert(name: &str, out: &Path, rewards: Option<RewardsName>, force: bool) -> Result<()> {
    let format = ExportFormat::of(out).ok_or_else(|| {
        BadInput::new(format!("{}: the format of the output is not known", out.display()))
            .hint("its name must end in .csv, .drn or .toml")
    })?;
    let task = match rewards {
        Some(rewards) => load_with(name, rewards)?,
        None => load(name)?,
    };
    let exported = export(&task, format).map_err(BadInput::new)?;
    let paths: Vec<_> = exported.files.iter().map(|(extension, _)| out.with_extension(extension)).collect();
    if let Some(path) = paths.iter().find(|path| path.exists() && !force) {
        return Err(BadInput::new(format!("{} exists", path.display())).hint("--force replaces it").into());
    }
    for (path, (_, text)) in paths.iter().zip(&exported.files) {
        write_atomically(path, text.as_bytes()).map_err(|error| BadInput::new(format!("{error:#}")))?;
    }
    talk::notes(&exported.notes);
    Ok(())
}

/// An imported model with a choice that its own file cannot make.
fn load_with(name: &str, rewards: RewardsName) -> Result<Task> {
    let path = Path::new(name);
    let is_problem_file = path.extension().is_none_or(|extension| extension.eq_ignore_ascii_case("toml"));
    if tasks::source(name).is_some() || is_problem_file {
        return Err(BadInput::new(format!("--rewards is for models to be imported, and {name} is not one"))
            .hint("in a problem file of kind \"import\", write rewards = \"split\"")
            .into());
    }
    let rewards = rewards.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let file = path.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned());
    // A text of JSON is one of TOML.
    let wrapper = format!("kind = \"import\"\nfile = {}\nrewards = \"{rewards}\"\n", serde_json::to_string(&file)?);
    let task = Task::parse(&path.with_extension("toml").display().to_string(), &wrapper).map_err(bad_file)?;
    talk::notes(&task.notes);
    Ok(task)
}
