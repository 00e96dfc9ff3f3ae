//! Python functions as objectives: slower than all others, and they may raise.

use std::sync::{Arc, Mutex, PoisonError};

use gumdp::{Bounds, Mdp, Pair, Stop};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::wrong;

/// A function f(d) of an array (S, A), and what it raised.
pub struct Function {
    callable: Py<PyAny>,
    /// Numbers of states and actions.
    shape: [usize; 2],
    /// The place of each pair in the array.
    places: Vec<usize>,
    bounds: Bounds,
    raised: Mutex<Option<PyErr>>,
}

/// All functions that an objective has.
pub type Functions = Vec<Arc<Function>>;

impl Function {
    /// The function as an objective of a model.
    pub fn objective(callable: Py<PyAny>, mdp: &Mdp, bounds: Bounds) -> PyResult<(gumdp::Objective, Arc<Self>)> {
        let shape = [mdp.state_count(), mdp.action_count()];
        let place = |pair| mdp.state(pair).index() * shape[1] + mdp.action(pair).index();
        let places: Vec<usize> = (0..mdp.pair_count() as u32).map(Pair::from).map(place).collect();
        let function = Arc::new(Self { callable, shape, places, bounds, raised: Mutex::default() });
        let asked = Arc::clone(&function);
        let objective = gumdp::Objective::custom(mdp.pair_count(), bounds, move |masses| asked.value(masses));
        Ok((objective.map_err(wrong)?, function))
    }

    /// f(d). Once it has raised, or if nobody waits for the result any more, Python is not asked again.
    fn value(&self, masses: &[f64]) -> f64 {
        if self.has_raised() || Stop::current().is_requested() {
            return f64::NAN;
        }
        Python::attach(|py| {
            self.ask(py, masses).unwrap_or_else(|error| {
                self.raised().get_or_insert(error);
                f64::NAN
            })
        })
    }

    fn ask(&self, py: Python<'_>, masses: &[f64]) -> PyResult<f64> {
        let array = PyArray2::<f64>::zeros(py, self.shape, false);
        {
            let mut entries = array.try_readwrite()?;
            let entries = entries.as_slice_mut()?;
            for (&place, &mass) in self.places.iter().zip(masses) {
                entries[place] = mass;
            }
        }
        let array = array.into_any();
        array.getattr("flags")?.setattr("writeable", false)?;
        let returned = self.callable.bind(py).call1((array,))?;
        let value: f64 = returned.extract().map_err(|_| {
            PyTypeError::new_err(format!("the objective returned {}; it must be a number", shown(&returned)))
        })?;
        let Bounds { low, high } = self.bounds;
        if !value.is_finite() {
            return Err(PyValueError::new_err(format!("the objective returned {value}; it must be finite")));
        }
        if value < low || value > high {
            let message = format!("the objective returned {value}, which is outside of its bounds {low} to {high}");
            return Err(PyValueError::new_err(message));
        }
        Ok(value)
    }

    /// Whether it raised an exception that nobody has seen yet.
    pub fn has_raised(&self) -> bool {
        self.raised().is_some()
    }

    fn raised(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What Python would print.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string())
}

/// Does something that may ask functions. If one of them raises, its exception is what comes of it.
pub fn watched<T>(functions: &[Arc<Function>], work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let raised = || functions.iter().find_map(|function| function.raised().take());
    // What an interrupted piece of work left behind.
    for function in functions {
        *function.raised() = None;
    }
    let result = work();
    match raised() {
        Some(error) => Err(error),
        None => result,
    }
}
