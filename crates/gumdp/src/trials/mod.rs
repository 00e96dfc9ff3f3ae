//! Several trials: f of the average occupancy of K episodes, instead of f of each.
//!
//! With one trial the mean cost is E f(d); with K it is E f((d₁ + … + d_K)/K) for independent episodes; with infinitely many it is
//! f(E d), the classical general-utility problem (Zhang et al., *Variational policy gradient*, `NeurIPS` 2020; for what lies between,
//! Mutti et al., *Challenging common assumptions in convex reinforcement learning*, `NeurIPS` 2022). For convex f more trials cost
//! less; for linear f all cost the same. There is no risk measure here: more trials are less risk.
//!
//! [`evaluate`] computes these means for a policy, [`solve`] finds the lowest f(E d).

mod features;
mod game;
mod solve;

pub use solve::{InfiniteTrials, TrialsError, solve};

use std::fmt;
use std::str::FromStr;

use self::features::Features;
use crate::experiment::{Experiment, RunError, stoppable};
use crate::model::Pair;
use crate::oracle::{Limits, OracleError, check_policy, occupancy_by_state};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::risk::Erm;
use crate::rng::{self, Purpose};
use crate::stats::{Interval, Statistic, intervals, quantile};

/// The most trials that are accepted.
const MOST_TRIALS: u64 = 1_000_000_000;
/// Groups of episodes that an interval needs, if nothing else is said.
const USUAL_GROUPS: u64 = 20;
/// Episodes that are in memory at a time; pieces that the episodes of infinitely many trials are resampled in, and resamples.
const CHUNK: u64 = 4096;
const PIECES: u64 = 200;
const RESAMPLES: usize = 1000;

/// How many episodes' occupancies are averaged before f is taken.
///
/// ```
/// use gumdp::trials::Trials;
/// assert_eq!("inf".parse(), Ok(Trials::Infinite));
/// let refused = "0".parse::<Trials>().unwrap_err();
/// assert_eq!(refused, "it must be a whole number in [1, 1000000000], or inf");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trials {
    /// So many, at least one.
    Finite(u64),
    /// f(E d).
    Infinite,
}

impl Trials {
    /// As many episodes as usual, but enough for an interval.
    #[must_use]
    pub fn episodes(self, usual: u64) -> u64 {
        match self {
            Self::Finite(count) => usual.max(USUAL_GROUPS.saturating_mul(count)),
            Self::Infinite => usual.max(USUAL_GROUPS),
        }
    }
}

impl FromStr for Trials {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.trim(), text.trim().parse::<u64>()) {
            ("inf", _) => Ok(Self::Infinite),
            (_, Ok(count @ 1..=MOST_TRIALS)) => Ok(Self::Finite(count)),
            _ => Err(format!("it must be a whole number in [1, {MOST_TRIALS}], or inf")),
        }
    }
}

impl fmt::Display for Trials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite(count) => count.fmt(f),
            Self::Infinite => f.write_str("inf"),
        }
    }
}

/// The mean of f over the average occupancy of some trials.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialsValue {
    /// How many.
    pub trials: Trials,
    /// The mean.
    pub value: f64,
    /// Its 95 % interval if it is sampled, else the mean itself.
    pub low: f64,
    /// The other end.
    pub high: f64,
    /// How it was sampled; `None` if it is exact but for rounding.
    pub sampled: Option<Sampled>,
}

/// How a mean was sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Episodes that were played.
    pub episodes: u64,
    /// Why it is not exact.
    pub because: String,
}

/// Why a policy was not evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// The policy does not fit the problem, f has no value, or it was stopped.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// An episode could not be played.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Too few episodes for an interval.
    #[error("{episodes} episodes are fewer than two groups of {trials} trials; at least {} are needed", 2 * trials)]
    TooFew {
        /// Those that are wanted.
        episodes: u64,
        /// Those of a group.
        trials: u64,
    },
}

/// The mean of f over the average occupancy of so many independent episodes of a policy: exact if the distribution of the average occupancy
/// fits the limits (for infinitely many trials the expected one is enough), else from so many episodes of the experiment, with a
/// bootstrap interval ([`Trials::episodes`] has enough).
///
/// ```
/// use gumdp::oracle::Limits;
/// use gumdp::trials::{Trials, evaluate};
/// use gumdp::{Experiment, Uniform};
/// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
/// let uniform = Uniform::new(&problem);
/// let of = |trials| evaluate(&Experiment::new(&problem, &uniform, 0), trials, 1000, &Limits::QUICK);
/// let (one, all) = (of(Trials::Finite(1))?, of(Trials::Infinite)?);
/// assert!(all.sampled.is_none() && all.value < one.value);
/// # Ok::<(), gumdp::trials::EvaluationError>(())
/// ```
///
/// # Errors
/// If the policy does not fit the problem, an episode cannot be played, f has no value, or it was stopped.
pub fn evaluate(
    experiment: &Experiment<'_>,
    trials: Trials,
    episodes: u64,
    limits: &Limits,
) -> Result<TrialsValue, EvaluationError> {
    match exact(experiment.problem, experiment.policy, trials, limits) {
        Ok(value) if value.is_nan() => Err(OracleError::NotFinite.into()),
        Ok(value) => Ok(TrialsValue { trials, value, low: value, high: value, sampled: None }),
        Err(OracleError::NoProbabilities) => {
            sampled(experiment, trials, episodes, "a planner can only be played".to_owned())
        }
        Err(error) if error.is_limit() => {
            sampled(experiment, trials, episodes, format!("the distribution of its occupancy is {}", error.in_short()))
        }
        Err(error) => Err(error.into()),
    }
}

