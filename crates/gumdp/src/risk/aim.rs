//! What is minimised over policies: the entropic risk of a function of the cost.
//!
//! Measures with an outer variable are minima over it of risk-neutral aims E[h(f)]. Two families of h bound from below, for *all*
//! values of the variable in an interval at once, what a policy can attain: [`Kinked`] and [`Tilted`], each in the file of its
//! measure; `docs/mathematics.md` has the proofs.

use super::Erm;
use super::cvar::Kinked;
use super::tilted::{LARGEST_EXPONENT, Tilted};

/// What is minimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aim {
    pub(crate) erm: Erm,
    pub(crate) terminal: Terminal,
    /// Values that are closer than this, or than rounding, are equal: the lower mean decides. 0: only equal ones are.
    pub(crate) near: f64,
}

impl Aim {
    /// Whether this is an entropic risk of the cost itself.
    pub(crate) fn is_entropic(&self) -> bool {
        self.terminal == Terminal::Cost
    }

    /// The same with values that are equal if they are this close.
    pub(crate) fn within(self, near: f64) -> Self {
        Self { near, ..self }
    }

    /// 0 for a policy that never costs more than this, else 1.
    pub(crate) fn never_above(limit: f64) -> Self {
        Self { erm: Erm::WORST, ..Terminal::Above(limit).into() }
    }

    /// The mean of expm1(β(f − about))/β.
    pub(crate) fn exponential(beta: f64, about: f64) -> Self {
        Terminal::Exponential { beta, about }.into()
    }

    /// Whether this is a probability.
    pub(crate) fn is_probability(&self) -> bool {
        matches!(self.terminal, Terminal::Above(_))
    }
}

impl From<Erm> for Aim {
    fn from(erm: Erm) -> Self {
        Self { erm, terminal: Terminal::Cost, near: 0.0 }
    }
}

impl From<Terminal> for Aim {
    fn from(terminal: Terminal) -> Self {
        Self { erm: Erm::MEAN, terminal, near: 0.0 }
    }
}

/// A function of the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Terminal {
    /// The cost itself.
    Cost,
    Kinked(Kinked),
    Tilted(Tilted),
    /// 1 above a threshold, else 0.
    Above(f64),
    /// expm1(β(x − about))/β.
    Exponential {
        beta: f64,
        about: f64,
    },
}

impl Terminal {
    #[inline]
    pub(crate) fn of(&self, cost: f64) -> f64 {
        match self {
            Self::Cost => cost,
            Self::Kinked(kinked) => kinked.of(cost),
            Self::Tilted(tilted) => tilted.of(cost),
            Self::Above(_) if cost.is_nan() => cost,
            Self::Exponential { beta, about } => {
                let exponent = beta * (cost - about);
                (if exponent > LARGEST_EXPONENT { LARGEST_EXPONENT } else { exponent }).exp_m1() / beta
            }
            Self::Above(threshold) => f64::from(u8::from(cost > *threshold)),
        }
    }
}

/// Of the cost f, for those functions that measures have.
impl std::fmt::Display for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kinked(kinked) => kinked.fmt(f),
            Self::Above(threshold) => write!(f, "(1 if f > {threshold:?} else 0)"),
            Self::Cost | Self::Tilted(_) | Self::Exponential { .. } => f.write_str("f"),
        }
    }
}

/// Several functions of the cost, evaluated together: with the values of [`Terminal::of`] but for rounding.
pub(crate) trait Terminals<const AIMS: usize>: Sync {
    /// The value of each.
    fn of(&self, cost: f64) -> [f64; AIMS];

    /// The lowest expected value of each where costs are between these and the lowest mean is this, if nothing more has to be known: if
    /// each is linear there and does not fall.
    #[inline]
    fn of_lowest_mean(&self, (low, high): (f64, f64), _mean: f64) -> Option<[f64; AIMS]> {
        (low == high).then(|| self.of(low))
    }
}

/// Each by itself.
impl<const AIMS: usize> Terminals<AIMS> for [Terminal; AIMS] {
    #[inline]
    fn of(&self, cost: f64) -> [f64; AIMS] {
        self.map(|terminal| terminal.of(cost))
    }

    #[inline]
    fn of_lowest_mean(&self, (low, high): (f64, f64), _mean: f64) -> Option<[f64; AIMS]> {
        let is_constant = |terminal: &Terminal| match terminal {
            Terminal::Above(threshold) => high <= *threshold || low > *threshold,
            _ => low == high,
        };
        self.iter().all(is_constant).then(|| self.of(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::{Cvar, KinkedTerminals, TiltedTerminals};

    /// Eight at once, the ends of four intervals, are those alone.
    fn compare<T: Terminals<8>>(
        bound: impl Fn(usize, (f64, f64), f64) -> Terminal,
        of_aims: fn(&[Aim; 8]) -> Option<T>,
    ) {
        let intervals = [(0.0, 0.5), (0.3, 0.3), (0.2, 4.0), (700.0, 5000.0)];
        let aims: [Aim; 8] = std::array::from_fn(|k| {
            let (low, high) = intervals[k / 2];
            bound(k / 2, (low, high), [low, high][k % 2]).into()
        });
        let many = of_aims(&aims).unwrap();
        for x in (-40..=40).map(|k| f64::from(k) / 20.0) {
            for (aim, value) in aims.iter().zip(many.of(x)) {
                let alone = aim.terminal.of(x);
                assert!((alone - value).abs() <= 1e-13 * (1.0 + alone.abs()), "{aim:?} {x}: {alone} {value}");
            }
        }
        assert!(of_aims(&[Aim::from(Erm::MEAN); 8]).is_none());
    }

    #[test]
    fn many_at_once_are_those_alone() {
        let measure = Cvar::mixed(0.8, 0.7).unwrap();
        compare(|_, interval, end| Terminal::Kinked(Kinked::bound(measure, interval, end)), KinkedTerminals::of_aims);
        let tilted = |k, interval, end| Terminal::Tilted(Tilted::bound(interval, end, 0.1, [0.2, 0.9][k % 2]));
        compare(tilted, TiltedTerminals::of_aims);
    }
}
