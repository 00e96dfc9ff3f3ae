//! Playing a policy forward with all outcomes at once: the exact distribution of its cost, and its expected occupancy.
//!
//! Probabilities are pushed forward over the occupancy states (t, s, Φo) that the policy reaches, those with the same bits
//! merged. With d the occupancy of one trajectory and d_π = E[d] the expected one, f(d_π) and E[f(d)] differ unless f is
//! linear (paper, Section 2.3; for convex f the first is lower, by Jensen's inequality): single trials and infinitely many
//! are different problems.

use super::distribution::Distribution;
use super::level::{self, Level};
use super::unfolded::Start;
use super::{Limits, OracleError, check_bounded, check_stop, finite, known_cost};
use crate::model::{Pair, State};
use crate::objective::Bounds;
use crate::policy::{Markov, Policy};
use crate::problem::{OccupancyState, Problem};
use crate::risk::Sum;

/// How far a sum of probabilities may be from 1.
const SUM_TOLERANCE: f64 = 1e-9;

/// The exact distribution of f(d) when `policy` is played.
///
/// ```
/// use gumdp::oracle::{Limits, distribution};
/// use gumdp::{Mdp, Objective, Problem, Uniform};
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 1.0, 2)?;
/// let found = distribution(&problem, &Uniform::new(&problem), &Limits::default())?;
/// assert_eq!(found.values(), [0.0, 0.5, 1.0]);
/// assert_eq!(found.probabilities(), [0.25, 0.5, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OracleError::TooLarge`] or [`OracleError::Memory`] if the policy reaches more occupancy states, or these take more
/// memory, than the limits allow (only `max_states` and `max_bytes` are looked at); [`OracleError::OtherProblem`] or
/// [`OracleError::Probabilities`] if the policy does not fit the problem; [`OracleError::Overflow`] for astronomic costs;
/// [`OracleError::NotFinite`] for a formula that breaks.
pub fn distribution(problem: &Problem, policy: &dyn Policy, limits: &Limits) -> Result<Distribution, OracleError> {
    distribution_with_visits(problem, policy, limits, |_| ())
}

/// The same from a situation on, if `pair` is taken in it first, whatever the policy would do there: what if?
///
/// ```
/// use gumdp::oracle::{Limits, distribution, distribution_after, solve};
/// use gumdp::Erm;
/// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
/// let policy = solve(&problem, Erm::MEAN, &Limits::QUICK)?.policy();
/// let start = problem.start(problem.mdp().initial()[0].0);
/// let found = |pair| distribution_after(&problem, &policy, &start, pair, &Limits::QUICK);
/// // The best first action changes nothing, another one is no better.
/// let own = distribution(&problem, &policy, &Limits::QUICK)?.mean();
/// assert_eq!(found(policy.best(&start))?.mean(), own);
/// assert!(problem.mdp().pairs(start.state).all(|pair| found(pair.into()).unwrap().mean() >= own - 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`distribution()`].
///
/// # Panics
/// If the episode is over, or `at` is a state of another problem.
pub fn distribution_after(
    problem: &Problem,
    policy: &dyn Policy,
    at: &OccupancyState,
    pair: Pair,
    limits: &Limits,
) -> Result<Distribution, OracleError> {
    assert!(at.time < problem.horizon(), "there is no decision at the horizon");
    law_from(problem, policy, limits, &Start::after(problem, at, pair), |_| true)
}

/// A visit of a pair by a policy.
pub(crate) struct Visit<'a> {
    pub(crate) time: usize,
    pub(crate) pair: Pair,
    /// Those after it.
    pub(crate) features: &'a [f64],
    pub(crate) probability: f64,
}

/// The same; tells of each visit of a pair, once for each occupancy state that leads there.
pub(crate) fn distribution_with_visits(
    problem: &Problem,
    policy: &dyn Policy,
    limits: &Limits,
    mut visit: impl FnMut(Visit<'_>),
) -> Result<Distribution, OracleError> {
    let count = |of: Visit<'_>| {
        visit(of);
        true
    };
    law_from(problem, policy, limits, &Start::of(problem), count)
}

