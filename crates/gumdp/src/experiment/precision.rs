//! How many runs it takes to know a risk as precisely as wanted.

use crate::objective::Bounds;
use crate::risk::Risk;
use crate::stats::{Costs, Doubt, Interval, Statistic, intervals};

/// How precisely a risk is to be known, and how many runs that may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half the width of the 95 % interval, at most; positive.
    pub half_width: f64,
    /// The most runs.
    pub most_runs: u64,
}

impl Precision {
    /// How many runs to go on to, if the interval is too wide: a tenth more than it seems to need, and at least a tenth more than
    /// there are, so that few rounds are enough. An interval of costs that were met shrinks with the root of their number, one
    /// that allows for others with the number itself at best.
    pub(super) fn more_runs(&self, runs: u64, known: &Known) -> Option<u64> {
        let too_wide = known.half_width / self.half_width;
        if too_wide <= 1.0 || !known.shrinks {
            return None;
        }
        let needed = runs as f64 * if known.of_unmet { too_wide } else { too_wide * too_wide };
        let needed = if needed.is_finite() { needed.ceil() as u64 } else { u64::MAX };
        let next = needed.saturating_add(needed / 10).max(runs.saturating_add(runs.div_ceil(10)));
        Some(next.min(self.most_runs)).filter(|&next| next > runs)
    }
}

/// How well some measures are known.
pub(super) struct Known {
    /// Half the width of the widest interval.
    pub(super) half_width: f64,
    /// Whether that allows for costs that were not met.
    of_unmet: bool,
    /// Whether more runs would make it narrower: extreme costs are no averages.
    shrinks: bool,
}

impl Known {
    pub(super) fn of(costs: &Costs, risks: &[Risk], bounds: Bounds, seed: u64) -> Self {
        let statistics: Vec<Statistic> = risks.iter().copied().map(Statistic::Risk).collect();
        let known = |(risk, (Interval { low, high }, trust)): (&Risk, _)| {
            let trust: crate::stats::Trust = trust;
            Self {
                half_width: (high - low) / 2.0,
                of_unmet: matches!(trust.doubt, Some(Doubt::Above(_) | Doubt::Below(_))),
                shrinks: risk.as_erm().is_none_or(|erm| erm.beta().is_finite()),
            }
        };
        let all = risks.iter().zip(intervals(costs, &statistics, bounds, seed)).map(known);
        // What more runs cannot narrow does not ask for any.
        let widest = all.max_by(|a, b| {
            (a.shrinks, a.half_width).partial_cmp(&(b.shrinks, b.half_width)).unwrap_or(std::cmp::Ordering::Equal)
        });
        widest.unwrap_or(Self { half_width: 0.0, of_unmet: false, shrinks: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval allows for costs that were not met: one without width does not end the runs.
    #[test]
    fn what_was_not_met_takes_more_runs() {
        let bounds = Bounds { low: 0.0, high: 1.0 };
        let known = |risk: &str| Known::of(&Costs::of(&[0.0; 100], &[], bounds), &[risk.parse().unwrap()], bounds, 1);
        let precision = |half_width| Precision { half_width, most_runs: 1_000_000 };
        let mean = known("mean");
        // The rule of three: 3.7 % for one side of a 95 % interval.
        assert!(mean.of_unmet && (0.015..0.022).contains(&mean.half_width), "{}", mean.half_width);
        assert!((900..1100).contains(&precision(mean.half_width / 9.0).more_runs(100, &mean).unwrap()));
        assert_eq!(precision(0.1).more_runs(100, &mean), None);
        assert_eq!(Precision { half_width: 1e-9, most_runs: 500 }.more_runs(100, &mean), Some(500));
        assert_eq!(precision(0.01).more_runs(100, &known("worst")), None);
        let wide = Known { half_width: 0.02, of_unmet: false, shrinks: true };
        assert_eq!(precision(0.01).more_runs(100, &wide), Some(440));
    }
}
