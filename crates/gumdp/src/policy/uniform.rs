//! Every action equally likely.

use super::{Policy, PolicyFailure, draw};
use crate::model::Action;
use crate::problem::{OccupancyState, Problem};
use crate::rng::Rng;

/// Every action of the state is equally likely.
#[derive(Clone, Debug)]
pub struct Uniform(Problem);

impl Uniform {
    /// The uniform policy of a problem.
    #[must_use]
    pub fn new(problem: &Problem) -> Self {
        Self(problem.clone())
    }
}

impl Policy for Uniform {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Action, PolicyFailure> {
        Ok(draw(self, self.0.mdp(), at, rng))
    }

    fn problem(&self) -> Option<&Problem> {
        Some(&self.0)
    }

    fn is_markov(&self) -> bool {
        true
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) -> bool {
        let actions = self.0.mdp().pairs(at.state).len();
        probabilities.clear();
        probabilities.resize(actions, 1.0 / actions as f64);
        true
    }
}
