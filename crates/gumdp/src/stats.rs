//! Summaries of sampled costs: quartiles, tails, entropic risk, and how sure we are of it.
//!
//! Lower costs are better, so tails are upper tails. Conventions: quantiles interpolate order statistics linearly
//! (Hyndman and Fan's type 7, the default of `NumPy` and R); whiskers are Tukey's as drawn by matplotlib; [`intervals`] allow for costs
//! that were not met, and those of differences are percentile bootstrap (Efron and Tibshirani, *An Introduction to the Bootstrap*,
//! chapter 13).
//!
//! [`Costs`] of any number of runs take bounded memory. Not here: running episodes, and streaming estimates (see
//! [`crate::measures::Weigher`]).

pub use bootstrap::bootstrap_interval;
pub(crate) use bootstrap::paired_intervals;
pub use costs::Costs;
pub use interval::{Interval, Statistic, intervals};
pub use trust::{Doubt, Trust};
pub use usual::{Shown, measured, usual};

pub use crate::risk::Ascending;

use crate::objective::Bounds;
use crate::risk::{Risk, RiskError, Tail};

mod bins;
mod bootstrap;
mod costs;
mod interval;
mod trust;
mod usual;

/// Level of the tails in a [`Summary`].
const TAIL_LEVEL: f64 = 0.95;
/// Whiskers reach at most this many interquartile ranges beyond the quartiles.
const WHISKER_REACH: f64 = 1.5;

/// What a table row or a box plot shows of the costs of a policy, sampled or exact.
///
/// ```
/// use gumdp::{Bounds, Erm, stats::Summary};
///
/// let costs = [3.0, 1.0, 2.0, 4.0, 30.0];
/// let bounds = Bounds { low: 0.0, high: 50.0 };
/// let summary = Summary::of(&costs, Erm::MEAN, bounds, 7)?;
/// assert_eq!((summary.q25, summary.median, summary.q75), (2.0, 3.0, 4.0));
/// assert_eq!((summary.whisker_low, summary.whisker_high), (1.0, 4.0));
/// assert_eq!(summary.outliers(&costs).collect::<Vec<_>>(), [30.0]);
/// assert!(summary.low < summary.value && summary.value < summary.high);
/// let error = Summary::of(&[1.0, f64::NAN], Erm::MEAN, bounds, 7).unwrap_err();
/// assert_eq!(error.to_string(), "cost 1 is NaN, but must lie in [-8e307, 8e307]");
/// let known = Summary::exact(&[(0.0, 0.75), (1.0, 0.25)], Erm::MEAN)?;
/// assert_eq!((known.low, known.value, known.high, known.max), (0.25, 0.25, 0.25, 1.0));
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Summary {
    /// Whether this is the whole distribution and not a sample of it.
    pub exact: bool,
    /// Arithmetic mean.
    pub mean: f64,
    /// Half of the costs lie below.
    pub median: f64,
    /// First quartile.
    pub q25: f64,
    /// Third quartile.
    pub q75: f64,
    /// Smallest cost within 1.5 interquartile ranges of the first quartile, at most that quartile.
    pub whisker_low: f64,
    /// Largest cost within 1.5 interquartile ranges of the third quartile, at least that quartile.
    pub whisker_high: f64,
    /// Smallest cost.
    pub min: f64,
    /// Largest cost.
    pub max: f64,
    /// The risk measure of the costs.
    pub value: f64,
    /// Lower end of its 95 % [interval](intervals); the value itself if it is exact.
    #[cfg_attr(feature = "serde", serde(serialize_with = "or_text"))]
    pub low: f64,
    /// Upper end of the same interval.
    #[cfg_attr(feature = "serde", serde(serialize_with = "or_text"))]
    pub high: f64,
    /// What that rests on; only summaries that are exact are read.
    #[cfg_attr(feature = "serde", serde(skip, default = "exact_trust"))]
    pub trust: Trust,
    /// Value at risk at level 0.95.
    pub var95: f64,
    /// Conditional value at risk at level 0.95: the mean of the worst 5 %.
    pub cvar95: f64,
}

impl Summary {
    /// Summarises `samples` of a cost between these bounds; `seed` fixes the random numbers behind the interval, which is computed
    /// in rayon's current thread pool with the same bits for any number of threads.
    ///
    /// # Errors
    /// Without samples, or if one is not finite or larger than 8e307.
    pub fn of(samples: &[f64], risk: impl Into<Risk>, bounds: Bounds, seed: u64) -> Result<Self, RiskError> {
        let risk = risk.into();
        Self::of_costs(&Costs::of(samples, &[risk], bounds), risk, bounds, seed)
    }

    /// The same of costs that came one by one.
    ///
    /// # Errors
    /// Without costs, or if one is not finite or larger than 8e307.
    pub fn of_costs(costs: &Costs, risk: impl Into<Risk>, bounds: Bounds, seed: u64) -> Result<Self, RiskError> {
        let risk = risk.into();
        costs.check()?;
        let ascending = costs.ascending();
        let quartiles = [0.25, 0.5, 0.75].map(|q| quantile_of(&ascending, q));
        let tail = costs.tail(&ascending);
        let (value, mean) = (costs.risk(risk, &tail), costs.risk(Risk::MEAN, &tail));
        let shape = Self::shape(&tail, &ascending.values().collect::<Vec<f64>>(), quartiles);
        drop(tail);
        let (Interval { low, high }, trust) = intervals(ascending, &[Statistic::Risk(risk)], bounds, seed)[0];
        // Rounding must not leave the value outside.
        let (low, high) = (low.min(value), high.max(value));
        Ok(Self { exact: false, mean, value, low, high, trust, ..shape })
    }

