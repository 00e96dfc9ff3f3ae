//! Planners on the built-in tasks and on families of problems that nobody tuned on, held against the optimum or a proven bound.
//!
//! One table answers several questions: how good is the default planner (`study`), what does each ingredient earn (`--variants`
//! with several), do more simulations lead to the optimum (`--times 1,10,100`). Rows are measured once and kept.

mod book;
pub mod evidence;
mod variant;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use gumdp::Risk;
use gumdp::oracle::Limits;
use gumdp::words::short;
use gumdp_files::{Task, tasks};
use gumdp_plot::{Dot, DotPlot, DotRow, Labels, Table};

use crate::families;
use book::{Book, Job, Row};
use variant::Variant;

/// Simulations of a decision in generated problems.
const SIMULATIONS: u64 = 500;
/// Gaps are told apart from this on in the picture.
const LEAST_GAP: f64 = 1e-3;
/// A problem says little about planners if random play loses less than this part of the range of f.
const LEAST_TO_GAIN: f64 = 0.05;
/// A false alarm in any of the comparisons of a table has this probability at most.
const LEVEL: f64 = 0.01;

/// Compare planners on built-in tasks and generated problems with known optima or bounds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  gumdp-lab study                                both planners, all problems\n  \
    gumdp-lab study sparse --variants default,no-tree   what the tree earns on sparse models\n  \
    gumdp-lab study msee aimed --times 1,10,100         do more simulations help?")]
pub struct StudyArgs {
    /// Only families or problems whose name contains one of these.
    #[arg(value_name = "NAME")]
    only: Vec<String>,
    /// Who plays; the others are compared with the first.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["default", "paper"])]
    variants: Vec<Variant>,
    /// Simulations for each decision: those of a task, or 500, times each of these.
    #[arg(long, value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    times: Vec<u64>,
    /// Episodes for each row; fewer where they take long.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    runs: u64,
    /// Seed of the generated problems; another seed, other problems.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Print a row for each problem, too.
    #[arg(long)]
    cells: bool,
    /// Use this many threads (default: all cores). Results do not depend on it.
    #[arg(long, value_name = "T")]
    threads: Option<usize>,
    /// Folder for rows and figures; rows that it holds are not measured again.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/study")]
    out: PathBuf,
    /// Write the problem files to this folder instead.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// A problem and an attitude to risk.
struct Cell {
    family: &'static str,
    task: Task,
    risk: Risk,
    simulations: u64,
}

/// Measures what is missing, prints the tables and draws them.
pub fn study(args: &StudyArgs, quiet: bool) -> Result<()> {
    let cells = cells(args)?;
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        return cells
            .iter()
            .try_for_each(|Cell { task, .. }| crate::write(folder, &format!("{}.toml", task.name), &task.source));
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot create {}", args.out.display()))?;
    let mut book = Book::open(&args.out)?;
    let rows = crate::on_threads(args.threads, || measure(args, &cells, &mut book, quiet))?;
    let mut out = io::stdout().lock();
    if args.cells {
        table_of_cells(&rows).print_markdown(&mut out)?;
        writeln!(out)?;
    }
    summary(&rows).print_markdown(&mut out)?;
    crate::write(&args.out, "study.svg", picture(&rows, &args.variants))?;
    if !quiet {
        eprintln!("rows and picture are in {}", args.out.display());
    }
    Ok(())
}

/// The problems that are asked for.
fn cells(args: &StudyArgs) -> Result<Vec<Cell>> {
    let wanted = |family: &str, name: &str| {
        args.only.is_empty()
            || args.only.iter().any(|part| family.contains(part.as_str()) || name.contains(part.as_str()))
    };
    let mut cells = Vec::new();
    for name in tasks::NAMES.into_iter().filter(|name| wanted("tasks", name)) {
        let task = tasks::get(name).context("a built-in task")?;
        for &beta in &task.defaults.betas.clone() {
            let (task, simulations) = (task.clone(), task.defaults.simulations);
            cells.push(Cell { family: "tasks", task, risk: gumdp::Erm::new(beta)?.into(), simulations });
        }
    }
    for generated in families::cells(args.seed).into_iter().filter(|cell| wanted(cell.family, &cell.name)) {
        let families::Cell { family, name, text, risk } = generated;
        let task = Task::parse(&name, &text).with_context(|| name.clone())?;
        cells.push(Cell { family, task, risk: risk.parse()?, simulations: SIMULATIONS });
    }
    if cells.is_empty() {
        bail!("no family and no problem is called {}", args.only.join(", "));
    }
    Ok(cells)
}

fn measure(args: &StudyArgs, cells: &[Cell], book: &mut Book, quiet: bool) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    for (number, Cell { family, task, risk, simulations }) in cells.iter().enumerate() {
        for times in &args.times {
            if !quiet {
                eprintln!("{} of {}: {}, {risk}, {simulations} × {times}", number + 1, cells.len(), task.name);
            }
            let limits = if matches!(*family, "tasks" | "many" | "large") { Limits::QUICK } else { Limits::default() };
            let job = Job {
                family,
                task,
                risk: *risk,
                simulations: simulations * times,
                runs: args.runs,
                seed: 7,
                variants: &args.variants,
                limits: &limits,
            };
            let rows = book.rows(&job)?;
            let bounds = task.problem.objective().bounds();
            let little = |row: &Row| row.uniform - row.optimum < LEAST_TO_GAIN * (bounds.high - bounds.low);
            if *family == "tasks" || !rows.iter().any(little) {
                all.extend(rows);
            }
        }
    }
    Ok(all)
}

