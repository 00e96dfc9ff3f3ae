//! CSV tables whose fields know where they stand: transitions, recordings, occupancies and policies.
//!
//! The first line names the columns. Commas separate fields; semicolons or tabs if the first line has them and no comma. A field
//! in double quotes may hold separators, line breaks, and "" for a quote. Blanks around fields, empty lines, lines that begin
//! with #, upper case in the names of columns and a byte order mark do not count. A line ends with LF, CRLF or CR.

use std::borrow::Cow;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::document::shortened;
use super::error::{counted, did_you_mean};
use super::mistakes::{Mistake, Text};
use super::world::{find_action, find_state};
use gumdp::{Action, Mdp, Pair, State};

/// A table.
pub(super) struct Csv<'a> {
    pub(super) text: Text<'a>,
    pub(super) header: Vec<Field<'a>>,
    separator: char,
    /// Where the lines after the first begin.
    body: usize,
    /// The names of the columns have mistakes, which are told already.
    doubtful: bool,
}

/// One entry of a table.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    pub(super) text: Cow<'a, str>,
    /// Where it begins, in bytes.
    pub(super) offset: usize,
}

/// The fields of a line, and whether there is one for each column; if not, that is told already.
pub(super) type Row<'a> = (Vec<Field<'a>>, bool);

impl<'a> Csv<'a> {
    /// Reads the first line of a table; `wanted` is what it must do.
    pub(super) fn open(text: Text<'a>, wanted: &str, hint: Option<&str>) -> Option<Self> {
        let mark = '\u{feff}';
        let start = if text.content.starts_with(mark) { mark.len_utf8() } else { 0 };
        let first = Rows::new(text, ',', start).line();
        let separator = [',', ';', '\t'].into_iter().find(|&c| first.contains(c)).unwrap_or(',');
        let mut rows = Rows::new(text, separator, start);
        let Some((mut header, whole)) = rows.next() else {
            let mistake = text.error(0, format!("the file is empty; its first line must {wanted}"));
            return mistake.maybe_hint(hint.map(str::to_owned)).tell();
        };
        for name in &mut header {
            name.text = name.text.to_lowercase().into();
        }
        whole.then_some(Self { text, header, separator, body: rows.at, doubtful: false })
    }

    /// Refuses columns with other names than these, and names that are there twice.
    pub(super) fn only(mut self, columns: &[&str]) -> Self {
        for (number, field) in self.header.iter().enumerate() {
            let name = &*field.text;
            let mistake = if !columns.contains(&name) {
                let known = format!("the columns here are {}", columns.join(", "));
                self.error(field, format!("unknown column \"{}\"", shortened(name)))
                    .hint(did_you_mean(name, columns.iter().copied()).unwrap_or(known))
            } else if self.header[..number].iter().any(|other| other.text == name) {
                self.error(field, format!("the column \"{name}\" is there twice"))
            } else {
                continue;
            };
            mistake.tell::<()>();
            self.doubtful = true;
        }
        self
    }

    /// The number of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|field| field.text == name)
    }

    /// The number of a column that must be there.
    pub(super) fn need(&self, name: &str) -> Option<usize> {
        self.column(name).or_else(|| {
            if self.doubtful {
                return None;
            }
            let names: Vec<&str> = self.header.iter().map(|field| &*field.text).collect();
            let message = format!("there is no column \"{name}\"; the columns are {}", names.join(", "));
            self.error(&self.header[0], message).tell()
        })
    }

    /// Each line but the first: it must have a field for each column.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        let rows = Rows::new(self.text, self.separator, self.body);
        rows.map(|(fields, whole)| {
            let complete = !whole || fields.len() == self.header.len();
            if !complete {
                let (got, needed) = (counted(fields.len(), "field"), self.header.len());
                let mistake = self.error(&fields[0], format!("this line has {got}; the first line has {needed}"));
                mistake.hint("a field with a separator in it needs double quotes").tell::<()>();
            }
            (fields, whole && complete)
        })
    }

    pub(super) fn error(&self, field: &Field, message: impl Into<String>) -> Mistake<'a> {
        self.text.error(field.offset, message)
    }

    /// A mistake that begins with what the field is and what was found there.
    pub(super) fn refused(&self, field: &Field, what: &str, must: &str) -> Mistake<'a> {
        self.error(field, format!("{what} is \"{}\"; it must {must}", shortened(&field.text)))
    }

    /// The state that a field names.
    pub(super) fn state(&self, mdp: &Mdp, field: &Field) -> Option<State> {
        find_state(mdp, &field.text, |message| self.error(field, message))
    }

    /// The action that a field names.
    pub(super) fn action(&self, mdp: &Mdp, field: &Field) -> Option<Action> {
        find_action(mdp, &field.text, |message| self.error(field, message))
    }

    /// The pair of a state and an action that two fields name.
    pub(super) fn pair(&self, mdp: &Mdp, state: &Field, action: &Field) -> Option<Pair> {
        let found = self.state(mdp, state)?;
        mdp.pair(found, self.action(mdp, action)?).or_else(|| {
            let names: Vec<&str> =
                mdp.pairs(found).map(|pair| mdp.action_name(mdp.action(Pair(pair)))).take(8).collect();
            let (state, name) = (shortened(&state.text), shortened(&action.text));
            let mistake = self.error(action, format!("state \"{state}\" does not allow action \"{name}\""));
            mistake.hint(format!("its actions are {}", names.join(", "))).tell()
        })
    }
}

/// Reads line by line.
struct Rows<'a> {
    text: Text<'a>,
    separator: char,
    at: usize,
    reader: Reader,
    buffer: Vec<u8>,
}

