//! The optimum by whichever solver suits the objective, and the policy that attains it.

use std::sync::Arc;

use super::backward_induction::{Choices, induction, stages};
use super::occupancy_dp::{Limits, Method, Strategy, solve_aim};
use super::reduced::Reduced;
use super::sweep::{Decisions, Sweep};
use super::{OracleError, check_bounded};
use crate::model::{Action, Pair};
use crate::policy::{Policy, PolicyFailure};
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
    let linear = problem.objective().as_linear().filter(|_| aim.is_entropic() && limits.strategy == Strategy::Auto);
    let Some((costs, constant)) = linear else { return solve_aim(problem, aim, limits) };
    check_bounded(problem)?;
    check_stages(problem, 0, limits)?;
    let (value, mean, choices) = induction(problem, aim.erm, &costs, constant, &limits.stop)?;
    let policy = OptimalPolicy::new(Kind::Linear(Arc::new(Linear { problem: problem.clone(), choices })));
    Ok(Inner { value, mean, states: stages(problem, 0), method: Method::BackwardInduction, policy })
}

/// Whether backward induction from `time` on is within the limits: its size is known beforehand.
pub(super) fn check_stages(problem: &Problem, time: usize, limits: &Limits) -> Result<(), OracleError> {
    let (states, limit) = (stages(problem, time), limits.max_states);
    let projected = Some(states as f64);
    if states <= limit { Ok(()) } else { Err(OracleError::TooLarge { reached: 0, projected, limit }) }
}

/// An optimal policy of a problem: see [`Solution::policy`](super::Solution::policy).
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
    choices: Choices,
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
    #[must_use]
    pub fn best(&self, at: &OccupancyState) -> Pair {
        match &self.kind {
            Kind::Linear(linear) => linear.choices.best(&linear.problem, at.time, at.state),
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
        let mixed = matches!(strategy, Strategy::Auto | Strategy::Mixed);
        let limits = Limits {
            max_states: u64::MAX,
            max_bytes: u64::MAX,
            policy_bytes: 0,
            strategy: if small && mixed { Strategy::DepthFirst } else { *strategy },
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
