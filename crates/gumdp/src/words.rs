//! How counts and numbers are written in messages; shared by all that talks, so that one thing has one form.

use std::borrow::Cow;
use std::fmt::Display;

/// "1 state", "2 states".
#[must_use]
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// A text from a file for a terminal: what would move the cursor, change colours or turn the direction of writing is spelled out. Line
/// breaks stay.
///
/// ```
/// use gumdp::words::visible;
/// assert_eq!(visible("a\u{1b}[31m\u{202e}b\n"), "a\\u{1b}[31m\\u{202e}b\n");
/// assert_eq!(visible("β → 1"), "β → 1");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let spelled = |c: char| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(spelled).collect::<String>().into()
}

/// Whether a terminal does something else than show it.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n') || turns
}

/// A name for a cell of CSV: programs for tables take a text that begins like these for a formula, so an apostrophe comes before it.
///
/// ```
/// use gumdp::words::cell;
/// assert_eq!((&*cell("=1+1"), &*cell("left")), ("'=1+1", "left"));
/// ```
#[must_use]
pub fn cell(name: &str) -> Cow<'_, str> {
    if name.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{name}").into() } else { name.into() }
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

/// A probability in per cent, with as many digits as it needs.
#[must_use]
pub fn percent(probability: f64) -> String {
    let share = 100.0 * probability;
    let digits = if share >= 99.95 || share == 0.0 {
        0
    } else if share >= 10.0 {
        1
    } else if share >= 0.01 {
        2
    } else {
        return format!("{share:.0e} %");
    };
    let text = format!("{share:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// Six significant digits without trailing zeros.
#[must_use]
pub fn rounded(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// "a", "a or b", "a, b or c".
#[must_use]
pub fn alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_shown() {
        let shown = [188.506_651_069, 0.000_123_456_789, 2.0, -1.5, 0.0, 1e300].map(rounded);
        assert_eq!(shown, [188.507, 0.000_123_457, 2.0, -1.5, 0.0, 1e300]);
        assert!(rounded(f64::INFINITY).is_infinite());
    }

    #[test]
    fn shares_are_short() {
        let shares = [1.0, 0.8, 0.05, 0.123_45, 0.0004, 0.000_01, 0.0, 0.999].map(percent);
        assert_eq!(shares, ["100 %", "80 %", "5 %", "12.3 %", "0.04 %", "1e-3 %", "0 %", "99.9 %"]);
    }
}
