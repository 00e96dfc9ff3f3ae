//! What simulated steps have shown: the states that were met, what was tried in them and what followed, counted.

use std::hash::{Hash, Hasher};

use crate::planner::black_box::Simulator;
use crate::rng;

/// The number of no state: the episode was over.
pub(super) const END: u32 = u32::MAX;
/// The end of a list, and the number of no outcome.
pub(super) const NONE: u32 = u32::MAX;

/// States with more actions are not learned.
const MOST_ACTIONS: u32 = 256;
/// The most different features of steps: they are looked for one after the other, and rated for each time.
const MOST_EFFECTS: usize = 4096;
/// The most states, outcomes of a pair and numbers of all features.
const MOST_STATES: usize = 1 << 20;
const MOST_OUTCOMES: u32 = 256;
const MOST_FEATURES: usize = 1 << 24;
/// After so many steps, and at each doubling, it is asked whether states recur: of the steps since then, this part must have started in a
/// state that was met before.
const FIRST_LOOK: u64 = 2048;
const RECURRING: f64 = 0.25;
/// Before that is known for good, nothing is planned with what was learned while fewer did, but for so few steps.
const FIRST_STEPS: u64 = 128;

/// States by number.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    all: Vec<T>,
    /// The numbers of states at places that follow from their hashes; a power of two of them, half empty.
    slots: Vec<u32>,
}

/// A quick hash: multiply and rotate, mixed in the end. It is always the same, so that results are.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        rng::mix(self.0)
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

impl<T: Hash + Eq> Numbers<T> {
    fn new() -> Self {
        Self { all: Vec::new(), slots: vec![NONE; 64] }
    }

    fn clear(&mut self) {
        self.all.clear();
        self.slots.fill(NONE);
    }

    fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of a state, or the slot for it.
    #[inline]
    fn find(&self, state: &T) -> Result<u32, usize> {
        let mut hasher = Quick::default();
        state.hash(&mut hasher);
        let mut slot = hasher.finish() as usize & (self.slots.len() - 1);
        loop {
            let number = self.slots[slot];
            if number == NONE {
                return Err(slot);
            }
            if self.all[number as usize] == *state {
                return Ok(number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn push(&mut self, slot: usize, state: T) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(state);
        self.slots[slot] = number;
        if 2 * self.all.len() > self.slots.len() {
            self.slots = vec![NONE; 2 * self.slots.len()];
            for number in 0..self.all.len() {
                if let Err(slot) = self.find(&self.all[number]) {
                    self.slots[slot] = number as u32;
                }
            }
        }
        number
    }
}

/// What followed a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// [`END`] if the episode was over.
    pub(super) state: u32,
    /// The number of the features of the step.
    pub(super) effect: u32,
    pub(super) count: u32,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Tried {
    times: u32,
    outcomes: u32,
    first: u32,
}

/// All that was met.
#[derive(Debug)]
pub(super) struct Table<T> {
    numbers: Numbers<T>,
    /// The first pair of each state, and the end.
    first: Vec<u32>,
    pairs: Vec<Tried>,
    outcomes: Vec<Outcome>,
    /// Distinct features of steps: the places that are not 0 and what is there.
    effects: Vec<(u32, f64)>,
    ends: Vec<u32>,
    /// Of all steps, and of those that started in a state which was met before.
    steps: u64,
    again: u64,
    looked: (u64, u64),
    learns: bool,
    /// Whether anything is to be learned at all.
    wanted: bool,
}

impl<T: Clone + Hash + Eq> Table<T> {
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            numbers: Numbers::new(),
            first: vec![0],
            pairs: Vec::new(),
            outcomes: Vec::new(),
            effects: Vec::new(),
            ends: vec![0],
            steps: 0,
            again: 0,
            looked: (0, 0),
            learns: wanted,
            wanted,
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.first.truncate(1);
        self.pairs.clear();
        self.outcomes.clear();
        self.effects.clear();
        self.ends.truncate(1);
        (self.steps, self.again, self.looked, self.learns) = (0, 0, (0, 0), self.wanted);
    }

    /// Whether states recur, so that what is learned is of use.
    #[inline]
    pub(super) fn learns(&self) -> bool {
        self.learns
    }

    /// Steps that were learned from.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    pub(super) fn state_count(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn effect_count(&self) -> usize {
        self.ends.len() - 1
    }

    /// The number of a state, which it gets when it is met first; [`END`] where too much was met.
    ///
    /// # Errors
    /// Those of the simulator.
    #[inline]
    pub(super) fn meet<S: Simulator<State = T>>(&mut self, simulator: &S, state: &T) -> Result<u32, S::Error> {
        match self.numbers.find(state) {
            Ok(number) => {
                self.again += 1;
                Ok(number)
            }
            Err(slot) => self.add(simulator, state, slot),
        }
    }

    #[cold]
    fn add<S: Simulator<State = T>>(&mut self, simulator: &S, state: &T, slot: usize) -> Result<u32, S::Error> {
        let actions = crate::planner::black_box::action_count(simulator, state)?;
        if actions > MOST_ACTIONS
            || self.numbers.len() >= MOST_STATES
            || self.effects.len() > MOST_FEATURES
            || self.effect_count() > MOST_EFFECTS
        {
            self.learns = false;
            return Ok(END);
        }
        self.pairs.extend((0..actions).map(|_| Tried { times: 0, outcomes: 0, first: NONE }));
        self.first.push(self.pairs.len() as u32);
        Ok(self.numbers.push(slot, state.clone()))
    }

    /// A step from a pair had these features and led to a state; returns the number of that outcome.
    #[inline]
    pub(super) fn record(&mut self, from: u32, action: u32, next: u32, features: &[f64]) -> u32 {
        let pair = self.first[from as usize] + action;
        self.steps += 1;
        self.pairs[pair as usize].times += 1;
        let mut place = self.pairs[pair as usize].first;
        while place != NONE {
            let outcome = self.outcomes[place as usize];
            // What a step counts may depend on chance that the next state does not show.
            if outcome.state == next && self.has_features(outcome.effect, features) {
                self.outcomes[place as usize].count += 1;
                return place;
            }
            place = outcome.next;
        }
        self.record_new(pair, next, features)
    }

    #[inline]
    fn has_features(&self, effect: u32, features: &[f64]) -> bool {
        let mut known = self.effect_of(effect).iter();
        let all = (0..).zip(features).filter(|(_, x)| **x != 0.0).all(|(k, x)| known.next() == Some(&(k, *x)));
        all && known.next().is_none()
    }

    #[cold]
    fn record_new(&mut self, pair: u32, next: u32, features: &[f64]) -> u32 {
        let effect = self.effect(features);
        let own = &mut self.pairs[pair as usize];
        if own.outcomes == MOST_OUTCOMES {
            // It counts as what was met last.
            self.outcomes[own.first as usize].count += 1;
            return own.first;
        }
        self.outcomes.push(Outcome { state: next, effect, count: 1, next: own.first });
        own.outcomes += 1;
        own.first = self.outcomes.len() as u32 - 1;
        own.first
    }

    /// The number of features.
    fn effect(&mut self, features: &[f64]) -> u32 {
        let own = self.effects.len();
        self.effects.extend((0..).zip(features).filter(|(_, x)| **x != 0.0).map(|(k, &x)| (k, x)));
        let known = self.ends.windows(2).position(|range| {
            let known = range[0] as usize..range[1] as usize;
            known.len() == self.effects.len() - own && self.effects[known] == self.effects[own..]
        });
        if let Some(known) = known {
            self.effects.truncate(own);
            return known as u32;
        }
        self.ends.push(self.effects.len() as u32);
        self.ends.len() as u32 - 2
    }

    /// Looks, now and then, whether states recur; if not, nothing more is learned.
    pub(super) fn look(&mut self) {
        let since = self.steps - self.looked.0;
        if since < FIRST_LOOK.max(self.looked.0) {
            return;
        }
        self.learns &= (self.again - self.looked.1) as f64 >= RECURRING * since as f64;
        self.looked = (self.steps, self.again);
    }

    /// Whether enough of the first steps started in states that were known.
    pub(super) fn recurs(&self) -> bool {
        self.learns && (self.steps < FIRST_STEPS || self.again as f64 >= RECURRING * self.steps as f64)
    }

    /// The state with a number.
    pub(super) fn state(&self, number: u32) -> &T {
        &self.numbers.all[number as usize]
    }

    /// The pairs of a state.
    #[inline]
    pub(super) fn pairs_of(&self, state: u32) -> std::ops::Range<u32> {
        self.first[state as usize]..self.first[state as usize + 1]
    }

    /// How often a pair was tried.
    #[inline]
    pub(super) fn times(&self, pair: u32) -> u32 {
        self.pairs[pair as usize].times
    }

    /// What followed a pair.
    #[inline]
    pub(super) fn outcomes(&self, pair: u32) -> impl Iterator<Item = &Outcome> + Clone {
        self.numbered(pair).map(|(_, outcome)| outcome)
    }

    /// The same with their numbers.
    #[inline]
    pub(super) fn numbered(&self, pair: u32) -> impl Iterator<Item = (u32, &Outcome)> + Clone {
        let at = |number: u32| self.outcomes.get(number as usize).map(|outcome| (number, outcome));
        std::iter::successors(at(self.pairs[pair as usize].first), move |(_, outcome)| at(outcome.next))
    }

    /// The features of a step that are not 0.
    pub(super) fn effect_of(&self, effect: u32) -> &[(u32, f64)] {
        &self.effects[self.ends[effect as usize] as usize..self.ends[effect as usize + 1] as usize]
    }
}
