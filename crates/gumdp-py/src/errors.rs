//! Errors of the library as Python exceptions, with its messages.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use gumdp::oracle::OracleError;
use gumdp_files::FileError;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    gumdp,
    TooLarge,
    PyValueError,
    "The problem is too large to be solved exactly within the limits.\n\nRaise the limit, shorten the horizon, or plan instead."
);

/// A wrong value.
pub fn wrong(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// No exact answer.
pub fn unsolved(error: &OracleError) -> PyErr {
    if error.is_limit() {
        return TooLarge::new_err(error.to_string());
    }
    wrong(error)
}

/// Why a file was not read: an `OSError` with its number if it cannot be opened, else a mistake in it.
pub fn unread(path: &Path, error: &FileError) -> PyErr {
    match File::open(path).err().and_then(|refused| refused.raw_os_error()) {
        // Python makes a FileNotFoundError, a PermissionError, … of the number.
        Some(number) => PyOSError::new_err((number, error.message.clone(), path.display().to_string())),
        None => bad_file(error),
    }
}

/// A mistake in a file, with its hint.
pub fn bad_file(error: &FileError) -> PyErr {
    match &error.hint {
        Some(hint) => wrong(format!("{error} (hint: {hint})")),
        None => wrong(error),
    }
}
