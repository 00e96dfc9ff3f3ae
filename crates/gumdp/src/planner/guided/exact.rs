//! The optimum, where solving the problem exactly takes no longer than pilot episodes, which it makes needless.

use super::GuidedPlanner;
use crate::model::Action;
use crate::oracle::{self, Limits, Strategy};
use crate::policy::{ActionReason, Decision, StopReason};
use crate::problem::OccupancyState;

/// The most occupancy states, and bytes for them and their decisions, that solving exactly may take: some seconds, as pilot episodes do. That a
/// problem has more states is usually known after a small part of that.
const MOST_STATES: u64 = 4_000_000;
const MOST_BYTES: u64 = 512 << 20;
/// The most transitions that backward induction over the states of the model may look at, where that is enough: some seconds, too.
const MOST_TRANSITIONS: u64 = 1 << 30;

impl GuidedPlanner {
    /// What may be spent on the optimum. With fewer simulations than are worth long preparations it is less, but never less than the steps that
    /// an episode would simulate: so with more and more simulations every problem of up to [`MOST_STATES`] is solved.
    pub(super) fn affordable(&self) -> Limits {
        let horizon = self.problem.horizon() as u64;
        let steps = self.settings.most().saturating_mul(horizon).saturating_mul(horizon + 1) / 2;
        let max_states = steps.clamp((MOST_STATES as f64 * self.worth()) as u64, MOST_STATES);
        let limits =
            Limits { max_bytes: MOST_BYTES, policy_bytes: MOST_BYTES, stop: self.stop.clone(), ..Limits::QUICK };
        match self.stages_by_induction() {
            Some(stages) => Limits { max_states: max_states.max(stages), strategy: Strategy::ByState, ..limits },
            None => Limits { max_states, ..limits },
        }
    }

    /// The states of the model at all times, if backward induction over them is enough and affordable.
    pub(super) fn stages_by_induction(&self) -> Option<u64> {
        let (mdp, horizon) = (self.problem.mdp(), self.problem.horizon() as u64);
        let (transitions, stages) = (mdp.transition_count() as u64 * horizon, mdp.state_count() as u64 * horizon);
        let affordable = transitions <= (MOST_TRANSITIONS as f64 * self.worth()) as u64 && stages <= MOST_BYTES;
        (self.linear && affordable).then_some(stages)
    }

    /// Tells it that solving exactly was tried in vain.
    pub(crate) fn know_too_large(&mut self) {
        self.too_large = true;
    }

    /// The move of the optimum; `None` if it does not decide, or where no episode gets to and the rest does not fit.
    pub(super) fn exactly(&self, at: &OccupancyState) -> Option<Action> {
        let pair = self.optimal.as_ref()?.best_within(at, &self.affordable())?;
        Some(self.problem.mdp().action(pair))
    }

    /// That, and the lowest risk after each action.
    pub(super) fn decide_exactly(&self, at: &OccupancyState) -> Option<Decision> {
        let action = self.exactly(at)?;
        let values = oracle::decide(&self.problem, self.risk, at, &self.affordable()).ok()?;
        // As with other manners: what the outer variable costs is not part of it.
        let reason = |one: &oracle::ActionValue| ActionReason {
            action: one.action,
            visits: 0,
            erm: one.value - self.risk.price(),
            mean: one.mean,
            min: f64::NAN,
            max: f64::NAN,
        };
        let reasons: Vec<ActionReason> = values.reasons.iter().map(reason).collect();
        Some(Decision {
            action,
            root_estimate: reasons.iter().map(|reason| reason.erm).fold(f64::INFINITY, f64::min),
            reasons,
            tree_nodes: 0,
            simulations: 0,
            simulated_steps: 0,
            stopped: StopReason::Solved,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::rng::{Purpose, stream};
    use crate::{Budget, Erm, GuidedPlanner, GuidedSettings, Mdp, Objective, Policy, Problem};

    /// 36 million states at their times are more than a lattice or histories may take, but no more than backward induction over the states.
    #[test]
    fn linear_objectives_of_large_models_are_solved() {
        const STATES: usize = 30_000;
        let mut builder = Mdp::sized(STATES, 2).start(0);
        for state in 0..STATES {
            for action in 0..2 {
                let outcomes = [((2 * state + action) % STATES, 0.5), ((3 * state + 1) % STATES, 0.5)];
                builder = builder.transition(state, action, outcomes);
            }
        }
        let mdp = builder.build().unwrap();
        let costs = mdp.by_pair(|state, _| if state.index() % 97 == 5 { -1.0 } else { 0.0 });
        let problem = Problem::new(mdp, Objective::linear(costs).unwrap(), 1.0, 1200).unwrap();
        let settings = GuidedSettings { budget: Budget::simulations(500), ..GuidedSettings::default() };
        let mut planner = GuidedPlanner::new(&problem, Erm::MEAN, settings).unwrap();
        let start = problem.start(problem.mdp().initial()[0].0);
        planner.act(&start, &mut stream(0, 0, Purpose::Policy)).unwrap();
        assert!(planner.manner().starts_with("solved exactly"), "{}", planner.manner());
    }
}
