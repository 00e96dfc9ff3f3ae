//! The text of a problem file as a tree of values that know where they stand.
//!
//! Everything that reads a file goes through [`Value`] and [`Table`], so every message names its field and its place in the
//! same way. The name of a value is looked up only when an error is reported.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{FileError, Span, alternatives, counted, did_you_mean, without_quotes};
use super::mistakes::Mistakes;
use super::path::find_in_table;
use super::pieces::{LIST, Pieces};
use super::repair::{Repair, is_duplicate, message};

pub(super) use super::table::{Key, Table};

/// A parsed file.
pub(super) struct Document<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    pub(super) mistakes: &'a Mistakes,
    pub(super) root: Spanned<DeTable<'a>>,
    /// Where the elements of a long list stand that are not in `root`.
    pub(super) pieces: &'a [Range<usize>],
    /// The names of fields and tables that could not be read.
    pub(super) lost: Vec<String>,
    /// What is parsed as one piece of a long list: how far it was moved, and how many elements are before it.
    pub(super) moved: isize,
    before: usize,
}

impl<'a> Document<'a> {
    /// Parses a text that was perhaps cut into pieces. Where all mistakes are wanted, what can be read of a text with mistakes of
    /// the syntax is read.
    pub(super) fn parse(
        file: &'a str,
        text: &'a str,
        pieces: &'a Pieces,
        mistakes: &'a Mistakes,
    ) -> Result<Option<Self>, FileError> {
        let (mut root, mut errors) = DeTable::parse_recoverable(&pieces.rest);
        let mut lost = Vec::new();
        if !errors.is_empty() && mistakes.wants_all() {
            let repair = Repair::of(&pieces.rest);
            for (offset, message) in repair.mistakes {
                let message = format!("not valid TOML: {message}");
                mistakes.accept::<()>(Err(FileError::at(file, text, offset, message)))?;
            }
            lost = repair.lost;
            (root, errors) = DeTable::parse_recoverable(pieces.repaired.get_or_init(|| repair.text));
        }
        let document = Self { file, text, mistakes, root, pieces: &pieces.ranges, lost, moved: 0, before: 0 };
        document.tell(&pieces.rest, &errors)
    }

    /// Parses some elements of a long list, which were moved by so many bytes and have so many elements before them.
    pub(super) fn moved(
        whole: &'a Document,
        part: &'a str,
        (moved, before): (isize, usize),
    ) -> Result<Option<Self>, FileError> {
        let Document { file, text, mistakes, .. } = *whole;
        let (root, errors) = DeTable::parse_recoverable(part);
        Self { file, text, mistakes, root, pieces: &[], lost: Vec::new(), moved, before }.tell(part, &errors)
    }

    /// The document, unless it has mistakes of the syntax. After the first the parser guesses; a key that is given twice is
    /// no reason not to read on.
    fn tell(self, part: &str, errors: &[toml::de::Error]) -> Result<Option<Self>, FileError> {
        let guess = errors.iter().find(|error| !is_duplicate(error));
        for error in errors.iter().filter(|error| is_duplicate(error)).chain(guess) {
            let offset = error.span().map_or(0, |span| span.start);
            let message = format!("not valid TOML: {}", message(error, part));
            self.mistakes.accept::<()>(Err(self.error(offset, message)))?;
        }
        Ok(guess.is_none().then_some(self))
    }

    /// Whether this field, or a part of it, could not be read, which is told already.
    pub(super) fn has_lost(&self, name: &str) -> bool {
        let within = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
        self.lost.iter().any(|lost| lost == name || within(lost, name) || within(name, lost))
    }

