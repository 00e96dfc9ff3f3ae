//! A risk measure whose outer variable is fixed: an entropic risk of the cost, or the mean of a function of it.
//!
//! `CVaR` and `EVaR` are not dynamically consistent, but for a fixed λ or β what remains is: min over policies of E[λ + u(f − λ)]
//! or of ERM_β(f). Optimality requires that the variable is chosen at the first decision and kept.

use std::fmt;

use super::aim::Aim;
use super::{Erm, Risk};
use crate::words::rounded;

/// The variable over which a measure is a minimum, with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outer {
    /// Its name: `lambda` of `CVaR` and mixtures (the threshold beyond which costs are in the tail), `beta` of `EVaR`.
    pub variable: &'static str,
    /// Its value; an infinite β means that the worst case counts alone.
    pub value: f64,
}

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.variable, rounded(self.value))
    }
}

/// What a planner minimises: a measure, or one at a value of its outer variable.
///
/// ```
/// use gumdp::{Erm, FixedRisk, Risk};
/// let mean = "cvar:0".parse::<Risk>()?.fixed().unwrap();
/// assert_eq!((mean, mean.outer()), (FixedRisk::from(Erm::MEAN), None));
/// let chance = "exceed:2".parse::<Risk>()?.fixed().unwrap();
/// assert_eq!((chance.of_cost(2.0), chance.of_cost(3.0), chance.erm()), (0.0, 1.0, Erm::MEAN));
/// # Ok::<(), gumdp::ParseRiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedRisk {
    pub(crate) aim: Aim,
    measure: Risk,
    outer: Option<Outer>,
    price: f64,
}

impl FixedRisk {
    /// A measure without outer variable.
    pub(crate) fn new(measure: impl Into<Risk>, aim: impl Into<Aim>) -> Self {
        Self { aim: aim.into(), measure: measure.into(), outer: None, price: 0.0 }
    }

    /// The same at a value of its outer variable, which costs this besides.
    pub(crate) fn at(self, variable: &'static str, value: f64, price: f64) -> Self {
        Self { outer: Some(Outer { variable, value }), price, ..self }
    }

    /// An entropic attitude instead of a measure with an outer variable.
    pub(crate) fn attitude(erm: Erm) -> Self {
        Self::from(erm).at("beta", erm.beta(), 0.0)
    }

    /// The entropic risk measure that is taken over outcomes.
    #[must_use]
    pub fn erm(&self) -> Erm {
        self.aim.erm
    }

    /// What a final cost counts.
    #[must_use]
    #[inline]
    pub fn of_cost(&self, cost: f64) -> f64 {
        self.aim.terminal.of(cost)
    }

    /// Whether costs count as they are.
    #[must_use]
    pub fn is_entropic(&self) -> bool {
        self.aim.is_entropic()
    }

    /// The measure that this is, with [`Self::price`] added: the one asked for, or an entropic one that stands in for it.
    #[must_use]
    pub fn measure(&self) -> Risk {
        self.measure
    }

    /// The outer variable; `None` if the measure asked for has none.
    #[must_use]
    pub fn outer(&self) -> Option<Outer> {
        self.outer
    }

    /// What is to be added to the minimum, such as ln(1/(1 − α))/β for `EVaR`.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.price
    }
}

impl From<Erm> for FixedRisk {
    fn from(erm: Erm) -> Self {
        Self::new(erm, erm)
    }
}
