//! The settings of the learning planner. Nothing here computes.

use crate::planner::settings::{Budget, PlannerError};

/// What the learning planner does. The defaults are the best known; `docs/simulators.md` says what each of them earns.
///
/// ```
/// use gumdp::{Budget, LearningSettings};
/// let settings = LearningSettings { budget: Budget::simulations(2000), ..LearningSettings::default() };
/// assert!(settings.table && settings.frontier);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an ingredient")]
pub struct LearningSettings {
    /// When a decision's search ends.
    pub budget: Budget,
    /// The exploration constant θ of the tree, in units of how far apart the costs of random play are.
    pub exploration: f64,
    /// Standard errors by which another action must be better than that of marginal backward induction.
    pub caution: f64,
    /// The tree is searched where (steps to go)·(½ ln(actions) + entropy of outcomes) ≤ reach·ln(simulations), or where states do not recur.
    pub reach: f64,
    /// k: a node of the tree has at most k·√N actions and k·√N outcomes of an action that was taken N times.
    pub widening: f64,
    /// Whether what recurs is learned, and marginal backward induction plays on it.
    pub table: bool,
    /// Whether what was learned is solved over (time, state, sums of features) where these are few.
    pub lattice: bool,
    /// Whether some simulations go where little is known.
    pub frontier: bool,
    /// Whether some simulations improve a plan of actions where states do not recur.
    pub plans: bool,
}

impl Default for LearningSettings {
    fn default() -> Self {
        Self {
            budget: Budget::simulations(500),
            exploration: 0.4,
            caution: 2.0,
            reach: 2.0,
            widening: 4.0,
            table: true,
            lattice: true,
            frontier: true,
            plans: true,
        }
    }
}

impl LearningSettings {
    pub(super) fn check(&self) -> Result<(), PlannerError> {
        self.budget.check()?;
        for (name, value, highest) in [
            ("exploration", self.exploration, f64::MAX),
            ("caution", self.caution, f64::MAX),
            ("reach", self.reach, f64::INFINITY),
        ] {
            if !(0.0..=highest).contains(&value) {
                return Err(PlannerError::Setting { name, value, highest });
            }
        }
        if !(1.0..=f64::MAX).contains(&self.widening) {
            return Err(PlannerError::Widening(self.widening));
        }
        Ok(())
    }
}
