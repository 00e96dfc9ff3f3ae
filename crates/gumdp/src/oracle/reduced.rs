//! The model as the solver walks through it: actions that make no difference are dropped, and sizes are known beforehand.

use super::unfolded::Start;
use crate::model::{Mdp, Pair, State};
use crate::problem::reach::steps_left;
use crate::problem::{Effects, Problem};

/// The longest tail that is searched depth first: bounds the recursion.
const DEEPEST: usize = 512;
/// Entries of the table of subtree sizes: bounds its memory to 64 MiB.
const SIZE_ENTRIES: usize = 1 << 23;

/// Choices that differ. Two pairs of a state are one choice if they change the features alike and have the same successors;
/// the lowest of them stands for all. At the last step successors do not matter. States that no episode gets to have no choices: of
/// a large model they are most.
#[derive(Clone, Debug)]
pub(super) struct Reduced {
    /// The most steps that can remain in each state, 0 if it is out of reach.
    remaining: Vec<u32>,
    /// Choices of state s before the last step are `first_choice[s]..first_choice[s + 1]`.
    first_choice: Vec<u32>,
    choices: Vec<Choice>,
    successors: Vec<Successor>,
    /// Pairs of state s at the last step are `first_last[s]..first_last[s + 1]` of `last_pairs`.
    first_last: Vec<u32>,
    last_pairs: Vec<u32>,
    /// `sizes[(r − 1)·states + s]`: occupancy states in the unmerged tree below (and with) state s when r steps remain.
    sizes: Vec<f64>,
    /// The largest r of `sizes`.
    deepest: usize,
}

/// A pair that is worth trying.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) pair: u32,
    first: u32,
    end: u32,
}

/// A possible next state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Successor {
    pub(super) probability: f64,
    pub(super) state: u32,
}

impl Reduced {
    /// What matters from this start on.
    pub(super) fn new(problem: &Problem, start: &Start) -> Self {
        let mdp = problem.mdp();
        let mut reduced = Self {
            remaining: steps_left(mdp, start.outcomes.iter().map(|next| next.0), problem.horizon() - start.time),
            first_choice: vec![0],
            choices: Vec::new(),
            successors: Vec::new(),
            first_last: vec![0],
            last_pairs: Vec::new(),
            sizes: Vec::new(),
            deepest: 0,
        };
        let mut effects = Effects::new(problem);
        for state in mdp.states() {
            if reduced.remaining[state.index()] > 0 {
                reduced.add_state(mdp, state, &mut effects);
            }
            reduced.first_choice.push(reduced.choices.len() as u32);
            reduced.first_last.push(reduced.last_pairs.len() as u32);
        }
        let states = mdp.state_count();
        reduced.deepest = problem.horizon().min(DEEPEST).min((SIZE_ENTRIES / states).max(1));
        reduced.sizes = vec![1.0; states];
        for remaining in 2..=reduced.deepest {
            for state in 0..states as u32 {
                let size: f64 = reduced
                    .choices(state)
                    .iter()
                    .flat_map(|&choice| reduced.successors(choice))
                    .map(|successor| reduced.size(remaining - 1, successor.state))
                    .sum();
                reduced.sizes.push(1.0 + size);
            }
        }
        reduced
    }

    /// Adds the pairs of a state that differ.
    fn add_state(&mut self, mdp: &Mdp, state: State, effects: &mut Effects<'_>) {
        let differs = |(pair, first): &(u32, &Pair)| *pair == first.0;
        let last = mdp.pairs(state).zip(effects.firsts(state, true)).filter(differs);
        self.last_pairs.extend(last.map(|(pair, _)| pair));
        for (pair, _) in mdp.pairs(state).zip(effects.firsts(state, false)).filter(differs) {
            let first = self.successors.len() as u32;
            self.successors
                .extend(mdp.successors(Pair(pair)).map(|(s, probability)| Successor { probability, state: s.0 }));
            self.choices.push(Choice { pair, first, end: self.successors.len() as u32 });
        }
    }

    /// Whether all that can follow is here, where so many steps remain in a state.
    pub(super) fn knows(&self, state: u32, remaining: usize) -> bool {
        remaining <= self.remaining[state as usize] as usize
    }

    /// The choices of a state before the last step.
    #[inline]
    pub(super) fn choices(&self, state: u32) -> &[Choice] {
        let s = state as usize;
        &self.choices[self.first_choice[s] as usize..self.first_choice[s + 1] as usize]
    }

    /// The pairs to try in a state at the last step.
    #[inline]
    pub(super) fn last_pairs(&self, state: u32) -> &[u32] {
        let s = state as usize;
        &self.last_pairs[self.first_last[s] as usize..self.first_last[s + 1] as usize]
    }

    #[inline]
    pub(super) fn successors(&self, choice: Choice) -> &[Successor] {
        &self.successors[choice.first as usize..choice.end as usize]
    }

    /// Transitions out of a state, over all its choices.
    pub(super) fn out_degree(&self, state: u32) -> usize {
        let choices = self.choices(state);
        choices.last().map_or(0, |last| (last.end - choices[0].first) as usize)
    }

    /// Occupancy states in the tree below (and with) `state` when `remaining` steps remain, nothing merged. Infinite if the
    /// tree is too deep to be searched depth first.
    pub(super) fn size(&self, remaining: usize, state: u32) -> f64 {
        let states = self.first_choice.len() - 1;
        if remaining <= self.deepest { self.sizes[(remaining - 1) * states + state as usize] } else { f64::INFINITY }
    }

    /// Final costs in the unmerged tree below each state when `remaining` steps remain, and states of it before the last step.
    pub(super) fn leaves(&self, remaining: usize) -> Vec<(f64, f64)> {
        let states = 0..self.first_choice.len() as u32 - 1;
        let mut counts: Vec<(f64, f64)> =
            states.clone().map(|state| (self.last_pairs(state).len() as f64, 0.0)).collect();
        for _ in 1..remaining {
            let below = |&choice: &Choice| self.successors(choice).iter().map(|next| counts[next.state as usize]);
            let all = |state: u32| self.choices(state).iter().flat_map(below);
            let sum = |state: u32| all(state).fold((0.0, 1.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            counts = states.clone().map(sum).collect();
        }
        counts
    }
}
