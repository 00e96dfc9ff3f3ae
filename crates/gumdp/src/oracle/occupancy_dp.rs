//! The exact optimum of any objective: backward induction over the occupancy MDP.
//!
//! A state of the occupancy MDP is (t, s, φ): time, state, and the features φ = Φo of the normalised occupancy gathered so
//! far. All cost is paid at the end, f(φ), and nothing is discounted on the way, so the entropic risk measure is dynamically
//! consistent: with w_t = γ^t (1−γ)/(1−γ^H),
//!
//! ```text
//! V(t, s, φ) = min_a  ERM_β over s' of V(t+1, s', φ + w_t Φ(s, a)),     V(H, ·, φ) = f(φ)
//! ```
//!
//! and the optimum over all policies, history-dependent and stochastic ones included, is ERM_β over the initial state of
//! V(0, s_0, 0) (paper, Theorem 4.5; Hau et al., 2023, for the tower property of the ERM).
//!
//! How it fits: actions that cannot be told apart are tried once; occupancy states with the same bits are solved once, level
//! by level; where that no longer finds equal states (as with γ < 1 it often does not) the rest is searched depth first,
//! which takes no memory, in parallel. The size of that search is known beforehand. Problems that do not fit are refused
//! early, with a projection. Not here: approximations.

use std::sync::Arc;

use super::level::Level;
use super::optimal::{Decided, Inner, OptimalPolicy};
use super::reduced::Reduced;
use super::sweep::{Outcome, Sweep};
use super::unfolded::Start;
use super::valuation::Solved;
use super::{OracleError, check_bounded, finite};
use crate::model::State;
use crate::problem::Problem;
use crate::risk::{Aim, Erm};
use crate::stop::Stop;

/// How much work and memory an exact answer may take.
///
/// ```
/// use gumdp::oracle::Limits;
/// let modest = Limits { max_states: 100_000, max_bytes: 1 << 28, ..Limits::default() };
/// # let _ = modest;
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// Occupancy states that may be expanded; 50 million by default: seconds depth first, a minute merged.
    pub max_states: u64,
    /// Memory for the merged levels while solving, in bytes; 4 GiB by default. Checked before a level grows.
    pub max_bytes: u64,
    /// Memory for the policy's stored decisions, in bytes; 1 GiB by default. Decisions that are not stored are computed
    /// again whenever they are asked for.
    pub policy_bytes: u64,
    /// Transitions that all backward inductions of a search for the β of an [`Evar`](crate::risk::Evar) may look at, where the
    /// objective is linear; no limit by default.
    pub search_transitions: u64,
    /// Transitions that a relaxation may look at for a [bound](crate::bound); no limit by default.
    pub relaxed_transitions: u64,
    /// How to go about it. The answer does not depend on it.
    pub strategy: Strategy,
    /// Ends the work early; never by default.
    pub stop: Stop,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_states: 50_000_000,
            max_bytes: 4 << 30,
            policy_bytes: 1 << 30,
            search_transitions: u64::MAX,
            relaxed_transitions: u64::MAX,
            ..Self::QUICK
        }
    }
}

impl Limits {
    /// What takes about a second, be it to solve a problem or to find out that it does not fit: 20 million states, 1 GiB
    /// for the levels. All decisions that take long are stored (at most 512 MiB), so that playing them is quick. This is
    /// what [`Who::Auto`](crate::Who) is usually given.
    pub const QUICK: Self = Self {
        max_states: 20_000_000,
        max_bytes: 1 << 30,
        policy_bytes: 512 << 20,
        search_transitions: 60_000_000,
        relaxed_transitions: 120_000_000,
        strategy: Strategy::Auto,
        stop: Stop::NEVER,
    };

    /// What takes about so many seconds, at the rate of [`Self::QUICK`]: counted, so that it does not depend on the machine. Levels
    /// may take up to 4 GiB.
    #[must_use]
    pub fn patient(seconds: f64) -> Self {
        let Self { max_states, max_bytes, search_transitions, .. } = Self::QUICK;
        let times = |count: u64| (count as f64 * seconds).max(1.0) as u64;
        let max_bytes = times(max_bytes).clamp(max_bytes, Self::default().max_bytes);
        Self { max_states: times(max_states), max_bytes, search_transitions: times(search_transitions), ..Self::QUICK }
    }

