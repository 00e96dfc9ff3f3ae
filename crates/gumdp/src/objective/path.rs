//! Evaluating simulated paths: O(1) work per step and a terminal value from the touched cells only.

use std::sync::Arc;

use super::{Objective, Term};

/// Evaluates f after paths that continue from one fixed root, again and again, without allocating.
#[derive(Clone, Debug)]
pub(crate) struct PathEvaluator {
    objective: Arc<Objective>,
    /// Normalised discount γ^t·(1−γ)/(1−γ^H) of each time.
    masses: Arc<[f64]>,
    /// Features at the root.
    root: Vec<f64>,
    /// The root's features again, changed while a path is evaluated and restored afterwards.
    current: Vec<f64>,
    /// φ_j of the root's mass for features that are cells; unused for totals.
    root_values: Vec<f64>,
    /// For each term, the sum of its part of `root_values`.
    root_sums: Vec<f64>,
}

impl PathEvaluator {
    pub(crate) fn new(objective: Arc<Objective>, masses: Arc<[f64]>) -> Self {
        let features = objective.feature_count();
        let root_sums = vec![0.0; objective.terms.len()];
        let zeros = vec![0.0; features];
        Self { objective, masses, root: zeros.clone(), current: zeros.clone(), root_values: zeros, root_sums }
    }

    /// Paths start from these features from now on.
    pub(crate) fn set_root(&mut self, features: &[f64]) {
        self.root.copy_from_slice(features);
        self.current.copy_from_slice(features);
        let mut first = 0;
        for ((_, term), sum) in self.objective.terms.iter().zip(&mut self.root_sums) {
            if let Term::Cells(cells) = term {
                *sum = 0.0;
                for (j, &x) in features[first..first + term.features()].iter().enumerate() {
                    let value = cells.cell_value(j, x);
                    self.root_values[first + j] = value;
                    *sum += value;
                }
            }
            first += term.features();
        }
    }

    /// f at the horizon if `path` is the sequence of pairs visited from time `start` to the last step.
    #[inline]
    pub(crate) fn value(&mut self, path: &[u32], start: usize) -> f64 {
        let masses = &self.masses[start..start + path.len()];
        let mut value = self.objective.offset;
        let mut first = 0;
        for ((weight, term), root_sum) in self.objective.terms.iter().zip(&self.root_sums) {
            let features = term.features();
            let current = &mut self.current[first..first + features];
            let root = &self.root[first..first + features];
            value += weight
                * match term {
                    Term::Totals(totals) => {
                        for (&pair, &mass) in path.iter().zip(masses) {
                            totals.add(current, pair as usize, mass);
                        }
                        let utility = totals.value(current);
                        current.copy_from_slice(root);
                        utility
                    }
                    Term::Cells(cells) => {
                        for (&pair, &mass) in path.iter().zip(masses) {
                            current[cells.partition.cell(pair as usize)] += mass;
                        }
                        let root_values = &self.root_values[first..first + features];
                        let mut sum = *root_sum;
                        for &pair in path {
                            let j = cells.partition.cell(pair as usize);
                            // A cell is counted when it is met first; restoring it marks it as done.
                            if current[j] != root[j] {
                                sum += cells.cell_value(j, current[j]) - root_values[j];
                                current[j] = root[j];
                            }
                        }
                        sum
                    }
                };
            first += features;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::Partition;
    use crate::rng::{self, Purpose};

    /// Paths from random roots, evaluated by touched cells and from scratch; the second round finds the memory restored.
    #[test]
    fn touched_cells_give_the_whole_value() {
        let mut rng = rng::stream(1, 0, Purpose::Generation);
        let cells = || Partition::new(vec![0, 1, 1, 2, 4], vec![1, 2, 1, 7, 1]).unwrap();
        let costs = [vec![1.0, -2.0, 0.0, 0.5, 3.0], vec![0.0, 1.0, -1.0, 2.0, 0.25]];
        let objective = 2.0 * Objective::entropy(cells(), 1e-4).unwrap()
            + Objective::squared_distance(cells(), vec![0.3, 0.1, 0.2, 0.3, 0.1]).unwrap()
            + -1.0 * Objective::maximum(&costs).unwrap()
            + Objective::linear(costs[0].clone()).unwrap();
        let masses: Arc<[f64]> = (0..30).map(|t| 0.9_f64.powi(t) / 9.6).collect();
        let mut evaluator = PathEvaluator::new(Arc::new(objective.clone()), Arc::clone(&masses));
        for start in [0, 1, 17, 29] {
            let path = |from: usize, rng: &mut _| -> Vec<u32> { (from..30).map(|_| rng::below(rng, 5)).collect() };
            let mut features = vec![0.0; objective.feature_count()];
            for (&pair, &mass) in path(30 - start, &mut rng).iter().zip(masses.iter()) {
                objective.add(&mut features, pair as usize, mass);
            }
            evaluator.set_root(&features);
            for _ in 0..20 {
                let path = path(start, &mut rng);
                let mut at_end = features.clone();
                for (&pair, &mass) in path.iter().zip(&masses[start..]) {
                    objective.add(&mut at_end, pair as usize, mass);
                }
                let expected = objective.value_of_features(&at_end);
                assert!((evaluator.value(&path, start) - expected).abs() < 1e-13);
            }
        }
    }
}
