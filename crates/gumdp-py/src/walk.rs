//! An episode without a planner: where it is, and what it costs so far.

use std::sync::Arc;

use gumdp::OccupancyState;
use gumdp_files::Task;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::wrong;
use crate::function::{Functions, watched};
use crate::model::Named;
use crate::problem::Problem;
use crate::turns::Turns;

/// A state of the occupancy MDP that moves on.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Walk {
    task: Arc<Task>,
    functions: Functions,
    at: Turns<OccupancyState>,
}

#[pymethods]
impl Walk {
    #[new]
    fn new(py: Python<'_>, problem: &Problem, state: Named) -> PyResult<Self> {
        let task = Arc::clone(&problem.task);
        let at = task.problem.start(state.state(task.problem.mdp())?);
        Ok(Self { task, functions: problem.functions.again(py), at: Turns::new("environment", at) })
    }

    /// Puts it where another one was.
    fn resume(&self, py: Python<'_>, time: usize, state: Named, features: Vec<f64>) -> PyResult<()> {
        let (problem, mut at) = (&self.task.problem, self.at.take(py)?);
        if time > problem.horizon() || features.len() != at.features.len() {
            return Err(wrong("the place is one of another problem"));
        }
        *at = OccupancyState { time, state: state.state(problem.mdp())?, features };
        Ok(())
    }

    /// The action was taken and led to this state.
    fn advance(&self, py: Python<'_>, action: Named, next: Named) -> PyResult<()> {
        advance(&self.task, &mut *self.at.take(py)?, &action, &next)
    }

    /// Time and state.
    fn place(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let at = self.at.take(py)?;
        Ok((at.time, at.state.index()))
    }

    /// Features of the occupancy so far.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.at.take(py)?.features.clone().into_pyarray(py))
    }

    /// f of the occupancy so far: the cost of the episode once it is over.
    fn cost(&self, py: Python<'_>) -> PyResult<f64> {
        let at = self.at.take(py)?;
        watched(self.functions.again(py), |_| Ok(self.task.problem.cost(&at)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}

/// Moves an occupancy state on, if that is possible.
pub fn advance(task: &Task, at: &mut OccupancyState, action: &Named, next: &Named) -> PyResult<()> {
    let (problem, mdp) = (&task.problem, task.problem.mdp());
    let (action, next) = (action.action(mdp)?, next.state(mdp)?);
    if at.time >= problem.horizon() {
        return Err(wrong(format!("the episode is over after {} steps; reset() begins another", at.time)));
    }
    let pair = mdp.pair(at.state, action).ok_or_else(|| {
        let (state, action) = (mdp.state_name(at.state), mdp.action_name(action));
        wrong(format!("state \"{state}\" does not allow action \"{action}\""))
    })?;
    if !mdp.successors(pair).any(|(state, _)| state == next) {
        let (state, action, next) = (mdp.state_name(at.state), mdp.action_name(action), mdp.state_name(next));
        return Err(wrong(format!("action \"{action}\" in state \"{state}\" never leads to state \"{next}\"")));
    }
    problem.advance(at, pair, next);
    Ok(())
}
