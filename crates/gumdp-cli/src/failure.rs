//! What a command may end with besides an answer.

use std::fmt::Display;

use gumdp_files::FileError;
use thiserror::Error;

/// Input that a person can correct: one message, a hint, exit code 2. Everything else that fails exits with code 1.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct BadInput {
    message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A file has mistakes, and they are printed already; exit code 2.
#[derive(Debug, Error)]
#[error("the file has mistakes")]
pub struct Refused;

/// The work was cut short by Ctrl-C.
#[derive(Debug, Error)]
#[error("interrupted")]
pub struct Interrupted;

impl BadInput {
    /// Bad input with a message that names the value and the allowed range.
    pub fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), hint: None }
    }

    /// An error of a file or a folder that was named on the command line, with its causes.
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    pub fn caused(error: anyhow::Error) -> Self {
        Self::new(format!("{error:#}"))
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Display) -> Self {
        Self { hint: Some(hint.to_string()), ..self }
    }
}

/// A mistake in a file, with its hint.
impl From<FileError> for BadInput {
    fn from(error: FileError) -> Self {
        Self { message: error.to_string(), hint: error.hint }
    }
}
