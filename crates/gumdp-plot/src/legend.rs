//! Legends: rows of small samples with names, set above the data so that they never cover it.

use super::ink::{self, GRID, INK, MUTED, ON_DARK, ON_LIGHT, PAPER, series_colour, series_dash};
use super::svg::{Anchor, Canvas, Paint, Path, Point, Rect, TextStyle};
use super::terrain::{self, Icon};
use super::text;

const SIZE: f64 = 11.5;
const ROW: f64 = 18.0;
const SAMPLE: f64 = 22.0;
const GAP: f64 = 16.0;

/// What the sample of a legend entry shows.
#[derive(Debug, Clone)]
pub(super) enum Sample {
    /// A tinted, hatched box (box plots, histogram areas).
    Tint(usize),
    /// A full, hatched box (bars).
    Solid(usize),
    /// A line with the dash of the series, with its marker if asked.
    Line { series: usize, marker: bool },
    /// The marker of a series.
    Dot(usize),
    /// A stem with its head.
    Stem(usize),
    /// A line with an arrow head.
    Arrow(usize),
    /// The diamond of a mean.
    Mean,
    /// The small circle of an outlier.
    Outlier,
    /// The short dashed line of a reference value.
    Reference,
    /// A cell for which there is no value.
    Missing,
    /// The outline of marked cells on a heat map.
    Outline,
    /// The double ring of a start state.
    Ring,
    /// A cell of a terrain class.
    Terrain(usize),
    /// A wall cell.
    Wall,
    /// An icon of a grid map, on floor.
    Icon(Icon),
}

/// A sample and what it means.
pub(super) type Entry = (Sample, String);

/// An entry for each series that has a name.
pub(super) fn of_series<'a>(
    names: impl IntoIterator<Item = &'a String>,
    sample: impl Fn(usize) -> Sample,
) -> Vec<Entry> {
    let named = names.into_iter().enumerate().filter(|(_, name)| !name.is_empty());
    named.map(|(index, name)| (sample(index), name.clone())).collect()
}

/// Draws the entries from the top left corner in rows of at most `room` pixels; returns the height used.
pub(super) fn draw(canvas: &mut Canvas, (left, top): Point, room: f64, entries: &[Entry]) -> f64 {
    if entries.is_empty() {
        return 0.0;
    }
    let (mut x, mut y) = (left, top);
    for (sample, name) in entries {
        let name = text::shorten(name, SIZE, (room - SAMPLE - 6.0).max(20.0));
        let width = SAMPLE + 6.0 + text::width(&name, SIZE);
        if x > left && x + width > left + room {
            x = left;
            y += ROW;
        }
        let middle = y + ROW / 2.0;
        draw_sample(canvas, sample, (x, middle));
        canvas.text((x + SAMPLE + 6.0, middle), &name, &TextStyle::new(SIZE, Anchor::Start));
        x += width + GAP;
    }
    y + ROW - top
}

/// Width of one row holding all entries.
pub(super) fn width(entries: &[Entry]) -> f64 {
    entries.iter().map(|(_, name)| SAMPLE + 6.0 + text::width(name, SIZE) + GAP).sum::<f64>() - GAP
}

