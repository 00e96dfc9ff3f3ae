//! `gumdp solve`: the exact optimum.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use gumdp::oracle::{self, Limits, Solution};
use gumdp::{Erm, Task};
use serde::Serialize;

use super::{load, print_json, with_threads};
use crate::args::SolveArgs;
use crate::exact::unsolved;
use crate::number;
use crate::progress::Progress;
use crate::saved_policy;

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

/// Prints the exact optimum, and saves the policy that attains it if that is wanted.
pub fn solve(args: &SolveArgs, quiet: bool) -> Result<()> {
    let SolveArgs { beta, max_states, .. } = *args;
    let task = load(&args.task)?;
    let erm = Erm::new(beta)?;
    let progress = Progress::spinner("solving", quiet);
    let limits = Limits { max_states, ..Limits::default() };
    let started = Instant::now();
    let solution = with_threads(args.threads, || {
        Ok(oracle::optimum(&task.problem, erm, &limits).map_err(|error| unsolved(&task.name, &error))?)
    })?;
    let seconds = started.elapsed().as_secs_f64();
    drop(progress);
    if let Some(path) = &args.save {
        save(path, &task, beta, &solution, quiet)?;
    }
    let oracle::Solution { value: erm, mean, states, method, .. } = solution;
    if args.json {
        return print_json(&Optimum { task: &task.name, beta, erm, mean, method: method.to_string(), states, seconds });
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}, beta = {}", task.name, number::beta(beta))?;
    writeln!(out, "  optimal ERM  {erm:.12}")?;
    writeln!(out, "  mean cost    {mean:.12}")?;
    writeln!(out, "  by {method}: {states} states in {seconds:.3} s")?;
    Ok(())
}

/// Saves an optimal policy and says so.
pub fn save(path: &Path, task: &Task, beta: f64, solution: &Solution, quiet: bool) -> Result<()> {
    let progress = Progress::spinner("saving", quiet);
    saved_policy::save_solution(path, task, beta, solution)?;
    drop(progress);
    if !quiet {
        eprintln!("the optimal policy is in {}", path.display());
    }
    Ok(())
}
