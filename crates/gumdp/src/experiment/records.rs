//! Runs read from disk, one by one and in their order: in memory are only those that came before their turn.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use super::Run;
use super::lines::{UNCHECKED, checksum, uncovered};
use crate::model::Pair;
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Purpose};

pub(super) const HEADER: &str = "run,cost,simulated_steps,cpu_seconds,path,check\n";
/// That of journals without checksums, which are still read.
const OLD_HEADER: &str = "run,cost,simulated_steps,cpu_seconds,path\n";

/// The line of the first run, below the header.
const FIRST_RECORD: usize = 2;

/// What is kept of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Number of the run.
    pub run: u64,
    /// f of its occupancy.
    pub cost: f64,
    /// Model steps simulated to choose its actions.
    pub simulated_steps: u64,
    /// CPU time it took.
    pub cpu_seconds: f64,
    /// The pairs it visited, by number.
    pub path: Vec<u32>,
}

impl Record {
    pub(super) fn new(run: &Run, cpu: Duration) -> Self {
        Self {
            run: run.number,
            cost: run.episode.cost,
            simulated_steps: run.simulated_steps,
            // As precise as a journal is, so that a table is the same from memory and from disk.
            cpu_seconds: cpu.as_micros() as f64 / 1e6,
            path: run.episode.path.iter().map(|pair| pair.0).collect(),
        }
    }

    /// Where the run ended. `None` if it cannot be one of this model with this seed.
    #[must_use]
    pub fn end(&self, problem: &Problem, seed: u64) -> Option<OccupancyState> {
        let mdp = problem.mdp();
        let mut environment = rng::stream(seed, self.run, Purpose::Environment);
        let mut at = problem.start(mdp.sample_initial(&mut environment));
        for &pair in &self.path {
            if at.time >= problem.horizon() || !mdp.pairs(at.state).contains(&pair) {
                return None;
            }
            problem.advance(&mut at, Pair(pair), mdp.sample(Pair(pair), &mut environment));
        }
        (at.time == problem.horizon()).then_some(at)
    }

    /// Whether it can be a run of this problem with this seed: its path, and its cost to the bit.
    #[must_use]
    pub fn is_of(&self, problem: &Problem, seed: u64) -> bool {
        self.end(problem, seed).is_some_and(|end| problem.cost(&end).to_bits() == self.cost.to_bits())
    }

    /// A sum over what it came to.
    fn end_sum(&self) -> u64 {
        let cost = checksum(UNCHECKED, &self.cost.to_bits().to_le_bytes());
        self.path.iter().fold(cost, |sum, pair| checksum(sum, &pair.to_le_bytes()))
    }

    /// As one line of text: `run,cost,simulated_steps,cpu_seconds,path`.
    #[must_use]
    pub fn to_line(&self) -> String {
        let path: Vec<String> = self.path.iter().map(ToString::to_string).collect();
        let Self { run, cost, simulated_steps, cpu_seconds, .. } = self;
        format!("{run},{cost},{simulated_steps},{cpu_seconds:.6},{}", path.join(" "))
    }

    /// The record that such a line is of; `None` if it is of none.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let mut fields = line.split(',');
        let record = Self {
            run: fields.next()?.parse().ok()?,
            cost: fields.next()?.parse().ok()?,
            simulated_steps: fields.next()?.parse().ok()?,
            cpu_seconds: fields.next()?.parse().ok()?,
            path: fields.next()?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?,
        };
        fields.next().is_none().then_some(record)
    }
}

