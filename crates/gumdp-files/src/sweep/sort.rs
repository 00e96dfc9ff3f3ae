//! Sorting more lines than fit into memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What is sorted by: cell and run.
pub(super) type Key = (u64, u64);

/// Lines with keys, sorted by them; memory is bounded by `most` bytes and a buffer for each time that was full.
pub(super) struct Sorter {
    most: usize,
    /// Where there is room for what does not fit.
    folder: PathBuf,
    held: Vec<(Key, String)>,
    bytes: usize,
    spilled: Vec<File>,
}

impl Sorter {
    pub(super) fn new(most: usize, folder: &Path) -> Self {
        Self { most, folder: folder.to_owned(), held: Vec::new(), bytes: 0, spilled: Vec::new() }
    }

    pub(super) fn push(&mut self, key: Key, line: &str) -> io::Result<()> {
        self.bytes += line.len() + size_of::<(Key, String)>();
        self.held.push((key, line.to_owned()));
        if self.bytes > self.most { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.held.sort();
        let mut file = tempfile::tempfile_in(&self.folder)?;
        let mut out = BufWriter::new(&mut file);
        for ((cell, run), line) in self.held.drain(..) {
            writeln!(out, "{cell} {run} {line}")?;
        }
        out.flush()?;
        drop(out);
        file.seek(SeekFrom::Start(0))?;
        self.spilled.push(file);
        self.bytes = 0;
        Ok(())
    }

    /// All lines in order.
    pub(super) fn sorted(mut self) -> io::Result<Sorted> {
        self.held.sort();
        let mut parts: Vec<Part> = self.spilled.drain(..).map(|file| Part::Spilled(BufReader::new(file))).collect();
        parts.push(Part::Held(self.held.into_iter()));
        let mut heads = BinaryHeap::new();
        for (number, part) in parts.iter_mut().enumerate() {
            heads.extend(part.next()?.map(|(key, line)| Reverse((key, line, number))));
        }
        Ok(Sorted { parts, heads })
    }
}

enum Part {
    Spilled(BufReader<File>),
    Held(std::vec::IntoIter<(Key, String)>),
}

impl Part {
    fn next(&mut self) -> io::Result<Option<(Key, String)>> {
        let file = match self {
            Self::Held(held) => return Ok(held.next()),
            Self::Spilled(file) => file,
        };
        let mut text = String::new();
        if file.read_line(&mut text)? == 0 {
            return Ok(None);
        }
        let mut parts = text.trim_end_matches('\n').splitn(3, ' ');
        let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
        match (number(), number()) {
            (Some(cell), Some(run)) => Ok(Some(((cell, run), parts.next().unwrap_or_default().to_owned()))),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a temporary file was changed")),
        }
    }
}

/// Lines in the order of their keys.
pub(super) struct Sorted {
    parts: Vec<Part>,
    heads: BinaryHeap<Reverse<(Key, String, usize)>>,
}

impl Iterator for Sorted {
    type Item = io::Result<(Key, String)>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((key, line, part)) = self.heads.pop()?;
        match self.parts[part].next() {
            Ok(next) => self.heads.extend(next.map(|(key, line)| Reverse((key, line, part)))),
            Err(error) => return Some(Err(error)),
        }
        Some(Ok((key, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gumdp::rng::{self, Purpose};

    #[test]
    fn lines_are_sorted_whatever_fits() {
        let mut rng = rng::stream(3, 0, Purpose::Policy);
        let lines: Vec<(Key, String)> = (0..2000)
            .map(|line| {
                let key = (u64::from(rng::below(&mut rng, 9)), u64::from(rng::below(&mut rng, 50)));
                (key, format!("{},a b {line}", key.1))
            })
            .collect();
        let mut expected = lines.clone();
        expected.sort();
        for most in [1, 500, 20_000, 1 << 30] {
            let mut sorter = Sorter::new(most, &std::env::temp_dir());
            for (key, line) in lines.iter().take(if most == 1 { 100 } else { 2000 }) {
                sorter.push(*key, line).unwrap();
            }
            let sorted: Vec<(Key, String)> = sorter.sorted().unwrap().map(Result::unwrap).collect();
            if most > 1 {
                assert_eq!(sorted, expected, "{most}");
            }
            assert!(sorted.is_sorted());
        }
    }
}
