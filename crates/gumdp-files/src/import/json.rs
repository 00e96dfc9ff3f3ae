//! A place in a JSON text: lists and objects are gone through item by item, without building a tree, and serde_json reads what
//! is in them. So every value knows its place, a mistake hides no other, and a huge file takes no more memory than what it says.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::super::document::shortened;
use super::super::error::{FileError, without_quotes};
use super::Text;

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

    /// The value that begins here, by serde_json; the place stays what it was if there is none.
    fn value<T: Deserialize<'a>>(&mut self) -> Result<T, FileError> {
        let rest = &self.text.content[self.offset()..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => {
                let lines: usize = rest.split_inclusive('\n').take(error.line() - 1).map(str::len).sum();
                let offset = self.at + lines + error.column().saturating_sub(1);
                let what = error.to_string();
                let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
                Err(self.error(offset, format!("not valid JSON: {what}")))
            }
            None => Err(self.unexpected("a value")),
        }
    }

    /// A text in quotes, as it is written.
    fn string(&mut self) -> Result<&'a str, FileError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a text in double quotes"));
        }
        let quoted = self.value::<&RawValue>()?.get();
        Ok(&quoted[1..quoted.len() - 1])
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
        self.value().map(|_: IgnoredAny| ())
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
