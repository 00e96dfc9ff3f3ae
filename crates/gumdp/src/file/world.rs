//! What all kinds of file describe before any objective: a model, names for sets of its states, and how it looks.

use std::collections::HashMap;
use std::sync::Arc;

use super::document::{Key, shortened};
use super::error::{FileError, nearest};
use super::scene::Scene;
use crate::model::{Mdp, Pair, State};

/// The name that stands for all states or all actions.
pub(super) const ALL: &str = "*";

/// More transitions than this are taken for a mistake rather than allocated.
pub(super) const MAX_TRANSITIONS: usize = 20_000_000;

pub(super) struct World {
    pub(super) mdp: Arc<Mdp>,
    /// Names for sets of states.
    pub(super) groups: HashMap<String, Vec<State>>,
    pub(super) scene: Scene,
    /// Costs of the pairs by name: those of an imported model, or of a map's legend.
    pub(super) costs: Vec<(String, Vec<f64>)>,
}

impl World {
    /// The pairs that `state`, `group` or `*` stands for, each optionally followed by `/action`.
    pub(super) fn select(&self, key: Key) -> Result<Vec<Pair>, FileError> {
        if let Some(states) = self.states(key.text) {
            return Ok(states.into_iter().flat_map(|state| self.mdp.pairs(state).map(Pair)).collect());
        }
        let Some((name, action)) = key.text.rsplit_once('/') else {
            return Err(self.unknown(key, key.text));
        };
        let states = self.states(name).ok_or_else(|| self.unknown(key, name))?;
        let known = self.mdp.find_action(action).ok_or_else(|| {
            let actions = (0..self.mdp.action_count() as u32).map(|a| self.mdp.action_name(a.into()));
            key.error(format!("unknown action \"{}\"", shortened(action))).maybe_hint(nearest(action, actions))
        })?;
        let pairs: Vec<Pair> = states.iter().filter_map(|&state| self.mdp.pair(state, known)).collect();
        if pairs.is_empty() && !states.is_empty() {
            return Err(key.error(format!("\"{}\": action \"{action}\" is never possible there", shortened(key.text))));
        }
        Ok(pairs)
    }

    fn states(&self, name: &str) -> Option<Vec<State>> {
        if name == ALL {
            return Some(self.mdp.states().collect());
        }
        self.mdp.find_state(name).map(|state| vec![state]).or_else(|| self.groups.get(name).cloned())
    }

    fn unknown(&self, key: Key, name: &str) -> FileError {
        let mut groups: Vec<&str> = self.groups.keys().map(String::as_str).collect();
        groups.sort_unstable(); // Hash order must not decide which name is suggested.
        let states = self.mdp.states().map(|state| self.mdp.state_name(state));
        key.error(format!("unknown state or group \"{}\"", shortened(name)))
            .maybe_hint(nearest(name, groups.into_iter().chain(states)))
    }
}
