//! Finished runs on disk, one line each, so that a process killed at any moment loses nothing but the runs it was in.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{ExperimentError, Run};
use crate::model::Pair;
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Purpose};

const HEADER: &str = "run,cost,simulated_steps,cpu_seconds,path,check\n";
/// That of journals without checksums, which are still read.
const OLD_HEADER: &str = "run,cost,simulated_steps,cpu_seconds,path\n";

/// The checksum of nothing.
pub const UNCHECKED: u64 = 0xcbf2_9ce4_8422_2325;

/// The checksum of what has one and of what follows (FNV-1a): the same on every machine and in every version.
///
/// ```
/// use gumdp::{UNCHECKED, checksum};
/// assert_eq!(checksum(checksum(UNCHECKED, b"foo"), b"bar"), 0x8594_4171_f739_67e8);
/// ```
#[must_use]
pub fn checksum(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

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

/// A file of lines with checksums, which one process adds to.
#[derive(Debug)]
pub struct CheckedLines {
    path: PathBuf,
    /// What all checksums begin with.
    identity: u64,
    /// The system's error code after a failed write: what it left must stay the end of the file, where it is recognised as
    /// incomplete, and whichever thread comes next must give the same reason.
    file: Mutex<Result<File, i32>>,
}

impl CheckedLines {
    /// Lines that are added to an open file; each checksum is that of the identity and of what stands before it in its line.
    #[must_use]
    pub fn new(path: &Path, identity: &str, file: File) -> Self {
        let identity = checksum(UNCHECKED, identity.as_bytes());
        Self { path: path.to_owned(), identity, file: Mutex::new(Ok(file)) }
    }

    /// Adds a line in one write.
    ///
    /// # Errors
    /// If it cannot be written, or an earlier one could not be.
    pub fn append(&self, mut line: String) -> Result<(), ExperimentError> {
        let check = checksum(self.identity, line.as_bytes());
        let _ = writeln!(line, ",{check:016x}");
        self.with_file(|file| file.write_all(line.as_bytes()))
    }

    /// Returns when all that was added is on disk.
    ///
    /// # Errors
    /// If the system cannot promise that.
    pub fn sync(&self) -> Result<(), ExperimentError> {
        self.with_file(|file| file.sync_all())
    }

    fn with_file(&self, work: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), ExperimentError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let done = match file.as_mut() {
            Ok(file) => work(file),
            Err(code) => Err(io::Error::from_raw_os_error(*code)),
        };
        done.map_err(|source| {
            *file = Err(source.raw_os_error().unwrap_or_default());
            ExperimentError::Journal { path: self.path.clone(), source }
        })
    }

    /// A line without its checksum, if that fits the identity.
    #[must_use]
    pub fn content<'a>(line: &'a str, identity: &str) -> Option<&'a str> {
        uncovered(line, checksum(UNCHECKED, identity.as_bytes()))
    }
}

/// The finished runs of one policy in a file: `run,cost,simulated_steps,cpu_seconds,path,check`, in the order in which they were
/// finished. The checksum of a line is that of the journal's identity and the line before it; problem, policy and seed are not in
/// the file: whoever opens it must know that they are the same, and gives each such choice an identity of its own.
#[derive(Debug)]
pub struct Journal {
    lines: CheckedLines,
    finished: BTreeMap<u64, Record>,
}

impl Journal {
    /// Opens a journal, which is made if there is none, and reads what it holds. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// If the file cannot be opened, read or written, is not a journal of this identity, or is damaged.
    pub fn open(path: &Path, identity: &str) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        if text.starts_with(OLD_HEADER.as_bytes()) {
            return Err(damage(
                "it was made by an earlier version, without checksums; rename or remove it, and its runs are played again",
            ));
        }
        let (finished, complete) = parse(&text, identity)?;
        if complete < text.len() || text.is_empty() {
            // The last line was cut off by a kill: drop it, its run is played again.
            file.set_len(complete as u64)?;
            file.seek(SeekFrom::End(0))?;
            if complete == 0 {
                file.write_all(HEADER.as_bytes())?;
            }
        }
        Ok(Self { lines: CheckedLines::new(path, identity, file), finished })
    }

    /// The finished runs in the bytes of a journal; one of an earlier version has no checksums, so that its runs should be held
    /// against the problem ([`Record::is_of`]).
    ///
    /// # Errors
    /// If it is not a journal of this identity, or is damaged.
    pub fn records(bytes: &[u8], identity: &str) -> io::Result<BTreeMap<u64, Record>> {
        parse(bytes, identity).map(|(records, _)| records)
    }

    /// The runs that were finished when it was opened.
    #[must_use]
    pub fn finished(&self) -> &BTreeMap<u64, Record> {
        &self.finished
    }

    /// Adds a finished run: one line in one write.
    pub(super) fn append(&self, record: &Record) -> Result<(), ExperimentError> {
        self.lines.append(record.to_line())
    }

    /// Returns when all that was added is on disk.
    pub(super) fn sync(&self) -> Result<(), ExperimentError> {
        self.lines.sync()
    }
}

