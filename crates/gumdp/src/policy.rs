//! Policies: who chooses the actions.
//!
//! By the paper's Theorem 4.5 it is enough to look at the occupancy state (t, s, Φo), so that is what a policy is given.
//! A [`Policy`] can be played; an [`ExplicitPolicy`] can also say the probability of each of its actions, and then its
//! exact law is known to [`crate::oracle::distribution()`].

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
/// use gumdp::{ExplicitPolicy, OccupancyState, Problem, tasks};
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
    /// A script without actions.
    #[error("the script has no actions; it needs at least one")]
    EmptyScript,
}

/// Every action of the state is equally likely. See the [example](crate::experiment()).
#[derive(Clone, Debug)]
pub struct Uniform(Problem);

impl Uniform {
    /// The uniform policy of a problem. See the [example](crate::experiment()).
    #[must_use]
    pub fn new(problem: &Problem) -> Self {
        Self(problem.clone())
    }
}

impl ExplicitPolicy for Uniform {
    fn problem(&self) -> &Problem {
        &self.0
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
/// assert_eq!(mixed.probability(0, 1.into()), 0.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Markov {
    problem: Problem,
    rows: Rows,
}

/// One row for each time, or a single row for all times; a time beyond the last row gets the last row.
#[derive(Clone, Debug)]
enum Rows {
    /// The probability of each pair.
    Stochastic(Vec<Vec<f64>>),
    /// The pair of each state.
    Deterministic(Vec<Vec<u32>>),
}

impl Markov {
    /// A stochastic policy from the probability of each pair: one row for a stationary policy, or one for each time.
    /// See the [example](Markov).
    ///
    /// # Errors
    /// If there is neither one row nor one for each time, or a row is not a distribution over each state's actions (within
    /// 1e-9; it is then divided by its sum).
    pub fn stochastic(problem: &Problem, mut rows: Vec<Vec<f64>>) -> Result<Self, PolicyError> {
        let mdp = problem.mdp();
        check_times(problem, rows.len())?;
        for (time, row) in rows.iter_mut().enumerate() {
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
                for pair in mdp.pairs(state) {
                    row[pair as usize] /= sum;
                }
            }
        }
        Ok(Self { problem: problem.clone(), rows: Rows::Stochastic(rows) })
    }

    /// A deterministic policy from the action of each state: one row for a stationary policy, or one for each time.
    /// See the [example](Markov).
    ///
    /// # Errors
    /// If the lengths are wrong or a state does not allow its action.
    pub fn deterministic(problem: &Problem, actions: &[Vec<Action>]) -> Result<Self, PolicyError> {
        let mdp = problem.mdp();
        check_times(problem, actions.len())?;
        let mut rows = Vec::with_capacity(actions.len());
        for (time, by_state) in actions.iter().enumerate() {
            if by_state.len() != mdp.state_count() {
                return Err(PolicyError::Length { what: "states", got: by_state.len(), expected: mdp.state_count() });
            }
            let pairs = mdp.states().zip(by_state).map(|(state, &action)| available(mdp, time, state, action));
            rows.push(pairs.map(|pair| pair.map(|pair| pair.0)).collect::<Result<_, _>>()?);
        }
        Ok(Self::of_pairs(problem, rows))
    }

    /// A deterministic policy from the pair of each state, for each time.
    pub(crate) fn of_pairs(problem: &Problem, pairs: Vec<Vec<u32>>) -> Self {
        Self { problem: problem.clone(), rows: Rows::Deterministic(pairs) }
    }

    /// The probability of a pair, given its state, at time `time`. Beyond the horizon it is that of the last step.
    /// See the [example](Markov).
    ///
    /// # Panics
    /// If there is no such pair.
    #[must_use]
    pub fn probability(&self, time: usize, pair: Pair) -> f64 {
        match &self.rows {
            Rows::Stochastic(rows) => rows[time.min(rows.len() - 1)][pair.index()],
            Rows::Deterministic(rows) => {
                let chosen = rows[time.min(rows.len() - 1)][self.problem.mdp().state(pair).index()];
                if chosen == pair.0 { 1.0 } else { 0.0 }
            }
        }
    }
}

fn check_times(problem: &Problem, got: usize) -> Result<(), PolicyError> {
    let expected = problem.horizon();
    if got == 1 || got == expected { Ok(()) } else { Err(PolicyError::Length { what: "times", got, expected }) }
}

