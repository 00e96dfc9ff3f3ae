//! The SVG element writer: escaping, number formatting, and the few shapes the figures need.
//!
//! Drawing goes to a [`Canvas`], whose size is only fixed by [`Canvas::finish`]; a figure can therefore lay itself out
//! while it draws. Output is a function of the input alone: numbers are printed with at most two decimals.

pub(super) use super::geometry::{Point, Rect};
use super::ink::{INK, PAPER};
use std::fmt::Write as _;

/// A document that is opened on its own is never wider than the window.
pub(crate) const FITS: &str = "style=\"max-width:100%;height:auto\"";
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

/// Fill and stroke of a shape, as attributes.
#[derive(Debug, Clone)]
pub(super) struct Paint(String);

impl Paint {
    pub fn fill(colour: &str) -> Self {
        Self(format!(" fill=\"{colour}\""))
    }

    pub fn stroke(colour: &str, width: f64) -> Self {
        Self::fill("none").and_stroke(colour, width)
    }

    pub fn and_stroke(self, colour: &str, width: f64) -> Self {
        self.with("stroke", colour).with("stroke-width", &number(width))
    }

    pub fn dash(self, dash: &str) -> Self {
        if dash.is_empty() { self } else { self.with("stroke-dasharray", dash) }
    }

    pub fn fill_opacity(self, opacity: f64) -> Self {
        self.with("fill-opacity", &number(opacity))
    }

    pub fn opacity(self, opacity: f64) -> Self {
        self.with("opacity", &number(opacity))
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.0, " {name}=\"{value}\"");
        self
    }
}

/// Which end of a text sits at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Debug, Clone)]
pub(super) struct TextStyle {
    size: f64,
    anchor: Anchor,
    fill: &'static str,
    bold: bool,
    turn: f64,
    halo: Option<String>,
}

impl TextStyle {
    pub fn new(size: f64, anchor: Anchor) -> Self {
        Self { size, anchor, fill: INK, bold: false, turn: 0.0, halo: None }
    }

    pub fn colour(mut self, fill: &'static str) -> Self {
        self.fill = fill;
        self
    }

    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Turns the text clockwise about its place, in degrees.
    pub fn turned(mut self, degrees: f64) -> Self {
        self.turn = degrees;
        self
    }

    /// Draws a thick outline behind the glyphs, so that lines and hatches below do not disturb them.
    pub fn halo(mut self, colour: &str) -> Self {
        self.halo = Some(colour.to_owned());
        self
    }
}

/// Collects elements; [`Canvas::finish`] makes the document.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
    definitions: Vec<(String, String)>,
}

impl Canvas {
    /// Adds a definition (pattern, gradient) once; later ones with the same id are ignored.
    pub fn define(&mut self, id: &str, element: &str) {
        if self.definitions.iter().all(|(known, _)| known != id) {
            self.definitions.push((id.to_owned(), element.to_owned()));
        }
    }

