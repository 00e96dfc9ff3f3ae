//! What [`solve()`](super::solve()) finds.

use super::OracleError;
use super::decide::{ExactDecision, decide, decide_in_itself};
use super::occupancy_dp::{Limits, Method};
use super::optimal::{Inner, OptimalPolicy};
use crate::problem::OccupancyState;
use crate::risk::{FixedRisk, Outer, Risk};

/// The lowest possible risk of a problem and a policy that attains it.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The measure.
    pub risk: Risk,
    /// The lowest possible risk: that of [`Solution::policy`].
    pub value: f64,
    /// No policy has a lower risk, but for rounding. Equal to `value` where that is exact.
    pub low: f64,
    /// The same as `value`.
    pub high: f64,
    /// The expected cost of the policy.
    pub mean: f64,
    /// The outer variable that goes with it, if the measure is a minimum over one.
    pub outer: Option<Outer>,
    /// Number of occupancy states expanded in all solves; for backward induction, states of the model times the horizon.
    pub states: u64,
    /// Number of problems solved inside.
    pub solves: u64,
    /// How the last of them was.
    pub method: Method,
    /// Occupancy states expanded in that one.
    pub states_at_last: u64,
    pub(super) fixed: FixedRisk,
    pub(super) policy: OptimalPolicy,
}

impl Solution {
    /// A policy that attains the optimum: deterministic, of lowest mean among those whose risk is equal within 1e-12 of how far apart
    /// costs can be (for the best case: if the policy of lowest mean may come to it), then with the lowest action. Cloning it is cheap.
    #[must_use]
    pub fn policy(&self) -> OptimalPolicy {
        self.policy.clone()
    }

    /// The measure with its outer variable at the best value: what the policy minimises.
    #[must_use]
    pub fn fixed(&self) -> FixedRisk {
        self.fixed
    }

    /// One decision with its reasons, as [`super::decide()`] gives it, with the outer variable fixed at its best value.
    ///
    /// # Errors
    /// Those of [`super::decide()`].
    ///
    /// # Panics
    /// If the episode is over (there is no decision at the horizon) or `at` is a state of another problem.
    pub fn decide(&self, at: &OccupancyState, limits: &Limits) -> Result<ExactDecision, OracleError> {
        decide(self.policy.of(), self.fixed, at, limits)
    }

    /// The same with means that are those of the outcomes.
    pub(crate) fn decide_in_itself(&self, at: &OccupancyState, limits: &Limits) -> Result<ExactDecision, OracleError> {
        decide_in_itself(self.policy.of(), self.fixed, at, limits)
    }

    /// Of the problem that is left when the outer variable is fixed. So many states and problems were solved to find it.
    pub(super) fn of(risk: Risk, fixed: FixedRisk, inner: Inner, work: (u64, u64)) -> Self {
        let Inner { value, mean, method, policy, states: states_at_last } = inner;
        let (value, outer, (states, solves)) = (value + fixed.price(), fixed.outer(), work);
        Self {
            risk,
            value,
            low: value,
            high: value,
            mean,
            outer,
            states,
            solves,
            method,
            states_at_last,
            fixed,
            policy,
        }
    }
}
