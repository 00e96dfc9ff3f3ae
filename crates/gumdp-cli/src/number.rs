//! Numbers in JSON and in tables: infinities as the strings "inf" and "-inf", which JSON has no numbers for.

use gumdp::Risk;
pub use gumdp::words::{beta, counted, interval, known, percent, short};
use serde::{Serialize, Serializer};

/// Writes a number; an infinity as a string.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str(&value.to_string()) }
}

/// A cost with nine decimals, or nine digits if it is tiny.
pub fn long(value: f64) -> String {
    exact_to(9, value)
}

/// A cost with so many decimals, or digits if it is tiny.
pub fn exact_to(decimals: usize, value: f64) -> String {
    if is_tiny(value) { format!("{value:.*e}", decimals - 1) } else { format!("{value:.decimals$}") }
}

/// The same of what a cost is proven not to be below: it is never rounded up.
pub fn long_below(value: f64) -> String {
    let unit = if is_tiny(value) { 10_f64.powf(value.abs().log10().floor() - 8.0) } else { 1e-9 };
    long((value / unit).floor() * unit)
}

fn is_tiny(value: f64) -> bool {
    value != 0.0 && value.abs() < 1e-4
}

/// A risk measure as text: β for an entropic one, else as it is given on the command line.
pub fn risk(risk: Risk) -> String {
    risk.beta().map_or_else(|| risk.to_string(), beta)
}

/// What measures are called: as they were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By their β.
    Beta,
    /// As `--risk` takes them.
    Measure,
}

impl Naming {
    /// The names in a list that was given as measures or not.
    pub fn new(as_measures: bool) -> Self {
        if as_measures { Self::Measure } else { Self::Beta }
    }

    /// What a table calls the column of the measures, and that of their values.
    pub fn headers(self) -> [&'static str; 2] {
        match self {
            Self::Beta => ["beta", "ERM"],
            Self::Measure => ["risk", "value"],
        }
    }

    /// A measure in a table.
    pub fn name(self, measure: Risk) -> String {
        match self {
            Self::Beta => risk(measure),
            Self::Measure => measure.to_string(),
        }
    }

    /// A measure as the label of a line of text: `beta = 5`, or `risk cvar:0.95`.
    pub fn label(self, measure: Risk) -> String {
        match self {
            Self::Beta => risk_label(measure),
            Self::Measure => format!("risk {measure}"),
        }
    }
}

/// A measure as the label of a line of text: `beta = 5`, or `risk cvar:0.95`.
pub fn risk_label(risk: Risk) -> String {
    risk.beta().map_or_else(|| format!("risk {risk}"), |value| format!("beta = {}", beta(value)))
}

/// A number in JSON, `null` where there is none.
#[expect(clippy::ref_option, reason = "serde calls it with a reference")]
pub fn optional<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serialize(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// A measure in JSON, and its β, which is `null` unless it is entropic.
#[derive(Debug, Serialize)]
pub struct Attitude {
    /// The measure.
    pub risk: Risk,
    #[serde(serialize_with = "optional")]
    beta: Option<f64>,
}

impl From<Risk> for Attitude {
    fn from(risk: Risk) -> Self {
        Self { risk, beta: risk.beta() }
    }
}
