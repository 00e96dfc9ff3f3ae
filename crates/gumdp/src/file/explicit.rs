//! Files of `kind = "explicit"`: states, actions and transitions by name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document::{Table, Value, shortened};
use super::error::{FileError, nearest};
use super::scene::{GraphScene, Scene};
use super::world::{ALL, MAX_TRANSITIONS, World};
use crate::model::{Mdp, MdpBuilder, ModelError, State};

pub(super) const FIELDS: [&str; 8] =
    ["states", "actions", "start", "initial", "transition", "transitions", "groups", "layout"];

pub(super) fn read(root: Table) -> Result<World, FileError> {
    let states = Names::read("state", root.need("states")?)?;
    let actions = Names::read("action", root.need("actions")?)?;
    let groups = read_groups(root, &states)?;
    let initial = root.accept(read_initial(root, &states))?.unwrap_or_else(|| vec![(0, 1.0)]);
    let rules = root.accept(read_rules(root, &states, &actions, &groups))?.unwrap_or_default();
    let mdp = build(root, &states, &actions, initial, &rules)?;
    let positions = root.accept(read_layout(root, &states))?.flatten();
    let groups = groups
        .into_iter()
        .map(|(name, members)| (name, members.into_iter().map(|state| State(state as u32)).collect()))
        .collect();
    Ok(World { mdp: Arc::new(mdp), groups, scene: Scene::Graph(GraphScene { positions }), costs: Vec::new() })
}

type Groups = HashMap<String, Vec<usize>>;

/// One `transition` of the file: the same outcomes for all these states and actions.
struct Rule {
    from: Vec<usize>,
    actions: Vec<usize>,
    to: Vec<(usize, f64)>,
    /// Probability of staying where one is, on top of `to`.
    stay: f64,
    /// Where it stands in the text.
    place: usize,
}

/// The names of all states, or of all actions.
struct Names<'a> {
    what: &'static str,
    all: Vec<&'a str>,
    number: HashMap<&'a str, usize>,
    list: Value<'a>,
}

impl<'a> Names<'a> {
    fn read(what: &'static str, list: Value<'a>) -> Result<Self, FileError> {
        let mut names = Vec::new();
        let mut number = HashMap::new();
        for value in list.list()? {
            let name = || {
                let name = value.text()?;
                if name == ALL || name.is_empty() {
                    return Err(value.error(format!("\"{name}\" cannot be the name of a state or an action")));
                }
                if number.contains_key(name) {
                    return Err(value.error(ModelError::DuplicateName { what, name: shortened(name) }.to_string()));
                }
                Ok(name)
            };
            let Some(name) = list.accept(name())? else { continue };
            number.insert(name, names.len());
            names.push(name);
        }
        if names.is_empty() && list.list()?.is_empty() {
            return Err(list.error(format!("{} is empty; it must name at least one {what}", list.name())));
        }
        Ok(Self { what, all: names, number, list })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.number.get(name).copied()
    }

    fn unknown(&self, name: &str, error: impl FnOnce(String) -> FileError) -> FileError {
        error(format!("unknown {} \"{}\"", self.what, shortened(name)))
            .maybe_hint(nearest(name, self.all.iter().copied()))
    }

    fn one(&self, value: Value) -> Result<usize, FileError> {
        let name = value.text()?;
        self.find(name).ok_or_else(|| self.unknown(name, |message| value.error(message)))
    }

    /// A name, a list of names or `*`; a name may also be that of a group.
    fn some(&self, value: Value, groups: &Groups) -> Result<Vec<usize>, FileError> {
        if value.as_text() == Some(ALL) {
            return Ok((0..self.all.len()).collect());
        }
        let values = if value.is_list() { value.list()? } else { vec![value] };
        let mut numbers = Vec::new();
        for value in values {
            match groups.get(value.text()?) {
                Some(members) => numbers.extend(members),
                None => numbers.push(self.one(value)?),
            }
        }
        Ok(numbers)
    }

