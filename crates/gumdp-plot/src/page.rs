//! Self-contained HTML reports: one file, no network, light and dark, readable without scripts and on paper.
//!
//! A [`Page`] is written from top to bottom. Text may use `` `code` `` and `**strong**`; everything
//! else is escaped. Figures are inlined SVG; their ids get a prefix so that figures do not share definitions, and the
//! style sheet maps the literal ink and paper of the figures to the colours of the theme.

mod inline;

use crate::svg::{escape, side, with_prefixed_ids};
use crate::table::Table;
use crate::theme::{self, LIGHT};
use inline::anchor;
pub(crate) use inline::inline;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page/style.css");
const INKS: &str = include_str!("../web/inks.js");
const SCRIPT: &str = include_str!("page/script.js");
const COARSE: &str = include_str!("../web/coarse.js");
const VIEWS: &str = include_str!("../web/views.js");
const CONTROLS: &str = include_str!("page/controls.js");

/// A report under construction.
#[derive(Debug, Clone, Default)]
pub struct Page {
    title: String,
    body: String,
    /// (id, heading) of the sections so far.
    contents: Vec<(String, String)>,
    in_section: bool,
    figures: usize,
    tables: usize,
    views: usize,
}

/// What a reader can do with data in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Move along the attitudes to risk.
    Levels,
    /// Follow an episode step by step.
    Replay,
}

/// A figure with its name and caption.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figure {
    /// Name of its file, without extension; offered for download unless it is empty.
    pub name: String,
    /// A complete SVG document.
    pub svg: String,
    /// The same for narrow screens, if the other is too wide for them.
    pub narrow: Option<String>,
    /// Text below the figure.
    pub caption: String,
}

impl Page {
    /// An empty report.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), ..Self::default() }
    }

    /// The opening paragraph, set larger.
    pub fn lead(&mut self, text: &str) -> &mut Self {
        self.push(&format!("<p class=\"lead\">{}</p>\n", inline(text)))
    }

    /// A row of (label, value, note) tiles; notes may be empty.
    pub fn key_figures(&mut self, tiles: &[(String, String, String)]) -> &mut Self {
        let mut out = "<dl class=\"tiles\">\n".to_owned();
        for (label, value, note) in tiles {
            let _ = write!(out, "<div><dt>{}</dt><dd class=\"value\">{}</dd>", inline(label), inline(value));
            if !note.is_empty() {
                let _ = write!(out, "<dd class=\"note\">{}</dd>", inline(note));
            }
            out.push_str("</div>\n");
        }
        self.push(&out).push("</dl>\n")
    }

    /// Starts a section, which is listed in the table of contents; ids are made safe and unique.
    pub fn section(&mut self, id: &str, heading: &str) -> &mut Self {
        self.close_section();
        let mut id = anchor(id);
        while self.contents.iter().any(|(known, _)| *known == id) {
            id.push('-');
        }
        let link = format!("<a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to this section\">#</a>");
        self.push(&format!("<section id=\"{id}\">\n<h2>{} {link}</h2>\n", inline(heading)));
        self.contents.push((id, heading.to_owned()));
        self.in_section = true;
        self
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        self.push(&format!("<p>{}</p>\n", inline(text)))
    }

    /// A table; its columns can be sorted by a click on their headings where they allow it.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        self.tables += 1;
        let html = table.html(self.tables);
        self.push(&html)
    }

    /// Figures side by side where there is room.
    pub fn figures<'a>(&mut self, row: impl IntoIterator<Item = &'a Figure>) -> &mut Self {
        let mut out = "<div class=\"row\">\n".to_owned();
        for figure in row {
            out += &self.figure_html(figure);
        }
        self.push(&out).push("</div>\n")
    }

    /// Data in JSON under controls of `page/controls.js`, which says what they hold.
    pub fn view(&mut self, view: View, json: &str) -> &mut Self {
        self.views += 1;
        let (number, kind) = (self.views, if view == View::Levels { "levels" } else { "replay" });
        // "<" may not be in a script: what follows could end it.
        let json = json.replace('<', "\\u003c");
        self.push(&format!(
            "<div class=\"views\" id=\"view-{number}\" data-kind=\"{kind}\">\n<noscript><p>With scripts there are controls here; \
             what they show is in the figures and tables too.</p></noscript>\n<script type=\"application/json\">{json}</script>\n</div>\n"
        ))
    }

    /// Content that is folded away at first; `content` writes it.
    pub fn details(&mut self, summary: &str, content: impl FnOnce(&mut Self)) -> &mut Self {
        self.push(&format!("<details>\n<summary>{}</summary>\n<div>\n", inline(summary)));
        content(self);
        self.push("</div>\n</details>\n")
    }

    /// Text in a fixed-width font, taken literally.
    pub fn code(&mut self, text: &str) -> &mut Self {
        self.push(&format!("<pre><code>{}</code></pre>\n", escape(text)))
    }

    /// The finished document.
    #[must_use]
    pub fn html(mut self) -> String {
        self.close_section();
        let title = escape(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'; img-src data:\">\n\
             <title>{title}</title>\n<style>\n{}{}{STYLE}</style>\n<script>\n{SCRIPT}</script>\n{}</head>\n<body>\n\
             <div class=\"layout\">\n",
            theme::style(),
            handed_over(),
            self.script()
        );
        out += &self.contents_html();
        let _ =
            write!(out, "<main>\n<h1>{}</h1>\n{}</main>\n</div>\n</body>\n</html>\n", inline(&self.title), self.body);
        out
    }

    /// The views and their controls as one module, if there are any.
    fn script(&self) -> String {
        let plain = |module: &str| {
            let lines = module.lines().filter(|line| !line.starts_with("import "));
            lines.map(|line| line.strip_prefix("export ").unwrap_or(line)).collect::<Vec<_>>().join("\n") + "\n"
        };
        let one = || {
            format!("<script type=\"module\">\n{}{}{}{CONTROLS}</script>\n", plain(INKS), plain(COARSE), plain(VIEWS))
        };
        if self.views > 0 { one() } else { String::new() }
    }

    fn push(&mut self, html: &str) -> &mut Self {
        self.body.push_str(html);
        self
    }

    fn close_section(&mut self) {
        if std::mem::take(&mut self.in_section) {
            self.push("</section>\n");
        }
    }

    fn contents_html(&self) -> String {
        let button = "<button type=\"button\" class=\"theme\" hidden>Theme: auto</button>\n";
        if self.contents.is_empty() {
            return format!("<div class=\"side\">{button}</div>\n");
        }
        let mut out = "<nav class=\"side\" aria-label=\"Contents\">\n<ol>\n".to_owned();
        for (id, heading) in &self.contents {
            let _ = writeln!(out, "<li><a href=\"#{id}\">{}</a></li>", inline(heading));
        }
        out + "</ol>\n" + button + "</nav>\n"
    }

    fn figure_html(&mut self, Figure { name, svg, narrow, caption }: &Figure) -> String {
        self.figures += 1;
        let number = self.figures;
        let drawing = |svg: &str, prefix: &str, class: &str| {
            let svg = with_prefixed_ids(svg, &format!("{prefix}{number}-"));
            format!("<div class=\"drawing{class}\">\n{svg}</div>\n")
        };
        let width = side(svg, "width").map_or_else(String::new, |width| format!(" style=\"--width: {width}px\""));
        let drawings = match narrow {
            None => drawing(svg, "f", ""),
            Some(narrow) => drawing(svg, "f", " wide") + &drawing(narrow, "n", " narrow"),
        };
        let mut out = format!("<figure id=\"figure-{number}\"{width}>\n{drawings}<figcaption>");
        let _ = write!(out, "<b>Figure {number}.</b> {}", inline(caption));
        if !name.is_empty() {
            let name = anchor(name);
            let _ = write!(out, " <button type=\"button\" class=\"save\" data-name=\"{name}.svg\" hidden>SVG</button>");
        }
        out + "</figcaption>\n</figure>\n"
    }
}

