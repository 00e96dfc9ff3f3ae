//! The entropic risk measure of a random cost X,
//!
//! ```text
//! ERM_β(X) = (1/β) ln E[exp(βX)]
//! ```
//!
//! Costs: lower is better. β > 0 is risk averse, β < 0 risk seeking. The limits are values of the type, not
//! errors: β = 0 is the mean, β = +∞ the largest cost in the support (worst case), β = −∞ the smallest.
//! `ERM_β` is nondecreasing in β, moves with constants (ERM(X + c) = ERM(X) + c), adds over independent costs,
//! and is convex in X for β > 0, where it is also the optimised certainty equivalent
//! min over λ of λ + E[u(X − λ)] with u(x) = (exp(βx) − 1)/β.
//!
//! References: Föllmer and Schied, *Stochastic Finance*, section 4.9; Ben-Tal and Teboulle, *An old-new concept of
//! convex risk measures: the optimized certainty equivalent*, Mathematical Finance 17 (2007).

use super::entropic::Tilt;
use super::sum::Sum;
use super::tail::Tail;
use super::{FixedRisk, Form, Measure, Risk, RiskError, Sweep, Swept, number};

/// Below this |β| the measure is the mean: the difference is at most |β|·range²/8, lost in rounding for any
/// range below 1e134, while β·(x − shift) could become subnormal and lose its digits.
const SMALLEST_BETA: f64 = 1e-150;

/// 2⁻⁶⁴: weights of any size times this can be summed.
pub(super) const LIGHTER: f64 = 1.0 / (1_u128 << 64) as f64;

/// The entropic risk measure with risk aversion β in [−∞, ∞].
///
/// Costs given to it should be finite and of magnitude at most 8e307 (so that differences stay finite). Results
/// are then finite for every β, with an error of a few units in the last place of the largest |cost|, whatever
/// the number of costs and the size of β. A NaN among the costs makes the result NaN, and infinite costs count as
/// limits: +∞ makes the result +∞ for β ≥ 0 and leaves what the other costs contribute for β < 0, and −∞ the other
/// way round; +∞ together with −∞ has no mean (NaN).
///
/// ```
/// use gumdp::Erm;
///
/// let erm = Erm::new(1.0)?;
/// let by_hand = ((0_f64.exp() + 2_f64.exp()) / 2.0).ln();
/// assert!((erm.of_samples(&[0.0, 2.0]) - by_hand).abs() < 1e-15);
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Erm {
    /// Zero, or of magnitude at least [`SMALLEST_BETA`]; never NaN.
    beta: f64,
}

impl Erm {
    /// β = 0: the mean.
    ///
    /// ```
    /// assert_eq!(gumdp::Erm::MEAN.of_samples(&[1.0, 2.0, 6.0]), 3.0);
    /// ```
    pub const MEAN: Erm = Erm { beta: 0.0 };

    /// β = +∞: the largest cost.
    ///
    /// ```
    /// assert_eq!(gumdp::Erm::WORST.of_samples(&[1.0, 2.0, 6.0]), 6.0);
    /// ```
    pub const WORST: Erm = Erm { beta: f64::INFINITY };

    /// β = −∞: the smallest cost.
    ///
    /// ```
    /// assert_eq!(gumdp::Erm::BEST.of_samples(&[1.0, 2.0, 6.0]), 1.0);
    /// ```
    pub const BEST: Erm = Erm { beta: f64::NEG_INFINITY };

    /// The measure with this β. A |β| below 1e-150 is taken as 0, which it equals to rounding.
    ///
    /// ```
    /// use gumdp::Erm;
    ///
    /// assert_eq!(Erm::new(f64::INFINITY)?, Erm::WORST);
    /// assert_eq!(Erm::new(1e-200)?, Erm::MEAN);
    /// # Ok::<(), gumdp::RiskError>(())
    /// ```
    ///
    /// # Errors
    /// If `beta` is NaN.
    pub fn new(beta: f64) -> Result<Self, RiskError> {
        let beta = number("risk aversion beta", beta, !beta.is_nan(), "lie in [-inf, inf]")?;
        Ok(if beta.abs() < SMALLEST_BETA { Self::MEAN } else { Self { beta } })
    }

