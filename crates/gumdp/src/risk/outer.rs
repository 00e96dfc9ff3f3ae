//! A measure as a minimum over one outer variable y of what can be minimised over policies when y is fixed.
//!
//! As a function of y the optimum is not convex, so intervals of y are *excluded*: a bound that is linear in y for every cost is,
//! for each policy, linear in y in expectation, hence the minimum over policies is concave in y and lowest at an end of the
//! interval. Two solves, one for each end, therefore show that no y of the interval and no policy attain a risk of at most t.
//! `docs/mathematics.md` has the proofs. Not here: the search itself (`oracle`), and pilot episodes (`agent`).

use super::aim::Aim;
use super::tail::Tail;
use super::{Erm, FixedRisk};

/// Values that are closer than this part of how far apart they can be are the same.
const SAME: f64 = 1e-12;

/// Values of the outer variable between two ends; the upper one may be infinite for β.
pub(crate) type Interval = (f64, f64);

/// The lowest possible values of three attitudes: what costs there can be, at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extremes {
    pub(crate) lowest: f64,
    pub(crate) mean: f64,
    pub(crate) minimax: f64,
}

/// Where to look first.
pub(crate) struct FirstLook {
    /// A value that is known to be attained, and where: (risk, y).
    pub(crate) known: Option<(f64, f64)>,
    pub(crate) values: Vec<f64>,
    /// How far apart they are, for [`OuterForm::near`].
    pub(crate) step: f64,
}

/// The outer variable of a measure: what its own file knows of it.
pub(crate) trait OuterForm: std::fmt::Debug + Send + Sync {
    /// The measure at a value of the variable.
    fn at(&self, y: f64) -> FixedRisk;

    /// The best value for one distribution of costs.
    fn best(&self, costs: &Tail) -> f64;

    /// An entropic attitude that may stand in for the measure.
    fn attitude(&self, erm: Erm) -> FixedRisk {
        FixedRisk::attitude(erm)
    }

    /// Values to try when all costs met are in a range: between its ends, since the best may be one that no entropic attitude
    /// asks for.
    fn tried(&self, (low, high): Interval) -> Vec<f64> {
        let between = [0.25, 0.5, 0.75].into_iter().filter(|_| high > low && (high - low).is_finite());
        between.map(|share| low + share * (high - low)).collect()
    }

    /// Whether [`Self::for_few`] knows something.
    fn is_known_for_few(&self) -> bool {
        false
    }

    /// The value for costs, with their weights, that are too few to tell their distribution.
    fn for_few(&self, _costs: &[(f64, f64)]) -> Option<f64> {
        None
    }

    /// How the best value is found exactly.
    fn search(self: Box<Self>) -> SearchBy;
}

/// How the best value of an outer variable is found exactly.
pub(crate) enum SearchBy {
    /// The risk is the minimum over the variable: intervals are excluded.
    Exclusion(Box<dyn Bounded>),
    /// The risk is the least value at which the minimum over policies is at most this; it does not grow with the variable.
    Bisection {
        /// What may be left.
        most: f64,
    },
}

/// An outer variable whose intervals can be excluded.
pub(crate) trait Bounded: OuterForm {
    /// Whether what is minimised at each value is an entropic risk of the cost.
    fn is_entropic(&self) -> bool {
        false
    }

    /// The same for a linear cost whose values are at most so far apart.
    fn know_linear_range(&mut self, _range: f64) {}

    /// What a unit of risk is in values of the quick aim.
    fn unit(&self) -> f64 {
        1.0
    }

    /// Whether two values are the same but for rounding.
    fn is_same(&self, a: f64, b: f64, Extremes { lowest, minimax, .. }: Extremes) -> bool {
        let rounding = 64.0 * f64::EPSILON * lowest.abs().max(minimax.abs());
        a == b || (a - b).abs() <= rounding.max(SAME * self.unit() * (minimax - lowest))
    }

    /// Values all over the range of the variable, so many.
    fn first_look(&self, extremes: Extremes, count: usize) -> FirstLook;

    /// A value near another one.
    fn near(&self, y: f64, by: f64, extremes: Extremes) -> f64;

    /// All values that can matter when the best (risk, y) is known and no cost is higher than `highest`.
    fn that_matter(&self, best: (f64, f64), extremes: Extremes, highest: f64) -> Vec<Interval>;

    /// What has to be solved to exclude a risk of at most `threshold` for all of an interval.
    fn exclusion(&self, interval: Interval, threshold: f64) -> [Aim; 2];

    /// Whether these solutions exclude it.
    fn is_excluded(&self, interval: Interval, solved: &[f64], threshold: f64) -> bool;

    /// Where to split an interval if not at the best value.
    fn middle(&self, interval: Interval) -> f64;

    /// What is minimised instead of [`OuterForm::at`] where that is quicker: the same minimum but for rounding, if the risk is not
    /// far from `about`.
    fn quick_aim(&self, y: f64, _about: f64) -> Aim {
        self.at(y).aim
    }

    /// The risk that a policy attains, from its value of the quick aim.
    fn quick_risk(&self, y: f64, value: f64, _about: f64) -> f64 {
        value + self.at(y).price()
    }
}
