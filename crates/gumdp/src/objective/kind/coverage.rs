//! How much of a model is seen: minus the weighted share of groups of states that are visited, for patrols and inspection tours.
//!
//! f(d) = −Σ_g w_g·[y_g > 0] / Σ w with the occupancy y_g of group g: one visit counts as much as many. Only whether a group has been
//! visited is remembered, so that exact solvers merge all histories that have seen the same. The smooth version
//! −Σ w_g·(1 − exp(−y_g/τ)) / Σ w asks for time as well: a group counts by 63 % after an occupancy of τ and by 95 % after 3τ, every
//! further stay counts less, and with τ → 0 it is the first. It is convex and has slopes everywhere.

use super::{Content, Field, Holds, Kind};
use crate::objective::cells::{Cell, Cells, Kernel};
use crate::objective::{Objective, ObjectiveError, Partition};
use crate::words::rounded;

/// The target of a cell is its share w_g / Σ w.
#[derive(Clone, Copy, Debug)]
pub(in crate::objective) struct Coverage {
    /// τ.
    smooth: Option<f64>,
}

impl Objective {
    /// Minus the share of the partition's cells that are visited, −Σ_j w_j·1(x_j > 0) / Σ w, or with a time scale τ its smooth version
    /// −Σ_j w_j·(1 − exp(−x_j/τ)) / Σ w. It lies in [−1, 0]. Cells of weight 0 do not count.
    ///
    /// ```
    /// use gumdp::{Objective, Partition};
    /// // Three rooms, the last of which counts twice, and a corridor that does not count.
    /// let rooms = Partition::new(vec![0, 1, 2, 3], vec![1; 4])?;
    /// let patrol = Objective::coverage(&rooms, &[1.0, 1.0, 2.0, 0.0], None)?;
    /// assert_eq!(patrol.value(&[0.1, 0.0, 0.1, 0.8]), -0.75);
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If there is not one finite, non-negative weight for each cell, none is positive, or τ is not finite and positive.
    pub fn coverage(partition: &Partition, weights: &[f64], smooth: Option<f64>) -> Result<Self, ObjectiveError> {
        ObjectiveError::check_cells(["weight", "weights"], weights, partition)?;
        if let Some(value) = smooth.filter(|smooth| !(*smooth > 0.0 && smooth.is_finite())) {
            let allowed = "be finite and positive".to_owned();
            return Err(ObjectiveError::Setting { what: "time scale smooth", value, allowed });
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(ObjectiveError::Empty { what: "positive weights" });
        }
        // Divided by the largest first: their sum may be infinite.
        let total: f64 = weights.iter().map(|weight| weight / largest).sum();
        // All cells that do not count are one, so that visits of them are alike.
        let counted = weights.iter().filter(|weight| **weight > 0.0).count() as u32;
        let mut number = 0..counted;
        let cell = |weight: &f64| if *weight > 0.0 { number.next().unwrap_or(counted) } else { counted };
        let numbers: Vec<u32> = weights.iter().map(cell).collect();
        let cell_of_pair = (0..partition.pair_count()).map(|pair| numbers[partition.cell(pair)]).collect();
        let mut entries = vec![0; counted as usize + usize::from(counted as usize != weights.len())];
        for (number, own) in numbers.iter().zip(partition.entries()) {
            entries[*number as usize] += own;
        }
        let shares = weights.iter().filter(|weight| **weight > 0.0).map(|weight| weight / largest / total);
        let mut cells: Vec<Cell> = shares.map(|target| Cell { shift: 0.0, target }).collect();
        cells.resize(entries.len(), Cell { shift: 0.0, target: 0.0 });
        Ok(Cells::objective(Partition::new(cell_of_pair, entries)?, Coverage { smooth }.into(), cells))
    }
}

impl Kernel for Coverage {
    const KINDS: &'static [Kind] = &[Kind {
        name: "coverage",
        // Many files call a feature that.
        call: None,
        fields: &[
            Field::optional("over", Holds::Cells { by_pair: false }),
            Field::optional("weights", Holds::ByCell),
            Field::optional("smooth", Holds::Number),
        ],
        make: |given| {
            let cells = given.cells()?;
            let weights = given.numbers("weights").unwrap_or_else(|| vec![1.0; cells.cell_count()]);
            Objective::coverage(&cells, &weights, given.number("smooth"))
        },
    }];

    #[inline]
    fn value(self, _: impl Fn(f64) -> f64, cell: Cell, x: f64) -> f64 {
        match self.smooth {
            None if x > 0.0 => -cell.target,
            None => 0.0,
            Some(scale) => cell.target * (-x / scale).exp_m1(),
        }
    }

    /// Whether it was visited is enough, and less for what does not count. What random moves might visit is not yet seen.
    #[inline]
    fn after_visit(self, cell: Cell, x: f64, mass: f64, certain: bool) -> f64 {
        match self.smooth {
            _ if cell.target == 0.0 => 0.0,
            Some(_) => x + mass,
            None if certain && mass > 0.0 => 1.0,
            None => x,
        }
    }

    fn slope(self, cell: Cell, x: f64) -> f64 {
        match self.smooth {
            Some(scale) => -cell.target / scale * (-x / scale).exp(),
            None if x > 0.0 || cell.target == 0.0 => 0.0,
            None => f64::NEG_INFINITY,
        }
    }

    /// By Jensen's inequality Σ s·exp(−x/τ) ≥ exp(−Σ s·x/τ) for shares s, and Σ s·x is at most the largest share.
    fn lowest(self, cells: &[Cell]) -> f64 {
        let largest = cells.iter().map(|cell| cell.target).fold(0.0, f64::max);
        self.smooth.map_or(-1.0, |scale| (-largest / scale).exp_m1())
    }

    fn describe(self, cells: &[Cell]) -> String {
        let seen = match self.smooth {
            None => "[y > 0]".to_owned(),
            Some(scale) => format!("(1 − exp(−y/{}))", rounded(scale)),
        };
        format!("−Σ w·{seen} over {} groups", cells.iter().filter(|cell| cell.target > 0.0).count())
    }

    fn written(self, _: &Partition, cells: &[Cell]) -> Vec<(&'static str, Content)> {
        let weights = Content::Numbers(cells.iter().map(|cell| cell.target).collect());
        [("weights", weights)]
            .into_iter()
            .chain(self.smooth.map(|smooth| ("smooth", Content::Number(smooth))))
            .collect()
    }
}
