//! Results: what was played, and its summaries.

use anyhow::Result;
use gumdp::bound::LowerBound;
use gumdp::stats::Summary;
use gumdp::{Agent, Precision, Record, Risk, Watch};
use gumdp_files::Task;
use serde::Serialize;

use crate::exact::{Certain, Solver};
use crate::interrupt;
use crate::number;
use crate::player::Who;
use crate::progress::Progress;
use crate::store::Store;
use crate::trial::Trial;

/// A task with all that was played of it.
#[derive(Debug)]
pub struct TaskResults {
    /// The task.
    pub task: Task,
    /// Its trials.
    pub finished: Vec<Finished>,
    /// The exact optimum for each measure for which it is known.
    pub optima: Vec<(Risk, Certain)>,
}

impl TaskResults {
    /// What was played of a task, with the exact optimum for each measure where the solver finds it.
    pub fn new(task: Task, finished: Vec<Finished>, solver: &mut Solver) -> Self {
        let mut experiment = Self { task, finished, optima: Vec::new() };
        for finished in &experiment.finished {
            let risk = finished.trial.risk;
            if experiment.optimum(risk).is_none()
                && let Some(optimum) = solver.optimum(risk)
            {
                experiment.optima.push((risk, optimum));
            }
        }
        experiment
    }

    /// Plays all trials of a task, or what is missing of them.
    pub fn play(
        task: Task,
        trials: Vec<Trial>,
        store: Option<&Store>,
        progress: &Progress,
        solver: &mut Solver,
    ) -> Result<Self> {
        let play = |trial| Finished::of(trial, &task, store, progress, solver);
        let finished = trials.into_iter().map(play).collect::<Result<_>>()?;
        Ok(Self::new(task, finished, solver))
    }

    /// The part of it that some have played.
    #[must_use]
    pub fn played_by(&self, who: impl Fn(Who) -> bool) -> Self {
        let finished = self.finished.iter().filter(|finished| who(finished.trial.preset)).cloned().collect();
        Self { task: self.task.clone(), finished, optima: self.optima.clone() }
    }

    /// Every risk measure that was played.
    pub fn risks(&self) -> Vec<Risk> {
        distinct(self.finished.iter().map(|finished| finished.trial.risk))
    }

    /// The trial with this measure and policy.
    pub fn find(&self, risk: Risk, who: Who) -> Option<&Finished> {
        self.finished.iter().find(|finished| finished.trial.risk == risk && finished.trial.preset == who)
    }

    /// The trials measure by measure, those of one measure in the order in which they were played.
    pub fn by_risk(&self) -> Vec<&Finished> {
        let of_risk = |risk: Risk| self.finished.iter().filter(move |finished| finished.trial.risk == risk);
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

/// A trial with its runs.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What was played.
    pub trial: Trial,
    /// Every run, in order.
    pub records: Vec<Record>,
    /// Summary of the costs.
    pub summary: Summary,
}

impl Finished {
    /// Plays a trial by whom it says, or what is missing of it.
    pub fn of(
        trial: Trial,
        task: &Task,
        store: Option<&Store>,
        progress: &Progress,
        solver: &mut Solver,
    ) -> Result<Self> {
        let agent = trial.agent(task, solver)?;
        progress.working_on(&trial);
        Self::play(trial, &agent, task, store, progress, None)
    }

    /// Plays the runs of a trial that its journal does not hold yet, and goes on until the risk is known as precisely as wanted.
    pub fn play(
        mut trial: Trial,
        agent: &Agent,
        task: &Task,
        store: Option<&Store>,
        watch: &dyn Watch,
        precision: Option<&Precision>,
    ) -> Result<Self> {
        let journal = store.map(|store| store.journal(&trial.journal(task))).transpose()?;
        let (stop, journal) = (interrupt::stop(), journal.as_ref());
        let experiment = gumdp::Experiment {
            stop,
            watch,
            journal,
            ..gumdp::Experiment::new(&task.problem, agent.policy(), trial.seed)
        };
        let mut records = experiment.play(Vec::new(), trial.runs).map_err(interrupt::of_experiment)?;
        if let Some(precision) = precision {
            records = experiment.play_until(records, &[trial.risk], precision).map_err(interrupt::of_experiment)?;
            trial.runs = records.len() as u64;
        }
        trial.outer = agent.outer().map(str::to_owned);
        Self::new(trial, records)
    }

    /// Half the width of the 95 % interval of its risk.
    pub fn half_width(&self) -> f64 {
        (self.summary.high - self.summary.low) / 2.0
    }

    /// Whether its risk is not known as precisely as wanted.
    pub fn is_missed(&self, task: &Task, wanted: &Precision) -> bool {
        self.half_width() > wanted.half_width
            || self.trial.runs < wanted.least_runs(&task.problem, &[self.trial.risk], &self.costs())
    }

    /// A trial with its runs and their summary.
    pub fn new(trial: Trial, records: Vec<Record>) -> Result<Self> {
        let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
        let summary = Summary::of(&costs, trial.risk, trial.seed)?;
        Ok(Self { trial, records, summary })
    }

    /// The costs of its runs.
    pub fn costs(&self) -> Vec<f64> {
        self.records.iter().map(|record| record.cost).collect()
    }

    /// The 95 % interval of its risk, as text.
    pub fn interval(&self) -> String {
        number::interval(self.summary.low, self.summary.high)
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

/// How many runs each trial has: one number, or a range.
pub fn runs_text(finished: &[Finished]) -> String {
    let runs = || finished.iter().map(|finished| finished.trial.runs);
    match (runs().min().unwrap_or(0), runs().max().unwrap_or(0)) {
        (least, most) if least == most => number::counted(least, "run"),
        (least, most) => format!("{least} to {most} runs"),
    }
}

/// What `gumdp run --json` and `gumdp compare --json` say of a trial; the names of the fields are a contract.
#[derive(Debug, Serialize)]
pub struct FinishedJson {
    task: String,
    risk: String,
    /// `null` unless the measure is entropic.
    #[serde(with = "crate::number::optional")]
    beta: Option<f64>,
    runs: u64,
    simulations: u64,
    seed: u64,
    preset: Who,
    #[serde(flatten, with = "SummaryJson")]
    summary: Summary,
    cpu_seconds: f64,
    simulated_steps: u64,
    /// No policy has a lower risk; `null` where that is not known.
    bound: Option<f64>,
    bound_method: Option<String>,
}

#[derive(Serialize)]
#[serde(remote = "Summary")]
struct SummaryJson {
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
}

impl FinishedJson {
    /// The results of a trial, and what no policy can get below.
    pub fn new(finished: &Finished, bound: Option<LowerBound>) -> Self {
        let Trial { task, risk, runs, simulations, seed, preset, .. } = finished.trial.clone();
        Self {
            task,
            risk: risk.to_string(),
            beta: risk.beta(),
            runs,
            simulations,
            seed,
            preset,
            summary: finished.summary,
            cpu_seconds: finished.cpu_seconds(),
            simulated_steps: finished.simulated_steps(),
            bound: bound.map(|bound| bound.value),
            bound_method: bound.map(|bound| bound.method.to_string()),
        }
    }
}
