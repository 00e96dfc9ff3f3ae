//! Figures in other formats: reads the SVG documents of this crate back into shapes, from which PDF and PNG are made.
//!
//! Only what this crate writes is understood (`svg.rs`, `ink.rs`, `panels.rs`); anything else is left out. A part of DejaVu Sans is built in,
//! so that equal figures give equal bytes on every machine; a sign that it lacks is drawn as a box.

mod font;
mod pdf;
mod png;
mod read;

pub use pdf::pdf;
pub use png::png;

use crate::geometry::{Point, Rect};
use read::read;

/// A document as shapes, those drawn first come first.
#[derive(Debug, Default)]
struct Drawing {
    size: Point,
    title: String,
    shapes: Vec<Shape>,
}

/// A shape and the rectangles that it is seen through.
#[derive(Debug)]
struct Shape {
    clip: Option<Rect>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Path { segments: Vec<Segment>, fill: Option<Fill>, stroke: Option<Stroke> },
    Text(Text),
}

/// A part of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Segment {
    Move(Point),
    Line(Point),
    Curve(Point, Point, Point),
    Close,
}

/// Red, green, blue and opacity, each in 0..=1.
type Colour = [f64; 4];

#[derive(Debug, Clone)]
enum Fill {
    Plain(Colour),
    Hatch(Hatch),
}

/// Square tiles with lines in them.
#[derive(Debug, Clone)]
struct Hatch {
    size: f64,
    segments: Vec<Segment>,
    stroke: Stroke,
    /// Where a tile begins.
    origin: Point,
}

#[derive(Debug, Clone, Default)]
struct Stroke {
    colour: Colour,
    width: f64,
    dash: Vec<f64>,
    /// Round ends.
    round: bool,
}

#[derive(Debug)]
struct Text {
    words: String,
    /// Where the base line begins.
    at: Point,
    /// Clockwise, in radians.
    turn: f64,
    size: f64,
    bold: bool,
    colour: Colour,
    halo: Option<(Colour, f64)>,
}

impl Segment {
    fn moved(self, (dx, dy): Point) -> Self {
        let to = |(x, y): Point| (x + dx, y + dy);
        match self {
            Self::Move(a) => Self::Move(to(a)),
            Self::Line(a) => Self::Line(to(a)),
            Self::Curve(a, b, c) => Self::Curve(to(a), to(b), to(c)),
            Self::Close => Self::Close,
        }
    }

    fn points(self) -> Vec<Point> {
        match self {
            Self::Move(a) | Self::Line(a) => vec![a],
            Self::Curve(a, b, c) => vec![a, b, c],
            Self::Close => Vec::new(),
        }
    }
}

impl Hatch {
    /// The lines of all tiles that reach into the bounds of a path.
    fn lines(&self, path: &[Segment]) -> Vec<Segment> {
        let points: Vec<Point> = path.iter().flat_map(|segment| segment.points()).collect();
        let range = |pick: fn(&Point) -> f64, from: f64| {
            let low = points.iter().map(pick).fold(f64::INFINITY, f64::min);
            let high = points.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
            let tile = |place: f64| ((place - from) / self.size).floor().clamp(-1e4, 1e4) as i64;
            if low <= high { tile(low)..tile(high) + 1 } else { 0..0 }
        };
        let (columns, rows) = (range(|p| p.0, self.origin.0), range(|p| p.1, self.origin.1));
        let place =
            |column: i64, row: i64| (self.origin.0 + column as f64 * self.size, self.origin.1 + row as f64 * self.size);
        let tiles = rows.flat_map(|row| columns.clone().map(move |column| (column, row)));
        tiles.flat_map(|(column, row)| self.segments.iter().map(move |s| s.moved(place(column, row)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BarPlot, Labels, LinePlot, LineSeries, panels};

    fn figure() -> String {
        let series =
            LineSeries { name: "β → ∞".into(), points: vec![(1.0, 1.0), (2.0, 3.0)], ..LineSeries::default() };
        let lines = LinePlot { labels: Labels::new("A & B", "x", "y"), series: vec![series], ..LinePlot::default() };
        let bars = BarPlot {
            categories: vec!["a".into(), "b".into()],
            groups: vec![("g".into(), vec![1.0, 1.0])],
            ..BarPlot::default()
        };
        panels("Both", &[lines.svg(), bars.svg()], 2)
    }

    #[test]
    fn documents_are_read_back() {
        let drawing = read(&figure());
        assert_eq!((drawing.size.0, drawing.title.as_str()), (720.0, "Both"));
        let words: Vec<&str> = drawing
            .shapes
            .iter()
            .filter_map(|shape| if let Kind::Text(text) = &shape.kind { Some(text.words.as_str()) } else { None })
            .collect();
        assert!(words.contains(&"A & B") && words.contains(&"β → ∞") && words.contains(&"50 %"), "{words:?}");
        let hatched = |shape: &&Shape| matches!(&shape.kind, Kind::Path { fill: Some(Fill::Hatch(_)), .. });
        assert!(drawing.shapes.iter().any(|shape| hatched(&shape)));
        // The second panel stands to the right of the first.
        assert!(drawing.shapes.iter().any(|shape| matches!(&shape.kind, Kind::Text(text) if text.at.0 > 360.0)));
    }

    #[test]
    fn pdf_is_complete_and_the_same_each_time() {
        let file = pdf(&figure());
        assert!(file.starts_with(b"%PDF-1.7") && file.ends_with(b"%%EOF\n"));
        assert_eq!(file, pdf(&figure()));
        let text = String::from_utf8_lossy(&file);
        for part in ["/MediaBox [0 0 540 ", "/FontFile2", "/ToUnicode", "/Title"] {
            assert!(text.contains(part), "{part}");
        }
    }

    #[test]
    fn png_has_three_pixels_for_one() {
        let file = png(&figure()).unwrap();
        let picture = tiny_skia::Pixmap::decode_png(&file).unwrap();
        assert_eq!(picture.width(), 3 * 720);
        let dark = picture.pixels().iter().filter(|pixel| pixel.red() < 100 && pixel.blue() < 100).count();
        assert!(dark > 500 && picture.pixels().iter().all(|pixel| pixel.alpha() == 255), "{dark}");
        assert_eq!(file, png(&figure()).unwrap());
    }

    #[test]
    fn degenerate_figures_are_drawn() {
        for svg in crate::tests::degenerate() {
            assert!(!pdf(&svg).is_empty());
            assert!(png(&svg).is_ok());
        }
        assert!(png("no figure").is_err());
    }
}
