//! The settings of the guided planner. Nothing here computes.

use std::time::Duration;

use crate::planner::settings::{Budget, MAX_SIMULATIONS, PlannerError};

/// Nanoseconds that a simulated step usually takes.
const STEP: u128 = 250;

/// What the guided planner does. The defaults are the best known; `docs/planner.md` says what each of them earns.
///
/// ```
/// use gumdp::{Budget, GuidedSettings};
/// let settings = GuidedSettings { budget: Budget::simulations(2000), ..GuidedSettings::default() };
/// assert!(settings.exploration > 0.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GuidedSettings {
    /// When a decision's search ends; it may end earlier if nothing is left to be found out.
    pub budget: Budget,
    /// The tree is searched where (steps to go)·(½ ln(moves) + entropy of a move's outcomes) ≤ reach·ln(simulations), means over
    /// the states that random moves visit. Farther from the horizon it would see too little of what is to come, and marginal backward induction plays
    /// alone. 0 is never, ∞ always.
    pub reach: f64,
    /// Where nothing is searched and chance decides more than choice (entropy of a move's outcomes above ½ ln(moves)): the part
    /// of the occupancy that random moves would bring from here on which marginal backward induction adds to that reached.
    pub forecast: f64,
    /// The exploration constant θ of the tree, in units of how far apart the costs of random play are.
    pub exploration: f64,
    /// Rollouts from a leaf before it is expanded.
    pub rollouts: u32,
    /// Standard errors by which another action must be better than that of marginal backward induction.
    pub caution: f64,
    /// Whether a lattice decides where features are few, or (with `pilots`) the optimum where solving exactly takes no longer than pilot episodes.
    pub lattice: bool,
    /// Whether pilot episodes choose among manners of deciding, these settings the first of them, where no lattice is settled.
    pub pilots: bool,
}

impl Default for GuidedSettings {
    fn default() -> Self {
        Self {
            budget: Budget::simulations(1000),
            reach: 1.25,
            forecast: 0.5,
            exploration: 0.4,
            rollouts: 4,
            caution: 2.0,
            lattice: true,
            pilots: true,
        }
    }
}

impl GuidedSettings {
    pub(super) fn check(&self) -> Result<(), PlannerError> {
        self.budget.check()?;
        for (name, value, highest) in [
            ("reach", self.reach, f64::INFINITY),
            ("forecast", self.forecast, 1.0),
            ("exploration", self.exploration, f64::MAX),
            ("caution", self.caution, f64::MAX),
        ] {
            if !(0.0..=highest).contains(&value) {
                return Err(PlannerError::Setting { name, value, highest });
            }
        }
        if self.rollouts == 0 {
            return Err(PlannerError::Rollouts);
        }
        Ok(())
    }

    /// Simulations of a decision if there is no time limit.
    pub(super) fn most(&self) -> u64 {
        self.budget.simulations.unwrap_or(MAX_SIMULATIONS)
    }

    /// Simulations of a decision with this many steps to go: those of the budget, or about as many as fit its time.
    pub(super) fn usual(&self, steps: usize) -> u64 {
        let fitting =
            |limit: Duration| (limit.as_nanos() / (STEP * steps as u128)).clamp(1, u128::from(MAX_SIMULATIONS));
        self.budget.simulations.or(self.budget.time_limit.map(|limit| fitting(limit) as u64)).unwrap_or(1)
    }
}