fn table_of_cells(rows: &[Row]) -> Table {
    let header = [
        "problem",
        "risk",
        "variant",
        "simulations",
        "runs",
        "value",
        "optimum",
        "known by",
        "random",
        "gap",
        "ms/run",
    ];
    let mut table = Table::new(&header, &[0, 1, 2, 7]);
    for row in rows {
        table.row(vec![
            row.cell.clone(),
            row.risk.clone(),
            row.variant.name(),
            row.simulations.to_string(),
            row.runs.to_string(),
            short(row.value),
            short(row.optimum),
            row.method.clone(),
            short(row.uniform),
            format!("{:.3}", row.gap()),
            format!("{:.2}", row.cpu_ms_per_run),
        ]);
    }
    table
}

/// Families in the order of rows, and all of them together where optima are known.
fn families_of(rows: &[Row]) -> Vec<(&str, Vec<&Row>)> {
    let mut names: Vec<&str> = rows.iter().map(|row| row.family.as_str()).collect();
    names.dedup();
    let of = |name| rows.iter().filter(|row| row.family == name).collect();
    let mut families: Vec<(&str, Vec<&Row>)> = names.into_iter().map(|name| (name, of(name))).collect();
    families.push(("all with optimum", rows.iter().filter(|row| row.method == "optimum").collect()));
    families
}

/// The gap below which this part of the gaps is.
fn at(gaps: &[f64], part: f64) -> f64 {
    gaps[((gaps.len() - 1) as f64 * part).round() as usize]
}

fn sorted_gaps(rows: &[&Row]) -> Vec<f64> {
    let mut gaps: Vec<f64> = rows.iter().map(|row| row.gap()).collect();
    gaps.sort_by(f64::total_cmp);
    gaps
}

fn summary(rows: &[Row]) -> Table {
    let header =
        ["family", "variant", "simulations", "cells", "median", "90 %", "worst", "above 0.1", "better", "worse"];
    let mut table = Table::new(&header, &[0, 1, 2]);
    let mut kinds: Vec<(Variant, u64)> = Vec::new();
    for row in rows {
        let own = (row.variant, times(row, rows));
        if !kinds.contains(&own) {
            kinds.push(own);
        }
    }
    // Each row is compared with the first variant's, both ways.
    let clear = (2.0 * rows.len() as f64 / LEVEL).ln();
    for (name, family) in families_of(rows) {
        for &(variant, budget) in &kinds {
            let own: Vec<&Row> =
                family.iter().copied().filter(|row| (row.variant, times(row, rows)) == (variant, budget)).collect();
            if own.is_empty() {
                continue;
            }
            let gaps = sorted_gaps(&own);
            let mut cells = vec![name.to_owned(), variant.name(), format!("× {budget}"), own.len().to_string()];
            cells.extend([0.5, 0.9, 1.0].map(|part| format!("{:.3}", at(&gaps, part))));
            cells.push(gaps.iter().filter(|gap| **gap > 0.1).count().to_string());
            let clear = |sure: fn(&Row) -> f64| own.iter().filter(|row| sure(row) > clear).count().to_string();
            cells.extend([clear(|row| row.surely_lower), clear(|row| row.surely_higher)]);
            table.row(cells);
        }
    }
    table
}

/// How many times the fewest simulations of its problem a row has.
fn times(row: &Row, rows: &[Row]) -> u64 {
    let same =
        rows.iter().filter(|other| (&other.family, &other.cell, &other.risk) == (&row.family, &row.cell, &row.risk));
    row.simulations / same.map(|other| other.simulations).min().unwrap_or(row.simulations).max(1)
}

/// The gaps of each family, from one tenth to nine tenths of its cells.
fn picture(rows: &[Row], variants: &[Variant]) -> String {
    let row = |(group, (name, family)): (usize, (&str, Vec<&Row>))| {
        let dot = |variant: &Variant| {
            let own: Vec<&Row> = family.iter().copied().filter(|row| row.variant == *variant).collect();
            let gaps = sorted_gaps(&own);
            (!gaps.is_empty()).then(|| Dot { value: at(&gaps, 0.5), interval: Some((at(&gaps, 0.1), at(&gaps, 0.9))) })
        };
        DotRow { label: name.to_owned(), group, dots: variants.iter().map(dot).collect(), reference: None }
    };
    let x = format!(
        "relative gap: the part of what can be gained over random play that is not ({LEAST_GAP} and less at the left)"
    );
    DotPlot {
        labels: Labels::new("Problems nobody tuned on: median and 10–90 % of cells", x, ""),
        series: variants.iter().map(|variant| variant.name()).collect(),
        rows: families_of(rows).into_iter().enumerate().map(row).collect(),
        log_from: Some(LEAST_GAP),
        width: Some(860),
        ..DotPlot::default()
    }
    .svg()
}
