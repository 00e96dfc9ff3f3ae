//! What can be wrong with an objective.

/// Why an objective was refused. See the [example](crate::Objective).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObjectiveError {
    /// A vector of the wrong length.
    #[error("the objective has {got} {what}; {expected} are needed")]
    Length {
        /// What the vector is over.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length needed.
        expected: usize,
    },
    /// Nothing given where at least one is needed.
    #[error("the objective has no {what}; it needs at least one")]
    Empty {
        /// What is missing.
        what: &'static str,
    },
    /// A number of a vector is out of range.
    #[error("{what} {index} of the objective is {value}; it must be {allowed}")]
    Entry {
        /// What the vector holds.
        what: &'static str,
        /// Which entry.
        index: usize,
        /// The value given.
        value: f64,
        /// The allowed range, in words.
        allowed: &'static str,
    },
    /// The smoothing ε is out of range.
    #[error("the smoothing epsilon is {value}; it must lie in {lowest}, {highest:e}] (1 / number of entries)")]
    Epsilon {
        /// The value given.
        value: f64,
        /// "[0" or "(0".
        lowest: &'static str,
        /// The largest allowed value.
        highest: f64,
    },
    /// A weight or offset is infinite or not a number.
    #[error("a {what} of the objective is not finite")]
    NotFinite {
        /// What is not finite.
        what: &'static str,
    },
    /// A cell number out of range.
    #[error("pair {pair} is put in cell {cell}, but there are only {cells} cells")]
    Cell {
        /// The pair.
        pair: usize,
        /// Its cell.
        cell: u32,
        /// Number of cells.
        cells: usize,
    },
}
