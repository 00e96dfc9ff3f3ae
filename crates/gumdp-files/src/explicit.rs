//! Files of `kind = "explicit"`: states, actions and transitions by name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document::{Table, Value, shortened};
use super::error::FileError;
use super::names::{Groups, Names};
use super::scene::{GraphScene, Scene};
use super::world::{ALL, Doubts, MAX_TRANSITIONS, World};
use gumdp::{Mdp, MdpBuilder, ModelError, ROW_TOLERANCE, State};

pub(super) const FIELDS: [&str; 8] =
    ["states", "actions", "start", "initial", "transition", "transitions", "groups", "layout"];

pub(super) fn read(root: Table) -> Result<World, FileError> {
    let mut states = Names::read("state", root)?;
    // Any name may be that of a group that could not be read.
    states.learns |= root.has_lost("groups");
    let actions = Names::read("action", root)?;
    let groups = read_groups(root, &states)?;
    let initial = root.accept(read_initial(root, &states))?.unwrap_or_else(|| ANYWHERE.to_vec());
    let rules = read_rules(root, &states, &actions, &groups)?;
    let positions = root.accept(read_layout(root, &states))?.flatten();
    let mut doubts = Doubts {
        states: states.learns,
        actions: actions.learns,
        transitions: states.learns || actions.learns || rules.doubtful || groups.values().any(Option::is_none),
        ..Doubts::default()
    };
    let mdp = build(root, &states, &actions, &initial, &rules.read, &mut doubts)?;
    let groups = groups
        .into_iter()
        .map(|(name, members)| {
            (name, members.unwrap_or_default().into_iter().map(|state| State(state as u32)).collect())
        })
        .collect();
    let scene = Scene::Graph(GraphScene { positions });
    Ok(World { mdp: Arc::new(mdp), groups, scene, doubts, costs: Vec::new() })
}

/// One `transition` of the file: the same outcomes for all these states and actions.
struct Rule {
    from: Vec<usize>,
    actions: Vec<usize>,
    /// Where it leads and how likely it is to stay on top of that; `None` if that is wrong, which is told already.
    outcomes: Option<(Vec<(usize, f64)>, f64)>,
    /// Where it stands in the text.
    place: usize,
}

/// All that could be read.
struct Rules {
    read: Vec<Rule>,
    /// For some it is not known what they are about.
    doubtful: bool,
}

