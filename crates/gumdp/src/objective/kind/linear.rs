//! c·d: the expected cost, and weighted sums of several.

use super::{Content, Field, Holds, Kind, Utility};
use crate::objective::minorant::Within;
use crate::objective::totals::Combine;
use crate::objective::{Bounds, Objective, ObjectiveError};

/// The only total itself.
#[derive(Clone, Debug)]
pub(in crate::objective) struct Linear;

impl Objective {
    /// Expected-cost objective c·d, from a cost for each pair.
    ///
    /// # Errors
    /// If a cost is not finite or the vector is empty.
    pub fn linear(costs: Vec<f64>) -> Result<Self, ObjectiveError> {
        Utility::from(Linear).objective(&[costs])
    }

    /// Weighted sum Σ_i w_i c_i·d of several costs: a linear objective.
    ///
    /// # Errors
    /// If costs and weights do not match or are not finite.
    pub fn weighted_sum(costs: &[Vec<f64>], weights: &[f64]) -> Result<Self, ObjectiveError> {
        Self::signed_power(costs, weights, &vec![1.0; weights.len()])
    }
}

impl Combine for Linear {
    const KINDS: &'static [Kind] = &[
        Kind {
            name: "linear",
            call: None,
            fields: &[Field::new("cost", Holds::Cost)],
            make: |given| Objective::linear(given.numbers("cost").unwrap_or_default()),
        },
        Kind {
            name: "weighted-sum",
            call: None,
            fields: &[Field::new("costs", Holds::Costs), Field::optional("weights", Holds::ByCost)],
            make: |given| {
                let costs = given.costs();
                let weights = given.numbers("weights").unwrap_or_else(|| vec![1.0; costs.len()]);
                Objective::weighted_sum(&costs, &weights)
            },
        },
    ];

    #[inline]
    fn of(&self, mut totals: impl Iterator<Item = f64>) -> f64 {
        totals.next().unwrap_or(0.0)
    }

    fn slopes(&self, _: &[f64]) -> Vec<f64> {
        vec![1.0]
    }

    fn bounds(&self, ranges: &[Bounds]) -> Bounds {
        ranges[0]
    }

    fn minorant(&self, weight: f64, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        slopes[0] = weight;
        weight * within.middle(0)
    }

    fn describe(&self, _: &[String]) -> String {
        "c·d".to_owned()
    }

    fn written(&self, mut costs: Vec<Vec<f64>>) -> Vec<(&'static str, Content)> {
        vec![("cost", Content::Numbers(costs.swap_remove(0)))]
    }
}
