//! Many episodes of one policy: seeded, in parallel, the same bits for any number of threads.
//!
//! [`experiment()`] is all that most need. An [`Experiment`] also tells how far it is, can be stopped, keeps its runs in a
//! [`Journal`] from which it is resumed, and plays until a risk is known as precisely as wanted ([`Precision`]).

mod journal;
mod precision;

pub use journal::{Journal, Record, UNCHECKED, checksum};
pub use precision::Precision;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rayon::prelude::*;

use crate::clock::{Moment, ThreadMoment};
use crate::episode::{Episode, EpisodeError, play_watched};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::risk::Risk;
use crate::rng::{self, Purpose};
use crate::stop::Stop;

/// One episode of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The number of the run, from 0; together with the seed it determines everything random in it.
    pub number: u64,
    /// What happened.
    pub episode: Episode,
    /// Model steps that the policy simulated to choose its actions.
    pub simulated_steps: u64,
}

/// A run that could not be played to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("run {number}: {error}")]
pub struct RunError {
    /// The number of the run.
    pub number: u64,
    /// What went wrong.
    pub error: EpisodeError,
}

/// Why an experiment did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// Of the runs that could not be played to their end, the one with the lowest number.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The journal cannot be written.
    #[error("cannot write {}", path.display())]
    Journal {
        /// Its file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl ExperimentError {
    /// Whether it ended because it was asked to [stop](Stop).
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Run(RunError { error: EpisodeError::Stopped { .. }, .. }))
    }
}

/// Is told how an experiment goes, by any of its threads.
pub trait Watch: Sync {
    /// So many decisions of a run are made, of so many, since it began.
    fn decided(&self, _made: usize, _of: usize, _took: Duration) {}

    /// So many more runs are finished.
    fn finished(&self, _runs: u64) {}

    /// A risk is known to this half-width after so many runs, which is not enough; there will be more of them.
    fn goes_on(&self, _half_width: f64, _runs: u64, _next: u64) {}
}

/// Nobody watches.
impl Watch for () {}

/// What is played, and who is told.
///
/// ```
/// use gumdp::{Experiment, Precision, Uniform};
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let policy = Uniform::new(&problem);
/// let experiment = Experiment::new(&problem, &policy, 7);
/// let some = experiment.play(Vec::new(), 20)?;
/// let precision = Precision { half_width: 0.01, most_runs: 10_000 };
/// let more = experiment.play_until(some, &["mean".parse()?], &precision)?;
/// assert!(more.len() > 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Experiment<'a> {
    /// What is played.
    pub problem: &'a Problem,
    /// Who plays; each thread has a clone.
    pub policy: &'a dyn Policy,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Ends it early.
    pub stop: &'a Stop,
    /// Is told how it goes.
    pub watch: &'a dyn Watch,
    /// Where finished runs are kept, each as soon as it is finished; those that it holds are not played again.
    pub journal: Option<&'a Journal>,
    /// Whether paths are wanted; without a journal they need not be kept.
    pub paths: bool,
}

impl<'a> Experiment<'a> {
    /// Of which nobody hears before its end.
    #[must_use]
    pub fn new(problem: &'a Problem, policy: &'a dyn Policy, seed: u64) -> Self {
        Self { problem, policy, seed, stop: &Stop::NEVER, watch: &(), journal: None, paths: true }
    }

    /// The first `runs` runs, in order; those that are not among `known` nor in the journal are played.
    ///
    /// # Errors
    /// If a run could not be played to its end or kept.
    pub fn play(&self, known: Vec<Record>, runs: u64) -> Result<Vec<Record>, ExperimentError> {
        let mut records = known;
        let holds = |records: &[Record], run: &u64| records.binary_search_by_key(run, |record| record.run).is_ok();
        let by_run = |records: &mut Vec<Record>| records.sort_unstable_by_key(|record| record.run);
        by_run(&mut records);
        if let Some(journal) = self.journal {
            let more = journal.finished().range(..runs).filter(|(run, _)| !holds(&records, run));
            let more: Vec<Record> = more.map(|(_, record)| record.clone()).collect();
            self.watch.finished(more.len() as u64);
            records.extend(more);
            by_run(&mut records);
        }
        let missing = (0..runs).filter(|run| !holds(&records, run));
        let played = self.play_runs(missing.collect(), |run, cpu| {
            let mut record = Record::new(&run, cpu);
            self.journal.map_or(Ok(()), |journal| journal.append(&record))?;
            self.watch.finished(1);
            if !self.paths {
                record.path = Vec::new();
            }
            Ok::<_, ExperimentError>(record)
        })?;
        self.journal.map_or(Ok(()), Journal::sync)?;
        records.extend(played);
        by_run(&mut records);
        Ok(records)
    }

    /// Goes on until the measures are known as precisely as wanted, or there are as many runs as allowed.
    ///
    /// # Errors
    /// Those of [`Experiment::play`].
    pub fn play_until(
        &self,
        known: Vec<Record>,
        risks: &[Risk],
        precision: &Precision,
    ) -> Result<Vec<Record>, ExperimentError> {
        let mut records = known;
        loop {
            let costs: Vec<f64> = records.iter().map(|record| record.cost).collect();
            let known = precision::Known::of(&costs, risks, self.problem.objective().bounds(), self.seed);
            let Some(next) = precision.more_runs(costs.len() as u64, &known) else { return Ok(records) };
            self.watch.goes_on(known.half_width, costs.len() as u64, next);
            records = self.play(records, next)?;
        }
    }

