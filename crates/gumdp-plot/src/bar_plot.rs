//! Shares per group: grouped bars, or one full bar per group split into its categories.

use super::frame::{Bottom, Frame, heading, width_or};
use super::ink::{INK, MUTED, legible_on, series_colour};
use super::legend::{self, Entry, Sample};
use super::scale::{Axis, Extent, brief, drawable, fixed};
use super::svg::{Anchor, Canvas, Paint, Rect, TextStyle};
use super::{or, spoken_list, text};
use std::fmt::Write as _;

const LABEL: f64 = 11.0;

/// Bars of several categories per group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarPlot {
    /// Heading; may be empty.
    pub title: String,
    /// Title of the value axis.
    pub y_label: String,
    /// Names of the categories, in the order of [`BarGroup::values`].
    pub categories: Vec<String>,
    /// Groups, from left to right (grouped) or from top to bottom (stacked).
    pub groups: Vec<BarGroup>,
    /// Side by side or stacked.
    pub arrangement: Bars,
    /// Width in pixels; 560 by default.
    pub width: Option<f64>,
}

/// How the bars of a group are arranged, and what their labels say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bars {
    /// Upright bars side by side, labelled with their values.
    Grouped,
    /// Upright bars side by side; values are shares, labelled in percent.
    #[default]
    GroupedPercent,
    /// One lying bar per group, scaled to 100 %; negative values count as 0.
    Stacked,
}

/// The values that share a label.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarGroup {
    /// Label of the group.
    pub label: String,
    /// One value per category.
    pub values: Vec<f64>,
}

