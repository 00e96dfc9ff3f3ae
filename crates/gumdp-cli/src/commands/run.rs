//! `gumdp run`: episodes for each β, a table, results and figures.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;
use gumdp::Task;

use super::{heading, load, print_json, with_threads};
use crate::args::{PolicyName, Preset, RunArgs};
use crate::cells::Cell;
use crate::failure::BadInput;
use crate::number::{beta, short};
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

    // A reader that has seen enough closes the pipe; the results are written all the same.
    let printed = if args.json {
        print_json(&finished.iter().map(Row::new).collect::<Vec<_>>())
    } else {
        print_table(&task, &finished, &mut io::stdout().lock())
    };
    if let Some(store) = &store {
        let mut experiment = Experiment { task, finished, optima: Vec::new() };
        with_threads(args.threads, || {
            experiment.find_optima();
            Ok(())
        })?;
        let experiments = [experiment];
        let manifest = results::save(store, "run", &experiments, started.elapsed())?;
        draw::draw(store, &manifest, &experiments[0])?;
        if !quiet {
            eprintln!("results, figures and report.html are in {}", store.dir().display());
        }
    }
    printed
}

/// One cell for each β.
fn cells(args: &RunArgs, task: &Task) -> Result<Vec<Cell>> {
    let policy = args.policy.unwrap_or(PolicyName::Planner);
    if args.preset == Some(Preset::Paper) && policy != PolicyName::Planner {
        let name = policy.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        return Err(BadInput::new(format!(
            "--preset paper means --policy planner and does not go with --policy {name}"
        ))
        .hint("leave out --preset or --policy")
        .into());
    }
    let given = if args.beta.is_empty() { &task.defaults.betas } else { &args.beta };
    let mut betas: Vec<f64> = Vec::new();
    for &beta in given {
        if !betas.contains(&beta) {
            betas.push(beta);
        }
    }
    Ok(betas
        .into_iter()
        .map(|beta| {
            let cell = Cell::new(task, beta, args.preset, policy, args.seed);
            Cell {
                runs: args.runs.unwrap_or(cell.runs),
                simulations: args.simulations.filter(|_| cell.is_planner()).unwrap_or(cell.simulations),
                ..cell
            }
        })
        .collect())
}

fn print_table(task: &Task, finished: &[Finished], out: &mut impl Write) -> Result<()> {
    let Some(first) = finished.first() else { return Ok(()) };
    let Cell { preset, runs, simulations, seed, .. } = &first.cell;
    let who = if first.cell.is_planner() {
        format!("planner, preset {preset}, {simulations} simulations per decision")
    } else {
        format!("policy {preset}")
    };
    writeln!(out, "{}", heading(task))?;
    writeln!(out, "{who}, {runs} runs, seed {seed}; lower is better")?;
    writeln!(out)?;
    let header = ["beta", "mean", "median", "quartiles", "ERM", "95% interval", "CVaR95", "worst", "CPU s"];
    let mut table = Table::new(&header, &[]);
    for cell_results in finished {
        let Finished { cell, summary, .. } = cell_results;
        table.row(vec![
            beta(cell.beta),
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
