//! A running sum in twice the working precision.

/// The unevaluated sum `high + low`, by Knuth's two-sum.
///
/// Sums of terms of one sign are accurate to the last place.
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

    /// The sum rounded to one `f64`.
    #[inline]
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
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
