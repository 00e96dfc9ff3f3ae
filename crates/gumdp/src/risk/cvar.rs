//! The conditional value at risk of a random cost X at a level α in [0, 1],
//!
//! ```text
//! CVaR_α(X) = min over λ of λ + E[(X − λ)⁺]/(1 − α)
//! ```
//!
//! Costs: lower is better, so this is the upper tail: the mean of the worst 1 − α share. The minimum is attained at
//! λ = `VaR_α(X)`. Limits: the mean at α = 0, the largest cost at α = 1. It is nondecreasing in α, moves with constants, scales
//! with positive factors and is convex in X.
//!
//! Reference: Rockafellar and Uryasev, *Optimization of conditional value-at-risk*, Journal of Risk 2 (2000).

use std::fmt;

use super::mean_cvar::Lambda;
use super::outer::OuterForm;
use super::tail::{Tail, valid_level};
use super::{FixedRisk, Form, Measure, Risk, RiskError, Sweep, at_end, cvar, cvar_weighted, share_of_tail};

/// The conditional value at risk at one level.
///
/// ```
/// use gumdp::Cvar;
/// let worst_quarter = Cvar::new(0.75)?;
/// assert_eq!(worst_quarter.of_samples(&[1.0, 2.0, 3.0, 9.0])?, 9.0);
/// assert_eq!(worst_quarter.of_distribution(&[(0.0, 0.5), (8.0, 0.125), (4.0, 0.375)])?, 6.0);
/// assert!(Cvar::new(1.5).is_err());
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cvar {
    /// In [0, 1].
    level: f64,
}

impl Cvar {
    /// The measure at this level.
    ///
    /// # Errors
    /// [`RiskError::Level`] if the level is outside [0, 1].
    pub fn new(level: f64) -> Result<Self, RiskError> {
        Ok(Self { level: valid_level(level)? })
    }

    /// The level α.
    #[must_use]
    pub const fn level(self) -> f64 {
        self.level
    }

    /// The measure of equally likely samples.
    ///
    /// # Errors
    /// No samples, or one that is not finite.
    pub fn of_samples(self, samples: &[f64]) -> Result<f64, RiskError> {
        cvar(samples, self.level)
    }

    /// The measure of a finite distribution given as (value, weight) pairs.
    ///
    /// # Errors
    /// No positive weight, or a value or weight out of range.
    pub fn of_distribution(self, outcomes: &[(f64, f64)]) -> Result<f64, RiskError> {
        cvar_weighted(outcomes, self.level)
    }
}

impl fmt::Display for Cvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cvar:{}", self.level)
    }
}

impl Cvar {
    /// How it is written.
    pub(super) const FORMS: &'static [Form] = &[Form {
        read: |numbers| Self::new(numbers[0]).map(Risk::Cvar),
        sweep: Some(Sweep::levels("CVaR")),
        ..Form::new("cvar", &["LEVEL"], "conditional value at risk: the mean of the worst 1 - LEVEL")
    }];
}

impl Measure for Cvar {
    fn of_tail(&self, tail: &Tail) -> f64 {
        tail.cvar(self.level)
    }

    fn fixed(&self) -> Option<FixedRisk> {
        at_end(self.level)
    }

    fn outer(&self) -> Option<Box<dyn OuterForm>> {
        Some(Box::new(Lambda { measure: (*self).into(), of: (*self).into() }))
    }

    fn tail_level(&self) -> Option<f64> {
        Some(self.level)
    }

    fn share(&self, _: f64) -> f64 {
        share_of_tail(self.level)
    }

    fn swept(&self) -> Option<(&'static Form, f64)> {
        Some((&Self::FORMS[0], self.level))
    }
}
