//! One value for every attitude to risk, as it is written on a command line and in a file.

use std::fmt;
use std::str::FromStr;

use super::tail::Tail;
use super::{Cvar, Erm, Evar, MeanCvar, RiskError};
use crate::words::counted;

/// What can be written for a [`Risk`].
const FORMS: &str = "mean, worst, best, erm:BETA, entropic-seeking:BETA, cvar:LEVEL, evar:LEVEL or mean-cvar:LEVEL:WEIGHT, such as cvar:0.95";

/// A risk measure of the cost, to be minimised.
///
/// | written | measure |
/// |---|---|
/// | `mean`, `worst`, `best` | [`Erm`] at β = 0, ∞, −∞ |
/// | `erm:5` | [`Erm`] at β = 5; a negative β seeks risk |
/// | `entropic-seeking:5`, `seeking:5` | the same as `erm:-5` |
/// | `cvar:0.95` | [`Cvar`] at level 0.95: the mean of the worst 5 % |
/// | `evar:0.95` | [`Evar`] at level 0.95 |
/// | `mean-cvar:0.95:0.5` | [`MeanCvar`] at level 0.95 with weight 0.5 |
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
    /// The entropic risk measure, with the mean, the worst and the best case as limits.
    Erm(Erm),
    /// The conditional value at risk.
    Cvar(Cvar),
    /// The entropic value at risk.
    Evar(Evar),
    /// A mixture of the mean and the conditional value at risk.
    MeanCvar(MeanCvar),
}

impl Risk {
    /// The expected cost. See the [example](Risk).
    pub const MEAN: Self = Self::Erm(Erm::MEAN);
    /// The largest possible cost. See the [example](Risk).
    pub const WORST: Self = Self::Erm(Erm::WORST);

    /// The measure of equally likely samples. See the [example](Risk).
    ///
    /// # Errors
    /// No samples, or one that is not finite.
    pub fn of_samples(self, samples: &[f64]) -> Result<f64, RiskError> {
        self.checked(samples.iter().map(|&x| (x, 1.0)))
    }

    /// The measure of a finite distribution given as (value, weight) pairs, exact but for rounding. See the
    /// [example](Risk).
    ///
    /// # Errors
    /// No positive weight, or a value or weight out of range.
    pub fn of_distribution(self, outcomes: &[(f64, f64)]) -> Result<f64, RiskError> {
        self.checked(outcomes.iter().copied())
    }

    fn checked(self, outcomes: impl Iterator<Item = (f64, f64)>) -> Result<f64, RiskError> {
        Ok(self.of_tail(&Tail::new(outcomes)?))
    }

    /// The measure of a distribution that is known to be one.
    pub(crate) fn of_tail(self, tail: &Tail) -> f64 {
        match self {
            Self::Erm(erm) => erm.of_outcomes(tail.outcomes().iter().copied()),
            Self::Cvar(cvar) => cvar.of_tail(tail),
            Self::Evar(evar) => evar.of_tail(tail).0,
            Self::MeanCvar(mixture) => mixture.of_tail(tail),
        }
    }

    /// The entropic risk measure that this is, if it is one: a level of 0 is the mean, one of 1 the worst case.
    ///
    /// ```
    /// use gumdp::{Erm, Risk};
    /// assert_eq!("cvar:1".parse::<Risk>()?.as_erm(), Some(Erm::WORST));
    /// assert_eq!("evar:0".parse::<Risk>()?.as_erm(), Some(Erm::MEAN));
    /// assert_eq!("cvar:0.5".parse::<Risk>()?.as_erm(), None);
    /// # Ok::<(), gumdp::risk::ParseRiskError>(())
    /// ```
    #[must_use]
    pub fn as_erm(self) -> Option<Erm> {
        let of_level = |level: f64| match level {
            0.0 => Some(Erm::MEAN),
            1.0 => Some(Erm::WORST),
            _ => None,
        };
        match self {
            Self::Erm(erm) => Some(erm),
            Self::Cvar(cvar) => of_level(cvar.level()),
            Self::Evar(evar) => of_level(evar.level()),
            Self::MeanCvar(mixture) => (mixture.weight() == 0.0 || mixture.level() == 0.0).then_some(Erm::MEAN),
        }
    }

