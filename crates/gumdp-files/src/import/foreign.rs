//! A model of another program before it is a model of ours: numbered states and actions, rewards on transitions.
//!
//! An objective looks at the occupancy of state-action pairs, so rewards on transitions have to become costs of pairs. Either
//! a pair gets its expected reward (the mean of the total is exact, its distribution is not if the reward depends on where the
//! transition leads), or states are split (see `split`; the distribution is exact).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::super::error::counted;
use super::super::world::MAX_TRANSITIONS;
use super::Text;
use super::start::Initial;
use super::unread::Unread;
use gumdp::{Mdp, ModelError, ROW_TOLERANCE, State};

/// Larger ids are taken for a mistake.
pub(super) const MAX_ID: u32 = 10_000_000;

/// The id of the state in which an episode is over.
pub(super) const TERMINATED: u32 = MAX_ID + 1;

/// One transition as the file has it. States and actions are ids of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) state: u32,
    pub(super) action: u32,
    pub(super) next: u32,
    pub(super) probability: f64,
    /// A number of [`Rewards`].
    pub(super) reward: u32,
    /// Where it stands in the text.
    pub(super) offset: usize,
}

/// The rewards that occur, each once: one value for each reward model.
#[derive(Debug, Default)]
pub(super) struct Rewards {
    pub(super) names: Vec<String>,
    values: Vec<f64>,
    number: HashMap<Vec<u64>, u32>,
}

impl Rewards {
    /// Number 0 is no reward at all.
    pub(super) fn new(names: Vec<String>) -> Self {
        let mut rewards = Self { names, ..Self::default() };
        rewards.number_of(&vec![0.0; rewards.names.len()]);
        rewards
    }

    pub(super) fn number_of(&mut self, values: &[f64]) -> u32 {
        // Minus zero is zero.
        let bits = values.iter().map(|value| (value + 0.0).to_bits()).collect();
        let next = self.number.len() as u32;
        *self.number.entry(bits).or_insert_with(|| {
            self.values.extend_from_slice(values);
            next
        })
    }

    pub(super) fn get(&self, number: u32) -> &[f64] {
        let models = self.names.len();
        &self.values[number as usize * models..(number as usize + 1) * models]
    }
}

/// What a reader found in a file.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    pub(super) rows: Vec<Row>,
    pub(super) unread: Unread,
    pub(super) rewards: Rewards,
    /// States that exist whether or not a transition mentions them.
    pub(super) extra_states: Vec<u32>,
    /// Names of the states by id; those without are called s0, s1, …
    pub(super) state_names: Vec<String>,
    /// Names of the actions by id; those without are called a0, a1, …
    pub(super) action_names: Vec<String>,
    /// Names for sets of states.
    pub(super) labels: Vec<(String, Vec<u32>)>,
    pub(super) initial: Option<Initial>,
    pub(super) discount: Option<f64>,
    pub(super) horizon: Option<usize>,
    /// Whether rewards are wanted rather than paid.
    pub(super) gains: bool,
    pub(super) notes: Vec<String>,
}

impl Foreign {
    pub(super) fn new(reward_names: Vec<String>, gains: bool) -> Self {
        Self { rewards: Rewards::new(reward_names), gains, ..Self::default() }
    }

    /// Adds a transition unless there are too many.
    pub(super) fn push(&mut self, row: Row, text: Text) -> Option<()> {
        if self.rows.len() >= MAX_TRANSITIONS {
            let message = format!("the model has more than {MAX_TRANSITIONS} transitions; at most that many are read");
            return text.error(row.offset, message).tell();
        }
        self.rows.push(row);
        Some(())
    }