impl<'a> Rows<'a> {
    fn new(text: Text<'a>, separator: char, at: usize) -> Self {
        let reader = ReaderBuilder::new().delimiter(separator as u8).build();
        Self { text, separator, at, reader, buffer: vec![0; 64] }
    }

    /// The next line in which something stands; the reader is then at its beginning.
    fn line(&mut self) -> &'a str {
        loop {
            let line = self.text.content[self.at..].split_inclusive(['\n', '\r']).next().unwrap_or_default();
            let content = line.trim_start();
            if line.is_empty() || !(content.is_empty() || content.starts_with('#')) {
                return line;
            }
            self.at += line.len();
        }
    }

    /// The next field of a line, and whether it is the last.
    fn field(&mut self) -> Option<(Field<'a>, bool)> {
        let content = self.text.content;
        let is_blank = |c: char| c.is_whitespace() && !['\n', '\r', self.separator].contains(&c);
        let offset = content.len() - content[self.at..].trim_start_matches(is_blank).len();
        self.at = offset;
        let mut length = 0;
        let last = loop {
            let input = &content.as_bytes()[self.at..];
            let (result, read, written) = self.reader.read_field(input, &mut self.buffer[length..]);
            self.at += read;
            length += written;
            match result {
                ReadFieldResult::Field { record_end } => break record_end,
                ReadFieldResult::End => break true,
                ReadFieldResult::OutputFull => self.buffer.resize(2 * self.buffer.len(), 0),
                ReadFieldResult::InputEmpty => {}
            }
        };
        let end = if last { self.at } else { self.at - 1 };
        let written = content[offset..end].trim_end_matches(['\n', '\r']);
        let own = written.trim_end();
        if !own.starts_with('"') {
            return Some((Field { text: own.into(), offset }, last));
        }
        if own.len() == 1 || own.matches('"').count() % 2 == 1 {
            return self.text.error(offset, "the quoted field has no end").tell();
        }
        let closed = own.rfind('"').unwrap_or_default() + 1;
        if closed < own.len() {
            let after = closed + own[closed..].len() - own[closed..].trim_start().len();
            return self.text.error(offset + after, "a separator must follow the closing quote").tell();
        }
        // The blanks after the closing quote are not part of it.
        let quoted = &self.buffer[..length - (written.len() - own.len())];
        Some((Field { text: String::from_utf8_lossy(quoted).into_owned().into(), offset }, last))
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        let line = self.line();
        if line.is_empty() {
            return None;
        }
        let next_line = self.at + line.len();
        let mut fields = Vec::new();
        while let Some((field, last)) = self.field() {
            fields.push(field);
            if last {
                return Some((fields, true));
            }
        }
        self.reader.reset();
        self.at = next_line;
        Some((fields, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mistakes::Mistakes;

    /// The fields of all lines without mistakes, each with its place, and the mistakes.
    fn read(content: &str) -> (Vec<Vec<String>>, Vec<String>) {
        let mistakes = Mistakes::default();
        let csv = Csv::open(Text::of_data("my.csv", content, &mistakes), "be there", None);
        let places = |fields: &[Field]| fields.iter().map(|field| format!("{}@{}", field.text, field.offset)).collect();
        let header = csv.iter().map(|csv| places(&csv.header));
        let rows = csv.iter().flat_map(Csv::rows).filter(|(_, whole)| *whole).map(|(fields, _)| places(&fields));
        let rows = header.chain(rows).collect();
        (rows, mistakes.into_inner().0.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn fields_know_their_text_and_place() {
        let text = "\u{feff}State, action ,mass\r\n # a comment\n\n\"(0,1)\", \"say \"\"hi\"\"\" , 0.5\n";
        let expected = [["state@3", "action@10", "mass@18"], ["(0,1)@38", "say \"hi\"@47", "0.5@62"]];
        assert_eq!(read(text).0, expected);
        assert_eq!(read("a;b\n1; 2,5\r\"x;y\";\r").0, [["a@0", "b@2"], ["1@4", "2,5@7"], ["x;y@11", "@17"]]);
        assert_eq!(read("a\tb\n \t \n1\t\n\tx").0, [["a@0", "b@2"], ["1@8", "@10"], ["@11", "x@12"]]);
        assert_eq!(read("\"two\nlines\",\"\"\"\"\n \" a \" \t,ä").0, [["two\nlines@0", "\"@12"], [" a @18", "ä@26"]]);
        assert_eq!(read("  \n#").1, ["my.csv:1:1: the file is empty; its first line must be there"]);
        let long = format!("{0},\"{0}\"", "ä".repeat(1000));
        assert_eq!(read(&long).0[0], [format!("{}@0", "ä".repeat(1000)), format!("{}@2001", "ä".repeat(1000))]);
    }

    #[test]
    fn mistakes_have_a_place_and_end_with_their_line() {
        let text = "a,b\n1\n\"x,2\n1,2\n\"x\" y,2\n1,2,3\n1,\"";
        let mistakes = [
            "my.csv:2:1: this line has 1 field; the first line has 2",
            "my.csv:3:1: the quoted field has no end",
            "my.csv:5:5: a separator must follow the closing quote",
            "my.csv:6:1: this line has 3 fields; the first line has 2",
            "my.csv:7:3: the quoted field has no end",
        ];
        let lines = [["a@0", "b@2"], ["1@11", "2@13"]].map(|line| line.map(str::to_owned).to_vec());
        assert_eq!(read(text), (lines.to_vec(), mistakes.map(str::to_owned).to_vec()));
        assert_eq!(read("\"a").1, ["my.csv:1:1: the quoted field has no end"]);
    }
}
