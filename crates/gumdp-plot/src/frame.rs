//! The frame of figures with axes: title, legend, grid lines, tick labels and axis titles around a plot area.

use super::ink::{GRID, INK, MUTED};
use super::legend::{self, Entry};
use super::reference::{self, ReferenceLine};
use super::scale::{Axis, Tick};
use super::svg::{Anchor, Canvas, Paint, Rect, TextStyle};
use super::{or, text};

const TITLE: f64 = 13.0;
const LABEL: f64 = 12.0;
const TICK: f64 = 11.0;
const LINE: f64 = 14.0;
/// Around every figure.
pub(super) const MARGIN: f64 = 10.0;
/// Usual width of a figure: a column of a paper, and the screen of a telephone.
pub(super) const WIDTH: f64 = 360.0;

/// What stands below the plot area.
#[derive(Debug)]
pub(super) enum Bottom {
    /// A numeric axis.
    Numbers(Axis),
    /// Equally wide bands with a label each.
    Bands(Vec<String>),
}

/// What is written around a plot; each may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Heading.
    pub title: String,
    /// Title of the x axis, with its unit.
    pub x: String,
    /// Title of the y axis, with its unit.
    pub y: String,
}

impl Labels {
    /// Heading and titles of the axes.
    pub fn new(title: impl Into<String>, x: impl Into<String>, y: impl Into<String>) -> Self {
        Self { title: title.into(), x: x.into(), y: y.into() }
    }
}

/// Everything around the data.
pub(super) struct Frame<'a> {
    /// The title of a figure that has none.
    pub kind: &'a str,
    pub labels: &'a Labels,
    pub width: f64,
    pub plot_height: f64,
    pub legend: Vec<Entry<'a>>,
    pub bottom: Bottom,
    pub left: Axis,
    pub references: &'a [ReferenceLine],
}

/// A plot with its axes drawn, ready for the data.
#[derive(Debug)]
pub(super) struct Plot {
    pub canvas: Canvas,
    /// The plot area.
    pub area: Rect,
    bottom: Bottom,
    left: Axis,
}

/// Draws title and legend at the top of a figure; returns where what is below may start, `gap` pixels under a legend.
pub(super) fn head(canvas: &mut Canvas, title: &str, legend: &[Entry<'_>], width: f64, gap: f64) -> f64 {
    let room = width - 2.0 * MARGIN;
    // Bold glyphs are wider than the estimate for the regular face.
    let lines = text::wrap(title, TITLE * 1.1, room, 2);
    canvas.lines((MARGIN, MARGIN + 9.0), 16.0, &lines, &TextStyle::new(TITLE, Anchor::Start).bold());
    let top = MARGIN + if lines.is_empty() { 0.0 } else { lines.len() as f64 * 16.0 + 6.0 };
    let used = legend::draw(canvas, (MARGIN, top), room, legend);
    if used > 0.0 { top + used + gap } else { top }
}

impl Frame<'_> {
    /// The complete figure: the frame, the marks of the data, and the reference lines over them.
    pub fn svg(self, description: &str, marks: impl FnOnce(&mut Plot)) -> String {
        let (mut canvas, width, labels) = (Canvas::default(), self.width, self.labels);
        let mut y = head(&mut canvas, &labels.title, &self.legend, width, 8.0);
        y += if self.legend.is_empty() { 2.0 } else { 0.0 };

        let tick_width = text::widest(self.left.ticks.iter().map(|tick| &tick.label), TICK);
        let y_title = text::wrap(&labels.y, LABEL, self.plot_height, 2);
        let left = MARGIN + y_title.len() as f64 * LINE + 6.0 + tick_width + 6.0;
        let right = 14.0;
        let area_width = (width - left - right).max(60.0);
        let across = |axis: &Axis, value: f64| axis.fraction(value).map(|f| left + f * area_width);
        if let Bottom::Numbers(axis) = &self.bottom {
            y +=
                reference::top_strip(&mut canvas, self.references, y, (left, left + area_width), |at| across(axis, at));
        }
        let area = Rect::new(left, y, area_width, self.plot_height);
        let mut plot = Plot { canvas, area, bottom: self.bottom, left: self.left };
        plot.left_axis(&y_title);
        let below = plot.bottom_axis();
        let x_title = text::wrap(&labels.x, LABEL, width - 2.0 * MARGIN, 2);
        // A long axis title may be wider than the plot area: keep it inside the figure.
        let (half, full) = (text::widest(&x_title, LABEL) / 2.0, area.right() + right);
        let centre = area.middle().0.min(full - 4.0 - half).max(4.0 + half);
        plot.canvas.lines((centre, below + 9.0), LINE, &x_title, &TextStyle::new(LABEL, Anchor::Middle));
        marks(&mut plot);
        reference::draw(&mut plot, self.references);
        plot.canvas.line((area.x, area.bottom()), (area.right(), area.bottom()), &Paint::stroke(INK, 1.0));
        let height = below + x_title.len() as f64 * LINE + 10.0;
        plot.canvas.finish(full, height, or(&labels.title, self.kind), description)
    }
}

