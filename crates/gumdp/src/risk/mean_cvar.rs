//! A mixture of the mean and the conditional value at risk of a random cost X,
//!
//! ```text
//! (1 − w)·E[X] + w·CVaR_α(X) = min over λ of λ + E[u(X − λ)],    u(x) = (1 − w)·x + w·x⁺/(1 − α)
//! ```
//!
//! with a level α in [0, 1) and a weight w in [0, 1]. Costs: lower is better. These are all optimised certainty equivalents
//! whose utility u is made of two straight pieces. Limits: the mean at w = 0 or α = 0, [`Cvar`] at w = 1.
//!
//! Reference: Ben-Tal and Teboulle, *An old-new concept of convex risk measures: the optimized certainty equivalent*,
//! Mathematical Finance 17 (2007).

use std::fmt;

use super::aim::{Aim, Terminal, Terminals};
use super::outer::{Bounded, Extremes, FirstLook, Interval, OuterForm, SearchBy};
use super::tail::Tail;
use super::{Cvar, Erm, FixedRisk, Form, Measure, Risk, RiskError, share_of_tail};

/// (1 − weight)·mean + weight·`CVaR`.
///
/// ```
/// use gumdp::MeanCvar;
/// let half = MeanCvar::new(0.75, 0.5)?;
/// // The mean is 3, the worst quarter costs 9.
/// assert_eq!(half.of_samples(&[1.0, 1.0, 1.0, 9.0])?, 6.0);
/// assert!(MeanCvar::new(0.75, 2.0).is_err());
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanCvar {
    /// In [0, 1).
    level: f64,
    /// In [0, 1].
    weight: f64,
}

impl MeanCvar {
    /// The measure with this level and this weight of the tail.
    ///
    /// # Errors
    /// [`RiskError::OpenLevel`] if the level is outside [0, 1), [`RiskError::TailWeight`] if the weight is outside [0, 1].
    pub fn new(level: f64, weight: f64) -> Result<Self, RiskError> {
        if !(0.0..1.0).contains(&level) {
            return Err(RiskError::OpenLevel { level });
        }
        if !(0.0..=1.0).contains(&weight) {
            return Err(RiskError::TailWeight { weight });
        }
        Ok(Self { level, weight })
    }

    /// The level α.
    #[must_use]
    pub const fn level(self) -> f64 {
        self.level
    }

    /// The weight w of the tail.
    #[must_use]
    pub const fn weight(self) -> f64 {
        self.weight
    }

    /// The measure of equally likely samples.
    ///
    /// # Errors
    /// No samples, or one that is not finite.
    pub fn of_samples(self, samples: &[f64]) -> Result<f64, RiskError> {
        Ok(self.of_tail(&Tail::new(samples.iter().map(|&x| (x, 1.0)))?))
    }

    /// The measure of a finite distribution given as (value, weight) pairs.
    ///
    /// # Errors
    /// No positive weight, or a value or weight out of range.
    pub fn of_distribution(self, outcomes: &[(f64, f64)]) -> Result<f64, RiskError> {
        Ok(self.of_tail(&Tail::new(outcomes.iter().copied())?))
    }
}

impl From<Cvar> for MeanCvar {
    /// `CVaR` at a level below 1 is the mixture of weight 1; at level 1 the nearest level below is taken.
    fn from(cvar: Cvar) -> Self {
        Self { level: cvar.level().min(1.0 - f64::EPSILON / 2.0), weight: 1.0 }
    }
}

impl fmt::Display for MeanCvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mean-cvar:{}:{}", self.level, self.weight)
    }
}

impl MeanCvar {
    /// How it is written.
    pub(super) const FORMS: &'static [Form] = &[Form {
        read: |numbers| Self::new(numbers[0], numbers[1]).map(Risk::MeanCvar),
        ..Form::new("mean-cvar", &["LEVEL", "WEIGHT"], "(1 - WEIGHT)·mean + WEIGHT·CVaR")
    }];
}

impl Measure for MeanCvar {
    fn of_tail(&self, tail: &Tail) -> f64 {
        (1.0 - self.weight) * tail.mean() + self.weight * tail.cvar(self.level)
    }

