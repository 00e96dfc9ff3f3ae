//! How many runs it takes to know a risk as precisely as wanted.

use crate::objective::Bounds;
use crate::problem::Problem;
use crate::risk::Risk;
use crate::stats::Summary;

/// A cost that was not met in n runs has at most this probability over n, with 95 % certainty (the rule of three).
const NOT_MET: f64 = 3.0;
/// With fewer runs than this in its tail a measure's interval says little about the tail.
const FEW: f64 = 30.0;

/// How precisely a risk is to be known, and how many runs that may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half the width of the 95 % interval, at most; positive.
    pub half_width: f64,
    /// The most runs.
    pub most_runs: u64,
}

impl Precision {
    /// How many runs to go on to, if the interval is too wide or there are fewer runs than `least`; a tenth more than the
    /// interval, whose width shrinks with the root of their number, seems to need, and at least a tenth more than there are, so
    /// that few rounds are enough.
    pub(super) fn more_runs(&self, runs: u64, half_width: f64, least: u64) -> Option<u64> {
        if half_width <= self.half_width {
            return Some(least.min(self.most_runs)).filter(|&next| next > runs);
        }
        let needed = runs as f64 * (half_width / self.half_width).powi(2);
        let needed = if needed.is_finite() { needed.ceil() as u64 } else { u64::MAX };
        let next = needed.saturating_add(needed / 10).max(runs.saturating_add(runs.div_ceil(10)));
        Some(next.max(least).min(self.most_runs)).filter(|&next| next > runs)
    }

    /// Runs without which a cost so rare that it was not met may change one of the risks by more than wanted, however narrow
    /// the interval is. `costs` are those met.
    #[must_use]
    pub fn least_runs(&self, problem: &Problem, risks: &[Risk], costs: &[f64]) -> u64 {
        let Bounds { low, high } = problem.objective().bounds();
        let possible = high - low;
        let spread = if possible.is_finite() {
            possible
        } else {
            let wider = |(low, high): (f64, f64), &cost: &f64| (low.min(cost), high.max(cost));
            let met = costs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider);
            met.1 - met.0
        };
        let least = |&risk: &Risk| (NOT_MET * spread / (risk.measure().share(spread) * self.half_width)).ceil() as u64;
        risks.iter().map(least).max().unwrap_or(0)
    }
}

/// Half the width of the widest interval of some measures.
pub(super) fn half_width(costs: &[f64], risks: &[Risk], seed: u64) -> f64 {
    let of = |&risk: &Risk| Summary::of(costs, risk, seed).map_or(f64::INFINITY, |of| (of.high - of.low) / 2.0);
    risks.iter().map(of).fold(0.0, f64::max)
}

/// What to bear in mind of the interval of a measure of the tail, if few runs are in it.
#[must_use]
pub fn tail_note(risk: Risk, runs: u64) -> Option<String> {
    let level = risk.measure().tail_level()?;
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
        let problem = crate::test_problems::rooms();
        let Bounds { low, high } = problem.objective().bounds();
        let up_to = |most_runs| Precision { half_width: 0.01, most_runs };
        let least = |risk: &str| up_to(1).least_runs(&problem, &[risk.parse().unwrap()], &[]);
        assert_eq!(least("mean"), (3.0 * (high - low) / 0.01).ceil() as u64);
        // To rounding ten times as many for the worst tenth.
        assert!(least("cvar:0.9").abs_diff(10 * least("mean")) < 20);
        assert!(least("erm:0.1") > least("mean") && least("erm:1e9") <= 10 * least("mean"));
        assert!(least("worst") < u64::MAX && least("cvar:1") < u64::MAX);
        assert_eq!(up_to(1_000_000).more_runs(100, 0.0, 3000), Some(3000));
        assert_eq!(up_to(1000).more_runs(100, 0.0, 3000), Some(1000));
        assert_eq!(up_to(1_000_000).more_runs(3000, 0.0, 3000), None);
        assert_eq!(up_to(1_000_000).more_runs(100, 0.02, 50), Some(440));
    }
}
