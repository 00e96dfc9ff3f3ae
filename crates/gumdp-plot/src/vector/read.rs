//! Reads the SVG documents of this crate.

use super::{Colour, Drawing, Fill, Hatch, Kind, Segment, Shape, Stroke, Text, font};
use crate::geometry::{Point, Rect};

/// A tag with its attributes and the text up to the next tag.
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
    text: &'a str,
}

impl Tag<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let mut rest = self.attributes;
        while let Some((key, after)) = rest.split_once("=\"") {
            let (value, after) = after.split_once('"')?;
            if key.trim() == name {
                return Some(value);
            }
            rest = after;
        }
        None
    }

    fn number(&self, name: &str) -> f64 {
        self.get(name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }

    fn opacity(&self, name: &str) -> f64 {
        self.get(name).and_then(|value| value.parse().ok()).unwrap_or(1.0)
            * self.get("opacity").map_or(1.0, |_| self.number("opacity"))
    }

    fn colour(&self, name: &str, opacity: f64) -> Option<Colour> {
        colour(self.get(name)?, opacity)
    }

    fn stroke(&self) -> Option<Stroke> {
        let colour = self.colour("stroke", self.opacity("stroke-opacity"))?;
        let width = self.get("stroke-width").map_or(1.0, |_| self.number("stroke-width"));
        let dash = self.get("stroke-dasharray").map(numbers).unwrap_or_default();
        Some(Stroke { colour, width, dash, round: self.get("stroke-linecap") == Some("round") })
    }
}

fn tags(svg: &str) -> impl Iterator<Item = Tag<'_>> {
    svg.split('<').skip(1).filter_map(|part| {
        let (tag, text) = part.split_once('>')?;
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag.trim_end_matches('/'), ""));
        Some(Tag { name, attributes, text })
    })
}

fn colour(text: &str, opacity: f64) -> Option<Colour> {
    let part = |at: usize| Some(f64::from(u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?) / 255.0);
    let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6);
    hex.and_then(|_| Some([part(1)?, part(3)?, part(5)?, opacity.clamp(0.0, 1.0)]))
}

fn numbers(text: &str) -> Vec<f64> {
    text.split([' ', ',', '(', ')']).filter_map(|number| number.parse().ok()).collect()
}

/// The inverse of `svg::escape`.
fn unescaped(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    plain.replace("&amp;", "&")
}

fn segments(d: &str) -> Vec<Segment> {
    let mut out = Vec::new();
    let mut rest = d;
    while let Some(letter) = rest.trim_start().chars().next() {
        rest = &rest.trim_start()[letter.len_utf8()..];
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let values = numbers(&rest[..end]);
        rest = &rest[end..];
        let points: Vec<Point> = values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        match (letter, &points[..]) {
            ('M', [to]) => out.push(Segment::Move(*to)),
            ('L', [to]) => out.push(Segment::Line(*to)),
            ('C', [a, b, to]) => out.push(Segment::Curve(*a, *b, *to)),
            ('Z', _) => out.push(Segment::Close),
            _ => {}
        }
    }
    out
}

fn polygon(corners: &[Point], closed: bool) -> Vec<Segment> {
    let mut out: Vec<Segment> = corners.iter().map(|corner| Segment::Line(*corner)).collect();
    if let Some(first) = corners.first() {
        out[0] = Segment::Move(*first);
    }
    if closed {
        out.push(Segment::Close);
    }
    out
}

/// An ellipse as four curves; 0.5523 brings a cubic closest to a quarter.
fn ellipse((x, y): Point, (rx, ry): Point) -> Vec<Segment> {
    let at = |dx: f64, dy: f64| (x + dx * rx, y + dy * ry);
    let k = 0.5523;
    vec![
        Segment::Move(at(1.0, 0.0)),
        Segment::Curve(at(1.0, k), at(k, 1.0), at(0.0, 1.0)),
        Segment::Curve(at(-k, 1.0), at(-1.0, k), at(-1.0, 0.0)),
        Segment::Curve(at(-1.0, -k), at(-k, -1.0), at(0.0, -1.0)),
        Segment::Curve(at(k, -1.0), at(1.0, -k), at(1.0, 0.0)),
        Segment::Close,
    ]
}

fn rectangle(rect: Rect, corner: f64) -> Vec<Segment> {
    let (l, t, r, b) = (rect.x, rect.y, rect.right(), rect.bottom());
    let c = corner.min(rect.w / 2.0).min(rect.h / 2.0);
    if c <= 0.0 {
        return polygon(&[(l, t), (r, t), (r, b), (l, b)], true);
    }
    let k = c * (1.0 - 0.5523);
    vec![
        Segment::Move((l + c, t)),
        Segment::Line((r - c, t)),
        Segment::Curve((r - k, t), (r, t + k), (r, t + c)),
        Segment::Line((r, b - c)),
        Segment::Curve((r, b - k), (r - k, b), (r - c, b)),
        Segment::Line((l + c, b)),
        Segment::Curve((l + k, b), (l, b - k), (l, b - c)),
        Segment::Line((l, t + c)),
        Segment::Curve((l, t + k), (l + k, t), (l + c, t)),
        Segment::Close,
    ]
}

