//! Models as arrays.

use std::sync::Arc;

use gumdp::{Key, Mdp, Pair};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::errors::wrong;
use crate::function::shown;

/// A model, built once.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Model {
    pub mdp: Arc<Mdp>,
}

/// Integers for Python.
pub type Integers<'py> = Bound<'py, PyArray1<i64>>;

/// A state or an action by name or number.
pub enum Named {
    /// By number.
    Number(i64),
    /// By name.
    Name(String),
}

impl<'py> FromPyObject<'_, 'py> for Named {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = if object.is_instance_of::<PyBool>() { None } else { object.extract().ok().map(Self::Number) };
        number.or_else(|| object.extract().ok().map(Self::Name)).ok_or_else(|| {
            let given = shown(&object);
            PyTypeError::new_err(format!("{given} is no state or action; give its number or its name"))
        })
    }
}

impl Named {
    pub fn state(&self, mdp: &Mdp) -> PyResult<gumdp::State> {
        self.found("state", mdp.state_count(), |name| mdp.find_state(name))
    }

    pub fn action(&self, mdp: &Mdp) -> PyResult<gumdp::Action> {
        self.found("action", mdp.action_count(), |name| mdp.find_action(name))
    }

    /// The one with this number, or with this name.
    fn found<T: From<u32>>(&self, what: &str, count: usize, find: impl Fn(&str) -> Option<T>) -> PyResult<T> {
        let found = match self {
            Self::Number(number) => {
                u32::try_from(*number).ok().filter(|&number| (number as usize) < count).map(T::from)
            }
            Self::Name(name) => find(name),
        };
        found.ok_or_else(|| self.unknown(what, count))
    }

    fn unknown(&self, what: &str, count: usize) -> PyErr {
        wrong(match self {
            Self::Number(number) => format!("there is no {what} {number}; they are numbered 0 to {}", count - 1),
            Self::Name(name) => format!("unknown {what} \"{name}\""),
        })
    }
}

#[pymethods]
impl Model {
    /// Row r says where action `row_actions[r]` leads from state `row_states[r]`: to `successors[k]` with `probabilities[k]`,
    /// k from `first[r]` up to `first[r + 1]`.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "arrays of one table")]
    fn new(
        states: Vec<String>,
        actions: Vec<String>,
        initial: PyReadonlyArray1<f64>,
        row_states: PyReadonlyArray1<i64>,
        row_actions: PyReadonlyArray1<i64>,
        first: PyReadonlyArray1<i64>,
        successors: PyReadonlyArray1<i64>,
        probabilities: PyReadonlyArray1<f64>,
    ) -> PyResult<Self> {
        let (row_states, row_actions, first) = (row_states.as_slice()?, row_actions.as_slice()?, first.as_slice()?);
        let (successors, probabilities) = (successors.as_slice()?, probabilities.as_slice()?);
        let starts = initial.as_slice()?.iter().enumerate().filter(|(_, p)| **p != 0.0);
        let mut builder = Mdp::named(states, actions).initial(starts.map(|(state, &p)| (state, p)));
        for (row, (&state, &action)) in row_states.iter().zip(row_actions).enumerate() {
            let range = match first.get(row..=row + 1) {
                Some(&[from, to]) => usize::try_from(from).ok().zip(usize::try_from(to).ok()).map(|(a, b)| a..b),
                _ => None,
            };
            let parts = range.and_then(|range| successors.get(range.clone()).zip(probabilities.get(range)));
            let (to, p) = parts.ok_or_else(|| wrong("the rows of a sparse matrix are not well formed"))?;
            let outcomes = to.iter().map(|&next| Key::Number(next)).zip(p.iter().copied());
            builder = builder.transition(Key::Number(state), Key::Number(action), outcomes);
        }
        Ok(Self { mdp: Arc::new(builder.build().map_err(wrong)?) })
    }

    /// Names of the states.
    fn states(&self) -> Vec<&str> {
        self.mdp.states().map(|state| self.mdp.state_name(state)).collect()
    }

    /// Names of the actions.
    fn actions(&self) -> Vec<&str> {
        (0..self.mdp.action_count() as u32).map(|action| self.mdp.action_name(action.into())).collect()
    }

    /// The probability of each state to be the first.
    fn initial<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut initial = vec![0.0; self.mdp.state_count()];
        for &(state, p) in self.mdp.initial() {
            initial[state.index()] = p;
        }
        initial.into_pyarray(py)
    }

    /// State and action of each pair.
    fn pairs<'py>(&self, py: Python<'py>) -> (Integers<'py>, Integers<'py>) {
        let pairs = || (0..self.mdp.pair_count() as u32).map(Pair::from);
        let states: Vec<i64> = pairs().map(|pair| self.mdp.state(pair).index() as i64).collect();
        let actions: Vec<i64> = pairs().map(|pair| self.mdp.action(pair).index() as i64).collect();
        (states.into_pyarray(py), actions.into_pyarray(py))
    }

    /// The rows of all pairs: first places, successors, probabilities.
    fn rows<'py>(&self, py: Python<'py>) -> (Integers<'py>, Integers<'py>, Bound<'py, PyArray1<f64>>) {
        let (mut first, mut successors, mut probabilities) = (vec![0], Vec::new(), Vec::new());
        for pair in (0..self.mdp.pair_count() as u32).map(Pair::from) {
            for (next, p) in self.mdp.successors(pair) {
                successors.push(next.index() as i64);
                probabilities.push(p);
            }
            first.push(successors.len() as i64);
        }
        (first.into_pyarray(py), successors.into_pyarray(py), probabilities.into_pyarray(py))
    }

    /// The number of a state.
    fn state(&self, state: Named) -> PyResult<usize> {
        Ok(state.state(&self.mdp)?.index())
    }

    /// The number of an action.
    fn action(&self, action: Named) -> PyResult<usize> {
        Ok(action.action(&self.mdp)?.index())
    }

    /// Numbers of states, actions, pairs and transitions.
    fn counts(&self) -> (usize, usize, usize, usize) {
        (self.mdp.state_count(), self.mdp.action_count(), self.mdp.pair_count(), self.mdp.transition_count())
    }
}
