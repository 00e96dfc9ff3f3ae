//! What is minimised over policies: the entropic risk of a function of the cost.
//!
//! Measures with an outer variable are minima over it of risk-neutral aims E[h(f)]. Two families of h bound from below, for *all*
//! values of the variable in an interval at once, what a policy can attain: [`Kinked`] and [`Tilted`], each in the file of its
//! measure; `docs/mathematics.md` has the proofs.

use super::Erm;
use super::mean_cvar::Kinked;
use super::tilted::Tilted;

/// What is minimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aim {
    pub(crate) erm: Erm,
    pub(crate) terminal: Terminal,
}

impl Aim {
    /// Whether this is an entropic risk of the cost itself.
    pub(crate) fn is_entropic(&self) -> bool {
        self.terminal == Terminal::Cost
    }

    /// Whether this is a probability.
    #[inline]
    pub(crate) fn is_probability(&self) -> bool {
        matches!(self.terminal, Terminal::Above(_))
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Terminal {
    /// The cost itself.
    Cost,
    Kinked(Kinked),
    Tilted(Tilted),
    /// 1 above a threshold, else 0.
    Above(f64),
}

impl Terminal {
    #[inline]
    pub(crate) fn of(&self, cost: f64) -> f64 {
        match self {
            Self::Cost => cost,
            Self::Kinked(kinked) => kinked.of(cost),
            Self::Tilted(tilted) => tilted.of(cost),
            Self::Above(_) if cost.is_nan() => cost,
            Self::Above(threshold) => f64::from(u8::from(cost > *threshold)),
        }
    }
}

/// Several functions of the cost, evaluated together: with the values of [`Terminal::of`] but for rounding.
pub(crate) trait Terminals<const AIMS: usize>: Sync {
    /// The value of each.
    fn of(&self, cost: f64) -> [f64; AIMS];
}

/// Each by itself.
impl<const AIMS: usize> Terminals<AIMS> for [Terminal; AIMS] {
    #[inline]
    fn of(&self, cost: f64) -> [f64; AIMS] {
        self.map(|terminal| terminal.of(cost))
    }
}
