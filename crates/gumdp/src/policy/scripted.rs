//! Fixed sequences of actions.

use super::{Policy, PolicyError, PolicyFailure, available, certain, draw};
use crate::model::{Action, State};
use crate::problem::{OccupancyState, Problem};
use crate::rng::Rng;

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
/// let costs = distribution(&problem, &every_third, &Limits::default())?;
/// assert!((costs.mean() - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

impl Policy for Scripted {
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
        let (mdp, scripted) = (self.problem.mdp(), self.actions[at.time % self.actions.len()]);
        certain(mdp, at.state, mdp.pair(at.state, scripted), probabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mdp;
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
}
