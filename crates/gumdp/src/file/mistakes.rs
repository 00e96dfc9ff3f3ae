//! What becomes of a mistake in a file: it ends the reading, or it is kept and the reading goes on behind it.

use std::cell::RefCell;

use super::error::FileError;

/// More mistakes than this are not collected: nobody reads them.
pub(super) const MAX_MISTAKES: usize = 100;

/// Where the readers report mistakes. Each part of a file that makes sense without the others is read on its own and handed
/// to [`Mistakes::accept`].
pub(super) struct Mistakes {
    /// `None` if the first mistake ends the reading.
    collected: Option<RefCell<Vec<FileError>>>,
}

impl Mistakes {
    /// The first mistake ends the reading.
    pub(super) fn first() -> Self {
        Self { collected: None }
    }

    /// All mistakes are wanted.
    pub(super) fn all() -> Self {
        Self { collected: Some(RefCell::default()) }
    }

    /// The value; `None` if it is wrong and the reading goes on all the same.
    pub(super) fn accept<T>(&self, result: Result<T, FileError>) -> Result<Option<T>, FileError> {
        match (result, &self.collected) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(error), Some(collected)) if collected.borrow().len() < MAX_MISTAKES => {
                collected.borrow_mut().push(error);
                Ok(None)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Whether mistakes were collected.
    pub(super) fn any(&self) -> bool {
        self.collected.as_ref().is_some_and(|collected| !collected.borrow().is_empty())
    }

    /// The mistakes collected.
    pub(super) fn into_inner(self) -> Vec<FileError> {
        self.collected.map(RefCell::into_inner).unwrap_or_default()
    }
}
