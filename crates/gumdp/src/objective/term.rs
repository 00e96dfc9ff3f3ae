//! The terms that objectives are sums of: g of a few total costs and sums over cells.

use super::cells::Cells;
use super::custom::Custom;
use super::formula::Formula;
use super::kind::Utility;
use super::totals::Costs;
use super::{Bounds, Part};
use crate::rng::mix;

/// One term of an objective. Its features are a contiguous part of the objective's feature vector: its total costs, if it is a
/// formula a running value of each sum over cells, and the masses of these cells. A custom function has the masses of all pairs instead.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// Those whose totals it looks at, if any.
    pub(super) costs: Costs,
    /// The sums over cells it looks at.
    pub(super) cells: Vec<Cells>,
    pub(super) function: Function,
    /// Number of features.
    pub(super) features: usize,
    /// Number of features before the masses of cells.
    pub(super) carried: usize,
}

/// What a term makes of its inputs: the total costs, then the sums over cells.
#[derive(Clone, Debug)]
pub(super) enum Function {
    /// Total costs combined.
    Utility(Utility),
    /// The only sum over cells itself.
    Sum,
    Formula(Box<Formula>),
    /// No inputs, but all masses.
    Custom(Custom),
}

impl Term {
    pub(super) fn new(costs: Costs, cells: Vec<Cells>, function: Function) -> Self {
        let carried = match function {
            Function::Utility(_) | Function::Sum => costs.count(),
            Function::Formula(_) => costs.count() + cells.len(),
            Function::Custom(_) => costs.pair_count(),
        };
        let masses: usize = cells.iter().map(|cells| cells.partition.cell_count()).sum();
        Self { costs, cells, function, features: carried + masses, carried }
    }

    pub(super) fn pair_count(&self) -> usize {
        self.costs.pair_count()
    }

    /// The formula that it is, if it is one.
    pub(super) fn formula(&self) -> Option<&Formula> {
        if let Function::Formula(formula) = &self.function { Some(formula) } else { None }
    }

