//! A running sum in twice the working precision.

/// The unevaluated sum `high + low`, by Knuth's two-sum.
///
/// Sums of terms of one sign are accurate to the last place as they are. With a [`settle`](Sum::settle) after every
/// addition (Dekker, Numerische Mathematik 18 (1971)) n terms leave an error of about n·2⁻¹⁰⁵ times the largest
/// partial sum, so a later cancellation against an exactly known number still leaves all digits of a `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    pub(crate) const ZERO: Sum = Sum { high: 0.0, low: 0.0 };

    #[inline]
    pub(crate) fn add(&mut self, x: f64) {
        let sum = self.high + x;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (x - part);
        self.high = sum;
    }

    /// Moves what fits from `low` to `high`. Not part of `add`, whose latency it would triple.
    #[inline]
    pub(crate) fn settle(&mut self) {
        let sum = self.high + self.low;
        self.low -= sum - self.high;
        self.high = sum;
    }

    #[inline]
    pub(crate) fn merge(&mut self, other: Sum) {
        self.add(other.high);
        self.add(other.low);
    }

    /// The sum rounded to one `f64`.
    #[inline]
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }

    /// `self + x`, rounded once.
    #[inline]
    pub(crate) fn plus(mut self, x: f64) -> f64 {
        self.add(x);
        self.value()
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        terms.into_iter().fold(Self::ZERO, |mut sum, x| {
            sum.add(x);
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn cancellation_keeps_the_small_terms() {
        let mut sum = Sum::ZERO;
        for x in [1e16, 3.0, 1e-10, -1e16] {
            sum.add(x);
            sum.settle();
        }
        assert!((sum.plus(-3.0) - 1e-10).abs() < 1e-15);
    }
}
