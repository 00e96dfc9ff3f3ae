//! Lines of a text, and parts of them that know where they stand.

use super::super::document::shortened;
use super::super::mistakes::{Mistake, Text};
use super::foreign::MAX_ID;

/// A part of a line, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    text: Text<'a>,
    pub(super) content: &'a str,
    pub(super) offset: usize,
}

/// The lines of a file, without blanks around them.
pub(super) fn lines(text: Text) -> impl Iterator<Item = Piece> {
    let mut next = 0;
    text.content.split_inclusive('\n').map(move |content| {
        let offset = next;
        next += content.len();
        Piece { text, content, offset }.trimmed()
    })
}

impl<'a> Piece<'a> {
    fn trimmed(self) -> Self {
        let start = self.content.trim_start();
        Self { content: start.trim_end(), offset: self.offset + self.content.len() - start.len(), ..self }
    }

    pub(super) fn from(self, start: usize) -> Self {
        Self { content: &self.content[start..], offset: self.offset + start, ..self }.trimmed()
    }

    pub(super) fn until(self, end: usize) -> Self {
        Self { content: &self.content[..end], ..self }.trimmed()
    }

    pub(super) fn is_empty(self) -> bool {
        self.content.is_empty()
    }

    /// The parts between separators.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> {
        let mut next = 0;
        self.content.split(separator).map(move |part| {
            let start = next;
            next += part.len() + separator.len_utf8();
            self.until(start + part.len()).from(start)
        })
    }

    /// The line without its comment, which begins with this and stands alone or after a blank; `None` if nothing is left.
    pub(super) fn without(self, comment: &str) -> Option<Self> {
        let mut places = self.content.match_indices(comment).map(|(place, _)| place);
        let comment = places.find(|&place| self.content[..place].ends_with(char::is_whitespace) || place == 0);
        let line = self.until(comment.unwrap_or(self.content.len()));
        (!line.is_empty()).then_some(line)
    }

    /// The first word, or text in quotes, and what follows it.
    pub(super) fn word(self) -> (Self, Self) {
        if let Some(quoted) = self.content.strip_prefix('"')
            && let Some(end) = quoted.find('"')
        {
            return (Self { content: &quoted[..end], offset: self.offset + 1, ..self }, self.from(end + 2));
        }
        let end = self.content.find(char::is_whitespace).unwrap_or(self.content.len());
        (self.until(end), self.from(end))
    }

    /// All words.
    pub(super) fn words(self) -> impl Iterator<Item = Self> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let (word, next) = (!rest.is_empty()).then(|| rest.word())?;
            rest = next;
            Some(word)
        })
    }

    pub(super) fn error(self, message: impl Into<String>) -> Mistake<'a> {
        self.text.error(self.offset, message)
    }

    /// A mistake that begins with what it is and what was found.
    pub(super) fn refused(self, what: &str, must: &str) -> Mistake<'a> {
        self.error(format!("{what} is \"{}\"; it must {must}", shortened(self.content)))
    }

    /// A whole number.
    pub(super) fn id(self, what: &str) -> Option<u32> {
        let id = self.content.parse().ok().filter(|&number| number <= MAX_ID);
        id.or_else(|| self.refused(what, &format!("be a whole number in [0, {MAX_ID}]")).tell())
    }

    /// A decimal number or a fraction.
    pub(super) fn number(self, what: &str) -> Option<f64> {
        let decimal = |text: &str| text.trim().parse::<f64>().ok();
        let value = match self.content.split_once('/') {
            Some((above, below)) => decimal(above).zip(decimal(below)).map(|(a, b)| a / b),
            None => decimal(self.content),
        };
        let value = value.filter(|value| value.is_finite());
        value.or_else(|| self.refused(what, "be a finite number or a fraction a/b").tell())
    }

    pub(super) fn probability(self, what: &str) -> Option<f64> {
        let value = self.number(what)?;
        let message = || format!("{what} is {value}; it must lie in [0, 1]");
        if (0.0..=1.0).contains(&value) { Some(value) } else { self.error(message()).tell() }
    }
}
