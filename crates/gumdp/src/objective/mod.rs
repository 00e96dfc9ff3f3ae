//! Objectives: what is to be minimised, as a function of the occupancy.
//!
//! An occupancy d is a vector over state-action pairs, non-negative and summing to 1. Every objective here has the form
//! f(d) = g(Φd): a few linear *features* Φd of the occupancy (the mass in each cell of a partition, or total costs) and a
//! utility g of them. Only Φd has to be carried along a trajectory; one step changes O(1) features.
//!
//! The kinds are listed in `kind.rs`. Not here: anything that depends on time or on the order of visits.

use std::fmt;
use std::ops::{Add, Mul};

pub use error::ObjectiveError;
pub use kind::{Content, Field, Given, Holds, Kind, Written};
pub use partition::Partition;

pub(crate) use convex::Separable;
pub(crate) use minorant::{Minorant, Within};
pub(crate) use nature::Nature;
pub(crate) use path::{PathEvaluator, Track, Walk};

mod arithmetic;
mod cells;
mod convex;
mod custom;
mod error;
mod expression;
mod formula;
mod kind;
mod minorant;
mod nature;
mod partition;
mod path;

mod term;
mod totals;

use term::{Function, Term};

use formula::Formula;
use kind::Utility;

use crate::words::rounded;

/// A closed interval that contains every value of an objective.
///
/// ```
/// let bounds = gumdp::Objective::linear(vec![-1.0, 3.0])?.bounds();
/// assert!(bounds.low <= -1.0 && 3.0 <= bounds.high);
/// # Ok::<(), gumdp::ObjectiveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// No value is lower.
    pub low: f64,
    /// No value is higher.
    pub high: f64,
}

impl Bounds {
    /// Bounds are computed in floating point; widened by its rounding they hold all the same.
    fn widened(self) -> Self {
        let slack = 1e-12 * self.low.abs().max(self.high.abs());
        Self { low: self.low - slack, high: self.high + slack }
    }
}

/// A function f(d) of the occupancy, to be minimised: an offset plus a weighted sum of terms.
///
/// ```
/// use gumdp::{Mdp, Objective, Partition};
/// let mdp = Mdp::sized(2, 1).start(0).transition(0, 0, [(1, 1.0)]).transition(1, 0, [(0, 1.0)]).build()?;
/// let cost = Objective::linear(mdp.by_state(&[0.0, 1.0])?)?;
/// let explore = Objective::entropy(Partition::states(&mdp), 0.0)?;
/// let both = 2.0 * cost + explore;
/// assert!((both.value(&[0.5, 0.5]) - (1.0 - 2.0_f64.ln())).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Objective {
    offset: f64,
    terms: Vec<(f64, Term)>,
    /// Features of all terms together.
    features: usize,
}

/// A formula without a finite value, and where it has none.
pub struct BrokenFormula {
    /// What was written.
    pub expression: String,
    /// Infinite or not a number.
    pub value: f64,
    /// Its inputs by name.
    pub inputs: Vec<(String, f64)>,
}

