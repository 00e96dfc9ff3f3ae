//! The rows of all studies, in one file that is complete after every row.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use gumdp::experiment::Experiment;
use gumdp::oracle::Limits;
use serde::{Deserialize, Serialize};

use super::Job;
use super::variant::Variant;
use crate::cells::Cell;
use crate::commands::entropic;
use crate::exact::Solver;
use crate::failure::BadInput;
use crate::interrupt;
use crate::number;
use crate::progress::Progress;
use crate::results::Finished;
use crate::store::write_atomically;

/// What was measured of one planner on one task at one β.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the study.
    pub study: String,
    /// Name of the task or world.
    pub task: String,
    /// Attitude to risk.
    pub beta: f64,
    /// Who played.
    pub variant: Variant,
    /// Simulations per decision.
    pub simulations: u64,
    /// Number of runs.
    pub runs: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Entropic risk of the costs.
    pub erm: f64,
    /// Lower end of its 95 % interval.
    pub erm_low: f64,
    /// Upper end.
    pub erm_high: f64,
    /// Mean of the costs.
    pub mean: f64,
    /// The exact optimum, if it is known.
    pub optimum: Option<f64>,
    /// CPU time of one run.
    pub cpu_ms_per_run: f64,
    /// Hash of the problem and of the planner's settings.
    pub fingerprint: String,
}

/// The rows of a folder.
#[derive(Debug)]
pub struct Book {
    path: PathBuf,
    rows: Vec<Row>,
    seed: u64,
}

impl Book {
    /// Reads the rows of a folder, if it has any.
    pub fn open(dir: &Path, seed: u64) -> Result<Self> {
        let path = dir.join("study.csv");
        let rows = if path.exists() { read(&path)? } else { Vec::new() };
        interrupt::runs_are_kept();
        Ok(Self { path, rows, seed })
    }

    /// The rows of a study in the order of its jobs; those that the folder does not hold are measured.
    pub fn measure(&mut self, study: &str, jobs: &[Job], quiet: bool) -> Result<Vec<Row>> {
        let cells: Vec<Cell> = jobs.iter().map(|job| job.cell(self.seed)).collect();
        let missing = jobs.iter().zip(&cells).filter(|(job, cell)| self.find(study, job, cell).is_none());
        let progress = Progress::new(missing.map(|(job, _)| job.runs).sum(), quiet);
        // Jobs of one task follow one another: a solver lasts as long as its task.
        let mut solver: Option<(&str, Solver)> = None;
        let mut rows = Vec::new();
        for (job, cell) in jobs.iter().zip(cells) {
            if let Some(row) = self.find(study, job, &cell) {
                rows.push(row.clone());
                continue;
            }
            if solver.as_ref().is_none_or(|(task, _)| *task != job.task()) {
                solver = Some((job.task(), Solver::new(&job.task.problem, Limits::QUICK)));
            }
            let row = job.play(study, cell, solver.as_mut().map(|(_, solver)| solver), &progress)?;
            // A row of other settings is replaced.
            self.rows.retain(|old| !same_place(old, &row));
            self.rows.push(row.clone());
            self.save()?;
            rows.push(row);
        }
        Ok(rows)
    }

    fn find(&self, study: &str, job: &Job, cell: &Cell) -> Option<&Row> {
        let fingerprint = job.variant.fingerprint(cell, &job.task);
        self.rows.iter().find(|row| {
            (row.study.as_str(), row.task.as_str(), row.beta) == (study, job.task(), job.beta)
                && (row.variant, row.simulations) == (job.variant, job.simulations)
                && (row.runs, row.seed) == (job.runs, self.seed)
                && row.fingerprint == fingerprint
        })
    }

    fn save(&self) -> Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &self.rows {
            writer.serialize(row)?;
        }
        write_atomically(&self.path, &writer.into_inner()?)
    }
}

impl Job {
    fn cell(&self, seed: u64) -> Cell {
        Cell::new(&self.task, entropic(self.beta), self.variant.who(), seed)
            .with(Some(self.runs), Some(self.simulations))
    }

    /// Plays all runs.
    fn play(&self, study: &str, cell: Cell, solver: Option<&mut Solver>, progress: &Progress) -> Result<Row> {
        progress.message(format!("{} β = {} {}", cell.task, number::beta(self.beta), self.variant.name()));
        let fingerprint = self.variant.fingerprint(&cell, &self.task);
        let erm = cell.erm()?;
        let optimum = solver.and_then(|solver| solver.optimum(erm));
        let player = self.variant.player(&cell, &self.task)?;
        let experiment = Experiment {
            stop: interrupt::stop(),
            watch: progress,
            ..Experiment::new(&self.task.problem, &*player, cell.seed)
        };
        let records = experiment.play(Vec::new(), cell.runs).map_err(interrupt::of_experiment)?;
        let finished = Finished::new(cell, records)?;
        let Finished { cell, summary, .. } = &finished;
        Ok(Row {
            study: study.to_owned(),
            task: cell.task.clone(),
            beta: self.beta,
            variant: self.variant,
            simulations: cell.simulations,
            runs: cell.runs,
            seed: cell.seed,
            erm: summary.erm,
            erm_low: summary.erm_low,
            erm_high: summary.erm_high,
            mean: summary.mean,
            optimum,
            cpu_ms_per_run: finished.cpu_milliseconds_per_run(),
            fingerprint,
        })
    }
}

/// Whether two rows answer the same question.
fn same_place(a: &Row, b: &Row) -> bool {
    (&a.study, &a.task, a.beta, a.variant) == (&b.study, &b.task, b.beta, b.variant)
        && (a.simulations, a.runs, a.seed) == (b.simulations, b.runs, b.seed)
}

fn read(path: &Path) -> Result<Vec<Row>> {
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("cannot read {}", path.display()))?;
    let rows: Result<Vec<Row>, csv::Error> = reader.deserialize().collect();
    Ok(rows.map_err(|error| {
        BadInput::new(format!("{} does not hold rows of a study: {error}", path.display()))
            .hint("choose another folder with --out")
    })?)
}
