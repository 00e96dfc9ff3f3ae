//! How fast this machine plans, as tables and curves.
//!
//! The planner is measured in turns with its roofline (random paths without a tree), and each figure is the fastest of many
//! repetitions, so that other work on the machine matters little.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use gumdp::rng::{self, Purpose};
use gumdp::stats::Summary;
use gumdp::words::{interval, short};
use gumdp::{Budget, Erm, Planner, PlannerSettings, Policy, Problem, Roofline, experiment};
use gumdp_files::{Task, tasks};
use gumdp_plot::{Labels, LinePlot, LineSeries, Table};

use crate::families::{Terrain, explore};
use crate::on_threads;
use crate::race::{Race, race};

/// Measure how fast this machine plans, and draw how that scales.
#[derive(Debug, Args)]
pub struct SpeedArgs {
    /// Folder for the curves.
    #[arg(long, value_name = "DIR", default_value = "gumdp-out/speed")]
    out: PathBuf,
    /// Seconds for each measurement.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = patience)]
    seconds: Duration,
    /// Runs for each row on the quality of shared decisions.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(2..))]
    runs: u64,
}

fn patience(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "the time must lie in [0, 3600] seconds".to_owned())
}

/// Sides of the square maps of the first curve.
const SIDES: [usize; 6] = [10, 20, 40, 80, 160, 300];
/// Simulations per decision of the second curve.
const SIMULATIONS: [u64; 7] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
/// Trees side by side.
const WORKERS: [usize; 4] = [1, 2, 4, 8];

/// Measures, prints and draws.
pub fn speed(&SpeedArgs { ref out, seconds: patience, runs }: &SpeedArgs) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut text = io::stdout().lock();
    tasks_table(patience, &mut text)?;
    map_sizes(out, patience, &mut text)?;
    simulations(out, patience, &mut text)?;
    threads(patience, &mut text)?;
    workers(patience, runs, &mut text)?;
    Ok(())
}

/// The fastest of many repetitions of two pieces of work done in turns, in seconds.
fn in_turns(patience: Duration, mut first: impl FnMut(u64), mut second: impl FnMut(u64)) -> (f64, f64) {
    let started = Instant::now();
    let (mut fastest_first, mut fastest_second) = (f64::INFINITY, f64::INFINITY);
    let mut number = 0;
    while number < 3 || started.elapsed() < patience {
        let before = Instant::now();
        first(number);
        fastest_first = fastest_first.min(before.elapsed().as_secs_f64());
        let before = Instant::now();
        second(number);
        fastest_second = fastest_second.min(before.elapsed().as_secs_f64());
        number += 1;
    }
    (fastest_first, fastest_second)
}

fn load(name: &str) -> Result<Task> {
    tasks::get(name).with_context(|| format!("no task {name}"))
}

fn planner(task: &Task, beta: f64) -> Result<Planner> {
    let settings = task.defaults.published();
    Ok(Planner::new(&task.problem, Erm::new(beta)?, settings)?)
}

/// One run of each task, beside as many random paths from the same occupancy states.
fn tasks_table(patience: Duration, out: &mut impl Write) -> Result<()> {
    let mut table = Table::new(&["task", "s per run", "ns per step", "roofline s", "ratio"], &[0]);
    for name in tasks::NAMES {
        let task = load(name)?;
        let Race { planned, roofline, steps } = race(&task.problem, &planner(&task, task.defaults.betas[1])?, patience);
        table.row(vec![
            name.to_owned(),
            format!("{planned:.4}"),
            format!("{:.1}", planned / steps * 1e9),
            format!("{roofline:.4}"),
            format!("{:.2}", planned / roofline),
        ]);
    }
    writeln!(
        out,
        "One run with the paper's settings, beside its roofline: the same number of random steps, no tree\n"
    )?;
    table.print(out)?;
    Ok(())
}

/// Seconds of one decision at the start and of its roofline, and the number of simulated steps.
fn decision(problem: &Problem, settings: &PlannerSettings, beta: f64, patience: Duration) -> Result<(f64, f64, f64)> {
    let simulations = settings.budget.simulations.unwrap_or(0);
    let mut planner = Planner::new(problem, Erm::new(beta)?, settings.clone())?;
    let mut roofline = Roofline::new(problem);
    let start = problem.start(problem.mdp().initial()[0].0);
    let (planned, roof) = in_turns(
        patience,
        |number| {
            let _ = planner.decide(&start, &mut rng::stream(0, number % 4, Purpose::Policy));
        },
        |number| {
            let mut rng = rng::stream(0, number % 4, Purpose::Policy);
            std::hint::black_box(roofline.simulate(&start, simulations, &mut rng));
        },
    );
    Ok((planned, roof, simulations as f64 * problem.horizon() as f64))
}

