//! The engine of the occupancy solver: forward over merged levels, depth first below the last of them, then backward.

use std::sync::Arc;

use rayon::prelude::*;

use super::depth_first::{Path, Walk};
use super::level::{self, Level};
use super::occupancy_dp::{Limits, Strategy};
use super::outlook::Outlook;
use super::reduced::Reduced;
use super::unfolded::Start;
use super::valuation::{Solved, Valuation};
use super::{Method, OracleError, check_stop};
use crate::model::Pair;
use crate::problem::Problem;
use crate::risk::Aim;

/// Merging pays while fewer than this share of the generated states are new.
const NEW_SHARE: f64 = 0.9;
/// Levels over which that share is measured.
const RECENT: usize = 4;
/// A frontier this wide is shared well among cores.
const WIDE: usize = 1 << 10;
/// A frontier this wide need not be wider, however large the trees below it.
const WIDE_ENOUGH: usize = 1 << 16;
/// Trees of this size are solved again in no time when a policy needs their decisions.
const SMALL_TREE: f64 = 4096.0;
/// Decisions with trees up to this size are never stored.
const TINY_TREE: f64 = 256.0;
/// From this part of the limit on, the final size is projected at each level.
const PROJECT_FROM: u64 = 16;
/// A projection is rough: only beyond this multiple of the limit is it believed.
const PROJECTION_SLACK: f64 = 4.0;
/// Nodes of one piece of parallel work.
const PIECE: usize = 256;

/// The engine with all it looks at.
pub(super) struct Sweep<'a> {
    pub(super) problem: &'a Problem,
    pub(super) reduced: &'a Reduced,
    pub(super) limits: &'a Limits,
}

/// What came out for the states at the start.
pub(super) struct Outcome {
    /// One for each of them.
    pub(super) roots: Vec<[Solved; 1]>,
    /// Occupancy states expanded.
    pub(super) states: u64,
    pub(super) method: Method,
    /// For each time from the start, the decisions that fitted in memory.
    pub(super) decisions: Vec<Option<Decisions>>,
}

/// The best pair of every occupancy state of one time.
#[derive(Clone, Debug)]
pub(super) struct Decisions {
    level: Arc<Level>,
    pairs: Vec<u32>,
}

impl Decisions {
    /// The best pair, if the occupancy state is known.
    pub(super) fn find(&self, state: u32, features: &[f64]) -> Option<u32> {
        self.level.find(state, features).map(|number| self.pairs[number])
    }
}

/// A level that has been expanded.
pub(super) struct Expanded {
    /// With features only if `kept`.
    pub(super) level: Arc<Level>,
    /// Numbers in the next level of all successors of all choices of all states, in that order.
    pub(super) links: Vec<u32>,
    pub(super) kept: bool,
}

/// The way down to the last merged level.
pub(super) struct Unfolding {
    pub(super) levels: Levels,
    pub(super) frontier: Level,
    /// The time of the frontier.
    pub(super) time: usize,
}

/// The levels so far, and what they cost.
#[derive(Default)]
pub(super) struct Levels {
    pub(super) expanded: Vec<Expanded>,
    /// States of each level, the frontier included.
    sizes: Vec<usize>,
    pub(super) states: u64,
    /// Memory of the expanded levels.
    pub(super) bytes: u64,
    /// Memory of what is kept for the policy.
    kept_bytes: u64,
}

