//! Policies: who chooses the actions.
//!
//! By the paper's Theorem 4.5 it is enough to look at the occupancy state (t, s, Φo), so that is what a policy is given.
//! A [`Policy`] that also knows the probabilities of its actions has an exact distribution of costs
//! ([`crate::oracle::distribution()`]).
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
mod decision;
mod markov;
mod scripted;
mod uniform;

pub use by_occupancy::ByOccupancy;
pub use decision::{ActionReason, Decision, StopReason};
pub use markov::Markov;
pub use scripted::Scripted;
pub use uniform::Uniform;

use crate::model::{Action, Mdp, Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Rng};
use crate::stop::Stop;

/// Chooses actions, one after the other.
///
/// A policy is asked about occupancy states of the problem it was made for; those of another problem may be refused by a
/// panic. Every thread that plays it has its own clone.
///
/// ```
/// use gumdp::rng::Rng;
/// use gumdp::{Action, Mdp, Objective, OccupancyState, Policy, PolicyFailure, Problem, experiment};
/// /// Takes the two actions in turn.
/// #[derive(Clone)]
/// struct Alternate;
/// impl Policy for Alternate {
///     fn act(&mut self, at: &OccupancyState, _: &mut Rng) -> Result<Action, PolicyFailure> {
///         Ok(Action::from(at.time as u32 % 2))
///     }
/// }
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 1.0, 4)?;
/// let runs = experiment(&problem, &Alternate, 0, 0..3)?;
/// assert!(runs.iter().all(|run| run.episode.cost == 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Policy: ClonePolicy + Send + Sync {
    /// The action to take here.
    ///
    /// # Errors
    /// If no action could be chosen; the episode ends with that.
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Action, PolicyFailure>;

    /// The same action with its reasons, of which there are none unless it is planned.
    ///
    /// # Errors
    /// Those of [`Policy::act`].
    fn decide(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Decision, PolicyFailure> {
        self.act(at, rng).map(Decision::known)
    }

    /// Does what needs to be done once before the first decision, if it was not done yet; clones made afterwards share it.
    ///
    /// # Errors
    /// If it was [stopped](Policy::set_stop).
    fn prepare(&mut self) -> Result<(), PolicyFailure> {
        Ok(())
    }

    /// Forgets what was remembered of earlier episodes.
    fn begin_episode(&mut self) {}

    /// From now on, work that takes long ends with [`PolicyFailure::Stopped`] soon after this is requested.
    fn set_stop(&mut self, _stop: &Stop) {}

    /// Number of model steps simulated so far to choose actions.
    fn simulated_steps(&self) -> u64 {
        0
    }

    /// The problem it was made for, if it is of use for one only.
    fn problem(&self) -> Option<&Problem> {
        None
    }

    /// Whether its actions depend on nothing but time, state and chance.
    fn is_markov(&self) -> bool {
        false
    }

    /// Replaces the content of `probabilities` by the probability of each pair of the state, in order; `false` if they are
    /// not known, as for planners.
    fn probabilities(&self, _at: &OccupancyState, _probabilities: &mut Vec<f64>) -> bool {
        false
    }
}

/// Clones policies behind a pointer; every policy that is [`Clone`] has it.
pub trait ClonePolicy {
    /// A clone for another thread.
    fn boxed(&self) -> Box<dyn Policy>;
}

impl<P: Policy + Clone + 'static> ClonePolicy for P {
    fn boxed(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

impl<P: Policy + 'static> From<P> for Box<dyn Policy> {
    fn from(policy: P) -> Self {
        Box::new(policy)
    }
}

impl Clone for Box<dyn Policy> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// Why a policy chose no action.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolicyFailure {
    /// The objective gave no finite number in a simulation.
    #[error("the objective is infinite or not a number at the end of a simulated episode; check its formula")]
    NotFinite,
    /// It was asked to [stop](Policy::set_stop).
    #[error("the search was stopped")]
    Stopped,
    /// It chose an action that the state does not allow.
    #[error("the policy chose action number {}, which the state does not allow", .0.0)]
    Unavailable(Action),
    /// What a policy from outside of this crate says.
    #[error("{0}")]
    Other(String),
}

/// Draws an action of a policy that knows its probabilities: how such a policy acts.
fn draw(policy: &dyn Policy, mdp: &Mdp, at: &OccupancyState, rng: &mut Rng) -> Action {
    let mut probabilities = Vec::new();
    policy.probabilities(at, &mut probabilities);
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
    mdp.action(Pair(mdp.pairs(at.state).start + chosen as u32))
}

/// The probabilities of a policy that is sure of its pair, if it has one.
pub(crate) fn certain(mdp: &Mdp, state: State, chosen: Option<Pair>, probabilities: &mut Vec<f64>) -> bool {
    probabilities.clear();
    probabilities.extend(mdp.pairs(state).map(|pair| f64::from(u8::from(Some(Pair(pair)) == chosen))));
    true
}

/// Why a policy was refused.
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
    /// What it does at one time in one state cannot be: no probabilities, an action that the state does not allow, nothing where the
    /// policy leads to, or two things.
    #[error("time {time}, state \"{state}\"{mistake}")]
    Row {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
        /// What is wrong, in words.
        mistake: String,
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

impl PolicyError {
    fn row(mdp: &Mdp, time: usize, state: State, mistake: impl Into<String>) -> Self {
        Self::Row { time, state: mdp.state_name(state).to_owned(), mistake: mistake.into() }
    }
}

fn available(mdp: &Mdp, time: usize, state: State, action: Action) -> Result<Pair, PolicyError> {
    let known = action.index() < mdp.action_count();
    known.then(|| mdp.pair(state, action)).flatten().ok_or_else(|| {
        let name = if known { mdp.action_name(action).to_owned() } else { action.0.to_string() };
        PolicyError::row(mdp, time, state, format!(": the state does not allow action \"{name}\""))
    })
}
