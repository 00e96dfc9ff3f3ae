//! A frontier of a problem that is too large to be solved: the planner plays at each level, every level with common random numbers.

use anyhow::Result;
use gumdp::oracle::{Behaviour, Change, Distribution, Frontier, FrontierPoint, Limits};
use gumdp::stats::{Interval, paired_intervals};
use gumdp::{Pair, Risk};
use gumdp_files::Task;
use serde::Serialize;

use super::TAIL;
use crate::exact::Solver;
use crate::failure::BadInput;
use crate::measures::Measure;
use crate::player::Who;
use crate::progress::Progress;
use crate::results::Finished;
use crate::trial::Trial;

/// The confidence of intervals that are shown, and of those that decide whether there is a change: three are looked at.
const SHOWN: f64 = 0.95;
const DECIDING: f64 = 0.99;

/// How a frontier was sampled.
#[derive(Debug, Serialize)]
pub struct Sampled {
    /// Episodes at each level.
    pub runs: u64,
    /// Simulations per decision.
    pub simulations: u64,
    /// Why it was not solved.
    pub because: String,
    /// 95 % intervals, one for each level.
    pub intervals: Vec<Intervals>,
}

/// 95 % intervals of what is known of a level by sampling.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Intervals {
    /// Of the risk at the level, which its row has as well.
    #[serde(skip)]
    pub risk: (f64, f64),
    /// Of the mean.
    pub mean: (f64, f64),
    /// Of the mean of the worst 5 %.
    pub cvar95: (f64, f64),
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Episodes at each level.
    pub runs: u64,
    /// Simulations per decision, if not the task's.
    pub simulations: Option<u64>,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Plays at each level. Behaviours are those of the levels; a change is told where the interval of the paired difference of
/// mean, risk or worst 5 % to the level before excludes 0.
pub fn sample(
    task: &Task,
    risks: &[Risk],
    sampling: Sampling,
    because: String,
    progress: &Progress,
) -> Result<(Frontier, Sampled)> {
    let Sampling { runs, simulations, seed } = sampling;
    let mut solver = Solver::new(&task.problem, Limits::QUICK);
    let mut frontier = Frontier { points: Vec::new(), behaviours: Vec::new(), changes: Vec::new(), complete: true };
    let mut sampled = Sampled { runs, simulations: 0, because, intervals: Vec::new() };
    let mut before: Option<Vec<f64>> = None;
    for (point, &risk) in risks.iter().enumerate() {
        let trial = Trial::new(task, risk, Who::Default, seed).with(Some(runs), simulations);
        sampled.simulations = trial.simulations;
        let records = Finished::of(trial, task, None, progress, &mut solver)?.records;
        let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
        let unusable = || BadInput::new(format!("a cost of {} at level {risk} is not finite", task.name));
        let law = Distribution::of_samples(&costs).ok_or_else(unusable)?;
        let mut visits = vec![0.0; task.problem.mdp().pair_count()];
        for &pair in records.iter().flat_map(|record| &record.path) {
            visits[pair as usize] += 1.0 / runs as f64;
        }
        let first = first_pairs(task, records.iter().filter_map(|record| record.path.first().copied()));
        let value = law.risk(risk);
        frontier.points.push(FrontierPoint { risk, value, low: value, behaviour: point });
        frontier.behaviours.push(Behaviour { costs: law, visits, first });
        let known = |costs: &[Vec<(f64, f64)>]| measured(&costs[0], risk);
        let [of_mean, of_tail, of_risk] =
            paired_intervals(&[&costs], SHOWN, seed, known).map(|Interval { low, high }| (low, high));
        sampled.intervals.push(Intervals { risk: of_risk, mean: of_mean, cvar95: of_tail });
        if let Some(earlier) = &before {
            let difference = |both: &[Vec<(f64, f64)>]| {
                let [old, new] = [0, 1].map(|k| measured(&both[k], risk));
                [0, 1, 2].map(|k| new[k] - old[k])
            };
            let differences = paired_intervals(&[earlier, &costs], DECIDING, seed, difference);
            if differences.iter().any(|&Interval { low, high }| low > 0.0 || high < 0.0) {
                frontier.changes.push(Change { before: point - 1, after: point, beta: None, point });
            }
        }
        before = Some(costs);
    }
    Ok((frontier, sampled))
}

/// Mean, mean of the worst 5 %, and risk.
fn measured(law: &[(f64, f64)], risk: Risk) -> [f64; 3] {
    [Measure::Mean.of(law), Measure::Cvar(TAIL).of(law), risk.of_distribution(law).unwrap_or(f64::NAN)]
}

/// What is done first most often in each initial state that was met. Every level meets the same ones.
fn first_pairs(task: &Task, first: impl Iterator<Item = u32>) -> Vec<Pair> {
    let mut counts = std::collections::BTreeMap::<u32, u64>::new();
    for pair in first {
        *counts.entry(pair).or_default() += 1;
    }
    let mdp = task.problem.mdp();
    let mut often: Vec<(Pair, u64)> = Vec::new();
    for (pair, count) in counts.into_iter().map(|(pair, count)| (Pair::from(pair), count)) {
        match often.iter_mut().find(|(other, _)| mdp.state(*other) == mdp.state(pair)) {
            Some(known) if known.1 < count => *known = (pair, count),
            Some(_) => (),
            None => often.push((pair, count)),
        }
    }
    often.into_iter().map(|(pair, _)| pair).collect()
}
