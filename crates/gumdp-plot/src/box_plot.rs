//! Tukey box plots of several series side by side, with means, outliers, risks in their intervals and an exact reference per group.

use super::frame::{Bottom, Frame, Labels, Plot, WIDTH};
use super::ink::{INK, MUTED, PAPER, series_colour};
use super::legend::{self, Entry};
use super::scale::{Axis, Extent, brief};
use super::svg::{Anchor, Canvas, Paint, Point, Rect, TextStyle};
use super::{name, or, spoken_list};
use std::fmt::Write as _;

/// Box plots grouped along the x axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoxPlot {
    /// Heading and axes.
    pub labels: Labels,
    /// Names of the series, in the order of [`BoxGroup::boxes`].
    pub series: Vec<String>,
    /// Groups from left to right.
    pub groups: Vec<BoxGroup>,
    /// Legend entry of the reference marks, such as "exact optimum (risk)".
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
    /// First quartile, median and third quartile.
    pub quartiles: [f64; 3],
    /// Smallest and largest value that is not an outlier.
    pub whiskers: [f64; 2],
    /// Mean of all values, drawn as a diamond; NaN leaves it out.
    pub mean: f64,
    /// Values beyond the whiskers.
    pub outliers: Vec<f64>,
    /// The risk, beside the box.
    pub risk: Option<RiskMark>,
}

/// A risk and what is known of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RiskMark {
    /// The risk, drawn as a dot.
    pub value: f64,
    /// Ends of its interval, drawn as a bar; an arrow where the bar leaves the figure, whose axis is that of values, not of intervals.
    pub interval: [f64; 2],
    /// Whether it is lower than anything possible: a ring with an exclamation mark instead of a dot.
    pub too_low: bool,
}

impl RiskMark {
    /// Draws the mark at `x`; the ends of the bar are pixels, as far as the plot reaches.
    fn draw(self, canvas: &mut Canvas, (x, y): Point, ends: [f64; 2], inside: (f64, f64)) {
        for end in ends {
            let at = end.clamp(inside.0, inside.1);
            canvas.line((x, y), (x, at), &Paint::stroke(INK, 1.3));
            if at == end {
                canvas.line((x - 2.5, at), (x + 2.5, at), &Paint::stroke(INK, 1.3));
            } else {
                legend::arrow_head(canvas, (x, at), (0.0, (end - at).signum()), 5.0, INK);
            }
        }
        let paint = if self.too_low { Paint::fill(PAPER).and_stroke(INK, 1.3) } else { Paint::fill(INK) };
        canvas.circle((x, y), 2.8, &paint);
        if self.too_low {
            canvas.text((x + 6.0, y), "!", &TextStyle::new(11.0, Anchor::Middle).bold());
        }
    }
}

