//! Exact optima, and what to say where there is none to be had.

use gumdp::oracle::{self, Limits, OracleError, Solution};
use gumdp::{Problem, Risk};
use serde::{Deserialize, Serialize};

use crate::failure::BadInput;

/// A value and where it certainly lies: both ends are the value if it is exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certain {
    /// The value.
    pub value: f64,
    /// It is not lower.
    pub low: f64,
    /// It is not higher.
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
    /// What is too large for one measure is too large for all, but for a linear objective, where some are easier.
    refused: Option<OracleError>,
}

impl Solver {
    /// Has solved nothing yet.
    pub fn new(problem: &Problem, limits: Limits) -> Self {
        Self { problem: problem.clone(), limits, optima: Vec::new(), last: None, refused: None }
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
}

/// Why a task cannot be solved exactly, with a way out.
pub fn unsolved(task: &str, error: &OracleError) -> anyhow::Error {
    let ways = "raise --max-states, shorten the horizon, or plan instead: gumdp run with --policy planner";
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
