//! How sure one can be of what is computed from sampled costs: the one bootstrap.

use std::cell::OnceCell;

use rayon::prelude::*;

use super::quantile;
use crate::risk::{ErmTable, Risk, Tail};
use crate::rng::{self, Purpose, Rng};

/// Resamples behind an interval.
const RESAMPLES: usize = 1000;
/// Costs drawn for intervals that need them in order, at most.
const MOST_DRAWN: usize = 20_000_000;
/// Resamples that draw from one random stream: the parallel pieces of work, whatever the number of threads.
const RESAMPLES_PER_STREAM: usize = 20;
/// Coverage of the interval in a [`Summary`](super::Summary).
const COVERAGE: f64 = 0.95;

/// A confidence interval; see [`bootstrap_interval`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The percentile-bootstrap interval that covers `level` (such as 0.95) of the `statistic` of `resamples` resamples; its ends are
/// NaN if there are none.
///
/// ```
/// use gumdp::stats::bootstrap_interval;
/// use gumdp::rng::{self, Purpose};
///
/// let mut rng = rng::stream(1, 0, Purpose::Bootstrap);
/// let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
/// let interval = bootstrap_interval(&[1.0, 2.0, 4.0, 5.0], mean, 200, 0.9, &mut rng);
/// assert!(interval.low < 3.0 && 3.0 < interval.high);
/// ```
pub fn bootstrap_interval(
    samples: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    resamples: usize,
    level: f64,
    rng: &mut Rng,
) -> Interval {
    let mut drawn = vec![0.0; samples.len()];
    let estimates = (0..resamples).map(|_| {
        drawn.fill_with(|| samples[rng::below(rng, samples.len() as u32) as usize]);
        statistic(&drawn)
    });
    central(estimates.collect(), level)
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
/// the bits it has alone, for any number of threads, and is that of a [`Summary`](super::Summary) with the same seed. The costs are finite, and
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
/// # Ok::<(), gumdp::RiskError>(())
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
        let exact =
            if let Statistic::Risk(risk) = statistic { risk.measure().interval(&sorted, COVERAGE) } else { None };
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
    use crate::risk::Erm;

    fn erm_interval(samples: &[f64], erm: Erm, seed: u64) -> Interval {
        intervals(samples, &[Statistic::Risk(erm.into())], seed)[0]
    }

    /// The interval without tables and threads.
    fn one_by_one(samples: &[f64], seed: u64, of: impl Fn(&mut [f64]) -> f64) -> Interval {
        let mut estimates = Vec::new();
        for piece in 0..RESAMPLES / RESAMPLES_PER_STREAM {
            let mut rng = rng::stream(seed, piece as u64, Purpose::Bootstrap);
            for _ in 0..RESAMPLES_PER_STREAM {
                let draw = |_| samples[rng::below(&mut rng, samples.len() as u32) as usize];
                estimates.push(of(&mut (0..samples.len()).map(draw).collect::<Vec<f64>>()));
            }
        }
        central(estimates, COVERAGE)
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
            let sorted = |drawn: &mut [f64]| {
                drawn.sort_unstable_by(f64::total_cmp);
                risk.of_tail(&Tail::of_sorted(drawn.iter().map(|&cost| (cost, 1.0)).collect()))
            };
            assert_eq!(one_by_one(&samples, 4, sorted), interval, "{risk}");
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
    fn fast_erm_interval_is_the_generic_one() {
        let samples: Vec<f64> = (0..50).map(|i| f64::from(i * i % 17) / 17.0).collect();
        for beta in [f64::NEG_INFINITY, -1e5, -2.0, 0.0, 0.1, 9.0, 1e5, f64::INFINITY] {
            let erm = Erm::new(beta).unwrap();
            let slow = one_by_one(&samples, 5, |drawn| erm.of_samples(drawn));
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