impl BoxPlot {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let slots = self.slots();
        let boxes = (self.groups.len() * slots) as f64;
        let frame = Frame {
            kind: "Box plot",
            labels: &self.labels,
            width: (72.0 + boxes * 21.0).clamp(WIDTH, 2.0 * WIDTH),
            plot_height: 230.0,
            legend: self.legend(),
            bottom: Bottom::Bands(self.groups.iter().map(|group| group.label.clone()).collect()),
            left: Axis::linear(Extent::of(self.values()).padded(0.05), 6),
            references: &[],
        };
        frame.svg(&self.description(), |plot| {
            for (index, group) in self.groups.iter().enumerate() {
                let (centre, band) = plot.band(index);
                let pitch = (band * 0.76 / slots as f64).min(56.0);
                let width = (pitch * 0.74).max(4.0);
                for (series, stats) in group.boxes.iter().enumerate() {
                    let x = centre + (series as f64 - (slots as f64 - 1.0) / 2.0) * pitch;
                    if let Some(stats) = stats {
                        self.draw_box(plot, &group.label, series, stats, (x, width));
                    }
                }
                if let Some(y) = group.reference.and_then(|value| plot.y(value)) {
                    let half = (pitch * slots as f64 / 2.0 + 3.0).min(band / 2.0 - 1.0);
                    legend::reference(&mut plot.canvas, (centre - half, y), (centre + half, y));
                }
            }
        })
    }

    fn slots(&self) -> usize {
        self.groups.iter().map(|group| group.boxes.len()).max().unwrap_or(1).max(1)
    }

    fn reference_label(&self) -> &str {
        or(&self.reference_label, "exact optimum")
    }

    fn stats(&self) -> impl Iterator<Item = &BoxStats> {
        self.groups.iter().flat_map(|group| group.boxes.iter().flatten())
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let boxes = self
            .stats()
            .flat_map(|b| b.quartiles.into_iter().chain(b.whiskers).chain([b.mean]).chain(b.outliers.iter().copied()));
        let risks = self.stats().filter_map(|stats| stats.risk).map(|risk| risk.value);
        boxes.chain(risks).chain(self.groups.iter().filter_map(|group| group.reference))
    }

    fn legend(&self) -> Vec<Entry<'_>> {
        let mut entries = legend::of_series(&self.series, legend::tinted);
        if self.stats().any(|stats| stats.mean.is_finite()) {
            entries.push(legend::entry("mean", |canvas, place| legend::diamond(canvas, place.middle())));
        }
        if self.stats().any(|stats| stats.outliers.iter().any(|value| value.is_finite())) {
            let circle =
                |canvas: &mut Canvas, place: Rect| canvas.circle(place.middle(), 2.4, &Paint::stroke(MUTED, 1.1));
            entries.push(legend::entry("outlier", circle));
        }
        let marks =
            |too_low: bool| self.stats().filter_map(|stats| stats.risk).find(move |mark| mark.too_low == too_low);
        for (mark, name) in [(marks(false), "risk in its 95 % interval"), (marks(true), "! below what is possible")] {
            let sample = |mark: RiskMark| {
                move |canvas: &mut Canvas, place: Rect| {
                    let (x, y) = place.middle();
                    mark.draw(canvas, (x, y), [y - 5.0, y + 5.0], (y - 5.0, y + 5.0));
                }
            };
            entries.extend(mark.map(|mark| legend::entry(name, sample(mark))));
        }
        if self.groups.iter().any(|group| group.reference.is_some_and(f64::is_finite)) {
            entries.push(legend::of_references(self.reference_label()));
        }
        entries
    }

    fn draw_box(&self, plot: &mut Plot, group: &str, series: usize, stats: &BoxStats, (x, width): (f64, f64)) {
        let colour = series_colour(series);
        let place = |value: f64| plot.y(value);
        let [q25, median, q75] = stats.quartiles.map(place);
        let [low, high] = stats.whiskers.map(place);
        let mean = place(stats.mean);
        let outliers = thinned(stats.outliers.iter().filter_map(|value| place(*value)));
        let [first, middle, third] = stats.quartiles.map(brief);
        let (name, average, count) = (name(&self.series, series), brief(stats.mean), stats.outliers.len());
        let mut tip =
            format!("{group}, {name}: median {middle}, quartiles {first} to {third}, mean {average}, {count} outliers");
        let mut mark = None;
        if let Some(risk) = stats.risk {
            let [from, to] = risk.interval.map(brief);
            let note = if risk.too_low { ", below what is possible" } else { "" };
            let _ = write!(tip, ", risk {} ({from} to {to}){note}", brief(risk.value));
            if let (Some(y), [Some(low), Some(high)]) = (place(risk.value), risk.interval.map(place)) {
                mark = Some((risk, y, [low, high], (plot.area.y, plot.area.bottom())));
            }
        }
        plot.canvas.with_tip(&tip, |canvas| {
            for (y, count) in outliers {
                let paint = Paint::stroke(colour, 1.1).opacity((0.45 + 0.1 * count as f64).min(0.9));
                canvas.circle((x, y), 2.3, &paint);
            }
            for (edge, end) in [(q25, low), (q75, high)] {
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
            if let Some((risk, y, ends, inside)) = mark {
                risk.draw(canvas, (x + width * 0.5 + 5.0, y), ends, inside);
            }
        });
    }

    fn description(&self) -> String {
        let mut out = format!("Box plots of {} for {}.", or(&self.labels.y, "values"), spoken_list(&self.series));
        for group in &self.groups {
            let medians =
                group.boxes.iter().map(|stats| stats.as_ref().map_or("none".to_owned(), |b| brief(b.quartiles[1])));
            let _ = write!(out, " {}: median {}", group.label, medians.collect::<Vec<_>>().join(", "));
            if let Some(reference) = group.reference {
                let _ = write!(out, ", {} {}", self.reference_label(), brief(reference));
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
