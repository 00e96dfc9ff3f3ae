//! The least value of an outer variable at which little enough is left: the lowest value at risk.
//!
//! The minimum over policies of P(f > x) does not grow with x. An interval whose lower end leaves too much and whose upper end
//! does not is narrowed, several values at a time; the best policy at its upper end has a quantile that is a cost, and that cost is
//! the answer if nothing below it will do.

use super::OracleError;
use super::forward::distribution;
use super::occupancy_dp::Limits;
use super::optima::{PASS, Passes};
use super::solution::Solution;
use super::ties::{EQUAL, spread};
use crate::problem::Problem;
use crate::risk::{Aim, Erm, Risk};

/// The interval is narrowed to this part of its width before a policy is looked at.
const NARROW: f64 = 1e-9;

/// Of the policies that make a cost of at most the answer most probable, one of lowest mean is taken.
/// The lowest risk of a measure that is the least x at which no more than `most` of the probability is above x.
pub(super) fn least(problem: &Problem, risk: Risk, most: f64, limits: &Limits) -> Result<Solution, OracleError> {
    let outer = risk.outer().ok_or(OracleError::NotFinite)?;
    // Costs that are closer than this are equal.
    let slack = EQUAL * spread(problem, limits)?;
    let aim = |x: f64| outer.at(x + slack).aim.within(EQUAL / problem.horizon() as f64);
    let mut passes = Passes::with_policies(problem, limits)?;
    let extremes = passes.solve(&[Erm::BEST.into(), Erm::WORST.into()])?;
    // Nothing costs less than the lowest; the highest is what the most careful policy needs at most.
    let (mut low, mut high) = ((extremes[0].value - 2.0 * slack).next_down(), extremes[1].value);
    loop {
        let width = (NARROW * (high - low)).max(slack);
        while high - low > width && high > low.next_up() {
            (low, high) = narrowed(&mut passes, &aim, (low, high), most)?;
        }
        let inner = passes.inner(aim(high))?;
        let attained = match distribution(problem, &inner.policy, limits) {
            Ok(costs) => costs.risk(risk).min(high + slack),
            Err(error) if error.is_limit() => high,
            Err(other) => return Err(other),
        };
        let below = (attained - 2.0 * slack).next_down();
        if below - low > 0.5 * slack && passes.values(&[aim(below)])?[0] <= most {
            high = below;
            continue;
        }
        let is_same = (attained - high).abs() <= slack;
        let inner = if is_same { inner } else { passes.inner(aim(attained))? };
        let work = (passes.states, passes.solves);
        let solution = Solution::of(risk, outer.at(attained), inner, work);
        return Ok(Solution { value: attained, low: attained, high: attained, ..solution });
    }
}

/// A smaller interval with the same property.
fn narrowed(
    passes: &mut Passes<'_>,
    aim: &impl Fn(f64) -> Aim,
    (low, high): (f64, f64),
    most: f64,
) -> Result<(f64, f64), OracleError> {
    let step = (high - low) / (PASS + 1) as f64;
    let mut inside: Vec<f64> = (1..=PASS).map(|k| low + step * k as f64).filter(|x| *x > low && *x < high).collect();
    inside.dedup();
    if inside.is_empty() {
        inside.push(f64::midpoint(low, high).clamp(low.next_up(), high.next_down()));
    }
    let aims: Vec<Aim> = inside.iter().map(|&x| aim(x)).collect();
    let left = passes.values(&aims)?;
    let enough = left.iter().position(|&left| left <= most).unwrap_or(inside.len());
    let end = |k: usize| inside.get(k).copied();
    Ok((enough.checked_sub(1).and_then(end).unwrap_or(low), end(enough).unwrap_or(high)))
}
