//! The optimum, where solving the problem exactly takes no longer than the simulations of an episode.

use super::GuidedPlanner;
use crate::oracle::{self, Limits, OptimalPolicy};
use crate::policy::{ActionReason, Decision, PolicyFailure, StopReason};
use crate::problem::OccupancyState;

/// The most occupancy states, and bytes for them and their decisions, that solving exactly may take: about a second.
const MOST_STATES: u64 = 4_000_000;
const MOST_BYTES: u64 = 512 << 20;

impl GuidedPlanner {
    /// As many occupancy states as an episode would simulate steps: so with more and more simulations every problem that can be solved is.
    pub(super) fn affordable(&self) -> Limits {
        let horizon = self.problem.horizon() as u64;
        let steps = self.settings.most().saturating_mul(horizon).saturating_mul(horizon + 1) / 2;
        let max_states = steps.min(MOST_STATES);
        Limits { max_states, max_bytes: MOST_BYTES, policy_bytes: MOST_BYTES, stop: self.stop.clone(), ..Limits::QUICK }
    }

    /// Tells it that solving exactly was tried in vain.
    pub(crate) fn know_too_large(&mut self) {
        self.too_large = true;
    }

    /// The optimum's decision, and the lowest risk after each action.
    pub(super) fn decide_exactly(
        &self,
        optimal: &OptimalPolicy,
        at: &OccupancyState,
    ) -> Result<Decision, PolicyFailure> {
        let limits = Limits { stop: self.stop.clone(), ..Limits::default() };
        let values = oracle::decide(&self.problem, self.risk, at, &limits).map_err(|_| PolicyFailure::Stopped)?;
        let reason = |one: &oracle::ActionValue| ActionReason {
            action: one.action,
            visits: 0,
            erm: one.value,
            mean: one.mean,
            min: f64::NAN,
            max: f64::NAN,
        };
        let reasons: Vec<ActionReason> = values.reasons.iter().map(reason).collect();
        Ok(Decision {
            action: self.problem.mdp().action(optimal.best(at)),
            root_estimate: reasons.iter().map(|reason| reason.erm).fold(f64::INFINITY, f64::min),
            reasons,
            tree_nodes: 0,
            simulations: 0,
            simulated_steps: 0,
            stopped: StopReason::Solved,
        })
    }
}
