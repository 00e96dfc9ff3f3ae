//! Exact optima, and what to say where there is none to be had.

use gumdp::bound::{LowerBound, Method, relaxed_bound};
use gumdp::oracle::{self, Limits, OracleError, Solution};
use gumdp::{Problem, Risk};
use serde::{Deserialize, Serialize};

use crate::failure::BadInput;
use crate::number::short;

/// A value and where it certainly lies: both ends are the value if it is exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certain {
    /// The value.
    pub value: f64,
    /// It is not lower.
    #[serde(serialize_with = "crate::number::serialize")]
    pub low: f64,
    /// It is not higher.
    #[serde(serialize_with = "crate::number::serialize")]
    pub high: f64,
}

impl From<f64> for Certain {
    fn from(value: f64) -> Self {
        Self { value, low: value, high: value }
    }
}

impl From<&Solution> for Certain {
    fn from(solution: &Solution) -> Self {
        Self { value: solution.high, low: solution.low, high: solution.high }
    }
}

/// Exact solutions of one problem. Each measure is solved once, whoever asks; the last solution is kept with its policy, of the
/// others the optimum, since policies may be large.
#[derive(Debug)]
pub struct Solver {
    problem: Problem,
    limits: Limits,
    optima: Vec<(Risk, Certain)>,
    last: Option<(Risk, Solution)>,
    bounds: Vec<(Risk, Option<LowerBound>)>,
    /// What is too large for one measure is too large for all, but for a linear objective, where some are easier.
    refused: Option<OracleError>,
}

impl Solver {
    /// Has solved nothing yet.
    pub fn new(problem: &Problem, limits: Limits) -> Self {
        Self { problem: problem.clone(), limits, optima: Vec::new(), last: None, bounds: Vec::new(), refused: None }
    }

    /// The solution for this attitude to risk.
    pub fn solve(&mut self, risk: impl Into<Risk>) -> Result<Solution, OracleError> {
        let risk = risk.into();
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        if let Some((_, solution)) = self.last.as_ref().filter(|(known, _)| *known == risk) {
            return Ok(solution.clone());
        }
        self.last = None;
        match oracle::solve(&self.problem, risk, &self.limits) {
            Ok(solution) => {
                self.optima.push((risk, Certain::from(&solution)));
                self.last = Some((risk, solution.clone()));
                Ok(solution)
            }
            Err(error) => {
                if self.problem.objective().as_linear().is_none() {
                    self.refused = Some(error.clone());
                }
                Err(error)
            }
        }
    }

    /// The lowest possible risk, if it can be computed.
    pub fn optimum(&mut self, risk: impl Into<Risk>) -> Option<Certain> {
        let risk = risk.into();
        let known = self.optima.iter().find(|(known, _)| *known == risk).map(|&(_, value)| value);
        known.or_else(|| self.solve(risk).ok().as_ref().map(Certain::from))
    }

    /// A proven lower bound on the lowest possible risk: the optimum if it was computed, else what is cheap and says more than the
    /// range of the objective.
    pub fn bound(&mut self, risk: Risk) -> Option<LowerBound> {
        if let Some((_, optimum)) = self.optima.iter().find(|(known, _)| *known == risk) {
            return Some(LowerBound { value: optimum.low, method: Method::Exact });
        }
        if let Some((_, bound)) = self.bounds.iter().find(|(known, _)| *known == risk) {
            return *bound;
        }
        let limits = Limits { stop: self.limits.stop.clone(), ..Limits::QUICK };
        let found = relaxed_bound(&self.problem, risk, &limits).ok().filter(|bound| bound.method != Method::Range);
        self.bounds.push((risk, found));
        found
    }
}

/// How far a risk that is at most `high` can be from the optimum, which is not known but bounded, and in percent. Nothing where the
/// costs of few runs are below what is possible in the long run.
pub fn above(high: f64, bound: Option<LowerBound>) -> Option<String> {
    let bound = bound.filter(|bound| bound.method != Method::Exact)?;
    let (above, percent) = bound.above(high)?;
    let percent = percent.map_or_else(String::new, |percent| format!(" ({percent:.0} %)"));
    Some(format!("{}{percent}", short(above)))
}

/// The same as a line of text.
pub fn above_the_optimum(high: f64, bound: Option<LowerBound>) -> Option<String> {
    let above = above(high, bound)?;
    let (amount, percent) = above.split_once(' ').map_or((&above[..], String::new()), |(a, p)| (a, format!(" {p}")));
    Some(format!("at most {amount} above the optimum{percent}"))
}

/// Why a task cannot be solved exactly, with a way out.
pub fn unsolved(task: &str, error: &OracleError) -> anyhow::Error {
    let raise = if error.wants_states() { "raise --max-states, " } else { "" };
    let ways = format!("{raise}shorten the horizon, or plan instead: gumdp run with --policy planner");
    let all = |reached: u64, projected: Option<f64>| match projected {
        Some(states) => format!("about {states:.1e} occupancy states"),
        None => format!("more than {reached} occupancy states"),
    };
    let bad = match *error {
        // The formula is explained where its file is known.
        OracleError::NotFinite => return error.clone().into(),
        OracleError::TooLarge { reached, projected, limit } => BadInput::new(format!(
            "{task} is too large to be solved exactly: {}, at most {limit} are allowed; {ways}",
            all(reached, projected)
        )),
        OracleError::Memory { reached, projected, limit, .. } => BadInput::new(format!(
            "{task} is too large to be solved exactly: {} need more than {} MiB of memory; {ways}",
            all(reached, projected),
            limit >> 20
        )),
        OracleError::NotLinear => {
            BadInput::new(format!("backward induction needs a linear objective; that of {task} is not"))
                .hint("--policy exact solves any objective whose problem is small enough")
        }
        ref other => BadInput::new(other),
    };
    bad.into()
}
