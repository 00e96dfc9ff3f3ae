//! Playing, solving, measuring.

use std::sync::Arc;

use gumdp::oracle::{self, Limits};
use gumdp::stats::Summary;
use gumdp::{Risk, RunError};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};
use rayon::prelude::*;

use crate::background::in_pool;
use crate::errors::{unsolved, wrong};
use crate::function::Functions;
use crate::policy::Policy;
use crate::problem::Problem;

type Numbers<'py> = Bound<'py, PyArray1<f64>>;
type Played<'py> = (Numbers<'py>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// A risk measure that was read.
pub struct Measure(pub Risk);

impl<'py> IntoPyObject<'py> for Measure {
    type Target = pyo3::types::PyString;
    type Output = Bound<'py, Self::Target>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        self.0.to_string().into_pyobject(py)
    }
}

/// Reads a risk measure, and writes it as the library does.
#[pyfunction]
pub fn risk(text: &str) -> PyResult<Measure> {
    text.parse().map(Measure).map_err(wrong)
}

/// A risk measure of outcomes with weights.
#[pyfunction]
pub fn risk_of(measure: &str, values: PyReadonlyArray1<f64>, weights: PyReadonlyArray1<f64>) -> PyResult<f64> {
    let outcomes: Vec<(f64, f64)> =
        values.as_slice()?.iter().copied().zip(weights.as_slice()?.iter().copied()).collect();
    risk(measure)?.0.of_distribution(&outcomes).map_err(wrong)
}

/// What the command line prints of sampled costs.
#[pyfunction]
pub fn summary<'py>(
    py: Python<'py>,
    costs: PyReadonlyArray1<f64>,
    measure: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let (costs, measure) = (costs.as_slice()?.to_vec(), risk(measure)?.0);
    let summary =
        in_pool(py, Functions::default(), None, move |_| Summary::of(&costs, measure, seed))?.map_err(wrong)?;
    let fields = PyDict::new(py);
    fields.set_item("count", summary.count)?;
    for (name, value) in [
        ("mean", summary.mean),
        ("median", summary.median),
        ("q25", summary.q25),
        ("q75", summary.q75),
        ("min", summary.min),
        ("max", summary.max),
        ("risk", summary.erm),
        ("risk_low", summary.erm_low),
        ("risk_high", summary.erm_high),
        ("var95", summary.var95),
        ("cvar95", summary.cvar95),
    ] {
        fields.set_item(name, value)?;
    }
    Ok(fields)
}

/// Plays many episodes: costs, pairs of all times, last states, simulated steps.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    problem: &Problem,
    policy: &Policy,
    runs: u64,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Played<'py>> {
    let (task, player) = (Arc::clone(&problem.task), policy.player(py)?);
    let functions = problem.functions.and(py, &policy.functions);
    let played = in_pool(py, functions, threads, move |stop| {
        let play =
            |player: &mut _, number| (!stop.is_requested()).then(|| gumdp::run(&task.problem, player, seed, number));
        (0..runs).into_par_iter().map_init(|| player.clone(), play).collect()
    });
    let played: Vec<Option<Result<gumdp::Run, RunError>>> = played?;
    let steps = problem.task.problem.horizon();
    let (mut costs, mut pairs) = (Vec::with_capacity(played.len()), Vec::with_capacity(played.len() * steps));
    let (mut last, mut simulated) = (Vec::with_capacity(played.len()), Vec::with_capacity(played.len()));
    for run in played {
        let run = run.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?.map_err(wrong)?;
        costs.push(run.episode.cost);
        pairs.extend(run.episode.path.iter().map(|pair| pair.index() as u32));
        last.push(run.episode.last.index() as u32);
        simulated.push(run.simulated_steps);
    }
    Ok((costs.into_pyarray(py), pairs.into_pyarray(py), last.into_pyarray(py), simulated.into_pyarray(py)))
}

/// The lowest possible risk and a policy that has it.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Solution {
    pub inner: oracle::Solution,
    /// Python functions in the objective.
    pub functions: Functions,
}

