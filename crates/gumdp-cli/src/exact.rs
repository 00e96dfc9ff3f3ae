//! Exact optima, and what to say where there is none to be had.

use gumdp::oracle::{self, Limits, OracleError, Solution};
use gumdp::{Erm, Problem};

use crate::failure::BadInput;

/// Exact solutions of one problem. Each β is solved once, whoever asks; the last solution is kept with its policy, of the
/// others the optimum, since policies may be large.
#[derive(Debug)]
pub struct Solver {
    problem: Problem,
    limits: Limits,
    optima: Vec<(f64, f64)>,
    last: Option<(f64, Solution)>,
    /// What is too large for one β is too large for all.
    refused: Option<OracleError>,
}

impl Solver {
    /// Has solved nothing yet.
    pub fn new(problem: &Problem, limits: Limits) -> Self {
        Self { problem: problem.clone(), limits, optima: Vec::new(), last: None, refused: None }
    }

    /// The solution for this attitude to risk.
    pub fn solve(&mut self, erm: Erm) -> Result<Solution, OracleError> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        if let Some((_, solution)) = self.last.as_ref().filter(|(beta, _)| *beta == erm.beta()) {
            return Ok(solution.clone());
        }
        self.last = None;
        match oracle::optimum(&self.problem, erm, &self.limits) {
            Ok(solution) => {
                self.optima.push((erm.beta(), solution.value));
                self.last = Some((erm.beta(), solution.clone()));
                Ok(solution)
            }
            Err(error) => {
                self.refused = Some(error.clone());
                Err(error)
            }
        }
    }

    /// The lowest possible risk, if it can be computed.
    pub fn optimum(&mut self, erm: Erm) -> Option<f64> {
        let known = self.optima.iter().find(|(beta, _)| *beta == erm.beta()).map(|&(_, value)| value);
        known.or_else(|| self.solve(erm).ok().map(|solution| solution.value))
    }
}

/// Why a task cannot be solved exactly, with a way out.
pub fn unsolved(task: &str, error: &OracleError) -> BadInput {
    let ways = format!("raise --max-states, shorten the horizon, or plan instead: gumdp run {task} --policy planner");
    let all = |reached: u64, projected: Option<f64>| match projected {
        Some(states) => format!("about {states:.1e} occupancy states"),
        None => format!("more than {reached} occupancy states"),
    };
    match *error {
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
    }
}
