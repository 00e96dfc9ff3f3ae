//! The text of problem files: one that says all that was read and assumed, and texts in quotes.

use std::fmt::Write as _;

use super::super::document::Table;
use super::content::Content;

/// The problem file with the text of the model and all that was assumed in it.
pub(super) fn self_contained(root: Table, content: &Content, lines: &str) -> String {
    let document = root.document();
    if let Some(text) = root.get("text") {
        let end = text.span().end;
        let separator = if lines.is_empty() { "" } else { "\n" };
        return format!("{}{separator}{}{}", &document.text[..end], lines.trim_end(), &document.text[end..]);
    }
    // The text takes the place of the name of its file.
    let Some((key, file)) = root.entries().into_iter().find(|(key, _)| key.text == "file") else {
        return document.text.to_owned();
    };
    let mut source = document.text[..key.offset()].to_owned();
    if root.get("format").is_none() {
        let _ = writeln!(source, "format = {}", quoted(content.format.name));
    }
    let _ = write!(source, "{lines}text = {}", block(&content.text));
    source.push_str(&document.text[file.span().end..]);
    source
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    escape(text, &mut quoted);
    quoted.push('"');
    quoted
}

/// A text of several lines, as it is where possible.
fn block(text: &str) -> String {
    let plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
    if !text.contains("'''") && !text.ends_with('\'') && text.chars().all(plain) {
        return format!("'''\n{text}'''");
    }
    let mut block = String::from("\"\"\"\n");
    for line in text.split_inclusive('\n') {
        escape(line.trim_end_matches('\n'), &mut block);
        if line.ends_with('\n') {
            block.push('\n');
        }
    }
    block + "\"\"\""
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '"' | '\\' => into.extend(['\\', c]),
            '\n' => into.push_str("\\n"),
            '\t' => into.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(into, "\\u{:04X}", u32::from(c));
            }
            c => into.push(c),
        }
    }
}
