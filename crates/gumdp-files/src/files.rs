//! Reading files: a problem file, and those that it refers to, from its own `[files]` or from its folder.

use std::fmt::Write;
use std::io::Read as _;
use std::path::{Component, Path};

use super::document::{Table, Value};
use super::error::FileError;
use super::import::Format;
use super::mistakes::Mistakes;

/// Files larger than this are not read.
pub(super) const MAX_BYTES: u64 = 1 << 30;
/// Problem files with more bytes than this are not read: one of 120 MB would take 9 GB.
pub(super) const MAX_TOML: usize = 16 << 20;

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
    pub(super) fn new(root: Table<'a>, folder: Option<&'a Path>) -> Self {
        let own = root.get("files").and_then(Value::table);
        for (_, text) in own.iter().flat_map(|own| own.entries()) {
            text.text();
        }
        let broken = (own.is_none() && root.get("files").is_some()) || root.has_lost("files");
        Self { own, broken, folder, read: Vec::new() }
    }

    /// The place of the file that `value` names, for messages, and its text.
    pub(super) fn read(&mut self, value: Value) -> Option<(String, String)> {
        let name = value.text()?;
        if self.broken {
            return None;
        }
        if let Some(own) = self.own {
            let unknown = || value.error(format!("{} is \"{name}\", which [files] does not have", value.name()));
            let text = own.get(name).or_else(|| unknown().tell())?.as_text()?;
            return Some((name.to_owned(), text.to_owned()));
        }
        let Some(folder) = self.folder else {
            let message = format!("{} is \"{name}\", but this text was not read from a folder", value.name());
            return value.error(message).hint("load the problem from a file, or put the text into [files]").tell();
        };
        let path = folder.join(name);
        let text = read_named(folder, &path, value, &format!("{} is \"{name}\": ", value.name()))?;
        if !self.read.iter().any(|(known, _)| known == name) {
            self.read.push((name.to_owned(), text.clone()));
        }
        Some((path.display().to_string(), text))
    }

    /// The text of the problem file, with `[files]` if it needs any: it means the same in any folder.
    pub(super) fn attached(&self, source: &str) -> String {
        let mut text = source.to_owned();
        if !self.read.is_empty() {
            text.push_str("\n[files]\n");
        }
        for (name, content) in &self.read {
            let content = if content.contains('\n') { lines(content) } else { quoted(content) };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{} = {content}", quoted(name));
        }
        text
    }
}

/// Whether a path leads out of a folder, by its name or by links.
fn leads_out(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(path)) => !path.starts_with(folder),
        // What is not there is told as such if the name alone stays inside.
        _ => path.strip_prefix(folder).unwrap_or(path).components().any(|part| !matches!(part, Component::Normal(_))),
    }
}

/// The text of an ordinary file of a folder, or of any if that is allowed.
pub(super) fn read_file(folder: &Path, path: &Path, mistakes: &Mistakes) -> Result<String, FileError> {
    if !mistakes.allow_files && leads_out(folder, path) {
        let message = "this leads out of the folder of the problem file";
        let hint = "--allow-files reads it all the same (Python: allow_files=True)";
        return Err(FileError::unreadable(&path.display().to_string(), message).hint(hint));
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(FileError::unreadable(&path.display().to_string(), "this is not a file"));
    }
    read_text(path, "a file")
}

/// The text of a file that `value` names. If there is none, that is told at the value, after this beginning.
pub(super) fn read_named(folder: &Path, path: &Path, value: Value, beginning: &str) -> Option<String> {
    let mistakes = value.document.text.mistakes;
    match read_file(folder, path, mistakes) {
        Err(error) if error.line.is_none() => {
            value.error(format!("{beginning}{error}")).maybe_hint(error.hint.clone()).tell()
        }
        read => mistakes.accept(read),
    }
}

/// A TOML string.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A TOML string over several lines, as it is where possible.
pub(super) fn block(text: &str) -> String {
    let plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
    let literal = !text.contains("'''") && !text.ends_with('\'') && text.chars().all(plain);
    if literal { format!("'''\n{text}'''") } else { lines(text) }
}

/// A TOML string over several lines.
fn lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escaped).collect();
    format!("\"\"\"\n{}\"\"\"", lines.join("\n"))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(escaped, "\\u{:04X}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// The text of a problem file or of a model. TOML is read as a tree of values that know their place, which takes much memory.
pub(crate) fn read_problem_text(path: &Path) -> Result<String, FileError> {
    let (file, text) = (path.display().to_string(), read_text(path, "a problem file")?);
    if text.len() > MAX_TOML && Format::of(&file, &text).is_none() {
        let size = text.len() >> 20;
        let message = format!("the problem file has {size} MiB; at most {} MiB of TOML are read", MAX_TOML >> 20);
        let hint =
            "write the transitions as CSV, which takes a tenth of the memory: kind = \"import\", file = \"model.csv\"";
        return Err(FileError::unreadable(&file, message).hint(hint));
    }
    Ok(text)
}

/// The text of a file; `wanted` is what it should be.
pub(crate) fn read_text(path: &Path, wanted: &str) -> Result<String, FileError> {
    let file = path.display().to_string();
    // A pipe does not tell its size, and a device may have no end.
    let read = || {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error: std::io::Error| {
        let message = if path.is_dir() {
            format!("this is a folder; name {wanted}")
        } else if error.kind() == std::io::ErrorKind::NotFound {
            "there is no such file".to_owned()
        } else {
            format!("cannot be read: {error}")
        };
        FileError::unreadable(&file, message)
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(FileError::unreadable(&file, format!("the file is too large; at most {MAX_BYTES} bytes are read")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
        FileError::at(&file, &text, valid, "the file is not text in UTF-8").hint("save it as text in UTF-8")
    })
}
