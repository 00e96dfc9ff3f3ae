//! Lines over linear or logarithmic axes, with bands, steps and reference lines.

use super::frame::{Bottom, Frame, Labels, Plot, WIDTH};
use super::ink::{self, series_colour, series_dash};
use super::legend;
use super::reference::{self, ReferenceLine};
use super::scale::{Axis, brief};
use super::svg::{Canvas, Paint, Path, Point, Rect};
use super::{or, spoken_list};
use std::fmt::Write as _;

/// Several lines over shared axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinePlot {
    /// Heading and axes.
    pub labels: Labels,
    /// Logarithmic x axis; values that are not positive are left out.
    pub log_x: bool,
    /// The same for the y axis.
    pub log_y: bool,
    /// The lines, first one lowest.
    pub series: Vec<LineSeries>,
    /// Labelled vertical lines.
    pub references: Vec<ReferenceLine>,
    /// Width in pixels; 360 by default.
    pub width: Option<u32>,
}

/// One line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineSeries {
    /// Legend entry.
    pub name: String,
    /// (x, y) in drawing order; a point that is not finite interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// (low, high) per point; empty for no band.
    pub band: Vec<(f64, f64)>,
    /// Draw the band as a bar at each point: nothing is said of what lies between.
    pub bars: bool,
    /// Hold each y until the next x (distribution functions, best-so-far curves).
    pub step: bool,
    /// Mark the points.
    pub markers: bool,
    /// Colour, dash and marker of the series with this index instead of its own: a quantity looks the same in every figure.
    pub style: Option<usize>,
}

impl LinePlot {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| series.points.iter().copied());
        let bands = self.series.iter().flat_map(|series| series.band.iter().flat_map(|(low, high)| [*low, *high]));
        let xs = points().map(|(x, _)| x).chain(reference::places(&self.references));
        let ys = points().map(|(_, y)| y).chain(bands);
        self.over(Axis::over(xs, self.log_x, 0.02, 5), Axis::over(ys, self.log_y, 0.05, 6), 210.0)
    }

    /// The figure with these axes.
    pub(super) fn over(&self, bottom: Axis, left: Axis, plot_height: f64) -> String {
        let sample = |canvas: &mut Canvas, place: Rect, series: usize| {
            let LineSeries { style, markers, .. } = self.series[series];
            sample(canvas, place, style.unwrap_or(series), markers);
        };
        let frame = Frame {
            kind: "Line plot",
            labels: &self.labels,
            width: self.width.map_or(WIDTH, f64::from),
            plot_height,
            legend: legend::of_series(self.series.iter().map(|series| &series.name), sample),
            bottom: Bottom::Numbers(bottom),
            left,
            references: &self.references,
        };
        frame.svg(&self.description(), |plot| {
            for draw in [draw_band, draw_line] {
                self.series
                    .iter()
                    .enumerate()
                    .for_each(|(index, series)| draw(plot, series.style.unwrap_or(index), series));
            }
        })
    }

    fn description(&self) -> String {
        let (x, y) = (or(&self.labels.x, "x"), or(&self.labels.y, "y"));
        let names = spoken_list(self.series.iter().map(|series| &series.name));
        let mut out = format!("Lines of {y} over {x} for {names}.");
        for series in &self.series {
            if let (Some(first), Some(last)) = (series.points.first(), series.points.last()) {
                let ends = [first.0, first.1, last.0, last.1].map(brief);
                let _ = write!(out, " {}: from ({}, {}) to ({}, {}).", series.name, ends[0], ends[1], ends[2], ends[3]);
            }
        }
        out
    }
}

/// A line of a series, as legends show it.
pub(super) fn sample(canvas: &mut Canvas, place: Rect, series: usize, markers: bool) {
    let [from, to] = legend::ends(place);
    canvas.line(from, to, &Paint::stroke(series_colour(series), 2.0).dash(series_dash(series)));
    if markers {
        ink::marker(canvas, series, place.middle(), 3.6);
    }
}

/// Runs of consecutive drawable points; `None` separates runs.
fn runs(places: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
    let mut runs: Vec<Vec<Point>> = vec![Vec::new()];
    for place in places {
        match (place, runs.last_mut()) {
            (Some(point), Some(run)) => {
                // Points within half a pixel of the last one would not show.
                let hidden = run.last().is_some_and(|p| (p.0 - point.0).abs() + (p.1 - point.1).abs() < 0.25);
                if !hidden {
                    run.push(point);
                }
            }
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn stepped(run: &[Point]) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::with_capacity(2 * run.len());
    for (x, y) in run {
        if let Some((_, held)) = out.last() {
            out.push((*x, *held));
        }
        out.push((*x, *y));
    }
    out
}

fn draw_band(plot: &mut Plot, index: usize, series: &LineSeries) {
    let place = |((x, _), (low, high)): (&Point, &Point)| Some((plot.x(*x)?, plot.y(*low)?, plot.y(*high)?));
    let places: Vec<(f64, f64, f64)> = series.points.iter().zip(&series.band).filter_map(place).collect();
    if series.bars {
        for (x, low, high) in places {
            plot.canvas.line((x, low), (x, high), &Paint::stroke(series_colour(index), 1.4));
        }
        return;
    }
    let edge = |edge: Vec<Point>| if series.step { stepped(&edge) } else { edge };
    let mut outline = edge(places.iter().map(|&(x, low, _)| (x, low)).collect());
    outline.extend(edge(places.iter().map(|&(x, _, high)| (x, high)).collect()).into_iter().rev());
    if outline.len() > 2 {
        let area = plot.area;
        let paint = Paint::fill(series_colour(index)).fill_opacity(0.16);
        plot.canvas.clipped(area, |canvas| canvas.path(&Path::polygon(&outline), &paint));
    }
}

fn draw_line(plot: &mut Plot, index: usize, series: &LineSeries) {
    let place = |(x, y): &(f64, f64)| Some((plot.x(*x)?, plot.y(*y)?));
    let runs = runs(series.points.iter().map(place));
    let paint = Paint::stroke(series_colour(index), 1.9).dash(series_dash(index));
    for run in runs {
        let line = if series.step { stepped(&run) } else { run.clone() };
        if line.len() > 1 {
            plot.canvas.path(&Path::polyline(&line), &paint);
        }
        // A lone point would be invisible without a marker.
        if series.markers || run.len() == 1 {
            for point in &run {
                ink::marker(&mut plot.canvas, index, *point, 3.6);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_split_a_line() {
        let places = [Some((0.0, 0.0)), Some((0.1, 0.0)), Some((9.0, 1.0)), None, None, Some((20.0, 3.0))];
        assert_eq!(runs(places.into_iter()), vec![vec![(0.0, 0.0), (9.0, 1.0)], vec![(20.0, 3.0)]]);
    }

    #[test]
    fn steps_hold_the_last_height() {
        assert_eq!(stepped(&[(0.0, 5.0), (2.0, 7.0)]), [(0.0, 5.0), (2.0, 5.0), (2.0, 7.0)]);
    }
}
