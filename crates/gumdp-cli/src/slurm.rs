//! A sweep on a cluster with Slurm: a job array that plays the shards, and a job that merges them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use gumdp_files::sweep::{self, Plan, Shard};
use gumdp_files::write;

use crate::args::whole;
use crate::commands::sweep::{refused, shards};
use crate::failure::BadInput;
use crate::talk::say;

/// What the scheduler is told.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --engine slurm")]
pub struct SlurmArgs {
    /// Tasks of the array, one shard each (default: about an hour of work each, at most 1000).
    #[arg(long, value_name = "N", requires = "engine", allow_negative_numbers = true, value_parser = shards)]
    pub array_size: Option<u64>,
    /// Time limit of a task, as sbatch takes it.
    #[arg(long, value_name = "TIME", requires = "engine", value_parser = word)]
    pub time: Option<String>,
    /// Partition of the cluster.
    #[arg(long, value_name = "NAME", requires = "engine", value_parser = word)]
    pub partition: Option<String>,
    /// Cores of a task.
    #[arg(long, value_name = "N", requires = "engine", default_value_t = 1, allow_negative_numbers = true, value_parser = whole(1, 1024))]
    pub cpus_per_task: u64,
    /// Submit the jobs; without this the scripts are only written.
    #[arg(long, requires = "engine")]
    pub submit: bool,
}

/// A value that stands on a line of a script.
fn word(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_:.,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("it must be of letters, digits and - _ : . ,".to_owned())
    }
}

/// The cores of the Slurm task that this process is, if it is one.
pub fn threads() -> Option<usize> {
    std::env::var("SLURM_CPUS_PER_TASK").ok()?.parse().ok().filter(|threads| (1..=1024).contains(threads))
}

/// Into how many shards the script of a folder cuts, if there is one.
pub fn scripted(folder: &Path) -> Option<u64> {
    let script = std::fs::read_to_string(folder.join("slurm/sweep.sbatch")).ok()?;
    let (_, count) = script.rsplit_once("$SLURM_ARRAY_TASK_ID/")?;
    shards(count.split('"').next()?).ok()
}

impl SlurmArgs {
    /// Writes the scripts, for what is missing, and submits them if that is wanted.
    pub fn write(&self, plan: &Plan, file: &Path, folder: &Path) -> Result<()> {
        let hours = plan.nominal_seconds() / 3600.0;
        let size = self.array_size.unwrap_or((hours.ceil() as u64).clamp(1, 1000).min(Shard::MOST));
        let status = sweep::status(plan, folder, Some(size)).map_err(refused)?;
        let missing = status.missing();
        if missing.is_empty() {
            say!("all runs are there: gumdp merge {}", folder.display());
            return Ok(());
        }
        let absolute = |path: &Path| std::path::absolute(path).with_context(|| format!("no path {}", path.display()));
        let (program, file, folder) = (std::env::current_exe()?, absolute(file)?, absolute(folder)?);
        for path in [&program, &file, &folder] {
            if path.to_str().is_none_or(|text| text.contains(char::is_control)) {
                let name = path.display().to_string();
                let message = format!("{} cannot stand in a script", name.escape_debug());
                return Err(BadInput::new(message).hint("name it in UTF-8, without line breaks and the like").into());
            }
        }
        let [program, file, out] = [&program, &file, &folder].map(|path| quoted(path));
        let logs = folder.join("slurm");
        // Slurm reads quotes as a shell does, and signs of per cent as places for names.
        let place = logs.display().to_string().replace('\\', r"\\").replace('"', r#"\""#).replace('%', "%%");
        let mut head = format!("#SBATCH --output=\"{place}/%x-%A_%a.log\"\n");
        for (option, value) in [("time", &self.time), ("partition", &self.partition)] {
            if let Some(value) = value {
                let _ = writeln!(head, "#SBATCH --{option}={value}");
            }
        }
        let cpus = self.cpus_per_task;
        let play = format!(
            "#!/bin/sh\n#SBATCH --job-name=gumdp-sweep\n#SBATCH --array={missing}\n#SBATCH --cpus-per-task={cpus}\n{head}\
             exec {program} --quiet sweep {file} --out {out} --shard \"$SLURM_ARRAY_TASK_ID/{size}\"\n"
        );
        let merge = format!(
            "#!/bin/sh\n#SBATCH --job-name=gumdp-merge\n#SBATCH --cpus-per-task=1\n{}exec {program} --quiet merge {out}\n",
            head.replace("%A_%a", "%j")
        );
        let [play_at, merge_at] = ["sweep.sbatch", "merge.sbatch"].map(|name| logs.join(name));
        for (path, text) in [(&play_at, play), (&merge_at, merge)] {
            write::write(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if !self.submit {
            say!("wrote {} and {}; --submit submits them", play_at.display(), merge_at.display());
            return Ok(());
        }
        let array = submit(&[play_at])?;
        // If a task fails there is nothing to merge: the job must not wait for ever.
        let after = [format!("--dependency=afterok:{array}"), "--kill-on-invalid-dep=yes".to_owned()];
        let [after, given_up] = after.map(PathBuf::from);
        let merging = submit(&[after, given_up, merge_at])?;
        say!("submitted the array {array} (shards {missing} of {size}) and, after it, the merge {merging}");
        Ok(())
    }
}

/// Hands a script to the scheduler; the number of the job.
fn submit(arguments: &[PathBuf]) -> Result<String> {
    let refusal = |error| {
        BadInput::new(format!("cannot run sbatch: {error}")).hint("leave out --submit, and submit the scripts yourself")
    };
    let output = Command::new("sbatch").arg("--parsable").args(arguments).output().map_err(refusal)?;
    if !output.status.success() {
        anyhow::bail!("sbatch: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim().split(';').next().unwrap_or_default().to_owned())
}

/// A path as a word of a shell script.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
