//! Sums of signed powers of several costs.

use super::{Content, Field, Holds, Kind, Utility};
use crate::objective::minorant::{Within, chord};
use crate::objective::totals::Combine;
use crate::objective::{Bounds, Objective, ObjectiveError};
use crate::words::rounded;

/// Σ_i weight_i · sign(z_i)|z_i|^power_i, as `(weight, power)`.
#[derive(Clone, Debug)]
pub(in crate::objective) struct SignedPower(Vec<(f64, f64)>);

impl Objective {
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
        for (what, got) in [("weights", weights.len()), ("powers", powers.len())] {
            ObjectiveError::check_length(what, got, costs.len())?;
        }
        ObjectiveError::check("weight", weights, f64::is_finite, "finite")?;
        ObjectiveError::check("power", powers, |power| power.is_finite() && power > 0.0, "finite and positive")?;
        let utility = SignedPower(weights.iter().copied().zip(powers.iter().copied()).collect());
        // Validated first, then folded into one cost.
        let separate = Utility::from(utility).objective(costs)?;
        if powers.iter().any(|&power| power != 1.0) {
            return Ok(separate);
        }
        let total = |pair: usize| costs.iter().zip(weights).map(|(cost, weight)| cost[pair] * weight).sum();
        Self::linear((0..costs[0].len()).map(total).collect())
    }
}

impl Combine for SignedPower {
    const KINDS: &'static [Kind] = &[Kind {
        name: "signed-power",
        call: None,
        fields: &[
            Field::new("costs", Holds::Costs),
            Field::optional("weights", Holds::ByCost),
            Field::new("powers", Holds::ByCost),
        ],
        make: |given| {
            let costs = given.costs();
            let weights = given.numbers("weights").unwrap_or_else(|| vec![1.0; costs.len()]);
            Objective::signed_power(&costs, &weights, &given.numbers("powers").unwrap_or_default())
        },
    }];

    #[inline]
    fn of(&self, totals: impl Iterator<Item = f64>) -> f64 {
        totals.zip(&self.0).map(|(z, &(weight, power))| weight * signed_power(z, power)).sum()
    }

    fn slopes(&self, totals: &[f64]) -> Vec<f64> {
        let slope = |(&z, &(weight, power)): (&f64, &(f64, f64))| weight * power * z.abs().powf(power - 1.0);
        totals.iter().zip(&self.0).map(slope).collect()
    }

    fn lipschitz(&self, largest: &[f64]) -> Option<f64> {
        largest.iter().zip(&self.0).try_fold(0.0, |sum, (&largest, &(weight, power))| {
            let needless = weight == 0.0 || largest == 0.0;
            (power >= 1.0 || needless)
                .then(|| if needless { sum } else { sum + weight.abs() * power * largest.powf(power) })
        })
    }

    fn bounds(&self, ranges: &[Bounds]) -> Bounds {
        let mut bounds = Bounds { low: 0.0, high: 0.0 };
        for (z, &(weight, power)) in ranges.iter().zip(&self.0) {
            let (a, b) = (weight * signed_power(z.low, power), weight * signed_power(z.high, power));
            bounds.low += a.min(b);
            bounds.high += a.max(b);
        }
        bounds
    }

    /// Each power is convex or concave on either side of 0, and monotone.
    fn minorant(&self, weight: f64, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        let of = |(i, (&(own, power), slope)): (usize, (&(f64, f64), &mut f64))| {
            let (low, high, factor) = (within.low[i], within.high[i], weight * own);
            let value = |z: f64| factor * signed_power(z, power);
            if low < 0.0 && high > 0.0 {
                return value(low).min(value(high));
            }
            if low == high {
                return value(low);
            }
            if (factor > 0.0) == ((power >= 1.0) == (low >= 0.0)) {
                let z = within.middle(i);
                *slope = factor * power * z.abs().powf(power - 1.0);
                return value(z);
            }
            chord(low, high, value, slope)
        };
        self.0.iter().zip(slopes).enumerate().map(of).sum()
    }

    fn describe(&self, totals: &[String]) -> String {
        let term = |(z, (weight, power)): (&String, &(f64, f64))| {
            let weight = if *weight == 1.0 { String::new() } else { format!("{}·", rounded(*weight)) };
            let power = rounded(*power);
            // An odd power keeps the sign by itself.
            match (power == 1.0, power % 2.0 == 1.0) {
                (true, _) => format!("{weight}{z}"),
                (_, true) => format!("{weight}({z})^{power}"),
                _ => format!("{weight}sign({z})|{z}|^{power}"),
            }
        };
        format!("({})", totals.iter().zip(&self.0).map(term).collect::<Vec<_>>().join(" + "))
    }

    fn written(&self, costs: Vec<Vec<f64>>) -> Vec<(&'static str, Content)> {
        let (weights, powers) = self.0.iter().copied().unzip();
        vec![
            ("costs", Content::Costs(costs)),
            ("weights", Content::Numbers(weights)),
            ("powers", Content::Numbers(powers)),
        ]
    }
}

fn signed_power(z: f64, power: f64) -> f64 {
    if power == 0.5 { z.abs().sqrt().copysign(z) } else { z.abs().powf(power).copysign(z) }
}
