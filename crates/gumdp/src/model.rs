//! The model: a finite Markov decision process, validated once, stored sparsely.
//!
//! States, actions and state-action *pairs* are numbered from 0. The pairs of one state are contiguous and in the order of
//! the actions' numbers; only the actions a state allows have a pair, so actions may differ by state. Vectors over
//! state-action pairs (costs, occupancies, imitation targets) are indexed by pair; [`Mdp::by_state`] and
//! [`Mdp::by_pair`] make them.

use std::ops::Range;

use crate::rng::{self, Rng};

pub use builder::{Key, MdpBuilder};
pub use error::ModelError;
pub use error::missing_to_1;

mod builder;
mod error;
mod names;

use names::Names;

/// Rows whose probabilities sum to 1 within this tolerance are accepted, and then renormalised.
pub const ROW_TOLERANCE: f64 = 1e-9;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            fn from(number: u32) -> Self {
                Self(number)
            }
        }
    };
}

id! {
    /// A state, by number.
    State
}
id! {
    /// An action, by number. The same action in two states is two [`Pair`]s.
    Action
}
id! {
    /// A state together with one of its actions, by number.
    Pair
}

/// One possible outcome of a pair, laid out for sampling.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Probability of this outcome or an earlier one of its row; exactly 1 for the last.
    cumulative: f64,
    successor: u32,
}

/// The most likely outcome of a pair with all that a simulated step needs, so that most transitions are one load.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// Probability of the outcome; 1/ln of it, which is negative, if the state is sticky.
    probability: f64,
    /// First pair of its state.
    first_pair: u32,
    /// Where the other outcomes start in the list of all outcomes; [`CERTAIN`] if there are none.
    others: u32,
}

/// No other outcome than the most likely.
const CERTAIN: u32 = u32::MAX;

/// A state is *sticky* if every action keeps the agent there with the same probability, at least this: how long it stays
/// is then drawn at once, which costs as much as drawing a few steps.
const STICKY: f64 = 0.75;

/// What follows a pair.
pub(crate) enum Follow {
    /// The next state, by its first pair.
    Next(u32),
    /// So many more steps in the same state.
    Stay(usize),
}

/// A finite Markov decision process.
///
/// ```
/// use gumdp::Mdp;
/// let mdp = Mdp::named(["home", "away"], ["stay", "leave"])
///     .start("home")
///     .transition("home", "stay", [("home", 1.0)])
///     .transition("home", "leave", [("away", 0.9), ("home", 0.1)])
///     .transition("away", "stay", [("away", 1.0)])
///     .build()?;
/// let home = mdp.find_state("home").unwrap();
/// assert_eq!(mdp.pairs(home).len(), 2);
/// # Ok::<(), gumdp::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mdp {
    states: Names,
    actions: Names,
    /// Pairs of state `s` are `first_pair[s]..first_pair[s + 1]`; one entry more than there are states.
    first_pair: Vec<u32>,
    state_of_pair: Vec<u32>,
    action_of_pair: Vec<u32>,
    /// Outcomes of pair `p` are `first_outcome[p]..first_outcome[p + 1]`; one entry more than there are pairs.
    first_outcome: Vec<u32>,
    /// By the successor's number.
    successors: Vec<u32>,
    probabilities: Vec<f64>,
    /// The same rows for drawing: the most likely outcome first, so that few are looked at.
    outcomes: Vec<Outcome>,
    /// For each pair, what a simulated step looks at first.
    heads: Vec<Head>,
    /// The number of actions, if it is the same in every state.
    uniform_actions: Option<u32>,
    /// States with positive initial probability, in the order of their numbers.
    initial: Vec<(State, f64)>,
}

impl Mdp {
    /// Starts a model with the given names of states and actions.
    pub fn named<S: Into<String>, A: Into<String>>(
        states: impl IntoIterator<Item = S>,
        actions: impl IntoIterator<Item = A>,
    ) -> MdpBuilder {
        MdpBuilder::new(states, actions)
    }

