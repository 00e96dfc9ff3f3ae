//! The negative entropy of the occupancy, and its divergence from a target.

use super::{Content, Field, Holds, Kind};
use crate::objective::cells::{Cell, Cells, Kernel};
use crate::objective::{Objective, ObjectiveError, Partition};

/// y·(ln y − target) with y = scale·x + shift; the target is the logarithm of a smoothed one, 0 for an entropy.
#[derive(Clone, Copy, Debug)]
pub(in crate::objective) struct Entropy {
    /// Weight 1 − εn of the occupancy in smoothing; 1 without.
    scale: f64,
    has_target: bool,
}

impl Objective {
    /// Negative entropy Σ_j y_j ln y_j of the masses of the partition's cells (0 ln 0 = 0), each smoothed to
    /// y_j = (1 − εn)·x_j + ε·m_j, with n entries in all and `m_j` in cell j.
    ///
    /// # Errors
    /// If ε is not in [0, 1/n].
    pub fn entropy(partition: Partition, epsilon: f64) -> Result<Self, ObjectiveError> {
        let (scale, shifts) = smoothing(&partition, epsilon, "[0")?;
        let cells = shifts.into_iter().map(|shift| Cell { shift, target: 0.0 }).collect();
        Ok(Cells::objective(partition, Entropy { scale, has_target: false }.into(), cells))
    }

    /// Kullback–Leibler divergence Σ_j y_j ln(y_j / τ'_j) from a target, occupancy and target smoothed alike
    /// (see [`Objective::entropy`]).
    ///
    /// # Errors
    /// If ε is not in (0, 1/n], or there is not one finite, non-negative target for each cell.
    pub fn kl_divergence(partition: Partition, target: Vec<f64>, epsilon: f64) -> Result<Self, ObjectiveError> {
        ObjectiveError::check_cells(["target", "targets"], &target, &partition)?;
        let (scale, shifts) = smoothing(&partition, epsilon, "(0")?;
        let cell = |(shift, t): (f64, f64)| Cell { shift, target: (scale * t + shift).ln() };
        let cells: Vec<Cell> = shifts.into_iter().zip(target).map(cell).collect();
        // A cell that stands for no entry is not smoothed.
        if let Some(index) = cells.iter().position(|cell| !cell.target.is_finite()) {
            let allowed = "positive after smoothing (a cell that stands for no entry is not smoothed)";
            return Err(ObjectiveError::Entry { what: "target", index, value: 0.0, allowed });
        }
        Ok(Cells::objective(partition, Entropy { scale, has_target: true }.into(), cells))
    }
}

impl Kernel for Entropy {
    const KINDS: &'static [Kind] = &[
        Kind {
            name: "entropy",
            call: Some("entropy"),
            fields: &[
                Field::optional("over", Holds::Cells { by_pair: false }),
                Field::optional("epsilon", Holds::Number),
            ],
            make: |given| Objective::entropy(given.cells()?, given.number("epsilon").unwrap_or(0.0)),
        },
        Kind {
            name: "kl",
            call: Some("kl"),
            fields: &[
                Field::optional("over", Holds::Cells { by_pair: true }),
                Field::new("target", Holds::Target),
                Field::new("epsilon", Holds::Number),
            ],
            make: |given| {
                let (cells, target) = (given.cells()?, given.numbers("target").unwrap_or_default());
                Objective::kl_divergence(cells, target, given.number("epsilon").unwrap_or(0.0))
            },
        },
    ];

    fn kind(self) -> &'static Kind {
        &Self::KINDS[usize::from(self.has_target)]
    }

    #[inline]
    fn value(self, ln: impl Fn(f64) -> f64, cell: Cell, x: f64) -> f64 {
        let y = self.scale * x + cell.shift;
        if y > 0.0 { y * (ln(y) - cell.target) } else { 0.0 }
    }

    fn slope(self, cell: Cell, x: f64) -> f64 {
        self.scale * ((self.scale * x + cell.shift).ln() - cell.target + 1.0)
    }

    fn lowest(self, cells: &[Cell]) -> f64 {
        -cells.iter().map(|cell| cell.target.exp()).sum::<f64>().ln()
    }

    fn describe(self, cells: &[Cell]) -> String {
        format!("Σ y ln{} over {} cells", if self.has_target { "(y/target)" } else { " y" }, cells.len())
    }

    fn written(self, partition: &Partition, cells: &[Cell]) -> Vec<(&'static str, Content)> {
        let smoothed = cells.iter().zip(partition.entries()).find(|&(_, &entries)| entries > 0);
        let epsilon = smoothed.map_or(0.0, |(cell, &entries)| cell.shift / f64::from(entries));
        let mut fields = vec![("epsilon", Content::Number(epsilon))];
        if self.has_target {
            // Where the occupancy does not count, neither does the target.
            let target = |cell: &Cell| {
                if self.scale > 0.0 { ((cell.target.exp() - cell.shift) / self.scale).max(0.0) } else { 0.0 }
            };
            fields.insert(0, ("target", Content::Numbers(cells.iter().map(target).collect())));
        }
        fields
    }
}

/// Scale and shifts of the smoothing y_j = (1 − εn)·x_j + ε·m_j.
fn smoothing(partition: &Partition, epsilon: f64, lowest: &'static str) -> Result<(f64, Vec<f64>), ObjectiveError> {
    let n: f64 = partition.entries().iter().map(|&m| f64::from(m)).sum();
    // Where no cell stands for an entry there is nothing to smooth with.
    let highest = if n > 0.0 { 1.0 / n } else { 0.0 };
    let allowed = (0.0..=highest).contains(&epsilon) && (epsilon > 0.0 || lowest == "[0");
    if !allowed {
        let allowed = format!("lie in {lowest}, {highest:e}] (1 / number of entries)");
        return Err(ObjectiveError::Setting { what: "smoothing epsilon", value: epsilon, allowed });
    }
    Ok((1.0 - epsilon * n, partition.entries().iter().map(|&m| epsilon * f64::from(m)).collect()))
}