    pub(super) fn root(&'a self) -> Table<'a> {
        // A missing field of the whole file is reported at its beginning.
        Table { document: self, content: self.root.get_ref(), offset: 0 }
    }

    pub(super) fn error(&self, offset: usize, message: impl Into<String>) -> FileError {
        FileError::at(self.file, self.text, offset.saturating_add_signed(self.moved), message)
    }

    /// The dotted name of a value, such as `experiment.beta[1]`.
    fn name(&self, wanted: &DeValue) -> String {
        let mut name = String::new();
        find_in_table(self.root.get_ref(), wanted, &mut name);
        self.counted(name)
    }

    /// The name that an element of a piece has in the whole list.
    pub(super) fn counted(&self, name: String) -> String {
        let list =
            name.strip_prefix(LIST).and_then(|rest| rest.strip_prefix('[')).and_then(|rest| rest.split_once(']'));
        match list.and_then(|(number, rest)| Some((number.parse::<usize>().ok()?, rest))) {
            Some((number, rest)) => format!("{LIST}[{}]{rest}", number + self.before),
            None => name,
        }
    }
}

/// Looks at a problem file that has no mistakes; `None` if it has.
pub(super) fn look_at<T>(file: &str, text: &str, look: impl FnOnce(Table) -> Option<T>) -> Option<T> {
    let (mistakes, pieces) = (Mistakes::first(), Pieces::cut(text));
    let document = Document::parse(file, text, &pieces, &mistakes).ok()??;
    look(document.root())
}

/// A value of the file.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) node: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn error(self, message: impl Into<String>) -> FileError {
        self.document.error(self.span().start, message)
    }

    /// An error that begins with the name of the field and the value found: "`slip` is 2; it must …".
    pub(super) fn refused(self, found: impl std::fmt::Display, must: &str) -> FileError {
        self.error(format!("{} is {found}; it must {must}", self.name()))
    }

    /// An error at this byte of the text of the value, if the file has the text as it is, without escapes.
    pub(super) fn error_within(self, at: usize, message: impl Into<String>) -> FileError {
        let source = self.document.text.get(self.span()).unwrap_or_default();
        let within = self.as_text().and_then(|text| source.find(text)).map_or(0, |quotes| quotes + at);
        self.document.error(self.span().start + within, message)
    }

    fn wrong_type(self, expected: &str) -> FileError {
        let quoted = self.as_text().filter(|_| expected.contains("number")).and_then(without_quotes);
        let found = match self.node.get_ref() {
            DeValue::String(text) => format!("the text \"{}\"", shortened(text)),
            DeValue::Integer(number) => format!("the number {number}"),
            DeValue::Float(number) => format!("the number {number}"),
            DeValue::Boolean(flag) => format!("{flag}"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.error(format!("{} must be {expected}, not {found}", self.name())).maybe_hint(quoted)
    }

    pub(super) fn span(self) -> Span {
        self.node.span()
    }

    pub(super) fn document(self) -> &'a Document<'a> {
        self.document
    }

    /// See [`Mistakes::accept`].
    pub(super) fn accept<T>(self, result: Result<T, FileError>) -> Result<Option<T>, FileError> {
        self.document.mistakes.accept(result)
    }

    pub(super) fn name(self) -> String {
        self.document.name(self.node.get_ref())
    }

    pub(super) fn text(self) -> Result<&'a str, FileError> {
        self.as_text().ok_or_else(|| self.wrong_type("a text in quotes"))
    }

    pub(super) fn as_text(self) -> Option<&'a str> {
        self.node.get_ref().as_str()
    }

    pub(super) fn is_table(self) -> bool {
        self.node.get_ref().is_table()
    }

    pub(super) fn is_list(self) -> bool {
        self.node.get_ref().is_array()
    }

    pub(super) fn flag(self) -> Result<bool, FileError> {
        self.node.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// Any number, also infinite or not a number.
    pub(super) fn number(self) -> Result<f64, FileError> {
        let number = match self.node.get_ref() {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64),
            DeValue::Float(x) => x.as_str().parse().ok(),
            _ => return Err(self.wrong_type("a number")),
        };
        number.ok_or_else(|| self.wrong_type("a number of 64 bits"))
    }

    pub(super) fn finite(self) -> Result<f64, FileError> {
        let number = self.number()?;
        if number.is_finite() { Ok(number) } else { Err(self.refused(number, "be finite")) }
    }

    pub(super) fn probability(self) -> Result<f64, FileError> {
        let number = self.number()?;
        if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(self.refused(number, "lie in [0, 1]")) }
    }

    /// A whole number in [lowest, highest].
    pub(super) fn count(self, lowest: u64, highest: u64) -> Result<u64, FileError> {
        let DeValue::Integer(written) = self.node.get_ref() else {
            return Err(self.wrong_type("a whole number"));
        };
        let number = u64::from_str_radix(written.as_str(), written.radix()).ok();
        number
            .filter(|number| (lowest..=highest).contains(number))
            .ok_or_else(|| self.refused(written, &format!("lie in [{lowest}, {highest}]")))
    }

    /// One of some named possibilities.
    pub(super) fn choice<T: Copy>(self, possibilities: &[(&str, T)]) -> Result<T, FileError> {
        let text = self.text()?;
        possibilities.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(|| {
            let quoted: Vec<String> = possibilities.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.refused(format!("\"{}\"", shortened(text)), &format!("be {}", alternatives(&quoted)))
                .maybe_hint(did_you_mean(text, possibilities.iter().map(|(name, _)| *name)))
        })
    }

    pub(super) fn list(self) -> Result<Vec<Value<'a>>, FileError> {
        let array = self.node.get_ref().as_array().ok_or_else(|| self.wrong_type("a list in [ ]"))?;
        Ok(array.iter().map(|node| Value { node, ..self }).collect())
    }

    /// The elements of a list, or the only value. Each is read on its own, so that all mistakes in them are told.
    pub(super) fn all<T>(self, read: impl FnMut(Value<'a>) -> Result<T, FileError>) -> Result<Vec<T>, FileError> {
        let values = if self.is_list() { self.list()? } else { vec![self] };
        let count = values.len();
        let read: Vec<Option<T>> =
            values.into_iter().map(read).map(|read| self.accept(read)).collect::<Result<_, _>>()?;
        let read: Vec<T> = read.into_iter().flatten().collect();
        if read.len() == count { Ok(read) } else { Err(FileError::told()) }
    }

    /// The same for what must be a list.
    pub(super) fn elements<T>(self, read: impl FnMut(Value<'a>) -> Result<T, FileError>) -> Result<Vec<T>, FileError> {
        self.list()?;
        self.all(read)
    }

    pub(super) fn finite_numbers(self) -> Result<Vec<f64>, FileError> {
        self.elements(Value::finite)
    }

    /// Exactly two finite numbers.
    pub(super) fn two_numbers(self) -> Result<[f64; 2], FileError> {
        let numbers = self.finite_numbers()?;
        <[f64; 2]>::try_from(numbers).map_err(|numbers| {
            self.error(format!("{} has {}; it needs 2", self.name(), counted(numbers.len(), "number")))
        })
    }

    pub(super) fn table(self) -> Result<Table<'a>, FileError> {
        let content = self.node.get_ref().as_table().ok_or_else(|| self.wrong_type("a table"))?;
        Ok(Table { document: self.document, content, offset: self.span().start })
    }
}

/// Names may be huge in a broken file; messages should not be.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    }
    format!("{}…", text.chars().take(LONGEST).collect::<String>().escape_debug())
}
