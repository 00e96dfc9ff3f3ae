//! A frontier by playing, where a problem or the distributions of its costs are too large: every level with common random numbers.

use std::collections::BTreeMap;

use super::{Behaviour, Change, Frontier, Point, TAIL};
use crate::agent::{Agent, AgentError, Spec, Who};
use crate::experiment::{Experiment, ExperimentError, Record, Watch};
use crate::model::{Mdp, Pair};
use crate::oracle::{Distribution, OracleError};
use crate::problem::Problem;
use crate::risk::{Cvar, Erm, Risk, RiskError};
use crate::stats::{self, Costs, Interval, Statistic, paired_intervals};

/// The confidence of intervals that decide whether there is a change: three are looked at.
const DECIDING: f64 = 0.99;

/// How a frontier was sampled.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Sampled {
    /// Episodes at each level.
    pub runs: u64,
    /// Simulations per decision; `None` if the optimum played, which could be solved, while its distribution was too large.
    pub simulations: Option<u64>,
    /// Why it is not exact.
    pub because: String,
    /// One for each level.
    pub intervals: Vec<Intervals>,
}

/// 95 % intervals of what is known of a level by sampling, besides that of its risk.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Intervals {
    /// Of the mean.
    pub mean: (f64, f64),
    /// Of the mean of the worst 5 %.
    pub cvar95: (f64, f64),
}

/// Why nothing was sampled.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// There is nobody who plays.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A run could not be played.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// There are no costs.
    #[error(transparent)]
    Costs(#[from] RiskError),
}

impl SampleError {
    /// Whether it ended because it was asked to [stop](crate::Stop).
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Agent(error) => *error == AgentError::Oracle(OracleError::Stopped),
            Self::Experiment(error) => error.is_stopped(),
            Self::Costs(_) => false,
        }
    }
}

/// Plays at each level whom the spec says, for the measure of the level; [`Who::Auto`] solves again only if it could the first
/// time. If it is stopped, what is known of two levels or more is kept ([`Frontier::ended`]). Behaviours are those of the levels; there is a change
/// where the 99 % interval of the paired difference of mean, risk or worst 5 % to the level before excludes 0. `because` says
/// why the frontier is not [exact](super::exact()); `begin` is told of each level before it is played.
///
/// ```
/// use gumdp::oracle::OracleError;
/// use gumdp::{Budget, GuidedSettings, Risk, Spec, Who, frontier};
/// let problem = gumdp_files::tasks::get("rooms").unwrap().problem;
/// let who = Who::Guided(GuidedSettings::default());
/// let spec = Spec { budget: Some(Budget::simulations(50)), ..Spec::new(who, Risk::MEAN) };
/// let because = OracleError::TooLarge { reached: 0, projected: None, limit: 0 };
/// let levels = ["mean".parse()?, "erm:50".parse()?];
/// let found = frontier::sampled(&problem, &levels, &[], &spec, 40, &because, &(), |_| {})?;
/// assert!(found.points.iter().all(|point| point.low <= point.value && point.value <= point.high));
/// assert_eq!(found.sampled.unwrap().intervals.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If nobody can be made that plays, or a run could not be played.
#[expect(clippy::too_many_arguments, reason = "what, who, how long and who is told")]
pub fn sampled(
    problem: &Problem,
    risks: &[Risk],
    marked: &[Vec<bool>],
    spec: &Spec,
    runs: u64,
    because: &OracleError,
    watch: &dyn Watch,
    begin: impl Fn(Risk),
) -> Result<Frontier, SampleError> {
    let (mut points, mut behaviours, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut intervals, mut earlier, mut ended) = (Vec::new(), None::<Costs>, None);
    let (mut who, mut planned) = (spec.who.clone(), false);
    for (number, &risk) in risks.iter().enumerate() {
        begin(risk);
        let play = || -> Result<_, SampleError> {
            let agent = Agent::new(problem, &Spec { risk, who: who.clone(), ..spec.clone() })?;
            let stop = &spec.limits.stop;
            let experiment = Experiment { stop, watch, ..Experiment::new(problem, agent.policy(), spec.seed) };
            let mut played = Played::new(problem, &shown(risk)?, marked, runs);
            experiment.play(0..runs, |record| played.add(problem, marked, &record))?;
            Ok((played, agent.solution().is_some()))
        };
        let (played, solved) = match play() {
            Err(error) if number > 1 && error.is_stopped() => {
                ended = Some(OracleError::Stopped);
                break;
            }
            played => played?,
        };
        planned |= !solved;
        if let (Who::Auto(settings), false) = (&who, solved) {
            who = Who::Guided(settings.clone());
        }
        let costs = &played.costs;
        let distribution = Distribution::of_costs(costs).ok_or(RiskError::NoOutcomes)?;
        let measures = shown(risk)?.map(Statistic::Risk);
        let found = stats::measured(
            &distribution.outcomes().collect::<Vec<_>>(),
            &measures,
            Some((costs, problem.objective().bounds(), spec.seed)),
        );
        let [mean, cvar95, (low, high)] = [0, 1, 2].map(|k: usize| (found[k].1.low, found[k].1.high));
        intervals.push(Intervals { mean, cvar95 });
        points.push(Point { risk, value: found[2].0, low, high, behaviour: number });
        let Played { costs, visits, occupancy, met, first, .. } = played;
        let first = first_pairs(problem.mdp(), first);
        behaviours.push(Behaviour { costs: distribution, visits, occupancy, met, first });
        if let Some(earlier) = &earlier {
            let difference = |both: &[Vec<(f64, f64)>]| {
                let [old, new] = [0, 1].map(|k| measured(&both[k], risk));
                [0, 1, 2].map(|k| new[k] - old[k])
            };
            // Of many runs the first are drawn, which says less than all would.
            let both = [earlier, &costs].map(Costs::first);
            let differences = paired_intervals(&both, DECIDING, spec.seed, difference);
            if differences.iter().any(|&Interval { low, high }| low > 0.0 || high < 0.0) {
                changes.push(Change { before: number - 1, after: number, level: None, point: number });
            }
        }
        earlier = Some(costs);
    }
    let simulations = spec.budget.filter(|_| planned).and_then(|budget| budget.simulations);
    let sampled = Some(Sampled { runs, simulations, because: because.in_short(), intervals });
    Ok(Frontier { points, behaviours, changes, complete: true, ended, sampled })
}

