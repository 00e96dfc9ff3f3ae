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

/// The smallest sample x with F(x) ≥ `level`, F the empirical distribution.
///
/// ```
/// assert_eq!(gumdp::measures::value_at_risk(&[4.0, 1.0, 3.0, 2.0], 0.5)?, 2.0);
/// # Ok::<(), gumdp::RiskError>(())
/// ```
///
/// # Errors
/// No samples, one that is not finite, or `level` outside [0, 1].
pub fn value_at_risk(samples: &[f64], level: f64) -> Result<f64, RiskError> {
    let tail = Tail::new(samples.iter().map(|&x| (x, 1.0)))?;
    Ok(tail.value_at_risk(valid_level(level)?))
}

/// The conditional value at risk: the mean of the worst (1 − `level`) share of the samples.
///
/// ```
/// // The worst 30 % of five samples: all of 10 (20 %) and half of 4 (10 %).
/// let cvar = gumdp::measures::cvar(&[10.0, 1.0, 2.0, 3.0, 4.0], 0.7)?;
/// assert!((cvar - 8.0).abs() < 1e-14);
/// # Ok::<(), gumdp::RiskError>(())
/// ```
///
/// # Errors
/// No samples, one that is not finite, or `level` outside [0, 1].
pub fn cvar(samples: &[f64], level: f64) -> Result<f64, RiskError> {
    let tail = Tail::new(samples.iter().map(|&x| (x, 1.0)))?;
    Ok(tail.cvar(valid_level(level)?))
}

/// [`value_at_risk`] of a distribution given as (value, weight) pairs, in any order; weights need not sum to 1.
///
/// ```
/// let law = [(5.0, 0.25), (1.0, 0.75)];
/// assert_eq!(gumdp::measures::value_at_risk_weighted(&law, 0.75)?, 1.0);
/// assert_eq!(gumdp::measures::value_at_risk_weighted(&law, 0.76)?, 5.0);
/// # Ok::<(), gumdp::RiskError>(())
/// ```
///
/// # Errors
/// No positive weight, a value or weight out of range, or `level` outside [0, 1].
pub fn value_at_risk_weighted(outcomes: &[(f64, f64)], level: f64) -> Result<f64, RiskError> {
    let tail = Tail::new(outcomes.iter().copied())?;
    Ok(tail.value_at_risk(valid_level(level)?))
}

/// [`cvar`] of a distribution given as (value, weight) pairs, in any order; weights need not sum to 1.
///
/// ```
/// assert_eq!(gumdp::measures::cvar_weighted(&[(5.0, 0.25), (1.0, 0.75)], 0.5)?, 3.0);
/// # Ok::<(), gumdp::RiskError>(())
/// ```
///
/// # Errors
/// No positive weight, a value or weight out of range, or `level` outside [0, 1].
pub fn cvar_weighted(outcomes: &[(f64, f64)], level: f64) -> Result<f64, RiskError> {
    let tail = Tail::new(outcomes.iter().copied())?;
    Ok(tail.cvar(valid_level(level)?))
}

pub(crate) fn valid_level(level: f64) -> Result<f64, RiskError> {
    if (0.0..=1.0).contains(&level) { Ok(level) } else { Err(RiskError::Level { level }) }
}

/// A validated distribution in ascending order: the one implementation behind all tail measures.
pub(crate) struct Tail {
    /// (value, positive weight), ascending, not empty.
    outcomes: Vec<(f64, f64)>,
    total: f64,
}

impl Tail {
    pub(crate) fn new(outcomes: impl Iterator<Item = (f64, f64)>) -> Result<Self, RiskError> {
        let mut kept = Vec::with_capacity(outcomes.size_hint().0);
        for (index, (value, weight)) in outcomes.enumerate() {
            if !value.is_finite() {
                return Err(RiskError::Cost { index, value });
            }
            if !(0.0..f64::INFINITY).contains(&weight) {
                return Err(RiskError::Weight { index, weight });
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

    /// (value, weight), values ascending.
    pub(super) fn outcomes(&self) -> &[(f64, f64)] {
        &self.outcomes
    }

    /// The sum of the weights.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    pub(super) fn mean(&self) -> f64 {
        Erm::MEAN.of_outcomes(self.outcomes.iter().copied())
    }

    /// The standard deviation.
    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares = self.outcomes.iter().map(|(value, weight)| weight / self.total * (value - mean).powi(2));
        squares.sum::<f64>().sqrt()
    }

    pub(super) fn max(&self) -> f64 {
        self.outcomes[self.outcomes.len() - 1].0
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
        self.max()
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

    #[test]
    fn small_examples_by_hand() {
        let samples = [4.0, 1.0, 3.0, 2.0];
        for (level, var, mean_beyond) in [
            (0.0, 1.0, 2.5),
            (0.25, 1.0, 3.0),
            (0.5, 2.0, 3.5),
            (0.6, 3.0, 3.625),
            (0.75, 3.0, 4.0),
            (0.9, 4.0, 4.0),
            (1.0, 4.0, 4.0),
        ] {
            assert_eq!(value_at_risk(&samples, level), Ok(var), "{level}");
            assert!((cvar(&samples, level).unwrap() - mean_beyond).abs() < 1e-14, "{level}");
        }
    }

    #[test]
    fn weights_stand_for_repetitions() {
        let law = [(7.0, 1.0), (0.5, 0.0), (2.0, 3.0), (-1.0, 6.0), (9.0, 0.0)];
        let samples = [7.0, 2.0, 2.0, 2.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0];
        for level in (0..=100).map(|percent| f64::from(percent) / 100.0) {
            assert_eq!(value_at_risk_weighted(&law, level), value_at_risk(&samples, level));
            let (weighted, repeated) = (cvar_weighted(&law, level).unwrap(), cvar(&samples, level).unwrap());
            assert!((weighted - repeated).abs() < 1e-13, "{level}: {weighted} {repeated}");
        }
    }

    #[test]
    fn rounded_levels_reach_their_sample() {
        let samples: Vec<f64> = (1..=100).map(f64::from).collect();
        for percent in 1..=100 {
            let var = value_at_risk(&samples, f64::from(percent) / 100.0);
            assert_eq!(var, Ok(f64::from(percent)));
        }
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(cvar(&[], 0.5), Err(RiskError::NoOutcomes));
        assert_eq!(cvar(&[1.0], 1.5), Err(RiskError::Level { level: 1.5 }));
        assert!(cvar(&[1.0], f64::NAN).is_err());
        let cost = value_at_risk(&[0.0, f64::NAN], 0.5).unwrap_err();
        assert_eq!(cost.to_string(), "cost 1 is NaN, but must be finite");
        let weight = cvar_weighted(&[(0.0, 1.0), (1.0, -1.0)], 0.5).unwrap_err();
        assert_eq!(weight.to_string(), "weight 1 is -1, but must lie in [0, inf)");
    }
}
