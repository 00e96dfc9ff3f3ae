//! A risk measure whose outer variable is fixed: an entropic risk of the cost, or the mean of a function of it.
//!
//! `CVaR` and `EVaR` are not dynamically consistent, but for a fixed λ or β what remains is: min over policies of E[λ + u(f − λ)]
//! or of ERM_β(f). Optimality requires that the variable is chosen at the first decision and kept.

use std::fmt;

use super::{Erm, MeanCvar};
use crate::words::rounded;

/// What a planner minimises.
///
/// ```
/// use gumdp::risk::{Erm, FixedRisk, MeanCvar};
/// let tail = FixedRisk::Threshold { measure: MeanCvar::new(0.75, 1.0)?, lambda: 2.0 };
/// assert_eq!((tail.of_cost(1.0), tail.of_cost(3.0), tail.erm()), (2.0, 6.0, Erm::MEAN));
/// assert_eq!(FixedRisk::from(Erm::WORST).of_cost(3.0), 3.0);
/// assert_eq!(tail.to_string(), "lambda = 2");
/// # Ok::<(), gumdp::risk::RiskError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FixedRisk {
    /// The entropic risk of the cost.
    Erm(Erm),
    /// The mean of λ + u(cost − λ), u being that of the measure.
    Threshold {
        /// The measure.
        measure: MeanCvar,
        /// λ.
        lambda: f64,
    },
}

impl FixedRisk {
    /// The entropic risk measure that is taken over outcomes. See the [example](FixedRisk).
    #[must_use]
    pub fn erm(self) -> Erm {
        if let Self::Erm(erm) = self { erm } else { Erm::MEAN }
    }

    /// What a final cost counts. See the [example](FixedRisk).
    #[must_use]
    #[inline]
    pub fn of_cost(self, cost: f64) -> f64 {
        match self {
            Self::Erm(_) => cost,
            Self::Threshold { measure, lambda } => {
                let tail = lambda + (cost - lambda).max(0.0) / (1.0 - measure.level());
                (1.0 - measure.weight()) * cost + measure.weight() * tail
            }
        }
    }
}

impl From<Erm> for FixedRisk {
    fn from(erm: Erm) -> Self {
        Self::Erm(erm)
    }
}

/// The variable and its value.
impl fmt::Display for FixedRisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Erm(erm) => write!(f, "beta = {}", rounded(erm.beta())),
            Self::Threshold { lambda, .. } => write!(f, "lambda = {}", rounded(*lambda)),
        }
    }
}
