//! Summaries of sampled costs: quartiles, tails, entropic risk, and how sure we are of it.
//!
//! Lower costs are better, so tails are upper tails. Conventions: quantiles interpolate order statistics linearly
//! (Hyndman and Fan's type 7, the default of `NumPy` and R); whiskers are Tukey's as drawn by matplotlib; intervals are
//! percentile bootstrap (Efron and Tibshirani, *An Introduction to the Bootstrap*, chapter 13), but exact for probabilities and
//! quantiles, which are binomial. Value at risk and
//! conditional value at risk are [`value_at_risk`] and [`cvar`] of the risk module.
//!
//! Not here: running episodes, and streaming estimates (see [`crate::risk::Weigher`]).

use std::cell::OnceCell;

use rayon::prelude::*;
use thiserror::Error;

use crate::risk::{Erm, ErmTable, LARGEST_COST, Risk, Tail, valid_level};
pub use crate::risk::{cvar, cvar_weighted, value_at_risk, value_at_risk_weighted};
use crate::rng::{self, Purpose, Rng};

/// Resamples behind [`Summary::low`] and [`Summary::high`].
const RESAMPLES: usize = 1000;
/// Costs drawn for intervals that need them in order, at most.
const MOST_DRAWN: usize = 20_000_000;
/// Resamples that draw from one random stream: the parallel pieces of work, whatever the number of threads.
const RESAMPLES_PER_STREAM: usize = 20;
/// Coverage of the interval in a [`Summary`].
const COVERAGE: f64 = 0.95;
/// Level of the tails in a [`Summary`].
const TAIL_LEVEL: f64 = 0.95;
/// Whiskers reach at most this many interquartile ranges beyond the quartiles.
const WHISKER_REACH: f64 = 1.5;

/// Why samples could not be summarised.
///
/// ```
/// use gumdp::{risk::Erm, stats::Summary};
///
/// let error = Summary::of(&[1.0, f64::NAN], Erm::MEAN, 7).unwrap_err();
/// assert_eq!(error.to_string(), "cost 1 is NaN, but must lie in [-8e307, 8e307]");
/// ```
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StatsError {
    /// There is nothing to summarise.
    #[error("there are no costs, but at least one is needed")]
    Empty,
    /// A cost is NaN, infinite or astronomic.
    #[error("cost {index} is {value}, but must lie in [-{LARGEST_COST:e}, {LARGEST_COST:e}]")]
    Cost {
        /// Position in the input, from 0.
        index: usize,
        /// The rejected value.
        value: f64,
    },
    /// A probability level is outside its range.
    #[error("level is {level}, but must lie in [0, 1]")]
    Level {
        /// The rejected value.
        level: f64,
    },
    /// A bootstrap without resamples.
    #[error("resamples is 0, but must be at least 1")]
    Resamples,
}

