//! Many episodes of one problem, moved on together: for agents that learn.

use std::sync::Arc;

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{Action, OccupancyState, Pair};
use gumdp_files::Task;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::wrong;
use crate::function::{Functions, watched};
use crate::problem::Problem;
use crate::turns::Turns;

/// Episodes that are played at the same time.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Walks {
    task: Arc<Task>,
    functions: Functions,
    places: Turns<Vec<Place>>,
}

/// Where one of them is.
struct Place {
    at: OccupancyState,
    rng: Rng,
}

/// States, features one place after the other, and times.
type Seen<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl Walks {
    #[new]
    fn new(py: Python<'_>, problem: &Problem, count: usize, seed: u64) -> Self {
        let task = Arc::clone(&problem.task);
        let places = (0..count as u64).map(|number| begun(&task, rng::stream(seed, number, Purpose::Environment)));
        let places = Turns::new("environment", places.collect());
        Self { task, functions: problem.functions.again(py), places }
    }

    /// Begins a new episode everywhere; another seed begins other streams of chance.
    fn reset(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<()> {
        for (number, place) in (0..).zip(self.places.take(py)?.iter_mut()) {
            let rng = seed.map_or_else(|| place.rng.clone(), |seed| rng::stream(seed, number, Purpose::Environment));
            *place = begun(&self.task, rng);
        }
        Ok(())
    }

    /// Takes an action in each; where an episode is over the next one begins instead. An action that a state does not allow does what its
    /// first allowed action does. Returns the costs of episodes that have just ended, NaN elsewhere.
    fn step<'py>(&self, py: Python<'py>, actions: PyReadonlyArray1<'py, i64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let problem = &self.task.problem;
        let mdp = problem.mdp();
        let mut places = self.places.take(py)?;
        let actions = actions.as_slice().map_err(wrong)?;
        if actions.len() != places.len() {
            return Err(wrong(format!("{} actions are given for {} episodes", actions.len(), places.len())));
        }
        if let Some(action) = actions.iter().find(|action| !(0..mdp.action_count() as i64).contains(action)) {
            return Err(wrong(format!("an action is {action}; it must lie in [0, {}]", mdp.action_count() - 1)));
        }
        let mut costs = vec![f64::NAN; places.len()];
        for ((place, &action), cost) in places.iter_mut().zip(actions).zip(&mut costs) {
            let Place { at, rng } = place;
            if at.time >= problem.horizon() {
                restart(&self.task, place);
                continue;
            }
            let pair = mdp.pair(at.state, Action(action as u32)).unwrap_or(Pair(mdp.pairs(at.state).start));
            let next = mdp.sample(pair, rng);
            problem.advance(at, pair, next);
            if at.time >= problem.horizon() {
                *cost = watched(self.functions.again(py), |_| Ok(problem.cost(at)))?;
            }
        }
        Ok(costs.into_pyarray(py))
    }

    /// Where all of them are.
    fn places<'py>(&self, py: Python<'py>) -> PyResult<Seen<'py>> {
        let places = self.places.take(py)?;
        let states: Vec<i64> = places.iter().map(|place| place.at.state.index() as i64).collect();
        let features: Vec<f64> = places.iter().flat_map(|place| &place.at.features).copied().collect();
        let times: Vec<i64> = places.iter().map(|place| place.at.time as i64).collect();
        Ok((states.into_pyarray(py), features.into_pyarray(py), times.into_pyarray(py)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}

fn begun(task: &Task, mut rng: Rng) -> Place {
    let at = task.problem.start(task.problem.mdp().sample_initial(&mut rng));
    Place { at, rng }
}

/// The next episode, in the memory of the last one.
fn restart(task: &Task, Place { at, rng }: &mut Place) {
    at.time = 0;
    at.state = task.problem.mdp().sample_initial(rng);
    at.features.fill(0.0);
}
