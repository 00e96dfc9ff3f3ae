//! Evaluating simulated paths: O(1) work per step and a terminal value from the touched cells only.

use std::ops::Range;
use std::slice;
use std::sync::Arc;

use super::cells::Cells;
use super::{Function, Objective, Term};
use crate::logarithm::Logarithm;

/// Evaluates f after paths that continue from one fixed root, again and again, without allocating.
#[derive(Clone, Debug)]
pub(crate) struct PathEvaluator {
    objective: Arc<Objective>,
    /// Normalised discount γ^t·(1−γ)/(1−γ^H) of each time.
    masses: Arc<[f64]>,
    /// The mass of all times before each, and of all times.
    elapsed: Vec<f64>,
    features: Vec<Feature>,
    /// For each sum over cells of all terms, its value at the root.
    root_sums: Vec<f64>,
    /// Memory for the cells that a path touches.
    touched: Vec<u32>,
    /// Memory for total costs and the inputs of formulas.
    totals: Vec<f64>,
    logarithm: Logarithm,
}

/// A feature at the root and along the path that is being evaluated.
#[derive(Clone, Copy, Debug, Default)]
struct Feature {
    /// Equal to `root` between evaluations.
    current: f64,
    root: f64,
    /// φ_j of the root's mass if the feature is a cell; unused for others.
    root_value: f64,
}

impl PathEvaluator {
    pub(crate) fn new(objective: Arc<Objective>, masses: Arc<[f64]>) -> Self {
        let mut evaluator = Self {
            features: vec![Feature::default(); objective.feature_count()],
            root_sums: vec![0.0; objective.terms.iter().map(|(_, term)| term.cells.len()).sum()],
            touched: vec![0; masses.len()],
            totals: vec![0.0; objective.feature_count()],
            logarithm: Logarithm::new(),
            elapsed: elapsed(&masses),
            objective,
            masses,
        };
        let mut first = 0;
        for (_, term) in &evaluator.objective.terms {
            for (place, cells) in term.parts() {
                let own = first + place..first + place + cells.partition.cell_count();
                for (j, feature) in evaluator.features[own].iter_mut().enumerate() {
                    feature.root_value = cells.cell_value(j, 0.0);
                }
            }
            first += term.features;
        }
        evaluator
    }

    /// Paths start from these features from now on. Only cells whose mass has changed are evaluated anew.
    pub(crate) fn set_root(&mut self, features: &[f64]) {
        let mut first = 0;
        let mut sums = self.root_sums.iter_mut();
        for (_, term) in &self.objective.terms {
            let (own, all) = (&mut self.features[first..], &features[first..]);
            first += term.features;
            for (feature, &x) in own[..term.carried].iter_mut().zip(all) {
                feature.root = x;
            }
            for ((place, cells), sum) in term.parts().zip(&mut sums) {
                let part = place..place + cells.partition.cell_count();
                *sum = 0.0;
                for (j, (feature, &x)) in own[part.clone()].iter_mut().zip(&all[part]).enumerate() {
                    if feature.root != x {
                        feature.root = x;
                        feature.current = x;
                        feature.root_value = cells.cell_value(j, x);
                    }
                    *sum += feature.root_value;
                }
            }
        }
    }