    /// A table from names to probabilities.
    fn distribution(&self, table: Table) -> Result<Vec<(usize, f64)>, FileError> {
        let entries = table.entries().into_iter();
        entries
            .map(|(key, value)| {
                let number = self.find(key.text).ok_or_else(|| self.unknown(key.text, |m| key.error(m)))?;
                Ok((number, value.number()?))
            })
            .collect()
    }
}

fn read_groups(root: Table, states: &Names) -> Result<Groups, FileError> {
    let mut groups = Groups::new();
    let Some(table) = root.get("groups") else { return Ok(groups) };
    let Some(table) = root.accept(table.table())? else { return Ok(groups) };
    for (key, value) in table.entries() {
        let members = || {
            if states.find(key.text).is_some() || key.text == ALL {
                let name = shortened(key.text);
                return Err(key.error(format!("the group \"{name}\" has the name of a state; names must differ")));
            }
            states.some(value, &Groups::new())
        };
        // A group with a mistake exists all the same: it may be named elsewhere.
        let members = root.accept(members())?.unwrap_or_default();
        groups.insert(key.text.to_owned(), members);
    }
    Ok(groups)
}

fn read_initial(root: Table, states: &Names) -> Result<Vec<(usize, f64)>, FileError> {
    match (root.get("start"), root.get("initial")) {
        (Some(start), None) => Ok(vec![(states.one(start)?, 1.0)]),
        (None, Some(initial)) => states.distribution(initial.table()?),
        (Some(_), Some(initial)) => Err(initial.error("both start and initial are given; give one of them")),
        (None, None) => Err(root.missing("start").hint("name a state, or give initial = { … }")),
    }
}

fn read_rules(root: Table, states: &Names, actions: &Names, groups: &Groups) -> Result<Vec<Rule>, FileError> {
    let lists: Vec<Value> = ["transition", "transitions"].iter().filter_map(|key| root.get(key)).collect();
    if lists.is_empty() {
        return Err(root.missing("transitions"));
    }
    let mut rules = Vec::new();
    let mut transitions = 0_usize;
    let mut read = |value: Value| {
        let rule = value.table().and_then(|table| read_rule(table, states, actions, groups));
        let Some(rule) = value.accept(rule)? else { return Ok(()) };
        let (from, of_actions, to) = (rule.from.len(), rule.actions.len(), rule.to.len());
        transitions = from.saturating_mul(of_actions).saturating_mul(to + 1).saturating_add(transitions);
        if transitions > MAX_TRANSITIONS {
            let message = format!("the model has more than {MAX_TRANSITIONS} transitions; at most that many are read");
            return Err(value.error(message));
        }
        rules.push(rule);
        Ok(())
    };
    for list in lists {
        for value in root.accept(list.list())?.unwrap_or_default() {
            read(value)?;
        }
    }
    root.read_pieces(read)?;
    Ok(rules)
}

fn read_rule(table: Table, states: &Names, actions: &Names, groups: &Groups) -> Result<Rule, FileError> {
    table.only(&["from", "action", "to", "stay"])?;
    let from = states.some(table.need("from")?, groups)?;
    let actions = actions.some(table.need("action")?, &Groups::new())?;
    let stay = table.get("stay").map(Value::number).transpose()?;
    let to = match table.get("to") {
        Some(to) if to.is_table() => states.distribution(to.table()?)?,
        Some(to) => vec![(states.one(to)?, 1.0)],
        None if stay.is_some() => Vec::new(),
        None => return Err(table.missing("to")),
    };
    Ok(Rule { from, actions, to, stay: stay.unwrap_or(0.0), place: table.place_in_text() })
}

