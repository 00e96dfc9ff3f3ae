//! Legends: rows of small samples with names, set above the data so that they never cover it.

use super::ink::{self, GRID, INK, MUTED, ON_DARK, PAPER, series_colour, series_dash};
use super::reference::LineKind;
use super::svg::{Anchor, Canvas, Paint, Path, Point, Rect, TextStyle};
use super::text;

const SIZE: f64 = 11.5;
const ROW: f64 = 18.0;
const SAMPLE: f64 = 22.0;
const GAP: f64 = 16.0;

/// A sample, which is drawn into a rectangle, and what it means.
pub(super) type Entry<'a> = (Box<dyn Fn(&mut Canvas, Rect) + 'a>, String);

/// An entry with this name.
pub(super) fn entry<'a>(name: &str, sample: impl Fn(&mut Canvas, Rect) + 'a) -> Entry<'a> {
    (Box::new(sample), name.to_owned())
}

/// An entry for each series that has a name.
pub(super) fn of_series<'a>(
    names: impl IntoIterator<Item = &'a String>,
    sample: impl Fn(&mut Canvas, Rect, usize) + Copy + 'a,
) -> Vec<Entry<'a>> {
    let named = names.into_iter().enumerate().filter(|(_, name)| !name.is_empty());
    named.map(|(series, name)| entry(name, move |canvas, place| sample(canvas, place, series))).collect()
}

/// Draws the entries from the top left corner in rows of at most `room` pixels; returns the height used.
pub(super) fn draw(canvas: &mut Canvas, (left, top): Point, room: f64, entries: &[Entry<'_>]) -> f64 {
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
        sample(canvas, Rect::centred((x + SAMPLE / 2.0, middle), SAMPLE - 4.0, 11.0));
        canvas.text((x + SAMPLE + 6.0, middle), &name, &TextStyle::new(SIZE, Anchor::Start));
        x += width + GAP;
    }
    y + ROW - top
}

/// Width of the widest entry.
pub(super) fn widest(entries: &[Entry<'_>]) -> f64 {
    entries.iter().map(|(_, name)| SAMPLE + 6.0 + text::width(name, SIZE)).fold(0.0, f64::max)
}

/// Width of one row holding all entries.
pub(super) fn width(entries: &[Entry<'_>]) -> f64 {
    entries.iter().map(|(_, name)| SAMPLE + 6.0 + text::width(name, SIZE) + GAP).sum::<f64>() - GAP
}

/// The ends of a sample that is a line.
pub(super) fn ends(place: Rect) -> [Point; 2] {
    let y = place.middle().1;
    [(place.x - 2.0, y), (place.right() + 2.0, y)]
}

/// A line with an arrow head, in colour and dash of the series.
pub(super) fn arrow(canvas: &mut Canvas, place: Rect, series: usize) {
    let ([from, to], colour) = (ends(place), series_colour(series));
    canvas.line(from, (to.0 - 6.0, to.1), &Paint::stroke(colour, 1.8).dash(series_dash(series)));
    arrow_head(canvas, to, (1.0, 0.0), 7.0, colour);
}

/// The entry of values to compare with.
pub(super) fn of_references(name: &str) -> Entry<'_> {
    entry(name, |canvas, place| {
        let [from, to] = ends(place);
        reference(canvas, from, to);
    })
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

/// The mark of the lowest risk, or of another value to compare with.
pub(super) fn reference(canvas: &mut Canvas, from: Point, to: Point) {
    canvas.line(from, to, &Paint::stroke(INK, 1.8).dash(LineKind::Risk.dash()));
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