    /// Each sum over cells with the place of its first cell among the features.
    #[inline]
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, &Cells)> {
        self.cells.iter().scan(self.carried, |first, cells| {
            let own = *first;
            *first += cells.partition.cell_count();
            Some((own, cells))
        })
    }

    /// An input by its number.
    pub(super) fn input(&self, features: &[f64], number: usize) -> f64 {
        let sum = number.checked_sub(self.costs.count()).and_then(|k| self.parts().nth(k));
        sum.map_or_else(|| features[number], |(first, cells)| cells.value(&features[first..]))
    }

    pub(super) fn value(&self, features: &[f64]) -> f64 {
        match &self.function {
            Function::Utility(utility) => utility.value(features),
            Function::Sum => self.cells[0].value(features),
            Function::Formula(formula) => formula.of_inputs(&|number| self.input(features, number)),
            Function::Custom(custom) => custom.value(features),
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        match &self.function {
            Function::Utility(utility) => utility.bounds(&self.costs),
            Function::Sum => self.cells[0].bounds(),
            Function::Formula(formula) => formula.bounds(self),
            Function::Custom(custom) => custom.bounds(),
        }
    }

    pub(super) fn lipschitz(&self) -> Option<f64> {
        match &self.function {
            Function::Utility(utility) => utility.lipschitz(&self.costs),
            Function::Sum => self.cells[0].lipschitz(),
            Function::Formula(_) | Function::Custom(_) => None,
        }
    }

    /// The slope in the mass of each pair; `None` if one is infinite.
    pub(super) fn gradient(&self, features: &[f64]) -> Option<Vec<f64>> {
        let k = self.costs.count();
        let slopes = match &self.function {
            Function::Utility(utility) => utility.slopes(features),
            Function::Sum => vec![1.0],
            Function::Formula(formula) => {
                let inputs: Vec<f64> = (0..k + self.cells.len()).map(|number| self.input(features, number)).collect();
                formula.slopes(&inputs)
            }
            Function::Custom(_) => return None,
        };
        let of_cells = self.parts().map(|(first, cells)| cells.slopes(&features[first..]));
        let of_cells: Vec<Vec<f64>> = of_cells.collect::<Option<_>>()?;
        let of_pair = |pair: usize| {
            let totals: f64 = self.costs.of(pair).iter().zip(&slopes).map(|(cost, slope)| cost * slope).sum();
            let cells = self.cells.iter().zip(&of_cells).zip(&slopes[k..]);
            totals + cells.map(|((cells, own), slope)| slope * own[cells.partition.cell(pair)]).sum::<f64>()
        };
        let finite = slopes.iter().all(|slope| slope.is_finite());
        finite.then(|| (0..self.pair_count()).map(of_pair).collect())
    }

    /// Adds the effect of visiting `pair` with this much occupancy, for certain or in expectation.
    #[inline]
    pub(super) fn add(&self, features: &mut [f64], pair: usize, mass: f64, certain: bool) {
        match self.function {
            Function::Sum => _ = self.cells[0].visit(features, pair, mass, certain),
            Function::Utility(_) => self.costs.add(features, pair, mass),
            Function::Formula(_) => {
                self.costs.add(features, pair, mass);
                for (k, (first, cells)) in self.parts().enumerate() {
                    let [before, after] = cells.visit(&mut features[first..], pair, mass, certain);
                    let value = |x| cells.coarse_value(cells.partition.cell(pair), x);
                    features[self.costs.count() + k] += value(after) - value(before);
                }
            }
            Function::Custom(_) => features[pair] += mass,
        }
    }

    /// Gives the features that a visit of `pair` changes the values that they have in `from`.
    #[inline]
    pub(super) fn restore(&self, features: &mut [f64], from: &[f64], pair: usize) {
        if let Function::Custom(_) = self.function {
            features[pair] = from[pair];
            return;
        }
        if self.carried > 0 {
            features[..self.carried].copy_from_slice(&from[..self.carried]);
        }
        for (first, cells) in self.parts() {
            let cell = first + cells.partition.cell(pair);
            features[cell] = from[cell];
        }
    }

    /// How much it grows if `pair` is visited with this much occupancy.
    #[inline]
    pub(super) fn increase(&self, features: &[f64], pair: usize, mass: f64) -> f64 {
        match &self.function {
            Function::Utility(utility) if utility.is_linear() => mass * self.costs.of(pair)[0],
            Function::Custom(custom) => custom.increase(features, pair, mass),
            Function::Sum => self.cells[0].increase(pair, features, mass),
            _ if self.ignores(pair) => 0.0,
            Function::Utility(utility) => {
                let after = features.iter().zip(self.costs.of(pair)).map(|(total, cost)| total + mass * cost);
                utility.of(after) - utility.value(features)
            }
            Function::Formula(formula) => formula.increase(self, features, pair, mass),
        }
    }

    /// Whether visits of `pair` change none of the inputs.
    #[inline]
    fn ignores(&self, pair: usize) -> bool {
        self.cells.is_empty() && self.costs.of(pair).iter().all(|&cost| cost == 0.0)
    }

    /// Mixes the features that visits of `pair` are evaluated with into a word.
    pub(super) fn glimpse(&self, word: u64, features: &[f64], pair: usize) -> u64 {
        let blind = match &self.function {
            Function::Utility(utility) if utility.is_linear() => true,
            Function::Custom(_) => false,
            _ => self.ignores(pair),
        };
        if blind {
            return word;
        }
        let masses = self.parts().map(|(first, cells)| features[first + cells.partition.cell(pair)]);
        features[..self.carried].iter().copied().chain(masses).fold(word, |word, x| mix(word ^ x.to_bits()))
    }

    /// A formula for people.
    pub(super) fn describe(&self) -> String {
        match &self.function {
            Function::Utility(utility) => utility.describe(self.costs.count()),
            Function::Sum => self.cells[0].describe(),
            Function::Formula(formula) => format!("({})", formula.text()),
            Function::Custom(_) => "f(d)".to_owned(),
        }
    }

    /// As a file would have it.
    pub(super) fn written(&self) -> Part<'_> {
        match &self.function {
            Function::Utility(utility) => Part::Kind(utility.written(&self.costs)),
            Function::Sum => Part::Kind(self.cells[0].written()),
            Function::Formula(formula) => formula.written(self),
            Function::Custom(_) => Part::Unwritable,
        }
    }
}
