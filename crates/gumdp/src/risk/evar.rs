//! The entropic value at risk of a random cost X at a level α in [0, 1],
//!
//! ```text
//! EVaR_α(X) = inf over β > 0 of ERM_β(X) + ln(1/(1 − α))/β
//! ```
//!
//! Costs: lower is better, upper tail. It is the smallest upper bound of `CVaR_α` and `VaR_α` that Chernoff's inequality gives.
//! Limits: the mean at α = 0, the largest cost at α = 1. With Q_β the distribution of X tilted by exp(βX), the derivative of the
//! objective has the sign of KL(Q_β ‖ P) − ln(1/(1 − α)), which grows with β: the minimiser is its zero. If the largest
//! cost has a probability of at least 1 − α there is none, and the infimum is that cost, at β = ∞.
//!
//! Reference: Ahmadi-Javid, *Entropic value-at-risk: a new coherent risk measure*, Journal of Optimization Theory and
//! Applications 155 (2012).

use super::aim::{Aim, Terminal};
use super::outer::{Bounded, Extremes, FirstLook, Interval, OuterForm, SearchBy};
use super::tail::Tail;
use super::tilted::{Tilted, is_mild};
use super::{Erm, FixedRisk, Form, Measure, Risk, RiskError, Sweep, valid_level};

/// Steps to find β. Newton's method takes about ten, and a bisection step is never worse than a factor of two.
const STEPS: usize = 200;
/// β needs no more digits: the objective is flat at its minimum.
const BETA_DIGITS: f64 = 1e-10;
/// Values of β that are closer than this part of them are the same: the objective is flat.
const SAME_BETA: f64 = 1e-8;

/// The entropic value at risk at one level.
///
/// ```
/// use gumdp::{Cvar, Evar};
/// let costs: Vec<f64> = (0..100).map(f64::from).collect();
/// let (evar, cvar) = (Evar::new(0.9)?.of_samples(&costs)?, Cvar::new(0.9)?.of_samples(&costs)?);
/// assert!(cvar <= evar && evar <= 99.0);
/// // The largest cost has probability 0.1: that is the infimum, and it is at β = ∞.
/// assert_eq!(Evar::new(0.9)?.of_distribution(&[(0.0, 0.9), (1.0, 0.1)])?, 1.0);
/// # Ok::<(), gumdp::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evar {
    /// In [0, 1].
    level: f64,
}