/// The probability that an episode visits one of the marked pairs at a time that counts.
pub(crate) fn probability_of_visit(
    problem: &Problem,
    policy: &dyn Policy,
    limits: &Limits,
    marked: &[bool],
) -> Result<f64, OracleError> {
    let mut met = Sum::ZERO;
    let unless_met = |Visit { time, pair, probability, .. }: Visit<'_>| {
        let meets = marked.get(pair.index()) == Some(&true) && problem.masses()[time] > 0.0;
        met.add(if meets { probability } else { 0.0 });
        !meets
    };
    law_from(problem, policy, limits, &Start::of(problem), unless_met)?;
    Ok(met.value().min(1.0))
}

/// The same from another situation on; what follows a visit is left out where it is told not to go on.
pub(super) fn law_from(
    problem: &Problem,
    policy: &dyn Policy,
    limits: &Limits,
    start: &Start,
    mut visit: impl FnMut(Visit<'_>) -> bool,
) -> Result<Distribution, OracleError> {
    check_bounded(problem)?;
    let mut policy = policy.boxed();
    policy.set_stop(&limits.stop);
    let (mdp, objective, horizon) = (problem.mdp(), problem.objective(), problem.horizon());
    check_policy(problem, &*policy)?;
    let mut now = Reached::new(problem);
    let mut features = start.features.clone();
    for &(state, probability) in &start.outcomes {
        now.add((state.0, &features, level::hash(&features)), probability, limits, (0, 0))?;
    }
    let (mut states, mut outcomes, mut action_probabilities) = (0_u64, Vec::new(), Vec::new());
    if let Some(cost) = start.final_cost(problem) {
        outcomes.push((finite(cost, cost)?.0, 1.0));
    }
    for time in start.time..horizon {
        states += now.level.len() as u64;
        let bytes = now.bytes();
        let mut next = Reached::new(problem);
        let mut at = OccupancyState { time, ..problem.start(State(0)) };
        for (number, reached) in now.probabilities.iter().enumerate() {
            check_stop(&limits.stop)?;
            at.state = State(now.level.states()[number]);
            at.features.copy_from_slice(now.level.features(number));
            if !policy.probabilities(&at, &mut action_probabilities) {
                return Err(OracleError::NoProbabilities);
            }
            check_distribution(problem, &at, &action_probabilities)?;
            for (pair, &chosen) in mdp.pairs(at.state).map(Pair).zip(&action_probabilities) {
                if chosen == 0.0 {
                    continue;
                }
                features.copy_from_slice(&at.features);
                problem.gather(&mut features, time, pair);
                let probability = possible(reached.value() * chosen);
                if !visit(Visit { time, pair, features: &features, probability }) {
                    continue;
                }
                if time + 1 == horizon {
                    if outcomes.len() == outcomes.capacity() {
                        // Grown to twice the size, and then copied once more.
                        let grown = 2 * 2 * outcomes.len() * size_of::<(f64, f64)>();
                        limits.check(states + outcomes.len() as u64, bytes + grown as u64)?;
                    }
                    let cost = known_cost(objective.value_of_features(&features));
                    if cost.is_nan() {
                        return Err(OracleError::NotFinite);
                    }
                    outcomes.push((cost, probability));
                } else {
                    let hash = level::hash(&features);
                    for (successor, p) in mdp.successors(pair) {
                        next.add((successor.0, &features, hash), possible(probability * p), limits, (states, bytes))?;
                    }
                }
                limits.check(states + (next.level.len() + outcomes.len()) as u64, bytes)?;
            }
        }
        now = next;
    }
    // A policy that is stopped decides nothing.
    check_stop(&limits.stop)?;
    let Bounds { low, high } = objective.bounds();
    Ok(Distribution::merged(outcomes, high - low))
}

/// The expected occupancy d_π of a Markov policy, as a vector over pairs.
///
/// ```
/// use gumdp::oracle::expected_occupancy;
/// use gumdp::{Markov, Mdp, Objective, Problem};
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 0.9, 20)?;
/// let policy = Markov::stochastic(&problem, vec![vec![0.25, 0.75]])?;
/// let occupancy = expected_occupancy(&problem, &policy)?;
/// assert!((occupancy[0] - 0.25).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OracleError::OtherProblem`] if the policy is for another model or horizon. Its objective does not matter.
pub fn expected_occupancy(problem: &Problem, policy: &Markov) -> Result<Vec<f64>, OracleError> {
    policy.problem().map_or(Ok(()), |of| check_model(problem, of))?;
    Ok(occupancy_by_state(problem, policy))
}

