//! Policies as a list of decisions, one for each occupancy state that they lead to: how an optimal policy is kept.

use std::collections::{HashMap, HashSet};

use super::{Policy, PolicyError, PolicyFailure, available, certain};
use crate::model::{Action, Pair};
use crate::problem::{OccupancyState, Problem};
use crate::rng::Rng;

/// A list of decisions that leads to more occupancy states than this is refused.
const MOST_REACHED: usize = 10_000_000;

/// A deterministic policy of the occupancy state (t, s, Φo), with a decision wherever it leads to and has a choice. Occupancy
/// states are equal if all bits of their features are.
///
/// ```
/// use gumdp::oracle::{Limits, distribution, solve};
/// use gumdp::{ByOccupancy, Erm};
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let solution = solve(&problem, Erm::new(10.0)?, &Limits::QUICK)?;
/// let optimal = solution.policy();
/// let kept = ByOccupancy::reached(&problem, |at| optimal.best(at), 10_000)?;
/// // The same policy from its rows.
/// let rows = kept.rows().map(|(at, action)| (at.clone(), action));
/// let again = ByOccupancy::new(&problem, rows)?;
/// let costs = distribution(&problem, &again, &Limits::QUICK)?;
/// assert_eq!(costs, distribution(&problem, &optimal, &Limits::QUICK)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ByOccupancy {
    problem: Problem,
    rows: Vec<(OccupancyState, Pair)>,
    /// Where the row of an occupancy state is.
    places: HashMap<Box<[u64]>, usize>,
}

impl ByOccupancy {
    /// A policy from its decisions; where a state has one action, none is needed.
    ///
    /// # Errors
    /// If there are two decisions for one occupancy state, one with an action that the state does not allow, or none for an
    /// occupancy state that the policy leads to; if it leads to more than ten million of them.
    pub fn new(
        problem: &Problem,
        rows: impl IntoIterator<Item = (OccupancyState, Action)>,
    ) -> Result<Self, PolicyError> {
        let mdp = problem.mdp();
        let mut policy = Self::empty(problem);
        for (mut at, action) in rows {
            problem.settle(&mut at.features);
            let pair = available(mdp, at.time, at.state, action)?;
            if policy.places.insert(key(&at), policy.rows.len()).is_some() {
                return Err(PolicyError::row(mdp, at.time, at.state, ": the policy has a second row for it"));
            }
            policy.rows.push((at, pair));
        }
        walk(problem, MOST_REACHED, |at| {
            let missing = ": the policy leads there, but has no row for it";
            policy.find(at).ok_or_else(|| PolicyError::row(mdp, at.time, at.state, missing))
        })?;
        Ok(policy)
    }

    /// What a policy that always decides as `decide` does, wherever it leads to and has a choice, earliest first.
    ///
    /// # Errors
    /// [`PolicyError::TooManyRows`] if it leads to more than `limit` occupancy states.
    pub fn reached(
        problem: &Problem,
        mut decide: impl FnMut(&OccupancyState) -> Pair,
        limit: usize,
    ) -> Result<Self, PolicyError> {
        let mut policy = Self::empty(problem);
        walk(problem, limit, |at| {
            let pair = decide(at);
            if problem.mdp().pairs(at.state).len() > 1 {
                policy.places.insert(key(at), policy.rows.len());
                policy.rows.push((at.clone(), pair));
            }
            Ok(pair)
        })?;
        Ok(policy)
    }

    /// The decisions, in the order in which they were given.
    #[must_use]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (&OccupancyState, Action)> {
        self.rows.iter().map(|(at, pair)| (at, self.problem.mdp().action(*pair)))
    }

    fn empty(problem: &Problem) -> Self {
        Self { problem: problem.clone(), rows: Vec::new(), places: HashMap::new() }
    }

    fn find(&self, at: &OccupancyState) -> Option<Pair> {
        let pairs = self.problem.mdp().pairs(at.state);
        if pairs.len() == 1 {
            return Some(Pair(pairs.start));
        }
        self.places.get(&key(at)).map(|&place| self.rows[place].1)
    }
}

/// Calls `decide` once for each occupancy state that its decisions lead to, earliest first.
fn walk(
    problem: &Problem,
    limit: usize,
    mut decide: impl FnMut(&OccupancyState) -> Result<Pair, PolicyError>,
) -> Result<(), PolicyError> {
    let mdp = problem.mdp();
    let mut now: Vec<OccupancyState> = mdp.initial().iter().map(|&(state, _)| problem.start(state)).collect();
    let mut met = now.len();
    for _ in 0..problem.horizon() {
        let mut next: Vec<OccupancyState> = Vec::new();
        let mut listed: HashSet<Box<[u64]>> = HashSet::new();
        for at in &now {
            let pair = decide(at)?;
            for (successor, _) in mdp.successors(pair) {
                let mut then = at.clone();
                problem.advance(&mut then, pair, successor);
                if listed.insert(key(&then)) {
                    next.push(then);
                }
            }
            if met + next.len() > limit {
                return Err(PolicyError::TooManyRows { limit });
            }
        }
        met += next.len();
        now = next;
    }
    Ok(())
}

/// Time, state and the bits of the features.
fn key(at: &OccupancyState) -> Box<[u64]> {
    let features = at.features.iter().map(|feature| feature.to_bits());
    [at.time as u64, at.state.index() as u64].into_iter().chain(features).collect()
}

impl Policy for ByOccupancy {
    /// Where its own decisions do not lead to, it has none.
    fn act(&mut self, at: &OccupancyState, _: &mut Rng) -> Result<Action, PolicyFailure> {
        let mdp = self.problem.mdp();
        let unknown = || {
            let (time, state) = (at.time, mdp.state_name(at.state));
            format!(
                "the policy has no decision for time {time}, state \"{state}\": it never leads there as the episode went"
            )
        };
        self.find(at).map(|pair| mdp.action(pair)).ok_or_else(|| PolicyFailure::Other(unknown()))
    }

    fn problem(&self) -> Option<&Problem> {
        Some(&self.problem)
    }

    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) -> bool {
        certain(self.problem.mdp(), at.state, self.find(at), probabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Erm;
    use crate::oracle::{Limits, solve};
    use crate::test_problems::rooms;

    #[test]
    fn gaps_and_doubles_are_refused() {
        let problem = rooms();
        let solution = solve(&problem, Erm::new(1.0).unwrap(), &Limits::QUICK).unwrap();
        let optimal = solution.policy();
        let kept = ByOccupancy::reached(&problem, |at| optimal.best(at), 10_000).unwrap();
        let rows: Vec<_> = kept.rows().map(|(at, action)| (at.clone(), action)).collect();
        for place in 0..rows.len() {
            let mut fewer = rows.clone();
            let (at, _) = fewer.remove(place);
            let missing = ByOccupancy::new(&problem, fewer).unwrap_err().to_string();
            let (time, state) = (at.time, problem.mdp().state_name(at.state));
            assert_eq!(
                missing,
                format!("time {time}, state \"{state}\": the policy leads there, but has no row for it")
            );
        }
        let twice = rows.iter().chain(&rows[..1]).cloned();
        assert_eq!(
            ByOccupancy::new(&problem, twice).unwrap_err().to_string(),
            "time 0, state \"s1\": the policy has a second row for it"
        );
        let few = ByOccupancy::reached(&problem, |at| optimal.best(at), 5);
        assert_eq!(few.unwrap_err(), PolicyError::TooManyRows { limit: 5 });
    }
}
