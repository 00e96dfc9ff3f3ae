//! Risk measures: one number for a random cost. Lower costs are better everywhere.
//!
//! Here: [`Risk`], any measure there is: the entropic risk measure [`Erm`] (with mean and worst case), [`Cvar`], [`Evar`] and
//! [`MeanCvar`], their values for samples and for exact distributions; the streaming [`Weigher`] that planners keep
//! per action; [`value_at_risk`] and [`cvar`]. Summaries of samples with confidence intervals are in [`crate::stats`],
//! the lowest possible risk of a problem is in [`crate::oracle`].
//!
//! ```
//! use gumdp::risk::Erm;
//!
//! let averse = Erm::new(2.0)?;
//! let costs = [0.0, 1.0];
//! assert!(averse.of_samples(&costs) > Erm::MEAN.of_samples(&costs));
//! assert_eq!(Erm::WORST.of_samples(&costs), 1.0);
//! # Ok::<(), gumdp::risk::RiskError>(())
//! ```

mod cvar;
mod entropic;
mod erm;
mod evar;
mod fixed;
mod mean_cvar;
mod measure;
mod sum;
mod tail;

pub use cvar::Cvar;
pub(crate) use entropic::ErmTable;
pub use entropic::{Seen, Weigher};
pub use erm::Erm;
pub use evar::Evar;
pub use fixed::FixedRisk;
pub use mean_cvar::MeanCvar;
pub use measure::{ParseRiskError, Risk};
pub(crate) use sum::Sum;
pub(crate) use tail::{Tail, valid_level};
pub use tail::{cvar, cvar_weighted, value_at_risk, value_at_risk_weighted};

use thiserror::Error;

/// Differences of two costs of at most this size are finite, which the measures need.
pub(crate) const LARGEST_COST: f64 = 8e307;

/// Why a risk measure could not be built or evaluated.
///
/// ```
/// let error = gumdp::risk::Erm::new(f64::NAN).unwrap_err();
/// assert_eq!(error.to_string(), "risk aversion beta is NaN, but must lie in [-inf, inf]");
/// ```
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RiskError {
    /// β is not a number.
    #[error("risk aversion beta is {beta}, but must lie in [-inf, inf]")]
    Beta {
        /// The rejected value.
        beta: f64,
    },
    /// There is nothing to measure: no sample, or no outcome of positive weight.
    #[error("there are no outcomes, but at least one of positive weight is needed")]
    NoOutcomes,
    /// A cost is NaN or infinite.
    #[error("cost {index} is {value}, but must be finite")]
    Cost {
        /// Position in the input, from 0.
        index: usize,
        /// The rejected value.
        value: f64,
    },
    /// A weight is negative, NaN or infinite.
    #[error("weight {index} is {weight}, but must lie in [0, inf)")]
    Weight {
        /// Position in the input, from 0.
        index: usize,
        /// The rejected value.
        weight: f64,
    },
    /// A probability level is outside its range.
    #[error("level is {level}, but must lie in [0, 1]")]
    Level {
        /// The rejected value.
        level: f64,
    },
    /// A probability level that must be below 1.
    #[error("level is {level}, but must lie in [0, 1)")]
    OpenLevel {
        /// The rejected value.
        level: f64,
    },
    /// The weight of a tail in a mixture is outside its range.
    #[error("weight of the tail is {weight}, but must lie in [0, 1]")]
    TailWeight {
        /// The rejected value.
        weight: f64,
    },
    /// A negative appetite for risk.
    #[error("seeking beta is {beta}, but must lie in [0, inf]")]
    Seeking {
        /// The rejected value.
        beta: f64,
    },
}
