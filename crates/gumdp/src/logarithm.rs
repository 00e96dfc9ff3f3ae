//! A natural logarithm that inlines, for what is computed in every simulation.
//!
//! x = 2^e·m with m in [1, 2), and c the middle of the 256th part of [1, 2) that holds m: ln x = e·ln 2 + ln c + ln(1 + r) with
//! r = m/c − 1, |r| ≤ 2⁻⁹, by a polynomial of degree 5 (Tang, *Table-driven implementation of the logarithm function*, 1990).
//! The absolute error stays below 4e-16·(1 + |ln x|); exact values of objectives use the standard library's logarithm.

use std::f64::consts::LN_2;

const PARTS: usize = 256;

/// The reciprocal and the logarithm of the middle of each part of [1, 2).
#[derive(Clone, Debug)]
pub(crate) struct Logarithm {
    parts: Box<[[f64; 2]; PARTS]>,
}

impl Logarithm {
    pub(crate) fn new() -> Self {
        let part = |i: usize| {
            let middle = 1.0 + (i as f64 + 0.5) / PARTS as f64;
            [1.0 / middle, middle.ln()]
        };
        Self { parts: Box::new(std::array::from_fn(part)) }
    }

    /// ln x for a normal positive x.
    #[inline]
    pub(crate) fn ln(&self, x: f64) -> f64 {
        let bits = x.to_bits();
        let exponent = (bits >> 52) as i32 - 1023;
        let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
        let [reciprocal, logarithm] = self.parts[(bits >> 44) as usize % PARTS];
        let r = mantissa * reciprocal - 1.0;
        let r2 = r * r;
        let tail = (1.0 / 3.0 - r * 0.25) + r2 * 0.2;
        f64::from(exponent) * LN_2 + (logarithm + (r + r2 * (r * tail - 0.5)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{self, Purpose};

    #[test]
    fn it_is_the_standard_logarithm_to_rounding() {
        let fast = Logarithm::new();
        let mut rng = rng::stream(1, 0, Purpose::Generation);
        let check = |x: f64| {
            let error = (fast.ln(x) - x.ln()).abs();
            assert!(error <= 4e-16 * (1.0 + x.ln().abs()), "{x}: off by {error:e}");
        };
        for _ in 0..1_000_000 {
            check(rng::unit(&mut rng) + 1e-17);
            check((-700.0 * rng::unit(&mut rng)).exp());
        }
        for x in [1.0, 0.5, 1.0 - f64::EPSILON / 2.0, f64::MIN_POSITIVE, 1e-7, 2.0] {
            check(x);
        }
    }
}
