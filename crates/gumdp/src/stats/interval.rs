//! How sure one can be of what is computed from sampled costs, few runs and rare costs included.
//!
//! n independent costs cut the probability in n + 1 parts, distributed as the gaps between n uniform numbers. Give each part to the
//! cost that ends it, and the last, which lies beyond all costs that were met, to the upper bound of f: the 97.5 % quantile of the
//! measure of such a random distribution is the upper end of the interval. The lower end is its mirror image, with the lower bound
//! of f. It is a Bayesian bootstrap (Rubin 1981) that knows of costs not met.
//!
//! For a probability and a quantile these are the limits of Clopper and Pearson and those of order statistics, which are taken as
//! they are: the level holds for any number of runs, which is proven. For a mean, and so for every entropic risk, it is Gaffke's
//! bound; no distribution is known for which it covers less than its level, but that is a conjecture (Learned-Miller and Thomas,
//! *A new confidence interval for the mean of a bounded random variable*, 2019). A measure with an outer variable is at most what it is
//! at any value of that, so the upper end takes the one that suits the sample. `tests/coverage.rs` counts how often all this is true.

use rayon::prelude::*;

use super::{Doubt, Trust};
use crate::objective::Bounds;
use crate::risk::{Ascending, ErmTable, FixedRisk, LARGEST_COST, Risk, Tail};
use crate::rng::{self, Purpose, Rng};

/// Random distributions behind an interval.
const DRAWN: usize = 1000;
/// Those that come from one random stream: the parallel pieces of work, whatever the number of threads.
const DRAWN_PER_STREAM: usize = 20;
/// How many of them lie below the lower end, and above the upper one: 2.5 % of 1001 places.
const BEYOND: usize = 24;
/// Of many costs, so many neighbours are drawn as one: this part of those from there to the nearer end.
const NEIGHBOURS: usize = 128;
/// An interval this many times as wide as one of the costs that were met rests on those that were not.
const WIDER: f64 = 1.5;
/// A change of a cost that changes a measure by less than this part of it is of no account.
const SEEN: f64 = 1e-9;
/// With fewer runs than this behind a measure it is said how many.
const FEW: f64 = 30.0;

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
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
    /// Its value for costs with their weights; NaN if there is none of positive weight, or one is out of range.
    #[must_use]
    pub fn of_outcomes(self, outcomes: &[(f64, f64)]) -> f64 {
        Tail::new(outcomes.iter().copied()).map_or(f64::NAN, |tail| match self {
            Self::Risk(risk) => risk.of_tail(&tail),
            Self::Deviation => tail.deviation(),
        })
    }
}