    /// The loop: plays the runs with these numbers and returns what `finish` makes of them, in order. Once a run has failed,
    /// only those before it are played to their end, so that the first failure is reported, whatever the threads.
    fn play_runs<T: Send, E: From<RunError> + Send>(
        &self,
        numbers: Vec<u64>,
        finish: impl Fn(Run, Duration) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let failed = AtomicU64::new(u64::MAX);
        let mut prepared = self.policy.boxed();
        prepared.set_stop(self.stop);
        if !numbers.is_empty() {
            // What fails here fails again at the first decision, where it is reported.
            let _ = prepared.prepare();
        }
        // One policy serves all runs of a piece of work, so that its memory is allocated once.
        let fresh = || prepared.clone();
        let play = |own: &mut Box<dyn Policy>, number: u64| {
            if failed.load(Ordering::Relaxed) < number {
                return None;
            }
            if self.stop.is_requested() {
                return Some(Err(E::from(RunError { number, error: EpisodeError::Stopped { time: 0 } })));
            }
            let started = ThreadMoment::now();
            let played = play_run(self.problem, &mut **own, self.seed, number, self.watch);
            let finished = played.map_err(E::from).and_then(|run| finish(run, started.elapsed()));
            if finished.is_err() {
                failed.fetch_min(number, Ordering::Relaxed);
            }
            Some(finished)
        };
        let played: Vec<_> = numbers.into_par_iter().map_init(fresh, play).collect();
        played.into_iter().flatten().collect()
    }
}

/// Plays the runs with these numbers, in parallel in rayon's current thread pool. Run `k` depends only on `(seed, k)` and
/// the policy, so an experiment can be split, resumed and repeated at will.
///
/// ```
/// use gumdp::{Mdp, Objective, Problem, Uniform, experiment};
/// let mdp = Mdp::sized(1, 1).start(0).transition(0, 0, [(0, 1.0)]).build()?;
/// let objective = Objective::linear(mdp.by_state(&[3.0])?)?;
/// let problem = Problem::new(mdp, objective, 0.9, 10)?;
/// let runs = experiment(&problem, &Uniform::new(&problem), 7, 0..16)?;
/// assert_eq!(runs.len(), 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Of the runs that could not be played to their end, the one with the lowest number.
pub fn experiment(problem: &Problem, policy: &dyn Policy, seed: u64, runs: Range<u64>) -> Result<Vec<Run>, RunError> {
    stoppable(problem, policy, seed, runs, &Stop::NEVER)
}

/// The same with an end from outside.
pub(crate) fn stoppable(
    problem: &Problem,
    policy: &dyn Policy,
    seed: u64,
    runs: Range<u64>,
    stop: &Stop,
) -> Result<Vec<Run>, RunError> {
    let experiment = Experiment { stop, ..Experiment::new(problem, policy, seed) };
    experiment.play_runs(runs.collect(), |run, _| Ok(run))
}

/// Plays one run of an experiment.
///
/// # Errors
/// If the run could not be played to its end.
pub fn run(problem: &Problem, policy: &mut dyn Policy, seed: u64, number: u64) -> Result<Run, RunError> {
    play_run(problem, policy, seed, number, &())
}

fn play_run(
    problem: &Problem,
    policy: &mut dyn Policy,
    seed: u64,
    number: u64,
    watch: &dyn Watch,
) -> Result<Run, RunError> {
    let mut environment = rng::stream(seed, number, Purpose::Environment);
    let mut own = rng::stream(seed, number, Purpose::Policy);
    let (before, began) = (policy.simulated_steps(), Moment::now());
    let start = problem.start(problem.mdp().sample_initial(&mut environment));
    let decided = &mut |made| watch.decided(made, problem.horizon(), began.elapsed());
    let next = &mut |pair| problem.mdp().sample(pair, &mut environment);
    let episode = play_watched(problem, policy, start, next, &mut own, decided);
    let episode = episode.map_err(|error| RunError { number, error })?;
    Ok(Run { number, episode, simulated_steps: policy.simulated_steps() - before })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Mdp, Objective, OccupancyState, PolicyFailure};

    /// Fails in about one of 50 runs.
    #[derive(Clone)]
    struct Clumsy;

    impl Policy for Clumsy {
        fn act(&mut self, _: &OccupancyState, rng: &mut rng::Rng) -> Result<Action, PolicyFailure> {
            Ok(Action(u32::from(rng::below(rng, 100) == 0)))
        }
    }

    #[test]
    fn the_first_failure_is_reported() {
        let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).build().unwrap();
        let problem = Problem::new(mdp, Objective::linear(vec![1.0]).unwrap(), 1.0, 2).unwrap();
        for seed in 0..20 {
            let first = (0..1000).find_map(|number| run(&problem, &mut Clumsy, seed, number).err()).unwrap();
            let error = experiment(&problem, &Clumsy, seed, 0..1000).unwrap_err();
            assert_eq!(error, first);
            assert!(error.to_string().starts_with(&format!("run {}: at time ", first.number)));
        }
    }
}
