//! Exact answers: the optimum of a problem, an optimal policy, and the exact distribution of the cost under a policy.
//!
//! | question | for | function |
//! |---|---|---|
//! | lowest possible risk and a policy that has it | any f, any [`Risk`](crate::Risk) | [`solve()`] |
//! | how optimal behaviour changes with the attitude to risk | any f | [`crate::frontier`] |
//! | risk of each action, played optimally from then on | any f | [`decide()`], [`Solution::decide_first`] |
//! | distribution of f(d) | a policy that knows its probabilities | [`distribution()`] |
//! | the same after another action in a situation: what if? | the same | [`distribution_after()`] |
//! | expected occupancy d_π | a Markov policy | [`expected_occupancy`] |
//! | the same optimum as one of an ordinary MDP, for other programs | any f, any [`Risk`](crate::Risk) that is an expectation | [`OccupancyMdp`] |
//!
//! Nothing here is sampled and nothing is approximated but by rounding. Nothing here knows how a planner works either, so
//! that one can be held against the other.

mod backup;
mod backward_induction;
mod costs;
mod decide;
mod depth_first;
mod distribution;
mod first_decision;
mod forward;
mod least;
mod level;
mod minimise;
mod occupancy_dp;
mod occupancy_mdp;
mod optima;
mod optimal;
mod outlook;
mod reduced;
mod settled;
mod solution;
mod sweep;
mod ties;
mod unfolded;
mod valuation;

pub use decide::{ActionValue, ExactDecision, decide};
pub use distribution::Distribution;
pub(crate) use forward::{
    Visit, check_policy, distribution_with_visits, occupancy_by_state, probability_of_visit, visits_by_state,
};
pub use forward::{distribution, distribution_after, expected_occupancy};
pub use minimise::solve;
pub use occupancy_dp::{Limits, Method, Strategy};
pub use occupancy_mdp::OccupancyMdp;
pub use optimal::OptimalPolicy;
pub use solution::Solution;
use ties::lowest_mean;
pub(crate) use ties::lowest_means;

use crate::problem::Problem;
use crate::risk::{FixedRisk, LARGEST_COST};
use crate::stop::Stop;

/// Why there is no exact answer.
///
/// ```
/// use gumdp::oracle::{Limits, OracleError, solve};
/// let problem = gumdp_files::tasks::get("grid-msee").unwrap().problem;
/// let tight = Limits { max_states: 1000, ..Limits::default() };
/// assert!(matches!(solve(&problem, gumdp::Erm::MEAN, &tight), Err(OracleError::TooLarge { limit: 1000, .. })));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// Backward induction over model states needs a linear objective.
    #[error("backward induction needs a linear objective; use the occupancy solver for this one")]
    NotLinear,
    /// The occupancy MDP has too many states.
    #[error(
        "the occupancy MDP is too large: {reached} states reached{}, at most {limit} are allowed; {}shorten the horizon, \
         or use the planner",
        projection(*projected),
        if fits(*projected) { "raise the limit, " } else { "" }
    )]
    TooLarge {
        /// Occupancy states found before giving up.
        reached: u64,
        /// Estimate of all of them, if one could be made.
        projected: Option<f64>,
        /// The limit.
        limit: u64,
    },
    /// The occupancy MDP needs too much memory.
    #[error(
        "the solution needs more memory than allowed: {bytes} bytes after {reached} states{}, at most {limit} bytes are \
         allowed; more states would take more, so shorten the horizon, or use the planner",
        projection(*projected)
    )]
    Memory {
        /// Bytes needed before giving up.
        bytes: u64,
        /// Occupancy states found before giving up.
        reached: u64,
        /// Estimate of all states, if one could be made.
        projected: Option<f64>,
        /// The limit.
        limit: u64,
    },
    /// Many backward inductions would take too long.
    #[error(
        "the search for the best beta would look at more than {limit} transitions; raise the limit, shorten the horizon, or \
         use the planner"
    )]
    LongSearch {
        /// The limit.
        limit: u64,
    },
    /// The objective may overflow.
    #[error("the values of the objective are not bounded by {LARGEST_COST:e}; scale its costs and weights down")]
    Overflow,
    /// The objective has no finite value for some episode.
    #[error("the objective is infinite or not a number at the end of an episode that can happen; check its formula")]
    NotFinite,
    /// A measure that is no expectation of a cost.
    #[error("the risk cannot be written as an expectation: {0}")]
    NoExpectation(String),
    /// The policy does not know the probabilities of its actions.
    #[error("the policy does not know the probabilities of its actions; it can only be played")]
    NoProbabilities,
    /// It was asked to [stop](crate::Stop).
    #[error("the work was stopped")]
    Stopped,
    /// The policy is for another problem.
    #[error("the policy is for a problem with {got} {what}; this problem has {expected}")]
    OtherProblem {
        /// What differs.
        what: &'static str,
        /// How many the policy's problem has.
        got: usize,
        /// How many this problem has.
        expected: usize,
    },
    /// The policy gave no distribution over the actions.
    #[error(
        "at time {time} in state \"{state}\" the policy's {count} probabilities sum to {sum}; {expected} are needed, with sum 1"
    )]
    Probabilities {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
        /// Number of probabilities given.
        count: usize,
        /// Their sum.
        sum: f64,
        /// Number of actions of the state.
        expected: usize,
    },
}

