//! Simulators written in Python that step many states at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{
    BatchFrom, BatchPlanner, BatchProblem, BatchSimulator, BatchTo, Budget, Exploration, PlannerSettings, Risk,
    Situation, StopReason,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::agent::{Reasons, columns, stop_name};
use crate::errors::wrong;
use crate::foreign::{ask_cost, not_finite, read_features};
use crate::function::shown;
use crate::policy::duration;
use crate::turns::Turns;

/// Plans in a simulator that steps many states at once, decision by decision.
#[pyclass(frozen, module = "gumdp._native")]
pub struct BatchAgent {
    problem: Arc<BatchProblem<Rows>>,
    seed: u64,
    playing: Turns<Playing>,
}

/// A simulator of Python whose states are rows of bytes.
struct Rows {
    /// An object with `row`, `action` and `step`.
    object: Py<PyAny>,
    cost: Py<PyAny>,
    feature_count: usize,
    action_count: u32,
    raised: Mutex<Option<PyErr>>,
    /// Never locked while Python is asked.
    rng: Mutex<Py<PyAny>>,
}

impl Rows {
    fn rng(&self) -> MutexGuard<'_, Py<PyAny>> {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn row(&self, state: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        self.object.bind(state.py()).call_method1("row", (state,))?.extract()
    }

    fn ask(&self, py: Python<'_>, from: BatchFrom<'_, u8>, to: BatchTo<'_, u8>) -> PyResult<()> {
        py.check_signals()?;
        let states = PyArray1::from_slice(py, from.states);
        let actions: Vec<i64> = from.actions.iter().map(|action| action.index() as i64).collect();
        let actions = PyArray1::from_vec(py, actions);
        let rng = self.rng().clone_ref(py);
        let returned = self.object.bind(py).call_method1("step", (states, actions, rng))?;
        let (states, features, over): (
            PyReadonlyArray1<'_, u8>,
            PyReadonlyArray2<'_, f64>,
            PyReadonlyArray1<'_, bool>,
        ) = returned.extract()?;
        to.states.copy_from_slice(states.as_slice()?);
        to.features.copy_from_slice(features.as_slice()?);
        to.over.copy_from_slice(over.as_slice()?);
        Ok(())
    }
}

impl BatchSimulator for Rows {
    type Part = u8;
    type Error = PyErr;

    fn feature_count(&self) -> usize {
        self.feature_count
    }

    fn action_count(&self) -> u32 {
        self.action_count
    }

    fn step(&self, from: BatchFrom<'_, u8>, to: BatchTo<'_, u8>, _: &mut Rng) -> PyResult<()> {
        Python::attach(|py| self.ask(py, from, to))
    }

    fn cost(&self, features: &[f64]) -> PyResult<f64> {
        Python::attach(|py| ask_cost(py, &self.cost, &self.raised, features))
    }
}

/// Where it is in its episode.
struct Playing {
    planner: BatchPlanner<Rows>,
    episode: u64,
    rng: Rng,
    /// `None` before the first decision.
    at: Option<Situation<Vec<u8>>>,
}

/// The action, the estimate of all, simulations, why the search ended, and reasons.
type Decided<'py> = (Bound<'py, PyAny>, f64, u64, &'static str, Reasons<'py>);

#[pymethods]
impl BatchAgent {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn new(
        py: Python<'_>,
        object: Py<PyAny>,
        cost: Py<PyAny>,
        feature_count: usize,
        action_count: u32,
        discount: f64,
        horizon: usize,
        risk: &str,
        simulations: Option<u64>,
        time_limit: Option<f64>,
        exploration: Option<f64>,
        size: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let rng = Mutex::new(py.None());
        let rows = Rows { object, cost, feature_count, action_count, raised: Mutex::default(), rng };
        let problem = Arc::new(BatchProblem::new(rows, discount, horizon).map_err(wrong)?);
        let settings = PlannerSettings {
            budget: Budget { simulations, time_limit: duration(time_limit)? },
            exploration: Exploration::Constant(exploration.unwrap_or(1.0)),
            ..PlannerSettings::paper_illustrative()
        };
        let measure: Risk = risk.parse().map_err(wrong)?;
        let entropic = measure.as_erm().ok_or_else(|| {
            wrong(format!("the risk is {risk}; the preset \"batch\" plans with entropic risk measures only"))
        })?;
        let planner = BatchPlanner::new(&problem, entropic, settings, size).map_err(wrong)?;
        let playing = Playing { planner, episode: 0, rng: rng::stream(seed, 0, Purpose::Policy), at: None };
        Ok(Self { problem, seed, playing: Turns::new("planner", playing) })
    }