/// What encloses the next shape.
#[derive(Default)]
struct Reader {
    drawing: Drawing,
    /// Places of the documents that are open.
    origins: Vec<Point>,
    clips: Vec<Option<Rect>>,
    hatches: Vec<(String, Hatch)>,
    rects: Vec<(String, Rect)>,
    /// The definition that is open.
    pattern: Option<(String, f64)>,
    clip_path: Option<String>,
}

/// The shapes of a document; what is not understood is left out.
pub(super) fn read(svg: &str) -> Drawing {
    let mut reader = Reader::default();
    tags(svg).for_each(|tag| reader.tag(&tag));
    reader.drawing
}

impl Reader {
    fn tag(&mut self, tag: &Tag) {
        let origin = self.origins.last().copied().unwrap_or_default();
        match tag.name {
            "svg" => {
                let place = (origin.0 + tag.number("x"), origin.1 + tag.number("y"));
                if self.origins.is_empty() {
                    self.drawing.size = (tag.number("width"), tag.number("height"));
                }
                self.origins.push(place);
            }
            "/svg" => drop(self.origins.pop()),
            "title" if self.drawing.title.is_empty() && self.origins.len() == 1 => {
                self.drawing.title = unescaped(tag.text);
            }
            "pattern" => self.pattern = Some((tag.get("id").unwrap_or_default().to_owned(), tag.number("width"))),
            "/pattern" => self.pattern = None,
            "clipPath" => self.clip_path = tag.get("id").map(str::to_owned),
            "/clipPath" => self.clip_path = None,
            "g" => {
                let id = tag.get("clip-path").and_then(|url| url.strip_prefix("url(#")?.strip_suffix(')'));
                let known = id.and_then(|id| self.rects.iter().find(|(known, _)| known == id));
                let outer = self.clips.last().copied().flatten();
                self.clips.push(known.map(|(_, rect)| *rect).or(outer));
            }
            "/g" => drop(self.clips.pop()),
            "text" => self.text(tag, origin),
            _ => self.shape(tag, origin),
        }
    }

    fn shape(&mut self, tag: &Tag, origin: Point) {
        let [x, y, w, h] = ["x", "y", "width", "height"].map(|name| tag.number(name));
        let rect = Rect::new(x, y, w, h);
        let local = match tag.name {
            "rect" => rectangle(rect, tag.number("rx")),
            "line" => {
                let [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map(|name| tag.number(name));
                polygon(&[(x1, y1), (x2, y2)], false)
            }
            "circle" => ellipse((tag.number("cx"), tag.number("cy")), (tag.number("r"), tag.number("r"))),
            "ellipse" => ellipse((tag.number("cx"), tag.number("cy")), (tag.number("rx"), tag.number("ry"))),
            "path" => segments(tag.get("d").unwrap_or_default()),
            _ => return,
        };
        if let Some((id, size)) = &self.pattern {
            let stroke = tag.stroke().unwrap_or_default();
            let hatch = Hatch { size: size.max(1.0), segments: local, stroke, origin };
            self.hatches.push((id.clone(), hatch));
            return;
        }
        if let Some(id) = &self.clip_path {
            self.rects.push((id.clone(), Rect::new(x + origin.0, y + origin.1, w, h)));
            return;
        }
        let fill = tag.get("fill").and_then(|fill| match fill.strip_prefix("url(#") {
            Some(id) => {
                let id = id.trim_end_matches(')');
                self.hatches.iter().find(|(known, _)| known == id).map(|(_, hatch)| Fill::Hatch(hatch.clone()))
            }
            None => colour(fill, tag.opacity("fill-opacity")).map(Fill::Plain),
        });
        let segments = local.into_iter().map(|segment| segment.moved(origin)).collect();
        self.push(Kind::Path { segments, fill, stroke: tag.stroke() });
    }

    fn text(&mut self, tag: &Tag, origin: Point) {
        let (size, words) = (tag.number("font-size"), unescaped(tag.text));
        let turn = tag.get("transform").map(numbers).and_then(|all| all.first().copied()).unwrap_or(0.0).to_radians();
        let back = match tag.get("text-anchor") {
            Some("middle") => font::width(&words, size) / 2.0,
            Some("end") => font::width(&words, size),
            _ => 0.0,
        };
        let (dx, dy) = (-back, tag.number("dy"));
        let (sin, cos) = turn.sin_cos();
        let at = (origin.0 + tag.number("x") + dx * cos - dy * sin, origin.1 + tag.number("y") + dx * sin + dy * cos);
        let halo = tag.stroke().map(|stroke| (stroke.colour, stroke.width));
        let colour = tag.colour("fill", 1.0).unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let bold = tag.get("font-weight").is_some();
        self.push(Kind::Text(Text { words, at, turn, size, bold, colour, halo }));
    }

    fn push(&mut self, kind: Kind) {
        self.drawing.shapes.push(Shape { clip: self.clips.last().copied().flatten(), kind });
    }
}
