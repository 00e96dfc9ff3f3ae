//! One episode after the other, decision by decision, with a world outside.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{ActionReason, OccupancyState, StopReason};
use gumdp_files::Task;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::background::interruptible;
use crate::errors::wrong;
use crate::function::{Functions, watched};
use crate::model::Named;
use crate::policy::{Making, Policy};
use crate::problem::Problem;
use crate::turns::{Turn, Turns};
use crate::walk::advance;

/// A decision that may take longer than this is made in a thread of its own, so that Ctrl-C is heard.
const INLINE: Duration = Duration::from_millis(5);

/// One that plays.
#[pyclass(frozen, module = "gumdp._native")]
pub struct Agent {
    task: Arc<Task>,
    functions: Functions,
    /// As it is made; what is left of an interrupted planner is replaced by it.
    making: Arc<Making>,
    seed: u64,
    /// Number of decisions in an episode: the horizon, or one less if costs are those of steps before.
    decisions: usize,
    playing: Turns<Playing>,
}

/// Where a player is in its episode, and what it draws from.
struct Playing {
    /// `None` before it is first asked.
    player: Option<Box<dyn gumdp::Policy>>,
    /// The number of the episode, from 0: that of the run of an experiment with the same random numbers.
    episode: u64,
    rng: Rng,
    /// `None` before the first decision.
    at: Option<OccupancyState>,
    /// How long the last decision took; the first may take long.
    last: Duration,
}

/// What is known of each action: actions, visits, and rank, ERM, mean, lowest and highest cost.
pub type Reasons<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>, [Bound<'py, PyArray1<f64>>; 5]);

/// Number and name of the action, estimate, simulations, seconds without the way from and to Python, why the search ended, reasons.
type Decided<'py> = (usize, String, f64, u64, f64, &'static str, Reasons<'py>);

/// Reasons as columns.
pub fn columns<'py>(py: Python<'py>, decision: &gumdp::Decision) -> Reasons<'py> {
    let reasons = &decision.reasons;
    let column = |value: fn(&ActionReason) -> f64| reasons.iter().map(value).collect::<Vec<f64>>().into_pyarray(py);
    let ranks: Vec<f64> = decision.ranks().into_iter().map(|rank| rank as f64).collect();
    // What ranks only is no risk.
    let risk: fn(&ActionReason) -> f64 = if decision.only_ranks() { |_| f64::NAN } else { |r| r.erm };
    let actions: Vec<i64> = reasons.iter().map(|reason| reason.action.index() as i64).collect();
    let visits: Vec<u64> = reasons.iter().map(|reason| reason.visits).collect();
    let estimates = [ranks.into_pyarray(py), column(risk), column(|r| r.mean), column(|r| r.min), column(|r| r.max)];
    (actions.into_pyarray(py), visits.into_pyarray(py), estimates)
}

/// Why a search ended, in words.
pub fn stop_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Simulations => "simulations",
        StopReason::TimeLimit => "time limit",
        StopReason::Solved => "solved",
        StopReason::NotFinite => "not finite",
        StopReason::Marginal => "marginal",
        StopReason::Lattice => "lattice",
        StopReason::Known => "known",
    }
}

#[pymethods]
impl Agent {
    /// With `late` the cost of a step belongs to the state that it leads to, and is paid there: the last step of an episode only pays.
    #[new]
    fn new(py: Python<'_>, problem: &Problem, policy: &Policy, seed: u64, episode: u64, late: bool) -> Self {
        let rng = rng::stream(seed, episode, Purpose::Policy);
        let playing = Playing { player: None, episode, rng, at: None, last: Duration::MAX };
        Self {
            task: Arc::clone(&problem.task),
            functions: problem.functions.and(py, &policy.functions),
            making: Arc::clone(&policy.making),
            seed,
            decisions: problem.task.problem.horizon() - usize::from(late),
            playing: Turns::new("planner", playing),
        }
    }

