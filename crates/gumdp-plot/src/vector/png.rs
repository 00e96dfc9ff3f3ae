//! Pixels, on white paper.

use std::io;

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, StrokeDash, Transform,
};

use super::{Colour, Fill, Kind, Segment, Shape, Stroke, Text, font, read};

/// Pixels for each one of a screen, for sharp print.
const SCALE: f32 = 3.0;
/// Wider or higher figures, in pixels of a screen, are not drawn.
const MOST: f64 = 8192.0;

/// A figure of this crate as PNG.
///
/// # Errors
/// The document has no size, or too large a one.
pub fn png(svg: &str) -> io::Result<Vec<u8>> {
    let drawing = read(svg);
    let side = |length: f64| (length.min(MOST + 1.0) as f32 * SCALE).ceil() as u32;
    let (width, height) = (side(drawing.size.0), side(drawing.size.1));
    let refusal = || io::Error::other(format!("a figure of {:?} pixels cannot be drawn as PNG", drawing.size));
    if drawing.size.0.max(drawing.size.1) > MOST {
        return Err(refusal());
    }
    let mut sheet = Sheet { pixmap: Pixmap::new(width, height).ok_or_else(refusal)? };
    sheet.pixmap.fill(Color::WHITE);
    drawing.shapes.iter().for_each(|shape| sheet.shape(shape));
    sheet.pixmap.encode_png().map_err(io::Error::other)
}

struct Sheet {
    pixmap: Pixmap,
}

fn path(segments: &[Segment]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let small = |(x, y): (f64, f64)| (x as f32, y as f32);
    for segment in segments {
        match *segment {
            Segment::Move(to) => builder.move_to(small(to).0, small(to).1),
            Segment::Line(to) => builder.line_to(small(to).0, small(to).1),
            Segment::Curve(a, b, to) => {
                let [(ax, ay), (bx, by), (x, y)] = [small(a), small(b), small(to)];
                builder.cubic_to(ax, ay, bx, by, x, y);
            }
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let [r, g, b, a] = colour.map(|part| part as f32);
    paint.set_color(Color::from_rgba(r, g, b, a).unwrap_or(Color::BLACK));
    paint
}

impl Sheet {
    fn shape(&mut self, shape: &Shape) {
        let mask = shape.clip.and_then(|clip| {
            let rect = Rect::from_xywh(clip.x as f32, clip.y as f32, clip.w as f32, clip.h as f32)?;
            self.mask(&PathBuilder::from_rect(rect))
        });
        match &shape.kind {
            Kind::Path { segments, fill, stroke } => {
                let Some(outline) = path(segments) else { return };
                match fill {
                    Some(Fill::Plain(colour)) => self.fill(&outline, *colour, mask.as_ref()),
                    Some(Fill::Hatch(hatch)) => {
                        let lines = path(&hatch.lines(segments));
                        if let (Some(inside), Some(lines)) = (self.mask(&outline), lines) {
                            self.stroke(&lines, &hatch.stroke, Some(&inside));
                        }
                    }
                    None => {}
                }
                if let Some(stroke) = stroke {
                    self.stroke(&outline, stroke, mask.as_ref());
                }
            }
            Kind::Text(text) => self.text(text, mask.as_ref()),
        }
    }

    fn text(&mut self, text: &Text, mask: Option<&Mask>) {
        let Text { words, at, turn, size, bold, colour, halo } = text;
        let Some(outline) = path(&font::outline(words, *at, *turn, *size)) else { return };
        if let Some((colour, width)) = *halo {
            self.stroke(&outline, &Stroke { colour, width, ..Stroke::default() }, mask);
        }
        self.fill(&outline, *colour, mask);
        if *bold {
            self.stroke(&outline, &Stroke { colour: *colour, width: size * 0.04, ..Stroke::default() }, mask);
        }
    }

    /// What is inside of a path.
    fn mask(&self, inside: &Path) -> Option<Mask> {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        mask.fill_path(inside, FillRule::Winding, true, Transform::from_scale(SCALE, SCALE));
        Some(mask)
    }

    fn fill(&mut self, outline: &Path, colour: Colour, mask: Option<&Mask>) {
        let scale = Transform::from_scale(SCALE, SCALE);
        self.pixmap.fill_path(outline, &paint(colour), FillRule::Winding, scale, mask);
    }

    fn stroke(&mut self, outline: &Path, stroke: &Stroke, mask: Option<&Mask>) {
        let Stroke { colour, width, dash, round } = stroke;
        let stroke = tiny_skia::Stroke {
            width: *width as f32,
            line_cap: if *round { LineCap::Round } else { LineCap::Butt },
            line_join: LineJoin::Round,
            dash: StrokeDash::new(even(dash), 0.0),
            ..tiny_skia::Stroke::default()
        };
        self.pixmap.stroke_path(outline, &paint(*colour), &stroke, Transform::from_scale(SCALE, SCALE), mask);
    }
}

/// Dashes and gaps in pairs: an odd number of them is repeated.
fn even(dash: &[f64]) -> Vec<f32> {
    let times = if dash.len().is_multiple_of(2) { 1 } else { 2 };
    dash.iter().copied().cycle().take(dash.len() * times).map(|part| part as f32).collect()
}
