//! Tables: in pages, on a terminal, and as Markdown.

use crate::page::inline;
use crate::svg::escape;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Rows of fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    caption: String,
    /// The names of the columns; their texts are not shown.
    header: Vec<Field>,
    rows: Vec<Vec<Field>>,
}

/// A text with the name of its column. Numbers stand on the right and are sorted as numbers, words on the left and as words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    name: String,
    numbers: bool,
    text: String,
    tone: Tone,
    sort_key: Option<String>,
}

/// The colour of a cell in a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary ink.
    #[default]
    Plain,
    /// Better, passed.
    Good,
    /// Worse, failed.
    Bad,
}

impl Field {
    /// Words.
    #[must_use]
    pub fn text(name: &str, text: impl Into<String>) -> Self {
        Self { name: name.to_owned(), text: text.into(), ..Self::default() }
    }

    /// A number.
    #[must_use]
    pub fn number(name: &str, text: impl Into<String>) -> Self {
        Self { numbers: true, ..Self::text(name, text) }
    }

    /// The field in another tone.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The field with a sort key other than its text.
    #[must_use]
    pub fn sorted_by(mut self, key: f64) -> Self {
        self.sort_key = Some(key.to_string());
        self
    }
}

/// Longer text is broken into lines.
const SENTENCE: usize = 40;

impl Table {
    /// A table with these column names; columns in `left` hold words.
    #[must_use]
    pub fn new(header: &[&str], left: &[usize]) -> Self {
        let column = |(index, name): (usize, &&str)| Field { numbers: !left.contains(&index), ..Field::text(name, "") };
        Self { header: header.iter().enumerate().map(column).collect(), ..Self::default() }
    }

    /// A row for each item; all have the fields of the first.
    pub fn of<T>(items: impl IntoIterator<Item = T>, fields: impl Fn(T) -> Vec<Field>) -> Self {
        let rows: Vec<Vec<Field>> = items.into_iter().map(fields).collect();
        Self { header: rows.first().cloned().unwrap_or_default(), rows, ..Self::default() }
    }

    /// The table with a text above it in pages.
    #[must_use]
    pub fn captioned(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(self.header.iter().zip(cells).map(|(column, text)| Field { text, ..column.clone() }).collect());
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints it for a terminal.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        self.lines("  ").iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
    }

    /// Prints it as a table of Markdown, which is as easy to read.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        let rule: Vec<&str> = self.header.iter().map(|column| if column.numbers { "--:" } else { "---" }).collect();
        let mut lines = self.lines(" | ");
        lines.insert(1.min(lines.len()), rule.join(" | "));
        lines.iter().try_for_each(|line| writeln!(out, "| {line} |"))
    }

    /// Header and rows, with their cells as wide as their columns; nothing if there are no columns.
    fn lines(&self, between: &str) -> Vec<String> {
        let header: Vec<&str> = self.header.iter().map(|column| column.name.as_str()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect());
        let rows: Vec<Vec<&str>> = std::iter::once(header).chain(rows).filter(|row| !row.is_empty()).collect();
        let width = |column: usize| rows.iter().filter_map(|row| Some(row.get(column)?.chars().count())).max();
        let widths: Vec<usize> = (0..self.header.len()).map(|column| width(column).unwrap_or(0)).collect();
        let padded = |((column, text), width): ((&Field, &&str), &usize)| {
            if column.numbers { format!("{text:>width$}") } else { format!("{text:<width$}") }
        };
        let line = |row: &Vec<&str>| self.header.iter().zip(row).zip(&widths).map(padded).collect::<Vec<_>>();
        rows.iter().map(|row| line(row).join(between)).collect()
    }

    pub(crate) fn html(&self, number: usize) -> String {
        let mut out =
            format!("<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table {number}\">\n<table>\n");
        let _ = writeln!(out, "<caption><b>Table {number}.</b> {}</caption>", inline(&self.caption));
        out.push_str("<thead><tr>");
        for Field { name, numbers, .. } in &self.header {
            let kind = if *numbers { " class=\"num\" data-sort=\"number\"" } else { " data-sort=\"text\"" };
            let _ = write!(out, "<th scope=\"col\"{kind}>{}</th>", inline(name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for Field { numbers, text, tone, sort_key, .. } in row {
                let tone = ["", "good", "bad"][*tone as usize];
                let kind = match (*numbers, text.chars().count() > SENTENCE) {
                    (true, _) => "num",
                    (false, true) => "sentence",
                    (false, false) => "",
                };
                let class = [kind, tone].join(" ");
                let class = if class == " " { String::new() } else { format!(" class=\"{}\"", class.trim()) };
                let key = sort_key.as_ref().map(|key| format!(" data-key=\"{}\"", escape(key)));
                let _ = write!(out, "<td{class}{}>{}</td>", key.unwrap_or_default(), inline(text));
            }
            out.push_str("</tr>\n");
        }
        out + "</tbody>\n</table>\n</div>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_carry_alignment_tone_and_key() {
        let fields = |mean: f64| {
            let mean = Field::number("mean", mean.to_string()).tone(Tone::Good).sorted_by(mean);
            vec![Field::text("method", "A<b>"), mean]
        };
        let html = Table::of([1.5], fields).captioned("c").html(4);
        assert!(html.contains("<th scope=\"col\" data-sort=\"text\">method</th>"));
        assert!(html.contains("<th scope=\"col\" class=\"num\" data-sort=\"number\">mean</th></tr>"));
        assert!(html.contains("<tr><td>A&lt;b&gt;</td><td class=\"num good\" data-key=\"1.5\">1.5</td></tr>"));
        assert!(html.contains("<b>Table 4.</b> c"));
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["task", "β"], &[0]);
        table.row(vec!["rooms".to_owned(), "0.5".to_owned()]);
        let text = |print: fn(&Table, &mut Vec<u8>) -> io::Result<()>| {
            let mut out = Vec::new();
            print(&table, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(Table::print), "task     β\nrooms  0.5\n");
        assert_eq!(text(Table::print_markdown), "| task  |   β |\n| --- | --: |\n| rooms | 0.5 |\n");
    }
}
