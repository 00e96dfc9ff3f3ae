//! Gymnasium's tabular `P` as JSON: `{s: {a: [[p, s', r, terminated], …]}}`, alone or as `{"P": …, "initial": […]}`.
//!
//! Rewards are gains. Nothing happens after a transition that terminates: it leads to a state of its own, "terminated",
//! unless the state that it names absorbs at no cost anyway.

use std::collections::HashMap;

use super::super::document::shortened;
use super::super::error::FileError;
use super::foreign::{Foreign, MAX_ID, Row, TERMINATED};
use super::json::Json;
use super::start::Initial;
use super::{Format, Text};
use gumdp::MAX_HORIZON;

pub(super) const FORMAT: Format =
    Format { name: "gymnasium", extension: "json", looks_like, read, read_neighbours: None };

fn looks_like(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// The transitions of a file.
fn read(text: &Text) -> Result<Foreign, FileError> {
    let mut reader =
        Reader { json: Json::new(text), foreign: Foreign::new(vec!["cost".to_owned()], true), ends: vec![] };
    let read = if reader.json.peek() == Some(b'[') { reader.states() } else { reader.object() };
    let read = read.and_then(|()| reader.json.end());
    reader.foreign.unread.wholes |= text.accept(read)?.is_none();
    Ok(reader.finished())
}

struct Reader<'a> {
    json: Json<'a>,
    foreign: Foreign,
    /// For each row whether the episode ends with it.
    ends: Vec<bool>,
}