    /// Summarises a whole distribution, given as (cost, probability) with ascending costs.
    ///
    /// # Errors
    /// No positive probability, or a number out of range.
    pub fn exact(outcomes: &[(f64, f64)], risk: impl Into<Risk>) -> Result<Self, RiskError> {
        let risk = risk.into();
        let tail = Tail::new(outcomes.iter().copied())?;
        let quartiles = [0.25, 0.5, 0.75].map(|q| tail.value_at_risk(q));
        let costs: Vec<f64> = outcomes.iter().filter(|outcome| outcome.1 > 0.0).map(|outcome| outcome.0).collect();
        let value = risk.of_tail(&tail);
        let shape = Self::shape(&tail, &costs, quartiles);
        Ok(Self { exact: true, mean: Risk::MEAN.of_tail(&tail), value, low: value, high: value, ..shape })
    }

    /// What needs no measure. The costs are ascending.
    fn shape(tail: &Tail, costs: &[f64], [q25, median, q75]: [f64; 3]) -> Self {
        let [whisker_low, whisker_high] = whiskers(costs, q25, q75);
        let [mean, value, low, high] = [f64::NAN; 4];
        let [min, max] = [costs[0], costs[costs.len() - 1]];
        let (var95, cvar95) = (tail.value_at_risk(TAIL_LEVEL), tail.cvar(TAIL_LEVEL));
        let trust = Trust::EXACT;
        Self {
            exact: true,
            mean,
            median,
            q25,
            q75,
            whisker_low,
            whisker_high,
            min,
            max,
            value,
            low,
            high,
            trust,
            var95,
            cvar95,
        }
    }

    /// Those of `samples` beyond the whiskers, in their order.
    pub fn outliers<'a>(&self, samples: &'a [f64]) -> impl Iterator<Item = f64> + use<'a> {
        let inside = self.whisker_low..=self.whisker_high;
        samples.iter().copied().filter(move |x| !inside.contains(x))
    }
}

/// An infinity as text, which JSON has no numbers for.
#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn or_text<S: serde::Serializer>(end: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if end.is_finite() { serializer.serialize_f64(*end) } else { serializer.serialize_str(&end.to_string()) }
}

#[cfg(feature = "serde")]
fn exact_trust() -> Trust {
    Trust::EXACT
}

/// Both whiskers of a box plot of ascending costs with these quartiles.
///
/// ```
/// assert_eq!(gumdp::stats::whiskers(&[1.0, 2.0, 3.0, 4.0, 30.0], 2.0, 4.0), [1.0, 4.0]);
/// ```
#[must_use]
pub fn whiskers(sorted: &[f64], q25: f64, q75: f64) -> [f64; 2] {
    let reach = WHISKER_REACH * (q75 - q25);
    let first_inside = sorted.partition_point(|&x| x < q25 - reach);
    let end_inside = sorted.partition_point(|&x| x <= q75 + reach);
    // Some cost lies on either side of each quartile, so both indices are in range.
    [sorted[first_inside].min(q25), sorted[end_inside - 1].max(q75)]
}

/// The `q`-quantile of ascending values, linear between order statistics (type 7); `q` is limited to [0, 1].
/// `NaN` if there are no values.
///
/// ```
/// assert_eq!(gumdp::stats::quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), 1.75);
/// ```
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    interpolated(sorted.len(), q, |number| sorted[number])
}

/// The same of costs that are counted.
fn quantile_of(costs: &Ascending, q: f64) -> f64 {
    interpolated(costs.count(), q, |number| costs.get(number).unwrap_or(f64::NAN))
}

fn interpolated(count: usize, q: f64, at: impl Fn(usize) -> f64) -> f64 {
    let Some(last) = count.checked_sub(1) else {
        return f64::NAN;
    };
    let position = last as f64 * q.clamp(0.0, 1.0);
    let below = position as usize;
    let (low, high) = (at(below), at((below + 1).min(last)));
    let fraction = position.fract();
    // From the nearer end, so that equal neighbours and whole positions are exact.
    if fraction < 0.5 { low + (high - low) * fraction } else { high - (high - low) * (1.0 - fraction) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::Erm;

    const BOUNDS: Bounds = Bounds { low: 0.0, high: 100.0 };

    fn summary(samples: &[f64]) -> Summary {
        Summary::of(samples, Erm::MEAN, BOUNDS, 1).unwrap()
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
        assert_eq!((s.trust.runs, s.mean, s.min, s.max), (40, 20.5, 1.0, 40.0));
        // F(38) = 0.95; the worst 5 % are 39 and 40.
        assert_eq!(s.var95, 38.0);
        assert!((s.cvar95 - 39.5).abs() < 1e-12);
        assert_eq!(s, summary(&samples));
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(Summary::of(&[], Erm::MEAN, BOUNDS, 0), Err(RiskError::NoOutcomes));
        let infinite = Summary::of(&[0.0, 1.0, f64::INFINITY], Erm::MEAN, BOUNDS, 0);
        assert_eq!(infinite.unwrap_err().to_string(), "cost 2 is inf, but must lie in [-8e307, 8e307]");
        assert!(Summary::of(&[-1e308, 1e308, 0.0], Erm::MEAN, BOUNDS, 0).is_err());
    }
}
