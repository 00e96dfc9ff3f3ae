//! The optimum by whichever solver suits the objective, and the policy that attains it.

use std::sync::Arc;

use super::backward_induction::{induction, stages};
use super::occupancy_dp::{Limits, Method, Strategy, solve};
use super::reduced::Reduced;
use super::sweep::{Decisions, Sweep};
use super::{OracleError, check_bounded};
use crate::model::{Action, Pair};
use crate::policy::{Policy, PolicyFailure};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Aim, Erm};
use crate::rng::Rng;
use crate::stop::Stop;

/// When a decision is computed again, trees up to this size are not worth merging.
const WALKED_TREE: f64 = 16_384.0;

/// The optimum of a problem, and how it was found. See the [example](solve).
#[derive(Clone, Debug)]
pub struct Solution {
    /// The lowest possible ERM of the cost.
    pub value: f64,
    /// The expected cost of [`Solution::policy`].
    pub mean: f64,
    /// Number of occupancy states expanded; for backward induction, states of the model times the horizon.
    pub states: u64,
    /// How they were gone through.
    pub method: Method,
    pub(super) policy: OptimalPolicy,
}

impl Solution {
    /// A policy that attains the optimum: deterministic, ties to the lowest action. Cloning it is cheap.
    /// See the [example](solve).
    #[must_use]
    pub fn policy(&self) -> OptimalPolicy {
        self.policy.clone()
    }
}

/// Solves a problem exactly: by [backward induction](super::backward_induction()) if the objective is linear, else
/// [over its occupancy states](solve).
///
/// ```
/// use gumdp::oracle::{Limits, Method, optimum};
/// use gumdp::Erm;
/// use gumdp_files::tasks;
/// let [linear, general] = ["mdp", "msee"].map(|name| tasks::get(name).unwrap().problem);
/// let solution = optimum(&linear, Erm::new(5.0)?, &Limits::QUICK)?;
/// assert_eq!((solution.method, solution.states), (Method::BackwardInduction, 4 * 20));
/// assert!(matches!(optimum(&general, Erm::new(50.0)?, &Limits::QUICK)?.method, Method::Mixed { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OracleError::TooLarge`] or [`OracleError::Memory`] if the problem does not fit the limits; if it is linear, only
/// `max_states` is looked at, and the policy takes 4 bytes for each of them. [`OracleError::Overflow`] for astronomic
/// costs.
pub fn optimum(problem: &Problem, erm: Erm, limits: &Limits) -> Result<Solution, OracleError> {
    let Some((costs, constant)) = problem.objective().as_linear() else { return solve(problem, erm, limits) };
    check_bounded(problem)?;
    check_stages(problem, 0, limits)?;
    let (value, mean, pairs) = induction(problem, erm, &costs, constant, &limits.stop)?;
    let policy = OptimalPolicy::new(Kind::Linear(Arc::new(Linear { problem: problem.clone(), pairs })));
    Ok(Solution { value, mean, states: stages(problem, 0), method: Method::BackwardInduction, policy })
}

/// Whether backward induction from `time` on is within the limits: its size is known beforehand.
pub(super) fn check_stages(problem: &Problem, time: usize, limits: &Limits) -> Result<(), OracleError> {
    let (states, limit) = (stages(problem, time), limits.max_states);
    let projected = Some(states as f64);
    if states <= limit { Ok(()) } else { Err(OracleError::TooLarge { reached: 0, projected, limit }) }
}

/// An optimal policy of a problem: see [`Solution::policy`].
///
/// ```
/// use gumdp::oracle::{Limits, distribution, solve};
/// use gumdp::Erm;
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let solution = solve(&problem, Erm::new(10.0)?, &Limits::default())?;
/// let law = distribution(&problem, &solution.policy(), &Limits::default())?;
/// assert!((law.mean() - solution.mean).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Decisions of the early times are stored; others are found by solving the rest of the problem from where it stands, with
/// the same result. Occupancy states that no policy can reach are decided optimally too, but without a limit to the work.
/// Clones share what is stored.
#[derive(Clone, Debug)]
pub struct OptimalPolicy {
    kind: Kind,
    stop: Stop,
}