fn read_layout(root: Table, states: &Names) -> Result<Option<Vec<[f64; 2]>>, FileError> {
    let Some(layout) = root.get("layout") else { return Ok(None) };
    let mut positions = vec![None; states.all.len()];
    for (key, value) in layout.table()?.entries() {
        let state = states.find(key.text).ok_or_else(|| states.unknown(key.text, |message| key.error(message)))?;
        positions[state] = Some(value.two_numbers()?);
    }
    if let Some(state) = positions.iter().position(Option::is_none) {
        let name = shortened(states.all[state]);
        return Err(layout.error(format!("layout has no position for state \"{name}\"; every state needs one")));
    }
    Ok(Some(positions.into_iter().flatten().collect()))
}

/// The model of these rules. If all mistakes are wanted, a transition that is wrong is reported and then replaced by one that
/// stays, so that whatever names states and actions can be checked too.
fn build(
    root: Table,
    states: &Names,
    actions: &Names,
    mut initial: Vec<(usize, f64)>,
    rules: &[Rule],
) -> Result<Mdp, FileError> {
    // Where a rule could not be read, transitions are missing for that reason alone.
    let incomplete = root.document().mistakes.any();
    let mut replaced = HashSet::new();
    loop {
        let builder = assemble(states, actions, &initial, rules, &replaced);
        let error = match builder.build() {
            Ok(mdp) => return Ok(mdp),
            Err(error) => error,
        };
        if !(incomplete && matches!(error, ModelError::NoAction { .. })) {
            root.accept(Err::<(), _>(locate(&error, root, states, actions, rules)))?;
        }
        let known = match &error {
            ModelError::RowSum { state, action, .. }
            | ModelError::Probability { state, action, .. }
            | ModelError::DuplicateTransition { state, action } => states.find(state).zip(actions.find(action)),
            ModelError::NoAction { state } => states.find(state).map(|state| (state, 0)),
            ModelError::InitialSum { .. } | ModelError::InitialProbability { .. } => {
                initial = vec![(0, 1.0)];
                continue;
            }
            _ => None,
        };
        // Nothing new is known: go on without the model.
        if !known.is_some_and(|pair| replaced.insert(pair)) {
            return Err(locate(&error, root, states, actions, rules));
        }
    }
}

fn assemble(
    states: &Names,
    actions: &Names,
    initial: &[(usize, f64)],
    rules: &[Rule],
    replaced: &HashSet<(usize, usize)>,
) -> MdpBuilder {
    let mut builder =
        Mdp::named(states.all.iter().copied(), actions.all.iter().copied()).initial(initial.iter().copied());
    for rule in rules {
        for &state in &rule.from {
            let stay = (rule.stay != 0.0).then_some((state, rule.stay));
            for &action in rule.actions.iter().filter(|&&action| !replaced.contains(&(state, action))) {
                builder = builder.transition(state, action, rule.to.iter().copied().chain(stay));
            }
        }
    }
    for &(state, action) in replaced {
        builder = builder.transition(state, action, [(state, 1.0)]);
    }
    builder
}

/// The model's complaint, at the place of the file that caused it.
fn locate(error: &ModelError, root: Table, states: &Names, actions: &Names, rules: &[Rule]) -> FileError {
    let message = error.to_string();
    let located = match error {
        ModelError::RowSum { state, action, .. }
        | ModelError::Probability { state, action, .. }
        | ModelError::DuplicateTransition { state, action } => {
            let (state, action) = (states.find(state), actions.find(action));
            let gives = |rule: &&Rule| {
                rule.from.iter().any(|&s| Some(s) == state) && rule.actions.iter().any(|&a| Some(a) == action)
            };
            // Of a transition given twice, the second is the surprising one.
            rules.iter().rfind(gives).map(|rule| root.error_at(rule.place, &message))
        }
        ModelError::NoAction { state } => {
            let entry = states.find(state).and_then(|number| states.list.list().ok()?.get(number).copied());
            entry.map(|value| value.error(&message))
        }
        ModelError::InitialSum { .. } | ModelError::InitialProbability { .. } => {
            root.get("initial").map(|value| value.error(&message))
        }
        _ => None,
    };
    located.unwrap_or_else(|| root.error(message))
}
