//! `gumdp solve`: the exact optimum.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::Result;
use gumdp::oracle::{self, Limits};
use gumdp::{Erm, Problem};
use serde::Serialize;

use super::{load, print_json, unsolved, with_threads};
use crate::number;
use crate::progress::Progress;

/// The exact optimum of a problem for one β.
#[derive(Debug, Serialize)]
pub struct Optimum {
    task: String,
    #[serde(with = "crate::number")]
    beta: f64,
    /// The lowest ERM that any policy has.
    pub erm: f64,
    /// The mean cost of the optimal policy.
    pub mean: f64,
    /// How it was computed.
    pub method: String,
    /// Number of states that were looked at.
    pub states: u64,
    seconds: f64,
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

/// Prints the exact optimum.
pub fn solve(name: &str, beta: f64, max_states: u64, threads: Option<usize>, json: bool, quiet: bool) -> Result<()> {
    let task = load(name)?;
    let progress = Progress::spinner("solving", quiet);
    let limits = Limits { max_states, ..Limits::default() };
    let found = with_threads(threads, || optimum(&task.name, &task.problem, beta, &limits))?;
    drop(progress);
    if json {
        return print_json(&found);
    }
    let mut out = io::stdout().lock();
    let Optimum { task, beta, erm, mean, method, states, seconds } = found;
    writeln!(out, "{task}, beta = {}", number::beta(beta))?;
    writeln!(out, "  optimal ERM  {erm:.12}")?;
    writeln!(out, "  mean cost    {mean:.12}")?;
    writeln!(out, "  by {method}: {states} states in {seconds:.3} s")?;
    Ok(())
}
