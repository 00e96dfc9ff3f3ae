//! The text of the model: where it comes from, and the files that belong to it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::super::document::{Table, Value};
use super::super::error::{FileError, alternatives};
use super::super::files::read_file;
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
    pub(super) fn read(root: Table<'a>, opened: Option<Opened<'a>>) -> Result<Self, FileError> {
        let document = root.document();
        if let Some(Opened { format, text, on_disk }) = opened {
            let path = on_disk.then(|| PathBuf::from(document.file));
            return Ok(Self { file: document.file.into(), text: text.into(), format, path });
        }
        let given = root.field("format", |format| format.choice(&FORMATS.map(|format| (format.name, format))))?;
        let name = root.get("file").map(Value::text).transpose()?;
        let (file, text, path) = match (root.get("text"), name) {
            (Some(text), name) => {
                if let Some(name) = name {
                    root.accept::<()>(Err(text.error("both file and text are given; give one of them")))?;
                    root.accept(read_named(root, name))?;
                }
                (format!("{}, text", document.file).into(), Cow::Borrowed(text.text()?), None)
            }
            (None, Some(name)) => {
                let (path, text) = read_named(root, name)?;
                (Cow::Owned(path.display().to_string()), Cow::Owned(text), Some(path))
            }
            (None, None) => {
                return Err(root.missing("file").hint("name the file of the model, or give the model as text"));
            }
        };
        let format = given.or_else(|| Format::of(&file, &text)).ok_or_else(|| {
            let place = root.get("file").or(root.get("text"));
            let formats = alternatives(&FORMATS.map(|format| format!("\"{}\"", format.name)));
            let message = format!("the format of the model is not known from its file; give format = {formats}");
            let error = place.map_or_else(|| root.error(&message), |value| value.error(&message));
            let is_problem =
                Path::new(&*file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
            if is_problem { error.hint("a problem file needs no import: use it itself") } else { error }
        })?;
        Ok(Self { file, text, format, path })
    }
}

/// The file next to the problem file with this name, and its text.
fn read_named(root: Table, name: &str) -> Result<(PathBuf, String), FileError> {
    let path = Path::new(root.document().file).parent().unwrap_or(Path::new("")).join(name);
    let text = read_file(&path).map_err(|error| match error.line {
        Some(_) => error,
        None => root.need("file").map_or_else(|error| error, |value| value.error(error.to_string())),
    })?;
    Ok((path, text))
}
