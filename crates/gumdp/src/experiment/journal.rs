//! Finished runs on disk, one line each, so that a process killed at any moment loses nothing but the runs it was in.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{ExperimentError, Run};
use crate::model::Pair;
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Purpose};

const HEADER: &str = "run,cost,simulated_steps,cpu_seconds,path\n";

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

    fn parse(line: &str) -> Option<Self> {
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

/// The finished runs of one policy in a file: `run,cost,simulated_steps,cpu_seconds,path`, in the order in which they were
/// finished. The file says nothing of problem, policy and seed: whoever opens it must know that they are the same.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The system's error code after a failed write: what it left must stay the end of the file, where it is recognised as
    /// incomplete, and whichever thread comes next must give the same reason.
    file: Mutex<Result<File, i32>>,
    finished: BTreeMap<u64, Record>,
}

impl Journal {
    /// Opens a journal, which is made if there is none, and reads what it holds. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// If the file cannot be opened, read or written, or is not a journal.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        if !HEADER.starts_with(&text[..text.floor_char_boundary(HEADER.len())]) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a journal of runs"));
        }
        let (finished, complete) = parse(&text);
        if complete < text.len() || text.is_empty() {
            // The last line was cut off by a kill: drop it, its run is played again.
            file.set_len(complete as u64)?;
            file.seek(SeekFrom::End(0))?;
            if complete == 0 {
                file.write_all(HEADER.as_bytes())?;
            }
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(Ok(file)), finished })
    }

    /// The finished runs in the text of a journal.
    #[must_use]
    pub fn records(text: &str) -> BTreeMap<u64, Record> {
        parse(text).0
    }

    /// The runs that were finished when it was opened.
    #[must_use]
    pub fn finished(&self) -> &BTreeMap<u64, Record> {
        &self.finished
    }

    /// Adds a finished run: one line in one write.
    pub(super) fn append(&self, record: &Record) -> Result<(), ExperimentError> {
        let path: Vec<String> = record.path.iter().map(ToString::to_string).collect();
        let Record { run, cost, simulated_steps, cpu_seconds, .. } = record;
        let line = format!("{run},{cost},{simulated_steps},{cpu_seconds:.6},{}\n", path.join(" "));
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match file.as_mut() {
            Ok(file) => file.write_all(line.as_bytes()),
            Err(code) => Err(io::Error::from_raw_os_error(*code)),
        };
        written.map_err(|source| {
            *file = Err(source.raw_os_error().unwrap_or_default());
            ExperimentError::Journal { path: self.path.clone(), source }
        })
    }
}

/// The complete lines of a journal, and the number of bytes they take.
fn parse(text: &str) -> (BTreeMap<u64, Record>, usize) {
    let mut records = BTreeMap::new();
    if !text.starts_with(HEADER) {
        return (records, 0);
    }
    let mut complete = HEADER.len();
    for line in text[complete..].split_inclusive('\n') {
        let Some(record) = line.strip_suffix('\n').and_then(Record::parse) else { break };
        complete += line.len();
        records.insert(record.run, record);
    }
    (records, complete)
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
        let journal = Journal::open(&path).unwrap();
        journal.append(&record(1)).unwrap();
        journal.append(&record(0)).unwrap();
        drop(journal);
        let whole = std::fs::read_to_string(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let journal = Journal::open(&path).unwrap();
            let kept: Vec<u64> = journal.finished.keys().copied().collect();
            let lines = whole[..cut].matches('\n').count();
            let expected: &[u64] = [&[][..], &[], &[1], &[0, 1]][lines.min(3)];
            assert_eq!(kept, expected, "cut at {cut}");
            journal.append(&record(2)).unwrap();
            drop(journal);
            let again = Journal::records(&std::fs::read_to_string(&path).unwrap());
            assert_eq!(again[&2], record(2));
            assert_eq!(again.len(), expected.len() + 1);
        }
        std::fs::write(&path, "some,other,table\n1,2,3\n").unwrap();
        assert_eq!(Journal::open(&path).unwrap_err().to_string(), "it is not a journal of runs");
    }
}
