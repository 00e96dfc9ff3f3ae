//! Summaries of sampled costs: quartiles, tails, entropic risk, and how sure we are of it.
//!
//! Lower costs are better, so tails are upper tails. Conventions: quantiles interpolate order statistics linearly
//! (Hyndman and Fan's type 7, the default of `NumPy` and R); whiskers are Tukey's as drawn by matplotlib; intervals are
//! percentile bootstrap (Efron and Tibshirani, *An Introduction to the Bootstrap*, chapter 13), but exact for probabilities and
//! quantiles, which are binomial.
//!
//! Not here: running episodes, and streaming estimates (see [`crate::measures::Weigher`]).

pub use bootstrap::{Interval, Statistic, bootstrap_interval, intervals, paired_intervals};

use crate::risk::{Erm, LARGEST_COST, Risk, RiskError, Tail};

mod bootstrap;

/// Level of the tails in a [`Summary`].
const TAIL_LEVEL: f64 = 0.95;
/// Whiskers reach at most this many interquartile ranges beyond the quartiles.
const WHISKER_REACH: f64 = 1.5;

/// What a table row or a box plot shows of the sampled costs of a policy.
///
/// ```
/// use gumdp::{Erm, stats::Summary};
///
/// let costs = [3.0, 1.0, 2.0, 4.0, 30.0];
/// let summary = Summary::of(&costs, Erm::MEAN, 7)?;
/// assert_eq!((summary.q25, summary.median, summary.q75), (2.0, 3.0, 4.0));
/// assert_eq!((summary.whisker_low, summary.whisker_high), (1.0, 4.0));
/// assert_eq!(summary.outliers(&costs).collect::<Vec<_>>(), [30.0]);
/// assert!(summary.low < summary.value && summary.value < summary.high);
/// let error = Summary::of(&[1.0, f64::NAN], Erm::MEAN, 7).unwrap_err();
/// assert_eq!(error.to_string(), "cost 1 is NaN, but must lie in [-8e307, 8e307]");
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Half of the samples lie below.
    pub median: f64,
    /// First quartile.
    pub q25: f64,
    /// Third quartile.
    pub q75: f64,
    /// Smallest sample within 1.5 interquartile ranges of the first quartile, at most that quartile.
    pub whisker_low: f64,
    /// Largest sample within 1.5 interquartile ranges of the third quartile, at least that quartile.
    pub whisker_high: f64,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// The risk measure of the samples.
    pub value: f64,
    /// Lower end of the 95 % interval of that risk: bootstrap, or binomial if that is exact.
    pub low: f64,
    /// Upper end of the same interval.
    pub high: f64,
    /// Value at risk at level 0.95.
    pub var95: f64,
    /// Conditional value at risk at level 0.95: the mean of the worst 5 %.
    pub cvar95: f64,
}

impl Summary {
    /// Summarises `samples`; `seed` fixes the bootstrap, which runs in rayon's current thread pool with the same bits for
    /// any number of threads.
    ///
    /// # Errors
    /// Without samples, or if one is not finite or larger than 8e307.
    pub fn of(samples: &[f64], risk: impl Into<Risk>, seed: u64) -> Result<Self, RiskError> {
        let risk = risk.into();
        if samples.is_empty() {
            return Err(RiskError::NoOutcomes);
        }
        if let Some(index) = samples.iter().position(|x| x.is_nan() || x.abs() > LARGEST_COST) {
            let allowed = "lie in [-8e307, 8e307]";
            return Err(RiskError::Outcome { what: "cost", index, value: samples[index], allowed });
        }
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let [q25, median, q75] = [0.25, 0.5, 0.75].map(|q| quantile(&sorted, q));
        let reach = WHISKER_REACH * (q75 - q25);
        let first_inside = sorted.partition_point(|&x| x < q25 - reach);
        let end_inside = sorted.partition_point(|&x| x <= q75 + reach);
        let interval = intervals(samples, &[Statistic::Risk(risk)], seed)[0];
        let tail = Tail::of_sorted(sorted.iter().map(|&x| (x, 1.0)).collect());
        let value = risk.as_erm().map_or_else(|| risk.of_tail(&tail), |erm| erm.of_samples(samples));
        Ok(Self {
            count: samples.len(),
            mean: Erm::MEAN.of_samples(samples),
            median,
            q25,
            q75,
            // Some sample lies on either side of each quartile, so both indices are in range.
            whisker_low: sorted[first_inside].min(q25),
            whisker_high: sorted[end_inside - 1].max(q75),
            min: sorted[0],
            max: sorted[sorted.len() - 1],
            value,
            low: interval.low,
            high: interval.high,
            var95: tail.value_at_risk(TAIL_LEVEL),
            cvar95: tail.cvar(TAIL_LEVEL),
        })
    }

