//! Distances of the occupancy from a target.

use super::{Content, Field, Holds, Kind};
use crate::objective::cells::{Cell, Cells, Kernel};
use crate::objective::{Objective, ObjectiveError, Partition};

/// (x − target)² or |x − target|.
#[derive(Clone, Copy, Debug)]
pub(in crate::objective) enum Distance {
    Squared,
    Absolute,
}

impl Objective {
    /// Squared Euclidean distance Σ_j (x_j − τ_j)² to a target for each cell, which need not sum to 1.
    ///
    /// # Errors
    /// If there is not one finite, non-negative target for each cell.
    pub fn squared_distance(partition: Partition, target: Vec<f64>) -> Result<Self, ObjectiveError> {
        Distance::Squared.to(partition, target)
    }

    /// L1 distance Σ_j |x_j − τ_j| to a target for each cell, which need not sum to 1.
    ///
    /// # Errors
    /// If there is not one finite, non-negative target for each cell.
    pub fn absolute_distance(partition: Partition, target: Vec<f64>) -> Result<Self, ObjectiveError> {
        Distance::Absolute.to(partition, target)
    }
}

impl Distance {
    fn to(self, partition: Partition, target: Vec<f64>) -> Result<Objective, ObjectiveError> {
        ObjectiveError::check_cells(["target", "targets"], &target, &partition)?;
        let cells = target.into_iter().map(|target| Cell { shift: 0.0, target }).collect();
        Ok(Cells::objective(partition, self.into(), cells))
    }
}

const FIELDS: &[Field] =
    &[Field::optional("over", Holds::Cells { by_pair: true }), Field::new("target", Holds::Target)];

impl Kernel for Distance {
    const KINDS: &'static [Kind] = &[
        Kind {
            name: "squared-distance",
            call: Some("distance"),
            fields: FIELDS,
            make: |given| Self::Squared.to(given.cells()?, given.numbers("target").unwrap_or_default()),
        },
        Kind {
            name: "absolute-distance",
            call: Some("absolute"),
            fields: FIELDS,
            make: |given| Self::Absolute.to(given.cells()?, given.numbers("target").unwrap_or_default()),
        },
    ];

    fn kind(self) -> &'static Kind {
        &Self::KINDS[self as usize]
    }

    #[inline]
    fn value(self, _: impl Fn(f64) -> f64, Cell { target, .. }: Cell, x: f64) -> f64 {
        match self {
            Self::Squared => (x - target) * (x - target),
            Self::Absolute => (x - target).abs(),
        }
    }

    fn slope(self, Cell { target, .. }: Cell, x: f64) -> f64 {
        match self {
            Self::Squared => 2.0 * (x - target),
            // At the kink 0 is one of the subgradients.
            Self::Absolute if x == target => 0.0,
            Self::Absolute => (x - target).signum(),
        }
    }

    fn lowest(self, cells: &[Cell]) -> f64 {
        let total: f64 = cells.iter().map(|cell| cell.target).sum();
        match self {
            Self::Squared => (1.0 - total).powi(2) / cells.len() as f64,
            Self::Absolute => (1.0 - total).abs(),
        }
    }

    fn describe(self, cells: &[Cell]) -> String {
        match self {
            Self::Squared => format!("Σ (x − target)² over {} cells", cells.len()),
            Self::Absolute => format!("Σ |x − target| over {} cells", cells.len()),
        }
    }

    fn written(self, _: &Partition, cells: &[Cell]) -> Vec<(&'static str, Content)> {
        vec![("target", Content::Numbers(cells.iter().map(|cell| cell.target).collect()))]
    }
}
