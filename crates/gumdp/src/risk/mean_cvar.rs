//! A mixture of the mean and the conditional value at risk of a random cost X,
//!
//! ```text
//! (1 − w)·E[X] + w·CVaR_α(X) = min over λ of λ + E[u(X − λ)],    u(x) = (1 − w)·x + w·x⁺/(1 − α)
//! ```
//!
//! with a level α in [0, 1) and a weight w in [0, 1]. Costs: lower is better. These are all optimised certainty equivalents
//! whose utility u is made of two straight pieces. Limits: the mean at w = 0 or α = 0, [`Cvar`] at w = 1.
//!
//! Reference: Ben-Tal and Teboulle, *An old-new concept of convex risk measures: the optimized certainty equivalent*,
//! Mathematical Finance 17 (2007).

use super::tail::Tail;
use super::{Cvar, RiskError};

/// (1 − weight)·mean + weight·`CVaR`.
///
/// ```
/// use gumdp::risk::MeanCvar;
/// let half = MeanCvar::new(0.75, 0.5)?;
/// // The mean is 3, the worst quarter costs 9.
/// assert_eq!(half.of_samples(&[1.0, 1.0, 1.0, 9.0])?, 6.0);
/// assert!(MeanCvar::new(0.75, 2.0).is_err());
/// # Ok::<(), gumdp::risk::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanCvar {
    /// In [0, 1).
    level: f64,
    /// In [0, 1].
    weight: f64,
}

impl MeanCvar {
    /// The measure with this level and this weight of the tail. See the [example](MeanCvar).
    ///
    /// # Errors
    /// [`RiskError::OpenLevel`] if the level is outside [0, 1), [`RiskError::TailWeight`] if the weight is outside [0, 1].
    pub fn new(level: f64, weight: f64) -> Result<Self, RiskError> {
        if !(0.0..1.0).contains(&level) {
            return Err(RiskError::OpenLevel { level });
        }
        if !(0.0..=1.0).contains(&weight) {
            return Err(RiskError::TailWeight { weight });
        }
        Ok(Self { level, weight })
    }

    /// The level α. See the [example](MeanCvar).
    #[must_use]
    pub const fn level(self) -> f64 {
        self.level
    }

    /// The weight w of the tail. See the [example](MeanCvar).
    #[must_use]
    pub const fn weight(self) -> f64 {
        self.weight
    }

    /// The measure of equally likely samples. See the [example](MeanCvar).
    ///
    /// # Errors
    /// No samples, or one that is not finite.
    pub fn of_samples(self, samples: &[f64]) -> Result<f64, RiskError> {
        Ok(self.of_tail(&Tail::new(samples.iter().map(|&x| (x, 1.0)))?))
    }

    /// The measure of a finite distribution given as (value, weight) pairs. See the [example](MeanCvar).
    ///
    /// # Errors
    /// No positive weight, or a value or weight out of range.
    pub fn of_distribution(self, outcomes: &[(f64, f64)]) -> Result<f64, RiskError> {
        Ok(self.of_tail(&Tail::new(outcomes.iter().copied())?))
    }

    pub(super) fn of_tail(self, tail: &Tail) -> f64 {
        (1.0 - self.weight) * tail.mean() + self.weight * tail.cvar(self.level)
    }
}

impl From<Cvar> for MeanCvar {
    /// `CVaR` at a level below 1 is the mixture of weight 1; at level 1 the nearest level below is taken.
    fn from(cvar: Cvar) -> Self {
        Self { level: cvar.level().min(1.0 - f64::EPSILON / 2.0), weight: 1.0 }
    }
}