/// A term of an objective, as a file would have it.
pub enum Part<'a> {
    /// One of the kinds.
    Kind(Written),
    /// An expression with its inputs by name.
    Formula {
        /// As written.
        text: &'a str,
        /// Total costs by name.
        costs: Vec<(&'a str, Vec<f64>)>,
        /// Sums over cells by name: a weight, what is added, and the sum.
        cells: Vec<(&'a str, [f64; 2], Written)>,
    },
    /// A function.
    Unwritable,
}

impl Objective {
    fn of(term: Term) -> Self {
        let features = term.features;
        Self { offset: 0.0, terms: vec![(1.0, term)], features }
    }

    /// This objective plus a constant.
    #[must_use]
    pub fn shifted(mut self, constant: f64) -> Self {
        self.offset += constant;
        self
    }

    /// f(d) for an occupancy over pairs.
    ///
    /// # Panics
    /// If `occupancy` does not have one entry for each pair of the model.
    #[must_use]
    pub fn value(&self, occupancy: &[f64]) -> f64 {
        self.value_of_features(&self.features_of(occupancy))
    }

    /// The gradient of f with respect to d, where it exists; for a maximum, minimum or absolute value at a kink, one
    /// element of the Clarke subdifferential. `None` where a slope is infinite, and for functions.
    ///
    /// # Panics
    /// If `occupancy` does not have one entry for each pair of the model.
    #[must_use]
    pub fn gradient(&self, occupancy: &[f64]) -> Option<Vec<f64>> {
        let features = self.features_of(occupancy);
        let mut gradient = vec![0.0; occupancy.len()];
        for (weight, term, x) in self.parts(&features) {
            for (entry, slope) in gradient.iter_mut().zip(term.gradient(x)?) {
                *entry += weight * slope;
            }
        }
        Some(gradient)
    }

    /// A constant L with |f(d) − f(d')| ≤ L·‖d − d'‖₁ on the simplex; `None` if there is none.
    ///
    #[must_use]
    pub fn lipschitz(&self) -> Option<f64> {
        // A term of weight 0 does not count, even one without a constant.
        let counted = self.terms.iter().filter(|(weight, _)| *weight != 0.0);
        counted.map(|(weight, term)| Some(weight.abs() * term.lipschitz()?)).try_fold(0.0, |sum, own| Some(sum + own?))
    }

    /// An interval that contains f(d) for every occupancy d.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let start = Bounds { low: self.offset, high: self.offset };
        self.terms.iter().fold(start, |sum, (weight, term)| {
            let Bounds { low, high } = term.bounds();
            let (a, b) = (weight * low, weight * high);
            Bounds { low: sum.low + a.min(b), high: sum.high + a.max(b) }
        })
    }

    /// The cost of each pair and the constant, if f is linear: f(d) = c·d + constant.
    #[must_use]
    pub fn as_linear(&self) -> Option<(Vec<f64>, f64)> {
        let pairs = self.pair_count()?;
        let mut costs = vec![0.0; pairs];
        for (weight, term) in &self.terms {
            let Function::Utility(Utility::Linear(_)) = term.function else { return None };
            for (cost, term_cost) in costs.iter_mut().zip(term.costs.table()) {
                *cost += weight * term_cost;
            }
        }
        Some((costs, self.offset))
    }

    /// The costs c_i of a pair, for all terms that look at total costs c_i·d.
    ///
    /// # Panics
    /// If there is no such pair.
    #[must_use]
    pub fn pair_costs(&self, pair: usize) -> Vec<f64> {
        self.terms.iter().flat_map(|(_, term)| term.costs.of(pair)).copied().collect()
    }

    /// The features that are total costs, each with the cost of every pair.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (usize, Vec<f64>)> {
        let of_term = |(first, term): (usize, &Term)| {
            (0..term.costs.count()).map(move |k| (first + k, term.costs.of_total(k).collect())).collect::<Vec<_>>()
        };
        self.firsts().flat_map(of_term)
    }

    /// Where features begin that are the masses of all pairs.
    pub(crate) fn masses_of_pairs(&self) -> impl Iterator<Item = usize> {
        let custom = |&(_, term): &(usize, &Term)| matches!(term.function, Function::Custom(_));
        self.firsts().filter(custom).map(|(first, _)| first)
    }

    /// Each term with the place of its first feature.
    fn firsts(&self) -> impl Iterator<Item = (usize, &Term)> {
        self.terms.iter().scan(0, |next, (_, term)| {
            let first = *next;
            *next += term.features;
            Some((first, term))
        })
    }

    /// Number of features that are carried along a trajectory.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Number of pairs of the model this objective is for; `None` if its terms disagree.
    #[must_use]
    pub fn pair_count(&self) -> Option<usize> {
        let mut counts = self.terms.iter().map(|(_, term)| term.pair_count());
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// Checks that the objective is for a model with this many pairs and folds a sum of linear terms into one.
    pub(crate) fn prepared(mut self, pairs: usize) -> Result<Self, ObjectiveError> {
        for (_, term) in &self.terms {
            ObjectiveError::check_length("pairs", term.pair_count(), pairs)?;
        }
        if !self.offset.is_finite() || self.terms.iter().any(|(weight, _)| !weight.is_finite()) {
            return Err(ObjectiveError::NotFinite);
        }
        if self.terms.len() > 1
            && let Some((costs, offset)) = self.as_linear()
        {
            self = Self::linear(costs)?.shifted(offset);
        }
        Ok(self)
    }

    /// Adds the effect of visiting `pair` with this much occupancy.
    #[inline]
    pub(crate) fn add(&self, features: &mut [f64], pair: usize, mass: f64) {
        self.visit(features, pair, mass, true);
    }

    /// The same for visits that are only expected, as far as it makes sense to reckon with them.
    pub(crate) fn expect(&self, features: &mut [f64], pair: usize, mass: f64) {
        self.visit(features, pair, mass, false);
    }

    #[inline]
    fn visit(&self, features: &mut [f64], pair: usize, mass: f64, certain: bool) {
        let mut first = 0;
        for (_, term) in &self.terms {
            term.add(&mut features[first..], pair, mass, certain);
            first += term.features;
        }
    }

    /// Gives the features that a visit of `pair` changes the values that they have in `from`.
    #[inline]
    pub(crate) fn restore(&self, features: &mut [f64], from: &[f64], pair: usize) {
        let mut first = 0;
        for (_, term) in &self.terms {
            term.restore(&mut features[first..], &from[first..], pair);
            first += term.features;
        }
    }

    /// The first formula that has no finite value for these features.
    #[must_use]
    pub fn broken_formula(&self, features: &[f64]) -> Option<BrokenFormula> {
        self.parts(features).find_map(|(_, term, x)| {
            let (formula, value) = (term.formula()?, term.value(x));
            let (expression, inputs) = (formula.text().to_owned(), formula.input_values(term, x));
            (!value.is_finite()).then_some(BrokenFormula { expression, value, inputs })
        })
    }

    /// The expressions of all formulas.
    pub fn expressions(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|(_, term)| term.formula()).map(Formula::text)
    }

    /// Whether f is a formula or a function, of which only samples are known to have values.
    pub(crate) fn has_formula(&self) -> bool {
        self.terms.iter().any(|(_, term)| matches!(term.function, Function::Formula(_) | Function::Custom(_)))
    }

    /// How much f grows if `pair` is visited with this much occupancy.
    #[inline]
    pub(crate) fn increase(&self, features: &[f64], pair: usize, mass: f64) -> f64 {
        self.parts(features).fold(0.0, |sum, (weight, term, x)| sum + weight * term.increase(x, pair, mass))
    }

    /// A word that is the same as long as the features that visits of `pair` are evaluated with are.
    pub(crate) fn glimpse(&self, features: &[f64], pair: usize) -> u64 {
        self.parts(features).fold(0, |word, (_, term, x)| term.glimpse(word, x, pair))
    }

    /// f as a function of the features.
    pub(crate) fn value_of_features(&self, features: &[f64]) -> f64 {
        self.parts(features).fold(self.offset, |sum, (weight, term, x)| sum + weight * term.value(x))
    }

    /// The constant, and all terms with their weights, as a file would have them.
    #[must_use]
    pub fn written(&self) -> (f64, Vec<(f64, Part<'_>)>) {
        (self.offset, self.terms.iter().map(|(weight, term)| (*weight, term.written())).collect())
    }

    /// How a pair changes the features, in words: the same words for two pairs if, and only if, they do so alike.
    pub fn effect(&self, pair: usize) -> impl Iterator<Item = u64> {
        self.terms.iter().flat_map(move |(_, term)| {
            let cells = term.cells.iter().map(move |cells| cells.partition.cell(pair) as u64);
            let own = matches!(term.function, Function::Custom(_)).then_some(pair as u64);
            // The two zeros are the same cost.
            term.costs.of(pair).iter().map(|cost| (cost + 0.0).to_bits()).chain(cells).chain(own)
        })
    }

    fn features_of(&self, occupancy: &[f64]) -> Vec<f64> {
        assert_eq!(self.pair_count(), Some(occupancy.len()), "an occupancy has one entry for each pair of the model");
        let mut features = vec![0.0; self.features];
        for (pair, &mass) in occupancy.iter().enumerate() {
            if mass != 0.0 {
                self.add(&mut features, pair, mass);
            }
        }
        features
    }

    /// Each term with its weight and its part of the features.
    fn parts<'a>(&'a self, features: &'a [f64]) -> impl Iterator<Item = (f64, &'a Term, &'a [f64])> {
        let mut rest = features;
        self.terms.iter().map(move |(weight, term)| {
            let (own, others) = rest.split_at(term.features);
            rest = others;
            (*weight, term, own)
        })
    }
}