impl BarPlot {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        if self.arrangement == Bars::Stacked { self.stacked() } else { self.grouped() }
    }

    fn legend(&self) -> Vec<Entry> {
        self.categories.iter().enumerate().map(|(index, name)| Entry::new(Sample::Solid(index), name)).collect()
    }

    fn grouped(&self) -> String {
        let percent = self.arrangement == Bars::GroupedPercent;
        let scale = if percent { 100.0 } else { 1.0 };
        let values = self.groups.iter().flat_map(|group| group.values.iter().map(|value| value * scale));
        let mut extent = Extent::of(values);
        extent.add(0.0);
        let (low, high) = extent.range();
        let room = (high - low) * 0.08;
        let low = if low < 0.0 { low - room } else { 0.0 };
        let y_label = if percent { format!("{} / %", or(&self.y_label, "share")) } else { self.y_label.clone() };
        let frame = Frame {
            title: &self.title,
            x_label: "",
            y_label: &y_label,
            width: width_or(self.width, 560.0),
            plot_height: 230.0,
            legend: self.legend(),
            bottom: Bottom::Bands(self.groups.iter().map(|group| group.label.clone()).collect()),
            left: Axis::linear((low, high + room), 5),
            references: &[],
        };
        let mut plot = frame.draw();
        let slots = self.groups.iter().map(|group| group.values.len()).max().unwrap_or(1).max(1) as f64;
        let foot = plot.y(0.0).unwrap_or(plot.area.bottom());
        for (index, group) in self.groups.iter().enumerate() {
            let (centre, band) = plot.band(index);
            let pitch = (band * 0.8 / slots).min(54.0);
            for (category, value) in group.values.iter().enumerate() {
                let Some(y) = plot.y(value * scale) else { continue };
                let x = centre + (category as f64 - slots / 2.0) * pitch;
                let bar = Rect::new(x + pitch * 0.06, y.min(foot), pitch * 0.88, (foot - y).abs());
                // The axis title has the percent sign.
                let label = if percent { percent_number(*value) } else { brief(*value) };
                let unit = if percent { " %" } else { "" };
                let name = self.categories.get(category).map_or("", String::as_str);
                plot.canvas.with_tip(&format!("{}, {name}: {label}{unit}", group.label), |canvas| {
                    legend::solid(canvas, bar, category);
                    if text::width(&label, 10.5) <= pitch + 2.0 {
                        let above = if *value < 0.0 { bar.bottom() + 7.0 } else { bar.y - 7.0 };
                        canvas.text((x + pitch / 2.0, above), &label, &TextStyle::new(10.5, Anchor::Middle));
                    }
                });
            }
        }
        if low < 0.0 {
            plot.canvas.line((plot.area.x, foot), (plot.area.right(), foot), &Paint::stroke(INK, 1.0));
        }
        plot.finish(or(&self.title, "Bars"), &self.description())
    }

    fn stacked(&self) -> String {
        let (width, margin, height, pitch) = (width_or(self.width, 560.0), 10.0, 22.0, 34.0);
        let mut canvas = Canvas::default();
        let room = width - 2.0 * margin;
        let mut top = margin + heading(&mut canvas, &self.title, margin, margin, room);
        top += legend::draw(&mut canvas, (margin, top), room, &self.legend()) + 6.0;
        let widest = self.groups.iter().map(|group| text::width(&group.label, LABEL)).fold(0.0, f64::max);
        let names = widest.min(width * 0.28);
        let left = margin + names + 8.0;
        let full = (width - left - 22.0).max(60.0);
        let bottom = top + self.groups.len() as f64 * pitch + 2.0;
        for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
            let x = left + full * percent / 100.0;
            canvas.line((x, top), (x, bottom + 4.0), &Paint::stroke(super::ink::GRID, 1.0));
            let style = TextStyle::new(LABEL, Anchor::Middle).colour(MUTED);
            canvas.text((x, bottom + 13.0), &format!("{percent:.0} %"), &style);
        }
        for (index, group) in self.groups.iter().enumerate() {
            let middle = top + (index as f64 + 0.5) * pitch;
            let lines = text::wrap(&group.label, LABEL, names, 2);
            for (line, words) in lines.iter().enumerate() {
                let y = middle + (line as f64 - (lines.len() as f64 - 1.0) / 2.0) * 12.5;
                canvas.text((left - 8.0, y), words, &TextStyle::new(LABEL, Anchor::End));
            }
            self.stack(&mut canvas, group, Rect::new(left, middle - height / 2.0, full, height));
        }
        canvas.line((left, top), (left, bottom), &Paint::stroke(INK, 1.0));
        let y_title = text::shorten(&self.y_label, 12.0, full);
        canvas.text((left + full / 2.0, bottom + 31.0), &y_title, &TextStyle::new(12.0, Anchor::Middle));
        let end = bottom + if y_title.is_empty() { 24.0 } else { 42.0 };
        canvas.finish(width, end, or(&self.title, "Stacked bars"), &self.description())
    }

    fn stack(&self, canvas: &mut Canvas, group: &BarGroup, bar: Rect) {
        let shares = shares(&group.values);
        let mut x = bar.x;
        for (category, share) in shares.iter().enumerate() {
            let part = Rect::new(x, bar.y, bar.w * share, bar.h);
            x += part.w;
            if *share <= 0.0 {
                continue;
            }
            let label = percentage(*share);
            let name = self.categories.get(category).map_or("", String::as_str);
            canvas.with_tip(&format!("{}, {name}: {label}", group.label), |canvas| {
                legend::solid(canvas, part, category);
                if text::width(&label, LABEL) + 8.0 <= part.w {
                    let colour = series_colour(category);
                    let style = TextStyle::new(LABEL, Anchor::Middle).colour(legible_on(colour)).halo(colour);
                    canvas.text(part.middle(), &label, &style);
                }
            });
        }
    }

    fn description(&self) -> String {
        let mut out = format!("Bars for {}.", spoken_list(&self.categories));
        for group in &self.groups {
            let values = if self.arrangement == Bars::Stacked { shares(&group.values) } else { group.values.clone() };
            let percent = self.arrangement != Bars::Grouped;
            let label = |value: f64| if percent { percentage(value) } else { brief(value) };
            let labels: Vec<String> = values.into_iter().map(label).collect();
            let _ = write!(out, " {}: {}.", group.label, labels.join(", "));
        }
        out
    }
}

fn shares(values: &[f64]) -> Vec<f64> {
    let part = |value: &f64| if drawable(*value) { value.max(0.0) } else { 0.0 };
    let sum: f64 = values.iter().map(part).sum();
    values.iter().map(|value| if sum > 0.0 { part(value) / sum } else { 0.0 }).collect()
}

fn percentage(share: f64) -> String {
    format!("{} %", percent_number(share))
}

fn percent_number(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        "–".to_owned()
    } else if percent == 0.0 || percent.abs() >= 9.95 {
        fixed(percent, 0)
    } else {
        fixed(percent, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_one_or_are_all_zero() {
        assert_eq!(shares(&[1.0, 3.0, f64::NAN, -2.0]), [0.25, 0.75, 0.0, 0.0]);
        assert_eq!(shares(&[0.0, 0.0]), [0.0, 0.0]);
    }

    #[test]
    fn percentages_have_two_digits() {
        assert_eq!(percentage(0.5), "50 %");
        assert_eq!(percentage(0.012), "1.2 %");
        assert_eq!(percentage(0.0), "0 %");
    }
}