impl Evar {
    /// How it is written.
    pub(super) const FORMS: &'static [Form] = &[Form {
        read: |numbers| Self::new(numbers[0]).map(Risk::Evar),
        sweep: Some(Sweep::levels("EVaR")),
        ..Form::new("evar", &["LEVEL"], "entropic value at risk")
    }];

    /// The measure at this level.
    ///
    /// # Errors
    /// If the level is outside [0, 1].
    pub fn new(level: f64) -> Result<Self, RiskError> {
        Ok(Self { level: valid_level(level)? })
    }

    /// ln(1/(1 − α)), the price of a unit of 1/β.
    fn price(self) -> f64 {
        -(-self.level).ln_1p()
    }

    /// The measure, and the β that attains it (0 at level 0, ∞ where the infimum is the largest cost).
    fn with_beta(self, tail: &Tail) -> (f64, f64) {
        let (outcomes, price, (low, high)) = (&tail.outcomes, self.price(), tail.ends());
        if self.level == 0.0 {
            return (tail.mean(), 0.0);
        }
        let heaviest: f64 =
            outcomes.iter().rev().take_while(|outcome| outcome.0 == high).map(|outcome| outcome.1).sum();
        // Rounding of the probabilities must not move an infimum that lies at infinity.
        if low == high || heaviest >= (1.0 - self.level - 1e-14) * tail.total {
            return (high, f64::INFINITY);
        }
        let beta = self.best_beta(tail);
        let value =
            |beta: f64| Erm::new(beta).map_or(f64::NAN, |erm| erm.of_outcomes(outcomes.iter().copied()) + price / beta);
        (value(beta).min(high), beta)
    }

    /// The zero of KL(Q_β ‖ P) − price.
    fn best_beta(self, tail: &Tail) -> f64 {
        let (price, (low, high)) = (self.price(), tail.ends());
        // KL and β·Var, its derivative.
        let divergence = |beta: f64| {
            let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
            for &(value, weight) in &tail.outcomes {
                let distance = value - high;
                let tilted = weight / tail.total * (beta * distance).exp();
                mass += tilted;
                first += tilted * distance;
                second += tilted * distance * distance;
            }
            let mean = first / mass;
            (beta * mean - mass.ln(), beta * (second / mass - mean * mean).max(0.0))
        };
        let (mut below, mut above) = (0.0, f64::INFINITY);
        let mut beta = (8.0 * price).sqrt() / (high - low);
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

impl Measure for Evar {
    fn written(&self) -> (&'static Form, Vec<f64>) {
        (&Self::FORMS[0], vec![self.level])
    }

    fn of_tail(&self, tail: &Tail) -> f64 {
        self.with_beta(tail).0
    }

    fn fixed(&self) -> Option<FixedRisk> {
        match self.level {
            0.0 => Some(Erm::MEAN.into()),
            1.0 => Some(Erm::WORST.into()),
            _ => None,
        }
    }

    fn outer(&self) -> Option<Box<dyn OuterForm>> {
        Some(Box::new(Beta { measure: *self, linear_range: None }))
    }

    fn effective_share(&self, tail: &Tail) -> f64 {
        Erm::new(self.with_beta(tail).1).map_or(1.0, |erm| erm.effective_share(tail))
    }
}

/// β of the entropic value at risk. For a linear cost backward induction knows entropic risks only; then the curvature of
/// ln E exp(β f), at most a quarter of the squared range of f, bounds what is between two β.
#[derive(Clone, Copy, Debug)]
struct Beta {
    measure: Evar,
    /// How far apart two costs can be, if the cost is linear.
    linear_range: Option<f64>,
}

impl Beta {
    /// Whether exponentials of the cost are minimised instead of entropic risks.
    fn is_quick(&self, y: f64) -> bool {
        self.linear_range.is_none() && y > 0.0 && y.is_finite()
    }
}

impl OuterForm for Beta {
    fn at(&self, y: f64) -> FixedRisk {
        // Never NaN.
        FixedRisk::new(self.measure, Erm::new(y).unwrap_or(Erm::MEAN)).at("beta", y, self.measure.price() / y)
    }

    fn best(&self, costs: &Tail) -> f64 {
        self.measure.with_beta(costs).1
    }

    /// Every positive β is one of the measure's own.
    fn attitude(&self, erm: Erm) -> FixedRisk {
        if erm.beta() > 0.0 { self.at(erm.beta()) } else { FixedRisk::attitude(erm) }
    }

    /// Entropic attitudes are all there is to try.
    fn tried(&self, _: Interval) -> Vec<f64> {
        Vec::new()
    }

    fn is_known_for_few(&self) -> bool {
        true
    }

    /// That which is best for the normal distribution with mean and variance of these costs: of few costs no other is known
    /// better, since the highest of them would decide alone.
    fn for_few(&self, costs: &[(f64, f64)]) -> Option<f64> {
        let total: f64 = costs.iter().map(|(_, weight)| weight).sum();
        let mean = costs.iter().map(|(cost, weight)| weight * cost).sum::<f64>() / total;
        let squares: f64 = costs.iter().map(|(cost, weight)| weight * (cost - mean) * (cost - mean)).sum();
        let variance = squares / (total - total / costs.len() as f64);
        let beta = (2.0 * self.measure.price() / variance).sqrt();
        Some(beta).filter(|beta| *beta > 0.0 && beta.is_finite())
    }

    fn search(self: Box<Self>) -> SearchBy {
        SearchBy::Exclusion(self)
    }
}

impl Bounded for Beta {
    fn is_entropic(&self) -> bool {
        true
    }

    fn know_linear_range(&mut self, range: f64) {
        self.linear_range = Some(range);
    }

    fn is_same(&self, a: f64, b: f64, _: Extremes) -> bool {
        a == b || (a - b).abs() <= SAME_BETA * a.abs().min(b.abs())
    }

    /// From far below the scale of the costs, where the mean counts, to far above it.
    fn first_look(&self, Extremes { mean, minimax, .. }: Extremes, count: usize) -> FirstLook {
        let scale = if minimax > mean { rounded(1.0 / (minimax - mean)) } else { 0.0 };
        let values = (0..count as i32).map(|k| scale * 4.0_f64.powi(k - 4)).collect();
        FirstLook { known: Some((minimax, f64::INFINITY)), values, step: 4.0_f64.ln() }
    }

    fn near(&self, y: f64, by: f64, _: Extremes) -> f64 {
        rounded(y * by.exp())
    }

    fn that_matter(&self, (risk, y): (f64, f64), extremes: Extremes, _: f64) -> Vec<Interval> {
        let usual = rounded(1.0 / (risk - extremes.mean));
        let first = if y > 0.0 && y.is_finite() { y } else { usual };
        vec![(0.0, first), (first, f64::INFINITY)]
    }

    fn exclusion(&self, interval: Interval, threshold: f64) -> [Aim; 2] {
        let ends = [interval.0, interval.1];
        if self.linear_range.is_some() {
            return ends.map(|end| self.at(end).aim);
        }
        ends.map(|end| Terminal::Tilted(Tilted::bound(interval, end, threshold, self.measure.level)).into())
    }

    fn is_excluded(&self, interval: Interval, solved: &[f64], threshold: f64) -> bool {
        let Self { measure, linear_range } = self;
        let Some(range) = linear_range else {
            let lowest = solved.iter().copied().fold(f64::INFINITY, f64::min);
            return lowest > if is_mild(measure.level) { -measure.level } else { 1.0 - measure.level };
        };
        let (low, high) = interval;
        let [at_low, at_high] = [solved[0] - threshold, solved[1] - threshold];
        // The ERM grows with β.
        if at_low + measure.price() / high > 0.0 {
            return true;
        }
        high.is_finite() && lowest_between(interval, [low * at_low, high * at_high], *range) > -measure.price()
    }

    fn middle(&self, (low, high): Interval) -> f64 {
        if high.is_infinite() {
            4.0 * low
        } else if low == 0.0 {
            high / 4.0
        } else {
            rounded((low * high).sqrt())
        }
    }

    /// Takes no exponential in every situation.
    fn quick_aim(&self, y: f64, about: f64) -> Aim {
        if !self.is_quick(y) {
            return self.at(y).aim;
        }
        Terminal::Tilted(Tilted::bound((y, y), y, about, self.measure.level)).into()
    }

    fn quick_risk(&self, y: f64, value: f64, about: f64) -> f64 {
        if !self.is_quick(y) {
            return value + self.at(y).price();
        }
        let logarithm = if is_mild(self.measure.level) { value.ln_1p() } else { value.ln() };
        about + (logarithm + self.measure.price()) / y
    }
}

/// With the leading 41 bits, so that values of β that are the same but for rounding are equal, and solved once.
fn rounded(beta: f64) -> f64 {
    const DROPPED: u64 = (1 << 12) - 1;
    if beta.is_finite() { f64::from_bits((beta.to_bits() + DROPPED / 2) & !DROPPED) } else { beta }
}

/// The lowest that a function with these values at the ends and a second derivative of at most range²/4 can be.
fn lowest_between((low, high): Interval, [at_low, at_high]: [f64; 2], range: f64) -> f64 {
    let width = high - low;
    let bend = range * range / 8.0;
    // at_low + slope·s − bend·s·(width − s), for s in [0, width].
    let slope = (at_high - at_low) / width;
    let s = if bend > 0.0 { ((bend * width - slope) / (2.0 * bend)).clamp(0.0, width) } else { 0.0 };
    at_low.min(at_high).min(at_low + slope * s - bend * s * (width - s))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a normal distribution, mean + β·variance/2 + price/β is lowest there.
    #[test]
    fn few_costs_are_taken_for_normal() {
        let of_few = |level: f64, costs: &[f64]| {
            let costs: Vec<(f64, f64)> = costs.iter().map(|&cost| (cost, 1.0)).collect();
            Evar::new(level).unwrap().outer().unwrap().for_few(&costs)
        };
        let beta = of_few(0.95, &[1.0, 3.0]).unwrap();
        assert!((beta - Evar::new(0.95).unwrap().price().sqrt()).abs() < 1e-12, "{beta}");
        assert_eq!([of_few(0.95, &[1.0; 5]), of_few(0.95, &[1.0]), of_few(0.0, &[1.0, 3.0])], [None; 3]);
    }

    /// The infimum over a fine grid of β.
    #[test]
    fn evar_is_the_lowest_of_many_betas() {
        let lotteries: [&[(f64, f64)]; 4] = [
            &[(0.0, 0.9), (1.0, 0.1)],
            &[(-3.0, 0.2), (0.5, 0.5), (2.0, 0.299), (7.0, 0.001)],
            &[(1e6, 0.5), (1e6 + 1.0, 0.5)],
            &[(0.1, 1.0)],
        ];
        for lottery in lotteries {
            for level in [1e-9, 0.01, 0.5, 0.89, 0.9, 0.91, 0.95, 0.999, 1.0 - 1e-9] {
                let evar = Evar::new(level).unwrap();
                let value = evar.of_distribution(lottery).unwrap();
                let at = |beta: f64| Erm::new(beta).unwrap().of_distribution(lottery) + evar.price() / beta;
                let grid =
                    (-2000..2000).map(|k| at(1.01_f64.powi(k))).fold(Erm::WORST.of_distribution(lottery), f64::min);
                let scale = lottery.iter().map(|outcome| outcome.0.abs()).fold(1.0, f64::max);
                assert!(value <= grid + 1e-12 * scale, "{lottery:?} {level}: {value} {grid}");
                let cvar = crate::Cvar::new(level).unwrap().of_distribution(lottery).unwrap();
                assert!(value >= cvar - 1e-12 * scale, "{lottery:?} {level}: {value} {cvar}");
                assert!(value >= grid - 2e-3, "{lottery:?} {level}: {value} {grid}");
            }
        }
        assert_eq!(Evar::new(0.0).unwrap().of_distribution(&[(0.0, 1.0), (1.0, 1.0)]), Ok(0.5));
        assert_eq!(Evar::new(1.0).unwrap().of_distribution(&[(0.0, 1.0), (1.0, 1e-9)]), Ok(1.0));
    }
}
