//! The exact distribution of the cost f(d) under a policy, and the expected occupancy.
//!
//! Probabilities are pushed forward over the occupancy states (t, s, Φo) that the policy reaches, those with the same bits
//! merged. With d the occupancy of one trajectory and d_π = E[d] the expected one, f(d_π) and E[f(d)] differ unless f is
//! linear (paper, Section 2.3; for convex f the first is lower, by Jensen's inequality): single trials and infinitely many
//! are different problems.

use super::level::{self, Level};
use super::unfolded::Start;
use super::{Limits, OracleError, check_bounded, check_stop, finite, known_cost};
use crate::model::{Pair, State};
use crate::objective::Bounds;
use crate::policy::{Markov, Policy};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Erm, Risk, Sum, Tail};
use crate::stats::Costs;

/// How far a sum of probabilities may be from 1.
const SUM_TOLERANCE: f64 = 1e-9;

/// Costs that are closer than this part of their spread, or of the largest of them, are equal.
const EQUAL: f64 = 1e-12;
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A probability distribution on finitely many costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Ascending, no two equal but for rounding.
    values: Vec<f64>,
    probabilities: Vec<f64>,
    /// How far apart costs of the problem can be.
    range: Option<f64>,
}

impl Distribution {
    /// Sorts the outcomes and merges those that differ by no more than `near`, to the highest of them: what does not exceed a limit
    /// with some probability still does not. There is at least one outcome.
    fn new(mut outcomes: Vec<(f64, f64)>, near: f64) -> Self {
        outcomes.sort_unstable_by(|(a, p), (b, q)| a.total_cmp(b).then(p.total_cmp(q)));
        let (mut values, mut probabilities, mut first) = (Vec::new(), Vec::<Sum>::new(), f64::NEG_INFINITY);
        for (value, probability) in outcomes {
            if value - first > near {
                first = value;
                values.push(value);
                probabilities.push(Sum::ZERO);
            }
            let last = values.len() - 1;
            values[last] = value;
            probabilities[last].add(probability);
        }
        Self { values, probabilities: probabilities.into_iter().map(Sum::value).collect(), range: None }
    }

    /// The distribution of equally likely costs; `None` if there are none or one is not finite.
    ///
    /// ```
    /// use gumdp::oracle::Distribution;
    /// let law = Distribution::of_samples(&[2.0, 1.0, 2.0, 4.0]).unwrap();
    /// assert_eq!((law.values(), law.mean()), (&[1.0, 2.0, 4.0][..], 2.25));
    /// assert!(Distribution::of_samples(&[]).is_none() && Distribution::of_samples(&[f64::NAN]).is_none());
    /// ```
    #[must_use]
    pub fn of_samples(costs: &[f64]) -> Option<Self> {
        let share = 1.0 / costs.len() as f64;
        let usable = !costs.is_empty() && costs.iter().all(|cost| cost.is_finite());
        usable.then(|| Self::new(costs.iter().map(|&cost| (cost, share)).collect(), 0.0))
    }

    /// The distribution of the costs of runs; of many, those in a bin are one. `None` if there are none.
    #[must_use]
    pub fn of_costs(costs: &Costs) -> Option<Self> {
        if costs.are_few() {
            return Self::of_samples(costs.first());
        }
        let share = 1.0 / costs.count() as f64;
        let shares = costs.ascending().counted().map(|(cost, count)| (cost, count as f64 * share)).collect();
        Some(Self::new(shares, 0.0))
    }

