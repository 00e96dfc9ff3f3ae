//! The entropic risk of what follows a pair, as a sparse product: exponentials belong to states, one for each and step.
//!
//! ```text
//! ERM_β(U(s')) = g⁻¹(Σ p(s')·g(U(s')))
//! ```
//!
//! g(U) is computed once for each state; a pair takes one product and sum for each of its transitions and one g⁻¹. Which g loses
//! no digits depends on β and on the range of U, over all states:
//!
//! | | g(U) | |
//! |---|---|---|
//! | \|β\|·range ≤ 1e-17 | U | the mean to rounding |
//! | \|β\|·range ≤ 1/4 | expm1(β(U − low)), high for β < 0 | terms of one sign, all digits as β → 0 |
//! | \|βU\| ≤ 300 for all U | exp(βU) | |
//! | beyond | exp(βU) = m·exp(256·k), k integer | nothing over- or underflows |
//! | β = ±∞ | U, and the largest or smallest for the sum | |
//!
//! The error is a few units in the last place of the largest \|U\| in the second form; else of the \|U\| of the pair and,
//! where exponentials are taken, of 1/\|β\|.
//!
//! Functions are polynomials without tables or branches, taken in loops of their own, so that the processor computes several at once.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

use crate::risk::Erm;

/// Up to this |β|·range the risk is the mean: it is at most an eighth of that part of the range above it.
const WEAK: f64 = 1e-17;
/// Largest |β|·range for which logarithms need not be scaled.
const MILD: f64 = 0.25;
/// Exponents up to this need no windows.
const PLAIN: f64 = 300.0;
/// Beyond this |βU| the extreme value is the risk to rounding.
const EXTREME: f64 = 1e300;
/// The exponent between two windows: exp(±WINDOW/2) is far from the ends of what a `f64` can be.
const WINDOW: f64 = 256.0;
/// exp(−WINDOW) and its square; the third power is less than any `f64`.
const ONE_WINDOW: f64 = 6.616_261_056_709_485e-112;
const TWO_WINDOWS: f64 = ONE_WINDOW * ONE_WINDOW;
/// Below this sum, terms may have become subnormal and lost digits.
const SMALLEST_SUM: f64 = 1e-290;

/// The form for some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    Mean,
    Mild { shift: f64 },
    Plain,
    Windows,
    Worst,
    Best,
}

impl Form {
    /// The form for values between these.
    pub(super) fn new(erm: Erm, low: f64, high: f64) -> Self {
        let (beta, largest) = (erm.beta(), low.abs().max(high.abs()));
        if beta.abs() * (high - low) <= WEAK {
            Self::Mean
        } else if beta.abs() * (high - low) <= MILD {
            Self::Mild { shift: if beta > 0.0 { low } else { high } }
        } else if beta.abs() * largest <= PLAIN {
            Self::Plain
        } else if beta.abs() * largest <= EXTREME {
            Self::Windows
        } else if beta > 0.0 {
            Self::Worst
        } else {
            Self::Best
        }
    }
}

/// The risk of what follows a pair, in two parts, so that each is a loop of its own. Behind the first of the `N` numbers of a state
/// are others, of which the mean is taken.
pub(super) trait Backup<const N: usize>: Sync {
    /// Of `successors` and `probabilities`, which are equally long and not empty.
    fn sum(&self, successors: &[u32], probabilities: &[f64]) -> [f64; N];

    /// The risk from the first number of that sum.
    #[inline]
    fn risk(&self, sum: f64) -> f64 {
        sum
    }
}

/// g⁻¹(Σ p·g(U)).
pub(super) struct Sums<'a, const N: usize, F> {
    /// g(U) of each state.
    pub(super) terms: &'a [[f64; N]],
    /// g⁻¹.
    pub(super) inverse: F,
}

impl<const N: usize, F: Fn(f64) -> f64 + Sync> Backup<N> for Sums<'_, N, F> {
    #[inline]
    fn sum(&self, successors: &[u32], probabilities: &[f64]) -> [f64; N] {
        product(self.terms, successors, probabilities)
    }

    #[inline]
    fn risk(&self, sum: f64) -> f64 {
        (self.inverse)(sum)
    }
}

/// Σ p·x.
#[inline]
fn product<const N: usize>(of_states: &[[f64; N]], successors: &[u32], probabilities: &[f64]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (&state, p) in successors.iter().zip(probabilities) {
        let of_state = &of_states[state as usize];
        for (sum, x) in sums.iter_mut().zip(of_state) {
            *sum += p * x;
        }
    }
    sums
}

/// a + bx + cx² + dx³ in a short chain of operations.
#[inline]
fn cubic(x: f64, square: f64, [a, b, c, d]: [f64; 4]) -> f64 {
    (a + x * b) + square * (c + x * d)
}

/// expm1(x) for |x| up to ln(2)/2: the first 13 terms of its series.
#[inline]
pub(super) fn exp_m1(x: f64) -> f64 {
    let square = x * x;
    let fourth = square * square;
    let first = cubic(x, square, [1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0]);
    let second = cubic(x, square, [1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40_320.0]);
    let third = cubic(x, square, [1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0, 1.0 / 479_001_600.0]);
    x * (first + fourth * (second + fourth * (third + fourth * (1.0 / 6_227_020_800.0))))
}

/// exp(x) for |x| up to `PLAIN`: 2^k·exp(r), k integer.
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    /// What is added to this is rounded to an integer, found in the last bits.
    const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;
    /// ln 2 in two parts: a multiple of the first is exact.
    const HIGH: f64 = 6.931_471_803_691_238e-1;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    let rounded = x * LOG2_E + ROUND;
    let k = rounded - ROUND;
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    power + power * exp_m1((x - k * HIGH) - k * LOW)
}

