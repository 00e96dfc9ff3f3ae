//! Playing, solving, measuring.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gumdp::oracle::{self, Limits, OracleError};
use gumdp::stats::{self, Costs, Statistic, Summary};
use gumdp::{Bounds, Risk, Stop};
use gumdp::{Experiment, ExperimentError, Journal, Precision, Record};
use gumdp_files::SavedPolicy;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use crate::background::in_pool;
use crate::errors::{unsolved, wrong};
use crate::function::{Functions, watched};
use crate::policy::Policy;
use crate::problem::Problem;

pub type Numbers<'py> = Bound<'py, PyArray1<f64>>;
type Played<'py> = (Numbers<'py>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// A risk measure as a user writes it.
pub fn read_risk(text: &str) -> PyResult<Risk> {
    text.parse().map_err(wrong)
}

/// Reads a risk measure, and writes it as the library does.
#[pyfunction]
pub fn risk(text: &str) -> PyResult<String> {
    Ok(read_risk(text)?.to_string())
}

/// A risk measure of outcomes with weights.
#[pyfunction]
pub fn risk_of(measure: &str, values: PyReadonlyArray1<f64>, weights: PyReadonlyArray1<f64>) -> PyResult<f64> {
    let outcomes: Vec<(f64, f64)> =
        values.as_slice()?.iter().copied().zip(weights.as_slice()?.iter().copied()).collect();
    read_risk(measure)?.of_distribution(&outcomes).map_err(wrong)
}

/// What `gumdp evaluate` lists of outcomes with weights: title, value and both ends of its 95 % interval, if the costs are sampled in
/// runs of a problem, with a seed.
#[pyfunction]
pub fn measures(
    py: Python<'_>,
    values: PyReadonlyArray1<f64>,
    weights: PyReadonlyArray1<f64>,
    sampled: Option<(PyRef<'_, Problem>, u64)>,
) -> PyResult<Vec<(String, f64, f64, f64)>> {
    let sampled = sampled.map(|(problem, seed)| (problem.task.problem.objective().bounds(), seed));
    let (values, weights) = (values.as_slice()?.to_vec(), weights.as_slice()?.to_vec());
    let work = move |_: &Stop| {
        let outcomes: Vec<(f64, f64)> = values.iter().copied().zip(weights).collect();
        let usual = stats::usual();
        let statistics: Vec<Statistic> = usual.iter().map(|shown| shown.statistic).collect();
        let sampled = sampled.map(|(bounds, seed)| (Costs::of(&values, &[], bounds), bounds, seed));
        let sampled = sampled.as_ref().map(|(costs, bounds, seed)| (costs, *bounds, *seed));
        let found = stats::measured(&outcomes, &statistics, sampled);
        usual
            .into_iter()
            .zip(found)
            .map(|(shown, (value, ends, _))| (shown.title, value, ends.low, ends.high))
            .collect()
    };
    in_pool(py, Functions::default(), None, work)
}

/// A measure of sampled costs with both ends of its 95 % interval, for costs between two bounds.
#[pyfunction]
pub fn interval(
    py: Python<'_>,
    costs: PyReadonlyArray1<f64>,
    measure: &str,
    bounds: (f64, f64),
    seed: u64,
) -> PyResult<(f64, f64, f64)> {
    let (costs, measure) = (costs.as_slice()?.to_vec(), read_risk(measure)?);
    let bounds = Bounds { low: bounds.0, high: bounds.1 };
    let work = move |_: &Stop| Summary::of(&costs, measure, bounds, seed);
    let found = in_pool(py, Functions::default(), None, work)?.map_err(wrong)?;
    Ok((found.value, found.low, found.high))
}

/// What the command line prints of sampled costs.
#[pyfunction]
pub fn summary<'py>(
    py: Python<'py>,
    problem: &Problem,
    costs: PyReadonlyArray1<f64>,
    measure: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let (costs, measure) = (costs.as_slice()?.to_vec(), read_risk(measure)?);
    let bounds = problem.task.problem.objective().bounds();
    let summary =
        in_pool(py, Functions::default(), None, move |_| Summary::of(&costs, measure, bounds, seed))?.map_err(wrong)?;
    let fields = PyDict::new(py);
    fields.set_item("count", summary.trust.runs)?;
    fields.set_item("caution", summary.trust.note())?;
    for (name, value) in [
        ("mean", summary.mean),
        ("median", summary.median),
        ("q25", summary.q25),
        ("q75", summary.q75),
        ("min", summary.min),
        ("max", summary.max),
        ("value", summary.value),
        ("low", summary.low),
        ("high", summary.high),
        ("effective_runs", summary.trust.effective_runs),
        ("var95", summary.var95),
        ("cvar95", summary.cvar95),
    ] {
        fields.set_item(name, value)?;
    }
    Ok(fields)
}

