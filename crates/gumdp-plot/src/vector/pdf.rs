//! Vector graphics for papers: PDF 1.7 with one page as large as the figure, its font embedded, its text selectable.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::{Colour, Drawing, Fill, Kind, Segment, Shape, Stroke, Text, font, read};

/// Points of a printer for a pixel of a screen.
const POINTS: f64 = 0.75;
const LEVEL: u8 = 9;

/// A figure of this crate as PDF.
#[must_use]
pub fn pdf(svg: &str) -> Vec<u8> {
    let drawing = read(svg);
    let mut page = Page::default();
    let height = drawing.size.1 * POINTS;
    let _ = writeln!(page.content, "{POINTS} 0 0 -{POINTS} 0 {} cm 1 j", number(height));
    drawing.shapes.iter().for_each(|shape| page.shape(shape));
    page.file(&drawing)
}

/// The operators of a page, and what they use.
#[derive(Default)]
struct Page {
    content: String,
    /// Opacities, in thousandths.
    opacities: BTreeSet<u32>,
    /// Glyphs with the signs that they stand for.
    glyphs: BTreeMap<u16, char>,
}

fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(|value| number(*value)).collect::<Vec<_>>().join(" ")
}

impl Page {
    fn shape(&mut self, shape: &Shape) {
        self.content.push_str("q ");
        if let Some(clip) = shape.clip {
            let _ = write!(self.content, "{} re W n ", numbers(&[clip.x, clip.y, clip.w, clip.h]));
        }
        match &shape.kind {
            Kind::Path { segments, fill, stroke } => {
                match fill {
                    Some(Fill::Plain(colour)) => {
                        self.colour(*colour, "rg");
                        self.path(segments);
                        self.content.push_str("f ");
                    }
                    Some(Fill::Hatch(hatch)) => {
                        self.content.push_str("q ");
                        self.path(segments);
                        self.content.push_str("W n ");
                        self.stroke(&hatch.lines(segments), &hatch.stroke);
                        self.content.push_str("Q ");
                    }
                    None => {}
                }
                if let Some(stroke) = stroke {
                    self.stroke(segments, stroke);
                }
            }
            Kind::Text(text) => self.text(text),
        }
        self.content.push_str("Q\n");
    }

    fn colour(&mut self, [r, g, b, opacity]: Colour, operator: &str) {
        let opacity = (opacity * 1000.0).round() as u32;
        self.opacities.insert(opacity);
        let _ = write!(self.content, "/G{opacity} gs {} {operator} ", numbers(&[r, g, b]));
    }

    fn path(&mut self, segments: &[Segment]) {
        for segment in segments {
            let _ = match *segment {
                Segment::Move((x, y)) => write!(self.content, "{} m ", numbers(&[x, y])),
                Segment::Line((x, y)) => write!(self.content, "{} l ", numbers(&[x, y])),
                Segment::Curve(a, b, c) => {
                    write!(self.content, "{} c ", numbers(&[a.0, a.1, b.0, b.1, c.0, c.1]))
                }
                Segment::Close => write!(self.content, "h "),
            };
        }
    }

    fn stroke(&mut self, segments: &[Segment], stroke: &Stroke) {
        self.colour(stroke.colour, "RG");
        let cap = u8::from(stroke.round);
        let _ = write!(self.content, "{} w {cap} J [{}] 0 d ", number(stroke.width), numbers(&stroke.dash));
        self.path(segments);
        self.content.push_str("S ");
    }

    fn text(&mut self, text: &Text) {
        let mut codes = String::new();
        for sign in text.words.chars() {
            let glyph = font::glyph(sign);
            self.glyphs.entry(glyph).or_insert(sign);
            let _ = write!(codes, "{glyph:04x}");
        }
        let (sin, cos) = text.turn.sin_cos();
        // Fonts grow upwards, the page downwards.
        let place = numbers(&[cos, sin, sin, -cos, text.at.0, text.at.1]);
        let shown = format!("BT /F {} Tf {place} Tm <{codes}> Tj ET ", number(text.size));
        // As lines, not as letters: who copies the text gets it once.
        if let Some((colour, width)) = text.halo {
            let outline = font::outline(&text.words, text.at, text.turn, text.size);
            self.stroke(&outline, &Stroke { colour, width, ..Stroke::default() });
        }
        self.colour(text.colour, "rg");
        if text.bold {
            self.colour(text.colour, "RG");
            let _ = write!(self.content, "{} w [] 0 d 2 Tr ", number(text.size * 0.04));
        } else {
            self.content.push_str("0 Tr ");
        }
        self.content += &shown;
    }

