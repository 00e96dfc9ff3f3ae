//! Whether more simulations lead to the optimum: tasks whose optimum is known, both planners, growing budgets.

use std::sync::Arc;

use gumdp_files::tasks;

use super::book::Row;
use super::variant::Variant;
use super::{Block, Findings, Job};
use gumdp::words::{beta, interval, known, short};
use gumdp_plot::{Labels, LinePlot, LineSeries, Table, panels};

/// Tasks that can be solved exactly.
const TASKS: [&str; 6] = ["mdp", "msee", "mo-weighted", "mo-max", "mo-min", "grid-mo"];
/// The simulations of the task times this, and how many runs.
const BUDGETS: [(u64, u64); 3] = [(1, 300), (10, 100), (100, 24)];

/// Every task at its middle β, with both planners and all budgets.
pub fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for task in TASKS.into_iter().filter_map(tasks::get).map(Arc::new) {
        let beta = task.defaults.betas[task.defaults.betas.len() / 2];
        for variant in Variant::PLANNERS {
            jobs.extend(BUDGETS.map(|(times, runs)| {
                let job = Job::new(&task, beta, variant, runs);
                Job { simulations: times * job.simulations, ..job }
            }));
        }
    }
    jobs
}

/// The table and the picture.
pub fn findings(rows: &[Row]) -> Findings {
    Findings {
        introduction:
            "Gap: ERM of sampled runs less the exact optimum, with its 95% interval. The exact distribution of what a planner plays \
                       is not known, since its search is random; gaps below 0 are sampling error."
                .to_owned(),
        table: table(rows),
        picture: picture(rows),
    }
}

/// The gap with the ends of its interval, if the optimum is known.
fn gap(row: &Row) -> Option<[f64; 3]> {
    row.optimum.map(|optimum| [row.erm, row.erm_low, row.erm_high].map(|erm| erm - optimum))
}

fn table(rows: &[Row]) -> Table {
    let header = ["task", "beta", "planner", "simulations", "runs", "ERM", "optimum", "gap", "interval", "CPU ms/run"];
    let mut table = Table::new(&header, &[0, 2]);
    for row in rows {
        let gap = gap(row);
        table.row(vec![
            row.task.clone(),
            beta(row.beta),
            row.variant.name().to_owned(),
            row.simulations.to_string(),
            row.runs.to_string(),
            short(row.erm),
            known(row.optimum),
            known(gap.map(|gap| gap[0])),
            gap.map_or_else(String::new, |[_, low, high]| interval(low, high)),
            format!("{:.2}", row.cpu_ms_per_run),
        ]);
    }
    table
}

/// A plot for each task.
fn picture(rows: &[Row]) -> String {
    let plots: Vec<String> = Block::all(rows).iter().map(plot).collect();
    panels("Gap to the exact optimum and number of simulations", &plots, 2)
}

fn plot(block: &Block) -> String {
    let series = |variant: Variant| {
        let own = block.0.iter().filter(|row| row.variant == variant);
        let gaps: Vec<(f64, [f64; 3])> = own.filter_map(|row| Some((row.simulations as f64, gap(row)?))).collect();
        LineSeries {
            name: variant.name().to_owned(),
            points: gaps.iter().map(|&(simulations, [gap, ..])| (simulations, gap)).collect(),
            band: gaps.iter().map(|&(_, [_, low, high])| (low, high)).collect(),
            markers: true,
            ..LineSeries::default()
        }
    };
    LinePlot {
        labels: Labels::new(block.label(), "simulations per decision", "ERM less the optimum"),
        log_x: true,
        series: Variant::PLANNERS.map(series).to_vec(),
        width: Some(420),
        ..LinePlot::default()
    }
    .svg()
}
