//! Results on disk. Finished runs are in journals, which are safe at any moment; everything else is there whole or not at all.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use gumdp::{Journal, Problem, Record, Records, UNCHECKED, checksum};
use serde::Serialize;

use crate::args::{FiguresArgs, Format};
use crate::failure::BadInput;
use crate::interrupt;
use crate::results::distinct;
use crate::talk::say;

/// A table that is being written.
pub type Rows<'a> = csv::Writer<&'a mut dyn Write>;

/// A results folder.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    /// Formats of its figures.
    formats: Vec<Format>,
}

impl Store {
    /// Opens a results folder for writing and creates it if need be.
    pub fn create(dir: &Path) -> Result<Self, BadInput> {
        let refusal =
            |what: &str, error| BadInput::new(format!("cannot {what} the output folder {}: {error}", dir.display()));
        let store = Self::at(dir);
        let probe = store.inside("runs/.probe")?;
        fs::create_dir_all(dir.join("runs")).map_err(|error| refusal("create", error))?;
        fs::write(&probe, b"").map_err(|error| refusal("write to", error))?;
        let _ = fs::remove_file(&probe);
        for part in ["", "runs", "tasks", "figures"] {
            gumdp_files::write::clean(&store.inside(part)?);
        }
        interrupt::runs_are_kept();
        Ok(store)
    }

    /// Opens a folder for results that have no runs to be gone on with.
    pub fn folder(dir: &Path) -> Result<Self, BadInput> {
        let refusal = |error| BadInput::new(format!("cannot create the output folder {}: {error}", dir.display()));
        fs::create_dir_all(dir).map_err(refusal)?;
        gumdp_files::write::clean(dir);
        Ok(Self::at(dir))
    }

    /// Opens a results folder for reading.
    pub fn open(dir: &Path) -> Result<Self, BadInput> {
        let (shown, holds) = (dir.display(), |file: &str| dir.join(file).is_file());
        // Folders of the commands that play nothing which could be drawn or replayed again.
        let others = [("evaluation.json", "evaluate"), ("frontier.json", "frontier"), ("tree.json", "explain")];
        let refusal = if !dir.is_dir() {
            format!("there is no folder {shown}")
        } else if holds("manifest.json") {
            return Ok(Self::at(dir));
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

    fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), formats: vec![Format::Svg] }
    }

    /// The same folder with figures in other formats.
    pub fn drawing(self, figures: &FiguresArgs) -> Self {
        Self { formats: distinct(figures.format.iter().copied()), ..self }
    }

    /// Writes a figure in all formats.
    pub fn write_figure(&self, name: &str, svg: &str) -> Result<()> {
        for format in &self.formats {
            match format {
                Format::Svg => self.write(&format!("{name}.svg"), svg.as_bytes())?,
                Format::Pdf => self.write(&format!("{name}.pdf"), &gumdp_plot::pdf(svg))?,
                Format::Png => self.write(&format!("{name}.png"), &gumdp_plot::png(svg)?)?,
            }
        }
        Ok(())
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The path of a file of the folder: nothing leads out of it, whatever a manifest says and whoever made the folder.
    fn inside(&self, name: &str) -> Result<PathBuf, BadInput> {
        let (mut path, shown) = (self.dir.clone(), self.dir.display());
        for part in Path::new(name).components() {
            let Component::Normal(part) = part else {
                return Err(BadInput::new(format!("{shown} names the file {name:?}, which is not inside of it")));
            };
            path.push(part);
            if path.is_symlink() {
                let hint = "remove it: results are not read or written through links";
                return Err(BadInput::new(format!("{} is a link", path.display())).hint(hint));
            }
        }
        Ok(path)
    }

    /// Writes a file of the folder: the earlier content stays until the new one is complete.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_file(&self.inside(name)?, content)
    }

    /// Likewise, row by row.
    pub fn write_table<E: Into<io::Error>>(
        &self,
        name: &str,
        rows: impl FnOnce(&mut Rows) -> Result<(), E>,
    ) -> Result<()> {
        let path = self.inside(name)?;
        let content = |out: &mut dyn Write| {
            let mut writer = csv::Writer::from_writer(out);
            rows(&mut writer).map_err(Into::into)?;
            writer.flush()
        };
        gumdp_files::write::write_with(&path, content).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes a value as JSON.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        self.write(name, &json(value)?)
    }

    /// Reads a file of the folder.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.inside(name)?;
        if path.exists() && !path.is_file() {
            return Err(BadInput::new(format!("{} is not a file", path.display())).into());
        }
        Ok(fs::read(&path).map_err(|error| BadInput::new(format!("cannot read {}: {error}", path.display())))?)
    }

    /// Reads a file of text.
    pub fn read_text(&self, name: &str) -> Result<String> {
        let refusal = |_| BadInput::new(format!("{} is not text in UTF-8", self.dir.join(name).display()));
        Ok(String::from_utf8(self.read(name)?).map_err(refusal)?)
    }

    /// The checksum of a file, as text; `None` if it cannot be read.
    pub fn checksum(&self, name: &str) -> Option<String> {
        let mut file = fs::File::open(self.inside(name).ok()?).ok()?;
        let (mut sum, mut part) = (UNCHECKED, vec![0; 1 << 16]);
        loop {
            match file.read(&mut part).ok()? {
                0 => return Some(format!("{sum:016x}")),
                read => sum = checksum(sum, &part[..read]),
            }
        }
    }

    /// Opens the journal with this name and reads what it holds of a problem with a seed.
    pub fn journal(&self, name: &str, problem: &Problem, seed: u64) -> Result<Journal> {
        let path = self.inside(&format!("runs/{name}"))?;
        let refusal = |what: String| BadInput::new(format!("cannot use the journal {}: {what}", path.display()));
        let own = |record: &Record| record.is_of(problem, seed);
        Ok(Journal::open(&path, name, own).map_err(|error| refusal(error.to_string()))?)
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

    /// Reads a journal that was written just now.
    pub fn written(&self, name: &str) -> io::Result<Records> {
        let path = self.inside(&format!("runs/{name}")).map_err(io::Error::other)?;
        Records::open(&path, name)
    }

    /// Reads a journal without opening it for writing, if the first so many runs of a problem with a seed are there; how many are if not.
    pub fn records(&self, name: &str, runs: u64, problem: &Problem, seed: u64) -> Result<Result<Records, u64>> {
        let path = self.inside(&format!("runs/{name}"))?;
        let refusal = |error| BadInput::new(format!("{}: {error}", path.display()));
        Ok(Records::of(&path, name, runs, |record| record.is_of(problem, seed)).map_err(refusal)?)
    }
}

/// A value as JSON, with a line break at the end.
pub fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a file; see [`gumdp_files::write`].
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    gumdp_files::write::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a policy and says what is in the file, whether it took the place of another, and whether its folder is new.
pub fn put(path: &Path, what: &str, text: &str) -> Result<()> {
    let replaced = path.is_file();
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    // A place where nothing can be written is bad input, as an output folder is; a full disk is not.
    let no_room = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
    let is_full =
        |error: &anyhow::Error| error.downcast_ref::<io::Error>().is_some_and(|e| no_room.contains(&e.kind()));
    write_file(path, text.as_bytes())
        .map_err(|error| if is_full(&error) { error } else { BadInput::caused(error).into() })?;
    if let Some(folder) = folder {
        say!("created the folder {}", folder.display());
    }
    say!("{what} in {}{}", path.display(), if replaced { ", which was replaced" } else { "" });
    Ok(())
}