/// The 95 % interval of each of some statistics and what it rests on, for costs between the bounds of f; in rayon's current thread
/// pool. Each has the bits it has alone, for any number of threads and any order of the costs, and is that of a
/// [`Summary`](super::Summary) with the same seed. The costs are finite, and there is one at least.
///
/// ```
/// use gumdp::stats::{Doubt, Statistic, intervals};
/// use gumdp::{Bounds, Erm};
/// let costs = [0.0; 100];
/// let bounds = Bounds { low: 0.0, high: 1.0 };
/// let mean = Statistic::Risk(Erm::MEAN.into());
/// let (interval, trust) = intervals(&costs, &[mean], bounds, 7)[0];
/// // A cost of 1 that 100 runs do not meet has a probability of 3.6 % at most.
/// assert!(interval.low == 0.0 && (0.03..0.045).contains(&interval.high));
/// assert_eq!(trust.doubt, Some(Doubt::Above(1.0)));
/// ```
#[must_use]
pub fn intervals(
    costs: impl Into<Ascending>,
    statistics: &[Statistic],
    bounds: Bounds,
    seed: u64,
) -> Vec<(Interval, Trust)> {
    let costs = costs.into();
    let (runs, [first, last]) = (costs.count(), costs.extremes());
    // Where there is no bound, the extremes that were met are all there is to go by.
    let is_bounded = bounds.low.abs().max(bounds.high.abs()) <= LARGEST_COST;
    let (low, high) = if is_bounded { (bounds.low.min(first), bounds.high.max(last)) } else { (first, last) };
    let blocks = blocks(&costs);
    let values: Vec<f64> = [low].into_iter().chain(blocks.iter().map(|block| block.0)).chain([high]).collect();
    let plan = |&statistic: &Statistic| Plan::new(statistic, &costs, &blocks, &values);
    let plans: Vec<Plan> = statistics.iter().map(plan).collect();
    let streams = (0..DRAWN / DRAWN_PER_STREAM).into_par_iter();
    let drawn: Vec<Vec<[f64; 3]>> = streams
        .flat_map_iter(|piece| {
            let mut rng = rng::stream(seed, piece as u64, Purpose::Bootstrap);
            let (mut weights, blocks, plans, values) = (vec![0.0; values.len()], &blocks, &plans, &values);
            (0..DRAWN_PER_STREAM).map(move |_| {
                weights[0] = gamma(1.0, &mut rng);
                weights[blocks.len() + 1] = weights[0];
                for (weight, block) in weights[1..].iter_mut().zip(blocks) {
                    *weight = gamma(block.1, &mut rng);
                }
                plans.iter().map(|plan| plan.of(values, &weights)).collect()
            })
        })
        .collect();
    let interval = |(k, plan): (usize, &Plan)| {
        let of = |which: usize| {
            let mut values: Vec<f64> = drawn.iter().map(|values| values[k][which]).collect();
            values.sort_unstable_by(f64::total_cmp);
            (values[BEYOND], values[DRAWN - 1 - BEYOND])
        };
        // At the outer variable that suits the sample the upper end may lie beyond every cost.
        let most = if is_bounded && matches!(plan.statistic, Statistic::Risk(_)) { high } else { f64::INFINITY };
        let (lower, upper, plain) = (of(0).0.min(plan.value), of(1).1.min(most).max(plan.value), of(2));
        let effective_runs = plan.effective_runs;
        let trust = |doubt| Trust { runs, effective_runs, doubt, width: costs.width() };
        if let Some((exact_low, exact_high)) = plan.exact {
            let interval = Interval { low: exact_low.max(bounds.low), high: exact_high.min(bounds.high) };
            return (interval, trust(None));
        }
        let (above, below) = (upper - plain.1.max(plan.value), plain.0.min(plan.value) - lower);
        let wide = (WIDER - 1.0) * (plain.1 - plain.0);
        // A low cost more may be of no account, as for a tail: then the lower end is far off because few runs count.
        let below = if plan.sees_low { below } else { 0.0 };
        let doubt = if !is_bounded {
            Some(Doubt::Unbounded)
        } else if above.max(below) > wide {
            Some(if above >= below { Doubt::Above(bounds.high) } else { Doubt::Below(bounds.low) })
        } else {
            (effective_runs < FEW && effective_runs < 0.9 * runs as f64).then_some(Doubt::Few)
        };
        (Interval { low: lower, high: upper }, trust(doubt))
    };
    plans.iter().enumerate().map(interval).collect()
}

/// A statistic, and what is known of it before anything is drawn.
struct Plan {
    statistic: Statistic,
    value: f64,
    effective_runs: f64,
    /// Whether a run at the lower bound would change it more than one at the lowest cost.
    sees_low: bool,
    /// Its interval, where that follows from the binomial distribution.
    exact: Option<(f64, f64)>,
    /// With the lower bound, with the upper one, without both. A measure with an outer variable is taken at the one that suits the
    /// sample and the cost beyond it.
    tables: Option<[ErmTable; 3]>,
    /// What that costs besides.
    price: f64,
}

impl Plan {
    /// Of costs in blocks; `values` are theirs and both bounds.
    fn new(statistic: Statistic, costs: &Ascending, blocks: &[(f64, f64)], values: &[f64]) -> Self {
        let met = Tail::of_sorted(blocks.to_vec());
        let Statistic::Risk(risk) = statistic else {
            let (value, effective_runs) = (met.deviation(), costs.count() as f64);
            return Self { statistic, value, effective_runs, sees_low: true, exact: None, tables: None, price: 0.0 };
        };
        let (low, first) = (values[0], values[1]);
        let beside =
            |cost| risk.of_tail(&Tail::of_sorted([(cost, 1.0)].into_iter().chain(blocks.iter().copied()).collect()));
        let with_more = || Tail::of_sorted(blocks.iter().copied().chain([(values[values.len() - 1], 1.0)]).collect());
        let fixed = risk.fixed().or_else(|| risk.outer().map(|outer| outer.at(outer.best(&with_more()))));
        let counted = |fixed: FixedRisk| values.iter().map(|&cost| fixed.of_cost(cost)).collect::<Vec<f64>>();
        let tables = |fixed| parts(&counted(fixed)).map(|values| ErmTable::new(fixed.erm(), values));
        Self {
            statistic,
            value: risk.of_tail(&met),
            effective_runs: risk.effective_share(&met) * costs.count() as f64,
            sees_low: beside(first) - beside(low) > SEEN * (first - low),
            exact: risk.measure().interval(costs, 0.95),
            tables: fixed.map(tables),
            price: fixed.map_or(0.0, |fixed| fixed.price()),
        }
    }

