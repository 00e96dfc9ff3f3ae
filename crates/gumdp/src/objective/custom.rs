//! Objectives that are known by their values only: any function of the occupancy.
//!
//! The features are the masses of all pairs. The function is asked about occupancies that sum to 1 and nothing else: before an
//! episode is over, the occupancy so far is scaled up, and the value down.

use std::fmt;
use std::sync::Arc;

use super::term::{Function, Term};
use super::totals::Costs;
use super::{Bounds, Objective, ObjectiveError};

/// How far the sum of the masses of a whole episode may be from 1.
const ROUNDING: f64 = 1e-9;

type Values = dyn Fn(&[f64]) -> f64 + Send + Sync;

/// A function of the masses of all pairs.
#[derive(Clone)]
pub(super) struct Custom {
    bounds: Bounds,
    function: Arc<Values>,
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

impl Objective {
    /// Any function of the occupancy, for a model with this many pairs. It gets one number for each pair; they are not negative
    /// and sum to 1. A value outside of the bounds, which may be infinite, or one that is not a number, breaks whatever needs it,
    /// as for a formula that breaks. Slower than all others, and exact solvers cannot merge as much: it sees every pair.
    ///
    /// ```
    /// use gumdp::oracle::{Limits, solve};
    /// use gumdp::{Bounds, Erm, Mdp, Objective, Problem};
    /// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
    /// // As often one action as the other.
    /// let even = Objective::custom(2, Bounds { low: 0.0, high: 1.0 }, |d| (d[0] - d[1]).abs())?;
    /// let problem = Problem::new(mdp, even, 1.0, 4)?;
    /// assert_eq!(solve(&problem, Erm::MEAN, &Limits::QUICK)?.value, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are no pairs or no number lies between the bounds.
    pub fn custom(
        pairs: usize,
        bounds: Bounds,
        function: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, ObjectiveError> {
        let Bounds { low, high } = bounds;
        if pairs == 0 {
            return Err(ObjectiveError::Empty { what: "pairs" });
        }
        if !(low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY) {
            return Err(ObjectiveError::Bounds { low, high });
        }
        let custom = Function::Custom(Custom { bounds, function: Arc::new(function) });
        Ok(Self::of(Term::new(Costs::none(pairs), Vec::new(), custom)))
    }
}

impl Custom {
    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The value of an occupancy; of one with mass M < 1, M·f(d/M).
    pub(super) fn value(&self, masses: &[f64]) -> f64 {
        let sum: f64 = masses.iter().sum();
        if (sum - 1.0).abs() <= ROUNDING {
            return self.ask(masses);
        }
        if sum == 0.0 {
            return 0.0;
        }
        let scaled: Vec<f64> = masses.iter().map(|mass| mass / sum).collect();
        sum * self.ask(&scaled)
    }

    fn ask(&self, occupancy: &[f64]) -> f64 {
        let value = (self.function)(occupancy);
        if self.bounds.low <= value && value <= self.bounds.high { value } else { f64::NAN }
    }

    /// How much the value grows if `pair` is visited with this much occupancy.
    pub(super) fn increase(&self, masses: &[f64], pair: usize, mass: f64) -> f64 {
        let mut later = masses.to_vec();
        later[pair] += mass;
        self.value(&later) - self.value(masses)
    }

    /// The value after a path from an occupancy `root`; `masses` is memory.
    pub(super) fn value_of_path(
        &self,
        root: impl Iterator<Item = f64>,
        masses: &mut [f64],
        path: &[u32],
        weights: &[f64],
    ) -> f64 {
        for (mass, root) in masses.iter_mut().zip(root) {
            *mass = root;
        }
        for (&pair, weight) in path.iter().zip(weights) {
            masses[pair as usize] += weight;
        }
        self.value(masses)
    }
}
