//! The one loop that plays a policy in a problem.

use crate::model::{Action, Mdp, Pair, State};
use crate::policy::{Policy, PolicyFailure};
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Purpose, Rng};

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

/// One step of an episode: what was done and what chance made of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The state and the action.
    pub pair: Pair,
    /// Where it led.
    pub next: State,
    /// How likely that was.
    pub probability: f64,
    /// Whether something else was more likely: chance struck.
    pub unlikely: bool,
}

impl Step {
    /// An action that led to a state.
    #[must_use]
    pub fn new(mdp: &Mdp, pair: Pair, next: State) -> Self {
        let most = mdp.successors(pair).fold(0.0, |most: f64, (_, probability)| most.max(probability));
        let own = mdp.successors(pair).find(|(state, _)| *state == next).map_or(0.0, |(_, probability)| probability);
        Self { pair, next, probability: own, unlikely: own < most }
    }
}

/// The beginning of an episode whose actions are given, with the chance of the run of this seed and number: the steps, and the
/// situation they led to. What others do in that run meets the same chance.
///
/// ```
/// use gumdp::{Action, begun};
/// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
/// let (steps, at) = begun(&problem, &[Action(0), Action(1)], 0, 0)?;
/// assert_eq!((steps.len(), at.time), (2, 2));
/// assert_eq!(steps[1].next, at.state);
/// # Ok::<(), gumdp::EpisodeError>(())
/// ```
///
/// # Errors
/// If a state does not allow an action. What is beyond the horizon is not looked at.
pub fn begun(
    problem: &Problem,
    actions: &[Action],
    seed: u64,
    number: u64,
) -> Result<(Vec<Step>, OccupancyState), EpisodeError> {
    let mdp = problem.mdp();
    let mut environment = rng::stream(seed, number, Purpose::Environment);
    let mut at = problem.start(mdp.sample_initial(&mut environment));
    let mut steps = Vec::with_capacity(actions.len());
    for &action in actions.iter().take(problem.horizon()) {
        let (time, state) = (at.time, mdp.state_name(at.state).to_owned());
        let failure = PolicyFailure::Unavailable(action);
        let pair = mdp.pair(at.state, action).ok_or(EpisodeError::Policy { time, state, failure })?;
        let next = mdp.sample(pair, &mut environment);
        steps.push(Step::new(mdp, pair, next));
        problem.advance(&mut at, pair, next);
    }
    Ok((steps, at))
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
