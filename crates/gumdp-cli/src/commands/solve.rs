//! `gumdp solve`: the exact optimum.

use std::io::{self, Write};

use anyhow::Result;
use gumdp::oracle::Limits;

use super::{load, print_json, with_threads};
use crate::exact::{Optimum, optimum};
use crate::number;
use crate::progress::Progress;

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
