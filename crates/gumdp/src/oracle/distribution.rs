//! Distributions of finitely many costs.

use crate::risk::{Erm, Risk, Sum, Tail};
use crate::stats::Costs;

/// Costs that are closer than this part of their spread, or of the largest of them, are equal.
const EQUAL: f64 = 1e-12;
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A probability distribution on finitely many costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Ascending, no two equal but for rounding.
    values: Vec<f64>,
    probabilities: Vec<f64>,
    /// How far apart costs of the problem can be.
    range: Option<f64>,
}

impl Distribution {
    /// That of the outcomes of a problem whose costs can be so far apart; those that are equal but for rounding are merged.
    pub(super) fn merged(outcomes: Vec<(f64, f64)>, range: f64) -> Self {
        let widest = |(a, b): (f64, f64), o: &(f64, f64)| (o.0.min(a), o.0.max(b));
        let (least, most) = outcomes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), widest);
        let near = EQUAL * (most - least) + ROUNDING * least.abs().max(most.abs());
        Self { range: Some(range), ..Self::new(outcomes, near) }
    }

    /// Sorts the outcomes and merges those that differ by no more than `near`, to the highest of them: what does not exceed a limit
    /// with some probability still does not. There is at least one outcome.
    fn new(mut outcomes: Vec<(f64, f64)>, near: f64) -> Self {
        outcomes.sort_unstable_by(|(a, p), (b, q)| a.total_cmp(b).then(p.total_cmp(q)));
        let (mut values, mut probabilities, mut first) = (Vec::new(), Vec::<Sum>::new(), f64::NEG_INFINITY);
        for (value, probability) in outcomes {
            if value - first > near {
                first = value;
                values.push(value);
                probabilities.push(Sum::ZERO);
            }
            let last = values.len() - 1;
            values[last] = value;
            probabilities[last].add(probability);
        }
        Self { values, probabilities: probabilities.into_iter().map(Sum::value).collect(), range: None }
    }

    /// The distribution of equally likely costs; `None` if there are none or one is not finite.
    ///
    /// ```
    /// use gumdp::oracle::Distribution;
    /// let found = Distribution::of_samples(&[2.0, 1.0, 2.0, 4.0]).unwrap();
    /// assert_eq!((found.values(), found.mean()), (&[1.0, 2.0, 4.0][..], 2.25));
    /// assert!(Distribution::of_samples(&[]).is_none() && Distribution::of_samples(&[f64::NAN]).is_none());
    /// ```
    #[must_use]
    pub fn of_samples(costs: &[f64]) -> Option<Self> {
        let share = 1.0 / costs.len() as f64;
        let usable = !costs.is_empty() && costs.iter().all(|cost| cost.is_finite());
        usable.then(|| Self::new(costs.iter().map(|&cost| (cost, share)).collect(), 0.0))
    }

    /// The distribution of the costs of runs; of many, those in a bin are one. `None` if there are none.
    #[must_use]
    pub fn of_costs(costs: &Costs) -> Option<Self> {
        if costs.are_few() {
            return Self::of_samples(costs.first());
        }
        let share = 1.0 / costs.count() as f64;
        let shares = costs.ascending().counted().map(|(cost, count)| (cost, count as f64 * share)).collect();
        Some(Self::new(shares, 0.0))
    }

    /// The possible costs, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The probability of each cost. They sum to 1 but for rounding. One below 1e-300 may be inaccurate but is never 0.
    ///
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Each cost with its probability, costs ascending.
    #[must_use]
    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = (f64, f64)> + Clone + '_ {
        self.values.iter().copied().zip(self.probabilities.iter().copied())
    }

    /// The entropic risk measure of the cost.
    #[must_use]
    pub fn erm(&self, erm: Erm) -> f64 {
        erm.of_outcomes(self.outcomes())
    }

    /// Any risk measure of the cost.
    #[must_use]
    pub fn risk(&self, risk: Risk) -> f64 {
        self.range.map_or(risk, |range| risk.within(range)).of_tail(&self.tail())
    }

    /// The same with neighbouring costs put together where there are more than `most`: so many stretches of equal width, each told
    /// by its highest cost. For drawing only.
    ///
    /// ```
    /// use gumdp::oracle::Distribution;
    /// let found = Distribution::of_samples(&[0.0, 1.0, 9.0, 10.0]).unwrap();
    /// assert_eq!(found.thinned(2), [(1.0, 0.5), (10.0, 0.5)]);
    /// assert_eq!(found.thinned(4).len(), 4);
    /// ```
    #[must_use]
    pub fn thinned(&self, most: usize) -> Vec<(f64, f64)> {
        if self.values.len() <= most {
            return self.outcomes().collect();
        }
        let (low, width) = (self.min(), (self.max() - self.min()) / most.max(1) as f64);
        let mut all: Vec<(usize, f64, Sum)> = Vec::with_capacity(most);
        for (value, probability) in self.outcomes() {
            let stretch = (((value - low) / width) as usize).min(most.max(1) - 1);
            match all.last_mut().filter(|last| last.0 == stretch) {
                Some(last) => {
                    last.1 = value;
                    last.2.add(probability);
                }
                None => all.push((stretch, value, [probability].into_iter().collect())),
            }
        }
        all.into_iter().map(|(_, value, probability)| (value, probability.value())).collect()
    }

    pub(super) fn tail(&self) -> Tail {
        Tail::of_sorted(self.outcomes().collect())
    }

    /// The expected cost.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.erm(Erm::MEAN)
    }

    /// The smallest cost that is not exceeded with probability `level` (the lowest for 0, the highest for 1).
    ///
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        // Rounding of the probabilities must not move a quantile that lies on a step.
        let wanted = level - 1e-12;
        let mut cumulative = Sum::ZERO;
        for (value, probability) in self.outcomes() {
            cumulative.add(probability);
            if cumulative.value() >= wanted {
                return value;
            }
        }
        self.max()
    }

    /// The probability of a cost of at most `cost`.
    #[must_use]
    pub fn cdf(&self, cost: f64) -> f64 {
        let below = self.values.partition_point(|&value| value <= cost);
        self.probabilities[..below].iter().copied().collect::<Sum>().value().min(1.0)
    }

    /// The lowest possible cost.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.values[0]
    }

    /// The highest possible cost.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.values[self.values.len() - 1]
    }
}
