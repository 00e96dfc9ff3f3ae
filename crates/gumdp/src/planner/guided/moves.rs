//! What there is to choose from: the pairs of each state, but one for each effect.

use hashbrown::HashMap;

use crate::model::{Pair, State};
use crate::problem::reach::steps_left;
use crate::problem::{Effects, Problem};

/// Holds are kept for each time; this many in all.
const KEPT_HOLDS: usize = 1 << 22;

/// Outcomes that are looked at, about, to see how many possibilities a step opens.
const SPREAD_OUTCOMES: usize = 1 << 23;

/// The moves of all states that episodes get to.
#[derive(Clone, Debug, Default)]
pub(in crate::planner) struct Moves {
    /// Moves of state s are `first[s]..first[s + 1]`.
    first: Vec<u32>,
    /// The most steps that can be left in each state.
    left: Vec<u32>,
    /// Whether all moves of a state are of one class.
    one_class: Vec<bool>,
    all: Vec<Move>,
    outcomes: Vec<Outcome>,
    /// One for each way a visit changes the objective.
    pub(in crate::planner) classes: Vec<Class>,
    /// The probabilities to stay where one is.
    pub(super) holds: Vec<f64>,
}

/// A pair that does not do the same as an earlier one of its state.
#[derive(Clone, Copy, Debug)]
pub(in crate::planner) struct Move {
    pub(in crate::planner) pair: Pair,
    /// Number of its class.
    pub(in crate::planner) class: u32,
    first_outcome: u32,
    outcomes: u32,
}

/// A possible next state.
#[derive(Clone, Copy, Debug)]
pub(in crate::planner) struct Outcome {
    pub(in crate::planner) state: State,
    pub(in crate::planner) probability: f64,
}

/// Pairs that change the features alike, and whose states hold the agent alike.
#[derive(Clone, Copy, Debug)]
pub(in crate::planner) struct Class {
    /// One of them.
    pub(in crate::planner) pair: Pair,
    /// Number of its hold.
    pub(super) hold: u32,
}

/// Logarithms of what one more step makes of the simulations that a search needs, means over the states that random moves visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// Half that of the number of moves, since poor moves can be cut as in alpha-beta search.
    pub(super) choice: f64,
    /// The entropy of the outcomes of a move.
    pub(super) chance: f64,
}

impl Moves {
    pub(super) fn new(problem: &Problem) -> Self {
        Self::with(problem, None)
    }

