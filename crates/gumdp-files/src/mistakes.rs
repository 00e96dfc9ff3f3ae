//! Mistakes in a file, and where they are told.
//!
//! A reader that meets a mistake tells it and returns `None`. Whatever depends on that part is passed over, so that only mistakes are
//! told and not what follows from them; what does not depend on it is read all the same. Whoever wants the first mistake only
//! takes the first.

use std::cell::{Cell, RefCell};

use super::document::shortened;
use super::error::{FileError, nearest_or_all, position};

/// Of a problem file; nobody reads more.
const MOST: usize = 100;
/// Of a file of data, where one mistake is often made in every line.
const MOST_IN_LINES: usize = 20;

/// Where mistakes are told.
#[derive(Default)]
pub(super) struct Mistakes {
    told: RefCell<Vec<FileError>>,
    /// How many more there are.
    others: Cell<usize>,
    warnings: RefCell<Vec<FileError>>,
    /// Whether files outside of the folder of the problem file may be read.
    pub(super) allow_files: bool,
}

impl Mistakes {
    pub(super) fn allowing(allow_files: bool) -> Self {
        Self { allow_files, ..Self::default() }
    }

    /// The value; what is wrong with it is told.
    pub(super) fn accept<T>(&self, result: Result<T, FileError>) -> Option<T> {
        result.map_err(|error| self.told.borrow_mut().push(error)).ok()
    }

    pub(super) fn any(&self) -> bool {
        !self.told.borrow().is_empty()
    }

    /// What was told by [`Text::warn`].
    pub(super) fn warnings(&self) -> Vec<FileError> {
        self.warnings.take()
    }

    /// The first that was told.
    pub(super) fn into_first(self, file: &str) -> FileError {
        let first = self.told.into_inner().into_iter().next();
        first.unwrap_or_else(|| FileError::unreadable(file, "the file has a mistake"))
    }

    /// All that was told, and how many more there are.
    pub(super) fn into_inner(self) -> (Vec<FileError>, usize) {
        (self.told.into_inner(), self.others.get())
    }
}

/// The text of a file, whose places are found when a mistake is told.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) file: &'a str,
    pub(super) content: &'a str,
    pub(super) mistakes: &'a Mistakes,
    /// So many mistakes are told, the others counted.
    most: usize,
}

impl<'a> Text<'a> {
    /// The text of a problem file.
    pub(super) fn of_problem(file: &'a str, content: &'a str, mistakes: &'a Mistakes) -> Self {
        Self { file, content, mistakes, most: MOST }
    }

    /// The text of a file of data.
    pub(super) fn of_data(file: &'a str, content: &'a str, mistakes: &'a Mistakes) -> Self {
        Self { file, content, mistakes, most: MOST_IN_LINES }
    }

    /// A mistake at this byte.
    pub(super) fn error(self, offset: usize, message: impl Into<String>) -> Mistake<'a> {
        Mistake { text: self, offset, message: message.into(), hint: None }
    }

    /// A warning, which is also one of the notes.
    pub(super) fn warn(self, offset: usize, message: String, notes: &mut Vec<String>) {
        self.mistakes.warnings.borrow_mut().push(FileError::at(self.file, self.content, offset, &message));
        notes.push(message);
    }

    /// The line and the column of a place.
    pub(super) fn place(self, offset: usize) -> String {
        let (line, column) = position(self.content, offset);
        format!("line {line}, column {column}")
    }
}

/// A mistake that is yet to be told.
#[must_use = "a mistake is told or not made"]
pub(super) struct Mistake<'a> {
    text: Text<'a>,
    offset: usize,
    message: String,
    hint: Option<String>,
}

impl Mistake<'_> {
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        self.maybe_hint(Some(hint.into()))
    }

    pub(super) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// Tells it; there is no value.
    #[allow(clippy::must_use_candidate)]
    pub(super) fn tell<T>(self) -> Option<T> {
        let Self { text: Text { file, content, mistakes, most }, offset, message, hint } = self;
        if mistakes.told.borrow().len() >= most {
            // To find line and column takes time.
            mistakes.others.set(mistakes.others.get() + 1);
            return None;
        }
        let error = FileError { hint, ..FileError::at(file, content, offset, message) };
        mistakes.accept(Err(error))
    }
}

/// Tells that nothing has this name, with the nearest or all that do; `error` makes a mistake of a message.
pub(super) fn unknown<'a, 't, T>(
    what: &str,
    name: &str,
    names: impl IntoIterator<Item = &'a str>,
    error: impl FnOnce(String) -> Mistake<'t>,
) -> Option<T> {
    let message = format!("unknown {what} \"{}\"", shortened(name));
    error(message).maybe_hint(nearest_or_all(what, name, names)).tell()
}

/// All of them, if there are no mistakes in any: each is looked at, so that all mistakes are told.
pub(super) fn every<T, C: FromIterator<T>>(values: impl Iterator<Item = Option<T>>) -> Option<C> {
    let values: Vec<Option<T>> = values.collect();
    values.into_iter().collect()
}
