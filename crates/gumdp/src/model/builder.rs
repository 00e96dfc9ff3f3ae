//! Building and validating a model.

use super::names::Names;
use super::{Action, CERTAIN, Head, Mdp, ModelError, Outcome, ROW_TOLERANCE, STICKY, State};

/// A state or an action, by name or by number. Strings, integers, [`State`]s and [`Action`]s turn into one by themselves.
///
/// ```
/// use gumdp::Mdp;
/// let by_name = Mdp::named(["x"], ["go"]).start("x").transition("x", "go", [("x", 1.0)]);
/// let by_number = Mdp::named(["x"], ["go"]).start(0).transition(0, 0, [(0, 1.0)]);
/// assert!(by_name.build().is_ok() && by_number.build().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// By name.
    Name(String),
    /// By number, from 0; no state or action has a negative one.
    Number(i64),
}

macro_rules! keys {
    ($($from:ty => |$value:ident| $key:expr),* $(,)?) => {
        $(impl From<$from> for Key {
            fn from($value: $from) -> Self {
                $key
            }
        })*
    };
}

keys! {
    &str => |name| Self::Name(name.to_owned()),
    String => |name| Self::Name(name),
    usize => |number| Self::Number(i64::try_from(number).unwrap_or(i64::MAX)),
    // Integer literals; a negative one is unknown like any other wrong number.
    i32 => |number| Self::Number(number.into()),
    State => |state| Self::Number(state.0.into()),
    Action => |action| Self::Number(action.0.into()),
}

/// A model under construction: see [`Mdp::named`] and [`Mdp::sized`].
///
/// Calls can be chained; the first mistake is kept and reported by [`MdpBuilder::build`].
#[derive(Clone, Debug)]
pub struct MdpBuilder {
    states: Names,
    actions: Names,
    initial: Vec<(u32, f64)>,
    /// State, action, and the outcomes that are theirs.
    rows: Vec<(u32, u32, std::ops::Range<u32>)>,
    outcomes: Vec<(u32, f64)>,
    error: Option<ModelError>,
}

impl MdpBuilder {
    pub(super) fn new<S: Into<String>, A: Into<String>>(
        states: impl IntoIterator<Item = S>,
        actions: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut error = None;
        let states = Names::new("state", states, &mut error);
        let actions = Names::new("action", actions, &mut error);
        Self { states, actions, initial: Vec::new(), rows: Vec::new(), outcomes: Vec::new(), error }
    }

    /// Every episode starts in `state`.
    #[must_use]
    pub fn start(self, state: impl Into<Key>) -> Self {
        self.initial([(state, 1.0)])
    }

    /// Episodes start in a state drawn from this distribution; states not named have probability 0.
    #[must_use]
    pub fn initial<K: Into<Key>>(mut self, distribution: impl IntoIterator<Item = (K, f64)>) -> Self {
        for (state, probability) in distribution {
            let Some(state) = self.state(state.into()) else { return self };
            self.initial.push((state, probability));
        }
        self
    }

    /// In `state`, `action` leads to these states with these probabilities. A next state named twice gets the sum.
    #[must_use]
    pub fn transition<K: Into<Key>>(
        mut self,
        state: impl Into<Key>,
        action: impl Into<Key>,
        outcomes: impl IntoIterator<Item = (K, f64)>,
    ) -> Self {
        let (Some(state), Some(action)) = (self.state(state.into()), self.action(action.into())) else {
            return self;
        };
        let first = self.outcomes.len();
        for (successor, probability) in outcomes {
            let Some(successor) = self.state(successor.into()) else { return self };
            self.outcomes.push((successor, probability));
        }
        // Too many to have such numbers are refused when the model is built.
        self.rows.push((state, action, first as u32..self.outcomes.len() as u32));
        self
    }

    /// Validates everything and builds the model.
    ///
    /// # Errors
    /// The first mistake found: an unknown or repeated name, a probability outside [0, 1], a row or the initial
    /// distribution not summing to 1, a repeated transition, a state without actions.
    pub fn build(mut self) -> Result<Mdp, ModelError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let named = [("states", self.states.len()), ("actions", self.actions.len())];
        if let Some(&(what, _)) = named.iter().find(|(_, count)| *count == 0) {
            return Err(ModelError::Empty { what });
        }
        let listed = [("state-action pairs", self.rows.len()), ("transitions", self.outcomes.len())];
        if let Some((what, count)) = named.into_iter().chain(listed).find(|(_, count)| *count >= u32::MAX as usize) {
            return Err(ModelError::TooMany { what, count });
        }
        let initial = self.initial_distribution()?;

