//! Files of `kind = "explicit"`: states, actions and transitions by name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document::{Either, Key, Table, Value, shortened};
use super::names::{Groups, Names};
use super::scene::{GraphScene, Scene};
use super::world::{ALL, Doubts, MAX_TRANSITIONS, World};
use gumdp::{Mdp, MdpBuilder, ModelError, ROW_TOLERANCE, State};

pub(super) const FIELDS: [&str; 8] =
    ["states", "actions", "start", "initial", "transition", "transitions", "groups", "layout"];

pub(super) fn read(root: Table) -> Option<World> {
    let mut states = Names::read("state", root);
    // Any name may be that of a group that could not be read.
    states.learns |= root.has_lost("groups");
    let actions = Names::read("action", root);
    let groups = read_groups(root, &states);
    let initial = read_initial(root, &states).unwrap_or_else(|| ANYWHERE.to_vec());
    let rules = read_rules(root, &states, &actions, &groups)?;
    let positions = root.get("layout").and_then(|layout| read_layout(layout, &states));
    let mut doubts = Doubts {
        states: states.learns,
        actions: actions.learns,
        transitions: states.learns || actions.learns || rules.doubtful || groups.values().any(Option::is_none),
        ..Doubts::default()
    };
    let mdp = build(root, &states, &actions, &initial, &rules.read, &mut doubts)?;
    let members =
        |members: Option<Vec<usize>>| members.into_iter().flatten().map(|state| State(state as u32)).collect();
    let groups = groups.into_iter().map(|(name, states)| (name, members(states))).collect();
    let scene = Scene::Graph(GraphScene { positions });
    Some(World { mdp: Arc::new(mdp), groups, scene, doubts, costs: Vec::new() })
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

fn read_groups(root: Table, states: &Names) -> Groups {
    let entries = root.get("groups").and_then(Value::entries).unwrap_or_default();
    let group = |(key, value): (Key, Value)| {
        if states.find(key.text).is_some() || key.text == ALL {
            let name = shortened(key.text);
            key.error(format!("the group \"{name}\" has the name of a state; names must differ")).tell::<()>();
        }
        // A group with a mistake exists all the same: it may be named elsewhere.
        (key.text.to_owned(), states.some(value, &Groups::new()))
    };
    entries.into_iter().map(group).collect()
}

fn read_initial(root: Table, states: &Names) -> Option<Vec<(usize, f64)>> {
    match root.either("start", "initial")? {
        Either::One(start) => Some(vec![(states.one(start)?, 1.0)]),
        Either::Other(initial) => states.by_name(initial, Names::probability),
        Either::Neither => root.missing("start", Some("name a state, or give initial = { … }")),
    }
}

fn read_rules(root: Table, states: &Names, actions: &Names, groups: &Groups) -> Option<Rules> {
    let lists: Vec<Value> = ["transition", "transitions"].iter().filter_map(|key| root.get(key)).collect();
    let mut rules = Rules { read: Vec::new(), doubtful: false };
    if lists.is_empty() {
        root.missing::<()>("transitions", None);
        rules.doubtful = true;
    }
    let mut transitions = 0_usize;
    let mut read = |value: Value| {
        let Some(rule) = value.table().and_then(|table| read_rule(table, states, actions, groups)) else {
            rules.doubtful = true;
            return Some(());
        };
        let (from, of_actions) = (rule.from.len(), rule.actions.len());
        let to = rule.outcomes.as_ref().map_or(0, |(to, _)| to.len());
        transitions = from.saturating_mul(of_actions).saturating_mul(to + 1).saturating_add(transitions);
        if transitions > MAX_TRANSITIONS {
            let message = format!("the model has more than {MAX_TRANSITIONS} transitions; at most that many are read");
            return value.error(message).tell();
        }
        rules.read.push(rule);
        Some(())
    };
    let mut broken = false;
    for list in lists {
        let values = list.list();
        broken |= values.is_none();
        values.unwrap_or_default().into_iter().try_for_each(&mut read)?;
    }
    broken |= root.read_pieces(&mut read).is_none();
    if transitions > MAX_TRANSITIONS {
        return None;
    }
    rules.doubtful |= broken;
    Some(rules)
}

/// A rule is known as soon as it is known what it is about.
fn read_rule(table: Table, states: &Names, actions: &Names, groups: &Groups) -> Option<Rule> {
    table.only(&["from", "action", "to", "stay"]);
    let from = table.need("from").and_then(|from| states.some(from, groups));
    let actions = table.need("action").and_then(|action| actions.some(action, &Groups::new()));
    let stay = table.get("stay").map_or(Some(0.0), Names::probability);
    let to = match table.get("to") {
        Some(to) if to.is_table() => states.by_name(to, Names::probability),
        Some(to) => states.one(to).map(|state| vec![(state, 1.0)]),
        None if table.get("stay").is_some() => Some(Vec::new()),
        None => table.missing("to", None),
    };
    Some(Rule { from: from?, actions: actions?, outcomes: to.zip(stay), place: table.place_in_text() })
}

fn read_layout(layout: Value, states: &Names) -> Option<Vec<[f64; 2]>> {
    let positions: HashMap<usize, [f64; 2]> = states.by_name(layout, Value::two_numbers)?;
    let position = |state: usize| {
        let name = || shortened(&states.name(state));
        let missing = || format!("layout has no position for state \"{}\"; every state needs one", name());
        positions.get(&state).copied().or_else(|| layout.error(missing()).tell())
    };
    if states.learns { None } else { (0..states.count()).map(position).collect() }
}

/// The model of these rules. A transition that is wrong is replaced by one that stays, so that whatever names states and actions
/// can be checked too.
fn build(
    root: Table,
    states: &Names,
    actions: &Names,
    initial: &[(usize, f64)],
    rules: &[Rule],
    doubts: &mut Doubts,
) -> Option<Mdp> {
    if let Ok(mdp) = assemble(states, actions, initial, rules).build() {
        return Some(mdp);
    }
    let mut given = HashSet::new();
    let mut sound = Vec::new();
    for rule in rules {
        let pairs = || rule.from.iter().flat_map(|&state| rule.actions.iter().map(move |&action| (state, action)));
        let Some(first) = pairs().next() else { continue };
        let error = wrong_sum(rule, first, states, actions);
        if let Some(error) = &error {
            tell_once(error, root, rule, pairs().count());
        }
        let outcomes = rule.outcomes.clone().filter(|_| error.is_none());
        let (new, twice): (Vec<_>, Vec<_>) = pairs().partition(|&pair| given.insert(pair));
        if let Some(&(state, action)) = twice.first() {
            let error = ModelError::DuplicateTransition { state: states.name(state), action: actions.name(action) };
            tell_once(&error, root, rule, twice.len());
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
            let entries = states.list.and_then(Value::list).unwrap_or_default();
            let named = entries.into_iter().find(|entry| entry.as_text() == Some(&states.name(state)));
            tell_at(named, root, &error);
        }
        sound.push(Rule { from: vec![state], actions: vec![0], outcomes: None, place: 0 });
    }
    doubts.transitions |= has_action.contains(&false);
    let error = match assemble(states, actions, initial, &sound).build() {
        Ok(mdp) => return Some(mdp),
        Err(error) => error,
    };
    let is_initial = matches!(error, ModelError::InitialSum { .. } | ModelError::InitialProbability { .. });
    tell_at(root.get("initial").filter(|_| is_initial), root, &error);
    assemble(states, actions, &ANYWHERE, &sound).build().ok()
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

/// Tells a rule's mistake once for all its pairs.
fn tell_once(error: &ModelError, root: Table, rule: &Rule, pairs: usize) {
    let others = if pairs > 1 { format!(" (and {} more like it)", pairs - 1) } else { String::new() };
    root.text().error(rule.place, format!("{error}{others}")).maybe_hint(error.hint()).tell::<()>();
}

/// Tells what is wrong with the model at the value that caused it.
fn tell_at(value: Option<Value>, root: Table, error: &ModelError) {
    let message = error.to_string();
    value.map_or_else(|| root.error(&message), |value| value.error(&message)).maybe_hint(error.hint()).tell::<()>();
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