/// ln((1 + s)/(1 − s)) for |s| up to 0.1716, relative error 2⁻⁵⁸ (the polynomial of fdlibm's `e_log.c`).
#[inline]
fn ln_ratio(s: f64) -> f64 {
    const FIRST: [f64; 4] =
        [6.666_666_666_666_735e-1, 3.999_999_999_940_942e-1, 2.857_142_874_366_239e-1, 2.222_219_843_214_978_4e-1];
    const SECOND: [f64; 4] = [1.818_357_216_161_805e-1, 1.531_383_769_920_937_3e-1, 1.479_819_860_511_658_6e-1, 0.0];
    let x = s * s;
    let square = x * x;
    s * (2.0 + x * (cubic(x, square, FIRST) + square * square * cubic(x, square, SECOND)))
}

/// ln(1 + x) for x in [0, expm1(MILD)].
#[inline]
pub(super) fn ln_1p(x: f64) -> f64 {
    ln_ratio(x / (2.0 + x))
}

/// ln x for a normal positive x: x = 2^k·m with m between √½ and √2.
#[inline]
pub(super) fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    /// 2^52: its last bits are an integer.
    const INTEGER: f64 = (1_u64 << 52) as f64;
    let bits = x.to_bits() + (1.0_f64.to_bits() - FRAC_1_SQRT_2.to_bits());
    let k = f64::from_bits((bits >> 52) | INTEGER.to_bits()) - (INTEGER + 1023.0);
    let m = f64::from_bits((bits & MANTISSA) + FRAC_1_SQRT_2.to_bits());
    k * LN_2 + ln_ratio((m - 1.0) / (m + 1.0))
}

/// An exponential of any size: `factor`·exp(WINDOW·`window`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    factor: f64,
    window: f64,
}

impl Weight {
    pub(super) fn of(exponent: f64) -> Self {
        let window = (exponent * (1.0 / WINDOW)).round();
        // Exact: both are multiples of the last place of the exponent.
        Self { factor: exp(exponent - WINDOW * window), window }
    }

    /// The sum of two.
    #[inline]
    fn plus(self, other: Self) -> Self {
        let apart = |windows: f64| {
            if windows == 1.0 {
                ONE_WINDOW
            } else if windows == 2.0 {
                TWO_WINDOWS
            } else {
                0.0
            }
        };
        if other.window == self.window {
            Self { factor: self.factor + other.factor, ..self }
        } else if other.window > self.window {
            Self { factor: self.factor * apart(other.window - self.window) + other.factor, ..other }
        } else {
            Self { factor: self.factor + other.factor * apart(self.window - other.window), ..self }
        }
    }
}

/// The fourth form.
pub(super) struct Windows<'a, const N: usize> {
    pub(super) erm: Erm,
    pub(super) values: &'a [[f64; N]],
    /// exp(βU) of each state.
    pub(super) weights: &'a [Weight],
}

impl<const N: usize> Backup<N> for Windows<'_, N> {
    #[inline]
    fn sum(&self, successors: &[u32], probabilities: &[f64]) -> [f64; N] {
        let outcomes = || successors.iter().map(|&state| state as usize).zip(probabilities.iter().copied());
        let term = |(state, p): (usize, f64)| {
            let Weight { factor, window } = self.weights[state];
            Weight { factor: p * factor, window }
        };
        let Weight { factor, window } = outcomes().map(term).reduce(Weight::plus).unwrap_or_default();
        let mut sums = product(self.values, successors, probabilities);
        // Probabilities may be so small that the sum has lost digits.
        sums[0] = if factor < SMALLEST_SUM {
            self.erm.of_outcomes(outcomes().map(|(state, p)| (self.values[state][0], p)))
        } else {
            (WINDOW * window + ln(factor)) / self.erm.beta()
        };
        sums
    }
}

/// The largest value, or for β = −∞ the smallest.
pub(super) struct Extreme<'a, const WORST: bool, const N: usize>(pub(super) &'a [[f64; N]]);

impl<const WORST: bool, const N: usize> Backup<N> for Extreme<'_, WORST, N> {
    #[inline]
    fn sum(&self, successors: &[u32], probabilities: &[f64]) -> [f64; N] {
        // Not f64::max, which asks for NaN as well.
        let worse = |a: f64, b: f64| if (b > a) == WORST { b } else { a };
        let mut sums = product(self.0, successors, probabilities);
        sums[0] = successors.iter().map(|&state| self.0[state as usize][0]).reduce(worse).unwrap_or(f64::NAN);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_the_functions_to_rounding() {
        for k in 0..=10_000 {
            let x = MILD * f64::from(k) / 10_000.0;
            let y = x.exp_m1();
            assert!((exp_m1(x) - y).abs() <= 4.0 * f64::EPSILON * x, "expm1 of {x}");
            assert!((ln_1p(y) - y.ln_1p()).abs() <= 4.0 * f64::EPSILON * y, "ln1p of {y}");
            for exponent in [PLAIN, -PLAIN, 1.0, -1.0].map(|scale| scale * f64::from(k) / 10_000.0) {
                let power = exponent.exp();
                assert!((exp(exponent) - power).abs() <= 4.0 * f64::EPSILON * power, "exp of {exponent}");
                let off = (ln(power) - power.ln()).abs();
                assert!(off <= 2.0 * f64::EPSILON * exponent.abs(), "ln of {power:e}: off by {off:e}");
            }
        }
        assert_eq!(ONE_WINDOW, (-WINDOW).exp());
    }
}
