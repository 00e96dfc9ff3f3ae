//! Streaming entropic risk: one exp per sample, no list of samples.
//!
//! With shift the largest sample so far (the smallest for β < 0) and zᵢ = β(xᵢ − shift) ≤ 0, keep the count n and
//!
//! ```text
//! S = Σ expm1(zᵢ),      ERM = shift + ln1p(S/n)/β = shift + ln(T/n)/β,      T = n + S = Σ exp(zᵢ) ≥ 1
//! ```
//!
//! S has all digits as β → 0, where T/n → 1 would lose them; but when most samples are far from the shift, S → −n
//! and T is what remains after cancellation. So S is kept in twice the working precision, and a far sample
//! (z ≤ −ln 2) enters as −1, exactly, plus exp(z): its rounding is then relative to exp(z), not to 1. Both S and T
//! therefore carry a relative error of a few ε whatever n and β. Moving the shift by δ = β(old − new) < 0 is
//! S ← S + T·expm1(δ), or −n + T·exp(δ) for δ ≤ −ln 2.
//!
//! Rounding zᵢ and every δ adds a relative error of a few ε·Σ|zᵢ|exp(zᵢ)/T to T; by Gibbs' inequality that
//! is at most a few ε·ln(n/T) = a few ε·|β|·(shift − ERM). The error of the result is thus a few ε·range + ε·|ERM|,
//! in any order of the samples and without drift up to 2²⁶ of them. (Beyond, the doubled precision itself may
//! show: n²·2⁻¹⁰⁵ in T at worst, when a single sample carries all of T.)

use std::f64::consts::LN_2;

use super::Erm;
use super::sum::Sum;

/// exp(z) below this z, about 4e-44, is left out: the doubled precision could not hold it next to T ≥ 1.
const NEGLIGIBLE: f64 = -100.0;

/// The entropic risk of the samples added so far, in 32 bytes.
///
/// β is not stored, so that arrays stay compact: pass the same [`Erm`] to every call, else values are meaningless.
/// At β = 0 the sum of distances to the largest sample is kept, so count × range must stay below 1e308.
///
/// ```
/// use gumdp::risk::{Erm, ErmAccumulator};
///
/// let erm = Erm::new(1000.0)?;
/// let mut left = ErmAccumulator::EMPTY;
/// left.add(erm, 0.25);
/// left.add(erm, 0.5);
/// let mut right = ErmAccumulator::EMPTY;
/// right.add(erm, 0.75);
///
/// left.merge(erm, &right);
/// assert_eq!(left.count(), 3);
/// assert!((left.value(erm) - erm.of_samples(&[0.25, 0.5, 0.75])).abs() < 1e-15);
/// # Ok::<(), gumdp::risk::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErmAccumulator {
    count: u64,
    /// The largest sample if β ≥ 0, else the smallest; 0 when empty. At β = 0, infinite or NaN if the mean is.
    shift: f64,
    /// Σ expm1(β(x − shift)); at β = 0, Σ (x − shift).
    excess: Sum,
}

impl ErmAccumulator {
    /// No samples yet; see the [example](ErmAccumulator).
    pub const EMPTY: ErmAccumulator = ErmAccumulator { count: 0, shift: 0.0, excess: Sum::ZERO };

    /// How many samples were added; see the [example](ErmAccumulator).
    #[inline]
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Adds the sample `x`, which counts as for [`Erm::of_samples`] if it is infinite or NaN.
    ///
    /// See the [example](ErmAccumulator).
    #[inline]
    pub fn add(&mut self, erm: Erm, x: f64) {
        if self.count == 0 {
            self.shift = x;
        } else if is_beyond(erm, x, self.shift) {
            self.move_shift(erm, x);
        } else if x != self.shift {
            self.add_below(erm, x);
        }
        self.count += 1;
    }

    /// Adds the samples of `other`, which was filled with the same β; see the [example](ErmAccumulator).
    pub fn merge(&mut self, erm: Erm, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let mut other = *other;
        if erm.beta() == 0.0 && !(self.shift.is_finite() && other.shift.is_finite()) {
            self.shift += other.shift;
            self.count += other.count;
            return;
        }
        if is_beyond(erm, other.shift, self.shift) {
            self.move_shift(erm, other.shift);
        } else if other.shift != self.shift {
            other.move_shift(erm, self.shift);
        }
        self.excess.merge(other.excess);
        self.excess.settle();
        self.count += other.count;
    }

    /// The entropic risk of the samples; `NaN` when empty or a sample is, exactly the sample when there is one.
    ///
    /// See the [example](ErmAccumulator).
    #[inline]
    #[must_use]
    pub fn value(&self, erm: Erm) -> f64 {
        if self.count == 0 {
            return f64::NAN;
        }
        let (n, beta) = (self.count as f64, erm.beta());
        let mean = self.excess.value() / n;
        let distance = if beta == 0.0 {
            mean
        } else if mean > -0.5 {
            mean.ln_1p() / beta
        } else {
            (self.tilted_total() / n).ln() / beta
        };
        self.shift + distance
    }

    /// T = Σ exp(zᵢ).
    #[inline]
    fn tilted_total(&self) -> f64 {
        self.excess.plus(self.count as f64)
    }

    /// Adds the term of a sample other than the shift. (At β = ±∞, z = −∞ and the term is −1.)
    #[inline]
    fn add_below(&mut self, erm: Erm, x: f64) {
        let distance = x - self.shift;
        let z = erm.beta() * distance;
        if erm.beta() == 0.0 {
            if distance == f64::NEG_INFINITY {
                self.add_infinite(x);
                return;
            }
            self.excess.add(distance);
        } else if z <= -LN_2 {
            self.excess.add(-1.0);
            if z > NEGLIGIBLE {
                self.excess.add(z.exp());
            }
        } else {
            self.excess.add(z.exp_m1());
        }
        self.excess.settle();
    }

    /// At β = 0, when the shift or `x` is infinite: the shift becomes what the mean is from now on.
    #[cold]
    fn add_infinite(&mut self, x: f64) {
        self.shift += x;
    }

    /// Expresses the sum relative to a shift beyond the present one.
    fn move_shift(&mut self, erm: Erm, shift: f64) {
        let (n, distance) = (self.count as f64, self.shift - shift);
        if erm.beta() == 0.0 && distance == f64::NEG_INFINITY {
            self.add_infinite(shift);
            return;
        }
        self.shift = shift;
        let delta = erm.beta() * distance;
        if erm.beta() == 0.0 {
            self.excess.add(n * distance);
        } else if delta > -LN_2 {
            self.excess.add(self.tilted_total() * delta.exp_m1());
        } else {
            let total = self.tilted_total() * delta.exp();
            self.excess = Sum::ZERO;
            self.excess.add(-n);
            self.excess.add(total);
        }
        self.excess.settle();
    }
}

/// Whether `x` must become the shift: z ≤ 0 keeps every term in [−1, 0].
#[inline]
fn is_beyond(erm: Erm, x: f64, shift: f64) -> bool {
    if erm.beta() < 0.0 { x < shift } else { x > shift }
}

#[cfg(test)]
mod tests {
    use super::ErmAccumulator;

    #[test]
    fn stays_compact() {
        assert!(size_of::<ErmAccumulator>() <= 32);
    }
}
