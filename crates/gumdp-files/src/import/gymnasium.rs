//! Gymnasium's tabular `P` as JSON: `{s: {a: [[p, s', r, terminated], …]}}`, alone or as `{"P": …, "initial": […]}`.
//!
//! Rewards are gains. Nothing happens after a transition that terminates: it leads to a state of its own, "terminated",
//! unless the state that it names absorbs at no cost anyway.

use std::collections::HashMap;

use super::super::document::shortened;
use super::super::mistakes::Mistake;
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
fn read(text: Text) -> Option<Foreign> {
    let mut reader =
        Reader { json: Json::new(text), foreign: Foreign::new(vec!["cost".to_owned()], true), ends: vec![] };
    let read = if reader.json.peek() == Some(b'[') { reader.states() } else { reader.object() };
    reader.foreign.unread.wholes |= read.and_then(|()| reader.json.end()).is_none();
    let nothing = reader.foreign.rows.is_empty() && text.mistakes.any();
    (!nothing).then(|| reader.finished())
}

struct Reader<'a> {
    json: Json<'a>,
    foreign: Foreign,
    /// For each row whether the episode ends with it.
    ends: Vec<bool>,
}

impl<'a> Reader<'a> {
    /// Either `P` itself or an object around it.
    fn object(&mut self) -> Option<()> {
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
                self.tell_twice(&format!("\"{}\"", shortened(key)), earlier, offset);
                self.json.pass_over(value)?;
                continue;
            }
            places.insert(key, offset);
            let read = match key {
                "P" => {
                    is_around = true;
                    self.states()
                }
                "initial" | "initial_state_distrib" | "isd" => self.initial(),
                "discount" | "gamma" => {
                    let valid = |discount| discount > 0.0 && discount <= 1.0;
                    let discount = self.number(key, valid, "be a number in (0, 1]");
                    self.foreign.discount = discount.or(self.foreign.discount);
                    discount.map(|_| ())
                }
                "horizon" => {
                    let valid = |horizon: f64| horizon.fract() == 0.0 && (1.0..=MAX_HORIZON as f64).contains(&horizon);
                    let horizon = self.number(key, valid, &format!("be a whole number in [1, {MAX_HORIZON}]"));
                    self.foreign.horizon = horizon.map(|horizon| horizon as usize);
                    horizon.map(|_| ())
                }
                key if key.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                    is_model = true;
                    self.id_of(key, offset).and_then(|state| self.actions(state))
                }
                key => {
                    others.push((key, offset));
                    self.json.skip()
                }
            };
            if read.is_none() {
                self.foreign.unread.wholes |= is_model || key == "P";
                self.json.pass_over(value)?;
            }
        }
        for (key, offset) in others {
            if is_model && !is_around {
                let hint = "what is no state stands beside \"P\": {\"P\": …, …}";
                self.wrong_id(key, offset).hint(hint).tell::<()>();
                self.foreign.unread.wholes = true;
            } else {
                self.foreign.notes.push(format!("\"{}\" is ignored", shortened(key)));
            }
        }
        if is_model || is_around {
            return Some(());
        }
        let message = "the file has no transitions: neither \"P\" nor states such as \"0\"";
        let hint = "json.dump({\"P\": env.unwrapped.P}, file) writes them; NumPy's numbers need default=float";
        self.json.text.error(start, message).hint(hint).tell()
    }

    fn states(&mut self) -> Option<()> {
        self.each("the state", Self::actions).map(|sound| self.foreign.unread.wholes |= !sound)
    }

    fn actions(&mut self, state: u32) -> Option<()> {
        let sound = self.each("the action", |reader, action| reader.transitions(state, action))?;
        self.foreign.unread.wholes |= !sound;
        Some(())
    }

    /// Reads an object whose names are ids, or a list in which they are the places. Whether all could be read.
    fn each(&mut self, what: &str, mut read: impl FnMut(&mut Self, u32) -> Option<()>) -> Option<bool> {
        let list = self.json.peek() == Some(b'[');
        let (open, end) = if list { (b'[', b']') } else { (b'{', b'}') };
        self.json.expect(open, "'{' or '['")?;
        let mut places: HashMap<u32, usize> = HashMap::new();
        let (mut count, mut sound) = (0, true);
        while self.json.next_item(count == 0, end)? {
            let offset = self.json.offset();
            let id = if list {
                self.id_in(f64::from(count), offset, what)
            } else {
                let key = self.json.key()?;
                self.id_of(key, offset).filter(|&id| {
                    let earlier = places.insert(id, offset);
                    earlier.is_none_or(|earlier| self.tell_twice(&format!("{what} {id}"), earlier, offset).is_some())
                })
            };
            count += 1;
            let value = self.json.offset();
            if id.and_then(|id| read(self, id)).is_none() {
                sound = false;
                self.json.pass_over(value)?;
            }
        }
        Some(sound)
    }

    fn tell_twice(&self, what: &str, first: usize, offset: usize) -> Option<()> {
        let text = self.json.text;
        text.error(offset, format!("{what} is given twice; first in {}", text.place(first))).tell()
    }

    fn wrong_id(&self, key: &str, offset: usize) -> Mistake<'a> {
        let key = shortened(key);
        let message = format!("the id \"{key}\" of a state or an action must be a whole number in [0, {MAX_ID}]");
        self.json.text.error(offset, message)
    }

    fn id_of(&self, key: &str, offset: usize) -> Option<u32> {
        key.parse().ok().filter(|&id| id <= MAX_ID).or_else(|| self.wrong_id(key, offset).tell())
    }

    fn id_in(&self, number: f64, offset: usize, what: &str) -> Option<u32> {
        if number.fract() == 0.0 && (0.0..=f64::from(MAX_ID)).contains(&number) {
            return Some(number as u32);
        }
        let message = format!("{what} is {number}; it must be a whole number in [0, {MAX_ID}]");
        self.json.text.error(offset, message).tell()
    }

    /// `[[p, s', r, terminated], …]`. A pair of which something could not be read is taken note of.
    fn transitions(&mut self, state: u32, action: u32) -> Option<()> {
        let read = self.rows(state, action);
        if read != Some(true) {
            self.foreign.unread.of_pair(state, action);
        }
        read.map(|_| ())
    }

    fn rows(&mut self, state: u32, action: u32) -> Option<bool> {
        let start = self.json.offset();
        self.json.expect(b'[', "'[' and the transitions [p, s', r, terminated]")?;
        let (mut first, mut sound) = (true, true);
        while self.json.next_item(first, b']')? {
            first = false;
            let offset = self.json.offset();
            if self.row(state, action).is_none() {
                sound = false;
                self.json.pass_over(offset)?;
            }
        }
        if first {
            let message = format!("action {action} of state {state} has no transitions");
            self.json.text.error(start, message).tell::<()>();
        }
        Some(sound && !first)
    }

    fn row(&mut self, state: u32, action: u32) -> Option<()> {
        let offset = self.json.offset();
        self.json.expect(b'[', "'[' and p, s', r, terminated")?;
        let probability = self.or_pass_over(|reader| reader.probability("the probability"))?;
        self.json.expect(b',', "',' and the next state")?;
        let next = self.or_pass_over(|reader| {
            let start = reader.json.offset();
            let number = reader.json.number()?;
            reader.id_in(number, start, "the next state")
        })?;
        self.json.expect(b',', "',' and the reward")?;
        let reward = self.or_pass_over(|reader| reader.number("the reward", f64::is_finite, "be finite"))?;
        let mut terminated = Some(false);
        if self.json.peek() != Some(b']') {
            self.json.expect(b',', "',' and whether the episode ends")?;
            terminated = self.or_pass_over(|reader| reader.json.flag())?;
        }
        self.json.expect(b']', "']'")?;
        let (next, probability, terminated) = (next?, probability?, terminated?);
        let reward = self.foreign.rewards.number_of(&[reward?]);
        self.foreign.push(Row { state, action, next, probability, reward, offset }, self.json.text)?;
        self.ends.push(terminated);
        Some(())
    }

    #[allow(clippy::option_option)] // Nothing behind an outer `None` can be read.
    /// What is read; `None` inside if it has a mistake behind which the text can be read.
    fn or_pass_over<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        let start = self.json.offset();
        let read = read(self);
        if read.is_none() {
            self.json.pass_over(start)?;
        }
        Some(read)
    }

    /// A number for which this holds.
    fn number(&mut self, what: &str, valid: impl Fn(f64) -> bool, must: &str) -> Option<f64> {
        let start = self.json.offset();
        let number = self.json.number()?;
        let message = || format!("{what} is {number}; it must {must}");
        if valid(number) { Some(number) } else { self.json.text.error(start, message()).tell() }
    }

    fn probability(&mut self, what: &str) -> Option<f64> {
        self.number(what, |p| (0.0..=1.0).contains(&p), "lie in [0, 1]")
    }

    /// Probabilities in the order of the states, or by id.
    fn initial(&mut self) -> Option<()> {
        let mut initial = Initial { offset: self.json.offset(), ..Initial::default() };
        let read = self.each("the state", |reader, state| {
            let offset = reader.json.offset();
            initial.entries.push((state, reader.probability("the initial probability")?, offset));
            Some(())
        });
        initial.doubtful = read != Some(true);
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
