//! `gumdp bound`: a proven lower bound on the lowest risk.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use gumdp::bound::{LowerBound, Method, lower_bound};
use gumdp::oracle::Limits;
use serde::Serialize;

use super::{Run, load, print_json, use_threads};
use crate::args::{AttitudeArgs, quick_limits, threads, whole};
use crate::exact::unsolved;
use crate::number::{Attitude, long_below};
use crate::progress::Progress;

/// Prove a lower bound on the lowest risk, where the optimum may be out of reach.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp bound grid-msee --beta 1\n  gumdp bound mine.toml --risk cvar:0.9 --json\n\nMethods: exact (the problem was solved), visits (separable convex objectives), tangent (convex objectives), cells\n(objectives of few features), range (no cost is lower than the objective can be)."
)]
pub struct BoundArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// The attitude to risk.
    #[command(flatten)]
    pub attitude: AttitudeArgs,
    /// Solve problems with up to this many occupancy states, instead of bounding them.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
    /// Use this many threads (default: all cores).
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// A JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// A bound in JSON.
#[derive(Serialize)]
struct Proven<'a> {
    task: &'a str,
    #[serde(flatten)]
    attitude: Attitude,
    /// No policy has a lower risk.
    #[serde(serialize_with = "crate::number::serialize")]
    bound: f64,
    method: String,
}

impl Run for BoundArgs {
    fn run(&self) -> Result<()> {
        use_threads(self.threads)?;
        let task = load(&self.task)?;
        let risk = self.attitude.risk(&task)?;
        let progress = Progress::spinner("proving");
        let limits = Limits { relaxed_transitions: u64::MAX, ..quick_limits(self.max_states) };
        let found = lower_bound(&task.problem, risk, &limits).map_err(|error| unsolved(&task.name, &error))?;
        drop(progress);
        let LowerBound { value, method } = found;
        if self.json {
            let (attitude, method) = (risk.into(), method.to_string());
            return print_json(&Proven { task: &task.name, attitude, bound: value, method });
        }
        let mut out = crate::talk::stdout();
        writeln!(out, "{}, {}", task.name, self.attitude.naming(&task).label(risk))?;
        // Rounded down: the last digit must be proven, too.
        writeln!(out, "  no policy has a risk below {}", long_below(value))?;
        let because = match method {
            Method::Exact => "exact: the problem was solved, and this is the optimum",
            Method::Visits => "visits: tangents of each cell, each visit charged by the convex remainder",
            Method::Tangent => "tangent: a convex objective lies above its tangents",
            Method::Cells => {
                "cells: a lattice of features, on each cell an affine function that nothing in it is below"
            }
            Method::Range => "range: no cost is lower than the objective can be",
        };
        writeln!(out, "  by {because}")?;
        Ok(())
    }
}
