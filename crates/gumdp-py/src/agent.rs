//! One episode after the other, decision by decision, with a world outside.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{OccupancyState, StopReason, Task};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::background::{in_pool, interruptible};
use crate::errors::wrong;
use crate::model::Named;
use crate::play::risk;
use crate::policy::{Plan, Player};
use crate::problem::Problem;
use crate::walk::advance;

/// A decision that may take longer than this is made in a thread of its own, so that Ctrl-C is heard.
const INLINE: Duration = Duration::from_millis(5);

/// A planner, where it is in its episode, and what it draws from.
#[pyclass(module = "gumdp._native")]
pub struct Agent {
    task: Arc<Task>,
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
    outer: Option<String>,
}

/// A decision and its reasons.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Decision {
    inner: gumdp::Decision,
    task: Arc<Task>,
}

type Reasons<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>, [Bound<'py, PyArray1<f64>>; 4]);

#[pymethods]
impl Decision {
    /// The number of the action.
    #[getter]
    fn action(&self) -> usize {
        self.inner.action.index()
    }

    /// The name of the action.
    #[getter]
    fn action_name(&self) -> &str {
        self.task.problem.mdp().action_name(self.inner.action)
    }

    /// Actions, visits, and ERM, mean, lowest and highest cost.
    fn reasons<'py>(&self, py: Python<'py>) -> Reasons<'py> {
        let reasons = &self.inner.reasons;
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
        self.inner.root_estimate
    }

    /// Simulations done for this decision.
    #[getter]
    fn simulations(&self) -> u64 {
        self.inner.simulations
    }

    /// Why the search ended.
    #[getter]
    fn stopped(&self) -> &'static str {
        match self.inner.stopped {
            StopReason::Simulations => "simulations",
            StopReason::TimeLimit => "time limit",
            StopReason::Solved => "solved",
            StopReason::NotFinite => "not finite",
            StopReason::Marginal => "marginal",
        }
    }
}

#[pymethods]
impl Agent {
    #[new]
    fn new(
        py: Python<'_>,
        problem: &Problem,
        measure: &str,
        preset: &str,
        simulations: Option<u64>,
        time_limit: Option<f64>,
        seed: u64,
    ) -> PyResult<Self> {
        let (task, measure) = (Arc::clone(&problem.task), risk(measure)?.0);
        let plan = Plan::new(preset, simulations, time_limit, seed)?;
        // Only the outer variable of a measure takes long.
        let made = if measure.as_erm().is_some() {
            plan.player(&task, measure)
        } else {
            let task = Arc::clone(&task);
            in_pool(py, None, move |_| plan.player(&task, measure))?
        };
        let (player, outer) = made.map_err(wrong)?;
        Ok(Self {
            task,
            fresh: player.clone(),
            player,
            seed,
            episode: 0,
            rng: rng::stream(seed, 0, Purpose::Policy),
            at: None,
            last: Duration::MAX,
            outer,
        })
    }

    /// Plans the decision in this state, which is where the episode is.
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
        let started = Instant::now();
        let inner = if self.last < INLINE {
            let Self { player, at: Some(at), rng, .. } = self else { unreachable!("it was just set") };
            py.detach(|| decide(player, at, rng))
        } else {
            let mut player = std::mem::replace(&mut self.player, self.fresh.clone());
            let (at, mut own) = (at.clone(), self.rng.clone());
            let (inner, player, own) = interruptible(py, move |_| {
                let inner = decide(&mut player, &at, &mut own);
                (inner, player, own)
            })?;
            (self.player, self.rng) = (player, own);
            inner
        };
        self.last = started.elapsed();
        if inner.stopped == StopReason::NotFinite {
            return Err(wrong(
                "the objective is infinite or not a number at the end of a simulated episode; check its formula",
            ));
        }
        Ok(Decision { inner, task: Arc::clone(&self.task) })
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
    fn cost(&self) -> Option<f64> {
        self.at.as_ref().map(|at| self.task.problem.cost(at))
    }

    /// The outer variable of the risk measure, if it has one.
    fn outer(&self) -> Option<&str> {
        self.outer.as_deref()
    }
}

fn decide(player: &mut Player, at: &OccupancyState, rng: &mut Rng) -> gumdp::Decision {
    match player {
        Player::Paper(planner) => planner.decide(at, rng),
        Player::Guided(planner) => planner.decide(at, rng),
        Player::Uniform(_) | Player::Exact(_) | Player::Table(_) => unreachable!("an agent plans"),
    }
}
