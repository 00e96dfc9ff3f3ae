//! Policies: who chooses the actions.
//!
//! By the paper's Theorem 4.5 it is enough to look at the occupancy state (t, s, Φo), so that is what a policy is given.
//! A [`Policy`] can be played; an [`ExplicitPolicy`] can also say the probability of each of its actions, and then its
//! exact law is known to [`crate::oracle::distribution()`].
//!
//! | kind | the action depends on | made from |
//! |---|---|---|
//! | [`Uniform`] | chance | |
//! | [`Markov`] | state, or time and state | vectors |
//! | [`Scripted`] | time | a list of actions |
//! | [`ByOccupancy`] | time, state and features | rows, or what another policy does ([`ByOccupancy::reached`]) |
//!
//! Not here: planners and optimal policies, which are policies too ([`crate::planner`], [`crate::oracle`]).

mod by_occupancy;
mod markov;
mod scripted;
mod uniform;

pub use by_occupancy::ByOccupancy;
pub use markov::Markov;
pub use scripted::Scripted;
pub use uniform::Uniform;

use crate::model::{Action, Mdp, Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Rng};

/// Chooses actions, one after the other.
///
/// A policy is asked about occupancy states of the problem it was made for; those of another problem may be refused by a
/// panic.
///
/// ```
/// use gumdp::rng::Rng;
/// use gumdp::{Action, Mdp, Objective, OccupancyState, Policy, Problem, experiment};
/// /// Takes the two actions in turn.
/// struct Alternate;
/// impl Policy for Alternate {
///     fn act(&mut self, at: &OccupancyState, _: &mut Rng) -> Action {
///         Action::from(at.time as u32 % 2)
///     }
/// }
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 1.0, 4)?;
/// let runs = experiment(&problem, || Alternate, 0, 0..3)?;
/// assert!(runs.iter().all(|run| run.episode.cost == 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Policy {
    /// The action to take in this situation.
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action;

    /// Forgets what was remembered of earlier episodes.
    fn begin_episode(&mut self) {}

    /// Number of model steps simulated so far to choose actions.
    fn simulated_steps(&self) -> u64 {
        0
    }

    /// Whether the last action was chosen in vain: the objective was infinite or not a number when it was simulated.
    fn has_failed(&self) -> bool {
        false
    }
}

/// A policy that knows the probabilities of its actions as a function of the occupancy state; [`Uniform`], [`Markov`] and
/// [`Scripted`] are such policies. Each can be played: it is a [`Policy`] too.
///
/// ```
/// use gumdp::oracle::{Limits, distribution};
/// use gumdp::{ExplicitPolicy, OccupancyState, Problem};
/// use gumdp_files::tasks;
/// /// Always the first action of the state.
/// struct First(Problem);
/// impl ExplicitPolicy for First {
///     fn problem(&self) -> &Problem {
///         &self.0
///     }
///     fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) {
///         probabilities.clear();
///         probabilities.resize(self.0.mdp().pairs(at.state).len(), 0.0);
///         probabilities[0] = 1.0;
///     }
/// }
/// let problem = tasks::get("rooms").unwrap().problem;
/// let law = distribution(&problem, &First(problem.clone()), &Limits::default())?;
/// assert!(law.min() <= law.mean() && law.mean() <= law.max());
/// # Ok::<(), gumdp::oracle::OracleError>(())
/// ```
pub trait ExplicitPolicy {
    /// The problem it is for.
    fn problem(&self) -> &Problem;

    /// Replaces the content of `probabilities` by the probability of each pair of the state, in order.
    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>);
}

impl<P: ExplicitPolicy> Policy for P {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action {
        let mut probabilities = Vec::new();
        self.probabilities(at, &mut probabilities);
        let mut remaining = if probabilities.contains(&1.0) { 0.0 } else { rng::unit(rng) };
        let mut chosen = 0;
        for (k, &probability) in probabilities.iter().enumerate() {
            if probability > 0.0 {
                chosen = k;
                if remaining < probability {
                    break;
                }
                remaining -= probability;
            }
        }
        let mdp = self.problem().mdp();
        mdp.action(Pair(mdp.pairs(at.state).start + chosen as u32))
    }
}

/// Why a policy was refused. See the [example](Markov).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// A vector of the wrong length.
    #[error("the policy has {got} {what}; {expected} are needed")]
    Length {
        /// What the vector is over.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length needed.
        expected: usize,
    },
    /// A probability outside [0, 1] or not a number.
    #[error("time {time}, state \"{state}\", action \"{action}\": the probability is {value}; it must lie in [0, 1]")]
    Probability {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
        /// The action's name.
        action: String,
        /// The value given.
        value: f64,
    },
    /// The probabilities of a state's actions do not sum to 1.
    #[error("time {time}, state \"{state}\": the action probabilities sum to {sum}; they must sum to 1 within 1e-9")]
    Sum {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
        /// The sum found.
        sum: f64,
    },
    /// An action that the state does not allow.
    #[error("time {time}, state \"{state}\": the state does not allow action \"{action}\"")]
    Unavailable {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
        /// The action's name.
        action: String,
    },
    /// A situation that the policy leads to and says nothing about.
    #[error("time {time}, state \"{state}\": the policy leads there, but has no row for it")]
    Missing {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
    },
    /// A situation that the policy decides twice.
    #[error("time {time}, state \"{state}\": the policy has a second row for it")]
    Twice {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
    },
    /// More rows than wanted.
    #[error("the policy reaches more than {limit} occupancy states at which it has a choice")]
    TooManyRows {
        /// The limit.
        limit: usize,
    },
    /// A script without actions.
    #[error("the script has no actions; it needs at least one")]
    EmptyScript,
}

fn available(mdp: &Mdp, time: usize, state: State, action: Action) -> Result<Pair, PolicyError> {
    if action.index() < mdp.action_count()
        && let Some(pair) = mdp.pair(state, action)
    {
        return Ok(pair);
    }
    let name =
        if action.index() < mdp.action_count() { mdp.action_name(action).to_owned() } else { format!("{}", action.0) };
    Err(PolicyError::Unavailable { time, state: mdp.state_name(state).to_owned(), action: name })
}
