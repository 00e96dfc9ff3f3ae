//! What can be wrong with an objective.

use super::Partition;

/// Why an objective was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObjectiveError {
    /// A vector of the wrong length.
    #[error("the objective has {got} {what}; {expected} {} needed", if *expected == 1 { "is" } else { "are" })]
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
    /// A number on its own is out of range.
    #[error("the {what} is {value}; it must {allowed}")]
    Setting {
        /// What it is; its last word is the name of the field.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The allowed range, in words.
        allowed: String,
    },
    /// A weight or offset is infinite or not a number.
    #[error("a weight or offset of the objective is not finite")]
    NotFinite,
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
    /// The expression of a formula cannot be read.
    #[error("the expression is wrong at character {}: {message}", at + 1)]
    Expression {
        /// Where, in bytes from 0.
        at: usize,
        /// What is wrong.
        message: String,
    },
    /// An expression uses a name that is neither a function nor an input.
    #[error("the expression has an unknown name at character {}: \"{name}\"", at + 1)]
    UnknownName {
        /// The name.
        name: String,
        /// Where, in bytes from 0.
        at: usize,
    },
    /// An input of an expression has the name of a function.
    #[error("\"{0}\" is the name of a function; an input of the expression needs another name")]
    ReservedName(String),
    /// An input of an expression is neither linear nor a sum over cells.
    #[error("the input \"{0}\" of the expression must be linear, an entropy or a distance")]
    Input(String),
    /// No number lies between the bounds of a function.
    #[error("the bounds of the objective are {low} and {high}; the first must not be above the second")]
    Bounds {
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// A formula has no finite value at some occupancy.
    #[error("the formula is {value} at the occupancy with {}", described(point))]
    Breaks {
        /// The value.
        value: f64,
        /// Pairs with their masses.
        point: Vec<(usize, f64)>,
    },
}

impl ObjectiveError {
    /// Refuses a vector of the wrong length.
    pub(super) fn check_length(what: &'static str, got: usize, expected: usize) -> Result<(), Self> {
        if got == expected { Ok(()) } else { Err(Self::Length { what, got, expected }) }
    }

    /// Refuses a vector with a number that does not fit.
    pub(super) fn check(
        what: &'static str,
        values: &[f64],
        fits: impl Fn(f64) -> bool,
        allowed: &'static str,
    ) -> Result<(), Self> {
        let wrong = values.iter().position(|&value| !fits(value));
        wrong.map_or(Ok(()), |index| Err(Self::Entry { what, index, value: values[index], allowed }))
    }

    /// Refuses weights or targets of cells unless there is one for each, finite and not negative.
    pub(super) fn check_cells(
        [one, many]: [&'static str; 2],
        values: &[f64],
        partition: &Partition,
    ) -> Result<(), Self> {
        Self::check_length(many, values.len(), partition.cell_count())?;
        Self::check(one, values, |value| (0.0..f64::INFINITY).contains(&value), "finite and not negative")
    }
}

/// The first few pairs of a point.
fn described(point: &[(usize, f64)]) -> String {
    let shown: Vec<String> = point.iter().take(4).map(|(pair, mass)| format!("{mass:.4} in pair {pair}")).collect();
    format!("{}{}", shown.join(", "), if point.len() > 4 { ", …" } else { "" })
}
