//! Constructors of all kinds of objective.

use super::cells::{Cells, Kernel};
use super::totals::{Totals, Utility};
use super::{Objective, ObjectiveError, Partition, Term, formula};

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

    /// What a cost exceeds a bound by, max(0, c·d − bound): a limit as a penalty, once it is given a weight.
    ///
    /// ```
    /// use gumdp::Objective;
    /// let fuel = vec![0.0, 1.0];
    /// let limited = Objective::linear(vec![1.0, 0.0])? + 10.0 * Objective::excess(fuel, 0.2)?;
    /// assert!((limited.value(&[0.9, 0.1]) - 0.9).abs() < 1e-12);
    /// assert!((limited.value(&[0.5, 0.5]) - 3.5).abs() < 1e-12);
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If a cost or the bound is not finite or the vector is empty.
    pub fn excess(mut costs: Vec<f64>, bound: f64) -> Result<Self, ObjectiveError> {
        // An occupancy sums to 1, so that the bound is a cost of every pair.
        for cost in &mut costs {
            *cost -= bound;
        }
        let nothing = vec![0.0; costs.len()];
        Self::maximum(&[nothing, costs])
    }

    /// Any arithmetic expression of named inputs, each of them [linear](Self::linear) or an [entropy](Self::entropy) or distance,
    /// perhaps scaled and shifted. There are `+ - * / ^`, parentheses, `abs`, `exp`, `ln`, `sqrt`, `min` and `max`. The name of an
    /// input may have parentheses, as in `distance(expert)`. An expression that is a weighted sum of inputs is one, so it may
    /// be linear. Bounds come from interval arithmetic.
    ///
    /// ```
    /// use gumdp::Objective;
    /// let (coverage, risk) = (Objective::linear(vec![1.0, 0.0, 0.0])?, Objective::linear(vec![0.0, 0.0, 1.0])?);
    /// let inputs = [("coverage", coverage), ("risk", risk)];
    /// let f = Objective::formula("-sqrt(coverage) + 2*max(0, risk - 0.1)", &inputs)?;
    /// assert!((f.value(&[0.25, 0.25, 0.5]) - 0.3).abs() < 1e-12);
    /// assert!(Objective::formula("coverage - 3*risk", &inputs)?.as_linear().is_some());
    /// let error = Objective::formula("ln(coverage)", &inputs).unwrap_err();
    /// assert_eq!(error.to_string(), "the formula is -inf at the occupancy with 1.0000 in pair 1");
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If the expression cannot be read, has a name that is no input, or is infinite or not a number for an occupancy: all those
    /// with a single pair and over a thousand others are tried. It may still break at others; then planning stops.
    pub fn formula(expression: &str, inputs: &[(&str, Self)]) -> Result<Self, ObjectiveError> {
        formula::objective(expression, inputs)
    }

    /// This objective plus a constant. See the [example](Objective).
    #[must_use]
    pub fn shifted(mut self, constant: f64) -> Self {
        self.offset += constant;
        self
    }
}