    /// Starts a model with `states` states called s0, s1, … and `actions` actions called a0, a1, …
    #[must_use]
    pub fn sized(states: usize, actions: usize) -> MdpBuilder {
        MdpBuilder::new((0..states).map(|s| format!("s{s}")), (0..actions).map(|a| format!("a{a}")))
    }

    /// Number of states.
    #[must_use]
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// Number of actions, over all states.
    #[must_use]
    pub fn action_count(&self) -> usize {
        self.actions.len()
    }

    /// Number of state-action pairs: the length of every vector over pairs.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        self.action_of_pair.len()
    }

    /// Number of transitions with positive probability.
    #[must_use]
    pub fn transition_count(&self) -> usize {
        self.outcomes.len()
    }

    /// All states.
    pub fn states(&self) -> impl ExactSizeIterator<Item = State> + use<> {
        (0..self.state_count() as u32).map(State)
    }

    /// The pairs of a state, one for each action it allows, as a range of pair numbers.
    #[must_use]
    #[inline]
    pub fn pairs(&self, state: State) -> Range<u32> {
        self.first_pair[state.index()]..self.first_pair[state.index() + 1]
    }

    /// The first pair of each of some states that follow each other, and of the state after them.
    pub(crate) fn first_pairs(&self, states: Range<usize>) -> &[u32] {
        &self.first_pair[states.start..=states.end]
    }

    /// The pair of a state and an action, if the state allows the action.
    #[must_use]
    pub fn pair(&self, state: State, action: Action) -> Option<Pair> {
        self.pairs(state).map(Pair).find(|&pair| self.action(pair) == action)
    }

    /// The state of a pair.
    #[must_use]
    #[inline]
    pub fn state(&self, pair: Pair) -> State {
        State(self.state_of_pair[pair.index()])
    }

    /// The action of a pair.
    #[must_use]
    #[inline]
    pub fn action(&self, pair: Pair) -> Action {
        Action(self.action_of_pair[pair.index()])
    }

    /// The possible next states of a pair with their probabilities, in the order of the states' numbers.
    #[must_use]
    pub fn successors(&self, pair: Pair) -> impl ExactSizeIterator<Item = (State, f64)> + Clone + '_ {
        let row = self.row(pair);
        self.successors[row.clone()].iter().map(|&s| State(s)).zip(self.probabilities[row].iter().copied())
    }

    /// The possible next states of each of some pairs, and their probabilities.
    #[inline]
    pub(crate) fn rows(&self, pairs: Range<u32>) -> impl Iterator<Item = (&[u32], &[f64])> {
        let ends = &self.first_outcome[pairs.start as usize..=pairs.end as usize];
        let (mut successors, mut probabilities) =
            (&self.successors[ends[0] as usize..], &self.probabilities[ends[0] as usize..]);
        ends.windows(2).map(move |ends| {
            let (row, probability);
            (row, successors) = successors.split_at((ends[1] - ends[0]) as usize);
            (probability, probabilities) = probabilities.split_at(row.len());
            (row, probability)
        })
    }

    /// The states an episode may start in, with their probabilities.
    #[must_use]
    pub fn initial(&self) -> &[(State, f64)] {
        &self.initial
    }

    /// Draws an initial state.
    pub fn sample_initial(&self, rng: &mut Rng) -> State {
        let mut remaining = rng::unit(rng);
        for &(state, probability) in &self.initial {
            if remaining < probability {
                return state;
            }
            remaining -= probability;
        }
        self.initial[self.initial.len() - 1].0
    }

    /// Draws the next state of a pair. A certain transition draws no random number.
    #[expect(clippy::inline_always, reason = "one to three hundredths of a search")]
    #[inline(always)]
    pub fn sample(&self, pair: Pair, rng: &mut Rng) -> State {
        let row = self.row(pair);
        State(if row.len() == 1 { self.outcomes[row.start].successor } else { self.draw(row, rng::unit(rng)) })
    }

    /// The number of actions, if it is the same in every state.
    pub(crate) fn uniform_actions(&self) -> Option<u32> {
        self.uniform_actions
    }

    /// The number of actions of the state whose first pair this is.
    #[inline]
    pub(crate) fn actions_from(&self, first_pair: u32) -> u32 {
        self.pairs(State(self.state_of_pair[first_pair as usize])).len() as u32
    }

    /// Draws what follows a pair, by the first pair of the next state. In a sticky state it draws the whole stay: the state
    /// does not change for so many steps, and then [`Mdp::leave`] says where the last of them leads.
    #[expect(
        clippy::inline_always,
        reason = "a call for each step costs a tenth of a rollout where every transition is uncertain"
    )]
    #[inline(always)]
    pub(crate) fn follow(&self, pair: u32, rng: &mut Rng) -> Follow {
        let head = &self.heads[pair as usize];
        if head.others == CERTAIN {
            return Follow::Next(head.first_pair);
        }
        let u = rng::unit(rng);
        if u < head.probability {
            return Follow::Next(head.first_pair);
        }
        if head.probability < 0.0 {
            // P(u ≤ qᵏ) = qᵏ. A conversion to an integer saturates, also for u = 0.
            return Follow::Stay((u.ln() * head.probability) as usize);
        }
        Follow::Next(self.other(pair, u))
    }

    /// Draws where a pair of a sticky state leads if not to that state; returns the first pair of the next state.
    #[inline]
    pub(crate) fn leave(&self, pair: u32, rng: &mut Rng) -> u32 {
        let stay = self.outcomes[self.first_outcome[pair as usize] as usize].cumulative;
        self.other(pair, stay + (1.0 - stay) * rng::unit(rng))
    }

    /// The first pair of the first outcome but the most likely with u < cumulative.
    #[inline]
    fn other(&self, pair: u32, u: f64) -> u32 {
        let others = self.heads[pair as usize].others as usize..self.first_outcome[pair as usize + 1] as usize;
        self.first_pair[self.draw(others, u) as usize]
    }

    /// The first of these outcomes with u < cumulative. Few are scanned, many halved.
    #[inline]
    fn draw(&self, outcomes: Range<usize>, u: f64) -> u32 {
        let row = &self.outcomes[outcomes];
        let drawn = if row.len() <= 16 {
            row.iter().position(|o| u < o.cumulative).unwrap_or(row.len() - 1)
        } else {
            row.partition_point(|o| o.cumulative <= u)
        };
        row[drawn].successor
    }

    /// The name of a state.
    #[must_use]
    pub fn state_name(&self, state: State) -> &str {
        self.states.name(state.0)
    }

    /// The name of an action.
    #[must_use]
    pub fn action_name(&self, action: Action) -> &str {
        self.actions.name(action.0)
    }

    /// The state with this name.
    #[must_use]
    pub fn find_state(&self, name: &str) -> Option<State> {
        self.states.number(name).map(State)
    }

    /// The action with this name.
    #[must_use]
    pub fn find_action(&self, name: &str) -> Option<Action> {
        self.actions.number(name).map(Action)
    }

    /// A vector over pairs that depends on the state only, such as a cost by state.
    ///
    /// # Errors
    /// If there is not exactly one value for each state.
    pub fn by_state(&self, values: &[f64]) -> Result<Vec<f64>, ModelError> {
        if values.len() != self.state_count() {
            return Err(ModelError::Length { what: "states", got: values.len(), expected: self.state_count() });
        }
        Ok(self.state_of_pair.iter().map(|&s| values[s as usize]).collect())
    }

    /// A vector over pairs from a function of state and action.
    pub fn by_pair(&self, value: impl Fn(State, Action) -> f64) -> Vec<f64> {
        self.state_of_pair.iter().zip(&self.action_of_pair).map(|(&s, &a)| value(State(s), Action(a))).collect()
    }

    fn row(&self, pair: Pair) -> Range<usize> {
        self.first_outcome[pair.index()] as usize..self.first_outcome[pair.index() + 1] as usize
    }
}
