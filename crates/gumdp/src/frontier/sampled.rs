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
            let mut costs = Costs::new(&shown(risk)?, problem.objective().bounds());
            let mut tally = Tally::new(problem, marked);
            experiment.play(0..runs, |record| {
                costs.add(record.cost);
                tally.add(problem, &record);
            })?;
            Ok((costs, tally, agent.solution().is_some()))
        };
        let (costs, tally, solved) = match play() {
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
        let distribution = Distribution::of_costs(&costs).ok_or(RiskError::NoOutcomes)?;
        let measures = shown(risk)?.map(Statistic::Risk);
        let found = stats::measured(
            &distribution.outcomes().collect::<Vec<_>>(),
            &measures,
            Some((&costs, problem.objective().bounds(), spec.seed)),
        );
        let [mean, cvar95, (low, high)] = [0, 1, 2].map(|k: usize| (found[k].1.low, found[k].1.high));
        intervals.push(Intervals { mean, cvar95 });
        points.push(Point { risk, value: found[2].0, low, high, behaviour: number });
        behaviours.push(tally.behaviour(problem.mdp(), distribution));
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

/// What was visited in some runs, however many they are.
#[derive(Clone, Debug)]
pub struct Tally {
    runs: u64,
    /// How often each pair was visited.
    pub visits: Vec<u64>,
    occupancy: Vec<f64>,
    marked: Vec<Vec<bool>>,
    /// How many runs visited each marked set.
    met: Vec<u64>,
    /// How often each pair was the first.
    first: BTreeMap<u32, u64>,
}

impl Tally {
    /// Of no runs yet, with sets of pairs that are marked.
    #[must_use]
    pub fn new(problem: &Problem, marked: &[Vec<bool>]) -> Self {
        let pairs = problem.mdp().pair_count();
        Self {
            runs: 0,
            visits: vec![0; pairs],
            occupancy: vec![0.0; pairs],
            marked: marked.to_vec(),
            met: vec![0; marked.len()],
            first: BTreeMap::new(),
        }
    }

    /// Adds a run of the problem.
    pub fn add(&mut self, problem: &Problem, Record { path, .. }: &Record) {
        self.runs += 1;
        let visits = || path.iter().zip(problem.masses());
        for (met, set) in self.met.iter_mut().zip(&self.marked) {
            let meets = visits().any(|(&pair, &mass)| mass > 0.0 && set.get(pair as usize) == Some(&true));
            *met += u64::from(meets);
        }
        for (&pair, mass) in visits() {
            self.visits[pair as usize] += 1;
            self.occupancy[pair as usize] += mass;
        }
        if let Some(&pair) = path.first() {
            *self.first.entry(pair).or_default() += 1;
        }
    }

    /// The behaviour that was seen, with the distribution of its costs.
    #[must_use]
    pub fn behaviour(self, mdp: &Mdp, costs: Distribution) -> Behaviour {
        let runs = self.runs.max(1) as f64;
        let shares = |counts: Vec<u64>| counts.into_iter().map(|count| count as f64 / runs).collect();
        let occupancy = self.occupancy.into_iter().map(|mass| mass / runs).collect();
        let (visits, met) = (shares(self.visits), shares(self.met));
        Behaviour { costs, visits, occupancy, met, first: first_pairs(mdp, self.first) }
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
