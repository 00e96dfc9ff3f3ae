//! Tables in CSV files that a problem file refers to: cells that know where they stand.
//!
//! The first line names the columns. Commas separate cells; semicolons or tabs if the first line has them and no comma. A
//! cell in double quotes may hold separators, and "" for a quote. Spaces around cells, empty lines and lines that begin
//! with # do not count.

use super::document::shortened;
use super::error::{FileError, counted, nearest};
use super::mistakes::Mistakes;

/// A CSV file.
pub(super) struct Sheet<'a> {
    file: &'a str,
    text: &'a str,
    mistakes: &'a Mistakes,
    separator: char,
    header: Vec<Cell>,
    /// The names of the columns have mistakes, which are told already.
    doubtful: bool,
    rows: Vec<Row>,
}

/// A line after the first.
struct Row {
    cells: Vec<Cell>,
    /// Whether it has a cell for each column.
    whole: bool,
}

/// One entry of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Where it begins, in bytes.
    offset: usize,
}

impl<'a> Sheet<'a> {
    /// Reads a file whose columns have some of these names.
    pub(super) fn parse(
        file: &'a str,
        text: &'a str,
        columns: &[&str],
        mistakes: &'a Mistakes,
    ) -> Result<Self, FileError> {
        let (header, rows) = (Vec::new(), Vec::new());
        let mut sheet = Self { file, text, mistakes, separator: ',', header, doubtful: false, rows };
        let mut offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        for line in text[offset..].split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']);
            if !(content.trim().is_empty() || content.starts_with('#')) {
                if sheet.header.is_empty() {
                    sheet.separator = [',', ';', '\t'].into_iter().find(|&c| content.contains(c)).unwrap_or(',');
                    sheet.header = sheet.cells(content, offset)?;
                    sheet.doubtful = !sheet.check_header(columns)?;
                } else {
                    let cells = sheet.cells(content, offset).and_then(|cells| sheet.counted(cells));
                    let whole = mistakes.accept_in_line(cells)?;
                    sheet.rows.push(match whole {
                        Some(cells) => Row { cells, whole: true },
                        None => Row { cells: sheet.cells(content, offset).unwrap_or_default(), whole: false },
                    });
                }
            }
            offset += line.len();
        }
        let Some(last) = sheet.header.last() else {
            return Err(FileError::unreadable(file, "the file is empty; its first line must name the columns"));
        };
        if sheet.rows.is_empty() {
            return Err(sheet.error(last, "there is no line after the names of the columns"));
        }
        Ok(sheet)
    }

    /// Tells every wrong name of a column; whether there is none.
    fn check_header(&self, columns: &[&str]) -> Result<bool, FileError> {
        let mut sound = true;
        for (number, cell) in self.header.iter().enumerate() {
            let error = if !columns.contains(&cell.text.as_str()) {
                let known = format!("the columns here are {}", columns.join(", "));
                self.error(cell, format!("unknown column \"{}\"", shortened(&cell.text)))
                    .hint(nearest(&cell.text, columns.iter().copied()).unwrap_or(known))
            } else if self.header[..number].iter().any(|other| other.text == cell.text) {
                self.error(cell, format!("the column \"{}\" is there twice", cell.text))
            } else {
                continue;
            };
            sound = false;
            self.mistakes.accept::<()>(Err(error))?;
        }
        Ok(sound)
    }

    /// The cells of a line that has one for each column.
    fn counted(&self, cells: Vec<Cell>) -> Result<Vec<Cell>, FileError> {
        if cells.len() == self.header.len() {
            return Ok(cells);
        }
        let (got, needed) = (counted(cells.len(), "cell"), counted(self.header.len(), "column"));
        let message = format!("this line has {got}; the first line names {needed}");
        let error = cells.last().map_or_else(|| self.error_at(0, &message), |last| self.error(last, &message));
        Err(error.hint("a cell with a separator in it needs double quotes"))
    }

    /// All lines but the first: their cells, as an error where there is not one for each column, which is told already.
    pub(super) fn rows(&self) -> impl Iterator<Item = Result<&[Cell], &[Cell]>> {
        self.rows.iter().map(|row| if row.whole { Ok(&row.cells[..]) } else { Err(&row.cells[..]) })
    }

    /// The first cell of a column, for what is wrong with all of it.
    pub(super) fn first(&self, column: usize) -> &Cell {
        self.rows().find_map(Result::ok).map_or(&self.header[column], |row| &row[column])
    }

    fn cells(&self, line: &str, offset: usize) -> Result<Vec<Cell>, FileError> {
        let is_blank = |c: char| c.is_whitespace() && c != self.separator;
        let mut cells = Vec::new();
        let mut at = 0;
        loop {
            let rest = &line[at..];
            let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
            let start = at + blanks;
            let (text, end) = if let Some(quoted) = line[start..].strip_prefix('"') {
                let (text, length) = self.quoted(quoted, offset + start)?;
                (text, start + 1 + length)
            } else {
                let length = line[start..].find(self.separator).unwrap_or(line.len() - start);
                (line[start..start + length].trim_end().to_owned(), start + length)
            };
            cells.push(Cell { text, offset: offset + start });
            let after = line[end..].trim_start_matches(is_blank);
            at = line.len() - after.len();
            match after.chars().next() {
                None => return Ok(cells),
                Some(next) if next == self.separator => at += 1,
                Some(_) => {
                    let message = format!("{:?} is needed after the closing quote", self.separator);
                    return Err(self.error_at(offset + at, message));
                }
            }
        }
    }

    /// The text up to the closing quote, and the number of bytes with it.
    fn quoted(&self, text: &str, offset: usize) -> Result<(String, usize), FileError> {
        let mut content = String::new();
        let mut at = 0;
        loop {
            let Some(length) = text[at..].find('"') else {
                return Err(self.error_at(offset, "the quote is not closed on this line"));
            };
            content.push_str(&text[at..at + length]);
            at += length + 1;
            if !text[at..].starts_with('"') {
                return Ok((content, at));
            }
            content.push('"');
            at += 1;
        }
    }

    /// The number of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|cell| cell.text == name)
    }

    pub(super) fn need(&self, name: &str) -> Result<usize, FileError> {
        self.column(name).ok_or_else(|| {
            if self.doubtful {
                return FileError::told();
            }
            let names: Vec<&str> = self.header.iter().map(|cell| cell.text.as_str()).collect();
            let message = format!("there is no column \"{name}\"; the columns are {}", names.join(", "));
            self.header.first().map_or_else(|| self.error_at(0, &message), |cell| self.error(cell, &message))
        })
    }

    pub(super) fn error(&self, cell: &Cell, message: impl Into<String>) -> FileError {
        self.error_at(cell.offset, message)
    }

    fn error_at(&self, offset: usize, message: impl Into<String>) -> FileError {
        // To find line and column takes time, which mistakes that are only counted must not take.
        if self.mistakes.are_enough() {
            return FileError::unreadable(self.file, message);
        }
        FileError::at(self.file, self.text, offset, message)
    }

    /// A finite number that is not negative.
    pub(super) fn amount(&self, cell: &Cell, what: &str) -> Result<f64, FileError> {
        match cell.text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            Ok(_) => Err(self.error(cell, format!("{what} is {}; it must be finite and not negative", cell.text))),
            Err(_) => Err(self.error(cell, format!("{what} must be a number, not \"{}\"", shortened(&cell.text)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_know_their_text_and_place() {
        let text = "\u{feff}state, action ,mass\r\n# a comment\n\n\"(0,1)\",\"say \"\"hi\"\"\" , 0.5\n";
        let mistakes = Mistakes::first();
        let sheet = Sheet::parse("my.csv", text, &["state", "action", "mass"], &mistakes).unwrap();
        assert_eq!(sheet.rows.len(), 1);
        assert_eq!(texts(&sheet), ["(0,1)", "say \"hi\"", "0.5"]);
        assert_eq!(sheet.error(sheet.first(2), "x").to_string(), "my.csv:4:24: x");
    }

    fn texts<'a>(sheet: &'a Sheet) -> Vec<&'a str> {
        sheet.rows[0].cells.iter().map(|cell| cell.text.as_str()).collect()
    }

    #[test]
    fn semicolons_and_tabs_separate_too() {
        let mistakes = Mistakes::first();
        for text in ["state;mass\r\n\"a;b\"; 0.5\r\n", "state\tmass\n\"a;b\"\t0.5\n"] {
            let sheet = Sheet::parse("my.csv", text, &["state", "mass"], &mistakes).unwrap();
            assert_eq!(texts(&sheet), ["a;b", "0.5"]);
        }
        let empty = Sheet::parse("my.csv", "state\taction\na\t\n", &["state", "action"], &mistakes).unwrap();
        assert_eq!(texts(&empty), ["a", ""]);
    }

    #[test]
    fn all_mistakes_are_told() {
        let mistakes = Mistakes::all();
        let sheet = Sheet::parse("my.csv", "a,state,b\n1\n1,2,3\n\"x\n", &["state"], &mistakes).unwrap();
        assert_eq!(
            sheet.rows().map(|row| row.map_or_else(<[Cell]>::len, <[Cell]>::len)).collect::<Vec<_>>(),
            [1, 3, 0]
        );
        assert!(sheet.need("mass").is_err_and(|error| error.is_told()));
        let told: Vec<String> = mistakes.into_inner().0.iter().map(ToString::to_string).collect();
        let expected = [
            "my.csv:1:1: unknown column \"a\"",
            "my.csv:1:9: unknown column \"b\"",
            "my.csv:2:1: this line has 1 cell; the first line names 3 columns",
            "my.csv:4:1: the quote is not closed on this line",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn broken_tables_are_refused() {
        let message = |text: &str| match Sheet::parse("my.csv", text, &["state", "action"], &Mistakes::first()) {
            Ok(_) => panic!("{text:?} is accepted"),
            Err(error) => error.to_string(),
        };
        assert_eq!(message(""), "my.csv: the file is empty; its first line must name the columns");
        assert_eq!(message("state,acton\n"), "my.csv:1:7: unknown column \"acton\"");
        assert_eq!(message("state,state\na,b"), "my.csv:1:7: the column \"state\" is there twice");
        assert_eq!(message("state,action\n"), "my.csv:1:7: there is no line after the names of the columns");
        assert_eq!(message("state,action\n\"a,b"), "my.csv:2:1: the quote is not closed on this line");
        assert_eq!(message("state,action\n\"a\"b,c"), "my.csv:2:4: ',' is needed after the closing quote");
        let short = "my.csv:2:5: this line has 3 cells; the first line names 2 columns";
        assert_eq!(message("state,action\na,b,c"), short);
    }
}
