//! A problem: model, objective, discount and horizon. Its occupancy MDP, one step at a time.
//!
//! Time runs t = 0 … H−1. A trajectory visits pairs (s_t, a_t); its occupancy is
//! d = (1−γ)/(1−γ^H) Σ_t γ^t 1(s_t, a_t) (1/H Σ_t for γ = 1) and its cost is f(d). A state of the occupancy MDP is
//! (t, s, Φo): the time, the model's state, and the features of the occupancy gathered so far ([`OccupancyState`]).

mod effects;
pub(crate) mod reach;
mod units;

use std::sync::Arc;

pub use effects::Effects;
use units::Units;

use crate::model::{Mdp, Pair, State};
use crate::objective::{Objective, ObjectiveError, PathEvaluator};
use crate::risk::{Risk, Sum};
use crate::rng::{self, Purpose, mix};

/// The longest horizon that is accepted.
pub const MAX_HORIZON: usize = 1_000_000;

/// Why a problem was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// The discount is out of range.
    #[error("the discount is {0}; it must lie in (0, 1]")]
    Discount(f64),
    /// The horizon is out of range.
    #[error("the horizon is {0}; it must lie in [1, {MAX_HORIZON}]")]
    Horizon(usize),
    /// The accuracy is not a positive number.
    #[error("the accuracy is {0}; it must be positive and finite")]
    Accuracy(f64),
    /// No horizon can be computed without discounting.
    #[error("no horizon follows from an accuracy when the discount is 1; give the horizon itself")]
    Undiscounted,
    /// No horizon can be computed without a Lipschitz constant.
    #[error(
        "no horizon follows from an accuracy: the objective has no finite Lipschitz constant; give the horizon itself"
    )]
    NotLipschitz,
    /// The horizon for this accuracy is too long.
    #[error("accuracy {accuracy} needs a horizon of {horizon}; at most {MAX_HORIZON} is supported")]
    TooLong {
        /// The accuracy asked for.
        accuracy: f64,
        /// The horizon it needs.
        horizon: f64,
    },
    /// The objective is wrong, or for another model.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
}

/// A model, an objective, a discount and a horizon. Cloning is cheap: the parts are shared.
///
/// ```
/// use gumdp::{Mdp, Objective, Problem};
/// let mdp = Mdp::sized(1, 1).start(0).transition(0, 0, [(0, 1.0)]).build()?;
/// let objective = Objective::linear(mdp.by_state(&[3.0])?)?;
/// let problem = Problem::new(mdp, objective, 0.9, 10)?;
/// assert_eq!(problem.horizon(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    mdp: Arc<Mdp>,
    objective: Arc<Objective>,
    discount: f64,
    /// Normalised discount of each time, summing to 1.
    masses: Arc<[f64]>,
    units: Arc<Units>,
}

/// A state of the occupancy MDP: the situation in which a policy chooses an action.
#[derive(Debug, PartialEq)]
pub struct OccupancyState {
    /// The time t, from 0; the horizon once the episode is over.
    pub time: usize,
    /// The state of the model.
    pub state: State,
    /// Features of the normalised occupancy gathered before time t.
    pub features: Vec<f64>,
}

impl Clone for OccupancyState {
    fn clone(&self) -> Self {
        Self { time: self.time, state: self.state, features: self.features.clone() }
    }

    /// Reuses the memory of the features, which a derived implementation would not.
    fn clone_from(&mut self, source: &Self) {
        self.time = source.time;
        self.state = source.state;
        self.features.clone_from(&source.features);
    }
}

impl Problem {
    /// Puts a problem together.
    ///
    /// # Errors
    /// If the discount is not in (0, 1], the horizon not in [1, [`MAX_HORIZON`]], or the objective is for another model.
    pub fn new(
        mdp: impl Into<Arc<Mdp>>,
        objective: Objective,
        discount: f64,
        horizon: usize,
    ) -> Result<Self, ProblemError> {
        let masses = masses(discount, horizon)?;
        let mdp = mdp.into();
        let objective = Arc::new(objective.prepared(mdp.pair_count())?);
        let units = Arc::new(Units::new(&objective, discount, horizon));
        Ok(Self { mdp, objective, discount, masses, units })
    }

