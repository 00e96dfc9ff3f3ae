//! Behaviour over the attitude to risk, and explained for one.

use std::sync::Arc;
use std::time::Duration;

use gumdp::explain::{Ending, ExplainError, Node, Wanted};
use gumdp::frontier::{Behaviour, SampleError, exact, few, marked, sampled, usual};
use gumdp::oracle::{Limits, OracleError};
use gumdp::{AgentError, Risk, Spec, Stop};
use numpy::IntoPyArray;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::background::in_pool;
use crate::errors::{unsolved, wrong};
use crate::play::{Numbers, limits, read_risk};
use crate::policy::spec;
use crate::problem::Problem;

/// The limits of the command line where the exact optimum is one way of several.
pub fn quick(max_states: Option<u64>, stop: &Stop) -> Limits {
    match max_states {
        Some(_) => limits(max_states, stop),
        None => Limits { stop: stop.clone(), ..Limits::QUICK },
    }
}

/// Names of the measures that can be swept.
pub fn swept() -> Vec<&'static str> {
    Risk::forms().filter(|form| form.sweep.is_some()).map(|form| form.name).collect()
}

/// Level, value, its lower and upper end, and the number of a behaviour.
type Points = Vec<(f64, f64, f64, f64, usize)>;
/// The distribution of a behaviour's cost, the expected number of steps at each pair, and of each feature what is expected and
/// the share of episodes with some of it.
type Behaviours<'py> = Vec<(Numbers<'py>, Numbers<'py>, Numbers<'py>, Vec<(f64, f64)>)>;
/// Behaviours before and after, level, and the first point that is not before the change.
type Changes = Vec<(usize, usize, Option<f64>, usize)>;
/// Episodes, simulations, why it was not solved, and the intervals of mean and worst 5 % at each level.
type Sampled = (u64, Option<u64>, String, Vec<(f64, f64)>, Vec<(f64, f64)>);

/// The behaviours of the best bargain and of lowest mean, what it costs, and what it saves.
type Bargain = (usize, usize, f64, f64);
/// What the level is called, points, behaviours, changes, whether all are located, how it was sampled, the best bargain, and the names of
/// the features.
type Swept<'py> = (&'static str, Points, Behaviours<'py>, Changes, bool, Option<Sampled>, Option<Bargain>, Vec<String>);

/// How behaviour changes with the attitude to risk; sampled if `runs` are given and the problem is too large to be solved.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each thing a user may say")]
pub fn frontier<'py>(
    py: Python<'py>,
    problem: &Problem,
    measure: &str,
    levels: Option<Vec<f64>>,
    max_states: Option<u64>,
    patience: f64,
    runs: Option<u64>,
    simulations: Option<u64>,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Swept<'py>> {
    let form = Risk::forms().find(|form| form.name == measure && form.sweep.is_some());
    let form = form.ok_or_else(|| wrong(format!("{measure} has no number that can be swept")))?;
    let given = levels.map(|levels| levels.iter().map(|&level| form.at(level)).collect::<Result<Vec<Risk>, _>>());
    let given = given.transpose().map_err(wrong)?;
    let task = Arc::clone(&problem.task);
    let planning = spec(&task, Risk::MEAN, "default", (simulations, None), seed, true)?;
    let work = move |stop: &Stop| {
        let limits = if runs.is_some() { quick(max_states, stop) } else { limits(max_states, stop) };
        let (own, curve) = (task.defaults.own_risks(), task.defaults.curve);
        let usual = || usual(&task.problem, form, &own, curve, &limits);
        let risks = given.clone().map_or_else(usual, Ok);
        let patience = Duration::from_secs_f64(patience);
        let sets: Vec<Vec<bool>> = task.features.iter().map(|(_, cost)| marked(cost).unwrap_or_default()).collect();
        match (risks.and_then(|risks| exact(&task.problem, &risks, &sets, &limits, patience, |_, _| {})), runs) {
            (Err(because), Some(runs)) if because.is_limit() => {
                let risks = given.unwrap_or_else(|| few(&task.problem, form, &own, curve));
                let spec = Spec { limits, ..planning };
                sampled(&task.problem, &risks, &sets, &spec, runs, &because, &(), |_| {})
            }
            (found, _) => found.map_err(|error| SampleError::Agent(AgentError::Oracle(error))),
        }
    };
    let features = problem.task.features.clone();
    let found = in_pool(py, problem.functions.again(py), threads, work)?.map_err(|error| match error {
        SampleError::Agent(AgentError::Oracle(error)) => unsolved(&error),
        error => wrong(error),
    })?;
    if found.ended == Some(OracleError::Stopped) {
        return Err(unsolved(&OracleError::Stopped));
    }
    let array = |numbers: &[f64]| numbers.to_vec().into_pyarray(py);
    let behaviour = |own: &Behaviour| {
        let of_feature = |((_, cost), &met): (&(String, Vec<f64>), &f64)| {
            (own.expected(cost), marked(cost).map_or(f64::NAN, |_| met))
        };
        let expected = features.iter().zip(&own.met).map(of_feature).collect();
        (array(own.costs.values()), array(own.costs.probabilities()), array(&own.visits), expected)
    };
    let bargain = found.bargain().map(|own| (own.behaviour, own.neutral, own.paid, own.saved));
    let sampled = found.sampled.as_ref().map(|own| {
        let (mean, cvar95) = own.intervals.iter().map(|intervals| (intervals.mean, intervals.cvar95)).unzip();
        (own.runs, own.simulations, own.because.clone(), mean, cvar95)
    });
    Ok((
        form.sweep.map_or("level", |sweep| sweep.level),
        found.points.iter().map(|own| (own.level(), own.value, own.low, own.high, own.behaviour)).collect(),
        found.behaviours.iter().map(behaviour).collect(),
        found.changes.iter().map(|change| (change.before, change.after, change.level, change.point)).collect(),
        found.complete,
        sampled,
        bargain,
        features.iter().map(|(name, _)| name.clone()).collect(),
    ))
}