    pub fn line(&mut self, (x1, y1): Point, (x2, y2): Point, paint: &Paint) {
        let paint = paint.0.replacen(" fill=\"none\"", "", 1);
        self.element("line", &[("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)], &paint);
    }

    pub fn rect(&mut self, rect: Rect, corner: f64, paint: &Paint) {
        let corner = if corner > 0.0 { format!(" rx=\"{}\"", number(corner)) } else { String::new() };
        self.element("rect", &rect.attributes(), &(corner + &paint.0));
    }

    pub fn circle(&mut self, (x, y): Point, radius: f64, paint: &Paint) {
        self.element("circle", &[("cx", x), ("cy", y), ("r", radius)], &paint.0);
    }

    pub fn ellipse(&mut self, (x, y): Point, (rx, ry): Point, paint: &Paint) {
        self.element("ellipse", &[("cx", x), ("cy", y), ("rx", rx), ("ry", ry)], &paint.0);
    }

    fn element(&mut self, name: &str, places: &[(&str, f64)], rest: &str) {
        self.body += &element(name, places, rest);
        self.body.push('\n');
    }

    pub fn path(&mut self, path: &Path, paint: &Paint) {
        let _ = writeln!(self.body, "<path d=\"{}\" stroke-linejoin=\"round\"{}/>", path.0, paint.0);
    }

    /// Writes text whose *middle* line is at `y`, which is what labels of ticks, cells and nodes need.
    pub fn text(&mut self, (x, y): Point, text: &str, style: &TextStyle) {
        let base = if style.turn == 0.0 { y + 0.355 * style.size } else { y };
        let _ = write!(self.body, "<text x=\"{}\" y=\"{}\"", number(x), number(base));
        let _ = write!(self.body, " font-size=\"{}\" fill=\"{}\"", number(style.size), style.fill);
        match style.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.body.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.body.push_str(" text-anchor=\"end\""),
        }
        if style.bold {
            self.body.push_str(" font-weight=\"600\"");
        }
        if style.turn != 0.0 {
            let [turn, x, y, shift] = [style.turn, x, y, 0.355 * style.size].map(number);
            let _ = write!(self.body, " dy=\"{shift}\" transform=\"rotate({turn} {x} {y})\"");
        }
        if let Some(halo) = &style.halo {
            let _ = write!(self.body, " stroke=\"{halo}\" stroke-width=\"3.5\" stroke-linejoin=\"round\"");
            self.body.push_str(" paint-order=\"stroke\"");
        }
        let _ = writeln!(self.body, ">{}</text>", escape(text));
    }

    /// Writes lines of text one below the other.
    pub fn lines(&mut self, (x, y): Point, pitch: f64, lines: &[String], style: &TextStyle) {
        for (index, line) in lines.iter().enumerate() {
            self.text((x, y + index as f64 * pitch), line, style);
        }
    }

    /// Groups what `draw` draws under a tool tip.
    pub fn with_tip(&mut self, tip: &str, draw: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<g><title>{}</title>", escape(tip));
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// Clips what `draw` draws to a rectangle.
    pub fn clipped(&mut self, rect: Rect, draw: impl FnOnce(&mut Self)) {
        let id = format!("clip-{}", self.definitions.len());
        let shape = element("rect", &rect.attributes(), "");
        self.define(&id, &format!("<clipPath id=\"{id}\">{shape}</clipPath>"));
        let _ = writeln!(self.body, "<g clip-path=\"url(#{id})\">");
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// The elements alone.
    pub fn body(self) -> String {
        self.body
    }

    /// The complete document on paper, with a title and a description for screen readers.
    pub fn finish(self, width: f64, height: f64, title: &str, description: &str) -> String {
        let mut definitions = String::new();
        for (_, element) in &self.definitions {
            definitions = definitions + element + "\n";
        }
        if !definitions.is_empty() {
            definitions = format!("<defs>\n{definitions}</defs>\n");
        }
        let mut out = opening((width.ceil(), height.ceil()), title, description, &definitions);
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }
}

fn element(name: &str, places: &[(&str, f64)], rest: &str) -> String {
    let places: Vec<String> = places.iter().map(|(place, value)| format!(" {place}=\"{}\"", number(*value))).collect();
    format!("<{name}{}{rest}/>", places.concat())
}

/// A document up to its first element: paper, with a title and a description for screen readers.
pub(super) fn opening((w, h): Point, title: &str, description: &str, definitions: &str) -> String {
    let (w, h) = (number(w.max(1.0)), number(h.max(1.0)));
    let (title, description) = (escape(title), escape(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         {FITS} font-family=\"{FONTS}\" role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{title}</title>\n\
         <desc id=\"desc\">{description}</desc>\n{definitions}\
         <rect x=\"0\" y=\"0\" width=\"{w}\" height=\"{h}\" fill=\"{PAPER}\"/>\n"
    )
}

/// A side of a document, such as its `width`, in pixels.
pub(crate) fn side(svg: &str, name: &str) -> Option<f64> {
    let (root, _) = svg.split_once('>')?;
    let (_, after) = root.split_once(&format!(" {name}=\""))?;
    after.split_once('"')?.0.parse().ok()
}

/// The `d` attribute of a path under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(String);

impl Path {
    pub fn polygon(corners: &[Point]) -> Self {
        let mut path = Self::polyline(corners);
        path.close();
        path
    }

    /// A polygon about a centre; corners are in units of `radius`.
    pub fn around((x, y): Point, radius: f64, corners: &[Point]) -> Self {
        Self::polygon(&corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect::<Vec<_>>())
    }

    pub fn polyline(points: &[Point]) -> Self {
        let mut path = Self::default();
        for (index, point) in points.iter().enumerate() {
            if index == 0 { path.move_to(*point) } else { path.line_to(*point) }
        }
        path
    }

    pub fn move_to(&mut self, to: Point) {
        self.command('M', &[to]);
    }

    pub fn line_to(&mut self, to: Point) {
        self.command('L', &[to]);
    }

    pub fn curve_to(&mut self, first: Point, second: Point, to: Point) {
        self.command('C', &[first, second, to]);
    }

    pub fn close(&mut self) {
        if !self.0.is_empty() {
            self.0.push('Z');
        }
    }

    fn command(&mut self, letter: char, points: &[Point]) {
        self.0.push(letter);
        for (index, (x, y)) in points.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            let _ = write!(self.0, "{space}{} {}", number(*x), number(*y));
        }
    }
}

/// A coordinate with at most two decimals; what is not finite becomes 0.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Escapes text for element content and for attribute values; characters that XML 1.0 forbids are replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Prefixes all ids of an SVG document and all references to them.
pub(crate) fn with_prefixed_ids(svg: &str, prefix: &str) -> String {
    // Quotes in text are escaped, so these patterns only ever match attributes.
    svg.replace(" id=\"", &format!(" id=\"{prefix}"))
        .replace("=\"url(#", &format!("=\"url(#{prefix}"))
        .replacen(FITS, "", 1)
        .replace(" href=\"#", &format!(" href=\"#{prefix}"))
        .replace(" aria-labelledby=\"title desc\"", &format!(" aria-labelledby=\"{prefix}title {prefix}desc\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_fixed() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(1.005_1), "1.01");
        assert_eq!(number(100.0), "100");
        assert_eq!(number(f64::NAN), "0");
    }

    #[test]
    fn documents_know_their_size() {
        let svg = "<svg xmlns=\"x\" width=\"420.5\" height=\"3\"><rect width=\"1\"/></svg>";
        assert_eq!((side(svg, "width"), side(svg, "height")), (Some(420.5), Some(3.0)));
        assert_eq!(side("<svg><rect width=\"1\"/></svg>", "width"), None);
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<a & \"b\" 'c'>"), "&lt;a &amp; &quot;b&quot; &#39;c&#39;&gt;");
        assert_eq!(escape("bell\u{7}"), "bell\u{fffd}");
    }

    #[test]
    fn references_follow_their_ids() {
        let svg = "<g id=\"p\" fill=\"url(#p)\" aria-labelledby=\"title desc\"/>";
        let prefixed = "<g id=\"f1-p\" fill=\"url(#f1-p)\" aria-labelledby=\"f1-title f1-desc\"/>";
        assert_eq!(with_prefixed_ids(svg, "f1-"), prefixed);
    }
}
