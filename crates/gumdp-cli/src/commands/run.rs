//! `gumdp run`: episodes for each β, a table, results and figures.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use gumdp::Task;

use super::{load, with_threads};
use crate::args::{PolicyName, Preset, RunArgs};
use crate::cells::Cell;
use crate::failure::BadInput;
use crate::number::short;
use crate::progress::Progress;
use crate::results::{Experiment, Finished, Row};
use crate::store::Store;
use crate::table::Table;
use crate::{draw, results};

/// Plays, prints, writes and draws.
pub fn run(args: &RunArgs, quiet: bool) -> Result<()> {
    let started = Instant::now();
    let task = load(&args.task)?;
    let cells = cells(args, &task)?;
    let dir = match (&args.out, args.json) {
        (Some(dir), _) => Some(dir.clone()),
        (None, true) => None,
        (None, false) => Some(PathBuf::from("gumdp-out").join(&task.name)),
    };
    let store = dir.map(|dir| Store::create(&dir)).transpose().map_err(|error| BadInput::new(format!("{error:#}")))?;
    let total = cells.iter().map(|cell| cell.runs).sum();
    let progress = Progress::new(total, quiet);
    let finished: Vec<Finished> = with_threads(args.threads, || {
        cells.into_iter().map(|cell| Finished::play(cell, &task, store.as_ref(), &progress)).collect()
    })?;
    drop(progress);

    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Row> = finished.iter().map(Row::new).collect();
        serde_json::to_writer_pretty(&mut out, &rows)?;
        writeln!(out)?;
    } else {
        print_table(&task, &finished, &mut out)?;
    }
    out.flush()?;
    if let Some(store) = &store {
        let mut experiment = Experiment { task, finished, optima: Vec::new() };
        experiment.find_optima();
        let experiments = [experiment];
        let manifest = results::save(store, "run", &experiments, started.elapsed())?;
        draw::draw(store, &manifest, &experiments)?;
        if !quiet {
            eprintln!("results, figures and report.html are in {}", store.dir().display());
        }
    }
    Ok(())
}

/// One cell for each β.
fn cells(args: &RunArgs, task: &Task) -> Result<Vec<Cell>> {
    let policy = args.policy.unwrap_or(PolicyName::Planner);
    if args.preset == Some(Preset::Paper) && policy != PolicyName::Planner {
        return Err(BadInput::new("--preset paper is the published planner and goes with --policy planner only")
            .hint("leave out --preset or --policy")
            .into());
    }
    let betas = if args.beta.is_empty() { &task.defaults.betas } else { &args.beta };
    Ok(betas
        .iter()
        .map(|&beta| {
            let cell = Cell::new(task, beta, args.preset, policy, args.seed);
            Cell {
                runs: args.runs.unwrap_or(cell.runs),
                simulations: args.simulations.unwrap_or(cell.simulations),
                ..cell
            }
        })
        .collect())
}

fn print_table(task: &Task, finished: &[Finished], out: &mut impl Write) -> Result<()> {
    let Some(first) = finished.first() else { return Ok(()) };
    let Cell { preset, runs, simulations, seed, .. } = &first.cell;
    let planner =
        if first.cell.is_planner() { format!(", {simulations} simulations per decision") } else { String::new() };
    writeln!(out, "{}: {}", task.name, task.title)?;
    writeln!(out, "policy {preset}, {runs} runs{planner}, seed {seed}; lower is better")?;
    writeln!(out)?;
    let header = ["beta", "mean", "median", "quartiles", "ERM", "95% interval", "CVaR95", "worst", "CPU s"];
    let mut table = Table::new(&header, &[]);
    for cell_results in finished {
        let Finished { cell, summary, .. } = cell_results;
        table.row(vec![
            cell.beta.to_string(),
            short(summary.mean),
            short(summary.median),
            format!("{} – {}", short(summary.q25), short(summary.q75)),
            short(summary.erm),
            format!("{} – {}", short(summary.erm_low), short(summary.erm_high)),
            short(summary.cvar95),
            short(summary.max),
            format!("{:.2}", cell_results.cpu_seconds()),
        ]);
    }
    table.print(out)?;
    Ok(())
}
