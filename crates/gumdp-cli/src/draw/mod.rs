//! Figures and reports from results.

mod charts;
mod evaluation;
mod explanation;
mod frontier;
mod report;
mod task;

pub use charts::boxes;
pub use evaluation::draw_evaluation;
pub use explanation::draw_explanation;
pub use frontier::draw_frontier;
pub use report::{draw, results_table, settings, write_figures};
pub use task::task;

use crate::results::Experiment;

/// A figure with its name and caption.
#[derive(Debug)]
pub struct Drawing {
    /// File name without extension.
    pub name: String,
    /// The SVG document.
    pub svg: String,
    /// What it shows.
    pub caption: String,
}

/// The task itself.
pub fn task_figure(experiment: &Experiment) -> Option<Drawing> {
    let svg = task(&experiment.task)?;
    let name = format!("{}-task", experiment.task.name);
    Some(Drawing { name, svg, caption: format!("The task. {}", experiment.task.title) })
}

/// Every figure that makes sense for a task and what was played of it.
pub fn figures(experiment: &Experiment) -> Vec<Drawing> {
    let mut drawings = Vec::from_iter(task_figure(experiment));
    drawings.extend(charts::laws(experiment));
    drawings.extend(charts::boxes(experiment));
    drawings.extend(charts::heat_maps(experiment));
    drawings.extend(charts::difficult_terrain(experiment));
    drawings.extend(charts::outcomes(experiment));
    drawings
}
