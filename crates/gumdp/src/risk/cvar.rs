//! The conditional value at risk of a random cost X at a level α in [0, 1], and mixtures of it with the mean,
//!
//! ```text
//! CVaR_α(X)                    = min over λ of λ + E[(X − λ)⁺]/(1 − α)
//! (1 − w)·E[X] + w·CVaR_α(X) = min over λ of λ + E[u(X − λ)],    u(x) = (1 − w)·x + w·x⁺/(1 − α)
//! ```
//!
//! Costs: lower is better, so this is the upper tail: the mean of the worst 1 − α share. The minimum is attained at
//! λ = `VaR_α(X)`. Limits: the mean at α = 0 or w = 0, the largest cost at α = 1. It is nondecreasing in α, moves with constants,
//! scales with positive factors and is convex in X. The mixtures, with α < 1 and a weight w in [0, 1], are all optimised certainty
//! equivalents whose utility u is made of two straight pieces; w = 1 is `CVaR` itself.
//!
//! References: Rockafellar and Uryasev, *Optimization of conditional value-at-risk*, Journal of Risk 2 (2000); Ben-Tal and Teboulle,
//! *An old-new concept of convex risk measures: the optimized certainty equivalent*, Mathematical Finance 17 (2007).

use super::aim::{Aim, Terminal, Terminals};
use super::outer::{Bounded, Extremes, FirstLook, Interval, OuterForm, SearchBy};
use super::tail::Tail;
use super::{Erm, FixedRisk, Form, Measure, Risk, RiskError, Sweep, number, valid_level};

/// The conditional value at risk at one level, alone or mixed with the mean.
///
/// ```
/// use gumdp::Cvar;
/// let worst_quarter = Cvar::new(0.75)?;
/// assert_eq!(worst_quarter.of_samples(&[1.0, 2.0, 3.0, 9.0])?, 9.0);
/// assert_eq!(worst_quarter.of_distribution(&[(0.0, 0.5), (8.0, 0.125), (4.0, 0.375)])?, 6.0);
/// // The worst 30 % of five samples: all of 10 (20 %) and half of 4 (10 %).
/// assert!((Cvar::new(0.7)?.of_samples(&[10.0, 1.0, 2.0, 3.0, 4.0])? - 8.0).abs() < 1e-14);
/// // The mean is 3, the worst quarter costs 9.
/// assert_eq!(Cvar::mixed(0.75, 0.5)?.of_samples(&[1.0, 1.0, 1.0, 9.0])?, 6.0);
/// assert!(Cvar::new(1.5).is_err() && Cvar::mixed(0.75, 2.0).is_err());
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cvar {
    /// In [0, 1]; below 1 in a mixture.
    level: f64,
    /// Of the tail in a mixture, in [0, 1]; `None` if it is no mixture.
    weight: Option<f64>,
}

impl Cvar {
    /// How it is written.
    pub(super) const FORMS: &'static [Form] = &[Form {
        read: |numbers| Self::new(numbers[0]).map(Risk::Cvar),
        sweep: Some(Sweep::levels("CVaR")),
        ..Form::new("cvar", &["LEVEL"], "conditional value at risk: the mean of the worst 1 - LEVEL")
    }];
    /// How a mixture is written.
    pub(super) const MIXED: &'static [Form] = &[Form {
        read: |numbers| Self::mixed(numbers[0], numbers[1]).map(Risk::Cvar),
        ..Form::new("mean-cvar", &["LEVEL", "WEIGHT"], "(1 - WEIGHT)·mean + WEIGHT·CVaR")
    }];

    /// The measure at this level.
    ///
    /// # Errors
    /// If the level is outside [0, 1].
    pub fn new(level: f64) -> Result<Self, RiskError> {
        Ok(Self { level: valid_level(level)?, weight: None })
    }

    /// (1 − weight)·mean + weight·`CVaR`.
    ///
    /// # Errors
    /// If the level is outside [0, 1) or the weight outside [0, 1].
    pub fn mixed(level: f64, weight: f64) -> Result<Self, RiskError> {
        let level = number("level", level, (0.0..1.0).contains(&level), "lie in [0, 1)")?;
        let weight = number("weight of the tail", weight, (0.0..=1.0).contains(&weight), "lie in [0, 1]")?;
        Ok(Self { level, weight: Some(weight) })
    }

    /// The weight of the tail.
    fn weight(&self) -> f64 {
        self.weight.unwrap_or(1.0)
    }
}

