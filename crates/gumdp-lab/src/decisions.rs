//! What a decision of the default planner costs in CPU time of one thread, as a function of states, horizon and simulations: tables,
//! curves and their slopes.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use cpu_time::ThreadTime;
use gumdp::rng::{self, Purpose};
use gumdp::{Budget, Erm, GuidedPlanner, GuidedSettings, Policy, Problem};
use gumdp_files::Task;
use gumdp_plot::{Labels, LinePlot, LineSeries, Table};

use crate::families::{Terrain, explore};
use crate::on_threads;

/// Measure what a decision costs over states, horizon and simulations, and draw it.
#[derive(Debug, Args)]
pub struct DecisionsArgs {
    /// Folder for the curves.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/decisions")]
    out: PathBuf,
    /// How often each is measured; the fastest counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
}

/// Exploration of a square map: what is measured, and where two of the three numbers stand while the third grows.
#[derive(Clone, Copy)]
struct Case {
    side: usize,
    horizon: usize,
    simulations: u64,
}

/// The name of its figure, what it is, and the cases along it.
type Axis = (&'static str, &'static str, Vec<(f64, Case)>);

const MIDDLE: Case = Case { side: 50, horizon: 100, simulations: 500 };
const SIDES: [usize; 6] = [10, 20, 50, 100, 300, 1000];
const HORIZONS: [usize; 6] = [25, 50, 100, 200, 400, 800];
const SIMULATIONS: [u64; 6] = [100, 300, 1000, 3000, 10_000, 30_000];
/// Decisions after the first that are measured.
const LATER: usize = 10;

/// Measures, prints and draws.
pub fn decisions(&DecisionsArgs { ref out, repeat }: &DecisionsArgs, quiet: bool) -> Result<()> {
    std::fs::create_dir_all(out)?;
    let axes: [Axis; 3] = [
        ("states", "cells of the map", SIDES.map(|side| ((side * side) as f64, Case { side, ..MIDDLE })).to_vec()),
        ("horizon", "horizon", HORIZONS.map(|horizon| (horizon as f64, Case { horizon, ..MIDDLE })).to_vec()),
        (
            "simulations",
            "simulations per decision",
            SIMULATIONS.map(|simulations| (simulations as f64, Case { simulations, ..MIDDLE })).to_vec(),
        ),
    ];
    let mut text = io::stdout().lock();
    for (name, words, cases) in axes {
        let mut table = Table::new(&[words, "first decision, s", "later ones, ms"], &[]);
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for (x, case) in cases {
            if !quiet {
                eprintln!("measuring: {words} {x}");
            }
            let (seconds, after) = on_threads(Some(1), || measure(case, repeat))?;
            first.push((x, seconds));
            later.push((x, after));
            table.row(vec![format!("{x}"), format!("{seconds:.3}"), format!("{:.2}", after * 1e3)]);
        }
        table.print(&mut text)?;
        writeln!(text, "slopes of logarithms: {:.2} and {:.2}\n", slope(&first), slope(&later))?;
        draw(out, &format!("decision-{name}.svg"), words, first, later)?;
    }
    Ok(())
}

/// CPU seconds of the first decision, preparation included, and of each of the next ones.
fn measure(case: Case, repeat: u64) -> Result<(f64, f64)> {
    let terrain = Terrain { share: 0.1, stuck: 0.1, unstuck: 0.01 };
    let mut rng = rng::stream(0, case.side as u64, Purpose::Generation);
    let problem = Task::parse("map.toml", &explore(case.side, case.horizon, &terrain, &mut rng))?.problem;
    let mut fastest = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeat {
        let (first, later) = once(&problem, case.simulations)?;
        fastest = (fastest.0.min(first), fastest.1.min(later));
    }
    Ok(fastest)
}

fn once(problem: &Problem, simulations: u64) -> Result<(f64, f64)> {
    let (mut environment, mut own) = (rng::stream(0, 0, Purpose::Environment), rng::stream(0, 0, Purpose::Policy));
    let settings = GuidedSettings { budget: Budget::simulations(simulations), ..GuidedSettings::default() };
    let mut at = problem.start(problem.mdp().sample_initial(&mut environment));
    let mut since = ThreadTime::now();
    let mut planner = GuidedPlanner::new(problem, Erm::new(1.0)?, settings)?;
    let mut seconds = [0.0; LATER + 1];

    for taken in &mut seconds {
        let action = planner.act(&at, &mut own)?;
        *taken = since.elapsed().as_secs_f64();
        let pair = problem.mdp().pair(at.state, action).expect("planners play actions of the state");
        problem.advance(&mut at, pair, problem.mdp().sample(pair, &mut environment));
        since = ThreadTime::now();
    }
    Ok((seconds[0], seconds[1..].iter().sum::<f64>() / LATER as f64))
}

/// The slope of the straight line through the logarithms: x² as much for 2.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let along: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    along / logs.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

fn draw(
    out: &std::path::Path,
    file: &str,
    x_label: &str,
    first: Vec<(f64, f64)>,
    later: Vec<(f64, f64)>,
) -> Result<()> {
    let series =
        |name: &str, points| LineSeries { name: name.to_owned(), points, markers: true, ..LineSeries::default() };
    let plot = LinePlot {
        labels: Labels::new("Cost of a decision", x_label, "CPU seconds"),
        log_x: true,
        log_y: true,
        series: vec![series("first decision", first), series("each later one", later)],
        ..LinePlot::default()
    };
    crate::write(out, file, plot.svg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes() {
        let square: Vec<(f64, f64)> = (1..6).map(|x| (f64::from(x), 3.0 * f64::from(x * x))).collect();
        assert!((slope(&square) - 2.0).abs() < 1e-12);
    }
}