    /// f at the horizon after a path of pairs from time `start` on: `path[..known]` is known, `rest` finds the others, for
    /// which the remainder of `path` is memory.
    #[inline]
    pub(crate) fn value(&mut self, path: &mut [u32], known: usize, start: usize, rest: impl Walk) -> f64 {
        let masses = &self.masses[start..start + path.len()];
        // The common case does both at once: the processor evaluates a step while it waits for the next.
        if let [(weight, Term { function: Function::Sum, cells, .. })] = self.objective.terms.as_slice() {
            let (features, touched) = (&mut self.features[..], &mut self.touched[..]);
            let elapsed = &self.elapsed[start..=start + path.len()];
            let mut tally = Tally { cells: &cells[0], features, touched, count: 0, masses, elapsed };
            for &pair in &path[..known] {
                tally.visit(pair);
            }
            rest.walk(&mut tally);
            return self.objective.offset + weight * (self.root_sums[0] + tally.change(&self.logarithm));
        }
        rest.walk(&mut Record(path[known..].iter_mut()));
        let mut value = self.objective.offset;
        let (mut first, mut first_sum) = (0, 0);
        let Self { features, root_sums, touched, totals, elapsed, logarithm, .. } = self;
        let elapsed = &elapsed[start..=start + path.len()];
        for (weight, term) in &self.objective.terms {
            let (carried, of_cells) = features[first..first + term.features].split_at_mut(term.carried);
            let root = carried.iter().map(|feature| feature.root);
            let mut sums = root_sums[first_sum..].iter();
            let mut after = |cells: &Cells, features: &mut [Feature]| {
                let mut tally = Tally { cells, features, touched: &mut touched[..], count: 0, masses, elapsed };
                for &pair in path.iter() {
                    tally.visit(pair);
                }
                sums.next().map_or(0.0, |sum| sum + tally.change(logarithm))
            };
            let inputs = &mut totals[..term.carried];
            value += weight
                * match &term.function {
                    Function::Utility(own) => own.value_of_path(&term.costs, root, inputs, path, masses),
                    Function::Sum => after(&term.cells[0], of_cells),
                    Function::Custom(own) => own.value_of_path(root, inputs, path, masses),
                    Function::Formula(formula) => {
                        let (of_totals, of_sums) = inputs.split_at_mut(term.costs.count());
                        term.costs.add_path(root, of_totals, path, masses);
                        let mut rest = of_cells;
                        for (cells, input) in term.cells.iter().zip(of_sums) {
                            let (own, others) = rest.split_at_mut(cells.partition.cell_count());
                            *input = after(cells, own);
                            rest = others;
                        }
                        formula.of_inputs(&|number| inputs[number])
                    }
                };
            first += term.features;
            first_sum += term.cells.len();
        }
        value
    }
}

/// For each time, the sum of the masses before it.
fn elapsed(masses: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let later = masses.iter().map(|mass| {
        sum += mass;
        sum
    });
    std::iter::once(0.0).chain(later).collect()
}

/// Finds the pairs of a path, one after the other.
pub(crate) trait Walk {
    /// Visits pairs until the path is over, or stops before.
    fn walk(self, track: &mut impl Track);
}

/// Takes note of the pairs of a path.
pub(crate) trait Track {
    /// Whether the horizon is reached.
    fn is_over(&self) -> bool;

    /// Takes note of the next pair.
    fn visit(&mut self, pair: u32);

    /// Takes note of a number of visits, or as many as there is time for, to any of these pairs if it makes no difference which;
    /// returns whether that is so.
    fn visit_alike(&mut self, pairs: Range<u32>, times: usize) -> bool;
}

/// Writes a path down.
struct Record<'a>(slice::IterMut<'a, u32>);

impl Track for Record<'_> {
    #[inline]
    fn is_over(&self) -> bool {
        self.0.len() == 0
    }

    #[inline]
    fn visit(&mut self, pair: u32) {
        if let Some(slot) = self.0.next() {
            *slot = pair;
        }
    }

    #[inline]
    fn visit_alike(&mut self, _: Range<u32>, _: usize) -> bool {
        false
    }
}

/// Counts occupancy in cells along a path.
struct Tally<'a> {
    cells: &'a Cells,
    features: &'a mut [Feature],
    /// The cells met so far are the first `count`.
    touched: &'a mut [u32],
    count: usize,
    /// The masses of the times to come.
    masses: &'a [f64],
    /// The sum of all masses before each time to come and the horizon.
    elapsed: &'a [f64],
}

impl Tally<'_> {
    #[inline]
    fn add(&mut self, cell: usize, mass: f64) {
        let feature = &mut self.features[cell];
        // Written always, kept if the cell is met for the first time: no branch to mispredict.
        self.touched[self.count] = cell as u32;
        self.count += usize::from(feature.current.to_bits() == feature.root.to_bits());
        feature.current += mass;
    }

    #[inline]
    fn cell(&self, pair: u32) -> usize {
        self.cells.partition.cell(pair as usize)
    }

    /// Σ_j φ_j after the path minus Σ_j φ_j at the root, over the cells that were met; restores the features.
    #[inline]
    fn change(self, logarithm: &Logarithm) -> f64 {
        change(self.cells, self.features, &self.touched[..self.count], logarithm)
    }
}

/// Out of line and apart from [`Tally`], so that the tally of a walk can live in registers.
#[inline(never)]
fn change(cells: &Cells, features: &mut [Feature], touched: &[u32], logarithm: &Logarithm) -> f64 {
    let ln = |y: f64| if y >= f64::MIN_POSITIVE { logarithm.ln(y) } else { y.ln() };
    let mut sum = 0.0;
    for &cell in touched {
        let feature = &mut features[cell as usize];
        sum += cells.cell_value_with(ln, cell as usize, feature.current) - feature.root_value;
        feature.current = feature.root;
    }
    sum
}

