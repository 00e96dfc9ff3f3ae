//! One episode after the other, decision by decision, with a world outside.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{OccupancyState, StopReason, Task};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::background::interruptible;
use crate::errors::wrong;
use crate::function::{Functions, watched};
use crate::model::Named;
use crate::policy::{Player, Policy};
use crate::problem::Problem;
use crate::walk::advance;

/// A decision that may take longer than this is made in a thread of its own, so that Ctrl-C is heard.
const INLINE: Duration = Duration::from_millis(5);

/// One that plays, where it is in its episode, and what it draws from.
#[pyclass(module = "gumdp._native")]
pub struct Agent {
    task: Arc<Task>,
    functions: Functions,
    /// As it was made; what is left of an interrupted planner is replaced by it.
    fresh: Player,
    player: Player,
    seed: u64,
    /// The number of the episode, from 0: that of the run of an experiment with the same random numbers.
    episode: u64,
    rng: Rng,
    /// `None` before the first decision.
    at: Option<OccupancyState>,
    /// How long the last decision took; the first may take long.
    last: Duration,
}

/// A decision and its reasons.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Decision {
    action: gumdp::Action,
    /// `None` if nothing had to be found out.
    planned: Option<gumdp::Decision>,
    took: Duration,
    task: Arc<Task>,
}

type Reasons<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>, [Bound<'py, PyArray1<f64>>; 4]);

#[pymethods]
impl Decision {
    /// The number of the action.
    #[getter]
    fn action(&self) -> usize {
        self.action.index()
    }

    /// The name of the action.
    #[getter]
    fn action_name(&self) -> &str {
        self.task.problem.mdp().action_name(self.action)
    }

    /// Actions, visits, and ERM, mean, lowest and highest cost.
    fn reasons<'py>(&self, py: Python<'py>) -> Reasons<'py> {
        let reasons = self.planned.as_ref().map_or(&[][..], |planned| &planned.reasons);
        let column =
            |value: fn(&gumdp::ActionReason) -> f64| reasons.iter().map(value).collect::<Vec<f64>>().into_pyarray(py);
        let actions: Vec<i64> = reasons.iter().map(|reason| reason.action.index() as i64).collect();
        let visits: Vec<u64> = reasons.iter().map(|reason| reason.visits).collect();
        let estimates = [column(|r| r.erm), column(|r| r.mean), column(|r| r.min), column(|r| r.max)];
        (actions.into_pyarray(py), visits.into_pyarray(py), estimates)
    }

    /// The estimated risk from here.
    #[getter]
    fn estimate(&self) -> f64 {
        self.planned.as_ref().map_or(f64::NAN, |planned| planned.root_estimate)
    }

    /// Simulations done for this decision.
    #[getter]
    fn simulations(&self) -> u64 {
        self.planned.as_ref().map_or(0, |planned| planned.simulations)
    }

    /// How long it took, without the way from and to Python.
    #[getter]
    fn seconds(&self) -> f64 {
        self.took.as_secs_f64()
    }

    /// Why the search ended.
    #[getter]
    fn stopped(&self) -> &'static str {
        self.planned.as_ref().map_or("known", |planned| stop_name(planned.stopped))
    }
}

/// Why a search ended, in words.
pub fn stop_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Simulations => "simulations",
        StopReason::TimeLimit => "time limit",
        StopReason::Solved => "solved",
        StopReason::NotFinite => "not finite",
        StopReason::Marginal => "marginal",
    }
}

#[pymethods]
impl Agent {
    #[new]
    fn new(py: Python<'_>, problem: &Problem, policy: &Policy, seed: u64, episode: u64) -> Self {
        Self {
            task: Arc::clone(&problem.task),
            functions: problem.functions.and(py, &policy.functions),
            fresh: policy.player.clone(),
            player: policy.player.clone(),
            seed,
            episode,
            rng: rng::stream(seed, episode, Purpose::Policy),
            at: None,
            last: Duration::MAX,
        }
    }

    /// Makes the decision in this state, which is where the episode is.
    fn act(&mut self, py: Python<'_>, state: Named) -> PyResult<Decision> {
        let state = state.state(self.task.problem.mdp())?;
        let problem = &self.task.problem;
        let at = self.at.get_or_insert_with(|| problem.start(state));
        if at.time >= problem.horizon() {
            return Err(wrong(format!("the episode is over after {} steps; reset() begins another", at.time)));
        }
        if at.state != state {
            let (is, given) = (problem.mdp().state_name(at.state), problem.mdp().state_name(state));
            return Err(wrong(format!(
                "the episode is in state \"{is}\", not in \"{given}\"; tell observe() what happened, or reset()"
            )));
        }
        // What a failed search has learnt is of no use.
        let (action, planned) = self.decide(py).inspect_err(|_| self.player = self.fresh.clone())?;
        if planned.as_ref().is_some_and(|planned| planned.stopped == StopReason::NotFinite) {
            return Err(wrong(
                "the objective is infinite or not a number at the end of a simulated episode; check its formula",
            ));
        }
        Ok(Decision { action, planned, took: self.last, task: Arc::clone(&self.task) })
    }

    /// The action was taken and led to this state.
    fn observe(&mut self, action: Named, next: Named) -> PyResult<()> {
        let at =
            self.at.as_mut().ok_or_else(|| wrong("nothing was decided yet; act() says where the episode begins"))?;
        advance(&self.task, at, &action, &next)
    }

    /// The next episode; nothing happens before the first decision of one.
    fn reset(&mut self) {
        if self.at.take().is_some() {
            self.episode += 1;
            self.rng = rng::stream(self.seed, self.episode, Purpose::Policy);
            gumdp::Policy::begin_episode(&mut self.player);
        }
    }

    /// Number of decisions that were followed by a step.
    fn time(&self) -> usize {
        self.at.as_ref().map_or(0, |at| at.time)
    }

    /// The cost of what has happened.
    fn cost(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        watched(self.functions.again(py), || Ok(self.at.as_ref().map(|at| self.task.problem.cost(at))))
    }

    /// The seed, the number of the episode, and whether it has begun.
    fn progress(&self) -> (u64, u64, bool) {
        (self.seed, self.episode, self.at.is_some())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}

/// An action and what a planner says about it.
type Decided = (gumdp::Action, Option<gumdp::Decision>);

impl Agent {
    fn decide(&mut self, py: Python<'_>) -> PyResult<Decided> {
        let started = Instant::now();
        let Self { player, fresh, at: Some(at), rng, .. } = self else {
            return Err(wrong("the episode has not begun"));
        };
        let decided = if self.last < INLINE {
            watched(self.functions.again(py), || Ok(py.detach(|| player.decide(at, rng))))?
        } else {
            let mut moved = std::mem::replace(player, fresh.clone());
            let (at, mut own) = (at.clone(), rng.clone());
            let (decided, moved, own) = interruptible(py, self.functions.again(py), move |_| {
                let decided = moved.decide(&at, &mut own);
                (decided, moved, own)
            })?;
            (*player, *rng) = (moved, own);
            decided
        };
        self.last = started.elapsed();
        Ok(decided)
    }
}
