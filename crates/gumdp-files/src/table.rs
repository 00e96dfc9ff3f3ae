//! Tables of a problem file: fields that must, may or must not be there.

use toml::de::DeTable;

use super::document::{Document, Value, shortened};
use super::error::{FileError, did_you_mean};
use super::path::find_table;
use super::pieces::LIST;

/// A table of the file.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) content: &'a DeTable<'a>,
    /// Where it begins.
    pub(super) offset: usize,
}

/// The name of an entry of a table, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    document: &'a Document<'a>,
    pub(super) text: &'a str,
    offset: usize,
}

impl Key<'_> {
    /// Where it begins.
    pub(super) fn offset(self) -> usize {
        self.offset
    }

    pub(super) fn error(self, message: impl Into<String>) -> FileError {
        self.document.error(self.offset, message)
    }
}

impl<'a> Value<'a> {
    /// A text that stands for what a key of this name would.
    pub(super) fn key(self) -> Result<Key<'a>, FileError> {
        Ok(Key { document: self.document, text: self.text()?, offset: self.span().start })
    }
}

impl<'a> Table<'a> {
    pub(super) fn error(self, message: impl Into<String>) -> FileError {
        self.document.error(self.offset, message)
    }

    pub(super) fn document(self) -> &'a Document<'a> {
        self.document
    }

    /// See [`Mistakes::accept`].
    pub(super) fn accept<T>(self, result: Result<T, FileError>) -> Result<Option<T>, FileError> {
        self.document.mistakes.accept(result)
    }

    pub(super) fn get(self, key: &str) -> Option<Value<'a>> {
        self.content.get(key).map(|node| Value { document: self.document, node })
    }

    pub(super) fn need(self, key: &str) -> Result<Value<'a>, FileError> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// A field on its own: `None` if there is none, or if it is wrong and all mistakes are wanted.
    pub(super) fn field<T>(
        self,
        key: &str,
        read: impl FnOnce(Value<'a>) -> Result<T, FileError>,
    ) -> Result<Option<T>, FileError> {
        Ok(self.accept(self.get(key).map(read).transpose())?.flatten())
    }

    /// A field on its own that must be there: `None` only if it is wrong or missing and all mistakes are wanted.
    pub(super) fn needed<T>(
        self,
        key: &str,
        read: impl FnOnce(Value<'a>) -> Result<T, FileError>,
    ) -> Result<Option<T>, FileError> {
        self.accept(self.need(key).and_then(read))
    }

    pub(super) fn missing(self, key: &str) -> FileError {
        if self.has_lost(key) {
            return FileError::told();
        }
        self.error(format!("the field \"{key}\" is missing{}", self.place()))
    }

    /// All entries, in the order of the file.
    pub(super) fn entries(self) -> Vec<(Key<'a>, Value<'a>)> {
        let document = self.document;
        let mut entries: Vec<_> = self
            .content
            .iter()
            .map(|(key, node)| {
                (Key { document, text: key.get_ref(), offset: key.span().start }, Value { document, node })
            })
            .collect();
        entries.sort_by_key(|(key, _)| key.offset);
        entries
    }

    /// Refuses entries with any other name.
    pub(super) fn only(self, allowed: &[&str]) -> Result<(), FileError> {
        for (key, _) in self.entries() {
            if !allowed.contains(&key.text) {
                let hint = did_you_mean(key.text, allowed.iter().copied())
                    .unwrap_or_else(|| format!("the fields here are {}", allowed.join(", ")));
                let error = key.error(format!("unknown field \"{}\"{}", shortened(key.text), self.place())).hint(hint);
                self.accept(Err::<(), _>(error))?;
            }
        }
        Ok(())
    }

    /// " in objective", or nothing for the whole file.
    fn place(self) -> String {
        self.name().map_or(String::new(), |name| format!(" in {name}"))
    }

    /// The dotted name; `None` for the whole file.
    fn name(self) -> Option<String> {
        let mut name = String::new();
        let is_root = std::ptr::eq(self.content, self.document.root.get_ref());
        let found = !is_root && find_table(self.document.root.get_ref(), self.content, &mut name);
        found.then(|| self.document.counted(name))
    }

    /// Whether a field of this table could not be read, which is told already.
    pub(super) fn has_lost(self, key: &str) -> bool {
        if self.document.lost.is_empty() {
            return false;
        }
        // Of a list of tables it is not known which has lost something.
        let name = self.name().map_or(String::new(), |name| format!("{}.", name.split('[').next().unwrap_or_default()));
        self.document.has_lost(&format!("{name}{key}"))
    }

    /// Where it begins in the whole text.
    pub(super) fn place_in_text(self) -> usize {
        self.offset.saturating_add_signed(self.document.moved)
    }

    /// An error at a place of the whole text.
    pub(super) fn error_at(self, place: usize, message: impl Into<String>) -> FileError {
        FileError::at(self.document.file, self.document.text, place, message)
    }

    /// Reads the elements of the long list that was cut out of this text, piece by piece. Whether all are TOML.
    pub(super) fn read_pieces(self, mut read: impl FnMut(Value) -> Result<(), FileError>) -> Result<bool, FileError> {
        let Document { text, pieces, .. } = *self.document;
        let (mut before, mut sound) = (0, true);
        for range in pieces {
            let opening = format!("{LIST}=[");
            let moved = range.start as isize - opening.len() as isize;
            let part = format!("{opening}{}]", &text[range.clone()]);
            let Some(document) = Document::moved(self.document, &part, (moved, before))? else {
                sound = false;
                continue;
            };
            let list = document.root().need(LIST)?.list()?;
            before += list.len();
            for value in list {
                read(value)?;
            }
        }
        Ok(sound)
    }
}
