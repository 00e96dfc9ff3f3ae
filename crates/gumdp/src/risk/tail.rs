//! Tail measures of a random cost X at a level in [0, 1]: value at risk and conditional value at risk.
//!
//! ```text
//! VaR(X)  = smallest x with P(X ≤ x) ≥ level
//! CVaR(X) = min over λ of λ + E[(X − λ)⁺]/(1 − level) = VaR + E[(X − VaR)⁺]/(1 − level)
//! ```
//!
//! Lower costs are better, so both look at the upper tail: `CVaR` is the mean of the worst (1 − level) share, splitting
//! an outcome that straddles it. Limits: `CVaR` is the mean at level 0; both are the largest cost at level 1.
//!
//! Reference: Rockafellar and Uryasev, *Optimization of conditional value-at-risk*, Journal of Risk 2 (2000).

use super::RiskError;
use super::erm::{Erm, LIGHTER};

/// A standard deviation of this share of the cost is rounding: the cost is sure.
const SURE: f64 = 1e-12;

/// A validated distribution in ascending order: the one implementation behind all tail measures.
pub(crate) struct Tail {
    /// (value, positive weight), ascending, not empty.
    pub(super) outcomes: Vec<(f64, f64)>,
    /// The sum of the weights.
    pub(super) total: f64,
}

impl Tail {
    pub(crate) fn new(outcomes: impl Iterator<Item = (f64, f64)>) -> Result<Self, RiskError> {
        let mut kept = Vec::with_capacity(outcomes.size_hint().0);
        for (index, (value, weight)) in outcomes.enumerate() {
            if !value.is_finite() {
                return Err(RiskError::Outcome { what: "cost", index, value, allowed: "be finite" });
            }
            if !(0.0..f64::INFINITY).contains(&weight) {
                let allowed = "lie in [0, inf)";
                return Err(RiskError::Outcome { what: "weight", index, value: weight, allowed });
            }
            if weight > 0.0 {
                kept.push((value, weight));
            }
        }
        if kept.is_empty() {
            return Err(RiskError::NoOutcomes);
        }
        if !kept.iter().map(|outcome| outcome.1).sum::<f64>().is_finite() {
            for outcome in &mut kept {
                outcome.1 *= LIGHTER;
            }
        }
        kept.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Self::of_sorted(kept))
    }

    /// From outcomes that already satisfy what [`Tail`] promises.
    pub(crate) fn of_sorted(outcomes: Vec<(f64, f64)>) -> Self {
        let total = outcomes.iter().map(|outcome| outcome.1).sum();
        Self { outcomes, total }
    }

    pub(super) fn mean(&self) -> f64 {
        Erm::MEAN.of_outcomes(self.outcomes.iter().copied())
    }

    /// The standard deviation; 0 if it is rounding.
    pub(crate) fn deviation(&self) -> f64 {
        let (mean, (low, high)) = (self.mean(), self.ends());
        let squares = self.outcomes.iter().map(|(value, weight)| weight / self.total * (value - mean).powi(2));
        let deviation = squares.sum::<f64>().sqrt();
        if deviation <= SURE * low.abs().max(high.abs()) { 0.0 } else { deviation }
    }

    /// The lowest and the highest value.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.outcomes[0].0, self.outcomes[self.outcomes.len() - 1].0)
    }

    pub(crate) fn value_at_risk(&self, level: f64) -> f64 {
        // level·total may round above a sum it equals (0.07·100 > 7): the slack keeps F(x) ≥ level true there.
        self.quantile(level - 1e-14)
    }

    /// The smallest value whose share of the weights up to it is at least this.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let wanted = share * self.total;
        let mut cumulated = 0.0;
        for &(value, weight) in &self.outcomes {
            cumulated += weight;
            if cumulated >= wanted {
                return value;
            }
        }
        self.ends().1
    }

    pub(crate) fn cvar(&self, level: f64) -> f64 {
        let var = self.value_at_risk(level);
        let beyond = self.outcomes.iter().rev().take_while(|o| o.0 > var);
        let excess: f64 = beyond.map(|(value, weight)| (value - var) * weight).sum();
        if excess > 0.0 { var + excess / (self.total * (1.0 - level)) } else { var }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(samples: &[f64]) -> Tail {
        Tail::new(samples.iter().map(|&x| (x, 1.0))).unwrap()
    }

    #[test]
    fn small_examples_by_hand() {
        let samples = tail(&[4.0, 1.0, 3.0, 2.0]);
        for (level, var, mean_beyond) in [
            (0.0, 1.0, 2.5),
            (0.25, 1.0, 3.0),
            (0.5, 2.0, 3.5),
            (0.6, 3.0, 3.625),
            (0.75, 3.0, 4.0),
            (0.9, 4.0, 4.0),
            (1.0, 4.0, 4.0),
        ] {
            assert_eq!(samples.value_at_risk(level), var, "{level}");
            assert!((samples.cvar(level) - mean_beyond).abs() < 1e-14, "{level}");
        }
    }

    #[test]
    fn weights_stand_for_repetitions() {
        let weighted = [(7.0, 1.0), (0.5, 0.0), (2.0, 3.0), (-1.0, 6.0), (9.0, 0.0)];
        let weighted = Tail::new(weighted.into_iter()).unwrap();
        let repeated = tail(&[7.0, 2.0, 2.0, 2.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
        for level in (0..=100).map(|percent| f64::from(percent) / 100.0) {
            assert_eq!(weighted.value_at_risk(level), repeated.value_at_risk(level));
            assert!((weighted.cvar(level) - repeated.cvar(level)).abs() < 1e-13, "{level}");
        }
    }

    #[test]
    fn rounded_levels_reach_their_sample() {
        let samples = tail(&(1..=100).map(f64::from).collect::<Vec<_>>());
        for percent in (1..=100).map(f64::from) {
            assert_eq!(samples.value_at_risk(percent / 100.0), percent);
        }
    }

    #[test]
    fn bad_input_is_named() {
        for (outcomes, message) in [
            (&[][..], "there are no outcomes, but at least one of positive weight is needed"),
            (&[(0.0, 1.0), (f64::NAN, 1.0)], "cost 1 is NaN, but must be finite"),
            (&[(0.0, 1.0), (1.0, -1.0)], "weight 1 is -1, but must lie in [0, inf)"),
        ] {
            assert_eq!(Tail::new(outcomes.iter().copied()).err().unwrap().to_string(), message);
        }
    }
}
