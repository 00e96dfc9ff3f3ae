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
