//! A text that is not TOML: which mistakes of the syntax are worth telling, and what can be read all the same.
//!
//! After a mistake a parser takes much of what follows for another. So the text is cut into statements, a line that names a
//! table or a field with the lines that belong to it, and each is parsed on its own: the first mistake of each is told, and
//! the statement is left out.

use std::collections::HashMap;
use std::ops::Range;

use toml::de::{DeTable, Error};
use toml_parser::Source;
use toml_parser::lexer::{Token, TokenKind};

/// A text without the statements that cannot be read.
pub(super) struct Repair {
    /// The same text with spaces in their place, so that everything else stays where it is.
    pub(super) text: String,
    /// The first mistake of each, and its place.
    pub(super) mistakes: Vec<(usize, String)>,
    /// The names of what is left out, such as `objective.cost`.
    pub(super) lost: Vec<String>,
}

impl Repair {
    pub(super) fn of(text: &str) -> Self {
        let mut repair = Self { text: String::new(), mistakes: Vec::new(), lost: Vec::new() };
        // What follows the name of a table that cannot be read belongs to no other.
        let mut table_is_lost = false;
        for statement in statements(text) {
            let own = &text[statement.range.clone()];
            let (_, errors) = DeTable::parse_recoverable(own);
            if let Some(error) = errors.iter().min_by_key(|error| error.span().map_or(0, |span| span.start)) {
                let offset = statement.range.start + error.span().map_or(0, |span| span.start);
                repair.mistakes.push((offset, message(error, own, &Statements::of(own))));
            }
            if statement.key.is_none() {
                table_is_lost = !errors.is_empty();
            }
            if table_is_lost || !errors.is_empty() {
                repair.lost.push(statement.name());
                repair.text.extend(own.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            } else {
                repair.text.push_str(own);
            }
        }
        repair
    }
}

/// What the parser says, with the name of a key that is given twice and the line where it is given first.
pub(super) fn message(error: &Error, text: &str, statements: &Statements) -> String {
    let message = error.message();
    let Some(span) = error.span().filter(|_| is_duplicate(error)) else { return message.to_owned() };
    let name = text.get(span.clone()).map(str::trim).filter(|name| !name.is_empty() && name.len() < 60);
    let name = name.map_or(String::new(), |name| format!(" \"{}\"", name.trim_matches(['"', '\''])));
    match statements.line_of_first(span.start) {
        Some(line) => format!("{message}{name}; it is given first on line {line}"),
        None => format!("{message}{name}"),
    }
}

/// Whether a key is given twice: the text is TOML otherwise.
pub(super) fn is_duplicate(error: &Error) -> bool {
    error.message().starts_with("duplicate key")
}

/// The statements of a text, and where each name comes first.
pub(super) struct Statements {
    all: Vec<Statement>,
    firsts: HashMap<String, usize>,
}

impl Statements {
    pub(super) fn of(text: &str) -> Self {
        let all = statements(text);
        let mut firsts = HashMap::new();
        for (number, statement) in all.iter().enumerate() {
            firsts.entry(statement.name()).or_insert(number);
        }
        Self { all, firsts }
    }