/// A measure, half the width of its interval, and the most runs that it may take.
type Wanted = (String, f64, u64);

/// Plays many episodes: costs, pairs of all times, last states, simulated steps. Runs that the journal holds are not played again.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each thing a user may say")]
pub fn evaluate<'py>(
    py: Python<'py>,
    problem: &Problem,
    policy: &Policy,
    runs: u64,
    seed: u64,
    threads: Option<usize>,
    precision: Option<Wanted>,
    journal: Option<PathBuf>,
) -> PyResult<Played<'py>> {
    let (task, player) = (Arc::clone(&problem.task), policy.player(py)?);
    let functions = problem.functions.and(py, &policy.functions);
    let precision = precision
        .map(|(measure, half_width, most_runs)| {
            Ok::<_, PyErr>((read_risk(&measure)?, Precision { half_width, most_runs }))
        })
        .transpose()?;
    let journal = journal.map(|path| open_journal(&path, &task.problem, seed)).transpose()?;
    let timed = policy.timed;
    let played = in_pool(py, functions, threads, move |stop| {
        let experiment =
            Experiment { stop, journal: journal.as_ref(), ..Experiment::new(&task.problem, &*player, seed) };
        if let Some(journal) = &journal {
            check_journal(&experiment, journal, timed)?;
        }
        // All runs are returned, which is what was asked for.
        let (mut records, bounds) = (Vec::new(), task.problem.objective().bounds());
        let mut costs = Costs::new(&precision.iter().map(|(measure, _)| *measure).collect::<Vec<_>>(), bounds);
        let first = |record: Record| {
            costs.add(record.cost);
            records.push(record);
        };
        experiment.play(0..runs, first).map_err(failed)?;
        if let Some((measure, precision)) = precision {
            let more = |record| records.push(record);
            experiment.play_until(&mut costs, &[measure], &precision, more).map_err(failed)?;
        }
        Ok(records)
    });
    let records: Vec<Record> = played?.map_err(|failure: Failure| failure.raised())?;
    let model = &problem.task.problem;
    let mut pairs = Vec::with_capacity(records.len() * model.horizon());
    for record in &records {
        pairs.extend_from_slice(&record.path);
    }
    let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
    // The model alone decides where an episode ends, given its actions.
    let last: Vec<u32> =
        records.iter().map(|record| record.end(model, seed).map_or(0, |end| end.state.index() as u32)).collect();
    let simulated: Vec<u64> = records.iter().map(|record| record.simulated_steps).collect();
    Ok((costs.into_pyarray(py), pairs.into_pyarray(py), last.into_pyarray(py), simulated.into_pyarray(py)))
}

/// Why nothing was measured: an exception is made of it where Python is.
enum Failure {
    Stopped,
    Wrong(String),
    Unwritten(String, Option<i32>),
}

impl Failure {
    fn raised(self) -> PyErr {
        match self {
            Self::Stopped => PyKeyboardInterrupt::new_err(()),
            Self::Wrong(message) => wrong(message),
            Self::Unwritten(message, Some(code)) => PyOSError::new_err((code, message)),
            Self::Unwritten(message, None) => PyOSError::new_err(message),
        }
    }
}