pub(super) fn damage(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// The numbers of runs: from each first one to the one after the last.
///
/// ```
/// let mut held = gumdp::Held::default();
/// assert!([3, 1, 2].into_iter().all(|run| held.insert(run)) && !held.insert(2));
/// assert_eq!((held.holds(0), held.holds(3), held.count(2..9)), (false, true, 2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Held(pub(super) BTreeMap<u64, u64>);

impl Held {
    /// Whether a run is there.
    #[must_use]
    pub fn holds(&self, run: u64) -> bool {
        self.0.range(..=run).next_back().is_some_and(|(_, &end)| run < end)
    }

    /// How many of these are there.
    #[must_use]
    pub fn count(&self, runs: Range<u64>) -> u64 {
        let within = |(&first, &end): (&u64, &u64)| end.min(runs.end).saturating_sub(first.max(runs.start));
        self.0.range(..runs.end).map(within).sum()
    }

    /// Adds a run; whether it was not there.
    pub fn insert(&mut self, run: u64) -> bool {
        if self.holds(run) || run == u64::MAX {
            return false;
        }
        let before = self.0.range(..run).next_back().filter(|(_, end)| **end == run).map(|(&first, _)| first);
        let end = self.0.remove(&(run + 1)).unwrap_or(run + 1);
        self.0.insert(before.unwrap_or(run), end);
        true
    }
}

/// What is known of a journal after it was read once.
pub(super) struct Checked {
    pub(super) held: Held,
    /// Bytes of its complete lines.
    pub(super) complete: u64,
    /// Earlier versions wrote no checksums.
    pub(super) has_checks: bool,
}

/// Reads a journal from its begin to its end: an error if it is damaged, or holds a run that is not `own` or two that differ.
pub(super) fn check(path: &Path, identity: &str, mut own: impl FnMut(&Record) -> bool) -> io::Result<Checked> {
    let mut records = Records::open(path, identity)?;
    // Two processes may have played a run; what they did must be the same. By its run, the line and the end of a later one.
    let (mut held, mut again) = (Held::default(), BTreeMap::<u64, (usize, u64)>::new());
    let differs = |line: usize, run: u64| records_damage(line, &format!("has run {run} again, with another end"));
    while let Some(record) = records.next()? {
        if !own(&record) {
            return Err(damage(format!(
                "run {} is of another problem or seed; give the ones it was made with, or another path to write to",
                record.run
            )));
        }
        if !held.insert(record.run) {
            let (_, known) = *again.entry(record.run).or_insert((records.line, record.end_sum()));
            if known != record.end_sum() {
                return Err(differs(records.line, record.run));
            }
        }
    }
    let (complete, has_checks) = (records.bytes, records.has_checks);
    if !again.is_empty() {
        let mut records = Records::open(path, identity)?;
        while let Some(record) = records.next()? {
            if let Some(&(line, _)) = again.get(&record.run).filter(|known| known.1 != record.end_sum()) {
                return Err(differs(line, record.run));
            }
        }
    }
    Ok(Checked { held, complete, has_checks })
}

/// The runs of a journal, read one by one; only what stands after the last line break can be due to a kill, all else that is no
/// finished run is damage. A journal of an earlier version has no checksums.
#[derive(Debug)]
pub struct Records {
    file: BufReader<File>,
    identity: u64,
    has_checks: bool,
    /// The number of the last line that was read, and the bytes up to its end.
    line: usize,
    bytes: u64,
    text: Vec<u8>,
    /// Those that came before their turn.
    early: BTreeMap<u64, Record>,
}

impl Records {
    /// Begins to read a journal.
    ///
    /// # Errors
    /// If it cannot be read or is not a journal.
    pub fn open(path: &Path, identity: &str) -> io::Result<Self> {
        let (file, identity) = (BufReader::new(File::open(path)?), checksum(UNCHECKED, identity.as_bytes()));
        let (text, early) = (Vec::new(), BTreeMap::new());
        let mut records = Self { file, identity, has_checks: true, line: 0, bytes: 0, text, early };
        let whole = records.next_line()?;
        let header = &records.text;
        let known = if whole {
            records.has_checks = header == HEADER.as_bytes();
            records.has_checks || header == OLD_HEADER.as_bytes()
        } else {
            HEADER.as_bytes().starts_with(header)
        };
        if known { Ok(records) } else { Err(damage("it is not a journal of runs")) }
    }

    /// Opens a journal whose runs are all `own`, undamaged, and the first so many there, without changing it.
    ///
    /// # Errors
    /// If it is not so; how many of them there are if some are missing.
    pub fn of(
        path: &Path,
        identity: &str,
        runs: u64,
        own: impl FnMut(&Record) -> bool,
    ) -> io::Result<Result<Self, u64>> {
        let held = check(path, identity, own)?.held;
        let there = held.count(0..runs);
        if there == runs { Self::open(path, identity).map(Ok) } else { Ok(Err(there)) }
    }

    /// Reads the next line; false if it is cut off.
    fn next_line(&mut self) -> io::Result<bool> {
        self.text.clear();
        let read = self.file.read_until(b'\n', &mut self.text)?;
        let whole = self.text.last() == Some(&b'\n');
        if whole {
            self.line += 1;
            self.bytes += read as u64;
        }
        Ok(whole)
    }

    /// The next run in the file.
    fn next(&mut self) -> io::Result<Option<Record>> {
        if !self.next_line()? {
            return Ok(None);
        }
        match self.record() {
            Some(record) => Ok(Some(record)),
            None => Err(self.refusal()?),
        }
    }

    /// The run of the line that was read last.
    fn record(&self) -> Option<Record> {
        let text = std::str::from_utf8(&self.text[..self.text.len() - 1]).ok()?;
        Record::of_line(if self.has_checks { uncovered(text, self.identity)? } else { text })
    }

    /// Why the line that was read last is no run of this journal. If no line is, the journal is hardly damaged but another one, and none of
    /// its lines should be lost.
    fn refusal(&mut self) -> io::Result<io::Error> {
        let (line, mut is_other) = (self.line, self.has_checks && self.line == FIRST_RECORD);
        while is_other && self.next_line()? {
            is_other = self.record().is_none();
        }
        Ok(if is_other {
            damage(
                "none of its runs is of this problem, policy and seed; give the ones it was made with, or another path to write to, \
                 or rename it",
            )
        } else {
            records_damage(line, "is damaged or of another journal")
        })
    }

    /// The run with this number, which is larger than those asked for before; `None` if it is not there.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn run(&mut self, run: u64) -> io::Result<Option<Record>> {
        if let Some(record) = self.early.remove(&run) {
            return Ok(Some(record));
        }
        while let Some(record) = self.next()? {
            match record.run.cmp(&run) {
                Ordering::Equal => return Ok(Some(record)),
                Ordering::Greater => drop(self.early.insert(record.run, record)),
                // It was given before.
                Ordering::Less => {}
            }
        }
        Ok(None)
    }

    /// The same without keeping those before and after it for later.
    ///
    /// # Errors
    /// Those of [`Records::run`].
    pub fn only(mut self, run: u64) -> io::Result<Option<Record>> {
        while let Some(record) = self.next()? {
            if record.run == run {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

fn records_damage(line: usize, what: &str) -> io::Error {
    damage(format!("line {line} {what}; remove it, and its run is played again"))
}