/// Value, its certain bounds, outer variable, whether it is exact, how it was found, what the values of nodes are of, whether that
/// of the next best first action is an upper bound, text and tree.
type Explained<'py> = (f64, Option<(f64, f64)>, Option<String>, bool, String, String, bool, String, Bound<'py, PyAny>);

/// The optimal or planned behaviour as a decision tree; `wanted` is its depth, its nodes and the episodes for each.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each thing a user may say")]
pub fn explain<'py>(
    py: Python<'py>,
    problem: &Problem,
    measure: &str,
    wanted: (u64, u64, u64),
    max_states: Option<u64>,
    simulations: Option<u64>,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Explained<'py>> {
    let task = Arc::clone(&problem.task);
    let measure = task.problem.measure(read_risk(measure)?);
    let planning = spec(&task, measure, "default", (simulations, None), seed, true)?;
    let work = move |stop: &Stop| {
        let (depth, nodes, runs) = wanted;
        let spec = Spec { limits: quick(max_states, stop), ..planning };
        let agent = gumdp::explain::agent(&task.problem, &spec)?;
        gumdp::explain::explain(&task.problem, &agent, &spec, &Wanted { depth, nodes, runs }, &())
    };
    let found = in_pool(py, problem.functions.again(py), threads, work)?.map_err(|error| match error {
        ExplainError::Oracle(error) => unsolved(&error),
        error => wrong(error),
    })?;
    let (outer, text) = (found.outer.map(|outer| outer.to_string()), found.to_string());
    let tree = node(py, &found.tree)?;
    let of = found.estimate_of.to_string();
    Ok((found.value, found.bounds, outer, found.exact, found.origin, of, found.upper_bounds, text, tree))
}

/// The fields of a node in their order, outcomes in the same form.
fn node<'py>(py: Python<'py>, of: &Node) -> PyResult<Bound<'py, PyAny>> {
    let outcomes = of.outcomes.iter().map(|outcome| node(py, outcome)).collect::<PyResult<Vec<_>>>()?;
    let next_best = of.next_best.as_ref().map(|next| (&next.action, next.extra));
    let folded = of.folded.as_ref().map(|own| (own.outcomes, own.probability, own.value, own.mean));
    let then = match of.then {
        Ending::Over => "over",
        Ending::Chance => "chance",
        Ending::Unshown => "unshown",
    };
    let Node { states, time, probability, reach, value, mean, steps, .. } = of;
    let numbers = (probability, reach, value, mean);
    (states, time, numbers, steps, next_best, then, outcomes, folded).into_bound_py_any(py)
}
