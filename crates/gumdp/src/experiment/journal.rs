//! Finished runs on disk, one line each, so that a process killed at any moment loses nothing but the runs it was in.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::ExperimentError;
use super::lines::CheckedLines;
use super::records::{Checked, HEADER, Held, Record, Records, check, damage};

/// The finished runs of one policy in a file: `run,cost,simulated_steps,cpu_seconds,path,check`, in the order in which they were
/// finished. The checksum of a line is that of the journal's identity and the line before it; problem, policy and seed are not in
/// the file: whoever opens it must know that they are the same, and gives each such choice an identity of its own. Runs stay in the
/// file: in memory is which there are.
#[derive(Debug)]
pub struct Journal {
    lines: CheckedLines,
    name: String,
    held: Held,
}

impl Journal {
    /// Opens a journal, which is made if there is none, and reads which runs it holds. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// If the file cannot be opened, read or written, is not a journal of this identity, is damaged, or holds a run that is not `own`.
    pub fn open(path: &Path, identity: &str, own: impl FnMut(&Record) -> bool) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let Checked { held, complete, has_checks } = check(path, identity, own)?;
        if !has_checks {
            return Err(damage(
                "it was made by an earlier version, without checksums; rename or remove it, and its runs are played again",
            ));
        }
        if complete < file.metadata()?.len() || complete == 0 {
            // The last line was cut off by a kill: drop it, its run is played again.
            file.set_len(complete)?;
            file.seek(SeekFrom::End(0))?;
            if complete == 0 {
                file.write_all(HEADER.as_bytes())?;
            }
        }
        Ok(Self { lines: CheckedLines::new(path, identity, file), name: identity.to_owned(), held })
    }

    /// Whether it held a run when it was opened.
    #[must_use]
    pub fn holds(&self, run: u64) -> bool {
        self.held.holds(run)
    }

    /// The first run that it held when it was opened.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.held.0.first_key_value().map(|(&first, _)| first)
    }

    /// What it holds.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn records(&self) -> io::Result<Records> {
        Records::open(self.lines.path(), &self.name)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.lines.path().to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{self, Purpose};

    fn record(run: u64) -> Record {
        Record { run, cost: 0.1 + run as f64 / 3.0, simulated_steps: 7, cpu_seconds: 0.25, path: vec![3, 1, 4] }
    }

    fn open(path: &Path) -> io::Result<Journal> {
        Journal::open(path, "cell", |_| true)
    }

    fn all(path: &Path, identity: &str) -> io::Result<Vec<Record>> {
        let Checked { held, .. } = check(path, identity, |_| true)?;
        let mut records = Records::open(path, identity)?;
        let runs = held.0.into_iter().flat_map(|(first, end)| first..end);
        runs.map(|run| records.run(run).map(|record| record.expect("it is held"))).collect()
    }

    #[test]
    fn a_cut_off_line_is_dropped_and_the_rest_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cell.csv");
        let journal = open(&path).unwrap();
        journal.append(&record(1)).unwrap();
        journal.append(&record(0)).unwrap();
        drop(journal);
        let whole = std::fs::read_to_string(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let journal = open(&path).unwrap();
            let kept: Vec<u64> = (0..3).filter(|&run| journal.holds(run)).collect();
            let lines = whole[..cut].matches('\n').count();
            let expected: &[u64] = [&[][..], &[], &[1], &[0, 1]][lines.min(3)];
            assert_eq!(kept, expected, "cut at {cut}");
            journal.append(&record(2)).unwrap();
            drop(journal);
            let again = all(&path, "cell").unwrap();
            assert_eq!(again.last(), Some(&record(2)));
            assert_eq!(again.len(), expected.len() + 1);
        }
        std::fs::write(&path, "some,other,table\n1,2,3\n").unwrap();
        assert_eq!(open(&path).unwrap_err().to_string(), "it is not a journal of runs");
    }

    /// Runs come in their order whatever that of the file, those played twice once, and only if they are the same.
    #[test]
    fn runs_come_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cell.csv");
        let journal = open(&path).unwrap();
        for run in [4, 0, 2, 1, 0, 3, 2, 9] {
            journal.append(&record(run)).unwrap();
        }
        let runs: Vec<u64> = all(&path, "cell").unwrap().iter().map(|record| record.run).collect();
        assert_eq!(runs, [0, 1, 2, 3, 4, 9]);
        assert!(Records::of(&path, "cell", 5, |_| true).unwrap().is_ok());
        assert_eq!(Records::of(&path, "cell", 10, |_| true).unwrap().err(), Some(6));
        assert!(Records::of(&path, "cell", 5, |record| record.run != 3).is_err());
        journal.append(&Record { cost: 0.5, ..record(2) }).unwrap();
        let error = open(&path).unwrap_err().to_string();
        assert_eq!(error, "line 10 has run 2 again, with another end; remove it, and its run is played again");
    }

    /// Whatever byte is changed, inserted or lost in a line that was complete, no other run comes of it.
    #[test]
    fn damage_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cell.csv");
        let journal = open(&path).unwrap();
        let runs: Vec<Record> = (0..3).map(record).collect();
        for run in &runs {
            journal.append(run).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        // A journal of something else is not to be thrown away line by line.
        let error = all(&path, "other").unwrap_err().to_string();
        assert!(error.starts_with("none of its runs is of this problem") && !error.contains("remove"), "{error}");
        std::fs::write(&path, String::from_utf8_lossy(&whole).replacen("\n0,", "\n7,", 1)).unwrap();
        let error = all(&path, "cell").unwrap_err().to_string();
        assert_eq!(error, "line 2 is damaged or of another journal; remove it, and its run is played again");
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
            std::fs::write(&path, &bytes).unwrap();
            match all(&path, "cell") {
                Err(_) => found += 1,
                // What is lost is played again.
                Ok(kept) => {
                    assert!(kept.iter().all(|kept| runs.contains(kept)), "{}", String::from_utf8_lossy(&bytes));
                }
            }
        }
        assert!(found > cases / 2);
    }
}
