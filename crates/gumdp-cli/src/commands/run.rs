//! `gumdp run`: episodes for each β, a table, results and figures.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::Result;
use gumdp::{Risk, Task};
use serde::Serialize;

use super::{heading, keep, limits, load, open_store, policy, print_json, risks, with_threads};
use crate::args::{PolicyName, Preset, RunArgs};
use crate::cells::Cell;
use crate::draw;
use crate::exact::Solver;
use crate::number::{self, short};
use crate::player::Who;
use crate::progress::Progress;
use crate::results::{Experiment, Finished, Row};
use crate::table::Table;

/// One row of `gumdp run --json`.
#[derive(Serialize)]
struct PlayedRow<'a> {
    #[serde(flatten)]
    row: Row,
    auto: Option<&'a str>,
    outer: Option<&'a str>,
}

impl<'a> PlayedRow<'a> {
    fn new(finished: &'a Finished) -> Self {
        Self { row: Row::new(finished), auto: finished.cell.auto.as_deref(), outer: finished.cell.outer.as_deref() }
    }
}

/// Plays, prints, writes and draws.
pub fn run(args: &RunArgs, quiet: bool) -> Result<()> {
    let started = Instant::now();
    let RunArgs { experiment: args, policy: chosen } = args;
    let task = load(&args.task)?;
    let policy = policy(chosen, None)?;
    let risks = risks(args, &task);
    let store = open_store(args, &task, "")?;
    let progress = Progress::new(risks.len() as u64 * args.runs.unwrap_or(task.defaults.runs), quiet);
    let mut solver = Solver::new(&task.problem, limits(policy, chosen.max_states));
    let finished: Vec<Finished> = with_threads(args.threads, || {
        let cell = |risk: Risk, solver: &mut Solver| {
            let who = match policy {
                PolicyName::Auto => return Cell::auto(&task, risk, args.seed, solver),
                PolicyName::Planner if chosen.preset == Some(Preset::Paper) => Who::Paper,
                PolicyName::Planner => Who::Default,
                PolicyName::Uniform => Who::Uniform,
                PolicyName::Exact => Who::Exact,
                PolicyName::BackwardInduction => Who::BackwardInduction,
            };
            Cell::new(&task, risk, who, args.seed)
        };
        let play = |&risk: &Risk| {
            progress.message(format!("{} {}", task.name, number::risk_label(risk)));
            let cell = cell(risk, &mut solver).with(args.runs, args.simulations);
            Finished::play(cell, &task, store.as_ref(), &progress, &mut solver)
        };
        risks.iter().map(play).collect()
    })?;
    drop(progress);

    // A reader that has seen enough closes the pipe; the results are written all the same.
    let printed = if args.json {
        print_json(&finished.iter().map(PlayedRow::new).collect::<Vec<_>>())
    } else {
        print_table(&task, &finished, &mut io::stdout().lock())
    };
    if let Some(store) = &store {
        let experiment = with_threads(args.threads, || Ok(Experiment::new(task, finished, &mut solver)))?;
        keep(store, "run", &experiment, started, quiet, draw::draw)?;
    }
    printed
}

fn print_table(task: &Task, finished: &[Finished], out: &mut impl Write) -> Result<()> {
    let Some(first) = finished.first() else { return Ok(()) };
    let Cell { preset, runs, simulations, seed, auto, .. } = &first.cell;
    let who = if preset.plans() {
        format!("planner, preset {preset}, {simulations} simulations per decision")
    } else {
        format!("policy {preset}")
    };
    writeln!(out, "{}", heading(task))?;
    if let Some(found) = auto {
        writeln!(out, "policy auto: {found}")?;
    }
    writeln!(out, "{who}, {runs} runs, seed {seed}; lower is better")?;
    writeln!(out)?;
    let [label, value] = number::risk_headers(finished.iter().map(|finished| finished.cell.risk));
    let header = [label, "mean", "median", "quartiles", value, "95% interval", "CVaR95", "worst", "CPU s"];
    let mut table = Table::new(&header, &[]);
    for cell_results in finished {
        let Finished { cell, summary, .. } = cell_results;
        table.row(vec![
            number::risk(cell.risk),
            short(summary.mean),
            short(summary.median),
            format!("{} – {}", short(summary.q25), short(summary.q75)),
            short(summary.erm),
            cell_results.erm_interval(),
            short(summary.cvar95),
            short(summary.max),
            format!("{:.2}", cell_results.cpu_seconds()),
        ]);
    }
    table.print(out)?;
    for Finished { cell, .. } in finished {
        if let Some(outer) = &cell.outer {
            writeln!(out, "{}: {outer} (fixed at the first decision)", cell.risk)?;
        }
    }
    Ok(())
}
