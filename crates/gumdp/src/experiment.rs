//! Many episodes of one policy: seeded, in parallel, the same bits for any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::episode::{Episode, EpisodeError, play};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::rng::{self, Purpose};
use crate::stop::Stop;

/// One episode of an experiment. See the [example](experiment()).
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The number of the run, from 0; together with the seed it determines everything random in it.
    pub number: u64,
    /// What happened.
    pub episode: Episode,
    /// Model steps that the policy simulated to choose its actions.
    pub simulated_steps: u64,
}

/// A run that could not be played to its end. See the [example](experiment()).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("run {number}: {error}")]
pub struct RunError {
    /// The number of the run.
    pub number: u64,
    /// What went wrong.
    pub error: EpisodeError,
}

/// Plays the runs with these numbers, in parallel in rayon's current thread pool. Run `k` depends only on `(seed, k)` and
/// the policy, so an experiment can be split, resumed and repeated at will.
///
/// ```
/// use gumdp::{Mdp, Objective, Problem, Uniform, experiment};
/// let mdp = Mdp::sized(1, 1).start(0).transition(0, 0, [(0, 1.0)]).build()?;
/// let objective = Objective::linear(mdp.by_state(&[3.0])?)?;
/// let problem = Problem::new(mdp, objective, 0.9, 10)?;
/// let runs = experiment(&problem, || Uniform::new(&problem), 7, 0..16)?;
/// assert_eq!(runs.len(), 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Of the runs that could not be played to their end, the one with the lowest number.
pub fn experiment<P: Policy>(
    problem: &Problem,
    policy: impl Fn() -> P + Sync + Send,
    seed: u64,
    runs: Range<u64>,
) -> Result<Vec<Run>, RunError> {
    // One policy serves all runs of a piece of work, so that its memory is allocated once.
    let stop = Stop::current();
    let play = |policy: &mut P, number| stop.scope(|| run(problem, policy, seed, number));
    let played = runs.into_par_iter().map_init(policy, play);
    // All of them first: which of several failures is met first depends on the threads.
    played.collect::<Vec<_>>().into_iter().collect()
}

/// Plays one run of an experiment. See the [example](experiment()).
///
/// # Errors
/// If the run could not be played to its end.
pub fn run(problem: &Problem, policy: &mut impl Policy, seed: u64, number: u64) -> Result<Run, RunError> {
    let mut environment = rng::stream(seed, number, Purpose::Environment);
    let mut own = rng::stream(seed, number, Purpose::Policy);
    let before = policy.simulated_steps();
    let episode = play(problem, policy, &mut environment, &mut own).map_err(|error| RunError { number, error })?;
    Ok(Run { number, episode, simulated_steps: policy.simulated_steps() - before })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Mdp, Objective, OccupancyState};

    /// Fails in about one of 50 runs.
    struct Clumsy;

    impl Policy for Clumsy {
        fn act(&mut self, _: &OccupancyState, rng: &mut rng::Rng) -> Action {
            Action(u32::from(rng::below(rng, 100) == 0))
        }
    }

    #[test]
    fn the_first_failure_is_reported() {
        let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).build().unwrap();
        let problem = Problem::new(mdp, Objective::linear(vec![1.0]).unwrap(), 1.0, 2).unwrap();
        for seed in 0..20 {
            let first = (0..1000).find_map(|number| run(&problem, &mut Clumsy, seed, number).err()).unwrap();
            let error = experiment(&problem, || Clumsy, seed, 0..1000).unwrap_err();
            assert_eq!(error, first);
            assert!(error.to_string().starts_with(&format!("run {}: at time ", first.number)));
        }
    }
}
