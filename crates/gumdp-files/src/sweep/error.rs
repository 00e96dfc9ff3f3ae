//! Why a sweep does not go on.

use std::io;
use std::path::{Path, PathBuf};

use crate::FileError;

/// What is wrong with a sweep, its folder or its journals.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The file of the sweep or of a problem has a mistake.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system refused to read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// What was read.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refused to write.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// What was written.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The sweep is not one that can be played.
    #[error("{}: {what}", path.display())]
    Unfit {
        /// The file of the sweep.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The folder holds no sweep.
    #[error("{} holds no sweep: there is no plan.json", folder.display())]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds another sweep, or results of another command.
    #[error("{} holds another sweep or other results", folder.display())]
    Other {
        /// The folder.
        folder: PathBuf,
    },
    /// A journal or plan was made by another version.
    #[error("{} was made by another version of gumdp ({found}); this is {own}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What made it.
        found: String,
        /// What this is.
        own: String,
    },
    /// A journal is of another sweep.
    #[error("{} is a journal of another sweep", path.display())]
    Mixed {
        /// The journal.
        path: PathBuf,
    },
    /// A file is not what was written.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Not all runs are there.
    #[error("{missing} of {runs} runs are missing")]
    Incomplete {
        /// Runs that no journal has.
        missing: u64,
        /// Runs of all cells.
        runs: u64,
    },
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
}

impl SweepError {
    pub(super) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(super) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// Versions with the same number may have different results.
    pub(super) fn version(path: &Path, found: &str, results: &str) -> Self {
        let own = env!("CARGO_PKG_VERSION");
        let (found, own) = if found == own {
            (format!("{found} with results {results}"), format!("{own} with results {}", gumdp::RESULTS_VERSION))
        } else {
            (found.to_owned(), own.to_owned())
        };
        Self::Version { path: path.to_owned(), found, own }
    }

    /// What would help, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(error) => error.hint.clone(),
            Self::Other { .. } => Some("choose another folder with --out, or remove this one".to_owned()),
            Self::Version { .. } => {
                Some("go on with the version that began it, or begin anew in another folder".to_owned())
            }
            Self::Damaged { path, .. } if path.extension().is_none_or(|extension| extension != "csv") => {
                Some("bring it back as it was, or begin anew in another folder".to_owned())
            }
            Self::Mixed { .. } | Self::Damaged { .. } => {
                Some("remove the file, and what it held is played again".to_owned())
            }
            Self::Incomplete { .. } => Some("`gumdp status DIR` says what is missing; play it, then merge".to_owned()),
            _ => None,
        }
    }
}