    /// Begins an episode whose random numbers in Python come from this generator.
    fn begin(&self, py: Python<'_>, rng: Py<PyAny>, episode: u64) -> PyResult<()> {
        let mut playing = self.playing.take(py)?;
        let before = std::mem::replace(&mut *self.problem.simulator().rng(), rng);
        // Only now: what Python does when it goes away may need the lock.
        drop(before);
        playing.episode = episode;
        playing.rng = rng::stream(self.seed, episode, Purpose::Policy);
        playing.at = None;
        Ok(())
    }

    /// Makes the decision in this state, which is where the episode is.
    fn act<'py>(&self, state: Bound<'py, PyAny>) -> PyResult<Decided<'py>> {
        let py = state.py();
        let playing = &mut *self.playing.take(py)?;
        let simulator = self.problem.simulator();
        let row = simulator.row(&state)?;
        let at = playing.at.get_or_insert_with(|| Situation {
            time: 0,
            state: row.clone(),
            features: vec![0.0; simulator.feature_count],
        });
        if at.time >= self.problem.horizon() {
            return Err(wrong("the episode is over; reset() begins another"));
        }
        if at.state != row {
            let message = "tell observe() what happened, or reset()";
            return Err(wrong(format!("the episode is in another state than {}; {message}", shown(&state))));
        }
        let decided = playing.planner.decide(at, &mut playing.rng);
        let raised = simulator.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        let decision = decided?;
        if decision.stopped == StopReason::NotFinite {
            return Err(raised.unwrap_or_else(not_finite));
        }
        let action = simulator.object.bind(py).call_method1("action", (decision.action.index(),))?;
        let reasons = columns(py, &decision);
        Ok((action, decision.root_estimate, decision.simulations, stop_name(decision.stopped), reasons))
    }

    /// A step had these features and led to this state, or ended the episode.
    fn observe(&self, next: Bound<'_, PyAny>, features: Bound<'_, PyAny>, done: bool) -> PyResult<()> {
        let mut playing = self.playing.take(next.py())?;
        let nothing = || wrong("nothing was decided yet; act() says where the episode begins");
        let at = playing.at.as_mut().ok_or_else(nothing)?;
        if at.time >= self.problem.horizon() {
            return Err(wrong("the episode is over; reset() begins another"));
        }
        let mut read = vec![0.0; at.features.len()];
        read_features(&features, &mut read)?;
        let next = if done { None } else { Some(self.problem.simulator().row(&next)?) };
        self.problem.advance(at, &read, next.as_deref());
        Ok(())
    }

    /// Number of steps of this episode; the horizon if it is over.
    fn time(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.playing.take(py)?.at.as_ref().map_or(0, |at| at.time))
    }

    /// The seed, the number of the episode, and whether it has begun.
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64, bool)> {
        let playing = self.playing.take(py)?;
        Ok((self.seed, playing.episode, playing.at.is_some()))
    }

    /// The cost of what has happened.
    fn cost(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        let playing = self.playing.take(py)?;
        let Some(at) = &playing.at else { return Ok(None) };
        let simulator = self.problem.simulator();
        let cost = simulator.cost(&at.features)?;
        let raised = simulator.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        if cost.is_finite() || at.time < self.problem.horizon() {
            return Ok(Some(cost));
        }
        Err(raised.unwrap_or_else(|| wrong(format!("the objective returned {cost}; it must be finite"))))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let simulator = self.problem.simulator();
        visit.call(&simulator.object)?;
        visit.call(&simulator.cost)?;
        // Nobody holds the lock while the collector works; if somebody did, nothing would be collected.
        simulator.rng.try_lock().map_or(Ok(()), |rng| visit.call(&*rng))
    }
}
