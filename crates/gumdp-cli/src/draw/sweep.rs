//! The page and the tidy table of a sweep.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use gumdp::stats::Summary;
use gumdp::words::cell as safe;
use gumdp_files::sweep::{Cell, CellResult, Plan, summaries};
use gumdp_plot::page::{Figure, Page};
use gumdp_plot::{Dot, DotPlot, DotRow, Field, Labels, LineSeries, Multiples, Table};

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

/// So many seeds of a setting are drawn.
const MOST_SEEDS: usize = 5;
/// So many attitudes of a problem are drawn.
const MOST_PANELS: usize = 24;

/// What is drawn of a cell.
struct Row {
    cell: Cell,
    /// Attitude to risk.
    attitude: String,
    summary: Summary,
}

/// Writes `summary.csv`, one row for each cell, and `report.html`, a row of panels for each problem.
pub fn draw_sweep(store: &Store, plan: &Plan) -> Result<()> {
    let progress = Progress::bar(plan.cells.len() as u64, "cells");
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
        let attitude = cell.risk.beta().map_or_else(|| cell.risk.to_string(), |_| format!("β = {}", risk(cell.risk)));
        rows.push(Row { cell: cell.clone(), attitude, summary });
        gumdp::Watch::finished(&progress, 1);
        Ok(())
    })
    .map_err(refused)?;
    drop(progress);
    store.write("summary.csv", &tidy.into_inner()?)?;
    // Cells are listed problem by problem.
    let by_task: Vec<&[Row]> = rows.chunk_by(|a, b| a.cell.task == b.cell.task).collect();
    // The same for all problems, so that colours mean the same everywhere.
    let players = distinct(plan.cells.iter().map(Cell::player));
    let drawings: Vec<Figure> = by_task.iter().take(MOST_FIGURES).map(|rows| figure(rows, &players)).collect();
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

/// The risks of a problem over the simulations of a decision, a panel for each attitude; a plot of dots if there is one budget.
fn figure(rows: &[Row], players: &[String]) -> Figure {
    let task = &rows[0].cell.task;
    let seeds: BTreeSet<u64> = rows.iter().map(|row| row.cell.seed).collect();
    let drawn: Vec<u64> = seeds.iter().copied().take(MOST_SEEDS).collect();
    let budgets: BTreeSet<u64> = rows.iter().map(|row| row.cell.simulations).filter(|count| *count > 0).collect();
    let attitudes: Vec<&[Row]> = rows.chunk_by(|a, b| a.attitude == b.attitude).collect();
    let shown = &attitudes[..attitudes.len().min(MOST_PANELS)];
    let (svg, narrow, what) = if budgets.len() > 1 {
        let budgets: Vec<f64> = budgets.into_iter().map(|count| count as f64).collect();
        let panels = shown.iter().map(|rows| (rows[0].attitude.clone(), lines(rows, players, &drawn, &budgets)));
        let wide = Multiples {
            labels: Labels::new(format!("{task}: risk of f"), "simulations per decision", ""),
            series: players.to_vec(),
            places: budgets.clone(),
            panels: panels.collect(),
            columns: 3,
        };
        let narrow = Multiples { columns: 1, ..wide.clone() };
        let what = "over the simulations of a decision, a panel for each attitude, all with the same axes. Lines without marks are \
                    of those who do not plan";
        (wide.svg(), Some(narrow.svg()), what)
    } else {
        let wide = dots(task, shown, players, &drawn);
        let narrow = DotPlot { width: Some(340), ..wide.clone() };
        (wide.svg(), Some(narrow.svg()), "by attitude")
    };
    let mut caption = format!(
        "{task}: the risk that was asked for {what}. Bars and bands are 95 % intervals; what has none is exact."
    );
    if drawn.len() < seeds.len() {
        let _ = write!(caption, " The first {} of {} seeds are drawn, each on its own.", drawn.len(), seeds.len());
    } else if seeds.len() > 1 {
        caption += " Each seed is drawn on its own.";
    }
    if shown.len() < attitudes.len() {
        let _ = write!(caption, " The first {} of {} attitudes are drawn.", shown.len(), attitudes.len());
    }
    let name: String = task.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    Figure { name: format!("{name}-sweep"), svg, narrow, caption }
}

