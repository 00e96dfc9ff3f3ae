//! The lowest f(E d) over all policies: convex f over the polytope of expected occupancies of H steps.
//!
//! Frank–Wolfe steps with line search go far where f is smooth. Where it has kinks they stall; then tangents and policies found so far
//! play a matrix game: the best mixture of tangents is bounded by one backward induction, which is also the next policy, and the best
//! mixture of policies gives the next tangent. Whatever was found, only the value of the policy and the dual value of tangents are claimed.

use super::game::mixtures;
use crate::bound::{Affine, Visits, occupancy, tangent};
use crate::objective::Objective;
use crate::oracle::{Limits, OracleError, check_stop};
use crate::policy::Markov;
use crate::problem::Problem;
use crate::risk::Erm;

/// Frank–Wolfe steps, and those without progress after which f has a kink; rounds of the game.
const STEPS: usize = 500;
const STALLED: usize = 8;
const ROUNDS: usize = 200;
/// Tangents and policies of the last steps that the game begins with.
const KEPT: usize = 48;
/// The mean of all tangents so far is looked at so often.
const EVERY: usize = 16;
/// The wanted gap, as a part of the range of f.
const GAP: f64 = 1e-6;
/// Numbers that the policies of the game may take.
const MOST_NUMBERS: usize = 1 << 26;

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
    pub solves: u64,
}

/// Why f(E d) was not minimised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrialsError {
    /// Only a local minimum could be found.
    #[error("the objective is not known to be convex; f(E d) is minimised for convex objectives only")]
    NotConvex,
    /// A tangent, or the linear problem that it makes, is out of reach.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// Minimises f(E d) over all policies: the mean over infinitely many episodes, before f is taken. Its lowest value is that of a
/// policy of time and state; the gap between `low` and `value` is certified.
///
/// ```
/// use gumdp::oracle::Limits;
/// let problem = gumdp_files::tasks::get("msee").unwrap().problem;
/// let trials = gumdp::trials::solve(&problem, &Limits::default())?;
/// assert!(trials.low <= trials.value && trials.value - trials.low < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If f is not known to be convex, the model is too large, or it was stopped.
pub fn solve(problem: &Problem, limits: &Limits) -> Result<InfiniteTrials, TrialsError> {
    if !problem.objective().is_convex() {
        return Err(TrialsError::NotConvex);
    }
    let mut search = Search::new(problem, limits)?;
    search.walk()?;
    if !search.is_done() && search.best.len() * problem.mdp().pair_count() * ROUNDS <= MOST_NUMBERS {
        search.play()?;
    }
    let Search { best, value, low, solves, .. } = search;
    let policy = markov(problem, &best);
    Ok(InfiniteTrials { value, low: low.min(value), policy, occupancy: occupancy(problem, &best), solves })
}

