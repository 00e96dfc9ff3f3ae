//! The first decision with its reasons for measures with an outer variable: each action at the value that is best for it.
//!
//! Not here: later decisions, where the variable is what it was at the first ([`Solution::decide`]).

use super::decide::{ActionValue, ExactDecision};
use super::minimise::Search;
use super::occupancy_dp::Limits;
use super::optima::Passes;
use super::solution::Solution;
use super::unfolded::Start;
use super::{OracleError, finite};
use crate::model::{Pair, State};
use crate::problem::OccupancyState;

/// How exactly the risk of an action is known that is not the best, as a part of how far apart costs can be.
const WIDTH: f64 = 1e-6;

impl Solution {
    /// The first decision with the lowest risk of each action: what playing it first costs if everything after it is optimal, its
    /// own λ or β included. `None` if episodes start in several states: an action is then played in one of them, and the variable
    /// is common to all. The search gives up being certain after `most_states` occupancy states.
    ///
    /// ```
    /// use gumdp::oracle::{Limits, solve};
    /// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
    /// let solution = solve(&problem, "cvar:0.95".parse::<gumdp::Risk>()?, &Limits::QUICK)?;
    /// let own = solution.decide_first(&Limits::QUICK, 50_000_000)?.expect("one initial state");
    /// let start = problem.start(problem.mdp().initial()[0].0);
    /// // With the variable that is best for another action, an action looks no better than it is.
    /// let common = solution.decide(&start, &Limits::QUICK)?;
    /// assert!(own.reasons.iter().zip(&common.reasons).all(|(own, common)| own.value <= common.value + 1e-5));
    /// assert!(own.reasons.iter().any(|reason| reason.action == own.action && reason.value == solution.value));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`super::solve()`].
    pub fn decide_first(&self, limits: &Limits, most_states: u64) -> Result<Option<ExactDecision>, OracleError> {
        let policy = self.policy();
        let problem = policy.of();
        let mdp = problem.mdp();
        let &[(state, _)] = mdp.initial() else { return Ok(None) };
        let start = problem.start(state);
        if self.outer.is_none() {
            return self.decide(&start, limits).map(Some);
        }
        let best = policy.best(&start);
        let others = mdp.pairs(state).len() as u64 - 1;
        let (mut reasons, mut all_certain) = (Vec::new(), true);
        for pair in mdp.pairs(state).map(Pair) {
            let (value, mean) = if pair == best {
                (self.high, self.mean)
            } else {
                let Some((value, mean, certain)) = self.lowest_after(&start, pair, limits, most_states / others)?
                else {
                    return Ok(None);
                };
                all_certain &= certain;
                // Both are known to within rounding and the width, and the best is not worse.
                (value.max(self.high), mean)
            };
            reasons.push(ActionValue { action: mdp.action(pair), value, mean });
        }
        Ok(Some(ExactDecision { action: mdp.action(best), reasons, states: self.states, certain: all_certain }))
    }

    /// The decision of an episode that starts in this state, where others start elsewhere: what the policy does there, and the lowest
    /// risk that episodes from there have with each action, its own λ or β included. The policy has one variable for all starts, so
    /// that its action need not be the one of lowest risk. `None` for a measure whose variable is found by bisection.
    ///
    /// # Errors
    /// Those of [`super::solve()`].
    pub fn decide_from(
        &self,
        state: State,
        limits: &Limits,
        most_states: u64,
    ) -> Result<Option<ExactDecision>, OracleError> {
        let policy = self.policy();
        let (problem, mdp) = (policy.of(), policy.of().mdp());
        let start = problem.start(state);
        let ExactDecision { action, states, .. } = self.decide(&start, limits)?;
        let (actions, mut reasons, mut all_certain) = (mdp.pairs(state).len() as u64, Vec::new(), true);
        for pair in mdp.pairs(state).map(Pair) {
            let Some((value, mean, certain)) = self.lowest_after(&start, pair, limits, most_states / actions)? else {
                return Ok(None);
            };
            all_certain &= certain;
            reasons.push(ActionValue { action: mdp.action(pair), value, mean });
        }
        Ok(Some(ExactDecision { action, reasons, states, certain: all_certain }))
    }

