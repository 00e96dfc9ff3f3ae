//! The text of the model: where it comes from, and the files that belong to it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::super::document::{Table, Value};
use super::super::error::FileError;
use super::super::files::read_file;
use super::super::mistakes::Mistakes;
use super::foreign::Foreign;
use super::start::Initial;
use super::{FORMATS, Format, Opened, Text, csv};

/// The text of the model and what it is called.
pub(super) struct Content<'a> {
    pub(super) file: Cow<'a, str>,
    pub(super) text: Cow<'a, str>,
    pub(super) format: Format,
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
        let given = root.field("format", |format| format.choice(&FORMATS))?;
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
            let message =
                "the format of the model is not known from its file; give format = \"csv\", \"gymnasium\" or \"drn\"";
            let error = place.map_or_else(|| root.error(message), |value| value.error(message));
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
    let text = read_file(&path).map_err(|error| {
        error.unwrap_or_else(|message| {
            let message = format!("{}: {message}", path.display());
            root.need("file").map_or_else(|error| error, |value| value.error(message))
        })
    })?;
    Ok((path, text))
}

/// Reads `NAME.initial.csv` and `NAME.parameters.csv`, or else `initial.csv` and `parameters.csv`, next to `NAME.csv`.
pub(super) fn read_neighbours(
    path: &Path,
    foreign: &mut Foreign,
    notes: &mut Vec<String>,
    mistakes: &Mistakes,
) -> Result<(), FileError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let neighbour = |what: &str| {
        let names = [format!("{stem}.{what}.csv"), format!("{what}.csv")];
        names.into_iter().map(|name| path.with_file_name(name)).find(|other| other.is_file() && other != path)
    };
    let open = |path: &Path, notes: &mut Vec<String>| {
        notes.push(format!("{} is used", path.display()));
        let unreadable = |message| FileError::unreadable(&path.display().to_string(), message);
        mistakes.accept(read_file(path).map_err(|error| error.unwrap_or_else(unreadable)))
    };
    if let Some(path) = neighbour("initial") {
        let mut initial = None;
        if let Some(content) = open(&path, notes)? {
            let file = path.display().to_string();
            initial = mistakes.accept(csv::read_initial(&Text { file: &file, content: &content, mistakes }))?;
            if let Some(initial) = &mut initial {
                initial.elsewhere = Some((file, content));
            }
        }
        foreign.initial = initial.or(Some(Initial { doubtful: true, ..Initial::default() }));
    }
    if let Some(path) = neighbour("parameters")
        && let Some(content) = open(&path, notes)?
    {
        let file = path.display().to_string();
        let parameters = csv::read_parameters(&Text { file: &file, content: &content, mistakes });
        let parameters = mistakes.accept(parameters)?.unwrap_or_default();
        foreign.discount = parameters.discount.or(foreign.discount);
        foreign.horizon = parameters.horizon.or(foreign.horizon);
        if foreign.initial.is_none() && (parameters.start.is_some() || parameters.start_doubtful) {
            let entries = parameters.start.map(|(state, offset)| (state, 1.0, offset)).into_iter().collect();
            let doubtful = parameters.start_doubtful;
            foreign.initial = Some(Initial { entries, offset: 0, doubtful, elsewhere: Some((file, content)) });
        }
        if !parameters.ignored.is_empty() {
            notes.push(format!("these parameters are ignored: {}", parameters.ignored.join(", ")));
        }
    }
    Ok(())
}
