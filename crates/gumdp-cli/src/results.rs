//! Results: what was played, its summaries, and the files that hold them.
//!
//! | file | content |
//! |---|---|
//! | `samples.csv` | task, beta (or the name of another risk measure), preset, run, seed, cost: one row per run |
//! | `trajectories.csv` | task, beta, preset, run, time, state, action: one row per step |
//! | `manifest.json` | version, machine, settings and summary of every cell, durations |
//! | `tasks/NAME.toml` | the problem files, so that the folder stands on its own |
//! | `runs/*.csv` | journals of finished runs, from which an interrupted command goes on |

use std::time::Duration;

use anyhow::{Context, Result};
use gumdp::experiment::{Precision, Record, Watch};
use gumdp::stats::Summary;
use gumdp::{Agent, Risk};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use crate::cells::Cell;
use crate::exact::{Certain, Solver};
use crate::number;
use crate::player::Who;
use crate::progress::Progress;
use crate::store::Store;

/// A task with all that was played of it.
#[derive(Debug)]
pub struct Experiment {
    /// The task.
    pub task: Task,
    /// Its cells.
    pub finished: Vec<Finished>,
    /// The exact optimum for each measure for which it is known.
    pub optima: Vec<(Risk, Certain)>,
}

impl Experiment {
    /// What was played of a task, with the exact optimum for each measure where the solver finds it.
    pub fn new(task: Task, finished: Vec<Finished>, solver: &mut Solver) -> Self {
        let mut experiment = Self { task, finished, optima: Vec::new() };
        for finished in &experiment.finished {
            let risk = finished.cell.risk;
            if experiment.optimum(risk).is_none()
                && let Some(optimum) = solver.optimum(risk)
            {
                experiment.optima.push((risk, optimum));
            }
        }
        experiment
    }

    /// The part of it that some have played.
    #[must_use]
    pub fn played_by(&self, who: impl Fn(Who) -> bool) -> Self {
        let finished = self.finished.iter().filter(|finished| who(finished.cell.preset)).cloned().collect();
        Self { task: self.task.clone(), finished, optima: self.optima.clone() }
    }

    /// Every risk measure that was played.
    pub fn risks(&self) -> Vec<Risk> {
        distinct(self.finished.iter().map(|finished| finished.cell.risk))
    }

    /// The cell with this measure and policy.
    pub fn find(&self, risk: Risk, who: Who) -> Option<&Finished> {
        self.finished.iter().find(|finished| finished.cell.risk == risk && finished.cell.preset == who)
    }

    /// The cells measure by measure, those of one measure in the order in which they were played.
    pub fn by_risk(&self) -> Vec<&Finished> {
        let of_risk = |risk: Risk| self.finished.iter().filter(move |finished| finished.cell.risk == risk);
        self.risks().into_iter().flat_map(of_risk).collect()
    }

    /// The exact optimum for this measure, if it is known.
    pub fn optimum(&self, risk: Risk) -> Option<Certain> {
        self.optima.iter().find(|(known, _)| *known == risk).map(|&(_, value)| value)
    }
}

/// The items without those that were there before.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}

/// A cell with its runs.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What was played.
    pub cell: Cell,
    /// Every run, in order.
    pub records: Vec<Record>,
    /// Summary of the costs.
    pub summary: Summary,
}

impl Finished {
    /// Plays a cell by whom it says, or what is missing of it.
    pub fn of(
        cell: Cell,
        task: &Task,
        store: Option<&Store>,
        progress: &Progress,
        solver: &mut Solver,
    ) -> Result<Self> {
        let agent = cell.agent(task, solver)?;
        progress.working_on(&cell);
        Self::play(cell, &agent, task, store, progress, None)
    }

    /// Plays a cell, or what is missing of it, until its risk is known as precisely as wanted.
    pub fn play(
        mut cell: Cell,
        agent: &Agent,
        task: &Task,
        store: Option<&Store>,
        watch: &dyn Watch,
        precision: Option<&Precision>,
    ) -> Result<Self> {
        let records = cell.play(agent, task, store, watch, precision)?;
        Self::new(cell, records)
    }

    /// Half the width of the 95 % interval of its risk.
    pub fn half_width(&self) -> f64 {
        (self.summary.erm_high - self.summary.erm_low) / 2.0
    }

