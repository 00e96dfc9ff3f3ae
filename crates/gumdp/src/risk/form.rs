//! How measures are written on a command line and in a file: one list for reading, for messages and for sweeps.

use std::str::FromStr;

use super::{Risk, RiskError};
use crate::words::{alternatives, counted};

/// A name and its numbers, such as `mean-cvar:LEVEL:WEIGHT`.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The name, in small letters.
    pub name: &'static str,
    /// Another name for it.
    pub also: Option<&'static str>,
    /// What its numbers are called.
    pub numbers: &'static [&'static str],
    /// What it is.
    pub about: &'static str,
    /// How frontiers sweep its number, if they do.
    pub sweep: Option<Sweep>,
    /// Makes the measure of as many numbers as it has.
    pub(super) read: fn(&[f64]) -> Result<Risk, RiskError>,
}

/// How the one number of a measure is swept. See [`crate::frontier`].
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// What tables call the measure.
    pub title: &'static str,
    /// What its number is called.
    pub level: &'static str,
    /// Between which numbers.
    pub over: Swept,
}

/// The numbers that are swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// β in [−∞, ∞].
    Beta,
    /// A level in [0, 1].
    Level,
    /// A cost.
    Cost,
}

impl Sweep {
    /// Over levels.
    pub(super) const fn levels(title: &'static str) -> Self {
        Self { title, level: "level", over: Swept::Level }
    }
}

impl Form {
    /// A form that reads nothing yet.
    pub(super) const fn new(name: &'static str, numbers: &'static [&'static str], about: &'static str) -> Self {
        Self { name, also: None, numbers, about, sweep: None, read: |_| Err(RiskError::NoOutcomes) }
    }

    /// The measure with one number.
    ///
    /// # Errors
    /// If the number is out of range.
    ///
    /// # Panics
    /// If the measure has more than one number.
    pub fn at(&self, number: f64) -> Result<Risk, RiskError> {
        (self.read)(&[number])
    }
}

/// `cvar:LEVEL`.
impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)?;
        self.numbers.iter().try_for_each(|number| write!(f, ":{number}"))
    }
}

/// All forms, for messages.
fn allowed() -> String {
    let forms: Vec<String> = Risk::forms().map(ToString::to_string).collect();
    format!("{}, such as cvar:0.95", alternatives(&forms))
}

/// Why a text is no [`Risk`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRiskError {
    /// No measure has this name.
    #[error("{text:?} is no risk measure; allowed are {}", allowed())]
    Unknown {
        /// What was written.
        text: String,
    },
    /// A number is missing, or there is one too many.
    #[error("{text:?} has {} after the name, but {name} needs {needed}; allowed are {}", counted(*.got, "number"), allowed())]
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
    /// A part of the text that is no number.
    #[error("{0}: {1:?} is not a number")]
    Number(String, String),
    /// A number out of range.
    #[error("{0}: {1}")]
    Range(String, RiskError),
}

impl FromStr for Risk {
    type Err = ParseRiskError;

    fn from_str(text: &str) -> Result<Self, ParseRiskError> {
        let text = text.trim();
        let (name, parts) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let name = name.trim().to_ascii_lowercase();
        let form = Self::forms().find(|form| form.name == name || form.also == Some(&name));
        let form = form.ok_or_else(|| ParseRiskError::Unknown { text: text.to_owned() })?;
        let parts: Vec<&str> = parts.map_or_else(Vec::new, |rest| rest.split(':').map(str::trim).collect());
        let (got, needed) = (parts.len(), form.numbers.len());
        if got != needed {
            return Err(ParseRiskError::Count { text: text.to_owned(), name: form.name, got, needed });
        }
        let number =
            |part: &str| part.parse::<f64>().map_err(|_| ParseRiskError::Number(text.to_owned(), part.to_owned()));
        let numbers: Vec<f64> = parts.into_iter().map(number).collect::<Result<_, _>>()?;
        (form.read)(&numbers).map_err(|error| ParseRiskError::Range(text.to_owned(), error))
    }
}

/// By its name.
#[cfg(feature = "serde")]
impl serde::Serialize for Risk {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// By its name; earlier versions wrote β alone, infinite ones as text.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Risk {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Written {
            Beta(f64),
            Text(String),
        }
        let entropic = |beta| super::Erm::new(beta).map(Self::Erm).map_err(D::Error::custom);
        match Written::deserialize(deserializer)? {
            Written::Beta(beta) => entropic(beta),
            Written::Text(text) => text.parse().map_or_else(|_| text.parse().map_err(D::Error::custom), entropic),
        }
    }
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
            ("variance:0.9", "\"variance:0.9\" is no risk measure"),
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
}