        let mut rows = std::mem::take(&mut self.rows);
        if !rows.is_sorted_by_key(|&(state, action, _)| (state, action)) {
            rows.sort_by_key(|&(state, action, _)| (state, action));
        }
        if let Some(twice) = rows.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
            let (state, action) = self.names(twice[0].0, twice[0].1);
            return Err(ModelError::DuplicateTransition { state, action });
        }
        let mut first_pair = vec![0_u32; self.states.len() + 1];
        for &(state, _, _) in &rows {
            first_pair[state as usize + 1] += 1;
        }
        if let Some(state) = first_pair[1..].iter().position(|&actions| actions == 0) {
            return Err(ModelError::NoAction { state: self.states.name(state as u32).to_owned() });
        }
        for state in 0..self.states.len() {
            first_pair[state + 1] += first_pair[state];
        }
        let mut first_outcome = Vec::with_capacity(rows.len() + 1);
        first_outcome.push(0_u32);
        let mut row = Vec::new();
        let mut successors = Vec::with_capacity(self.outcomes.len());
        let mut probabilities = Vec::with_capacity(self.outcomes.len());
        let mut outcomes = Vec::with_capacity(self.outcomes.len());
        for (state, action, range) in &rows {
            let given = &self.outcomes[range.start as usize..range.end as usize];
            self.validate_row(*state, *action, given, &mut row)?;
            successors.extend(row.iter().map(|&(successor, _)| successor));
            probabilities.extend(row.iter().map(|&(_, probability)| probability));
            row.sort_by(|a, b| b.1.total_cmp(&a.1));
            let mut cumulative = 0.0;
            outcomes.extend(row.iter().map(|&(successor, probability)| {
                cumulative += probability;
                Outcome { cumulative, successor }
            }));
            if let Some(last) = outcomes.last_mut() {
                last.cumulative = 1.0;
            }
            first_outcome.push(outcomes.len() as u32);
        }
        let head = |pair: usize| {
            let (first, end) = (first_outcome[pair], first_outcome[pair + 1]);
            let Outcome { cumulative, successor } = outcomes[first as usize];
            let others = if first + 1 == end { CERTAIN } else { first + 1 };
            Head { probability: cumulative, first_pair: first_pair[successor as usize], others }
        };
        let mut heads: Vec<Head> = (0..rows.len()).map(head).collect();
        for pairs in first_pair.windows(2) {
            let actions = &mut heads[pairs[0] as usize..pairs[1] as usize];
            let stay = actions[0].probability;
            let sticky =
                |head: &Head| head.first_pair == pairs[0] && head.probability == stay && head.others != CERTAIN;
            if stay >= STICKY && actions.iter().all(sticky) {
                for head in actions {
                    head.probability = 1.0 / stay.ln();
                }
            }
        }
        let mut actions = first_pair.windows(2).map(|pairs| pairs[1] - pairs[0]);
        let uniform_actions = actions.next().filter(|&first| actions.all(|other| other == first));
        Ok(Mdp {
            states: self.states,
            actions: self.actions,
            first_pair,
            state_of_pair: rows.iter().map(|row| row.0).collect(),
            action_of_pair: rows.iter().map(|row| row.1).collect(),
            first_outcome,
            successors,
            probabilities,
            outcomes,
            heads,
            uniform_actions,
            initial,
        })
    }

    /// The outcomes of one row: checked, sorted by state, merged, without zeros, summing to 1.
    fn validate_row(
        &self,
        state: u32,
        action: u32,
        given: &[(u32, f64)],
        row: &mut Vec<(u32, f64)>,
    ) -> Result<(), ModelError> {
        for &(successor, value) in given {
            if !(0.0..=1.0 + ROW_TOLERANCE).contains(&value) {
                let (state, action) = self.names(state, action);
                let successor = self.states.name(successor).to_owned();
                return Err(ModelError::Probability { state, action, successor, value });
            }
        }
        normalise(given, row).map_err(|sum| {
            let (state, action) = self.names(state, action);
            ModelError::RowSum { state, action, sum }
        })
    }

    fn initial_distribution(&self) -> Result<Vec<(State, f64)>, ModelError> {
        for &(state, value) in &self.initial {
            if !(0.0..=1.0 + ROW_TOLERANCE).contains(&value) {
                return Err(ModelError::InitialProbability { state: self.states.name(state).to_owned(), value });
            }
        }
        let mut distribution = Vec::new();
        normalise(&self.initial, &mut distribution).map_err(|sum| ModelError::InitialSum { sum })?;
        Ok(distribution.into_iter().map(|(state, probability)| (State(state), probability)).collect())
    }

    fn state(&mut self, key: Key) -> Option<u32> {
        let found = self.states.find(key);
        self.keep_first_error(found)
    }

    fn action(&mut self, key: Key) -> Option<u32> {
        let found = self.actions.find(key);
        self.keep_first_error(found)
    }

    fn keep_first_error(&mut self, found: Result<u32, ModelError>) -> Option<u32> {
        found.map_err(|error| _ = self.error.get_or_insert(error)).ok()
    }

    fn names(&self, state: u32, action: u32) -> (String, String) {
        (self.states.name(state).to_owned(), self.actions.name(action).to_owned())
    }
}

