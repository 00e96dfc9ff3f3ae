//! Tables of a problem file: fields that must, may or must not be there, and the dotted names of values.

use toml::de::{DeTable, DeValue};

use super::document::{Document, Value, shortened};
use super::error::did_you_mean;
use super::mistakes::{Mistake, Text};
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
    pub(super) offset: usize,
}

impl<'a> Key<'a> {
    pub(super) fn error(self, message: impl Into<String>) -> Mistake<'a> {
        self.document.error(self.offset, message)
    }
}

/// Which of two fields a table has.
pub(super) enum Either<'a> {
    One(Value<'a>),
    Other(Value<'a>),
    Neither,
}

impl<'a> Value<'a> {
    /// A text that stands for what a key of this name would.
    pub(super) fn key(self) -> Option<Key<'a>> {
        Some(Key { document: self.document, text: self.text()?, offset: self.span().start })
    }
}

impl<'a> Table<'a> {
    pub(super) fn error(self, message: impl Into<String>) -> Mistake<'a> {
        self.document.error(self.offset, message)
    }

    /// What was made of this table; what is wrong with it is told.
    pub(super) fn accept<T>(self, made: Result<T, impl std::fmt::Display>) -> Option<T> {
        made.map_err(|error| self.error(error.to_string()).tell::<()>()).ok()
    }

    /// The text of the file.
    pub(super) fn text(self) -> Text<'a> {
        self.document.text
    }

    pub(super) fn get(self, key: &str) -> Option<Value<'a>> {
        self.content.get(key).map(|node| Value { document: self.document, node })
    }

    /// The first of these fields that is there.
    pub(super) fn any(self, keys: &[&str]) -> Option<Value<'a>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// A field that must be there.
    pub(super) fn need(self, key: &str) -> Option<Value<'a>> {
        self.get(key).or_else(|| self.missing(key, None))
    }

    /// Which of two fields there is. Both are a mistake.
    pub(super) fn either(self, one: &str, other: &str) -> Option<Either<'a>> {
        match (self.get(one), self.get(other)) {
            (Some(_), Some(second)) => {
                second.error(format!("both {one} and {other} are given; give one of them")).tell()
            }
            (Some(one), None) => Some(Either::One(one)),
            (None, Some(other)) => Some(Either::Other(other)),
            (None, None) => Some(Either::Neither),
        }
    }

    /// Tells that a field is missing.
    pub(super) fn missing<T>(self, key: &str, hint: Option<&str>) -> Option<T> {
        if self.has_lost(key) {
            return None;
        }
        let message = format!("the field \"{key}\" is missing{}", self.place());
        self.error(message).maybe_hint(hint.map(str::to_owned)).tell()
    }

    /// All entries, in the order of the file.
    pub(super) fn entries(self) -> Vec<(Key<'a>, Value<'a>)> {
        let document = self.document;
        let entries = self.content.iter().map(|(key, node)| {
            (Key { document, text: key.get_ref(), offset: key.span().start }, Value { document, node })
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|(key, _)| key.offset);
        entries
    }

    /// Refuses entries with any other name.
    pub(super) fn only(self, allowed: &[&str]) {
        for (key, _) in self.entries().into_iter().filter(|(key, _)| !allowed.contains(&key.text)) {
            let hint = did_you_mean(key.text, allowed.iter().copied())
                .unwrap_or_else(|| format!("the fields here are {}", allowed.join(", ")));
            let message = format!("unknown field \"{}\"{}", shortened(key.text), self.place());
            key.error(message).hint(hint).tell::<()>();
        }
    }

    /// " in objective", or nothing for the whole file.
    fn place(self) -> String {
        self.name().map_or(String::new(), |name| format!(" in {name}"))
    }

    /// The dotted name; `None` for the whole file.
    fn name(self) -> Option<String> {
        let is_wanted = |value: &DeValue| value.as_table().is_some_and(|table| std::ptr::eq(table, self.content));
        let is_root = std::ptr::eq(self.content, self.document.root.get_ref());
        if is_root { None } else { name_of(self.document, &is_wanted) }
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

    /// Reads the elements of the long list that was cut out of this text, piece by piece. `None` if some are no TOML or could not be
    /// read.
    pub(super) fn read_pieces(self, mut read: impl FnMut(Value) -> Option<()>) -> Option<()> {
        let mut before = 0;
        let mut sound = Some(());
        for range in self.document.pieces {
            let opening = format!("{LIST}=[");
            let moved = range.start as isize - opening.len() as isize;
            let part = format!("{opening}{}]", &self.text().content[range.clone()]);
            let Some(document) = Document::moved(self.document, &part, (moved, before)) else {
                sound = None;
                continue;
            };
            let list = document.root().need(LIST)?.list()?;
            before += list.len();
            list.into_iter().try_for_each(&mut read)?;
        }
        sound
    }
}

/// The dotted name of a value, such as `legend."~".stuck` or `experiment.beta[1]`: looked up only when a mistake is told.
pub(super) fn name_of(document: &Document, is_wanted: &dyn Fn(&DeValue) -> bool) -> Option<String> {
    let mut name = String::new();
    search_table(document.root.get_ref(), is_wanted, &mut name).then(|| document.counted(name))
}

fn search_table(table: &DeTable, is_wanted: &dyn Fn(&DeValue) -> bool, name: &mut String) -> bool {
    table.iter().any(|(key, value)| {
        let separator = if name.is_empty() { "" } else { "." };
        let key = key.get_ref();
        // A character of a map stands for itself.
        let bare = name != "legend" && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        let part = if bare { shortened(key) } else { format!("\"{}\"", shortened(key)) };
        search_value(value.get_ref(), &format!("{separator}{part}"), is_wanted, name)
    })
}

fn search_value(value: &DeValue, part: &str, is_wanted: &dyn Fn(&DeValue) -> bool, name: &mut String) -> bool {
    let length = name.len();
    name.push_str(part);
    let found = is_wanted(value)
        || match value {
            DeValue::Table(table) => search_table(table, is_wanted, name),
            DeValue::Array(array) => (0..)
                .zip(array.iter())
                .any(|(index, item): (usize, _)| search_value(item.get_ref(), &format!("[{index}]"), is_wanted, name)),
            _ => false,
        };
    if !found {
        name.truncate(length);
    }
    found
}
