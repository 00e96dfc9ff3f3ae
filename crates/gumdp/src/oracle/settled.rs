//! What needs no search: where the policy of lowest mean cannot be beaten in risk either.
//!
//! Measures that are a minimum over an outer variable are convex and look at the distribution of the cost alone. So they do not grow
//! when the cost is replaced by its mean given the first state (Jensen's inequality), and no policy has a lower mean from any first
//! state than the one of lowest mean has: the measure of its means is a lower bound for every policy. Where nothing is left to chance
//! but the first state, the policy attains it. Only for linear objectives, whose mean takes no occupancy states to minimise.

use super::OracleError;
use super::forward::{distribution, law_from};
use super::minimise::MOST_LAW_STATES;
use super::occupancy_dp::Limits;
use super::optimal::optimum;
use super::solution::Solution;
use super::ties::{EQUAL, spread};
use super::unfolded::Start;
use crate::problem::Problem;
use crate::risk::{Bounded, Erm, Risk, Tail};

/// The lowest risk, if that is that of the policy of lowest mean.
pub(super) fn by_mean(
    problem: &Problem,
    risk: Risk,
    outer: &dyn Bounded,
    limits: &Limits,
) -> Result<Option<Solution>, OracleError> {
    if problem.objective().as_linear().is_none() {
        return Ok(None);
    }
    let inner = optimum(problem, Erm::MEAN.into(), limits)?;
    let limits = Limits { max_states: limits.max_states.min(MOST_LAW_STATES), ..limits.clone() };
    let found = match distribution(problem, &inner.policy, &limits) {
        Err(error) if error.is_limit() => return Ok(None),
        found => found?,
    };
    let mut means = Vec::new();
    for &(state, probability) in problem.mdp().initial() {
        let start = Start { outcomes: vec![(state, 1.0)], ..Start::of(problem) };
        means.push((law_from(problem, &inner.policy, &limits, &start, |_| true)?.mean(), probability));
    }
    let low = Tail::new(means.into_iter()).map_or(f64::NEG_INFINITY, |means| risk.of_tail(&means));
    let value = found.risk(risk);
    if value > low + EQUAL * spread(problem, &limits)? {
        return Ok(None);
    }
    let work = (inner.states, 1);
    let solution = Solution::of(risk, outer.at(outer.best(&found.tail())), inner, work);
    Ok(Some(Solution { value, low: low.min(value), high: value, ..solution }))
}