impl Sweep<'_> {
    /// Solves the occupancy states at the start for an aim.
    pub(super) fn run(&self, start: &Start, aim: Aim) -> Result<Outcome, OracleError> {
        let Unfolding { mut levels, frontier, time } = self.unfold(start)?;
        let method = self.method(start, time);
        let states = levels.states + self.states_below(&frontier, time);
        let mut solved = self.descend(&frontier, time, &[aim])?;
        let kept = self.keeps(&levels, &frontier, time);
        let mut decisions = vec![Decisions::of(&Arc::new(frontier), &solved, kept)];
        while let Some(Expanded { level, links, kept }) = levels.expanded.pop() {
            solved = self.back_up((&level, &links, None), &solved, &[aim])?;
            decisions.push(Decisions::of(&level, &solved, kept));
        }
        decisions.reverse();
        Ok(Outcome { roots: solved, states, method, decisions })
    }

    /// How it is solved if the frontier is at this time.
    pub(super) fn method(&self, start: &Start, time: usize) -> Method {
        match (time == start.time, time + 1 == self.problem.horizon()) {
            (_, true) => Method::Merged,
            (true, false) => Method::DepthFirst,
            (false, false) => Method::Mixed { depth_first_from: time },
        }
    }

    /// Forward over merged levels, up to the last step or to where the rest is searched depth first.
    pub(super) fn unfold(&self, start: &Start) -> Result<Unfolding, OracleError> {
        let horizon = self.problem.horizon();
        let mut frontier = Level::new(start.features.len());
        for &(root, _) in &start.outcomes {
            frontier.insert(root.0, &start.features, level::hash(&start.features));
        }
        let mut levels = Levels::default();
        let mut time = start.time;
        loop {
            frontier.seal();
            levels.sizes.push(frontier.len());
            levels.states += frontier.len() as u64;
            if time + 1 == horizon || self.goes_deep(&levels, &frontier, time) {
                return Ok(Unfolding { levels, frontier, time });
            }
            self.check_projection(&levels, &frontier, horizon - start.time)?;
            let (expanded, next) = self.expand(&mut levels, frontier, time)?;
            levels.expanded.push(expanded);
            frontier = next;
            time += 1;
        }
    }

    /// Occupancy states in the trees below the frontier.
    pub(super) fn states_below(&self, frontier: &Level, time: usize) -> u64 {
        (self.tree_size(frontier, time) - frontier.len() as f64) as u64
    }

    /// Whether the trees below the frontier should be searched depth first instead of being merged further.
    fn goes_deep(&self, levels: &Levels, frontier: &Level, time: usize) -> bool {
        let size = self.tree_size(frontier, time);
        if !size.is_finite() || size > self.limits.max_states.saturating_sub(levels.states) as f64 {
            return false;
        }
        match self.limits.strategy {
            Strategy::Merge => false,
            Strategy::DepthFirst => true,
            Strategy::Auto | Strategy::ByState | Strategy::Mixed => {
                let recent = levels.expanded.len().saturating_sub(RECENT);
                let generated: usize = levels.expanded[recent..].iter().map(|expanded| expanded.links.len()).sum();
                let new: usize = levels.sizes[recent + 1..].iter().sum();
                let width = frontier.len();
                new as f64 >= NEW_SHARE * generated as f64
                    && width >= WIDE
                    && (width >= WIDE_ENOUGH || size <= SMALL_TREE * width as f64)
            }
        }
    }

    /// Occupancy states in the unmerged trees below (and with) the frontier.
    fn tree_size(&self, frontier: &Level, time: usize) -> f64 {
        let remaining = self.problem.horizon() - time;
        frontier.states().iter().map(|&state| self.reduced.size(remaining, state)).sum()
    }

    /// Generates the next level.
    fn expand(&self, levels: &mut Levels, mut level: Level, time: usize) -> Result<(Expanded, Level), OracleError> {
        let Self { problem, reduced, .. } = self;
        let stop = &self.limits.stop;
        let mut next = Level::new(problem.objective().feature_count());
        let mut features = vec![0.0; problem.objective().feature_count()];
        let generated: usize = level.states().iter().map(|&state| reduced.out_degree(state)).sum();
        let before = levels.bytes + level.bytes() + 4 * generated as u64;
        self.limits.check(levels.states, before)?;
        let mut links = Vec::with_capacity(generated);
        for (number, &state) in level.states().iter().enumerate() {
            check_stop(stop)?;
            for &choice in reduced.choices(state) {
                features.copy_from_slice(level.features(number));
                problem.gather(&mut features, time, Pair(choice.pair));
                let hash = level::hash(&features);
                for successor in reduced.successors(choice) {
                    let new = (successor.state, &*features, hash);
                    links.push(next.insert_within(new, self.limits, (levels.states, before))?);
                }
                self.limits.check(levels.states + next.len() as u64, before)?;
            }
        }
        let kept = self.keeps(levels, &level, time);
        if kept {
            levels.kept_bytes += decision_bytes(&level);
        } else {
            level.forget();
        }
        levels.bytes += level.bytes() + 4 * links.len() as u64 + size_of::<Expanded>() as u64;
        level.seal();
        Ok((Expanded { level: Arc::new(level), links, kept }, next))
    }

    /// Whether the decisions of this level are stored for the policy: if there is something to decide, it would take long to
    /// decide again, and memory allows it.
    pub(super) fn keeps(&self, levels: &Levels, level: &Level, time: usize) -> bool {
        let remaining = self.problem.horizon() - time;
        levels.kept_bytes + decision_bytes(level) <= self.limits.policy_bytes
            && level
                .states()
                .iter()
                .any(|&state| self.reduced.choices(state).len() > 1 && self.reduced.size(remaining, state) > TINY_TREE)
    }

    /// Gives up on a hopeless problem long before a limit is hit.
    fn check_projection(&self, levels: &Levels, frontier: &Level, all_levels: usize) -> Result<(), OracleError> {
        let Limits { max_states, max_bytes, .. } = *self.limits;
        let (reached, bytes) = (levels.states, levels.bytes + frontier.bytes());
        if reached < max_states / PROJECT_FROM && bytes < max_bytes / PROJECT_FROM {
            return Ok(());
        }
        let projected = Projection::new(&levels.sizes, all_levels);
        if projected.states > PROJECTION_SLACK * max_states as f64 {
            let projected = Some(projected.states);
            return Err(OracleError::TooLarge { reached, projected, limit: max_states });
        }
        let growth = projected.states / reached as f64;
        let widening = projected.last / frontier.len() as f64;
        let projected_bytes = growth * levels.bytes as f64 + widening * frontier.bytes() as f64;
        if projected_bytes > PROJECTION_SLACK * max_bytes as f64 {
            let projected = Some(projected.states);
            return Err(OracleError::Memory { bytes, reached, projected, limit: max_bytes });
        }
        Ok(())
    }

    /// Solves every state of the frontier, each by its own walk.
    pub(super) fn descend<V: Valuation>(
        &self,
        frontier: &Level,
        time: usize,
        valuation: &V,
    ) -> Result<Vec<V::Value>, OracleError> {
        let Self { problem, reduced, limits } = *self;
        let remaining = problem.horizon() - time;
        let solved = (0..frontier.len())
            .into_par_iter()
            .with_min_len(if remaining == 1 { PIECE } else { 1 })
            .map_init(
                || Walk::new(reduced, Path::new(problem, remaining), valuation, &limits.stop),
                |walk, number| {
                    walk.costs.start(frontier.features(number));
                    walk.solve(remaining, frontier.states()[number])
                },
            )
            .collect();
        check_stop(&limits.stop)?;
        Ok(solved)
    }

    /// Solves every state of a level, with its links and what is known of its outlooks, from the next level's.
    pub(super) fn back_up<V: Valuation>(
        &self,
        (level, links, outlooks): (&Level, &[u32], Option<&[Outlook]>),
        next: &[V::Value],
        valuation: &V,
    ) -> Result<Vec<V::Value>, OracleError> {
        let stop = &self.limits.stop;
        let mut end = 0;
        let work: Vec<(u32, usize)> = level
            .states()
            .iter()
            .map(|&state| {
                let first = end;
                end += self.reduced.out_degree(state);
                (state, first)
            })
            .collect();
        let back_up = |(number, &(state, mut first)): (usize, &(u32, usize))| {
            let mut best = V::UNSOLVED;
            if stop.is_requested() {
                return best;
            }
            if let Some(value) = outlooks.and_then(|outlooks| valuation.of_outlook(&outlooks[number])) {
                return value;
            }
            for &choice in self.reduced.choices(state) {
                let successors = self.reduced.successors(choice);
                let numbers = &links[first..first + successors.len()];
                let solved = numbers.iter().map(|&number| &next[number as usize]);
                valuation.better(&mut best, &valuation.of_choice(choice.pair, successors, solved));
                first += successors.len();
            }
            best
        };
        let solved = work.par_iter().with_min_len(PIECE).enumerate().map(back_up).collect();
        check_stop(stop)?;
        Ok(solved)
    }
}