    fn file(&self, drawing: &Drawing) -> Vec<u8> {
        let units = |value: f64| value * 1000.0 / font::units();
        let state = |o: &u32| format!("/G{o} << /ca {0} /CA {0} >> ", f64::from(*o) / 1000.0);
        let states = self.opacities.iter().map(state).collect::<Vec<_>>().concat();
        let width = |glyph: &u16| format!("{glyph} [{}] ", number(units(font::advance(*glyph))));
        let widths = self.glyphs.keys().map(width).collect::<Vec<_>>().concat();
        let ([low, high, capital], bounds) = font::metrics();
        let (size, bounds) = (numbers(&[drawing.size.0 * POINTS, drawing.size.1 * POINTS]), bounds.map(units));
        let name = "GumdpDejaVuSans";
        let mut file = File::default();
        file.object("<< /Type /Catalog /Pages 2 0 R >>");
        file.object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
        file.object(&format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size}] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> \
             /ExtGState << {states}>> >> >>"
        ));
        file.stream("", self.content.as_bytes());
        file.object(&format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H /DescendantFonts [6 0 R] \
             /ToUnicode 9 0 R >>"
        ));
        file.object(&format!(
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDSystemInfo << /Registry (Adobe) /Ordering \
             (Identity) /Supplement 0 >> /FontDescriptor 7 0 R /CIDToGIDMap /Identity /W [{widths}] >>"
        ));
        file.object(&format!(
            "<< /Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{}] /ItalicAngle 0 /Ascent {} /Descent {} \
             /CapHeight {} /StemV 80 /FontFile2 8 0 R >>",
            numbers(&bounds),
            number(units(high)),
            number(units(low)),
            number(units(capital)),
        ));
        file.stream(&format!("/Length1 {} ", font::FILE.len()), font::FILE);
        file.stream("", self.to_unicode().as_bytes());
        file.object(&format!("<< /Title <{}> /Producer (gumdp) >>", utf16(&format!("\u{feff}{}", drawing.title))));
        file.end()
    }

    /// Which sign each glyph stands for, so that text can be searched and copied.
    fn to_unicode(&self) -> String {
        let mut out =
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CIDSystemInfo << /Registry (Adobe) \
                       /Ordering (UCS) /Supplement 0 >> def /CMapName /Signs def /CMapType 2 def 1 begincodespacerange \
                       <0000> <ffff> endcodespacerange\n"
                .to_owned();
        let all: Vec<(&u16, &char)> = self.glyphs.iter().collect();
        for part in all.chunks(100) {
            let _ = writeln!(out, "{} beginbfchar", part.len());
            for (glyph, sign) in part {
                let _ = writeln!(out, "<{glyph:04x}> <{}>", utf16(&sign.to_string()));
            }
            out.push_str("endbfchar\n");
        }
        out + "endcmap CMapName currentdict /CMap defineresource pop end end"
    }
}

fn utf16(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("{unit:04x}")).collect::<Vec<_>>().concat()
}

/// Objects, numbered from 1, and where they begin.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    begins: Vec<usize>,
}

impl File {
    fn begin(&mut self) {
        if self.bytes.is_empty() {
            self.bytes.extend(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n");
        }
        self.begins.push(self.bytes.len());
        self.bytes.extend(format!("{} 0 obj\n", self.begins.len()).bytes());
    }

    fn object(&mut self, content: &str) {
        self.begin();
        self.bytes.extend(content.bytes());
        self.bytes.extend(b"\nendobj\n");
    }

    fn stream(&mut self, entries: &str, content: &[u8]) {
        self.begin();
        let packed = compress_to_vec_zlib(content, LEVEL);
        self.bytes.extend(format!("<< {entries}/Length {} /Filter /FlateDecode >>\nstream\n", packed.len()).bytes());
        self.bytes.extend(packed);
        self.bytes.extend(b"\nendstream\nendobj\n");
    }

    /// The finished file; its last object says what it is about, its first is the root.
    fn end(mut self) -> Vec<u8> {
        let (start, count) = (self.bytes.len(), self.begins.len());
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", count + 1);
        for begin in &self.begins {
            let _ = writeln!(table, "{begin:010} 00000 n ");
        }
        let _ = write!(
            table,
            "trailer\n<< /Size {} /Root 1 0 R /Info {count} 0 R >>\nstartxref\n{start}\n%%EOF\n",
            count + 1
        );
        self.bytes.extend(table.bytes());
        self.bytes
    }
}
