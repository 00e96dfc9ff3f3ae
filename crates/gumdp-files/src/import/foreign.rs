//! A model of another program before it is a model of ours: numbered states and actions, rewards on transitions.
//!
//! An objective looks at the occupancy of state-action pairs, so rewards on transitions have to become costs of pairs. Either
//! a pair gets its expected reward (the mean of the total is exact, its distribution is not if the reward depends on where the
//! transition leads), or states are split (see `split`; the distribution is exact).

use std::collections::HashMap;

use super::super::error::counted;
use super::super::world::MAX_TRANSITIONS;
use super::Text;
use super::start::Initial;
use super::unread::Unread;
use gumdp::{Mdp, MdpBuilder, ModelError, ROW_TOLERANCE, State};

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
#[derive(Debug)]
pub(super) struct Rewards {
    pub(super) names: Vec<String>,
    values: Vec<f64>,
    number: HashMap<Vec<u64>, u32>,
}

impl Rewards {
    /// Number 0 is no reward at all.
    pub(super) fn new(names: Vec<String>) -> Self {
        let mut rewards = Self { names, values: Vec::new(), number: HashMap::new() };
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
#[derive(Debug)]
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
        Self {
            rows: Vec::new(),
            unread: Unread::default(),
            rewards: Rewards::new(reward_names),
            extra_states: Vec::new(),
            state_names: Vec::new(),
            action_names: Vec::new(),
            labels: Vec::new(),
            initial: None,
            discount: None,
            horizon: None,
            gains,
            notes: Vec::new(),
        }
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
        self.rows.sort_by_key(|row| (row.state, row.action));
        let mut states: Vec<u32> = self.rows.iter().flat_map(|row| [row.state, row.next]).collect();
        states.extend(&self.extra_states);
        states.sort_unstable();
        states.dedup();
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
        let mut actions: Vec<u32> = self.rows.iter().map(|row| row.action).collect();
        actions.sort_unstable();
        actions.dedup();
        if actions.is_empty() {
            actions.push(0);
            self.action_names.clear();
        }
        let mut model = Model { foreign: self, states, actions, pairs, pairs_of_state: Vec::new() };
        model.absorb();
        Some(model)
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
    pairs: Vec<std::ops::Range<usize>>,
    /// The pairs of state s are `pairs_of_state[s]..pairs_of_state[s + 1]`.
    pairs_of_state: Vec<usize>,
}

impl Model {
    /// States without transitions keep the episode where it is, at no cost.
    fn absorb(&mut self) {
        let has_rows = |state: u32, rows: &[Row]| rows.binary_search_by_key(&state, |row| row.state).is_ok();
        let rows = &self.foreign.rows;
        let absorbing: Vec<u32> = self.states.iter().copied().filter(|&state| !has_rows(state, rows)).collect();
        if !absorbing.is_empty() {
            let named = absorbing.iter().filter(|&&state| state != TERMINATED);
            let named: Vec<String> = named.map(|&state| self.foreign.state_name(state)).collect();
            if !named.is_empty() {
                let absorbing_one = named.len() == 1;
                let (count, names) = (counted(named.len(), "state"), some_of(named.into_iter()));
                let absorb = if absorbing_one { "absorbs" } else { "absorb" };
                let note = format!("{count} without transitions {absorb} at no cost: {names}");
                self.foreign.notes.push(note);
            }
            let action = self.actions[0];
            for state in absorbing {
                let first = self.foreign.rows.len();
                self.foreign.rows.push(Row { state, action, next: state, probability: 1.0, reward: 0, offset: 0 });
                self.pairs.push(first..first + 1);
            }
            let rows = &self.foreign.rows;
            self.pairs.sort_by_key(|pair| (rows[pair.start].state, rows[pair.start].action));
        }
        self.pairs_of_state.push(0);
        for &state in &self.states {
            let mut end = self.pairs_of_state[self.pairs_of_state.len() - 1];
            while self.pairs.get(end).is_some_and(|pair| self.foreign.rows[pair.start].state == state) {
                end += 1;
            }
            self.pairs_of_state.push(end);
        }
    }

    /// Whether there is a state with this id.
    pub(super) fn knows(&self, state: u32) -> bool {
        self.states.binary_search(&state).is_ok()
    }

    fn number(&self, state: u32) -> usize {
        self.states.binary_search(&state).unwrap_or_default()
    }

    fn action_number(&self, action: u32) -> usize {
        self.actions.binary_search(&action).unwrap_or_default()
    }

