//! `gumdp solve`: the exact optimum.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::Result;
use gumdp::Erm;
use gumdp::oracle::{self, Limits};
use serde::Serialize;

use super::{load, print_json, with_threads};
use crate::exact::unsolved;
use crate::number;
use crate::progress::Progress;

/// The exact optimum of a problem for one β.
#[derive(Serialize)]
struct Optimum<'a> {
    task: &'a str,
    #[serde(with = "crate::number")]
    beta: f64,
    erm: f64,
    mean: f64,
    method: String,
    states: u64,
    seconds: f64,
}

/// Prints the exact optimum.
pub fn solve(name: &str, beta: f64, max_states: u64, threads: Option<usize>, json: bool, quiet: bool) -> Result<()> {
    let task = load(name)?;
    let erm = Erm::new(beta)?;
    let progress = Progress::spinner("solving", quiet);
    let limits = Limits { max_states, ..Limits::default() };
    let started = Instant::now();
    let solution = with_threads(threads, || {
        Ok(oracle::optimum(&task.problem, erm, &limits).map_err(|error| unsolved(&task.name, &error))?)
    })?;
    let seconds = started.elapsed().as_secs_f64();
    drop(progress);
    let oracle::Solution { value: erm, mean, states, method, .. } = solution;
    if json {
        return print_json(&Optimum { task: &task.name, beta, erm, mean, method: method.to_string(), states, seconds });
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}, beta = {}", task.name, number::beta(beta))?;
    writeln!(out, "  optimal ERM  {erm:.12}")?;
    writeln!(out, "  mean cost    {mean:.12}")?;
    writeln!(out, "  by {method}: {states} states in {seconds:.3} s")?;
    Ok(())
}