    /// The β of the entropic risk measure, if that is what was asked for. See the [example](Risk).
    #[must_use]
    pub fn beta(self) -> Option<f64> {
        if let Self::Erm(erm) = self { Some(erm.beta()) } else { None }
    }
}

impl From<Erm> for Risk {
    fn from(erm: Erm) -> Self {
        Self::Erm(erm)
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Erm(erm) if *erm == Erm::MEAN => f.write_str("mean"),
            Self::Erm(erm) if *erm == Erm::WORST => f.write_str("worst"),
            Self::Erm(erm) if *erm == Erm::BEST => f.write_str("best"),
            Self::Erm(erm) => write!(f, "erm:{}", erm.beta()),
            Self::Cvar(cvar) => write!(f, "cvar:{}", cvar.level()),
            Self::Evar(evar) => write!(f, "evar:{}", evar.level()),
            Self::MeanCvar(mixture) => write!(f, "mean-cvar:{}:{}", mixture.level(), mixture.weight()),
        }
    }
}

/// Why a text is no [`Risk`]. See the [example](Risk).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRiskError {
    /// No measure has this name.
    #[error("{text:?} is no risk measure; allowed are {FORMS}")]
    Unknown {
        /// What was written.
        text: String,
    },
    /// A number is missing, or there is one too many.
    #[error("{text:?} has {} after the name, but {name} needs {needed}; allowed are {FORMS}", counted(*.got, "number"))]
    Count {
        /// What was written.
        text: String,
        /// The measure.
        name: &'static str,
        /// How many numbers were written.
        got: usize,
        /// How many are needed.
        needed: usize,
    },
    /// A number that is none.
    #[error("{text}: {part:?} is not a number")]
    Number {
        /// What was written.
        text: String,
        /// The part that should be a number.
        part: String,
    },
    /// A number out of range.
    #[error("{text}: {error}")]
    Range {
        /// What was written.
        text: String,
        /// What is wrong with it.
        error: RiskError,
    },
}

impl FromStr for Risk {
    type Err = ParseRiskError;

    fn from_str(text: &str) -> Result<Self, ParseRiskError> {
        let text = text.trim();
        let (name, parts) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let numbers = parts.map_or_else(Vec::new, |rest| rest.split(':').collect());
        let needed = |name: &'static str, needed: usize| -> Result<Vec<f64>, ParseRiskError> {
            if numbers.len() != needed {
                return Err(ParseRiskError::Count { text: text.to_owned(), name, got: numbers.len(), needed });
            }
            let number = |part: &&str| {
                let part = part.trim();
                part.parse::<f64>().map_err(|_| ParseRiskError::Number { text: text.to_owned(), part: part.to_owned() })
            };
            numbers.iter().map(number).collect()
        };
        let risk = match name.trim().to_ascii_lowercase().as_str() {
            "mean" => needed("mean", 0).map(|_| Ok(Self::MEAN)),
            "worst" => needed("worst", 0).map(|_| Ok(Self::WORST)),
            "best" => needed("best", 0).map(|_| Ok(Self::Erm(Erm::BEST))),
            "erm" => needed("erm", 1).map(|numbers| Erm::new(numbers[0]).map(Self::Erm)),
            "seeking" | "entropic-seeking" => needed("entropic-seeking", 1).map(|numbers| seeking(numbers[0])),
            "cvar" => needed("cvar", 1).map(|numbers| Cvar::new(numbers[0]).map(Self::Cvar)),
            "evar" => needed("evar", 1).map(|numbers| Evar::new(numbers[0]).map(Self::Evar)),
            "mean-cvar" => {
                needed("mean-cvar", 2).map(|numbers| MeanCvar::new(numbers[0], numbers[1]).map(Self::MeanCvar))
            }
            _ => return Err(ParseRiskError::Unknown { text: text.to_owned() }),
        };
        risk?.map_err(|error| ParseRiskError::Range { text: text.to_owned(), error })
    }
}

