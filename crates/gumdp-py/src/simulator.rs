//! Simulators written in Python: any object with `initial`, `actions` and `step`, and a function of the sums of its features.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{
    Action, BlackBoxPlanner, Budget, Decision, Erm, Exploration, LearningPlanner, LearningSettings, PlannerSettings,
    Risk, SimulatedProblem, Simulator, Situation, StopReason, learning_planner,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3::{PyTraverseError, PyVisit};

use crate::agent::{Reasons, columns, stop_name};
use crate::errors::wrong;
use crate::function::shown;
use crate::policy::duration;
use crate::turns::Turns;

/// A simulator of Python. Its states are numbered as they are met.
struct Foreign {
    object: Py<PyAny>,
    cost: Py<PyAny>,
    feature_count: usize,
    /// Whether it draws actions itself instead of listing them.
    samples: bool,
    /// Never locked while Python is asked.
    known: Mutex<Known>,
}

/// The states met so far in an episode, and what Python draws random numbers from.
struct Known {
    numbers: Py<PyDict>,
    states: Vec<Py<PyAny>>,
    /// The actions of each state, once they were asked for.
    actions: Vec<Option<Py<PyList>>>,
    /// Actions that were drawn, for all states.
    drawn: Vec<Py<PyAny>>,
    rng: Py<PyAny>,
}

/// So many actions are drawn in an episode; later ones are among them.
const MOST_DRAWN: usize = 4096;

impl Known {
    fn new(py: Python<'_>, rng: Py<PyAny>) -> Self {
        Self { numbers: PyDict::new(py).unbind(), states: Vec::new(), actions: Vec::new(), drawn: Vec::new(), rng }
    }
}

impl Foreign {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all states but not what was drawn.
    fn forget(&self, py: Python<'_>) {
        let (rng, drawn) = {
            let mut known = self.known();
            (known.rng.clone_ref(py), std::mem::take(&mut known.drawn))
        };
        self.restart(py, rng);
        self.known().drawn = drawn;
    }

    /// Forgets all states and draws from another generator.
    fn restart(&self, py: Python<'_>, rng: Py<PyAny>) {
        let fresh = Known::new(py, rng);
        let forgotten = std::mem::replace(&mut *self.known(), fresh);
        // Only now: what Python does when objects go away may need the lock.
        drop(forgotten);
    }

    /// Shows all objects of Python to the garbage collector.
    fn show(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.object)?;
        visit.call(&self.cost)?;
        // Nobody holds the lock while the collector works; if somebody did, nothing would be collected.
        let Ok(known) = self.known.try_lock() else { return Ok(()) };
        visit.call(&known.numbers)?;
        visit.call(&known.rng)?;
        known.states.iter().chain(&known.drawn).try_for_each(|object| visit.call(object))?;
        known.actions.iter().flatten().try_for_each(|actions| visit.call(actions))
    }

    /// The number of a state, which must be hashable.
    fn number(&self, state: &Bound<'_, PyAny>) -> PyResult<u32> {
        let py = state.py();
        let numbers = self.known().numbers.clone_ref(py);
        let numbers = numbers.bind(py);
        if let Some(number) = numbers.get_item(state)? {
            return number.extract();
        }
        let number = numbers.len();
        numbers.set_item(state, number)?;
        let mut known = self.known();
        known.states.push(state.clone().unbind());
        known.actions.push(None);
        Ok(number as u32)
    }

    fn state<'py>(&self, py: Python<'py>, number: u32) -> Bound<'py, PyAny> {
        self.known().states[number as usize].bind(py).clone()
    }

    fn rng<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.known().rng.bind(py).clone()
    }

    /// The actions of a state.
    fn actions<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyList>> {
        if let Some(actions) = &self.known().actions[number as usize] {
            return Ok(actions.bind(py).clone());
        }
        let state = self.state(py, number);
        let actions = self.object.bind(py).call_method1("actions", (&state,))?.try_iter()?;
        let actions = PyList::new(py, actions.collect::<PyResult<Vec<_>>>()?)?;
        if actions.is_empty() {
            return Err(PyValueError::new_err(format!("actions({}) is empty; there must be an action", shown(&state))));
        }
        self.known().actions[number as usize] = Some(actions.clone().unbind());
        Ok(actions)
    }

    /// An action of a state by its number.
    fn action<'py>(&self, py: Python<'py>, state: u32, action: Action) -> PyResult<Bound<'py, PyAny>> {
        if self.samples {
            let known = self.known();
            // A number that nobody drew is that of any other.
            let place = action.index() % known.drawn.len().max(1);
            if let Some(drawn) = known.drawn.get(place) {
                return Ok(drawn.bind(py).clone());
            }
            drop(known);
            let first = self.ask_action(py, state, 0)?;
            return self.action(py, state, first);
        }
        self.actions(py, state)?.get_item(action.index())
    }

    /// Draws an action; `chosen` says which of those drawn before it is where they are many.
    fn ask_action(&self, py: Python<'_>, state: u32, chosen: u32) -> PyResult<Action> {
        if self.known().drawn.len() >= MOST_DRAWN {
            return Ok(Action::from(chosen));
        }
        let from = self.state(py, state);
        let drawn = self.object.bind(py).call_method1("sample_action", (&from, self.rng(py)))?.unbind();
        let mut known = self.known();
        known.drawn.push(drawn);
        Ok(Action::from(known.drawn.len() as u32 - 1))
    }

    fn ask_step(&self, py: Python<'_>, state: u32, action: Action, features: &mut [f64]) -> PyResult<Option<u32>> {
        py.check_signals()?;
        let (from, action) = (self.state(py, state), self.action(py, state, action)?);
        let returned = self.object.bind(py).call_method1("step", (&from, &action, self.rng(py)))?;
        let Ok((next, given, done)) = returned.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, bool)>() else {
            let message = "it must be a tuple (next_state, features, done)";
            return Err(PyTypeError::new_err(format!("step returned {}; {message}", shown(&returned))));
        };
        read_features(&given, features)?;
        if done { Ok(None) } else { self.number(&next).map(Some) }
    }

    fn ask_cost(&self, py: Python<'_>, features: &[f64]) -> PyResult<f64> {
        let returned = self.cost.bind(py).call1((PyArray1::from_slice(py, features),))?;
        let cost: f64 = returned.extract().map_err(|_| {
            PyTypeError::new_err(format!("the objective returned {}; it must be a number", shown(&returned)))
        })?;
        if cost.is_finite() {
            Ok(cost)
        } else {
            Err(wrong(format!("the objective returned {cost}; it must be finite")))
        }
    }
}

