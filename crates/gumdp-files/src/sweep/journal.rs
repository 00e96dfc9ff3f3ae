//! Journals of a sweep: one file for each process, which nobody else writes to.
//!
//! The first line says which sweep and shard it is of; each other one is a finished run, what is known exactly of a cell, a cell that
//! failed, or the end. All have checksums. What stands after the last line break was cut off by a kill and is passed over.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use gumdp::stats::Summary;
use gumdp::{CheckedLines, ExperimentError, Held, Record};

use super::{Plan, Shard, SweepError};

const KIND: &str = "gumdp-sweep";

/// The journal that a process writes.
pub(super) struct Writer {
    lines: CheckedLines,
    began: Instant,
}

impl Writer {
    /// A journal that nobody else has.
    pub(super) fn create(folder: &Path, plan: &Plan, shard: Shard) -> Result<Self, SweepError> {
        let Shard { index, count } = shard;
        let runs = folder.join("runs");
        // Later than all that are there, by no clock.
        let order =
            1 + journals(folder)?.iter().filter_map(|path| Name::of(path)).map(|of| of.order).max().unwrap_or(0);
        let mut name = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        loop {
            name = name.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(std::process::id()) | 1);
            let path = runs.join(format!("{index}-of-{count}-{order}-{name:016x}.csv"));
            let mut file = match OpenOptions::new().append(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened.map_err(|source| SweepError::write(&path, source))?,
            };
            let Plan { gumdp, results_version, fingerprint, .. } = plan;
            let header = format!("{KIND},{gumdp},{results_version},{fingerprint},{index},{count}\n");
            file.write_all(header.as_bytes()).map_err(|source| SweepError::write(&path, source))?;
            return Ok(Self { lines: CheckedLines::new(&path, fingerprint, file), began: Instant::now() });
        }
    }

    pub(super) fn run(&self, cell: usize, record: &Record) -> Result<(), ExperimentError> {
        self.lines.append(format!("run,{cell},{:.3},{}", self.began.elapsed().as_secs_f64(), record.to_line()))
    }

    pub(super) fn exact(&self, cell: usize, summary: &Summary) -> Result<(), ExperimentError> {
        let summary = serde_json::to_string(summary).unwrap_or_default();
        self.lines.append(format!("exact,{cell},{summary}"))
    }

    pub(super) fn failed(&self, cell: usize, why: &str) -> Result<(), ExperimentError> {
        self.lines.append(format!("failed,{cell},{}", why.replace(['\n', '\r'], " ")))
    }

    pub(super) fn end(&self) -> Result<(), ExperimentError> {
        self.lines.append("end".to_owned())?;
        self.lines.sync()
    }
}

/// A line of a journal.
pub(super) enum Entry<'a> {
    Run { cell: usize, elapsed: f64, record: &'a str },
    Exact { cell: usize, summary: &'a str },
    Failed { cell: usize, why: &'a str },
    End,
}

impl<'a> Entry<'a> {
    fn parse(content: &'a str, cells: usize) -> Option<Self> {
        if content == "end" {
            return Some(Self::End);
        }
        let mut parts = content.splitn(3, ',');
        let (kind, cell, rest) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        match kind {
            _ if cell >= cells => None,
            "run" => {
                let (elapsed, record) = rest.split_once(',')?;
                Some(Self::Run { cell, elapsed: elapsed.parse().ok()?, record })
            }
            "exact" => Some(Self::Exact { cell, summary: rest }),
            "failed" => Some(Self::Failed { cell, why: rest }),
            _ => None,
        }
    }
}

/// What the name of a journal says. It saves reading and is never needed: a file with another name is read like all others.
pub(super) struct Name {
    /// Whose it is.
    pub(super) shard: Shard,
    /// Above that of all that were there when it began.
    pub(super) order: u64,
}

impl Name {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let mut parts = path.file_stem()?.to_str()?.split('-');
        let [index, "of", count, order, _] = std::array::from_fn(|_| parts.next().unwrap_or_default()) else {
            return None;
        };
        let shard = format!("{index}/{count}").parse().ok()?;
        Some(Self { shard, order: order.parse().ok().filter(|order| *order < u64::MAX)? })
    }

    /// Whether it holds nothing of a shard: that of another one of the same cut.
    pub(super) fn is_apart_from(&self, shard: Shard) -> bool {
        self.shard.count == shard.count && self.shard.index != shard.index
    }
}

/// The journals of a folder, in the order of their names.
pub(super) fn journals(folder: &Path) -> Result<Vec<PathBuf>, SweepError> {
    let runs = folder.join("runs");
    let entries = match fs::read_dir(&runs) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|source| SweepError::read(&runs, source))?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(|source| SweepError::read(&runs, source)));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    paths.sort();
    Ok(paths)
}

/// Reads a journal line by line. `None` if its process was killed before it wrote the first one.
pub(super) fn scan(
    path: &Path,
    plan: &Plan,
    mut each: impl FnMut(Entry) -> Result<(), SweepError>,
) -> Result<Option<Shard>, SweepError> {
    let unread = |source| SweepError::read(path, source);
    let damaged = |what: String| SweepError::Damaged { path: path.to_owned(), what };
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(unread)?);
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line).map_err(unread)?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    let header = String::from_utf8_lossy(&line[..line.len() - 1]).into_owned();
    let fields: Vec<&str> = header.split(',').collect();
    let [KIND, version, results, fingerprint, index, count] = fields[..] else {
        return Err(damaged("it is not a journal of a sweep".to_owned()));
    };
    if version != plan.gumdp || results != plan.results_version.to_string() {
        return Err(SweepError::version(path, version, results));
    }
    if fingerprint != plan.fingerprint {
        return Err(SweepError::Mixed { path: path.to_owned() });
    }
    let shard = format!("{index}/{count}").parse().map_err(|_| damaged("its shard is out of range".to_owned()))?;
    for number in 2_u64.. {
        line.clear();
        file.read_until(b'\n', &mut line).map_err(unread)?;
        if line.last() != Some(&b'\n') {
            break;
        }
        let text = std::str::from_utf8(&line[..line.len() - 1]).ok();
        let content = text.and_then(|text| CheckedLines::content(text, &plan.fingerprint));
        let entry = content.and_then(|content| Entry::parse(content, plan.cells.len()));
        each(entry.ok_or_else(|| damaged(format!("line {number} is damaged")))?)?;
    }
    Ok(Some(shard))
}

/// Which runs of each cell are there.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    cells: Vec<Held>,
}

impl Done {
    pub(super) fn nothing(plan: &Plan) -> Self {
        Self { cells: vec![Held::default(); plan.cells.len()] }
    }

    pub(super) fn add(&mut self, cell: usize, run: u64) {
        self.cells[cell].insert(run);
    }

    /// The runs of a cell that are not there.
    pub(super) fn missing(&self, cell: usize, runs: Range<u64>) -> Vec<u64> {
        runs.filter(|&run| !self.cells[cell].holds(run)).collect()
    }

    /// How many runs of a range are there.
    pub(super) fn count(&self, cell: usize, runs: Range<u64>) -> u64 {
        self.cells[cell].count(runs)
    }
}
