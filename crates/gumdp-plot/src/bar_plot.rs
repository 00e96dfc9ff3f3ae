//! Shares per group: one full bar per group, split into its categories.

use super::frame::{MARGIN, WIDTH, head};
use super::ink::{GRID, INK, MUTED, legible_on, series_colour};
use super::legend;
use super::scale::{drawable, fixed};
use super::svg::{Anchor, Canvas, Paint, Rect, TextStyle};
use super::{name, or, spoken_list, text};
use std::fmt::Write as _;

const LABEL: f64 = 11.0;
/// Height of a bar, and from one to the next.
const BAR: (f64, f64) = (22.0, 34.0);

/// Bars of several categories, each scaled to 100 %.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarPlot {
    /// Heading; may be empty.
    pub title: String,
    /// Title of the value axis.
    pub label: String,
    /// Names of the categories.
    pub categories: Vec<String>,
    /// Groups from top to bottom: a label, and a value per category; negative ones count as 0.
    pub groups: Vec<(String, Vec<f64>)>,
}

impl BarPlot {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::default();
        let legend = legend::of_series(&self.categories, legend::solid);
        let top = head(&mut canvas, &self.title, &legend, WIDTH, 6.0);
        let names = text::widest(self.groups.iter().map(|(label, _)| label), LABEL).min(WIDTH * 0.28);
        let left = MARGIN + names + 8.0;
        let full = (WIDTH - left - 22.0).max(60.0);
        let bottom = top + self.groups.len() as f64 * BAR.1 + 2.0;
        for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
            let x = left + full * percent / 100.0;
            canvas.line((x, top), (x, bottom + 4.0), &Paint::stroke(GRID, 1.0));
            let style = TextStyle::new(LABEL, Anchor::Middle).colour(MUTED);
            canvas.text((x, bottom + 13.0), &format!("{percent:.0} %"), &style);
        }
        for (index, (label, values)) in self.groups.iter().enumerate() {
            let middle = top + (index as f64 + 0.5) * BAR.1;
            let lines = text::wrap(label, LABEL, names, 2);
            let first = middle - (lines.len() as f64 - 1.0) / 2.0 * 12.5;
            canvas.lines((left - 8.0, first), 12.5, &lines, &TextStyle::new(LABEL, Anchor::End));
            self.stack(&mut canvas, label, values, Rect::new(left, middle - BAR.0 / 2.0, full, BAR.0));
        }
        canvas.line((left, top), (left, bottom), &Paint::stroke(INK, 1.0));
        let title = text::shorten(&self.label, 12.0, full);
        canvas.text((left + full / 2.0, bottom + 31.0), &title, &TextStyle::new(12.0, Anchor::Middle));
        let end = bottom + if title.is_empty() { 24.0 } else { 42.0 };
        canvas.finish(WIDTH, end, or(&self.title, "Stacked bars"), &self.description())
    }

    fn stack(&self, canvas: &mut Canvas, group: &str, values: &[f64], bar: Rect) {
        let mut x = bar.x;
        for (category, share) in shares(values).into_iter().enumerate().filter(|(_, share)| *share > 0.0) {
            let part = Rect::new(x, bar.y, bar.w * share, bar.h);
            x += part.w;
            let label = percentage(share);
            canvas.with_tip(&format!("{group}, {}: {label}", name(&self.categories, category)), |canvas| {
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
        for (label, values) in &self.groups {
            let shares: Vec<String> = shares(values).into_iter().map(percentage).collect();
            let _ = write!(out, " {label}: {}.", shares.join(", "));
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
    let percent = share * 100.0;
    format!("{} %", fixed(percent, usize::from(percent != 0.0 && percent.abs() < 9.95)))
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