/// The entropic risk measure that seeks risk as much as β averts it.
fn seeking(beta: f64) -> Result<Risk, RiskError> {
    if beta >= 0.0 { Erm::new(-beta).map(Risk::Erm) } else { Err(RiskError::Seeking { beta }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read() {
        for text in [
            "mean",
            "worst",
            "best",
            "erm:5",
            "erm:-0.25",
            "cvar:0.95",
            "cvar:0",
            "evar:0.5",
            "evar:1",
            "mean-cvar:0.95:0.5",
            "mean-cvar:0:1",
        ] {
            assert_eq!(text.parse::<Risk>().unwrap().to_string(), text);
        }
        for (text, shown) in [
            ("erm:0", "mean"),
            ("erm:inf", "worst"),
            ("seeking:inf", "best"),
            (" seeking:2 ", "erm:-2"),
            ("entropic-seeking:2", "erm:-2"),
            ("CVaR:0.9", "cvar:0.9"),
            ("Mean-CVAR:0.9:1", "mean-cvar:0.9:1"),
        ] {
            assert_eq!(text.parse::<Risk>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn refusals_name_the_value_and_what_is_allowed() {
        for (text, part) in [
            ("", "is no risk measure; allowed are mean,"),
            ("var:0.9", "\"var:0.9\" is no risk measure"),
            ("cvar", "has 0 numbers after the name, but cvar needs 1"),
            ("cvar:0.9:1", "has 2 numbers"),
            ("cvar:high", "cvar:high: \"high\" is not a number"),
            ("cvar:1.5", "cvar:1.5: level is 1.5, but must lie in [0, 1]"),
            ("evar:-1", "level is -1"),
            ("cvar:nan", "level is NaN"),
            ("erm:nan", "beta is NaN"),
            ("seeking:-2", "seeking beta is -2, but must lie in [0, inf]"),
            ("mean-cvar:1:0.5", "level is 1, but must lie in [0, 1)"),
            ("mean-cvar:0.5:1.5", "weight of the tail is 1.5, but must lie in [0, 1]"),
            ("mean:1", "has 1 number after"),
        ] {
            let error = text.parse::<Risk>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// The infimum over a fine grid of β.
    #[test]
    fn evar_is_the_lowest_of_many_betas() {
        let laws: [&[(f64, f64)]; 4] = [
            &[(0.0, 0.9), (1.0, 0.1)],
            &[(-3.0, 0.2), (0.5, 0.5), (2.0, 0.299), (7.0, 0.001)],
            &[(1e6, 0.5), (1e6 + 1.0, 0.5)],
            &[(0.1, 1.0)],
        ];
        for law in laws {
            for level in [1e-9, 0.01, 0.5, 0.89, 0.9, 0.91, 0.95, 0.999, 1.0 - 1e-9] {
                let evar = Evar::new(level).unwrap();
                let value = evar.of_distribution(law).unwrap();
                let at = |beta: f64| Erm::new(beta).unwrap().of_distribution(law) + evar.price() / beta;
                let grid = (-2000..2000).map(|k| at(1.01_f64.powi(k))).fold(Erm::WORST.of_distribution(law), f64::min);
                let scale = law.iter().map(|outcome| outcome.0.abs()).fold(1.0, f64::max);
                assert!(value <= grid + 1e-12 * scale, "{law:?} {level}: {value} {grid}");
                let cvar = Cvar::new(level).unwrap().of_distribution(law).unwrap();
                assert!(value >= cvar - 1e-12 * scale, "{law:?} {level}: {value} {cvar}");
                assert!(value >= grid - 2e-3, "{law:?} {level}: {value} {grid}");
            }
        }
        assert_eq!(Evar::new(0.0).unwrap().of_distribution(&[(0.0, 1.0), (1.0, 1.0)]), Ok(0.5));
        assert_eq!(Evar::new(1.0).unwrap().of_distribution(&[(0.0, 1.0), (1.0, 1e-9)]), Ok(1.0));
    }
}
