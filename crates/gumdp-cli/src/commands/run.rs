//! `gumdp run`: episodes for each β, a table, results and figures.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use gumdp::{Precision, Risk, Watch};
use serde::Serialize;

use super::{Run, heading, keep, load, open_store, print_json, use_threads};
use crate::args::{ExperimentArgs, MAX_RUNS, PolicyArgs, precision, whole};
use crate::draw;
use crate::exact::{Solver, above_the_optimum};
use crate::number::{Naming, interval, short};
use crate::progress::Progress;
use crate::results::{Finished, FinishedJson, TaskResults, runs_text};
use crate::store::Store;
use crate::talk::say;
use crate::trial::Trial;
use gumdp_plot::{Field, Table};

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
    /// Play more until the 95 % interval of the risk, which allows for costs not met, is at most this far to either side; says how
    /// many runs that needs.
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = precision)]
    pub precision: Option<f64>,
    /// Never play more runs per β than this for --precision.
    #[arg(long, value_name = "N", requires = "precision", default_value_t = 100_000, allow_negative_numbers = true, value_parser = whole(1, MAX_RUNS))]
    pub max_runs: u64,
}

/// One row of `gumdp run --json`.
#[derive(Serialize)]
struct PlayedJson<'a> {
    #[serde(flatten)]
    results: FinishedJson,
    auto: Option<&'a str>,
    outer: Option<&'a str>,
}

impl<'a> PlayedJson<'a> {
    fn new(experiment: &TaskResults, finished: &'a Finished) -> Self {
        Self {
            results: FinishedJson::new(finished, experiment.bound(finished.trial.risk)),
            auto: finished.trial.auto.as_deref(),
            outer: finished.trial.outer.as_deref(),
        }
    }
}

impl Run for RunArgs {
    /// Plays, prints, writes and draws.
    fn run(&self) -> Result<()> {
        let started = Instant::now();
        let Self { experiment: args, policy, precision, max_runs } = self;
        let seed = args.common.random.seed;
        use_threads(args.common.random.threads)?;
        let task = load(&args.task)?;
        let who = policy.who(None)?;
        let (risks, naming) = (args.attitudes.risks(&task, None), args.attitudes.naming(&task));
        let store = open_store(args, &task, "")?;
        let progress = Progress::new(risks.len() as u64 * args.runs.unwrap_or(task.defaults.runs));
        let mut solver = Solver::new(&task.problem, policy.limits(who));
        let precision = precision.map(|half_width| Precision { half_width, most_runs: *max_runs });
        let play = |&risk: &Risk| {
            let (trial, agent) = if let Some(who) = who {
                let trial = Trial::new(&task, risk, who, seed).with(None, args.common.simulations);
                let agent = trial.agent(&task, &mut solver)?;
                (trial, agent)
            } else {
                Trial::auto(&task, risk, seed, args.common.simulations, &mut solver)?
            };
            let trial = trial.with(args.runs, None);
            progress.working_on(&trial);
            let watch = Precise { progress: &progress, label: naming.label(risk) };
            Finished::play(trial, &agent, &task, store.as_ref(), &watch, precision.as_ref())
        };
        let finished = risks.iter().map(play).collect::<Result<Vec<Finished>>>()?;
        drop(progress);
        let proving = Progress::spinner("proving");
        let experiment = TaskResults::new(task, finished, &mut solver);
        drop(proving);

        // A reader that has seen enough closes the pipe; the results are written all the same.
        let printed = if args.common.json {
            print_json(&experiment.finished.iter().map(|of| PlayedJson::new(&experiment, of)).collect::<Vec<_>>())
        } else {
            print_table(&experiment, naming, &mut crate::talk::stdout())
        };
        for of in precision.iter().flat_map(|wanted| experiment.finished.iter().filter(|of| of.is_missed(wanted))) {
            let (risk, width) = (naming.label(of.trial.risk), short(of.half_width()));
            let why = if of.trial.runs < *max_runs {
                "more runs would not narrow the interval of an extreme cost".to_owned()
            } else {
                format!("--max-runs {max_runs} is reached")
            };
            say!("{risk}: {why}, the risk is known to ±{width}");
        }
        if let Some(store) = &store {
            let own: Vec<String> = experiment.finished.iter().map(|of| of.trial.journal(&experiment.task)).collect();
            tell_of_other_runs(store, &store.other_journals(&own)?);
            keep(store, "run", &experiment, started, draw::draw)?;
        }
        printed
    }
}