    /// The possible costs, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The probability of each cost. They sum to 1 but for rounding. One below 1e-300 may be inaccurate but is never 0.
    ///
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Each cost with its probability, costs ascending.
    #[must_use]
    pub fn outcomes(&self) -> impl ExactSizeIterator<Item = (f64, f64)> + Clone + '_ {
        self.values.iter().copied().zip(self.probabilities.iter().copied())
    }

    /// The entropic risk measure of the cost.
    #[must_use]
    pub fn erm(&self, erm: Erm) -> f64 {
        erm.of_outcomes(self.outcomes())
    }

    /// Any risk measure of the cost.
    #[must_use]
    pub fn risk(&self, risk: Risk) -> f64 {
        self.range.map_or(risk, |range| risk.within(range)).of_tail(&self.tail())
    }

    /// The same with neighbouring costs put together where there are more than `most`: so many stretches of equal width, each told
    /// by its highest cost. For drawing only.
    ///
    /// ```
    /// use gumdp::oracle::Distribution;
    /// let law = Distribution::of_samples(&[0.0, 1.0, 9.0, 10.0]).unwrap();
    /// assert_eq!(law.thinned(2), [(1.0, 0.5), (10.0, 0.5)]);
    /// assert_eq!(law.thinned(4).len(), 4);
    /// ```
    #[must_use]
    pub fn thinned(&self, most: usize) -> Vec<(f64, f64)> {
        if self.values.len() <= most {
            return self.outcomes().collect();
        }
        let (low, width) = (self.min(), (self.max() - self.min()) / most.max(1) as f64);
        let mut all: Vec<(usize, f64, Sum)> = Vec::with_capacity(most);
        for (value, probability) in self.outcomes() {
            let stretch = (((value - low) / width) as usize).min(most.max(1) - 1);
            match all.last_mut().filter(|last| last.0 == stretch) {
                Some(last) => {
                    last.1 = value;
                    last.2.add(probability);
                }
                None => all.push((stretch, value, [probability].into_iter().collect())),
            }
        }
        all.into_iter().map(|(_, value, probability)| (value, probability.value())).collect()
    }

    pub(super) fn tail(&self) -> Tail {
        Tail::of_sorted(self.outcomes().collect())
    }

    /// The expected cost.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.erm(Erm::MEAN)
    }

    /// The smallest cost that is not exceeded with probability `level` (the lowest for 0, the highest for 1).
    ///
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        // Rounding of the probabilities must not move a quantile that lies on a step.
        let wanted = level - 1e-12;
        let mut cumulative = Sum::ZERO;
        for (value, probability) in self.outcomes() {
            cumulative.add(probability);
            if cumulative.value() >= wanted {
                return value;
            }
        }
        self.max()
    }

    /// The probability of a cost of at most `cost`.
    #[must_use]
    pub fn cdf(&self, cost: f64) -> f64 {
        let below = self.values.partition_point(|&value| value <= cost);
        self.probabilities[..below].iter().copied().collect::<Sum>().value().min(1.0)
    }

    /// The lowest possible cost.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.values[0]
    }

    /// The highest possible cost.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.values[self.values.len() - 1]
    }
}

/// The exact distribution of f(d) when `policy` is played.
///
/// ```
/// use gumdp::oracle::{Limits, distribution};
/// use gumdp::{Mdp, Objective, Problem, Uniform};
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 1.0, 2)?;
/// let law = distribution(&problem, &Uniform::new(&problem), &Limits::default())?;
/// assert_eq!(law.values(), [0.0, 0.5, 1.0]);
/// assert_eq!(law.probabilities(), [0.25, 0.5, 0.25]);
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
/// let law = |pair| distribution_after(&problem, &policy, &start, pair, &Limits::QUICK);
/// // The best first action changes nothing, another one is no better.
/// let own = distribution(&problem, &policy, &Limits::QUICK)?.mean();
/// assert_eq!(law(policy.best(&start))?.mean(), own);
/// assert!(problem.mdp().pairs(start.state).all(|pair| law(pair.into()).unwrap().mean() >= own - 1e-12));
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
    let (least, most) = outcomes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), o| (o.0.min(a), o.0.max(b)));
    let near = EQUAL * (most - least) + ROUNDING * least.abs().max(most.abs());
    Ok(Distribution { range: Some(high - low), ..Distribution::new(outcomes, near) })
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
