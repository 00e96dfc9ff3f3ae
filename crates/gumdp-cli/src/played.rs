//! What is kept of the runs of a trial, however many there are: costs, tallies, no paths.

use gumdp::frontier::Tally;
use gumdp::stats::Costs;
use gumdp::{Pair, Record, Risk};
use gumdp_files::{GridScene, Scene, Task};

use crate::outcome;

/// Of runs in order.
#[derive(Clone, Debug)]
pub struct Played {
    /// Their costs.
    pub costs: Costs,
    /// CPU time over all threads.
    pub cpu_seconds: f64,
    /// Model steps simulated to choose their actions.
    pub simulated_steps: u64,
    /// What they visited.
    pub tally: Tally,
    /// How many runs were on difficult terrain at each time; empty where there is none.
    pub on_difficult: Vec<u64>,
    /// How many ended with each outcome of [`outcome::all`].
    pub outcomes: Vec<u64>,
    outcome_names: Vec<String>,
    /// Of pairs.
    difficult: Vec<bool>,
}

impl Played {
    /// None yet, of which this measure is asked for.
    pub fn new(task: &Task, risk: Risk) -> Self {
        let (problem, outcome_names) = (&task.problem, outcome::all(task));
        let difficult = difficult_pairs(task);
        let times = if difficult.is_empty() { 0 } else { problem.horizon() };
        Self {
            costs: Costs::new(&[risk], problem.objective().bounds()),
            cpu_seconds: 0.0,
            simulated_steps: 0,
            tally: Tally::new(problem, &[]),
            on_difficult: vec![0; times],
            outcomes: vec![0; outcome_names.len()],
            outcome_names,
            difficult,
        }
    }

    /// Adds the next run.
    pub fn add(&mut self, task: &Task, record: &Record) {
        self.costs.add(record.cost);
        self.count(task, record);
    }

    /// Adds all of the next run but its cost.
    pub fn count(&mut self, task: &Task, record: &Record) {
        self.cpu_seconds += record.cpu_seconds;
        self.simulated_steps += record.simulated_steps;
        self.tally.add(&task.problem, record);
        for (runs, &pair) in self.on_difficult.iter_mut().zip(&record.path) {
            *runs += u64::from(self.difficult[pair as usize]);
        }
        let ended = if self.outcomes.is_empty() { None } else { outcome::of(task, &record.path) };
        if let Some(place) = ended.and_then(|name| self.outcome_names.iter().position(|known| *known == name)) {
            self.outcomes[place] += 1;
        }
    }

    /// How many runs ended with one of these outcomes.
    pub fn ended_with(&self, outcomes: &[String]) -> u64 {
        let counted = self.outcome_names.iter().zip(&self.outcomes);
        counted.filter(|(name, _)| outcomes.contains(name)).map(|(_, runs)| runs).sum()
    }

    /// The number of runs.
    pub fn runs(&self) -> u64 {
        self.costs.count()
    }
}

/// Whether a cell is difficult terrain.
pub fn is_difficult(grid: &GridScene, cell: u32) -> bool {
    grid.terrain(cell).sticky.is_some()
}

/// Whether each pair is on difficult terrain; empty if there is none.
fn difficult_pairs(task: &Task) -> Vec<bool> {
    let Scene::Grid(grid) = &task.scene else { return Vec::new() };
    if !grid.cells().any(|cell| is_difficult(grid, cell)) {
        return Vec::new();
    }
    let mdp = task.problem.mdp();
    let of_pair = |pair: u32| {
        grid.cell_of_state[mdp.state(Pair::from(pair)).index()].is_some_and(|cell| is_difficult(grid, cell))
    };
    (0..mdp.pair_count() as u32).map(of_pair).collect()
}
