//! The lowest possible value of any risk measure, as a certified interval.
//!
//! `CVaR`, `EVaR` and their like are minima over one outer variable ([`super::outer`]). The best policy found gives an upper
//! bound; intervals of the outer variable are excluded, or halved and looked at again, until no value of it can beat that
//! bound by more than the tolerance. Found policies are improved by taking the best outer variable for their law in turn.
//! Not here: entropic risks, whose optimum needs no search ([`super::optimum()`]).

use super::decide::{ExactDecision, decide_for};
use super::distribution::distribution;
use super::occupancy_dp::{Limits, solve_aim};
use super::optima::Passes;
use super::optimal::{OptimalPolicy, Solution, optimum};
use super::outer::{Interval, Outer};
use super::{OracleError, check_bounded};
use crate::policy::ExplicitPolicy;
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Erm, Risk};

/// How wide the interval may be.
const WIDTH: f64 = 1e-6;
/// The part of it that is excluded, and the part that is claimed; the rest is for rounding.
const EXCLUDED: f64 = 0.9;
const CLAIMED: f64 = 0.95;
/// Turns of taking the best policy for an outer variable and the best outer variable for the policy.
const TURNS: usize = 20;
/// Solves after which the search gives up: hours, and no problem is known to need them.
const MOST_SOLVES: u64 = 1 << 18;

/// The variable over which a risk measure is a minimum, at its best value. See the [example](minimise()).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OuterVariable {
    /// λ of `CVaR` and of mixtures with the mean: the threshold beyond which costs are in the tail.
    Lambda(f64),
    /// β of `EVaR`; infinite if the worst case counts alone.
    Beta(f64),
}

impl std::fmt::Display for OuterVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lambda(lambda) => write!(f, "lambda = {lambda:.6}"),
            Self::Beta(beta) => write!(f, "beta = {beta:.6}"),
        }
    }
}

/// The lowest possible risk of a problem and a policy that attains it. See the [example](minimise()).
#[derive(Clone, Debug)]
pub struct RiskSolution {
    /// No policy has a lower risk, but for rounding.
    pub low: f64,
    /// The risk of [`RiskSolution::policy`].
    pub high: f64,
    /// The outer variable that goes with it; `None` for an entropic risk measure.
    pub outer: Option<OuterVariable>,
    /// The expected cost of the policy.
    pub mean: f64,
    /// Number of occupancy states expanded in all solves; for backward induction, states of the model times the horizon.
    pub states: u64,
    /// Number of problems solved inside.
    pub solves: u64,
    /// The measure as a minimum over the outer variable, and its value.
    family: Option<(Outer, f64)>,
    /// The entropic risk measure if there is no such variable.
    erm: Erm,
    solution: Solution,
}

impl RiskSolution {
    /// A policy whose risk is `high`: deterministic. Cloning it is cheap. See the [example](minimise()).
    #[must_use]
    pub fn policy(&self) -> OptimalPolicy {
        self.solution.policy()
    }

    /// The inner problem that the policy solves: its value is that of the inner aim, not the risk. See the
    /// [example](minimise()).
    #[must_use]
    pub fn inner(&self) -> &Solution {
        &self.solution
    }

    /// One decision with its reasons, as [`super::decide()`] gives it, with the outer variable fixed at its best value. What an
    /// action costs is the risk of the whole episode as this variable sees it.
    ///
    /// # Errors
    /// Those of [`super::decide()`].
    ///
    /// # Panics
    /// If the episode is over (there is no decision at the horizon) or `at` is a state of another problem.
    pub fn decide(&self, at: &OccupancyState, limits: &Limits) -> Result<ExactDecision, OracleError> {
        let policy = self.policy();
        let Some((outer, y)) = self.family else {
            return decide_for(policy.problem(), self.erm.into(), at, limits);
        };
        let mut decision = decide_for(policy.problem(), outer.aim(y), at, limits)?;
        for reason in &mut decision.reasons {
            reason.erm = outer.risk(y, reason.erm);
        }
        Ok(decision)
    }
}

