//! Simulators written in Python: any object with `initial`, `actions` and `step`, and a function of the sums of its features.

use std::sync::Arc;

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{
    BlackBoxPlanner, Budget, Decision, Erm, Exploration, LearningPlanner, LearningSettings, PlannerSettings, Risk,
    SimulatedProblem, Simulator, Situation, StopReason, learning_planner,
};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::agent::{Reasons, columns, stop_name};
use crate::errors::wrong;
use crate::foreign::{Foreign, not_finite, read_features};
use crate::function::shown;
use crate::policy::duration;
use crate::turns::Turns;

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

    fn unseen(&self) -> f64 {
        match self {
            Self::Learning(planner, _) => planner.unseen(),
            Self::Published(_) => f64::NAN,
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
        let simulator = Foreign::new(py, object, cost, feature_count)?;
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
        let decided = playing.planner.decide(at, &mut playing.rng);
        let raised = simulator.raised();
        let decision = decided?;
        if decision.stopped == StopReason::NotFinite {
            return Err(raised.unwrap_or_else(not_finite));
        }
        Ok((
            simulator.action(py, number, decision.action)?,
            decision.root_estimate,
            decision.simulations,
            stop_name(decision.stopped),
            columns(py, &decision),
        ))
    }

    /// By how much the risk of the last decision may be higher because of what is too rare to be seen.
    fn unseen(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.playing.take(py)?.planner.unseen())
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
        let playing = self.playing.take(py)?;
        let Some(at) = &playing.at else { return Ok(None) };
        let cost = self.problem.simulator().cost(&at.features)?;
        let raised = self.problem.simulator().raised();
        if cost.is_finite() || !self.problem.is_over(at) {
            return Ok(Some(cost));
        }
        Err(raised.unwrap_or_else(|| wrong(format!("the objective returned {cost}; it must be finite"))))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.problem.simulator().show(&visit)
    }
}
