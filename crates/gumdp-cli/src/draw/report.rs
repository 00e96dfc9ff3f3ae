//! `report.html` and the figure files of `gumdp run`, and the pieces that the paper's report shares.

use anyhow::Result;

use super::charts::risk_label;
use super::{figures, of_results, problem_file};
use crate::exact::above;
use crate::manifest::Manifest;
use crate::number::{interval, known, risk, short};
use crate::results::{Finished, TaskResults, distinct, runs_text};
use crate::store::Store;
use gumdp_plot::page::{Figure, Page, View};
use gumdp_plot::{Field, Table, Tone};

/// Draws the figures of `gumdp run` and writes its report.
pub fn draw(store: &Store, manifest: &Manifest, experiment: &TaskResults) -> Result<()> {
    let drawings = figures(experiment);
    write_figures(store, &drawings)?;
    let mut page = Page::new(&experiment.task.title);
    page.lead(&experiment.task.description);
    page.section("results", "Results");
    page.table(&results_table(experiment));
    for found in distinct(experiment.finished.iter().filter_map(|finished| finished.trial.auto.as_ref())) {
        page.paragraph(&format!("Policy auto: {found}."));
    }
    for Finished { trial, .. } in &experiment.finished {
        if let Some(outer) = &trial.outer {
            page.paragraph(&format!("{}: {outer}, fixed at the first decision.", trial.risk));
        }
    }
    cautions(&mut page, experiment);
    if let Some(data) = of_results(experiment) {
        page.section("behaviour", "Behaviour");
        page.view(View::Levels, &data);
    }
    page.figures(&drawings);
    settings(&mut page, manifest, std::slice::from_ref(experiment));
    store.write("report.html", page.html().as_bytes())
}

/// What to bear in mind of sampled risks.
pub fn cautions(page: &mut Page, experiment: &TaskResults) {
    if let Some(note) = experiment.mark_note() {
        page.paragraph(&format!("{note}."));
    }
    for of in experiment.by_risk() {
        if let Some(note) = of.summary.trust.note() {
            page.paragraph(&format!("{}, {}: {note}.", risk_label(of.trial.risk), of.trial.preset.title()));
        }
    }
}

/// Writes each figure as `figures/NAME`, in the formats of the folder.
pub fn write_figures(store: &Store, drawings: &[Figure]) -> Result<()> {
    drawings.iter().try_for_each(|drawing| store.write_figure(&format!("figures/{}", drawing.name), &drawing.svg))
}

/// One row for each trial of an experiment, β by β.
pub fn results_table(experiment: &TaskResults) -> Table {
    let fields = |finished: &Finished| {
        let Finished { trial, summary, .. } = finished;
        let bound = experiment.bound(trial.risk);
        let tone = if experiment.is_too_low(finished) { Tone::Bad } else { Tone::Plain };
        let mut row = vec![
            Field::number("β or measure", risk(trial.risk)),
            Field::text("policy", trial.preset.title()),
            Field::number("mean", short(summary.mean)),
            Field::number("median", short(summary.median)),
            Field::number("quartiles", interval(summary.q25, summary.q75)),
            Field::number("risk", experiment.marked_risk(finished)).tone(tone),
            Field::number("95\u{a0}% interval", finished.interval()),
            Field::number("exact optimum", known(experiment.optimum(trial.risk).map(|optimum| optimum.value))),
            Field::number("CVaR 95\u{a0}%", short(summary.cvar95)),
            Field::number("worst", short(summary.max)),
            Field::number("CPU\u{a0}ms per run", format!("{:.2}", finished.cpu_milliseconds_per_run())),
        ];
        if !experiment.bounds.is_empty() {
            let above = above(summary.high, bound).unwrap_or_else(|| "–".to_owned());
            row.insert(8, Field::number("above the optimum, at most", above));
            row.insert(8, Field::number("proven bound", known(bound.map(|bound| bound.value))));
        }
        row
    };
    let table = Table::of(experiment.by_risk(), fields);
    if table.is_empty() {
        return table.captioned(&experiment.task.name);
    }
    let runs = runs_text(&experiment.finished);
    table.captioned(format!("{}: {runs} for each row; lower is better everywhere.", experiment.task.name))
}

/// Settings, seeds and machine, at the end of a report.
pub fn settings(page: &mut Page, manifest: &Manifest, experiments: &[TaskResults]) {
    page.section("settings", "Settings");
    let fields = |finished: &Finished| {
        let trial = &finished.trial;
        let planned = |setting: String| if trial.preset.plans() { setting } else { "–".to_owned() };
        vec![
            Field::text("task", &trial.task),
            Field::text("policy", trial.preset.title()),
            Field::number("β or measure", risk(trial.risk)),
            Field::number("runs", trial.runs.to_string()),
            Field::number("simulations", planned(trial.simulations.to_string())),
            Field::number("exploration", planned(short(trial.exploration))),
            Field::number("seed", trial.seed.to_string()),
            Field::number("simulated steps", finished.played.simulated_steps.to_string()),
        ]
    };
    let finished = experiments.iter().flat_map(|experiment| &experiment.finished);
    page.table(&Table::of(finished, fields).captioned("What was run."));
    page.paragraph(&format!("gumdp {} on {}.", manifest.gumdp, manifest.machine));
    for experiment in experiments {
        problem_file(page, &experiment.task);
    }
}
