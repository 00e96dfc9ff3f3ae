//! The probability that a random cost X exceeds a threshold c,
//!
//! ```text
//! exceed_c(X) = P(X > c)
//! ```
//!
//! in [0, 1], for chance constraints: lower is better. It does not grow with c; it is 0 where c is the worst case or more. Costs
//! within 1e-12 of the range of f of c count as equal to it: they do not exceed it. Minimising it is risk neutral with the final
//! cost 1(f > c), so no outer variable is needed, and since it is linear in the policy, mixing policies is no better than the best
//! of them.
//!
//! Reference: Charnes and Cooper, *Chance-constrained programming*, Management Science 6 (1959).

use super::aim::Terminal;
use super::ascending::Ascending;
use super::binomial::probability_interval;
use super::tail::Tail;
use super::{Erm, FixedRisk, Form, Measure, Risk, RiskError, Sweep, Swept, number};

/// Costs that are closer to the threshold than this part of the range of all costs are equal to it.
const EQUAL: f64 = 1e-12;

/// The probability of a cost above a threshold.
///
/// ```
/// use gumdp::Risk;
/// let risk: Risk = "exceed:2".parse()?;
/// assert_eq!(risk.of_samples(&[1.0, 2.0, 3.0, 9.0])?, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Exceed {
    threshold: f64,
    /// How much more than the threshold is equal to it; `None` if it is not known how far apart costs can be.
    slack: Option<f64>,
}

/// How far apart costs can be does not make another measure of it.
impl PartialEq for Exceed {
    fn eq(&self, other: &Self) -> bool {
        self.threshold == other.threshold
    }
}

impl Exceed {
    /// How it is written.
    pub(super) const FORMS: &'static [Form] = &[Form {
        read: |numbers| Self::new(numbers[0]).map(Risk::Exceed),
        sweep: Some(Sweep { title: "P(f > threshold)", level: "threshold", over: Swept::Cost }),
        ..Form::new("exceed", &["COST"], "the probability of a cost above COST")
    }];

    /// The measure with this threshold.
    ///
    /// # Errors
    /// If it is not finite.
    pub fn new(threshold: f64) -> Result<Self, RiskError> {
        let threshold = number("threshold", threshold, threshold.is_finite(), "be finite")?;
        Ok(Self { threshold, slack: None })
    }

    /// The largest cost that is taken for one that does not exceed the threshold.
    pub(crate) fn highest(&self) -> f64 {
        self.threshold + self.slack.unwrap_or(0.0)
    }

    /// The largest cost that does not exceed the threshold, if costs are between these.
    fn limit(&self, low: f64, high: f64) -> f64 {
        let range = high.max(self.threshold) - low.min(self.threshold);
        self.threshold + self.slack.unwrap_or(EQUAL * range)
    }
}

impl Measure for Exceed {
    fn written(&self) -> (&'static Form, Vec<f64>) {
        (&Self::FORMS[0], vec![self.threshold])
    }

    fn entropic_floor(&self) -> Erm {
        Erm::BEST
    }

    fn at_least(&self, floor: f64) -> f64 {
        f64::from(u8::from(floor > self.highest()))
    }

    fn of_tail(&self, tail: &Tail) -> f64 {
        let (low, high) = tail.ends();
        let limit = self.limit(low, high);
        let above = tail.outcomes.iter().rev().take_while(|outcome| outcome.0 > limit);
        (above.map(|outcome| outcome.1).sum::<f64>() / tail.total).min(1.0)
    }

    fn fixed(&self) -> Option<FixedRisk> {
        Some(FixedRisk::new(*self, Terminal::Above(self.highest())))
    }

    fn interval(&self, costs: &Ascending, confidence: f64) -> Option<(f64, f64)> {
        let [low, high] = costs.extremes();
        let below = costs.up_to(self.limit(low, high));
        Some(probability_interval(costs.count() - below, costs.count(), confidence))
    }

    fn within(&self, range: f64) -> Option<Risk> {
        Some(Self { slack: Some(EQUAL * range), ..*self }.into())
    }
}
