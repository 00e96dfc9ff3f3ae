//! The distribution of a policy's cost as a picture, and the report of `gumdp evaluate`.

use anyhow::Result;
use gumdp::Risk;
use gumdp_files::Task;

use super::charts::beta_label;
use super::{figure, problem_file, task_figure, write_figures};
use crate::commands::evaluate::Evaluation;
use crate::store::Store;
use gumdp_plot::page::Page;
use gumdp_plot::{Labels, LineKind, ReferenceLine, StemPlot};

/// At most this many risks are marked in the figure.
const MARKED: usize = 3;

/// Draws the distribution and writes the report.
pub fn draw_evaluation(store: &Store, of: &Task, evaluation: &Evaluation) -> Result<()> {
    let risks = evaluation.risks.iter().take(MARKED);
    let label = |risk: Risk| risk.beta().map_or_else(|| risk.to_string(), |beta| format!("ERM, {}", beta_label(beta)));
    let risks =
        risks.map(|row| ReferenceLine { kind: LineKind::Risk, at: row.found.value, label: label(row.attitude.risk) });
    let plot = StemPlot {
        labels: Labels::new("Distribution of the cost", "cost f(d)", ""),
        distributions: vec![(String::new(), evaluation.distribution.outcomes().collect())],
        references: std::iter::once(ReferenceLine {
            kind: LineKind::Mean,
            at: evaluation.distribution.mean(),
            label: "mean".to_owned(),
        })
        .chain(risks)
        .collect(),
    };
    let kind = if evaluation.exact { "The exact distribution" } else { "The sampled distribution" };
    let caption = format!("{kind} of the cost under the policy. Dotted: the mean; dashed: risks. Lower is better.");
    let mut drawings = vec![figure(of, "distribution", plot.svg(), caption)];
    drawings.extend(task_figure(of));
    write_figures(store, &drawings)?;
    let mut page = Page::new(&of.title);
    page.lead(&of.description);
    page.section("policy", "The policy");
    page.paragraph(&format!("{}; {}.", evaluation.policy, evaluation.origin()));
    page.figures(&drawings);
    page.section("measures", "Measures");
    let captions = ["Measures of the cost.", "Risk, and how far it is from the lowest possible."];
    for (table, caption) in evaluation.tables().into_iter().zip(captions) {
        page.table(&table.captioned(caption));
    }
    for note in evaluation.notes() {
        page.paragraph(&format!("{note}."));
    }
    problem_file(&mut page, of);
    store.write("report.html", page.html().as_bytes())
}
