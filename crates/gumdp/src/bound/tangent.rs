//! Convex f lies above its tangents: f(d) ≥ f(y) + ∇f(y)·(d − y) for every occupancy y.
//!
//! Risks are monotone, so the lowest risk of the right side, a linear objective, is a lower bound; averages of tangents are as good.
//! Frank–Wolfe steps look for the y whose tangent says most. At β = 0 this is the dual of min f(E d) over the polytope of expected
//! occupancies, which is also solved here for its own sake.

use super::rounded_down;
use crate::model::Pair;
use crate::objective::Objective;
use crate::oracle::{self, Limits, OracleError, check_stop};
use crate::policy::{Markov, Policy};
use crate::problem::{OccupancyState, Problem};
use crate::risk::Erm;

/// Steps towards the best tangent, and how often the mean of those so far is looked at; the problem of infinitely many trials ends
/// earlier if its gap is small.
const STEPS: usize = 100;
const EVERY: usize = 10;
const TRIAL_STEPS: usize = 2000;
/// Slopes are taken this far inside the simplex, where they are finite.
const INSIDE: f64 = 1e-6;
/// The wanted gap of infinitely many trials, as a part of the range of f.
const GAP: f64 = 1e-6;

/// The lowest f(E d): what the mean over infinitely many episodes can cost.
#[derive(Clone, Debug)]
pub struct InfiniteTrials {
    /// f of the expected occupancy of the policy.
    pub value: f64,
    /// No policy has less.
    pub low: f64,
    /// A policy that depends on time and state, by chance.
    pub policy: Markov,
    /// Its expected occupancy, pair by pair.
    pub occupancy: Vec<f64>,
    /// Linear problems that were solved.
    pub steps: usize,
}

/// The probability of each pair at each time.
type Visits = Vec<Vec<f64>>;

/// c·d + constant.
#[derive(Clone)]
struct Affine {
    costs: Vec<f64>,
    constant: f64,
}

/// The tangent of f at an occupancy, moved a little inside.
fn tangent(objective: &Objective, at: &[f64]) -> Option<Affine> {
    let even = 1.0 / at.len() as f64;
    let inside: Vec<f64> = at.iter().map(|x| (1.0 - INSIDE) * x + INSIDE * even).collect();
    let costs = objective.gradient(&inside)?;
    let constant = objective.value(&inside) - costs.iter().zip(&inside).map(|(c, x)| c * x).sum::<f64>();
    (constant.is_finite() && costs.iter().all(|cost| cost.is_finite())).then_some(Affine { costs, constant })
}

impl Affine {
    /// Its lowest risk, and how often each pair is visited at each time by the policy that has it; `None` if the model is too large.
    fn lowest(&self, problem: &Problem, erm: Erm, limits: &Limits) -> Result<Option<(f64, Visits)>, OracleError> {
        let Some(linear) = Objective::linear(self.costs.clone()).ok().and_then(|f| problem.with_objective(f).ok())
        else {
            return Ok(None);
        };
        let solution = match oracle::solve(&linear, erm, &Limits { stop: limits.stop.clone(), ..Limits::default() }) {
            Ok(solution) => solution,
            Err(OracleError::Stopped) => return Err(OracleError::Stopped),
            Err(_) => return Ok(None),
        };
        let size = self.costs.iter().fold(self.constant.abs(), |size, cost| size.max(cost.abs()));
        let visits = visits(problem, &solution.policy());
        Ok(Some((rounded_down(problem, self.constant + solution.low, size), visits)))
    }

    /// A step towards another.
    fn towards(&mut self, other: &Self, step: f64) {
        self.constant += step * (other.constant - self.constant);
        self.costs.iter_mut().zip(&other.costs).for_each(|(own, other)| *own += step * (other - *own));
    }
}

/// The probability of each pair at each time under a policy that looks at time and state only.
fn visits(problem: &Problem, policy: &dyn Policy) -> Vec<Vec<f64>> {
    let mdp = problem.mdp();
    let mut now = vec![0.0; mdp.state_count()];
    mdp.initial().iter().for_each(|&(state, p)| now[state.index()] += p);
    let mut at = problem.start(mdp.initial()[0].0);
    let mut chosen = Vec::new();
    let mut all = Vec::with_capacity(problem.horizon());
    for time in 0..problem.horizon() {
        let mut pairs = vec![0.0; mdp.pair_count()];
        let mut next = vec![0.0; mdp.state_count()];
        for state in mdp.states().filter(|state| now[state.index()] > 0.0) {
            at = OccupancyState { time, state, features: at.features };
            policy.probabilities(&at, &mut chosen);
            for (pair, p) in mdp.pairs(state).map(Pair).zip(&chosen).filter(|(_, p)| **p > 0.0) {
                let p = p * now[state.index()];
                pairs[pair.index()] += p;
                mdp.successors(pair).for_each(|(to, q)| next[to.index()] += p * q);
            }
        }
        now = next;
        all.push(pairs);
    }
    all
}

/// The occupancy of these visits.
fn occupancy(problem: &Problem, visits: &[Vec<f64>]) -> Vec<f64> {
    let mut occupancy = vec![0.0; problem.mdp().pair_count()];
    for (pairs, mass) in visits.iter().zip(problem.masses()) {
        occupancy.iter_mut().zip(pairs).for_each(|(sum, p)| *sum += mass * p);
    }
    occupancy
}