    fn action_names(&self) -> impl Iterator<Item = String> + '_ {
        self.actions.iter().map(|&action| self.foreign.action_name(action))
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
        let names = self.states.iter().map(|&state| self.foreign.state_name(state));
        let mut builder = Mdp::named(names, self.action_names())
            .initial(initial.iter().map(|&(state, probability)| (self.number(state), probability)));
        let models = self.foreign.rewards.names.len();
        let mut costs = vec![Vec::with_capacity(self.pairs.len()); models];
        for (pair, rows) in self.pairs.iter().enumerate() {
            let Row { state, action, .. } = self.foreign.rows[rows.start];
            builder = self.transition(builder, self.number(state), action, pair, |row| self.number(row.next));
            let sum: f64 = self.outcomes(pair).map(|row| row.probability).sum();
            for (model, cost) in costs.iter_mut().enumerate() {
                let value = |row: &Row| row.probability * self.foreign.rewards.get(row.reward)[model];
                cost.push(self.sign() * (self.outcomes(pair).map(value).sum::<f64>() / sum) + 0.0);
            }
        }
        let groups = self.foreign.labels.iter().map(|(name, states)| {
            (name.clone(), states.iter().map(|&state| State(self.number(state) as u32)).collect())
        });
        Ok(Built { groups: groups.collect(), mdp: builder.build()?, costs })
    }

    fn transition(
        &self,
        builder: MdpBuilder,
        state: usize,
        action: u32,
        pair: usize,
        number: impl Fn(&Row) -> usize,
    ) -> MdpBuilder {
        let outcomes = self.outcomes(pair).map(|row| (number(row), row.probability));
        builder.transition(state, self.action_number(action), outcomes)
    }

    /// The model in which a state reached with different rewards is several states, one for each reward. The cost of such
    /// a copy, whatever is done there, is the reward that led to it times `factor`.
    ///
    /// A reward is then paid one step later than it is earned, at a time whose discount is γ times smaller. The caller
    /// makes the horizon one longer and gives the `factor` that undoes both.
    pub(super) fn split(&self, initial: &[(u32, f64)], factor: f64) -> Result<Built, SplitError> {
        let mut copies: Vec<(usize, u32)> = initial.iter().map(|&(state, _)| (self.number(state), 0)).collect();
        let possible = self.foreign.rows.iter().filter(|row| row.probability > 0.0);
        copies.extend(possible.map(|row| (self.number(row.next), row.reward)));
        copies.sort_unstable();
        copies.dedup();
        // A state that nothing leads to exists all the same.
        let mut reached = vec![false; self.states.len()];
        for &(state, _) in &copies {
            reached[state] = true;
        }
        copies.extend((0..self.states.len()).filter(|&state| !reached[state]).map(|state| (state, 0)));
        copies.sort_unstable();
        let outcomes = |state: usize| -> usize {
            (self.pairs_of_state[state]..self.pairs_of_state[state + 1]).map(|pair| self.pairs[pair].len()).sum()
        };
        let transitions = copies.iter().fold(0_usize, |sum, &(state, _)| sum.saturating_add(outcomes(state)));
        if transitions > MAX_TRANSITIONS {
            return Err(SplitError::TooMany { transitions });
        }
        let find = |state: usize, reward: u32| copies.binary_search(&(state, reward)).unwrap_or_default();
        let mut copies_of: Vec<Vec<State>> = vec![Vec::new(); self.states.len()];
        for (number, &(state, _)) in copies.iter().enumerate() {
            copies_of[state].push(State(number as u32));
        }
        let names = copies.iter().map(|&(state, reward)| {
            let name = self.foreign.state_name(self.states[state]);
            if copies_of[state].len() == 1 {
                return name;
            }
            let values: Vec<String> = self.foreign.rewards.get(reward).iter().map(f64::to_string).collect();
            format!("{name}[{}]", values.join(","))
        });
        let mut builder = Mdp::named(names, self.action_names())
            .initial(initial.iter().map(|&(state, probability)| (find(self.number(state), 0), probability)));
        let mut costs = vec![Vec::new(); self.foreign.rewards.names.len()];
        for (copy, &(state, reward)) in copies.iter().enumerate() {
            for pair in self.pairs_of_state[state]..self.pairs_of_state[state + 1] {
                let action = self.foreign.rows[self.pairs[pair].start].action;
                let number = |row: &Row| find(self.number(row.next), row.reward);
                builder = self.transition(builder, copy, action, pair, number);
                for (cost, value) in costs.iter_mut().zip(self.foreign.rewards.get(reward)) {
                    cost.push(self.sign() * factor * value + 0.0);
                }
            }
        }
        let mut groups: HashMap<String, Vec<State>> = HashMap::new();
        for (name, states) in &self.foreign.labels {
            let members = states.iter().flat_map(|&state| copies_of[self.number(state)].iter().copied());
            groups.insert(name.clone(), members.collect());
        }
        for (state, members) in copies_of.iter().enumerate().filter(|(_, members)| members.len() > 1) {
            groups.insert(self.foreign.state_name(self.states[state]), members.clone());
        }
        Ok(Built { groups, mdp: builder.build()?, costs })
    }
}

/// Why states could not be split.
pub(super) enum SplitError {
    TooMany { transitions: usize },
    Model(ModelError),
}

impl From<ModelError> for SplitError {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

/// The model with the costs of its pairs, one vector for each reward model.
pub(super) struct Built {
    pub(super) mdp: Mdp,
    pub(super) groups: HashMap<String, Vec<State>>,
    pub(super) costs: Vec<Vec<f64>>,
}
