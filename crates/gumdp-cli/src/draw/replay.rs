//! A saved episode as a page: what `gumdp replay --html` writes.

use gumdp::Record;
use gumdp_files::Task;

use super::charts::risk_label;
use super::{problem_file, task_figure, views};
use crate::number::short;
use crate::trial::Trial;
use gumdp_plot::page::{Page, View};

/// The page of a run; `text` is the run for a terminal.
pub fn draw_replay(of: &Task, trial: &Trial, record: &Record, text: &str) -> String {
    let mut page = Page::new(&format!("{}: run {}", of.title, record.run));
    page.lead(&of.description);
    let tile = |label: &str, value: String| (label.to_owned(), value, String::new());
    page.key_figures(&[
        tile("attitude to risk", risk_label(trial.risk)),
        tile("played by", trial.preset.title().to_owned()),
        tile("cost", short(record.cost)),
        tile("steps", record.path.len().to_string()),
    ]);
    page.section("episode", "The episode");
    page.paragraph("Play it, or go step by step; with the slider in focus, the arrow keys move and the space bar plays and pauses.");
    page.view(View::Replay, &views::of_run(of, record));
    page.details("The episode as text", |page| {
        page.code(text);
    });
    page.section("task", "The task");
    page.figures(&task_figure(of));
    problem_file(&mut page, of);
    page.html()
}
