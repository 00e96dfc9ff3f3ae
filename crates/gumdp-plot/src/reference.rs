//! Labelled reference lines (a mean, a threshold) with labels beside the data, never on it.

use super::frame::Plot;
use super::ink::{INK, MUTED};
use super::svg::{Anchor, Canvas, Paint, TextStyle};
use super::text;

const SIZE: f64 = 11.0;

/// What a line stands for; its dash is the same in all figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineKind {
    /// A mean: dotted.
    #[default]
    Mean,
    /// A risk: dashed.
    Risk,
    /// Where something changes: dashes and dots.
    Change,
}

impl LineKind {
    /// Its dash.
    pub(super) fn dash(self) -> &'static str {
        match self {
            Self::Mean => "2 2",
            Self::Risk => "5 2.5",
            Self::Change => "8 3 2 3",
        }
    }
}

/// A vertical line across the plot area; the label stands above.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceLine {
    /// What it stands for.
    pub kind: LineKind,
    /// Value on the x axis.
    pub at: f64,
    /// Short label.
    pub label: String,
}

/// The values on the x axis.
pub(super) fn places(lines: &[ReferenceLine]) -> impl Iterator<Item = f64> + '_ {
    lines.iter().map(|line| line.at)
}

/// Writes the labels above the plot area, in as many rows as they need; returns the height used.
pub(super) fn top_strip(
    canvas: &mut Canvas,
    lines: &[ReferenceLine],
    top: f64,
    (left, right): (f64, f64),
    x_of: impl Fn(f64) -> Option<f64>,
) -> f64 {
    let inside = |x: &f64| (left - 0.5..=right + 0.5).contains(x);
    let mut labels: Vec<(f64, &str)> =
        lines.iter().filter_map(|line| Some((x_of(line.at).filter(inside)?, line.label.as_str()))).collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut row_ends: Vec<f64> = Vec::new();
    let mut placed = Vec::new();
    for (index, (x, label)) in labels.iter().enumerate() {
        let label = text::shorten(label, SIZE, right - left);
        let half = text::width(&label, SIZE) / 2.0;
        // A label that would sit on the next line moves to the side where there is none.
        let near = |other: Option<&(f64, &str)>| other.is_some_and(|other| (other.0 - x).abs() < half + 4.0);
        let centre = match (near(index.checked_sub(1).and_then(|i| labels.get(i))), near(labels.get(index + 1))) {
            (false, true) => x - half + 3.0,
            (true, false) => x + half - 3.0,
            _ => *x,
        };
        let centre = centre.min(right - half).max(left + half);
        let row = row_ends.iter().position(|end| centre - half > *end).unwrap_or(row_ends.len());
        if row == row_ends.len() {
            row_ends.push(0.0);
        }
        row_ends[row] = centre + half + 3.0;
        placed.push((*x, centre, row, label));
    }
    let height = row_ends.len() as f64 * 14.0;
    let row_middle = |row: usize| top + height - 7.0 - row as f64 * 14.0;
    for (x, _, row, _) in &placed {
        // Labels of higher rows are tied to their line.
        canvas.line((*x, top + height), (*x, row_middle(*row)), &Paint::stroke(MUTED, 0.8).opacity(0.6));
    }
    for (_, centre, row, label) in &placed {
        let style = TextStyle::new(SIZE, Anchor::Middle).halo(super::ink::PAPER);
        canvas.text((*centre, row_middle(*row)), label, &style);
    }
    if placed.is_empty() { 0.0 } else { height + 4.0 }
}

/// Draws the lines over the data.
pub(super) fn draw(plot: &mut Plot, lines: &[ReferenceLine]) {
    let area = plot.area;
    for line in lines {
        let Some(x) = plot.x(line.at).filter(|x| (area.x - 0.5..=area.right() + 0.5).contains(x)) else { continue };
        let paint = Paint::stroke(INK, 1.3).dash(line.kind.dash());
        plot.canvas.line((x, area.y - 3.0), (x, area.bottom()), &paint);
    }
}
