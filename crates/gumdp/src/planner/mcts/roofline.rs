//! The speed limit: simulations without a tree.

use crate::objective::PathEvaluator;
use crate::problem::{OccupancyState, Problem};
use crate::rng::Rng;

use super::search::Rollout;

/// Plays uniformly random paths from occupancy states to the horizon and evaluates each: the work of a planner's decision
/// without its tree. Benchmarks report the planner's time as a multiple of this one's.
///
/// ```
/// use gumdp::Roofline;
/// use gumdp::rng::{self, Purpose};
/// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
/// let start = problem.start(problem.mdp().initial()[0].0);
/// let sum = Roofline::new(&problem).simulate(&start, 100, &mut rng::stream(0, 0, Purpose::Policy));
/// assert!(sum > 0.0 && sum <= 100.0);
/// ```
#[derive(Clone, Debug)]
pub struct Roofline {
    problem: Problem,
    evaluator: PathEvaluator,
    /// Memory for a path.
    path: Vec<u32>,
}

impl Roofline {
    /// For paths of this problem.
    #[must_use]
    pub fn new(problem: &Problem) -> Self {
        Self { evaluator: problem.path_evaluator(), path: vec![0; problem.horizon()], problem: problem.clone() }
    }

    /// The sum of the costs of so many paths.
    pub fn simulate(&mut self, at: &OccupancyState, paths: u64, rng: &mut Rng) -> f64 {
        let mdp = self.problem.mdp();
        self.evaluator.set_root(&at.features);
        let path = &mut self.path[at.time..];
        let mut sum = 0.0;
        for _ in 0..paths {
            let rollout = Rollout { mdp, first_pair: Some(mdp.pairs(at.state).start), rng };
            sum += self.evaluator.value(path, 0, at.time, rollout);
        }
        sum
    }
}
