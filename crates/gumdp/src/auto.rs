//! The optimum where it can be computed, the planner where it cannot.
//!
//! The only module that knows both [`crate::oracle`] and [`crate::guided`]. Whether a problem fits depends on its model,
//! objective and horizon, and not on the attitude to risk: what is too large for one β is too large for all.

use std::fmt;

use crate::guided::{GuidedPlanner, GuidedSettings};
use crate::model::Action;
use crate::oracle::{self, Limits, Method, OracleError, Solution};
use crate::pilot::fix_outer;
use crate::planner::PlannerError;
use crate::policy::Policy;
use crate::problem::{OccupancyState, Problem};
use crate::risk::Risk;
use crate::rng::Rng;
use crate::words::counted;

/// A policy that is optimal if the problem can be solved within limits, and plans otherwise.
///
/// ```
/// use gumdp::oracle::{Limits, distribution};
/// use gumdp::{Auto, Erm, GuidedSettings, experiment};
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let careful = Erm::new(50.0)?;
/// let auto = Auto::new(&problem, careful, &Limits::QUICK, GuidedSettings::default())?;
/// // It was solved once; all runs share the solution.
/// let runs = experiment(&problem, || auto.clone(), 0, 0..20)?;
/// assert_eq!(runs.len(), 20);
/// // The law of what is played has the lowest possible risk.
/// let Auto::Solved(solution) = &auto else { panic!("{auto}") };
/// let law = distribution(&problem, &solution.policy(), &Limits::QUICK)?;
/// assert!((law.erm(careful) - solution.value).abs() < 1e-12);
///
/// let vast = tasks::get("grid-msee").unwrap().problem;
/// let auto = Auto::new(&vast, careful, &Limits::QUICK, GuidedSettings::default())?;
/// assert!(auto.to_string().starts_with("too large to solve ("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum Auto {
    /// The optimal policy is played. Clones share the decisions that are stored.
    Solved(Solution),
    /// The problem is too large to be solved, and the planner plays.
    Planning {
        /// Who plays.
        planner: Box<GuidedPlanner>,
        /// Why there is no exact answer.
        because: OracleError,
    },
}

impl Auto {
    /// Solves the problem for any risk measure, in parallel in rayon's current thread pool, or finds out that it does not fit the limits;
    /// [`Limits::QUICK`] are meant for this. `settings` are those of the planner, should it be needed; the outer variable of
    /// its risk measure is then fixed by pilot episodes ([`fix_outer()`]).
    ///
    /// # Errors
    /// If the planner is needed and a setting is out of range.
    #[expect(clippy::needless_pass_by_value, reason = "as everywhere, a planner is handed its settings")]
    pub fn new(
        problem: &Problem,
        risk: impl Into<Risk>,
        limits: &Limits,
        settings: GuidedSettings,
    ) -> Result<Self, PlannerError> {
        let risk = risk.into();
        let solved = oracle::solve(problem, risk, limits);
        Self::of(solved, || {
            let player = |fixed| GuidedPlanner::new(problem, fixed, settings.clone());
            player(fix_outer(problem, risk, 0, player)?)
        })
    }

    /// The same when it is already known whether the problem fits: `solved` is what [`oracle::solve()`] said, and
    /// `planner` is only called if it refused.
    ///
    /// # Errors
    /// Those of `planner`.
    pub fn of(
        solved: Result<Solution, OracleError>,
        planner: impl FnOnce() -> Result<GuidedPlanner, PlannerError>,
    ) -> Result<Self, PlannerError> {
        Ok(match solved {
            Ok(solution) => Self::Solved(solution),
            Err(because) => Self::Planning { planner: Box::new(planner()?), because },
        })
    }
}

/// What was chosen, and why.
impl fmt::Display for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solved(Solution { states_at_last: states, method: Method::BackwardInduction, .. }) => {
                write!(f, "solved exactly by backward induction, {}", counted(*states as usize, "state"))
            }
            Self::Solved(Solution { states_at_last: states, .. }) => {
                write!(f, "solved exactly, {}", counted(*states as usize, "occupancy state"))
            }
            Self::Planning { because, .. } => write!(f, "{}, planning", because.in_short()),
        }
    }
}

impl Policy for Auto {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action {
        match self {
            Self::Solved(solution) => solution.policy().act(at, rng),
            Self::Planning { planner, .. } => planner.act(at, rng),
        }
    }

    fn begin_episode(&mut self) {
        if let Self::Planning { planner, .. } = self {
            planner.begin_episode();
        }
    }

    fn has_failed(&self) -> bool {
        if let Self::Planning { planner, .. } = self { planner.has_failed() } else { false }
    }

    fn simulated_steps(&self) -> u64 {
        if let Self::Planning { planner, .. } = self { planner.simulated_steps() } else { 0 }
    }
}
