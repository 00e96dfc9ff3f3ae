//! The occupancy MDP of a problem, walked through once and kept, to be solved for aim after aim.
//!
//! What an aim changes is how final costs are valued, not which there are. So the merged levels are kept with their links, and
//! the final costs of the trees below them in the order of a depth-first walk, if memory allows that; if not, the trees are
//! walked through each time. What can follow each state is kept too, so that a walk passes over states where an aim needs no more.

use std::sync::Arc;

use rayon::prelude::*;

use super::depth_first::{Kept, Path, Walk};
use super::level::Level;
use super::occupancy_dp::{Limits, Optimum};
use super::optimal::{Decided, Inner, OptimalPolicy};
use super::outlook::{Looking, Outlook, Trees};
use super::reduced::Reduced;
use super::sweep::{Decisions, Expanded, Sweep, Unfolding};
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
    reduced: Arc<Reduced>,
    limits: Limits,
    expanded: Vec<Expanded>,
    /// With features only if there are no costs, or `kept` for policies.
    frontier: Arc<Level>,
    kept: bool,
    /// The time of the frontier.
    time: usize,
    /// Occupancy states of one pass.
    pub(super) states: u64,
    /// Final costs for each piece of the frontier.
    costs: Option<Vec<Vec<f64>>>,
    /// Whether all of them are finite.
    finite: bool,
    /// If they are and memory allows it.
    outlooks: Option<Outlooks>,
    start: Start,
}

/// What can follow.
struct Outlooks {
    /// The states of trees, for each piece of the frontier, in the order of a walk.
    trees: Vec<Vec<Outlook>>,
    /// The states of each expanded level.
    levels: Vec<Vec<Outlook>>,
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

    /// A situation.
    pub(super) fn at(at: &OccupancyState) -> Self {
        Self { time: at.time, features: at.features.clone(), outcomes: vec![(at.state, 1.0)] }
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
    /// Policies are quick to find only if the limits have room for them.
    pub(super) fn new(problem: &'a Problem, limits: &Limits, start: &Start) -> Result<Self, OracleError> {
        let (reduced, limits) = (Arc::new(Reduced::new(problem, start)), limits.clone());
        let sweep = Sweep { problem, reduced: &reduced, limits: &limits };
        let Unfolding { levels, mut frontier, time } = sweep.unfold(start)?;
        let states = levels.states + sweep.states_below(&frontier, time);
        let leaves = reduced.leaves(problem.horizon() - time);
        let below = frontier.states().iter().map(|&state| leaves[state as usize]);
        let (all, inner) = below.fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        let room = limits.max_bytes.saturating_sub(levels.bytes + frontier.bytes()) as f64;
        let costs = (8.0 * all <= room).then(|| gather(&sweep, &frontier, time)).transpose()?;
        let kept = sweep.keeps(&levels, &frontier, time);
        if costs.is_some() && !kept {
            frontier.forget();
        }
        let finite = costs.iter().flatten().flatten().all(|cost| cost.is_finite());
        let bytes = size_of::<Outlook>() as f64 * (inner + levels.states as f64);
        let outlooks_fit = finite && 8.0 * all + bytes <= room && all < f64::from(u32::MAX);
        let costs_if_fit = costs.as_ref().filter(|_| outlooks_fit);
        let outlooks =
            costs_if_fit.map(|costs| look(&sweep, &levels.expanded, (&frontier, time), costs)).transpose()?;
        let (expanded, frontier, start) = (levels.expanded, Arc::new(frontier), start.clone());
        Ok(Self { problem, reduced, limits, expanded, frontier, kept, time, states, costs, finite, outlooks, start })
    }

    /// The optimum for an aim, as the start of an episode has it, with its policy.
    pub(super) fn inner(&self, aim: Aim) -> Result<Inner, OracleError> {
        let mut decisions = Vec::new();
        let keep = |level: &Arc<Level>, solved: &[_], kept| decisions.push(Decisions::of(level, solved, kept));
        let roots = self.roots(&[aim], keep)?;
        decisions.reverse();
        let [Optimum { value, mean }] = Optimum::of(&self.start.outcomes, &roots, &[aim])?;
        let Self { problem, reduced, limits, states, .. } = self;
        let method = self.sweep().method(&self.start, self.time);
        let decided = Decided::ByOccupancy { reduced: reduced.clone(), aim, strategy: limits.strategy, decisions };
        Ok(Inner { value, mean, states: *states, method, policy: OptimalPolicy::new(problem, decided) })
    }

    fn sweep(&self) -> Sweep<'_> {
        Sweep { problem: self.problem, reduced: &self.reduced, limits: &self.limits }
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
        Optimum::of(&self.start.outcomes, &self.roots(&aims, |_, _, _| ())?, &aims)
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
        let roots = self.roots(&Neutral(terminals), |_, _, _| ())?;
        let outcomes = roots.iter().zip(self.start.outcomes.iter().map(|&(_, probability)| probability));
        Ok(expected(outcomes).map(|value| Optimum { value, mean: f64::NAN }))
    }

