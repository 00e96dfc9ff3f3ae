//! Bounds of exponentials of the cost, for the search of the β of the entropic value at risk.

use super::aim::{Aim, Terminal, Terminals};

/// Exponents are not larger: their exponential and sums of it are finite.
pub(super) const LARGEST_EXPONENT: f64 = 600.0;
/// Beyond this exponent, subtracting 1 from an exponential loses a digit at most.
const FEW_DIGITS_LOST: f64 = 0.1;

/// exp(β(x − t)), bounded from below by a function that is linear in β on [low, high]: a tangent, never negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tilted {
    low: f64,
    /// May be infinite; the bound is then constant in β.
    high: f64,
    beta: f64,
    threshold: f64,
    /// How far up the tangent of a growing exponential may touch it, in units of the exponent: see [`Tilted::bound`].
    most: f64,
    /// Whether 1 is subtracted, which keeps all digits of small exponents.
    less_one: bool,
}

impl Tilted {
    /// The bound for all of an interval, at one end of it, for a measure of this level α.
    ///
    /// Costs beyond the threshold are bounded at the lower end by exp(u)·(1 − u) or more, where u ≤ √α is how far up the
    /// tangent touches. That is at least 1 − α: policies with such costs only do not stand in the way of an exclusion.
    pub(crate) fn bound((low, high): (f64, f64), end: f64, threshold: f64, level: f64) -> Self {
        // With a small level 1 − α would lose its digits.
        Self { low, high, beta: end, threshold, most: level.sqrt(), less_one: is_mild(level) }
    }

    #[inline]
    pub(super) fn of(&self, x: f64) -> f64 {
        self.value(x, self.touching(x))
    }

    /// The exponential where the tangent touches it, or the bound itself if that is constant in β.
    #[inline]
    fn touching(&self, x: f64) -> f64 {
        let z = x - self.threshold;
        if z == 0.0 {
            return self.exponential(0.0);
        }
        if self.high == f64::INFINITY {
            return self.exponential(if z > 0.0 { self.low * z } else { f64::NEG_INFINITY });
        }
        // The tangent at the middle, moved towards the smaller end of the exponential if it would be negative there.
        let half = 0.5 * (self.high - self.low);
        let touches = if z > 0.0 { self.low + half.min(self.most / z) } else { self.high - half.min(-1.0 / z) };
        let exponent = touches * z;
        self.exponential(if exponent > LARGEST_EXPONENT { self.low * z } else { exponent })
    }

    /// The bound at this end.
    #[inline]
    fn value(&self, x: f64, touching: f64) -> f64 {
        let z = x - self.threshold;
        let half = 0.5 * (self.high - self.low);
        let (size, smaller_end, most) = if z > 0.0 { (z, self.low, self.most) } else { (-z, self.high, 1.0) };
        let reach = half.min(most / size);
        if z == 0.0 || self.high == f64::INFINITY || (smaller_end + reach.copysign(z)) * z > LARGEST_EXPONENT {
            return touching;
        }
        // z·(β − the β at which the tangent touches), so computed that it is never below −1: at the smaller end of a large
        // exponential a rounding error would be a huge negative number.
        let step = size * (self.beta - smaller_end).abs() - (size * half).min(most);
        if self.less_one { touching * (1.0 + step) + step } else { touching * (1.0 + step) }
    }

    #[inline]
    fn exponential(&self, exponent: f64) -> f64 {
        let exponent = exponent.min(LARGEST_EXPONENT);
        if !self.less_one {
            exponent.exp()
        } else if exponent.abs() < FEW_DIGITS_LOST {
            exponent.exp_m1()
        } else {
            // Several times as quick.
            exponent.exp() - 1.0
        }
    }
}

/// Whether a level α is so small that 1 − α would lose its digits.
pub(super) fn is_mild(level: f64) -> bool {
    level < 0.5
}

/// Tilted functions.
pub(crate) struct TiltedTerminals<const AIMS: usize>([(Tilted, bool); AIMS]);

impl<const AIMS: usize> TiltedTerminals<AIMS> {
    /// If all aims are such functions.
    pub(crate) fn of_aims(aims: &[Aim; AIMS]) -> Option<Self> {
        let tilted = |aim: &Aim| if let Terminal::Tilted(tilted) = aim.terminal { Some(tilted) } else { None };
        let first = tilted(aims.first()?)?;
        let mut all = [(first, false); AIMS];
        for k in 1..AIMS {
            let (before, this) = (all[k - 1].0, tilted(&aims[k])?);
            // The other end of the same interval: one exponential is enough for both.
            let same = [this.low, this.high, this.threshold] == [before.low, before.high, before.threshold];
            all[k] = (this, same && this.less_one == before.less_one);
        }
        Some(Self(all))
    }
}

impl<const AIMS: usize> Terminals<AIMS> for TiltedTerminals<AIMS> {
    #[inline]
    fn of(&self, x: f64) -> [f64; AIMS] {
        let mut touching = 0.0;
        std::array::from_fn(|k| {
            let (tilted, same) = self.0[k];
            if !same {
                touching = tilted.touching(x);
            }
            tilted.value(x, touching)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound is 0 or more however large the exponents are.
    #[test]
    fn large_exponents_are_not_negative() {
        for (low, high) in [(300.0, 600.0), (1231.9, 4927.6), (77.0, 308.0)] {
            for k in -100..=100 {
                let x = f64::from(k) / 123.0;
                for end in [low, high] {
                    let value = Tilted::bound((low, high), end, 0.1, 0.9).of(x);
                    assert!(value >= 0.0, "{low} {high} {x} {end}: {value}");
                }
            }
        }
    }

    /// Between the ends of an interval the line through the bounds at the ends must not exceed the function.
    #[test]
    fn bounds_are_below_for_all_of_the_interval() {
        for (low, high) in [(0.0, 1.0), (3.0, 3.5), (10.0, 400.0), (0.0, 5000.0)] {
            for k in -40..=40 {
                let z = f64::from(k) / 10.0;
                let ends = [low, high].map(|end| Tilted::bound((low, high), end, 0.0, 0.3).of(z));
                for share in [0.0, 0.1, 0.5, 0.77, 1.0] {
                    let line = ends[0] + share * (ends[1] - ends[0]);
                    let exact = ((low + share * (high - low)) * z).exp_m1();
                    assert!(line <= exact + 1e-12 * (1.0 + exact.abs()), "{low} {high} {z} {share}: {line} {exact}");
                    assert!(line >= -1.0 - 1e-12 * (1.0 + exact.abs()));
                }
                let endless = Tilted::bound((low, f64::INFINITY), low, 0.0, 0.3).of(z);
                for exact in [(low * z).exp_m1(), (high * z).exp_m1()] {
                    assert!(endless <= exact + 1e-12 * (1.0 + exact.abs()), "{low} {z}: {endless} {exact}");
                }
            }
        }
    }
}
