//! Data for the views with controls in reports: nothing is computed in the page. The format is described at the top of
//! `gumdp-plot/src/page/controls.js`.

use gumdp::frontier::{Behaviour, Frontier};
use gumdp::oracle::Distribution;
use gumdp::{Pair, Record};
use gumdp_files::{Scene, Task, shown};
use serde_json::{Value, json};

use super::charts::{beta_label, risk_label};
use crate::frontier::{Facts, Row, TradeOff};
use crate::number::{self, interval, short};
use crate::results::{Finished, TaskResults, distinct, runs_text};
use gumdp_files::Player;

/// More states or cells than these are not drawn, and their visits not written.
const MOST_PLACES: usize = 400;
/// With more states than these only those of an episode are written.
const MOST_STATES: usize = 2000;

/// The problem as far as views need it.
fn problem(of: &Task) -> Value {
    let mut told = shown::problem(of);
    if let Value::Object(fields) = &mut told {
        fields.retain(|key, _| matches!(key.as_str(), "states" | "actions" | "place_of_state" | "scene" | "horizon"));
        if of.problem.mdp().state_count() > MOST_STATES {
            fields.insert("states".to_owned(), json!([]));
            fields.insert("place_of_state".to_owned(), Value::Null);
        }
    }
    told
}

/// What comes of a behaviour; without visits where there are too many places.
fn behaviour(of: &Task, own: &Behaviour) -> Value {
    let mut told = shown::behaviour(of, own);
    let many = told["occupancy"].as_array().is_some_and(|places| places.len() > MOST_PLACES);
    if let (true, Value::Object(fields)) = (many, &mut told) {
        fields.insert("occupancy".to_owned(), json!([]));
        fields.insert("actions".to_owned(), json!([]));
    }
    told
}

/// What is done first, in words.
fn first(of: &Task, own: &Behaviour) -> String {
    let mdp = of.problem.mdp();
    let words = |&pair: &Pair| {
        format!("in {} begin with {}", mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)))
    };
    own.first.iter().take(3).map(words).collect::<Vec<_>>().join("; ")
}

/// The lowest and the highest of all costs.
fn domain<'a>(behaviours: impl Iterator<Item = &'a Behaviour>) -> [f64; 2] {
    let wider = |[low, high]: [f64; 2], own: &Behaviour| [low.min(own.costs.min()), high.max(own.costs.max())];
    behaviours.fold([f64::INFINITY, f64::NEG_INFINITY], wider)
}

/// A frontier, beginning at a level.
pub fn of_frontier(of: &Task, trade_off: &TradeOff, frontier: &Frontier, start: Option<usize>) -> String {
    let [level, measure] = trade_off.measure.titles();
    let label = |row: &Row| {
        if trade_off.measure.is_erm() { beta_label(row.level) } else { format!("{level} {}", number::beta(row.level)) }
    };
    let entry = |row: &Row| {
        let numbers = [
            (measure, row.value),
            ("mean", row.mean),
            ("standard deviation", row.sd),
            ("mean of the worst 5 %", row.cvar95),
            ("best", row.best),
            ("worst", row.worst),
        ];
        let numbers: Vec<_> = numbers.iter().map(|(name, value)| json!([name, short(*value)])).collect();
        let first = first(of, &frontier.behaviours[row.behaviour]);
        json!([{ "behaviour": row.behaviour, "value": row.value, "measure": measure, "numbers": numbers, "first": first }])
    };
    let changes = trade_off.changes.iter().filter_map(|turn| {
        let before = trade_off.levels.iter().position(|row| row.level == turn.to_level)?;
        Some(json!({ "before": before, "text": turn.sentence }))
    });
    let place = |facts: &Facts| json!({ "mean": facts.mean, "tail": facts.cvar95 });
    let bargain = trade_off.bargain.map(|bargain| bargain.behaviour);
    let own = |behaviour: usize| trade_off.levels.iter().position(|row| row.behaviour == behaviour);
    let about = match &trade_off.sampled {
        Some(sampled) => format!("Costs of {} runs at each level, all with the same luck.", sampled.runs),
        None => "The exact distribution under optimal behaviour.".to_owned(),
    };
    let data = json!({
        "problem": problem(of),
        "name": if trade_off.measure.is_erm() { "Attitude to risk" } else { "Level" },
        "levels": trade_off.levels.iter().map(label).collect::<Vec<_>>(),
        "series": [""],
        "behaviours": frontier.behaviours.iter().map(|own| behaviour(of, own)).collect::<Vec<_>>(),
        "entries": trade_off.levels.iter().map(entry).collect::<Vec<_>>(),
        "start": start.or_else(|| own(bargain?)).unwrap_or(0),
        "changes": changes.collect::<Vec<_>>(),
        "bargain": bargain.map(|behaviour| place(&trade_off.behaviours[behaviour])),
        "domain": domain(frontier.behaviours.iter()),
        "about": about,
    });
    data.to_string()
}

