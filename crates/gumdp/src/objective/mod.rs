//! Objectives: what is to be minimised, as a function of the occupancy.
//!
//! An occupancy d is a vector over state-action pairs, non-negative and summing to 1. Every objective here has the form
//! f(d) = g(Φd): a few linear *features* Φd of the occupancy (the mass in each cell of a partition, or total costs) and a
//! utility g of them. Only Φd has to be carried along a trajectory; one step changes O(1) features.
//!
//! | f(d) | constructor | Lipschitz constant in L1 |
//! |---|---|---|
//! | c·d | [`Objective::linear`] | max \|c\| |
//! | Σ_j y_j ln y_j, y smoothed | [`Objective::entropy`] | (1 − εn) max(1, \|ln(ε m) + 1\|); none for ε = 0 |
//! | Σ_j (x_j − τ_j)² | [`Objective::squared_distance`] | 2 max_j max(τ_j, 1 − τ_j) |
//! | Σ_j \|x_j − τ_j\| | [`Objective::absolute_distance`] | 1 |
//! | Σ_j y_j ln(y_j/τ_j), smoothed | [`Objective::kl_divergence`] | largest slope at the ends of [ε m, 1] |
//! | max_i c_i·d, min_i c_i·d | [`Objective::maximum`], [`Objective::minimum`] | max_i max \|c_i\| |
//! | Σ_i w_i sign(z_i)\|z_i\|^p_i, z_i = c_i·d | [`Objective::signed_power`] | Σ_i \|w_i\| p_i M_i^p_i, M_i = max \|c_i\|; none for p_i < 1 |
//! | a·f + b, f + f' | `*`, `+`, [`Objective::shifted`] | \|a\| L, L + L' |
//!
//! x_j is the mass of cell j of a [`Partition`], n the number of entries the partition stands for, m_j those of cell j.
//! The constants never exceed those of the paper's Table 1 (its 4 for the squared distance is 2 for a target in the
//! simplex). Not here: anything that depends on time or on the order of visits.

use std::ops::{Add, Mul};

pub use error::ObjectiveError;
pub use partition::Partition;

pub(crate) use path::{PathEvaluator, Track, Walk};

mod cells;
mod display;
mod error;
mod partition;
mod path;
mod totals;

use cells::{Cells, Kernel};
use totals::{Totals, Utility};

use crate::rng::mix;

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

/// One term of an objective. Its features are a contiguous part of the objective's feature vector.
#[derive(Clone, Debug)]
enum Term {
    Totals(Totals),
    Cells(Cells),
}