    fn fixed(&self) -> Option<FixedRisk> {
        (self.weight == 0.0 || self.level == 0.0).then(|| Erm::MEAN.into())
    }

    fn outer(&self) -> Option<Box<dyn OuterForm>> {
        Some(Box::new(Lambda { measure: *self, of: (*self).into() }))
    }

    fn tail_level(&self) -> Option<f64> {
        Some(self.level)
    }

    fn share(&self, _: f64) -> f64 {
        1.0 / (1.0 - self.weight + self.weight / share_of_tail(self.level))
    }
}

/// λ of a certainty equivalent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lambda {
    pub(super) measure: MeanCvar,
    /// The measure asked for.
    pub(super) of: Risk,
}

impl OuterForm for Lambda {
    fn at(&self, y: f64) -> FixedRisk {
        FixedRisk::new(self.of, Terminal::Kinked(Kinked::at(self.measure, y))).at("lambda", y, 0.0)
    }

    fn best(&self, costs: &Tail) -> f64 {
        costs.value_at_risk(self.measure.level)
    }

    /// Between the lowest and the highest cost met: the best may be one that no entropic attitude asks for.
    fn tried(&self, (low, high): Interval) -> Vec<f64> {
        let between = [0.25, 0.5, 0.75].into_iter().filter(|_| high > low && (high - low).is_finite());
        between.map(|share| low + share * (high - low)).collect()
    }

    fn search(self: Box<Self>) -> SearchBy {
        SearchBy::Exclusion(self)
    }
}

impl Bounded for Lambda {
    fn steepness(&self) -> f64 {
        1.0 / (1.0 - self.measure.level)
    }

    fn first_look(&self, Extremes { lowest, minimax, .. }: Extremes, count: usize) -> FirstLook {
        let step = (minimax - lowest) / (count - 1) as f64;
        let inside = (1..count - 1).map(|k| lowest + step * k as f64);
        FirstLook { known: None, values: [lowest, minimax].into_iter().chain(inside).collect(), step }
    }

    fn near(&self, y: f64, by: f64, Extremes { lowest, minimax, .. }: Extremes) -> f64 {
        (y + by).max(lowest).min(minimax)
    }

    /// The measure is at least (1 − w)·mean + w·λ.
    fn that_matter(&self, (risk, _): (f64, f64), extremes: Extremes, highest: f64) -> Vec<Interval> {
        let weight = self.measure.weight;
        let most = (risk - (1.0 - weight) * extremes.mean) / weight;
        vec![(extremes.lowest, most.min(highest).max(extremes.lowest))]
    }

    fn exclusion(&self, interval: Interval, _: f64) -> [Aim; 2] {
        [interval.0, interval.1].map(|end| Terminal::Kinked(Kinked::bound(self.measure, interval, end)).into())
    }

    fn is_excluded(&self, _: Interval, solved: &[f64], threshold: f64) -> bool {
        solved.iter().copied().fold(f64::INFINITY, f64::min) > threshold
    }

    fn middle(&self, (low, high): Interval) -> f64 {
        f64::midpoint(low, high)
    }
}

/// λ + u(x − λ) of a mixture of mean and `CVaR`, bounded from below by a function that is linear in λ on [low, high]:
///
/// ```text
/// (1 − w)·x + w·(λ + e(x)/(1 − α)),    e(x) = θ(x)·(x − λ),    θ(x) = 0 for x ≤ low, 1 for x ≥ high, linear between
/// ```
///
/// It is exact for low = high = λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kinked {
    weight: f64,
    /// 1 − α.
    share: f64,
    low: f64,
    high: f64,
    lambda: f64,
}

impl Kinked {
    /// The function itself.
    pub(crate) fn at(measure: MeanCvar, lambda: f64) -> Self {
        Self::bound(measure, (lambda, lambda), lambda)
    }

    /// Its bound for all of an interval, at one end of it.
    pub(crate) fn bound(measure: MeanCvar, (low, high): (f64, f64), end: f64) -> Self {
        Self { weight: measure.weight(), share: 1.0 - measure.level(), low, high, lambda: end }
    }

