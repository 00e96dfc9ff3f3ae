//! `gumdp status`: how far a sweep is.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use gumdp_files::sweep::{self, Plan, SILENCE, ShardStatus, Status};
use gumdp_plot::{Field, Table};
use serde::Serialize;

use super::sweep::{duration, refused, shards};
use super::{Run, print_json};
use crate::number::counted;
use crate::slurm;

/// How far a sweep is: what is done, playing, failed and missing.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp status results --json\n  sbatch --array=$(gumdp status results --missing) results/slurm/sweep.sbatch"
)]
pub struct StatusArgs {
    /// The folder that the shards share.
    pub dir: PathBuf,
    /// Print the shards that are not complete, as Slurm's --array takes them: 3,7-9. Nothing if all are.
    #[arg(long, conflicts_with = "json")]
    pub missing: bool,
    /// Count in so many shards (default: as the Slurm script or the last process).
    #[arg(long, value_name = "n", allow_negative_numbers = true, value_parser = shards)]
    pub shards: Option<u64>,
    /// A JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The status in JSON; the names of the fields are a contract.
#[derive(Serialize)]
struct StatusJson {
    cells: usize,
    cells_done: usize,
    runs: u64,
    runs_done: u64,
    failed: Vec<FailedJson>,
    shards: usize,
    missing: String,
    playing: usize,
    cpu_seconds_left: Option<f64>,
    seconds_left: Option<f64>,
}

#[derive(Serialize)]
struct FailedJson {
    cell: String,
    why: String,
}

impl Run for StatusArgs {
    fn run(&self) -> Result<()> {
        let plan = Plan::of_folder(&self.dir).map_err(refused)?;
        let status =
            sweep::status(&plan, &self.dir, self.shards.or_else(|| slurm::scripted(&self.dir))).map_err(refused)?;
        let mut out = crate::talk::stdout();
        if self.missing {
            let missing = status.missing();
            if !missing.is_empty() {
                writeln!(out, "{missing}")?;
            }
            return Ok(());
        }
        if self.json {
            let missing = status.missing();
            let Status { runs, done, cells, cells_done, failed, shards, playing, cpu_seconds_left, seconds_left } =
                status;
            let failed = failed.into_iter().map(|(cell, why)| FailedJson { cell, why }).collect();
            let (runs_done, shards) = (done, shards.len());
            let json = StatusJson {
                cells,
                cells_done,
                runs,
                runs_done,
                failed,
                shards,
                missing,
                playing,
                cpu_seconds_left,
                seconds_left,
            };
            return print_json(&json);
        }
        let Status { runs, done, cells, cells_done, playing, .. } = status;
        writeln!(out, "{done} of {} done, {cells_done} of {}", counted(runs, "run"), counted(cells as u64, "cell"))?;
        let unfinished: Vec<&ShardStatus> = status.shards.iter().filter(|shard| shard.done < shard.runs).collect();
        if unfinished.is_empty() {
            writeln!(out, "complete: gumdp merge {}", self.dir.display())?;
        } else {
            let fields = |shard: &&ShardStatus| {
                let state = match (shard.playing, shard.begun) {
                    (0, 0) => "not begun".to_owned(),
                    (0, _) => format!("no run for {}", duration(SILENCE.as_secs_f64())),
                    _ => "playing".to_owned(),
                };
                vec![
                    Field::number("shard", format!("{}/{}", shard.shard.index, shard.shard.count)),
                    Field::number("runs done", shard.done.to_string()),
                    Field::number("of", shard.runs.to_string()),
                    Field::text("state", state),
                ]
            };
            writeln!(out)?;
            Table::of(unfinished.iter().take(20), fields).print(&mut out)?;
            if unfinished.len() > 20 {
                writeln!(out, "and {} more", unfinished.len() - 20)?;
            }
            writeln!(out, "\nmissing: {}", status.missing())?;
        }
        match (status.cpu_seconds_left, status.seconds_left) {
            _ if done == runs => {}
            (Some(cpu), Some(left)) => {
                writeln!(
                    out,
                    "about {} of CPU time left, {} for the {playing} playing",
                    duration(cpu),
                    duration(left)
                )?;
            }
            (Some(cpu), None) => writeln!(out, "about {} of CPU time left; nobody seems to be playing", duration(cpu))?,
            (None, _) => writeln!(out, "no run is finished yet")?,
        }
        for (cell, why) in &status.failed {
            writeln!(out, "{cell} failed: {why}")?;
        }
        Ok(())
    }
}
