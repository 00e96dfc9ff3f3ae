//! Tables of a report.

use super::inline::inline;
use crate::escape;
use std::fmt::Write as _;

/// A captioned table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Text above the table.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// Rows of cells; missing cells are left empty, surplus cells are dropped.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Where its cells stand.
    pub align: Align,
    /// How a reader may sort by it.
    pub sort: Sort,
}

/// Where the cells of a column stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Align {
    /// Flush left: words.
    #[default]
    Left,
    /// Flush right: numbers.
    Right,
}

/// How rows are ordered by a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Not at all.
    #[default]
    No,
    /// As words.
    Text,
    /// As numbers; cells that are not numbers come last.
    Number,
}

/// The text of a cell and how it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// Its colour.
    pub tone: Tone,
    /// What it is sorted by, if not the text.
    pub sort_key: Option<String>,
}

/// The colour of a cell.
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

impl Column {
    /// A column of words, sortable.
    #[must_use]
    pub fn text(name: &str) -> Self {
        Self { name: name.to_owned(), align: Align::Left, sort: Sort::Text }
    }

    /// A column of numbers, sortable.
    #[must_use]
    pub fn number(name: &str) -> Self {
        Self { name: name.to_owned(), align: Align::Right, sort: Sort::Number }
    }
}

impl Cell {
    /// The cell in another tone.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The cell with a sort key other than its text.
    #[must_use]
    pub fn sorted_by(mut self, key: &impl ToString) -> Self {
        self.sort_key = Some(key.to_string());
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Align {
    fn class(self) -> &'static str {
        match self {
            Self::Left => "",
            Self::Right => "num",
        }
    }
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "good",
            Self::Bad => "bad",
        }
    }
}

impl Table {
    pub(super) fn html(&self, number: usize) -> String {
        let mut out =
            format!("<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table {number}\">\n<table>\n");
        let _ = writeln!(out, "<caption><b>Table {number}.</b> {}</caption>", inline(&self.caption));
        out.push_str("<thead><tr>");
        for column in &self.columns {
            let sort = match column.sort {
                Sort::No => "",
                Sort::Text => " data-sort=\"text\"",
                Sort::Number => " data-sort=\"number\"",
            };
            let class = class([column.align.class(), ""]);
            let _ = write!(out, "<th scope=\"col\"{class}{sort}>{}</th>", inline(&column.name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (index, column) in self.columns.iter().enumerate() {
                let empty = Cell::default();
                let cell = row.get(index).unwrap_or(&empty);
                let class = class([column.align.class(), cell.tone.class()]);
                let key = cell.sort_key.as_ref().map(|key| format!(" data-key=\"{}\"", escape(key)));
                let _ = write!(out, "<td{class}{}>{}</td>", key.unwrap_or_default(), inline(&cell.text));
            }
            out.push_str("</tr>\n");
        }
        out + "</tbody>\n</table>\n</div>\n"
    }
}

fn class(names: [&str; 2]) -> String {
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    if names.is_empty() { String::new() } else { format!(" class=\"{}\"", names.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_carry_alignment_tone_and_key() {
        let columns = vec![Column::text("method"), Column::number("mean"), Column::default()];
        let rows = vec![vec!["A<b>".into(), Cell::from("1.5").tone(Tone::Good).sorted_by(&1.5)]];
        let html = Table { caption: "c".into(), columns, rows }.html(4);
        assert!(html.contains("<th scope=\"col\" class=\"num\" data-sort=\"number\">mean</th><th scope=\"col\"></th>"));
        assert!(html.contains("<tr><td>A&lt;b&gt;</td><td class=\"num good\" data-key=\"1.5\">1.5</td><td></td></tr>"));
        assert!(html.contains("<b>Table 4.</b> c"));
    }
}
