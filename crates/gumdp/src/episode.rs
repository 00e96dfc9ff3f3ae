//! The one loop that plays a policy in a problem.

use crate::model::{Pair, State};
use crate::policy::{Policy, PolicyFailure};
use crate::problem::{OccupancyState, Problem};
use crate::rng::Rng;

/// What happened in one episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// f of the episode's occupancy.
    pub cost: f64,
    /// The pair visited at each time, from the first that was played.
    pub path: Vec<Pair>,
    /// The state after the last action.
    pub last: State,
}

/// Why an episode could not be played to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EpisodeError {
    /// The objective gave no finite number.
    #[error("the objective is infinite or not a number at the end of an episode; check its formula")]
    NotFinite,
    /// The policy chose no action, or one that the state does not allow.
    #[error("at time {time} in state \"{state}\" {failure}")]
    Policy {
        /// The time.
        time: usize,
        /// The state's name.
        state: String,
        /// Why.
        failure: PolicyFailure,
    },
    /// It was asked to [stop](crate::Stop).
    #[error("the episode was stopped at time {time}")]
    Stopped {
        /// The time.
        time: usize,
    },
}

/// Plays one episode. The environment and the policy draw from separate streams, so that two policies can have
/// common random numbers.
///
/// ```
/// use gumdp::rng::{self, Purpose};
/// use gumdp::{Mdp, Objective, Problem, Uniform, play};
/// let mdp = Mdp::sized(1, 1).start(0).transition(0, 0, [(0, 1.0)]).build()?;
/// let objective = Objective::linear(mdp.by_state(&[3.0])?)?;
/// let problem = Problem::new(mdp, objective, 0.9, 10)?;
/// let mut environment = rng::stream(0, 0, Purpose::Environment);
/// let mut own = rng::stream(0, 0, Purpose::Policy);
/// let episode = play(&problem, &mut Uniform::new(&problem), &mut environment, &mut own)?;
/// assert!((episode.cost - 3.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the policy chooses an action that the state does not allow, or the objective is not a finite number.
pub fn play(
    problem: &Problem,
    policy: &mut dyn Policy,
    environment: &mut Rng,
    policy_rng: &mut Rng,
) -> Result<Episode, EpisodeError> {
    let start = problem.start(problem.mdp().sample_initial(environment));
    play_on(problem, policy, start, environment, policy_rng)
}

/// Plays the rest of an episode from any occupancy state on; the path begins there.
pub(crate) fn play_on(
    problem: &Problem,
    policy: &mut dyn Policy,
    at: OccupancyState,
    environment: &mut Rng,
    policy_rng: &mut Rng,
) -> Result<Episode, EpisodeError> {
    let next = &mut |pair| problem.mdp().sample(pair, environment);
    play_watched(problem, policy, at, next, policy_rng, &mut |_| {})
}

/// The same with what follows each pair from elsewhere; tells how many decisions are made.
pub(crate) fn play_watched(
    problem: &Problem,
    policy: &mut dyn Policy,
    mut at: OccupancyState,
    next: &mut dyn FnMut(Pair) -> State,
    policy_rng: &mut Rng,
    decided: &mut dyn FnMut(usize),
) -> Result<Episode, EpisodeError> {
    let mdp = problem.mdp();
    let mut path = Vec::with_capacity(problem.horizon().saturating_sub(at.time));
    policy.begin_episode();
    while at.time < problem.horizon() {
        let allowed = |action| mdp.pair(at.state, action).ok_or(PolicyFailure::Unavailable(action));
        let pair = policy.act(&at, policy_rng).and_then(allowed).map_err(|failure| match failure {
            PolicyFailure::Stopped => EpisodeError::Stopped { time: at.time },
            failure => EpisodeError::Policy { time: at.time, state: mdp.state_name(at.state).to_owned(), failure },
        })?;
        path.push(pair);
        problem.advance(&mut at, pair, next(pair));
        decided(at.time);
    }
    let cost = problem.cost(&at);
    if cost.is_finite() { Ok(Episode { cost, path, last: at.state }) } else { Err(EpisodeError::NotFinite) }
}
