//! The occupancy MDP of a problem, walked through once and kept, to be solved for aim after aim.
//!
//! What an aim changes is how final costs are valued, not which there are. So the merged levels are kept with their links, and
//! the final costs of the trees below them in the order of a depth-first walk, if memory allows that; if not, the trees are
//! walked through each time.

use rayon::prelude::*;

use super::depth_first::{NeutralReplay, Replay, Solved, Walker, add, lower};
use super::level::Level;
use super::occupancy_dp::{Limits, optima_of};
use super::optima::Optimum;
use super::reduced::Reduced;
use super::sweep::{Expanded, Sweep, Unfolding};
use super::{OracleError, check_stop};
use crate::model::{Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Aim, Erm, KinkedTerminals, Terminals, TiltedTerminals};
use crate::stop::Stop;

/// States of the frontier in one piece of parallel work, if trees are below them and if not.
const TREES: usize = 16;
const LEAVES: usize = 1024;

/// See above.
pub(super) struct Unfolded<'a> {
    problem: &'a Problem,
    reduced: Reduced,
    limits: Limits,
    expanded: Vec<Expanded>,
    /// With features only if there are no costs.
    frontier: Level,
    /// The time of the frontier.
    time: usize,
    /// Occupancy states of one pass.
    pub(super) states: u64,
    /// Final costs for each piece of the frontier.
    costs: Option<Vec<Vec<f64>>>,
    /// Whether all of them are finite.
    finite: bool,
    /// The states at the start, with their probabilities.
    outcomes: Vec<(State, f64)>,
}

/// Where an episode is looked at from: a time before the horizon, what was gathered until then, and the states one may be in.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) time: usize,
    pub(super) features: Vec<f64>,
    pub(super) outcomes: Vec<(State, f64)>,
}

impl Start {
    /// The start of an episode.
    pub(super) fn of(problem: &Problem) -> Self {
        let features = vec![0.0; problem.objective().feature_count()];
        Self { time: 0, features, outcomes: problem.mdp().initial().to_vec() }
    }

    /// What follows a pair in a situation.
    pub(super) fn after(problem: &Problem, at: &OccupancyState, pair: Pair) -> Self {
        let mut features = at.features.clone();
        problem.objective().add(&mut features, pair.index(), problem.masses()[at.time]);
        Self { time: at.time + 1, features, outcomes: problem.mdp().successors(pair).collect() }
    }
}

impl<'a> Unfolded<'a> {
    pub(super) fn new(problem: &'a Problem, limits: &Limits, start: &Start) -> Result<Self, OracleError> {
        let reduced = Reduced::new(problem);
        let limits = Limits { policy_bytes: 0, ..limits.clone() };
        let roots: Vec<u32> = start.outcomes.iter().map(|&(state, _)| state.0).collect();
        let sweep = Sweep { problem, reduced: &reduced, aims: [], limits: limits.clone() };
        let Unfolding { levels, mut frontier, time } = sweep.unfold(start.time, &roots, &start.features)?;
        let states = levels.states + sweep.states_below(&frontier, time);
        let leaves = reduced.leaves(problem.horizon() - time);
        let all: f64 = frontier.states().iter().map(|&state| leaves[state as usize]).sum();
        let fits = 8.0 * all <= limits.max_bytes.saturating_sub(levels.bytes + frontier.bytes()) as f64;
        let costs = fits.then(|| gather(problem, &reduced, &frontier, time, &limits.stop)).transpose()?;
        if fits {
            frontier.forget();
        }
        let finite = costs.iter().flatten().flatten().all(|cost| cost.is_finite());
        let outcomes = start.outcomes.clone();
        Ok(Self {
            problem,
            reduced,
            limits,
            expanded: levels.expanded,
            frontier,
            time,
            states,
            costs,
            finite,
            outcomes,
        })
    }

    /// The optima for some aims, with the bits each would have alone.
    pub(super) fn solve<const AIMS: usize>(&self, aims: [Aim; AIMS]) -> Result<[Optimum; AIMS], OracleError> {
        let Self { problem, reduced, limits, .. } = self;
        let sweep = Sweep { problem, reduced, aims, limits: limits.clone() };
        let mut solved = match &self.costs {
            Some(costs) => self.replay(costs, aims),
            None => sweep.descend(&self.frontier, self.time)?,
        };
        for Expanded { level, links, .. } in self.expanded.iter().rev() {
            solved = sweep.back_up(level, links, &solved)?;
        }
        optima_of(&self.outcomes, &solved, &aims)
    }