    /// The smallest horizon H with 8·L·γ^H ≤ `accuracy`: an optimal policy of the truncated problem is then that close to
    /// optimal for the infinite horizon (paper, Proposition 4.2).
    ///
    /// ```
    /// # use gumdp::{Objective, Problem};
    /// let objective = Objective::linear(vec![1.0, -2.0])?;
    /// let horizon = Problem::horizon_for(&objective, 0.9, 0.01)?;
    /// assert!(16.0 * 0.9_f64.powi(horizon as i32) <= 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the objective has no finite Lipschitz constant, γ = 1, or the horizon would be longer than [`MAX_HORIZON`].
    pub fn horizon_for(objective: &Objective, discount: f64, accuracy: f64) -> Result<usize, ProblemError> {
        check_discount(discount)?;
        if !(accuracy > 0.0 && accuracy.is_finite()) {
            return Err(ProblemError::Accuracy(accuracy));
        }
        if discount == 1.0 {
            return Err(ProblemError::Undiscounted);
        }
        let lipschitz = objective.lipschitz().filter(|constant| constant.is_finite());
        let lipschitz = lipschitz.ok_or(ProblemError::NotLipschitz)?;
        // Two factors γ^(H/2), and differences of logarithms: neither a huge constant nor a tiny power is out of range.
        let accurate = |horizon: f64| {
            let half = discount.powf(horizon / 2.0);
            8.0 * (lipschitz * half) * half <= accuracy
        };
        let powers_needed = (accuracy.ln() - lipschitz.ln() - 8.0_f64.ln()) / discount.ln();
        let mut horizon = powers_needed.ceil().max(1.0);
        // Far beyond the maximum, steps of 1 would be lost to rounding.
        if horizon > 2.0 * MAX_HORIZON as f64 {
            return Err(ProblemError::TooLong { accuracy, horizon });
        }
        // The logarithms are rounded: step to the exact boundary.
        while horizon > 1.0 && accurate(horizon - 1.0) {
            horizon -= 1.0;
        }
        while !accurate(horizon) {
            horizon += 1.0;
        }
        if horizon > MAX_HORIZON as f64 {
            return Err(ProblemError::TooLong { accuracy, horizon });
        }
        Ok(horizon as usize)
    }

    /// The same problem with another horizon.
    ///
    /// # Errors
    /// If the horizon is not in [1, [`MAX_HORIZON`]].
    pub fn with_horizon(&self, horizon: usize) -> Result<Self, ProblemError> {
        let masses = masses(self.discount, horizon)?;
        let units = Arc::new(Units::new(&self.objective, self.discount, horizon));
        Ok(Self { masses, units, ..self.clone() })
    }

    /// The same model, discount and horizon with another objective.
    pub(crate) fn with_objective(&self, objective: Objective) -> Result<Self, ProblemError> {
        Self::new(Arc::clone(&self.mdp), objective, self.discount, self.horizon())
    }

    /// The model.
    #[must_use]
    #[inline]
    pub fn mdp(&self) -> &Mdp {
        &self.mdp
    }

    /// The objective.
    #[must_use]
    #[inline]
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The discount γ.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The horizon H: the number of steps of an episode.
    #[must_use]
    #[inline]
    pub fn horizon(&self) -> usize {
        self.masses.len()
    }

    /// The occupancy that each time contributes, γ^t·(1−γ)/(1−γ^H): it sums to 1.
    #[must_use]
    #[inline]
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The occupancy state at time 0 of an episode that starts in `state`.
    #[must_use]
    pub fn start(&self, state: State) -> OccupancyState {
        OccupancyState { time: 0, state, features: vec![0.0; self.objective.feature_count()] }
    }

    /// Moves on: the action of `pair` was taken and led to `next`.
    ///
    /// # Panics
    /// If the episode is already over.
    pub fn advance(&self, at: &mut OccupancyState, pair: Pair, next: State) {
        self.gather(&mut at.features, at.time, pair);
        at.time += 1;
        at.state = next;
    }

    /// Adds the visit of a pair at some time to the features of what was gathered before. What is equal but for the order of visits
    /// has the same bits wherever the features have units.
    #[inline]
    pub(crate) fn gather(&self, features: &mut [f64], time: usize, pair: Pair) {
        self.objective.add(features, pair.index(), self.masses[time]);
        self.units.settle(features, pair.index()..pair.index() + 1);
    }

