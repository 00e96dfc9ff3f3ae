//! Exact optima, and what to say where there is none to be had.

use std::time::Instant;

use anyhow::Result;
use gumdp::oracle::{self, Limits, OracleError};
use gumdp::{Erm, Problem};
use serde::Serialize;

use crate::failure::BadInput;

/// The exact optimum of a problem for one β.
#[derive(Debug, Serialize)]
pub struct Optimum {
    /// The task.
    pub task: String,
    /// Attitude to risk.
    #[serde(with = "crate::number")]
    pub beta: f64,
    /// The lowest ERM that any policy has.
    pub erm: f64,
    /// The mean cost of the optimal policy.
    pub mean: f64,
    /// How it was computed.
    pub method: String,
    /// Number of states that were looked at.
    pub states: u64,
    /// Wall-clock time it took.
    pub seconds: f64,
}

/// Solves a problem: by backward induction if the objective is linear, else over its occupancy states.
pub fn optimum(name: &str, problem: &Problem, beta: f64, limits: &Limits) -> Result<Optimum> {
    let erm = Erm::new(beta)?;
    let started = Instant::now();
    let (value, mean, method, states) = if problem.objective().as_linear().is_some() {
        let solution = oracle::backward_induction(problem, erm).map_err(|error| unsolved(name, &error, None))?;
        let states = problem.horizon() as u64 * problem.mdp().state_count() as u64;
        (solution.value, solution.mean, "backward induction".to_owned(), states)
    } else {
        let solution =
            oracle::solve(problem, erm, limits).map_err(|error| unsolved(name, &error, Some("--max-states")))?;
        (solution.value, solution.mean, solution.method.to_string(), solution.states)
    };
    let seconds = started.elapsed().as_secs_f64();
    Ok(Optimum { task: name.to_owned(), beta, erm: value, mean, method, states, seconds })
}

/// Why a task cannot be solved exactly, with a way out: `limit` is how a person raises the limit, if it can be raised.
pub fn unsolved(task: &str, error: &OracleError, limit: Option<&str>) -> BadInput {
    let ways = match limit {
        Some(option) => format!("raise {option}, shorten the horizon, or plan instead: gumdp run {task}"),
        None => "shorten the horizon, or plan instead: --policy planner".to_owned(),
    };
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
