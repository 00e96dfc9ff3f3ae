//! The built-in tasks are what the paper and its data say, checked number by number against hand-written tables.

mod grids;
mod small;

use std::collections::BTreeMap;

use gumdp::{Mdp, Pair, Problem, State};
use gumdp_files::{GridScene, PlannerVariant, Scene, Task, tasks};

fn task(name: &str) -> Task {
    Task::parse(name, tasks::source(name).unwrap()).unwrap()
}

fn grid(task: &Task) -> &GridScene {
    match &task.scene {
        Scene::Grid(grid) => grid,
        Scene::Graph(_) => panic!("not a grid"),
    }
}

fn state(mdp: &Mdp, name: &str) -> State {
    mdp.find_state(name).unwrap_or_else(|| panic!("no state {name}"))
}

fn pair(mdp: &Mdp, name: &str, action: &str) -> Pair {
    mdp.pair(state(mdp, name), mdp.find_action(action).unwrap()).unwrap()
}

#[track_caller]
fn check_row(mdp: &Mdp, name: &str, action: &str, expected: &[(&str, f64)]) {
    let row: BTreeMap<&str, f64> =
        mdp.successors(pair(mdp, name, action)).map(|(s, p)| (mdp.state_name(s), p)).collect();
    assert_eq!(row.len(), expected.len(), "{name} {action}: {row:?}");
    for (successor, probability) in expected {
        assert!((row[successor] - probability).abs() < 1e-15, "{name} {action}: {row:?}");
    }
}

#[track_caller]
fn check_model(problem: &Problem, start: &str, discount: f64, horizon: usize) {
    let mdp = problem.mdp();
    assert_eq!(mdp.initial(), [(state(mdp, start), 1.0)]);
    assert_eq!(problem.discount(), discount);
    assert_eq!(problem.horizon(), horizon);
}

#[track_caller]
fn check_defaults(task: &Task, betas: [f64; 3], runs: u64, simulations: u64) {
    assert_eq!(task.defaults.betas, betas);
    assert_eq!((task.defaults.runs, task.defaults.simulations), (runs, simulations));
    let is_grid = task.name.starts_with("grid-");
    assert_eq!(task.defaults.variant, if is_grid { PlannerVariant::Grid } else { PlannerVariant::Illustrative });
    assert_eq!(task.defaults.exploration, if is_grid { 2.0_f64.sqrt() } else { 1.0 });
}

/// The cost of a path of (state, action), which must be possible.
#[track_caller]
fn cost_of(problem: &Problem, steps: &[(&str, &str)]) -> f64 {
    let mdp = problem.mdp();
    assert_eq!(steps.len(), problem.horizon());
    let path: Vec<Pair> = steps.iter().map(|(state, action)| pair(mdp, state, action)).collect();
    for (step, next) in path.iter().zip(&path[1..]) {
        assert!(mdp.successors(*step).any(|(s, _)| s == mdp.state(*next)), "an impossible path");
    }
    problem.objective().value(&problem.occupancy(&path))
}

/// γ^t (1 − γ)/(1 − γ^H), straight from the definition.
fn mass(discount: f64, horizon: i32, time: i32) -> f64 {
    discount.powi(time) * (1.0 - discount) / (1.0 - discount.powi(horizon))
}

/// Entropy as it is published: every entry (cell, action) is smoothed by itself, then the actions are summed out.
fn entropy_cost(entries: &[Vec<f64>], epsilon: f64, lowest: f64) -> f64 {
    let n: usize = entries.iter().map(Vec::len).sum();
    let h: f64 = entries
        .iter()
        .map(|cell| cell.iter().map(|d| (1.0 - epsilon * n as f64) * d + epsilon).sum::<f64>())
        .map(|x| x * x.ln())
        .sum();
    (h - lowest) / (0.0 - lowest)
}

#[test]
fn all_are_listed_and_described() {
    for name in tasks::NAMES {
        let task = tasks::get(name).unwrap();
        assert_eq!(task.name, name);
        assert!(!task.description.is_empty());
        assert!(task.title != task.name);
    }
    assert!(tasks::get("none").is_none());
    assert!(tasks::source("none").is_none());
}
