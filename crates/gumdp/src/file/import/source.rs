//! The text of problem files: one that says all that was read and assumed, and texts in quotes.

use std::fmt::Write as _;

use super::super::document::Table;
use super::FORMATS;
use super::content::Content;

/// The problem file with the text of the model and all that was assumed in it.
pub(super) fn self_contained(root: Table, content: &Content, lines: &str) -> String {
    let document = root.document();
    let Some(place) = root.get("text").or_else(|| root.get("file")) else { return document.text.to_owned() };
    let mut source = document.text[..place.span().end].to_owned();
    if root.get("text").is_none() {
        if root.get("format").is_none() {
            let name = FORMATS.iter().find(|(_, format)| *format == content.format).map_or("csv", |(name, _)| name);
            let _ = write!(source, "\nformat = {}", quoted(name));
        }
        let _ = write!(source, "\n{}text = {}", lines, block(&content.text));
    } else if !lines.is_empty() {
        let _ = write!(source, "\n{}", lines.trim_end());
    }
    source.push_str(&document.text[place.span().end..]);
    source
}

/// A text in quotes.
pub(in crate::file) fn quoted(text: &str) -> String {
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
