//! The entropic kernel: the one place where exponentials and logarithms of ERM_β(X) = (1/β) ln E[exp(βX)] are taken.
//!
//! Four forms of one formula, each where it is quick and loses no digits; `tests/risk.rs` holds all of them against 72 decimal
//! digits.
//!
//! | form | for | error, relative to the range of costs |
//! |---|---|---|
//! | [`Tilt`], behind [`Erm::of_outcomes`] | solvers: all outcomes at once | a few ε |
//! | [`ErmTable`] | many weights of the same costs | a few ε |
//! | [`Weigher`] and [`Seen`] | a cost that enters many sums, as in a search tree | number of samples times ε, at worst |
//! | [`Erm::quickly`] | backups of a planner | 1e-7 |
//!
//! *All at once.* Values are shifted by the most expensive one (the cheapest for β < 0), so that z = β(x − shift) ≤ 0 and nothing
//! overflows. Two forms of ERM = shift + g⁻¹(E[g(x)]) cover all β:
//!
//! ```text
//! |β|·range ≤ ln 2:  g = expm1(z),  g⁻¹(m) = ln1p(m)/β   relative accuracy as β → 0
//! |β|·range > ln 2:  g = exp(z),    g⁻¹(m) = ln(m)/β     sum of positive terms, one of them 1: no cancellation;
//!                                                        the rounding ε of ln costs ε/β < 1.5 ε·range
//! ```
//!
//! *One by one.* With one constant c for all sums a sample takes one exponential, a sum none:
//!
//! ```text
//! W = Σ exp(β(xᵢ − c)),      ERM = c + ln(W/n)/β
//! ```
//!
//! W is kept as m·2^k with an integer k, so that nothing overflows and nothing vanishes next to larger sums elsewhere. Where
//! |β(x − c)| ≤ 1 for all costs, W − n = Σ expm1(β(xᵢ − c)) is kept instead, which has all digits as β → 0.

use std::f64::consts::{LN_2, LOG2_E};

use super::Erm;
use crate::logarithm::Logarithm;

/// Exponents up to this would lose digits when they become subnormal, and the mean is the measure to rounding.
const SMALLEST_EXPONENT: f64 = 1e-290;

/// The transform g and its inverse for values within a known range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt {
    beta: f64,
    shift: f64,
    low: f64,
    high: f64,
    transform: Transform,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Transform {
    /// β = 0 or next to it: g(x) = x − shift.
    Linear,
    Expm1,
    Exp,
}

impl Tilt {
    #[inline]
    pub(super) fn new(erm: Erm, low: f64, high: f64) -> Self {
        let beta = erm.beta();
        let transform = if beta.abs() * (high - low) <= SMALLEST_EXPONENT {
            Transform::Linear
        } else if beta.abs() * (high - low) <= LN_2 {
            Transform::Expm1
        } else {
            Transform::Exp
        };
        let shift = if beta < 0.0 { low } else { high };
        Self { beta, shift, low, high, transform }
    }

    /// g(x).
    #[inline]
    pub(super) fn term(&self, x: f64) -> f64 {
        let distance = x - self.shift;
        match self.transform {
            Transform::Linear => distance,
            Transform::Expm1 => (self.beta * distance).exp_m1(),
            // Spares an exp, and β = ±∞ the product ∞·0.
            Transform::Exp if distance == 0.0 => 1.0,
            Transform::Exp => (self.beta * distance).exp(),
        }
    }

    /// g⁻¹ of the mean of the terms.
    #[inline]
    pub(super) fn value(&self, mean: f64) -> f64 {
        let distance = match self.transform {
            Transform::Linear => mean,
            Transform::Expm1 => mean.ln_1p() / self.beta,
            Transform::Exp => mean.ln() / self.beta,
        };
        let value = self.shift + distance;
        // Rounding must not leave the range. Written so that a NaN stays one.
        if value < self.low {
            self.low
        } else if value > self.high {
            self.high
        } else {
            value
        }
    }
}

/// The terms g(x) of fixed values, to evaluate many weights of them without an exp each.
pub(crate) struct ErmTable {
    tilt: Tilt,
    terms: Vec<f64>,
}

