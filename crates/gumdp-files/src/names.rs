//! The names of the states, or of the actions, of a file of `kind = "explicit"`.

use std::cell::RefCell;
use std::collections::HashMap;

use super::document::{Table, Value, shortened};
use super::mistakes::{Mistake, every, unknown};
use super::world::ALL;
use gumdp::{ModelError, ROW_TOLERANCE};

/// Names for sets of states, by number; `None` for one with a mistake.
pub(super) type Groups = HashMap<String, Option<Vec<usize>>>;

/// The names of all states, or of all actions.
pub(super) struct Names<'a> {
    what: &'static str,
    known: RefCell<Numbered>,
    /// The list has entries that are no names, or is missing: names that are used elsewhere may be right.
    pub(super) learns: bool,
    pub(super) list: Option<Value<'a>>,
}

/// Names in the order in which they were added.
#[derive(Default)]
pub(super) struct Numbered {
    pub(super) all: Vec<String>,
    number: HashMap<String, usize>,
}

impl Numbered {
    fn add(&mut self, name: &str) -> usize {
        self.number.insert(name.to_owned(), self.all.len());
        self.all.push(name.to_owned());
        self.all.len() - 1
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.number.get(name).copied()
    }

    /// The number of a name, which is added if it is new.
    pub(super) fn number_of(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| self.add(name))
    }
}

impl<'a> Names<'a> {
    /// The names in the list of `states` or `actions`.
    pub(super) fn read(what: &'static str, root: Table<'a>) -> Self {
        let mut known = Numbered::default();
        let list = root
            .need(&format!("{what}s"))
            .filter(|list| list.list().is_some() && list.not_empty(&format!("name at least one {what}")).is_some());
        let mut learns = list.is_none();
        for value in list.and_then(Value::list).unwrap_or_default() {
            let Some(name) = value.text() else {
                learns = true;
                continue;
            };
            if known.find(name).is_some() {
                value.error(ModelError::DuplicateName { what, name: shortened(name) }.to_string()).tell::<()>();
                continue;
            }
            if name == ALL || name.is_empty() {
                value.error(format!("\"{name}\" cannot be the name of a state or an action")).tell::<()>();
            }
            if name.contains('\n') {
                value.error(ModelError::LineBreak { what, name: shortened(name) }.to_string()).tell::<()>();
            }
            known.add(name);
        }
        if known.all.is_empty() {
            known.add("");
        }
        Self { what, known: RefCell::new(known), learns, list }
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
        self.known.borrow().find(name)
    }

    /// The number of a name; `error` makes a mistake of a message.
    pub(super) fn number<'t>(&self, name: &str, error: impl FnOnce(String) -> Mistake<'t>) -> Option<usize> {
        if let Some(number) = self.find(name) {
            return Some(number);
        }
        if self.learns && name != ALL {
            return Some(self.known.borrow_mut().add(name));
        }
        unknown(self.what, name, self.known.borrow().all.iter().map(String::as_str), error)
    }

    pub(super) fn one(&self, value: Value) -> Option<usize> {
        self.number(value.text()?, |message| value.error(message))
    }

    /// A name, a list of names or `*`; a name may also be that of a group.
    pub(super) fn some(&self, value: Value, groups: &Groups) -> Option<Vec<usize>> {
        if value.as_text() == Some(ALL) {
            return Some((0..self.count()).collect());
        }
        let numbers = value.all(|value| match groups.get(value.text()?) {
            Some(members) => members.clone(),
            None => Some(vec![self.one(value)?]),
        })?;
        Some(numbers.concat())
    }

    /// A probability, which may be a little above 1 by rounding as sums may.
    pub(super) fn probability(value: Value) -> Option<f64> {
        value.number_that(|number| (0.0..=1.0 + ROW_TOLERANCE).contains(&number), "lie in [0, 1]")
    }

    /// A table from names to what is read of each.
    pub(super) fn by_name<'v, T, C: FromIterator<(usize, T)>>(
        &self,
        table: Value<'v>,
        read: fn(Value<'v>) -> Option<T>,
    ) -> Option<C> {
        every(table.entries()?.into_iter().map(|(key, value)| {
            let (number, read) = (self.number(key.text, |message| key.error(message)), read(value));
            number.zip(read)
        }))
    }
}
