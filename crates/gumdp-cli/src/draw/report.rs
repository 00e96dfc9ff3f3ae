//! `report.html` and the figure files of `gumdp run`, and the pieces that the paper's report shares.

use anyhow::Result;
use gumdp::experiment::tail_note;

use super::{Drawing, figures};
use crate::number::{known, risk, short};
use crate::results::{Experiment, Finished, Manifest, distinct, runs_text};
use crate::store::Store;
use gumdp_plot::page::{Cell, Column, Figure, Page, Table};

/// Draws the figures of `gumdp run` and writes its report.
pub fn draw(store: &Store, manifest: &Manifest, experiment: &Experiment) -> Result<()> {
    let drawings = figures(experiment);
    write_figures(store, &drawings)?;
    let mut page = Page::new(&experiment.task.title);
    page.lead(&experiment.task.description);
    page.section("results", "Results");
    page.table(&results_table(experiment));
    for found in distinct(experiment.finished.iter().filter_map(|finished| finished.cell.auto.as_ref())) {
        page.paragraph(&format!("Policy auto: {found}."));
    }
    for Finished { cell, .. } in &experiment.finished {
        if let Some(outer) = &cell.outer {
            page.paragraph(&format!("{}: {outer}, fixed at the first decision.", cell.risk));
        }
        if let Some(note) = tail_note(cell.risk, cell.runs) {
            page.paragraph(&format!("{note}."));
        }
    }
    page.figures(&drawings.into_iter().map(Figure::from).collect::<Vec<_>>());
    settings(&mut page, manifest, std::slice::from_ref(experiment));
    store.write("report.html", page.html().as_bytes())
}

impl From<Drawing> for Figure {
    fn from(drawing: Drawing) -> Self {
        Self { svg: drawing.svg, caption: drawing.caption, file_name: drawing.name }
    }
}

/// Writes each figure as `figures/NAME.svg`, and as PNG if that is built in.
pub fn write_figures(store: &Store, drawings: &[Drawing]) -> Result<()> {
    for drawing in drawings {
        store.write(&format!("figures/{}.svg", drawing.name), drawing.svg.as_bytes())?;
        #[cfg(feature = "png")]
        store.write(&format!("figures/{}.png", drawing.name), &gumdp_plot::png::render(&drawing.svg)?)?;
    }
    Ok(())
}

/// One row for each cell of an experiment, β by β.
pub fn results_table(experiment: &Experiment) -> Table {
    let header = [
        "mean",
        "median",
        "quartiles",
        "risk",
        "95\u{a0}% interval",
        "exact optimum",
        "CVaR 95\u{a0}%",
        "worst",
        "CPU\u{a0}ms per run",
    ];
    let columns = [Column::number("β or measure"), Column::text("policy")]
        .into_iter()
        .chain(header.map(Column::number))
        .collect();
    let row = |finished: &Finished| {
        let Finished { cell, summary, .. } = finished;
        vec![
            Cell::from(risk(cell.risk)),
            Cell::from(cell.preset.title()),
            Cell::from(short(summary.mean)),
            Cell::from(short(summary.median)),
            Cell::from(format!("{} – {}", short(summary.q25), short(summary.q75))),
            Cell::from(short(summary.erm)),
            Cell::from(finished.erm_interval()),
            Cell::from(known(experiment.optimum(cell.risk))),
            Cell::from(short(summary.cvar95)),
            Cell::from(short(summary.max)),
            Cell::from(format!("{:.2}", finished.cpu_milliseconds_per_run())),
        ]
    };
    let caption = if experiment.finished.is_empty() {
        experiment.task.name.clone()
    } else {
        let runs = runs_text(&experiment.finished);
        format!("{}: {runs} for each row; lower is better everywhere.", experiment.task.name)
    };
    Table { caption, columns, rows: experiment.by_risk().into_iter().map(row).collect() }
}

/// Settings, seeds and machine, at the end of a report.
pub fn settings(page: &mut Page, manifest: &Manifest, experiments: &[Experiment]) {
    page.section("settings", "Settings");
    let columns = vec![
        Column::text("task"),
        Column::text("policy"),
        Column::number("β or measure"),
        Column::number("runs"),
        Column::number("simulations"),
        Column::number("exploration"),
        Column::number("seed"),
        Column::number("simulated steps"),
    ];
    let row = |finished: &Finished| {
        let cell = &finished.cell;
        let planned = |setting: String| if cell.preset.plans() { setting } else { "–".to_owned() };
        vec![
            Cell::from(cell.task.clone()),
            Cell::from(cell.preset.title()),
            Cell::from(risk(cell.risk)),
            Cell::from(cell.runs.to_string()),
            Cell::from(planned(cell.simulations.to_string())),
            Cell::from(planned(short(cell.exploration))),
            Cell::from(cell.seed.to_string()),
            Cell::from(finished.simulated_steps().to_string()),
        ]
    };
    let rows = experiments.iter().flat_map(|experiment| &experiment.finished).map(row).collect();
    page.table(&Table { caption: "What was run.".to_owned(), columns, rows });
    page.paragraph(&format!("gumdp {} on {}.", manifest.gumdp, manifest.machine));
    for experiment in experiments {
        let source = experiment.task.source.clone();
        page.details(&format!("Problem file of {}", experiment.task.name), |page| {
            page.code(&source);
        });
    }
}
