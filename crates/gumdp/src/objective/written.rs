//! The terms of an objective with all that a file has to say to have the same.

use super::cells::Cells;
use super::formula::Formula;
use super::totals::Utility;
use super::{Objective, Partition, Term};

/// A term and its weight.
pub struct Part<'a> {
    /// Its factor.
    pub weight: f64,
    /// What it is.
    pub shape: Shape<'a>,
}

/// What a term is.
pub enum Shape<'a> {
    /// One cost, or the largest, the smallest or a sum of powers of several.
    Costs {
        /// How they are combined.
        combined: Combined<'a>,
        /// By pair.
        costs: Vec<Vec<f64>>,
    },
    /// A sum over cells.
    Cells(Over<'a>),
    /// An expression with its inputs by name.
    Formula {
        /// As written.
        text: &'a str,
        /// Features by name.
        costs: Vec<(&'a str, Vec<f64>)>,
        /// Sums over cells by name.
        cells: Vec<(&'a str, Over<'a>)>,
    },
    /// A function, or an input that a file cannot have.
    Unwritable,
}

/// How total costs are combined.
pub enum Combined<'a> {
    /// There is one.
    Alone,
    /// The largest counts.
    Maximum,
    /// The smallest counts.
    Minimum,
    /// Weights and powers.
    SignedPower(&'a [(f64, f64)]),
}

/// A sum over the cells of a partition.
pub struct Over<'a> {
    /// The kind of objective that it is alone.
    pub kind: &'static str,
    /// What the cells are.
    pub partition: &'a Partition,
    /// Added to each cell.
    pub epsilon: f64,
    /// Empty for an entropy.
    pub target: Vec<f64>,
}

impl Objective {
    /// The constant, and all terms.
    pub fn written(&self) -> (f64, Vec<Part<'_>>) {
        (self.offset, self.terms.iter().map(|(weight, term)| Part { weight: *weight, shape: shape(term) }).collect())
    }
}

fn shape(term: &Term) -> Shape<'_> {
    match term {
        Term::Totals(totals) => {
            let combined = match totals.utility() {
                Utility::Identity => Combined::Alone,
                Utility::Maximum => Combined::Maximum,
                Utility::Minimum => Combined::Minimum,
                Utility::SignedPower(parameters) => Combined::SignedPower(parameters),
            };
            let pairs = totals.costs.pair_count();
            let cost = |i: usize| (0..pairs).map(|pair| totals.costs.of(pair)[i]).collect();
            Shape::Costs { combined, costs: (0..totals.costs.count()).map(cost).collect() }
        }
        Term::Cells(cells) => Shape::Cells(cells.written()),
        Term::Formula(formula) => formula_shape(formula),
        Term::Custom(_) => Shape::Unwritable,
    }
}

fn formula_shape(formula: &Formula) -> Shape<'_> {
    let (mut costs, mut cells) = (Vec::new(), Vec::new());
    let totals = formula.costs.as_ref().map_or(0, super::totals::Costs::count);
    for input in &formula.inputs {
        let name = input.name.as_str();
        match (&formula.costs, input.place.checked_sub(totals)) {
            (Some(own), None) => {
                // An occupancy sums to 1, so that a constant is a cost of every pair.
                let cost = |pair: usize| input.offset + input.weight * own.of(pair)[input.place];
                costs.push((name, (0..own.pair_count()).map(cost).collect()));
            }
            (_, Some(number)) if input.offset == 0.0 && input.weight == 1.0 => {
                cells.push((name, formula.cells[number].written()));
            }
            _ => return Shape::Unwritable,
        }
    }
    Shape::Formula { text: formula.text(), costs, cells }
}

impl Cells {
    fn written(&self) -> Over<'_> {
        let (kind, epsilon, target) = self.parts();
        Over { kind, partition: &self.partition, epsilon, target }
    }
}