impl ErmTable {
    /// Of ascending values, whose extremes have weights that are not vanishing.
    pub(crate) fn new(erm: Erm, values: &[f64]) -> Self {
        let tilt = Tilt::new(erm, values[0], values[values.len() - 1]);
        Self { tilt, terms: values.iter().map(|&x| tilt.term(x)).collect() }
    }

    /// The measure of the values with these weights.
    pub(crate) fn of(&self, weights: &[f64]) -> f64 {
        let add = |(sum, total), (term, weight): (&f64, &f64)| (sum + term * weight, total + weight);
        let (sum, total) = self.terms.iter().zip(weights).fold((0.0, 0.0), add);
        self.tilt.value(sum / total)
    }
}

/// ln 2 to 33 binary digits, so that small multiples are exact, and the rest.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Larger |β(x − c)| count as this: the integer exponent could not hold them. Where one decides, the largest cost (the smallest
/// for β < 0) is the risk to rounding.
const EXTREME: f64 = 1e15;
const EXTREME_EXPONENT: u64 = (EXTREME * LOG2_E) as u64;

/// Weighs costs for one β, so that a cost can enter many sums at the price of one exponential: what a planner keeps of each action
/// in each situation.
///
/// ```
/// use gumdp::Erm;
/// use gumdp::measures::{Seen, Weigher};
/// let erm = Erm::new(1000.0)?;
/// let weigher = Weigher::new(erm, 0.5, 0.0, 1.0);
/// let mut seen = Seen::NOTHING;
/// for cost in [0.25, 0.5, 0.75] {
///     seen.add(cost, weigher.weigh(cost));
/// }
/// let risk = weigher.risk(&seen, 1.0 / 3.0);
/// assert!((risk - erm.of_samples(&[0.25, 0.5, 0.75])).abs() < 1e-15);
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Weigher {
    regime: Regime,
    beta: f64,
    /// 1/β.
    scale: f64,
    /// c.
    centre: f64,
    logarithm: Logarithm,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Regime {
    /// β = 0.
    Mean,
    /// |β(x − c)| ≤ 1 for all costs.
    Mild,
    Strong,
    /// As strong, but some costs may be too far from the centre for the integer exponent.
    Vast,
    /// β = ∞.
    Worst,
    /// β = −∞.
    Best,
}

/// What one cost adds to a sum: `factor`·2^`exponent`.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    factor: f64,
    exponent: i64,
}

impl Weight {
    /// The empty sum.
    const ZERO: Self = Self { factor: 0.0, exponent: i64::MIN / 2 };

    #[inline]
    fn add(&mut self, other: Self) {
        let gap = other.exponent - self.exponent;
        if gap <= 0 {
            self.factor += other.factor * power_of_two(gap);
        } else {
            self.factor = self.factor * power_of_two(-gap) + other.factor;
            self.exponent = other.exponent;
        }
    }
}

/// 2^k for k ≤ 0; 0 where that would be too small to count.
#[inline]
fn power_of_two(k: i64) -> f64 {
    if k < -1000 { 0.0 } else { f64::from_bits(((1023 + k) as u64) << 52) }
}

