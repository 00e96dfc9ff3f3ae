//! Policies: who chooses the actions.
//!
//! By the paper's Theorem 4.5 it is enough to look at the occupancy state (t, s, Φo), so that is what a policy is given.
//! A [`Policy`] can be played; an [`ExplicitPolicy`] can also say the probability of each of its actions, and then its
//! exact law is known to [`crate::oracle::distribution()`].

use std::collections::BTreeSet;

use crate::model::{Action, Mdp, Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Rng};

/// Chooses actions, one after the other.
pub trait Policy {
    /// The action to take in this situation.
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action;

    /// Forgets what was remembered of earlier episodes.
    fn begin_episode(&mut self) {}

    /// Number of model steps simulated so far to choose actions.
    fn simulated_steps(&self) -> u64 {
        0
    }
}

/// A policy that knows the probabilities of its actions as a function of the occupancy state.
pub trait ExplicitPolicy {
    /// The model it is for.
    fn mdp(&self) -> &Mdp;

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
        let pair = Pair(self.mdp().pairs(at.state).start + chosen as u32);
        self.mdp().action(pair)
    }
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
    /// A script without actions.
    #[error("the script has no actions; it needs at least one")]
    EmptyScript,
}

/// Every action of the state is equally likely.
#[derive(Clone, Debug)]
pub struct Uniform(Problem);

impl Uniform {
    /// The uniform policy of a problem.
    #[must_use]
    pub fn new(problem: &Problem) -> Self {
        Self(problem.clone())
    }
}

impl ExplicitPolicy for Uniform {
    fn mdp(&self) -> &Mdp {
        self.0.mdp()
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) {
        let actions = self.0.mdp().pairs(at.state).len();
        probabilities.clear();
        probabilities.resize(actions, 1.0 / actions as f64);
    }
}

/// A Markov policy: the action depends on the state, and possibly on the time.
///
/// ```
/// use gumdp::{Markov, Mdp, Objective, Problem};
/// let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build()?;
/// let objective = Objective::linear(vec![0.0, 1.0])?;
/// let problem = Problem::new(mdp, objective, 1.0, 4)?;
/// let mixed = Markov::stochastic(&problem, vec![vec![0.25, 0.75]])?;
/// # let _ = mixed;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Markov {
    problem: Problem,
    /// For each time a probability for each pair; a stationary policy has one row, used at all times.
    rows: Vec<Vec<f64>>,
}

impl Markov {
    /// A stochastic policy from the probability of each pair: one row for a stationary policy, or one for each time.
    ///
    /// # Errors
    /// If there is neither one row nor one for each time, or a row is not a distribution over each state's actions.
    pub fn stochastic(problem: &Problem, rows: Vec<Vec<f64>>) -> Result<Self, PolicyError> {
        let mdp = problem.mdp();
        if rows.len() != 1 && rows.len() != problem.horizon() {
            return Err(PolicyError::Length { what: "times", got: rows.len(), expected: problem.horizon() });
        }
        for (time, row) in rows.iter().enumerate() {
            if row.len() != mdp.pair_count() {
                return Err(PolicyError::Length { what: "pairs", got: row.len(), expected: mdp.pair_count() });
            }
            for state in mdp.states() {
                let name = || mdp.state_name(state).to_owned();
                let mut sum = 0.0;
                for pair in mdp.pairs(state) {
                    let value = row[pair as usize];
                    if !(0.0..=1.0 + 1e-9).contains(&value) {
                        let action = mdp.action_name(mdp.action(Pair(pair))).to_owned();
                        return Err(PolicyError::Probability { time, state: name(), action, value });
                    }
                    sum += value;
                }
                if (sum - 1.0).abs() > 1e-9 {
                    return Err(PolicyError::Sum { time, state: name(), sum });
                }
            }
        }
        Ok(Self { problem: problem.clone(), rows })
    }

    /// A deterministic policy from the action of each state: one row for a stationary policy, or one for each time.
    ///
    /// # Errors
    /// If the lengths are wrong or a state does not allow its action.
    pub fn deterministic(problem: &Problem, actions: &[Vec<Action>]) -> Result<Self, PolicyError> {
        let mdp = problem.mdp();
        let mut rows = Vec::with_capacity(actions.len());
        for (time, by_state) in actions.iter().enumerate() {
            if by_state.len() != mdp.state_count() {
                return Err(PolicyError::Length { what: "states", got: by_state.len(), expected: mdp.state_count() });
            }
            let mut row = vec![0.0; mdp.pair_count()];
            for (state, &action) in mdp.states().zip(by_state) {
                row[available(mdp, time, state, action)?.index()] = 1.0;
            }
            rows.push(row);
        }
        Self::stochastic(problem, rows)
    }

    /// The probability of each pair at time `time`.
    #[must_use]
    pub fn row(&self, time: usize) -> &[f64] {
        &self.rows[if self.rows.len() == 1 { 0 } else { time }]
    }
}

impl ExplicitPolicy for Markov {
    fn mdp(&self) -> &Mdp {
        self.problem.mdp()
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) {
        let pairs = self.problem.mdp().pairs(at.state);
        probabilities.clear();
        probabilities.extend_from_slice(&self.row(at.time)[pairs.start as usize..pairs.end as usize]);
    }
}

/// A fixed sequence of actions, repeated from its beginning when it ends.
#[derive(Clone, Debug)]
pub struct Scripted {
    problem: Problem,
    actions: Vec<Action>,
}

impl Scripted {
    /// Takes `actions` one after the other, whatever happens.
    ///
    /// # Errors
    /// If there is no action, or one that a state reachable at its time does not allow.
    pub fn new(problem: &Problem, actions: Vec<Action>) -> Result<Self, PolicyError> {
        if actions.is_empty() {
            return Err(PolicyError::EmptyScript);
        }
        let mdp = problem.mdp();
        let mut reachable: BTreeSet<State> = mdp.initial().iter().map(|&(state, _)| state).collect();
        for time in 0..problem.horizon() {
            let mut next = BTreeSet::new();
            for &state in &reachable {
                let pair = available(mdp, time, state, actions[time % actions.len()])?;
                next.extend(mdp.successors(pair).map(|(successor, _)| successor));
            }
            reachable = next;
        }
        Ok(Self { problem: problem.clone(), actions })
    }
}

impl ExplicitPolicy for Scripted {
    fn mdp(&self) -> &Mdp {
        self.problem.mdp()
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) {
        let mdp = self.problem.mdp();
        let scripted = self.actions[at.time % self.actions.len()];
        probabilities.clear();
        probabilities
            .extend(mdp.pairs(at.state).map(|pair| if mdp.action(Pair(pair)) == scripted { 1.0 } else { 0.0 }));
    }
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
