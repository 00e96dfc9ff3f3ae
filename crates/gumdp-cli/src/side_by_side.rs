//! Planners side by side: the report of `gumdp compare`, and the section of `gumdp reproduce` on the default planner.

use anyhow::Result;
use gumdp::Risk;

use crate::draw;
use crate::manifest::Manifest;
use crate::number::{known, risk, short};
use crate::results::{Finished, TaskResults};
use crate::store::Store;
use gumdp_files::Player;
use gumdp_plot::page::{Figure, Page, View};
use gumdp_plot::{Field, Table, Tone};

/// One task and β, played by the paper's planner and by the default one.
#[derive(Debug)]
pub struct Both<'a> {
    /// The paper's planner.
    pub paper: &'a Finished,
    /// The default planner.
    pub default: &'a Finished,
    /// The exact optimum, if it is known.
    pub optimum: Option<f64>,
    /// The risks as text, with a mark where they are below what is possible.
    pub risks: [String; 2],
    /// Whether ours is below what is possible.
    pub too_low: bool,
}

/// Every task and β that both planners have played.
pub fn both(experiments: &[TaskResults]) -> Vec<Both<'_>> {
    let of_task =
        |experiment| TaskResults::risks(experiment).into_iter().filter_map(move |risk| Both::new(experiment, risk));
    experiments.iter().flat_map(of_task).collect()
}

impl<'a> Both<'a> {
    fn new(experiment: &'a TaskResults, risk: Risk) -> Option<Self> {
        let (paper, default) = (experiment.find(risk, Player::Paper)?, experiment.find(risk, Player::Default)?);
        let optimum = experiment.optimum(risk).map(|optimum| optimum.value);
        let risks = [paper, default].map(|of| experiment.marked_risk(of));
        Some(Self { paper, default, optimum, risks, too_low: experiment.is_too_low(default) })
    }
}

/// Draws the figures of `gumdp compare` and writes its report.
pub fn draw(store: &Store, manifest: &Manifest, experiment: &TaskResults) -> Result<()> {
    let drawings: Vec<Figure> =
        draw::boxes(experiment).into_iter().chain(draw::task_figure(&experiment.task)).collect();
    draw::write_figures(store, &drawings)?;
    let mut page = Page::new(&experiment.task.title);
    page.lead(&experiment.task.description);
    page.section("comparison", "Side by side");
    page.paragraph(
        "All policies play with common random numbers: run k of each draws the same from the environment. Where the exact \
         distribution of a policy is known, its risk, mean and quantiles are those, and the runs illustrate it.",
    );
    page.paragraph(if experiment.optima.is_empty() {
        "The problem is too large to be solved exactly, so that no optimum is known."
    } else {
        "The exact policy is solved once for each attitude to risk, which is not part of its CPU time."
    });
    page.table(&draw::results_table(experiment));
    draw::cautions(&mut page, experiment);
    if let Some(data) = draw::of_results(experiment) {
        page.section("behaviour", "Behaviour");
        page.view(View::Levels, &data);
    }
    page.figures(&drawings);
    draw::settings(&mut page, manifest, std::slice::from_ref(experiment));
    store.write("report.html", page.html().as_bytes())
}

/// The section of `gumdp reproduce` on the default planner, if it was played.
pub fn section(page: &mut Page, store: &Store, experiments: &[TaskResults]) -> Result<()> {
    let trials = both(experiments);
    if trials.is_empty() {
        return Ok(());
    }
    page.section("planners", "The paper's settings and ours");
    page.paragraph(
        "The same runs with the default planner: as many simulations per decision, common random numbers. A risk is \
         marked where the two intervals do not overlap, and by ! where it is below the optimum: then costs that matter were \
         not met. Where the optimum can be computed, `gumdp run` plays it.",
    );
    page.table(&planners_table(&trials));
    let mut drawings = Vec::new();
    for experiment in experiments {
        let planners = experiment.played_by(Player::plans);
        if let Some(drawing) = draw::boxes(&planners) {
            drawings.push(Figure { name: format!("{}-planners", experiment.task.name), ..drawing });
        }
    }
    draw::write_figures(store, &drawings)?;
    page.figures(&drawings);
    Ok(())
}

/// One row for each task and β.
fn planners_table(trials: &[Both]) -> Table {
    let fields = |Both { paper, default, optimum, risks: [paper_risk, our_risk], too_low }: &Both| {
        let tone = if *too_low {
            Tone::Bad
        } else if default.summary.high < paper.summary.low {
            Tone::Good
        } else if default.summary.low > paper.summary.high {
            Tone::Bad
        } else {
            Tone::Plain
        };
        let cpu = |finished: &Finished| format!("{:.2}", finished.cpu_milliseconds_per_run());
        vec![
            Field::text("task", &paper.trial.task),
            Field::number("β or measure", risk(paper.trial.risk)),
            Field::number("paper's risk", paper_risk),
            Field::number("95\u{a0}% interval", paper.interval()),
            Field::number("our risk", our_risk).tone(tone),
            Field::number("95\u{a0}% interval", default.interval()),
            Field::number("exact optimum", known(*optimum)),
            Field::number("paper's mean", short(paper.summary.mean)),
            Field::number("our mean", short(default.summary.mean)),
            Field::number("paper's CPU\u{a0}ms per run", cpu(paper)),
            Field::number("our CPU\u{a0}ms per run", cpu(default)),
        ]
    };
    Table::of(trials, fields).captioned("The paper's planner and the default one; lower is better.")
}