fn damage(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// The complete lines of a journal, and the number of bytes they take. Only what stands after the last line break can be due to a
/// kill; all else that is no finished run is damage.
fn parse(bytes: &[u8], identity: &str) -> io::Result<(BTreeMap<u64, Record>, usize)> {
    let identity = checksum(UNCHECKED, identity.as_bytes());
    let mut records: BTreeMap<u64, Record> = BTreeMap::new();
    let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    if complete == 0 {
        let begun = HEADER.as_bytes().starts_with(bytes);
        return if begun { Ok((records, 0)) } else { Err(damage("it is not a journal of runs")) };
    }
    let checked = bytes.starts_with(HEADER.as_bytes());
    if !checked && !bytes.starts_with(OLD_HEADER.as_bytes()) {
        return Err(damage("it is not a journal of runs"));
    }
    for (number, line) in bytes[..complete - 1].split(|&byte| byte == b'\n').enumerate().skip(1) {
        let wrong = |what: &str| damage(format!("line {} {what}; remove it, and its run is played again", number + 1));
        let text = std::str::from_utf8(line).ok();
        let content = text.and_then(|text| if checked { uncovered(text, identity) } else { Some(text) });
        let record = content.and_then(Record::of_line).ok_or_else(|| wrong("is damaged or of another journal"))?;
        // Two processes may have played a run; what they did is the same.
        let known = records.entry(record.run).or_insert_with(|| record.clone());
        if (known.cost.to_bits(), &known.path) != (record.cost.to_bits(), &record.path) {
            return Err(wrong(&format!("has run {} again, with another end", record.run)));
        }
    }
    Ok((records, complete))
}

/// A line without its checksum, if that fits.
fn uncovered(line: &str, identity: u64) -> Option<&str> {
    let (content, check) = line.rsplit_once(',')?;
    (check.len() == 16 && u64::from_str_radix(check, 16) == Ok(checksum(identity, content.as_bytes())))
        .then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(run: u64) -> Record {
        Record { run, cost: 0.1 + run as f64 / 3.0, simulated_steps: 7, cpu_seconds: 0.25, path: vec![3, 1, 4] }
    }

    #[test]
    fn a_cut_off_line_is_dropped_and_the_rest_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cell.csv");
        let journal = Journal::open(&path, "cell").unwrap();
        journal.append(&record(1)).unwrap();
        journal.append(&record(0)).unwrap();
        drop(journal);
        let whole = std::fs::read_to_string(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let journal = Journal::open(&path, "cell").unwrap();
            let kept: Vec<u64> = journal.finished.keys().copied().collect();
            let lines = whole[..cut].matches('\n').count();
            let expected: &[u64] = [&[][..], &[], &[1], &[0, 1]][lines.min(3)];
            assert_eq!(kept, expected, "cut at {cut}");
            journal.append(&record(2)).unwrap();
            drop(journal);
            let again = Journal::records(&std::fs::read(&path).unwrap(), "cell").unwrap();
            assert_eq!(again[&2], record(2));
            assert_eq!(again.len(), expected.len() + 1);
        }
        std::fs::write(&path, "some,other,table\n1,2,3\n").unwrap();
        assert_eq!(Journal::open(&path, "cell").unwrap_err().to_string(), "it is not a journal of runs");
    }

    /// Whatever byte is changed, inserted or lost in a line that was complete, no other run comes of it.
    #[test]
    fn damage_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cell.csv");
        let journal = Journal::open(&path, "cell").unwrap();
        let runs: Vec<Record> = (0..3).map(record).collect();
        for run in &runs {
            journal.append(run).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        assert!(Journal::records(&whole, "other").is_err());
        let mut rng = rng::stream(11, 0, Purpose::Policy);
        let (mut found, cases) = (0, if std::env::var_os("GUMDP_SLOW").is_some() { 100_000 } else { 2_000 });
        for _ in 0..cases {
            let mut bytes = whole.clone();
            let at = rng::below(&mut rng, bytes.len() as u32) as usize;
            match rng::below(&mut rng, 3) {
                0 => bytes[at] ^= 1 << rng::below(&mut rng, 8),
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"0123456789,. \n-e"[rng::below(&mut rng, 16) as usize]),
            }
            match Journal::records(&bytes, "cell") {
                Err(_) => found += 1,
                // What is lost is played again.
                Ok(kept) => {
                    assert!(kept.values().all(|kept| runs.contains(kept)), "{}", String::from_utf8_lossy(&bytes));
                }
            }
        }
        assert!(found > cases / 2);
    }
}
