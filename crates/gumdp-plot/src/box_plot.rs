//! Tukey box plots of several series side by side, with means, outliers and an exact reference per group.

use super::frame::{Bottom, Frame, Plot};
use super::ink::series_colour;
use super::legend::{self, Entry, Sample};
use super::scale::{Axis, Extent, brief};
use super::svg::{Paint, Rect};
use super::{name, or, spoken_list};
use std::fmt::Write as _;

/// Box plots grouped along the x axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoxPlot {
    /// Heading; may be empty.
    pub title: String,
    /// Title of the x axis; may be empty.
    pub x_label: String,
    /// Title of the y axis, with its unit.
    pub y_label: String,
    /// Names of the series, in the order of [`BoxGroup::boxes`].
    pub series: Vec<String>,
    /// Groups from left to right.
    pub groups: Vec<BoxGroup>,
    /// Legend entry of the reference marks, such as "exact optimum (ERM)".
    pub reference_label: String,
}

/// The boxes that share a label on the x axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoxGroup {
    /// Label below the group, such as "β = 0.1".
    pub label: String,
    /// One entry per series; `None` leaves a gap.
    pub boxes: Vec<Option<BoxStats>>,
    /// Value of the dashed reference mark across the group.
    pub reference: Option<f64>,
}

/// The numbers of one box.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoxStats {
    /// First quartile.
    pub q25: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q75: f64,
    /// Smallest value that is not an outlier.
    pub whisker_low: f64,
    /// Largest value that is not an outlier.
    pub whisker_high: f64,
    /// Mean of all values, drawn as a diamond; NaN leaves it out.
    pub mean: f64,
    /// Values beyond the whiskers.
    pub outliers: Vec<f64>,
}

