//! Files of lines with checksums, which are whole whatever happens to whoever writes them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::ExperimentError;

/// The checksum of nothing.
pub const UNCHECKED: u64 = 0xcbf2_9ce4_8422_2325;

/// The checksum of what has one and of what follows (FNV-1a): the same on every machine and in every version.
///
/// ```
/// use gumdp::{UNCHECKED, checksum};
/// assert_eq!(checksum(checksum(UNCHECKED, b"foo"), b"bar"), 0x8594_4171_f739_67e8);
/// ```
#[must_use]
pub fn checksum(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A file of lines with checksums, which one process adds to.
///
/// ```
/// use gumdp::CheckedLines;
/// let path = std::env::temp_dir().join(format!("gumdp-lines-{}", std::process::id()));
/// let lines = CheckedLines::new(&path, "mine", std::fs::File::create(&path)?);
/// lines.append("a,b".to_owned())?;
/// let text = std::fs::read_to_string(&path)?;
/// assert_eq!(CheckedLines::content(text.trim_end(), "mine"), Some("a,b"));
/// assert_eq!(CheckedLines::content(text.trim_end(), "other"), None);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CheckedLines {
    path: PathBuf,
    /// What all checksums begin with.
    identity: u64,
    /// The system's error code after a failed write: what it left must stay the end of the file, where it is recognised as
    /// incomplete, and whichever thread comes next must give the same reason.
    file: Mutex<Result<File, i32>>,
}

impl CheckedLines {
    /// Lines that are added to an open file; each checksum is that of the identity and of what stands before it in its line.
    #[must_use]
    pub fn new(path: &Path, identity: &str, file: File) -> Self {
        let identity = checksum(UNCHECKED, identity.as_bytes());
        Self { path: path.to_owned(), identity, file: Mutex::new(Ok(file)) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line in one write.
    ///
    /// # Errors
    /// If it cannot be written, or an earlier one could not be.
    pub fn append(&self, mut line: String) -> Result<(), ExperimentError> {
        let check = checksum(self.identity, line.as_bytes());
        let _ = writeln!(line, ",{check:016x}");
        self.with_file(|file| file.write_all(line.as_bytes()))
    }

    /// Returns when all that was added is on disk.
    ///
    /// # Errors
    /// If the system cannot promise that.
    pub fn sync(&self) -> Result<(), ExperimentError> {
        self.with_file(|file| file.sync_all())
    }

    fn with_file(&self, work: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), ExperimentError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let done = match file.as_mut() {
            Ok(file) => work(file),
            Err(code) => Err(io::Error::from_raw_os_error(*code)),
        };
        done.map_err(|source| {
            *file = Err(source.raw_os_error().unwrap_or_default());
            ExperimentError::Journal { path: self.path.clone(), source }
        })
    }

    /// A line without its checksum, if that fits the identity.
    #[must_use]
    pub fn content<'a>(line: &'a str, identity: &str) -> Option<&'a str> {
        uncovered(line, checksum(UNCHECKED, identity.as_bytes()))
    }
}

/// A line without its checksum, if that fits.
pub(super) fn uncovered(line: &str, identity: u64) -> Option<&str> {
    let (content, check) = line.rsplit_once(',')?;
    (check.len() == 16 && u64::from_str_radix(check, 16) == Ok(checksum(identity, content.as_bytes())))
        .then_some(content)
}
