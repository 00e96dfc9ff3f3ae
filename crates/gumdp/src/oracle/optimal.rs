//! The optimum by whichever solver suits the objective, and the policy that attains it.

use std::sync::Arc;

use super::backward_induction::{Choices, Linear};
use super::occupancy_dp::{Limits, Method, Optimum, Strategy, solve_aim};
use super::reduced::Reduced;
use super::sweep::{Decisions, Sweep};
use super::unfolded::Start;
use super::{OracleError, check_bounded};
use crate::model::{Action, Pair};
use crate::policy::{Policy, PolicyFailure, certain};
use crate::problem::{OccupancyState, Problem};
use crate::risk::Aim;
use crate::rng::Rng;
use crate::stop::Stop;

/// When a decision is computed again, trees up to this size are not worth merging.
const WALKED_TREE: f64 = 16_384.0;

/// The optimum for one aim, and how it was found.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    /// The lowest value of the aim.
    pub(super) value: f64,
    /// The expected cost of the policy.
    pub(super) mean: f64,
    pub(super) states: u64,
    pub(super) method: Method,
    pub(super) policy: OptimalPolicy,
}

/// Solves a problem for one aim: by backward induction if it is entropic and the objective linear, else over its occupancy states.
pub(super) fn optimum(problem: &Problem, aim: Aim, limits: &Limits) -> Result<Inner, OracleError> {
    let by_induction = aim.is_entropic() && matches!(limits.strategy, Strategy::Auto | Strategy::ByState);
    let Some(linear) = Linear::new(problem, limits).filter(|_| by_induction) else {
        return solve_aim(problem, aim, limits);
    };
    check_bounded(problem)?;
    let (Optimum { value, mean }, choices) = linear.solve(aim.erm)?;
    let policy = OptimalPolicy::new(problem, Decided::ByState(choices));
    Ok(Inner { value, mean, states: linear.stages(0), method: Method::BackwardInduction, policy })
}

/// An optimal policy of a problem: see [`Solution::policy`](super::Solution::policy).
///
/// ```
/// use gumdp::oracle::{Limits, distribution, solve};
/// use gumdp::Erm;
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let solution = solve(&problem, Erm::new(10.0)?, &Limits::default())?;
/// let costs = distribution(&problem, &solution.policy(), &Limits::default())?;
/// assert!((costs.mean() - solution.mean).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Decisions of the early times are stored; others are found by solving the rest of the problem from where it stands, with
/// the same result. Occupancy states that no policy can reach are decided optimally too, but without a limit to the work.
/// Clones share what is stored.
#[derive(Clone, Debug)]
pub struct OptimalPolicy {
    problem: Problem,
    decided: Arc<Decided>,
    stop: Stop,
}

/// What is stored of the decisions.
#[derive(Debug)]
pub(super) enum Decided {
    /// All, for each time and state.
    ByState(Choices),
    ByOccupancy {
        reduced: Arc<Reduced>,
        aim: Aim,
        strategy: Strategy,
        /// For each time from 0; shorter than the horizon if the later ones are not stored.
        decisions: Vec<Option<Decisions>>,
    },
}

impl OptimalPolicy {
    pub(super) fn new(problem: &Problem, decided: Decided) -> Self {
        Self { problem: problem.clone(), decided: Arc::new(decided), stop: Stop::NEVER }
    }

    pub(super) fn of(&self) -> &Problem {
        &self.problem
    }

    /// The best pair in this situation; at the horizon, where nothing is left to decide, any of the state's.
    #[must_use]
    pub fn best(&self, at: &OccupancyState) -> Pair {
        let limits = Limits { max_states: u64::MAX, max_bytes: u64::MAX, ..Limits::default() };
        let any = || Pair(self.problem.mdp().pairs(at.state).start);
        self.best_within(at, &limits).unwrap_or_else(any)
    }

    /// The same; `None` if it is not stored and the rest of the problem does not fit the limits, or if it was stopped.
    pub(crate) fn best_within(&self, at: &OccupancyState, limits: &Limits) -> Option<Pair> {
        let problem = &self.problem;
        let (reduced, aim, strategy, decisions) = match &*self.decided {
            Decided::ByState(choices) => return Some(choices.best(problem, at.time, at.state)),
            Decided::ByOccupancy { reduced, aim, strategy, decisions } => (reduced, *aim, *strategy, decisions),
        };
        let state = at.state.0;
        let steps = problem.horizon().saturating_sub(at.time);
        if steps == 0 {
            return Some(Pair(problem.mdp().pairs(at.state).start));
        }
        // Where no episode gets to is looked at when somebody asks.
        let own = (!reduced.knows(state, steps)).then(|| Reduced::new(problem, &Start::at(at)));
        let reduced = own.as_ref().unwrap_or(reduced);
        let choices = reduced.choices(state);
        if choices.len() == 1 {
            return Some(Pair(choices[0].pair));
        }
        let stored = decisions.get(at.time).and_then(Option::as_ref);
        if let Some(pair) = stored.and_then(|decisions| decisions.find(state, &at.features)) {
            return Some(Pair(pair));
        }
        let small = reduced.size(steps, state) <= WALKED_TREE;
        let mixed = matches!(strategy, Strategy::Auto | Strategy::ByState | Strategy::Mixed);
        let limits = Limits {
            policy_bytes: 0,
            strategy: if small && mixed { Strategy::DepthFirst } else { strategy },
            stop: self.stop.clone(),
            ..limits.clone()
        };
        let rest = Sweep { problem, reduced, limits: &limits }.run(&Start::at(at), aim).ok()?;
        Some(Pair(rest.roots[0][0].pair))
    }
}

impl Policy for OptimalPolicy {
    fn act(&mut self, at: &OccupancyState, _: &mut Rng) -> Result<Action, PolicyFailure> {
        let best = self.best(at);
        if self.stop.is_requested() { Err(PolicyFailure::Stopped) } else { Ok(self.problem.mdp().action(best)) }
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    fn problem(&self) -> Option<&Problem> {
        Some(&self.problem)
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) -> bool {
        certain(self.problem.mdp(), at.state, Some(self.best(at)), probabilities)
    }
}
