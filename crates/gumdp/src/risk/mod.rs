//! Risk measures: one number for a random cost. Lower costs are better everywhere.
//!
//! Here: [`Risk`], any measure there is, and [the list of them](Risk::forms). A measure is one file, which knows its names, numbers
//! and limits, its value for a distribution, and its outer variable; it is entered in the list below. Also here: the streaming
//! [`Weigher`] that planners keep per action. Summaries of samples with confidence intervals are in [`crate::stats`], the lowest
//! possible risk of a problem is in [`crate::oracle`].
//!
//! ```
//! use gumdp::Erm;
//!
//! let averse = Erm::new(2.0)?;
//! let costs = [0.0, 1.0];
//! assert!(averse.of_samples(&costs) > Erm::MEAN.of_samples(&costs));
//! assert_eq!(Erm::WORST.of_samples(&costs), 1.0);
//! # Ok::<(), gumdp::RiskError>(())
//! ```

mod aim;
mod ascending;
mod binomial;
mod cvar;
mod entropic;
mod erm;
mod evar;
mod exceed;
mod fixed;
mod form;
mod outer;
mod sum;
mod tail;
mod tilted;
mod var;

pub(crate) use aim::{Aim, Terminals};
pub use ascending::Ascending;
pub use cvar::Cvar;
pub(crate) use cvar::KinkedTerminals;
pub(crate) use entropic::ErmTable;
pub use entropic::{Seen, Weigher};
pub use erm::Erm;
pub use evar::Evar;
pub use exceed::Exceed;
pub use fixed::{FixedRisk, Outer};
pub use form::{Form, ParseRiskError, Sweep, Swept};
pub(crate) use outer::{Bounded, Extremes, FirstLook, Interval, OuterForm, SearchBy};
pub(crate) use sum::Sum;
pub(crate) use tail::Tail;
pub(crate) use tilted::TiltedTerminals;
pub use var::Var;

use std::fmt;

use thiserror::Error;

/// Differences of two costs of at most this size are finite, which the measures need.
pub(crate) const LARGEST_COST: f64 = 8e307;

