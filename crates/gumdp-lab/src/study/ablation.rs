//! What each ingredient of the default planner earns: the built-in tasks and sparse random problems, with one ingredient off or
//! changed at a time.

use std::sync::Arc;

use anyhow::Result;
use gumdp_files::tasks;

use super::book::Row;
use super::variant::Variant;
use super::worlds::{Sample, sparse_tasks};
use super::{Block, Findings, Job, Verdict, dot, groups};
use gumdp::words::{beta, known};
use gumdp_plot::{Dot, DotPlot, DotRow, Labels, Table};

/// Tasks whose episodes take long, and how often they are played.
const LONG: ([&str; 2], u64) = (["grid-msee", "grid-il"], 16);
/// Runs of the others.
const RUNS: u64 = 200;
/// Gaps below this are not told apart in the picture.
const LEAST_GAP: f64 = 1e-3;

/// Every task at its β, with every variant.
pub fn jobs() -> Result<Vec<Job>> {
    let built_in = tasks::NAMES.into_iter().filter(|&name| name != "rooms").filter_map(tasks::get);
    let mut jobs = Vec::new();
    for task in built_in.map(Arc::new).chain(sparse_tasks(Sample::Known)?) {
        let name = task.name.as_str();
        let runs = if LONG.0.contains(&name) { LONG.1 } else { RUNS };
        // One run of it would take minutes.
        let endless = |variant| name == "grid-msee" && variant == Variant::TreeAlways;
        for &beta in &task.defaults.betas {
            let variants = Variant::ALL.into_iter().filter(|&variant| !endless(variant));
            jobs.extend(variants.map(|variant| Job::new(&task, beta, variant, runs)));
        }
    }
    Ok(jobs)
}

/// The table and the picture.
pub fn findings(rows: &[Row]) -> Findings {
    let blocks = Block::all(rows);
    Findings {
        introduction:
            "ERM of each variant; lower is better. The last rows count the tasks and β where a variant is better \
                       or worse than the default: their 95% intervals do not meet."
                .to_owned(),
        table: table(&blocks),
        picture: picture(&blocks),
    }
}

fn table(blocks: &[Block]) -> Table {
    let names = Variant::ALL.map(Variant::name);
    let header: Vec<&str> = ["task", "beta"].into_iter().chain(names).chain(["optimum"]).collect();
    let mut table = Table::new(&header, &[0]);
    for block in blocks {
        let first = block.first();
        let mut cells = vec![first.task.clone(), beta(first.beta)];
        cells.extend(Variant::ALL.map(|variant| known(block.find(variant).map(|row| row.erm))));
        cells.push(known(first.optimum));
        table.row(cells);
    }
    for verdict in [Verdict::Better, Verdict::Worse] {
        let count = |variant: Variant| {
            blocks.iter().filter(|block| block.verdict(variant, Variant::Default) == Some(verdict)).count()
        };
        let mut cells = vec![format!("{} than default", verdict.name()), String::new()];
        cells.extend(
            Variant::ALL.map(
                |variant| {
                    if variant == Variant::Default { "–".to_owned() } else { count(variant).to_string() }
                },
            ),
        );
        cells.push(String::new());
        table.row(cells);
    }
    table
}

fn picture(blocks: &[Block]) -> String {
    let row = |(block, group): (&Block, usize)| {
        let best = block.best_known();
        let dot = |variant| block.find(variant).map(|row| Dot { interval: None, ..dot(row, best) });
        DotRow { label: block.label(), group, dots: Variant::ALL.map(dot).to_vec(), reference: None }
    };
    let x = format!(
        "ERM less the exact optimum, or less the best of all variants; {LEAST_GAP} and less are drawn at the left"
    );
    DotPlot {
        labels: Labels::new("What each ingredient earns: gap to the best known value", x, ""),
        series: Variant::ALL.map(|variant| variant.name().to_owned()).to_vec(),
        rows: blocks.iter().zip(groups(blocks)).map(row).collect(),
        log_from: Some(LEAST_GAP),
        width: Some(860),
        ..DotPlot::default()
    }
    .svg()
}
