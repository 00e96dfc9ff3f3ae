//! Affine functions that f is not below on a box of features: what bounds over whole cells of a lattice are made of.
//!
//! On the box, f(x) ≥ value + Σ slope·(x − middle). A convex term has its tangent in the middle, a concave one of one feature its chord,
//! other concave ones the lowest corner. Formulas of unknown shape have the mean-value form: by Lebourg's theorem
//! g(x) − g(middle) lies in S·(x − middle) where S contains all Clarke slopes in the box; or, if that says more, plain interval arithmetic.

use super::cells::Cells;
use super::convex::Curve;
use super::formula::Formula;
use super::term::{Function, Term};
use super::{Bounds, Objective};

/// More inputs than this have too many corners.
const MOST_CORNERS: usize = 1 << 6;
/// What rounding may do to a value, as a part of it.
const ROUNDING: f64 = 1e-13;

/// A box of features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<'a> {
    pub(crate) low: &'a [f64],
    pub(crate) high: &'a [f64],
}

impl Within<'_> {
    #[inline]
    pub(crate) fn middle(&self, k: usize) -> f64 {
        self.low[k] + 0.5 * (self.high[k] - self.low[k])
    }

    /// Half the width, rounded up.
    #[inline]
    pub(crate) fn half(&self, k: usize) -> f64 {
        if self.low[k] == self.high[k] { 0.0 } else { 0.5 * (self.high[k] - self.low[k]) * (1.0 + 4.0 * f64::EPSILON) }
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let ((low, lows), (high, highs)) = (self.low.split_at(count), self.high.split_at(count));
        (Self { low, high }, Self { low: lows, high: highs })
    }

    fn middles(&self) -> Vec<f64> {
        (0..self.low.len()).map(|k| self.middle(k)).collect()
    }
}

/// f with what is known of the curvature of its terms.
#[derive(Debug)]
pub(crate) struct Minorant<'a> {
    objective: &'a Objective,
    curves: Vec<Curve>,
}

impl<'a> Minorant<'a> {
    pub(crate) fn new(objective: &'a Objective) -> Self {
        let curves = objective.terms.iter().map(|(weight, term)| term.curve().times(*weight)).collect();
        Self { objective, curves }
    }

    /// The value in the middle of a box, with the slopes in all features; −∞ if nothing is known.
    pub(crate) fn on(&self, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        slopes.fill(0.0);
        let (mut rest, mut first, mut sum) = (within, 0, self.objective.offset);
        let mut size = sum.abs();
        for ((weight, term), curve) in self.objective.terms.iter().zip(&self.curves) {
            let (own, others) = rest.split_at(term.features);
            let value = term.minorant(*weight, *curve, own, &mut slopes[first..first + term.features]);
            (rest, first) = (others, first + term.features);
            sum += value;
            size += value.abs();
        }
        if sum.is_nan() || slopes.iter().any(|slope| !slope.is_finite()) {
            slopes.fill(0.0);
            return f64::NEG_INFINITY;
        }
        sum - ROUNDING * size
    }
}

impl Term {
    fn minorant(&self, weight: f64, curve: Curve, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        match &self.function {
            Function::Utility(utility) => utility.minorant(weight, within, slopes),
            Function::Sum => self.cells[0].minorant(weight, within, slopes),
            Function::Formula(formula) => formula.minorant(self, weight, curve, within, slopes),
            Function::Custom(_) => f64::NEG_INFINITY,
        }
    }
}

impl Cells {
    /// φ_j is convex.
    fn minorant(&self, weight: f64, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        let of_cell = |(j, slope): (usize, &mut f64)| {
            let (low, high, middle) = (within.low[j], within.high[j], within.middle(j));
            if low == high {
                return weight * self.cell_value(j, low);
            }
            if weight < 0.0 {
                return chord(low, high, |x| weight * self.cell_value(j, x), slope);
            }
            *slope = weight * self.slope(j, middle);
            weight * self.cell_value(j, middle)
        };
        slopes.iter_mut().enumerate().map(of_cell).sum()
    }

    /// The range of the sum over a box: each φ_j is highest at an end, and not below its tangents at both.
    fn range(&self, within: Within<'_>) -> Bounds {
        let mut sum = Bounds { low: 0.0, high: 0.0 };
        for j in 0..within.low.len() {
            let (low, high) = (within.low[j], within.high[j]);
            let [a, b] = [low, high].map(|x| self.cell_value(j, x));
            let [down, up] = [low, high].map(|x| self.slope(j, x));
            let width = high - low;
            let lowest = if width == 0.0 || down >= 0.0 {
                a
            } else if up <= 0.0 {
                b
            } else if down.is_finite() && up.is_finite() {
                // Where the tangents meet.
                a + down * ((a - b + up * width) / (up - down)).clamp(0.0, width)
            } else {
                f64::NEG_INFINITY
            };
            sum.low += lowest;
            sum.high += a.max(b);
        }
        sum.outward()
    }
}

/// The chord of a concave function.
pub(super) fn chord(low: f64, high: f64, value: impl Fn(f64) -> f64, slope: &mut f64) -> f64 {
    let (a, b) = (value(low), value(high));
    *slope = (b - a) / (high - low);
    0.5 * (a + b)
}

impl Formula {
    fn minorant(&self, term: &Term, weight: f64, curve: Curve, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        let totals = term.costs.count();
        let mut ranges: Vec<Bounds> =
            (0..totals).map(|k| Bounds { low: within.low[k], high: within.high[k] }).collect();
        ranges.extend(term.parts().map(|(first, cells)| {
            let own = first..first + cells.partition.cell_count();
            cells.range(Within { low: &within.low[own.clone()], high: &within.high[own] })
        }));
        let natural = self.root().range(&ranges).times(weight).low;
        if totals == 0 || !term.cells.is_empty() {
            return natural;
        }
        let middles = within.split_at(totals).0.middles();
        let value = weight * self.of_inputs(&|k| middles[k]);
        let known = if curve.is_convex() {
            for (slope, own) in slopes.iter_mut().zip(self.slopes(&middles)) {
                *slope = weight * own;
            }
            value
        } else if curve.is_concave() && 1 << totals <= MOST_CORNERS {
            for (slope, own) in slopes.iter_mut().zip(self.slopes(&middles)) {
                *slope = weight * own;
            }
            let corner = |number: usize| {
                let at = |k: usize| if number >> k & 1 == 1 { within.high[k] } else { within.low[k] };
                let rise: f64 = (0..totals).map(|k| slopes[k] * (at(k) - middles[k])).sum();
                weight * self.of_inputs(&at) - rise
            };
            (0..1 << totals)
                .map(corner)
                .fold(f64::INFINITY, |lowest, x| if x < lowest || x.is_nan() { x } else { lowest })
        } else {
            let mut lowest = value;
            for (k, slope) in slopes[..totals].iter_mut().enumerate().filter(|(k, _)| within.half(*k) > 0.0) {
                let Bounds { low, high } = self.root().slope_range(&ranges, k).1.times(weight);
                *slope = 0.5 * low + 0.5 * high;
                lowest -= (high - *slope).max(*slope - low) * within.half(k) * (1.0 + 4.0 * f64::EPSILON);
            }
            lowest
        };
        let slack = 1e-12 * value.abs();
        if known.is_finite() && known - slack > natural && slopes.iter().all(|slope| slope.is_finite()) {
            return known - slack;
        }
        slopes.fill(0.0);
        natural
    }
}