fn tell_of_other_runs(store: &Store, journals: &[String]) {
    let (shown, more) = journals.split_at(journals.len().min(3));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    if !shown.is_empty() {
        say!(
            "{} also holds runs of other settings, which are kept but not part of these results: {}{more}",
            store.dir().display(),
            shown.join(", ")
        );
    }
}

/// Says when a measure needs more runs.
struct Precise<'a> {
    progress: &'a Progress,
    label: String,
}

impl Watch for Precise<'_> {
    fn decided(&self, made: usize, of: usize, took: Duration) {
        self.progress.decided(made, of, took);
    }

    fn finished(&self, runs: u64) {
        self.progress.finished(runs);
    }

    fn goes_on(&self, half_width: f64, runs: u64, next: u64) {
        let (label, width) = (&self.label, short(half_width));
        say!("{label}: ±{width} after {runs} runs; going on to {next}");
        self.progress.goes_on(half_width, runs, next);
    }
}

fn print_table(experiment: &TaskResults, naming: Naming, out: &mut impl Write) -> Result<()> {
    let TaskResults { task, finished, .. } = experiment;
    let Some(first) = finished.first() else { return Ok(()) };
    let Trial { preset, simulations, seed, auto, .. } = &first.trial;
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
    let fields = |of: &Finished| {
        let summary = &of.summary;
        vec![
            Field::number(label, naming.name(of.trial.risk)),
            Field::number("mean", short(summary.mean)),
            Field::number("median", short(summary.median)),
            Field::number("quartiles", interval(summary.q25, summary.q75)),
            Field::number(value, experiment.marked_risk(of)),
            Field::number("95% interval", of.interval()),
            Field::number("CVaR95", short(summary.cvar95)),
            Field::number("worst", short(summary.max)),
            Field::number("CPU s", format!("{:.2}", of.played.cpu_seconds)),
        ]
    };
    Table::of(finished, fields).print(out)?;
    for Finished { trial, .. } in finished {
        if let Some(outer) = &trial.outer {
            writeln!(out, "{}: {outer} (fixed at the first decision)", trial.risk)?;
        }
    }
    let cautions = finished.iter().filter_map(|of| {
        let note = of.summary.trust.note()?;
        Some(format!("{}: {note}", naming.label(of.trial.risk)))
    });
    let above = finished.iter().filter_map(|of| {
        let above = above_the_optimum(of.summary.high, experiment.bound(of.trial.risk))?;
        Some(format!("{}: {above}", naming.label(of.trial.risk)))
    });
    let marked = experiment.mark_note().map(str::to_owned);
    let notes: Vec<String> =
        marked.into_iter().chain(cautions).chain(above).chain(precision_note(naming, finished)).collect();
    if !notes.is_empty() {
        writeln!(out, "\n{}", notes.join("\n"))?;
    }
    Ok(())
}

/// What it would take to know the widest interval twice as well, if costs that were met decide its width: one that allows for others
/// shrinks in other ways.
fn precision_note(naming: Naming, finished: &[Finished]) -> Option<String> {
    let averaged = finished.iter().filter(|of| of.summary.trust.doubt.is_none() && of.half_width() > 0.0);
    let widest = averaged.max_by(|a, b| a.half_width().total_cmp(&b.half_width()))?;
    let (width, risk) = (widest.half_width(), naming.label(widest.trial.risk));
    let (half, runs) = (short(width / 2.0), 4 * widest.trial.runs);
    Some(format!(
        "widest interval: ±{} at {risk}; half of that takes about {runs} runs (--precision {half})",
        short(width)
    ))
}
