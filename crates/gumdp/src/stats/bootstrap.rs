//! The plain bootstrap, for differences of samples and for statistics that are no measures.

use rayon::prelude::*;

use super::{Interval, quantile};
use crate::rng::{self, Purpose, Rng};

/// Resamples behind an interval.
const RESAMPLES: usize = 1000;
/// Costs drawn for intervals that need them in order, at most.
const MOST_DRAWN: usize = 20_000_000;
/// Resamples that draw from one random stream: the parallel pieces of work, whatever the number of threads.
const RESAMPLES_PER_STREAM: usize = 20;

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

/// Percentile bootstrap intervals of numbers that are computed from several samples of the same length, which are drawn
/// together: runs with the same number met common random numbers. `of` is given the costs of each as (value, weight), values
/// ascending.
pub(crate) fn paired_intervals<const NUMBERS: usize>(
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
}