    #[inline]
    pub(super) fn of(&self, x: f64) -> f64 {
        let excess = if x <= self.low {
            0.0
        } else if x >= self.high {
            x - self.lambda
        } else {
            (x - self.low) / (self.high - self.low) * (x - self.lambda)
        };
        (1.0 - self.weight) * x + self.weight * (self.lambda + excess / self.share)
    }
}

/// Kinked functions of the same measure.
pub(crate) struct KinkedTerminals<const AIMS: usize> {
    /// Factors of the cost and of the excess.
    mean: f64,
    tail: f64,
    low: [f64; AIMS],
    /// One over the width of the interval, or huge if that is 0.
    slope: [f64; AIMS],
    lambda: [f64; AIMS],
    /// What is added: the weight times λ.
    constant: [f64; AIMS],
}

impl<const AIMS: usize> KinkedTerminals<AIMS> {
    /// If all aims are such functions.
    pub(crate) fn of_aims(aims: &[Aim; AIMS]) -> Option<Self> {
        let kinked = |aim: &Aim| if let Terminal::Kinked(kinked) = aim.terminal { Some(kinked) } else { None };
        let Kinked { weight, share, .. } = kinked(aims.first()?)?;
        let mut all = Self {
            mean: 1.0 - weight,
            tail: weight / share,
            low: [0.0; AIMS],
            slope: [0.0; AIMS],
            lambda: [0.0; AIMS],
            constant: [0.0; AIMS],
        };
        for (k, aim) in aims.iter().enumerate() {
            let Kinked { low, high, lambda, .. } =
                kinked(aim).filter(|other| other.weight == weight && other.share == share)?;
            (all.low[k], all.lambda[k], all.constant[k]) = (low, lambda, weight * lambda);
            all.slope[k] = (1.0 / (high - low)).min(f64::MAX);
        }
        Some(all)
    }
}

impl<const AIMS: usize> Terminals<AIMS> for KinkedTerminals<AIMS> {
    #[inline]
    fn of(&self, x: f64) -> [f64; AIMS] {
        let mean = self.mean * x;
        std::array::from_fn(|k| {
            let share = ((x - self.low[k]) * self.slope[k]).clamp(0.0, 1.0);
            mean + (self.constant[k] + self.tail * (share * (x - self.lambda[k])))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_are_those_alone() {
        let measure = MeanCvar::new(0.8, 0.7).unwrap();
        let intervals = [(0.0, 0.5), (0.3, 0.3), (0.2, 4.0), (700.0, 5000.0)];
        let aims: [Aim; 8] = std::array::from_fn(|k| {
            let (low, high) = intervals[k / 2];
            Terminal::Kinked(Kinked::bound(measure, (low, high), [low, high][k % 2])).into()
        });
        let many = KinkedTerminals::of_aims(&aims).unwrap();
        for x in (-40..=40).map(|k| f64::from(k) / 20.0) {
            for (aim, value) in aims.iter().zip(many.of(x)) {
                let alone = aim.terminal.of(x);
                assert!((alone - value).abs() <= 1e-13 * (1.0 + alone.abs()), "{aim:?} {x}: {alone} {value}");
            }
        }
        assert!(KinkedTerminals::of_aims(&[Aim::from(Erm::MEAN)]).is_none());
    }

    /// Between the ends of an interval the line through the bounds at the ends must not exceed the function.
    #[test]
    fn bounds_are_below_for_all_of_the_interval() {
        let measure = MeanCvar::new(0.8, 0.7).unwrap();
        for (low, high) in [(-1.0, 2.0), (0.3, 0.4), (0.0, 1e-9)] {
            for k in -40..=40 {
                let x = f64::from(k) / 10.0;
                let ends = [low, high].map(|end| Kinked::bound(measure, (low, high), end).of(x));
                for share in [0.0, 0.1, 0.5, 0.77, 1.0] {
                    let lambda = low + share * (high - low);
                    let line = ends[0] + share * (ends[1] - ends[0]);
                    let exact = Kinked::at(measure, lambda).of(x);
                    assert!(line <= exact + 1e-12, "{low} {high} {x} {share}: {line} {exact}");
                }
            }
        }
    }
}
