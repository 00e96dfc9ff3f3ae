//! Every action equally likely.

use super::ExplicitPolicy;
use crate::problem::{OccupancyState, Problem};

/// Every action of the state is equally likely. See the [example](crate::experiment()).
#[derive(Clone, Debug)]
pub struct Uniform(Problem);

impl Uniform {
    /// The uniform policy of a problem. See the [example](crate::experiment()).
    #[must_use]
    pub fn new(problem: &Problem) -> Self {
        Self(problem.clone())
    }
}

impl ExplicitPolicy for Uniform {
    fn problem(&self) -> &Problem {
        &self.0
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) {
        let actions = self.0.mdp().pairs(at.state).len();
        probabilities.clear();
        probabilities.resize(actions, 1.0 / actions as f64);
    }
}
