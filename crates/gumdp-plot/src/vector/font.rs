//! The built-in font: which glyph, how wide, of what shape.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::Segment;
use crate::geometry::Point;

/// The font file.
pub(super) const FILE: &[u8] = include_bytes!("dejavu-sans.ttf");

/// The font, read once; a test reads it too.
static FACE: LazyLock<Option<Face>> = LazyLock::new(|| Face::parse(FILE, 0).ok());

fn face() -> Option<&'static Face<'static>> {
    FACE.as_ref()
}

/// Units of the font in the size of a letter.
pub(super) fn units() -> f64 {
    face().map_or(2048.0, |face| f64::from(face.units_per_em()))
}

/// The glyph of a sign; 0, a box, if there is none.
pub(super) fn glyph(sign: char) -> u16 {
    let sign = if sign == '\u{202f}' { ' ' } else { sign };
    face().and_then(|face| face.glyph_index(sign)).map_or(0, |glyph| glyph.0)
}

/// How far a glyph advances, in units of the font.
pub(super) fn advance(glyph: u16) -> f64 {
    face().and_then(|face| face.glyph_hor_advance(GlyphId(glyph))).map_or(0.0, f64::from)
}

/// The width of words in pixels.
pub(super) fn width(words: &str, size: f64) -> f64 {
    words.chars().map(|sign| advance(glyph(sign))).sum::<f64>() * size / units()
}

/// Lowest, highest and usual height of glyphs, and the box around all, in units of the font.
pub(super) fn metrics() -> ([f64; 3], [f64; 4]) {
    face().map_or(([0.0; 3], [0.0; 4]), |face| {
        let bounds = face.global_bounding_box();
        let heights = [face.descender(), face.ascender(), face.capital_height().unwrap_or(1493)];
        (heights.map(f64::from), [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(f64::from))
    })
}

/// A glyph under construction.
struct Outline<F: Fn(f32, f32) -> Point> {
    segments: Vec<Segment>,
    last: Point,
    place: F,
}

impl<F: Fn(f32, f32) -> Point> OutlineBuilder for Outline<F> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.last = (self.place)(x, y);
        self.segments.push(Segment::Move(self.last));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.last = (self.place)(x, y);
        self.segments.push(Segment::Line(self.last));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (from, middle, to) = (self.last, (self.place)(x1, y1), (self.place)(x, y));
        let near = |end: Point| (end.0 + (middle.0 - end.0) * 2.0 / 3.0, end.1 + (middle.1 - end.1) * 2.0 / 3.0);
        self.segments.push(Segment::Curve(near(from), near(to), to));
        self.last = to;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.last = (self.place)(x, y);
        self.segments.push(Segment::Curve((self.place)(x1, y1), (self.place)(x2, y2), self.last));
    }

    fn close(&mut self) {
        self.segments.push(Segment::Close);
    }
}

/// The shape of words whose base line begins at a place and runs in a direction, clockwise in radians.
pub(super) fn outline(words: &str, at: Point, turn: f64, size: f64) -> Vec<Segment> {
    let (scale, (sin, cos)) = (size / units(), turn.sin_cos());
    let mut out = Vec::new();
    let mut along = 0.0;
    for glyph in words.chars().map(glyph) {
        let place = move |x: f32, y: f32| {
            let (x, y) = (along + f64::from(x) * scale, -f64::from(y) * scale);
            (at.0 + x * cos - y * sin, at.1 + x * sin + y * cos)
        };
        let mut outline = Outline { segments: Vec::new(), last: at, place };
        if let Some(face) = face() {
            face.outline_glyph(GlyphId(glyph), &mut outline);
        }
        out.append(&mut outline.segments);
        along += advance(glyph) * scale;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signs_of_figures_are_there() {
        for sign in "aZ09 βγπμσ−∞→↑↓≤≥·±×⁻⁰¹²³⁴⁵⁶⁷⁸⁹₀₁…–—“”’%éüßñčŁЯ\u{a0}\u{202f}".chars()
        {
            assert_ne!(glyph(sign), 0, "{sign:?}");
        }
        assert_eq!(glyph('\u{4e2d}'), 0);
        assert!((width("mmmm", 10.0) - 4.0 * width("m", 10.0)).abs() < 1e-9);
        assert!(
            !outline("β", (0.0, 0.0), 0.0, 10.0).is_empty() && !outline("\u{4e2d}", (0.0, 0.0), 0.0, 9.0).is_empty()
        );
    }
}
