//! Depth-first evaluation of a subtree of the occupancy MDP: no memory but the path, nothing merged.

use super::known_cost;
use super::outlook::Outlook;
use super::reduced::Reduced;
use super::valuation::Valuation;
use crate::model::Pair;
use crate::problem::Problem;
use crate::stop::Stop;

/// Where the final costs of a walk come from.
pub(super) trait Costs {
    /// Takes a pair, with so many steps remaining, after what was gathered at `at` of the path; returns where what is gathered then is.
    fn take(&mut self, remaining: usize, pair: u32, at: usize) -> usize;

    /// The final cost of what was gathered there.
    fn cost(&mut self, at: usize) -> f64;

    /// What can follow the state that is visited next, before the last step, if it is known.
    #[inline]
    fn outlook(&mut self) -> Option<Outlook> {
        None
    }

    /// Passes over all that follows it.
    fn skip(&mut self, _: &Outlook) {}
}

/// They are computed from what is gathered on the way.
pub(super) struct Path<'a> {
    problem: &'a Problem,
    width: usize,
    /// Features along the path, `width` for each depth: going down copies and adds, coming up needs no undoing.
    features: Vec<f64>,
    /// All costs so far, if wanted.
    pub(super) kept: Option<Vec<f64>>,
}

impl<'a> Path<'a> {
    pub(super) fn new(problem: &'a Problem, remaining: usize) -> Self {
        let width = problem.objective().feature_count();
        Self { problem, width, features: vec![0.0; width * (remaining + 1)], kept: None }
    }

    /// The features of what was gathered before the walk.
    pub(super) fn start(&mut self, features: &[f64]) {
        self.features[..self.width].copy_from_slice(features);
    }
}

impl Costs for Path<'_> {
    #[inline]
    fn take(&mut self, remaining: usize, pair: u32, at: usize) -> usize {
        let below = at + self.width;
        let (above, rest) = self.features.split_at_mut(below);
        let features = &mut rest[..self.width];
        features.copy_from_slice(&above[at..]);
        self.problem.gather(features, self.problem.horizon() - remaining, Pair(pair));
        below
    }

    #[inline]
    fn cost(&mut self, at: usize) -> f64 {
        let cost = known_cost(self.problem.objective().value_of_features(&self.features[at..at + self.width]));
        if let Some(kept) = &mut self.kept {
            kept.push(cost);
        }
        cost
    }
}

/// They were kept, in the order in which a walk asks for them.
pub(super) struct Kept<'a> {
    pub(super) costs: std::slice::Iter<'a, f64>,
    /// Empty if they are not known.
    pub(super) outlooks: std::slice::Iter<'a, Outlook>,
}

impl Costs for Kept<'_> {
    #[inline]
    fn take(&mut self, _: usize, _: u32, at: usize) -> usize {
        at
    }

    #[inline]
    fn cost(&mut self, _: usize) -> f64 {
        self.costs.next().copied().unwrap_or(f64::NAN)
    }

    #[inline]
    fn outlook(&mut self) -> Option<Outlook> {
        self.outlooks.next().copied()
    }

    #[inline]
    fn skip(&mut self, outlook: &Outlook) {
        self.costs = self.costs.as_slice()[outlook.costs as usize..].iter();
        self.outlooks = self.outlooks.as_slice()[outlook.outlooks as usize..].iter();
    }
}

/// Walks through subtrees, reusing its memory.
pub(super) struct Walk<'a, C, V: Valuation> {
    pub(super) costs: C,
    reduced: &'a Reduced,
    valuation: &'a V,
    stop: &'a Stop,
    /// Solved successors of the choices under way, as a stack.
    solved: Vec<V::Value>,
}

impl<'a, C: Costs, V: Valuation> Walk<'a, C, V> {
    pub(super) fn new(reduced: &'a Reduced, costs: C, valuation: &'a V, stop: &'a Stop) -> Self {
        Self { costs, reduced, valuation, stop, solved: Vec::new() }
    }

    /// Solves a state when so many steps remain, unless it is asked to stop.
    pub(super) fn solve(&mut self, remaining: usize, state: u32) -> V::Value {
        self.visit(remaining, state, 0)
    }

    /// What was gathered is at `at` of the path.
    fn visit(&mut self, remaining: usize, state: u32, at: usize) -> V::Value {
        let Self { reduced, valuation, .. } = *self;
        let mut best = V::UNSOLVED;
        if remaining == 1 {
            for &pair in reduced.last_pairs(state) {
                let below = self.costs.take(remaining, pair, at);
                valuation.better(&mut best, &valuation.of_cost(pair, self.costs.cost(below)));
            }
        } else if !self.stop.is_requested() {
            if let Some(outlook) = self.costs.outlook()
                && let Some(value) = valuation.of_outlook(&outlook)
            {
                self.costs.skip(&outlook);
                return value;
            }
            for &choice in reduced.choices(state) {
                let below = self.costs.take(remaining, choice.pair, at);
                let successors = reduced.successors(choice);
                let first = self.solved.len();
                for successor in successors {
                    let solved = self.visit(remaining - 1, successor.state, below);
                    self.solved.push(solved);
                }
                let solved = valuation.of_choice(choice.pair, successors, self.solved[first..].iter());
                self.solved.truncate(first);
                valuation.better(&mut best, &solved);
            }
        }
        best
    }
}
