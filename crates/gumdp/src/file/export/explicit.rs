//! Problem files of kind "explicit".

use std::fmt::Write as _;

use super::super::import::quoted;
use super::{Export, ExportError, Task, linear_costs, lost_objective};
use crate::model::{Mdp, Pair};

pub(super) fn write(task: &Task) -> Result<Export, ExportError> {
    let (mdp, defaults) = (task.problem.mdp(), &task.defaults);
    check_names(mdp)?;
    let mut text = String::from("kind = \"explicit\"\n");
    if task.title != task.name {
        let _ = writeln!(text, "title = {}", quoted(&task.title));
    }
    if !task.description.is_empty() {
        let _ = writeln!(text, "description = {}", quoted(&task.description));
    }
    let states: Vec<String> = mdp.states().map(|state| quoted(mdp.state_name(state))).collect();
    let actions: Vec<String> =
        (0..mdp.action_count() as u32).map(|action| quoted(mdp.action_name(action.into()))).collect();
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
    text.push_str("]\n\n[objective]\nkind = \"linear\"\n");
    let costs = linear_costs(task).ok_or_else(|| ExportError::Objective(lost_objective(task)))?;
    text.push_str("[objective.cost]\n");
    for pair in (0..mdp.pair_count() as u32).map(Pair).filter(|pair| costs[pair.index()] != 0.0) {
        let (state, action) = (mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)));
        let _ = writeln!(text, "{} = {:?}", quoted(&format!("{state}/{action}")), costs[pair.index()]);
    }
    let betas: Vec<String> = defaults.betas.iter().map(|beta| format!("{beta:?}")).collect();
    let (runs, simulations) = (defaults.runs, defaults.simulations);
    let _ = writeln!(text, "\n[experiment]\nbeta = [{}]\nruns = {runs}\nsimulations = {simulations}", betas.join(", "));
    if let Some([low, high]) = defaults.curve {
        let _ = writeln!(text, "curve = [{low:?}, {high:?}]");
    }
    let _ = writeln!(
        text,
        "\n[planner]\nexploration = {:?}\nvariant = {}",
        defaults.exploration,
        quoted(&defaults.variant.to_string())
    );
    if !task.scripts.is_empty() {
        text.push_str("\n[scripts]\n");
    }
    for script in &task.scripts {
        let steps: Vec<&str> = script.actions.iter().map(|action| actions[action.index()].as_str()).collect();
        let _ = writeln!(text, "{} = [{}]", quoted(&script.name), steps.join(", "));
    }
    Ok(Export { files: vec![("toml", text)], notes: Vec::new() })
}

/// A pair is named "state/action".
fn check_names(mdp: &Mdp) -> Result<(), ExportError> {
    let refused = |name: &str| name.is_empty() || name == "*";
    let state = mdp.states().map(|state| mdp.state_name(state)).find(|name| refused(name) || name.contains('/'));
    let actions = (0..mdp.action_count() as u32).map(|action| mdp.action_name(action.into()));
    match state.or_else(|| actions.into_iter().find(|name| refused(name) || name.contains('/'))) {
        Some(name) => Err(ExportError::Name { name: name.to_owned() }),
        None => Ok(()),
    }
}
