//! Models that can only be sampled, and problems made of them.
//!
//! A [`Simulator`] has no tables: states are any values that can be compared and hashed, each step yields a vector of
//! features, and the objective is a function of their discounted sums, which is all that the occupancy MDP has to carry.
//! Not here: the planners for them, [`LearningPlanner`](crate::LearningPlanner) and [`BlackBoxPlanner`](crate::BlackBoxPlanner).

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use crate::model::Action;
use crate::problem::{ProblemError, masses};
use crate::rng::{self, Purpose, Rng};

/// A model that can be sampled, and what its episodes cost.
pub trait Simulator {
    /// What a step starts from.
    type State: Clone + Debug + Eq + Hash;
    /// Why something could not be sampled; [`std::convert::Infallible`] if that cannot happen.
    type Error;

    /// Length of the features of a step.
    fn feature_count(&self) -> usize;

    /// Draws the state in which an episode begins.
    ///
    /// # Errors
    /// If that fails.
    fn initial(&self, rng: &mut Rng) -> Result<Self::State, Self::Error>;

    /// The number of actions in a state, at least 1; they are numbered from 0.
    ///
    /// # Errors
    /// If that fails.
    fn action_count(&self, state: &Self::State) -> Result<u32, Self::Error>;

    /// Draws an action for random play. Where actions are many it may prefer some; planners then look at those that it draws. By default all are
    /// equally likely.
    ///
    /// # Errors
    /// If that fails.
    fn sample_action(&self, state: &Self::State, rng: &mut Rng) -> Result<Action, Self::Error> {
        super::action_count(self, state).map(|actions| Action(rng::below(rng, actions)))
    }

    /// Takes an action: adds the features of this step to `features`, which are all 0, and draws the next state; `None` if the
    /// episode is over.
    ///
    /// # Errors
    /// If that fails.
    fn step(
        &self,
        state: &Self::State,
        action: Action,
        rng: &mut Rng,
        features: &mut [f64],
    ) -> Result<Option<Self::State>, Self::Error>;

    /// The objective: what an episode with these discounted sums of features costs.
    ///
    /// # Errors
    /// If that fails.
    fn cost(&self, features: &[f64]) -> Result<f64, Self::Error>;
}

/// A simulator with a discount and a horizon.
#[derive(Clone, Debug)]
pub struct SimulatedProblem<S> {
    simulator: S,
    masses: Arc<[f64]>,
}

/// Where an episode stands: a state of the occupancy MDP.
#[derive(Clone, Debug, PartialEq)]
pub struct Situation<T> {
    /// Steps that have been made; the horizon if the episode is over.
    pub time: usize,
    /// The state of the simulator, or the last one if the episode is over.
    pub state: T,
    /// The discounted sums of the features so far.
    pub features: Vec<f64>,
}

impl<S: Simulator> SimulatedProblem<S> {
    /// Puts a problem together. Step t counts (1−γ)/(1−γ^H)·γ^t, as for [`Problem`](crate::Problem); an episode that ends early
    /// gathers nothing more.
    ///
    /// # Errors
    /// If the discount is not in (0, 1] or the horizon not in [1, [`MAX_HORIZON`](crate::problem::MAX_HORIZON)].
    pub fn new(simulator: S, discount: f64, horizon: usize) -> Result<Self, ProblemError> {
        Ok(Self { simulator, masses: masses(discount, horizon)? })
    }

    /// The simulator.
    pub fn simulator(&self) -> &S {
        &self.simulator
    }

    /// Number of steps of an episode, at most.
    #[must_use]
    pub fn horizon(&self) -> usize {
        self.masses.len()
    }

    /// The mass of each step.
    pub(crate) fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Adds the features of the step at this time to the sums.
    #[inline]
    pub(crate) fn gather(&self, sums: &mut [f64], features: &[f64], time: usize) {
        for (sum, feature) in sums.iter_mut().zip(features) {
            *sum += self.masses[time] * feature;
        }
    }

    /// The situation at time 0 of an episode that begins in `state`.
    #[must_use]
    pub fn start(&self, state: S::State) -> Situation<S::State> {
        Situation { time: 0, state, features: vec![0.0; self.simulator.feature_count()] }
    }

    /// Moves on: a step had these features and led to `next`, or ended the episode.
    ///
    /// # Panics
    /// If the episode is already over.
    pub fn advance(&self, at: &mut Situation<S::State>, features: &[f64], next: Option<S::State>) {
        self.gather(&mut at.features, features, at.time);
        match next {
            Some(state) => {
                at.state = state;
                at.time += 1;
            }
            None => at.time = self.horizon(),
        }
    }

    /// Whether no decision is left.
    #[must_use]
    pub fn is_over(&self, at: &Situation<S::State>) -> bool {
        at.time >= self.horizon()
    }

    /// Plays an episode with the actions that `act` chooses and returns its end; streams of random numbers are those of run
    /// `run` with this seed.
    ///
    /// # Errors
    /// Those of the simulator and of `act`.
    pub fn play(
        &self,
        mut act: impl FnMut(&Situation<S::State>, &mut Rng) -> Result<Action, S::Error>,
        seed: u64,
        run: u64,
    ) -> Result<Situation<S::State>, S::Error> {
        let mut environment = rng::stream(seed, run, Purpose::Environment);
        let mut own = rng::stream(seed, run, Purpose::Policy);
        let mut at = self.start(self.simulator.initial(&mut environment)?);
        let mut features = vec![0.0; at.features.len()];
        while !self.is_over(&at) {
            let action = act(&at, &mut own)?;
            features.fill(0.0);
            let next = self.simulator.step(&at.state, action, &mut environment, &mut features)?;
            self.advance(&mut at, &features, next);
        }
        Ok(at)
    }
}
