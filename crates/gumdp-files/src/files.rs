//! Files that a problem file refers to: from its own `[files]`, or from its folder.

use std::fmt::Write;
use std::path::Path;

use super::document::{Table, Value};
use super::error::FileError;
use super::read_text;

/// Files larger than this are not read.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// Where other files come from.
pub(super) struct Files<'a> {
    /// The texts in the problem file, by name. Where there are any, nothing is read from disk.
    own: Option<Table<'a>>,
    /// `[files]` is no table, which is told already.
    broken: bool,
    /// The folder of the problem file, if it was read from one.
    folder: Option<&'a Path>,
    /// Names and texts of what was read from disk.
    read: Vec<(String, String)>,
}

impl<'a> Files<'a> {
    pub(super) fn new(root: Table<'a>, folder: Option<&'a Path>) -> Result<Self, FileError> {
        let own = root.field("files", Value::table)?;
        for (_, text) in own.iter().flat_map(|own| own.entries()) {
            root.accept(text.text())?;
        }
        let broken = (own.is_none() && root.get("files").is_some()) || root.has_lost("files");
        Ok(Self { own, broken, folder, read: Vec::new() })
    }

    /// The place of the file that `value` names, for messages, and its text.
    pub(super) fn read(&mut self, value: Value) -> Result<(String, String), FileError> {
        let name = value.text()?;
        if self.broken {
            return Err(FileError::told());
        }
        if let Some(own) = self.own {
            let text = own
                .get(name)
                .ok_or_else(|| value.error(format!("{} is \"{name}\", which [files] does not have", value.name())))?;
            let text = text.as_text().ok_or_else(FileError::told)?;
            return Ok((name.to_owned(), text.to_owned()));
        }
        let Some(folder) = self.folder else {
            let message = format!("{} is \"{name}\", but this text was not read from a folder", value.name());
            return Err(value.error(message).hint("load the problem from a file, or put the text into [files]"));
        };
        let path = folder.join(name);
        let place = path.display().to_string();
        let text = read_file(&path).map_err(|error| match error.line {
            Some(_) => error,
            None => value.error(format!("{} is \"{name}\": {error}", value.name())),
        })?;
        if !self.read.iter().any(|(known, _)| known == name) {
            self.read.push((name.to_owned(), text.clone()));
        }
        Ok((place, text))
    }

    /// The text of the problem file, with `[files]` if it needs any: it means the same in any folder.
    pub(super) fn attached(&self, source: &str) -> String {
        let mut text = source.to_owned();
        if !self.read.is_empty() {
            text.push_str("\n[files]\n");
        }
        for (name, content) in &self.read {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{} = {}", quoted(name), quoted(content));
        }
        text
    }
}

/// The text of an ordinary file.
pub(super) fn read_file(path: &Path) -> Result<String, FileError> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(FileError::unreadable(&path.display().to_string(), "this is not a file"));
    }
    read_text(path, "a file")
}

/// A TOML string; over several lines if it has them.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '\n' => quoted.push('\n'),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    if text.contains('\n') { format!("\"\"\"\n{quoted}\"\"\"") } else { format!("\"{quoted}\"") }
}
