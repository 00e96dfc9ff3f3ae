//! The text of the model: where it comes from, and the problem file that has it all.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::super::document::Table;
use super::super::error::alternatives;
use super::super::files::{block, quoted, read_named};
use super::{FORMATS, Format, Opened};

/// The text of the model and what it is called.
pub(super) struct Content<'a> {
    pub(super) file: Cow<'a, str>,
    pub(super) text: Cow<'a, str>,
    pub(super) format: &'static Format,
    /// Where it lies, if files next to it may be looked for.
    pub(super) path: Option<PathBuf>,
}

impl<'a> Content<'a> {
    pub(super) fn read(root: Table<'a>, opened: Option<Opened<'a>>) -> Option<Self> {
        let own = root.text().file;
        if let Some(Opened { format, text, on_disk }) = opened {
            let path = on_disk.then(|| PathBuf::from(own));
            return Some(Self { file: own.into(), text: text.into(), format, path });
        }
        let given = root.get("format").and_then(|format| format.choice(&FORMATS.map(|format| (format.name, format))));
        let named = root.get("file").map(|value| {
            let folder = Path::new(own).parent().unwrap_or(Path::new(""));
            let path = folder.join(value.text()?);
            Some((read_named(folder, &path, value, "")?, path))
        });
        let (file, text, path): (Cow<str>, Cow<str>, _) = match (root.get("text"), named) {
            (Some(text), named) => {
                if named.is_some() {
                    text.error("both file and text are given; give one of them").tell::<()>();
                }
                (format!("{own}, text").into(), text.text()?.into(), None)
            }
            (None, Some(named)) => {
                let (text, path) = named?;
                (path.display().to_string().into(), text.into(), Some(path))
            }
            (None, None) => {
                return root.missing("file", Some("name the file of the model, or give the model as text"));
            }
        };
        let format = given.or_else(|| Format::of(&file, &text)).or_else(|| {
            let formats = alternatives(&FORMATS.map(|format| format!("\"{}\"", format.name)));
            let message = format!("the format of the model is not known from its file; give format = {formats}");
            let is_problem =
                Path::new(&*file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
            let hint = is_problem.then(|| "a problem file needs no import: use it itself".to_owned());
            root.any(&["file", "text"])?.error(message).maybe_hint(hint).tell()
        })?;
        Some(Self { file, text, format, path })
    }
}

/// The problem file with the text of the model and all that was assumed in it.
pub(super) fn self_contained(root: Table, content: &Content, lines: &str) -> String {
    let own = root.text().content;
    if let Some(text) = root.get("text") {
        let end = text.span().end;
        let separator = if lines.is_empty() { "" } else { "\n" };
        return format!("{}{separator}{}{}", &own[..end], lines.trim_end(), &own[end..]);
    }
    // The text takes the place of the name of its file.
    let Some((key, file)) = root.entries().into_iter().find(|(key, _)| key.text == "file") else {
        return own.to_owned();
    };
    let mut source = own[..key.offset].to_owned();
    if root.get("format").is_none() {
        let _ = writeln!(source, "format = {}", quoted(content.format.name));
    }
    let _ = write!(source, "{lines}text = {}", block(&content.text));
    source.push_str(&own[file.span().end..]);
    source
}
