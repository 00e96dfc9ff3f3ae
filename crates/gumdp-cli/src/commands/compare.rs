//! `gumdp compare`: both planners, the exact optimum where there is one, and chance, side by side.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::OracleError;
use gumdp::tail_note;
use serde::Serialize;

use super::{Run, heading, keep, limits, load, naming, open_store, print_json, risks, with_threads};
use crate::args::{ExperimentArgs, PolicyName, whole};
use crate::cells::Cell;
use crate::exact::{Certain, Solver};
use crate::number::{Naming, counted, known, short};
use crate::player::Who;
use crate::progress::Progress;
use crate::results::{Experiment, Finished, Row};
use crate::side_by_side;
use gumdp_plot::Table;

/// Play the paper's planner, the default one, the optimum and chance side by side.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp compare msee\n  gumdp compare grid-mo --beta 1,8 --runs 1000 --out mo\n  gumdp compare mine.toml --beta 0,10 --simulations 2000 --json"
)]
pub struct CompareArgs {
    /// What is played.
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// Solve the problem exactly if it has at most this many occupancy states (default: 20000000, within 256 MiB).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, u64::MAX))]
    pub max_states: Option<u64>,
}

impl Run for CompareArgs {
    fn run(&self, quiet: bool) -> Result<()> {
        compare(self, quiet)
    }

    fn task(&self) -> Option<&str> {
        Some(&self.experiment.task)
    }
}

/// One row of `gumdp compare --json`.
#[derive(Serialize)]
struct ComparedRow {
    #[serde(flatten)]
    row: Row,
    optimum: Option<Certain>,
    /// The outer variable of the measure, if there is one and it was not fixed in an earlier process.
    outer: Option<String>,
}

/// Plays all policies with common random numbers, prints, writes and draws.
fn compare(args: &CompareArgs, quiet: bool) -> Result<()> {
    let started = Instant::now();
    let CompareArgs { experiment: args, max_states } = args;
    let task = load(&args.task)?;
    let risks = risks(args, &task);
    let store = open_store(args, &task, "-compare")?;
    let solving = Progress::spinner("solving", quiet);
    let mut solver = Solver::new(&task.problem, limits(PolicyName::Auto, *max_states));
    let refused = with_threads(args.luck.threads, || Ok(solver.solve(risks[0]).err()))?;
    if let Some(error @ OracleError::NotFinite) = refused {
        return Err(error.into());
    }
    let naming = naming(args, &task);
    drop(solving);
    let policies = [Who::Paper, Who::Default, Who::Exact, Who::Uniform];
    let cells: Vec<Cell> = policies
        .into_iter()
        .filter(|&who| who != Who::Exact || refused.is_none())
        .flat_map(|who| risks.iter().map(move |&risk| (who, risk)))
        .map(|(who, risk)| Cell::new(&task, risk, who, args.luck.seed).with(args.runs, args.simulations))
        .collect();
    let progress = Progress::new(cells.iter().map(|cell| cell.runs).sum(), quiet);
    let experiment = with_threads(args.luck.threads, || {
        let mut finished = Vec::new();
        for cell in cells {
            finished.push(Finished::of(cell, &task, store.as_ref(), &progress, &mut solver)?);
        }
        Ok(Experiment::new(task, finished, &mut solver))
    })?;
    drop(progress);

    // A reader that has seen enough closes the pipe; the results are written all the same.
    let printed = if args.json {
        let row = |f: &Finished| ComparedRow {
            row: Row::new(f),
            optimum: experiment.optimum(f.cell.risk),
            outer: f.cell.outer.clone(),
        };
        print_json(&experiment.by_risk().into_iter().map(row).collect::<Vec<_>>())
    } else {
        let refused = refused.map(|error| error.in_short());
        print_table(&experiment, naming, refused.as_deref(), &mut io::stdout().lock())
    };
    if let Some(store) = &store {
        keep(store, "compare", &experiment, started, quiet, side_by_side::draw)?;
    }
    printed
}

fn print_table(experiment: &Experiment, naming: Naming, refused: Option<&str>, out: &mut impl Write) -> Result<()> {
    let Some(Cell { runs, simulations, seed, .. }) = experiment.finished.first().map(|first| &first.cell) else {
        return Ok(());
    };
    writeln!(out, "{}", heading(&experiment.task))?;
    writeln!(
        out,
        "planners with {simulations} simulations per decision, {} each, seed {seed}; lower is better",
        counted(*runs, "run")
    )?;
    if let Some(refused) = refused {
        writeln!(out, "no exact optimum: {refused}")?;
    }
    writeln!(out)?;
    let [label, value] = naming.headers();
    let header = [label, "policy", "mean", value, "95% interval", "optimum", "CPU ms/run"];
    let mut table = Table::new(&header, &[1]);
    for finished in experiment.by_risk() {
        let Finished { cell, summary, .. } = finished;
        table.row(vec![
            naming.name(cell.risk),
            cell.preset.to_string(),
            short(summary.mean),
            short(summary.value),
            finished.interval(),
            known(experiment.optimum(cell.risk).map(|optimum| optimum.value)),
            format!("{:.2}", finished.cpu_milliseconds_per_run()),
        ]);
    }
    table.print(out)?;
    let mut notes: Vec<String> =
        experiment.by_risk().iter().filter_map(|of| tail_note(of.cell.risk, of.cell.runs)).collect();
    notes.dedup();
    for note in notes {
        writeln!(out, "{note}")?;
    }
    for Finished { cell, .. } in experiment.by_risk() {
        if let Some(outer) = &cell.outer {
            writeln!(out, "{}, {}: {outer} (fixed at the first decision)", cell.risk, cell.preset)?;
        }
    }
    Ok(())
}
