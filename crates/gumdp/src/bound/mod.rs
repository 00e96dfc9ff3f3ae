//! Proven lower bounds on the lowest risk, for problems whose optimum is out of reach.
//!
//! | method | for | why it holds |
//! |---|---|---|
//! | [`Method::Exact`] | what can be solved | it is the optimum |
//! | [`Method::Visits`] | separable convex f: entropies, distances, smooth coverage | a sum of convex functions that vanish at 0 is superadditive over visits |
//! | [`Method::Tangent`] | convex f | f lies above its tangents, and risks are monotone |
//! | [`Method::Cells`] | any f of few features | an affine function below f on each cell of a lattice, carried backwards without interpolation |
//! | [`Method::Range`] | any f | no cost is lower than f can be |
//!
//! Entropic risks are bounded as they are, for every β; measures that are at least the mean by the mean; probabilities and values at risk
//! by cells, else by the best case. Each
//! bound is the value of a relaxed problem that is solved exactly; nothing is sampled or interpolated.

mod ascent;
mod boxes;
mod cells;
mod tangent;
mod visits;

pub(crate) use tangent::{Affine, Visits, occupancy, tangent};

use std::fmt;

use crate::oracle::{self, Limits, OracleError};
use crate::problem::Problem;
use crate::risk::Risk;

/// What rounding may do to a bound, as a part of the numbers that it is computed from: at least this, and so much for each step of an
/// episode and each pair.
const ROUNDING: f64 = 1e-11;
const ROUNDING_EACH: f64 = 64.0 * f64::EPSILON;

/// A number that no policy can get below, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerBound {
    /// The lowest risk is at least this.
    pub value: f64,
    /// How that is proven.
    pub method: Method,
}

impl LowerBound {
    /// How far a risk that is at most `high` can be above the optimum, and in percent where the bound is positive; nothing if it is
    /// below the bound, as that of a few runs may be.
    #[must_use]
    pub fn above(&self, high: f64) -> Option<(f64, Option<f64>)> {
        let above = high - self.value;
        let percent = (self.value > 0.0).then(|| 100.0 * above / self.value);
        (above.is_finite() && above >= 0.0).then_some((above, percent))
    }
}

/// How a bound is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The problem was solved.
    Exact,
    /// Step costs from tangents, with each visit of a cell charged by the convex remainder.
    Visits,
    /// Step costs from a tangent of f.
    Tangent,
    /// A lattice of features, with an affine function on each cell that nothing in it is below.
    Cells,
    /// The range of f.
    Range,
}

impl Method {
    /// All that there are.
    pub const ALL: [Self; 5] = [Self::Exact, Self::Visits, Self::Tangent, Self::Cells, Self::Range];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Visits => "visits",
            Self::Tangent => "tangent",
            Self::Cells => "cells",
            Self::Range => "range",
        })
    }
}

/// The highest lower bound that is known, be it the optimum.
///
/// ```
/// use gumdp::bound::{Method, lower_bound};
/// use gumdp::oracle::Limits;
/// use gumdp::Erm;
/// let map = gumdp_files::tasks::get("grid-il").unwrap().problem;
/// let bound = lower_bound(&map, Erm::new(1.0)?, &Limits { max_states: 1000, ..Limits::QUICK })?;
/// assert!(bound.method == Method::Visits && bound.value > 0.0158);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If it was stopped, or f has no value for an episode that can happen.
pub fn lower_bound(problem: &Problem, risk: impl Into<Risk>, limits: &Limits) -> Result<LowerBound, OracleError> {
    let risk = risk.into();
    match oracle::solve(problem, risk, limits) {
        Ok(solution) => return Ok(LowerBound { value: solution.low, method: Method::Exact }),
        Err(error @ (OracleError::Stopped | OracleError::NotFinite)) => return Err(error),
        Err(_) => {}
    }
    relaxed_bound(problem, risk, limits)
}

/// The highest lower bound that needs no solution of the problem itself.
///
/// # Errors
/// If it was stopped.
pub fn relaxed_bound(problem: &Problem, risk: impl Into<Risk>, limits: &Limits) -> Result<LowerBound, OracleError> {
    let risk = problem.measure(risk);
    let erm = risk.entropic_floor();
    let range = LowerBound { value: problem.objective().bounds().low, method: Method::Range };
    let mut best = range;
    let mut consider = |value: Option<f64>, method| {
        if let Some(value) = value.filter(|value| *value > best.value) {
            best = LowerBound { value, method };
        }
    };
    let tangent = tangent::bound(problem, erm, limits)?;
    consider(tangent.as_ref().map(|(value, _)| *value), Method::Tangent);
    let start = tangent.as_ref().map(|(_, occupancy)| &occupancy[..]);
    consider(visits::bound(problem, erm, start, limits)?, Method::Visits);
    let floor = LowerBound { value: risk.measure().at_least(best.value), ..best };
    // Last, for it may know the measure itself.
    let cells = cells::bound(problem, risk, limits)?.filter(|value| *value > floor.value);
    Ok(cells.map_or(floor, |value| LowerBound { value, method: Method::Cells }))
}

/// A value less what rounding may have added, where numbers of this size went into it.
fn rounded_down(problem: &Problem, value: f64, size: f64) -> f64 {
    let each = (problem.horizon() + problem.mdp().pair_count()) as f64;
    value - (ROUNDING_EACH * each).max(ROUNDING) * size.max(value.abs())
}
