//! What the occupancy solver minimises: an entropic risk of the cost, or of a function of it.
//!
//! The outer searches ([`super::minimise()`]) are made of risk-neutral aims E[h(f)]. Two families of h bound from below, for
//! *all* values of the outer variable in an interval at once, what a policy can attain; `docs/mathematics.md` has the proofs.

use crate::risk::{Erm, MeanCvar};

/// Exponents are not larger: their exponential and sums of it are finite.
const LARGEST_EXPONENT: f64 = 600.0;
/// Beyond this exponent, subtracting 1 from an exponential loses a digit at most.
const FEW_DIGITS_LOST: f64 = 0.1;

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
    pub(super) fn bound((low, high): (f64, f64), end: f64, threshold: f64, level: f64) -> Self {
        // With a small level 1 − α would lose its digits.
        Self { low, high, beta: end, threshold, most: level.sqrt(), less_one: is_mild(level) }
    }

    #[inline]
    fn of(&self, x: f64) -> f64 {
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

/// Several functions of the cost, evaluated together: with the values of [`Terminal::of`] but for rounding.
pub(super) trait Terminals<const AIMS: usize>: Sync {
    /// The value of each.
    fn of(&self, cost: f64) -> [f64; AIMS];
}

/// Kinked functions of the same measure.
pub(super) struct KinkedTerminals<const AIMS: usize> {
    /// Factors of the cost and of the excess.
    mean: f64,
    tail: f64,
    low: [f64; AIMS],
    /// One over the width of the interval, or huge if that is 0.
    slope: [f64; AIMS],
    lambda: [f64; AIMS],
    /// What is added: the weight times λ.
    constant: [f64; AIMS],
}

impl<const AIMS: usize> KinkedTerminals<AIMS> {
    /// If all aims are such functions.
    pub(super) fn of_aims(aims: &[Aim; AIMS]) -> Option<Self> {
        let kinked = |aim: &Aim| if let Terminal::Kinked(kinked) = aim.terminal { Some(kinked) } else { None };
        let Kinked { weight, steepness, .. } = kinked(aims.first()?)?;
        let mut all = Self {
            mean: 1.0 - weight,
            tail: weight * steepness,
            low: [0.0; AIMS],
            slope: [0.0; AIMS],
            lambda: [0.0; AIMS],
            constant: [0.0; AIMS],
        };
        for (k, aim) in aims.iter().enumerate() {
            let Kinked { low, high, lambda, .. } =
                kinked(aim).filter(|other| other.weight == weight && other.steepness == steepness)?;
            (all.low[k], all.lambda[k], all.constant[k]) = (low, lambda, weight * lambda);
            all.slope[k] = (1.0 / (high - low)).min(f64::MAX);
        }
        Some(all)
    }
}

impl<const AIMS: usize> Terminals<AIMS> for KinkedTerminals<AIMS> {
    #[inline]
    fn of(&self, x: f64) -> [f64; AIMS] {
        let mean = self.mean * x;
        std::array::from_fn(|k| {
            let share = ((x - self.low[k]) * self.slope[k]).max(0.0).min(1.0);
            mean + (self.constant[k] + self.tail * (share * (x - self.lambda[k])))
        })
    }
}

/// Tilted functions.
pub(super) struct TiltedTerminals<const AIMS: usize>([(Tilted, bool); AIMS]);

impl<const AIMS: usize> TiltedTerminals<AIMS> {
    /// If all aims are such functions.
    pub(super) fn of_aims(aims: &[Aim; AIMS]) -> Option<Self> {
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

    #[test]
    fn many_at_once_are_those_alone() {
        let measure = MeanCvar::new(0.8, 0.7).unwrap();
        let intervals = [(0.0, 0.5), (0.3, 0.3), (0.2, 4.0), (700.0, 5000.0)];
        let ends = intervals.into_iter().flat_map(|(low, high)| [((low, high), low), ((low, high), high)]);
        let ends: Vec<((f64, f64), f64)> = ends.collect();
        let kinked: [Aim; 8] =
            std::array::from_fn(|k| Terminal::Kinked(Kinked::bound(measure, ends[k].0, ends[k].1)).into());
        let tilted: [Aim; 8] = std::array::from_fn(|k| {
            Terminal::Tilted(Tilted::bound(ends[k].0, ends[k].1, 0.1, [0.2, 0.9][k / 2 % 2])).into()
        });
        let (many_kinked, many_tilted) =
            (KinkedTerminals::of_aims(&kinked).unwrap(), TiltedTerminals::of_aims(&tilted).unwrap());
        for k in -40..=40 {
            let x = f64::from(k) / 20.0;
            for (aim, value) in kinked.iter().chain(&tilted).zip(many_kinked.of(x).into_iter().chain(many_tilted.of(x)))
            {
                let alone = aim.terminal.of(x);
                assert!((alone - value).abs() <= 1e-13 * (1.0 + alone.abs()), "{aim:?} {x}: {alone} {value}");
            }
        }
        assert!(KinkedTerminals::of_aims(&tilted).is_none() && TiltedTerminals::of_aims(&kinked).is_none());
    }

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
