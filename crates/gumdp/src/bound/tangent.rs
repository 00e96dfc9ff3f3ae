//! Convex f lies above its tangents: f(d) ≥ f(y) + ∇f(y)·(d − y) for every occupancy y.
//!
//! Risks are monotone, so the lowest risk of the right side, a linear objective, is a lower bound; averages of tangents are as good.
//! Frank–Wolfe steps look for the y whose tangent says most. At β = 0 this is the dual of min f(E d) over the polytope of expected
//! occupancies ([`crate::trials`]).

use super::rounded_down;
use crate::objective::Objective;
use crate::oracle::{self, Limits, OracleError, Strategy, check_stop, visits_by_state};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::risk::Erm;

/// Steps towards the best tangent, and how often the mean of those so far is looked at.
const STEPS: usize = 100;
const EVERY: usize = 10;
/// Slopes that are infinite are taken this far inside the simplex, where they are finite.
const INSIDE: f64 = 1e-6;

/// The probability of each pair at each time.
pub(crate) type Visits = Vec<Vec<f64>>;

/// c·d + constant.
#[derive(Clone)]
pub(crate) struct Affine {
    costs: Vec<f64>,
    constant: f64,
}

/// The tangent of f at an occupancy, moved a little inside where a slope is infinite; `None` if it still is.
pub(crate) fn tangent(objective: &Objective, at: &[f64]) -> Option<Affine> {
    let even = 1.0 / at.len() as f64;
    [0.0, INSIDE].into_iter().find_map(|share| {
        let inside: Vec<f64> = at.iter().map(|x| (1.0 - share) * x + share * even).collect();
        let costs = objective.gradient(&inside)?;
        let constant = objective.value(&inside) - costs.iter().zip(&inside).map(|(c, x)| c * x).sum::<f64>();
        (constant.is_finite() && costs.iter().all(|cost| cost.is_finite())).then_some(Affine { costs, constant })
    })
}

impl Affine {
    /// Its lowest risk, and how often each pair is visited at each time by the policy that has it.
    pub(crate) fn lowest(&self, problem: &Problem, erm: Erm, limits: &Limits) -> Result<(f64, Visits), OracleError> {
        let linear = Objective::linear(self.costs.clone()).ok().and_then(|f| problem.with_objective(f).ok());
        let linear = linear.ok_or(OracleError::NotFinite)?;
        let limits = Limits { strategy: Strategy::ByState, stop: limits.stop.clone(), ..Limits::default() };
        let solution = oracle::solve(&linear, erm, &limits)?;
        let size = self.costs.iter().fold(self.constant.abs(), |size, cost| size.max(cost.abs()));
        let visits = visits(problem, &solution.policy());
        Ok((rounded_down(problem, self.constant + solution.low, size), visits))
    }

    /// Its value at an occupancy.
    pub(crate) fn at(&self, occupancy: &[f64]) -> f64 {
        self.constant + self.costs.iter().zip(occupancy).map(|(cost, x)| cost * x).sum::<f64>()
    }

    /// A mixture, of which at least one has a share.
    pub(crate) fn mixed(all: &[Self], shares: &[f64]) -> Self {
        let mut mixed = Self { costs: vec![0.0; all[0].costs.len()], constant: 0.0 };
        for (one, share) in all.iter().zip(shares) {
            mixed.constant += share * one.constant;
            mixed.costs.iter_mut().zip(&one.costs).for_each(|(sum, cost)| *sum += share * cost);
        }
        mixed
    }

    /// A step towards another.
    pub(crate) fn towards(&mut self, other: &Self, step: f64) {
        self.constant += step * (other.constant - self.constant);
        self.costs.iter_mut().zip(&other.costs).for_each(|(own, other)| *own += step * (other - *own));
    }
}

/// The probability of each pair at each time under a policy that looks at time and state only.
fn visits(problem: &Problem, policy: &dyn Policy) -> Visits {
    let mut all = vec![vec![0.0; problem.mdp().pair_count()]; problem.horizon()];
    visits_by_state(problem, policy, |time, pair, p| all[time][pair.index()] += p);
    all
}

/// The occupancy of these visits.
pub(crate) fn occupancy(problem: &Problem, visits: &[Vec<f64>]) -> Vec<f64> {
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
        let (value, visits) = match own.lowest(problem, erm, limits) {
            Err(OracleError::Stopped) => return Err(OracleError::Stopped),
            Err(_) => break,
            Ok(found) => found,
        };
        let averaged =
            mean.as_ref().filter(|_| step % EVERY == EVERY - 1).map(|mean| mean.lowest(problem, erm, limits));
        let highest = averaged.transpose()?.map_or(value, |(averaged, _)| value.max(averaged));
        best = Some(best.map_or(highest, |best| best.max(highest)));
        let found = occupancy(problem, &visits);
        at.iter_mut().zip(&found).for_each(|(x, y)| *x += share * (y - *x));
        if objective.as_linear().is_some() {
            break;
        }
    }
    Ok(best.map(|best| (best, at)))
}
