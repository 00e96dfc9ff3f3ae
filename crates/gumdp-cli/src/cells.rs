//! Cells of an experiment: one task, one policy, one β, many runs. Playing them, journalled and resumable.

use std::collections::HashSet;

use anyhow::Result;
use cpu_time::ThreadTime;
use gumdp::{Auto, Budget, Erm, Exploration, GuidedSettings, PlannerSettings, Risk};
use gumdp_files::{PlannerVariant, Task};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::exact::Solver;
use crate::failure::BadInput;
use crate::interrupt::{self, Interrupted};
use crate::number;
use crate::player::{Player, Who};
use crate::progress::{Progress, Watched};
use crate::store::{Record, Store};

/// One task, one policy, one β.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the task.
    pub task: String,
    /// Attitude to risk.
    #[serde(rename = "beta", with = "crate::number::attitude")]
    pub risk: Risk,
    /// Who plays.
    pub preset: Who,
    /// Number of runs.
    pub runs: u64,
    /// Simulations per decision.
    pub simulations: u64,
    /// Exploration constant θ of the published planner; 0 for others.
    pub exploration: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What `--policy auto` found out, if it chose who plays.
    #[serde(default)]
    pub auto: Option<String>,
    /// The outer variable of the measure, which is fixed at the first decision, if it has one.
    #[serde(default)]
    pub outer: Option<String>,
}

impl Cell {
    /// The cell of a task with the task's own settings.
    pub fn new(task: &Task, risk: impl Into<Risk>, who: Who, seed: u64) -> Self {
        let defaults = &task.defaults;
        Self {
            task: task.name.clone(),
            risk: risk.into(),
            preset: who,
            runs: defaults.runs,
            simulations: if who.plans() { defaults.simulations } else { 0 },
            exploration: if who == Who::Paper { defaults.exploration } else { 0.0 },
            seed,
            auto: None,
            outer: None,
        }
    }

    /// The cell of `--policy auto`: the exact optimum if the solver finds it, else the default planner.
    pub fn auto(task: &Task, risk: Risk, seed: u64, solver: &mut Solver) -> Self {
        let (who, said) = match solver.solve(risk) {
            Ok(solution) => (Who::Exact, Auto::Solved(solution).to_string()),
            Err(because) => (Who::Default, format!("{}, planning", because.in_short())),
        };
        Self { auto: Some(said), ..Self::new(task, risk, who, seed) }
    }

    /// The cell with other runs and simulations than the task's, where they are given.
    #[must_use]
    pub fn with(self, runs: Option<u64>, simulations: Option<u64>) -> Self {
        Self {
            runs: runs.unwrap_or(self.runs),
            simulations: simulations.filter(|_| self.preset.plans()).unwrap_or(self.simulations),
            ..self
        }
    }

    /// The entropic risk measure that it is played with.
    pub fn erm(&self) -> Result<Erm> {
        let refusal = || BadInput::new(format!("{} is no entropic risk measure", self.risk));
        Ok(self.risk.as_erm().ok_or_else(refusal)?)
    }

    /// The settings of the published planner.
    pub fn planner_settings(&self, task: &Task) -> PlannerSettings {
        let variant = match task.defaults.variant {
            PlannerVariant::Illustrative => PlannerSettings::paper_illustrative(),
            PlannerVariant::Grid => PlannerSettings::paper_grid(),
        };
        PlannerSettings {
            budget: Budget::simulations(self.simulations),
            exploration: Exploration::Constant(self.exploration),
            ..variant
        }
    }

    /// The settings of the default planner.
    pub fn guided_settings(&self, task: &Task) -> GuidedSettings {
        GuidedSettings { budget: Budget::simulations(self.simulations), ..task.defaults.guided.clone() }
    }

    /// The file name of its journal. Whatever changes a run changes the name, so a journal never holds runs of two kinds.
    pub fn journal(&self, task: &Task) -> String {
        let Self { risk, preset, simulations, exploration, seed, .. } = self;
        let beta = risk.beta().map_or_else(|| risk.to_string(), |beta| beta.to_string());
        let variant = task.defaults.variant;
        let version = gumdp::RESULTS_VERSION;
        let key =
            format!("{version}\n{}\n{beta}\n{preset}\n{simulations}\n{exploration}\n{variant:?}\n{seed}", task.source);
        let kind = if risk.beta().is_some() { "beta" } else { "" };
        let label = number::risk(*risk).replace(':', "-");
        format!("{}_{preset}_{kind}{label}_{:016x}.csv", self.task, fnv1a(key.as_bytes()))
    }

    /// Plays the runs that a journal does not hold yet and returns all of them, in order.
    /// The outer variable of the measure is known afterwards.
    pub fn play(
        &mut self,
        task: &Task,
        store: Option<&Store>,
        progress: &Progress,
        solver: &mut Solver,
    ) -> Result<Vec<Record>> {
        self.play_on(Vec::new(), task, store, progress, solver)
    }

    /// The same if some runs, in order, are at hand.
    pub fn play_on(
        &mut self,
        mut records: Vec<Record>,
        task: &Task,
        store: Option<&Store>,
        progress: &Progress,
        solver: &mut Solver,
    ) -> Result<Vec<Record>> {
        let journal = store.map(|store| store.journal(&self.journal(task))).transpose()?;
        if let Some(journal) = &journal {
            records = journal.finished.range(..self.runs).map(|(_, record)| record.clone()).collect();
        }
        let known: HashSet<u64> = records.iter().map(|record| record.run).collect();
        let missing: Vec<u64> = (0..self.runs).filter(|run| !known.contains(run)).collect();
        progress.message(format!("{} {} {}", self.task, number::risk_label(self.risk), self.preset));
        progress.advance(records.len() as u64);
        if !missing.is_empty() {
            let (player, outer) = Player::new(self, task, solver)?;
            self.outer = outer;
            let played = play_runs(&player, task, self.seed, missing, progress, |record| {
                journal.as_ref().map_or(Ok(()), |journal| journal.append(record))
            });
            records.extend(played?);
            records.sort_by_key(|record| record.run);
        } else if self.outer.is_none() && self.risk.as_erm().is_none() {
            // Journals hold no outer variable; it is the same again.
            self.outer = Player::new(self, task, solver)?.1;
        }
        Ok(records)
    }
}

/// Plays the runs with these numbers in parallel; `keep` is called for each as soon as it is finished.
pub fn play_runs(
    player: &Player,
    task: &Task,
    seed: u64,
    numbers: Vec<u64>,
    progress: &Progress,
    keep: impl Fn(&Record) -> Result<()> + Sync,
) -> Result<Vec<Record>> {
    let play = |player: &mut Player, number| {
        if interrupt::requested() {
            return Err(Interrupted.into());
        }
        let started = ThreadTime::now();
        let run = gumdp::run(&task.problem, &mut Watched::new(player, &task.problem, progress), seed, number)?;
        let record = Record {
            run: number,
            cost: run.episode.cost,
            simulated_steps: run.simulated_steps,
            // As precise as a journal is, so that a table is the same from memory and from disk.
            cpu_seconds: started.elapsed().as_micros() as f64 / 1e6,
            path: run.episode.path.iter().map(|pair| pair.index() as u32).collect(),
        };
        keep(&record)?;
        progress.advance(1);
        Ok(record)
    };
    numbers.into_par_iter().map_init(|| player.clone(), play).collect()
}

/// A hash that is the same on every machine and in every version.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
