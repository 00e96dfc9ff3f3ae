//! How far a sweep is.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::journal::{Done, Entry, Name, journals, scan};
use super::{Plan, Shard, SweepError};

/// A journal that was not ended and has grown within this time is taken to be one of a process that still plays.
pub const SILENCE: Duration = Duration::from_mins(5);

/// How far a sweep is.
#[derive(Clone, Debug)]
pub struct Status {
    /// Runs of all cells.
    pub runs: u64,
    /// Those that are there.
    pub done: u64,
    /// Number of cells.
    pub cells: usize,
    /// Those whose runs are all there.
    pub cells_done: usize,
    /// Cells that could not be played, with the reason, and have no run since.
    pub failed: Vec<(String, String)>,
    /// The shards, as many as the process that began last was one of.
    pub shards: Vec<ShardStatus>,
    /// Processes that seem to be playing, of whatever cut.
    pub playing: usize,
    /// About how long the rest takes one core, in seconds; `None` before the first run.
    pub cpu_seconds_left: Option<f64>,
    /// About how long it takes those that are playing; `None` if nobody is.
    pub seconds_left: Option<f64>,
}

/// How far a shard is.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardStatus {
    /// Which it is.
    pub shard: Shard,
    /// Its runs.
    pub runs: u64,
    /// Those that are there, whoever played them.
    pub done: u64,
    /// Processes that have begun it.
    pub begun: usize,
    /// Those of them that have not ended, and finished a run within the last minutes.
    pub playing: usize,
}

#[derive(Clone, Copy, Default)]
struct Processes {
    begun: usize,
    playing: usize,
}

impl Status {
    /// The shards that are not complete, as Slurm's `--array` takes them: `3,7-9`.
    #[must_use]
    pub fn missing(&self) -> String {
        let missing: Vec<u64> =
            self.shards.iter().filter(|shard| shard.done < shard.runs).map(|shard| shard.shard.index).collect();
        let runs = missing.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
            [only] => only.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        });
        runs.collect::<Vec<_>>().join(",")
    }
}

/// How far the sweep of a folder is, in so many shards: those of the journals, unless another number is given.
///
/// # Errors
/// If there is no sweep, or a journal cannot be read, is damaged or of another sweep.
pub fn status(plan: &Plan, folder: &Path, shards: Option<u64>) -> Result<Status, SweepError> {
    let mut done = Done::nothing(plan);
    let mut cpu: Vec<(u64, f64)> = vec![(0, 0.0); plan.cells.len()];
    let mut failures: BTreeMap<usize, String> = BTreeMap::new();
    let mut processes: BTreeMap<(u64, u64), Processes> = BTreeMap::new();
    // The cut of the process that began last, by the names of the journals: clocks of machines differ.
    let (mut speed, mut newest) = (0.0, (0, 1));
    let now = now_there(folder);
    for path in journals(folder)? {
        let (mut ended, mut own_cpu, mut own_elapsed) = (false, 0.0, 0.0);
        let shard = scan(&path, plan, |entry| {
            match entry {
                Entry::Run { cell, elapsed, record } => {
                    let mut fields = record.split(',');
                    let run = fields.next().and_then(|run| run.parse().ok());
                    let seconds: f64 = fields.nth(2).and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0);
                    if let Some(run) = run {
                        done.add(cell, run);
                    }
                    cpu[cell].0 += 1;
                    cpu[cell].1 += seconds;
                    own_cpu += seconds;
                    own_elapsed = elapsed;
                    failures.remove(&cell);
                }
                Entry::Failed { cell, why } => drop(failures.insert(cell, why.to_owned())),
                Entry::End => ended = true,
                Entry::Exact { .. } => {}
            }
            Ok(())
        })?;
        let Some(shard) = shard else { continue };
        newest = newest.max((Name::of(&path).map_or(0, |name| name.order), shard.count));
        let of_shard = processes.entry((shard.index, shard.count)).or_default();
        of_shard.begun += 1;
        let written = std::fs::metadata(&path).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        // A time far from now on either side says nothing of today.
        let apart = now.duration_since(written).unwrap_or_else(|error| error.duration());
        if !ended && apart < SILENCE {
            of_shard.playing += 1;
            speed += if own_elapsed > 0.0 { own_cpu / own_elapsed } else { 1.0 };
        }
    }
    let count = shards.unwrap_or(newest.1);
    let mut of_shards: Vec<ShardStatus> = (1..=count)
        .map(|index| {
            let Processes { begun, playing } = processes.get(&(index, count)).copied().unwrap_or_default();
            ShardStatus { shard: Shard { index, count }, runs: 0, done: 0, begun, playing }
        })
        .collect();
    for (number, unit) in plan.units(count).iter().enumerate() {
        let of = &mut of_shards[number % count as usize];
        for piece in unit {
            of.runs += piece.runs.end - piece.runs.start;
            of.done += done.count(piece.cell, piece.runs.clone());
        }
    }
    let there: Vec<u64> =
        plan.cells.iter().enumerate().map(|(number, cell)| done.count(number, 0..cell.runs)).collect();
    let left = seconds_left(plan, &there, &cpu);
    let cells_done = plan.cells.iter().zip(&there).filter(|(cell, there)| cell.runs == **there).count();
    Ok(Status {
        runs: plan.runs(),
        done: there.iter().sum(),
        cells: plan.cells.len(),
        cells_done,
        failed: failures.into_iter().map(|(cell, why)| (plan.cells[cell].id.clone(), why)).collect(),
        shards: of_shards,
        playing: processes.values().map(|of_shard| of_shard.playing).sum(),
        cpu_seconds_left: left,
        seconds_left: left.filter(|_| speed > 0.0).map(|left| left / speed),
    })
}

/// By the time that the cell's own runs took, else by how much others differ from the nominal rate.
fn seconds_left(plan: &Plan, there: &[u64], cpu: &[(u64, f64)]) -> Option<f64> {
    let nominal = plan.run_seconds();
    let known: f64 = cpu.iter().map(|(_, seconds)| seconds).sum();
    let expected: f64 = cpu.iter().zip(&nominal).map(|((runs, _), each)| *runs as f64 * each).sum();
    if expected <= 0.0 {
        return None;
    }
    let left = |number: usize| {
        let (runs, seconds) = cpu[number];
        let each = if runs > 0 { seconds / runs as f64 } else { nominal[number] * known / expected };
        (plan.cells[number].runs - there[number]) as f64 * each
    };
    Some((0..plan.cells.len()).map(left).sum())
}

/// The time by the clock of whoever keeps the folder: clocks of other machines may differ.
fn now_there(folder: &Path) -> SystemTime {
    let of_probe = || {
        let probe = tempfile::NamedTempFile::new_in(folder.join("runs")).ok()?;
        probe.as_file().metadata().ok()?.modified().ok()
    };
    of_probe().unwrap_or_else(SystemTime::now)
}