impl Mul<Objective> for f64 {
    type Output = Objective;

    fn mul(self, mut objective: Objective) -> Objective {
        objective.offset *= self;
        for (weight, _) in &mut objective.terms {
            *weight *= self;
        }
        objective
    }
}

impl Add for Objective {
    type Output = Objective;

    fn add(mut self, other: Objective) -> Objective {
        self.offset += other.offset;
        self.features += other.features;
        self.terms.extend(other.terms);
        self
    }
}

impl fmt::Display for Objective {
    /// A formula for people.
    ///
    /// ```
    /// use gumdp::{Objective, Partition};
    /// let explore = Objective::entropy(Partition::new(vec![0, 1, 2, 3, 4], vec![1; 5])?, 0.0)?;
    /// assert_eq!((0.4343 * explore).shifted(1.0).to_string(), "1 + 0.4343·Σ y ln y over 5 cells");
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = (self.offset != 0.0 || self.terms.is_empty()).then(|| rounded(self.offset).to_string());
        let terms = self.terms.iter().map(|(weight, term)| match *weight {
            1.0 => term.describe(),
            weight => format!("{}·{}", rounded(weight), term.describe()),
        });
        f.write_str(&offset.into_iter().chain(terms).collect::<Vec<_>>().join(" + "))
    }
}
