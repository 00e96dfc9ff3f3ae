//! Files that a problem file refers to: from its own `[files]`, or from its folder.

use std::fmt::Write;
use std::path::Path;

use super::document::{Table, Value};
use super::error::FileError;

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
        let text = read_file(&path).map_err(|error| {
            error.unwrap_or_else(|message| value.error(format!("{} is \"{name}\": {place}: {message}", value.name())))
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

/// Why a file was not read: an error in it, or why it cannot be read at all.
pub(super) enum Unread {
    At(FileError),
    Because(String),
}

impl Unread {
    pub(super) fn unwrap_or_else(self, error: impl FnOnce(String) -> FileError) -> FileError {
        match self {
            Self::At(error) => error,
            Self::Because(message) => error(message),
        }
    }
}

/// The text of an ordinary file of reasonable size.
pub(super) fn read_file(path: &Path) -> Result<String, Unread> {
    let refused = |error: std::io::Error| {
        Unread::Because(match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("cannot be read: {error}"),
        })
    };
    let metadata = std::fs::metadata(path).map_err(refused)?;
    if !metadata.is_file() {
        return Err(Unread::Because("this is not a file".to_owned()));
    }
    if metadata.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} are read", metadata.len());
        return Err(Unread::Because(message));
    }
    let bytes = std::fs::read(path).map_err(refused)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
        Unread::At(
            FileError::at(&path.display().to_string(), &text, valid, "the file is not text in UTF-8")
                .hint("save it as text in UTF-8"),
        )
    })
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
