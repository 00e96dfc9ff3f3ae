//! The speed limit: simulations without a tree.

use crate::problem::{OccupancyState, Problem};
use crate::rng::Rng;

use super::search::Rollout;

/// Plays `simulations` uniformly random paths from an occupancy state to the horizon, evaluates each, and returns the sum of
/// their costs: the work of a planner's decision without its tree. Benchmarks report the planner's time as a multiple of
/// this one's.
///
/// ```
/// use gumdp::planner::roofline;
/// use gumdp::rng::{self, Purpose};
/// let problem = gumdp::tasks::get("rooms").unwrap().problem;
/// let start = problem.start(problem.mdp().initial()[0].0);
/// let sum = roofline(&problem, &start, 100, &mut rng::stream(0, 0, Purpose::Policy));
/// assert!(sum > 0.0 && sum <= 100.0);
/// ```
#[must_use]
pub fn roofline(problem: &Problem, at: &OccupancyState, simulations: u64, rng: &mut Rng) -> f64 {
    let mdp = problem.mdp();
    let mut evaluator = problem.path_evaluator();
    evaluator.set_root(&at.features);
    let mut path = vec![0; problem.horizon() - at.time];
    let mut sum = 0.0;
    for _ in 0..simulations {
        let rollout = Rollout { mdp, first_pair: Some(mdp.pairs(at.state).start), rng };
        sum += evaluator.value(&mut path, 0, at.time, rollout);
    }
    sum
}