#[pymethods]
impl Solution {
    /// Lowest and highest value that the optimum may have.
    fn interval(&self) -> (f64, f64) {
        (self.inner.low, self.inner.high)
    }

    /// Expected cost of the policy.
    fn mean(&self) -> f64 {
        self.inner.mean
    }

    /// States expanded, problems solved inside.
    fn work(&self) -> (u64, u64) {
        (self.inner.states, self.inner.solves)
    }

    /// The outer variable of the measure at its best, if it has one.
    fn outer(&self) -> Option<String> {
        self.inner.outer.map(|outer| outer.to_string())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}

/// The limits of the command line, but for the number of states if that is given.
fn limits(max_states: Option<u64>) -> Limits {
    max_states.map_or_else(Limits::default, |max_states| Limits { max_states, ..Limits::default() })
}

/// Solves a problem exactly.
#[pyfunction]
pub fn solve(
    py: Python<'_>,
    problem: &Problem,
    measure: &str,
    max_states: Option<u64>,
    threads: Option<usize>,
) -> PyResult<Solution> {
    let (task, measure) = (Arc::clone(&problem.task), risk(measure)?.0);
    let work = move |_: &_| oracle::solve(&task.problem, measure, &limits(max_states));
    let functions = problem.functions.again(py);
    let solved = in_pool(py, functions.again(py), threads, work)?;
    solved.map(|inner| Solution { inner, functions }).map_err(|error| unsolved(&error))
}

/// The optimum for each of many measures: its value and the number of a behaviour.
type Points = Vec<(f64, usize)>;
/// The law of a behaviour's cost and the expected number of steps at each pair.
type Behaviours<'py> = Vec<(Numbers<'py>, Numbers<'py>, Numbers<'py>)>;
/// Behaviours before and after, β, and the first point that is not before the change.
type Changes = Vec<(usize, usize, Option<f64>, usize)>;

/// How optimal behaviour changes with the attitude to risk: points, behaviours, changes, and whether all are located.
#[pyfunction]
pub fn frontier<'py>(
    py: Python<'py>,
    problem: &Problem,
    measures: Vec<String>,
    max_states: Option<u64>,
    threads: Option<usize>,
) -> PyResult<(Points, Behaviours<'py>, Changes, bool)> {
    let measures = measures.iter().map(|text| Ok(risk(text)?.0)).collect::<PyResult<Vec<_>>>()?;
    let task = Arc::clone(&problem.task);
    let work = move |_: &_| oracle::frontier(&task.problem, &measures, &limits(max_states));
    let found = in_pool(py, problem.functions.again(py), threads, work)?.map_err(|error| unsolved(&error))?;
    let array = |numbers: &[f64]| numbers.to_vec().into_pyarray(py);
    let behaviour = |own: &oracle::Behaviour| {
        let law = (array(own.costs.values()), array(own.costs.probabilities()));
        (law.0, law.1, array(&own.visits))
    };
    Ok((
        found.points.iter().map(|point| (point.value, point.behaviour)).collect(),
        found.behaviours.iter().map(behaviour).collect(),
        found.changes.iter().map(|change| (change.before, change.after, change.beta, change.point)).collect(),
        found.complete,
    ))
}

/// The law of the cost under a policy: values and probabilities.
#[pyfunction]
pub fn distribution<'py>(
    py: Python<'py>,
    problem: &Problem,
    policy: &Policy,
    max_states: Option<u64>,
    threads: Option<usize>,
) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
    let (task, player) = (Arc::clone(&problem.task), policy.player(py)?);
    let work = move |_: &_| player.law(&task.problem, &limits(max_states));
    let law = in_pool(py, problem.functions.and(py, &policy.functions), threads, work)?;
    let refusal =
        || wrong("planners and functions do not know the probabilities of their actions; evaluate() plays them");
    let law = law.ok_or_else(refusal)?.map_err(|error| unsolved(&error))?;
    Ok((law.values().to_vec().into_pyarray(py), law.probabilities().to_vec().into_pyarray(py)))
}
