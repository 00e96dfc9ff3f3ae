//! Exact distributions of a discrete random value: stems while they can be told apart, else a histogram.

use super::frame::{Bottom, Frame, Labels, Plot, WIDTH};
use super::ink::{self, series_colour, series_dash};
use super::legend;
use super::reference::{self, ReferenceLine};
use super::scale::{Axis, Extent, brief, drawable, nice_step, shortest};
use super::svg::{Canvas, Paint, Path, Point, Rect};
use super::{or, spoken_list};
use std::fmt::Write as _;

/// More distinct values than this are drawn as a histogram.
const MOST_STEMS: usize = 40;
const BINS: f64 = 60.0;

/// The distributions of one to three random values over a shared axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StemPlot {
    /// Heading and x axis; the y axis is one of probabilities.
    pub labels: Labels,
    /// Legend entries with (value, probability) in any order; equal values are merged.
    pub distributions: Vec<(String, Vec<(f64, f64)>)>,
    /// Labelled vertical lines (means, risk values).
    pub references: Vec<ReferenceLine>,
}

impl StemPlot {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut distributions: Vec<Vec<(f64, f64)>> =
            self.distributions.iter().map(|(_, atoms)| merged(atoms)).collect();
        let values = || distributions.iter().flatten().map(|atom| atom.0);
        let mut distinct: Vec<f64> = values().collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let stems = distinct.len() <= MOST_STEMS;
        let extent = Extent::of(values().chain(reference::places(&self.references)));
        let bin = nice_step((extent.range().1 - extent.range().0) / BINS);
        if !stems {
            distributions = distributions.iter().map(|distribution| binned(distribution, bin)).collect();
        }
        let highest = distributions.iter().flatten().map(|atom| atom.1);
        let highest = highest.filter(|p| drawable(*p)).fold(0.0, f64::max);
        let y = if stems { "probability".to_owned() } else { format!("probability per bin of {}", shortest(bin)) };
        let sample: fn(&mut Canvas, Rect, usize) = if stems { stem } else { legend::tinted };
        let frame = Frame {
            kind: "Probability distribution",
            labels: &Labels { y, ..self.labels.clone() },
            width: WIDTH,
            plot_height: 200.0,
            legend: legend::of_series(self.distributions.iter().map(|(name, _)| name), sample),
            bottom: Bottom::Numbers(Axis::linear(extent.padded(0.04), 6)),
            left: Axis::linear((0.0, if highest > 0.0 { highest * 1.06 } else { 1.0 }), 5),
            references: &self.references,
        };
        frame.svg(&self.description(stems), |plot| {
            for (index, distribution) in distributions.iter().enumerate() {
                if stems {
                    // Stems at one place lie on each other, the later the thinner: all are seen, and all are where they belong.
                    let below = (distributions.len() - 1 - index) as f64;
                    draw_stems(plot, index, distribution, 1.8 + 2.2 * below);
                } else {
                    draw_histogram(plot, index, distribution, bin);
                }
            }
        })
    }

    fn description(&self, stems: bool) -> String {
        let names = spoken_list(self.distributions.iter().map(|(name, _)| name));
        let (kind, of) = (if stems { "Stems" } else { "Histogram" }, or(&self.labels.x, "a value"));
        let mut out = format!("{kind} of the probability distribution of {of} for {names}.");
        for (name, atoms) in &self.distributions {
            let mean: f64 = atoms.iter().map(|(value, p)| value * p).sum();
            let _ = write!(out, " {name}: {} atoms, mean {}.", atoms.len(), brief(mean));
        }
        out
    }
}

/// Drawable atoms of positive probability by increasing value, (nearly) equal values merged.
fn merged(atoms: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let usable = |(value, p): &(f64, f64)| drawable(*value) && drawable(*p) && *p > 0.0;
    let mut sorted: Vec<(f64, f64)> = atoms.iter().copied().filter(usable).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(sorted.len());
    for (value, p) in sorted {
        match out.last_mut() {
            Some(last) if value - last.0 <= 1e-9 * value.abs().max(1e-6) => last.1 += p,
            _ => out.push((value, p)),
        }
    }
    out
}

/// Mass per bin `[k·width, (k+1)·width)`, keyed by the left edge; empty bins are left out.
fn binned(atoms: &[(f64, f64)], width: f64) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (value, p) in atoms {
        let edge = (value / width + 1e-9).floor() * width;
        match out.last_mut() {
            Some(last) if (edge - last.0).abs() < width / 2.0 => last.1 += p,
            _ => out.push((edge, *p)),
        }
    }
    out
}

fn stem(canvas: &mut Canvas, place: Rect, series: usize) {
    let (x, y) = place.middle();
    canvas.line((x, y + 6.0), (x, y - 3.0), &Paint::stroke(series_colour(series), 1.8));
    ink::marker(canvas, series, (x, y - 3.0), 3.8);
}

fn draw_stems(plot: &mut Plot, index: usize, distribution: &[(f64, f64)], width: f64) {
    let paint = Paint::stroke(series_colour(index), width);
    for (value, p) in distribution {
        let (Some(x), Some(foot), Some(head)) = (plot.x(*value), plot.y(0.0), plot.y(*p)) else { continue };
        plot.canvas.with_tip(&format!("{}: probability {}", brief(*value), brief(*p)), |canvas| {
            canvas.line((x, foot), (x, head), &paint);
            ink::marker(canvas, index, (x, head), 2.9 + width / 2.0);
        });
    }
}

fn draw_histogram(plot: &mut Plot, index: usize, distribution: &[(f64, f64)], width: f64) {
    let Some(foot) = plot.y(0.0) else { return };
    let mut outline: Vec<Point> = Vec::new();
    let mut end: Option<f64> = None;
    for (edge, p) in distribution {
        let (Some(left), Some(right), Some(top)) = (plot.x(*edge), plot.x(edge + width), plot.y(*p)) else { continue };
        if let Some(end) = end.filter(|end| left - end > 0.01) {
            outline.extend([(end, foot), (left, foot)]);
        } else if end.is_none() {
            outline.push((left, foot));
        }
        outline.extend([(left, top), (right, top)]);
        end = Some(right);
    }
    if let Some(end) = end {
        outline.push((end, foot));
    }
    let colour = series_colour(index);
    let area = plot.area;
    plot.canvas.clipped(area, |canvas| {
        let shape = Path::polygon(&outline);
        canvas.path(&shape, &Paint::fill(colour).fill_opacity(0.22));
        if let Some(hatch) = ink::hatch(canvas, index, colour, 0.45) {
            canvas.path(&shape, &Paint::fill(&hatch));
        }
        canvas.path(&Path::polyline(&outline), &Paint::stroke(colour, 1.5).dash(series_dash(index)));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_merged() {
        assert_eq!(
            merged(&[(2.0, 0.25), (1.0, 0.5), (2.0, 0.25), (f64::NAN, 1.0), (3.0, 0.0)]),
            [(1.0, 0.5), (2.0, 0.5)]
        );
    }

    #[test]
    fn bins_keep_the_mass() {
        let atoms: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i) * 0.1, 0.01)).collect();
        let bins = binned(&atoms, 0.5);
        assert_eq!(bins.len(), 20);
        assert!((bins.iter().map(|bin| bin.1).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
