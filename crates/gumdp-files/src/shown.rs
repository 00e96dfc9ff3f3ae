//! Problems and behaviours as plain data: what the views draw. The format is described at the top of `gumdp-plot/web/views.js`.

use serde_json::{Value, json};

use gumdp::frontier::{Behaviour, Intervals, Point};
use gumdp::oracle::Distribution;
use gumdp::{Mdp, Pair, Risk, State};

use crate::{Scene, Task, Terrain};

/// Outcomes that are drawn one by one; more are put together.
const MOST_OUTCOMES: usize = 600;
/// Transitions that a graph is drawn with.
const MOST_EDGES: usize = 400;

/// JSON has no infinity; JavaScript reads these words as one.
#[must_use]
pub fn number(value: f64) -> Value {
    if value.is_finite() {
        json!(value)
    } else if value.is_nan() {
        Value::Null
    } else {
        json!(if value > 0.0 { "Infinity" } else { "-Infinity" })
    }
}

/// An attitude to risk: how it is written, and its number.
#[must_use]
pub fn attitude(risk: Risk) -> Value {
    let (form, level) = risk.swept().map_or(("", f64::NAN), |(form, level)| (form.name, level));
    json!({ "risk": risk.to_string(), "measure": form, "level": number(level) })
}

/// The names of its states.
#[must_use]
pub fn state_names(task: &Task) -> Vec<&str> {
    let mdp = task.problem.mdp();
    mdp.states().map(|state| mdp.state_name(state)).collect()
}

/// The names of its actions.
#[must_use]
pub fn action_names(mdp: &Mdp) -> Vec<&str> {
    (0..mdp.action_count() as u32).map(|action| mdp.action_name(action.into())).collect()
}

/// The problem as a whole.
#[must_use]
pub fn problem(task: &Task) -> Value {
    let mdp = task.problem.mdp();
    let cells = match &task.scene {
        Scene::Grid(grid) => Some(&grid.cell_of_state),
        Scene::Graph(_) => None,
    };
    let actions_of = |state: State| mdp.pairs(state).map(|pair| mdp.action(Pair(pair)).0).collect::<Vec<_>>();
    json!({
        "name": task.name,
        "title": task.title,
        "description": task.description,
        "notes": task.notes,
        "source": task.source,
        "states": state_names(task),
        "actions": action_names(mdp),
        "actions_of_state": mdp.states().map(actions_of).collect::<Vec<_>>(),
        "place_of_state": cells,
        "horizon": task.problem.horizon(),
        "discount": task.problem.discount(),
        "initial": mdp.initial().iter().map(|(state, p)| json!([state.0, p])).collect::<Vec<_>>(),
        "scene": scene(task),
        "features": task.features.iter().map(|(name, _)| name).collect::<Vec<_>>(),
    })
}

/// How it is drawn.
#[must_use]
pub fn scene(task: &Task) -> Value {
    let mdp = task.problem.mdp();
    match &task.scene {
        Scene::Grid(grid) => json!({
            "kind": "grid",
            "rows": grid.rows,
            "columns": grid.columns,
            "cells": grid.terrain_of_cell,
            "terrains": grid.terrains.iter().map(terrain).collect::<Vec<_>>(),
            "start": grid.start,
            "path": grid.behaviour,
        }),
        Scene::Graph(graph) => {
            let edge = |pair: Pair| {
                let (from, action) = (mdp.state(pair).0, mdp.action(pair).0);
                mdp.successors(pair).map(move |(to, p)| json!([from, action, to.0, p]))
            };
            let edges = (0..mdp.pair_count() as u32).flat_map(|pair| edge(Pair(pair))).take(MOST_EDGES + 1);
            let edges: Vec<Value> = edges.collect();
            let positions = graph.positions.as_ref().filter(|_| edges.len() <= MOST_EDGES);
            json!({ "kind": "graph", "positions": positions, "edges": positions.map(|_| &edges) })
        }
    }
}

fn terrain(terrain: &Terrain) -> Value {
    json!({
        "symbol": terrain.symbol,
        "name": terrain.name,
        "wall": terrain.wall,
        "start": terrain.start,
        "home": terrain.home,
        "resource": terrain.resource,
        "enemy": terrain.enemy,
        "sticky": terrain.sticky.map(|sticky| [sticky.stuck, sticky.unstuck]),
        "one_way": terrain.one_way,
        "absorbing": terrain.absorbing,
        "cost": terrain.cost,
    })
}

/// What comes of a behaviour. Quantiles and means are of all outcomes, also where fewer are drawn.
#[must_use]
pub fn behaviour(task: &Task, own: &Behaviour) -> Value {
    let mdp = task.problem.mdp();
    let (count, cells) = match &task.scene {
        Scene::Grid(grid) => (grid.terrain_of_cell.len(), Some(&grid.cell_of_state)),
        Scene::Graph(_) => (mdp.state_count(), None),
    };
    let place = |state: State| match cells {
        Some(cells) => cells[state.index()].map(|cell| cell as usize),
        None => Some(state.index()),
    };
    let places = own.places(mdp, count, place);
    let named = |pair: &Pair| json!([mdp.state(*pair).0, mdp.action(*pair).0]);
    let feature = |(name, cost): &(String, Vec<f64>)| json!({ "name": name, "value": own.expected(cost) });
    let mut told = distribution(&own.costs);
    let more = json!({
        "tail": own.tail(),
        "occupancy": places.iter().map(|place| place.occupancy).collect::<Vec<_>>(),
        "actions": places.iter().map(|place| &place.actions).collect::<Vec<_>>(),
        "first": own.first.iter().map(named).collect::<Vec<_>>(),
        "features": task.features.iter().map(feature).collect::<Vec<_>>(),
    });
    join(&mut told, more);
    told
}

/// A distribution of costs.
#[must_use]
pub fn distribution(costs: &Distribution) -> Value {
    let outcomes = costs.thinned(MOST_OUTCOMES);
    json!({
        "mean": costs.mean(),
        "low": costs.min(),
        "high": costs.max(),
        "median": costs.quantile(0.5),
        "quantile95": costs.quantile(0.95),
        "count": costs.values().len(),
        "outcomes": outcomes,
    })
}

/// One attitude and its risk.
#[must_use]
pub fn point(point: &Point) -> Value {
    let mut told = attitude(point.risk);
    join(&mut told, json!({ "value": point.value, "value_low": point.low, "value_high": point.high }));
    told
}

/// What is known of numbers that were sampled.
#[must_use]
pub fn intervals(of: &Intervals) -> Value {
    json!({ "mean": of.mean, "tail": of.cvar95 })
}

/// Adds the fields of one object to another.
pub fn join(object: &mut Value, more: Value) {
    if let (Value::Object(own), Value::Object(more)) = (object, more) {
        own.extend(more);
    }
}