/// The lines of a panel: one for each player, seed and number of runs, set apart so that bars do not cover each other.
fn lines(rows: &[Row], players: &[String], seeds: &[u64], budgets: &[f64]) -> Vec<LineSeries> {
    let mut by_line: BTreeMap<(usize, u64, u64), Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| seeds.contains(&row.cell.seed)) {
        let player = players.iter().position(|player| *player == row.cell.player()).unwrap_or(0);
        by_line.entry((player, row.cell.runs, row.cell.seed)).or_default().push(row);
    }
    let planning = by_line.values().filter(|rows| rows[0].cell.simulations > 0).count();
    let ratio = budgets.windows(2).map(|pair| pair[1] / pair[0]).fold(f64::INFINITY, f64::min);
    // All lines of a budget within a third of the way to the next.
    let shift = |line: usize| ratio.powf((line as f64 / planning.saturating_sub(1).max(1) as f64 - 0.5) / 3.0);
    let [first, last] = [budgets.first(), budgets.last()].map(|end| end.copied().unwrap_or(1.0));
    let mut line = 0;
    let series = by_line.iter().map(|(&(player, ..), rows)| {
        let plans = rows[0].cell.simulations > 0;
        let x: Vec<f64> = if plans {
            line += 1;
            let by = if planning > 1 { shift(line - 1) } else { 1.0 };
            rows.iter().map(|row| row.cell.simulations as f64 * by).collect()
        } else {
            vec![first * shift(0), last / shift(0)]
        };
        // One who does not plan has one row, for all budgets.
        let of = |index: usize| &rows[index.min(rows.len() - 1)].summary;
        let points = x.iter().enumerate().map(|(index, &x)| (x, of(index).value)).collect();
        let band = (0..x.len()).map(|index| (of(index).low, of(index).high)).collect();
        LineSeries { points, band, bars: plans, markers: plans, style: Some(player), ..LineSeries::default() }
    });
    let mut series: Vec<LineSeries> = series.collect();
    // What is exact is the same for all seeds.
    series.dedup();
    series
}

/// The risks of a problem with one budget: a row for each attitude and seed, a dot for each player.
fn dots(task: &str, attitudes: &[&[Row]], players: &[String], seeds: &[u64]) -> DotPlot {
    let mut rows = Vec::new();
    for (group, of_attitude) in attitudes.iter().enumerate() {
        for &seed in seeds {
            let dot = |player: &String| {
                let found = of_attitude.iter().find(|row| row.cell.seed == seed && row.cell.player() == *player)?;
                let Summary { exact, value, low, high, .. } = found.summary;
                Some(Dot { value, interval: (!exact).then_some((low, high)) })
            };
            let seeded = if seeds.len() > 1 { format!(", seed {seed}") } else { String::new() };
            let label = format!("{}{seeded}", of_attitude[0].attitude);
            rows.push(DotRow { label, group, dots: players.iter().map(dot).collect(), ..DotRow::default() });
        }
    }
    let labels = Labels { title: task.to_owned(), x: "risk of f".to_owned(), ..Labels::default() };
    DotPlot { labels, series: players.to_vec(), rows, ..DotPlot::default() }
}

fn table(rows: &[Row]) -> Table {
    let fields = |row: &Row| {
        let Summary { exact, mean, value, low, high, .. } = row.summary;
        let cell = &row.cell;
        vec![
            Field::text("task", &cell.task),
            Field::text("attitude", &row.attitude),
            Field::text("player", cell.player()),
            Field::number(
                "simulations",
                if cell.simulations > 0 { cell.simulations.to_string() } else { "–".to_owned() },
            ),
            Field::number("runs", cell.runs.to_string()),
            Field::number("seed", cell.seed.to_string()),
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