    /// The same features with the bits that this problem gives them, if they are its features.
    pub(crate) fn settle(&self, features: &mut [f64]) {
        if features.len() == self.objective.feature_count() {
            self.units.settle(features, 0..self.mdp.pair_count());
        }
    }

    /// f of the occupancy gathered so far; the cost of the episode once it is over.
    #[must_use]
    pub fn cost(&self, at: &OccupancyState) -> f64 {
        self.objective.value_of_features(&at.features)
    }

    /// A measure that knows how far apart the costs of this problem can be: those that compare costs with a threshold take
    /// what differs by rounding for equal.
    #[must_use]
    pub fn measure(&self, risk: impl Into<Risk>) -> Risk {
        let bounds = self.objective.bounds();
        risk.into().within(bounds.high - bounds.low)
    }

    /// The normalised occupancy of a sequence of pairs from time 0, as a vector over pairs.
    ///
    /// # Panics
    /// If the path is longer than the horizon.
    #[must_use]
    pub fn occupancy(&self, path: &[Pair]) -> Vec<f64> {
        let mut occupancy = vec![0.0; self.mdp.pair_count()];
        for (time, pair) in path.iter().enumerate() {
            occupancy[pair.index()] += self.masses[time];
        }
        occupancy
    }

    pub(crate) fn path_evaluator(&self) -> PathEvaluator {
        PathEvaluator::new(Arc::clone(&self.objective), Arc::clone(&self.masses))
    }

    /// A number that two problems share if they have the same states, actions, transitions, start, discount and horizon (by
    /// name and to the last bit) and the same objective; others share it with probability 2⁻⁶⁴. The objective is compared by
    /// its values at eight occupancies. Saved policies carry it.
    ///
    /// ```
    /// use gumdp_files::tasks;
    /// let problem = tasks::get("rooms").unwrap().problem;
    /// assert_eq!(problem.fingerprint(), tasks::get("rooms").unwrap().problem.fingerprint());
    /// assert_ne!(problem.fingerprint(), problem.with_horizon(19)?.fingerprint());
    /// # Ok::<(), gumdp::ProblemError>(())
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mdp = self.mdp();
        let mut hash = 0;
        let mut add = |word: u64| hash = mix(hash ^ word);
        let mut add_name = |name: &str| {
            add(name.len() as u64);
            name.bytes().for_each(|byte| add(u64::from(byte)));
        };
        mdp.states().for_each(|state| add_name(mdp.state_name(state)));
        (0..mdp.action_count() as u32).for_each(|action| add_name(mdp.action_name(action.into())));
        mdp.initial().iter().for_each(|&(state, p)| [u64::from(state.0), p.to_bits()].into_iter().for_each(&mut add));
        for pair in (0..mdp.pair_count() as u32).map(Pair) {
            add(u64::from(mdp.state(pair).0));
            add(u64::from(mdp.action(pair).index() as u32));
            mdp.successors(pair).for_each(|(next, p)| [u64::from(next.0), p.to_bits()].into_iter().for_each(&mut add));
        }
        add(self.discount.to_bits());
        add(self.horizon() as u64);
        add(self.objective.feature_count() as u64);
        for probe in 0..8 {
            let mut rng = rng::stream(probe, 0, Purpose::Generation);
            let masses: Vec<f64> = (0..mdp.pair_count()).map(|_| rng::unit(&mut rng)).collect();
            let sum: f64 = masses.iter().sum();
            let occupancy: Vec<f64> = masses.iter().map(|mass| mass / sum).collect();
            add(self.objective.value(&occupancy).to_bits());
        }
        hash
    }
}

fn check_discount(discount: f64) -> Result<(), ProblemError> {
    if discount > 0.0 && discount <= 1.0 { Ok(()) } else { Err(ProblemError::Discount(discount)) }
}

/// What each step counts, if discount and horizon are in range.
pub(crate) fn masses(discount: f64, horizon: usize) -> Result<Arc<[f64]>, ProblemError> {
    check_discount(discount)?;
    if !(1..=MAX_HORIZON).contains(&horizon) {
        return Err(ProblemError::Horizon(horizon));
    }
    Ok(normalised_discounts(discount, horizon))
}

