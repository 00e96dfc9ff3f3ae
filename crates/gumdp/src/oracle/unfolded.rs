//! The occupancy MDP of a problem, walked through once and kept, to be solved for aim after aim.
//!
//! What an aim changes is how final costs are valued, not which there are. So the merged levels are kept with their links, and
//! the final costs of the trees below them in the order of a depth-first walk, if memory allows that; if not, the trees are
//! walked through each time.

use rayon::prelude::*;

use super::depth_first::{Path, Walk};
use super::level::Level;
use super::occupancy_dp::{Limits, Optimum};
use super::reduced::Reduced;
use super::sweep::{Expanded, Sweep, Unfolding};
use super::valuation::{Neutral, Valuation, expected};
use super::{OracleError, check_stop, known_cost};
use crate::model::{Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Aim, Erm, KinkedTerminals, Terminals, TiltedTerminals};

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
    start: Start,
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
        problem.gather(&mut features, at.time, pair);
        Self { time: at.time + 1, features, outcomes: problem.mdp().successors(pair).collect() }
    }

    /// The final cost, if this is the end of an episode.
    pub(super) fn final_cost(&self, problem: &Problem) -> Option<f64> {
        (self.time == problem.horizon()).then(|| known_cost(problem.objective().value_of_features(&self.features)))
    }
}

impl<'a> Unfolded<'a> {
    pub(super) fn new(problem: &'a Problem, limits: &Limits, start: &Start) -> Result<Self, OracleError> {
        let reduced = Reduced::new(problem);
        let limits = Limits { policy_bytes: 0, ..limits.clone() };
        let sweep = Sweep { problem, reduced: &reduced, limits: &limits };
        let Unfolding { levels, mut frontier, time } = sweep.unfold(start)?;
        let states = levels.states + sweep.states_below(&frontier, time);
        let leaves = reduced.leaves(problem.horizon() - time);
        let all: f64 = frontier.states().iter().map(|&state| leaves[state as usize]).sum();
        let fits = 8.0 * all <= limits.max_bytes.saturating_sub(levels.bytes + frontier.bytes()) as f64;
        let costs = fits.then(|| gather(&sweep, &frontier, time)).transpose()?;
        if fits {
            frontier.forget();
        }
        let finite = costs.iter().flatten().flatten().all(|cost| cost.is_finite());
        let (expanded, start) = (levels.expanded, start.clone());
        Ok(Self { problem, reduced, limits, expanded, frontier, time, states, costs, finite, start })
    }

    /// The optima for some aims, with the bits each would have alone. If means are not wanted, values of risk-neutral aims come
    /// quicker, but for rounding.
    pub(super) fn solve<const AIMS: usize>(
        &self,
        aims: [Aim; AIMS],
        with_means: bool,
    ) -> Result<[Optimum; AIMS], OracleError> {
        if self.costs.is_some() && !with_means {
            if let Some(terminals) = KinkedTerminals::of_aims(&aims) {
                return self.neutral(terminals);
            }
            if let Some(terminals) = TiltedTerminals::of_aims(&aims) {
                return self.neutral(terminals);
            }
            if aims.iter().all(|aim| aim.erm == Erm::MEAN && !aim.is_entropic()) {
                return self.neutral(aims.map(|aim| aim.terminal));
            }
        }
        Optimum::of(&self.start.outcomes, &self.roots(&aims)?, &aims)
    }

    /// All final costs between these, ascending, if they were kept.
    pub(super) fn final_costs(&self, (low, high): (f64, f64)) -> Option<Vec<f64>> {
        let costs = self.costs.as_ref()?.iter().flatten().copied();
        let mut costs: Vec<f64> = costs.filter(|cost| (low..=high).contains(cost)).collect();
        costs.sort_unstable_by(f64::total_cmp);
        costs.dedup();
        Some(costs)
    }

    fn neutral<T: Terminals<AIMS>, const AIMS: usize>(&self, terminals: T) -> Result<[Optimum; AIMS], OracleError> {
        if !self.finite {
            return Err(OracleError::NotFinite);
        }
        let roots = self.roots(&Neutral(terminals))?;
        let outcomes = roots.iter().zip(self.start.outcomes.iter().map(|&(_, probability)| probability));
        Ok(expected(outcomes).map(|value| Optimum { value, mean: f64::NAN }))
    }

    /// Solves the states at the start.
    fn roots<V: Valuation>(&self, valuation: &V) -> Result<Vec<V::Value>, OracleError> {
        let Self { problem, reduced, limits, frontier, time, .. } = self;
        let sweep = Sweep { problem, reduced, limits };
        let remaining = problem.horizon() - time;
        let replay = |(states, costs): (&[u32], &Vec<f64>)| {
            let mut walk = Walk::new(reduced, costs.iter(), valuation, &limits.stop);
            states.iter().map(|&state| walk.solve(remaining, state)).collect::<Vec<_>>()
        };
        let mut solved = match &self.costs {
            Some(costs) => {
                frontier.states().par_chunks(piece(remaining)).zip(costs).map(replay).collect::<Vec<_>>().concat()
            }
            None => sweep.descend(frontier, *time, valuation)?,
        };
        check_stop(&limits.stop)?;
        for Expanded { level, links, .. } in self.expanded.iter().rev() {
            solved = sweep.back_up(level, links, &solved, valuation)?;
        }
        Ok(solved)
    }
}

fn piece(remaining: usize) -> usize {
    if remaining == 1 { LEAVES } else { TREES }
}

/// The final costs of all trees below the frontier.
fn gather(sweep: &Sweep<'_>, frontier: &Level, time: usize) -> Result<Vec<Vec<f64>>, OracleError> {
    let Sweep { problem, reduced, limits } = sweep;
    let remaining = problem.horizon() - time;
    let of_piece = |(number, states): (usize, &[u32])| {
        let mut walk = Walk::new(reduced, Path::new(problem, remaining), &(), &limits.stop);
        walk.costs.kept = Some(Vec::new());
        for (k, &state) in states.iter().enumerate() {
            walk.costs.start(frontier.features(number * piece(remaining) + k));
            walk.solve(remaining, state);
        }
        let mut costs = walk.costs.kept.unwrap_or_default();
        costs.shrink_to_fit();
        costs
    };
    let costs = frontier.states().par_chunks(piece(remaining)).enumerate().map(of_piece).collect();
    check_stop(&limits.stop)?;
    Ok(costs)
}
