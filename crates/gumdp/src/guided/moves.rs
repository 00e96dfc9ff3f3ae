//! What there is to choose from: the pairs of each state, but one for each effect.

use std::collections::HashMap;

use crate::model::{Mdp, Pair, State};
use crate::problem::Problem;

/// Holds are kept for each time; this many in all.
const KEPT_HOLDS: usize = 1 << 22;

/// The moves of all states.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    /// Moves of state s are `first[s]..first[s + 1]`.
    first: Vec<u32>,
    /// Whether all moves of a state are of one class.
    one_class: Vec<bool>,
    all: Vec<Move>,
    outcomes: Vec<Outcome>,
    /// One for each way a visit changes the objective.
    pub(super) classes: Vec<Class>,
    pub(super) holds: Vec<Hold>,
}

/// A pair that does not do the same as an earlier one of its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) pair: Pair,
    /// Number of its class.
    pub(super) class: u32,
    first_outcome: u32,
    outcomes: u32,
}

/// A possible next state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) state: State,
    pub(super) probability: f64,
}

/// Pairs that change the features alike, and whose states hold the agent alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// One of them.
    pub(super) pair: Pair,
    /// Number of its hold.
    pub(super) hold: u32,
}

/// How a state may hold the agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hold {
    /// Probability to stay.
    pub(super) stay: f64,
    /// Whether the state can be met again.
    pub(super) recurs: bool,
}

impl Moves {
    pub(super) fn new(problem: &Problem) -> Self {
        let (mdp, objective) = (problem.mdp(), problem.objective());
        let recurs = recurring(mdp);
        let mut known = HashMap::new();
        let most_holds = (KEPT_HOLDS / problem.horizon()).clamp(2, 256);
        let mut moves = Self { first: vec![0], ..Self::default() };
        for state in mdp.states() {
            let own = moves.all.len();
            for pair in mdp.pairs(state).map(Pair) {
                if moves.all[own..].iter().any(|other| is_alike(problem, other.pair, pair)) {
                    continue;
                }
                let stay = mdp.successors(pair).find(|next| next.0 == state).map_or(0.0, |next| next.1);
                let hold = moves.hold(Hold { stay, recurs: recurs[state.index()] }, most_holds);
                let key: Vec<u64> = objective.effect(pair.index()).chain([u64::from(hold)]).collect();
                let count = known.len() as u32;
                let class = *known.entry(key).or_insert(count);
                if class == count {
                    moves.classes.push(Class { pair, hold });
                }
                let first_outcome = moves.outcomes.len() as u32;
                moves.outcomes.extend(mdp.successors(pair).map(|(state, probability)| Outcome { state, probability }));
                let outcomes = moves.outcomes.len() as u32 - first_outcome;
                moves.all.push(Move { pair, class, first_outcome, outcomes });
            }
            moves.one_class.push(moves.all[own..].iter().all(|other| other.class == moves.all[own].class));
            moves.first.push(moves.all.len() as u32);
        }
        moves
    }

    /// The number of a hold; where there are too many, that of the most similar one.
    fn hold(&mut self, hold: Hold, most: usize) -> u32 {
        let same = |other: &Hold| *other == hold;
        let number = self.holds.iter().position(same).or_else(|| {
            let distance = |&number: &usize| (self.holds[number].stay - hold.stay).abs();
            let similar = (0..self.holds.len()).filter(|&number| self.holds[number].recurs == hold.recurs);
            let nearest = similar.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.filter(|_| self.holds.len() >= most)
        });
        number.unwrap_or_else(|| {
            self.holds.push(hold);
            self.holds.len() - 1
        }) as u32
    }

    /// Number of moves.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Mean number of moves of a state.
    pub(super) fn branching(&self) -> f64 {
        self.all.len() as f64 / (self.first.len() - 1) as f64
    }

    /// The moves of a state, by number.
    #[inline]
    pub(super) fn range(&self, state: State) -> std::ops::Range<u32> {
        self.first[state.index()]..self.first[state.index() + 1]
    }

    /// Whether all moves of a state change the objective alike.
    #[inline]
    pub(super) fn are_one_class(&self, state: State) -> bool {
        self.one_class[state.index()]
    }

