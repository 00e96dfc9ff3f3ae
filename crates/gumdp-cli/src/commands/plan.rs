//! `gumdp plan`: one decision with its reasons.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use gumdp::rng::{self, Purpose};
use gumdp::{Budget, Erm, Planner, PlannerSettings, State, StopReason, Task};
use serde::Serialize;

use super::{load, print_json};
use crate::args::PolicyName;
use crate::cells::Cell;
use crate::failure::BadInput;
use crate::number::{self, short};
use crate::table::Table;

#[derive(Serialize)]
struct Plan<'a> {
    task: &'a str,
    #[serde(with = "crate::number")]
    beta: f64,
    state: &'a str,
    action: &'a str,
    root_estimate: f64,
    simulations: u64,
    simulated_steps: u64,
    tree_nodes: usize,
    stopped: &'static str,
    reasons: Vec<Reason<'a>>,
}

#[derive(Serialize)]
struct Reason<'a> {
    action: &'a str,
    visits: u64,
    /// `null` for an action that was never tried.
    erm: Option<f64>,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
}

/// The budget of the command line; `None` means the task's.
pub fn budget(simulations: Option<u64>, time_limit: Option<Duration>) -> Option<Budget> {
    simulations.map(Budget::simulations).or(time_limit.map(Budget::time))
}

/// Plans one decision at time 0 and prints it.
pub fn plan(name: &str, beta: f64, state: Option<&str>, budget: Option<Budget>, seed: u64, json: bool) -> Result<()> {
    let task = load(name)?;
    let mdp = task.problem.mdp();
    let state = find_state(&task, state)?;
    let cell = Cell::new(&task, beta, None, PolicyName::Planner, seed);
    let mut settings: PlannerSettings = cell.planner_settings(&task);
    settings.budget = budget.unwrap_or(settings.budget);
    let mut planner = Planner::new(&task.problem, Erm::new(beta)?, settings).map_err(BadInput::new)?;
    let decision = planner.decide(&task.problem.start(state), &mut rng::stream(seed, 0, Purpose::Policy));

    if json {
        let known = |x: f64| x.is_finite().then_some(x);
        let plan = Plan {
            task: &task.name,
            beta,
            state: mdp.state_name(state),
            action: mdp.action_name(decision.action),
            root_estimate: decision.root_estimate,
            simulations: decision.simulations,
            simulated_steps: decision.simulated_steps,
            tree_nodes: decision.tree_nodes,
            stopped: stop_reason(decision.stopped),
            reasons: decision
                .reasons
                .iter()
                .map(|reason| Reason {
                    action: mdp.action_name(reason.action),
                    visits: reason.visits,
                    erm: known(reason.erm),
                    mean: known(reason.mean),
                    min: known(reason.min),
                    max: known(reason.max),
                })
                .collect(),
        };
        return print_json(&plan);
    }
    let mut out = io::stdout().lock();
    let (played, place) = (mdp.action_name(decision.action), mdp.state_name(state));
    writeln!(out, "{}, beta = {}: play {played} in {place}", task.name, number::beta(beta))?;
    writeln!(out)?;
    let mut table = Table::new(&["action", "visits", "ERM", "mean", "worst seen"], &[0]);
    for reason in &decision.reasons {
        let number = |x: f64| if x.is_nan() { "–".to_owned() } else { short(x) };
        let name = mdp.action_name(reason.action);
        let mark = if reason.action == decision.action { " ←" } else { "" };
        table.row(vec![
            format!("{name}{mark}"),
            reason.visits.to_string(),
            number(reason.erm),
            number(reason.mean),
            number(reason.max),
        ]);
    }
    table.print(&mut out)?;
    writeln!(out)?;
    writeln!(
        out,
        "estimated ERM {}; {} simulations, {} steps, {} nodes; stopped by {}",
        short(decision.root_estimate),
        decision.simulations,
        decision.simulated_steps,
        decision.tree_nodes,
        stop_reason(decision.stopped)
    )?;
    Ok(())
}

fn stop_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Simulations => "number of simulations",
        StopReason::TimeLimit => "time limit",
    }
}

fn find_state(task: &Task, name: Option<&str>) -> Result<State> {
    let mdp = task.problem.mdp();
    let Some(name) = name else { return Ok(mdp.initial()[0].0) };
    mdp.find_state(name).ok_or_else(|| {
        let names: Vec<&str> = mdp.states().map(|state| mdp.state_name(state)).collect();
        let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 8 { format!(", … ({} in all)", names.len()) } else { String::new() };
        BadInput::new(format!("unknown state \"{name}\" of task {}", task.name))
            .hint(format!("its states are {shown}{more}"))
            .into()
    })
}
