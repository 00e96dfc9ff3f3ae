//! Long lists of transitions, cut into pieces that are parsed one after the other: the tree of a whole list takes some fifty times
//! the memory of its text.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

/// Shorter texts are parsed as they are.
const LONG: usize = 1 << 20;
/// About so many bytes are parsed at once.
const PIECE: usize = 1 << 18;
/// The list that may be long.
pub(super) const LIST: &str = "transitions";

/// A text with the content of its long list taken out.
pub(super) struct Pieces<'a> {
    /// The same text with spaces in place of the list's content, so that everything else stays where it is.
    pub(super) rest: Cow<'a, str>,
    /// What can be read of `rest` if it is not TOML.
    pub(super) repaired: OnceCell<String>,
    /// Where whole elements of the list stand, with the commas after them.
    pub(super) ranges: Vec<Range<usize>>,
}

impl<'a> Pieces<'a> {
    /// Cuts a text if it is long and its list is found. A text that is not TOML may stay whole, which the parser then says.
    pub(super) fn cut(text: &'a str) -> Self {
        let found = if text.len() < LONG { None } else { Scanner { bytes: text.as_bytes(), at: 0 }.find() };
        let Some(ranges) = found else {
            return Self { rest: Cow::Borrowed(text), repaired: OnceCell::new(), ranges: Vec::new() };
        };
        let (start, end) = (ranges[0].start, ranges[ranges.len() - 1].end);
        let rest = format!("{}{}{}", &text[..start], " ".repeat(end - start), &text[end..]);
        Self { rest: Cow::Owned(rest), repaired: OnceCell::new(), ranges }
    }
}

/// Knows just enough of TOML to find the ends of values.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    /// The pieces of the list, which must stand before the first table.
    fn find(mut self) -> Option<Vec<Range<usize>>> {
        loop {
            self.skip(|byte| byte.is_ascii_whitespace());
            match self.peek()? {
                b'#' => self.skip(|byte| byte != b'\n'),
                b'[' => return None,
                _ => {
                    let start = self.at;
                    self.skip(|byte| byte != b'=' && byte != b'\n');
                    let key = self.bytes[start..self.at].trim_ascii();
                    self.at += 1;
                    self.skip(|byte| byte == b' ' || byte == b'\t');
                    if key == LIST.as_bytes() && self.peek()? == b'[' {
                        return self.pieces();
                    }
                    while !matches!(self.peek()?, b'\n' | b'#') {
                        self.value()?;
                    }
                }
            }
        }
    }

    /// Passes over a bracket with all it holds, a string, or any other byte.
    fn value(&mut self) -> Option<()> {
        match self.peek()? {
            b'[' | b'{' => {
                self.at += 1;
                loop {
                    match self.peek()? {
                        b']' | b'}' => break,
                        b'#' => self.skip(|byte| byte != b'\n'),
                        _ => self.value()?,
                    }
                }
                self.at += 1;
            }
            quote @ (b'"' | b'\'') => self.string(quote)?,
            _ => self.at += 1,
        }
        Some(())
    }

    fn string(&mut self, quote: u8) -> Option<()> {
        let triple = [quote; 3];
        let long = self.bytes[self.at..].starts_with(&triple);
        self.at += if long { 3 } else { 1 };
        loop {
            match self.peek()? {
                b'\\' if quote == b'"' => self.at += 2,
                byte if byte == quote && !long => break self.at += 1,
                byte if byte == quote && self.bytes[self.at..].starts_with(&triple) => break self.at += 3,
                b'\n' if !long => return None,
                _ => self.at += 1,
            }
        }
        // A long string may end with up to two quotes of its own.
        if long {
            self.skip(|byte| byte == quote);
        }
        Some(())
    }

    /// The pieces of the list that begins here.
    fn pieces(mut self) -> Option<Vec<Range<usize>>> {
        self.at += 1;
        let (mut start, mut ranges) = (self.at, Vec::new());
        loop {
            match self.peek()? {
                b']' => {
                    ranges.push(start..self.at);
                    return Some(ranges);
                }
                b'#' => self.skip(|byte| byte != b'\n'),
                b',' if self.at - start >= PIECE => {
                    self.at += 1;
                    ranges.push(start..self.at);
                    start = self.at;
                }
                _ => self.value()?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_between_elements() {
        let element = "{ from = \"a]\", action = '[', to = { \"x,\\\"y\" = 1 } }, # a comment, with ]\n";
        let head = "title = \"\"\"\ntransitions = [1]\"\"\"\"\nn = [1, # ]\n 2]\n";
        let text = format!("{head}transitions = [\n{}]\n[objective]\ntransitions = [3]\n", element.repeat(20_000));
        let Pieces { rest, ranges, .. } = Pieces::cut(&text);
        assert!(ranges.len() > 3 && rest.len() == text.len());
        assert_eq!(ranges[0].start, head.len() + "transitions = [".len());
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(ranges[..ranges.len() - 1].iter().all(|range| text[range.clone()].ends_with("},")));
        assert!(rest.ends_with(" ]\n[objective]\ntransitions = [3]\n"));
        let list = |text: &str| {
            toml::de::DeTable::parse(text).unwrap().get_ref()["transitions"].get_ref().as_array().unwrap().len()
        };
        assert_eq!(
            ranges.iter().map(|range| list(&format!("transitions=[{}]", &text[range.clone()]))).sum::<usize>(),
            20_000
        );
        assert_eq!(list(&rest), 0);
    }

    #[test]
    fn what_is_short_or_broken_stays_whole() {
        let long = " ".repeat(LONG);
        for text in
            ["transitions = [1]".to_owned(), format!("{long}transitions = [\"]"), format!("{long}x = \"\\"), long]
        {
            assert!(Pieces::cut(&text).ranges.is_empty());
        }
    }
}
