//! The names of the states, or of the actions, of a file of `kind = "explicit"`.

use std::cell::RefCell;
use std::collections::HashMap;

use super::document::{Table, Value, shortened};
use super::error::{FileError, nearest_or_all};
use super::world::ALL;
use gumdp::{ModelError, ROW_TOLERANCE};

/// Names for sets of states, by number; `None` for one with a mistake.
pub(super) type Groups = HashMap<String, Option<Vec<usize>>>;

/// The names of all states, or of all actions.
pub(super) struct Names<'a> {
    what: &'static str,
    known: RefCell<Known>,
    /// The list has entries that are no names, or is missing: names that are used elsewhere may be right.
    pub(super) learns: bool,
    pub(super) list: Option<Value<'a>>,
}

#[derive(Default)]
struct Known {
    all: Vec<String>,
    number: HashMap<String, usize>,
}

impl Known {
    fn add(&mut self, name: &str) -> usize {
        self.number.insert(name.to_owned(), self.all.len());
        self.all.push(name.to_owned());
        self.all.len() - 1
    }
}

impl<'a> Names<'a> {
    /// The names in the list of `states` or `actions`.
    pub(super) fn read(what: &'static str, root: Table<'a>) -> Result<Self, FileError> {
        let mut known = Known::default();
        let mut learns = false;
        let list = root.needed(&format!("{what}s"), |list| {
            if list.list()?.is_empty() {
                return Err(list.error(format!("{} is empty; it must name at least one {what}", list.name())));
            }
            Ok(list)
        })?;
        for value in list.map(Value::list).transpose()?.unwrap_or_default() {
            let Some(name) = root.accept(value.text())? else {
                learns = true;
                continue;
            };
            if known.number.contains_key(name) {
                let error = ModelError::DuplicateName { what, name: shortened(name) };
                root.accept::<()>(Err(value.error(error.to_string())))?;
                continue;
            }
            if name == ALL || name.is_empty() {
                let message = format!("\"{name}\" cannot be the name of a state or an action");
                root.accept::<()>(Err(value.error(message)))?;
            }
            known.add(name);
        }
        learns |= list.is_none();
        if known.all.is_empty() {
            known.add("");
        }
        Ok(Self { what, known: RefCell::new(known), learns, list })
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.known.borrow().all.clone()
    }

    pub(super) fn count(&self) -> usize {
        self.known.borrow().all.len()
    }

    pub(super) fn name(&self, number: usize) -> String {
        self.known.borrow().all[number].clone()
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.known.borrow().number.get(name).copied()
    }

    /// The number of a name; `error` makes an error of a message.
    pub(super) fn number(&self, name: &str, error: impl FnOnce(String) -> FileError) -> Result<usize, FileError> {
        if let Some(number) = self.find(name) {
            return Ok(number);
        }
        if self.learns && name != ALL {
            return Ok(self.known.borrow_mut().add(name));
        }
        let known = self.known.borrow();
        Err(error(format!("unknown {} \"{}\"", self.what, shortened(name))).maybe_hint(nearest_or_all(
            self.what,
            name,
            known.all.iter().map(String::as_str),
        )))
    }

    pub(super) fn one(&self, value: Value) -> Result<usize, FileError> {
        self.number(value.text()?, |message| value.error(message))
    }

    /// A name, a list of names or `*`; a name may also be that of a group.
    pub(super) fn some(&self, value: Value, groups: &Groups) -> Result<Vec<usize>, FileError> {
        if value.as_text() == Some(ALL) {
            return Ok((0..self.count()).collect());
        }
        let numbers = value.all(|value| match groups.get(value.text()?) {
            Some(members) => members.clone().ok_or_else(FileError::told),
            None => Ok(vec![self.one(value)?]),
        })?;
        Ok(numbers.concat())
    }

    /// A probability, which may be a little above 1 by rounding as sums may.
    pub(super) fn probability(value: Value) -> Result<f64, FileError> {
        let number = value.number()?;
        let allowed = (0.0..=1.0 + ROW_TOLERANCE).contains(&number);
        if allowed { Ok(number) } else { Err(value.refused(number, "lie in [0, 1]")) }
    }

    /// A table from names to probabilities.
    pub(super) fn distribution(&self, table: Table) -> Result<Vec<(usize, f64)>, FileError> {
        let mut outcomes = Vec::new();
        let entries = table.entries();
        let count = entries.len();
        for (key, value) in entries {
            let number = table.accept(self.number(key.text, |message| key.error(message)))?;
            let probability = table.accept(Self::probability(value))?;
            outcomes.extend(number.zip(probability));
        }
        if outcomes.len() == count { Ok(outcomes) } else { Err(FileError::told()) }
    }
}
