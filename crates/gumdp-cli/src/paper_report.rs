//! The report of `gumdp reproduce`: the paper's experiments, its numbers beside ours, run times.

use anyhow::Result;

use crate::comparison::{Comparison, Tally, Verdict};
use crate::manifest::Manifest;
use crate::number::beta;
use crate::published::{Departure, Published, Time};
use crate::results::TaskResults;
use crate::store::Store;
use crate::{draw, side_by_side};
use gumdp_files::Player;
use gumdp_plot::page::{Figure, Page};
use gumdp_plot::{Field, Table};

/// Draws every figure and writes `report.html`.
pub fn write(
    store: &Store,
    manifest: &Manifest,
    experiments: &[TaskResults],
    published: &Published,
    comparisons: &[Comparison],
) -> Result<()> {
    let mut page = Page::new("Risk-aware general-utility MDPs: the experiments reproduced");
    page.lead(
        "Experiments of “Risk-Aware General-Utility Markov Decision Processes” (Santos, Vital, Sardinha and Melo), run \
         again with its settings. Costs: lower is better everywhere.",
    );
    page.key_figures(&tiles(manifest, experiments, comparisons));
    page.section("comparison", "The paper's numbers and ours");
    if comparisons.is_empty() {
        page.paragraph("The paper's text gives no number for these experiments.");
    } else {
        compare(&mut page, comparisons);
    }
    let departures: Vec<&Departure> = published.departures(experiments).collect();
    if !departures.is_empty() {
        page.section("departures", "Departures from the paper's text");
    }
    for Departure { task, what, why } in departures {
        page.paragraph(&format!("**{task}:** {what}; {why}"));
    }
    // The paper's figures show the paper's planner.
    let played: Vec<TaskResults> =
        experiments.iter().map(|experiment| experiment.played_by(|who| who != Player::Default)).collect();
    let drawings: Vec<Vec<Figure>> = played.iter().map(draw::figures).collect();
    let of_paper = published.figures(&drawings.concat());
    if !of_paper.is_empty() {
        page.section("figures", "The paper's figures");
        page.paragraph(
            "As the paper numbers them, drawn from our runs of its planner; each panel is also a file of its own.",
        );
        draw::write_figures(store, &of_paper)?;
        page.figures(&of_paper);
    }
    side_by_side::section(&mut page, store, experiments)?;
    for (experiment, drawings) in played.iter().zip(drawings) {
        let task = &experiment.task;
        page.section(&task.name, &task.title);
        page.paragraph(&task.description);
        if !experiment.finished.is_empty() {
            page.table(&draw::results_table(experiment));
        }
        draw::write_figures(store, &drawings)?;
        page.figures(drawings.iter().filter(|drawing| !published.has_figure(&drawing.name)));
    }
    let times = run_times(published, experiments);
    if !times.is_empty() {
        page.section("run-time", "Run time");
        page.table(&times);
    }
    draw::settings(&mut page, manifest, experiments);
    store.write("report.html", page.html().as_bytes())
}

fn tiles(
    manifest: &Manifest,
    experiments: &[TaskResults],
    comparisons: &[Comparison],
) -> Vec<(String, String, String)> {
    let finished = || experiments.iter().flat_map(|experiment| &experiment.finished);
    let tally = Tally::of(comparisons);
    let open = tally.open();
    let cpu: f64 = finished().map(|f| f.played.cpu_seconds).sum();
    let steps: u64 = finished().map(|f| f.played.simulated_steps).sum();
    let tile = |label: &str, value: String, note: &str| (label.to_owned(), value, note.to_owned());
    vec![
        tile(
            "published numbers that agree",
            format!("{} of {}", tally.agree, tally.all()),
            if open.is_empty() { "within sampling error, at 99 %" } else { &open },
        ),
        tile("episodes", finished().map(|f| f.played.runs()).sum::<u64>().to_string(), "all tasks, all β"),
        tile("simulated steps", format!("{:.2} billion", steps as f64 / 1e9), "to choose their actions"),
        tile(
            "CPU time",
            format!("{cpu:.0} s"),
            &format!("{:.0} s on the clock for the last command", manifest.wall_seconds),
        ),
    ]
}

fn compare(page: &mut Page, comparisons: &[Comparison]) {
    page.paragraph(
        "A number agrees if the difference is within the 99 % interval that the sampling errors of both sides allow, plus \
         half a unit of the last digit printed in the paper. A maximum is possible unless too many of our runs exceed it.",
    );
    page.table(&Table::of(comparisons, |c| c.fields("β")).captioned("References and our results."));
    for c in comparisons {
        let label = format!("{}, β = {}, {}", c.task, beta(c.beta), c.statistic);
        match (c.verdict, &c.why) {
            (Verdict::Differs, why) => {
                let why = why.as_deref().unwrap_or("no reason is known.");
                page.paragraph(&format!("**{label} differs:** {why}"));
            }
            (_, Some(why)) => {
                page.paragraph(&format!("**Note on {label}:** {why}"));
            }
            (_, None) => {}
        }
    }
}

fn run_times(published: &Published, experiments: &[TaskResults]) -> Table {
    let timed = experiments.iter().filter_map(|experiment| {
        let time = published.time.iter().find(|time| time.task == experiment.task.name)?;
        let planned = || experiment.finished.iter().filter(|finished| finished.trial.preset == Player::Paper);
        let cpu: f64 = planned().map(|f| f.played.cpu_seconds).sum();
        let runs: u64 = planned().map(|finished| finished.played.runs()).sum();
        // The paper gives the time of a whole figure or of one run; ours is scaled to the same work.
        let defaults = &experiment.task.defaults;
        let work = if time.of == "figure" { defaults.runs * defaults.betas.len() as u64 } else { 1 };
        (runs > 0).then(|| (time, work, cpu / runs as f64 * work as f64))
    });
    let fields = |(time, work, ours): (&Time, u64, f64)| {
        let ratio = time.seconds / ours;
        vec![
            Field::text("task", &time.task),
            Field::text("work", if work == 1 { "one run".to_owned() } else { format!("{work} runs") }),
            Field::number("paper, s", time.seconds.to_string()),
            Field::number("ours, CPU s", format!("{ours:.3}")),
            Field::number("ratio", format!("{ratio:.0}×")).sorted_by(ratio),
        ]
    };
    let caption = "The paper's times are from other machines: a laptop (illustrative tasks) and a server (grids).";
    Table::of(timed, fields).captioned(caption)
}
