//! Bad input: one message, a hint, exit code 2.

use std::fmt;

use gumdp_files::FileError;

/// Input that a person can correct. Everything else that fails exits with code 1.
#[derive(Debug)]
pub struct BadInput {
    message: String,
    hint: Option<String>,
}

impl BadInput {
    /// Bad input with a message that names the value and the allowed range.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// What to do about it.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BadInput {}

/// A mistake in a file, with its hint.
impl From<FileError> for BadInput {
    fn from(error: FileError) -> Self {
        Self { message: error.to_string(), hint: error.hint }
    }
}
