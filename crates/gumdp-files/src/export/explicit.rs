//! Problem files of kind "explicit".

use std::fmt::Write as _;

use super::super::files::quoted;
use super::super::world::{ALL, action_names};
use super::super::{GraphScene, Scene};
use super::{Export, ExportError, Task, groups, lost_objective, objective};
use gumdp::{GuidedSettings, Mdp, Pair, Selection};

pub(super) fn write(task: &Task) -> Result<Export, ExportError> {
    let (mdp, defaults) = (task.problem.mdp(), &task.defaults);
    check_names(mdp)?;
    let mut notes = Vec::new();
    let objective = match objective::write(task, &mut notes) {
        Ok(objective) => objective,
        Err(because) => return as_it_is(task, &because),
    };
    if let Scene::Grid(_) = task.scene {
        notes.push("the map is not written: its cells become states by name".to_owned());
    }
    let mut text = String::from("kind = \"explicit\"\n");
    if task.title != task.name {
        let _ = writeln!(text, "title = {}", quoted(&task.title));
    }
    if !task.description.is_empty() {
        let _ = writeln!(text, "description = {}", quoted(&task.description));
    }
    let states: Vec<String> = mdp.states().map(|state| quoted(mdp.state_name(state))).collect();
    let actions: Vec<String> = action_names(mdp).map(quoted).collect();
    let _ = writeln!(text, "states = [{}]\nactions = [{}]", states.join(", "), actions.join(", "));
    let outcomes = |outcomes: &mut dyn Iterator<Item = (usize, f64)>| {
        let entries: Vec<String> = outcomes.map(|(state, p)| format!("{} = {p:?}", states[state])).collect();
        format!("{{ {} }}", entries.join(", "))
    };
    let initial = outcomes(&mut mdp.initial().iter().map(|&(state, p)| (state.index(), p)));
    let _ = writeln!(text, "initial = {initial}");
    let _ = writeln!(text, "discount = {:?}\nhorizon = {}", task.problem.discount(), task.problem.horizon());
    text.push_str("transitions = [\n");
    for pair in (0..mdp.pair_count() as u32).map(Pair) {
        let to = outcomes(&mut mdp.successors(pair).map(|(state, p)| (state.index(), p)));
        let (state, action) = (&states[mdp.state(pair).index()], &actions[mdp.action(pair).index()]);
        let _ = writeln!(text, "  {{ from = {state}, action = {action}, to = {to} }},");
    }
    let _ = write!(text, "]\n\n{objective}");
    let groups = groups(task);
    if !groups.is_empty() {
        text.push_str("\n[groups]\n");
    }
    for (name, members) in groups {
        let members: Vec<&str> = members.iter().map(|state| states[state.index()].as_str()).collect();
        let _ = writeln!(text, "{} = [{}]", quoted(&name), members.join(", "));
    }
    if let Scene::Graph(GraphScene { positions: Some(positions) }) = &task.scene {
        text.push_str("\n[layout]\n");
        for (state, [x, y]) in states.iter().zip(positions) {
            let _ = writeln!(text, "{state} = [{x:?}, {y:?}]");
        }
    }
    let attitude = if defaults.risks.is_empty() {
        let betas: Vec<String> = defaults.betas.iter().map(|beta| format!("{beta:?}")).collect();
        format!("beta = [{}]", betas.join(", "))
    } else {
        let risks: Vec<String> = defaults.risks.iter().map(|risk| quoted(&risk.to_string())).collect();
        format!("risk = [{}]", risks.join(", "))
    };
    let (runs, simulations) = (defaults.runs, defaults.simulations);
    let _ = writeln!(text, "\n[experiment]\n{attitude}\nruns = {runs}\nsimulations = {simulations}");
    if let Some([low, high]) = defaults.curve {
        let _ = writeln!(text, "curve = [{low:?}, {high:?}]");
    }
    let _ = writeln!(
        text,
        "\n[planner]\nexploration = {:?}\nvariant = {}",
        defaults.exploration,
        quoted(&defaults.variant.to_string())
    );
    if defaults.selection != Selection::default() {
        let _ = writeln!(text, "selection = {}", quoted(&defaults.selection.to_string()));
    }
    let GuidedSettings { budget, reach, forecast, exploration, rollouts, caution, .. } = defaults.guided.clone();
    if defaults.guided != (GuidedSettings { budget, ..GuidedSettings::default() }) {
        let _ = writeln!(
            text,
            "guided = {{ reach = {reach:?}, forecast = {forecast:?}, exploration = {exploration:?}, rollouts = {rollouts}, caution = {caution:?} }}"
        );
    }
    if !task.scripts.is_empty() {
        text.push_str("\n[scripts]\n");
    }
    for script in &task.scripts {
        let steps: Vec<&str> = script.actions.iter().map(|action| actions[action.index()].as_str()).collect();
        let _ = writeln!(text, "{} = [{}]", quoted(&script.name), steps.join(", "));
    }
    if let Err(error) = Task::parse("the problem file", &text) {
        return Err(ExportError::Unreadable(error.to_string()));
    }
    Ok(Export { files: vec![("toml", text)], notes })
}

/// The file that the task was read from, if it holds everything: some objectives need more than kind "explicit" has.
fn as_it_is(task: &Task, because: &str) -> Result<Export, ExportError> {
    if task.source.is_empty() {
        return Err(ExportError::Objective(format!("{}: {because}", lost_objective(task))));
    }
    let note =
        format!("the problem file is written as it is, since one of kind \"explicit\" cannot hold it: {because}");
    Ok(Export { files: vec![("toml", task.source.clone())], notes: vec![note] })
}

/// A pair is named "state/action".
fn check_names(mdp: &Mdp) -> Result<(), ExportError> {
    let mut names = mdp.states().map(|state| mdp.state_name(state)).chain(action_names(mdp));
    let refused = names.find(|name| name.is_empty() || *name == ALL || name.contains('/'));
    refused.map_or(Ok(()), |name| Err(ExportError::Name { name: name.to_owned() }))
}