fn failed(error: ExperimentError) -> Failure {
    match error {
        _ if error.is_stopped() => Failure::Stopped,
        ExperimentError::Run(error) => Failure::Wrong(error.to_string()),
        ExperimentError::Journal { ref source, .. } | ExperimentError::Unread { ref source, .. } => {
            Failure::Unwritten(error.to_string(), source.raw_os_error())
        }
    }
}

fn open_journal(path: &Path, problem: &gumdp::Problem, seed: u64) -> PyResult<Journal> {
    Journal::open(path, "", |record| record.is_of(problem, seed)).map_err(|error| unread(&error, path))
}

fn unread(error: &std::io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, error.to_string(), path.display().to_string())),
        None => wrong(format!("{}: {error}", path.display())),
    }
}

/// Refuses a journal with runs of another policy. Of those with a clock no run is the same again.
fn check_journal(experiment: &Experiment, journal: &Journal, timed: bool) -> Result<(), Failure> {
    let Experiment { problem, policy, seed, .. } = *experiment;
    let Some(run) = journal.first().filter(|_| !timed) else { return Ok(()) };
    let kept = journal.records().and_then(|records| records.only(run));
    let kept = kept.map_err(|error| Failure::Unwritten(error.to_string(), error.raw_os_error()))?;
    let mut own = policy.boxed();
    own.set_stop(experiment.stop);
    let played = gumdp::run(problem, &mut *own, seed, run).map_err(|error| failed(error.into()))?;
    let path: Vec<u32> = played.episode.path.iter().map(|pair| pair.index() as u32).collect();
    if kept.is_none_or(|kept| kept.path == path) {
        Ok(())
    } else {
        Err(Failure::Wrong(format!("run {run} of the journal is one of another policy")))
    }
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

    /// The text of a file with the policy, as `gumdp solve --save` writes it.
    fn saved(&self, py: Python<'_>, problem: &Problem, measure: &str) -> PyResult<String> {
        let (task, measure) = (Arc::clone(&problem.task), read_risk(measure)?);
        let text = |_: &_| SavedPolicy::text_of_solution(&task, measure, &self.inner).map_err(wrong);
        watched(self.functions.again(py), text)
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
pub fn limits(max_states: Option<u64>, stop: &Stop) -> Limits {
    let usual = Limits { stop: stop.clone(), ..Limits::default() };
    Limits { max_states: max_states.unwrap_or(usual.max_states), ..usual }
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
    let (task, measure) = (Arc::clone(&problem.task), read_risk(measure)?);
    let work = move |stop: &Stop| oracle::solve(&task.problem, measure, &limits(max_states, stop));
    let functions = problem.functions.again(py);
    let solved = in_pool(py, functions.again(py), threads, work)?;
    solved.map(|inner| Solution { inner, functions }).map_err(|error| unsolved(&error))
}

/// The distribution of the cost under a policy: values and probabilities.
#[pyfunction]
pub fn distribution<'py>(
    py: Python<'py>,
    problem: &Problem,
    policy: &Policy,
    max_states: Option<u64>,
    threads: Option<usize>,
) -> PyResult<(Numbers<'py>, Numbers<'py>)> {
    let (task, player) = (Arc::clone(&problem.task), policy.player(py)?);
    let work = move |stop: &Stop| oracle::distribution(&task.problem, &*player, &limits(max_states, stop));
    let costs = in_pool(py, problem.functions.and(py, &policy.functions), threads, work)?;
    let costs = costs.map_err(|error| match error {
        OracleError::NoProbabilities => {
            wrong("planners and functions do not know the probabilities of their actions; evaluate() plays them")
        }
        error => unsolved(&error),
    })?;
    Ok((costs.values().to_vec().into_pyarray(py), costs.probabilities().to_vec().into_pyarray(py)))
}
