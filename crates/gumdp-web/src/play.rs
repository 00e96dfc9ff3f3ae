//! Episodes: watched, played by hand, and what another action would lead to.

use serde_json::{Value, json};

use crate::shown;
use crate::studio::{Open, limits};
use gumdp::oracle::{distribution, distribution_after};
use gumdp::rng::{self, Purpose};
use gumdp::{Action, EpisodeError, OccupancyState, Pair, Problem, Risk, Step, begun, run};

/// Seed of all episodes; they differ by their number.
const SEED: u64 = 0;

/// One episode of the one who plays.
pub fn episode(open: &mut Open, risk: Risk, number: u64) -> Result<Value, String> {
    let mut policy = if open.is_planned(risk)? {
        open.planner(risk)?.policy().boxed()
    } else {
        Box::new(open.solution(risk)?.policy())
    };
    let problem = &open.task.problem;
    let played = run(problem, &mut *policy, SEED, number).map_err(|error| error.to_string())?.episode;
    let mdp = problem.mdp();
    let actions: Vec<Action> = played.path.iter().map(|&pair| mdp.action(pair)).collect();
    let (steps, at) = begun(problem, &actions, SEED, number).map_err(|error| error.to_string())?;
    Ok(json!({ "steps": steps.iter().map(|own| step(problem, own)).collect::<Vec<_>>(), "cost": problem.cost(&at) }))
}

fn step(problem: &Problem, step: &Step) -> Value {
    let mdp = problem.mdp();
    json!({
        "state": mdp.state(step.pair).0,
        "action": mdp.action(step.pair).0,
        "next": step.next.0,
        "probability": step.probability,
        "unlikely": step.unlikely,
    })
}

fn at(problem: &Problem, number: u64, actions: &[u32]) -> Result<(Vec<Step>, OccupancyState), EpisodeError> {
    let actions: Vec<Action> = actions.iter().map(|&action| Action(action)).collect();
    begun(problem, &actions, SEED, number)
}

/// Where some actions lead, and what each action would cost there; once the episode is over, where its cost lies among those of the
/// optimum.
pub fn situation(open: &mut Open, risk: Risk, number: u64, actions: &[u32]) -> Result<Value, String> {
    let planned = open.is_planned(risk)?;
    let (steps, at) = at(&open.task.problem, number, actions).map_err(|error| error.to_string())?;
    let problem = open.task.problem.clone();
    let over = at.time >= problem.horizon();
    let mut told = json!({
        "time": at.time,
        "state": at.state.0,
        "over": over,
        "steps": steps.iter().map(|own| step(&problem, own)).collect::<Vec<_>>(),
    });
    let more = match (over, planned) {
        (true, false) => {
            let cost = problem.cost(&at);
            let costs = distribution(&problem, &open.solution(risk)?.policy(), &limits());
            let costs = costs.map_err(|error| error.to_string())?;
            json!({ "cost": shown::number(cost), "not_above": costs.cdf(cost) })
        }
        (true, true) => json!({ "cost": shown::number(problem.cost(&at)) }),
        (false, false) => {
            let decision = open.solution(risk)?.decide(&at, &limits()).map_err(|error| error.to_string())?;
            let reason = |own: &gumdp::oracle::ActionValue| json!({ "action": own.action.0, "risk": shown::number(own.value), "mean": shown::number(own.mean) });
            // Of several equally good actions the policy takes one of lowest mean.
            let best = problem.mdp().action(open.solution(risk)?.policy().best(&at)).0;
            json!({ "best": best, "reasons": decision.reasons.iter().map(reason).collect::<Vec<_>>(), "exact": true })
        }
        (false, true) => {
            let mut policy = open.planner(risk)?.policy().boxed();
            let mut own = rng::stream(SEED, number, Purpose::Policy);
            let decision = policy.decide(&at, &mut own).map_err(|error| error.to_string())?;
            let ranks = decision.only_ranks();
            let reason = |own: &gumdp::ActionReason| {
                let known = |value: f64| if ranks { Value::Null } else { shown::number(value) };
                json!({ "action": own.action.0, "risk": known(own.erm), "mean": known(own.mean) })
            };
            let reasons: Vec<Value> = decision.reasons.iter().map(reason).collect();
            json!({ "best": decision.action.0, "reasons": reasons, "exact": false })
        }
    };
    shown::join(&mut told, more);
    Ok(told)
}

/// The distribution that follows another action, everything after it optimal for the same attitude.
pub fn what_if(open: &mut Open, risk: Risk, number: u64, actions: &[u32], action: u32) -> Result<Value, String> {
    if open.is_planned(risk)? {
        return Err("the problem is planned, not solved: what follows another action is not known".to_owned());
    }
    let problem = open.task.problem.clone();
    let (_, at) = at(&problem, number, actions).map_err(|error| error.to_string())?;
    if at.time >= problem.horizon() {
        return Err("the episode is over".to_owned());
    }
    let pair: Pair = problem.mdp().pair(at.state, Action(action)).ok_or("this state does not allow the action")?;
    let distribution = distribution_after(&problem, &open.solution(risk)?.policy(), &at, pair, &limits());
    let distribution = distribution.map_err(|error| error.to_string())?;
    let mut told = shown::distribution(&distribution);
    shown::join(&mut told, json!({ "value": distribution.risk(problem.measure(risk)), "action": action }));
    Ok(told)
}