fn exact(problem: &Problem, policy: &dyn Policy, trials: Trials, limits: &Limits) -> Result<f64, OracleError> {
    let is_linear = problem.objective().as_linear().is_some();
    if (trials == Trials::Infinite || is_linear) && policy.is_markov() {
        check_policy(problem, policy)?;
        return Ok(problem.objective().value(&occupancy_by_state(problem, policy)));
    }
    let features = Features::of(problem, policy, limits)?;
    match trials {
        Trials::Infinite => Ok(problem.objective().value_of_features(&features.mean())),
        Trials::Finite(_) if is_linear => Ok(problem.objective().value_of_features(&features.mean())),
        Trials::Finite(count) => {
            let mean = features.of_sum(count, limits)?.expected(|features| {
                for x in features.iter_mut() {
                    *x /= count as f64;
                }
                problem.objective().value_of_features(features)
            });
            Ok(mean)
        }
    }
}

/// The features of episodes, summed in groups of so many: from the first to the last.
fn sums(experiment: &Experiment<'_>, groups: u64, each: u64) -> Result<Vec<Vec<f64>>, EvaluationError> {
    let Experiment { problem, seed, stop, .. } = *experiment;
    let mut policy = experiment.policy.boxed();
    policy.set_stop(stop);
    // What fails here fails again at the first decision, where it is reported.
    let _ = policy.prepare();
    let mut sums = vec![vec![0.0; problem.objective().feature_count()]; groups as usize];
    let mut features = sums[0].clone();
    let episodes = groups * each;
    for first in (0..episodes).step_by(CHUNK as usize) {
        let last = (first + CHUNK).min(episodes);
        for run in stoppable(problem, &*policy, seed, first..last, stop)? {
            features.fill(0.0);
            let path = run.episode.path.iter().zip(problem.masses());
            path.for_each(|(&Pair(pair), &mass)| problem.objective().add(&mut features, pair as usize, mass));
            let sum = &mut sums[(run.number / each) as usize];
            sum.iter_mut().zip(&features).for_each(|(sum, x)| *sum += x);
        }
        experiment.watch.finished(last - first);
    }
    Ok(sums)
}

fn sampled(
    experiment: &Experiment<'_>,
    trials: Trials,
    episodes: u64,
    because: String,
) -> Result<TrialsValue, EvaluationError> {
    let objective = experiment.problem.objective();
    let (groups, each) = match trials {
        Trials::Finite(count) => {
            if episodes / count < 2 {
                return Err(EvaluationError::TooFew { episodes, trials: count });
            }
            (episodes / count, count)
        }
        Trials::Infinite => (episodes.min(PIECES), (episodes / PIECES).max(1)),
    };
    let sums = sums(experiment, groups, each)?;
    let value_of = |sum: &[f64], count: f64| {
        let value = objective.value_of_features(&sum.iter().map(|x| x / count).collect::<Vec<f64>>());
        if value.is_finite() { Ok(value) } else { Err(OracleError::NotFinite) }
    };
    let (value, Interval { low, high }) = if trials == Trials::Infinite {
        let mut rng = rng::stream(experiment.seed, 0, Purpose::Bootstrap);
        let mut all = vec![0.0; sums[0].len()];
        let mut mean_of = |mut draw: Box<dyn FnMut(usize) -> usize + '_>| {
            all.fill(0.0);
            for k in 0..sums.len() {
                all.iter_mut().zip(&sums[draw(k)]).for_each(|(all, x)| *all += x);
            }
            value_of(&all, (groups * each) as f64)
        };
        let value = mean_of(Box::new(|k| k))?;
        let draws = (0..RESAMPLES).map(|_| mean_of(Box::new(|_| rng::below(&mut rng, sums.len() as u32) as usize)));
        let mut draws = draws.collect::<Result<Vec<f64>, _>>()?;
        draws.sort_unstable_by(f64::total_cmp);
        (value, Interval { low: quantile(&draws, 0.025), high: quantile(&draws, 0.975) })
    } else {
        let values = sums.iter().map(|sum| value_of(sum, each as f64)).collect::<Result<Vec<f64>, _>>()?;
        let mean = Statistic::Risk(Erm::MEAN.into());
        let (interval, _) = intervals(&values, &[mean], objective.bounds(), experiment.seed)[0];
        (Erm::MEAN.of_samples(&values), interval)
    };
    Ok(TrialsValue { trials, value, low, high, sampled: Some(Sampled { episodes: groups * each, because }) })
}
