//! The costs of any number of runs in bounded memory.
//!
//! The first 100 000 costs are kept as they come. Of more, equal ones are counted, which says all there is to know while no more than
//! 32 768 of them differ. After that they are counted in bins, whose width is a power of two and doubles when costs are met too far
//! apart: each bin has the mean of its costs, so that the mean of all is exact, and so are the extremes and the entropic risks that
//! were asked for before, which are summed cost by cost. Quantiles and what rests on them are off by at most the width of a bin. The
//! order of the costs is that of the runs, whatever the threads: so are the bits of all this.

use std::collections::BTreeMap;

use super::Statistic;
use super::bins::Bins;
use crate::objective::Bounds;
use crate::risk::{Ascending, Erm, LARGEST_COST, Risk, RiskError, Seen, Tail, Weigher};

/// So many costs are kept as they come.
const KEPT: usize = 100_000;
/// More different costs than this are counted in bins.
const MOST_DISTINCT: usize = 1 << 15;
/// Bins of all parts between cuts, at most.
const BINS: i64 = 1 << 14;
/// So many terms are summed before they are added to the sum of all: the error of a sum grows with the number of its terms.
const SUMMED: u64 = 4096;

/// The costs of runs, in their order.
///
/// ```
/// use gumdp::stats::Costs;
/// use gumdp::{Bounds, Risk};
/// let mut costs = Costs::new(&[Risk::MEAN], Bounds { low: 0.0, high: 1.0 });
/// (0..200_000).for_each(|run| costs.add(f64::from(run % 4) / 4.0));
/// assert_eq!((costs.count(), costs.first().len()), (200_000, 100_000));
/// let counted: Vec<(f64, u64)> = costs.ascending().counted().collect();
/// assert_eq!(counted, [0.0, 0.25, 0.5, 0.75].map(|cost| (cost, 50_000)));
/// ```
#[derive(Clone, Debug)]
pub struct Costs {
    bounds: Bounds,
    first: Vec<f64>,
    count: u64,
    /// Entropic measures, in use when there are many costs.
    followed: Vec<Followed>,
    /// Bins end at these, so that probabilities of exceeding them are exact.
    cuts: Vec<f64>,
    many: Many,
    /// The first cost that no measure can be computed with, and its number.
    refused: Option<(usize, f64)>,
}

#[derive(Clone, Debug)]
enum Many {
    /// All are among the first.
    No,
    /// How often each was met, by its place in the order of all numbers.
    Distinct(BTreeMap<i64, u64>),
    /// Between cuts.
    Binned(Vec<Bins>),
}

impl Costs {
    /// None yet; of an objective between these bounds. The entropic measures among `risks` stay exact, however many costs there are, and
    /// so do the probabilities of exceeding a cost.
    #[must_use]
    pub fn new(risks: &[Risk], bounds: Bounds) -> Self {
        let asked = risks.iter().filter_map(|risk| risk.as_erm()).filter(|erm| erm.beta().is_finite());
        let mut measures: Vec<Erm> = vec![Erm::MEAN];
        for erm in asked {
            if !measures.contains(&erm) {
                measures.push(erm);
            }
        }
        let mut cuts: Vec<f64> = risks.iter().filter_map(|risk| Some(risk.as_exceed()?.highest())).collect();
        cuts.sort_unstable_by(f64::total_cmp);
        let followed = measures.into_iter().map(Followed::new).collect();
        Self { bounds, first: Vec::new(), count: 0, followed, cuts, many: Many::No, refused: None }
    }

    /// These.
    #[must_use]
    pub fn of(samples: &[f64], risks: &[Risk], bounds: Bounds) -> Self {
        let mut costs = Self::new(risks, bounds);
        for &cost in samples {
            costs.add(cost);
        }
        costs
    }

