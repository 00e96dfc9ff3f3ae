//! Figures and reports from results.

mod charts;
mod evaluation;
mod explanation;
mod frontier;
mod replay;
mod report;
mod sweep;
mod task;
mod views;

pub use charts::boxes;
pub use evaluation::draw_evaluation;
pub use explanation::draw_explanation;
pub use frontier::draw_frontier;
pub use replay::draw_replay;
pub use report::{cautions, draw, results_table, settings, write_figures};
pub use sweep::{draw_sweep, is_sweep};
pub use task::task;
pub use views::of_results;

use gumdp_files::Task;
use gumdp_plot::page::{Figure, Page};

use crate::results::TaskResults;

/// A figure of a task.
fn figure(task: &Task, name: &str, svg: String, caption: impl Into<String>) -> Figure {
    Figure { name: format!("{}-{name}", task.name), svg, narrow: None, caption: caption.into() }
}

/// What the parts of a box plot are, in every caption the same.
const BOX_PARTS: &str = "A box holds the middle half of the costs, its line is the median, the diamond the mean; whiskers reach to the last \
                     cost within one and a half lengths of the box, rings are costs beyond.";

/// The problem file, folded away.
fn problem_file(page: &mut Page, task: &Task) {
    page.details(&format!("Problem file of {}", task.name), |page| {
        page.code(&task.source);
    });
}

/// The task itself; `None` if it is a graph with too many states.
pub fn task_figure(of: &Task) -> Option<Figure> {
    let (svg, narrow) = task(of)?;
    Some(Figure { narrow, ..figure(of, "task", svg, format!("The task. {}", of.title)) })
}

/// Every figure that makes sense for a task and what was played of it.
pub fn figures(experiment: &TaskResults) -> Vec<Figure> {
    let mut drawings = Vec::from_iter(task_figure(&experiment.task));
    drawings.extend(charts::distributions(experiment));
    if !experiment.finished.is_empty() {
        let played = [charts::boxes, charts::heat_maps, charts::difficult_terrain, charts::outcomes];
        drawings.extend(played.into_iter().filter_map(|figure| figure(experiment)));
    }
    drawings
}