impl ExplicitPolicy for Markov {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) {
        probabilities.clear();
        let pairs = self.problem.mdp().pairs(at.state).map(Pair);
        probabilities.extend(pairs.map(|pair| self.probability(at.time, pair)));
    }
}

/// While a script is checked, this many states times actions are remembered, a byte each.
const REMEMBERED: usize = 1 << 28;

/// A fixed sequence of actions, repeated from its beginning when it ends.
///
/// ```
/// use gumdp::oracle::{Limits, distribution};
/// use gumdp::{Mdp, Objective, Problem, Scripted};
/// let mdp = Mdp::named(["here"], ["rest", "work"])
///     .start("here")
///     .transition("here", "rest", [("here", 1.0)])
///     .transition("here", "work", [("here", 1.0)])
///     .build()?;
/// let [rest, work] = ["rest", "work"].map(|name| mdp.find_action(name).unwrap());
/// let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0])?, 1.0, 6)?;
/// let every_third = Scripted::new(&problem, vec![rest, rest, work])?;
/// let law = distribution(&problem, &every_third, &Limits::default())?;
/// assert!((law.mean() - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scripted {
    problem: Problem,
    actions: Vec<Action>,
}

impl Scripted {
    /// Takes `actions` one after the other, whatever happens. See the [example](Scripted).
    ///
    /// # Errors
    /// If there is no action, or one that a state reachable at its time does not allow.
    pub fn new(problem: &Problem, actions: Vec<Action>) -> Result<Self, PolicyError> {
        if actions.is_empty() {
            return Err(PolicyError::EmptyScript);
        }
        let mdp = problem.mdp();
        let mut reachable: Vec<State> = mdp.initial().iter().map(|&(state, _)| state).collect();
        let (states, length) = (mdp.state_count(), actions.len());
        // A state need not be looked at again when the script is at the same place again, if that can be remembered.
        let remembers = length.saturating_mul(states) <= REMEMBERED;
        let mut listed = vec![false; if remembers { length * states } else { states }];
        for time in 0..problem.horizon() {
            let first = if remembers { (time + 1) % length * states } else { 0 };
            let mut next: Vec<State> = Vec::new();
            for &state in &reachable {
                let pair = available(mdp, time, state, actions[time % actions.len()])?;
                for (successor, _) in mdp.successors(pair) {
                    if !std::mem::replace(&mut listed[first + successor.index()], true) {
                        next.push(successor);
                    }
                }
            }
            if !remembers {
                for state in &next {
                    listed[state.index()] = false;
                }
            }
            reachable = next;
        }
        Ok(Self { problem: problem.clone(), actions })
    }
}

impl ExplicitPolicy for Scripted {
    fn problem(&self) -> &Problem {
        &self.problem
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::Objective;

    #[test]
    fn scripts_are_checked_where_they_lead() {
        // A ring of five states; only the last forbids action 1, which it meets after 9 steps of the script 0, 1.
        let mut builder = Mdp::sized(5, 2).start(0);
        for state in 0..5_usize {
            for action in 0..if state == 4 { 1 } else { 2_usize } {
                builder = builder.transition(state, action, [((state + 1) % 5, 1.0)]);
            }
        }
        let mdp = builder.build().unwrap();
        let costs = vec![0.0; mdp.pair_count()];
        let long = Problem::new(mdp, Objective::linear(costs).unwrap(), 1.0, 10).unwrap();
        let script = vec![Action(0), Action(1)];
        assert!(Scripted::new(&long.with_horizon(9).unwrap(), script.clone()).is_ok());
        let error = Scripted::new(&long, script).unwrap_err();
        assert_eq!(error.to_string(), "time 9, state \"s4\": the state does not allow action \"a1\"");
        assert!(Scripted::new(&long.with_horizon(1000).unwrap(), vec![Action(0)]).is_ok());
    }

    #[test]
    fn rows_are_divided_by_their_sum() {
        let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build().unwrap();
        let problem = Problem::new(mdp, Objective::linear(vec![0.0; 2]).unwrap(), 1.0, 1).unwrap();
        let policy = Markov::stochastic(&problem, vec![vec![0.5, 0.5 + 8e-10]]).unwrap();
        assert!((policy.probability(0, Pair(0)) + policy.probability(0, Pair(1)) - 1.0).abs() < 1e-15);
    }
}
