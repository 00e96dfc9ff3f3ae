//! The outer variable of a risk measure: λ of a certainty equivalent, β of the entropic value at risk.
//!
//! Both are minima over one variable y of something that the occupancy solver can minimise over policies. As a function of y
//! the optimum is not convex, so intervals of y are *excluded*: a bound that is linear in y for every cost is, for each policy,
//! linear in y in expectation, hence the minimum over policies is concave in y and lowest at an end of the interval. Two
//! solves, one for each end, therefore show that no y of the interval and no policy attain a risk of at most t.
//! For a linear cost backward induction knows entropic risks only; then the curvature of ln E exp(β f), at most a quarter of
//! the squared range of f, bounds what is between two β. `docs/mathematics.md` has the proofs.

use super::aim::{Aim, Kinked, Terminal, Tilted, is_mild};
use crate::risk::{Erm, Evar, MeanCvar, Tail};

/// Values of the outer variable between two ends; the upper one may be infinite for β.
pub(super) type Interval = (f64, f64);

/// A risk measure as a minimum over one variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outer {
    /// λ + E[u(f − λ)] over λ.
    Lambda(MeanCvar),
    /// ERM_β(f) + ln(1/(1 − α))/β over β > 0.
    Beta {
        measure: Evar,
        /// How far apart two costs can be, if the cost is linear.
        linear_range: Option<f64>,
    },
}

impl Outer {
    /// What is to be minimised over policies when the variable has this value.
    pub(super) fn aim(&self, y: f64) -> Aim {
        match self {
            Self::Lambda(measure) => Terminal::Kinked(Kinked::at(*measure, y)).into(),
            // Never NaN.
            Self::Beta { .. } => Erm::new(y).unwrap_or(Erm::MEAN).into(),
        }
    }

    /// The risk that a policy attains, from its value of that aim.
    pub(super) fn risk(&self, y: f64, value: f64) -> f64 {
        match self {
            Self::Lambda(_) => value,
            Self::Beta { measure, .. } => value + measure.price() / y,
        }
    }

    /// What is minimised instead where it takes no exponential in every situation: the same minimum but for rounding, if the
    /// risk is not far from `about`.
    pub(super) fn quick_aim(&self, y: f64, about: f64) -> Aim {
        match self {
            Self::Beta { measure, linear_range: None } if y > 0.0 && y.is_finite() => {
                Terminal::Tilted(Tilted::bound((y, y), y, about, measure.level())).into()
            }
            _ => self.aim(y),
        }
    }

    /// The risk that a policy attains, from its value of the quick aim.
    pub(super) fn quick_risk(&self, y: f64, value: f64, about: f64) -> f64 {
        match self {
            Self::Beta { measure, linear_range: None } if y > 0.0 && y.is_finite() => {
                let logarithm = if is_mild(measure.level()) { value.ln_1p() } else { value.ln() };
                about + (logarithm + measure.price()) / y
            }
            _ => self.risk(y, value),
        }
    }

    /// The best value of the variable for one law.
    pub(super) fn best(&self, law: &Tail) -> f64 {
        match self {
            Self::Lambda(measure) => law.value_at_risk(measure.level()),
            Self::Beta { measure, .. } => measure.of_tail(law).1,
        }
    }

    /// What has to be solved to exclude a risk of at most `threshold` for all of an interval.
    pub(super) fn exclusion(&self, interval: Interval, threshold: f64) -> [Aim; 2] {
        let ends = [interval.0, interval.1];
        match self {
            Self::Lambda(measure) => ends.map(|end| Terminal::Kinked(Kinked::bound(*measure, interval, end)).into()),
            Self::Beta { linear_range: Some(_), .. } => ends.map(|end| self.aim(end)),
            Self::Beta { measure, .. } => {
                ends.map(|end| Terminal::Tilted(Tilted::bound(interval, end, threshold, measure.level())).into())
            }
        }
    }

    /// Whether these solutions exclude it.
    pub(super) fn is_excluded(&self, interval: Interval, solved: &[f64], threshold: f64) -> bool {
        let lowest = solved.iter().copied().fold(f64::INFINITY, f64::min);
        match self {
            Self::Lambda(_) => lowest > threshold,
            Self::Beta { measure, linear_range: Some(range) } => {
                let (low, high) = interval;
                let [at_low, at_high] = [solved[0] - threshold, solved[1] - threshold];
                // The ERM grows with β.
                if at_low + measure.price() / high > 0.0 {
                    return true;
                }
                high.is_finite() && lowest_between(interval, [low * at_low, high * at_high], *range) > -measure.price()
            }
            Self::Beta { measure, .. } => {
                lowest > if is_mild(measure.level()) { -measure.level() } else { 1.0 - measure.level() }
            }
        }
    }

    /// Where to split an interval; `None` if it has no inside.
    pub(super) fn split(&self, (low, high): Interval, best: f64) -> Option<f64> {
        let inside = |y: &f64| *y > low && *y < high;
        let middle = match self {
            Self::Lambda(_) => f64::midpoint(low, high),
            Self::Beta { .. } if high.is_infinite() => 4.0 * low,
            Self::Beta { .. } if low == 0.0 => high / 4.0,
            Self::Beta { .. } => (low * high).sqrt(),
        };
        Some(best).filter(inside).or(Some(middle).filter(inside))
    }
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
