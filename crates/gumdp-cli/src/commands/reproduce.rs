//! `gumdp reproduce`: every experiment of the paper with its settings, and its numbers beside ours.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use gumdp::{Task, tasks};

use super::{load, with_threads};
use crate::args::{PolicyName, Preset};
use crate::cells::Cell;
use crate::comparison::{self, Comparison, Published, Verdict};
use crate::failure::BadInput;
use crate::number::short;
use crate::paper_report;
use crate::progress::Progress;
use crate::results::{self, Experiment, Finished, Manifest};
use crate::store::Store;
use crate::table::Table;

/// Plays what is missing, writes results, figures and report, prints the comparison.
pub fn reproduce(
    figures: &[String],
    runs: Option<u64>,
    seed: u64,
    threads: Option<usize>,
    out: &Path,
    quiet: bool,
) -> Result<()> {
    let started = Instant::now();
    let chosen = chosen(figures)?;
    let store = Store::create(out).map_err(|error| BadInput::new(format!("{error:#}")))?;
    let plan: Vec<(Task, Vec<Cell>)> = chosen
        .into_iter()
        .map(|task| {
            let cells = cells(&task, runs, seed);
            (task, cells)
        })
        .collect();
    let progress = Progress::new(plan.iter().flat_map(|(_, cells)| cells).map(|cell| cell.runs).sum(), quiet);
    let experiments: Vec<Experiment> = with_threads(threads, || {
        plan.into_iter().map(|(task, cells)| experiment(task, cells, &store, &progress)).collect()
    })?;
    drop(progress);
    let manifest = results::save(&store, "reproduce", &experiments, started.elapsed())?;
    write_report(&store, &manifest, &experiments)?;
    if !quiet {
        eprintln!("results, figures, comparison.json and report.html are in {}", out.display());
    }
    Ok(())
}

/// Draws figures and report from finished experiments and prints the comparison.
pub fn write_report(store: &Store, manifest: &Manifest, experiments: &[Experiment]) -> Result<()> {
    let published = Published::new()?;
    let comparisons = comparison::compare(&published, experiments)?;
    let mut json = serde_json::to_vec_pretty(&comparisons)?;
    json.push(b'\n');
    store.write("comparison.json", &json)?;
    paper_report::write(store, manifest, experiments, &published, &comparisons)?;
    print_comparisons(&comparisons)
}

fn chosen(figures: &[String]) -> Result<Vec<Task>> {
    if figures.is_empty() {
        return tasks::NAMES.into_iter().map(load).collect();
    }
    let mut chosen: Vec<Task> = Vec::new();
    for name in figures {
        if !tasks::NAMES.contains(&name.as_str()) {
            return Err(BadInput::new(format!("unknown figure \"{name}\""))
                .hint(format!("the figures are {}", tasks::NAMES.join(", ")))
                .into());
        }
        if !chosen.iter().any(|task| task.name == *name) {
            chosen.push(load(name)?);
        }
    }
    Ok(chosen)
}

/// The paper's planner for each β, and ERM-BI beside it where the objective is linear. The motivating example is exact and
/// needs no runs.
fn cells(task: &Task, runs: Option<u64>, seed: u64) -> Vec<Cell> {
    if !task.scripts.is_empty() {
        return Vec::new();
    }
    let linear = task.problem.objective().as_linear().is_some();
    let mut policies = vec![PolicyName::Planner];
    if linear {
        policies.push(PolicyName::BackwardInduction);
    }
    let cell = |policy: PolicyName, beta: f64| {
        let cell = Cell::new(task, beta, Some(Preset::Paper), policy, seed);
        Cell { runs: runs.unwrap_or(cell.runs), ..cell }
    };
    policies
        .into_iter()
        .flat_map(|policy| task.defaults.betas.iter().map(move |&beta| (policy, beta)))
        .map(|(policy, beta)| cell(policy, beta))
        .collect()
}

fn experiment(task: Task, cells: Vec<Cell>, store: &Store, progress: &Progress) -> Result<Experiment> {
    let finished: Result<Vec<Finished>> =
        cells.into_iter().map(|cell| Finished::play(cell, &task, Some(store), progress)).collect();
    let mut experiment = Experiment { task, finished: finished?, optima: Vec::new() };
    experiment.find_optima();
    Ok(experiment)
}

fn print_comparisons(comparisons: &[Comparison]) -> Result<()> {
    let mut out = io::stdout().lock();
    let header = ["task", "beta", "statistic", "reference", "from", "ours", "agrees within", "verdict"];
    let mut table = Table::new(&header, &[0, 2, 3, 4, 7]);
    for c in comparisons {
        table.row(vec![
            c.task.clone(),
            crate::number::beta(c.beta),
            c.statistic.clone(),
            c.reference.clone(),
            c.source.to_owned(),
            short(c.ours),
            c.interval_text(),
            c.verdict.text().to_owned(),
        ]);
    }
    table.print(&mut out)?;
    for c in comparisons.iter().filter(|c| c.verdict == Verdict::Differs || c.why.is_some()) {
        let why = c.why.as_deref().unwrap_or("no reason is known");
        writeln!(out, "\n{} beta = {} {}: {why}", c.task, crate::number::beta(c.beta), c.statistic)?;
    }
    Ok(())
}
