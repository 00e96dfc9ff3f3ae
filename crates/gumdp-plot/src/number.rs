//! Numbers as people read them, in tables and labels.

/// β as text, for file names and tables: as short as it can be and still be read back exactly.
#[must_use]
pub fn beta(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-6..1e9).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A cost: four significant digits are what the eye compares.
#[must_use]
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
#[must_use]
pub fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), short)
}

/// The ends of an interval.
#[must_use]
pub fn interval(low: f64, high: f64) -> String {
    format!("{} – {}", short(low), short(high))
}

/// "1 run", "2 runs".
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
