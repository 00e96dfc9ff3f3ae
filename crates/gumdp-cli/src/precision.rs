//! How many runs it takes to know a risk as precisely as wanted.

use gumdp::{Bounds, Problem, Risk};

/// A cost that was not met in n runs has at most this probability over n, with 95 % certainty (the rule of three).
const NOT_MET: f64 = 3.0;
/// With fewer runs than this in its tail a measure's interval says little about the tail.
const FEW: f64 = 30.0;

/// How many runs a half-width of the interval needs, from that of some runs: it shrinks with the root of their number.
pub fn runs_for(runs: u64, half_width: f64, wanted: f64) -> u64 {
    let needed = runs as f64 * (half_width / wanted).powi(2);
    if needed.is_finite() { needed.ceil() as u64 } else { u64::MAX }
}

/// How many runs to go on to, if the interval is too wide or there are fewer runs than `least`; a tenth more than the interval
/// seems to need, and at least a tenth more than there are, so that few rounds are enough.
pub fn more_runs(runs: u64, half_width: f64, precision: f64, least: u64, most: u64) -> Option<u64> {
    if half_width <= precision {
        return Some(least.min(most)).filter(|&next| next > runs);
    }
    let needed = runs_for(runs, half_width, precision);
    let next = needed.saturating_add(needed / 10).max(runs.saturating_add(runs.div_ceil(10)));
    Some(next.max(least).min(most)).filter(|&next| next > runs)
}

/// Runs without which a cost so rare that it was not met may change a risk by more than `precision`, however narrow the
/// interval is. `costs` are those met.
pub fn least_runs(problem: &Problem, risk: Risk, costs: impl IntoIterator<Item = f64>, precision: f64) -> u64 {
    let Bounds { low, high } = problem.objective().bounds();
    let possible = high - low;
    let spread = if possible.is_finite() {
        possible
    } else {
        let met = costs
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cost| (low.min(cost), high.max(cost)));
        met.1 - met.0
    };
    (NOT_MET * spread / (risk.share(spread) * precision)).ceil() as u64
}

/// What to bear in mind of the interval of a measure of the tail, if few runs are in it.
pub fn tail_note(risk: Risk, runs: u64) -> Option<String> {
    let level = risk.tail_level()?;
    let tail = (1.0 - level) * runs as f64;
    let percent = (1e9 * (100.0 - 100.0 * level)).round() / 1e9;
    (level < 1.0 && tail < FEW).then(|| {
        format!(
            "{risk} rests on the worst {percent} % of {runs} runs, {} or so: rarer costs may be missing from its interval",
            tail.ceil().max(1.0)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_without_width_is_not_enough() {
        let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
        let Bounds { low, high } = problem.objective().bounds();
        let least = |risk: &str| least_runs(&problem, risk.parse().unwrap(), [], 0.01);
        assert_eq!(least("mean"), (3.0 * (high - low) / 0.01).ceil() as u64);
        // To rounding ten times as many for the worst tenth.
        assert!(least("cvar:0.9").abs_diff(10 * least("mean")) < 20);
        assert!(least("erm:0.1") > least("mean") && least("erm:1e9") <= 10 * least("mean"));
        assert!(least("worst") < u64::MAX && least("cvar:1") < u64::MAX);
        assert_eq!(more_runs(100, 0.0, 0.01, 3000, 1_000_000), Some(3000));
        assert_eq!(more_runs(100, 0.0, 0.01, 3000, 1000), Some(1000));
        assert_eq!(more_runs(3000, 0.0, 0.01, 3000, 1_000_000), None);
        assert_eq!(more_runs(100, 0.02, 0.01, 50, 1_000_000), Some(440));
    }
}
