//! The rows of all studies, in one file that is complete after every row.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use gumdp::oracle::{self, Limits};
use gumdp::stats::Summary;
use gumdp::{Erm, Experiment};
use serde::{Deserialize, Serialize};

use super::Job;
use super::variant::Variant;

const FILE: &str = "study.csv";

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
    folder: PathBuf,
    rows: Vec<Row>,
    seed: u64,
}

impl Book {
    /// Reads the rows of a folder, if it has any.
    pub fn open(folder: &Path, seed: u64) -> Result<Self> {
        let path = folder.join(FILE);
        let rows = if path.exists() { read(&path)? } else { Vec::new() };
        Ok(Self { folder: folder.to_owned(), rows, seed })
    }

    /// The rows of a study in the order of its jobs; those that the folder does not hold are measured.
    pub fn measure(&mut self, study: &str, jobs: &[Job], quiet: bool) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::new();
        for (number, job) in jobs.iter().enumerate() {
            if let Some(row) = self.find(study, job) {
                rows.push(row.clone());
                continue;
            }
            if !quiet {
                let (task, beta, variant) = (job.task(), job.beta, job.variant.name());
                eprintln!("{} of {}: {task}, β = {beta}, {variant}", number + 1, jobs.len());
            }
            // Rows of one task and β follow one another and have one optimum.
            let same = rows.last().filter(|row| row.task == job.task() && row.beta == job.beta);
            let optimum = if let Some(row) = same {
                row.optimum
            } else {
                oracle::solve(&job.task.problem, Erm::new(job.beta)?, &Limits::QUICK)
                    .ok()
                    .map(|solution| solution.value)
            };
            let row = job.play(study, self.seed, optimum)?;
            // A row of other settings is replaced.
            self.rows.retain(|old| !same_place(old, &row));
            self.rows.push(row.clone());
            self.save()?;
            rows.push(row);
        }
        Ok(rows)
    }

    fn find(&self, study: &str, job: &Job) -> Option<&Row> {
        let fingerprint = job.variant.fingerprint(&job.task, job.simulations);
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
        crate::write(&self.folder, FILE, writer.into_inner()?)
    }
}

impl Job {
    /// Plays all runs.
    fn play(&self, study: &str, seed: u64, optimum: Option<f64>) -> Result<Row> {
        let erm = Erm::new(self.beta)?;
        let policy = self.variant.policy(&self.task, erm, self.simulations)?;
        let records = Experiment::new(&self.task.problem, &*policy, seed).play(Vec::new(), self.runs)?;
        let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
        let cpu: f64 = records.iter().map(|record| record.cpu_seconds).sum();
        let summary = Summary::of(&costs, erm, seed)?;
        Ok(Row {
            study: study.to_owned(),
            task: self.task().to_owned(),
            beta: self.beta,
            variant: self.variant,
            simulations: self.simulations,
            runs: self.runs,
            seed,
            erm: summary.value,
            erm_low: summary.low,
            erm_high: summary.high,
            mean: summary.mean,
            optimum,
            cpu_ms_per_run: cpu / self.runs as f64 * 1e3,
            fingerprint: self.variant.fingerprint(&self.task, self.simulations),
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
    rows.with_context(|| format!("{} does not hold rows of a study; choose another folder with --out", path.display()))
}
