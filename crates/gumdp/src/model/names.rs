//! The names of states or actions: one text with all of them, and a table that finds them. Large models have millions.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{Key, ModelError};

/// Names that there is room for before they are seen.
const MOST_EXPECTED: usize = 1 << 24;

/// All states or all actions, by number and by name.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// "state" or "action".
    what: &'static str,
    text: String,
    /// Name n is `ends[n]..ends[n + 1]` of the text.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Names {
    pub(super) fn new<S: Into<String>>(
        what: &'static str,
        names: impl IntoIterator<Item = S>,
        error: &mut Option<ModelError>,
    ) -> Self {
        let names = names.into_iter();
        let numbers = HashTable::with_capacity(names.size_hint().0.min(MOST_EXPECTED));
        let mut all = Self { what, text: String::new(), ends: vec![0], numbers, hasher: DefaultHashBuilder::default() };
        for name in names {
            let name = name.into();
            if name.contains('\n') {
                error.get_or_insert(ModelError::LineBreak { what, name: name.clone() });
            }
            if all.number(&name).is_some() {
                error.get_or_insert(ModelError::DuplicateName { what, name: name.clone() });
            }
            let number = all.len() as u32;
            all.text.push_str(&name);
            all.ends.push(all.text.len());
            let Self { text, ends, numbers, hasher, .. } = &mut all;
            let hash = |&n: &u32| hasher.hash_one(&text[ends[n as usize]..ends[n as usize + 1]]);
            numbers.insert_unique(hash(&number), number, hash);
        }
        all
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// The name of a number.
    pub(super) fn name(&self, number: u32) -> &str {
        &self.text[self.ends[number as usize]..self.ends[number as usize + 1]]
    }

    /// The number of a name.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.find(self.hasher.hash_one(name), |&number| self.name(number) == name).copied()
    }

    pub(super) fn find(&self, key: Key) -> Result<u32, ModelError> {
        let found = match &key {
            Key::Number(number) => u32::try_from(*number).ok().filter(|&n| (n as usize) < self.len()),
            Key::Name(name) => self.number(name),
        };
        // The number is written out only if it is unknown: large models look up millions.
        found.ok_or_else(|| {
            let name = match key {
                Key::Number(number) => number.to_string(),
                Key::Name(name) => name,
            };
            ModelError::Unknown { what: self.what, name }
        })
    }
}