    /// A cell with its runs and their summary.
    pub fn new(cell: Cell, records: Vec<Record>) -> Result<Self> {
        let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
        let summary = Summary::of(&costs, cell.risk, cell.seed)?;
        Ok(Self { cell, records, summary })
    }

    /// The costs of its runs.
    pub fn costs(&self) -> Vec<f64> {
        self.records.iter().map(|record| record.cost).collect()
    }

    /// The 95 % interval of its risk, as text.
    pub fn erm_interval(&self) -> String {
        format!("{} – {}", number::short(self.summary.erm_low), number::short(self.summary.erm_high))
    }

    /// CPU time over all threads.
    pub fn cpu_seconds(&self) -> f64 {
        self.records.iter().map(|record| record.cpu_seconds).sum()
    }

    /// CPU time of one run, in milliseconds.
    pub fn cpu_milliseconds_per_run(&self) -> f64 {
        self.cpu_seconds() / self.records.len() as f64 * 1e3
    }

    /// Model steps simulated over all runs.
    pub fn simulated_steps(&self) -> u64 {
        self.records.iter().map(|record| record.simulated_steps).sum()
    }
}

/// How many runs each cell has: one number, or a range.
pub fn runs_text(finished: &[Finished]) -> String {
    let runs = || finished.iter().map(|finished| finished.cell.runs);
    match (runs().min().unwrap_or(0), runs().max().unwrap_or(0)) {
        (least, most) if least == most => number::counted(least, "run"),
        (least, most) => format!("{least} to {most} runs"),
    }
}

/// What all rows of `gumdp run --json` and `gumdp compare --json` have; the names of the fields are a contract.
#[derive(Debug, Serialize)]
pub struct Row {
    task: String,
    risk: String,
    /// `null` unless the measure is entropic.
    #[serde(with = "crate::number::optional")]
    beta: Option<f64>,
    runs: u64,
    simulations: u64,
    seed: u64,
    preset: Who,
    mean: f64,
    median: f64,
    q25: f64,
    q75: f64,
    whisker_low: f64,
    whisker_high: f64,
    min: f64,
    max: f64,
    value: f64,
    low: f64,
    high: f64,
    var95: f64,
    cvar95: f64,
    cpu_seconds: f64,
    simulated_steps: u64,
}

impl Row {
    /// The row of a cell.
    pub fn new(finished: &Finished) -> Self {
        let Finished { cell, summary, .. } = finished;
        Self {
            task: cell.task.clone(),
            risk: cell.risk.to_string(),
            beta: cell.risk.beta(),
            runs: cell.runs,
            simulations: cell.simulations,
            seed: cell.seed,
            preset: cell.preset,
            mean: summary.mean,
            median: summary.median,
            q25: summary.q25,
            q75: summary.q75,
            whisker_low: summary.whisker_low,
            whisker_high: summary.whisker_high,
            min: summary.min,
            max: summary.max,
            value: summary.erm,
            low: summary.erm_low,
            high: summary.erm_high,
            var95: summary.var95,
            cvar95: summary.cvar95,
            cpu_seconds: finished.cpu_seconds(),
            simulated_steps: finished.simulated_steps(),
        }
    }
}

/// What `manifest.json` says.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program.
    pub gumdp: String,
    /// The command that made the results.
    pub command: String,
    /// Where they were made.
    pub machine: Machine,
    /// Wall-clock time of the last command that worked on them.
    pub wall_seconds: f64,
    /// What was played.
    pub experiments: Vec<ManifestExperiment>,
}

/// The machine that made results.
#[derive(Debug, Serialize, Deserialize)]
pub struct Machine {
    os: String,
    arch: String,
    cores: usize,
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}, {} cores", self.os, self.arch, self.cores)
    }
}

/// A task of a manifest.
#[derive(Debug, Serialize, Deserialize)]
pub struct ManifestExperiment {
    /// Name of the task; its file is `tasks/NAME.toml`.
    pub task: String,
    /// Exact optima, where known.
    optima: Vec<ManifestOptimum>,
    cells: Vec<ManifestCell>,
}

/// Earlier versions wrote `[β or name, value]`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum ManifestOptimum {
    Named {
        #[serde(with = "crate::number::attitude")]
        risk: Risk,
        #[serde(flatten)]
        optimum: Certain,
    },
    Pair(#[serde(with = "crate::number::attitude")] Risk, f64),
}