/// What was seen of some costs.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// How many there were.
    pub count: u64,
    weight: Weight,
    pub(crate) total: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Seen {
    /// No cost yet.
    pub const NOTHING: Self =
        Self { count: 0, weight: Weight::ZERO, total: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// Adds a cost that was weighed before.
    #[inline]
    pub fn add(&mut self, cost: f64, weight: Weight) {
        self.count += 1;
        self.weight.add(weight);
        self.total += cost;
        if cost < self.min {
            self.min = cost;
        }
        if cost > self.max {
            self.max = cost;
        }
    }

    /// Whether all costs were finite. The total alone does not tell: it may overflow.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        !self.total.is_nan() && self.min > f64::NEG_INFINITY && self.max < f64::INFINITY
    }

    /// Adds what was seen elsewhere, weighed alike.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.weight.add(other.weight);
        self.total += other.total;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl Weigher {
    /// For costs in [low, high] of which `centre` is a usual one. The bounds may be wide, as those of an objective are, but costs
    /// far from the centre lose digits.
    #[must_use]
    pub fn new(erm: Erm, centre: f64, low: f64, high: f64) -> Self {
        let beta = erm.beta();
        let regime = if beta == 0.0 {
            Regime::Mean
        } else if beta == f64::INFINITY {
            Regime::Worst
        } else if beta == f64::NEG_INFINITY {
            Regime::Best
        } else if beta.abs() * (high - centre).max(centre - low) <= 1.0 {
            Regime::Mild
        } else if beta.abs() * (high - centre).max(centre - low) < EXTREME {
            Regime::Strong
        } else {
            Regime::Vast
        };
        Self { regime, beta, scale: 1.0 / beta, centre, logarithm: Logarithm::new() }
    }

    /// What a cost adds to every sum that it enters.
    #[inline]
    #[must_use]
    pub fn weigh(&self, cost: f64) -> Weight {
        let z = self.beta * (cost - self.centre);
        match self.regime {
            Regime::Mild => Weight { factor: z.exp_m1(), exponent: 0 },
            Regime::Strong | Regime::Vast => {
                let z = z.clamp(-EXTREME, EXTREME);
                let exponent = (z * LOG2_E) as i64;
                let k = exponent as f64;
                Weight { factor: (z - k * LN_2_HIGH - k * LN_2_LOW).exp(), exponent }
            }
            Regime::Mean | Regime::Worst | Regime::Best => Weight { factor: 0.0, exponent: 0 },
        }
    }

    /// The risk of what was seen; NaN if that is nothing. `share` is 1/count.
    #[inline]
    #[must_use]
    pub fn risk(&self, seen: &Seen, share: f64) -> f64 {
        match self.regime {
            Regime::Mild => self.centre + self.ln_1p(seen.weight.factor * share) * self.scale,
            Regime::Vast if seen.weight.exponent.unsigned_abs() >= EXTREME_EXPONENT => {
                if self.beta > 0.0 {
                    seen.max
                } else {
                    seen.min
                }
            }
            Regime::Strong | Regime::Vast => {
                let ln = self.logarithm.ln(seen.weight.factor * share) + seen.weight.exponent as f64 * LN_2;
                self.centre + ln * self.scale
            }
            Regime::Mean => seen.total * share,
            Regime::Worst => seen.max,
            Regime::Best => seen.min,
        }
    }

    /// ln(1 + x) for |x| ≤ e.
    #[inline]
    fn ln_1p(&self, x: f64) -> f64 {
        if x.abs() > 1.0 / 64.0 {
            return self.logarithm.ln(1.0 + x);
        }
        let series = [1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0, 1.0 / 6.0, 1.0 / 7.0, 1.0 / 8.0, 1.0 / 9.0];
        let tail = series.iter().rev().fold(0.0, |sum, coefficient| coefficient - x * sum);
        x - x * x * (0.5 - x * tail)
    }
}

impl Erm {
    /// The measure of a few finite values with positive weights, as planners back it up. Weak aversion to risk is expanded to the
    /// second order, whose error is below 1e-7 of the spread of the values; otherwise exact to rounding.
    #[must_use]
    #[inline]
    pub fn quickly(self, outcomes: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
        let (mut low, mut high, mut total, mut mean) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0);
        for (value, weight) in outcomes.clone() {
            low = low.min(value);
            high = high.max(value);
            total += weight;
            mean += weight * value;
        }
        let beta = self.beta();
        let shift = self.extreme(low, high);
        if low == high || beta.is_infinite() {
            return shift;
        }
        mean /= total;
        if beta.abs() * (high - low) < 1e-3 {
            let variance =
                outcomes.map(|(value, weight)| weight * (value - mean) * (value - mean)).sum::<f64>() / total;
            return mean + 0.5 * beta * variance;
        }
        let sum: f64 = outcomes.map(|(value, weight)| weight * self.tilt(value, shift)).sum();
        shift + (sum / total).ln() / beta
    }
}
