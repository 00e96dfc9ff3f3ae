//! How counts and numbers are written in messages; shared by all that talks, so that one thing has one form.

/// "1 state", "2 states".
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
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
}
