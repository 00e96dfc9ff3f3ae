//! The terms that objectives are sums of.

use super::Bounds;
use super::cells::Cells;
use super::custom::Custom;
use super::formula::Formula;
use super::totals::{Costs, Totals};
use crate::rng::mix;

/// One term of an objective. Its features are a contiguous part of the objective's feature vector.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Totals(Totals),
    Cells(Cells),
    Formula(Box<Formula>),
    Custom(Custom),
}

impl Term {
    #[inline]
    pub(super) fn features(&self) -> usize {
        match self {
            Self::Totals(totals) => totals.costs.count(),
            Self::Cells(cells) => cells.partition.cell_count(),
            Self::Formula(formula) => formula.features(),
            Self::Custom(custom) => custom.pair_count(),
        }
    }

    pub(super) fn pair_count(&self) -> usize {
        match self {
            Self::Totals(totals) => totals.costs.pair_count(),
            Self::Cells(cells) => cells.partition.pair_count(),
            Self::Formula(formula) => formula.pair_count(),
            Self::Custom(custom) => custom.pair_count(),
        }
    }

    /// The costs whose totals it looks at.
    pub(super) fn costs(&self) -> Option<&Costs> {
        match self {
            Self::Totals(totals) => Some(&totals.costs),
            Self::Cells(_) | Self::Custom(_) => None,
            Self::Formula(formula) => formula.costs.as_ref(),
        }
    }

    /// The sums over cells it looks at. The masses of their cells are its last features.
    pub(super) fn cells(&self) -> &[Cells] {
        match self {
            Self::Totals(_) | Self::Custom(_) => &[],
            Self::Cells(cells) => std::slice::from_ref(cells),
            Self::Formula(formula) => &formula.cells,
        }
    }

    /// Number of features before the masses of cells.
    pub(super) fn carried(&self) -> usize {
        match self {
            Self::Totals(totals) => totals.costs.count(),
            Self::Cells(_) => 0,
            Self::Formula(formula) => formula.carried(),
            Self::Custom(custom) => custom.pair_count(),
        }
    }

    pub(super) fn value(&self, features: &[f64]) -> f64 {
        match self {
            Self::Totals(totals) => totals.value(features),
            Self::Cells(cells) => cells.value(features),
            Self::Formula(formula) => formula.value(features),
            Self::Custom(custom) => custom.value(features),
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        match self {
            Self::Totals(totals) => totals.bounds(),
            Self::Cells(cells) => cells.bounds(),
            Self::Formula(formula) => formula.bounds(),
            Self::Custom(custom) => custom.bounds(),
        }
    }

    pub(super) fn lipschitz(&self) -> Option<f64> {
        match self {
            Self::Totals(totals) => totals.lipschitz(),
            Self::Cells(cells) => cells.lipschitz(),
            Self::Formula(_) | Self::Custom(_) => None,
        }
    }

    /// The slope in the mass of each pair; `None` if one is infinite.
    pub(super) fn gradient(&self, features: &[f64]) -> Option<Vec<f64>> {
        let pairs = 0..self.pair_count();
        match self {
            Self::Totals(totals) => {
                let slopes = totals.slopes(features)?;
                Some(pairs.map(|pair| totals.costs.of(pair).iter().zip(&slopes).map(|(c, s)| c * s).sum()).collect())
            }
            Self::Cells(cells) => {
                let slopes = cells.slopes(features)?;
                Some(pairs.map(|pair| slopes[cells.partition.cell(pair)]).collect())
            }
            Self::Formula(formula) => formula.gradient(features),
            Self::Custom(_) => None,
        }
    }

    /// Adds the effect of visiting `pair` with this much occupancy, for certain or in expectation.
    #[inline]
    pub(super) fn add(&self, features: &mut [f64], pair: usize, mass: f64, certain: bool) {
        match self {
            Self::Totals(totals) => totals.costs.add(features, pair, mass),
            Self::Cells(cells) => {
                let j = cells.partition.cell(pair);
                features[j] = cells.after_visit(j, features[j], mass, certain);
            }
            Self::Formula(formula) => formula.add(features, pair, mass, certain),
            Self::Custom(_) => features[pair] += mass,
        }
    }

    /// Gives the features that a visit of `pair` changes the values that they have in `from`.
    #[inline]
    pub(super) fn restore(&self, features: &mut [f64], from: &[f64], pair: usize) {
        match self {
            Self::Totals(_) => features.copy_from_slice(from),
            Self::Cells(cells) => {
                let cell = cells.partition.cell(pair);
                features[cell] = from[cell];
            }
            Self::Formula(formula) => formula.restore(features, from, pair),
            Self::Custom(_) => features[pair] = from[pair],
        }
    }

    /// How much it grows if `pair` is visited with this much occupancy.
    #[inline]
    pub(super) fn increase(&self, features: &[f64], pair: usize, mass: f64) -> f64 {
        match self {
            Self::Totals(totals) => totals.increase(features, pair, mass),
            Self::Cells(cells) => {
                let j = cells.partition.cell(pair);
                cells.cell_value(j, features[j] + mass) - cells.cell_value(j, features[j])
            }
            Self::Formula(formula) if formula.ignores(pair) => 0.0,
            Self::Formula(formula) => formula.increase(features, pair, mass),
            Self::Custom(custom) => custom.increase(features, pair, mass),
        }
    }

    /// Mixes the features that visits of `pair` are evaluated with into a word.
    pub(super) fn glimpse(&self, word: u64, features: &[f64], pair: usize) -> u64 {
        let all = |features: &[f64]| features.iter().fold(word, |word, x| mix(word ^ x.to_bits()));
        match self {
            Self::Totals(totals) if totals.is_linear() || totals.costs.of(pair).iter().all(|&cost| cost == 0.0) => word,
            Self::Formula(formula) if formula.ignores(pair) => word,
            Self::Formula(formula) => formula.glimpsed(features, pair).fold(word, |word, x| mix(word ^ x.to_bits())),
            Self::Totals(_) | Self::Custom(_) => all(features),
            Self::Cells(cells) => all(&features[cells.partition.cell(pair)..][..1]),
        }
    }

    /// A formula for people.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Totals(totals) => totals.describe(),
            Self::Cells(cells) => cells.describe(),
            Self::Formula(formula) => format!("({})", formula.text()),
            Self::Custom(_) => "f(d)".to_owned(),
        }
    }
}
