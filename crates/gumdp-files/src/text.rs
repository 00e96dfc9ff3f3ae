//! The text of a file of data, whose places are found when a mistake is told.

use crate::error::{FileError, position};
use crate::mistakes::Mistakes;

/// The text of a file, and where its mistakes go.
pub(super) struct Text<'a> {
    pub(super) file: &'a str,
    pub(super) content: &'a str,
    pub(super) mistakes: &'a Mistakes,
}

impl Text<'_> {
    pub(super) fn error(&self, offset: usize, message: impl Into<String>) -> FileError {
        // To find line and column takes time, which mistakes that are only counted must not take.
        if self.mistakes.are_enough() {
            return FileError::unreadable(self.file, message);
        }
        FileError::at(self.file, self.content, offset, message)
    }

    /// A warning: told at its place where all mistakes are wanted, else one of the notes.
    pub(super) fn warn(&self, offset: usize, message: String, notes: &mut Vec<String>) {
        if self.mistakes.wants_all() {
            self.mistakes.warn(FileError::at(self.file, self.content, offset, message));
        } else {
            notes.push(message);
        }
    }

    /// The line and the column of a place.
    pub(super) fn place(&self, offset: usize) -> String {
        let (line, column) = position(self.content, offset);
        format!("line {line}, column {column}")
    }

    /// See [`Mistakes::accept_in_line`].
    pub(super) fn accept<T>(&self, result: Result<T, FileError>) -> Result<Option<T>, FileError> {
        self.mistakes.accept_in_line(result)
    }

    /// Tells a mistake, or ends the reading with it.
    pub(super) fn tell(&self, mistake: FileError) -> Result<(), FileError> {
        self.accept::<()>(Err(mistake)).map(|_| ())
    }
}