/// The lowest risk over all policies, history-dependent and stochastic ones included, to within 1e-6 (or rounding, if that
/// is larger), in parallel in rayon's current thread pool; the same bits for any number of threads.
///
/// ```
/// use gumdp::oracle::{Limits, OuterVariable, distribution, minimise};
/// use gumdp::{Risk, tasks};
/// let problem = tasks::get("rooms").unwrap().problem;
/// let risk: Risk = "cvar:0.95".parse()?;
/// let solution = minimise(&problem, risk, &Limits::QUICK)?;
/// assert!(solution.low <= solution.high && solution.high - solution.low <= 1e-6);
/// assert!(matches!(solution.outer, Some(OuterVariable::Lambda(_))));
/// let law = distribution(&problem, &solution.policy(), &Limits::QUICK)?;
/// assert!((law.risk(risk) - solution.high).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`super::optimum()`]; for `CVaR` and mixtures the occupancy MDP must fit the limits even if the objective is
/// linear.
pub fn minimise(problem: &Problem, risk: Risk, limits: &Limits) -> Result<RiskSolution, OracleError> {
    check_bounded(problem)?;
    if let Some(erm) = risk.as_erm() {
        let solution = optimum(problem, erm, limits)?;
        let Solution { value, mean, states, .. } = solution;
        return Ok(RiskSolution {
            low: value,
            high: value,
            outer: None,
            mean,
            states,
            solves: 1,
            family: None,
            erm,
            solution,
        });
    }
    let mut passes = Passes::new(problem, limits)?;
    let outer = match risk {
        Risk::Evar(measure) => Outer::Beta { measure, linear_range: passes.linear_range()? },
        Risk::Cvar(cvar) => Outer::Lambda(cvar.into()),
        Risk::MeanCvar(mixture) => Outer::Lambda(mixture),
        Risk::Erm(_) => unreachable!("solved above"),
    };
    let extremes = passes.solve(&[Erm::BEST.into(), Erm::MEAN.into(), Erm::WORST.into()])?;
    let [lowest, mean, minimax] = [0, 1, 2].map(|k| extremes[k].value);
    let starts = match outer {
        Outer::Lambda(_) => [lowest, minimax],
        Outer::Beta { .. } => [0.0, f64::INFINITY],
    };
    let mut search = Search { problem, risk, outer, limits, best: Best::of_start(starts[0]), passes };
    for start in starts {
        search.improve(start)?;
    }
    let width = tolerance(problem, &outer);
    // No risk measure here is below the mean.
    if search.best.risk - mean > EXCLUDED * width {
        let open = search.intervals(lowest, mean);
        let finished = search.exclude(open, EXCLUDED * width)?;
        search.best.low = if finished { search.best.risk - CLAIMED * width } else { mean };
    }
    let low = search.best.low.max(mean).min(search.best.risk);
    search.solution(low)
}

/// How wide the interval may be, at least as wide as rounding.
fn tolerance(problem: &Problem, outer: &Outer) -> f64 {
    let bounds = problem.objective().bounds();
    let steepness = if let Outer::Lambda(measure) = outer { 1.0 / (1.0 - measure.level()) } else { 1.0 };
    let rounding = 64.0 * f64::EPSILON * bounds.low.abs().max(bounds.high.abs()) * steepness.max(10.0);
    WIDTH.max(rounding)
}

/// The best policy so far.
struct Best {
    risk: f64,
    low: f64,
    outer: f64,
    solution: Option<Solution>,
}

impl Best {
    fn of_start(outer: f64) -> Self {
        Self { risk: f64::INFINITY, low: f64::NEG_INFINITY, outer, solution: None }
    }
}

struct Search<'a> {
    problem: &'a Problem,
    risk: Risk,
    outer: Outer,
    limits: &'a Limits,
    passes: Passes<'a>,
    best: Best,
}

