//! Results on disk. Finished runs are in journals, which are safe at any moment; everything else is written to a temporary name
//! and then renamed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use gumdp::{Journal, Record};
use serde::Serialize;

use crate::failure::BadInput;
use crate::interrupt;
use crate::talk::say;

/// A results folder.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// Opens a results folder for writing and creates it if need be.
    pub fn create(dir: &Path) -> Result<Self, BadInput> {
        let refusal =
            |what: &str, error| BadInput::new(format!("cannot {what} the output folder {}: {error}", dir.display()));
        let probe = dir.join("runs/.probe");
        fs::create_dir_all(dir.join("runs")).map_err(|error| refusal("create", error))?;
        fs::write(&probe, b"").map_err(|error| refusal("write to", error))?;
        let _ = fs::remove_file(&probe);
        interrupt::runs_are_kept();
        Ok(Self { dir: dir.to_owned() })
    }

    /// Opens a folder for results that have no runs to be gone on with.
    pub fn folder(dir: &Path) -> Result<Self, BadInput> {
        let refusal = |error| BadInput::new(format!("cannot create the output folder {}: {error}", dir.display()));
        fs::create_dir_all(dir).map_err(refusal)?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Opens a results folder for reading.
    pub fn open(dir: &Path) -> Result<Self, BadInput> {
        let (shown, holds) = (dir.display(), |file: &str| dir.join(file).is_file());
        // Folders of the commands that play nothing which could be drawn or replayed again.
        let others = [("evaluation.json", "evaluate"), ("frontier.json", "frontier"), ("tree.json", "explain")];
        let refusal = if !dir.is_dir() {
            format!("there is no folder {shown}")
        } else if holds("manifest.json") {
            return Ok(Self { dir: dir.to_owned() });
        } else if let Some((_, command)) = others.into_iter().find(|(file, _)| holds(file)) {
            format!(
                "{shown} holds results of `gumdp {command}`, whose figures are all there and which keeps no runs; folders of \
                 `gumdp run`, `compare` and `reproduce` can be reported on and replayed"
            )
        } else {
            format!("{shown} holds no results: there is no manifest.json")
        };
        Err(BadInput::new(refusal))
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a file of the folder atomically: the earlier content stays until the new one is complete.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_atomically(&self.dir.join(name), content)
    }

    /// Writes a value as JSON.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        self.write(name, &json(value)?)
    }

    /// Reads a file of the folder.
    pub fn read(&self, name: &str) -> Result<String> {
        let path = self.dir.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Opens the journal with this name and reads what it holds.
    pub fn journal(&self, name: &str) -> Result<Journal> {
        let path = self.dir.join("runs").join(name);
        Journal::open(&path).with_context(|| format!("cannot open the journal {}", path.display()))
    }

    /// The names of journals other than these, in order.
    pub fn other_journals(&self, own: &[String]) -> Result<Vec<String>> {
        let folder = self.dir.join("runs");
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut other: Vec<String> = names.filter(|name| !name.starts_with('.') && !own.contains(name)).collect();
        other.sort();
        Ok(other)
    }

    /// Reads the finished runs of a journal without opening it for writing.
    pub fn records(&self, name: &str) -> Result<BTreeMap<u64, Record>> {
        let text = self.read(&format!("runs/{name}"))?;
        Ok(Journal::records(&text))
    }
}

/// A value as JSON, with a line break at the end.
pub fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a file under a temporary name next to its own and renames it. What is not a file (a pipe, a terminal) is written
/// to as it is.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| -> io::Result<()> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return OpenOptions::new().write(true).open(path)?.write_all(content);
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
            fs::create_dir_all(parent)?;
        }
        let mut file = File::create(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        anyhow::Error::new(error).context(format!("cannot write {}", path.display()))
    })
}

/// Writes a policy and says what is in the file, whether it took the place of another, and whether its folder is new.
pub fn put(path: &Path, what: &str, text: &str) -> Result<()> {
    let replaced = path.is_file();
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    // A file that cannot be written is bad input, as an output folder is.
    write_atomically(path, text.as_bytes()).map_err(BadInput::caused)?;
    if let Some(folder) = folder {
        say!("created the folder {}", folder.display());
    }
    say!("{what} in {}{}", path.display(), if replaced { ", which was replaced" } else { "" });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_write_leaves_the_earlier_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table.csv");
        write_atomically(&path, b"earlier").unwrap();
        // A folder in the way of the temporary name makes the write fail.
        let blocked = dir.path().join(format!(".table.csv.{}.tmp", std::process::id()));
        fs::create_dir(&blocked).unwrap();
        assert!(write_atomically(&path, b"later").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"earlier");
    }
}