/// The expected occupancy of a policy that looks at time and state only.
pub(crate) fn occupancy_by_state(problem: &Problem, policy: &dyn Policy) -> Vec<f64> {
    let mut occupancy = vec![0.0; problem.mdp().pair_count()];
    visits_by_state(problem, policy, |time, pair, p| occupancy[pair.index()] += problem.masses()[time] * p);
    occupancy
}

/// Tells the probability of each pair at each time under a policy that looks at time and state only.
pub(crate) fn visits_by_state(problem: &Problem, policy: &dyn Policy, mut visit: impl FnMut(usize, Pair, f64)) {
    let mdp = problem.mdp();
    let mut now = vec![0.0; mdp.state_count()];
    mdp.initial().iter().for_each(|&(state, p)| now[state.index()] += p);
    let mut at = problem.start(mdp.initial()[0].0);
    let mut chosen = Vec::new();
    for time in 0..problem.horizon() {
        let mut next = vec![0.0; mdp.state_count()];
        for state in mdp.states().filter(|state| now[state.index()] > 0.0) {
            at = OccupancyState { time, state, features: at.features };
            policy.probabilities(&at, &mut chosen);
            for (pair, p) in mdp.pairs(state).map(Pair).zip(&chosen).filter(|(_, p)| **p > 0.0) {
                let p = p * now[state.index()];
                visit(time, pair, p);
                mdp.successors(pair).for_each(|(to, q)| next[to.index()] += p * q);
            }
        }
        now = next;
    }
}

/// Whether a policy can be asked about the occupancy states of a problem.
pub(crate) fn check_policy(problem: &Problem, policy: &dyn Policy) -> Result<(), OracleError> {
    let Some(of) = policy.problem() else { return Ok(()) };
    check_model(problem, of)?;
    let features = |of: &Problem| of.objective().feature_count();
    check_same("features of the occupancy", features(of), features(problem))
}

/// Whether a policy for the problem `of` can be asked about the states and times of `problem`.
fn check_model(problem: &Problem, of: &Problem) -> Result<(), OracleError> {
    check_same("states", of.mdp().state_count(), problem.mdp().state_count())?;
    check_same("state-action pairs", of.mdp().pair_count(), problem.mdp().pair_count())?;
    check_same("time steps", of.horizon(), problem.horizon())
}

fn check_same(what: &'static str, got: usize, expected: usize) -> Result<(), OracleError> {
    if got == expected { Ok(()) } else { Err(OracleError::OtherProblem { what, got, expected }) }
}

fn check_distribution(problem: &Problem, at: &OccupancyState, probabilities: &[f64]) -> Result<(), OracleError> {
    let expected = problem.mdp().pairs(at.state).len();
    let sum: f64 = probabilities.iter().sum();
    let valid = probabilities.len() == expected
        && (sum - 1.0).abs() <= SUM_TOLERANCE
        && probabilities.iter().all(|&probability| probability >= 0.0);
    if valid {
        return Ok(());
    }
    let state = problem.mdp().state_name(at.state).to_owned();
    Err(OracleError::Probabilities { time: at.time, state, count: probabilities.len(), sum, expected })
}

/// A product of positive probabilities that is too small for a number stays possible: the worst case counts it.
fn possible(probability: f64) -> f64 {
    probability.max(f64::MIN_POSITIVE)
}

/// Occupancy states of one time with the probability to reach them.
struct Reached {
    level: Level,
    probabilities: Vec<Sum>,
}

impl Reached {
    fn new(problem: &Problem) -> Self {
        Self { level: Level::new(problem.objective().feature_count()), probabilities: Vec::new() }
    }

    /// Adds to the probability of an occupancy state, as [`Level::insert_within`].
    fn add(
        &mut self,
        state: (u32, &[f64], u64),
        probability: f64,
        limits: &Limits,
        besides: (u64, u64),
    ) -> Result<(), OracleError> {
        let number = self.level.insert_within(state, limits, besides)? as usize;
        if number == self.probabilities.len() {
            self.probabilities.push(Sum::ZERO);
        }
        self.probabilities[number].add(probability);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.level.bytes() + (self.probabilities.capacity() * size_of::<Sum>()) as u64
    }
}