    /// Those of `samples` beyond the whiskers, in their order.
    pub fn outliers<'a>(&self, samples: &'a [f64]) -> impl Iterator<Item = f64> + use<'a> {
        let inside = self.whisker_low..=self.whisker_high;
        samples.iter().copied().filter(move |x| !inside.contains(x))
    }
}

/// The `q`-quantile of ascending values, linear between order statistics (type 7); `q` is limited to [0, 1].
/// `NaN` if there are no values.
///
/// ```
/// assert_eq!(gumdp::stats::quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), 1.75);
/// ```
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = last as f64 * q.clamp(0.0, 1.0);
    let below = position as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let fraction = position.fract();
    // From the nearer end, so that equal neighbours and whole positions are exact.
    if fraction < 0.5 { low + (high - low) * fraction } else { high - (high - low) * (1.0 - fraction) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(samples: &[f64]) -> Summary {
        Summary::of(samples, Erm::MEAN, 1).unwrap()
    }

    fn boxed(samples: &[f64]) -> [f64; 5] {
        let s = summary(samples);
        [s.whisker_low, s.q25, s.median, s.q75, s.whisker_high]
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.percentile([15, 20, 35, 40, 50], [5, 30, 40, 50, 100]) and ([3, 6, 7, 8, 8, 10, 13, 15, 16, 20], 25, 75).
        let five = [15.0, 20.0, 35.0, 40.0, 50.0];
        for (q, expected) in [(0.05, 16.0), (0.3, 23.0), (0.4, 29.0), (0.5, 35.0), (1.0, 50.0)] {
            assert!((quantile(&five, q) - expected).abs() < 1e-13, "{q}");
        }
        let ten = [3.0, 6.0, 7.0, 8.0, 8.0, 10.0, 13.0, 15.0, 16.0, 20.0];
        assert_eq!(quantile(&ten, 0.25), 7.25);
        assert_eq!(quantile(&ten, 0.75), 14.5);
        assert_eq!(quantile(&[2.5], 0.9), 2.5);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn boxes_are_those_of_matplotlib() {
        // The fences are 7 - 1.5·6 = -2 and 13 + 1.5·6 = 22, so 40 is an outlier and 22 is not.
        let samples = [40.0, 7.0, 1.0, 10.0, 7.0, 9.0, 13.0, 13.0, 22.0];
        assert_eq!(boxed(&samples), [1.0, 7.0, 10.0, 13.0, 22.0]);
        assert_eq!(summary(&samples).outliers(&samples).collect::<Vec<_>>(), [40.0]);
        // No sample lies between the lower fence 37.5 and the quartile 75: the whisker has length zero.
        assert_eq!(boxed(&[0.0, 100.0, 100.0, 100.0]), [75.0, 75.0, 100.0, 100.0, 100.0]);
        assert_eq!(boxed(&[3.0]), [3.0; 5]);
    }

    #[test]
    fn summary_by_hand() {
        let samples: Vec<f64> = (1..=40).rev().map(f64::from).collect();
        let s = summary(&samples);
        assert_eq!((s.count, s.mean, s.min, s.max), (40, 20.5, 1.0, 40.0));
        // F(38) = 0.95; the worst 5 % are 39 and 40.
        assert_eq!(s.var95, 38.0);
        assert!((s.cvar95 - 39.5).abs() < 1e-12);
        assert_eq!(s, summary(&samples));
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(Summary::of(&[], Erm::MEAN, 0), Err(RiskError::NoOutcomes));
        let infinite = Summary::of(&[0.0, 1.0, f64::INFINITY], Erm::MEAN, 0);
        assert_eq!(infinite.unwrap_err().to_string(), "cost 2 is inf, but must lie in [-8e307, 8e307]");
        assert!(Summary::of(&[-1e308, 1e308, 0.0], Erm::MEAN, 0).is_err());
    }
}
