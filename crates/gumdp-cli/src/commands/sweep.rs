//! `gumdp sweep`: many problems, attitudes, players, budgets and seeds, in one process or in shards.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use gumdp::Watch;
use gumdp::words::visible;
use gumdp_files::Task;
use gumdp_files::sweep::{self, Cell, Plan, Played, Shard, SweepError, Watcher};
use gumdp_plot::{Field, Table};
use serde::Serialize;

use super::{Run, files_are_allowed, merge, print_json, use_threads};
use crate::args::{threads, whole};
use crate::failure::{BadInput, Interrupted};
use crate::interrupt;
use crate::number;
use crate::progress::Progress;
use crate::slurm::{self, SlurmArgs};
use crate::talk::say;

/// How long a dry run plays to see how long runs take.
const REHEARSAL: f64 = 5.0;

/// Play a sweep: all combinations of problems, attitudes to risk, players, budgets and seeds of a file.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp sweep sweep.toml --dry-run --json\n  gumdp sweep sweep.toml --out results\n  gumdp sweep sweep.toml --out results --shard 3/8\n  gumdp status results --missing\n  gumdp merge results\n  gumdp sweep sweep.toml --out results --engine slurm --array-size 100 --time 02:00:00 --submit\n\nA sweep.toml:\n  problems = [\"rooms\", \"maps/*.toml\"]\n  risks = [0, 10, \"cvar:0.9\"]\n  policies = [\"planner\", \"exact\"]\n  presets = [\"default\", \"paper\"]\n  simulations = [100, 1000]\n  runs = 1000\n  seed = [0, 1]\n\nHowever a sweep is cut and whatever dies on the way, the merged files are byte for byte those of one process. Play a shard again and it plays what is missing."
)]
pub struct SweepArgs {
    /// The file of the sweep.
    pub file: PathBuf,
    /// Folder of the results, which all shards share (default: one below gumdp-out, named as the file).
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Play part i of n only, i from 1 to n; `gumdp merge` puts the parts together.
    #[arg(long, value_name = "i/n", allow_hyphen_values = true)]
    pub shard: Option<Shard>,
    /// Say what would be played, and about how long it takes.
    #[arg(long, conflicts_with_all = ["shard", "engine"])]
    pub dry_run: bool,
    /// Write the scripts of a cluster's scheduler instead of playing.
    #[arg(long, value_enum, conflicts_with = "shard")]
    pub engine: Option<Engine>,
    /// What the scheduler is told.
    #[command(flatten)]
    pub slurm: SlurmArgs,
    /// Use this many threads (default: those of the Slurm task, else all cores). Results do not depend on it.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// With --dry-run: a JSON object instead of text.
    #[arg(long, requires = "dry_run")]
    pub json: bool,
}

/// Who starts the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// An array of jobs, and one that merges.
    Slurm,
}

/// The number of parts of a sweep.
pub fn shards(text: &str) -> Result<u64, String> {
    whole(1, Shard::MOST)(text)
}

impl Run for SweepArgs {
    fn run(&self) -> Result<()> {
        use_threads(self.threads.or_else(slurm::threads))?;
        if self.dry_run {
            return rehearse(&self.file, self.json);
        }
        let stem = self.file.file_stem().unwrap_or_default();
        let folder = self.out.clone().unwrap_or_else(|| Path::new("gumdp-out").join(stem));
        let plan = Plan::open(&self.file, files_are_allowed(), &folder).map_err(refused)?;
        if self.engine.is_some() {
            return self.slurm.write(&plan, &self.file, &folder);
        }
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        interrupt::runs_are_kept();
        let pieces = plan.pieces(shard);
        let runs = pieces.iter().map(|piece| piece.runs.end - piece.runs.start).sum();
        let progress = Progress::new(runs);
        let played = sweep::play(&plan, &folder, shard, interrupt::stop(), &Shown(&progress));
        drop(progress);
        let Played { runs, known, failed } = played.map_err(refused)?;
        let before = if known > 0 { format!(", {known} were there") } else { String::new() };
        say!("shard {}/{}: {} played{before}", shard.index, shard.count, number::counted(runs, "run"));
        for (cell, why) in &failed {
            say!("{cell} failed: {why}");
        }
        if !failed.is_empty() {
            anyhow::bail!("{} could not be played", number::counted(failed.len() as u64, "cell"));
        }
        if self.shard.is_none() { merge::merge(&plan, &folder) } else { Ok(()) }
    }
}