impl BoxPlot {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let slots = self.slots();
        let boxes = (self.groups.len() * slots) as f64;
        let frame = Frame {
            title: &self.title,
            x_label: &self.x_label,
            y_label: &self.y_label,
            width: (150.0 + boxes * 58.0).clamp(420.0, 720.0),
            plot_height: 260.0,
            legend: self.legend(),
            bottom: Bottom::Bands(self.groups.iter().map(|group| group.label.clone()).collect()),
            left: Axis::linear(Extent::of(self.values()).padded(0.05), 6),
            references: &[],
        };
        let mut plot = frame.draw();
        for (index, group) in self.groups.iter().enumerate() {
            let (centre, band) = plot.band(index);
            let pitch = (band * 0.76 / slots as f64).min(56.0);
            let width = (pitch * 0.74).max(4.0);
            for (series, stats) in group.boxes.iter().enumerate() {
                let x = centre + (series as f64 - (slots as f64 - 1.0) / 2.0) * pitch;
                if let Some(stats) = stats {
                    self.draw_box(&mut plot, &group.label, series, stats, (x, width));
                }
            }
            if let Some(y) = group.reference.and_then(|value| plot.y(value)) {
                let half = (pitch * slots as f64 / 2.0 + 3.0).min(band / 2.0 - 1.0);
                legend::reference(&mut plot.canvas, (centre - half, y), (centre + half, y));
            }
        }
        plot.finish(or(&self.title, "Box plot"), &self.description())
    }

    fn slots(&self) -> usize {
        self.groups.iter().map(|group| group.boxes.len()).max().unwrap_or(1).max(1)
    }

    fn stats(&self) -> impl Iterator<Item = &BoxStats> {
        self.groups.iter().flat_map(|group| group.boxes.iter().flatten())
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let boxes = self.stats().flat_map(|b| {
            let fixed = [b.q25, b.median, b.q75, b.whisker_low, b.whisker_high, b.mean];
            fixed.into_iter().chain(b.outliers.iter().copied())
        });
        boxes.chain(self.groups.iter().filter_map(|group| group.reference))
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = legend::of_series(&self.series, Sample::Tint);
        if self.stats().any(|stats| stats.mean.is_finite()) {
            entries.push((Sample::Mean, "mean".to_owned()));
        }
        if self.stats().any(|stats| stats.outliers.iter().any(|value| value.is_finite())) {
            entries.push((Sample::Outlier, "outlier".to_owned()));
        }
        if self.groups.iter().any(|group| group.reference.is_some_and(f64::is_finite)) {
            entries.push((Sample::Reference, or(&self.reference_label, "exact optimum").to_owned()));
        }
        entries
    }

    fn draw_box(&self, plot: &mut Plot, group: &str, series: usize, stats: &BoxStats, (x, width): (f64, f64)) {
        let colour = series_colour(series);
        let place = |value: f64| plot.y(value);
        let (q25, median, q75) = (place(stats.q25), place(stats.median), place(stats.q75));
        let whiskers = [(q25, place(stats.whisker_low)), (q75, place(stats.whisker_high))];
        let mean = place(stats.mean);
        let outliers = thinned(stats.outliers.iter().filter_map(|value| place(*value)));
        let tip = format!(
            "{group}, {}: median {}, quartiles {} to {}, mean {}, {} outliers",
            name(&self.series, series),
            brief(stats.median),
            brief(stats.q25),
            brief(stats.q75),
            brief(stats.mean),
            stats.outliers.len()
        );
        plot.canvas.with_tip(&tip, |canvas| {
            for (y, count) in outliers {
                let paint = Paint::stroke(colour, 1.1).opacity((0.45 + 0.1 * count as f64).min(0.9));
                canvas.circle((x, y), 2.3, &paint);
            }
            for (edge, end) in whiskers {
                if let (Some(edge), Some(end)) = (edge, end) {
                    canvas.line((x, edge), (x, end), &Paint::stroke(colour, 1.3));
                    canvas.line((x - width * 0.25, end), (x + width * 0.25, end), &Paint::stroke(colour, 1.3));
                }
            }
            if let (Some(low), Some(high)) = (q25, q75) {
                legend::tinted(canvas, Rect::new(x - width / 2.0, high.min(low), width, (low - high).abs()), series);
            }
            if let Some(y) = median {
                canvas.line((x - width / 2.0, y), (x + width / 2.0, y), &Paint::stroke(colour, 2.8));
            }
            if let Some(y) = mean {
                legend::diamond(canvas, (x, y));
            }
        });
    }

    fn description(&self) -> String {
        let mut out = format!("Box plots of {} for {}.", or(&self.y_label, "values"), spoken_list(&self.series));
        for group in &self.groups {
            let medians = group.boxes.iter().map(|stats| stats.as_ref().map_or("none".to_owned(), |b| brief(b.median)));
            let _ = write!(out, " {}: median {}", group.label, medians.collect::<Vec<_>>().join(", "));
            if let Some(reference) = group.reference {
                let _ = write!(out, ", {} {}", or(&self.reference_label, "exact optimum"), brief(reference));
            }
            out.push('.');
        }
        out
    }
}

/// Places at least 1.2 pixels apart, each with the number of values it stands for.
fn thinned(places: impl Iterator<Item = f64>) -> Vec<(f64, usize)> {
    let mut sorted: Vec<f64> = places.collect();
    sorted.sort_by(f64::total_cmp);
    let mut kept: Vec<(f64, usize)> = Vec::new();
    for place in sorted {
        match kept.last_mut() {
            Some((last, count)) if place - *last < 1.2 => *count += 1,
            _ => kept.push((place, 1)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_outliers_are_drawn_once() {
        assert_eq!(thinned([5.0, 1.0, 5.2, 5.0].into_iter()), [(1.0, 1), (5.0, 3)]);
    }

    #[test]
    fn legend_lists_only_what_is_drawn() {
        let stats = BoxStats { mean: f64::NAN, ..BoxStats::default() };
        let group = BoxGroup { label: "g".into(), boxes: vec![Some(stats)], reference: None };
        let svg = BoxPlot { series: vec!["one".into()], groups: vec![group], ..BoxPlot::default() }.svg();
        assert!(!svg.contains(">mean<") && !svg.contains("exact optimum") && !svg.contains(">outlier<"));
    }
}