impl Tick {
    /// How its line across the plot area is drawn.
    fn paint(&self) -> Paint {
        Paint::stroke(GRID, if self.label.is_empty() { 0.5 } else { 1.0 })
    }
}

impl Plot {
    /// The pixel of a value on the bottom axis.
    pub fn x(&self, value: f64) -> Option<f64> {
        match &self.bottom {
            Bottom::Numbers(axis) => axis.fraction(value).map(|f| self.area.x + f * self.area.w),
            Bottom::Bands(_) => None,
        }
    }

    /// The pixel of a value on the left axis.
    pub fn y(&self, value: f64) -> Option<f64> {
        self.left.fraction(value).map(|f| self.area.bottom() - f * self.area.h)
    }

    /// The centre and the width of a band.
    pub fn band(&self, index: usize) -> (f64, f64) {
        let count = if let Bottom::Bands(labels) = &self.bottom { labels.len().max(1) } else { 1 };
        let width = self.area.w / count as f64;
        (self.area.x + (index as f64 + 0.5) * width, width)
    }

    fn left_axis(&mut self, title: &[String]) {
        let (left, right) = (self.area.x, self.area.right());
        for tick in &self.left.ticks {
            let Some(y) = self.y(tick.value) else { continue };
            self.canvas.line((left, y), (right, y), &tick.paint());
            if !tick.label.is_empty() {
                self.canvas.text((left - 6.0, y), &tick.label, &TextStyle::new(TICK, Anchor::End).colour(MUTED));
            }
        }
        let style = TextStyle::new(LABEL, Anchor::Middle).turned(-90.0);
        for (index, line) in title.iter().enumerate() {
            self.canvas.text((MARGIN + 7.0 + index as f64 * LINE, self.area.middle().1), line, &style);
        }
    }

    /// Draws tick or band labels; returns where the axis title may start.
    fn bottom_axis(&mut self) -> f64 {
        let (top, bottom) = (self.area.y, self.area.bottom());
        match &self.bottom {
            Bottom::Numbers(axis) => {
                let mut free_from = f64::NEG_INFINITY;
                for tick in &axis.ticks {
                    let Some(x) = self.x(tick.value) else { continue };
                    self.canvas.line((x, top), (x, bottom), &tick.paint());
                    let half = text::width(&tick.label, TICK) / 2.0;
                    if !tick.label.is_empty() && x - half > free_from {
                        self.canvas.line((x, bottom), (x, bottom + 4.0), &Paint::stroke(INK, 1.0));
                        let style = TextStyle::new(TICK, Anchor::Middle).colour(MUTED);
                        self.canvas.text((x, bottom + 13.0), &tick.label, &style);
                        free_from = x + half + 5.0;
                    }
                }
                bottom + 24.0
            }
            Bottom::Bands(labels) => band_labels(&mut self.canvas, labels, self.area),
        }
    }
}

/// Writes a label below each band: on one line, smaller if that helps, else wrapped, else turned; returns where the
/// axis title may start.
fn band_labels(canvas: &mut Canvas, labels: &[String], area: Rect) -> f64 {
    let bottom = area.bottom();
    let slot = area.w / labels.len().max(1) as f64;
    let centres = (0..labels.len()).map(|i| area.x + (i as f64 + 0.5) * slot);
    // "β = 0.1" is one word.
    let labels: Vec<String> = labels.iter().map(|label| label.replace(" = ", "\u{a0}=\u{a0}")).collect();
    let widest = |size: f64| text::widest(&labels, size);
    let widest_word = text::widest(labels.iter().flat_map(|label| label.split(' ')), TICK);
    let one_line = [TICK, 10.0, 9.5].into_iter().find(|size| widest(*size) <= slot - 2.0);
    if one_line.is_some() || (widest_word <= slot - 6.0 && widest(TICK) <= 2.0 * slot) {
        let (size, room) = one_line.map_or((TICK, slot - 6.0), |size| (size, slot));
        let style = TextStyle::new(size, Anchor::Middle);
        let mut depth: usize = 1;
        for (label, x) in labels.iter().zip(centres) {
            let lines = text::wrap(label, size, room, 3);
            canvas.lines((x, bottom + 13.0), 13.0, &lines, &style);
            depth = depth.max(lines.len());
        }
        bottom + 11.0 + depth as f64 * 13.0
    } else {
        let style = TextStyle::new(TICK, Anchor::End).turned(-38.0);
        let room = 150.0_f64;
        for (label, x) in labels.iter().zip(centres) {
            // The first labels reach to the left of the plot area: they may not leave the figure.
            let label = text::shorten(label, TICK, room.min((x - 4.0) / 0.79));
            canvas.text((x + 3.0, bottom + 10.0), &label, &style);
        }
        bottom + 18.0 + 0.62 * widest(TICK).min(room)
    }
}