impl Reader<'_> {
    /// Either `P` itself or an object around it.
    fn object(&mut self) -> Result<(), FileError> {
        let start = self.json.offset();
        self.json.expect(b'{', "'{'")?;
        let (mut first, mut is_model, mut is_around) = (true, false, false);
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut others: Vec<(&str, usize)> = Vec::new();
        while self.json.next_item(first, b'}')? {
            first = false;
            let offset = self.json.offset();
            let key = self.json.key()?;
            let value = self.json.offset();
            if let Some(&earlier) = places.get(key) {
                let error = self.twice(&format!("\"{}\"", shortened(key)), earlier, offset);
                self.json.pass_over::<()>(value, error)?;
                continue;
            }
            places.insert(key, offset);
            let read = match key {
                "P" => {
                    is_around = true;
                    self.states()
                }
                "initial" | "initial_state_distrib" | "isd" => self.initial(),
                "discount" | "gamma" => self.discount(key),
                "horizon" => self.horizon(),
                key if key.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                    is_model = true;
                    self.id_of(key, offset).and_then(|state| self.actions(state))
                }
                key => {
                    others.push((key, offset));
                    self.json.skip()
                }
            };
            if let Err(error) = read {
                self.foreign.unread.wholes |= is_model || key == "P";
                self.json.pass_over::<()>(value, error)?;
            }
        }
        for (key, offset) in others {
            if is_model && !is_around {
                let error = self.wrong_id(key, offset).hint("what is no state stands beside \"P\": {\"P\": …, …}");
                self.json.text.accept::<()>(Err(error))?;
                self.foreign.unread.wholes = true;
            } else {
                self.foreign.notes.push(format!("\"{}\" is ignored", shortened(key)));
            }
        }
        if is_model || is_around {
            return Ok(());
        }
        let error = self.json.error(start, "the file has no transitions: neither \"P\" nor states such as \"0\"");
        Err(error.hint("json.dump({\"P\": env.unwrapped.P}, file) writes them; NumPy's numbers need default=float"))
    }

    fn discount(&mut self, key: &str) -> Result<(), FileError> {
        let offset = self.json.offset();
        let discount = self.json.number()?;
        if !(discount > 0.0 && discount <= 1.0) {
            return Err(self.json.error(offset, format!("{key} is {discount}; it must be a number in (0, 1]")));
        }
        self.foreign.discount = Some(discount);
        Ok(())
    }

    fn horizon(&mut self) -> Result<(), FileError> {
        let offset = self.json.offset();
        let horizon = self.json.number()?;
        if horizon.fract() != 0.0 || !(1.0..=MAX_HORIZON as f64).contains(&horizon) {
            let message = format!("horizon is {horizon}; it must be a whole number in [1, {MAX_HORIZON}]");
            return Err(self.json.error(offset, message));
        }
        self.foreign.horizon = Some(horizon as usize);
        Ok(())
    }

    fn states(&mut self) -> Result<(), FileError> {
        let sound = self.each("the state", Self::actions)?;
        self.foreign.unread.wholes |= !sound;
        Ok(())
    }

    fn actions(&mut self, state: u32) -> Result<(), FileError> {
        let sound = self.each("the action", |reader, action| reader.transitions(state, action))?;
        self.foreign.unread.wholes |= !sound;
        Ok(())
    }

    /// Reads an object whose names are ids, or a list in which they are the places. Whether all could be read.
    fn each(
        &mut self,
        what: &str,
        mut read: impl FnMut(&mut Self, u32) -> Result<(), FileError>,
    ) -> Result<bool, FileError> {
        let list = self.json.peek() == Some(b'[');
        let (open, end) = if list { (b'[', b']') } else { (b'{', b'}') };
        self.json.expect(open, "'{' or '['")?;
        let mut places: HashMap<u32, usize> = HashMap::new();
        let (mut count, mut sound) = (0, true);
        while self.json.next_item(count == 0, end)? {
            let offset = self.json.offset();
            let id = if list {
                self.checked(f64::from(count), offset, what)
            } else {
                let key = self.json.key()?;
                self.id_of(key, offset).and_then(|id| match places.insert(id, offset) {
                    Some(earlier) => Err(self.twice(&format!("{what} {id}"), earlier, offset)),
                    None => Ok(id),
                })
            };
            count += 1;
            let value = self.json.offset();
            if let Err(error) = id.and_then(|id| read(self, id)) {
                sound = false;
                self.json.pass_over::<()>(value, error)?;
            }
        }
        Ok(sound)
    }

    fn twice(&self, what: &str, first: usize, offset: usize) -> FileError {
        let first = self.json.text.place(first);
        self.json.error(offset, format!("{what} is given twice; first in {first}"))
    }

    fn wrong_id(&self, key: &str, offset: usize) -> FileError {
        let key = shortened(key);
        let message = format!("the id \"{key}\" of a state or an action must be a whole number in [0, {MAX_ID}]");
        self.json.error(offset, message)
    }

    fn id_of(&self, key: &str, offset: usize) -> Result<u32, FileError> {
        key.parse().ok().filter(|&id| id <= MAX_ID).ok_or_else(|| self.wrong_id(key, offset))
    }

    fn checked(&self, number: f64, offset: usize, what: &str) -> Result<u32, FileError> {
        if number.fract() == 0.0 && (0.0..=f64::from(MAX_ID)).contains(&number) {
            return Ok(number as u32);
        }
        Err(self.json.error(offset, format!("{what} is {number}; it must be a whole number in [0, {MAX_ID}]")))
    }

    /// `[[p, s', r, terminated], …]`. A pair of which something could not be read is taken note of.
    fn transitions(&mut self, state: u32, action: u32) -> Result<(), FileError> {
        let read = self.rows(state, action);
        if !matches!(read, Ok(true)) {
            self.foreign.unread.of_pair(state, action);
        }
        read.map(|_| ())
    }

    fn rows(&mut self, state: u32, action: u32) -> Result<bool, FileError> {
        let start = self.json.offset();
        self.json.expect(b'[', "'[' and the transitions [p, s', r, terminated]")?;
        let (mut first, mut sound) = (true, true);
        while self.json.next_item(first, b']')? {
            first = false;
            let offset = self.json.offset();
            if let Err(error) = self.row(state, action) {
                sound = false;
                self.json.pass_over::<()>(offset, error)?;
            }
        }
        if first {
            let error = self.json.error(start, format!("action {action} of state {state} has no transitions"));
            self.json.text.accept::<()>(Err(error))?;
        }
        Ok(sound && !first)
    }

    fn row(&mut self, state: u32, action: u32) -> Result<(), FileError> {
        let offset = self.json.offset();
        self.json.expect(b'[', "'[' and p, s', r, terminated")?;
        let probability = self.number("the probability", |p| (0.0..=1.0).contains(&p), "lie in [0, 1]")?;
        self.json.expect(b',', "',' and the next state")?;
        let next_offset = self.json.offset();
        let next = self.number("the next state", |_| true, "")?;
        self.json.expect(b',', "',' and the reward")?;
        let reward = self.number("the reward", f64::is_finite, "be finite")?;
        let mut terminated = Some(false);
        if self.json.peek() != Some(b']') {
            self.json.expect(b',', "',' and whether the episode ends")?;
            let start = self.json.offset();
            terminated = match self.json.flag() {
                Ok(flag) => Some(flag),
                Err(error) => self.json.pass_over(start, error)?,
            };
        }
        self.json.expect(b']', "']'")?;
        let next = next.map(|next| self.checked(next, next_offset, "the next state"));
        let next = next.map(|next| self.json.text.accept(next)).transpose()?.flatten();
        let (Some(probability), Some(next), Some(reward), Some(terminated)) = (probability, next, reward, terminated)
        else {
            return Err(FileError::told());
        };
        let reward = self.foreign.rewards.number_of(&[reward]);
        self.foreign.push(Row { state, action, next, probability, reward, offset }, self.json.text)?;
        self.ends.push(terminated);
        Ok(())
    }

    /// A number that is `allowed`; `None` if it is not, which is told already.
    fn number(&mut self, what: &str, allowed: fn(f64) -> bool, must: &str) -> Result<Option<f64>, FileError> {
        let start = self.json.offset();
        let number = match self.json.number() {
            Ok(number) => number,
            Err(error) => return self.json.pass_over(start, error),
        };
        if allowed(number) {
            return Ok(Some(number));
        }
        let error = self.json.error(start, format!("{what} is {number}; it must {must}"));
        self.json.text.accept(Err(error))
    }

    /// Probabilities in the order of the states, or by id.
    fn initial(&mut self) -> Result<(), FileError> {
        let mut initial = Initial { offset: self.json.offset(), doubtful: true, ..Initial::default() };
        let read = self.each("the state", |reader, state| {
            let offset = reader.json.offset();
            let allowed = |p| (0.0..=1.0).contains(&p);
            let probability = reader.number("the initial probability", allowed, "lie in [0, 1]")?;
            initial.entries.push((state, probability.ok_or_else(FileError::told)?, offset));
            Ok(())
        });
        initial.doubtful = !matches!(read, Ok(true));
        self.foreign.initial = Some(initial);
        read.map(|_| ())
    }

    /// Ends episodes where they are said to end.
    fn finished(mut self) -> Foreign {
        let mut active = std::collections::HashSet::new();
        for row in self.foreign.rows.iter().filter(|row| row.probability > 0.0) {
            if row.next != row.state || row.reward != 0 {
                active.insert(row.state);
            }
        }
        let mut redirected = false;
        for (row, _) in self.foreign.rows.iter_mut().zip(&self.ends).filter(|&(_, &ends)| ends) {
            if active.contains(&row.next) {
                row.next = TERMINATED;
                redirected = true;
            }
        }
        if redirected {
            let note = "transitions that terminate lead to the state \"terminated\", which costs nothing";
            self.foreign.notes.push(note.to_owned());
        }
        self.foreign
    }
}
