//! `gumdp run`: episodes for each β, a table, results and figures.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use gumdp::{Precision, Risk, Watch, tail_note};
use gumdp_files::Task;
use serde::Serialize;

use super::{Run, heading, keep, limits, load, naming, open_store, policy, print_json, risks, with_threads};
use crate::args::{ExperimentArgs, MAX_RUNS, PolicyArgs, PolicyName, Preset, precision, whole};
use crate::cells::Cell;
use crate::draw;
use crate::exact::Solver;
use crate::number::{Naming, short};
use crate::player::Who;
use crate::progress::Progress;
use crate::results::{Experiment, Finished, Row, runs_text};
use gumdp_plot::Table;

/// Play episodes for each β, print one row per β, write results and figures.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp run rooms\n  gumdp run mdp --beta 0.1,5,10 --runs 1000 --json\n  gumdp run mine.toml --beta -1,0,inf --policy exact\n  gumdp run rooms --risk mean,cvar:0.95,evar:0.95,worst\n  gumdp run grid-mo --preset paper --out paper-grid-mo\n  gumdp run msee --precision 0.005"
)]
pub struct RunArgs {
    /// What is played.
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// Who plays.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Play more until the 95 % interval of the risk is at most this far to either side and costs that matter would have been
    /// met; says how many runs that needs.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = precision)]
    pub precision: Option<f64>,
    /// Never play more runs per β than this for --precision.
    #[arg(long, value_name = "N", requires = "precision", default_value_t = 100_000, allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub max_runs: u64,
}

impl Run for RunArgs {
    fn run(&self, quiet: bool) -> Result<()> {
        run(self, quiet)
    }

    fn task(&self) -> Option<&str> {
        Some(&self.experiment.task)
    }
}

/// One row of `gumdp run --json`.
#[derive(Serialize)]
struct PlayedRow<'a> {
    #[serde(flatten)]
    row: Row,
    auto: Option<&'a str>,
    outer: Option<&'a str>,
}

impl<'a> PlayedRow<'a> {
    fn new(finished: &'a Finished) -> Self {
        Self { row: Row::new(finished), auto: finished.cell.auto.as_deref(), outer: finished.cell.outer.as_deref() }
    }
}

/// Plays, prints, writes and draws.
fn run(args: &RunArgs, quiet: bool) -> Result<()> {
    let started = Instant::now();
    let RunArgs { experiment: args, policy: chosen, precision, max_runs } = args;
    let task = load(&args.task)?;
    let policy = policy(chosen, None)?;
    let (risks, naming) = (risks(args, &task), naming(args, &task));
    let store = open_store(args, &task, "")?;
    let progress = Progress::new(risks.len() as u64 * args.runs.unwrap_or(task.defaults.runs), quiet);
    let mut solver = Solver::new(&task.problem, limits(policy, chosen.max_states));
    let precision = precision.map(|half_width| Precision { half_width, most_runs: *max_runs });
    let finished: Vec<Finished> = with_threads(args.luck.threads, || {
        let mut prepared = |risk: Risk| {
            let who = match policy {
                PolicyName::Auto => {
                    let (cell, agent) = Cell::auto(&task, risk, args.luck.seed, args.simulations, &mut solver)?;
                    return Ok((cell.with(args.runs, None), agent));
                }
                PolicyName::Planner if chosen.preset == Some(Preset::Paper) => Who::Paper,
                PolicyName::Planner => Who::Default,
                PolicyName::Uniform => Who::Uniform,
                PolicyName::Exact => Who::Exact,
                PolicyName::BackwardInduction => Who::BackwardInduction,
            };
            let cell = Cell::new(&task, risk, who, args.luck.seed).with(args.runs, args.simulations);
            let agent = cell.agent(&task, &mut solver)?;
            anyhow::Ok((cell, agent))
        };
        let play = |&risk: &Risk| {
            let (cell, agent) = prepared(risk)?;
            progress.working_on(&cell);
            let watch = Precise { progress: &progress, label: naming.label(risk), precision };
            Finished::play(cell, &agent, &task, store.as_ref(), &watch, precision.as_ref())
        };
        risks.iter().map(play).collect()
    })?;
    drop(progress);

    // A reader that has seen enough closes the pipe; the results are written all the same.
    let printed = if args.json {
        print_json(&finished.iter().map(PlayedRow::new).collect::<Vec<_>>())
    } else {
        print_table(&task, naming, &finished, &mut io::stdout().lock())
    };
    if !quiet && let Some(wanted) = precision {
        let is_missed = |of: &&Finished| {
            of.half_width() > wanted.half_width
                || of.cell.runs < wanted.least_runs(&task.problem, &[of.cell.risk], &of.costs())
        };
        for missed in finished.iter().filter(is_missed) {
            let (risk, width) = (naming.label(missed.cell.risk), short(missed.half_width()));
            let unmet = unmet(missed.half_width(), wanted);
            crate::talk::say!("{risk}: --max-runs {max_runs} is reached, the risk is known to ±{width}{unmet}");
        }
    }
    if let Some(store) = &store {
        let other = store.other_journals(&finished.iter().map(|of| of.cell.journal(&task)).collect::<Vec<_>>())?;
        if !quiet && !other.is_empty() {
            let (count, dir) = (other.len(), store.dir().display());
            crate::talk::say!(
                "{dir} also holds runs of other settings, which are kept but not part of these results: {}{}",
                other.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", "),
                if count > 3 { format!(" and {} more", count - 3) } else { String::new() }
            );
        }
        let experiment = with_threads(args.luck.threads, || Ok(Experiment::new(task, finished, &mut solver)))?;
        keep(store, "run", &experiment, started, quiet, draw::draw)?;
    }
    printed
}