/// The best bound by tangents, and an occupancy near the lowest of f; `None` if f is not known to be convex, or the model is too large.
pub(super) fn bound(problem: &Problem, erm: Erm, limits: &Limits) -> Result<Option<(f64, Vec<f64>)>, OracleError> {
    let objective = problem.objective();
    let looks = ((STEPS + STEPS / EVERY) * problem.horizon()).saturating_mul(problem.mdp().transition_count()) as u64;
    if !objective.is_convex() || looks > limits.relaxed_transitions {
        return Ok(None);
    }
    let mut at = vec![1.0 / problem.mdp().pair_count() as f64; problem.mdp().pair_count()];
    let mut mean: Option<Affine> = None;
    let mut best: Option<f64> = None;
    for step in 0..STEPS {
        check_stop(&limits.stop)?;
        let Some(own) = tangent(objective, &at) else { break };
        let share = 2.0 / (step as f64 + 2.0);
        match &mut mean {
            Some(mean) => mean.towards(&own, share),
            None => mean = Some(own.clone()),
        }
        let Some((value, visits)) = own.lowest(problem, erm, limits)? else { break };
        let averaged = mean
            .as_ref()
            .filter(|_| step % EVERY == EVERY - 1)
            .map(|mean| mean.lowest(problem, erm, limits))
            .transpose()?;
        let highest = averaged.flatten().map_or(value, |(averaged, _)| value.max(averaged));
        best = Some(best.map_or(highest, |best| best.max(highest)));
        let found = occupancy(problem, &visits);
        at.iter_mut().zip(&found).for_each(|(x, y)| *x += share * (y - *x));
        if objective.as_linear().is_some() {
            break;
        }
    }
    Ok(best.map(|best| (best, at)))
}

/// Minimises f(E d) over all policies: the mean over infinitely many episodes, before f is taken.
///
/// ```
/// use gumdp::bound::infinite_trials;
/// use gumdp::oracle::Limits;
/// let problem = gumdp_files::tasks::get("msee").unwrap().problem;
/// let trials = infinite_trials(&problem, &Limits::default())?.expect("an entropy is convex");
/// assert!(trials.low <= trials.value && trials.value - trials.low < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `None` if f is not known to be convex: a local minimum would be all that is found.
///
/// # Errors
/// If it was stopped.
pub fn infinite_trials(problem: &Problem, limits: &Limits) -> Result<Option<InfiniteTrials>, OracleError> {
    let objective = problem.objective();
    if !objective.is_convex() {
        return Ok(None);
    }
    let bounds = objective.bounds();
    let even = vec![1.0 / problem.mdp().pair_count() as f64; problem.mdp().pair_count()];
    let (mut visits, mut low, mut steps): (Vec<Vec<f64>>, f64, usize) = (Vec::new(), bounds.low, 0);
    let mut mean: Option<Affine> = None;
    loop {
        check_stop(&limits.stop)?;
        let at = if visits.is_empty() { even.clone() } else { occupancy(problem, &visits) };
        let value = objective.value(&at);
        let range = bounds.high - bounds.low;
        let wanted = GAP * if range.is_finite() { range } else { value.abs() };
        if !visits.is_empty() && (value - low <= wanted || steps >= TRIAL_STEPS) {
            let policy = markov(problem, &visits);
            return Ok(Some(InfiniteTrials { value, low: low.min(value), policy, occupancy: at, steps }));
        }
        let Some(own) = tangent(objective, &at) else { return Ok(None) };
        let Some((value, found)) = own.lowest(problem, Erm::MEAN, limits)? else { return Ok(None) };
        low = low.max(value);
        steps += 1;
        let share = 2.0 / (steps as f64 + 1.0);
        match &mut mean {
            Some(mean) => mean.towards(&own, share),
            None => mean = Some(own),
        }
        if let Some(mean) = mean.as_ref().filter(|_| steps % 16 == 0) {
            low = mean.lowest(problem, Erm::MEAN, limits)?.map_or(low, |(value, _)| low.max(value));
        }
        if visits.is_empty() {
            visits = found;
            continue;
        }
        let share = line_search(problem, &visits, &found);
        for (own, other) in visits.iter_mut().zip(&found) {
            own.iter_mut().zip(other).for_each(|(x, y)| *x += share * (y - *x));
        }
    }
}

/// The step from one expected occupancy towards another where f, which is convex, is lowest.
fn line_search(problem: &Problem, from: &[Vec<f64>], to: &[Vec<f64>]) -> f64 {
    let (from, to) = (occupancy(problem, from), occupancy(problem, to));
    let value = |share: f64| {
        let between: Vec<f64> = from.iter().zip(&to).map(|(x, y)| x + share * (y - x)).collect();
        problem.objective().value(&between)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if value(a) <= value(b) { high = b } else { low = a }
    }
    0.5 * (low + high)
}

/// The policy that visits pairs like this; where it never comes, any action.
fn markov(problem: &Problem, visits: &[Vec<f64>]) -> Markov {
    let mdp = problem.mdp();
    let mut times = visits.to_vec();
    for pairs in &mut times {
        for state in mdp.states() {
            let own = mdp.pairs(state).start as usize..mdp.pairs(state).end as usize;
            let sum: f64 = pairs[own.clone()].iter().sum();
            let count = own.len() as f64;
            pairs[own].iter_mut().for_each(|p| *p = if sum > 0.0 { *p / sum } else { 1.0 / count });
        }
    }
    Markov::stochastic(problem, times).expect("shares of a state's visits are probabilities")
}
