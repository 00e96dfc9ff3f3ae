//! The law of a policy as a picture, and the report of `gumdp evaluate`.

use anyhow::Result;
use gumdp::Risk;
use gumdp_files::Task;

use super::charts::beta_label;
use super::{Drawing, task, write_figures};
use crate::commands::evaluate::Evaluation;
use crate::store::Store;
use gumdp_plot::page::{Cell, Column, Figure, Page, Table};
use gumdp_plot::{Law, ReferenceLine, StemPlot};

/// At most this many risks are marked in the figure.
const MARKED: usize = 3;

/// Draws the law and writes the report.
pub fn draw_evaluation(store: &Store, of: &Task, evaluation: &Evaluation) -> Result<()> {
    let mean: f64 = evaluation.law.iter().map(|(cost, p)| cost * p).sum();
    let risks = evaluation.risks.iter().take(MARKED);
    let label = |risk: Risk| risk.beta().map_or_else(|| risk.to_string(), |beta| format!("ERM, {}", beta_label(beta)));
    let risks = risks.map(|row| ReferenceLine { at: row.erm, label: label(row.risk) });
    let law = StemPlot {
        title: "Distribution of the cost".to_owned(),
        x_label: "cost f(d)".to_owned(),
        laws: vec![Law { name: String::new(), atoms: evaluation.law.clone() }],
        references: std::iter::once(ReferenceLine { at: mean, label: "mean".to_owned() }).chain(risks).collect(),
        ..StemPlot::default()
    };
    let kind = if evaluation.exact { "The exact distribution" } else { "The sampled distribution" };
    let mut drawings = vec![Drawing {
        name: format!("{}-law", of.name),
        svg: law.svg(),
        caption: format!("{kind} of the cost under the policy. Lower is better."),
    }];
    if let Some(svg) = task(of) {
        let caption = format!("The task. {}", of.title);
        drawings.push(Drawing { name: format!("{}-task", of.name), svg, caption });
    }
    write_figures(store, &drawings)?;
    let mut page = Page::new(&of.title);
    page.lead(&of.description);
    page.section("policy", "The policy");
    page.paragraph(&format!("{}; {}.", evaluation.policy, evaluation.origin()));
    page.figures(&drawings.into_iter().map(Figure::from).collect::<Vec<_>>());
    page.section("measures", "Measures");
    let captions = ["Measures of the cost.", "Risk, and how far it is from the lowest possible."];
    for (number, ((header, rows), caption)) in evaluation.tables().into_iter().zip(captions).enumerate() {
        let column = |(place, name): (usize, &&str)| {
            if place == 0 && number == 0 { Column::text(name) } else { Column::number(name) }
        };
        page.table(&Table {
            caption: caption.to_owned(),
            columns: header.iter().enumerate().map(column).collect(),
            rows: rows.into_iter().map(|row| row.into_iter().map(Cell::from).collect()).collect(),
        });
    }
    page.details(&format!("Problem file of {}", of.name), |page| {
        page.code(&of.source);
    });
    store.write("report.html", page.html().as_bytes())
}