    /// Its values for costs with these weights: with the lower bound, with the upper one, without both.
    fn of(&self, values: &[f64], weights: &[f64]) -> [f64; 3] {
        let tail = |part: usize| {
            let (values, weights) = (parts(values)[part], parts(weights)[part]);
            Tail::of_sorted(values.iter().copied().zip(weights.iter().copied()).collect())
        };
        match (self.statistic, &self.tables) {
            (_, _) if self.exact.is_some() => [self.value; 3],
            (Statistic::Risk(risk), Some(tables)) => {
                let [low, high, met] = [0, 1, 2].map(|part| tables[part].of(parts(weights)[part]) + self.price);
                // Any value of an outer variable gives an upper bound; a lower one takes the best.
                if risk.fixed().is_some() { [low, high, met] } else { [risk.of_tail(&tail(0)), high, met] }
            }
            (Statistic::Risk(risk), None) => [0, 1, 2].map(|part| risk.of_tail(&tail(part))),
            (Statistic::Deviation, _) => {
                let [low, high, met] = [0, 1, 2].map(|part| tail(part).deviation());
                [met, low.max(high), met]
            }
        }
    }
}

/// All but the last, all but the first, neither.
fn parts(all: &[f64]) -> [&[f64]; 3] {
    let last = all.len() - 1;
    [&all[..last], &all[1..], &all[1..last]]
}

/// Ascending costs as (value, number): equal ones together, and of many those that are neighbours, by their mean.
fn blocks(costs: &Ascending) -> Vec<(f64, f64)> {
    let (count, mut from, mut blocks) = (costs.count(), 0, Vec::new());
    // Each different cost with the number after its last; those before `from` are gone.
    let mut groups = costs.groups().peekable();
    while let Some(&(cost, end)) = groups.peek() {
        let size = (from.min(count - from) / NEIGHBOURS).max(1);
        // As many neighbours as a block has are equal: they are a block of their own.
        if end > from + size || size == 1 {
            groups.next();
            blocks.push((cost, (end - from) as f64));
            from = end;
            continue;
        }
        let (begin, mut parts) = (from, Vec::new());
        while let Some(&(cost, end)) = groups.peek().filter(|_| from - begin < size) {
            if from > begin && end > from + size {
                break;
            }
            // An atom is only that from where it begins on.
            let to = end.min(begin + size);
            parts.push((cost, to - from));
            from = to;
            if to == end {
                groups.next();
            }
        }
        let number = (from - begin) as f64;
        let each = parts.iter().flat_map(|&(part, times)| std::iter::repeat_n((part - cost) / number, times));
        blocks.push((cost + each.sum::<f64>(), number));
    }
    blocks
}

/// A number with the gamma distribution of scale 1 and this whole-numbered shape (Marsaglia and Tsang 2000).
fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    if shape == 1.0 {
        return -(-rng::unit(rng)).ln_1p();
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - rng::unit(rng)).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

