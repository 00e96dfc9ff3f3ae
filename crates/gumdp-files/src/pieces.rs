//! Long lists of transitions, cut into pieces that are parsed one after the other: the tree of a whole list takes some fifty times
//! the memory of its text.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::repair::nesting;

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
        let found = if text.len() < LONG { None } else { find(text) };
        let Some(ranges) = found else {
            return Self { rest: Cow::Borrowed(text), repaired: OnceCell::new(), ranges: Vec::new() };
        };
        let (start, end) = (ranges[0].start, ranges[ranges.len() - 1].end);
        let rest = format!("{}{}{}", &text[..start], " ".repeat(end - start), &text[end..]);
        Self { rest: Cow::Owned(rest), repaired: OnceCell::new(), ranges }
    }
}

/// The pieces of the list, which must stand before the first table.
fn find(text: &str) -> Option<Vec<Range<usize>>> {
    let (mut depth, mut statement) = (0, 0);
    let (mut piece, mut ranges) = (None, Vec::new());
    for token in Source::new(text).lex() {
        let (start, end) = (token.span().start(), token.span().end());
        depth += nesting(token.kind());
        match (token.kind(), piece, depth) {
            (TokenKind::Newline, None, 0) => statement = end,
            (TokenKind::LeftSquareBracket, None, 1) => match text[statement..start].trim() {
                "" => return None,
                head => piece = head.strip_suffix('=').filter(|key| key.trim_end() == LIST).map(|_| end),
            },
            (TokenKind::RightSquareBracket, Some(first), 0) => {
                ranges.push(first..start);
                return Some(ranges);
            }
            (TokenKind::Comma, Some(first), 1) if start - first >= PIECE => {
                ranges.push(first..end);
                piece = Some(end);
            }
            _ => {}
        }
    }
    None
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