impl OracleError {
    /// Why the optimum is not known, in a few words and without advice.
    ///
    /// ```
    /// use gumdp::oracle::{Limits, solve};
    /// let problem = gumdp_files::tasks::get("grid-msee").unwrap().problem;
    /// let error = solve(&problem, gumdp::Erm::MEAN, &Limits::QUICK).unwrap_err();
    /// assert_eq!(error.in_short(), "too large to solve (more than 20000000 occupancy states)");
    /// ```
    #[must_use]
    pub fn in_short(&self) -> String {
        match self {
            Self::TooLarge { limit, .. } => format!("too large to solve (more than {limit} occupancy states)"),
            Self::Memory { limit, .. } => format!("too large to solve (more than {} MiB of memory)", limit >> 20),
            Self::LongSearch { limit } => {
                format!("too large to solve (more than {limit} transitions in the search for the best beta)")
            }
            other => format!("not solved ({other})"),
        }
    }

    /// Whether a higher limit of states would help: not where memory is what lacks, or soon would.
    #[must_use]
    pub fn wants_states(&self) -> bool {
        matches!(self, Self::TooLarge { projected, .. } if fits(*projected))
    }

    /// Whether raised limits might help.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::Memory { .. } | Self::LongSearch { .. })
    }
}

/// Whether so many states may fit in memory, of which each takes eight bytes at the very least.
fn fits(projected: Option<f64>) -> bool {
    projected.is_none_or(|states| 8.0 * states <= Limits::default().max_bytes as f64)
}

fn projection(projected: Option<f64>) -> String {
    projected.map_or_else(String::new, |states| format!(", about {states:.1e} expected"))
}

/// Refuses an objective whose values may be too large to compute with.
///
/// # Errors
/// [`OracleError::Overflow`].
pub fn check_bounded(problem: &Problem) -> Result<(), OracleError> {
    let bounds = problem.objective().bounds();
    let bounded = bounds.low >= -LARGEST_COST && bounds.high <= LARGEST_COST;
    // The bounds of a formula may be far too wide; its values are looked at one by one.
    if bounded || problem.objective().has_formula() { Ok(()) } else { Err(OracleError::Overflow) }
}

/// The policy of lowest risk where the outer variable of the measure is fixed.
pub(crate) fn optimal_policy(
    problem: &Problem,
    risk: FixedRisk,
    limits: &Limits,
) -> Result<OptimalPolicy, OracleError> {
    check_bounded(problem)?;
    Ok(lowest_mean(problem, risk.aim, limits)?.policy)
}

pub(crate) fn check_stop(stop: &Stop) -> Result<(), OracleError> {
    if stop.is_requested() { Err(OracleError::Stopped) } else { Ok(()) }
}

/// A final cost; NaN if it is not one that can be computed with.
#[inline]
fn known_cost(cost: f64) -> f64 {
    if cost.abs() <= LARGEST_COST { cost } else { f64::NAN }
}

/// The risk and mean of an optimum, unless a cost that went into it was not finite.
fn finite(value: f64, mean: f64) -> Result<(f64, f64), OracleError> {
    if value.is_nan() || mean.is_nan() { Err(OracleError::NotFinite) } else { Ok((value, mean)) }
}
