//! Putting the journals of all shards together.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use gumdp::stats::Summary;
use gumdp::words::cell as safe;
use gumdp::{Pair, Record, UNCHECKED, checksum};
use serde::{Deserialize, Serialize, Serializer};

use super::journal::{Entry, journals, scan};
use super::plan::{read_json, write_json};
use super::sort::Sorter;
use super::{Cell, Plan, SweepError};
use crate::{Task, write};

/// Bytes of lines that are sorted in memory.
const MEMORY: usize = 64 << 20;

/// What `manifest.json` of a sweep says: nothing in it depends on how the work was cut, or on the machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest<Cells = Vec<CellResult>> {
    /// Version of the program.
    pub gumdp: String,
    /// Results of another number differ.
    pub results_version: u32,
    /// `sweep`.
    pub command: String,
    /// Checksum of all cells.
    pub fingerprint: String,
    /// The cells.
    pub cells: Cells,
    /// Checksums of the tables.
    pub files: BTreeMap<String, String>,
}

/// A cell with what is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellResult {
    /// What was played.
    #[serde(flatten)]
    pub cell: Cell,
    /// Model steps that were simulated to choose actions, over all runs.
    pub simulated_steps: u64,
    /// The summary of all possible runs, if it is known.
    pub exact: Option<Summary>,
}

/// What was merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// Number of cells.
    pub cells: usize,
    /// Number of runs.
    pub runs: u64,
    /// Runs that several journals had, with the same end.
    pub repeated: u64,
}

/// Writes `samples.csv`, `trajectories.csv` and `manifest.json`, and `timings.json`, which alone depends on the machines. Whatever
/// was played by whom, the bytes of the first three are the same.
///
/// # Errors
/// If runs are missing, a journal is damaged, of another sweep or version, or two journals disagree; what was there stays.
pub fn merge(plan: &Plan, folder: &Path) -> Result<Merged, SweepError> {
    let mut sorter = Sorter::new(MEMORY, folder);
    let mut exact = BTreeMap::<usize, Known>::new();
    let journals = journals(folder)?;
    for path in &journals {
        let unsorted = |source| SweepError::write(folder, source);
        // Cells that differ in their seeds alone say the same.
        let mut last: Arc<str> = Arc::default();
        scan(path, plan, |entry| {
            match entry {
                Entry::Run { cell, record, .. } => {
                    let run = record.split(',').next().and_then(|run| run.parse().ok());
                    let damaged = || SweepError::Damaged { path: path.clone(), what: "a run has no number".to_owned() };
                    sorter.push((cell as u64, run.ok_or_else(damaged)?), record).map_err(unsorted)?;
                }
                Entry::Exact { cell, summary } => {
                    if *last != *summary {
                        last = summary.into();
                    }
                    let known = exact.entry(cell).or_insert_with(|| Known { summary: last.clone(), by: path });
                    if *known.summary != *summary {
                        let what = format!("it disagrees with {} on {}", known.by.display(), plan.cells[cell].id);
                        return Err(SweepError::Damaged { path: path.clone(), what });
                    }
                }
                Entry::Failed { .. } | Entry::End => {}
            }
            Ok(())
        })?;
    }
    let mut merger = Merger::new(plan, folder);
    let read = |source| SweepError::read(folder, source);
    let tables = merger.write(sorter.sorted().map_err(read)?)?;
    let cells = || plan.cells.iter().zip(&merger.totals);
    let timings =
        cells().map(|(cell, totals)| Timing { cell: &cell.id, runs: cell.runs, cpu_seconds: totals.cpu_seconds });
    write_json(&folder.join("timings.json"), &InTurn(|| timings.clone()))?;
    let result = |(number, (cell, totals)): (usize, (&Cell, &Totals))| CellResult {
        cell: cell.clone(),
        simulated_steps: totals.simulated_steps,
        exact: exact.get(&number).and_then(|known| serde_json::from_str(&known.summary).ok()),
    };
    let manifest = Manifest {
        gumdp: plan.gumdp.clone(),
        results_version: plan.results_version,
        command: "sweep".to_owned(),
        fingerprint: plan.fingerprint.clone(),
        cells: InTurn(|| cells().enumerate().map(result)),
        files: tables,
    };
    write_json(&folder.join("manifest.json"), &manifest)?;
    Ok(Merged { cells: plan.cells.len(), runs: plan.runs(), repeated: merger.repeated })
}

/// What is known exactly of a cell, and the journal that says so.
struct Known<'a> {
    summary: Arc<str>,
    by: &'a Path,
}

/// A list whose items are made when they are written.
struct InTurn<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for InTurn<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0())
    }
}

impl Manifest {
    /// That of a folder.
    ///
    /// # Errors
    /// If there is none or it cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Self, SweepError> {
        read_json(&folder.join("manifest.json"))
    }
}

#[derive(Serialize)]
struct Timing<'a> {
    cell: &'a str,
    runs: u64,
    cpu_seconds: f64,
}

#[derive(Clone, Default)]
struct Totals {
    runs: u64,
    simulated_steps: u64,
    cpu_seconds: f64,
}