impl Measure for Cvar {
    fn written(&self) -> (&'static Form, Vec<f64>) {
        match self.weight {
            None => (&Self::FORMS[0], vec![self.level]),
            Some(weight) => (&Self::MIXED[0], vec![self.level, weight]),
        }
    }

    fn of_tail(&self, tail: &Tail) -> f64 {
        let cvar = tail.cvar(self.level);
        self.weight.map_or(cvar, |weight| (1.0 - weight) * tail.mean() + weight * cvar)
    }

    fn fixed(&self) -> Option<FixedRisk> {
        if self.weight() == 0.0 || self.level == 0.0 {
            return Some(Erm::MEAN.into());
        }
        (self.level == 1.0).then(|| Erm::WORST.into())
    }

    fn outer(&self) -> Option<Box<dyn OuterForm>> {
        Some(Box::new(*self))
    }

    fn effective_share(&self, _: &Tail) -> f64 {
        let square = self.weight() * self.weight();
        1.0 / (1.0 - square + square / (1.0 - self.level))
    }
}

/// λ of a certainty equivalent.
impl OuterForm for Cvar {
    fn at(&self, y: f64) -> FixedRisk {
        FixedRisk::new(*self, Terminal::Kinked(Kinked::at(*self, y))).at("lambda", y, 0.0)
    }

    fn best(&self, costs: &Tail) -> f64 {
        costs.value_at_risk(self.level)
    }

    fn search(self: Box<Self>) -> SearchBy {
        SearchBy::Exclusion(self)
    }
}

impl Bounded for Cvar {
    fn unit(&self) -> f64 {
        1.0 - self.level
    }

    fn first_look(&self, extremes: Extremes, count: usize) -> FirstLook {
        let Extremes { lowest, minimax, .. } = extremes;
        if self.is_same(lowest, minimax, extremes) {
            return FirstLook { known: None, values: vec![minimax], step: 0.0 };
        }
        let step = (minimax - lowest) / (count - 1) as f64;
        let inside = (1..count - 1).map(|k| lowest + step * k as f64);
        FirstLook { known: None, values: [lowest, minimax].into_iter().chain(inside).collect(), step }
    }

    fn near(&self, y: f64, by: f64, Extremes { lowest, minimax, .. }: Extremes) -> f64 {
        (y + by).max(lowest).min(minimax)
    }

    /// The measure is at least (1 − w)·mean + w·λ.
    fn that_matter(&self, (risk, _): (f64, f64), extremes: Extremes, highest: f64) -> Vec<Interval> {
        let weight = self.weight();
        let most = (risk - (1.0 - weight) * extremes.mean) / weight;
        vec![(extremes.lowest, most.min(highest).max(extremes.lowest))]
    }

    fn exclusion(&self, interval: Interval, _: f64) -> [Aim; 2] {
        [interval.0, interval.1].map(|end| Kinked::bound(*self, interval, end).scaled(self.unit()))
    }

    fn is_excluded(&self, (low, high): Interval, solved: &[f64], threshold: f64) -> bool {
        solved.iter().zip([low, high]).all(|(value, end)| end + value / self.unit() > threshold)
    }

    /// Without 1/(1 − α), which would magnify the rounding of costs that are not in the tail.
    fn quick_aim(&self, y: f64, _: f64) -> Aim {
        Kinked::at(*self, y).scaled(self.unit())
    }

    fn quick_risk(&self, y: f64, value: f64, _: f64) -> f64 {
        y + value / self.unit()
    }

    fn middle(&self, (low, high): Interval) -> f64 {
        f64::midpoint(low, high)
    }
}