    /// Adds that of the next run.
    pub fn add(&mut self, cost: f64) {
        if cost.is_nan() || cost.abs() > LARGEST_COST {
            self.refused = self.refused.or(Some((self.count as usize, cost)));
            return;
        }
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(cost);
            return;
        }
        if matches!(self.many, Many::No) {
            self.many = Many::Distinct(BTreeMap::new());
            let (first, bounds) = (std::mem::take(&mut self.first), self.bounds);
            self.followed.iter_mut().for_each(|followed| followed.begin(first[0], bounds));
            for &cost in &first {
                self.count_one(cost);
            }
            self.first = first;
        }
        self.count_one(cost);
    }

    fn count_one(&mut self, cost: f64) {
        self.followed.iter_mut().for_each(|followed| followed.add(cost));
        let bins = |cuts: &[f64]| vec![Bins::new(BINS / (cuts.len() as i64 + 1)); cuts.len() + 1];
        let into = |binned: &mut [Bins], cuts: &[f64], cost: f64, count: u64| {
            binned[cuts.partition_point(|&cut| cut < cost)].add(cost, count);
        };
        match &mut self.many {
            Many::No => {}
            Many::Distinct(counts) => {
                // Both zeros are one cost.
                *counts.entry(place(cost + 0.0)).or_default() += 1;
                if counts.len() > MOST_DISTINCT {
                    let mut binned = bins(&self.cuts);
                    for (&key, &count) in counts.iter() {
                        into(&mut binned, &self.cuts, cost_at(key), count);
                    }
                    self.many = Many::Binned(binned);
                }
            }
            Many::Binned(binned) => into(binned, &self.cuts, cost, 1),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first 100 000 of them, in order.
    #[must_use]
    pub fn first(&self) -> &[f64] {
        &self.first
    }

    /// Whether these are all.
    #[must_use]
    pub fn are_few(&self) -> bool {
        matches!(self.many, Many::No)
    }

    /// In ascending order.
    #[must_use]
    pub fn ascending(&self) -> Ascending {
        match &self.many {
            Many::No => Ascending::from(&self.first),
            Many::Distinct(counts) => Ascending::new(counts.iter().map(|(&key, &count)| (cost_at(key), count)), 0.0),
            Many::Binned(binned) => {
                let width = binned.iter().map(Bins::width).fold(0.0, f64::max);
                Ascending::new(binned.iter().flat_map(Bins::counted), width)
            }
        }
    }

    /// Each with its weight, ascending: few as often as they were met, which keeps the rounding of sums as it is.
    pub(super) fn tail(&self, ascending: &Ascending) -> Tail {
        Tail::of_sorted(if self.are_few() {
            ascending.each().map(|cost| (cost, 1.0)).collect()
        } else {
            ascending.counted().map(|(cost, count)| (cost, count as f64)).collect()
        })
    }

    /// The value of a measure of all of them, of which this is the tail.
    pub(super) fn risk(&self, risk: Risk, tail: &Tail) -> f64 {
        let few = risk.as_erm().filter(|_| self.are_few()).map(|erm| erm.of_samples(&self.first));
        few.or_else(|| self.followed(Statistic::Risk(risk))).unwrap_or_else(|| risk.of_tail(tail))
    }

    /// What was summed cost by cost, where costs are in bins.
    pub(super) fn followed(&self, statistic: Statistic) -> Option<f64> {
        let Statistic::Risk(risk) = statistic else { return None };
        let binned = matches!(self.many, Many::Binned(_));
        let erm = risk.as_erm().filter(|_| binned)?;
        self.followed.iter().find(|followed| followed.erm == erm)?.value()
    }

    /// # Errors
    /// Without costs, or if one was not finite or too large.
    pub(super) fn check(&self) -> Result<(), RiskError> {
        if let Some((index, value)) = self.refused {
            return Err(RiskError::Outcome { what: "cost", index, value, allowed: "lie in [-8e307, 8e307]" });
        }
        if self.count == 0 { Err(RiskError::NoOutcomes) } else { Ok(()) }
    }
}

impl From<&Costs> for Ascending {
    fn from(costs: &Costs) -> Self {
        costs.ascending()
    }
}

/// The place of a cost in the order of all numbers; the same turns it back.
fn place(cost: f64) -> i64 {
    turned(cost.to_bits() as i64)
}

fn cost_at(place: i64) -> f64 {
    f64::from_bits(turned(place) as u64)
}

fn turned(bits: i64) -> i64 {
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// An entropic measure of costs that come one by one.
#[derive(Clone, Debug)]
struct Followed {
    erm: Erm,
    weigher: Option<Weigher>,
    all: Seen,
    /// Those that are not in the sum of all yet.
    last: Seen,
}

impl Followed {
    fn new(erm: Erm) -> Self {
        Self { erm, weigher: None, all: Seen::NOTHING, last: Seen::NOTHING }
    }

    fn begin(&mut self, usual: f64, bounds: Bounds) {
        self.weigher = Some(Weigher::new(self.erm, usual, bounds.low, bounds.high));
    }

    fn add(&mut self, cost: f64) {
        let Some(weigher) = &self.weigher else { return };
        self.last.add(cost, weigher.weigh(cost));
        if self.last.count == SUMMED {
            self.all.merge(&self.last);
            self.last = Seen::NOTHING;
        }
    }

    fn value(&self) -> Option<f64> {
        let mut all = self.all;
        all.merge(&self.last);
        Some(self.weigher.as_ref()?.risk(&all, 1.0 / all.count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{self, Purpose};
    use crate::stats::Summary;

    const UNIT: Bounds = Bounds { low: 0.0, high: 1.0 };

    fn size(costs: &Costs) -> usize {
        let many = match &costs.many {
            Many::No => 0,
            Many::Distinct(counts) => counts.len() * size_of::<(i64, u64)>(),
            Many::Binned(binned) => binned.iter().map(Bins::bytes).sum(),
        };
        many + costs.first.capacity() * size_of::<f64>()
    }

    /// Costs that all differ: memory does not grow with their number, and what is promised of them holds.
    #[test]
    fn many_costs_take_no_more_memory() {
        let risks = ["erm:3", "erm:-40", "erm:1e-7", "exceed:0.3", "cvar:0.9", "var:0.25", "worst"];
        let risks: Vec<Risk> = risks.iter().map(|risk| risk.parse().unwrap()).collect();
        let mut rng = rng::stream(3, 0, Purpose::Generation);
        let samples: Vec<f64> = (0..1_000_000).map(|_| rng::unit(&mut rng).powi(3)).collect();
        let (few, many) = (Costs::of(&samples[..100_000], &risks, UNIT), Costs::of(&samples, &risks, UNIT));
        assert!(few.are_few() && many.ascending().width() <= 2.0 / 16_383.0);
        assert!(size(&many) <= size(&few) + 600_000, "{} {}", size(&few), size(&many));
        let (ascending, exact) = (many.ascending(), Ascending::from(&samples));
        let tail = many.tail(&ascending);
        for &risk in &risks {
            let (found, all) = (many.risk(risk, &tail), risk.of_samples(&samples).unwrap());
            let is_exact = risk.as_erm().is_some() || risk.as_exceed().is_some();
            let near = if is_exact { 1e-12 } else { ascending.width() };
            assert!((found - all).abs() <= near, "{risk}: {found} {all}");
        }
        for q in [0.0, 0.01, 0.5, 0.75, 1.0] {
            let (found, all) = (super::super::quantile_of(&ascending, q), super::super::quantile_of(&exact, q));
            assert!((found - all).abs() <= ascending.width(), "{q}: {found} {all}");
        }
        let summary = Summary::of_costs(&many, risks[0], UNIT, 1).unwrap();
        let mean = Erm::MEAN.of_samples(&samples);
        assert!((summary.mean - mean).abs() < 1e-13 && summary.max == exact.extremes()[1]);
        assert!(summary.trust.note().unwrap().contains("quantiles"), "{:?}", summary.trust.note());
    }

    /// Counted or as they came, equal costs have the same measures but for rounding.
    #[test]
    fn equal_costs_are_counted() {
        let samples: Vec<f64> = (0..300_000).map(|run| f64::from((run % 17) * (run % 17) % 17)).collect();
        let bounds = Bounds { low: 0.0, high: 17.0 };
        let costs = Costs::of(&samples, &[Risk::MEAN], bounds);
        assert!(!costs.are_few() && costs.ascending() == Ascending::from(&samples));
        assert_eq!(costs.ascending().width(), 0.0);
        let (summary, mean) = (Summary::of(&samples, Risk::MEAN, bounds, 1).unwrap(), Erm::MEAN.of_samples(&samples));
        assert!((summary.mean - mean).abs() < 1e-12 && summary.trust.note().is_none());
        assert!(Costs::of(&[1.0, f64::NAN], &[], bounds).check().is_err());
    }
}
