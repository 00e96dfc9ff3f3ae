//! Depth-first evaluation of a subtree of the occupancy MDP: no memory but the path, nothing merged.

use super::known_cost;
use super::reduced::{Reduced, Successor};
use crate::problem::Problem;
use crate::risk::{Aim, Erm, Terminals};
use crate::stop::Stop;

/// What is known of an occupancy state once it is solved for one aim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solved {
    /// The optimal value of the aim.
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

    /// The same for several aims, each by itself.
    #[inline]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an iterator is cheap to clone, and a reference to it is not one"
    )]
    pub(super) fn of_choices<'a, const AIMS: usize>(
        pair: u32,
        successors: &[Successor],
        solved: impl Iterator<Item = &'a [Self; AIMS]> + Clone,
        aims: &[Aim; AIMS],
    ) -> [Self; AIMS] {
        std::array::from_fn(|k| Self::of_choice(pair, successors, solved.clone().map(|solved| &solved[k]), aims[k].erm))
    }

    /// The better of two for each aim.
    #[inline]
    pub(super) fn better<const AIMS: usize>(best: &mut [Self; AIMS], other: [Self; AIMS], aims: &[Aim; AIMS]) {
        for ((best, other), aim) in best.iter_mut().zip(other).zip(aims) {
            *best = best.or_better(other, aim);
        }
    }

    /// Worse than anything that can be solved.
    pub(super) const UNSOLVED: Self = Self { value: f64::INFINITY, mean: f64::INFINITY, pair: 0 };

    /// The better of two; of equal ones the one with the lower mean if probabilities are minimised, which are often equal, else the
    /// first. One that is not a number is never passed over: it shows at the root.
    #[inline]
    fn or_better(self, other: Self, aim: &Aim) -> Self {
        let by_mean = || other.value == self.value && other.mean < self.mean && aim.is_probability();
        if other.value < self.value || other.value.is_nan() || by_mean() { other } else { self }
    }
}

/// Walks through subtrees, for several aims at once, reusing its memory.
pub(super) struct Walker<'a, const AIMS: usize> {
    problem: &'a Problem,
    reduced: &'a Reduced,
    aims: [Aim; AIMS],
    stop: &'a Stop,
    width: usize,
    /// Features along the path, `width` for each depth: going down copies and adds, coming up needs no undoing.
    path: Vec<f64>,
    /// Solved successors of the choices under way, as a stack.
    solved: Vec<[Solved; AIMS]>,
}

impl<'a, const AIMS: usize> Walker<'a, AIMS> {
    pub(super) fn new(
        problem: &'a Problem,
        reduced: &'a Reduced,
        aims: [Aim; AIMS],
        start: usize,
        stop: &'a Stop,
    ) -> Self {
        let width = problem.objective().feature_count();
        let path = vec![0.0; width * (problem.horizon() - start + 1)];
        Self { problem, reduced, aims, stop, width, path, solved: Vec::new() }
    }

    /// Solves the occupancy state (time, state, features), unless it is asked to stop.
    pub(super) fn solve(&mut self, time: usize, state: u32, features: &[f64]) -> [Solved; AIMS] {
        self.path[..self.width].copy_from_slice(features);
        self.visit(time, state, 0)
    }

    /// Solves (time, state) with the features at `at` of the path.
    fn visit(&mut self, time: usize, state: u32, at: usize) -> [Solved; AIMS] {
        let reduced = self.reduced;
        let mut best = [Solved::UNSOLVED; AIMS];
        if time + 1 == self.problem.horizon() {
            for &pair in reduced.last_pairs(state) {
                let below = self.descend(time, pair, at);
                let features = &self.path[below..below + self.width];
                let cost = known_cost(self.problem.objective().value_of_features(features));
                Solved::better(
                    &mut best,
                    self.aims.map(|aim| Solved { value: aim.terminal.of(cost), mean: cost, pair }),
                    &self.aims,
                );
            }
        } else if !self.stop.is_requested() {
            for &choice in reduced.choices(state) {
                let below = self.descend(time, choice.pair, at);
                let successors = reduced.successors(choice);
                let solved = if let [only] = successors {
                    self.visit(time + 1, only.state, below).map(|solved| Solved { pair: choice.pair, ..solved })
                } else {
                    let first = self.solved.len();
                    for successor in successors {
                        let solved = self.visit(time + 1, successor.state, below);
                        self.solved.push(solved);
                    }
                    let solved = Solved::of_choices(choice.pair, successors, self.solved[first..].iter(), &self.aims);
                    self.solved.truncate(first);
                    solved
                };
                Solved::better(&mut best, solved, &self.aims);
            }
        }
        best
    }

