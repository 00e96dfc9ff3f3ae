//! Policies of the state, and possibly of the time.

use super::{Policy, PolicyError, PolicyFailure, available, draw};
use crate::model::{Action, Pair};
use crate::problem::{OccupancyState, Problem};
use crate::rng::Rng;

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
                let mut sum = 0.0;
                for pair in mdp.pairs(state) {
                    let value = row[pair as usize];
                    if !(0.0..=1.0 + 1e-9).contains(&value) {
                        let action = mdp.action_name(mdp.action(Pair(pair)));
                        let mistake =
                            format!(", action \"{action}\": the probability is {value}; it must lie in [0, 1]");
                        return Err(PolicyError::row(mdp, time, state, mistake));
                    }
                    sum += value;
                }
                if (sum - 1.0).abs() > 1e-9 {
                    let mistake = format!(": the action probabilities sum to {sum}; they must sum to 1 within 1e-9");
                    return Err(PolicyError::row(mdp, time, state, mistake));
                }
                for pair in mdp.pairs(state) {
                    row[pair as usize] /= sum;
                }
            }
        }
        Ok(Self { problem: problem.clone(), rows: Rows::Stochastic(rows) })
    }

    /// A deterministic policy from the action of each state: one row for a stationary policy, or one for each time.
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
    #[must_use]
    pub fn of_pairs(problem: &Problem, pairs: Vec<Vec<u32>>) -> Self {
        Self { problem: problem.clone(), rows: Rows::Deterministic(pairs) }
    }

    /// The probability of a pair, given its state, at time `time`. Beyond the horizon it is that of the last step.
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

impl Policy for Markov {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Action, PolicyFailure> {
        Ok(draw(self, self.problem.mdp(), at, rng))
    }

    fn problem(&self) -> Option<&Problem> {
        Some(&self.problem)
    }

    fn is_markov(&self) -> bool {
        true
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) -> bool {
        probabilities.clear();
        let pairs = self.problem.mdp().pairs(at.state).map(Pair);
        probabilities.extend(pairs.map(|pair| self.probability(at.time, pair)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mdp;
    use crate::objective::Objective;

    #[test]
    fn rows_are_divided_by_their_sum() {
        let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build().unwrap();
        let problem = Problem::new(mdp, Objective::linear(vec![0.0; 2]).unwrap(), 1.0, 1).unwrap();
        let policy = Markov::stochastic(&problem, vec![vec![0.5, 0.5 + 8e-10]]).unwrap();
        assert!((policy.probability(0, Pair(0)) + policy.probability(0, Pair(1)) - 1.0).abs() < 1e-15);
    }
}