/// What is wrong with a sweep: what a person can correct, or what the system refuses.
pub fn refused(error: SweepError) -> anyhow::Error {
    match error {
        SweepError::Stopped => Interrupted.into(),
        // Its message says what the system says.
        SweepError::Write { .. } => anyhow::Error::msg(error.to_string()),
        error => match error.hint() {
            Some(hint) => BadInput::new(&error).hint(hint).into(),
            None => BadInput::new(&error).into(),
        },
    }
}

struct Shown<'a>(&'a Progress);

impl Watch for Shown<'_> {
    fn decided(&self, made: usize, of: usize, took: Duration) {
        self.0.decided(made, of, took);
    }

    fn finished(&self, runs: u64) {
        self.0.finished(runs);
    }
}

impl Watcher for Shown<'_> {
    fn cell(&self, cell: &Cell) {
        self.0.message(format!("{} {} {}", visible(&cell.task), number::risk_label(cell.risk), cell.player()));
    }
}

/// What would be played; the names of the fields are a contract.
#[derive(Serialize)]
struct Forecast {
    cells: usize,
    runs: u64,
    problems: usize,
    cpu_hours: f64,
    /// The most memory that the rehearsal took, in bytes; `null` where the system does not say.
    memory: Option<u64>,
}

fn rehearse(file: &Path, json: bool) -> Result<()> {
    let mut sources = BTreeMap::new();
    let plan = Plan::read(file, files_are_allowed(), |task| {
        sources.insert(task.name.clone(), task.source.clone());
    })
    .map_err(refused)?;
    let progress = Progress::spinner("playing some runs to see how long they take");
    let load = |name: &str| Ok(Task::parse(&format!("{name}.toml"), &sources[name])?);
    let seconds = sweep::rehearse(&plan, load, REHEARSAL, interrupt::stop()).map_err(refused)?;
    drop(progress);
    let (cells, runs, problems) = (plan.cells.len(), plan.runs(), plan.problems.len());
    let forecast = Forecast { cells, runs, problems, cpu_hours: seconds / 3600.0, memory: peak_memory() };
    if json {
        return print_json(&forecast);
    }
    let mut out = crate::talk::stdout();
    let shown = &plan.cells[..cells.min(20)];
    let fields = |cell: &Cell| {
        vec![
            Field::text("cell", &cell.id),
            Field::text("task", &cell.task),
            Field::text("risk", cell.risk.to_string()),
            Field::text("policy", cell.player()),
            Field::number("simulations", cell.simulations.to_string()),
            Field::number("runs", cell.runs.to_string()),
            Field::number("seed", cell.seed.to_string()),
        ]
    };
    Table::of(shown, fields).print(&mut out)?;
    if cells > shown.len() {
        writeln!(out, "and {} more", cells - shown.len())?;
    }
    let [cell, run, problem] = [(cells as u64, "cell"), (runs, "run"), (problems as u64, "problem")]
        .map(|(count, what)| number::counted(count, what));
    writeln!(out, "\n{cell} of {problem}, {run}")?;
    writeln!(out, "about {} of CPU time, by a few runs of each problem, player and measure", duration(seconds))?;
    if let Some(bytes) = forecast.memory {
        writeln!(out, "about {} MiB of memory for each process", bytes >> 20)?;
    }
    Ok(())
}

/// A time for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The most memory that the process has had, in bytes, where the system says it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
