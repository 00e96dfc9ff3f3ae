//! The entropic value at risk of a random cost X at a level α in [0, 1],
//!
//! ```text
//! EVaR_α(X) = inf over β > 0 of ERM_β(X) + ln(1/(1 − α))/β
//! ```
//!
//! Costs: lower is better, upper tail. It is the smallest upper bound of `CVaR_α` and `VaR_α` that Chernoff's inequality gives.
//! Limits: the mean at α = 0, the largest cost at α = 1. With Q_β the law of X tilted by exp(βX), the derivative of the
//! objective has the sign of KL(Q_β ‖ law) − ln(1/(1 − α)), which grows with β: the minimiser is its zero. If the largest
//! cost has a probability of at least 1 − α there is none, and the infimum is that cost, at β = ∞.
//!
//! Reference: Ahmadi-Javid, *Entropic value-at-risk: a new coherent risk measure*, Journal of Optimization Theory and
//! Applications 155 (2012).

use super::tail::{Tail, valid_level};
use super::{Erm, RiskError};

/// Steps to find β. Newton's method takes about ten, and a bisection step is never worse than a factor of two.
const STEPS: usize = 200;
/// β needs no more digits: the objective is flat at its minimum.
const BETA_DIGITS: f64 = 1e-10;

/// The entropic value at risk at one level.
///
/// ```
/// use gumdp::risk::{Cvar, Evar};
/// let costs: Vec<f64> = (0..100).map(f64::from).collect();
/// let (evar, cvar) = (Evar::new(0.9)?.of_samples(&costs)?, Cvar::new(0.9)?.of_samples(&costs)?);
/// assert!(cvar <= evar && evar <= 99.0);
/// // The largest cost has probability 0.1: that is the infimum, and it is at β = ∞.
/// assert_eq!(Evar::new(0.9)?.of_distribution(&[(0.0, 0.9), (1.0, 0.1)])?, 1.0);
/// # Ok::<(), gumdp::risk::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evar {
    /// In [0, 1].
    level: f64,
}

impl Evar {
    /// The measure at this level. See the [example](Evar).
    ///
    /// # Errors
    /// [`RiskError::Level`] if the level is outside [0, 1].
    pub fn new(level: f64) -> Result<Self, RiskError> {
        Ok(Self { level: valid_level(level)? })
    }

    /// The level α. See the [example](Evar).
    #[must_use]
    pub const fn level(self) -> f64 {
        self.level
    }

    /// ln(1/(1 − α)), the price of a unit of 1/β. See the [formula](Evar).
    #[must_use]
    pub fn price(self) -> f64 {
        -(-self.level).ln_1p()
    }

    /// The measure of equally likely samples. See the [example](Evar).
    ///
    /// # Errors
    /// No samples, or one that is not finite.
    pub fn of_samples(self, samples: &[f64]) -> Result<f64, RiskError> {
        Ok(self.of_tail(&Tail::new(samples.iter().map(|&x| (x, 1.0)))?).0)
    }

    /// The measure of a finite distribution given as (value, weight) pairs. See the [example](Evar).
    ///
    /// # Errors
    /// No positive weight, or a value or weight out of range.
    pub fn of_distribution(self, outcomes: &[(f64, f64)]) -> Result<f64, RiskError> {
        Ok(self.of_tail(&Tail::new(outcomes.iter().copied())?).0)
    }

    /// The measure, and the β that attains it (0 at level 0, ∞ where the infimum is the largest cost).
    pub(crate) fn of_tail(self, tail: &Tail) -> (f64, f64) {
        let (outcomes, price) = (tail.outcomes(), self.price());
        let (low, high) = (outcomes[0].0, outcomes[outcomes.len() - 1].0);
        if self.level == 0.0 {
            return (tail.mean(), 0.0);
        }
        let heaviest: f64 =
            outcomes.iter().rev().take_while(|outcome| outcome.0 == high).map(|outcome| outcome.1).sum();
        // Rounding of the probabilities must not move an infimum that lies at infinity.
        if low == high || heaviest >= (1.0 - self.level - 1e-14) * tail.total() {
            return (high, f64::INFINITY);
        }
        let beta = self.best_beta(outcomes, tail.total(), high - low);
        let value =
            |beta: f64| Erm::new(beta).map_or(f64::NAN, |erm| erm.of_outcomes(outcomes.iter().copied()) + price / beta);
        (value(beta).min(high), beta)
    }

    /// The zero of KL(Q_β ‖ law) − price.
    fn best_beta(self, outcomes: &[(f64, f64)], total: f64, range: f64) -> f64 {
        let high = outcomes[outcomes.len() - 1].0;
        let price = self.price();
        // KL and β·Var, its derivative.
        let divergence = |beta: f64| {
            let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
            for &(value, weight) in outcomes {
                let distance = value - high;
                let tilted = weight / total * (beta * distance).exp();
                mass += tilted;
                first += tilted * distance;
                second += tilted * distance * distance;
            }
            let mean = first / mass;
            (beta * mean - mass.ln(), beta * (second / mass - mean * mean).max(0.0))
        };
        let (mut below, mut above) = (0.0, f64::INFINITY);
        let mut beta = (8.0 * price).sqrt() / range;
        for _ in 0..STEPS {
            let (kl, slope) = divergence(beta);
            if kl < price {
                below = beta;
            } else {
                above = beta;
            }
            if above - below <= BETA_DIGITS * above && above.is_finite() {
                break;
            }
            // In ln β, where KL is close to a power of β.
            let newton = beta * ((price - kl) / (slope * beta)).clamp(-3.0, 3.0).exp();
            let next = if newton > below && newton < above {
                newton
            } else if above.is_infinite() {
                4.0 * beta
            } else if below == 0.0 {
                above / 4.0
            } else {
                (below * above).sqrt()
            };
            if (next - beta).abs() <= BETA_DIGITS * beta || !next.is_finite() {
                break;
            }
            beta = next;
        }
        beta
    }
}