    /// The risk aversion β.
    ///
    /// ```
    /// assert_eq!(gumdp::Erm::new(-3.5)?.beta(), -3.5);
    /// # Ok::<(), gumdp::RiskError>(())
    /// ```
    #[inline]
    #[must_use]
    pub const fn beta(self) -> f64 {
        self.beta
    }

    /// The measure of equally likely samples; `NaN` if there are none, or one is NaN.
    ///
    /// ```
    /// use gumdp::Erm;
    ///
    /// let stern = Erm::new(1e6)?; // exp(1e6) overflows, the measure does not
    /// assert!((stern.of_samples(&[0.25, 0.75]) - 0.75).abs() < 1e-6);
    /// assert!(stern.of_samples(&[]).is_nan());
    /// # Ok::<(), gumdp::RiskError>(())
    /// ```
    #[must_use]
    pub fn of_samples(self, samples: &[f64]) -> f64 {
        self.of_outcomes(samples.iter().map(|&x| (x, 1.0)))
    }

    /// The measure of a finite distribution given as (value, weight) pairs; see [`Erm::of_outcomes`].
    ///
    /// ```
    /// use gumdp::Erm;
    ///
    /// let lottery = [(0.0, 3.0), (1.0, 1.0), (9.0, 0.0)]; // an impossible outcome does not count
    /// assert_eq!(Erm::MEAN.of_distribution(&lottery), 0.25);
    /// assert_eq!(Erm::WORST.of_distribution(&lottery), 1.0);
    /// ```
    #[must_use]
    pub fn of_distribution(self, outcomes: &[(f64, f64)]) -> f64 {
        self.of_outcomes(outcomes.iter().copied())
    }

    /// The measure of the (value, weight) pairs an iterator yields, without allocating: the inner loop of
    /// dynamic programming.
    ///
    /// Weights are divided by their sum; outcomes of weight 0 or less are ignored, also at β = ±∞. A
    /// single value is returned exactly. `NaN` if no outcome has positive weight, or a weight is infinite or NaN.
    ///
    /// ```
    /// use gumdp::Erm;
    ///
    /// let (next_values, probabilities) = ([3.0, 5.0], [0.5, 0.5]);
    /// let backup = Erm::new(0.5)?.of_outcomes(next_values.into_iter().zip(probabilities));
    /// assert!(4.0 < backup && backup < 5.0);
    /// # Ok::<(), gumdp::RiskError>(())
    /// ```
    #[inline]
    pub fn of_outcomes(self, outcomes: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
        // A NaN weight is kept: it spoils the total.
        let possible = outcomes.filter(|&(_, weight)| weight > 0.0 || weight.is_nan());
        let (mut low, mut high, mut total) = (f64::INFINITY, f64::NEG_INFINITY, Sum::ZERO);
        for (value, weight) in possible.clone() {
            low = low.min(value);
            high = high.max(value);
            total.add(weight);
        }
        let total = total.value();
        if !(total.is_finite() && (high - low).is_finite()) {
            return self.of_unusual(possible, low, high);
        }
        if low == high || self.beta.is_infinite() {
            // `low` and `high` have passed over every NaN.
            let unknown = possible.into_iter().any(|(value, _)| value.is_nan());
            return if unknown { f64::NAN } else { self.extreme(low, high) };
        }
        tilted(Tilt::new(self, low, high), possible, total)
    }