/// What is shown of a level: mean, mean of the worst 5 %, and risk.
fn shown(risk: Risk) -> Result<[Risk; 3], RiskError> {
    Ok([Risk::MEAN, Cvar::new(TAIL)?.into(), risk])
}

/// What is kept of the episodes of a level.
struct Played {
    costs: Costs,
    visits: Vec<f64>,
    occupancy: Vec<f64>,
    /// The share of runs that visited each marked set.
    met: Vec<f64>,
    /// How often each pair was the first.
    first: BTreeMap<u32, u64>,
    runs: f64,
}

impl Played {
    fn new(problem: &Problem, risks: &[Risk], marked: &[Vec<bool>], runs: u64) -> Self {
        let none = vec![0.0; problem.mdp().pair_count()];
        let costs = Costs::new(risks, problem.objective().bounds());
        let (visits, met) = (none.clone(), vec![0.0; marked.len()]);
        Self { costs, visits, occupancy: none, met, first: BTreeMap::new(), runs: runs as f64 }
    }

    fn add(&mut self, problem: &Problem, marked: &[Vec<bool>], Record { path, cost, .. }: &Record) {
        self.costs.add(*cost);
        for (met, set) in self.met.iter_mut().zip(marked) {
            let meets = path
                .iter()
                .zip(problem.masses())
                .any(|(&pair, &mass)| mass > 0.0 && set.get(pair as usize) == Some(&true));
            *met += f64::from(u8::from(meets)) / self.runs;
        }
        for (&pair, mass) in path.iter().zip(problem.masses()) {
            self.visits[pair as usize] += 1.0 / self.runs;
            self.occupancy[pair as usize] += mass / self.runs;
        }
        if let Some(&pair) = path.first() {
            *self.first.entry(pair).or_default() += 1;
        }
    }
}

/// Mean, mean of the worst 5 %, and risk.
fn measured(costs: &[(f64, f64)], risk: Risk) -> [f64; 3] {
    let tail = Cvar::new(TAIL).and_then(|cvar| Risk::from(cvar).of_distribution(costs)).unwrap_or(f64::NAN);
    [Erm::MEAN.of_outcomes(costs.iter().copied()), tail, risk.of_distribution(costs).unwrap_or(f64::NAN)]
}

/// What is done first most often in each initial state that was met. Every level meets the same ones.
fn first_pairs(mdp: &Mdp, counts: BTreeMap<u32, u64>) -> Vec<Pair> {
    let mut often: Vec<(Pair, u64)> = Vec::new();
    for (pair, count) in counts.into_iter().map(|(pair, count)| (Pair::from(pair), count)) {
        match often.iter_mut().find(|(other, _)| mdp.state(*other) == mdp.state(pair)) {
            Some(known) if known.1 < count => *known = (pair, count),
            Some(_) => (),
            None => often.push((pair, count)),
        }
    }
    often.into_iter().map(|(pair, _)| pair).collect()
}