/// Reads the features of a step: as many finite numbers as there are features.
fn read_features(given: &Bound<'_, PyAny>, features: &mut [f64]) -> PyResult<()> {
    let wrong = || {
        let message = format!("they must be {} finite numbers", features.len());
        PyValueError::new_err(format!("the features of a step are {}; {message}", shown(given)))
    };
    let read: Vec<f64> = match given.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(array) => array.as_array().iter().copied().collect(),
        Err(_) => given.extract().map_err(|_| wrong())?,
    };
    if read.len() != features.len() || !read.iter().all(|feature| feature.is_finite()) {
        return Err(wrong());
    }
    features.copy_from_slice(&read);
    Ok(())
}

impl Simulator for Foreign {
    type State = u32;
    type Error = PyErr;

    fn feature_count(&self) -> usize {
        self.feature_count
    }

    fn initial(&self, _: &mut Rng) -> PyResult<u32> {
        Python::attach(|py| self.number(&self.object.bind(py).call_method1("initial", (self.rng(py),))?))
    }

    fn action_count(&self, state: &u32) -> PyResult<u32> {
        if self.samples {
            return Ok(u32::MAX);
        }
        Python::attach(|py| Ok(self.actions(py, *state)?.len() as u32))
    }

    fn sample_action(&self, state: &u32, rng: &mut Rng) -> PyResult<Action> {
        if self.samples {
            let chosen = rng::below(rng, MOST_DRAWN as u32);
            return Python::attach(|py| self.ask_action(py, *state, chosen));
        }
        self.action_count(state).map(|actions| Action::from(rng::below(rng, actions)))
    }

    fn step(&self, state: &u32, action: Action, _: &mut Rng, features: &mut [f64]) -> PyResult<Option<u32>> {
        Python::attach(|py| self.ask_step(py, *state, action, features))
    }

    fn cost(&self, features: &[f64]) -> PyResult<f64> {
        Python::attach(|py| self.ask_cost(py, features))
    }
}

/// Plans in a simulator, decision by decision.
#[pyclass(frozen, module = "gumdp._native")]
pub struct SimulatorAgent {
    problem: Arc<SimulatedProblem<Foreign>>,
    seed: u64,
    playing: Turns<Playing>,
}

/// Who decides.
enum Planner {
    /// The default. Its outer variable, if it has one, is fixed before the first decision.
    Learning(Box<LearningPlanner<Foreign>>, Option<Risk>),
    Published(Box<BlackBoxPlanner<Foreign>>),
}

impl Planner {
    fn decide(&mut self, at: &Situation<u32>, rng: &mut Rng) -> PyResult<Decision> {
        match self {
            Self::Learning(planner, _) => planner.decide(at, rng),
            Self::Published(planner) => planner.decide(at, rng),
        }
    }

    fn begin_episode(&mut self) {
        match self {
            Self::Learning(planner, _) => planner.begin_episode(),
            Self::Published(planner) => planner.begin_episode(),
        }
    }
}

/// Where it is in its episode.
struct Playing {
    planner: Planner,
    episode: u64,
    rng: Rng,
    /// `None` before the first decision.
    at: Option<Situation<u32>>,
}