    /// The measure when there are no outcomes, or something is infinite: a cost, a weight, or the sum of the weights.
    #[cold]
    fn of_unusual(self, outcomes: impl Iterator<Item = (f64, f64)> + Clone, low: f64, high: f64) -> f64 {
        let unknown = |(value, weight): (f64, f64)| value.is_nan() || !weight.is_finite();
        let no_mean = self.beta == 0.0 && (low, high) == (f64::NEG_INFINITY, f64::INFINITY);
        if low > high || no_mean || outcomes.clone().any(unknown) {
            return f64::NAN;
        }
        let extreme = self.extreme(low, high);
        if low == high || self.beta.is_infinite() || extreme.is_infinite() {
            return extreme;
        }
        if self.beta == 0.0 && low == f64::NEG_INFINITY {
            return low;
        }
        // However many there are, their sum is finite now.
        let light = outcomes.map(|(value, weight)| (value, weight * LIGHTER));
        let total: Sum = light.clone().map(|(_, weight)| weight).collect();
        tilted(Tilt::new(self, low, high), light, total.value())
    }

    /// The end of the range that counts at β = ±∞.
    #[inline]
    pub(super) fn extreme(self, low: f64, high: f64) -> f64 {
        if self.beta < 0.0 { low } else { high }
    }

    /// How much more a value counts than the extreme one: exp(β(value − extreme)), also for infinite β.
    #[inline]
    pub(crate) fn tilt(self, value: f64, extreme: f64) -> f64 {
        if self.beta == 0.0 || value == extreme { 1.0 } else { (self.beta * (value - extreme)).exp() }
    }
}

impl Erm {
    /// How it is written.
    pub(super) const FORMS: &'static [Form] = &[
        Form { read: |_| Ok(Risk::MEAN), ..Form::new("mean", &[], "the expected cost") },
        Form { read: |_| Ok(Risk::WORST), ..Form::new("worst", &[], "the largest possible cost") },
        Form { read: |_| Ok(Risk::Erm(Self::BEST)), ..Form::new("best", &[], "the smallest possible cost") },
        Form {
            read: |numbers| Self::new(numbers[0]).map(Risk::Erm),
            sweep: Some(Sweep { title: "ERM", level: "beta", over: Swept::Beta }),
            ..Form::new("erm", &["BETA"], "entropic risk: 0 is the mean, inf the worst case")
        },
        Form {
            also: Some("seeking"),
            read: |numbers| {
                let beta = number("seeking beta", numbers[0], numbers[0] >= 0.0, "lie in [0, inf]")?;
                Self::new(-beta).map(Risk::Erm)
            },
            ..Form::new("entropic-seeking", &["BETA"], "the same as erm:-BETA")
        },
    ];
}

impl Measure for Erm {
    fn written(&self) -> (&'static Form, Vec<f64>) {
        match *self {
            Self::MEAN => (&Self::FORMS[0], vec![]),
            Self::WORST => (&Self::FORMS[1], vec![]),
            Self::BEST => (&Self::FORMS[2], vec![]),
            Self { beta } => (&Self::FORMS[3], vec![beta]),
        }
    }

    fn entropic_floor(&self) -> Erm {
        *self
    }

    fn of_tail(&self, tail: &Tail) -> f64 {
        self.of_outcomes(tail.outcomes.iter().copied())
    }

    fn fixed(&self) -> Option<FixedRisk> {
        Some((*self).into())
    }

    fn effective_share(&self, tail: &Tail) -> f64 {
        let (low, high) = tail.ends();
        let extreme = self.extreme(low, high);
        let add = |(once, twice): (f64, f64), &(cost, p): &(f64, f64)| {
            let weight = self.tilt(cost, extreme);
            (once + p * weight, twice + p * weight * weight)
        };
        let (once, twice) = tail.outcomes.iter().fold((0.0, 0.0), add);
        once * once / (twice * tail.total)
    }

    fn swept(&self) -> Option<(&'static Form, f64)> {
        Some((&Self::FORMS[3], self.beta))
    }
}

/// The measure of outcomes of finite total weight.
#[inline]
fn tilted(tilt: Tilt, outcomes: impl Iterator<Item = (f64, f64)>, total: f64) -> f64 {
    let mut mean = Sum::ZERO;
    for (value, weight) in outcomes {
        // Dividing first keeps the sum of very large values in range.
        mean.add(weight / total * tilt.term(value));
    }
    tilt.value(mean.value())
}
