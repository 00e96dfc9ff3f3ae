//! The terms that objectives are sums of.

use super::cells::Cells;
use super::custom::Custom;
use super::formula::Formula;
use super::totals::{Costs, Totals};

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
}
