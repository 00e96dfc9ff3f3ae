//! Many episodes of one policy: seeded, in parallel, the same bits for any number of threads.
//!
//! [`experiment()`] is all that most need. An [`Experiment`] also tells how far it is, can be stopped, keeps its runs in a
//! [`Journal`] from which it is resumed, and plays until a risk is known as precisely as wanted ([`Precision`]).

mod journal;
mod lines;
mod precision;
mod records;

pub use journal::Journal;
pub use lines::{CheckedLines, UNCHECKED, checksum};
pub use precision::Precision;
pub use records::{Held, Record, Records};

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
use crate::stats::Costs;
use crate::stop::Stop;

/// Runs are played so many at a time: no more steps than this, between these numbers of runs.
const BATCH_STEPS: u64 = 1 << 20;
const BATCH_RUNS: Range<u64> = 64..4096;

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
    /// The journal was changed by others since it was opened.
    #[error("cannot read {}", path.display())]
    Unread {
        /// Its file.
        path: PathBuf,
        /// What is wrong.
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
/// use gumdp::stats::Costs;
/// use gumdp::{Experiment, Precision, Risk, Uniform};
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let policy = Uniform::new(&problem);
/// let experiment = Experiment::new(&problem, &policy, 7);
/// let mut costs = Costs::new(&[Risk::MEAN], problem.objective().bounds());
/// experiment.play(0..20, |record| costs.add(record.cost))?;
/// let precision = Precision { half_width: 0.01, most_runs: 10_000 };
/// experiment.play_until(&mut costs, &[Risk::MEAN], &precision, |_| {})?;
/// assert!(costs.count() > 20);
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

    /// Gives the runs with these numbers to `take`, in order; those that are not in the journal are played, some thousand at a time,
    /// so that memory does not grow with their number.
    ///
    /// # Errors
    /// If a run could not be played to its end or kept, or the journal not read.
    pub fn play(&self, runs: Range<u64>, mut take: impl FnMut(Record)) -> Result<(), ExperimentError> {
        let unread = |source| {
            let path = self.journal.map(Journal::path).unwrap_or_default();
            ExperimentError::Unread { path, source }
        };
        let mut kept = self.journal.map(Journal::records).transpose().map_err(unread)?;
        let batch = (BATCH_STEPS / self.problem.horizon().max(1) as u64).clamp(BATCH_RUNS.start, BATCH_RUNS.end);
        let (mut from, mut prepared) = (runs.start, None);
        while from < runs.end {
            let to = from.saturating_add(batch).min(runs.end);
            let missing = (from..to).filter(|&run| self.journal.is_none_or(|journal| !journal.holds(run)));
            let missing: Vec<u64> = missing.collect();
            self.watch.finished(to - from - missing.len() as u64);
            let finish = |run, cpu| {
                let mut record = Record::new(&run, cpu);
                self.journal.map_or(Ok(()), |journal| journal.append(&record))?;
                self.watch.finished(1);
                if !self.paths {
                    record.path = Vec::new();
                }
                Ok::<_, ExperimentError>(record)
            };
            let played = if missing.is_empty() {
                Vec::new()
            } else {
                self.play_runs(&**prepared.get_or_insert_with(|| self.prepared()), missing, finish)?
            };
            let mut played = played.into_iter().peekable();
            for run in from..to {
                let record = match (played.next_if(|record| record.run == run), &mut kept) {
                    (None, Some(kept)) => kept.run(run).map_err(unread)?,
                    (played, _) => played,
                };
                record.into_iter().for_each(&mut take);
            }
            from = to;
        }
        self.journal.map_or(Ok(()), Journal::sync)
    }

    /// Plays the runs with these numbers and hands each over as soon as it is finished, by any thread.
    ///
    /// # Errors
    /// If a run could not be played to its end, or was not taken.
    pub fn play_each(
        &self,
        numbers: Vec<u64>,
        take: impl Fn(&Record) -> Result<(), ExperimentError> + Sync,
    ) -> Result<(), ExperimentError> {
        let done = self.play_runs(&*self.prepared(), numbers, |run, cpu| {
            take(&Record::new(&run, cpu))?;
            self.watch.finished(1);
            Ok::<_, ExperimentError>(())
        });
        done.map(drop)
    }

    /// Goes on until the measures are known as precisely as wanted, or there are as many runs as allowed. `costs` are those of the
    /// runs from the first on; those of more are added to them.
    ///
    /// # Errors
    /// Those of [`Experiment::play`].
    pub fn play_until(
        &self,
        costs: &mut Costs,
        risks: &[Risk],
        precision: &Precision,
        mut take: impl FnMut(Record),
    ) -> Result<(), ExperimentError> {
        loop {
            let runs = costs.count();
            let known = precision::Known::of(costs, risks, self.problem.objective().bounds(), self.seed);
            let Some(next) = precision.more_runs(runs, &known) else { return Ok(()) };
            self.watch.goes_on(known.half_width, runs, next);
            self.play(runs..next, |record| {
                costs.add(record.cost);
                take(record);
            })?;
        }
    }

    /// The policy, ready to play.
    fn prepared(&self) -> Box<dyn Policy> {
        let mut prepared = self.policy.boxed();
        prepared.set_stop(self.stop);
        // What fails here fails again at the first decision, where it is reported.
        let _ = prepared.prepare();
        prepared
    }

    /// The loop: plays the runs with these numbers and returns what `finish` makes of them, in order. Once a run has failed,
    /// only those before it are played to their end, so that the first failure is reported, whatever the threads.
    fn play_runs<T: Send, E: From<RunError> + Send>(
        &self,
        prepared: &dyn Policy,
        numbers: Vec<u64>,
        finish: impl Fn(Run, Duration) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let failed = AtomicU64::new(u64::MAX);
        // One policy serves all runs of a piece of work, so that its memory is allocated once.
        let fresh = || prepared.boxed();
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
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    experiment.play_runs(&*experiment.prepared(), runs.collect(), |run, _| Ok(run))
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
