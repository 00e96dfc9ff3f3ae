//! `gumdp compare`: both planners, the exact optimum where there is one, and chance, side by side.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use gumdp::oracle::OracleError;
use serde::Serialize;

use super::{Run, heading, keep, load, open_store, print_json, use_threads};
use crate::args::{EffortArgs, ExperimentArgs};
use crate::exact::{Certain, Solver, above_the_optimum};
use crate::number::{Naming, counted, known, short};
use crate::progress::Progress;
use crate::results::{Finished, FinishedJson, TaskResults};
use crate::side_by_side;
use crate::trial::Trial;
use gumdp_files::Player;
use gumdp_plot::{Field, Table};

/// Play the paper's planner, the default one, the optimum and chance side by side.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp compare msee\n  gumdp compare grid-mo --beta 1,8 --runs 1000 --out mo\n  gumdp compare mine.toml --beta 0,10 --simulations 2000 --json"
)]
pub struct CompareArgs {
    /// What is played.
    #[command(flatten)]
    pub experiment: ExperimentArgs,
    /// What an exact solution may take.
    #[command(flatten)]
    pub effort: EffortArgs,
}

/// One row of `gumdp compare --json`.
#[derive(Serialize)]
struct ComparedJson {
    #[serde(flatten)]
    results: FinishedJson,
    optimum: Option<Certain>,
    /// The outer variable of the measure, if there is one and it was not fixed in an earlier process.
    outer: Option<String>,
}

impl Run for CompareArgs {
    /// Plays all policies with common random numbers, prints, writes and draws.
    fn run(&self) -> Result<()> {
        let started = Instant::now();
        let args = &self.experiment;
        use_threads(args.common.random.threads)?;
        let task = load(&args.task)?;
        let (risks, naming) = (args.attitudes.risks(&task, None), args.attitudes.naming(&task));
        let store = open_store(args, &task, "-compare")?;
        let solving = Progress::spinner("solving");
        let mut solver = Solver::new(&task.problem, self.effort.limits());
        let refused = solver.solve(risks[0]).err();
        if let Some(error @ OracleError::NotFinite) = refused {
            return Err(error.into());
        }
        drop(solving);
        let policies = [Player::Paper, Player::Default, Player::Exact, Player::Uniform];
        let policies = policies.into_iter().filter(|&who| who != Player::Exact || refused.is_none());
        let trials = Trial::grid(&task, policies, &risks, args.common.random.seed, args.runs, args.common.simulations);
        let progress = Progress::new(trials.iter().map(|trial| trial.runs).sum());
        let experiment = TaskResults::play(task, trials, store.as_ref(), &progress, &mut solver)?;
        drop(progress);

        // A reader that has seen enough closes the pipe; the results are written all the same.
        let printed = if args.common.json {
            let json = |of: &Finished| ComparedJson {
                results: FinishedJson::new(of, experiment.bound(of.trial.risk)),
                optimum: experiment.optimum(of.trial.risk),
                outer: of.trial.outer.clone(),
            };
            print_json(&experiment.by_risk().into_iter().map(json).collect::<Vec<_>>())
        } else {
            let refused = refused.map(|error| error.in_short());
            print_table(&experiment, naming, refused.as_deref(), &mut crate::talk::stdout())
        };
        if let Some(store) = &store {
            keep(store, "compare", &experiment, started, side_by_side::draw)?;
        }
        printed
    }
}

fn print_table(experiment: &TaskResults, naming: Naming, refused: Option<&str>, out: &mut impl Write) -> Result<()> {
    let Some(Trial { runs, simulations, seed, .. }) = experiment.finished.first().map(|first| &first.trial) else {
        return Ok(());
    };
    writeln!(out, "{}", heading(&experiment.task))?;
    writeln!(
        out,
        "planners with {simulations} simulations per decision, {} each, seed {seed}; lower is better",
        counted(*runs, "run")
    )?;
    if let Some(refused) = refused {
        writeln!(out, "no exact optimum: {refused}")?;
    }
    writeln!(out)?;
    let [label, value] = naming.headers();
    let fields = |of: &Finished| {
        vec![
            Field::number(label, naming.name(of.trial.risk)),
            Field::text("policy", of.trial.preset.to_string()),
            Field::number("mean", short(of.summary.mean)),
            Field::number(value, experiment.marked_risk(of)),
            Field::number("95% interval", of.interval()),
            Field::number("optimum", known(experiment.optimum(of.trial.risk).map(|optimum| optimum.value))),
            Field::number("CPU ms/run", format!("{:.2}", of.cpu_milliseconds_per_run())),
        ]
    };
    Table::of(experiment.by_risk(), fields).print(out)?;
    if let Some(note) = experiment.mark_note() {
        writeln!(out, "{note}")?;
    }
    for &(risk, bound) in &experiment.bounds {
        let of_risk = experiment.finished.iter().filter(|of| of.trial.risk == risk);
        let best = of_risk.min_by(|a, b| a.summary.high.total_cmp(&b.summary.high));
        if let Some((best, above)) =
            best.and_then(|best| Some((best, above_the_optimum(best.summary.high, Some(bound))?)))
        {
            writeln!(out, "{}, {}: {above}", naming.label(risk), best.trial.preset)?;
        }
    }
    for of in experiment.by_risk() {
        if let Some(note) = of.summary.trust.note() {
            writeln!(out, "{}, {}: {note}", naming.label(of.trial.risk), of.trial.preset)?;
        }
    }
    for Finished { trial, .. } in experiment.by_risk() {
        if let Some(outer) = &trial.outer {
            writeln!(out, "{}, {}: {outer} (fixed at the first decision)", trial.risk, trial.preset)?;
        }
    }
    Ok(())
}