/// γ^t divided by their sum: (1−γ)/(1−γ^H)·γ^t without cancellation near γ = 1.
#[must_use]
pub fn normalised_discounts(discount: f64, horizon: usize) -> Arc<[f64]> {
    let powers: Vec<f64> = (0..horizon).map(|t| discount.powf(t as f64)).collect();
    // Compensated, so that the masses sum to 1 for long horizons too.
    let sum = powers.iter().copied().collect::<Sum>().value();
    powers.iter().map(|power| power / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_are_the_normalised_discounts() {
        let masses = normalised_discounts(0.9, 20);
        let norm = (1.0 - 0.9) / (1.0 - 0.9_f64.powi(20));
        for (t, mass) in masses.iter().enumerate() {
            assert!((mass - norm * 0.9_f64.powi(t as i32)).abs() < 1e-16);
        }
        assert_eq!(&*normalised_discounts(1.0, 4), [0.25; 4]);
        for (discount, horizon) in [(1.0, MAX_HORIZON), (1.0 - 1e-6, MAX_HORIZON), (0.99, 5000), (0.3, 40)] {
            let sum = normalised_discounts(discount, horizon).iter().copied().collect::<Sum>().value();
            assert!((sum - 1.0).abs() <= f64::EPSILON, "{discount} {horizon}: {sum}");
        }
    }

    #[test]
    fn horizon_is_the_smallest_that_is_accurate() {
        let objective = Objective::linear(vec![-1.5, 1.0]).unwrap();
        for accuracy in [1e-9, 1e-3, 0.1, 1.0, 100.0] {
            let horizon = Problem::horizon_for(&objective, 0.97, accuracy).unwrap();
            let error = |h: usize| 8.0 * 1.5 * 0.97_f64.powf(h as f64);
            assert!(error(horizon) <= accuracy);
            assert!(horizon == 1 || error(horizon - 1) > accuracy);
        }
        // 8e308·2^-H ≤ 1 and 8e308·2^-H ≤ 1e-300.
        let steep = Objective::linear(vec![1e308]).unwrap();
        assert_eq!(Problem::horizon_for(&steep, 0.5, 1.0), Ok(1027));
        assert_eq!(Problem::horizon_for(&steep, 0.5, 1e-300), Ok(2023));
    }

    #[test]
    fn refusals_name_the_value() {
        let linear = Objective::linear(vec![1.0]).unwrap();
        let root = Objective::signed_power(&[vec![1.0]], &[1.0], &[0.5]).unwrap();
        let message = |objective: &Objective, discount: f64, accuracy: f64| {
            Problem::horizon_for(objective, discount, accuracy).unwrap_err().to_string()
        };
        assert_eq!(message(&linear, 1.5, 0.1), "the discount is 1.5; it must lie in (0, 1]");
        assert_eq!(message(&linear, 0.9, -0.1), "the accuracy is -0.1; it must be positive and finite");
        assert_eq!(Problem::horizon_for(&linear, 1.0, 0.1), Err(ProblemError::Undiscounted));
        assert_eq!(Problem::horizon_for(&root, 0.9, 0.1), Err(ProblemError::NotLipschitz));
        // These ended in endless loops.
        assert!(
            message(&linear, 1.0 - f64::EPSILON / 2.0, 1e-9).starts_with("accuracy 0.000000001 needs a horizon of")
        );
        assert!(message(&(1e300 * Objective::linear(vec![1e300]).unwrap()), 0.9, 0.1).contains("Lipschitz"));
        assert!(message(&linear, 1.0 - 1e-9, 1e-9).starts_with("accuracy 0.000000001 needs a horizon of 22"));
        let mdp = Mdp::sized(1, 1).start(0).transition(0, 0, [(0, 1.0)]).build().unwrap();
        let refused = |objective: Objective, discount: f64, horizon: usize| {
            Problem::new(mdp.clone(), objective, discount, horizon).unwrap_err().to_string()
        };
        assert_eq!(refused(linear.clone(), f64::NAN, 3), "the discount is NaN; it must lie in (0, 1]");
        assert_eq!(refused(linear, 0.9, 0), "the horizon is 0; it must lie in [1, 1000000]");
        let other = Objective::linear(vec![1.0; 3]).unwrap();
        assert_eq!(refused(other, 0.9, 3), "the objective has 3 pairs; 1 is needed");
    }
}
