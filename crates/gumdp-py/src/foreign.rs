//! A simulator of Python as the library sees it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gumdp::rng::{self, Rng};
use gumdp::{Action, Simulator};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyArithmeticError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::wrong;
use crate::function::shown;

/// A simulator of Python. Its states are numbered as they are met.
pub struct Foreign {
    object: Py<PyAny>,
    cost: Py<PyAny>,
    feature_count: usize,
    /// Whether it draws actions itself instead of listing them.
    samples: bool,
    raised: Mutex<Option<PyErr>>,
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
    /// An object of Python, and its function of the sums of features.
    pub fn new(py: Python<'_>, object: Py<PyAny>, cost: Py<PyAny>, feature_count: usize) -> PyResult<Self> {
        let samples = object.bind(py).hasattr("sample_action")?;
        Ok(Self {
            object,
            cost,
            feature_count,
            samples,
            raised: Mutex::default(),
            known: Mutex::new(Known::new(py, py.None())),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all states but not what was drawn.
    pub fn forget(&self, py: Python<'_>) {
        let (rng, drawn) = {
            let mut known = self.known();
            (known.rng.clone_ref(py), std::mem::take(&mut known.drawn))
        };
        self.restart(py, rng);
        self.known().drawn = drawn;
    }

    /// Forgets all states and draws from another generator.
    pub fn restart(&self, py: Python<'_>, rng: Py<PyAny>) {
        let fresh = Known::new(py, rng);
        let forgotten = std::mem::replace(&mut *self.known(), fresh);
        // Only now: what Python does when objects go away may need the lock.
        drop(forgotten);
    }

    /// Shows all objects of Python to the garbage collector.
    pub fn show(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
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
    pub fn number(&self, state: &Bound<'_, PyAny>) -> PyResult<u32> {
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

    pub fn state<'py>(&self, py: Python<'py>, number: u32) -> Bound<'py, PyAny> {
        self.known().states[number as usize].bind(py).clone()
    }

    fn rng<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.known().rng.bind(py).clone()
    }

    /// The actions of a state.
    pub fn actions<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyList>> {
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
    pub fn action<'py>(&self, py: Python<'py>, state: u32, action: Action) -> PyResult<Bound<'py, PyAny>> {
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

    /// Why the objective had no value the last time that it had none. Before the end of an episode it need not have one.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Asks for the cost of these sums. Where there is none, before the end of an episode, that is remembered.
pub fn ask_cost(py: Python<'_>, cost: &Py<PyAny>, raised: &Mutex<Option<PyErr>>, features: &[f64]) -> PyResult<f64> {
    let asked = cost.bind(py).call1((PyArray1::from_slice(py, features),));
    let returned = match asked {
        Err(error) if error.is_instance_of::<PyArithmeticError>(py) || error.is_instance_of::<PyValueError>(py) => {
            *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return Ok(f64::NAN);
        }
        asked => asked?,
    };
    returned
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("the objective returned {}; it must be a number", shown(&returned))))
}

/// Why there is no decision if a simulated episode has no finite cost.
pub fn not_finite() -> PyErr {
    wrong("the objective is infinite or not a number at the end of a simulated episode; it must be finite")
}

/// Reads the features of a step: as many finite numbers as there are features.
pub fn read_features(given: &Bound<'_, PyAny>, features: &mut [f64]) -> PyResult<()> {
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
        Python::attach(|py| ask_cost(py, &self.cost, &self.raised, features))
    }
}
