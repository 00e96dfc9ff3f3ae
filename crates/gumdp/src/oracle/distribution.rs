//! The exact law of the cost f(d) under a policy, and the expected occupancy.
//!
//! Probabilities are pushed forward over the occupancy states (t, s, Φo) that the policy reaches, those with the same bits
//! merged. With d the occupancy of one trajectory and d_π = E[d] the expected one, f(d_π) and E[f(d)] differ unless f is
//! linear (paper, Section 2.3; for convex f the first is lower, by Jensen's inequality): single trials and infinitely many
//! are different problems.

use super::level::{self, Level};
use super::{OracleError, check_bounded};
use crate::model::{Pair, State};
use crate::policy::{ExplicitPolicy, Markov};
use crate::problem::{OccupancyState, Problem};
use crate::risk::Erm;

/// How far a sum of probabilities may be from 1.
const SUM_TOLERANCE: f64 = 1e-9;

/// A probability distribution on finitely many costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// Ascending, no two equal.
    values: Vec<f64>,
    probabilities: Vec<f64>,
}

impl Law {
    /// Sorts the outcomes and merges those with equal values. There is at least one outcome.
    fn new(mut outcomes: Vec<(f64, f64)>) -> Self {
        outcomes.sort_unstable_by(|(a, p), (b, q)| a.total_cmp(b).then(p.total_cmp(q)));
        let (mut values, mut probabilities) = (Vec::new(), Vec::new());
        for equal in outcomes.chunk_by(|(a, _), (b, _)| a == b) {
            values.push(equal[0].0);
            probabilities.push(equal.iter().map(|&(_, p)| p).collect::<Compensated>().value());
        }
        Self { values, probabilities }
    }

    /// The possible costs, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The probability of each cost. They sum to 1 but for rounding. One below 1e-300 may be inaccurate but is never 0.
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

    /// The expected cost.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.erm(Erm::MEAN)
    }

    /// The smallest cost that is not exceeded with probability `level` (the lowest for 0, the highest for 1).
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        // Rounding of the probabilities must not move a quantile that lies on a step.
        let wanted = level - 1e-12;
        let mut cumulative = Compensated::default();
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
        self.probabilities[..below].iter().copied().collect::<Compensated>().value().min(1.0)
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

/// The exact law of f(d) when `policy` is played.
///
/// ```
/// use gumdp::oracle::distribution;
/// use gumdp::{Mdp, Objective, Problem, Uniform};
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 1.0, 2)?;
/// let law = distribution(&problem, &Uniform::new(&problem), 1000)?;
/// assert_eq!(law.values(), [0.0, 0.5, 1.0]);
/// assert_eq!(law.probabilities(), [0.25, 0.5, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OracleError::TooLarge`] if the policy reaches more than `max_states` occupancy states,
/// [`OracleError::OtherModel`] or [`OracleError::Probabilities`] if the policy does not fit the problem.
pub fn distribution(problem: &Problem, policy: &impl ExplicitPolicy, max_states: u64) -> Result<Law, OracleError> {
    check_bounded(problem)?;
    let (mdp, objective, horizon) = (problem.mdp(), problem.objective(), problem.horizon());
    if policy.mdp().pair_count() != mdp.pair_count() {
        return Err(OracleError::OtherModel { got: policy.mdp().pair_count(), expected: mdp.pair_count() });
    }
    let mut now = Reached::new(problem);
    let mut features = vec![0.0; objective.feature_count()];
    for &(state, probability) in mdp.initial() {
        now.add(state, &features, level::hash(&features), probability);
    }
    let (mut states, mut outcomes, mut action_probabilities) = (0_u64, Vec::new(), Vec::new());
    for (time, &mass) in problem.masses().iter().enumerate() {
        states += now.level.len() as u64;
        let mut next = Reached::new(problem);
        let mut at = OccupancyState { time, ..problem.start(State(0)) };
        for (number, reached) in now.probabilities.iter().enumerate() {
            at.state = State(now.level.states()[number]);
            at.features.copy_from_slice(now.level.features(number));
            policy.probabilities(&at, &mut action_probabilities);
            check_distribution(problem, &at, &action_probabilities)?;
            for (pair, &chosen) in mdp.pairs(at.state).map(Pair).zip(&action_probabilities) {
                if chosen == 0.0 {
                    continue;
                }
                features.copy_from_slice(&at.features);
                objective.add(&mut features, pair.index(), mass);
                let probability = possible(reached.value() * chosen);
                if time + 1 == horizon {
                    outcomes.push((objective.value_of_features(&features), probability));
                } else {
                    let hash = level::hash(&features);
                    for (successor, p) in mdp.successors(pair) {
                        next.add(successor, &features, hash, possible(probability * p));
                    }
                }
            }
            let reached = states + (next.level.len() + outcomes.len()) as u64;
            if reached > max_states {
                return Err(OracleError::TooLarge { reached, projected: None, limit: max_states });
            }
        }
        now = next;
    }
    Ok(Law::new(outcomes))
}

/// The expected occupancy d_π of a Markov policy, as a vector over pairs.
///
/// ```
/// use gumdp::oracle::expected_occupancy;
/// use gumdp::{Markov, Mdp, Objective, Problem};
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 0.9, 20)?;
/// let policy = Markov::stochastic(&problem, vec![vec![0.25, 0.75]])?;
/// let occupancy = expected_occupancy(&problem, &policy);
/// assert!((occupancy[0] - 0.25).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the policy is for a smaller model or a shorter horizon.
#[must_use]
pub fn expected_occupancy(problem: &Problem, policy: &Markov) -> Vec<f64> {
    let mdp = problem.mdp();
    let mut occupancy = vec![0.0; mdp.pair_count()];
    let mut now = vec![0.0; mdp.state_count()];
    for &(state, probability) in mdp.initial() {
        now[state.index()] = probability;
    }
    for (time, &mass) in problem.masses().iter().enumerate() {
        let mut next = vec![0.0; mdp.state_count()];
        for state in mdp.states().filter(|state| now[state.index()] > 0.0) {
            for pair in mdp.pairs(state).map(Pair) {
                let probability = now[state.index()] * policy.row(time)[pair.index()];
                occupancy[pair.index()] += mass * probability;
                for (successor, p) in mdp.successors(pair) {
                    next[successor.index()] += probability * p;
                }
            }
        }
        now = next;
    }
    occupancy
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
    probabilities: Vec<Compensated>,
}

impl Reached {
    fn new(problem: &Problem) -> Self {
        Self { level: Level::new(problem.objective().feature_count()), probabilities: Vec::new() }
    }

    fn add(&mut self, state: State, features: &[f64], features_hash: u64, probability: f64) {
        let number = self.level.insert(state.0, features, features_hash) as usize;
        if number == self.probabilities.len() {
            self.probabilities.push(Compensated::default());
        }
        self.probabilities[number].add(probability);
    }
}

/// A sum with the rounding of its additions carried along (Neumaier, 1974).
#[derive(Clone, Copy, Debug, Default)]
struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost += if self.sum.abs() >= x.abs() { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }

    fn value(self) -> f64 {
        self.sum + self.lost
    }
}

impl FromIterator<f64> for Compensated {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        terms.into_iter().fold(Self::default(), |mut sum, x| {
            sum.add(x);
            sum
        })
    }
}
