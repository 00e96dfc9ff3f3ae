//! What a planner does, as values. Nothing here computes.

use std::f64::consts::SQRT_2;
use std::time::Duration;

use super::selection::Selection;

/// The settings of ERM-MCTS.
///
/// ```
/// use gumdp::{Budget, Expansion, PlannerSettings};
/// let settings = PlannerSettings {
///     budget: Budget::simulations(2000),
///     expansion: Expansion::WholePath,
///     ..PlannerSettings::paper_illustrative()
/// };
/// assert!(settings.keep_tree);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PlannerSettings {
    /// When a decision's search ends.
    pub budget: Budget,
    /// The exploration constants θ_t.
    pub exploration: Exploration,
    /// How the tree is explored where all actions were tried.
    pub selection: Selection,
    /// How much of a simulated path enters the tree.
    pub expansion: Expansion,
    /// Which untried action of a node is taken first.
    pub untried: UntriedOrder,
    /// Whether the part of the tree below the action and state that came true is kept for the next decision.
    pub keep_tree: bool,
    /// Which action is played in the end.
    pub play: FinalChoice,
    /// Trees that are grown side by side, each with its share of the simulations, in as many threads as there are; their
    /// roots are merged in the end. The decision depends on this number but not on the number of threads.
    pub workers: usize,
}

impl PlannerSettings {
    /// The authors' planner for the illustrative tasks: 500 simulations, θ = 1, one new node per simulation, the tree is
    /// kept, the most visited action is played.
    #[must_use]
    pub fn paper_illustrative() -> Self {
        Self {
            budget: Budget::simulations(500),
            exploration: Exploration::Constant(1.0),
            selection: Selection::Polynomial,
            expansion: Expansion::OneNode,
            untried: UntriedOrder::ByIndex,
            keep_tree: true,
            play: FinalChoice::MostVisited,
            workers: 1,
        }
    }

    /// The authors' planner for the grid tasks: 1024 simulations, θ = √2, one new node per simulation, a new tree for
    /// every decision, the action with the lowest ERM is played.
    #[must_use]
    pub fn paper_grid() -> Self {
        Self {
            budget: Budget::simulations(1024),
            exploration: Exploration::Constant(SQRT_2),
            selection: Selection::Polynomial,
            expansion: Expansion::OneNode,
            untried: UntriedOrder::ByIndex,
            keep_tree: false,
            play: FinalChoice::LowestRisk,
            workers: 1,
        }
    }

    /// Checks the settings for a problem with this horizon.
    pub(super) fn check(&self, horizon: usize) -> Result<(), PlannerError> {
        self.budget.check()?;
        if !(1..=MAX_WORKERS).contains(&self.workers) {
            return Err(PlannerError::Workers(self.workers));
        }
        let constants = match &self.exploration {
            Exploration::Constant(theta) => std::slice::from_ref(theta),
            Exploration::ByTime(thetas) if thetas.len() == horizon => thetas,
            Exploration::ByTime(thetas) => return Err(PlannerError::Thetas { got: thetas.len(), expected: horizon }),
        };
        match constants.iter().find(|theta| !(theta.is_finite() && **theta >= 0.0)) {
            Some(&theta) => Err(PlannerError::Theta(theta)),
            None => Ok(()),
        }
    }
}

/// The largest number of simulations for one decision.
pub const MAX_SIMULATIONS: u64 = 1_000_000_000;

/// The largest number of workers.
pub const MAX_WORKERS: usize = 1024;

/// When a decision's search ends: after a number of simulations, after a time, or whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Number of simulations.
    pub simulations: Option<u64>,
    /// Wall-clock time. Decisions then depend on the machine, not only on the seed.
    pub time_limit: Option<Duration>,
}

impl Budget {
    /// So many simulations.
    #[must_use]
    pub const fn simulations(count: u64) -> Self {
        Self { simulations: Some(count), time_limit: None }
    }

    /// As many simulations as fit in this time.
    #[must_use]
    pub const fn time(limit: Duration) -> Self {
        Self { simulations: None, time_limit: Some(limit) }
    }

    pub(crate) fn check(&self) -> Result<(), PlannerError> {
        match (self.simulations, self.time_limit) {
            (None, None) => Err(PlannerError::NoBudget),
            (Some(n), _) if !(1..=MAX_SIMULATIONS).contains(&n) => Err(PlannerError::Simulations(n)),
            (_, Some(limit)) if limit.is_zero() => Err(PlannerError::TimeLimit),
            _ => Ok(()),
        }
    }
}

/// The exploration constants θ_t: larger ones try poor-looking actions more often.
#[derive(Clone, Debug, PartialEq)]
pub enum Exploration {
    /// The same at all times.
    Constant(f64),
    /// One for each time 0 … H−1.
    ByTime(Vec<f64>),
}

impl Exploration {
    /// All of them times a factor.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Constant(theta) => Self::Constant(factor * theta),
            Self::ByTime(thetas) => Self::ByTime(thetas.iter().map(|theta| factor * theta).collect()),
        }
    }

    /// θ_t.
    #[inline]
    pub(super) fn at(&self, time: usize) -> f64 {
        match self {
            Self::Constant(theta) => *theta,
            Self::ByTime(thetas) => thetas[time],
        }
    }
}

/// How much of a simulated path enters the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// All of it: Algorithm 1 of the paper.
    WholePath,
    /// The first new node; the rest of the path is a uniformly random rollout: the authors' code.
    OneNode,
}

/// Which untried action of a node is taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UntriedOrder {
    /// The one with the lowest number.
    ByIndex,
    /// Any, with equal probability.
    Random,
}

/// Which action is played after the search; ties go to the lowest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalChoice {
    /// The one that was simulated most often.
    MostVisited,
    /// The one with the lowest estimated ERM.
    LowestRisk,
}

/// Why planner settings were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlannerError {
    /// Neither a number of simulations nor a time limit.
    #[error("the budget is empty; give a number of simulations, a time limit, or both")]
    NoBudget,
    /// The number of simulations is out of range.
    #[error("the number of simulations is {0}; it must lie in [1, {MAX_SIMULATIONS}]")]
    Simulations(u64),
    /// The time limit is zero.
    #[error("the time limit is 0; it must be positive")]
    TimeLimit,
    /// The number of workers is out of range.
    #[error("the number of workers is {0}; it must lie in [1, {MAX_WORKERS}]")]
    Workers(usize),
    /// An exploration constant is out of range.
    #[error("an exploration constant is {0}; it must be finite and not negative")]
    Theta(f64),
    /// A setting of the guided planner is out of range.
    #[error("the planner's {name} is {value}; it must lie in [0, {highest}]")]
    Setting {
        /// Which.
        name: &'static str,
        /// The rejected value.
        value: f64,
        /// The largest that is allowed.
        highest: f64,
    },
    /// A leaf needs a rollout to have a value.
    #[error("the number of rollouts per leaf is 0; it must be at least 1")]
    Rollouts,
    /// A node without any outcome would have no value.
    #[error("the planner's widening is {0}; it must be finite and at least 1")]
    Widening(f64),
    /// Exploration constants for another horizon.
    #[error("{got} exploration constants are given for a horizon of {expected}")]
    Thetas {
        /// How many are given.
        got: usize,
        /// The horizon.
        expected: usize,
    },
}