/// Says when a measure needs more runs.
struct Precise<'a> {
    progress: &'a Progress,
    label: String,
    precision: Option<Precision>,
}

impl Watch for Precise<'_> {
    fn decided(&self, made: usize, of: usize, took: Duration) {
        self.progress.decided(made, of, took);
    }

    fn finished(&self, runs: u64) {
        self.progress.finished(runs);
    }

    fn goes_on(&self, half_width: f64, runs: u64, next: u64) {
        if !crate::talk::is_quiet() {
            let unmet = self.precision.map_or("", |wanted| unmet(half_width, wanted));
            let (label, width) = (&self.label, short(half_width));
            crate::talk::say!("{label}: ±{width} after {runs} runs{unmet}; going on to {next}");
        }
        self.progress.goes_on(half_width, runs, next);
    }
}

/// What is missing if it is not a narrower interval.
fn unmet(half_width: f64, wanted: Precision) -> &'static str {
    if half_width <= wanted.half_width { ", but rarer costs may not have been met" } else { "" }
}

fn print_table(task: &Task, naming: Naming, finished: &[Finished], out: &mut impl Write) -> Result<()> {
    let Some(first) = finished.first() else { return Ok(()) };
    let Cell { preset, simulations, seed, auto, .. } = &first.cell;
    let runs = runs_text(finished);
    let who = if preset.plans() {
        format!("planner, preset {preset}, {simulations} simulations per decision")
    } else {
        format!("policy {preset}")
    };
    writeln!(out, "{}", heading(task))?;
    if let Some(found) = auto {
        writeln!(out, "policy auto: {found}")?;
    }
    writeln!(out, "{who}, {runs}, seed {seed}; lower is better")?;
    writeln!(out)?;
    let [label, value] = naming.headers();
    let header = [label, "mean", "median", "quartiles", value, "95% interval", "CVaR95", "worst", "CPU s"];
    let mut table = Table::new(&header, &[]);
    for cell_results in finished {
        let Finished { cell, summary, .. } = cell_results;
        table.row(vec![
            naming.name(cell.risk),
            short(summary.mean),
            short(summary.median),
            format!("{} – {}", short(summary.q25), short(summary.q75)),
            short(summary.value),
            cell_results.interval(),
            short(summary.cvar95),
            short(summary.max),
            format!("{:.2}", cell_results.cpu_seconds()),
        ]);
    }
    table.print(out)?;
    for Finished { cell, .. } in finished {
        if let Some(outer) = &cell.outer {
            writeln!(out, "{}: {outer} (fixed at the first decision)", cell.risk)?;
        }
    }
    let tails = finished.iter().filter_map(|of| tail_note(of.cell.risk, of.cell.runs));
    let notes: Vec<String> = tails.chain(precision_note(naming, finished)).collect();
    if !notes.is_empty() {
        writeln!(out, "\n{}", notes.join("\n"))?;
    }
    Ok(())
}

/// What it would take to know the widest interval twice as well. Extreme costs are not averages: no number of runs follows
/// from the width of their interval.
fn precision_note(naming: Naming, finished: &[Finished]) -> Option<String> {
    let averaged = finished
        .iter()
        .filter(|finished| finished.cell.risk.beta().is_none_or(f64::is_finite) && finished.half_width() > 0.0);
    let widest = averaged.max_by(|a, b| a.half_width().total_cmp(&b.half_width()))?;
    let (width, risk) = (widest.half_width(), naming.label(widest.cell.risk));
    let (half, runs) = (short(width / 2.0), 4 * widest.cell.runs);
    Some(format!(
        "widest interval: ±{} at {risk}; half of that takes about {runs} runs (--precision {half})",
        short(width)
    ))
}