impl Search<'_> {
    /// All values of the outer variable that can matter.
    fn intervals(&self, lowest: f64, mean: f64) -> Vec<Interval> {
        match &self.outer {
            Outer::Lambda(measure) => {
                // The measure is at least (1 − w)·mean + w·λ.
                let highest = (self.best.risk - (1.0 - measure.weight()) * mean) / measure.weight();
                vec![(lowest, highest.min(self.problem.objective().bounds().high).max(lowest))]
            }
            Outer::Beta { .. } => {
                let usual = 1.0 / (self.best.risk - mean);
                let first = if self.best.outer > 0.0 && self.best.outer.is_finite() { self.best.outer } else { usual };
                vec![(0.0, first), (first, f64::INFINITY)]
            }
        }
    }

    /// Takes the best policy for an outer variable, the best outer variable for its law, and so on.
    fn improve(&mut self, mut y: f64) -> Result<(), OracleError> {
        for _ in 0..TURNS {
            let solution = match self.outer {
                Outer::Lambda(_) => solve_aim(self.problem, self.outer.aim(y), self.limits)?,
                Outer::Beta { .. } => optimum(self.problem, self.outer.aim(y).erm, self.limits)?,
            };
            self.passes.solves += 1;
            self.passes.states += solution.states;
            let (risk, next) = match distribution(self.problem, &solution.policy(), self.limits) {
                Ok(law) => (law.risk(self.risk), self.outer.best(&law.tail())),
                // The law may be larger than the solution, if that is found by backward induction.
                Err(OracleError::TooLarge { .. } | OracleError::Memory { .. }) => {
                    (self.outer.risk(y, solution.value), y)
                }
                Err(other) => return Err(other),
            };
            let better = risk < self.best.risk;
            if better || self.best.solution.is_none() {
                self.best = Best { risk, outer: next, solution: Some(solution), low: self.best.low };
            }
            if !better || next == y {
                break;
            }
            y = next;
        }
        Ok(())
    }

    /// Excludes all intervals, or improves the best policy until they can be. Returns whether it came to an end.
    fn exclude(&mut self, mut open: Vec<Interval>, margin: f64) -> Result<bool, OracleError> {
        while !open.is_empty() {
            if self.passes.solves > MOST_SOLVES {
                return Ok(false);
            }
            let threshold = self.best.risk - margin;
            let aims: Vec<_> = open.iter().flat_map(|&interval| self.outer.exclusion(interval, threshold)).collect();
            let solved = self.passes.solve(&aims)?;
            let outer = self.outer;
            let excluded = |(interval, ends): (&Interval, _)| outer.is_excluded(*interval, ends, threshold);
            let left = open.iter().zip(solved.chunks(2)).filter(|&pair| !excluded(pair)).map(|(&interval, _)| interval);
            // An interval without inside has been solved at both of its ends, and that is all there is.
            let split = left.filter_map(|interval| Some((interval, outer.split(interval, self.best.outer)?)));
            let split: Vec<(Interval, f64)> = split.collect();
            let candidates: Vec<f64> = split.iter().map(|&(_, y)| y).filter(|&y| y != self.best.outer).collect();
            self.look_at(&candidates, margin)?;
            open = split.into_iter().flat_map(|((low, high), y)| [(low, y), (y, high)]).collect();
        }
        Ok(true)
    }

    /// Improves the best policy if one of these values of the outer variable is better.
    fn look_at(&mut self, candidates: &[f64], margin: f64) -> Result<(), OracleError> {
        let aims: Vec<_> = candidates.iter().map(|&y| self.outer.aim(y)).collect();
        let solved = self.passes.solve(&aims)?;
        let risks = candidates.iter().zip(&solved).map(|(&y, optimum)| (self.outer.risk(y, optimum.value), y));
        let found = risks.min_by(|(a, _), (b, _)| a.total_cmp(b));
        // A smaller gain is not worth a policy; the interval that holds it is excluded or split again.
        if let Some((_, y)) = found.filter(|(risk, _)| *risk < self.best.risk - 0.01 * margin) {
            self.improve(y)?;
        }
        Ok(())
    }

    fn solution(self, low: f64) -> Result<RiskSolution, OracleError> {
        let Best { risk: high, outer, solution, .. } = self.best;
        let Passes { states, solves, .. } = self.passes;
        let variable = match self.outer {
            Outer::Lambda(_) => OuterVariable::Lambda(outer),
            Outer::Beta { .. } => OuterVariable::Beta(outer),
        };
        // There is one from the first start on.
        let solution = solution.ok_or(OracleError::Overflow)?;
        let (family, erm, mean) = (Some((self.outer, outer)), Erm::MEAN, solution.mean);
        Ok(RiskSolution { low, high, outer: Some(variable), mean, states, solves, family, erm, solution })
    }
}