impl Objective {
    /// Expected-cost objective c·d, from a cost for each pair. See the [example](Objective).
    ///
    /// # Errors
    /// If a cost is not finite or the vector is empty.
    pub fn linear(costs: Vec<f64>) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Totals(Totals::linear(costs)?)))
    }

    /// Negative entropy Σ_j y_j ln y_j of the masses of the partition's cells (0 ln 0 = 0), each smoothed to
    /// y_j = (1 − εn)·x_j + ε·m_j, with n entries in all and `m_j` in cell j. See the [example](Objective).
    ///
    /// # Errors
    /// If ε is not in [0, 1/n].
    pub fn entropy(partition: Partition, epsilon: f64) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Cells(Cells::entropy(partition, epsilon)?)))
    }

    /// Squared Euclidean distance Σ_j (x_j − τ_j)² to a target for each cell, which need not sum to 1.
    /// See the [example](Objective).
    ///
    /// # Errors
    /// If there is not one finite, non-negative target for each cell.
    pub fn squared_distance(partition: Partition, target: Vec<f64>) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Cells(Cells::distance(partition, target, Kernel::Squared)?)))
    }

    /// L1 distance Σ_j |x_j − τ_j| to a target for each cell, which need not sum to 1. See the [example](Objective).
    ///
    /// # Errors
    /// If there is not one finite, non-negative target for each cell.
    pub fn absolute_distance(partition: Partition, target: Vec<f64>) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Cells(Cells::distance(partition, target, Kernel::Absolute)?)))
    }

    /// Kullback–Leibler divergence Σ_j y_j ln(y_j / τ'_j) from a target, occupancy and target smoothed alike
    /// (see [`Objective::entropy`]). See the [example](Objective).
    ///
    /// # Errors
    /// If ε is not in (0, 1/n], or there is not one finite, non-negative target for each cell.
    pub fn kl_divergence(partition: Partition, target: Vec<f64>, epsilon: f64) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Cells(Cells::kl(partition, target, epsilon)?)))
    }

    /// Weighted sum Σ_i w_i c_i·d of several costs: a linear objective. See the [example](Objective).
    ///
    /// # Errors
    /// If costs and weights do not match or are not finite.
    pub fn weighted_sum(costs: &[Vec<f64>], weights: &[f64]) -> Result<Self, ObjectiveError> {
        Self::signed_power(costs, weights, &vec![1.0; weights.len()])
    }

    /// The largest of several costs, max_i c_i·d. See the [example](Objective).
    ///
    /// # Errors
    /// If the costs have different lengths or are not finite.
    pub fn maximum(costs: &[Vec<f64>]) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Totals(Totals::new(costs, Utility::Maximum)?)))
    }

    /// The smallest of several costs, min_i c_i·d. See the [example](Objective).
    ///
    /// # Errors
    /// If the costs have different lengths or are not finite.
    pub fn minimum(costs: &[Vec<f64>]) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Totals(Totals::new(costs, Utility::Minimum)?)))
    }

    /// General combination Σ_i w_i sign(z_i)|z_i|^p_i of several costs z_i = c_i·d.
    ///
    /// ```
    /// use gumdp::Objective;
    /// // Two state-action pairs; a damped cost and a squared one.
    /// let f = Objective::signed_power(&[vec![-4.0, 0.0], vec![0.0, 2.0]], &[1.0, 0.5], &[0.5, 2.0])?;
    /// assert_eq!(f.value(&[1.0, 0.0]), -2.0);
    /// assert_eq!(f.value(&[0.0, 1.0]), 2.0);
    /// assert_eq!(f.to_string(), "(sign(c1·d)|c1·d|^0.5 + 0.5·sign(c2·d)|c2·d|^2)");
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths differ, a number is not finite, or a power is not positive.
    pub fn signed_power(costs: &[Vec<f64>], weights: &[f64], powers: &[f64]) -> Result<Self, ObjectiveError> {
        Ok(Self::of(Term::Totals(Totals::signed_power(costs, weights, powers)?)))
    }

    /// This objective plus a constant. See the [example](Objective).
    #[must_use]
    pub fn shifted(mut self, constant: f64) -> Self {
        self.offset += constant;
        self
    }

    fn of(term: Term) -> Self {
        let features = term.features();
        Self { offset: 0.0, terms: vec![(1.0, term)], features }
    }

    /// f(d) for an occupancy over pairs. See the [example](Objective).
    ///
    /// # Panics
    /// If `occupancy` does not have one entry for each pair of the model.
    #[must_use]
    pub fn value(&self, occupancy: &[f64]) -> f64 {
        self.value_of_features(&self.features_of(occupancy))
    }

    /// The gradient of f with respect to d, where it exists; for a maximum, minimum or absolute value at a kink, one
    /// element of the Clarke subdifferential. `None` where a slope is infinite. See the [example](Objective).
    ///
    /// # Panics
    /// If `occupancy` does not have one entry for each pair of the model.
    #[must_use]
    pub fn gradient(&self, occupancy: &[f64]) -> Option<Vec<f64>> {
        let features = self.features_of(occupancy);
        let mut gradient = vec![0.0; occupancy.len()];
        for (weight, term, x) in self.parts(&features) {
            let slopes = match term {
                Term::Totals(totals) => totals.slopes(x)?,
                Term::Cells(cells) => cells.slopes(x)?,
            };
            for (pair, entry) in gradient.iter_mut().enumerate() {
                *entry += weight
                    * match term {
                        Term::Totals(totals) => totals.costs(pair).iter().zip(&slopes).map(|(c, s)| c * s).sum::<f64>(),
                        Term::Cells(cells) => slopes[cells.partition.cell(pair)],
                    };
            }
        }
        Some(gradient)
    }

    /// A constant L with |f(d) − f(d')| ≤ L·‖d − d'‖₁ on the simplex; `None` if there is none.
    /// See the [example](Objective).
    #[must_use]
    pub fn lipschitz(&self) -> Option<f64> {
        // A term of weight 0 does not count, even one without a constant.
        self.terms.iter().filter(|(weight, _)| *weight != 0.0).try_fold(0.0, |sum, (weight, term)| {
            let constant = match term {
                Term::Totals(totals) => totals.lipschitz()?,
                Term::Cells(cells) => cells.lipschitz()?,
            };
            Some(sum + weight.abs() * constant)
        })
    }

    /// An interval that contains f(d) for every occupancy d. See the [example](Bounds).
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let start = Bounds { low: self.offset, high: self.offset };
        self.terms.iter().fold(start, |sum, (weight, term)| {
            let Bounds { low, high } = match term {
                Term::Totals(totals) => totals.bounds(),
                Term::Cells(cells) => cells.bounds(),
            };
            let (a, b) = (weight * low, weight * high);
            Bounds { low: sum.low + a.min(b), high: sum.high + a.max(b) }
        })
    }

    /// The cost of each pair and the constant, if f is linear: f(d) = c·d + constant. See the [example](Objective).
    #[must_use]
    pub fn as_linear(&self) -> Option<(Vec<f64>, f64)> {
        let pairs = self.pair_count()?;
        let mut costs = vec![0.0; pairs];
        for (weight, term) in &self.terms {
            let Term::Totals(totals) = term else { return None };
            let term_costs = totals.as_linear()?;
            for (cost, term_cost) in costs.iter_mut().zip(term_costs) {
                *cost += weight * term_cost;
            }
        }
        Some((costs, self.offset))
    }

    /// The costs c_i of a pair, for all terms that look at total costs c_i·d. See the [example](Objective).
    ///
    /// # Panics
    /// If there is no such pair.
    #[must_use]
    pub fn pair_costs(&self, pair: usize) -> Vec<f64> {
        let totals = self.terms.iter().filter_map(|(_, term)| match term {
            Term::Totals(totals) => Some(totals.costs(pair)),
            Term::Cells(_) => None,
        });
        totals.flatten().copied().collect()
    }

    /// Number of features that are carried along a trajectory. See the [example](Objective).
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Number of pairs of the model this objective is for; `None` if its terms disagree. See the [example](Objective).
    #[must_use]
    pub fn pair_count(&self) -> Option<usize> {
        let mut counts = self.terms.iter().map(|(_, term)| term.pair_count());
        let first = counts.next()?;
        counts.all(|count| count == first).then_some(first)
    }

    /// Checks that the objective is for a model with this many pairs and folds a sum of linear terms into one.
    pub(crate) fn prepared(mut self, pairs: usize) -> Result<Self, ObjectiveError> {
        for (_, term) in &self.terms {
            if term.pair_count() != pairs {
                return Err(ObjectiveError::Length { what: "pairs", got: term.pair_count(), expected: pairs });
            }
        }
        if !self.offset.is_finite() || self.terms.iter().any(|(weight, _)| !weight.is_finite()) {
            return Err(ObjectiveError::NotFinite { what: "weight or offset" });
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
        let mut first = 0;
        for (_, term) in &self.terms {
            match term {
                Term::Totals(totals) => totals.add(&mut features[first..], pair, mass),
                Term::Cells(cells) => features[first + cells.partition.cell(pair)] += mass,
            }
            first += term.features();
        }
    }

    /// Gives the features that a visit of `pair` changes the values that they have in `from`.
    #[inline]
    pub(crate) fn restore(&self, features: &mut [f64], from: &[f64], pair: usize) {
        let mut first = 0;
        for (_, term) in &self.terms {
            let changed = match term {
                Term::Totals(_) => first..first + term.features(),
                Term::Cells(cells) => {
                    let cell = first + cells.partition.cell(pair);
                    cell..cell + 1
                }
            };
            features[changed.clone()].copy_from_slice(&from[changed]);
            first += term.features();
        }
    }

    /// Whether it measures, among other things, the distance to a target.
    pub(crate) fn has_target(&self) -> bool {
        self.terms.iter().any(|(_, term)| matches!(term, Term::Cells(cells) if cells.has_target))
    }

    /// How much f grows if `pair` is visited with this much occupancy. A distance to a target grows from where the features
    /// are heading: `ahead` is what is still to come; empty if that is not known.
    #[inline]
    pub(crate) fn increase(&self, features: &[f64], ahead: &[f64], pair: usize, mass: f64) -> f64 {
        let mut first = 0;
        self.parts(features).fold(0.0, |sum, (weight, term, x)| {
            let before = first;
            first += term.features();
            sum + weight
                * match term {
                    Term::Totals(totals) => totals.increase(x, pair, mass),
                    Term::Cells(cells) => {
                        let j = cells.partition.cell(pair);
                        let heading = if ahead.is_empty() || !cells.has_target { 0.0 } else { ahead[before + j] };
                        let x = x[j] + heading;
                        cells.cell_value(j, x + mass) - cells.cell_value(j, x)
                    }
                }
        })
    }

    /// A word that is the same as long as the features that visits of `pair` are evaluated with are.
    pub(crate) fn glimpse(&self, features: &[f64], pair: usize) -> u64 {
        self.parts(features).fold(0, |word, (_, term, x)| match term {
            Term::Totals(totals) if totals.is_linear() || totals.costs(pair).iter().all(|&cost| cost == 0.0) => word,
            Term::Totals(_) => x.iter().fold(word, |word, x| mix(word ^ x.to_bits())),
            Term::Cells(cells) => mix(word ^ x[cells.partition.cell(pair)].to_bits()),
        })
    }

    /// f as a function of the features.
    pub(crate) fn value_of_features(&self, features: &[f64]) -> f64 {
        self.parts(features).fold(self.offset, |sum, (weight, term, x)| {
            sum + weight
                * match term {
                    Term::Totals(totals) => totals.value(x),
                    Term::Cells(cells) => cells.value(x),
                }
        })
    }

    /// How a pair changes the features, in words: the same words for two pairs if, and only if, they do so alike.
    pub(crate) fn effect(&self, pair: usize) -> impl Iterator<Item = u64> {
        self.terms.iter().flat_map(move |(_, term)| {
            let (costs, cell) = match term {
                Term::Totals(totals) => (totals.costs(pair), None),
                Term::Cells(cells) => (&[][..], Some(cells.partition.cell(pair) as u64)),
            };
            // The two zeros are the same cost.
            costs.iter().map(|cost| (cost + 0.0).to_bits()).chain(cell)
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
            let (own, others) = rest.split_at(term.features());
            rest = others;
            (*weight, term, own)
        })
    }
}

impl Term {
    fn features(&self) -> usize {
        match self {
            Self::Totals(totals) => totals.features(),
            Self::Cells(cells) => cells.partition.cell_count(),
        }
    }

    fn pair_count(&self) -> usize {
        match self {
            Self::Totals(totals) => totals.pair_count(),
            Self::Cells(cells) => cells.partition.pair_count(),
        }
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
