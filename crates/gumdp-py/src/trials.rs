//! Several trials, and lower bounds.

use std::sync::Arc;

use gumdp::bound::lower_bound;
use gumdp::oracle::{Limits, OracleError};
use gumdp::trials::{self, EvaluationError, Sampled, Trials, TrialsError};
use gumdp::{EpisodeError, Experiment, Markov, Pair, RunError, Stop};
use gumdp_files::SavedPolicy;
use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::attitudes::quick;
use crate::background::in_pool;
use crate::errors::{unsolved, wrong};
use crate::function::watched;
use crate::play::{Numbers, limits, read_risk};
use crate::policy::{Policy, markov};
use crate::problem::Problem;

/// A lower bound on the lowest risk, and how it is proven.
#[pyfunction]
pub fn bound(
    py: Python<'_>,
    problem: &Problem,
    measure: &str,
    max_states: Option<u64>,
    threads: Option<usize>,
) -> PyResult<(f64, String)> {
    let (task, measure) = (Arc::clone(&problem.task), read_risk(measure)?);
    let work = move |stop: &Stop| {
        let quick = Limits { stop: stop.clone(), relaxed_transitions: u64::MAX, ..Limits::QUICK };
        let limits = max_states.map_or(quick, |_| limits(max_states, stop));
        lower_bound(&task.problem, measure, &limits)
    };
    let found = in_pool(py, problem.functions.again(py), threads, work)?.map_err(|error| unsolved(&error))?;
    Ok((found.value, found.method.to_string()))
}

/// Value, certified lower end, expected occupancy by pair, probabilities by time and pair, linear problems solved.
type Solved<'py> = (f64, f64, Numbers<'py>, Numbers<'py>, u64);

/// The lowest f of an expected occupancy.
#[pyfunction]
pub fn solve_trials<'py>(
    py: Python<'py>,
    problem: &Problem,
    max_states: Option<u64>,
    threads: Option<usize>,
) -> PyResult<Solved<'py>> {
    let task = Arc::clone(&problem.task);
    let work = move |stop: &Stop| trials::solve(&task.problem, &limits(max_states, stop));
    let found = in_pool(py, problem.functions.again(py), threads, work)?.map_err(|error| match error {
        TrialsError::Oracle(error) => unsolved(&error),
        TrialsError::NotConvex => wrong(error),
    })?;
    let problem = &problem.task.problem;
    let pairs = (0..problem.mdp().pair_count() as u32).map(Pair::from);
    let times = (0..problem.horizon()).flat_map(|time| pairs.clone().map(move |pair| (time, pair)));
    let probabilities: Vec<f64> = times.map(|(time, pair)| found.policy.probability(time, pair)).collect();
    let (occupancy, probabilities) = (found.occupancy.into_pyarray(py), probabilities.into_pyarray(py));
    Ok((found.value, found.low, occupancy, probabilities, found.solves))
}

/// The text of a file with a policy by time and pair, as `gumdp solve --trials inf --save` writes it.
#[pyfunction]
pub fn saved_table(py: Python<'_>, problem: &Problem, probabilities: PyReadonlyArray2<f64>) -> PyResult<String> {
    let table: Markov = markov(problem, probabilities)?;
    let task = Arc::clone(&problem.task);
    watched(problem.functions.again(py), |_| SavedPolicy::text_of_markov(&task, &table).map_err(wrong))
}

/// Mean of f, both ends of its interval, episodes and why they were played.
type Mean = (f64, f64, f64, Option<u64>, Option<String>);

/// The mean of f over the average occupancy of so many episodes; infinitely many if nothing is said.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each thing a user may say")]
pub fn evaluate_trials(
    py: Python<'_>,
    problem: &Problem,
    policy: &Policy,
    count: Option<u64>,
    runs: Option<u64>,
    seed: u64,
    max_states: Option<u64>,
    threads: Option<usize>,
) -> PyResult<Mean> {
    let (task, player) = (Arc::clone(&problem.task), policy.player(py)?);
    let trials = count.map_or(Trials::Infinite, Trials::Finite);
    let episodes = runs.unwrap_or(trials.episodes(task.defaults.runs));
    let functions = problem.functions.and(py, &policy.functions);
    let found = in_pool(py, functions, threads, move |stop| {
        let experiment = Experiment { stop, ..Experiment::new(&task.problem, &*player, seed) };
        trials::evaluate(&experiment, trials, episodes, &quick(max_states, stop))
    })?;
    let found = found.map_err(|error| match error {
        EvaluationError::Oracle(OracleError::Stopped)
        | EvaluationError::Run(RunError { error: EpisodeError::Stopped { .. }, .. }) => {
            PyKeyboardInterrupt::new_err(())
        }
        error => wrong(error),
    })?;
    let (episodes, because) = found.sampled.map(|Sampled { episodes, because }| (episodes, because)).unzip();
    Ok((found.value, found.low, found.high, episodes, because))
}