struct Search<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    /// The visits of the best policy found, and its value.
    best: Visits,
    value: f64,
    low: f64,
    wanted: f64,
    solves: u64,
    tangents: Vec<Affine>,
    found: Vec<Visits>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, limits: &'a Limits) -> Result<Self, OracleError> {
        let bounds = problem.objective().bounds();
        let even = vec![1.0 / problem.mdp().pair_count() as f64; problem.mdp().pair_count()];
        let own = tangent_at(problem.objective(), &even)?;
        let (low, best) = own.lowest(problem, Erm::MEAN, limits)?;
        let value = problem.objective().value(&occupancy(problem, &best));
        if value.is_nan() {
            return Err(OracleError::NotFinite);
        }
        let range = bounds.high - bounds.low;
        let wanted = GAP * if range.is_finite() { range } else { value.abs() };
        let (low, found) = (low.max(bounds.low), vec![best.clone()]);
        Ok(Self { problem, limits, best, value, low, wanted, solves: 1, tangents: vec![own], found })
    }

    fn is_done(&self) -> bool {
        self.value - self.low <= self.wanted
    }

    /// The policy that is best for a tangent.
    fn lowest(&mut self, of: &Affine) -> Result<Visits, OracleError> {
        check_stop(&self.limits.stop)?;
        let (low, found) = of.lowest(self.problem, Erm::MEAN, self.limits)?;
        self.low = self.low.max(low);
        self.solves += 1;
        Ok(found)
    }

    /// Frank–Wolfe.
    fn walk(&mut self) -> Result<(), OracleError> {
        let (mut mean, mut stalled) = (self.tangents[0].clone(), 0);
        for step in 1..STEPS {
            if self.is_done() || stalled == STALLED {
                return Ok(());
            }
            let own = tangent_at(self.problem.objective(), &occupancy(self.problem, &self.best))?;
            let found = self.lowest(&own)?;
            mean.towards(&own, 2.0 / (step as f64 + 2.0));
            if step % EVERY == 0 {
                self.lowest(&mean)?;
            }
            let share = line_search(self.problem, &self.best, &found);
            let before = self.value;
            blend(&mut self.best, &found, share);
            self.value = self.problem.objective().value(&occupancy(self.problem, &self.best));
            stalled = if before - self.value <= self.wanted / STEPS as f64 { stalled + 1 } else { 0 };
            self.tangents.push(own);
            self.found.push(found);
            let kept = self.tangents.len().min(KEPT);
            self.tangents.drain(..self.tangents.len() - kept);
            self.found.drain(..self.found.len() - kept);
        }
        Ok(())
    }

    /// The matrix game of tangents and policies.
    fn play(&mut self) -> Result<(), OracleError> {
        self.found.push(self.best.clone());
        let mut occupancies: Vec<Vec<f64>> = self.found.iter().map(|found| occupancy(self.problem, found)).collect();
        for _ in 0..ROUNDS {
            let rows: Vec<Vec<f64>> =
                self.tangents.iter().map(|tangent| occupancies.iter().map(|d| tangent.at(d)).collect()).collect();
            let Some((of_tangents, of_policies)) = mixtures(&rows) else { return Ok(()) };
            let mut mixed = self.found[0].clone();
            mixed.iter_mut().flatten().for_each(|p| *p = 0.0);
            for (found, share) in self.found.iter().zip(&of_policies).filter(|(_, share)| **share > 0.0) {
                for (sum, p) in mixed.iter_mut().flatten().zip(found.iter().flatten()) {
                    *sum += share * p;
                }
            }
            let at = occupancy(self.problem, &mixed);
            let value = self.problem.objective().value(&at);
            if value < self.value {
                (self.value, self.best) = (value, mixed);
            }
            let next = self.lowest(&Affine::mixed(&self.tangents, &of_tangents))?;
            if self.is_done() {
                return Ok(());
            }
            self.tangents.push(tangent_at(self.problem.objective(), &at)?);
            occupancies.push(occupancy(self.problem, &next));
            self.found.push(next);
        }
        Ok(())
    }
}

fn tangent_at(objective: &Objective, at: &[f64]) -> Result<Affine, OracleError> {
    tangent(objective, at).ok_or(OracleError::NotFinite)
}

/// A step from some visits towards others.
fn blend(from: &mut Visits, to: &Visits, share: f64) {
    for (own, other) in from.iter_mut().zip(to) {
        own.iter_mut().zip(other).for_each(|(x, y)| *x += share * (y - *x));
    }
}

/// The step from one expected occupancy towards another where f, which is convex, is lowest.
fn line_search(problem: &Problem, from: &Visits, to: &Visits) -> f64 {
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
    let best = 0.5 * (low + high);
    // The ends themselves, which a search between them never reaches.
    [0.0, 1.0].into_iter().fold(best, |best, end| if value(end) <= value(best) { end } else { best })
}

/// The policy that visits pairs like this; where it never comes, the first action.
fn markov(problem: &Problem, visits: &Visits) -> Markov {
    let mdp = problem.mdp();
    let mut times = visits.clone();
    for pairs in &mut times {
        for state in mdp.states() {
            let own = &mut pairs[mdp.pairs(state).start as usize..mdp.pairs(state).end as usize];
            let sum: f64 = own.iter().sum();
            let shares = own.iter_mut().enumerate();
            shares.for_each(|(k, p)| *p = if sum > 0.0 { *p / sum } else { f64::from(u8::from(k == 0)) });
        }
    }
    Markov::stochastic(problem, times).expect("shares of a state's visits are probabilities")
}
