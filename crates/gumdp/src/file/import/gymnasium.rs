//! Gymnasium's tabular `P` as JSON: `{s: {a: [[p, s', r, terminated], …]}}`, alone or as `{"P": …, "initial": […]}`.
//!
//! Rewards are gains. Nothing happens after a transition that terminates: it leads to a state of its own, "terminated",
//! unless the state that it names absorbs at no cost anyway.

use super::super::document::shortened;
use super::super::error::FileError;
use super::Text;
use super::foreign::{Foreign, MAX_ID, Row, TERMINATED};
use super::json::Json;
use crate::problem::MAX_HORIZON;

/// The transitions of a file.
pub(super) fn read(text: &Text) -> Result<Foreign, FileError> {
    let mut reader =
        Reader { json: Json::new(text), foreign: Foreign::new(vec!["cost".to_owned()], true), ends: vec![] };
    let json = &mut reader.json;
    if json.peek() == Some(b'[') {
        reader.states()?;
    } else {
        reader.object()?;
    }
    reader.json.end()?;
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
        let (mut first, mut found) = (true, false);
        while self.json.next_item(first, b'}')? {
            first = false;
            let offset = self.json.offset();
            let key = self.json.key()?;
            match key {
                "P" => {
                    found = true;
                    self.states()?;
                }
                "initial" | "initial_state_distrib" | "isd" => self.initial()?,
                "discount" | "gamma" => {
                    let offset = self.json.offset();
                    let discount = self.json.number()?;
                    if !(discount > 0.0 && discount <= 1.0) {
                        let message = format!("{key} is {discount}; it must be a number in (0, 1]");
                        self.json.text.accept(Err::<(), _>(self.json.error(offset, message)))?;
                    }
                    self.foreign.discount = Some(discount);
                }
                "horizon" => {
                    let offset = self.json.offset();
                    let horizon = self.json.number()?;
                    if horizon.fract() != 0.0 || !(1.0..=MAX_HORIZON as f64).contains(&horizon) {
                        let message = format!("horizon is {horizon}; it must be a whole number in [1, {MAX_HORIZON}]");
                        self.json.text.accept(Err::<(), _>(self.json.error(offset, message)))?;
                    }
                    self.foreign.horizon = Some(horizon as usize);
                }
                key if key.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                    found = true;
                    let state = self.id_of(key, offset)?;
                    self.actions(state)?;
                }
                key => {
                    self.foreign.notes.push(format!("\"{}\" is ignored", shortened(key)));
                    self.json.skip()?;
                }
            }
        }
        if found {
            return Ok(());
        }
        let error = self.json.error(start, "the file has no transitions: neither \"P\" nor states such as \"0\"");
        Err(error.hint("json.dump({\"P\": env.unwrapped.P}, file) writes them; NumPy's numbers need default=float"))
    }

    fn states(&mut self) -> Result<(), FileError> {
        self.each("the state", Self::actions)
    }

    fn actions(&mut self, state: u32) -> Result<(), FileError> {
        self.each("the action", |reader, action| reader.transitions(state, action))
    }

    /// Reads an object whose names are ids, or a list in which they are the places.
    fn each(&mut self, what: &str, read: impl Fn(&mut Self, u32) -> Result<(), FileError>) -> Result<(), FileError> {
        let list = self.json.peek() == Some(b'[');
        let (open, end) = if list { (b'[', b']') } else { (b'{', b'}') };
        self.json.expect(open, "'{' or '['")?;
        let mut count = 0;
        while self.json.next_item(count == 0, end)? {
            let offset = self.json.offset();
            let id = if list {
                self.checked(f64::from(count), offset, what)?
            } else {
                let key = self.json.key()?;
                self.id_of(key, offset)?
            };
            count += 1;
            read(self, id)?;
        }
        Ok(())
    }

    fn id_of(&mut self, key: &str, offset: usize) -> Result<u32, FileError> {
        let message =
            || format!("the id \"{}\" of a state or an action must be a whole number in [0, {MAX_ID}]", shortened(key));
        key.parse().ok().filter(|&id| id <= MAX_ID).ok_or_else(|| self.json.error(offset, message()))
    }

    fn checked(&self, number: f64, offset: usize, what: &str) -> Result<u32, FileError> {
        if number.fract() == 0.0 && (0.0..=f64::from(MAX_ID)).contains(&number) {
            return Ok(number as u32);
        }
        Err(self.json.error(offset, format!("{what} is {number}; it must be a whole number in [0, {MAX_ID}]")))
    }

    /// `[[p, s', r, terminated], …]`.
    fn transitions(&mut self, state: u32, action: u32) -> Result<(), FileError> {
        self.json.expect(b'[', "'[' and the transitions [p, s', r, terminated]")?;
        let mut first = true;
        while self.json.next_item(first, b']')? {
            first = false;
            let offset = self.json.offset();
            self.json.expect(b'[', "'[' and p, s', r, terminated")?;
            let p_offset = self.json.offset();
            let probability = self.json.number()?;
            self.json.expect(b',', "',' and the next state")?;
            let next_offset = self.json.offset();
            let next = self.json.number()?;
            self.json.expect(b',', "',' and the reward")?;
            let reward_offset = self.json.offset();
            let reward = self.json.number()?;
            let terminated = if self.json.peek() == Some(b']') {
                false
            } else {
                self.json.expect(b',', "',' and whether the episode ends")?;
                self.json.flag()?
            };
            self.json.expect(b']', "']'")?;
            let mut sound = true;
            if !(0.0..=1.0).contains(&probability) {
                let message = format!("the probability is {probability}; it must lie in [0, 1]");
                self.json.text.accept::<()>(Err(self.json.error(p_offset, message)))?;
                sound = false;
            }
            let next = self.json.text.accept(self.checked(next, next_offset, "the next state"))?;
            if !reward.is_finite() {
                let message = format!("the reward is {reward}; it must be finite");
                self.json.text.accept::<()>(Err(self.json.error(reward_offset, message)))?;
                sound = false;
            }
            let Some(next) = next.filter(|_| sound) else {
                self.foreign.unread.pairs.insert((state, action));
                continue;
            };
            let reward = self.foreign.rewards.number_of(&[reward]);
            self.foreign.push(Row { state, action, next, probability, reward, offset }, self.json.text)?;
            self.ends.push(terminated);
        }
        Ok(())
    }

    /// Probabilities in the order of the states, or by id.
    fn initial(&mut self) -> Result<(), FileError> {
        let initial = std::cell::RefCell::new(Vec::new());
        self.each("the state", |reader, state| {
            let offset = reader.json.offset();
            let probability = reader.json.number()?;
            if !(0.0..=1.0).contains(&probability) {
                let message = format!("the initial probability is {probability}; it must lie in [0, 1]");
                reader.json.text.accept(Err::<(), _>(reader.json.error(offset, message)))?;
            } else if probability > 0.0 {
                initial.borrow_mut().push((state, probability));
            }
            Ok(())
        })?;
        self.foreign.initial = Some(initial.into_inner());
        Ok(())
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
