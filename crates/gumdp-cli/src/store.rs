//! Results on disk. Finished runs are journalled one line at a time, so that a process killed at any moment loses nothing
//! but the runs it was in; everything else is written to a temporary name and then renamed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::interrupt;

/// A results folder.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
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

/// The finished runs of one cell of an experiment.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The system's error code after a failed write: what it left must stay the end of the file, where it is recognised as
    /// incomplete, and whichever thread comes next must give the same reason.
    file: Mutex<std::result::Result<File, i32>>,
    /// Runs that were finished before.
    pub finished: BTreeMap<u64, Record>,
}

const JOURNAL_HEADER: &str = "run,cost,simulated_steps,cpu_seconds,path\n";

impl Store {
    /// Opens a results folder for writing and creates it if need be.
    pub fn create(dir: &Path) -> Result<Self> {
        let runs = dir.join("runs");
        fs::create_dir_all(&runs).with_context(|| format!("cannot create the output folder {}", dir.display()))?;
        let probe = runs.join(".probe");
        fs::write(&probe, b"").with_context(|| format!("cannot write to the output folder {}", dir.display()))?;
        let _ = fs::remove_file(&probe);
        interrupt::runs_are_kept();
        Ok(Self { dir: dir.to_owned() })
    }

    /// Opens a folder for results that have no runs to be gone on with.
    pub fn folder(dir: &Path) -> Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("cannot create the output folder {}", dir.display()))?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Opens a results folder for reading.
    pub fn open(dir: &Path) -> Result<Self> {
        if !dir.is_dir() {
            bail!("there is no folder {}", dir.display());
        }
        if !dir.join("manifest.json").is_file() {
            // Folders of the commands that play nothing which could be drawn or replayed again.
            for (file, command) in [
                ("evaluation.json", "gumdp evaluate"),
                ("frontier.json", "gumdp frontier"),
                ("tree.json", "gumdp explain"),
            ] {
                if dir.join(file).is_file() {
                    bail!(
                        "{} holds results of `{command}`, whose figures are all there and which keeps no runs; folders of \
                         `gumdp run`, `compare` and `reproduce` can be reported on and replayed",
                        dir.display()
                    );
                }
            }
            bail!("{} holds no results: there is no manifest.json", dir.display());
        }
        Ok(Self { dir: dir.to_owned() })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a file of the folder atomically: the earlier content stays until the new one is complete.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_atomically(&self.dir.join(name), content)
    }

    /// Reads a file of the folder.
    pub fn read(&self, name: &str) -> Result<String> {
        let path = self.dir.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Opens the journal with this name and reads what it holds.
    pub fn journal(&self, name: &str) -> Result<Journal> {
        let path = self.dir.join("runs").join(name);
        Journal::open(path.clone()).with_context(|| format!("cannot open the journal {}", path.display()))
    }

    /// The names of journals other than these, in order.
    pub fn other_journals(&self, own: &[String]) -> Result<Vec<String>> {
        let folder = self.dir.join("runs");
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut other: Vec<String> = names.filter(|name| !name.starts_with('.') && !own.contains(name)).collect();
        other.sort();
        Ok(other)
    }

    /// Reads the finished runs of a journal without opening it for writing.
    pub fn records(&self, name: &str) -> Result<BTreeMap<u64, Record>> {
        let text = self.read(&format!("runs/{name}"))?;
        Ok(parse(&text).0)
    }
}

impl Journal {
    fn open(path: PathBuf) -> Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let (finished, complete) = parse(&text);
        if complete < text.len() || text.is_empty() {
            // The last line was cut off by a kill: drop it, its run is played again.
            file.set_len(complete as u64)?;
            file.seek(SeekFrom::End(0))?;
            if complete == 0 {
                file.write_all(JOURNAL_HEADER.as_bytes())?;
            }
        }
        Ok(Self { path, file: Mutex::new(Ok(file)), finished })
    }

    /// Adds a finished run: one line in one write.
    pub fn append(&self, record: &Record) -> Result<()> {
        let path: Vec<String> = record.path.iter().map(ToString::to_string).collect();
        let Record { run, cost, simulated_steps, cpu_seconds, .. } = record;
        let line = format!("{run},{cost},{simulated_steps},{cpu_seconds:.6},{}\n", path.join(" "));
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = match file.as_mut() {
            Ok(file) => file.write_all(line.as_bytes()),
            Err(code) => Err(io::Error::from_raw_os_error(*code)),
        };
        written
            .inspect_err(|error| *file = Err(error.raw_os_error().unwrap_or_default()))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// The complete lines of a journal, and the number of bytes they take.
fn parse(text: &str) -> (BTreeMap<u64, Record>, usize) {
    let mut records = BTreeMap::new();
    if !text.starts_with(JOURNAL_HEADER) {
        return (records, 0);
    }
    let mut complete = JOURNAL_HEADER.len();
    for line in text[complete..].split_inclusive('\n') {
        let Some(record) = line.strip_suffix('\n').and_then(parse_record) else { break };
        complete += line.len();
        records.insert(record.run, record);
    }
    (records, complete)
}

fn parse_record(line: &str) -> Option<Record> {
    let mut fields = line.split(',');
    let record = Record {
        run: fields.next()?.parse().ok()?,
        cost: fields.next()?.parse().ok()?,
        simulated_steps: fields.next()?.parse().ok()?,
        cpu_seconds: fields.next()?.parse().ok()?,
        path: fields.next()?.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?,
    };
    fields.next().is_none().then_some(record)
}

/// Writes a file under a temporary name next to its own and renames it. What is not a file (a pipe, a terminal) is written
/// to as it is.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| -> io::Result<()> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return OpenOptions::new().write(true).open(path)?.write_all(content);
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
            fs::create_dir_all(parent)?;
        }
        let mut file = File::create(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        anyhow::Error::new(error).context(format!("cannot write {}", path.display()))
    })
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
        let store = Store::create(dir.path()).unwrap();
        let journal = store.journal("cell.csv").unwrap();
        journal.append(&record(1)).unwrap();
        journal.append(&record(0)).unwrap();
        drop(journal);
        let path = dir.path().join("runs/cell.csv");
        let whole = fs::read_to_string(&path).unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let journal = store.journal("cell.csv").unwrap();
            let kept: Vec<u64> = journal.finished.keys().copied().collect();
            let lines = whole[..cut].matches('\n').count();
            let expected: &[u64] = [&[][..], &[], &[1], &[0, 1]][lines.min(3)];
            assert_eq!(kept, expected, "cut at {cut}");
            journal.append(&record(2)).unwrap();
            drop(journal);
            let again = store.records("cell.csv").unwrap();
            assert_eq!(again[&2], record(2));
            assert_eq!(again.len(), expected.len() + 1);
        }
    }

    #[test]
    fn an_unfinished_write_leaves_the_earlier_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table.csv");
        write_atomically(&path, b"earlier").unwrap();
        // A folder in the way of the temporary name makes the write fail.
        let blocked = dir.path().join(format!(".table.csv.{}.tmp", std::process::id()));
        fs::create_dir(&blocked).unwrap();
        assert!(write_atomically(&path, b"later").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"earlier");
    }
}