/// λ + u(x − λ), bounded from below by a function that is linear in λ on [low, high]:
///
/// ```text
/// λ + (1 − w)·(x − λ) + w/(1 − α)·e(x),    e(x) = θ(x)·(x − λ),    θ(x) = 0 for x ≤ low, 1 for x ≥ high, linear between
/// ```
///
/// It is exact for low = high = λ. Scaled, it is without λ and times 1 − α.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kinked {
    /// Factors of x − λ and of e.
    mean: f64,
    tail: f64,
    constant: f64,
    low: f64,
    high: f64,
    lambda: f64,
}

impl Kinked {
    /// The function itself.
    pub(crate) fn at(measure: Cvar, lambda: f64) -> Self {
        Self::bound(measure, (lambda, lambda), lambda)
    }

    /// Its bound for all of an interval, at one end of it.
    pub(crate) fn bound(measure: Cvar, (low, high): (f64, f64), end: f64) -> Self {
        let (weight, share) = (measure.weight(), 1.0 - measure.level);
        Self { mean: 1.0 - weight, tail: weight / share, constant: end, low, high, lambda: end }
    }

    /// What is minimised instead, with all digits of small excesses.
    fn scaled(self, share: f64) -> Aim {
        let Self { mean, tail, .. } = self;
        Terminal::Kinked(Self { mean: mean * share, tail: tail * share, constant: 0.0, ..self }).into()
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
        self.constant + self.mean * (x - self.lambda) + self.tail * excess
    }
}

/// Where it is exact.
impl std::fmt::Display for Kinked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mean, tail, lambda, .. } = self;
        write!(f, "({lambda:?} + {mean:?} (f - {lambda:?}) + {tail:?} max(0, f - {lambda:?}))")
    }
}

/// Kinked functions of the same measure.
pub(crate) struct KinkedTerminals<const AIMS: usize> {
    /// Factors of the cost and of the excess.
    mean: f64,
    tail: f64,
    low: [f64; AIMS],
    high: [f64; AIMS],
    /// One over the width of the interval, or huge if that is 0.
    slope: [f64; AIMS],
    lambda: [f64; AIMS],
    /// What is added.
    constant: [f64; AIMS],
}

impl<const AIMS: usize> KinkedTerminals<AIMS> {
    /// If all aims are such functions.
    pub(crate) fn of_aims(aims: &[Aim; AIMS]) -> Option<Self> {
        let kinked = |aim: &Aim| if let Terminal::Kinked(kinked) = aim.terminal { Some(kinked) } else { None };
        let Kinked { mean, tail, .. } = kinked(aims.first()?)?;
        let none = [0.0; AIMS];
        let mut all = Self { mean, tail, low: none, high: none, slope: none, lambda: none, constant: none };
        for (k, aim) in aims.iter().enumerate() {
            let Kinked { low, high, lambda, constant, .. } =
                kinked(aim).filter(|other| other.mean == mean && other.tail == tail)?;
            (all.low[k], all.high[k], all.lambda[k], all.constant[k]) = (low, high, lambda, constant);
            all.slope[k] = (1.0 / (high - low)).min(f64::MAX);
        }
        Some(all)
    }
}

impl<const AIMS: usize> Terminals<AIMS> for KinkedTerminals<AIMS> {
    #[inline]
    fn of(&self, x: f64) -> [f64; AIMS] {
        std::array::from_fn(|k| {
            let (share, beyond) = (((x - self.low[k]) * self.slope[k]).clamp(0.0, 1.0), x - self.lambda[k]);
            self.constant[k] + (self.mean + self.tail * share) * beyond
        })
    }

    #[inline]
    fn of_lowest_mean(&self, (low, high): (f64, f64), mean: f64) -> Option<[f64; AIMS]> {
        let is_linear = (0..AIMS).all(|k| high <= self.low[k] || low >= self.high[k]);
        is_linear.then(|| self.of(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the ends of an interval the line through the bounds at the ends must not exceed the function.
    #[test]
    fn bounds_are_below_for_all_of_the_interval() {
        let measure = Cvar::mixed(0.8, 0.7).unwrap();
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