/// The action, the estimate of all, simulations, why the search ended, and reasons.
type Decided<'py> = (Bound<'py, PyAny>, f64, u64, &'static str, Reasons<'py>);

#[pymethods]
impl SimulatorAgent {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn new(
        py: Python<'_>,
        object: Py<PyAny>,
        cost: Py<PyAny>,
        feature_count: usize,
        discount: f64,
        horizon: usize,
        risk: &str,
        simulations: Option<u64>,
        time_limit: Option<f64>,
        exploration: Option<f64>,
        preset: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let samples = object.bind(py).hasattr("sample_action")?;
        let known = Mutex::new(Known::new(py, py.None()));
        let simulator = Foreign { object, cost, feature_count, samples, known };
        let problem = Arc::new(SimulatedProblem::new(simulator, discount, horizon).map_err(wrong)?);
        let budget = Budget { simulations, time_limit: duration(time_limit)? };
        let measure: Risk = risk.parse().map_err(wrong)?;
        let planner = if preset == "paper" {
            let settings = PlannerSettings {
                budget,
                exploration: Exploration::Constant(exploration.unwrap_or(1.0)),
                ..PlannerSettings::paper_illustrative()
            };
            let erm = measure.as_erm().ok_or_else(|| {
                wrong(format!("the risk is {risk}; the preset \"paper\" plans with entropic risk measures only"))
            })?;
            Planner::Published(Box::new(BlackBoxPlanner::new(&problem, erm, settings).map_err(wrong)?))
        } else {
            let default = LearningSettings::default();
            let exploration = exploration.unwrap_or(default.exploration);
            let settings = LearningSettings { budget, exploration, ..default };
            let fixed = measure.fixed();
            let first = fixed.unwrap_or(Erm::MEAN.into());
            let planner = LearningPlanner::new(&problem, first, settings).map_err(wrong)?;
            Planner::Learning(Box::new(planner), fixed.is_none().then_some(measure))
        };
        let playing = Playing { planner, episode: 0, rng: rng::stream(seed, 0, Purpose::Policy), at: None };
        Ok(Self { problem, seed, playing: Turns::new("planner", playing) })
    }

    /// Begins an episode whose random numbers in Python come from this generator.
    fn begin(&self, py: Python<'_>, rng: Py<PyAny>, episode: u64) -> PyResult<()> {
        let mut playing = self.playing.take(py)?;
        self.problem.simulator().restart(py, rng);
        playing.planner.begin_episode();
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
        if let Planner::Learning(planner, measure) = &mut playing.planner
            && let Some(unfixed) = *measure
        {
            **planner = learning_planner(planner, unfixed, self.seed)?;
            *measure = None;
            simulator.forget(py);
        }
        if let Planner::Learning(planner, _) = &playing.planner
            && !planner.learns()
            && let Some(at) = &mut playing.at
        {
            // States of earlier decisions would only fill the memory.
            let now = simulator.state(py, at.state);
            simulator.forget(py);
            at.state = simulator.number(&now)?;
        }
        let number = simulator.number(&state)?;
        let at = playing.at.get_or_insert_with(|| self.problem.start(number));
        if self.problem.is_over(at) {
            return Err(wrong("the episode is over; reset() begins another"));
        }
        if at.state != number {
            let is = shown(&simulator.state(py, at.state));
            let message = "tell observe() what happened, or reset()";
            return Err(wrong(format!("the episode is in state {is}, not in {}; {message}", shown(&state))));
        }
        let decision = playing.planner.decide(at, &mut playing.rng)?;
        if decision.stopped == StopReason::NotFinite {
            return Err(wrong("the objective is infinite or not a number at the end of a simulated episode"));
        }
        Ok((
            simulator.action(py, number, decision.action)?,
            decision.root_estimate,
            decision.simulations,
            stop_name(decision.stopped),
            columns(py, &decision),
        ))
    }

    /// A step had these features and led to this state, or ended the episode.
    fn observe(&self, next: Bound<'_, PyAny>, features: Bound<'_, PyAny>, done: bool) -> PyResult<()> {
        let mut playing = self.playing.take(next.py())?;
        let nothing = || wrong("nothing was decided yet; act() says where the episode begins");
        let at = playing.at.as_mut().ok_or_else(nothing)?;
        if self.problem.is_over(at) {
            return Err(wrong("the episode is over; reset() begins another"));
        }
        let mut read = vec![0.0; at.features.len()];
        read_features(&features, &mut read)?;
        let next = if done { None } else { Some(self.problem.simulator().number(&next)?) };
        self.problem.advance(at, &read, next);
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
        self.playing.take(py)?.at.as_ref().map(|at| self.problem.simulator().cost(&at.features)).transpose()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.problem.simulator().show(&visit)
    }
}
