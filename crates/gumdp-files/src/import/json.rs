//! JSON read from left to right, without building a tree: every value knows its place, and a huge file takes no more memory
//! than what it says.

use super::super::document::shortened;
use super::super::error::{FileError, without_quotes};
use super::Text;

/// Deeper nesting than this is refused.
const DEEPEST: usize = 64;

/// A place in a JSON text.
pub(super) struct Json<'a> {
    pub(super) text: &'a Text<'a>,
    at: usize,
}

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a Text<'a>) -> Self {
        Self { text, at: 0 }
    }

    /// Where the next value begins.
    pub(super) fn offset(&mut self) -> usize {
        self.skip_blanks();
        self.at
    }

    pub(super) fn error(&self, offset: usize, message: impl Into<String>) -> FileError {
        self.text.error(offset, message)
    }

    /// The next character that is not blank.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.text.content.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text.content.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    }

    fn found(&mut self) -> String {
        match self.text.content[self.offset()..].chars().next() {
            Some(character) if character.is_control() => format!("'{}'", character.escape_debug()),
            Some(character) => format!("'{character}'"),
            None => "the end of the file".to_owned(),
        }
    }

    fn unexpected(&mut self, expected: &str) -> FileError {
        let found = self.found();
        self.error(self.at, format!("expected {expected}, not {found}"))
    }

    pub(super) fn expect(&mut self, wanted: u8, expected: &str) -> Result<(), FileError> {
        if self.peek() == Some(wanted) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// Whether another item of a list or object follows; reads the comma between items or the end.
    pub(super) fn next_item(&mut self, first: bool, end: u8) -> Result<bool, FileError> {
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.at += 1;
                Ok(true)
            }
            _ if first => Ok(true),
            _ => Err(self.unexpected(if end == b']' { "',' or ']'" } else { "',' or '}'" })),
        }
    }

    /// A text in quotes, as it is written.
    pub(super) fn string(&mut self) -> Result<&'a str, FileError> {
        self.expect(b'"', "a text in double quotes")?;
        let start = self.at;
        let bytes = self.text.content.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.text.content[start..self.at - 1]);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = bytes.len();
        Err(self.error(start - 1, "this text has no closing quote"))
    }

    /// The name of an entry of an object, with the colon behind it.
    pub(super) fn key(&mut self) -> Result<&'a str, FileError> {
        let key = self.string()?;
        self.expect(b':', "':'")?;
        Ok(key)
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text.content[self.offset()..];
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')).count();
        self.at += length;
        &rest[..length]
    }

    /// A number; Python's NaN and Infinity are numbers as well.
    pub(super) fn number(&mut self) -> Result<f64, FileError> {
        let start = self.offset();
        let word = self.word();
        if word.is_empty() {
            let quoted = self.text.content[self.at..].strip_prefix('"').and_then(|rest| rest.split('"').next());
            return Err(self.unexpected("a number").maybe_hint(quoted.and_then(without_quotes)));
        }
        word.parse().map_err(|_| self.error(start, format!("expected a number, not \"{}\"", shortened(word))))
    }

    /// True or false; Python's booleans may have been written as numbers.
    pub(super) fn flag(&mut self) -> Result<bool, FileError> {
        let start = self.offset();
        match self.word() {
            "true" | "1" | "1.0" => Ok(true),
            "false" | "0" | "0.0" => Ok(false),
            "" => Err(self.unexpected("true or false")),
            word => Err(self.error(start, format!("expected true or false, not \"{}\"", shortened(word)))),
        }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self) -> Result<(), FileError> {
        let mut ends = Vec::new();
        loop {
            let start = self.offset();
            match self.peek() {
                Some(opening @ (b'[' | b'{')) => {
                    self.at += 1;
                    ends.push((if opening == b'[' { b']' } else { b'}' }, true));
                    if ends.len() > DEEPEST {
                        return Err(self.error(start, "the lists and objects are nested too deeply"));
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                _ if self.word().is_empty() => return Err(self.unexpected("a value")),
                _ => {}
            }
            loop {
                let Some((end, first)) = ends.last_mut() else { return Ok(()) };
                let (closing, is_first) = (*end, std::mem::replace(first, false));
                if self.next_item(is_first, closing)? {
                    if closing == b'}' {
                        self.key()?;
                    }
                    break;
                }
                ends.pop();
            }
        }
    }

    /// Passes over the value that begins at `start` and has this mistake, if all mistakes are wanted. Where the text is no JSON,
    /// nothing behind the mistake can be read.
    pub(super) fn pass_over<T>(&mut self, start: usize, error: FileError) -> Result<Option<T>, FileError> {
        self.at = start;
        if !self.text.mistakes.wants_all() || self.skip().is_err() {
            return Err(error);
        }
        self.text.accept(Err(error))
    }

    /// Nothing may follow.
    pub(super) fn end(&mut self) -> Result<(), FileError> {
        if self.peek().is_some() { Err(self.unexpected("the end of the file")) } else { Ok(()) }
    }
}
