//! Writing files: the one place where anything but a journal is written.
//!
//! A file is complete or as it was: it is written under a temporary name next to its own, synced and renamed. What a path
//! leads to stays what it is: links are followed, permissions and owner are kept, and what is no ordinary file (a pipe, a
//! terminal, a device), has several names, or lies in a folder where nothing can be made is written to as it is.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// As many links as a system follows.
const MOST_LINKS: usize = 40;

/// Writes a file, with the folders that it needs.
///
/// # Errors
/// Those of the system. The earlier content then stays, unless the place can only be written to as it is.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_with(path, |out| out.write_all(content))
}

/// Writes a file whose content need not be in memory all at once.
///
/// # Errors
/// Those of [`write()`] and of the content.
pub fn write_with(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let target = match place(path)? {
        Place::Standard(mut stream) => return content(&mut stream).and_then(|()| stream.flush()),
        Place::Open(path) => return buffered(&OpenOptions::new().append(true).open(path)?, content),
        Place::Path(target) => target,
    };
    let earlier = match OpenOptions::new().write(true).open(&target) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(parent) = target.parent().filter(|_| earlier.is_none()) {
        fs::create_dir_all(parent)?;
    }
    match earlier {
        Some(file) if !is_replaceable(&file)? => overwrite(&file, content),
        earlier => match Temporary::create(&target, earlier.as_ref()) {
            Ok(temporary) => temporary.become_target(content, &target),
            Err(refused) => earlier.map_or(Err(refused), |file| overwrite(&file, content)),
        },
    }
}

/// Removes what processes that were killed while they wrote files of a folder have left there.
pub fn clean(folder: &Path) {
    clean_of(folder, None);
}

/// Where a path leads.
enum Place {
    Standard(Box<dyn Write>),
    /// A file that is open already, by its number.
    Open(PathBuf),
    Path(PathBuf),
}

/// Follows links to their end, which need not exist. A file that is open already is never replaced: the one who opened it
/// would not see the new one.
fn place(path: &Path) -> io::Result<Place> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        // The folder of /dev/stdout is a link itself on some systems.
        let folder = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let real = folder.and_then(|folder| fs::canonicalize(folder).ok());
        let of_process = real.is_some_and(|folder| folder.starts_with("/proc") && folder.ends_with("fd"));
        match (of_process, path.file_name().and_then(OsStr::to_str)) {
            (true, Some("1")) => return Ok(Place::Standard(Box::new(io::stdout()))),
            (true, Some("2")) => return Ok(Place::Standard(Box::new(io::stderr()))),
            (true, _) => return Ok(Place::Open(path)),
            (false, _) => {}
        }
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(Place::Path(path)),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many links lead on from here"))
}

/// Whether another file can take the place of this one: an ordinary file with one name.
fn is_replaceable(file: &File) -> io::Result<bool> {
    let found = file.metadata()?;
    #[cfg(unix)]
    let one_name = std::os::unix::fs::MetadataExt::nlink(&found) == 1;
    #[cfg(not(unix))]
    let one_name = true;
    Ok(found.is_file() && one_name)
}

fn buffered(file: &File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    content(&mut out).and_then(|()| out.flush())
}

fn overwrite(file: &File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let is_file = file.metadata()?.is_file();
    if is_file {
        file.set_len(0)?;
    }
    buffered(file, content)?;
    if is_file { file.sync_all() } else { Ok(()) }
}

