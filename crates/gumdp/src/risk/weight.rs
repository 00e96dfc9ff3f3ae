//! Entropic risk where one sample enters many sums, as a simulated cost enters every action it passed: one exponential per
//! sample, none per sum.
//!
//! ```text
//! W = Σ exp(β(xᵢ − c)),      ERM = c + ln(W/n)/β
//! ```
//!
//! with one constant c for all sums. W is kept as m·2^k with an integer k, so that nothing overflows and nothing vanishes
//! next to larger sums elsewhere. Where |β(x − c)| ≤ 1 for all costs, W − n = Σ expm1(β(xᵢ − c)) is kept instead, which has
//! all digits as β → 0. Relative to the range of costs the error is about the number of samples times the rounding
//! error, at worst; [`ErmAccumulator`](super::ErmAccumulator) is exact to rounding and costs two exponentials per sum.

use std::f64::consts::{LN_2, LOG2_E};

use super::Erm;
use crate::logarithm::Logarithm;

/// ln 2 to 33 binary digits, so that small multiples are exact, and the rest.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Larger |β(x − c)| count as this: the integer exponent could not hold them.
const EXTREME: f64 = 1e15;

/// Weighs costs for one β.
#[derive(Clone, Debug)]
pub(crate) struct Weigher {
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
    /// β = ∞.
    Worst,
    /// β = −∞.
    Best,
}

/// What one cost adds to a sum: `factor`·2^`exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight {
    factor: f64,
    exponent: i64,
}

impl Weight {
    /// The empty sum.
    pub(crate) const ZERO: Self = Self { factor: 0.0, exponent: i64::MIN / 2 };

    #[inline]
    pub(crate) fn add(&mut self, other: Self) {
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
pub(crate) struct Seen {
    pub(crate) count: u64,
    weight: Weight,
    pub(crate) total: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Seen {
    pub(crate) const NOTHING: Self =
        Self { count: 0, weight: Weight::ZERO, total: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// Adds a cost that was weighed before.
    #[inline]
    pub(crate) fn add(&mut self, cost: f64, weight: Weight) {
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
    pub(crate) fn is_finite(&self) -> bool {
        !self.total.is_nan() && self.min > f64::NEG_INFINITY && self.max < f64::INFINITY
    }

    pub(crate) fn merge(&mut self, other: &Self) {
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
    pub(crate) fn new(erm: Erm, centre: f64, low: f64, high: f64) -> Self {
        let beta = erm.beta();
        let regime = if beta == 0.0 {
            Regime::Mean
        } else if beta == f64::INFINITY {
            Regime::Worst
        } else if beta == f64::NEG_INFINITY {
            Regime::Best
        } else if beta.abs() * (high - centre).max(centre - low) <= 1.0 {
            Regime::Mild
        } else {
            Regime::Strong
        };
        Self { regime, beta, scale: 1.0 / beta, centre, logarithm: Logarithm::new() }
    }

    #[inline]
    pub(crate) fn weigh(&self, cost: f64) -> Weight {
        let z = self.beta * (cost - self.centre);
        match self.regime {
            Regime::Mild => Weight { factor: z.exp_m1(), exponent: 0 },
            Regime::Strong => {
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
    pub(crate) fn risk(&self, seen: &Seen, share: f64) -> f64 {
        match self.regime {
            Regime::Mild => self.centre + self.ln_1p(seen.weight.factor * share) * self.scale,
            Regime::Strong => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{self, Purpose};

    /// Samples of many sizes against the exact measure, for β from the mean to the worst case, in two parts that are merged.
    #[test]
    fn risks_are_those_of_the_samples() {
        let mut rng = rng::stream(2, 0, Purpose::Generation);
        for (low, high) in [(0.0, 1.0), (-3.0, 2.0), (1e6, 1e6 + 1.0), (-1e-9, 1e-9), (-1e12, 1e13)] {
            let beta = |scale: f64| scale / (high - low);
            for scale in [1e-160, 1e-12, 1e-3, 0.5, 1.9, 2.1, 30.0, 700.0, 3e4, 1e9, 1e14, f64::INFINITY] {
                for beta in [0.0, beta(scale), beta(-scale)] {
                    let erm = Erm::new(beta).unwrap();
                    let weigher = Weigher::new(erm, 0.5 * (low + high), low, high);
                    let samples: Vec<f64> = (0..300).map(|_| low + (high - low) * rng::unit(&mut rng)).collect();
                    let mut parts = [Seen::NOTHING; 2];
                    for (i, &x) in samples.iter().enumerate() {
                        parts[usize::from(i >= 100)].add(x, weigher.weigh(x));
                    }
                    let [mut seen, rest] = parts;
                    seen.merge(&rest);
                    let error = (weigher.risk(&seen, 1.0 / 300.0) - erm.of_samples(&samples)).abs();
                    let rounding = 300.0 * f64::EPSILON * high.abs().max(low.abs());
                    assert!(
                        error <= 1e-13 * (high - low) + rounding,
                        "beta {beta} in [{low}, {high}]: off by {error:e}"
                    );
                }
            }
        }
    }

    /// An objective may be able to cost far more than anything that happens.
    #[test]
    fn wide_bounds_do_no_harm() {
        let erm = Erm::new(0.5).unwrap();
        let weigher = Weigher::new(erm, 0.4, 0.0, 1e16);
        let samples = [0.1, 0.25, 0.6, 0.9];
        let mut seen = Seen::NOTHING;
        for x in samples {
            seen.add(x, weigher.weigh(x));
        }
        assert!((weigher.risk(&seen, 0.25) - erm.of_samples(&samples)).abs() < 1e-14);
    }

    /// A cheap action next to a dear one, β so large that one exponential is nothing next to the other.
    #[test]
    fn low_costs_do_not_vanish_next_to_high_ones() {
        let weigher = Weigher::new(Erm::new(1e5).unwrap(), 0.5, 0.0, 1.0);
        let (mut cheap, mut dear) = (Seen::NOTHING, Seen::NOTHING);
        for _ in 0..3 {
            cheap.add(0.25, weigher.weigh(0.25));
            dear.add(1.0, weigher.weigh(1.0));
        }
        assert!((weigher.risk(&cheap, 1.0 / 3.0) - 0.25).abs() < 1e-15);
        dear.merge(&cheap);
        assert!((weigher.risk(&dear, 1.0 / 6.0) - (1.0 - 2.0_f64.ln() / 1e5)).abs() < 1e-15);
    }
}