impl ManifestOptimum {
    fn named(&self) -> (Risk, Certain) {
        match *self {
            Self::Named { risk, optimum } => (risk, optimum),
            Self::Pair(risk, value) => (risk, value.into()),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct ManifestCell {
    #[serde(flatten)]
    cell: Cell,
    journal: String,
    cpu_seconds: f64,
    simulated_steps: u64,
}

/// Writes samples, trajectories, problem files and manifest.
pub fn save(store: &Store, command: &str, experiments: &[Experiment], wall: Duration) -> Result<Manifest> {
    store.write("samples.csv", &samples(experiments)?)?;
    store.write("trajectories.csv", &trajectories(experiments)?)?;
    for experiment in experiments {
        store.write(&format!("tasks/{}.toml", experiment.task.name), experiment.task.source.as_bytes())?;
    }
    let manifest = Manifest {
        gumdp: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.to_owned(),
        machine: Machine {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        },
        wall_seconds: wall.as_secs_f64(),
        experiments: experiments.iter().map(manifest_experiment).collect(),
    };
    let mut text = serde_json::to_vec_pretty(&manifest)?;
    text.push(b'\n');
    store.write("manifest.json", &text)?;
    Ok(manifest)
}

/// Reads back what `save` wrote.
pub fn load(store: &Store) -> Result<(Manifest, Vec<Experiment>)> {
    let path = store.dir().join("manifest.json");
    let manifest: Manifest = serde_json::from_str(&store.read("manifest.json")?)
        .with_context(|| format!("{} is not a manifest", path.display()))?;
    let experiments = manifest
        .experiments
        .iter()
        .map(|saved| {
            let file = format!("tasks/{}.toml", saved.task);
            let mut task = Task::parse(&file, &store.read(&file)?)?;
            task.name.clone_from(&saved.task);
            let finished = saved
                .cells
                .iter()
                .map(|saved| {
                    let records = store.records(&saved.journal)?;
                    let runs = records.into_values().take_while(|record| record.run < saved.cell.runs);
                    Finished::new(saved.cell.clone(), runs.collect())
                })
                .collect::<Result<_>>()?;
            let optima = saved.optima.iter().map(ManifestOptimum::named).collect();
            Ok(Experiment { task, finished, optima })
        })
        .collect::<Result<_>>()?;
    Ok((manifest, experiments))
}

fn manifest_experiment(experiment: &Experiment) -> ManifestExperiment {
    ManifestExperiment {
        task: experiment.task.name.clone(),
        optima: experiment.optima.iter().map(|&(risk, optimum)| ManifestOptimum::Named { risk, optimum }).collect(),
        cells: experiment
            .finished
            .iter()
            .map(|finished| ManifestCell {
                cell: finished.cell.clone(),
                journal: finished.cell.journal(&experiment.task),
                cpu_seconds: finished.cpu_seconds(),
                simulated_steps: finished.simulated_steps(),
            })
            .collect(),
    }
}

fn samples(experiments: &[Experiment]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["task", "beta", "preset", "run", "seed", "cost"])?;
    for Finished { cell, records, .. } in experiments.iter().flat_map(|experiment| &experiment.finished) {
        let (beta, preset, seed) = (number::risk(cell.risk), cell.preset.to_string(), cell.seed.to_string());
        for record in records {
            let (run, cost) = (record.run.to_string(), record.cost.to_string());
            writer.write_record([&cell.task, &beta, &preset, &run, &seed, &cost])?;
        }
    }
    Ok(writer.into_inner()?)
}

fn trajectories(experiments: &[Experiment]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["task", "beta", "preset", "run", "time", "state", "action"])?;
    for experiment in experiments {
        let mdp = experiment.task.problem.mdp();
        for Finished { cell, records, .. } in &experiment.finished {
            let (beta, preset) = (number::risk(cell.risk), cell.preset.to_string());
            for record in records {
                let run = record.run.to_string();
                for (time, &pair) in record.path.iter().enumerate() {
                    let state = mdp.state_name(mdp.state(pair.into()));
                    let action = mdp.action_name(mdp.action(pair.into()));
                    let time = time.to_string();
                    writer.write_record([&cell.task, &beta, &preset, &run, &time, state, action])?;
                }
            }
        }
    }
    Ok(writer.into_inner()?)
}
