//! What the occupancy solver minimises: an entropic risk of the cost, or of a function of it.
//!
//! The outer searches ([`super::minimise()`]) are made of risk-neutral aims E[h(f)]. Two families of h bound from below, for
//! *all* values of the outer variable in an interval at once, what a policy can attain; `docs/mathematics.md` has the proofs.

use crate::risk::{Erm, MeanCvar};

/// Exponents are not larger: their exponential and sums of it are finite.
const LARGEST_EXPONENT: f64 = 600.0;

/// What is minimised: the entropic risk of a function of the cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    pub(super) erm: Erm,
    pub(super) terminal: Terminal,
}

impl Aim {
    /// Whether this is an entropic risk of the cost itself.
    pub(super) fn is_entropic(&self) -> bool {
        matches!(self.terminal, Terminal::Cost)
    }
}

impl From<Erm> for Aim {
    fn from(erm: Erm) -> Self {
        Self { erm, terminal: Terminal::Cost }
    }
}

impl From<Terminal> for Aim {
    fn from(terminal: Terminal) -> Self {
        Self { erm: Erm::MEAN, terminal }
    }
}

/// A function of the cost.
#[derive(Clone, Copy, Debug)]
pub(super) enum Terminal {
    Cost,
    Kinked(Kinked),
    Tilted(Tilted),
}

impl Terminal {
    #[inline]
    pub(super) fn of(&self, cost: f64) -> f64 {
        match self {
            Self::Cost => cost,
            Self::Kinked(kinked) => kinked.of(cost),
            Self::Tilted(tilted) => tilted.of(cost),
        }
    }
}

/// λ + u(x − λ) of a mixture of mean and `CVaR`, bounded from below by a function that is linear in λ on [low, high]:
///
/// ```text
/// (1 − w)·x + w·(λ + e(x)/(1 − α)),    e(x) = θ(x)·(x − λ),    θ(x) = 0 for x ≤ low, 1 for x ≥ high, linear between
/// ```
///
/// It is exact for low = high = λ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinked {
    weight: f64,
    /// 1/(1 − α).
    steepness: f64,
    low: f64,
    high: f64,
    lambda: f64,
}

impl Kinked {
    /// The function itself.
    pub(super) fn at(measure: MeanCvar, lambda: f64) -> Self {
        Self::bound(measure, (lambda, lambda), lambda)
    }

    /// Its bound for all of an interval, at one end of it.
    pub(super) fn bound(measure: MeanCvar, (low, high): (f64, f64), end: f64) -> Self {
        Self { weight: measure.weight(), steepness: 1.0 / (1.0 - measure.level()), low, high, lambda: end }
    }

    #[inline]
    fn of(&self, x: f64) -> f64 {
        let excess = if x <= self.low {
            0.0
        } else if x >= self.high {
            x - self.lambda
        } else {
            (x - self.low) / (self.high - self.low) * (x - self.lambda)
        };
        (1.0 - self.weight) * x + self.weight * (self.lambda + excess * self.steepness)
    }
}

/// exp(β(x − t)), bounded from below by a function that is linear in β on [low, high]: a tangent, never negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilted {
    low: f64,
    /// May be infinite; the bound is then constant in β.
    high: f64,
    beta: f64,
    threshold: f64,
    /// Whether 1 is subtracted, which keeps all digits of small exponents.
    less_one: bool,
}

impl Tilted {
    /// The bound for all of an interval, at one end of it.
    pub(super) fn bound((low, high): (f64, f64), end: f64, threshold: f64, less_one: bool) -> Self {
        Self { low, high, beta: end, threshold, less_one }
    }

    #[inline]
    fn of(&self, x: f64) -> f64 {
        let z = x - self.threshold;
        if z == 0.0 {
            return self.exponential(0.0);
        }
        if self.high == f64::INFINITY {
            return self.exponential(if z > 0.0 { self.low * z } else { f64::NEG_INFINITY });
        }
        // The tangent at the middle, moved towards the smaller end of the exponential if it would be negative there.
        let half = 0.5 * (self.high - self.low);
        let touches = if z > 0.0 { self.low + half.min(1.0 / z) } else { self.high - half.min(-1.0 / z) };
        let exponent = touches * z;
        if exponent > LARGEST_EXPONENT {
            return self.exponential(self.low * z);
        }
        let step = z * (self.beta - touches);
        if self.less_one { exponent.exp_m1() * (1.0 + step) + step } else { exponent.exp() * (1.0 + step) }
    }

    #[inline]
    fn exponential(&self, exponent: f64) -> f64 {
        let exponent = exponent.min(LARGEST_EXPONENT);
        if self.less_one { exponent.exp_m1() } else { exponent.exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the ends of an interval the line through the bounds at the ends must not exceed the function.
    #[test]
    fn bounds_are_below_for_all_of_the_interval() {
        let measure = MeanCvar::new(0.8, 0.7).unwrap();
        for (low, high) in [(-1.0, 2.0), (0.3, 0.4), (0.0, 1e-9)] {
            for k in -40..=40 {
                let x = f64::from(k) / 10.0;
                let ends = [low, high].map(|end| Kinked::bound(measure, (low, high), end).of(x));
                for share in [0.0, 0.1, 0.5, 0.77, 1.0] {
                    let lambda = low + share * (high - low);
                    let line = ends[0] + share * (ends[1] - ends[0]);
                    let exact = Kinked::at(measure, lambda).of(x);
                    assert!(line <= exact + 1e-12, "{low} {high} {x} {share}: {line} {exact}");
                }
            }
        }
        for (low, high) in [(0.0, 1.0), (3.0, 3.5), (10.0, 400.0), (0.0, 5000.0)] {
            for k in -40..=40 {
                let z = f64::from(k) / 10.0;
                let ends = [low, high].map(|end| Tilted::bound((low, high), end, 0.0, true).of(z));
                for share in [0.0, 0.1, 0.5, 0.77, 1.0] {
                    let line = ends[0] + share * (ends[1] - ends[0]);
                    let exact = ((low + share * (high - low)) * z).exp_m1();
                    assert!(line <= exact + 1e-12 * (1.0 + exact.abs()), "{low} {high} {z} {share}: {line} {exact}");
                    assert!(line >= -1.0 - 1e-12 * (1.0 + exact.abs()));
                }
                let endless = Tilted::bound((low, f64::INFINITY), low, 0.0, true).of(z);
                assert!(endless <= (low * z).exp_m1() && endless <= (high * z).exp_m1());
            }
        }
    }
}