    /// The line of the statement that has the name of the one that starts here, if it comes before it.
    fn line_of_first(&self, start: usize) -> Option<usize> {
        let second = self.all.get(self.all.partition_point(|statement| statement.start < start))?;
        let first = &self.all[*self.firsts.get(&second.name())?];
        (second.start == start && first.start < start).then_some(first.line)
    }
}

/// A line that names a table or a field, and those that belong to it.
struct Statement {
    range: Range<usize>,
    /// Where the first line has its first character.
    start: usize,
    /// The number of that line, from 1.
    line: usize,
    /// The table it is in, or that it names.
    table: String,
    /// `None` for the name of a table.
    key: Option<String>,
}

impl Statement {
    fn name(&self) -> String {
        match &self.key {
            Some(key) if self.table.is_empty() => key.clone(),
            Some(key) => format!("{}.{key}", self.table),
            None => self.table.clone(),
        }
    }
}

fn statements(text: &str) -> Vec<Statement> {
    let mut statements =
        vec![Statement { range: 0..0, start: 0, line: 1, table: String::new(), key: Some(String::new()) }];
    let (mut depth, mut offset, mut number) = (0, 0, 1);
    let mut table = String::new();
    let tokens: Vec<Token> = Source::new(text).lex().collect();
    // A text of several lines is one token.
    for line in tokens.split_inclusive(|token| token.kind() == TokenKind::Newline) {
        let end = line[line.len() - 1].span().end();
        let content = line.iter().position(|token| token.kind() != TokenKind::Whitespace).unwrap_or_default();
        let named = if content == 0 || depth <= 0 { first_name(text, &line[content..], content == 0) } else { None };
        if let Some((name, is_table)) = named {
            if is_table {
                table.clone_from(&name);
            }
            let (start, key) = (line[content].span().start(), (!is_table).then_some(name));
            statements.push(Statement { range: offset..end, start, line: number, table: table.clone(), key });
            depth = 0;
        } else if let Some(last) = statements.last_mut() {
            last.range.end = end;
        }
        depth += line.iter().map(|token| nesting(token.kind())).sum::<i32>();
        number += text[offset..end].matches('\n').count();
        offset = end;
    }
    statements
}

/// The name of the table or the field that a line begins with, and whether it is a table.
fn first_name(text: &str, line: &[Token], at_margin: bool) -> Option<(String, bool)> {
    let of = |tokens: &[Token]| tokens.iter().map(|token| &text[token.span().start()..token.span().end()]).collect();
    let brackets = line.iter().take_while(|token| token.kind() == TokenKind::LeftSquareBracket).count().min(2);
    let line = &line[brackets..];
    let is_key = |token: &Token| {
        use TokenKind::{Atom, BasicString, Dot, LiteralString};
        matches!(token.kind(), Atom | Dot | BasicString | LiteralString)
    };
    let end = line.iter().position(|token| !is_key(token)).unwrap_or(line.len());
    let name: String = of(&line[..end]);
    let next = line[end..].iter().find(|token| token.kind() != TokenKind::Whitespace).map(Token::kind);
    let is_bare = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if brackets > 0 {
        let ends = !matches!(next, Some(TokenKind::Comma | TokenKind::Equals | TokenKind::LeftCurlyBracket));
        return (is_bare && ends).then_some((name, true));
    }
    let begins = next == Some(TokenKind::Equals) || (at_margin && is_bare);
    (begins && !name.is_empty()).then(|| (name.trim_matches(['"', '\'']).to_owned(), false))
}

/// How many more brackets are open after a token.
pub(super) fn nesting(kind: TokenKind) -> i32 {
    match kind {
        TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => 1,
        TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::position;
    use super::*;

    #[test]
    fn statements_have_names() {
        let text = "# x\na = [\n  1,\n]\n\"b c\" = '''\nd = 1\n'''\n[t.u]\n  e = 1\nf 2\n[[v]] # y\n";
        let names: Vec<String> = statements(text).iter().map(Statement::name).collect();
        assert_eq!(names, ["", "a", "b c", "t.u", "t.u.e", "t.u.f", "v"]);
        let together: String = statements(text).iter().map(|statement| &text[statement.range.clone()]).collect();
        assert_eq!(together, text);
    }

    #[test]
    fn a_name_that_is_given_again_and_again_is_found_at_once() {
        let text = format!("a = '''\n\n'''\n  b = 1\n{}", "b = 2\n".repeat(100_000));
        let all = Statements::of(&text);
        assert_eq!(all.line_of_first(text.len() - 6), Some(4));
        // A look at all others for each of them would take minutes.
        assert!((0..100_000).all(|k| all.line_of_first(text.len() - 6 * (k + 1)) == Some(4)));
    }

    #[test]
    fn the_rest_stays_where_it_is() {
        let text = "a = [1\nb = 2\n[t\nc = 3\n[u]\nd = 4\nä\n";
        let repair = Repair::of(text);
        assert_eq!(repair.lost, ["a", "t", "t.c", "u.ä"]);
        assert_eq!(repair.text, "      \nb = 2\n  \n     \n[u]\nd = 4\n  \n");
        assert_eq!(repair.mistakes.iter().map(|(at, _)| position(text, *at).0).collect::<Vec<_>>(), [1, 3, 7]);
    }
}