/// What was played, for each attitude to risk and each policy; `None` if nothing was.
pub fn of_results(experiment: &TaskResults) -> Option<String> {
    let of = &experiment.task;
    let seen = |Finished { played, .. }: &Finished| {
        let costs = Distribution::of_costs(&played.costs)?;
        Some(played.tally.clone().behaviour(of.problem.mdp(), costs))
    };
    let behaviours: Vec<Option<Behaviour>> = experiment.finished.iter().map(seen).collect();
    let known: Vec<&Behaviour> = behaviours.iter().flatten().collect();
    // Where all possible runs are known the lines in a plot stand where the numbers beside it say.
    let told = |(own, Finished { summary, .. }): (&&Behaviour, &Finished)| {
        let mut told = behaviour(of, own);
        if summary.exact {
            told["mean"] = json!(summary.mean);
            told["tail"] = json!(summary.cvar95);
        }
        told
    };
    if known.is_empty() || known.len() < behaviours.len() {
        return None;
    }
    let (risks, players) = (experiment.risks(), distinct(experiment.finished.iter().map(|of| of.trial.preset)));
    let entry = |risk: gumdp::Risk, who: Player| {
        let number = experiment.finished.iter().position(|of| of.trial.risk == risk && of.trial.preset == who)?;
        let (finished, summary) = (&experiment.finished[number], &experiment.finished[number].summary);
        let numbers = [
            ("risk", experiment.marked_risk(finished)),
            ("its 95 % interval", finished.interval()),
            ("mean", short(summary.mean)),
            ("median", short(summary.median)),
            ("quartiles", interval(summary.q25, summary.q75)),
            ("mean of the worst 5 %", short(summary.cvar95)),
            ("worst", short(summary.max)),
        ];
        let first = first(of, known[number]);
        Some(
            json!({ "behaviour": number, "value": summary.value, "measure": "risk", "numbers": numbers, "first": first }),
        )
    };
    let entries: Vec<Vec<_>> =
        risks.iter().map(|&risk| players.iter().map(|&who| entry(risk, who)).collect()).collect();
    let data = json!({
        "problem": problem(of),
        "name": "Attitude to risk",
        "levels": risks.iter().map(|&risk| risk_label(risk)).collect::<Vec<_>>(),
        "series": players.iter().map(|who| who.title()).collect::<Vec<_>>(),
        "behaviours": known.iter().zip(&experiment.finished).map(told).collect::<Vec<_>>(),
        "entries": entries,
        "start": 0,
        "changes": [],
        "bargain": null,
        "domain": domain(known.iter().copied()),
        "about": format!("Costs of {}. Numbers, and the lines in the plot, are exact where the policy's distribution is known.", runs_text(&experiment.finished)),
    });
    Some(data.to_string())
}

/// One episode, step by step.
pub fn of_run(of: &Task, record: &Record) -> String {
    let (model, mdp) = (&of.problem, of.problem.mdp());
    let pairs: Vec<Pair> = record.path.iter().map(|&pair| Pair::from(pair)).collect();
    // The states by their own numbers, or by those among the ones that were met.
    let met = distinct(pairs.iter().map(|&pair| mdp.state(pair)));
    let few = mdp.state_count() <= MOST_STATES;
    let state_number = |pair: Pair| {
        let state = mdp.state(pair);
        if few { state.index() } else { met.iter().position(|other| *other == state).unwrap_or(0) }
    };
    let mut at = pairs.first().map(|&pair| model.start(mdp.state(pair)));
    let mut features = vec![0.0; of.features.len()];
    let mut steps = Vec::new();
    for (time, &pair) in pairs.iter().enumerate() {
        let next = mdp.state(pairs.get(time + 1).copied().unwrap_or(pair));
        let cost = at.as_mut().map(|at| {
            model.advance(at, pair, next);
            model.cost(at)
        });
        for (total, (_, cost)) in features.iter_mut().zip(&of.features) {
            *total += model.masses()[time] * cost[pair.index()];
        }
        let cost = cost.filter(|cost| cost.is_finite());
        let (state, action) = (state_number(pair), mdp.action(pair).index());
        steps.push(json!({ "state": state, "action": action, "cost": cost, "features": features }));
    }
    let mut problem = problem(of);
    if !few {
        let cells = match &of.scene {
            Scene::Grid(grid) => Some(met.iter().map(|state| grid.cell_of_state[state.index()]).collect::<Vec<_>>()),
            Scene::Graph(_) => None,
        };
        problem["states"] = json!(met.iter().map(|&state| mdp.state_name(state)).collect::<Vec<_>>());
        problem["place_of_state"] = json!(cells);
    }
    let data = json!({
        "problem": problem,
        "steps": steps,
        "features": of.features.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "cost": short(record.cost),
        "measure": "cost so far",
        "note": "f of the steps up to and with this one; once the episode is over it is its cost.",
    });
    data.to_string()
}