    /// Adds the final costs below (time, state, features) in the order in which [`Replay`] asks for them.
    pub(super) fn gather(&mut self, time: usize, state: u32, features: &[f64], costs: &mut Vec<f64>) {
        self.path[..self.width].copy_from_slice(features);
        self.gather_below(time, state, 0, costs);
    }

    fn gather_below(&mut self, time: usize, state: u32, at: usize, costs: &mut Vec<f64>) {
        let reduced = self.reduced;
        if time + 1 == self.problem.horizon() {
            for &pair in reduced.last_pairs(state) {
                let below = self.descend(time, pair, at);
                let features = &self.path[below..below + self.width];
                costs.push(known_cost(self.problem.objective().value_of_features(features)));
            }
        } else if !self.stop.is_requested() {
            for &choice in reduced.choices(state) {
                let below = self.descend(time, choice.pair, at);
                for successor in reduced.successors(choice) {
                    self.gather_below(time + 1, successor.state, below, costs);
                }
            }
        }
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

/// Walks through subtrees whose final costs are known. The bits are those of [`Walker`].
pub(super) struct Replay<'a, const AIMS: usize> {
    reduced: &'a Reduced,
    aims: [Aim; AIMS],
    /// What is left of the costs.
    costs: std::slice::Iter<'a, f64>,
    solved: Vec<[Solved; AIMS]>,
}

impl<'a, const AIMS: usize> Replay<'a, AIMS> {
    pub(super) fn new(reduced: &'a Reduced, aims: [Aim; AIMS], costs: &'a [f64]) -> Self {
        Self { reduced, aims, costs: costs.iter(), solved: Vec::new() }
    }

    /// Solves the next tree: that of a state when so many steps remain.
    pub(super) fn solve(&mut self, remaining: usize, state: u32) -> [Solved; AIMS] {
        let reduced = self.reduced;
        let mut best = [Solved::UNSOLVED; AIMS];
        if remaining == 1 {
            for (&pair, &cost) in reduced.last_pairs(state).iter().zip(self.costs.by_ref()) {
                let solved = self.aims.map(|aim| Solved { value: aim.terminal.of(cost), mean: cost, pair });
                Solved::better(&mut best, solved, &self.aims);
            }
            return best;
        }
        for &choice in reduced.choices(state) {
            let successors = reduced.successors(choice);
            let solved = if let [only] = successors {
                self.solve(remaining - 1, only.state).map(|solved| Solved { pair: choice.pair, ..solved })
            } else {
                let first = self.solved.len();
                for successor in successors {
                    let solved = self.solve(remaining - 1, successor.state);
                    self.solved.push(solved);
                }
                let solved = Solved::of_choices(choice.pair, successors, self.solved[first..].iter(), &self.aims);
                self.solved.truncate(first);
                solved
            };
            Solved::better(&mut best, solved, &self.aims);
        }
        best
    }
}

/// Walks through subtrees whose final costs are known and finite, for risk-neutral aims. Nothing but values comes out, with a
/// rounding of their own.
pub(super) struct NeutralReplay<'a, T, const AIMS: usize> {
    reduced: &'a Reduced,
    terminals: &'a T,
    /// What is left of the costs.
    costs: std::slice::Iter<'a, f64>,
}

impl<'a, T: Terminals<AIMS>, const AIMS: usize> NeutralReplay<'a, T, AIMS> {
    pub(super) fn new(reduced: &'a Reduced, terminals: &'a T, costs: &'a [f64]) -> Self {
        Self { reduced, terminals, costs: costs.iter() }
    }

    /// Solves the next tree: that of a state when so many steps remain.
    pub(super) fn solve(&mut self, remaining: usize, state: u32) -> [f64; AIMS] {
        let reduced = self.reduced;
        let mut best = [f64::INFINITY; AIMS];
        if remaining == 1 {
            for (_, &cost) in reduced.last_pairs(state).iter().zip(self.costs.by_ref()) {
                lower(&mut best, &self.terminals.of(cost));
            }
            return best;
        }
        for &choice in reduced.choices(state) {
            let mut expected = [0.0; AIMS];
            for successor in reduced.successors(choice) {
                add(&mut expected, successor.probability, &self.solve(remaining - 1, successor.state));
            }
            lower(&mut best, &expected);
        }
        best
    }
}

/// The lower of two for each aim.
#[inline]
pub(super) fn lower<const AIMS: usize>(best: &mut [f64; AIMS], other: &[f64; AIMS]) {
    for (best, other) in best.iter_mut().zip(other) {
        *best = if *other < *best { *other } else { *best };
    }
}

/// Adds a share of each.
#[inline]
pub(super) fn add<const AIMS: usize>(sum: &mut [f64; AIMS], share: f64, other: &[f64; AIMS]) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum += share * other;
    }
}
