//! Results: what was played, and its summaries.

use anyhow::Result;
use gumdp::bound::{LowerBound, Method};
use gumdp::stats::Summary;
use gumdp::{Agent, Precision, Record, Risk, Watch};
use gumdp_files::Task;
use serde::Serialize;

use crate::exact::{Certain, Solver};
use crate::interrupt;
use crate::number;
use crate::played::Played;
use crate::progress::Progress;
use crate::store::Store;
use crate::trial::Trial;
use gumdp_files::Player;

/// A task with all that was played of it.
#[derive(Debug)]
pub struct TaskResults {
    /// The task.
    pub task: Task,
    /// Its trials.
    pub finished: Vec<Finished>,
    /// The exact optimum for each measure for which it is known.
    pub optima: Vec<(Risk, Certain)>,
    /// A proven lower bound for each measure for which it is not.
    pub bounds: Vec<(Risk, LowerBound)>,
}

impl TaskResults {
    /// What was played of a task, with the exact optimum for each measure where the solver finds it.
    pub fn new(task: Task, finished: Vec<Finished>, solver: &mut Solver) -> Self {
        let mut experiment = Self { task, finished, optima: Vec::new(), bounds: Vec::new() };
        for risk in experiment.risks() {
            match (solver.optimum(risk), solver.bound(risk)) {
                (Some(optimum), _) => experiment.optima.push((risk, optimum)),
                (None, Some(bound)) => experiment.bounds.push((risk, bound)),
                (None, None) => {}
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
    pub fn played_by(&self, who: impl Fn(Player) -> bool) -> Self {
        let finished = self.finished.iter().filter(|finished| who(finished.trial.preset)).cloned().collect();
        Self { task: self.task.clone(), finished, optima: self.optima.clone(), bounds: self.bounds.clone() }
    }

    /// Every risk measure that was played.
    pub fn risks(&self) -> Vec<Risk> {
        distinct(self.finished.iter().map(|finished| finished.trial.risk))
    }

    /// The trial with this measure and policy.
    pub fn find(&self, risk: Risk, who: Player) -> Option<&Finished> {
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

    /// What no policy can get below, and how that is known: the optimum, or a proven bound.
    pub fn bound(&self, risk: Risk) -> Option<LowerBound> {
        let exact = self.optimum(risk).map(|optimum| LowerBound { value: optimum.low, method: Method::Exact });
        exact.or_else(|| self.bounds.iter().find(|(known, _)| *known == risk).map(|&(_, bound)| bound))
    }

    /// Whether the sampled risk is below what is possible: costs that matter were not met.
    pub fn is_too_low(&self, of: &Finished) -> bool {
        self.bound(of.trial.risk).is_some_and(|bound| of.is_below(bound.value))
    }

    /// The risk of a trial as text, with a mark if it is below what is possible.
    pub fn marked_risk(&self, of: &Finished) -> String {
        format!("{}{}", number::short(of.summary.value), if self.is_too_low(of) { TOO_LOW } else { "" })
    }

    /// What that mark means, if it was set.
    pub fn mark_note(&self) -> Option<&'static str> {
        let marked = self.finished.iter().any(|of| self.is_too_low(of));
        marked.then_some(MARKED)
    }
}

/// Marks a sampled risk that is below what is possible.
pub const TOO_LOW: &str = " !";
/// What the mark means.
pub const MARKED: &str = "! below what is possible: the runs were lucky, or met no rare costs";

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
    /// What is kept of its runs.
    pub played: Played,
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
        let known = agent.exact_summary(&task.problem, trial.risk, interrupt::stop());
        let journal = store.map(|store| store.journal(&trial.journal(task), &task.problem, trial.seed)).transpose()?;
        let (stop, journal) = (interrupt::stop(), journal.as_ref());
        let experiment = gumdp::Experiment {
            stop,
            watch,
            journal,
            ..gumdp::Experiment::new(&task.problem, agent.policy(), trial.seed)
        };
        let mut played = Played::new(task, trial.risk);
        experiment.play(0..trial.runs, |record| played.add(task, &record)).map_err(interrupt::of_experiment)?;
        if let Some(precision) = precision.filter(|_| known.is_none()) {
            let mut costs = played.costs.clone();
            let count = |record: Record| played.count(task, &record);
            let ended = experiment.play_until(&mut costs, &[trial.risk], precision, count);
            ended.map_err(interrupt::of_experiment)?;
            played.costs = costs;
            trial.runs = played.runs();
        }
        trial.outer = agent.outer().map(str::to_owned);
        Self::new(trial, played, task, known)
    }

    /// Half the width of the 95 % interval of its risk.
    pub fn half_width(&self) -> f64 {
        (self.summary.high - self.summary.low) / 2.0
    }

    /// Whether its risk is not known as precisely as wanted.
    pub fn is_missed(&self, wanted: &Precision) -> bool {
        self.half_width() > wanted.half_width
    }

    /// Whether it is sampled and lower than this, which no policy is.
    pub fn is_below(&self, least: f64) -> bool {
        !self.summary.exact && self.summary.value < least
    }

    /// A trial with what is kept of its runs, and their summary unless that of all possible runs is known.
    pub fn new(trial: Trial, played: Played, task: &Task, known: Option<Summary>) -> Result<Self> {
        let bounds = task.problem.objective().bounds();
        let sampled = || Summary::of_costs(&played.costs, trial.risk, bounds, trial.seed);
        let summary = known.map_or_else(sampled, Ok)?;
        Ok(Self { trial, played, summary })
    }

    /// The 95 % interval of its risk, as text.
    pub fn interval(&self) -> String {
        let Summary { exact, low, high, .. } = self.summary;
        if exact { "exact".to_owned() } else { number::interval(low, high) }
    }

    /// CPU time of one run, in milliseconds.
    pub fn cpu_milliseconds_per_run(&self) -> f64 {
        self.played.cpu_seconds / self.played.runs() as f64 * 1e3
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
    #[serde(flatten)]
    attitude: number::Attitude,
    runs: u64,
    simulations: u64,
    seed: u64,
    preset: Player,
    #[serde(flatten)]
    summary: Summary,
    /// `null` where all possible runs are known.
    effective_runs: Option<f64>,
    /// What to bear in mind of the interval.
    caution: Option<String>,
    /// Whether the value is lower than any policy's: costs that matter were not met.
    below_bound: bool,
    cpu_seconds: f64,
    simulated_steps: u64,
    /// No policy has a lower risk; `null` where that is not known.
    bound: Option<f64>,
    bound_method: Option<String>,
}

impl FinishedJson {
    /// The results of a trial, and what no policy can get below.
    pub fn new(finished: &Finished, bound: Option<LowerBound>) -> Self {
        let Trial { task, risk, runs, simulations, seed, preset, .. } = finished.trial.clone();
        Self {
            task,
            attitude: risk.into(),
            runs,
            simulations,
            seed,
            preset,
            summary: finished.summary,
            effective_runs: Some(finished.summary.trust.effective_runs).filter(|runs| runs.is_finite()),
            caution: finished.summary.trust.note(),
            below_bound: bound.is_some_and(|bound| finished.is_below(bound.value)),
            cpu_seconds: finished.played.cpu_seconds,
            simulated_steps: finished.played.simulated_steps,
            bound: bound.map(|bound| bound.value),
            bound_method: bound.map(|bound| bound.method.to_string()),
        }
    }
}
