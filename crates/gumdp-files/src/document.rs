//! The text of a problem file as a tree of values that know where they stand.
//!
//! Everything that reads a file goes through [`Value`] and [`Table`], so every message names its field and its place in the
//! same way. The name of a value is looked up only when an error is reported.

use std::cell::LazyCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{alternatives, counted, did_you_mean, without_quotes};
use super::mistakes::{Mistake, Mistakes, Text, every};
use super::pieces::{LIST, Pieces};
use super::repair::{Repair, Statements, is_duplicate, message};
use super::table::name_of;

pub(super) use super::table::{Either, Key, Table};

/// A parsed file.
pub(super) struct Document<'a> {
    pub(super) text: Text<'a>,
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
    /// Parses a text that was perhaps cut into pieces. What can be read of a text with mistakes of the syntax is read.
    pub(super) fn parse(text: Text<'a>, pieces: &'a Pieces) -> Option<Self> {
        let (mut root, mut errors) = DeTable::parse_recoverable(&pieces.rest);
        let mut lost = Vec::new();
        if !errors.is_empty() {
            let repair = Repair::of(&pieces.rest);
            for (offset, message) in repair.mistakes {
                text.error(offset, format!("not valid TOML: {message}")).tell::<()>();
            }
            lost = repair.lost;
            (root, errors) = DeTable::parse_recoverable(pieces.repaired.get_or_init(|| repair.text));
        }
        Self { text, root, pieces: &pieces.ranges, lost, moved: 0, before: 0 }.sound(&pieces.rest, &errors)
    }

    /// Parses some elements of a long list, which were moved by so many bytes and have so many elements before them.
    pub(super) fn moved(whole: &Document<'a>, part: &'a str, (moved, before): (isize, usize)) -> Option<Self> {
        let (root, errors) = DeTable::parse_recoverable(part);
        Self { text: whole.text, root, pieces: &[], lost: Vec::new(), moved, before }.sound(part, &errors)
    }

    /// The document, unless it has mistakes of the syntax. After the first the parser guesses; a key that is given twice is
    /// no reason not to read on.
    fn sound(self, part: &str, errors: &[toml::de::Error]) -> Option<Self> {
        let guess = errors.iter().find(|error| !is_duplicate(error));
        let statements = LazyCell::new(|| Statements::of(part));
        for error in errors.iter().filter(|error| is_duplicate(error)).chain(guess) {
            let offset = error.span().map_or(0, |span| span.start);
            self.error(offset, format!("not valid TOML: {}", message(error, part, &statements))).tell::<()>();
        }
        guess.is_none().then_some(self)
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

    pub(super) fn error(&self, offset: usize, message: impl Into<String>) -> Mistake<'a> {
        self.text.error(offset.saturating_add_signed(self.moved), message)
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
pub(super) fn look_at<T>(file: &str, content: &str, look: impl FnOnce(Table) -> Option<T>) -> Option<T> {
    let (mistakes, pieces) = (Mistakes::default(), Pieces::cut(content));
    let document = Document::parse(Text::of_problem(file, content, &mistakes), &pieces)?;
    look(document.root())
}

/// A value of the file.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) node: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn error(self, message: impl Into<String>) -> Mistake<'a> {
        self.document.error(self.span().start, message)
    }

    /// A mistake that begins with the name of the field and the value found: "`slip` is 2; it must …".
    pub(super) fn refused(self, found: impl std::fmt::Display, must: &str) -> Mistake<'a> {
        self.error(format!("{} is {found}; it must {must}", self.name()))
    }

    /// What was made of this value; what is wrong with it is told.
    pub(super) fn accept<T>(self, made: Result<T, impl std::fmt::Display>) -> Option<T> {
        made.map_err(|error| self.error(error.to_string()).tell::<()>()).ok()
    }

    /// A mistake at this byte of the text of the value, if the file has the text as it is, without escapes.
    pub(super) fn error_within(self, at: usize, message: impl Into<String>) -> Mistake<'a> {
        let source = self.document.text.content.get(self.span()).unwrap_or_default();
        let within = self.as_text().and_then(|text| source.find(text)).map_or(0, |quotes| quotes + at);
        self.document.error(self.span().start + within, message)
    }

    fn wrong_type<T>(self, expected: &str) -> Option<T> {
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
        self.error(format!("{} must be {expected}, not {found}", self.name())).maybe_hint(quoted).tell()
    }

    /// Where it stands in the text, in bytes.
    pub(super) fn span(self) -> Range<usize> {
        self.node.span()
    }

    /// The dotted name of a value, such as `experiment.beta[1]`.
    pub(super) fn name(self) -> String {
        name_of(self.document, &|value| std::ptr::eq(value, self.node.get_ref())).unwrap_or_default()
    }

    pub(super) fn text(self) -> Option<&'a str> {
        self.as_text().or_else(|| self.wrong_type("a text in quotes"))
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

    pub(super) fn flag(self) -> Option<bool> {
        self.node.get_ref().as_bool().or_else(|| self.wrong_type("true or false"))
    }

    /// Any number, also infinite or not a number.
    pub(super) fn number(self) -> Option<f64> {
        let number = match self.node.get_ref() {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64),
            DeValue::Float(x) => x.as_str().parse().ok(),
            _ => return self.wrong_type("a number"),
        };
        number.or_else(|| self.wrong_type("a number of 64 bits"))
    }

    /// A number for which this holds.
    pub(super) fn number_that(self, valid: impl FnOnce(f64) -> bool, must: &str) -> Option<f64> {
        let number = self.number()?;
        if valid(number) { Some(number) } else { self.refused(number, must).tell() }
    }

    pub(super) fn finite(self) -> Option<f64> {
        self.number_that(f64::is_finite, "be finite")
    }

    /// A finite number that is not negative.
    pub(super) fn amount(self) -> Option<f64> {
        let number = self.finite()?;
        if number < 0.0 { self.refused(number, "not be negative").tell() } else { Some(number) }
    }

    pub(super) fn probability(self) -> Option<f64> {
        self.number_that(|number| (0.0..=1.0).contains(&number), "lie in [0, 1]")
    }

    /// A whole number in [lowest, highest].
    pub(super) fn count(self, lowest: u64, highest: u64) -> Option<u64> {
        let DeValue::Integer(written) = self.node.get_ref() else { return self.wrong_type("a whole number") };
        let number = u64::from_str_radix(written.as_str(), written.radix()).ok();
        number
            .filter(|number| (lowest..=highest).contains(number))
            .or_else(|| self.refused(written, &format!("lie in [{lowest}, {highest}]")).tell())
    }

    /// One of some named possibilities.
    pub(super) fn choice<T: Copy>(self, possibilities: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        possibilities.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).or_else(|| {
            let quoted: Vec<String> = possibilities.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.refused(format!("\"{}\"", shortened(text)), &format!("be {}", alternatives(&quoted)))
                .maybe_hint(did_you_mean(text, possibilities.iter().map(|(name, _)| *name)))
                .tell()
        })
    }

    pub(super) fn list(self) -> Option<Vec<Value<'a>>> {
        let array = self.node.get_ref().as_array().or_else(|| self.wrong_type("a list in [ ]"))?;
        Some(array.iter().map(|node| Value { node, ..self }).collect())
    }

    /// The elements of a list, or the only value.
    pub(super) fn all<T>(self, read: impl FnMut(Value<'a>) -> Option<T>) -> Option<Vec<T>> {
        let values = if self.is_list() { self.list()? } else { vec![self] };
        every(values.into_iter().map(read))
    }

    /// The elements of what must be a list.
    pub(super) fn elements<T>(self, read: impl FnMut(Value<'a>) -> Option<T>) -> Option<Vec<T>> {
        every(self.list()?.into_iter().map(read))
    }

    /// Refuses an empty list.
    pub(super) fn not_empty(self, what: &str) -> Option<Self> {
        if !self.is_list() || !self.list()?.is_empty() {
            return Some(self);
        }
        self.error(format!("{} is empty; it must {what}", self.name())).tell()
    }

    /// Exactly two finite numbers.
    pub(super) fn two_numbers(self) -> Option<[f64; 2]> {
        let numbers = self.elements(Value::finite)?;
        let wrong = || self.error(format!("{} has {}; it needs 2", self.name(), counted(numbers.len(), "number")));
        <[f64; 2]>::try_from(&numbers[..]).ok().or_else(|| wrong().tell())
    }

    /// Two finite numbers, the first of which is lower.
    pub(super) fn range(self, valid: impl FnOnce(f64) -> bool, must: &str) -> Option<[f64; 2]> {
        let [low, high] = self.two_numbers()?;
        if valid(low) && low < high { Some([low, high]) } else { self.refused(format!("[{low}, {high}]"), must).tell() }
    }

    pub(super) fn table(self) -> Option<Table<'a>> {
        let content = self.node.get_ref().as_table().or_else(|| self.wrong_type("a table"))?;
        Some(Table { document: self.document, content, offset: self.span().start })
    }

    /// The entries of a table, in the order of the file.
    pub(super) fn entries(self) -> Option<Vec<(Key<'a>, Value<'a>)>> {
        Some(self.table()?.entries())
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
