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
//! where exponentials are taken, of 1/\|β\|. A certain transition adds no error at all.

use crate::logarithm::Logarithm;
use crate::risk::Erm;

/// Up to this |β|·range the risk is the mean: it is at most an eighth of that part of the range above it.
const WEAK: f64 = 1e-17;
/// Largest |β|·range for which polynomials of 12 and 9 terms are exact to rounding.
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
        Self { factor: (exponent - WINDOW * window).exp(), window }
    }

    /// Adds a term of another window.
    #[inline]
    fn join(self, term: f64, window: f64) -> Self {
        let apart = |windows: f64| {
            if windows == 1.0 {
                ONE_WINDOW
            } else if windows == 2.0 {
                TWO_WINDOWS
            } else {
                0.0
            }
        };
        if window > self.window {
            Self { factor: self.factor * apart(window - self.window) + term, window }
        } else {
            Self { factor: self.factor + term * apart(self.window - window), ..self }
        }
    }
}

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

/// The risk of what follows a pair.
pub(super) trait Backup: Sync {
    /// `successors` and `probabilities` are equally long and not empty.
    fn of(&self, successors: &[u32], probabilities: &[f64]) -> f64;
}

/// Σ p·U.
pub(super) struct Mean<'a>(pub(super) &'a [f64]);

impl Backup for Mean<'_> {
    #[inline]
    fn of(&self, successors: &[u32], probabilities: &[f64]) -> f64 {
        if let [certain] = successors {
            return self.0[*certain as usize];
        }
        product(self.0, successors, probabilities)
    }
}

#[inline]
fn product(of_states: &[f64], successors: &[u32], probabilities: &[f64]) -> f64 {
    successors.iter().zip(probabilities).map(|(&state, &p)| p * of_states[state as usize]).sum()
}

/// The second form.
pub(super) struct Mild<'a> {
    pub(super) values: &'a [f64],
    /// expm1(β(U − shift)) of each state.
    pub(super) terms: &'a [f64],
    pub(super) shift: f64,
    /// 1/β.
    pub(super) scale: f64,
}

impl Mild<'_> {
    /// expm1(x) for x in [0, MILD].
    #[inline]
    pub(super) fn term(x: f64) -> f64 {
        // 1/k! for k = 1 … 12.
        const SERIES: [f64; 12] = {
            let (mut series, mut factor, mut k) = ([0.0; 12], 1.0, 0);
            while k < 12 {
                factor /= (k + 1) as f64;
                series[k] = factor;
                k += 1;
            }
            series
        };
        x * SERIES.iter().rev().fold(0.0, |sum, coefficient| coefficient + x * sum)
    }

    /// ln(1 + x) for x in [0, expm1(MILD)]: 2·atanh(x/(2 + x)).
    #[inline]
    fn ln_1p(x: f64) -> f64 {
        let s = x / (2.0 + x);
        let series = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0];
        2.0 * s * series.iter().rev().fold(0.0, |sum, odd| 1.0 / odd + s * s * sum)
    }
}

impl Backup for Mild<'_> {
    #[inline]
    fn of(&self, successors: &[u32], probabilities: &[f64]) -> f64 {
        if let [certain] = successors {
            return self.values[*certain as usize];
        }
        self.shift + Self::ln_1p(product(self.terms, successors, probabilities)) * self.scale
    }
}

/// The third and the fourth form.
pub(super) struct Exponential<'a, W> {
    pub(super) erm: Erm,
    pub(super) values: &'a [f64],
    /// exp(βU) of each state.
    pub(super) weights: &'a [W],
    /// 1/β.
    pub(super) scale: f64,
    pub(super) logarithm: &'a Logarithm,
}

impl<W> Exponential<'_, W> {
    /// The risk if the sum is `factor`·exp(`exponent`).
    #[inline]
    fn risk(&self, factor: f64, exponent: f64, successors: &[u32], probabilities: &[f64]) -> f64 {
        if factor < SMALLEST_SUM {
            return self.of_small(successors, probabilities);
        }
        (exponent + self.logarithm.ln(factor)) * self.scale
    }

    /// The risk where probabilities are so small that the sum has lost digits.
    #[cold]
    fn of_small(&self, successors: &[u32], probabilities: &[f64]) -> f64 {
        let values = successors.iter().map(|&state| self.values[state as usize]);
        self.erm.of_outcomes(values.zip(probabilities.iter().copied()))
    }
}

impl Backup for Exponential<'_, f64> {
    #[inline]
    fn of(&self, successors: &[u32], probabilities: &[f64]) -> f64 {
        if let [certain] = successors {
            return self.values[*certain as usize];
        }
        self.risk(product(self.weights, successors, probabilities), 0.0, successors, probabilities)
    }
}

impl Backup for Exponential<'_, Weight> {
    #[inline]
    fn of(&self, successors: &[u32], probabilities: &[f64]) -> f64 {
        let first = successors[0] as usize;
        if successors.len() == 1 {
            return self.values[first];
        }
        let Weight { factor, window } = self.weights[first];
        let mut sum = Weight { factor: probabilities[0] * factor, window };
        for (&state, &p) in successors[1..].iter().zip(&probabilities[1..]) {
            let Weight { factor, window } = self.weights[state as usize];
            if window == sum.window {
                sum.factor += p * factor;
            } else {
                sum = sum.join(p * factor, window);
            }
        }
        self.risk(sum.factor, WINDOW * sum.window, successors, probabilities)
    }
}

/// The largest value, or for β = −∞ the smallest.
pub(super) struct Extreme<'a, const WORST: bool>(pub(super) &'a [f64]);

impl<const WORST: bool> Backup for Extreme<'_, WORST> {
    #[inline]
    fn of(&self, successors: &[u32], _: &[f64]) -> f64 {
        let values = successors.iter().map(|&state| self.0[state as usize]);
        // Not f64::max, which asks for NaN as well.
        let worse = |a: f64, b: f64| if (b > a) == WORST { b } else { a };
        values.reduce(worse).unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_the_functions_to_rounding() {
        for k in 0..=10_000 {
            let x = MILD * f64::from(k) / 10_000.0;
            assert!((Mild::term(x) - x.exp_m1()).abs() <= 4.0 * f64::EPSILON * x, "expm1 of {x}");
            let y = x.exp_m1();
            assert!((Mild::ln_1p(y) - y.ln_1p()).abs() <= 4.0 * f64::EPSILON * y, "ln1p of {y}");
        }
        assert_eq!(ONE_WINDOW, (-WINDOW).exp());
    }
}
