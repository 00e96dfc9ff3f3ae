//! What becomes of a mistake in a file: it ends the reading, or it is kept and the reading goes on behind it.
//!
//! Whatever depends on a part with a mistake is passed over, so that only mistakes are told and not what follows from them:
//! its reader returns [`FileError::told`].

use std::cell::{Cell, RefCell};

use super::error::FileError;

/// More mistakes than this are not collected: nobody reads them.
pub(super) const MAX_MISTAKES: usize = 100;
/// Of a model of another program, where one mistake is often made in every line.
pub(super) const MAX_IN_LINES: usize = 20;

/// Where the readers report mistakes. Each part of a file that makes sense without the others is read on its own and handed
/// to [`Mistakes::accept`].
pub(super) struct Mistakes {
    /// `None` if the first mistake ends the reading.
    collected: Option<RefCell<Vec<FileError>>>,
    /// Mistakes in lines that are counted only.
    others: Cell<usize>,
    /// Warnings, where all mistakes are wanted.
    warnings: RefCell<Vec<FileError>>,
}

impl Mistakes {
    /// The first mistake ends the reading.
    pub(super) fn first() -> Self {
        Self { collected: None, others: Cell::new(0), warnings: RefCell::default() }
    }

    /// All mistakes are wanted.
    pub(super) fn all() -> Self {
        Self { collected: Some(RefCell::default()), ..Self::first() }
    }

    pub(super) fn wants_all(&self) -> bool {
        self.collected.is_some()
    }

    /// The value; `None` if it is wrong and the reading goes on all the same.
    pub(super) fn accept<T>(&self, result: Result<T, FileError>) -> Result<Option<T>, FileError> {
        match (result, &self.collected) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(error), Some(_)) if error.is_told() => Ok(None),
            (Err(error), Some(collected)) if collected.borrow().len() < MAX_MISTAKES => {
                collected.borrow_mut().push(error);
                Ok(None)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The same for one of many lines: when there are enough mistakes, the others are counted.
    pub(super) fn accept_in_line<T>(&self, result: Result<T, FileError>) -> Result<Option<T>, FileError> {
        if self.are_enough() && result.as_ref().is_err_and(|error| !error.is_told()) {
            self.others.set(self.others.get() + 1);
            return Ok(None);
        }
        self.accept(result)
    }

    /// Keeps a warning.
    pub(super) fn warn(&self, warning: FileError) {
        self.warnings.borrow_mut().push(warning);
    }

    /// What was kept by [`Mistakes::warn`].
    pub(super) fn warnings(&self) -> Vec<FileError> {
        self.warnings.take()
    }

    /// Whether mistakes in lines are only counted from now on.
    pub(super) fn are_enough(&self) -> bool {
        self.collected.as_ref().is_some_and(|collected| collected.borrow().len() >= MAX_IN_LINES)
    }

    /// Whether mistakes were collected.
    pub(super) fn any(&self) -> bool {
        self.collected.as_ref().is_some_and(|collected| !collected.borrow().is_empty())
    }

    /// The mistakes collected, and how many more there are.
    pub(super) fn into_inner(self) -> (Vec<FileError>, usize) {
        (self.collected.map(RefCell::into_inner).unwrap_or_default(), self.others.get())
    }
}
