//! A place in a JSON text: lists and objects are gone through item by item, without building a tree, and serde_json reads what
//! is in them. So every value knows its place, a mistake hides no other, and a huge file takes no more memory than what it says.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::super::document::shortened;
use super::super::error::without_quotes;
use super::super::mistakes::Mistake;
use super::Text;

/// A place in a JSON text.
pub(super) struct Json<'a> {
    pub(super) text: Text<'a>,
    at: usize,
}

impl<'a> Json<'a> {
    pub(super) fn new(text: Text<'a>) -> Self {
        Self { text, at: 0 }
    }

    /// Where the next value begins.
    pub(super) fn offset(&mut self) -> usize {
        let rest = &self.text.content.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        self.at
    }

    /// The next character that is not blank.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let at = self.offset();
        self.text.content.as_bytes().get(at).copied()
    }

    fn unexpected(&mut self, expected: &str) -> Mistake<'a> {
        let found = match self.text.content[self.offset()..].chars().next() {
            Some(character) if character.is_control() => format!("'{}'", character.escape_debug()),
            Some(character) => format!("'{character}'"),
            None => "the end of the file".to_owned(),
        };
        self.text.error(self.at, format!("expected {expected}, not {found}"))
    }

    pub(super) fn expect(&mut self, wanted: u8, expected: &str) -> Option<()> {
        if self.peek() != Some(wanted) {
            return self.unexpected(expected).tell();
        }
        self.at += 1;
        Some(())
    }

    /// Whether another item of a list or object follows; reads the comma between items or the end.
    pub(super) fn next_item(&mut self, first: bool, end: u8) -> Option<bool> {
        match self.peek() {
            Some(byte) if byte == end || (byte == b',' && !first) => {
                self.at += 1;
                Some(byte != end)
            }
            _ if first => Some(true),
            _ => self.unexpected(if end == b']' { "',' or ']'" } else { "',' or '}'" }).tell(),
        }
    }

    /// The value that begins here, by serde_json, or what is wrong with it; the place stays what it was if there is none.
    fn value<T: Deserialize<'a>>(&mut self) -> Result<T, Mistake<'a>> {
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
                Err(self.text.error(offset, format!("not valid JSON: {what}")))
            }
            None => Err(self.unexpected("a value")),
        }
    }

    /// The name of an entry of an object as it is written, with the colon behind it.
    pub(super) fn key(&mut self) -> Option<&'a str> {
        if self.peek() != Some(b'"') {
            return self.unexpected("a text in double quotes").tell();
        }
        let quoted = self.value::<&RawValue>().map_err(Mistake::tell::<()>).ok()?.get();
        self.expect(b':', "':'")?;
        Some(&quoted[1..quoted.len() - 1])
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text.content[self.offset()..];
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')).count();
        self.at += length;
        &rest[..length]
    }

    /// A number; Python's NaN and Infinity are numbers as well.
    pub(super) fn number(&mut self) -> Option<f64> {
        let start = self.offset();
        let word = self.word();
        if word.is_empty() {
            let quoted = self.text.content[self.at..].strip_prefix('"').and_then(|rest| rest.split('"').next());
            return self.unexpected("a number").maybe_hint(quoted.and_then(without_quotes)).tell();
        }
        let message = || format!("expected a number, not \"{}\"", shortened(word));
        word.parse().ok().or_else(|| self.text.error(start, message()).tell())
    }

    /// True or false; Python's booleans may have been written as numbers.
    pub(super) fn flag(&mut self) -> Option<bool> {
        let start = self.offset();
        match self.word() {
            "true" | "1" | "1.0" => Some(true),
            "false" | "0" | "0.0" => Some(false),
            "" => self.unexpected("true or false").tell(),
            word => self.text.error(start, format!("expected true or false, not \"{}\"", shortened(word))).tell(),
        }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self) -> Option<()> {
        self.value::<IgnoredAny>().map(|_| ()).map_err(Mistake::tell::<()>).ok()
    }

    /// Passes over the value that begins at `start` and has a mistake, which is told already. Where the text is no JSON, nothing
    /// behind the mistake can be read.
    pub(super) fn pass_over(&mut self, start: usize) -> Option<()> {
        self.at = start;
        if self.word().parse::<f64>().is_ok() {
            return Some(());
        }
        self.at = start;
        self.value::<IgnoredAny>().ok().map(|_| ())
    }

    /// Nothing may follow.
    pub(super) fn end(&mut self) -> Option<()> {
        if self.peek().is_some() { self.unexpected("the end of the file").tell() } else { Some(()) }
    }
}