/// Figures are drawn in the literal colours of the light theme; these rules hand them to the theme of the reader.
fn handed_over() -> String {
    let literal = [("ink", LIGHT.ink), ("muted", LIGHT.muted), ("grid", LIGHT.grid), ("paper", LIGHT.paper)];
    let series = [("a", LIGHT.a), ("b", LIGHT.b), ("mark", LIGHT.mark)];
    let rule = |(name, colour): &(&str, &str)| {
        ["fill", "stroke"].map(|what| format!("svg [{what}=\"{colour}\"] {{ {what}: var(--{name}); }}\n")).concat()
    };
    literal.iter().chain(&series).map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> String {
        let mut page = Page::new("A <report> & more");
        page.lead("With `x < y` and **care**.").key_figures(&[("runs".into(), "100".into(), String::new())]);
        let figure = |svg: &str, caption: &str, name: &str| Figure {
            name: name.to_owned(),
            svg: svg.to_owned(),
            narrow: None,
            caption: caption.to_owned(),
        };
        page.section("same", "One").figures([&figure("<svg><g id=\"a\"/><use href=\"#a\"/></svg>\n", "first", "one")]);
        page.section("same", "Two").figures([&figure("<svg><g id=\"a\"/></svg>\n", "second", "")]);
        page.view(View::Levels, "{\"a\": \"</script>\"}");
        page.details("more", |page| {
            page.code("if a < b { }");
        });
        page.html()
    }

    #[test]
    fn text_is_escaped_and_marked_up() {
        let html = sample();
        assert!(html.contains("<title>A &lt;report&gt; &amp; more</title>"));
        assert!(html.contains("With <code>x &lt; y</code> and <strong>care</strong>."));
        assert!(html.contains("<pre><code>if a &lt; b { }</code></pre>"));
    }

    #[test]
    fn ids_do_not_clash() {
        let html = sample();
        assert!(html.contains("<section id=\"same\">") && html.contains("<section id=\"same-\">"));
        assert!(html.contains("{\"a\": \"\\u003c/script>\"}"));
        assert!(html.contains("id=\"f1-a\"") && html.contains("href=\"#f1-a\"") && html.contains("id=\"f2-a\""));
    }

    #[test]
    fn sections_are_closed_and_listed() {
        let html = sample();
        assert_eq!(html.matches("<section ").count(), html.matches("</section>").count());
        assert!(html.contains("<li><a href=\"#same\">One</a></li>"));
        assert_eq!(html, sample());
    }

    #[test]
    fn nothing_is_fetched() {
        let html = sample();
        for source in ["src=", "<link", "@import", "url(http", "fetch("] {
            assert!(!html.contains(source), "{source}");
        }
    }
}
