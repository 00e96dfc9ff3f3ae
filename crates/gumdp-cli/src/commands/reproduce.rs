//! `gumdp reproduce`: every experiment of the paper with its settings, and its numbers beside ours.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use gumdp_files::{Task, tasks};

use super::{Run, limits, load, with_threads};
use crate::args::{LuckArgs, MAX_RUNS, PolicyName, whole};
use crate::cells::Cell;
use crate::comparison::{self, Comparison, Published, Verdict};
use crate::exact::Solver;
use crate::failure::BadInput;
use crate::manifest::{self, Manifest};
use crate::number::{self, known, short};
use crate::paper_report;
use crate::player::Who;
use crate::progress::Progress;
use crate::results::{Experiment, Finished};
use crate::side_by_side::{Both, both};
use crate::store::Store;
use gumdp_plot::Table;

/// Regenerate the paper's experiments with its settings and ours; can be resumed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp reproduce\n  gumdp reproduce grid-mo mdp --runs 32\n  gumdp reproduce --paper-only --out paper"
)]
pub struct ReproduceArgs {
    /// Which experiments (default: all): the names of the built-in tasks.
    #[arg(value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// Runs per β (default: the paper's 100 and 128).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub runs: Option<u64>,
    /// Leave out the runs of the default planner, which take as long again, and the section on them.
    #[arg(long)]
    pub paper_only: bool,
    /// Random numbers and threads.
    #[command(flatten)]
    pub luck: LuckArgs,
    /// Folder for results, figures and report.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/reproduce")]
    pub out: PathBuf,
}

impl Run for ReproduceArgs {
    fn run(&self, quiet: bool) -> Result<()> {
        reproduce(self, quiet)
    }
}

/// Plays what is missing, writes results, figures and report, prints the comparison.
fn reproduce(chosen: &ReproduceArgs, quiet: bool) -> Result<()> {
    let started = Instant::now();
    let tasks = tasks_of(&chosen.figures)?;
    let store = Store::create(&chosen.out).map_err(|error| BadInput::new(format!("{error:#}")))?;
    let plan: Vec<(Task, Vec<Cell>)> = tasks
        .into_iter()
        .map(|task| {
            let cells = cells(&task, chosen);
            (task, cells)
        })
        .collect();
    let progress = Progress::new(plan.iter().flat_map(|(_, cells)| cells).map(|cell| cell.runs).sum(), quiet);
    let experiments: Vec<Experiment> = with_threads(chosen.luck.threads, || {
        plan.into_iter().map(|(task, cells)| experiment(task, cells, &store, &progress)).collect()
    })?;
    drop(progress);
    let manifest = manifest::save(&store, "reproduce", &experiments, started.elapsed())?;
    write_report(&store, &manifest, &experiments)?;
    if !quiet {
        crate::talk::say!("results, figures, comparison.json and report.html are in {}", chosen.out.display());
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
    let mut out = io::stdout().lock();
    print_comparisons(&comparisons, &mut out)?;
    print_planners(&both(experiments), &mut out)
}

fn tasks_of(figures: &[String]) -> Result<Vec<Task>> {
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

/// The paper's planner for each β, ERM-BI beside it where the objective is linear, and the default planner. The motivating
/// example is exact and needs no runs.
fn cells(task: &Task, chosen: &ReproduceArgs) -> Vec<Cell> {
    if !task.scripts.is_empty() {
        return Vec::new();
    }
    let mut policies = vec![Who::Paper];
    if task.problem.objective().as_linear().is_some() {
        policies.push(Who::BackwardInduction);
    }
    if !chosen.paper_only {
        policies.push(Who::Default);
    }
    policies
        .into_iter()
        .flat_map(|who| task.defaults.risks().into_iter().map(move |risk| (who, risk)))
        .map(|(who, risk)| Cell::new(task, risk, who, chosen.luck.seed).with(chosen.runs, None))
        .collect()
}

fn experiment(task: Task, cells: Vec<Cell>, store: &Store, progress: &Progress) -> Result<Experiment> {
    let mut solver = Solver::new(&task.problem, limits(PolicyName::Auto, None));
    let mut finished = Vec::new();
    for cell in cells {
        finished.push(Finished::of(cell, &task, Some(store), progress, &mut solver)?);
    }
    Ok(Experiment::new(task, finished, &mut solver))
}

fn print_comparisons(comparisons: &[Comparison], out: &mut impl Write) -> Result<()> {
    let header = ["task", "beta", "statistic", "reference", "from", "ours", "agrees within", "verdict"];
    let mut table = Table::new(&header, &[0, 2, 3, 4, 7]);
    for c in comparisons {
        table.row(vec![
            c.task.clone(),
            number::beta(c.beta),
            c.statistic.clone(),
            c.reference.clone(),
            c.source.to_owned(),
            short(c.ours),
            c.interval_text(),
            c.verdict.text().to_owned(),
        ]);
    }
    table.print(out)?;
    for c in comparisons.iter().filter(|c| c.verdict == Verdict::Differs || c.why.is_some()) {
        let why = c.why.as_deref().unwrap_or("no reason is known");
        writeln!(out, "\n{} beta = {} {}: {why}", c.task, number::beta(c.beta), c.statistic)?;
    }
    Ok(())
}

/// The default planner beside the paper's, where both were played.
fn print_planners(cells: &[Both], out: &mut impl Write) -> Result<()> {
    if cells.is_empty() {
        return Ok(());
    }
    let header = [
        "task",
        "beta",
        "paper ERM",
        "95% interval",
        "default ERM",
        "95% interval",
        "optimum",
        "paper CPU ms/run",
        "default CPU ms/run",
    ];
    let mut table = Table::new(&header, &[0]);
    for Both { paper, default, optimum } in cells {
        table.row(vec![
            paper.cell.task.clone(),
            number::risk(paper.cell.risk),
            short(paper.summary.value),
            paper.interval(),
            short(default.summary.value),
            default.interval(),
            known(*optimum),
            format!("{:.2}", paper.cpu_milliseconds_per_run()),
            format!("{:.2}", default.cpu_milliseconds_per_run()),
        ]);
    }
    writeln!(out, "\nThe paper's settings and ours, and the exact optimum where it can be computed\n")?;
    table.print(out)?;
    Ok(())
}
