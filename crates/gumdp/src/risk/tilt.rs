//! The sum inside the entropic risk measure when the range of the values is known beforehand.
//!
//! Values are shifted by the most expensive one (the cheapest for β < 0), so that z = β(x − shift) ≤ 0 and nothing
//! overflows. Two forms of ERM = shift + g⁻¹(E[g(x)]) cover all β, each where it loses no digits:
//!
//! ```text
//! |β|·range ≤ ln 2:  g = expm1(z),  g⁻¹(m) = ln1p(m)/β   relative accuracy as β → 0
//! |β|·range > ln 2:  g = exp(z),    g⁻¹(m) = ln(m)/β     sum of positive terms, one of them 1: no cancellation;
//!                                                        the rounding ε of ln costs ε/β < 1.5 ε·range
//! ```

use std::f64::consts::LN_2;

use super::Erm;

/// Below this mean of exp(z), terms may have become subnormal and lost digits.
const SMALLEST_MEAN: f64 = 1e-290;

/// The transform g and its inverse for values within a known range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt {
    beta: f64,
    shift: f64,
    low: f64,
    high: f64,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// β = 0: g(x) = x − shift.
    Linear,
    Expm1,
    Exp,
}

impl Tilt {
    #[inline]
    pub(super) fn new(erm: Erm, low: f64, high: f64) -> Self {
        let beta = erm.beta();
        let form = if beta == 0.0 {
            Form::Linear
        } else if beta.abs() * (high - low) <= LN_2 {
            Form::Expm1
        } else {
            Form::Exp
        };
        let shift = if beta < 0.0 { low } else { high };
        Self { beta, shift, low, high, form }
    }

    /// g(x).
    #[inline]
    pub(super) fn term(&self, x: f64) -> f64 {
        let distance = x - self.shift;
        match self.form {
            Form::Linear => distance,
            Form::Expm1 => (self.beta * distance).exp_m1(),
            // Spares an exp, and β = ±∞ the product ∞·0.
            Form::Exp if distance == 0.0 => 1.0,
            Form::Exp => (self.beta * distance).exp(),
        }
    }

    /// g⁻¹ of the mean of the terms.
    #[inline]
    pub(super) fn value(&self, mean: f64) -> f64 {
        let distance = match self.form {
            Form::Linear => mean,
            Form::Expm1 => mean.ln_1p() / self.beta,
            Form::Exp => mean.ln() / self.beta,
        };
        // Rounding must not leave the range; `max` and `min` let a NaN cost pass without a panic.
        (self.shift + distance).max(self.low).min(self.high)
    }
}

/// The terms g(x) of fixed values, to evaluate many resamples of them without an exp each.
#[derive(Clone, Debug)]
pub(crate) struct ErmTable<'a> {
    erm: Erm,
    values: &'a [f64],
    tilt: Tilt,
    terms: Vec<f64>,
}

impl<'a> ErmTable<'a> {
    pub(crate) fn new(erm: Erm, values: &'a [f64]) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tilt = Tilt::new(erm, low, high);
        let terms = values.iter().map(|&x| tilt.term(x)).collect();
        Self { erm, values, tilt, terms }
    }

    /// The measure of the values at these indices (repetitions count).
    pub(crate) fn of_indices(&self, indices: &[u32]) -> f64 {
        let sum: f64 = indices.iter().map(|&i| self.terms[i as usize]).sum();
        let mean = sum / indices.len() as f64;
        if self.tilt.form == Form::Exp && mean < SMALLEST_MEAN {
            // The resample misses the value at the shift and β is large: shift by its own extreme instead.
            let drawn = indices.iter().map(|&i| (self.values[i as usize], 1.0));
            return self.erm.of_outcomes(drawn);
        }
        self.tilt.value(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::{Erm, ErmTable};

    #[test]
    fn table_agrees_with_direct_evaluation() {
        let values = [0.1, 0.4, 0.35, 0.9, 0.9, 0.2];
        let resamples: [&[u32]; 4] = [&[0, 1, 2, 3], &[0, 0, 1, 2], &[5], &[4, 3, 0]];
        for beta in [f64::NEG_INFINITY, -1e6, -3.0, -1e-9, 0.0, 0.1, 5.0, 1e4, f64::INFINITY] {
            let erm = Erm::new(beta).unwrap();
            let table = ErmTable::new(erm, &values);
            for indices in resamples {
                let drawn: Vec<f64> = indices.iter().map(|&i| values[i as usize]).collect();
                let (fast, exact) = (table.of_indices(indices), erm.of_samples(&drawn));
                assert!((fast - exact).abs() <= 1e-15, "beta {beta}: {fast} {exact}");
            }
        }
    }
}
