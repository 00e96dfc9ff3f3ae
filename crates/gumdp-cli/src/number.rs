//! Numbers in JSON and in tables: infinities as the strings "inf" and "-inf", which JSON has no numbers for.

use serde::{Deserialize, Deserializer, Serializer};

/// Writes a number; an infinity as a string.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str(&value.to_string()) }
}

/// Reads a number, or "inf" or "-inf".
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Text(String),
    }
    match Number::deserialize(deserializer)? {
        Number::Finite(value) => Ok(value),
        Number::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

/// β as text, for file names and tables: as short as it can be and still be read back exactly.
pub fn beta(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-6..1e9).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A cost for a table: four significant digits are what the eye compares.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        value.to_string()
    } else if size != 0.0 && !(1e-4..1e6).contains(&size) {
        format!("{value:.3e}")
    } else {
        format!("{value:.4}")
    }
}

/// A cost that may not be known.
pub fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), short)
}