    /// The optimal values of some aims, but for rounding: quicker if all are risk-neutral.
    pub(super) fn values<const AIMS: usize>(&self, aims: [Aim; AIMS]) -> Result<[f64; AIMS], OracleError> {
        if let Some(costs) = &self.costs {
            if let Some(terminals) = KinkedTerminals::of_aims(&aims) {
                return self.neutral_values(costs, &terminals);
            }
            if let Some(terminals) = TiltedTerminals::of_aims(&aims) {
                return self.neutral_values(costs, &terminals);
            }
            if aims.iter().all(|aim| aim.erm == Erm::MEAN && !aim.is_entropic()) {
                return self.neutral_values(costs, &aims.map(|aim| aim.terminal));
            }
        }
        Ok(self.solve(aims)?.map(|optimum| optimum.value))
    }

    fn neutral_values<T: Terminals<AIMS>, const AIMS: usize>(
        &self,
        costs: &[Vec<f64>],
        terminals: &T,
    ) -> Result<[f64; AIMS], OracleError> {
        if !self.finite {
            return Err(OracleError::NotFinite);
        }
        let reduced = &self.reduced;
        let stop = &self.limits.stop;
        let remaining = self.problem.horizon() - self.time;
        let pieces = self.frontier.states().par_chunks(piece(remaining)).zip(costs);
        let solve = |(states, costs): (&[u32], &Vec<f64>)| {
            let mut replay = NeutralReplay::new(reduced, terminals, costs);
            states.iter().map(|&state| replay.solve(remaining, state)).collect::<Vec<_>>()
        };
        let mut solved = pieces.map(solve).collect::<Vec<_>>().concat();
        for Expanded { level, links, .. } in self.expanded.iter().rev() {
            check_stop(stop)?;
            let mut first = 0;
            let back_up = |&state: &u32| {
                let mut best = [f64::INFINITY; AIMS];
                for &choice in reduced.choices(state) {
                    let mut expected = [0.0; AIMS];
                    for successor in reduced.successors(choice) {
                        add(&mut expected, successor.probability, &solved[links[first] as usize]);
                        first += 1;
                    }
                    lower(&mut best, &expected);
                }
                best
            };
            solved = level.states().iter().map(back_up).collect();
        }
        let mut values = [0.0; AIMS];
        for (root, &(_, probability)) in solved.iter().zip(&self.outcomes) {
            add(&mut values, probability, root);
        }
        Ok(values)
    }

    /// Solves every state of the frontier.
    fn replay<const AIMS: usize>(&self, costs: &[Vec<f64>], aims: [Aim; AIMS]) -> Vec<[Solved; AIMS]> {
        let remaining = self.problem.horizon() - self.time;
        let pieces = self.frontier.states().par_chunks(piece(remaining)).zip(costs);
        let solve = |(states, costs): (&[u32], &Vec<f64>)| {
            let mut replay = Replay::new(&self.reduced, aims, costs);
            states.iter().map(|&state| replay.solve(remaining, state)).collect::<Vec<_>>()
        };
        pieces.map(solve).collect::<Vec<_>>().concat()
    }
}

fn piece(remaining: usize) -> usize {
    if remaining == 1 { LEAVES } else { TREES }
}

/// The final costs of all trees below the frontier.
fn gather(
    problem: &Problem,
    reduced: &Reduced,
    frontier: &Level,
    time: usize,
    stop: &Stop,
) -> Result<Vec<Vec<f64>>, OracleError> {
    let size = piece(problem.horizon() - time);
    let of_piece = |(number, states): (usize, &[u32])| {
        let mut walker = Walker::new(problem, reduced, [], time, stop);
        let mut costs = Vec::new();
        for (k, &state) in states.iter().enumerate() {
            walker.gather(time, state, frontier.features(number * size + k), &mut costs);
        }
        costs.shrink_to_fit();
        costs
    };
    let costs = frontier.states().par_chunks(size).enumerate().map(of_piece).collect();
    check_stop(stop)?;
    Ok(costs)
}
