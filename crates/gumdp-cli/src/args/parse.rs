//! Values of arguments: what is allowed, and what is said otherwise.

use std::time::Duration;

use gumdp::Risk;

pub fn beta(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        // Minus zero is zero: the sum has no sign.
        Ok(beta) if !beta.is_nan() => Ok(beta + 0.0),
        _ => Err("it must be a number in [-inf, inf]".to_owned()),
    }
}

pub fn risk(text: &str) -> Result<Risk, String> {
    text.parse().map_err(|error: gumdp::ParseRiskError| error.to_string())
}

/// A whole number of a range.
pub fn whole(low: u64, high: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| match text.trim().parse::<u64>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(format!("it must be a whole number in [{low}, {high}]")),
    }
}

/// Half the width of an interval.
pub fn precision(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("it must be a positive number, half the width of the interval".to_owned()),
    }
}

pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count @ 1..=1024) => Ok(count),
        _ => Err("it must be a whole number in [1, 1024]".to_owned()),
    }
}

pub fn measuring_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("the time must lie in [0, 3600] seconds".to_owned()),
    }
}

/// A time with a unit: 50ms, 2s, 1.5s.
pub fn duration(text: &str) -> Result<Duration, String> {
    let refusal = || "it must be a time such as 50ms, 2s or 1.5s, more than 0 and at most one day".to_owned();
    let (number, seconds_per_unit) = if let Some(number) = text.strip_suffix("ms") {
        (number, 1e-3)
    } else if let Some(number) = text.strip_suffix("us") {
        (number, 1e-6)
    } else if let Some(number) = text.strip_suffix('s') {
        (number, 1.0)
    } else {
        return Err(refusal());
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| refusal())? * seconds_per_unit;
    if seconds > 0.0 && seconds <= 86_400.0 { Ok(Duration::from_secs_f64(seconds)) } else { Err(refusal()) }
}
