//! Storm's explicit format.

use std::fmt::Write as _;

use super::{Export, Task, groups, linear_costs, lost_objective};
use gumdp::oracle::OccupancyMdp;
use gumdp::{Mdp, Pair, State};

pub(super) fn write(task: &Task) -> Export {
    let mdp = task.problem.mdp();
    let (discount, horizon) = (task.problem.discount(), task.problem.horizon());
    let mut notes = vec![format!("DRN has no discount ({discount}) and no horizon ({horizon})")];
    let costs = costs(task, &mut notes);
    if let [first, others @ ..] = mdp.initial()
        && others.iter().any(|other| (other.1 - first.1).abs() > 1e-12)
    {
        notes.push("DRN marks the initial states but not how likely each is".to_owned());
    }
    Export { files: vec![("drn", text("Exported by gumdp", mdp, &costs, &groups(task)))], notes }
}

/// The occupancy MDP of a task, and in comments what its costs are.
pub(super) fn write_occupancy(task: &Task, unfolded: &OccupancyMdp) -> Export {
    let (problem, steps) = (&task.problem, unfolded.steps);
    let (horizon, discount) = (problem.horizon(), problem.discount());
    let title = format!(
        "The occupancy MDP of {}, exported by gumdp: a state is a time, a state of the model, and what f needs to know of the visits so far\n\
         f = {} of {horizon} steps with discount {discount}; the cost is paid once, on the way to \"done\"\n{unfolded}\n\
         v = R{{\"cost\"}}min=? [F \"done\"]: the lowest expected total cost, {steps} times the lowest average cost of {steps} steps",
        word(&task.name),
        problem.objective(),
    );
    let text = text(&title, &unfolded.mdp, &[("cost".to_owned(), unfolded.costs.clone())], &[]);
    Export { files: vec![("drn", text)], notes: Vec::new() }
}

/// A model with costs as reward models and groups of states as labels.
fn text(title: &str, mdp: &Mdp, costs: &[(String, Vec<f64>)], groups: &[(String, Vec<State>)]) -> String {
    let names: Vec<String> = costs.iter().map(|(name, _)| word(name)).collect();
    let type_name = if mdp.pair_count() == mdp.state_count() { "DTMC" } else { "MDP" };
    let title = title.replace('\n', "\n// ");
    let mut text = format!(
        "// {title}\n@type: {type_name}\n@value_type: double\n@parameters\n\n@reward_models\n{}\n@nr_states\n{}\n\
         @nr_choices\n{}\n@model\n",
        names.join(" "),
        mdp.state_count(),
        mdp.pair_count()
    );
    let nothing = rewards(costs.iter().map(|_| 0.0));
    let mut initial = vec![false; mdp.state_count()];
    for &(state, _) in mdp.initial() {
        initial[state.index()] = true;
    }
    let mut labels = vec![String::new(); mdp.state_count()];
    for (name, members) in groups {
        for state in members {
            let _ = write!(labels[state.index()], " {}", label(name));
        }
    }
    for state in mdp.states() {
        let name = mdp.state_name(state);
        let _ = write!(text, "state {}{nothing}{}", state.index(), if initial[state.index()] { " init" } else { "" });
        if name != format!("s{}", state.index()) {
            let _ = write!(text, " {}", label(name));
        }
        let _ = writeln!(text, "{}", labels[state.index()]);
        for pair in mdp.pairs(state).map(Pair) {
            let own = rewards(costs.iter().map(|(_, cost)| cost[pair.index()]));
            let _ = writeln!(text, "\taction {}{own}", action(mdp.action_name(mdp.action(pair))));
            for (next, probability) in mdp.successors(pair) {
                let _ = writeln!(text, "\t\t{} : {probability:?}", next.index());
            }
        }
    }
    text
}

/// The costs to be written as reward models.
fn costs(task: &Task, notes: &mut Vec<String>) -> Vec<(String, Vec<f64>)> {
    let objective = task.problem.objective();
    if let Some(cost) = linear_costs(task) {
        if task.costs.first().is_some_and(|(_, first)| *first == cost) {
            return task.costs.clone();
        }
        return vec![("cost".to_owned(), cost)];
    }
    let pairs = task.problem.mdp().pair_count();
    let count = if pairs == 0 { 0 } else { objective.pair_costs(0).len() };
    let mut costs: Vec<(String, Vec<f64>)> =
        (1..=count).map(|number| (format!("cost{number}"), Vec::with_capacity(pairs))).collect();
    for pair in 0..pairs {
        for ((_, cost), value) in costs.iter_mut().zip(objective.pair_costs(pair)) {
            cost.push(value);
        }
    }
    let kept = if costs.is_empty() { "" } else { "; the costs in it are written as reward models" };
    notes.push(format!("{}{kept}", lost_objective(task)));
    costs
}

fn rewards(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<String> = values.map(|value| format!("{value:?}")).collect();
    if values.is_empty() { String::new() } else { format!(" [{}]", values.join(", ")) }
}

/// A name as one word.
fn word(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.+".contains(c) { c } else { '_' };
    let word: String = name.chars().map(plain).collect();
    if word.is_empty() { "_".to_owned() } else { word }
}

/// Action a7 is written as 7, as Storm does.
fn action(name: &str) -> String {
    match name.strip_prefix('a') {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.to_owned(),
        _ => word(name),
    }
}

/// A name as a label.
fn label(name: &str) -> String {
    if name == "init" {
        return "init_".to_owned();
    }
    if word(name) == name {
        return name.to_owned();
    }
    let plain = |c: char| if c.is_control() || c == '"' || c == '/' { '_' } else { c };
    format!("\"{}\"", name.chars().map(plain).collect::<String>())
}