    /// The same, and those of all states that can follow this one.
    pub(super) fn with(problem: &Problem, other: Option<State>) -> Self {
        let (mdp, objective) = (problem.mdp(), problem.objective());
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        // That of the last pair: others of its state often change the objective alike.
        let (mut key, mut last, mut class) = (Vec::new(), Vec::new(), 0);
        let most_holds = (KEPT_HOLDS / problem.horizon()).clamp(2, 256);
        let starts = mdp.initial().iter().map(|start| start.0).chain(other);
        let left = steps_left(mdp, starts, problem.horizon());
        let mut moves = Self { first: vec![0], left, ..Self::default() };
        let mut effects = Effects::new(problem);
        for state in mdp.states() {
            let own = moves.all.len();
            if moves.left[state.index()] == 0 {
                moves.one_class.push(true);
                moves.first.push(own as u32);
                continue;
            }
            for (pair, first) in mdp.pairs(state).map(Pair).zip(effects.firsts(state, false)) {
                if pair != *first {
                    continue;
                }
                let stay = mdp.successors(pair).find(|next| next.0 == state).map_or(0.0, |next| next.1);
                let hold = moves.hold(stay, most_holds);
                key.clear();
                key.extend(objective.effect(pair.index()).chain([u64::from(hold)]));
                if key != last {
                    let count = known.len() as u32;
                    class = *known.entry_ref(&key[..]).or_insert(count);
                    if class == count {
                        moves.classes.push(Class { pair, hold });
                    }
                    last.clone_from(&key);
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

    /// The number of a probability to stay; where there are too many, that of the most similar one.
    fn hold(&mut self, stay: f64, most: usize) -> u32 {
        let distance = |&number: &usize| (self.holds[number] - stay).abs();
        let nearest = (0..self.holds.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let number = nearest.filter(|&number| self.holds[number] == stay || self.holds.len() >= most);
        number.unwrap_or_else(|| {
            self.holds.push(stay);
            self.holds.len() - 1
        }) as u32
    }

    /// Whether all that can follow is here, where so many steps are left in a state.
    pub(super) fn know(&self, state: State, steps: usize) -> bool {
        steps <= self.left[state.index()] as usize
    }

    /// How many steps from the start can be looked ahead with so many looks at outcomes, and how many looks all steps would take.
    pub(super) fn horizon_of(&self, work: usize) -> (usize, usize) {
        let steps = self.left.iter().copied().max().unwrap_or(0) as usize;
        // Outcomes of the states that are met first after so many steps.
        let mut layers = vec![0; steps];
        for (&left, state) in self.left.iter().zip((0..).map(State)).filter(|(left, _)| **left > 0) {
            layers[steps - left as usize] += self.outcomes_from(state).len();
        }
        let (mut ahead, mut within, mut all) = (0, 0, 0_usize);
        for layer in layers {
            within += layer;
            all = all.saturating_add(within);
            ahead += usize::from(all <= work);
        }
        (ahead.max(steps.min(1)), all)
    }

    /// Number of moves.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many possibilities one more step opens, where random moves lead.
    pub(super) fn spread(&self, problem: &Problem) -> Spread {
        let entropy =
            |number| self.outcomes(number).iter().map(|to| -to.probability * to.probability.ln()).sum::<f64>();
        let mut likely = vec![0.0; self.first.len() - 1];
        let mut after = likely.clone();
        // The states that are likely at all, in order: of a large model they may be few.
        let mut here = Vec::new();
        for &(state, probability) in problem.mdp().initial() {
            likely[state.index()] += probability;
            here.push(state);
        }
        let mut sum = Spread { choice: 0.0, chance: 0.0 };
        let (mut steps, mut seen) = (0, 0);
        while steps < problem.horizon() && seen <= SPREAD_OUTCOMES {
            let mut there = Vec::new();
            for state in here {
                let share = std::mem::take(&mut likely[state.index()]);
                let own = self.range(state);
                let each = share / own.len() as f64;
                sum.choice += share * 0.5 * (own.len() as f64).ln();
                for number in own {
                    sum.chance += each * entropy(number);
                    for to in self.outcomes(number) {
                        let next = &mut after[to.state.index()];
                        if *next == 0.0 {
                            there.push(to.state);
                        }
                        *next += each * to.probability;
                    }
                    seen += self.outcomes(number).len();
                }
            }
            there.sort_unstable();
            // What is too unlikely for a number may be listed again.
            there.dedup();
            there.retain(|state| after[state.index()] > 0.0);
            std::mem::swap(&mut likely, &mut after);
            here = there;
            steps += 1;
        }
        Spread { choice: sum.choice / steps as f64, chance: sum.chance / steps as f64 }
    }

    /// The moves of a state, by number.
    #[inline]
    pub(super) fn range(&self, state: State) -> std::ops::Range<u32> {
        self.first[state.index()]..self.first[state.index() + 1]
    }

    /// The moves of a state with their numbers and outcomes.
    #[inline]
    pub(in crate::planner) fn of(&self, state: State) -> impl Iterator<Item = (u32, &Move, &[Outcome])> {
        let own = self.range(state);
        let all = &self.all[own.start as usize..own.end as usize];
        own.zip(all).map(|(number, one)| (number, one, self.outcomes_of(one)))
    }

    /// Whether all moves of a state change the objective alike.
    #[inline]
    pub(super) fn are_one_class(&self, state: State) -> bool {
        self.one_class[state.index()]
    }

    /// The move that does what a pair of this state does.
    pub(super) fn of_pair(&self, problem: &Problem, state: State, pair: Pair) -> u32 {
        let (mut effects, own) = (Effects::new(problem), problem.mdp().pairs(state));
        let first = effects.firsts(state, false)[(pair.0 - own.start) as usize];
        self.range(state).find(|&number| self.get(number).pair == first).unwrap_or(self.range(state).start)
    }

    #[inline]
    pub(in crate::planner) fn get(&self, number: u32) -> &Move {
        &self.all[number as usize]
    }

    #[inline]
    pub(in crate::planner) fn outcomes(&self, number: u32) -> &[Outcome] {
        self.outcomes_of(&self.all[number as usize])
    }

    /// The outcomes of all moves of a state, one move after the other.
    pub(super) fn outcomes_from(&self, state: State) -> &[Outcome] {
        let first =
            |number: u32| self.all.get(number as usize).map_or(self.outcomes.len(), |one| one.first_outcome as usize);
        let own = self.range(state);
        &self.outcomes[first(own.start)..first(own.end)]
    }

    #[inline]
    fn outcomes_of(&self, one: &Move) -> &[Outcome] {
        &self.outcomes[one.first_outcome as usize..(one.first_outcome + one.outcomes) as usize]
    }
}