    /// The lowest risk after a pair with its own variable, the expected cost of a policy that has it, and whether it is certain.
    fn lowest_after(
        &self,
        start: &OccupancyState,
        pair: Pair,
        limits: &Limits,
        most_states: u64,
    ) -> Result<Option<(f64, f64, bool)>, OracleError> {
        let policy = self.policy();
        let after = Start::after(policy.of(), start, pair);
        if let Some(cost) = after.final_cost(policy.of()) {
            return finite(cost, cost).map(|(value, mean)| Some((value, mean, true)));
        }
        let Some(outer) = self.risk.bounded() else { return Ok(None) };
        let search = Search::new(policy.of(), self.risk, outer, limits, Passes::new(policy.of(), limits, after)?)?;
        search.lowest(WIDTH, most_states).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use crate::oracle::{ActionValue, Limits, solve};
    use crate::{Mdp, Objective, Problem, Risk};

    /// Cost and probability of each outcome of each action; the cost of the first step is 0.
    fn lotteries(horizon: usize, actions: &[&[(f64, f64)]]) -> Problem {
        let outcomes: usize = actions.iter().map(|outcomes| outcomes.len()).sum();
        let mut mdp = Mdp::sized(1 + outcomes, actions.len()).start(0);
        let (mut costs, mut next) = (vec![0.0], 1);
        for (action, outcomes) in actions.iter().enumerate() {
            let first = next;
            let successors: Vec<(usize, f64)> =
                outcomes.iter().enumerate().map(|(k, &(_, p))| (first + k, p)).collect();
            mdp = mdp.transition(0, action, successors);
            next += outcomes.len();
            costs.extend(outcomes.iter().map(|&(cost, _)| 2.0 * cost));
        }
        let mdp = (1..next).fold(mdp, |mdp, state| mdp.transition(state, 0, [(state, 1.0)])).build().unwrap();
        let costs = mdp.by_state(&costs).unwrap();
        Problem::new(mdp, Objective::linear(costs).unwrap(), 1.0, horizon).unwrap()
    }

    /// The measure of each lottery is known; that of the worse ones needs another λ or β than that of the best.
    #[test]
    fn each_action_has_its_own_risk() {
        let actions: [&[(f64, f64)]; 3] = [&[(0.0, 0.7), (1.0, 0.3)], &[(0.3, 0.99), (5.0, 0.01)], &[(0.42, 1.0)]];
        let problem = lotteries(2, &actions);
        for measure in ["cvar:0.5", "cvar:0.9", "evar:0.3", "evar:0.9", "mean-cvar:0.8:0.5", "mean", "worst"] {
            let risk: Risk = measure.parse().unwrap();
            let solution = solve(&problem, risk, &Limits::QUICK).unwrap();
            let decision = solution.decide_first(&Limits::QUICK, u64::MAX).unwrap().unwrap();
            assert!(decision.certain, "{measure}");
            for (reason, found) in decision.reasons.iter().zip(actions) {
                let expected = risk.of_distribution(found).unwrap();
                assert!((reason.value - expected).abs() < 1.1e-5, "{measure}: {} {expected}", reason.value);
                let mean: f64 = found.iter().map(|(cost, p)| cost * p).sum();
                assert!((reason.mean - mean).abs() < 1e-9, "{measure}");
            }
        }
    }

    /// What is found when the search gives up is attained, but not certain to be the lowest.
    #[test]
    fn without_work_nothing_is_certain() {
        let problem = crate::test_problems::rooms();
        let solution = solve(&problem, "cvar:0.9".parse::<Risk>().unwrap(), &Limits::QUICK).unwrap();
        let decision = solution.decide_first(&Limits::QUICK, 0).unwrap().unwrap();
        assert!(!decision.certain);
        assert!(decision.reasons.iter().all(|reason| reason.value >= solution.high));
    }

    #[test]
    fn short_and_scattered_episodes() {
        let one_step = lotteries(1, &[&[(1.0, 1.0)], &[(2.0, 1.0)]]);
        let solution = solve(&one_step, "cvar:0.5".parse::<Risk>().unwrap(), &Limits::QUICK).unwrap();
        assert_eq!(solution.decide_first(&Limits::QUICK, 0).unwrap().unwrap().reasons.len(), 2);
        let mdp = Mdp::sized(2, 1).initial([(0, 0.5), (1, 0.5)]);
        let mdp = mdp.transition(0, 0, [(0, 1.0)]).transition(1, 0, [(1, 1.0)]).build().unwrap();
        let objective = Objective::linear(mdp.by_state(&[0.0, 1.0]).unwrap()).unwrap();
        let problem = Problem::new(mdp, objective, 1.0, 3).unwrap();
        let solution = solve(&problem, "cvar:0.5".parse::<Risk>().unwrap(), &Limits::QUICK).unwrap();
        assert!(solution.decide_first(&Limits::QUICK, 0).unwrap().is_none());
        // From each start the cost is sure, and so is the risk, which no variable for all starts makes larger.
        for &(state, _) in problem.mdp().initial() {
            let decision = solution.decide_from(state, &Limits::QUICK, u64::MAX).unwrap().unwrap();
            let ActionValue { value, mean, .. } = decision.reasons[0];
            assert!((value - mean).abs() < 1e-12 && decision.certain, "{value} {mean}");
        }
    }
}
