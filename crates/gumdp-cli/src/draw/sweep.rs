//! The page and the tidy table of a sweep.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use gumdp::stats::Summary;
use gumdp::words::cell as safe;
use gumdp_files::sweep::{CellResult, Plan, summaries};
use gumdp_plot::page::{Figure, Page};
use gumdp_plot::{Dot, DotPlot, DotRow, Field, Labels, Table};

use super::write_figures;
use crate::commands::sweep::refused;
use crate::number::{counted, interval, risk, short};
use crate::progress::Progress;
use crate::results::distinct;
use crate::store::Store;

/// Figures of more problems than this would make a page that nobody can read.
const MOST_FIGURES: usize = 60;
/// So many rows are in the table of the page; the tidy table has all.
const MOST_ROWS: usize = 2000;

/// What is drawn of a cell.
struct Row {
    task: String,
    /// Attitude to risk, and the seed if there are several.
    label: String,
    series: String,
    runs: u64,
    seed: u64,
    summary: Summary,
}

/// Writes `summary.csv`, one row for each cell, and `report.html`, one figure for each problem.
pub fn draw_sweep(store: &Store, plan: &Plan) -> Result<()> {
    let progress = Progress::bar(plan.cells.len() as u64, "cells");
    let seeds = distinct(plan.cells.iter().map(|cell| cell.seed)).len();
    let mut rows = Vec::with_capacity(plan.cells.len());
    let mut tidy = csv::Writer::from_writer(Vec::new());
    tidy.write_record([
        "cell",
        "task",
        "risk",
        "policy",
        "simulations",
        "runs",
        "seed",
        "exact",
        "mean",
        "value",
        "low",
        "high",
        "median",
        "q25",
        "q75",
        "cvar95",
        "min",
        "max",
    ])?;
    summaries(plan, store.dir(), |found: &CellResult, summary| {
        let (cell, s) = (&found.cell, &summary);
        let numbers = [s.mean, s.value, s.low, s.high, s.median, s.q25, s.q75, s.cvar95, s.min, s.max];
        let named = [cell.id.clone(), safe(&cell.task).into_owned(), cell.risk.to_string(), cell.player()];
        let counts = [cell.simulations, cell.runs, cell.seed].map(|count| count.to_string());
        let exact = [summary.exact.to_string()];
        let fields = named.into_iter().chain(counts).chain(exact).chain(numbers.map(|number| number.to_string()));
        // Into memory: nothing can fail.
        let _ = tidy.write_record(fields);
        rows.push(Row::new(found, summary, seeds > 1));
        gumdp::Watch::finished(&progress, 1);
        Ok(())
    })
    .map_err(refused)?;
    drop(progress);
    store.write("summary.csv", &tidy.into_inner()?)?;
    let mut by_task: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &rows {
        by_task.entry(&row.task).or_default().push(row);
    }
    let shared = shared_series(&rows);
    let drawings: Vec<Figure> =
        by_task.iter().take(MOST_FIGURES).map(|(task, rows)| figure(task, rows, &shared)).collect();
    write_figures(store, &drawings)?;
    let mut page = Page::new("Sweep");
    let (cells, runs) = (counted(plan.cells.len() as u64, "cell"), counted(plan.runs(), "run"));
    page.lead(&format!("{cells} of {}, {runs}. Lower is better everywhere.", counted(by_task.len() as u64, "problem")));
    page.section("problems", "Problems");
    if by_task.len() > MOST_FIGURES {
        page.paragraph(&format!(
            "The first {MOST_FIGURES} of {} problems are drawn; summary.csv has all.",
            by_task.len()
        ));
    }
    page.figures(&drawings);
    page.section("cells", "Cells");
    page.table(&table(&rows));
    store.write("report.html", page.html().as_bytes())
}

impl Row {
    fn new(found: &CellResult, summary: Summary, seeds: bool) -> Self {
        let cell = &found.cell;
        let planned = if cell.simulations > 0 { format!(", {}", cell.simulations) } else { String::new() };
        let seeded = if seeds { format!(", seed {}", cell.seed) } else { String::new() };
        let attitude = cell.risk.beta().map_or_else(|| cell.risk.to_string(), |_| format!("β = {}", risk(cell.risk)));
        Self {
            task: cell.task.clone(),
            label: format!("{attitude}{seeded}"),
            series: format!("{}{planned}", cell.player()),
            runs: cell.runs,
            seed: cell.seed,
            summary,
        }
    }
}

/// The players and budgets of all problems, so that colours mean the same everywhere.
fn shared_series(rows: &[Row]) -> Vec<String> {
    distinct(rows.iter().map(|row| row.series.clone()))
}

/// The risks of a problem: a row for each attitude, a dot for each player and budget.
fn figure(task: &str, rows: &[&Row], series: &[String]) -> Figure {
    let row = |label: &String| {
        let of = |series: &String| {
            let found = rows.iter().find(|row| row.label == *label && row.series == *series)?;
            let Summary { exact, value, low, high, .. } = found.summary;
            Some(Dot { value, interval: (!exact).then_some((low, high)) })
        };
        DotRow { label: label.clone(), dots: series.iter().map(of).collect(), ..DotRow::default() }
    };
    let labels = distinct(rows.iter().map(|row| row.label.clone()));
    let plot = DotPlot {
        labels: Labels { title: task.to_owned(), x: "risk of f".to_owned(), ..Labels::default() },
        series: series.to_vec(),
        rows: labels.iter().map(row).collect(),
        ..DotPlot::default()
    };
    let name: String = task.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let caption = format!("{task}: the risk that was asked for, with its 95 % interval unless it is exact.");
    Figure { name: format!("{name}-sweep"), svg: plot.svg(), narrow: None, caption }
}

fn table(rows: &[Row]) -> Table {
    let fields = |row: &Row| {
        let Summary { exact, mean, value, low, high, .. } = row.summary;
        vec![
            Field::text("task", &row.task),
            Field::text("attitude", &row.label),
            Field::text("player", &row.series),
            Field::number("runs", row.runs.to_string()),
            Field::number("seed", row.seed.to_string()),
            Field::number("mean", short(mean)),
            Field::number("risk", short(value)),
            Field::number("95\u{a0}% interval", if exact { "exact".to_owned() } else { interval(low, high) }),
        ]
    };
    let table = Table::of(rows.iter().take(MOST_ROWS), fields);
    if rows.len() > MOST_ROWS {
        return table.captioned(format!("The first {MOST_ROWS} of {} cells; summary.csv has all.", rows.len()));
    }
    table.captioned("All cells.")
}

/// Whether the folder holds a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join("plan.json").is_file()
}