    /// The move that does what a pair of this state does.
    pub(super) fn of_pair(&self, problem: &Problem, state: State, pair: Pair) -> u32 {
        let same = |number: &u32| is_alike(problem, self.get(*number).pair, pair);
        self.range(state).find(same).unwrap_or(self.range(state).start)
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &Move {
        &self.all[number as usize]
    }

    #[inline]
    pub(super) fn outcomes(&self, number: u32) -> &[Outcome] {
        let Move { first_outcome, outcomes, .. } = self.all[number as usize];
        &self.outcomes[first_outcome as usize..(first_outcome + outcomes) as usize]
    }
}

/// Whether two pairs of a state lead to the same states with the same probabilities and change the objective alike.
fn is_alike(problem: &Problem, a: Pair, b: Pair) -> bool {
    let (mdp, objective) = (problem.mdp(), problem.objective());
    mdp.successors(a).eq(mdp.successors(b)) && objective.effect(a.index()).eq(objective.effect(b.index()))
}

/// For each state, whether a path leads from it back to it: Tarjan's strongly connected components (SIAM J. Comput. 1, 1972),
/// without recursion.
fn recurring(mdp: &Mdp) -> Vec<bool> {
    const NEW: u32 = u32::MAX;
    let count = mdp.state_count();
    let successors =
        |state: u32| mdp.pairs(State(state)).flat_map(|pair| mdp.successors(Pair(pair)).map(|next| next.0.0));
    let (mut order, mut low) = (vec![NEW; count], vec![0_u32; count]);
    let (mut recurs, mut open, mut is_open) = (vec![false; count], Vec::new(), vec![false; count]);
    let mut met = 0;
    for start in 0..count as u32 {
        if order[start as usize] != NEW {
            continue;
        }
        let mut enter = |state: u32, order: &mut Vec<u32>, low: &mut Vec<u32>| {
            order[state as usize] = met;
            low[state as usize] = met;
            met += 1;
        };
        enter(start, &mut order, &mut low);
        open.push(start);
        is_open[start as usize] = true;
        let mut path = vec![(start, successors(start))];
        while let Some((state, rest)) = path.last_mut() {
            let state = *state;
            match rest.next() {
                Some(next) if order[next as usize] == NEW => {
                    enter(next, &mut order, &mut low);
                    open.push(next);
                    is_open[next as usize] = true;
                    path.push((next, successors(next)));
                }
                Some(next) => {
                    if next == state {
                        recurs[state as usize] = true;
                    }
                    if is_open[next as usize] {
                        low[state as usize] = low[state as usize].min(order[next as usize]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((before, _)) = path.last() {
                        low[*before as usize] = low[*before as usize].min(low[state as usize]);
                    }
                    if low[state as usize] == order[state as usize] {
                        let first = open.iter().rposition(|&member| member == state).unwrap_or(0);
                        let several = open.len() - first > 1;
                        for member in open.drain(first..) {
                            is_open[member as usize] = false;
                            recurs[member as usize] |= several;
                        }
                    }
                }
            }
        }
    }
    recurs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{self, Purpose};

    /// Against a search from every state, on random graphs.
    #[test]
    fn recurring_states_lie_on_a_cycle() {
        let mut rng = rng::stream(4, 0, Purpose::Generation);
        for states in [1, 2, 5, 9, 14] {
            for _ in 0..40 {
                let mut mdp = Mdp::sized(states, 1).start(0);
                for state in 0..states {
                    let next = |rng: &mut _| rng::below(rng, states as u32) as usize;
                    let (a, b) = (next(&mut rng), next(&mut rng).max(state));
                    mdp = mdp.transition(state, 0, if a == b { vec![(a, 1.0)] } else { vec![(a, 0.5), (b, 0.5)] });
                }
                let mdp = mdp.build().unwrap();
                let recurs = recurring(&mdp);
                for state in mdp.states() {
                    let (mut met, mut waiting) = (vec![false; states], vec![state]);
                    while let Some(at) = waiting.pop() {
                        for (next, _) in mdp.successors(Pair(mdp.pairs(at).start)) {
                            if !std::mem::replace(&mut met[next.index()], true) {
                                waiting.push(next);
                            }
                        }
                    }
                    assert_eq!(recurs[state.index()], met[state.index()]);
                }
            }
        }
    }
}