    /// Solves the states at the start; `known` is told of the values of each level, later ones first, and whether it is kept.
    fn roots<V: Valuation>(
        &self,
        valuation: &V,
        mut known: impl FnMut(&Arc<Level>, &[V::Value], bool),
    ) -> Result<Vec<V::Value>, OracleError> {
        let Self { problem, reduced, limits, frontier, time, outlooks, .. } = self;
        let sweep = self.sweep();
        let remaining = problem.horizon() - time;
        let replay = |(number, (states, costs)): (usize, (&[u32], &Vec<f64>))| {
            let outlooks = outlooks.as_ref().map_or(&[][..], |outlooks| &outlooks.trees[number]).iter();
            let mut walk = Walk::new(reduced, Kept { costs: costs.iter(), outlooks }, valuation, &limits.stop);
            states.iter().map(|&state| walk.solve(remaining, state)).collect::<Vec<_>>()
        };
        let mut solved = match &self.costs {
            Some(costs) => {
                let pieces = frontier.states().par_chunks(piece(remaining)).zip(costs).enumerate();
                pieces.map(replay).collect::<Vec<_>>().concat()
            }
            None => sweep.descend(frontier, *time, valuation)?,
        };
        check_stop(&limits.stop)?;
        known(frontier, &solved, self.kept);
        for (number, Expanded { level, links, kept }) in self.expanded.iter().enumerate().rev() {
            let outlooks = outlooks.as_ref().map(|outlooks| &outlooks.levels[number][..]);
            solved = sweep.back_up((level, links, outlooks), &solved, valuation)?;
            known(level, &solved, *kept);
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

/// What can follow all states above and in these trees.
fn look(
    sweep: &Sweep<'_>,
    expanded: &[Expanded],
    (frontier, time): (&Level, usize),
    costs: &[Vec<f64>],
) -> Result<Outlooks, OracleError> {
    let Sweep { problem, reduced, limits } = sweep;
    let remaining = problem.horizon() - time;
    let of_piece = |(states, costs): (&[u32], &Vec<f64>)| {
        let mut trees = Trees { reduced, costs: costs.iter(), outlooks: Vec::new(), stop: &limits.stop };
        let roots = states.iter().map(|&state| trees.look(remaining, state)).collect::<Result<Vec<_>, _>>()?;
        trees.outlooks.shrink_to_fit();
        Ok((roots, trees.outlooks))
    };
    let pieces = frontier.states().par_chunks(piece(remaining)).zip(costs).map(of_piece);
    let (roots, trees): (Vec<Vec<Outlook>>, Vec<Vec<Outlook>>) =
        pieces.collect::<Result<Vec<_>, OracleError>>()?.into_iter().unzip();
    let (roots, mut levels) = (roots.concat(), Vec::new());
    for Expanded { level, links, .. } in expanded.iter().rev() {
        let next = levels.last().unwrap_or(&roots);
        levels.push(sweep.back_up((level, links, None), next, &Looking)?);
    }
    levels.reverse();
    Ok(Outlooks { trees, levels })
}
