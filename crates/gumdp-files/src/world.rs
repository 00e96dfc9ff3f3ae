//! What all kinds of file describe before any objective: a model, names for sets of its states, and how it looks.

use std::collections::HashMap;
use std::sync::Arc;

use super::document::{Key, shortened};
use super::error::did_you_mean;
use super::mistakes::{Mistake, unknown};
use super::scene::{GraphScene, GridScene, Scene, Terrain};
use gumdp::{Action, Mdp, ModelError, Pair, State};

/// The name that stands for all states or all actions.
pub(super) const ALL: &str = "*";

/// More transitions than this are taken for a mistake rather than allocated.
pub(super) const MAX_TRANSITIONS: usize = 20_000_000;

pub(super) struct World {
    pub(super) mdp: Arc<Mdp>,
    /// Names for sets of states.
    pub(super) groups: HashMap<String, Vec<State>>,
    pub(super) scene: Scene,
    /// What is not known of the model, because of mistakes that are told already.
    pub(super) doubts: Doubts,
    /// Costs of the pairs by name: those of an imported model, or of a map's legend.
    pub(super) costs: Vec<(String, Vec<f64>)>,
}

/// Which parts of a model have mistakes. What is said elsewhere about such a part may be right.
#[derive(Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // Independent parts of a model.
pub(super) struct Doubts {
    /// There may be other states and groups of states.
    pub(super) states: bool,
    /// There may be other actions.
    pub(super) actions: bool,
    /// States may have other actions.
    pub(super) transitions: bool,
    /// There may be costs with names.
    pub(super) costs: bool,
    /// The doubts about states are about cells of a map: there are no other groups.
    pub(super) of_map: bool,
}

impl Doubts {
    pub(super) const ALL: Self = Self { states: true, actions: true, transitions: true, costs: true, of_map: false };

    pub(super) fn any(self) -> bool {
        self.states || self.actions || self.transitions || self.costs
    }
}

impl World {
    /// Stands for a model of which nothing is known, a map or not.
    pub(super) fn placeholder(is_map: bool) -> Result<Self, ModelError> {
        let mdp = Mdp::named([""], [""]).start(0).transition(0, 0, [(0, 1.0)]).build()?;
        let scene = if is_map {
            Scene::Grid(GridScene {
                rows: 1,
                columns: 1,
                terrains: vec![Terrain::floor(' ')],
                terrain_of_cell: vec![0],
                cell_of_state: vec![Some(0)],
                ..GridScene::default()
            })
        } else {
            Scene::Graph(GraphScene { positions: None })
        };
        Ok(Self { mdp: Arc::new(mdp), groups: HashMap::new(), scene, doubts: Doubts::ALL, costs: Vec::new() })
    }

    /// The pairs that `state`, `group` or `*` stands for, each optionally followed by `/action`.
    pub(super) fn select(&self, key: Key) -> Option<Vec<Pair>> {
        if let Some(states) = self.states(key.text) {
            let pairs = || states.iter().flat_map(|&state| self.mdp.pairs(state).map(Pair)).collect();
            return if states.is_empty() && self.doubts.any() { None } else { Some(pairs()) };
        }
        let Some((name, action)) = key.text.rsplit_once('/') else { return self.unknown(key, key.text) };
        let states = self.states(name).or_else(|| self.unknown(key, name));
        let known = self.action(action, |message| key.error(message));
        let (states, known) = (states?, known?);
        let pairs: Vec<Pair> = states.iter().filter_map(|&state| self.mdp.pair(state, known)).collect();
        if pairs.is_empty() && self.doubts.any() {
            return None;
        }
        if pairs.is_empty() && !states.is_empty() {
            let message = format!("\"{}\": action \"{action}\" is never possible there", shortened(key.text));
            return key.error(message).tell();
        }
        Some(pairs)
    }

    fn states(&self, name: &str) -> Option<Vec<State>> {
        if name == ALL {
            return Some(self.mdp.states().collect());
        }
        self.mdp.find_state(name).map(|state| vec![state]).or_else(|| self.groups.get(name).cloned())
    }

    /// The action with this name; `error` makes a mistake of a message.
    pub(super) fn action<'t>(&self, name: &str, error: impl FnOnce(String) -> Mistake<'t>) -> Option<Action> {
        if self.doubts.actions { self.mdp.find_action(name) } else { find_action(&self.mdp, name, error) }
    }

    /// Whether a name is neither that of a cell of the map nor of anything else that happens on maps.
    fn is_nowhere(&self, name: &str) -> bool {
        let Scene::Grid(GridScene { rows, columns, .. }) = self.scene else { return false };
        let Some((row, rest)) = name.strip_prefix('(').and_then(|rest| rest.split_once(',')) else {
            return !["start", "home", "defeated", "over"].iter().any(|word| name.starts_with(word));
        };
        let column = rest.split(')').next().unwrap_or(rest);
        let outside = |number: &str, count: usize| number.parse::<usize>().is_ok_and(|number| number >= count);
        outside(row, rows) || outside(column, columns)
    }

    fn unknown<T>(&self, key: Key, name: &str) -> Option<T> {
        if self.doubts.states && !(self.doubts.of_map && self.is_nowhere(name)) {
            return None;
        }
        let mut groups: Vec<&str> = self.groups.keys().map(String::as_str).collect();
        groups.sort_unstable(); // Hash order must not decide which name is suggested.
        let states = self.mdp.states().map(|state| self.mdp.state_name(state));
        let hint = did_you_mean(name, groups.into_iter().chain(states));
        key.error(format!("unknown state or group \"{}\"", shortened(name))).maybe_hint(hint).tell()
    }
}

/// The state with this name; `error` makes a mistake of a message.
pub(super) fn find_state<'t>(mdp: &Mdp, name: &str, error: impl FnOnce(String) -> Mistake<'t>) -> Option<State> {
    let names = mdp.states().map(|state| mdp.state_name(state));
    mdp.find_state(name).or_else(|| unknown("state", name, names, error))
}

/// The action with this name; `error` makes a mistake of a message.
pub(super) fn find_action<'t>(mdp: &Mdp, name: &str, error: impl FnOnce(String) -> Mistake<'t>) -> Option<Action> {
    mdp.find_action(name).or_else(|| unknown("action", name, action_names(mdp), error))
}

/// The names of the actions, by number.
pub(super) fn action_names(mdp: &Mdp) -> impl Iterator<Item = &str> {
    (0..mdp.action_count() as u32).map(|action| mdp.action_name(action.into()))
}
