//! The value at risk of a random cost X at a level α in [0, 1],
//!
//! ```text
//! VaR_α(X) = least x with P(X ≤ x) ≥ α
//! ```
//!
//! a quantile, to 1e-12 in probability. Costs: lower is better, so a high level looks at the upper tail; what lies beyond x does
//! not count, unlike with [`Cvar`](super::Cvar). Limits: the lowest possible cost at α = 0, the largest at α = 1. It is
//! nondecreasing in α, moves with constants and scales with positive factors, but is not convex in X.
//!
//! The lowest value at risk over all policies is the least x at which the best P(f ≤ x) is at least α. That does not fall as x
//! grows, so x is found by bisection; for a fixed x the inner problem is that of [`Exceed`]. P(f ≤ x) is linear in the policy, so
//! mixing policies is no better than the best of them.
//!
//! Reference: Filar, Krass and Ross, *Percentile performance criteria for limiting average Markov decision processes*, IEEE
//! Transactions on Automatic Control 40 (1995).

use super::aim::Terminal;
use super::ascending::Ascending;
use super::binomial::quantile_interval;
use super::outer::{OuterForm, SearchBy};
use super::tail::Tail;
use super::{Erm, Exceed, FixedRisk, Form, Measure, Risk, RiskError, Sweep, valid_level};

/// Probabilities are known to this.
const EQUAL: f64 = 1e-12;

/// The value at risk at one level.
///
/// ```
/// use gumdp::Risk;
/// let median: Risk = "var:0.5".parse()?;
/// assert_eq!(median.of_samples(&[4.0, 1.0, 3.0, 2.0])?, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Var {
    /// In [0, 1].
    level: f64,
}

impl Var {
    /// How it is written.
    pub(super) const FORMS: &'static [Form] = &[Form {
        read: |numbers| Self::new(numbers[0]).map(Risk::Var),
        sweep: Some(Sweep::levels("VaR")),
        ..Form::new("var", &["LEVEL"], "value at risk: the least cost that is not exceeded with probability LEVEL")
    }];

    /// The measure at this level.
    ///
    /// # Errors
    /// If the level is outside [0, 1].
    pub fn new(level: f64) -> Result<Self, RiskError> {
        Ok(Self { level: valid_level(level)? })
    }
}

impl Measure for Var {
    fn written(&self) -> (&'static Form, Vec<f64>) {
        (&Self::FORMS[0], vec![self.level])
    }

    fn entropic_floor(&self) -> Erm {
        Erm::BEST
    }

    fn of_tail(&self, tail: &Tail) -> f64 {
        // A worst case counts however rare it is.
        if self.level == 1.0 { tail.ends().1 } else { tail.quantile(self.level - EQUAL) }
    }

    fn fixed(&self) -> Option<FixedRisk> {
        match self.level {
            0.0 => Some(Erm::BEST.into()),
            1.0 => Some(Erm::WORST.into()),
            _ => None,
        }
    }

    fn outer(&self) -> Option<Box<dyn OuterForm>> {
        Some(Box::new(*self))
    }

    fn interval(&self, costs: &Ascending, confidence: f64) -> Option<(f64, f64)> {
        let (low, high) = quantile_interval(costs, self.level, confidence);
        Some((low - costs.width(), high + costs.width()))
    }
}

/// x: what is minimised for a fixed one is P(f > x).
impl OuterForm for Var {
    fn at(&self, y: f64) -> FixedRisk {
        let exceeds = Exceed::new(y).map_or(Risk::WORST, Risk::Exceed);
        FixedRisk::new(exceeds, Terminal::Above(y)).at("x", y, 0.0)
    }

    fn best(&self, costs: &Tail) -> f64 {
        self.of_tail(costs)
    }

    fn search(self: Box<Self>) -> SearchBy {
        SearchBy::Bisection { most: 1.0 - self.level + EQUAL }
    }
}
