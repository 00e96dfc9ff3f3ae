//! The rows of a study, in one file that is complete after every cell.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use gumdp::bound;
use gumdp::oracle::{self, Limits};
use gumdp::{Agent, Experiment, Risk, Spec, Who};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use super::evidence;
use super::variant::Variant;

const FILE: &str = "study.csv";
/// Steps that the published planner may simulate for a row, and the fewest runs that say anything.
const MOST_STEPS: f64 = 2e9;
const FEWEST_RUNS: u64 = 24;

/// What was measured of one planner on one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub family: String,
    pub cell: String,
    pub risk: String,
    pub variant: Variant,
    pub simulations: u64,
    pub runs: u64,
    /// The risk of the runs.
    pub value: f64,
    /// The optimum, or a proven lower bound, and by which method it is known.
    pub optimum: f64,
    pub method: String,
    /// The risk of the same runs if the optimum is played: what luck alone explains. The bound, if only that is known.
    pub at_best: f64,
    /// The risk of random play.
    pub uniform: f64,
    /// How much higher the risk is than the first variant's, which met common random numbers.
    pub excess: f64,
    /// How sure it is that it is lower, and higher: −ln p.
    pub surely_lower: f64,
    pub surely_higher: f64,
    pub cpu_ms_per_run: f64,
    /// How it decides.
    pub manner: String,
    /// Hash of the problem and of all settings.
    pub fingerprint: String,
}

impl Row {
    /// The part of what can be gained over random play that is not, compared with the optimum at common random numbers.
    pub fn gap(&self) -> f64 {
        (self.value - self.at_best) / (self.uniform - self.optimum)
    }
}

/// A problem, who plays it, and how often.
pub struct Job<'a> {
    pub family: &'a str,
    pub task: &'a Task,
    pub risk: Risk,
    pub simulations: u64,
    pub runs: u64,
    pub seed: u64,
    pub variants: &'a [Variant],
    pub limits: &'a Limits,
}

/// The rows of a folder.
#[derive(Debug)]
pub struct Book {
    folder: PathBuf,
    rows: Vec<Row>,
}

impl Book {
    /// Reads the rows of a folder, if it has any.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let rows = if path.exists() { read(&path)? } else { Vec::new() };
        Ok(Self { folder: folder.to_owned(), rows })
    }

    /// The rows of a job; if one is missing, all are measured.
    pub fn rows(&mut self, job: &Job) -> Result<Vec<Row>> {
        let known: Vec<Row> = job.variants.iter().filter_map(|&variant| self.find(job, variant).cloned()).collect();
        if known.len() == job.variants.len() {
            return Ok(known);
        }
        let rows = job.measure()?;
        self.rows.retain(|old| !rows.iter().any(|row| row.fingerprint == old.fingerprint));
        self.rows.extend(rows.iter().cloned());
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &self.rows {
            writer.serialize(row)?;
        }
        crate::write(&self.folder, FILE, writer.into_inner()?)?;
        Ok(rows)
    }

    fn find(&self, job: &Job, variant: Variant) -> Option<&Row> {
        let fingerprint = job.fingerprint(variant);
        self.rows.iter().find(|row| row.fingerprint == fingerprint)
    }
}

impl Job<'_> {
    /// Episodes: fewer where they take long.
    fn runs(&self) -> u64 {
        let horizon = self.task.problem.horizon() as f64;
        let steps = self.simulations as f64 * horizon * horizon / 2.0;
        self.runs.min((MOST_STEPS / steps) as u64).max(FEWEST_RUNS.min(self.runs))
    }

    fn fingerprint(&self, variant: Variant) -> String {
        let mut hasher = DefaultHasher::new();
        let (first, own) = (self.variants[0], variant.who(self.task, self.simulations));
        (gumdp::RESULTS_VERSION, &self.task.source, self.risk.to_string(), self.runs(), self.seed).hash(&mut hasher);
        (format!("{own:?}"), first.name(), self.family, &self.task.name).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn measure(&self) -> Result<Vec<Row>> {
        let problem = &self.task.problem;
        let measure = problem.measure(self.risk);
        let (optimum, at_best, method) = if let Ok(solution) = oracle::solve(problem, self.risk, self.limits) {
            let optimum = 0.5 * (solution.low + solution.high);
            let played = self.play(&solution.into(), self.runs())?;
            (optimum, measure.of_samples(&played.costs)?, "optimum".to_owned())
        } else {
            let bound = bound::relaxed_bound(problem, self.risk, self.limits)?;
            (bound.value, bound.value, format!("bound by {}", bound.method))
        };
        let agent = |who| Agent::new(problem, &Spec::new(who, self.risk));
        let uniform = measure.of_samples(&self.play(&agent(Who::Uniform)?, 4 * self.runs())?.costs)?;
        let mut first: Option<Vec<f64>> = None;
        let mut rows = Vec::new();
        for &variant in self.variants {
            let Played { costs, cpu, manner } =
                self.play(&agent(variant.who(self.task, self.simulations))?, self.runs())?;
            let base = first.get_or_insert_with(|| costs.clone());
            let value = measure.of_samples(&costs)?;
            let (excess, bounds) = (value - measure.of_samples(base)?, problem.objective().bounds());
            rows.push(Row {
                family: self.family.to_owned(),
                cell: self.task.name.clone(),
                risk: self.risk.to_string(),
                variant,
                simulations: self.simulations,
                runs: self.runs(),
                value,
                optimum,
                method: method.clone(),
                at_best,
                uniform,
                excess,
                surely_lower: evidence::of_lower(&costs, base, measure, bounds),
                surely_higher: evidence::of_lower(base, &costs, measure, bounds),
                cpu_ms_per_run: 1e3 * cpu,
                manner,
                fingerprint: self.fingerprint(variant),
            });
        }
        Ok(rows)
    }

    fn play(&self, agent: &Agent, runs: u64) -> Result<Played> {
        let (mut cpu, mut costs) = (0.0, Vec::new());
        Experiment::new(&self.task.problem, agent.policy(), self.seed).play(0..runs, |record| {
            cpu += record.cpu_seconds;
            costs.push(record.cost);
        })?;
        Ok(Played { costs, cpu: cpu / runs as f64, manner: agent.what().to_owned() })
    }
}

/// Episodes that were played.
struct Played {
    costs: Vec<f64>,
    /// CPU seconds of one.
    cpu: f64,
    manner: String,
}

fn read(path: &Path) -> Result<Vec<Row>> {
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("cannot read {}", path.display()))?;
    let rows: Result<Vec<Row>, csv::Error> = reader.deserialize().collect();
    rows.with_context(|| format!("{} does not hold rows of a study; choose another folder with --out", path.display()))
}
