//! Depth-first evaluation of a subtree of the occupancy MDP: no memory but the path, nothing merged.

use super::known_cost;
use super::reduced::{Reduced, Successor};
use crate::problem::Problem;
use crate::risk::Erm;

/// What is known of an occupancy state once it is solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solved {
    /// The optimal ERM of the final cost.
    pub(super) value: f64,
    /// The expected final cost of the choices that attain it.
    pub(super) mean: f64,
    /// The lowest best pair.
    pub(super) pair: u32,
}

impl Solved {
    /// Value and mean of a choice from those of its successors. The one place where risk is taken, so that every way to
    /// walk through the tree gives the same bits.
    #[inline]
    pub(super) fn of_choice<'a>(
        pair: u32,
        successors: &[Successor],
        solved: impl Iterator<Item = &'a Solved> + Clone,
        erm: Erm,
    ) -> Self {
        let outcomes = solved.zip(successors);
        let mean = outcomes.clone().map(|(next, successor)| successor.probability * next.mean).sum();
        let value = erm.of_outcomes(outcomes.map(|(next, successor)| (next.value, successor.probability)));
        Self { value, mean, pair }
    }

    /// Worse than anything that can be solved.
    pub(super) const UNSOLVED: Self = Self { value: f64::INFINITY, mean: f64::INFINITY, pair: 0 };

    /// The better of two; the first if they are equal. One that is not a number is never passed over: it shows at the root.
    #[inline]
    pub(super) fn or_better(self, other: Self) -> Self {
        if other.value < self.value || other.value.is_nan() { other } else { self }
    }
}

/// Walks through subtrees, reusing its memory.
pub(super) struct Walker<'a> {
    problem: &'a Problem,
    reduced: &'a Reduced,
    erm: Erm,
    width: usize,
    /// Features along the path, `width` for each depth: going down copies and adds, coming up needs no undoing.
    path: Vec<f64>,
    /// Solved successors of the choices under way, as a stack.
    solved: Vec<Solved>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(problem: &'a Problem, reduced: &'a Reduced, erm: Erm, start: usize) -> Self {
        let width = problem.objective().feature_count();
        let path = vec![0.0; width * (problem.horizon() - start + 1)];
        Self { problem, reduced, erm, width, path, solved: Vec::new() }
    }

    /// Solves the occupancy state (time, state, features).
    pub(super) fn solve(&mut self, time: usize, state: u32, features: &[f64]) -> Solved {
        self.path[..self.width].copy_from_slice(features);
        self.visit(time, state, 0)
    }

    /// Solves (time, state) with the features at `at` of the path.
    fn visit(&mut self, time: usize, state: u32, at: usize) -> Solved {
        let reduced = self.reduced;
        let mut best = Solved::UNSOLVED;
        if time + 1 == self.problem.horizon() {
            for &pair in reduced.last_pairs(state) {
                let below = self.descend(time, pair, at);
                let features = &self.path[below..below + self.width];
                let value = known_cost(self.problem.objective().value_of_features(features));
                best = best.or_better(Solved { value, mean: value, pair });
            }
        } else {
            for &choice in reduced.choices(state) {
                let below = self.descend(time, choice.pair, at);
                let successors = reduced.successors(choice);
                let solved = if let [only] = successors {
                    Solved { pair: choice.pair, ..self.visit(time + 1, only.state, below) }
                } else {
                    let first = self.solved.len();
                    for successor in successors {
                        let solved = self.visit(time + 1, successor.state, below);
                        self.solved.push(solved);
                    }
                    let solved = Solved::of_choice(choice.pair, successors, self.solved[first..].iter(), self.erm);
                    self.solved.truncate(first);
                    solved
                };
                best = best.or_better(solved);
            }
        }
        best
    }

    /// Writes the features after `pair` below `at` in the path, and returns where.
    #[inline]
    fn descend(&mut self, time: usize, pair: u32, at: usize) -> usize {
        let below = at + self.width;
        let (above, rest) = self.path.split_at_mut(below);
        let features = &mut rest[..self.width];
        features.copy_from_slice(&above[at..]);
        self.problem.objective().add(features, pair as usize, self.problem.masses()[time]);
        below
    }
}