impl Track for Tally<'_> {
    #[inline]
    fn is_over(&self) -> bool {
        self.masses.is_empty()
    }

    #[inline]
    fn visit(&mut self, pair: u32) {
        if let [mass, later @ ..] = self.masses {
            self.masses = later;
            self.add(self.cell(pair), *mass);
        }
    }

    #[inline]
    fn visit_alike(&mut self, mut pairs: Range<u32>, times: usize) -> bool {
        let cell = self.cell(pairs.start);
        if !pairs.all(|pair| self.cell(pair) == cell) {
            return false;
        }
        let now = self.elapsed.len() - 1 - self.masses.len();
        let times = times.min(self.masses.len());
        self.masses = &self.masses[times..];
        self.add(cell, self.elapsed[now + times] - self.elapsed[now]);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::{Bounds, Partition};
    use crate::rng::{self, Purpose};

    struct Given<'a>(&'a [u32]);

    impl Walk for Given<'_> {
        fn walk(self, track: &mut impl Track) {
            for &pair in self.0 {
                track.visit(pair);
            }
        }
    }

    /// Paths from random roots, evaluated by touched cells and from scratch; the second round finds the memory restored.
    #[test]
    fn touched_cells_give_the_whole_value() {
        let mut rng = rng::stream(1, 0, Purpose::Generation);
        let cells = || Partition::new(vec![0, 1, 1, 2, 4], vec![1, 2, 1, 7, 1]).unwrap();
        let costs = [vec![1.0, -2.0, 0.0, 0.5, 3.0], vec![0.0, 1.0, -1.0, 2.0, 0.25]];
        let entropy = || Objective::entropy(cells(), 1e-4).unwrap();
        let mixed = 2.0 * entropy()
            + Objective::squared_distance(cells(), vec![0.3, 0.1, 0.2, 0.3, 0.1]).unwrap()
            + -1.0 * Objective::maximum(&costs).unwrap()
            + Objective::linear(costs[0].clone()).unwrap();
        let inputs = [
            ("a", Objective::linear(costs[0].clone()).unwrap()),
            ("b", Objective::linear(costs[1].clone()).unwrap()),
            ("entropy()", 0.5 * entropy()),
            ("distance(t)", Objective::squared_distance(cells(), vec![0.2; 5]).unwrap().shifted(1.0)),
        ];
        let formulas = ["sqrt(abs(a)) + max(0, b - 0.1)", "exp(entropy()) * distance(t) - a", "max(entropy(), -1)"];
        let formulas = formulas.map(|text| 3.0 * Objective::formula(text, &inputs).unwrap());
        for objective in formulas.iter().cloned().chain([formulas[1].clone() + entropy() + formulas[0].clone()]) {
            compare(&objective, &mut rng);
        }
        let everything = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
        let custom = Objective::custom(5, everything, |d| d[0] * d[4] - d[2].sqrt()).unwrap();
        let with_custom = entropy() + 2.0 * custom.clone() + Objective::linear(costs[1].clone()).unwrap();
        for objective in [mixed, entropy().shifted(0.5), Objective::maximum(&costs).unwrap(), custom, with_custom] {
            compare(&objective, &mut rng);
        }
    }

    fn compare(objective: &Objective, rng: &mut rng::Rng) {
        let masses: Arc<[f64]> = (0..30).map(|t| 0.9_f64.powi(t) / 9.6).collect();
        let mut evaluator = PathEvaluator::new(Arc::new(objective.clone()), Arc::clone(&masses));
        for start in [0, 1, 17, 29] {
            let path = |from: usize, rng: &mut _| -> Vec<u32> { (from..30).map(|_| rng::below(rng, 5)).collect() };
            let mut features = vec![0.0; objective.feature_count()];
            for (&pair, &mass) in path(30 - start, rng).iter().zip(masses.iter()) {
                objective.add(&mut features, pair as usize, mass);
            }
            evaluator.set_root(&features);
            for _ in 0..20 {
                let path = path(start, rng);
                let mut at_end = features.clone();
                for (&pair, &mass) in path.iter().zip(&masses[start..]) {
                    objective.add(&mut at_end, pair as usize, mass);
                }
                let expected = objective.value_of_features(&at_end);
                let known = path.len() / 2;
                let value = evaluator.value(&mut vec![0; path.len()], 0, start, Given(&path));
                assert!((value - expected).abs() < 1e-13);
                let mut begun = path.clone();
                begun[known..].fill(0);
                let value = evaluator.value(&mut begun, known, start, Given(&path[known..]));
                assert!((value - expected).abs() < 1e-13);
            }
        }
    }
}
