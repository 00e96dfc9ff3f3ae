//! The distribution of the features of an episode's occupancy, and of sums of independent ones.

use std::collections::HashMap;

use crate::objective::Nature;
use crate::oracle::{Limits, OracleError, Visit, check_stop, distribution_with_visits};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::risk::Sum;

/// Features that differ by less than this part of the largest are equal: sums are rounded.
const EQUAL: f64 = 1.0 / (1_u64 << 40) as f64;
/// The most pairs of features that are added.
const MOST_SUMS: u64 = 4_000_000;

/// Features with their probabilities.
pub(super) struct Features {
    values: Vec<Vec<f64>>,
    probabilities: Vec<Sum>,
    places: HashMap<Box<[i64]>, usize>,
    /// Those that differ by less are equal.
    grain: f64,
}

impl Features {
    fn new(grain: f64) -> Self {
        Self { values: Vec::new(), probabilities: Vec::new(), places: HashMap::new(), grain }
    }

    fn add(&mut self, features: Vec<f64>, probability: f64) {
        let key = features.iter().map(|x| (x / self.grain).round() as i64).collect();
        let number = *self.places.entry(key).or_insert(self.values.len());
        if number == self.values.len() {
            self.values.push(features);
            self.probabilities.push(Sum::ZERO);
        }
        self.probabilities[number].add(probability);
    }

    /// That of the features of an episode; those that f does not look at in the end are 0.
    pub(super) fn of(problem: &Problem, policy: &dyn Policy, limits: &Limits) -> Result<Self, OracleError> {
        let natures = problem.objective().natures().unwrap_or_default();
        let mut zeros = vec![0.0; problem.objective().feature_count()];
        let mut largest = 0.0_f64;
        for pair in 0..problem.mdp().pair_count() {
            problem.objective().add(&mut zeros, pair, 1.0);
            largest = zeros.iter().fold(largest, |largest, x| largest.max(x.abs()));
            zeros.fill(0.0);
        }
        let mut all = Self::new(EQUAL * largest.max(f64::MIN_POSITIVE));
        let last = problem.horizon() - 1;
        distribution_with_visits(problem, policy, limits, |visit: Visit<'_>| {
            if visit.time == last {
                let mut features = visit.features.to_vec();
                let derived = features.iter_mut().zip(&natures).filter(|(_, nature)| **nature == Nature::Derived);
                derived.for_each(|(x, _)| *x = 0.0);
                all.add(features, visit.probability);
            }
        })?;
        Ok(all)
    }

    /// That of the sum of so many independent ones.
    pub(super) fn of_sum(self, count: u64, limits: &Limits) -> Result<Self, OracleError> {
        let (mut power, mut sum, mut left) = (self, None::<Self>, count);
        loop {
            if left % 2 == 1 {
                sum = Some(match &sum {
                    Some(sum) => sum.plus(&power, limits)?,
                    None => power.copy(),
                });
            }
            left /= 2;
            match sum {
                Some(sum) if left == 0 => return Ok(sum),
                _ => power = power.plus(&power, limits)?,
            }
        }
    }

    fn copy(&self) -> Self {
        let mut copy = Self::new(self.grain);
        self.outcomes().for_each(|(features, probability)| copy.add(features.to_vec(), probability));
        copy
    }

    fn plus(&self, other: &Self, limits: &Limits) -> Result<Self, OracleError> {
        let reached = (self.values.len() as u64).saturating_mul(other.values.len() as u64);
        let limit = MOST_SUMS.min(limits.max_states);
        if reached > limit {
            return Err(OracleError::TooLarge { reached, projected: None, limit });
        }
        let mut all = Self::new(self.grain);
        for (a, p) in self.outcomes() {
            check_stop(&limits.stop)?;
            for (b, q) in other.outcomes() {
                all.add(a.iter().zip(b).map(|(x, y)| x + y).collect(), p * q);
            }
        }
        Ok(all)
    }

    fn outcomes(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.values.iter().map(Vec::as_slice).zip(self.probabilities.iter().map(|sum| sum.value()))
    }

    /// The expected features.
    pub(super) fn mean(&self) -> Vec<f64> {
        let mut mean = vec![Sum::ZERO; self.values[0].len()];
        for (features, p) in self.outcomes() {
            mean.iter_mut().zip(features).for_each(|(sum, x)| sum.add(p * x));
        }
        mean.into_iter().map(Sum::value).collect()
    }

    /// The expected value of a function of the features.
    pub(super) fn expected(&self, mut of: impl FnMut(&mut [f64]) -> f64) -> f64 {
        let mut scratch = Vec::new();
        let terms = self.outcomes().map(|(features, p)| {
            scratch.clear();
            scratch.extend_from_slice(features);
            p * of(&mut scratch)
        });
        terms.collect::<Sum>().value()
    }
}