    /// Makes the decision in this state, which is where the episode is.
    fn act<'py>(&self, py: Python<'py>, state: Named) -> PyResult<Decided<'py>> {
        let problem = &self.task.problem;
        let state = state.state(problem.mdp())?;
        let playing = &mut *self.take(py)?;
        let is_first = playing.at.is_none();
        let at = playing.at.get_or_insert_with(|| problem.start(state));
        self.check(at)?;
        if at.state != state {
            let (is, given) = (problem.mdp().state_name(at.state), problem.mdp().state_name(state));
            return Err(wrong(format!(
                "the episode is in state \"{is}\", not in \"{given}\"; tell observe() what happened, or reset()"
            )));
        }
        let decided = self.decide(py, playing);
        if decided.is_err() {
            // What a failed search has learnt is of no use, and an episode begins with its first decision.
            playing.player = None;
            playing.at.take_if(|_| is_first);
        }
        let decision = decided?;
        let gumdp::Decision { action, root_estimate, simulations, stopped, .. } = decision;
        // Sums of step costs rank actions, and are no risk.
        let estimate = if decision.only_ranks() { f64::NAN } else { root_estimate };
        let (name, seconds) = (problem.mdp().action_name(action).to_owned(), playing.last.as_secs_f64());
        Ok((action.index(), name, estimate, simulations, seconds, stop_name(stopped), columns(py, &decision)))
    }

    /// The action was taken and led to this state.
    fn observe(&self, py: Python<'_>, action: Named, next: Named) -> PyResult<()> {
        let mut playing = self.take(py)?;
        let nothing = || wrong("nothing was decided yet; act() says where the episode begins");
        let at = playing.at.as_mut().ok_or_else(nothing)?;
        self.check(at)?;
        advance(&self.task, at, &action, &next)
    }

    /// The next episode; nothing happens before the first decision of one.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut playing = self.take(py)?;
        if playing.at.take().is_some() {
            playing.episode += 1;
            playing.rng = rng::stream(self.seed, playing.episode, Purpose::Policy);
            if let Some(player) = &mut playing.player {
                player.begin_episode();
            }
        }
        Ok(())
    }

    /// Number of decisions that were followed by a step; the horizon if the episode is over.
    fn time(&self, py: Python<'_>) -> PyResult<usize> {
        let playing = self.take(py)?;
        let horizon = self.task.problem.horizon();
        Ok(playing.at.as_ref().map_or(0, |at| if at.time < self.decisions { at.time } else { horizon }))
    }

    /// The cost of what has happened.
    fn cost(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        let playing = self.take(py)?;
        let Some(at) = &playing.at else { return Ok(None) };
        let problem = &self.task.problem;
        let mut paid = at.clone();
        if at.time <= self.decisions && self.decisions < problem.horizon() {
            // Whatever is done next, it pays for the step before.
            problem.mdp().pairs(at.state).take(1).for_each(|pair| problem.advance(&mut paid, pair.into(), at.state));
        }
        watched(self.functions.again(py), |_| Ok(Some(problem.cost(&paid))))
    }

    /// The seed, the number of the episode, and whether it has begun.
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64, bool)> {
        let playing = self.take(py)?;
        Ok((self.seed, playing.episode, playing.at.is_some()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.show(&visit)
    }
}

impl Agent {
    /// Waits for its turn. A function that is asked in pilot episodes of others with the same player would wait for itself too.
    fn take(&self, py: Python<'_>) -> PyResult<Turn<'_, Playing>> {
        self.making.check()?;
        self.playing.take(py)
    }

    /// Refuses an episode that is over.
    fn check(&self, at: &OccupancyState) -> PyResult<()> {
        if at.time < self.decisions {
            return Ok(());
        }
        Err(wrong(format!("the episode is over after {} steps; reset() begins another", self.decisions)))
    }

    fn decide(&self, py: Python<'_>, playing: &mut Playing) -> PyResult<gumdp::Decision> {
        let fresh = self.making.made(py, &self.functions)?.policy();
        let started = Instant::now();
        let Playing { player, at: Some(at), rng, .. } = playing else {
            return Err(wrong("the episode has not begun"));
        };
        let player = player.get_or_insert_with(|| fresh.boxed());
        let decided = if playing.last < INLINE {
            watched(self.functions.again(py), |stop| {
                player.set_stop(stop);
                Ok(py.detach(|| player.decide(at, rng)))
            })?
        } else {
            let mut moved = std::mem::replace(player, fresh.boxed());
            let (at, mut own) = (at.clone(), rng.clone());
            let (decided, moved, own) = interruptible(py, self.functions.again(py), move |stop| {
                moved.set_stop(stop);
                let decided = moved.decide(&at, &mut own);
                (decided, moved, own)
            })?;
            (*player, *rng) = (moved, own);
            decided
        };
        playing.last = started.elapsed();
        decided.map_err(wrong)
    }
}