/// A number with the standard normal distribution (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng::unit(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng::unit(rng)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::Erm;

    const UNIT: Bounds = Bounds { low: 0.0, high: 1.0 };

    fn of(samples: &[f64], risk: &str, seed: u64) -> (Interval, Trust) {
        intervals(samples, &[Statistic::Risk(risk.parse().unwrap())], UNIT, seed)[0]
    }

    /// For costs of 0 and 1 the mean is a probability, whose exact limits are known; 1000 draws know them to about 0.5 % of level.
    #[test]
    fn means_of_coins_have_the_exact_limits() {
        for (hits, count) in [(0, 100), (1, 30), (7, 50), (49, 50), (10, 10)] {
            let costs: Vec<f64> = (0..count).map(|run| f64::from(u8::from(run < hits))).collect();
            let (found, exact) = (of(&costs, "mean", 3).0, of(&costs, "exceed:0.5", 3).0);
            let near = 0.1 * (exact.high - exact.low);
            assert!(
                (found.low - exact.low).abs() < near && (found.high - exact.high).abs() < near,
                "{found:?} {exact:?}"
            );
        }
    }

    #[test]
    fn what_was_not_met_is_allowed_for() {
        let costs: Vec<f64> = (0..100).map(|run| 0.2 + f64::from(run) / 1000.0).collect();
        let (interval, trust) = of(&costs, "erm:50", 1);
        assert!(interval.high > 0.9 && trust.doubt == Some(Doubt::Above(1.0)), "{interval:?} {trust:?}");
        assert!(trust.effective_runs < 60.0 && trust.note().unwrap().contains("costs up to 1"), "{trust:?}");
        let (interval, trust) = of(&costs, "erm:-50", 1);
        assert!(interval.low < 0.1 && trust.doubt == Some(Doubt::Below(0.0)), "{interval:?} {trust:?}");
        assert_eq!(of(&costs, "worst", 1).0, Interval { low: costs[99], high: 1.0 });
        assert_eq!(of(&costs, "best", 1).0, Interval { low: 0.0, high: costs[0] });
        let endless = Bounds { low: 0.0, high: f64::INFINITY };
        let (interval, trust) = intervals(&costs, &[Statistic::Risk(Risk::MEAN)], endless, 1)[0];
        assert!(interval.high < 0.3 && trust.doubt == Some(Doubt::Unbounded));
    }

    /// No measure is above all costs, and the lowest costs are of no account for the worst ones.
    #[test]
    fn tails_end_at_the_bound_and_rest_on_few_runs() {
        for power in [1, 2, 4, 8, 16, 32] {
            let costs: Vec<f64> = (0..100).map(|run| (f64::from(run) / 100.0).powi(power)).collect();
            for risk in ["cvar:0.95", "cvar:0.99", "mean-cvar:0.99:1", "evar:0.99", "evar:0.999", "erm:1e6"] {
                let (interval, trust) = of(&costs, risk, 1);
                assert!(interval.high <= 1.0, "{power} {risk} {interval:?}");
                assert!(!matches!(trust.doubt, None | Some(Doubt::Below(_))), "{power} {risk} {trust:?}");
            }
        }
    }

    /// A statistic has the bits it has alone, the order of the costs and the number of threads do not matter, and the value is inside.
    #[test]
    fn each_interval_is_its_own() {
        let samples: Vec<f64> = (0..60).map(|i| f64::from(i * i % 23) / 23.0).collect();
        let mut turned = samples.clone();
        turned.reverse();
        let risks =
            ["cvar:0.8", "evar:0.9", "mean-cvar:0.5:0.5", "var:0.3", "exceed:0.5", "mean", "erm:-1e5", "erm:1e5"];
        let risks: Vec<Risk> = risks.iter().map(|risk| risk.parse().unwrap()).collect();
        let mut statistics: Vec<Statistic> = risks.iter().copied().map(Statistic::Risk).collect();
        statistics.push(Statistic::Deviation);
        let together = intervals(&samples, &statistics, UNIT, 4);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| intervals(&turned, &statistics, UNIT, 4)), together);
        for (statistic, &found) in statistics.iter().zip(&together) {
            assert_eq!(intervals(&samples, &[*statistic], UNIT, 4)[0], found, "{statistic:?}");
        }
        for (risk, (Interval { low, high }, _)) in risks.iter().zip(together) {
            let value = risk.of_samples(&samples).unwrap();
            assert!(low <= value + 1e-12 && value <= high + 1e-12 && low < high, "{risk}: {low} {value} {high}");
        }
    }

    /// Many costs are drawn in blocks, whose mean is that of the costs.
    #[test]
    fn blocks_are_few_and_keep_atoms() {
        let many: Vec<f64> = (0..1_000_000).map(|i| if i < 300_000 { 0.0 } else { f64::from(i) }).collect();
        let blocks = blocks(&Ascending::from(&many));
        assert!(blocks.len() < 4000 && blocks[0] == (0.0, 300_000.0), "{}", blocks.len());
        assert_eq!(blocks.iter().map(|block| block.1).sum::<f64>(), 1e6);
        let mean = Erm::MEAN.of_samples(&many);
        assert!((Erm::MEAN.of_outcomes(blocks.into_iter()) - mean).abs() < 1e-6 * mean);
        let few: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(super::blocks(&Ascending::from(&few)).len(), 100);
    }

    /// Mean and variance of the gamma distribution are its shape; 4e4 draws, five standard errors (false alarm below 1e-5).
    #[test]
    fn gamma_has_its_moments() {
        let mut rng = rng::stream(5, 0, Purpose::Generation);
        for shape in [1.0, 2.0, 40.0] {
            let drawn: Vec<f64> = (0..40_000).map(|_| gamma(shape, &mut rng)).collect();
            let mean = drawn.iter().sum::<f64>() / 4e4;
            let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4e4;
            assert!((mean - shape).abs() < 5.0 * (shape / 4e4_f64).sqrt(), "{shape}: {mean}");
            // The fourth central moment of the distribution is 3·shape² + 6·shape.
            let error = ((2.0 * shape * shape + 6.0 * shape) / 4e4_f64).sqrt();
            assert!((variance - shape).abs() < 5.0 * error, "{shape}: {variance}");
        }
    }
}
