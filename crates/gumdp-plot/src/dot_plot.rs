//! Dots of several series in many named rows, each with an interval and a reference if there are any.

use super::frame::{Bottom, Frame, Labels, Plot};
use super::ink::{self, GRID, series_colour};
use super::legend;
use super::scale::{Axis, Tick, brief};
use super::svg::{Paint, Rect};
use super::{name, or, spoken_list};
use std::fmt::Write as _;

/// Pixels between the dots of a row, one above the other so that equal values stay apart.
const DOT_PITCH: f64 = 3.0;

/// Values of several series by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DotPlot {
    /// Heading and value axis.
    pub labels: Labels,
    /// Names of the series, in the order of [`DotRow::dots`].
    pub series: Vec<String>,
    /// The rows, from top to bottom.
    pub rows: Vec<DotRow>,
    /// Legend entry of [`DotRow::reference`].
    pub reference_label: String,
    /// A logarithmic axis from this value on; lower values are drawn there.
    pub log_from: Option<f64>,
    /// Width in pixels; 720 by default.
    pub width: Option<u32>,
}

/// The values that share a label.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DotRow {
    /// Label of the row.
    pub label: String,
    /// Rows of one group share a background.
    pub group: usize,
    /// One dot for each series that has a value.
    pub dots: Vec<Option<Dot>>,
    /// A value to compare with.
    pub reference: Option<f64>,
}

/// A value and how sure it is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Dot {
    /// The value.
    pub value: f64,
    /// Low and high end of its interval.
    pub interval: Option<(f64, f64)>,
}

impl DotPlot {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let count = self.rows.len().max(1) as f64;
        let pitch = self.series.len() as f64 * DOT_PITCH + 12.0;
        let mut left = Axis::linear((0.0, count), 1);
        let tick = |(index, row): (usize, &DotRow)| Tick { value: middle(index, count), label: row.label.clone() };
        left.ticks = self.rows.iter().enumerate().map(tick).collect();
        let values = self.values().map(|value| self.placed(value));
        let bottom = Axis::over(values, self.log_from.is_some(), 0.03, 8);
        let mut legend = legend::of_series(&self.series, |canvas, place, series| {
            ink::marker(canvas, series, place.middle(), 3.8);
        });
        if self.rows.iter().any(|row| row.reference.is_some()) {
            legend.push(legend::of_references(or(&self.reference_label, "reference")));
        }
        let frame = Frame {
            kind: "Dots",
            labels: &self.labels,
            width: self.width.unwrap_or(720).into(),
            plot_height: pitch * count,
            legend,
            bottom: Bottom::Numbers(bottom),
            left,
            references: &[],
        };
        frame.svg(&self.description(), |plot| {
            for (index, row) in self.rows.iter().enumerate() {
                let Some(y) = plot.y(middle(index, count)) else { continue };
                if row.group % 2 == 1 {
                    let band = Rect::new(plot.area.x, y - pitch / 2.0, plot.area.w, pitch);
                    plot.canvas.rect(band, 0.0, &Paint::fill(GRID).fill_opacity(0.5));
                }
                self.draw_row(plot, row, y, pitch);
            }
        })
    }

    fn draw_row(&self, plot: &mut Plot, row: &DotRow, y: f64, pitch: f64) {
        if let Some(x) = row.reference.and_then(|value| plot.x(self.placed(value))) {
            let half = pitch / 2.0 - 1.0;
            legend::reference(&mut plot.canvas, (x, y - half), (x, y + half));
        }
        let offset = |series: usize| (series as f64 - (self.series.len() as f64 - 1.0) / 2.0) * DOT_PITCH;
        for (series, dot) in row.dots.iter().enumerate() {
            let Some((dot, x)) = dot.and_then(|dot| Some((dot, plot.x(self.placed(dot.value))?))) else { continue };
            let y = y + offset(series);
            let ends =
                dot.interval.and_then(|(low, high)| Some((plot.x(self.placed(low))?, plot.x(self.placed(high))?)));
            let tip = format!("{}, {}: {}", row.label, name(&self.series, series), brief(dot.value));
            plot.canvas.with_tip(&tip, |canvas| {
                if let Some((low, high)) = ends {
                    canvas.line((low, y), (high, y), &Paint::stroke(series_colour(series), 1.4));
                }
                ink::marker(canvas, series, (x, y), 3.4);
            });
        }
    }

    /// Where a value is drawn.
    fn placed(&self, value: f64) -> f64 {
        self.log_from.map_or(value, |least| value.max(least))
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let of_dot = |dot: &Dot| {
            let (low, high) = dot.interval.unwrap_or((dot.value, dot.value));
            [low, dot.value, high]
        };
        let of_row =
            move |row: &DotRow| row.dots.iter().flatten().flat_map(of_dot).chain(row.reference).collect::<Vec<_>>();
        self.rows.iter().flat_map(of_row).chain(self.log_from)
    }

    fn description(&self) -> String {
        let mut out = format!("Dots of {} for {}.", or(&self.labels.x, "values"), spoken_list(&self.series));
        for row in &self.rows {
            let values: Vec<String> = row.dots.iter().flatten().map(|dot| brief(dot.value)).collect();
            let _ = write!(out, " {}: {}.", row.label, values.join(", "));
        }
        out
    }
}

/// The middle of a row on an axis that grows upwards.
fn middle(index: usize, count: f64) -> f64 {
    count - index as f64 - 0.5
}