struct Merger<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    totals: Vec<Totals>,
    repeated: u64,
    task: Option<Task>,
    /// What went wrong inside of a writer that only knows errors of the system.
    wrong: Option<SweepError>,
}

impl<'a> Merger<'a> {
    fn new(plan: &'a Plan, folder: &'a Path) -> Self {
        let totals = vec![Totals::default(); plan.cells.len()];
        Self { plan, folder, totals, repeated: 0, task: None, wrong: None }
    }

    /// Both tables in one pass over the sorted runs, and their checksums.
    fn write(
        &mut self,
        sorted: impl Iterator<Item = io::Result<((u64, u64), String)>>,
    ) -> Result<BTreeMap<String, String>, SweepError> {
        let [samples, trajectories] = ["samples.csv", "trajectories.csv"].map(|name| self.folder.join(name));
        let (mut sums, mut of_paths) = ([UNCHECKED; 2], UNCHECKED);
        // The first table is written while the second is: both are whole or as they were.
        let written = write::write_with(&trajectories, |paths| {
            let mut paths = Summed { out: paths, sum: UNCHECKED };
            write::write_with(&samples, |costs| {
                let mut costs = Summed { out: costs, sum: UNCHECKED };
                self.rows(sorted, &mut costs, &mut paths)?;
                sums[0] = costs.sum;
                Ok(())
            })?;
            of_paths = paths.sum;
            Ok(())
        });
        sums[1] = of_paths;
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        written.map_err(|source| SweepError::write(self.folder, source))?;
        let names = ["samples.csv", "trajectories.csv"].map(str::to_owned);
        Ok(names.into_iter().zip(sums.map(|sum| format!("{sum:016x}"))).collect())
    }

    fn rows(
        &mut self,
        sorted: impl Iterator<Item = io::Result<((u64, u64), String)>>,
        costs: &mut impl Write,
        paths: &mut impl Write,
    ) -> io::Result<()> {
        writeln!(costs, "cell,task,risk,policy,simulations,seed,run,cost")?;
        writeln!(paths, "cell,run,time,state,action")?;
        let mut before: Option<((u64, u64), Record)> = None;
        for line in sorted {
            let (key, line) = line?;
            let record = self.record(key, &line)?;
            if let Some((_, known)) = before.as_ref().filter(|(known, _)| *known == key) {
                if (known.cost.to_bits(), &known.path) != (record.cost.to_bits(), &record.path) {
                    let id = &self.plan.cells[key.0 as usize].id;
                    return self.refuse(format!("two journals have run {} of {id}, with different ends", key.1));
                }
                self.repeated += 1;
                continue;
            }
            self.row(key, &record, costs, paths)?;
            before = Some((key, record));
        }
        let there: u64 = self.totals.iter().map(|totals| totals.runs).sum();
        let runs = self.plan.runs();
        if there < runs {
            self.wrong = Some(SweepError::Incomplete { missing: runs - there, runs });
            return Err(io::Error::other("incomplete"));
        }
        Ok(())
    }

    fn row(
        &mut self,
        key: (u64, u64),
        record: &Record,
        costs: &mut impl Write,
        paths: &mut impl Write,
    ) -> io::Result<()> {
        let number = key.0 as usize;
        let cell = &self.plan.cells[number];
        let Cell { id, task, risk, simulations, seed, .. } = cell;
        let (run, player) = (record.run, cell.player());
        writeln!(costs, "{id},{},{risk},{player},{simulations},{seed},{run},{}", quoted(task), record.cost)?;
        if self.task.as_ref().is_none_or(|known| known.name != *task) {
            match self.plan.task(self.folder, task) {
                Ok(task) => self.task = Some(task),
                Err(error) => {
                    self.wrong = Some(error);
                    return Err(io::Error::other("a problem cannot be read"));
                }
            }
        }
        let Some(task) = &self.task else { return Ok(()) };
        let mdp = task.problem.mdp();
        if record.run >= cell.runs || !record.is_of(&task.problem, *seed) {
            return self.refuse(format!("run {run} of {id} is not one of this problem with this seed"));
        }
        for (time, pair) in record.path.iter().map(|&pair| Pair::from(pair)).enumerate() {
            let [state, action] = [mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair))].map(quoted);
            writeln!(paths, "{id},{run},{time},{state},{action}")?;
        }
        let totals = &mut self.totals[number];
        totals.runs += 1;
        totals.simulated_steps += record.simulated_steps;
        totals.cpu_seconds += record.cpu_seconds;
        Ok(())
    }

    fn record(&mut self, (cell, run): (u64, u64), line: &str) -> io::Result<Record> {
        match Record::of_line(line) {
            Some(record) => Ok(record),
            None => self.refuse(format!("run {run} of {} cannot be read", self.plan.cells[cell as usize].id)),
        }
    }

    fn refuse<T>(&mut self, what: String) -> io::Result<T> {
        self.wrong = Some(SweepError::Damaged { path: self.folder.join("runs"), what });
        Err(io::Error::other("damaged"))
    }
}

/// Writes and sums what is written.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: u64,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum = checksum(self.sum, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A name as a cell of a table.
fn quoted(name: &str) -> String {
    let name = safe(name);
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into_owned() }
}