fn draw_sample(canvas: &mut Canvas, sample: &Sample, (x, y): Point) {
    let centre = (x + SAMPLE / 2.0, y);
    let swatch = Rect::centred(centre, SAMPLE - 4.0, 11.0);
    let ends = [(x, y), (x + SAMPLE, y)];
    match sample {
        Sample::Tint(series) => tinted(canvas, swatch, *series),
        Sample::Solid(series) => solid(canvas, swatch, *series),
        Sample::Line { series, marker } => {
            let paint = Paint::stroke(series_colour(*series), 2.0).dash(series_dash(*series));
            canvas.line(ends[0], ends[1], &paint);
            if *marker {
                ink::marker(canvas, *series, centre, 3.6);
            }
        }
        Sample::Dot(series) => ink::marker(canvas, *series, centre, 3.8),
        Sample::Stem(series) => {
            canvas.line((centre.0, y + 6.0), (centre.0, y - 3.0), &Paint::stroke(series_colour(*series), 1.8));
            ink::marker(canvas, *series, (centre.0, y - 3.0), 3.8);
        }
        Sample::Arrow(series) => {
            let colour = series_colour(*series);
            canvas.line(ends[0], (x + SAMPLE - 6.0, y), &Paint::stroke(colour, 1.8).dash(series_dash(*series)));
            arrow_head(canvas, ends[1], (1.0, 0.0), 7.0, colour);
        }
        Sample::Mean => diamond(canvas, centre),
        Sample::Outlier => canvas.circle(centre, 2.4, &Paint::stroke(MUTED, 1.1)),
        Sample::Reference => reference(canvas, ends[0], ends[1]),
        Sample::Missing => missing(canvas, swatch),
        Sample::Outline => {
            canvas.rect(swatch, 0.0, &Paint::fill(&ink::sequential(0.45)).and_stroke(ON_LIGHT, 3.4));
            canvas.rect(swatch, 0.0, &Paint::stroke(ON_DARK, 1.6));
        }
        Sample::Ring => {
            canvas.circle(centre, 6.5, &Paint::fill(PAPER).and_stroke(INK, 1.2));
            canvas.circle(centre, 3.8, &Paint::stroke(INK, 1.2));
        }
        Sample::Terrain(class) => {
            terrain::fill(canvas, swatch, *class);
            canvas.rect(swatch, 0.0, &Paint::stroke(MUTED, 0.6));
        }
        Sample::Wall => terrain::wall(canvas, swatch),
        Sample::Icon(icon) => {
            terrain::fill(canvas, Rect::centred(centre, SAMPLE - 4.0, 16.0), 0);
            icon.draw(canvas, centre, 6.5);
        }
    }
}

/// A box in a light tint of the series colour with the hatch of the series.
pub(super) fn tinted(canvas: &mut Canvas, rect: Rect, series: usize) {
    let colour = series_colour(series);
    canvas.rect(rect, 0.0, &Paint::fill(colour).fill_opacity(0.18).and_stroke(colour, 1.4));
    if let Some(hatch) = ink::hatch(canvas, series, colour, 0.55) {
        canvas.rect(rect, 0.0, &Paint::fill(&hatch));
    }
}

/// A box in the full series colour with the hatch of the series in light ink.
pub(super) fn solid(canvas: &mut Canvas, rect: Rect, series: usize) {
    canvas.rect(rect, 0.0, &Paint::fill(series_colour(series)));
    if let Some(hatch) = ink::hatch(canvas, series, ON_DARK, 0.5) {
        canvas.rect(rect, 0.0, &Paint::fill(&hatch));
    }
    canvas.rect(rect, 0.0, &Paint::stroke(PAPER, 1.0));
}

/// A crossed-out cell.
pub(super) fn missing(canvas: &mut Canvas, rect: Rect) {
    canvas.rect(rect, 0.0, &Paint::fill(GRID));
    let paint = Paint::stroke(MUTED, 0.8).opacity(0.6);
    canvas.line((rect.x, rect.bottom()), (rect.right(), rect.y), &paint);
}

/// The mark of a value to compare with.
pub(super) fn reference(canvas: &mut Canvas, from: Point, to: Point) {
    canvas.line(from, to, &Paint::stroke(INK, 1.8).dash("5 2.5"));
}

/// The mark of a mean.
pub(super) fn diamond(canvas: &mut Canvas, at: Point) {
    let corners = [(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)];
    canvas.path(&Path::around(at, 1.0, &corners), &Paint::fill(PAPER).and_stroke(INK, 1.2));
}

/// An arrow head with its tip at a place, pointing along a unit vector.
pub(super) fn arrow_head(canvas: &mut Canvas, (x, y): Point, (dx, dy): Point, length: f64, colour: &str) {
    let half = length * 0.42;
    let (bx, by) = (x - dx * length, y - dy * length);
    let corners = [(x, y), (bx - dy * half, by + dx * half), (bx + dy * half, by - dx * half)];
    canvas.path(&Path::polygon(&corners), &Paint::fill(colour));
}