#[derive(Clone, Debug)]
enum Kind {
    Linear(Arc<Linear>),
    Occupancy(Arc<Occupancy>),
}

#[derive(Debug)]
struct Linear {
    problem: Problem,
    /// The best pair of each state, for each time.
    pairs: Vec<Vec<u32>>,
}

#[derive(Debug)]
struct Occupancy {
    problem: Problem,
    reduced: Reduced,
    aim: Aim,
    strategy: Strategy,
    /// For each time from 0; shorter than the horizon if the later ones are not stored.
    decisions: Vec<Option<Decisions>>,
}

impl OptimalPolicy {
    fn new(kind: Kind) -> Self {
        Self { kind, stop: Stop::NEVER }
    }

    pub(super) fn of_occupancy(
        problem: &Problem,
        reduced: Reduced,
        aim: Aim,
        strategy: Strategy,
        decisions: Vec<Option<Decisions>>,
    ) -> Self {
        Self::new(Kind::Occupancy(Arc::new(Occupancy { problem: problem.clone(), reduced, aim, strategy, decisions })))
    }

    /// The best pair in this situation; at the horizon, where nothing is left to decide, any of the state's.
    /// See the [example](solve).
    #[must_use]
    pub fn best(&self, at: &OccupancyState) -> Pair {
        match &self.kind {
            Kind::Linear(linear) => Pair(linear.pairs[at.time.min(linear.pairs.len() - 1)][at.state.index()]),
            Kind::Occupancy(occupancy) => occupancy.best(at, &self.stop),
        }
    }
}

impl OptimalPolicy {
    pub(super) fn of(&self) -> &Problem {
        match &self.kind {
            Kind::Linear(linear) => &linear.problem,
            Kind::Occupancy(occupancy) => &occupancy.problem,
        }
    }
}

impl Occupancy {
    fn best(&self, at: &OccupancyState, stop: &Stop) -> Pair {
        let Self { problem, reduced, aim, strategy, decisions } = self;
        let state = at.state.0;
        let choices = reduced.choices(state);
        if choices.len() == 1 || at.time >= problem.horizon() {
            return Pair(choices[0].pair);
        }
        let stored = decisions.get(at.time).and_then(Option::as_ref);
        if let Some(pair) = stored.and_then(|decisions| decisions.find(state, &at.features)) {
            return Pair(pair);
        }
        let small = reduced.size(problem.horizon() - at.time, state) <= WALKED_TREE;
        let strategy = if small && *strategy == Strategy::Auto { Strategy::DepthFirst } else { *strategy };
        let limits = Limits {
            max_states: u64::MAX,
            max_bytes: u64::MAX,
            policy_bytes: 0,
            strategy,
            stop: stop.clone(),
            ..Limits::default()
        };
        let rest = Sweep { problem, reduced, aims: [*aim], limits }.run(at.time, &[state], &at.features);
        Pair(rest.map_or(choices[0].pair, |outcome| outcome.roots[0][0].pair))
    }
}

impl Policy for OptimalPolicy {
    fn act(&mut self, at: &OccupancyState, _: &mut Rng) -> Result<Action, PolicyFailure> {
        let best = self.best(at);
        if self.stop.is_requested() { Err(PolicyFailure::Stopped) } else { Ok(self.of().mdp().action(best)) }
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    fn problem(&self) -> Option<&Problem> {
        Some(self.of())
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) -> bool {
        let best = self.best(at).0;
        probabilities.clear();
        probabilities.extend(self.of().mdp().pairs(at.state).map(|pair| if pair == best { 1.0 } else { 0.0 }));
        true
    }
}