/// What a table row or a box plot shows of the sampled costs of a policy.
///
/// ```
/// use gumdp::{risk::Erm, stats::Summary};
///
/// let costs = [3.0, 1.0, 2.0, 4.0, 30.0];
/// let summary = Summary::of(&costs, Erm::MEAN, 7)?;
/// assert_eq!((summary.q25, summary.median, summary.q75), (2.0, 3.0, 4.0));
/// assert_eq!((summary.whisker_low, summary.whisker_high), (1.0, 4.0));
/// assert_eq!(summary.outliers(&costs).collect::<Vec<_>>(), [30.0]);
/// assert!(summary.low < summary.value && summary.value < summary.high);
/// # Ok::<(), gumdp::stats::StatsError>(())
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
    /// any number of threads. See the [example](Summary).
    ///
    /// # Errors
    /// [`StatsError::Empty`] without samples, [`StatsError::Cost`] if one is not finite or larger than 8e307.
    pub fn of(samples: &[f64], risk: impl Into<Risk>, seed: u64) -> Result<Self, StatsError> {
        let risk = risk.into();
        if samples.is_empty() {
            return Err(StatsError::Empty);
        }
        if let Some(index) = samples.iter().position(|x| x.is_nan() || x.abs() > LARGEST_COST) {
            let value = samples[index];
            return Err(StatsError::Cost { index, value });
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

    /// Those of `samples` beyond the whiskers, in their order. See the [example](Summary).
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

/// A confidence interval; see [`bootstrap_interval`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The percentile-bootstrap interval that covers `level` (such as 0.95) of the `statistic` of `resamples` resamples.
///
/// ```
/// use gumdp::stats::bootstrap_interval;
/// use gumdp::rng::{self, Purpose};
///
/// let mut rng = rng::stream(1, 0, Purpose::Bootstrap);
/// let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
/// let interval = bootstrap_interval(&[1.0, 2.0, 4.0, 5.0], mean, 200, 0.9, &mut rng)?;
/// assert!(interval.low < 3.0 && 3.0 < interval.high);
/// # Ok::<(), gumdp::stats::StatsError>(())
/// ```
///
/// # Errors
/// No samples, no resamples, or `level` outside [0, 1].
pub fn bootstrap_interval(
    samples: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    resamples: usize,
    level: f64,
    rng: &mut Rng,
) -> Result<Interval, StatsError> {
    let level = valid_level(level).map_err(|_| StatsError::Level { level })?;
    if samples.is_empty() {
        return Err(StatsError::Empty);
    }
    if resamples == 0 {
        return Err(StatsError::Resamples);
    }
    let mut drawn = vec![0.0; samples.len()];
    let estimates = (0..resamples).map(|_| {
        drawn.fill_with(|| samples[rng::below(rng, samples.len() as u32) as usize]);
        statistic(&drawn)
    });
    Ok(central(estimates.collect(), level))
}

/// What is computed of costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// A risk measure; mean, smallest and largest cost are entropic ones.
    Risk(Risk),
    /// The standard deviation.
    Deviation,
}

impl Statistic {
    fn of_tail(self, tail: &Tail) -> f64 {
        match self {
            Self::Risk(risk) => risk.of_tail(tail),
            Self::Deviation => tail.deviation(),
        }
    }
}

/// The 95 % interval of each of some statistics: binomial where that is exact, else percentile bootstrap with 1000 resamples
/// (fewer, but at least 100, for other than entropic risks of more than 20 000 costs), in rayon's current thread pool. Each has
/// the bits it has alone, for any number of threads, and is that of a [`Summary`] with the same seed. The costs are finite, and
/// there is one at least.
///
/// ```
/// use gumdp::Erm;
/// use gumdp::stats::{Statistic, Summary, intervals};
/// let costs = [3.0, 1.0, 2.0, 4.0, 30.0];
/// let summary = Summary::of(&costs, Erm::MEAN, 7)?;
/// let [mean, deviation] = intervals(&costs, &[Statistic::Risk(Erm::MEAN.into()), Statistic::Deviation], 7)[..] else { panic!() };
/// assert_eq!((mean.low, mean.high), (summary.low, summary.high));
/// assert!(deviation.low >= 0.0);
/// # Ok::<(), gumdp::stats::StatsError>(())
/// ```
#[must_use]
pub fn intervals(samples: &[f64], statistics: &[Statistic], seed: u64) -> Vec<Interval> {
    let order = ranks(samples);
    let sorted: Vec<f64> = order.iter().map(|&number| samples[number as usize]).collect();
    let table = |statistic: &Statistic| match statistic {
        Statistic::Risk(risk) => risk.as_erm().map(|erm| ErmTable::new(erm, samples)),
        Statistic::Deviation => None,
    };
    let tables: Vec<Option<ErmTable>> = statistics.iter().map(table).collect();
    let limit = (MOST_DRAWN / samples.len().max(1)).clamp(100, RESAMPLES);
    let estimates = resamples(samples.len(), seed, |number, drawn| {
        let tail = OnceCell::new();
        let of = |(&statistic, table): (&Statistic, &Option<ErmTable>)| match table {
            Some(table) => table.of_drawn(drawn),
            None if number < limit => {
                let draw = || Tail::of_sorted(drawn_in_order(&order, samples, drawn).map(|cost| (cost, 1.0)).collect());
                statistic.of_tail(tail.get_or_init(draw))
            }
            None => f64::NAN,
        };
        statistics.iter().zip(&tables).map(of).collect::<Vec<f64>>()
    });
    let interval = |(k, statistic): (usize, &Statistic)| {
        let exact = if let Statistic::Risk(risk) = statistic { risk.interval(&sorted, COVERAGE) } else { None };
        let count = if tables[k].is_some() { RESAMPLES } else { limit };
        let drawn = || central(estimates[..count].iter().map(|values| values[k]).collect(), COVERAGE);
        exact.map_or_else(drawn, |(low, high)| Interval { low, high })
    };
    statistics.iter().enumerate().map(interval).collect()
}

/// Percentile bootstrap intervals of numbers that are computed from several samples of the same length, which are drawn
/// together: runs with the same number met common random numbers. `of` is given the costs of each as (value, weight), values
/// ascending.
#[must_use]
pub fn paired_intervals<const NUMBERS: usize>(
    samples: &[&[f64]],
    confidence: f64,
    seed: u64,
    of: impl Fn(&[Vec<(f64, f64)>]) -> [f64; NUMBERS] + Sync,
) -> [Interval; NUMBERS] {
    let count = samples.first().map_or(0, |costs| costs.len());
    let share = 1.0 / count as f64;
    let orders: Vec<Vec<u32>> = samples.iter().map(|costs| ranks(costs)).collect();
    let limit = (MOST_DRAWN / count.max(1)).clamp(100, RESAMPLES);
    let estimates = resamples(count, seed, |number, drawn| {
        let sorted = |(order, costs): (&Vec<u32>, &&[f64])| {
            drawn_in_order(order, costs, drawn).map(|cost| (cost, share)).collect::<Vec<(f64, f64)>>()
        };
        if number < limit {
            of(&orders.iter().zip(samples).map(sorted).collect::<Vec<_>>())
        } else {
            [f64::NAN; NUMBERS]
        }
    });
    std::array::from_fn(|k| central(estimates[..limit].iter().map(|values| values[k]).collect(), confidence))
}

/// The numbers of the costs in ascending order.
fn ranks(samples: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..samples.len() as u32).collect();
    order.sort_by(|&a, &b| samples[a as usize].total_cmp(&samples[b as usize]));
    order
}

