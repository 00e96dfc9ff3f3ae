//! What is shown as a figure for a paper, drawn by the plot crate as those of the command line are.

use serde::Deserialize;
use serde_json::{Value, json};

use gumdp_plot::{HeatMaps, Labels, LineKind, LinePlot, LineSeries, ReferenceLine, StemPlot, pdf, png};

/// Matrices with more cells than this have no numbers in them.
const MOST_LABELLED: usize = 150;

/// What is drawn: the data that the page shows.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figure {
    /// Distributions of the cost.
    Distribution { title: String, distributions: Vec<Distribution> },
    /// Mean against the mean of the worst 5 %, one point for each behaviour; and named points among them.
    Frontier { title: String, points: Vec<(f64, f64)>, named: Vec<(String, (f64, f64))> },
    /// Where time is spent: matrices with names of their rows and columns, if they have any.
    World { title: String, panels: Vec<Panel>, row_names: Vec<String>, column_names: Vec<String> },
}

#[derive(Deserialize)]
pub struct Distribution {
    name: String,
    mean: f64,
    outcomes: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
pub struct Panel {
    name: String,
    /// Shares of the time; none where nobody can be.
    rows: Vec<Vec<Option<f64>>>,
}

/// How it is written.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Svg,
    Pdf,
    Png,
}

/// The bytes of the file.
pub fn drawn(figure: Figure, format: Format) -> Result<Value, String> {
    let svg = svg(figure);
    Ok(match format {
        Format::Svg => json!({ "text": svg }),
        Format::Pdf => json!({ "bytes": pdf(&svg) }),
        Format::Png => json!({ "bytes": png(&svg).map_err(|error| error.to_string())? }),
    })
}

fn svg(figure: Figure) -> String {
    match figure {
        Figure::Distribution { title, distributions } => {
            let several = distributions.len() > 1;
            let label = |distribution: &Distribution| {
                if several { format!("mean, {}", distribution.name) } else { "mean".to_owned() }
            };
            let mean = |distribution: &Distribution| ReferenceLine {
                kind: LineKind::Mean,
                at: distribution.mean,
                label: label(distribution),
            };
            StemPlot {
                labels: Labels::new(title, "cost", ""),
                references: distributions.iter().map(mean).collect(),
                distributions: distributions
                    .into_iter()
                    .map(|distribution| (distribution.name, distribution.outcomes))
                    .collect(),
            }
            .svg()
        }
        Figure::Frontier { title, points, named } => {
            // Behaviours between two of them may not exist: there is no line.
            let points = points.into_iter().flat_map(|point| [point, (f64::NAN, f64::NAN)]).collect();
            let marked = |name: String, points| LineSeries { name, points, markers: true, ..LineSeries::default() };
            let named = named.into_iter().map(|(name, point)| marked(name, vec![point]));
            LinePlot {
                labels: Labels::new(title, "mean cost", "mean of the worst 5 %"),
                series: std::iter::once(marked("behaviours".to_owned(), points)).chain(named).collect(),
                ..LinePlot::default()
            }
            .svg()
        }
        Figure::World { title, panels, row_names, column_names } => {
            let cells = |panel: &Panel| panel.rows.iter().map(Vec::len).sum::<usize>();
            let rows = |panel: Panel| {
                let row = |row: Vec<Option<f64>>| row.into_iter().map(|share| share.unwrap_or(f64::NAN)).collect();
                (panel.name, panel.rows.into_iter().map(row).collect())
            };
            HeatMaps {
                title,
                value_label: "share of the time".to_owned(),
                cell_labels: panels.iter().all(|panel| cells(panel) <= MOST_LABELLED),
                panels: panels.into_iter().map(rows).collect(),
                zero_label: "never".to_owned(),
                row_names,
                column_names,
                ..HeatMaps::default()
            }
            .svg()
        }
    }
}
