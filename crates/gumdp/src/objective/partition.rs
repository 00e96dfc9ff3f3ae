//! Partitions: which state-action pairs are counted together.

use super::ObjectiveError;
use crate::model::Mdp;

/// Groups state-action pairs into cells whose occupancy is counted together.
///
/// A cell also says how many entries of the occupancy it *stands for*, which only smoothing looks at: hidden flags can be
/// merged and cells that nobody can visit can be counted.
///
/// ```
/// use gumdp::{Mdp, Partition};
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// assert_eq!(Partition::states(&mdp).cell_count(), 1);
/// assert_eq!(Partition::pairs(&mdp).cell_count(), 2);
/// # Ok::<(), gumdp::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    cell_of_pair: Vec<u32>,
    /// Entries of the occupancy that each cell stands for.
    entries: Vec<u32>,
}

impl Partition {
    /// Puts pair `p` in cell `cell_of_pair[p]`; cell j stands for `entries[j]` entries of the occupancy.
    ///
    /// ```
    /// use gumdp::Partition;
    /// // Four pairs in two cells; a third cell that nobody can visit still counts as an entry.
    /// let partition = Partition::new(vec![0, 0, 1, 1], vec![2, 2, 1])?;
    /// assert_eq!((partition.cell_count(), partition.cell(3)), (3, 1));
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no cell, or a pair is in a cell that does not exist.
    pub fn new(cell_of_pair: Vec<u32>, entries: Vec<u32>) -> Result<Self, ObjectiveError> {
        if entries.is_empty() {
            return Err(ObjectiveError::Empty { what: "cells" });
        }
        if let Some(pair) = cell_of_pair.iter().position(|&cell| cell as usize >= entries.len()) {
            return Err(ObjectiveError::Cell { pair, cell: cell_of_pair[pair], cells: entries.len() });
        }
        Ok(Self { cell_of_pair, entries })
    }

    /// One cell for each state: the actions are summed out.
    #[must_use]
    pub fn states(mdp: &Mdp) -> Self {
        let cell_of_pair = mdp.states().flat_map(|s| mdp.pairs(s).map(move |_| s.0)).collect();
        let entries = mdp.states().map(|s| mdp.pairs(s).len() as u32).collect();
        Self { cell_of_pair, entries }
    }

    /// One cell for each state-action pair.
    #[must_use]
    pub fn pairs(mdp: &Mdp) -> Self {
        let pairs = mdp.pair_count();
        Self { cell_of_pair: (0..pairs as u32).collect(), entries: vec![1; pairs] }
    }

    /// Number of cells.
    #[must_use]
    pub fn cell_count(&self) -> usize {
        self.entries.len()
    }

    /// The cell of a pair.
    #[must_use]
    #[inline]
    pub fn cell(&self, pair: usize) -> usize {
        self.cell_of_pair[pair] as usize
    }

    pub(super) fn pair_count(&self) -> usize {
        self.cell_of_pair.len()
    }

    /// Entries of the occupancy that each cell stands for.
    #[must_use]
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// The cells with a pair, ascending.
    pub(super) fn visitable(&self) -> impl Iterator<Item = usize> + use<> {
        let mut visitable = vec![false; self.cell_count()];
        for &cell in &self.cell_of_pair {
            visitable[cell as usize] = true;
        }
        visitable.into_iter().enumerate().filter_map(|(cell, visitable)| visitable.then_some(cell))
    }
}