/// The costs with the numbers that were drawn, in ascending order.
fn drawn_in_order<'a>(order: &'a [u32], samples: &'a [f64], drawn: &[u32]) -> impl Iterator<Item = f64> + use<'a> {
    let mut times = vec![0_u32; samples.len()];
    for &number in drawn {
        times[number as usize] += 1;
    }
    order.iter().flat_map(move |&number| (0..times[number as usize]).map(move |_| samples[number as usize]))
}

/// What is computed from each resample of so many costs: its number, and the numbers of the costs that are drawn.
fn resamples<T: Send>(count: usize, seed: u64, of: impl Fn(usize, &[u32]) -> T + Sync) -> Vec<T> {
    let streams = (0..RESAMPLES / RESAMPLES_PER_STREAM).into_par_iter();
    let all = streams.flat_map_iter(|piece| {
        let (mut rng, mut drawn, of) = (rng::stream(seed, piece as u64, Purpose::Bootstrap), vec![0; count], &of);
        (0..RESAMPLES_PER_STREAM).map(move |k| {
            drawn.fill_with(|| rng::below(&mut rng, count as u32));
            of(piece * RESAMPLES_PER_STREAM + k, &drawn)
        })
    });
    all.collect()
}

/// The central interval holding the share `level` of the estimates.
fn central(mut estimates: Vec<f64>, level: f64) -> Interval {
    estimates.sort_unstable_by(f64::total_cmp);
    Interval { low: quantile(&estimates, (1.0 - level) / 2.0), high: quantile(&estimates, f64::midpoint(1.0, level)) }
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

    fn erm_interval(samples: &[f64], erm: Erm, seed: u64) -> Interval {
        intervals(samples, &[Statistic::Risk(erm.into())], seed)[0]
    }

    /// Resamples in order have the bits of resamples that are sorted, and statistics those that they have alone.
    #[test]
    fn each_interval_is_that_of_sorted_resamples() {
        let samples: Vec<f64> = (0..60).map(|i| f64::from(i * i % 23) / 7.0).collect();
        let risks: [Risk; 3] = ["cvar:0.8", "evar:0.9", "mean-cvar:0.5:0.5"].map(|risk| risk.parse().unwrap());
        let mut statistics: Vec<Statistic> = risks.map(Statistic::Risk).to_vec();
        statistics.extend([
            Statistic::Risk("var:0.3".parse().unwrap()),
            Statistic::Deviation,
            Statistic::Risk(Erm::MEAN.into()),
        ]);
        let together = intervals(&samples, &statistics, 4);
        for (statistic, &interval) in statistics.iter().zip(&together) {
            assert_eq!(intervals(&samples, &[*statistic], 4)[0], interval, "{statistic:?}");
        }
        for (risk, &interval) in risks.iter().zip(&together) {
            let estimates = (0..RESAMPLES / RESAMPLES_PER_STREAM).flat_map(|piece| {
                let mut rng = rng::stream(4, piece as u64, Purpose::Bootstrap);
                let draw = move |samples: &[f64]| {
                    let mut drawn: Vec<f64> = (0..60).map(|_| samples[rng::below(&mut rng, 60) as usize]).collect();
                    drawn.sort_unstable_by(f64::total_cmp);
                    drawn.into_iter().map(|cost| (cost, 1.0)).collect()
                };
                let mut draw = draw;
                (0..RESAMPLES_PER_STREAM).map(|_| risk.of_tail(&Tail::of_sorted(draw(&samples)))).collect::<Vec<f64>>()
            });
            assert_eq!(central(estimates.collect(), COVERAGE), interval, "{risk}");
        }
    }

    /// Common random numbers show a small difference.
    #[test]
    fn pairs_are_drawn_together() {
        let costs: Vec<f64> = (0..100).map(|run| f64::from(run % 10)).collect();
        let later: Vec<f64> = costs.iter().map(|cost| cost + 0.01).collect();
        let mean = |costs: &[(f64, f64)]| Erm::MEAN.of_outcomes(costs.iter().copied());
        let [difference] = paired_intervals(&[&costs, &later], 0.99, 1, |both| [mean(&both[1]) - mean(&both[0])]);
        assert!((difference.low - 0.01).abs() < 1e-9 && (difference.high - 0.01).abs() < 1e-9, "{difference:?}");
        let [Interval { low, high }] = paired_intervals(&[&costs], 0.95, 1, |one| [mean(&one[0])]);
        assert!(low < 4.5 && 4.5 < high && high - low < 1.5, "{low} {high}");
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(Summary::of(&[], Erm::MEAN, 0), Err(StatsError::Empty));
        let infinite = Summary::of(&[0.0, 1.0, f64::INFINITY], Erm::MEAN, 0);
        assert_eq!(infinite.unwrap_err().to_string(), "cost 2 is inf, but must lie in [-8e307, 8e307]");
        assert!(Summary::of(&[-1e308, 1e308, 0.0], Erm::MEAN, 0).is_err());
        let mut rng = rng::stream(0, 0, Purpose::Bootstrap);
        for (samples, resamples, level) in [(0, 9, 0.9), (3, 0, 0.9), (3, 9, 1.1), (3, 9, f64::NAN)] {
            let samples = vec![1.0; samples];
            assert!(bootstrap_interval(&samples, |x| x[0], resamples, level, &mut rng).is_err());
        }
    }

    #[test]
    fn fast_erm_interval_is_the_generic_one() {
        let samples: Vec<f64> = (0..50).map(|i| f64::from(i * i % 17) / 17.0).collect();
        for beta in [f64::NEG_INFINITY, -1e5, -2.0, 0.0, 0.1, 9.0, 1e5, f64::INFINITY] {
            let erm = Erm::new(beta).unwrap();
            let slow = |piece: usize| {
                let mut rng = rng::stream(5, piece as u64, Purpose::Bootstrap);
                let mut drawn = vec![0.0; samples.len()];
                let draw = |_| {
                    drawn.fill_with(|| samples[rng::below(&mut rng, samples.len() as u32) as usize]);
                    erm.of_samples(&drawn)
                };
                (0..RESAMPLES_PER_STREAM).map(draw).collect::<Vec<f64>>()
            };
            let slow = central((0..RESAMPLES / RESAMPLES_PER_STREAM).flat_map(slow).collect(), COVERAGE);
            let fast = erm_interval(&samples, erm, 5);
            assert!((slow.low - fast.low).abs() < 1e-14 && (slow.high - fast.high).abs() < 1e-14, "{beta}");
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let samples: Vec<f64> = (0..500).map(|i| f64::from(i * i % 173)).collect();
        let with_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| erm_interval(&samples, Erm::new(0.1).unwrap(), 3))
        };
        assert_eq!(with_threads(1), with_threads(2));
        assert_eq!(with_threads(1), with_threads(7));
    }

    /// 400 intervals from 128 uniform costs each. Percentile intervals cover slightly less than their level; if the true
    /// coverage lies in [0.94, 0.95], a count outside 353..=395 (false alarm) has probability below 2e-5.
    #[test]
    fn interval_covers_the_truth() {
        let erm = Erm::new(2.0).unwrap();
        let truth = ((2_f64.exp() - 1.0) / 2.0).ln() / 2.0;
        let mut rng = rng::stream(2024, 0, Purpose::Bootstrap);
        let covered = (0..400).filter(|&trial| {
            let samples: Vec<f64> = (0..128).map(|_| rng::unit(&mut rng)).collect();
            let interval = erm_interval(&samples, erm, trial);
            interval.low <= truth && truth <= interval.high
        });
        let covered = covered.count();
        assert!((353..=395).contains(&covered), "{covered} of 400");
    }
}