    /// Sorts what was read and checks that the probabilities of each pair sum to 1.
    pub(super) fn finish(mut self, text: Text) -> Option<Model> {
        // States without transitions absorb.
        if self.rows.is_empty() && self.extra_states.is_empty() {
            if !text.mistakes.any() {
                text.error(0, "the file has no transitions; it needs at least one").tell::<()>();
            }
            return None;
        }
        self.absorb();
        self.rows.sort_by_key(|row| (row.state, row.action));
        let sorted = |mut ids: Vec<u32>| {
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let states = sorted(self.rows.iter().flat_map(|row| [row.state, row.next]).collect());
        let actions = sorted(self.rows.iter().map(|row| row.action).collect());
        let mut pairs = Vec::new();
        let mut first = 0;
        while let Some(&Row { state, action, offset, .. }) = self.rows.get(first) {
            let rows = &self.rows[first..];
            let end = first + rows.partition_point(|row| (row.state, row.action) == (state, action));
            let sum = self.rows[first..end].iter().fold(0.0, |sum, row| sum + row.probability);
            if (sum - 1.0).abs() > ROW_TOLERANCE {
                // Where transitions could not be read, a sum is too low for that reason alone.
                if sum > 1.0 || !self.unread.may_add((state, action), 1.0 - sum) {
                    let error =
                        ModelError::RowSum { state: self.state_name(state), action: self.action_name(action), sum };
                    text.error(offset, error.to_string()).maybe_hint(error.hint()).tell::<()>();
                }
                // More mistakes are looked for in a model that can be built.
                for (number, row) in self.rows[first..end].iter_mut().enumerate() {
                    row.probability = if number == 0 { 1.0 } else { 0.0 };
                }
            }
            pairs.push(first..end);
            first = end;
        }
        let end = |&state: &u32| pairs.partition_point(|pair: &Range<usize>| self.rows[pair.start].state <= state);
        let pairs_of_state = std::iter::once(0).chain(states.iter().map(end)).collect();
        Some(Model { foreign: self, states, actions, pairs, pairs_of_state })
    }

    /// States without transitions keep the episode where it is, at no cost.
    fn absorb(&mut self) {
        let active: HashSet<u32> = self.rows.iter().map(|row| row.state).collect();
        let mentioned = self.rows.iter().map(|row| row.next).chain(self.extra_states.iter().copied());
        let absorbing: BTreeSet<u32> = mentioned.filter(|state| !active.contains(state)).collect();
        let named = absorbing.iter().filter(|&&state| state != TERMINATED);
        let named: Vec<String> = named.map(|&state| self.state_name(state)).collect();
        if !named.is_empty() {
            let absorb = if named.len() == 1 { "absorbs" } else { "absorb" };
            let (count, names) = (counted(named.len(), "state"), some_of(named.into_iter()));
            self.notes.push(format!("{count} without transitions {absorb} at no cost: {names}"));
        }
        let action = self.rows.iter().map(|row| row.action).min();
        if action.is_none() {
            self.action_names.clear();
        }
        let action = action.unwrap_or(0);
        let row = |state| Row { state, action, next: state, probability: 1.0, reward: 0, offset: 0 };
        self.rows.extend(absorbing.into_iter().map(row));
    }

    fn action_name(&self, id: u32) -> String {
        self.action_names.get(id as usize).cloned().unwrap_or_else(|| format!("a{id}"))
    }

    pub(super) fn state_name(&self, id: u32) -> String {
        if id == TERMINATED {
            return "terminated".to_owned();
        }
        self.state_names.get(id as usize).cloned().unwrap_or_else(|| format!("s{id}"))
    }

    /// The id of the state with this name.
    pub(super) fn find_state(&self, name: &str) -> Option<u32> {
        let named = self.state_names.iter().position(|other| other == name).map(|id| id as u32);
        let unnamed = |id: &u32| *id as usize >= self.state_names.len();
        let numbered = || name.strip_prefix('s')?.parse().ok().filter(unnamed);
        named.or_else(|| (name == "terminated").then_some(TERMINATED)).or_else(numbered)
    }
}

/// Some of many names.
pub(crate) fn some_of(names: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 5;
    let more = names.len() > SHOWN;
    let mut shown: Vec<String> = names.take(SHOWN).collect();
    if more {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// A model whose transitions are sorted and whose states are numbered. Every state has an action.
pub(super) struct Model {
    pub(super) foreign: Foreign,
    /// The ids of the states, in order; the number of a state is its place.
    pub(super) states: Vec<u32>,
    /// The ids of the actions, in order.
    actions: Vec<u32>,
    /// The transitions of each state-action pair, as a range of rows.
    pairs: Vec<Range<usize>>,
    /// The pairs of state s are `pairs_of_state[s]..pairs_of_state[s + 1]`.
    pairs_of_state: Vec<usize>,
}

impl Model {
    /// Whether there is a state with this id.
    pub(super) fn knows(&self, state: u32) -> bool {
        self.states.binary_search(&state).is_ok()
    }

    fn number(&self, state: u32) -> usize {
        self.states.binary_search(&state).unwrap_or_default()
    }

    /// The transitions of a pair that can happen.
    fn outcomes(&self, pair: usize) -> impl Iterator<Item = &Row> {
        self.foreign.rows[self.pairs[pair].clone()].iter().filter(|row| row.probability > 0.0)
    }

    /// The number of pairs whose reward depends on where they lead.
    pub(super) fn uncertain_rewards(&self) -> usize {
        let uncertain = |pair: &usize| {
            let mut rewards = self.outcomes(*pair).map(|row| row.reward);
            let first = rewards.next();
            rewards.any(|reward| Some(reward) != first)
        };
        (0..self.pairs.len()).filter(uncertain).count()
    }

    pub(super) fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// The sign that makes a cost of a reward.
    fn sign(&self) -> f64 {
        if self.foreign.gains { -1.0 } else { 1.0 }
    }

    /// The model in which each pair has its expected reward.
    pub(super) fn expected(&self, initial: &[(u32, f64)]) -> Result<Built, ModelError> {
        let copies: Vec<StateCopy> = (0..self.states.len()).map(|state| (state, 0)).collect();
        self.build(
            initial,
            &copies,
            |_| 0,
            |pair, _, model| {
                let sum: f64 = self.outcomes(pair).map(|row| row.probability).sum();
                let value = |row: &Row| row.probability * self.foreign.rewards.get(row.reward)[model];
                self.sign() * (self.outcomes(pair).map(value).sum::<f64>() / sum) + 0.0
            },
        )
    }

    /// A state reached with different rewards as several states, one for each reward, and the number of transitions that all have.
    pub(super) fn copies(&self, initial: &[(u32, f64)]) -> (Vec<StateCopy>, usize) {
        let mut copies: Vec<StateCopy> = initial.iter().map(|&(state, _)| (self.number(state), 0)).collect();
        let possible = self.foreign.rows.iter().filter(|row| row.probability > 0.0);
        copies.extend(possible.map(|row| (self.number(row.next), row.reward)));
        // A state that nothing leads to exists all the same.
        let reached: HashSet<usize> = copies.iter().map(|&(state, _)| state).collect();
        copies.extend((0..self.states.len()).filter(|state| !reached.contains(state)).map(|state| (state, 0)));
        copies.sort_unstable();
        copies.dedup();
        let outcomes = |state: usize| -> usize { self.pairs_of(state).map(|pair| self.pairs[pair].len()).sum() };
        let transitions = copies.iter().fold(0_usize, |sum, &(state, _)| sum.saturating_add(outcomes(state)));
        (copies, transitions)
    }

    /// The model with these copies of its states. The cost of one, whatever is done there, is the reward that led to it times
    /// `factor`.
    ///
    /// A reward is then paid one step later than it is earned, at a time whose discount is γ times smaller. The caller
    /// makes the horizon one longer and gives the `factor` that undoes both.
    pub(super) fn split(&self, initial: &[(u32, f64)], copies: &[StateCopy], factor: f64) -> Result<Built, ModelError> {
        let cost = |_, reward, model| self.sign() * factor * self.foreign.rewards.get(reward)[model] + 0.0;
        self.build(initial, copies, |row| row.reward, cost)
    }

    fn pairs_of(&self, state: usize) -> Range<usize> {
        self.pairs_of_state[state]..self.pairs_of_state[state + 1]
    }

    /// The model with these copies of its states, which are sorted. A transition leads to the copy with this reward; a pair of a
    /// copy with this reward has this cost of each model of rewards.
    fn build(
        &self,
        initial: &[(u32, f64)],
        copies: &[StateCopy],
        reward_of: impl Fn(&Row) -> u32,
        cost_of: impl Fn(usize, u32, usize) -> f64,
    ) -> Result<Built, ModelError> {
        let find = |id: u32, reward: u32| copies.binary_search(&(self.number(id), reward)).unwrap_or_default();
        let mut copies_of: Vec<Vec<State>> = vec![Vec::new(); self.states.len()];
        for (number, &(state, _)) in copies.iter().enumerate() {
            copies_of[state].push(State(number as u32));
        }
        let state_name = |state: usize| self.foreign.state_name(self.states[state]);
        let names = copies.iter().map(|&(state, reward)| {
            let values = || self.foreign.rewards.get(reward).iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            let name = state_name(state);
            if copies_of[state].len() == 1 { name } else { format!("{name}[{}]", values()) }
        });
        let actions = self.actions.iter().map(|&action| self.foreign.action_name(action));
        let initial = initial.iter().map(|&(state, probability)| (find(state, 0), probability));
        let mut builder = Mdp::named(names, actions).initial(initial);
        let mut costs = vec![Vec::new(); self.foreign.rewards.names.len()];
        for (copy, &(state, reward)) in copies.iter().enumerate() {
            for pair in self.pairs_of(state) {
                let action = self.foreign.rows[self.pairs[pair].start].action;
                let action = self.actions.binary_search(&action).unwrap_or_default();
                let outcomes = self.outcomes(pair).map(|row| (find(row.next, reward_of(row)), row.probability));
                builder = builder.transition(copy, action, outcomes);
                for (model, cost) in costs.iter_mut().enumerate() {
                    cost.push(cost_of(pair, reward, model));
                }
            }
        }
        let members =
            |states: &[u32]| states.iter().flat_map(|&id| copies_of[self.number(id)].iter().copied()).collect();
        let labels = self.foreign.labels.iter().map(|(name, states)| (name.clone(), members(states)));
        let several = copies_of.iter().enumerate().filter(|(_, members)| members.len() > 1);
        let several = several.map(|(state, members)| (state_name(state), members.clone()));
        Ok(Built { groups: labels.chain(several).collect(), mdp: builder.build()?, costs })
    }
}

/// The number of a state, and the reward that led there; 0 is none.
pub(super) type StateCopy = (usize, u32);

/// The model with the costs of its pairs, one vector for each reward model.
pub(super) struct Built {
    pub(super) mdp: Mdp,
    pub(super) groups: HashMap<String, Vec<State>>,
    pub(super) costs: Vec<Vec<f64>>,
}
