//! Tables whose fields know where they stand.
//!
//! Commas separate fields; semicolons or tabs if the first line has them and no comma. Fields may be quoted (`"a, ""b"""`); spaces around them do not count; empty lines and lines that begin with `#` are left out.

use std::borrow::Cow;

/// A field and its place in the text, in bytes.
pub(super) struct Field<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) offset: usize,
}

/// The rows of a table; none is empty. What is wrong comes with its place.
pub(super) fn rows(text: &str) -> Result<Vec<Vec<Field<'_>>>, (usize, &'static str)> {
    let mut rows = Vec::new();
    let mut separator = None;
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while at < text.len() {
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let line = text[at..end].trim();
        if line.is_empty() || line.starts_with('#') {
            at = end + 1;
            continue;
        }
        let separator =
            *separator.get_or_insert_with(|| [',', ';', '\t'].into_iter().find(|&c| line.contains(c)).unwrap_or(','));
        let mut row = Vec::new();
        loop {
            let (field, after) = field(text, at, separator)?;
            row.push(field);
            at = after + 1;
            if !text[after..].starts_with(separator) {
                break;
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The field that begins at `start`, and the place of the separator or line end after it.
fn field(text: &str, start: usize, separator: char) -> Result<(Field<'_>, usize), (usize, &'static str)> {
    let blank = |c: char| (c == ' ' || c == '\t' || c == '\r') && c != separator;
    let offset = text.len() - text[start..].trim_start_matches(blank).len();
    let rest = &text[offset..];
    if !rest.starts_with('"') {
        let end = rest.find([separator, '\n']).map_or(text.len(), |length| offset + length);
        return Ok((Field { text: Cow::Borrowed(text[offset..end].trim_end_matches(blank)), offset }, end));
    }
    let mut content = String::new();
    let mut pieces = rest[1..].split('"');
    let mut at = offset + 1;
    while let Some(piece) = pieces.next() {
        at += piece.len() + 1;
        if at > text.len() {
            break;
        }
        content.push_str(piece);
        if !text[at..].starts_with('"') {
            let after = text.len() - text[at..].trim_start_matches(blank).len();
            return match text[after..].chars().next() {
                Some(next) if next != separator && next != '\n' => {
                    Err((after, "a comma or the end of the line must follow a quoted field"))
                }
                _ => Ok((Field { text: Cow::Owned(content), offset }, after)),
            };
        }
        // Two quotes are one.
        content.push('"');
        pieces.next();
        at += 1;
    }
    Err((offset, "the quoted field has no end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let texts = |row: Vec<Field>| row.into_iter().map(|field| field.text.into_owned()).collect();
        rows(text).map_err(|(at, what)| format!("{at}: {what}")).unwrap().into_iter().map(texts).collect()
    }

    #[test]
    fn rows_and_fields() {
        assert_eq!(texts("a,b\n1 , 2\r\n\n# no\n\"x, \"\"y\"\"\",\n"), [["a", "b"], ["1", "2"], ["x, \"y\"", ""]]);
        assert_eq!(texts("a;b\n1; 2,5\n\"x;y\";\n"), [["a", "b"], ["1", "2,5"], ["x;y", ""]]);
        assert_eq!(texts("a\tb\n1\t\n"), [["a", "b"], ["1", ""]]);
        assert_eq!(texts("\u{feff}a"), [["a"]]);
        assert_eq!(texts("\"\"\"\""), [["\""]]);
        assert_eq!(texts("\"two\nlines\",b"), [["two\nlines", "b"]]);
        assert!(texts("  \n").is_empty());
        let offsets: Vec<usize> = rows("a, b\nc").unwrap().iter().flatten().map(|field| field.offset).collect();
        assert_eq!(offsets, [0, 3, 5]);
    }

    #[test]
    fn bad_quotes_have_a_place() {
        assert_eq!(rows("a\n\"b").err(), Some((2, "the quoted field has no end")));
        assert_eq!(rows("\"a\"b").err(), Some((3, "a comma or the end of the line must follow a quoted field")));
        assert_eq!(rows("\"a\"\"").err(), Some((0, "the quoted field has no end")));
    }
}
