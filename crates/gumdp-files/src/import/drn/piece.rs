//! Lines of a text, and parts of them that know where they stand.

use super::super::super::document::shortened;
use super::super::super::error::FileError;
use super::super::Text;
use super::super::foreign::MAX_ID;

/// A part of a line, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) content: &'a str,
    pub(super) offset: usize,
}

impl Piece<'_> {
    pub(super) fn trimmed(self) -> Self {
        let start = self.content.trim_start();
        Self { content: start.trim_end(), offset: self.offset + self.content.len() - start.len() }
    }

    pub(super) fn from(self, start: usize) -> Self {
        Self { content: &self.content[start..], offset: self.offset + start }.trimmed()
    }

    pub(super) fn until(self, end: usize) -> Self {
        Self { content: &self.content[..end], ..self }.trimmed()
    }

    /// The line without its comment; `None` if nothing is left.
    pub(super) fn uncommented(self) -> Option<Self> {
        let comment = self.content.match_indices("//").map(|(place, _)| place);
        let is_comment = |&place: &usize| self.content[..place].ends_with(char::is_whitespace) || place == 0;
        let line = self.until(comment.into_iter().find(is_comment).unwrap_or(self.content.len()));
        (!line.content.is_empty()).then_some(line)
    }

    /// The first word, or text in quotes, and what follows it.
    pub(super) fn word(self) -> (Self, Self) {
        if let Some(quoted) = self.content.strip_prefix('"')
            && let Some(end) = quoted.find('"')
        {
            return (Self { content: &quoted[..end], offset: self.offset + 1 }, self.from(end + 2));
        }
        let end = self.content.find(char::is_whitespace).unwrap_or(self.content.len());
        (self.until(end), self.from(end))
    }
}

/// The lines of a file.
pub(super) struct Lines<'a> {
    text: &'a Text<'a>,
    next: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a Text<'a>) -> Self {
        Self { text, next: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = &self.text.content[self.next..];
        let line = rest.split_inclusive('\n').next()?;
        let offset = self.next;
        self.next += line.len();
        Some(Piece { content: line, offset }.trimmed())
    }
}

/// A whole number.
pub(super) fn id(text: &Text, piece: Piece, what: &str) -> Result<u32, FileError> {
    piece.content.parse().ok().filter(|&number| number <= MAX_ID).ok_or_else(|| {
        let found = shortened(piece.content);
        text.error(piece.offset, format!("{what} is \"{found}\"; it must be a whole number in [0, {MAX_ID}]"))
    })
}

/// A decimal number or a fraction.
pub(super) fn number(text: &Text, piece: Piece, what: &str) -> Result<f64, FileError> {
    let value = match piece.content.split_once('/') {
        Some((above, below)) => {
            above.trim().parse::<f64>().ok().zip(below.trim().parse::<f64>().ok()).map(|(a, b)| a / b)
        }
        None => piece.content.parse().ok(),
    };
    value.filter(|value| value.is_finite()).ok_or_else(|| {
        let found = shortened(piece.content);
        text.error(piece.offset, format!("{what} is \"{found}\"; it must be a finite number or a fraction a/b"))
    })
}