/// A file under a name of its own, locked as long as its process lives; removed unless it becomes another.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    /// One that can take the place of `earlier`.
    fn create(target: &Path, earlier: Option<&File>) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        clean_of(target.parent().unwrap_or(Path::new("")), Some(name));
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = target.with_file_name(format!(".{}.{}-{count}.tmp", name.display(), std::process::id()));
            let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let temporary = Self { path, file };
            // Where locks are not known a leftover cannot be told from a file in work, and stays.
            let _ = temporary.file.lock();
            // Somebody may have taken it for a leftover before it was locked.
            if temporary.path.exists() {
                earlier.map_or(Ok(()), |earlier| temporary.resemble(earlier))?;
                return Ok(temporary);
            }
        }
    }

    /// Takes the permissions and the owner of another file.
    fn resemble(&self, earlier: &File) -> io::Result<()> {
        let theirs = earlier.metadata()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let own = self.file.metadata()?;
            if (own.uid(), own.gid()) != (theirs.uid(), theirs.gid()) {
                fchown(&self.file, Some(theirs.uid()), Some(theirs.gid()))?;
            }
        }
        self.file.set_permissions(theirs.permissions())
    }

    fn become_target(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>, target: &Path) -> io::Result<()> {
        buffered(&self.file, content)?;
        self.file.sync_all()?;
        fs::rename(&self.path, target)?;
        // The new name, too, is on disk before anything that relies on it. Not every system lets folders be opened.
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).or(Ok(()))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Renamed, it is no longer there.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes temporary files that nobody holds, of one name or of all.
fn clean_of(folder: &Path, name: Option<&OsStr>) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let beginning = name.map_or_else(|| ".".to_owned(), |name| format!(".{}.", name.display()));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let middle = found.to_str().and_then(|found| found.strip_prefix(&beginning)?.strip_suffix(".tmp"));
        let number = middle.and_then(|middle| middle.rsplit('.').next());
        let is_ours = number.is_some_and(|number| {
            number.starts_with(|c: char| c.is_ascii_digit()) && number.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        });
        let is_file = is_ours && entry.file_type().is_ok_and(|kind| kind.is_file());
        let is_left = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_file && is_left() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_write_leaves_the_earlier_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/table.csv");
        write(&path, b"earlier").unwrap();
        let target = dir.path().join("new");
        assert!(write(&target, b"later").is_err(), "a folder is no file");
        let temporary = Temporary::create(&path, None).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"earlier");
        // One that is still held is left alone, also by a process that writes the same file.
        write(&path, b"later").unwrap();
        assert!(temporary.path.exists());
        let left = temporary.path.with_file_name(".table.csv.4000000000-7.tmp");
        fs::write(&left, b"half").unwrap();
        write(&path, b"last").unwrap();
        assert!(!left.exists() && temporary.path.exists());
        drop(temporary);
        let others = [".other.svg.4000000000.tmp", ".mine.tmp", ".bashrc", "a.1-2.tmp"];
        for name in others {
            fs::write(target.join(name), b"").unwrap();
        }
        clean(&target);
        let mut kept: Vec<_> = fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        kept.sort();
        assert_eq!(kept, [".bashrc", ".mine.tmp", "a.1-2.tmp", "table.csv"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_a_path_leads_to_stays_what_it_is() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let [file, link, far, dangling, hard] = ["file", "link", "far", "dangling", "hard"].map(|n| dir.path().join(n));
        let is_link = |path: &Path| fs::symlink_metadata(path).unwrap().is_symlink();
        fs::write(&file, "earlier").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        symlink(&link, &far).unwrap();
        symlink("made", &dangling).unwrap();
        write(&far, b"later").unwrap();
        write(&dangling, b"new").unwrap();
        assert!(is_link(&link) && is_link(&far) && is_link(&dangling));
        assert_eq!(fs::read(&file).unwrap(), b"later");
        assert_eq!(fs::read(dir.path().join("made")).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o640);
        fs::hard_link(&file, &hard).unwrap();
        write(&file, b"both").unwrap();
        assert_eq!(fs::read(&hard).unwrap(), b"both");
        symlink(&dangling, dir.path().join("round")).unwrap();
        fs::remove_file(&dangling).unwrap();
        symlink("round", &dangling).unwrap();
        assert!(write(&dangling, b"").is_err());
        write(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = write(Path::new("/dev/full"), b"much").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }
}
