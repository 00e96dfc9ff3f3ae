//! Which levels to look at if nobody says.

use crate::oracle::{Limits, distribution, solve};
use crate::problem::Problem;
use crate::risk::{Erm, Form, Risk, Swept};
use crate::words::rounded;

/// Levels of β that are neither 0 nor infinite.
const BETAS: u32 = 48;
/// Their range, as multiples of one over the spread of the cost.
const RANGE: [f64; 2] = [0.1, 1000.0];
/// Levels if the planner plays, which takes long.
const SAMPLED: usize = 6;

/// The measures to sweep, in the order of growing aversion: levels from 0 to 0.99; β from 0 to ∞ over the range given, or around
/// one over the spread of the cost; costs from the best to the worst case.
#[must_use]
pub fn usual(problem: &Problem, form: &Form, betas: Option<[f64; 2]>, limits: &Limits) -> Vec<Risk> {
    let mut levels: Vec<f64> = match form.sweep.map(|sweep| sweep.over) {
        Some(Swept::Level) => (0..20).map(|k| f64::from(k) / 20.0).chain([0.99]).collect(),
        Some(Swept::Cost) => {
            let (low, high) = extremes(problem, limits);
            (0..=20).map(|k| rounded(low + (high - low) * f64::from(k) / 20.0)).collect()
        }
        _ => {
            let range = betas.unwrap_or_else(|| RANGE.map(|share| share / spread(problem, limits)));
            let [low, high] = range.map(|beta| beta.clamp(1e-300, 1e300));
            // Three digits are easier to ask for again than seventeen.
            let round = |beta: f64| format!("{beta:.2e}").parse().unwrap_or(beta);
            let beta = |k: u32| round(low * (high / low).powf(f64::from(k) / f64::from(BETAS - 1)));
            std::iter::once(0.0).chain((0..BETAS).map(beta)).chain([f64::INFINITY]).collect()
        }
    };
    levels.dedup();
    levels.into_iter().filter_map(|level| form.at(level).ok()).collect()
}

/// Some of the levels, from the first to the last: where a planner plays.
#[must_use]
pub fn few(risks: &[Risk]) -> Vec<Risk> {
    (0..SAMPLED).filter_map(|k| risks.get(k * risks.len().saturating_sub(1) / (SAMPLED - 1)).copied()).collect()
}

/// The best and the worst cost that is attained by those who look at nothing else, or the bounds of the objective.
fn extremes(problem: &Problem, limits: &Limits) -> (f64, f64) {
    let bounds = problem.objective().bounds();
    let of = |erm: Erm, other: f64| solve(problem, erm, limits).map_or(other, |solution| solution.value);
    (of(Erm::BEST, bounds.low), of(Erm::WORST, bounds.high))
}

/// How far apart the costs of mean-optimal behaviour are; 1 if there is nothing to learn from it.
fn spread(problem: &Problem, limits: &Limits) -> f64 {
    let neutral = solve(problem, Erm::MEAN, limits).and_then(|solved| distribution(problem, &solved.policy(), limits));
    let bounds = problem.objective().bounds();
    let known = neutral.map(|costs| costs.max() - costs.min()).into_iter().chain([bounds.high - bounds.low]);
    known.into_iter().find(|spread| spread.is_finite() && *spread > 0.0).unwrap_or(1.0)
}