impl Decisions {
    pub(super) fn of(level: &Arc<Level>, solved: &[[Solved; 1]], kept: bool) -> Option<Self> {
        kept.then(|| Self { level: level.clone(), pairs: solved.iter().map(|[solved]| solved.pair).collect() })
    }
}

/// Memory of a level's decisions.
fn decision_bytes(level: &Level) -> u64 {
    level.bytes() + 4 * level.len() as u64
}

/// What becomes of the levels if they go on growing like a power of time, as they did lately. Growth slows down where
/// merging sets in, so this is rough; where it has not set in, it is far too low, and that is enough.
struct Projection {
    /// States of all levels together.
    states: f64,
    /// States of the last level.
    last: f64,
}

impl Projection {
    fn new(sizes: &[usize], all_levels: usize) -> Self {
        let t = sizes.len();
        let window = 3.min(t - 1);
        let (size, earlier) = (sizes[t - 1] as f64, sizes[t - 1 - window] as f64);
        let so_far: f64 = sizes.iter().map(|&size| size as f64).sum();
        // One level alone tells nothing about growth.
        let power = if window == 0 { 0.0 } else { (size / earlier).ln() / (t as f64 / (t - window) as f64).ln() };
        let (power, ratio) = (power.max(0.0), all_levels as f64 / t as f64);
        let states = so_far + size * t as f64 / (power + 1.0) * (ratio.powf(power + 1.0) - 1.0);
        Self { states, last: size * ratio.powf(power) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projection_continues_a_power() {
        let cubic: Vec<usize> = (1..=20_usize).map(|t| t.pow(3)).collect();
        let all: f64 = (1..=100_u32).map(|t| f64::from(t).powi(3)).sum();
        let projection = Projection::new(&cubic, 100);
        assert!((projection.states / all - 1.0).abs() < 0.1);
        assert!((projection.last / 1e6 - 1.0).abs() < 1e-9);
        assert_eq!(Projection::new(&[7, 7, 7, 7], 10).states, 70.0);
        assert_eq!(Projection::new(&[3], 10).states, 30.0);
    }
}
