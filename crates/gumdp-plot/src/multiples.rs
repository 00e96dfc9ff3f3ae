//! Small multiples: lines in many small panels with shared axes and one legend.

use super::frame::{Labels, head};
use super::line_plot::{LinePlot, LineSeries, sample};
use super::panels::headed_panels;
use super::scale::Axis;
use super::svg::Canvas;
use super::{legend, or};

/// Width of a panel: three stand on a page.
const PANEL: u32 = 240;
/// Width of one that stands alone: that of a telephone.
const SINGLE: u32 = 340;
const PANEL_HEIGHT: f64 = 190.0;

/// A panel for each of several settings. All have the same axes, so that what is higher in one is higher than in another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Multiples {
    /// Heading of all, and the x axis.
    pub labels: Labels,
    /// The legend; [`LineSeries::style`] says which of these a line is of.
    pub series: Vec<String>,
    /// Where the x axis, which is logarithmic, has marks.
    pub places: Vec<f64>,
    /// Name and lines of each.
    pub panels: Vec<(String, Vec<LineSeries>)>,
    /// How many stand in a row.
    pub columns: usize,
}

impl Multiples {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let lines = || self.panels.iter().flat_map(|(_, lines)| lines);
        let points = || lines().flat_map(|line| line.points.iter().copied());
        let bands = lines().flat_map(|line| line.band.iter().flat_map(|(low, high)| [*low, *high]));
        let bottom = Axis::log10_at(points().map(|(x, _)| x), &self.places);
        let left = Axis::over(points().map(|(_, y)| y).chain(bands), false, 0.05, 5);
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let width = if columns == 1 { SINGLE } else { PANEL };
        let panel = |(index, (name, lines)): (usize, &(String, Vec<LineSeries>))| {
            let is_last = index + columns >= self.panels.len();
            let x = if is_last { &*self.labels.x } else { "" };
            let labels = Labels::new(name, x, "");
            let plot = LinePlot { labels, series: lines.clone(), width: Some(width), ..LinePlot::default() };
            plot.over(bottom.clone(), left.clone(), PANEL_HEIGHT)
        };
        let panels: Vec<String> = self.panels.iter().enumerate().map(panel).collect();
        let has_markers = |series: usize| lines().any(|line| line.markers && line.style == Some(series));
        let legend = legend::of_series(&self.series, |canvas, place, series| {
            sample(canvas, place, series, has_markers(series));
        });
        let mut canvas = Canvas::default();
        let top = head(&mut canvas, &self.labels.title, &legend, columns as f64 * f64::from(width), 4.0);
        headed_panels(or(&self.labels.title, "Small multiples"), &panels, columns, (canvas, top))
    }
}
