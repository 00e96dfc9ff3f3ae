//! The list of all kinds of objective, and how files and other languages name one and say what is in it.
//!
//! A kind is one file, which is entered in one of the two families below. The fields that it declares there are all that readers,
//! writers and bindings know of it. Formulas and functions are no kinds: they are made of others, or of nothing that can be written.
//!
//! | f(d) | constructor | Lipschitz constant in L1 |
//! |---|---|---|
//! | c·d | [`Objective::linear`] | max \|c\| |
//! | Σ_j y_j ln y_j, y smoothed | [`Objective::entropy`] | (1 − εn) max(1, \|ln(ε m) + 1\|); none for ε = 0 |
//! | Σ_j (x_j − τ_j)² | [`Objective::squared_distance`] | 2 max_j max(τ_j, 1 − τ_j) |
//! | Σ_j \|x_j − τ_j\| | [`Objective::absolute_distance`] | 1 |
//! | Σ_j y_j ln(y_j/τ_j), smoothed | [`Objective::kl_divergence`] | largest slope at the ends of [ε m, 1] |
//! | −Σ_j w_j [x_j > 0] / Σ w, or smooth | [`Objective::coverage`] | none; max_j w_j / (τ Σ w) if smooth |
//! | max_i c_i·d, min_i c_i·d | [`Objective::maximum`], [`Objective::minimum`] | max_i max \|c_i\| |
//! | Σ_i w_i sign(z_i)\|z_i\|^p_i, z_i = c_i·d | [`Objective::signed_power`] | Σ_i \|w_i\| p_i M_i^p_i, M_i = max \|c_i\|; none for p_i < 1 |
//! | max(0, c·d − b) | [`Objective::excess`] | max \|c − b\| |
//! | any expression of c_i·d, entropies and distances | [`Objective::formula`] | unknown, unless it is a weighted sum |
//! | any function of d | [`Objective::custom`] | unknown |
//! | a·f + b, f + f' | `*`, `+`, [`Objective::shifted`] | \|a\| L, L + L' |
//!
//! x_j is the mass of cell j of a [`Partition`], n the number of entries the partition stands for, m_j those of cell j.
//! The constants never exceed those of the paper's Table 1 (its 4 for the squared distance is 2 for a target in the
//! simplex).

mod coverage;
mod distance;
mod entropy;
mod extreme;
mod linear;
mod power;

use coverage::Coverage;
use distance::Distance;
use entropy::Entropy;
pub(in crate::objective) use extreme::Extreme;
use linear::Linear;
use power::SignedPower;

use super::cells::Kernel;
use super::totals::Combine;
use super::{Objective, ObjectiveError, Partition};

/// An enum of kinds, a macro that calls one of them without dynamic dispatch, and the list of what they declare.
macro_rules! family {
    ($d:tt $list:ident $each:ident $(#[$doc:meta])* $family:ident { $($kind:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(super) enum $family { $($kind($kind)),* }

        $(impl From<$kind> for $family {
            fn from(kind: $kind) -> Self {
                Self::$kind(kind)
            }
        })*

        macro_rules! $each {
            ($d family:expr, $d one:ident => $d call:expr) => {
                match $d family { $($family::$kind($d one) => $d call),* }
            };
        }
        pub(super) use $each;

        const $list: &[&[Kind]] = &[$($kind::KINDS),*];
    };
}

family! { $ OF_TOTALS each_utility
    /// How total costs are combined.
    Utility { Linear, Extreme, SignedPower }
}

family! { $ OF_CELLS each_kernel
    /// What is summed over cells.
    Summand { Entropy, Distance, Coverage }
}

/// A kind of objective.
#[derive(Debug)]
pub struct Kind {
    /// As in `kind = "squared-distance"`.
    pub name: &'static str,
    /// As in an expression: `distance(target)`. Those of costs are called by the names of the costs.
    pub call: Option<&'static str>,
    /// What it is made from.
    pub fields: &'static [Field],
    pub(super) make: fn(&mut Given) -> Result<Objective, ObjectiveError>,
}

/// What a kind of objective is made from.
#[derive(Debug)]
pub struct Field {
    /// As in a file.
    pub name: &'static str,
    /// What it may be.
    pub holds: Holds,
    /// Whether it can be left out.
    pub is_optional: bool,
}

/// What a field may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A cost for each pair.
    Cost,
    /// Several of them.
    Costs,
    /// A number for each of several costs.
    ByCost,
    /// A number.
    Number,
    /// What the occupancy is counted over. Where nothing is said, it is over states, or over pairs.
    Cells {
        /// Over pairs.
        by_pair: bool,
    },
    /// A number for each of these cells: an occupancy to be imitated.
    Target,
    /// A number for each of these cells: what it counts.
    ByCell,
}

/// What is in a field.
#[derive(Clone, Debug)]
pub enum Content {
    /// Costs of pairs.
    Costs(Vec<Vec<f64>>),
    /// The cost of each pair, or a number for each cost or cell.
    Numbers(Vec<f64>),
    /// A number.
    Number(f64),
    /// Cells that are counted together.
    Cells(Partition),
}

/// All fields that were given.
#[derive(Clone, Debug, Default)]
pub struct Given(pub Vec<(&'static str, Content)>);

/// A term as its kind and fields.
pub struct Written {
    /// What it is.
    pub kind: &'static Kind,
    /// What is in each field.
    pub fields: Given,
}

impl Kind {
    /// All that there are.
    pub fn all() -> impl Iterator<Item = &'static Kind> {
        OF_TOTALS.iter().chain(OF_CELLS).copied().flatten()
    }

    /// The objective with these fields.
    ///
    /// ```
    /// use gumdp::kinds::{Content, Given, Kind};
    /// let linear = Kind::all().find(|kind| kind.name == "linear").unwrap();
    /// let cost = linear.of(Given(vec![("cost", Content::Numbers(vec![0.0, 3.0]))]))?;
    /// assert_eq!(cost.value(&[0.5, 0.5]), 1.5);
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If a field is missing or wrong.
    pub fn of(&self, mut fields: Given) -> Result<Objective, ObjectiveError> {
        (self.make)(&mut fields)
    }
}

impl Field {
    pub(super) const fn new(name: &'static str, holds: Holds) -> Self {
        Self { name, holds, is_optional: false }
    }

    pub(super) const fn optional(name: &'static str, holds: Holds) -> Self {
        Self { name, holds, is_optional: true }
    }
}

impl Given {
    /// What is in a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Content> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, content)| content)
    }

    fn take(&mut self, name: &str) -> Option<Content> {
        let place = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.swap_remove(place).1)
    }

    pub(super) fn costs(&mut self) -> Vec<Vec<f64>> {
        match self.take("costs") {
            Some(Content::Costs(costs)) => costs,
            _ => Vec::new(),
        }
    }

    pub(super) fn numbers(&mut self, name: &str) -> Option<Vec<f64>> {
        match self.take(name)? {
            Content::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        match self.take(name)? {
            Content::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn cells(&mut self) -> Result<Partition, ObjectiveError> {
        match self.take("over") {
            Some(Content::Cells(cells)) => Ok(cells),
            _ => Err(ObjectiveError::Empty { what: "cells" }),
        }
    }
}