fn map_sizes(out: &Path, patience: Duration, text: &mut impl Write) -> Result<()> {
    let mut table = Table::new(&["map", "cells", "ns per step", "roofline"], &[0]);
    let (mut planned, mut roof) = (Vec::new(), Vec::new());
    for side in SIDES {
        let terrain = Terrain { share: 0.2, stuck: 0.1, unstuck: 0.01 };
        let mut rng = rng::stream(0, side as u64, Purpose::Generation);
        let task = Task::parse("map.toml", &explore(side, 200, &terrain, &mut rng))?;
        let (seconds, limit, steps) = decision(&task.problem, &PlannerSettings::paper_grid(), 1.0, patience)?;
        let (ns, roof_ns) = (seconds / steps * 1e9, limit / steps * 1e9);
        planned.push(((side * side) as f64, ns));
        roof.push(((side * side) as f64, roof_ns));
        let cells = (side * side).to_string();
        table.row(vec![format!("{side}×{side}"), cells, format!("{ns:.1}"), format!("{roof_ns:.1}")]);
    }
    writeln!(text, "\nMaps of growing size, exploration, H = 200, 1024 simulations per decision\n")?;
    table.print(text)?;
    let growth = planned.last().zip(planned.first()).map_or(f64::NAN, |(last, first)| last.1 / first.1);
    writeln!(text, "from the smallest to the largest the cost of a step grows by a factor of {growth:.2}")?;
    draw(out, "speed-map-size.svg", "Cost of a step and size of the map", "cells", planned, roof)
}

fn simulations(out: &Path, patience: Duration, text: &mut impl Write) -> Result<()> {
    let task = load("grid-mo")?;
    let mut table = Table::new(&["simulations", "ns per step", "roofline", "seconds"], &[]);
    let (mut planned, mut roof) = (Vec::new(), Vec::new());
    for count in SIMULATIONS {
        let settings = PlannerSettings { budget: Budget::simulations(count), ..PlannerSettings::paper_grid() };
        let (seconds, limit, steps) = decision(&task.problem, &settings, 1.0, patience)?;
        planned.push((count as f64, seconds / steps * 1e9));
        roof.push((count as f64, limit / steps * 1e9));
        table.row(vec![
            count.to_string(),
            format!("{:.1}", seconds / steps * 1e9),
            format!("{:.1}", limit / steps * 1e9),
            format!("{seconds:.3}"),
        ]);
    }
    writeln!(text, "\nMore simulations for one decision, grid-mo\n")?;
    table.print(text)?;
    draw(
        out,
        "speed-simulations.svg",
        "Cost of a step and number of simulations",
        "simulations per decision",
        planned,
        roof,
    )
}

/// Runs per second with one thread and with two.
fn threads(patience: Duration, text: &mut impl Write) -> Result<()> {
    let task = load("grid-mo")?;
    let erm = Erm::new(1.0)?;
    let play = |threads: usize| {
        on_threads(Some(threads), || {
            let runs = experiment(&task.problem, &planner(&task, erm.beta())?, 0, 0..64);
            runs.context("a run")?;
            Ok(())
        })
    };
    let mut failed = Ok(());
    let (one, two) = in_turns(patience, |_| failed = play(1), |_| drop(play(2)));
    failed?;
    writeln!(
        text,
        "\n64 runs of grid-mo: {one:.3} s with one thread, {two:.3} s with two, {:.2} times as fast",
        one / two
    )?;
    Ok(())
}

/// A decision shared by several trees: how long it takes and what it is worth.
fn workers(patience: Duration, runs: u64, text: &mut impl Write) -> Result<()> {
    let task = load("grid-msee")?;
    let mut table = Table::new(&["workers", "1 thread, ms", "2 threads, ms"], &[]);
    for workers in WORKERS {
        let settings = PlannerSettings { workers, ..PlannerSettings::paper_grid() };
        let time = |threads| on_threads(Some(threads), || decision(&task.problem, &settings, 1.0, patience));
        let (one, two) = (time(1)?.0, time(2)?.0);
        table.row(vec![workers.to_string(), format!("{:.2}", one * 1e3), format!("{:.2}", two * 1e3)]);
    }
    writeln!(text, "\nLatency of the first decision of grid-msee, 1024 simulations in all, shared by workers\n")?;
    table.print(text)?;

    let mut table = Table::new(&["task", "beta", "workers", "ERM", "95% interval"], &[0]);
    for (name, beta) in [("msee", 25.0), ("grid-mo", 1.0)] {
        let task = load(name)?;
        let erm = Erm::new(beta)?;
        for workers in WORKERS {
            let settings = PlannerSettings { workers, ..task.defaults.published() };
            let planner = Planner::new(&task.problem, erm, settings)?;
            let costs: Vec<f64> =
                experiment(&task.problem, &planner, 0, 0..runs)?.iter().map(|run| run.episode.cost).collect();
            let summary = Summary::of(&costs, erm, task.problem.objective().bounds(), 0)?;
            table.row(vec![
                name.to_owned(),
                beta.to_string(),
                workers.to_string(),
                short(summary.value),
                interval(summary.low, summary.high),
            ]);
        }
    }
    writeln!(text, "\nWhat sharing costs: the same simulations in all, {runs} runs\n")?;
    table.print(text)?;
    Ok(())
}

fn draw(
    out: &Path,
    file: &str,
    title: &str,
    x_label: &str,
    planned: Vec<(f64, f64)>,
    roof: Vec<(f64, f64)>,
) -> Result<()> {
    let series = |name: &str, points: Vec<(f64, f64)>| LineSeries {
        name: name.to_owned(),
        points,
        markers: true,
        ..LineSeries::default()
    };
    let plot = LinePlot {
        labels: Labels::new(title, x_label, "ns per simulated step"),
        log_x: true,
        series: vec![series("planner", planned), series("roofline: random paths, no tree", roof)],
        ..LinePlot::default()
    };
    crate::write(out, file, plot.svg())
}