    /// For a distribution among many: a tenth of the states, as each takes longer, so that it is known soon whether it fits.
    pub(crate) fn of_distribution(&self) -> Self {
        Self { max_states: self.max_states / 10, ..self.clone() }
    }

    /// Whether so many states and bytes are allowed.
    pub(super) fn check(&self, reached: u64, bytes: u64) -> Result<(), OracleError> {
        if reached > self.max_states {
            return Err(OracleError::TooLarge { reached, projected: None, limit: self.max_states });
        }
        if bytes > self.max_bytes {
            return Err(OracleError::Memory { bytes, reached, projected: None, limit: self.max_bytes });
        }
        Ok(())
    }

    /// Whether a level may grow when there are so many states and bytes besides. States are numbered in 32 bits.
    pub(super) fn check_growth(&self, states: u64, bytes: u64, level: &Level) -> Result<(), OracleError> {
        let reached = states + level.len() as u64;
        if level.len() > (u32::MAX / 2) as usize {
            return Err(OracleError::TooLarge { reached, projected: None, limit: self.max_states });
        }
        self.check(reached, bytes + level.bytes_when_grown())
    }
}

/// How to solve a problem. The answer does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Backward induction over the states of the model where the objective is linear and the measure entropic, and over the occupancy
    /// MDP for the sake of the mean alone, if that is small; else [`Self::Mixed`].
    #[default]
    Auto,
    /// The same without a second look at the mean: the policy of such a problem looks at time and state only.
    ByState,
    /// Over the occupancy MDP: merge while that finds equal states, then depth first.
    Mixed,
    /// Merge equal states at all times.
    Merge,
    /// Depth first from the start; merged only while the rest is larger than the limit or more than 512 steps deep.
    DepthFirst,
}

/// How a problem was solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Backward induction over the states of the model: the objective is linear.
    BackwardInduction,
    /// Equal states were merged at all times.
    Merged,
    /// Nothing was merged.
    DepthFirst,
    /// Equal states were merged up to a time; the trees below were searched depth first.
    Mixed {
        /// That time.
        depth_first_from: usize,
    },
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BackwardInduction => f.write_str("backward induction"),
            Self::Merged => f.write_str("merged occupancy states"),
            Self::DepthFirst => f.write_str("depth-first search"),
            Self::Mixed { depth_first_from } => {
                write!(f, "merged occupancy states, depth-first from time {depth_first_from}")
            }
        }
    }
}

/// Solves a problem for one aim.
pub(super) fn solve_aim(problem: &Problem, aim: Aim, limits: &Limits) -> Result<Inner, OracleError> {
    check_bounded(problem)?;
    let start = Start::of(problem);
    let reduced = Arc::new(Reduced::new(problem, &start));
    let outcome = Sweep { problem, reduced: &reduced, limits }.run(&start, aim)?;
    let [Optimum { value, mean }] = Optimum::of(&start.outcomes, &outcome.roots, &[aim])?;
    let Outcome { states, method, decisions, .. } = outcome;
    let decided = Decided::ByOccupancy { reduced, aim, strategy: limits.strategy, decisions };
    Ok(Inner { value, mean, states, method, policy: OptimalPolicy::new(problem, decided) })
}

/// The optimum of a problem without its policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Optimum {
    /// The lowest value of the aim.
    pub(super) value: f64,
    /// The expected cost of a policy that attains it; not known if it was not wanted.
    pub(super) mean: f64,
}

impl Optimum {
    /// The same after a cost that is paid anyway.
    pub(super) fn after(self, cost: f64) -> Self {
        Self { value: cost + self.value, mean: cost + self.mean }
    }

    /// Before it is known which of some states it is, from the optima of each of them.
    pub(super) fn of<const AIMS: usize>(
        outcomes: &[(State, f64)],
        roots: &[[Solved; AIMS]],
        aims: &[Aim; AIMS],
    ) -> Result<[Self; AIMS], OracleError> {
        let mut optima = [Self { value: 0.0, mean: 0.0 }; AIMS];
        for (k, optimum) in optima.iter_mut().enumerate() {
            let solved = || roots.iter().map(|root| root[k]).zip(outcomes);
            let value = aims[k].erm.of_outcomes(solved().map(|(root, &(_, probability))| (root.value, probability)));
            let mean = Erm::MEAN.of_outcomes(solved().map(|(root, &(_, probability))| (root.mean, probability)));
            let (value, mean) = finite(value, mean)?;
            *optimum = Self { value, mean };
        }
        Ok(optima)
    }
}