/// Sorted, merged, without zeros and divided by the sum; the sum as an error if it is not close to 1.
fn normalise(given: &[(u32, f64)], row: &mut Vec<(u32, f64)>) -> Result<(), f64> {
    let sum = given.iter().fold(0.0, |sum, &(_, p)| sum + p);
    if (sum - 1.0).abs() > ROW_TOLERANCE {
        return Err(sum);
    }
    row.clear();
    row.extend(given.iter().filter(|&&(_, p)| p > 0.0).map(|&(s, p)| (s, p / sum)));
    row.sort_by_key(|&(state, _)| state);
    row.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_states() -> MdpBuilder {
        Mdp::named(["x", "y"], ["go"]).start("x").transition("y", "go", [("y", 1.0)])
    }

    #[track_caller]
    fn refuses(builder: MdpBuilder, message: &str) {
        assert_eq!(builder.build().unwrap_err().to_string(), message);
    }

    #[test]
    fn mistakes_are_named() {
        refuses(
            two_states().transition("x", "go", [("x", 0.5), ("y", 0.4)]),
            "state \"x\", action \"go\": the probabilities sum to 0.9; they must sum to 1 within 1e-9",
        );
        refuses(
            two_states().transition("x", "go", [("x", -0.5), ("y", 1.5)]),
            "state \"x\", action \"go\": the probability of \"x\" is -0.5; it must lie in [0, 1]",
        );
        refuses(
            two_states().transition("x", "go", [("x", f64::NAN), ("y", 1.0)]),
            "state \"x\", action \"go\": the probability of \"x\" is NaN; it must lie in [0, 1]",
        );
        refuses(two_states(), "state \"x\" has no action; every state needs at least one transition");
        refuses(two_states().transition("z", "go", [("x", 1.0)]), "unknown state \"z\"");
        refuses(two_states().transition("x", "fly", [("x", 1.0)]), "unknown action \"fly\"");
        refuses(two_states().transition(2, 0, [(0, 1.0)]), "unknown state \"2\"");
        refuses(Mdp::named(["-1"], ["go"]).start(-1).transition(-1, 0, [(0, 1.0)]), "unknown state \"-1\"");
        refuses(
            two_states().transition("x", "go", [("x", 1.0)]).transition("x", "go", [("y", 1.0)]),
            "the transition of state \"x\", action \"go\" is given twice",
        );
        refuses(Mdp::named(["x"], ["g\no"]), "action name \"g\\no\" has a line break; a name is one line");
        refuses(Mdp::named(["x", "x"], ["go"]), "state name \"x\" is given twice; names must differ");
        refuses(Mdp::sized(0, 1), "the model has no states; it needs at least one");
        refuses(
            Mdp::sized(1, 1).transition(0, 0, [(0, 1.0)]),
            "the initial probabilities sum to 0; they must sum to 1 within 1e-9",
        );
        refuses(
            Mdp::sized(1, 1).initial([(0, f64::INFINITY)]).transition(0, 0, [(0, 1.0)]),
            "the initial probability of state \"s0\" is inf; it must lie in [0, 1]",
        );
    }

    #[test]
    fn rows_are_sorted_merged_and_renormalised() {
        let row = [("y", 0.25), ("x", 0.5), ("y", 0.25 + 5e-10), ("x", 0.0)];
        let mdp = two_states().transition("x", "go", row).build().unwrap();
        let successors: Vec<_> = mdp.successors(mdp.pair(State(0), Action(0)).unwrap()).collect();
        assert_eq!(successors.len(), 2);
        assert_eq!(successors[0].0, State(0));
        let sum: f64 = successors.iter().map(|s| s.1).sum();
        assert!((sum - 1.0).abs() < 1e-15);
    }
}
