//! Cells of an experiment: one task, one policy, one β, many runs. Playing them, journalled and resumable.

use anyhow::Result;
use cpu_time::ThreadTime;
use gumdp::oracle::{self, Limits};
use gumdp::{
    Action, Budget, Erm, Exploration, Markov, OccupancyState, Planner, PlannerSettings, PlannerVariant, Policy, Task,
    Uniform, rng::Rng,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::args::{PolicyName, Preset};
use crate::exact::unsolved;
use crate::failure::BadInput;
use crate::interrupt::{self, Interrupted};
use crate::number;
use crate::progress::Progress;
use crate::store::{Record, Store};

/// One task, one policy, one β.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the task.
    pub task: String,
    /// Attitude to risk.
    #[serde(with = "crate::number")]
    pub beta: f64,
    /// `paper` or `default` for the planner, else the policy's name.
    pub preset: String,
    /// Number of runs.
    pub runs: u64,
    /// Simulations per decision.
    pub simulations: u64,
    /// Exploration constant θ.
    pub exploration: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Cell {
    /// The cell of a task with the task's own settings.
    pub fn new(task: &Task, beta: f64, preset: Option<Preset>, policy: PolicyName, seed: u64) -> Self {
        let preset = match policy {
            PolicyName::Planner if preset == Some(Preset::Paper) => "paper",
            PolicyName::Planner => "default",
            PolicyName::Uniform => "uniform",
            PolicyName::Exact => "exact",
            PolicyName::BackwardInduction => "backward-induction",
        };
        let (defaults, plans) = (&task.defaults, policy == PolicyName::Planner);
        Self {
            task: task.name.clone(),
            beta,
            preset: preset.to_owned(),
            runs: defaults.runs,
            simulations: if plans { defaults.simulations } else { 0 },
            exploration: if plans { defaults.exploration } else { 0.0 },
            seed,
        }
    }

    /// Whether actions are chosen by simulations.
    pub fn is_planner(&self) -> bool {
        matches!(self.preset.as_str(), "paper" | "default")
    }

    /// The risk measure.
    pub fn erm(&self) -> Result<Erm> {
        Ok(Erm::new(self.beta)?)
    }

    /// The settings of its planner.
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

    /// The file name of its journal. Whatever changes a run changes the name, so a journal never holds runs of two kinds.
    pub fn journal(&self, task: &Task) -> String {
        let Self { beta, preset, simulations, exploration, seed, .. } = self;
        let variant = task.defaults.variant;
        let version = gumdp::RESULTS_VERSION;
        let key =
            format!("{version}\n{}\n{beta}\n{preset}\n{simulations}\n{exploration}\n{variant:?}\n{seed}", task.source);
        format!("{}_{preset}_beta{}_{:016x}.csv", self.task, number::beta(*beta), fnv1a(key.as_bytes()))
    }

    /// Plays the runs that a journal does not hold yet and returns all of them, in order.
    pub fn play(&self, task: &Task, store: Option<&Store>, progress: &Progress) -> Result<Vec<Record>> {
        let journal = store.map(|store| store.journal(&self.journal(task))).transpose()?;
        let mut records: Vec<Record> = match &journal {
            Some(journal) => journal.finished.range(..self.runs).map(|(_, record)| record.clone()).collect(),
            None => Vec::new(),
        };
        let missing: Vec<u64> = match &journal {
            Some(journal) => (0..self.runs).filter(|run| !journal.finished.contains_key(run)).collect(),
            None => (0..self.runs).collect(),
        };
        progress.message(format!("{} β = {} {}", self.task, number::beta(self.beta), self.preset));
        progress.advance(records.len() as u64);
        if !missing.is_empty() {
            let player = Player::new(self, task)?;
            let played: Result<Vec<Record>> = missing
                .into_par_iter()
                .map_init(
                    || player.clone(),
                    |player, number| {
                        if interrupt::requested() {
                            return Err(Interrupted.into());
                        }
                        let started = ThreadTime::now();
                        let run = gumdp::run(&task.problem, player, self.seed, number)?;
                        let record = Record {
                            run: number,
                            cost: run.episode.cost,
                            simulated_steps: run.simulated_steps,
                            // As precise as a journal is, so that a table is the same from memory and from disk.
                            cpu_seconds: started.elapsed().as_micros() as f64 / 1e6,
                            path: run.episode.path.iter().map(|pair| pair.index() as u32).collect(),
                        };
                        if let Some(journal) = &journal {
                            journal.append(&record)?;
                        }
                        progress.advance(1);
                        Ok(record)
                    },
                )
                .collect();
            records.extend(played?);
            records.sort_by_key(|record| record.run);
        }
        Ok(records)
    }
}

/// Any of the policies that can be named on the command line.
#[derive(Clone)]
enum Player {
    Planner(Box<Planner>),
    Uniform(Uniform),
    Markov(Box<Markov>),
    Exact(Box<oracle::OptimalPolicy>),
}

impl Player {
    fn new(cell: &Cell, task: &Task) -> Result<Self> {
        let (problem, erm) = (&task.problem, cell.erm()?);
        Ok(match cell.preset.as_str() {
            "uniform" => Self::Uniform(Uniform::new(problem)),
            "exact" if problem.objective().as_linear().is_none() => {
                let solution = oracle::solve(problem, erm, &Limits::default())
                    .map_err(|error| unsolved(&task.name, &error, None))?;
                Self::Exact(Box::new(solution.policy()))
            }
            "exact" | "backward-induction" => {
                let solution =
                    oracle::backward_induction(problem, erm).map_err(|error| unsolved(&task.name, &error, None))?;
                Self::Markov(Box::new(solution.policy))
            }
            _ => {
                Self::Planner(Box::new(Planner::new(problem, erm, cell.planner_settings(task)).map_err(BadInput::new)?))
            }
        })
    }
}

impl Policy for Player {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action {
        match self {
            Self::Planner(policy) => policy.act(at, rng),
            Self::Uniform(policy) => policy.act(at, rng),
            Self::Markov(policy) => policy.act(at, rng),
            Self::Exact(policy) => policy.act(at, rng),
        }
    }

    fn begin_episode(&mut self) {
        if let Self::Planner(planner) = self {
            planner.begin_episode();
        }
    }

    fn simulated_steps(&self) -> u64 {
        if let Self::Planner(planner) = self { planner.simulated_steps() } else { 0 }
    }
}

/// A hash that is the same on every machine and in every version.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
