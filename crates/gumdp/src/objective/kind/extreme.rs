//! The largest and the smallest of several costs, and what one exceeds a bound by.

use super::{Field, Given, Holds, Kind, Utility};
use crate::objective::minorant::Within;
use crate::objective::totals::Combine;
use crate::objective::{Bounds, Objective, ObjectiveError};

/// Which total counts.
#[derive(Clone, Copy, Debug)]
pub(in crate::objective) enum Extreme {
    Maximum,
    Minimum,
}

impl Objective {
    /// The largest of several costs, max_i c_i·d.
    ///
    /// # Errors
    /// If the costs have different lengths or are not finite.
    pub fn maximum(costs: &[Vec<f64>]) -> Result<Self, ObjectiveError> {
        Utility::from(Extreme::Maximum).objective(costs)
    }

    /// The smallest of several costs, min_i c_i·d.
    ///
    /// # Errors
    /// If the costs have different lengths or are not finite.
    pub fn minimum(costs: &[Vec<f64>]) -> Result<Self, ObjectiveError> {
        Utility::from(Extreme::Minimum).objective(costs)
    }

    /// What a cost exceeds a bound by, max(0, c·d − bound): a limit as a penalty, once it is given a weight.
    ///
    /// ```
    /// use gumdp::Objective;
    /// let fuel = vec![0.0, 1.0];
    /// let limited = Objective::linear(vec![1.0, 0.0])? + 10.0 * Objective::excess(fuel, 0.2)?;
    /// assert!((limited.value(&[0.9, 0.1]) - 0.9).abs() < 1e-12);
    /// assert!((limited.value(&[0.5, 0.5]) - 3.5).abs() < 1e-12);
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If a cost or the bound is not finite or the vector is empty.
    pub fn excess(mut costs: Vec<f64>, bound: f64) -> Result<Self, ObjectiveError> {
        // An occupancy sums to 1, so that the bound is a cost of every pair.
        for cost in &mut costs {
            *cost -= bound;
        }
        let nothing = vec![0.0; costs.len()];
        Self::maximum(&[nothing, costs])
    }
}

const FIELDS: &[Field] = &[Field::new("costs", Holds::Costs), Field::optional("weights", Holds::ByCost)];

/// Costs times their weights.
fn weighted(given: &mut Given) -> Vec<Vec<f64>> {
    let mut costs = given.costs();
    for (cost, weight) in costs.iter_mut().zip(given.numbers("weights").unwrap_or_default()) {
        for c in cost {
            *c *= weight;
        }
    }
    costs
}

impl Combine for Extreme {
    const KINDS: &'static [Kind] = &[
        Kind { name: "maximum", call: None, fields: FIELDS, make: |given| Objective::maximum(&weighted(given)) },
        Kind { name: "minimum", call: None, fields: FIELDS, make: |given| Objective::minimum(&weighted(given)) },
    ];

    fn kind(&self) -> &'static Kind {
        &Self::KINDS[*self as usize]
    }

    #[inline]
    fn of(&self, totals: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::Maximum => totals.fold(f64::NEG_INFINITY, f64::max),
            Self::Minimum => totals.fold(f64::INFINITY, f64::min),
        }
    }

    fn slopes(&self, totals: &[f64]) -> Vec<f64> {
        let extreme = self.of(totals.iter().copied());
        let first = totals.iter().position(|&z| z == extreme);
        (0..totals.len()).map(|i| if Some(i) == first { 1.0 } else { 0.0 }).collect()
    }

    fn bounds(&self, ranges: &[Bounds]) -> Bounds {
        Bounds { low: self.of(ranges.iter().map(|z| z.low)), high: self.of(ranges.iter().map(|z| z.high)) }
    }

    /// The tangent where it is convex; else that piece's slope, lowered to all pieces.
    fn minorant(&self, weight: f64, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        let middles: Vec<f64> = (0..slopes.len()).map(|i| within.middle(i)).collect();
        for (slope, own) in slopes.iter_mut().zip(self.slopes(&middles)) {
            *slope = weight * own;
        }
        if (weight > 0.0) == matches!(self, Self::Maximum) {
            return weight * self.of(middles.into_iter());
        }
        let piece = |j: usize| {
            let part =
                |(i, slope): (usize, &f64)| (if i == j { weight - slope } else { *slope }).abs() * within.half(i);
            weight * middles[j] - slopes.iter().enumerate().map(part).sum::<f64>()
        };
        (0..middles.len()).map(piece).fold(f64::INFINITY, f64::min)
    }

    fn describe(&self, totals: &[String]) -> String {
        format!("{}({})", &self.kind().name[..3], totals.join(", "))
    }
}
