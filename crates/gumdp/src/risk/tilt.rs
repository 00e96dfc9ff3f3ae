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
use crate::rng::{self, Rng};

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
        let value = self.shift + distance;
        // Rounding must not leave the range. Written so that a NaN stays one.
        if value < self.low {
            self.low
        } else if value > self.high {
            self.high
        } else {
            value
        }
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

    /// The measure of as many values as there are, drawn with replacement.
    pub(crate) fn of_resample(&self, rng: &mut Rng) -> f64 {
        let mut again = rng.clone();
        let count = self.values.len() as u32;
        let sum: f64 = (0..count).map(|_| self.terms[rng::below(rng, count) as usize]).sum();
        let mean = sum / f64::from(count);
        if self.tilt.form == Form::Exp && mean < SMALLEST_MEAN {
            // The resample misses the value at the shift and β is large: shift by its own extreme instead.
            let drawn: Vec<f64> = (0..count).map(|_| self.values[rng::below(&mut again, count) as usize]).collect();
            return self.erm.of_samples(&drawn);
        }
        self.tilt.value(mean)
    }
}