fn read_groups(root: Table, states: &Names) -> Result<Groups, FileError> {
    let mut groups = Groups::new();
    let Some(table) = root.get("groups") else { return Ok(groups) };
    let Some(table) = root.accept(table.table())? else { return Ok(groups) };
    for (key, value) in table.entries() {
        let members = || {
            if states.find(key.text).is_some() || key.text == ALL {
                let name = shortened(key.text);
                let error = key.error(format!("the group \"{name}\" has the name of a state; names must differ"));
                root.accept::<()>(Err(error))?;
            }
            states.some(value, &Groups::new())
        };
        // A group with a mistake exists all the same: it may be named elsewhere.
        groups.insert(key.text.to_owned(), root.accept(members())?);
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

fn read_rules(root: Table, states: &Names, actions: &Names, groups: &Groups) -> Result<Rules, FileError> {
    let lists: Vec<Value> = ["transition", "transitions"].iter().filter_map(|key| root.get(key)).collect();
    let mut rules = Rules { read: Vec::new(), doubtful: false };
    if lists.is_empty() {
        root.accept::<()>(Err(root.missing("transitions")))?;
        rules.doubtful = true;
    }
    let mut transitions = 0_usize;
    let mut read = |value: Value| {
        let rule = value.table().and_then(|table| read_rule(table, states, actions, groups));
        let Some(rule) = value.accept(rule)? else {
            rules.doubtful = true;
            return Ok(());
        };
        let (from, of_actions) = (rule.from.len(), rule.actions.len());
        let to = rule.outcomes.as_ref().map_or(0, |(to, _)| to.len());
        transitions = from.saturating_mul(of_actions).saturating_mul(to + 1).saturating_add(transitions);
        if transitions > MAX_TRANSITIONS {
            let message = format!("the model has more than {MAX_TRANSITIONS} transitions; at most that many are read");
            return Err(value.error(message));
        }
        rules.read.push(rule);
        Ok(())
    };
    let mut broken = false;
    for list in lists {
        let values = root.accept(list.list())?;
        broken |= values.is_none();
        for value in values.unwrap_or_default() {
            read(value)?;
        }
    }
    broken |= !root.read_pieces(read)?;
    rules.doubtful |= broken;
    Ok(rules)
}

/// A rule is known as soon as it is known what it is about.
fn read_rule(table: Table, states: &Names, actions: &Names, groups: &Groups) -> Result<Rule, FileError> {
    table.only(&["from", "action", "to", "stay"])?;
    let from = table.needed("from", |from| states.some(from, groups))?;
    let actions = table.needed("action", |action| actions.some(action, &Groups::new()))?;
    let stay = table.accept(table.get("stay").map(Names::probability).transpose())?;
    let to = table.accept(match table.get("to") {
        Some(to) if to.is_table() => to.table().and_then(|to| states.distribution(to)),
        Some(to) => states.one(to).map(|state| vec![(state, 1.0)]),
        None if table.get("stay").is_some() => Ok(Vec::new()),
        None => Err(table.missing("to")),
    })?;
    let (Some(from), Some(actions)) = (from, actions) else { return Err(FileError::told()) };
    let outcomes = to.zip(stay).map(|(to, stay)| (to, stay.unwrap_or(0.0)));
    Ok(Rule { from, actions, outcomes, place: table.place_in_text() })
}

fn read_layout(root: Table, states: &Names) -> Result<Option<Vec<[f64; 2]>>, FileError> {
    let Some(layout) = root.get("layout") else { return Ok(None) };
    let mut positions = HashMap::new();
    let entries = layout.table()?.entries();
    let count = entries.len();
    for (key, value) in entries {
        let state = root.accept(states.number(key.text, |message| key.error(message)))?;
        let position = root.accept(value.two_numbers())?;
        positions.extend(state.zip(position));
    }
    if positions.len() < count || states.learns {
        return Ok(None);
    }
    let position = |state: usize| {
        positions.get(&state).copied().ok_or_else(|| {
            let name = shortened(&states.name(state));
            layout.error(format!("layout has no position for state \"{name}\"; every state needs one"))
        })
    };
    (0..states.count()).map(position).collect::<Result<_, _>>().map(Some)
}

/// The model of these rules. If all mistakes are wanted, a transition that is wrong is replaced by one that stays, so that
/// whatever names states and actions can be checked too.
fn build(
    root: Table,
    states: &Names,
    actions: &Names,
    initial: &[(usize, f64)],
    rules: &[Rule],
    doubts: &mut Doubts,
) -> Result<Mdp, FileError> {
    let error = match assemble(states, actions, initial, rules).build() {
        Ok(mdp) => return Ok(mdp),
        Err(error) => error,
    };
    if !root.document().mistakes.wants_all() {
        return Err(locate(&error, root, states, actions, rules));
    }
    let mut given = HashSet::new();
    let mut sound = Vec::new();
    for rule in rules {
        let pairs = || rule.from.iter().flat_map(|&state| rule.actions.iter().map(move |&action| (state, action)));
        let Some(first) = pairs().next() else { continue };
        let error = wrong_sum(rule, first, states, actions);
        if let Some(error) = &error {
            root.accept::<()>(Err(row_message(error, root, rule, pairs().count())))?;
        }
        let outcomes = rule.outcomes.clone().filter(|_| error.is_none());
        let (new, twice): (Vec<_>, Vec<_>) = pairs().partition(|&pair| given.insert(pair));
        if let Some(&(state, action)) = twice.first() {
            let error = ModelError::DuplicateTransition { state: states.name(state), action: actions.name(action) };
            root.accept::<()>(Err(row_message(&error, root, rule, twice.len())))?;
        }
        sound.extend(new.into_iter().map(|(state, action)| Rule {
            from: vec![state],
            actions: vec![action],
            outcomes: outcomes.clone(),
            place: rule.place,
        }));
    }
    let mut has_action = vec![false; states.count()];
    for &(state, _) in &given {
        has_action[state] = true;
    }
    for state in (0..states.count()).filter(|&state| !has_action[state]) {
        if !doubts.transitions {
            let error = ModelError::NoAction { state: states.name(state) };
            root.accept::<()>(Err(locate(&error, root, states, actions, rules)))?;
        }
        sound.push(Rule { from: vec![state], actions: vec![0], outcomes: None, place: 0 });
    }
    doubts.transitions |= has_action.contains(&false);
    let mut start = initial;
    loop {
        match assemble(states, actions, start, &sound).build() {
            Ok(mdp) => return Ok(mdp),
            Err(error @ ModelError::InitialSum { .. }) if start != ANYWHERE => {
                root.accept::<()>(Err(locate(&error, root, states, actions, rules)))?;
                start = &ANYWHERE;
            }
            Err(error) => return Err(locate(&error, root, states, actions, rules)),
        }
    }
}

/// Stands for initial probabilities with mistakes.
const ANYWHERE: [(usize, f64); 1] = [(0, 1.0)];

/// What is wrong with the sum of the probabilities of a rule, said of its first pair.
fn wrong_sum(rule: &Rule, (state, action): (usize, usize), states: &Names, actions: &Names) -> Option<ModelError> {
    let (to, stay) = rule.outcomes.as_ref()?;
    let sum = to.iter().map(|&(_, probability)| probability).sum::<f64>() + stay;
    let error = || ModelError::RowSum { state: states.name(state), action: actions.name(action), sum };
    ((sum - 1.0).abs() > ROW_TOLERANCE).then(error)
}

/// A rule's mistake, told once for all its pairs.
fn row_message(error: &ModelError, root: Table, rule: &Rule, pairs: usize) -> FileError {
    let others = if pairs > 1 { format!(" (and {} more like it)", pairs - 1) } else { String::new() };
    root.error_at(rule.place, format!("{error}{others}")).maybe_hint(error.hint())
}

fn assemble(states: &Names, actions: &Names, initial: &[(usize, f64)], rules: &[Rule]) -> MdpBuilder {
    let mut builder = Mdp::named(states.all(), actions.all()).initial(initial.iter().copied());
    for rule in rules {
        for &state in &rule.from {
            let (to, stay) = rule.outcomes.as_ref().map_or((&[][..], 1.0), |(to, stay)| (&to[..], *stay));
            let stay = (stay != 0.0).then_some((state, stay));
            for &action in &rule.actions {
                builder = builder.transition(state, action, to.iter().copied().chain(stay));
            }
        }
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
            let entries = states.list.and_then(|list| list.list().ok()).unwrap_or_default();
            entries.into_iter().find(|entry| entry.as_text() == Some(state)).map(|value| value.error(&message))
        }
        ModelError::InitialSum { .. } | ModelError::InitialProbability { .. } => {
            root.get("initial").map(|value| value.error(&message))
        }
        _ => None,
    };
    located.unwrap_or_else(|| root.error(message)).maybe_hint(error.hint())
}