/// What the file of a measure knows.
pub(crate) trait Measure {
    /// How it is written: its form, with these numbers.
    fn written(&self) -> (&'static Form, Vec<f64>);

    /// Its value for a distribution.
    fn of_tail(&self, tail: &Tail) -> f64;

    /// What is minimised over policies, if that needs no outer variable.
    fn fixed(&self) -> Option<FixedRisk>;

    /// Its outer variable.
    fn outer(&self) -> Option<Box<dyn OuterForm>> {
        None
    }

    /// The part of all runs that says as much as they do: 1/E[(dQ/dP)²], where Q is how it weighs costs.
    fn effective_share(&self, _: &Tail) -> f64 {
        1.0
    }

    /// An entropic risk that it is never below.
    fn entropic_floor(&self) -> Erm {
        Erm::MEAN
    }

    /// What it is at least if its [floor](Self::entropic_floor) is at least this.
    fn at_least(&self, floor: f64) -> f64 {
        floor
    }

    /// The exact interval of its value for ascending samples of a distribution, at this confidence; `None` where it takes a
    /// bootstrap.
    fn interval(&self, _costs: &Ascending, _confidence: f64) -> Option<(f64, f64)> {
        None
    }

    /// The same for costs between bounds that are so far apart, if it has to know.
    fn within(&self, _range: f64) -> Option<Risk> {
        None
    }

    /// The form and its number, if frontiers sweep it.
    fn swept(&self) -> Option<(&'static Form, f64)> {
        let (form, numbers) = self.written();
        form.sweep.map(|_| (form, numbers[0]))
    }
}

/// Makes [`Risk`] of the list of measures.
macro_rules! measures {
    ($($(#[$doc:meta])* $measure:ident: $($forms:expr),+;)*) => {
        /// A risk measure of the cost, to be minimised.
        ///
        /// | written | measure |
        /// |---|---|
        /// | `mean`, `worst`, `best` | [`Erm`] at β = 0, ∞, −∞ |
        /// | `erm:5` | [`Erm`] at β = 5; a negative β seeks risk |
        /// | `entropic-seeking:5`, `seeking:5` | the same as `erm:-5` |
        /// | `cvar:0.95` | [`Cvar`] at level 0.95: the mean of the worst 5 % |
        /// | `evar:0.95` | [`Evar`] at level 0.95 |
        /// | `mean-cvar:0.95:0.5` | [`Cvar::mixed`] with the mean, at level 0.95 with weight 0.5 |
        /// | `exceed:3` | [`Exceed`]: the probability of a cost above 3 |
        /// | `var:0.95` | [`Var`] at level 0.95: what 95 % of costs do not exceed |
        ///
        /// Capital letters are as good as small ones.
        ///
        /// ```
        /// use gumdp::Risk;
        /// let risk: Risk = "cvar:0.75".parse()?;
        /// assert_eq!(risk.of_samples(&[1.0, 2.0, 3.0, 9.0])?, 9.0);
        /// assert_eq!(risk.to_string(), "cvar:0.75");
        /// assert_eq!("seeking:5".parse::<Risk>()?, "erm:-5".parse()?);
        /// let error = "cvar:95".parse::<Risk>().unwrap_err();
        /// assert_eq!(error.to_string(), "cvar:95: level is 95, but must lie in [0, 1]");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Risk {
            $($(#[$doc])* $measure($measure),)*
        }

        impl Risk {
            /// How each measure is written.
            pub fn forms() -> impl Iterator<Item = &'static Form> {
                [$($($forms),+),*].into_iter().flatten()
            }

            pub(crate) fn measure(&self) -> &dyn Measure {
                match self {
                    $(Self::$measure(measure) => measure,)*
                }
            }
        }

        $(impl From<$measure> for Risk {
            fn from(measure: $measure) -> Self {
                Self::$measure(measure)
            }
        }

        impl fmt::Display for $measure {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Risk::from(*self).fmt(f)
            }
        })*
    };
}

/// What all of these have of costs.
macro_rules! of_costs {
    ($($measure:ident),*) => {
        $(impl $measure {
            /// The measure of equally likely samples.
            ///
            /// # Errors
            /// No samples, or one that is not finite.
            pub fn of_samples(self, samples: &[f64]) -> Result<f64, RiskError> {
                Ok(self.of_tail(&Tail::new(samples.iter().map(|&x| (x, 1.0)))?))
            }

            /// The measure of a finite distribution given as (value, weight) pairs, exact but for rounding.
            ///
            /// # Errors
            /// No positive weight, or a value or weight out of range.
            pub fn of_distribution(self, outcomes: &[(f64, f64)]) -> Result<f64, RiskError> {
                Ok(self.of_tail(&Tail::new(outcomes.iter().copied())?))
            }
        })*
    };
}

// The list, with how each is written, in the order of messages.
measures! {
    /// The entropic risk measure, with the mean, the worst and the best case as limits.
    Erm: Erm::FORMS;
    /// The conditional value at risk, alone or mixed with the mean.
    Cvar: Cvar::FORMS;
    /// The entropic value at risk.
    Evar: Evar::FORMS, Cvar::MIXED;
    /// The probability of a cost above a threshold.
    Exceed: Exceed::FORMS;
    /// The value at risk.
    Var: Var::FORMS;
}

of_costs!(Risk, Cvar, Evar, Exceed, Var);

impl Risk {
    /// The expected cost.
    pub const MEAN: Self = Self::Erm(Erm::MEAN);
    /// The largest possible cost.
    pub const WORST: Self = Self::Erm(Erm::WORST);

    /// The measure of a distribution that is known to be one.
    pub(crate) fn of_tail(self, tail: &Tail) -> f64 {
        self.measure().of_tail(tail)
    }

    /// The part of all runs that says as much as they do.
    pub(crate) fn effective_share(self, tail: &Tail) -> f64 {
        self.as_erm().map_or_else(|| self.measure().effective_share(tail), |erm| erm.effective_share(tail))
    }

    /// What is minimised over policies, if that needs no outer variable.
    #[must_use]
    pub fn fixed(self) -> Option<FixedRisk> {
        self.measure().fixed()
    }

    /// An entropic risk that it is never below: itself, if it is one.
    pub(crate) fn entropic_floor(self) -> Erm {
        self.as_erm().unwrap_or_else(|| self.measure().entropic_floor())
    }

    /// Its outer variable; `None` if and only if [`Self::fixed`] is something.
    pub(crate) fn outer(self) -> Option<Box<dyn OuterForm>> {
        if self.fixed().is_some() { None } else { self.measure().outer() }
    }

    /// Its outer variable, if intervals of that can be excluded.
    pub(crate) fn bounded(self) -> Option<Box<dyn Bounded>> {
        if let SearchBy::Exclusion(outer) = self.outer()?.search() { Some(outer) } else { None }
    }

    /// The entropic risk measure that this is, if it is one: a level of 0 is the mean, one of 1 the worst case.
    ///
    /// ```
    /// use gumdp::{Erm, Risk};
    /// assert_eq!("cvar:1".parse::<Risk>()?.as_erm(), Some(Erm::WORST));
    /// assert_eq!("evar:0".parse::<Risk>()?.as_erm(), Some(Erm::MEAN));
    /// assert_eq!("cvar:0.5".parse::<Risk>()?.as_erm(), None);
    /// # Ok::<(), gumdp::ParseRiskError>(())
    /// ```
    #[must_use]
    pub fn as_erm(self) -> Option<Erm> {
        self.fixed().filter(FixedRisk::is_entropic).map(|fixed| fixed.erm())
    }

    /// The probability of a cost above a threshold, if it is that.
    pub(crate) fn as_exceed(self) -> Option<Exceed> {
        if let Self::Exceed(exceed) = self { Some(exceed) } else { None }
    }

    /// The β of the entropic risk measure, if that is what was asked for.
    #[must_use]
    pub fn beta(self) -> Option<f64> {
        if let Self::Erm(erm) = self { Some(erm.beta()) } else { None }
    }

    /// The measure of costs whose bounds are so far apart: what is closer than 1e-12 of that is equal. It matters to measures
    /// that compare costs with a threshold only.
    #[must_use]
    pub fn within(self, range: f64) -> Self {
        self.measure().within(if range.is_finite() { range } else { 0.0 }).unwrap_or(self)
    }

    /// The form and its number, if [frontiers](crate::frontier) sweep it: the β of every entropic measure, the level of
    /// `CVaR` and `EVaR`.
    #[must_use]
    pub fn swept(self) -> Option<(&'static Form, f64)> {
        self.measure().swept()
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (form, numbers) = self.measure().written();
        f.write_str(form.name)?;
        numbers.iter().try_for_each(|number| write!(f, ":{number}"))
    }
}

/// Why a risk measure could not be built or evaluated.
///
/// ```
/// let error = gumdp::Erm::new(f64::NAN).unwrap_err();
/// assert_eq!(error.to_string(), "risk aversion beta is NaN, but must lie in [-inf, inf]");
/// ```
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RiskError {
    /// A number of a measure is outside its range.
    #[error("{what} is {value}, but must {allowed}")]
    Number {
        /// What it is.
        what: &'static str,
        /// The rejected value.
        value: f64,
        /// The allowed range, in words.
        allowed: &'static str,
    },
    /// There is nothing to measure: no sample, or no outcome of positive weight.
    #[error("there are no outcomes, but at least one of positive weight is needed")]
    NoOutcomes,
    /// A cost is NaN or infinite, or a weight is that or negative.
    #[error("{what} {index} is {value}, but must {allowed}")]
    Outcome {
        /// What it is.
        what: &'static str,
        /// Position in the input, from 0.
        index: usize,
        /// The rejected value.
        value: f64,
        /// The allowed range, in words.
        allowed: &'static str,
    },
}

/// A number of a measure, if it is in its range.
fn number(what: &'static str, value: f64, fits: bool, allowed: &'static str) -> Result<f64, RiskError> {
    if fits { Ok(value) } else { Err(RiskError::Number { what, value, allowed }) }
}

/// A probability level.
fn valid_level(level: f64) -> Result<f64, RiskError> {
    number("level", level, (0.0..=1.0).contains(&level), "lie in [0, 1]")
}
