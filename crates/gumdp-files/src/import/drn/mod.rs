//! Storm's explicit format DRN, for MDPs and Markov chains (DTMCs).
//!
//! Rewards of a state and of an action add up to the reward of the pair. They are costs unless the user says otherwise: the
//! format does not tell. Labels are names for sets of states; `init` marks where episodes start.

use std::collections::{HashMap, HashSet};

use super::super::document::shortened;
use super::super::error::{FileError, alternatives, counted};
use super::foreign::{Foreign, Row};
use super::start::Initial;
use super::{Format, Text};
use header::Header;
use piece::{Lines, Piece, id, number};

mod header;
mod piece;

/// What Storm writes for an action without a name.
const NO_NAME: &str = "__NOLABEL__";

pub(super) const FORMAT: Format = Format { name: "drn", extension: "drn", looks_like, read, read_neighbours: None };

/// Whether a text begins like a DRN file.
fn looks_like(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.next().is_some_and(|line| line.starts_with('@'))
}

/// The model of a file.
fn read(text: &Text) -> Result<Foreign, FileError> {
    let mut lines = Lines::new(text);
    let header = Header::read(text, &mut lines)?;
    let mut reader = Reader::new(text, &header);
    for line in lines {
        let Some(line) = line.uncommented() else { continue };
        let read = reader.line(line);
        if text.accept(read)?.is_none() {
            reader.broken = true;
            reader.lost_states |= reader.current.is_none();
            reader.foreign.unread.wholes = true;
        }
    }
    reader.finished()
}

/// The state and the action that is read.
struct Current {
    state: u32,
    rewards: Vec<f64>,
    /// Number of actions so far.
    choices: u32,
    /// The action with its rewards.
    action: Option<(u32, u32)>,
    names: HashSet<u32>,
    /// Where the action stands, as long as it has no transitions, and the first one that remained without.
    pending: Option<usize>,
    empty: Option<usize>,
}

struct Reader<'a> {
    text: &'a Text<'a>,
    foreign: Foreign,
    states: Option<u32>,
    seen: HashSet<u32>,
    current: Option<Current>,
    action_number: HashMap<String, u32>,
    action_names: Vec<String>,
    labels: HashMap<String, usize>,
    initial: Vec<u32>,
    /// The last state or action could not be read: what belongs to it is passed over.
    broken: bool,
    /// The number of states is not known for that reason.
    lost_states: bool,
    /// How many actions have the name of another one of their state, and where the first of them stands.
    renamed: Option<(usize, usize, String)>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a Text<'a>, header: &Header) -> Self {
        let names =
            if header.reward_models.is_empty() { vec!["cost".to_owned()] } else { header.reward_models.clone() };
        let mut foreign = Foreign::new(names, false);
        if header.reward_models.is_empty() {
            foreign.notes.push("the file has no reward model: all costs are 0".to_owned());
        }
        Self {
            text,
            foreign,
            states: header.states,
            seen: HashSet::new(),
            current: None,
            action_number: HashMap::new(),
            action_names: Vec::new(),
            labels: HashMap::new(),
            initial: Vec::new(),
            broken: false,
            lost_states: false,
            renamed: None,
        }
    }

    fn line(&mut self, line: Piece<'a>) -> Result<(), FileError> {
        let (word, rest) = line.word();
        match word.content {
            "state" => {
                self.broken = false;
                self.close_state()?;
                self.state(rest)
            }
            _ if self.broken && self.current.is_none() => Ok(()),
            "action" => {
                self.broken = false;
                self.action(rest)
            }
            _ if self.broken => Ok(()),
            _ => {
                let read = self.transition(line);
                self.current.iter_mut().for_each(|current| current.pending = None);
                read
            }
        }
    }

    /// A state with several actions must have transitions for each; that of one without any keeps the agent.
    fn close_state(&mut self) -> Result<(), FileError> {
        let Some(Current { choices: 2.., pending, empty, .. }) = self.current.take() else { return Ok(()) };
        let Some(offset) = empty.or(pending) else { return Ok(()) };
        self.text.accept(Err(self.text.error(offset, "this action has no transitions"))).map(|_: Option<()>| ())
    }

    fn state(&mut self, rest: Piece<'a>) -> Result<(), FileError> {
        let (number, rest) = rest.word();
        let state = id(self.text, number, "the state")?;
        if let Some(states) = self.states.filter(|&states| state >= states) {
            let message = format!("the state is {state}; @nr_states is {states}, so it must lie below");
            return Err(self.text.error(number.offset, message));
        }
        if !self.seen.insert(state) {
            return Err(self.text.error(number.offset, format!("the state {state} is given twice")));
        }
        self.foreign.extra_states.push(state);
        // Rewards that are wrong do not keep a state from being one.
        let models = self.foreign.rewards.names.len();
        let (rewards, mut rest) = self.text.accept(self.rewards(rest))?.unwrap_or((vec![0.0; models], rest.until(0)));
        while !rest.content.is_empty() {
            let (label, next) = rest.word();
            rest = next;
            if label.content == "init" {
                // Twice is as good as once.
                if self.initial.last() != Some(&state) {
                    self.initial.push(state);
                }
                continue;
            }
            let labels = &mut self.foreign.labels;
            let place = *self.labels.entry(label.content.to_owned()).or_insert_with(|| {
                labels.push((label.content.to_owned(), Vec::new()));
                labels.len() - 1
            });
            if labels[place].1.last() != Some(&state) {
                labels[place].1.push(state);
            }
        }
        self.current = Some(Current {
            state,
            rewards,
            choices: 0,
            action: None,
            names: HashSet::new(),
            pending: None,
            empty: None,
        });
        Ok(())
    }

    /// `[r1, r2, …]`, or nothing.
    fn rewards(&self, rest: Piece<'a>) -> Result<(Vec<f64>, Piece<'a>), FileError> {
        let models = self.foreign.rewards.names.len();
        if !rest.content.starts_with('[') {
            return Ok((vec![0.0; models], rest));
        }
        let Some(end) = rest.content.find(']') else {
            return Err(self.text.error(rest.offset, "these rewards have no closing ]"));
        };
        let list = rest.until(end).from(1);
        let mut values = Vec::new();
        let mut start = 0;
        for part in list.content.split(',').filter(|_| !list.content.is_empty()) {
            let piece = Piece { content: part, offset: list.offset + start }.trimmed();
            values.push(self.text.accept(number(self.text, piece, "the reward"))?.unwrap_or(0.0));
            start += part.len() + 1;
        }
        if values.len() != models {
            let (got, models) = (counted(values.len(), "reward"), counted(models, "reward model"));
            let are = if values.len() == 1 { "is" } else { "are" };
            let message = format!("{got} {are} given for {models}");
            return Err(self.text.error(rest.offset, message));
        }
        Ok((values, rest.from(end + 1)))
    }

    fn action(&mut self, rest: Piece<'a>) -> Result<(), FileError> {
        let (name, after) = rest.word();
        let models = self.foreign.rewards.names.len();
        let (rewards, after) = self.text.accept(self.rewards(after))?.unwrap_or((vec![0.0; models], after.until(0)));
        if !after.content.is_empty() {
            let message = format!("\"{}\" follows the action; only its rewards may", shortened(after.content));
            return Err(self.text.error(after.offset, message));
        }
        let Some(current) = &mut self.current else {
            return Err(self.text.error(rest.offset, "this action stands before the first state"));
        };
        if let Some(earlier) = current.pending.replace(rest.offset) {
            current.empty.get_or_insert(earlier);
        }
        let choice = current.choices;
        current.choices += 1;
        let mut called = match name.content {
            "" | NO_NAME => format!("a{choice}"),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => format!("a{digits}"),
            other => other.to_owned(),
        };
        let mut action = numbered(&mut self.action_number, &mut self.action_names, &called);
        if current.names.contains(&action) {
            let again = format!("{called}#{choice}");
            let (count, ..) = self.renamed.get_or_insert_with(|| {
                let example =
                    format!("\"{}\" of s{} is called \"{}\"", shortened(&called), current.state, shortened(&again));
                (0, name.offset, example)
            });
            *count += 1;
            called = again;
            action = numbered(&mut self.action_number, &mut self.action_names, &called);
        }
        current.names.insert(action);
        let total: Vec<f64> = current.rewards.iter().zip(&rewards).map(|(a, b)| a + b).collect();
        if total.iter().any(|reward| !reward.is_finite()) {
            return Err(self.text.error(rest.offset, "the rewards of state and action together are infinite"));
        }
        current.action = Some((action, self.foreign.rewards.number_of(&total)));
        Ok(())
    }

    fn transition(&mut self, line: Piece<'a>) -> Result<(), FileError> {
        let Some((next, probability)) = line.content.split_once(':') else {
            let allowed =
                alternatives(&["a state".to_owned(), "an action".to_owned(), "\"state : probability\"".to_owned()]);
            let message = format!("\"{}\" is not {allowed}", shortened(line.content));
            let error = self.text.error(line.offset, message);
            let Some(Current { state, action: Some((action, _)), .. }) = self.current else { return Err(error) };
            self.text.accept::<()>(Err(error))?;
            self.foreign.unread.of_pair(state, action);
            return Ok(());
        };
        let piece = line.from(next.len() + 1);
        let next = id(self.text, line.until(next.len()), "the next state").and_then(|next| {
            if let Some(states) = self.states.filter(|&states| next >= states) {
                let message = format!("the next state is {next}; @nr_states is {states}, so it must lie below");
                return Err(self.text.error(line.offset, message));
            }
            Ok(next)
        });
        let value = number(self.text, Piece { content: probability.trim(), ..piece }, "the probability");
        let value = value.and_then(|value| {
            if !(0.0..=1.0).contains(&value) {
                let message = format!("the probability is {value}; it must lie in [0, 1]");
                return Err(self.text.error(piece.offset, message));
            }
            Ok(value)
        });
        let (next, value) = (self.text.accept(next)?, self.text.accept(value)?);
        if self.current.as_ref().is_some_and(|current| current.action.is_none()) {
            // A Markov chain may leave its only action out.
            self.action(line.until(0))?;
        }
        let Some(Current { state, action: Some((action, reward)), .. }) = self.current else {
            return Err(self.text.error(line.offset, "this transition stands before the first state"));
        };
        let (Some(next), Some(probability)) = (next, value) else {
            self.foreign.unread.of_pair(state, action);
            return Ok(());
        };
        let row = Row { state, action, next, probability, reward, offset: line.offset };
        self.foreign.push(row, self.text)
    }

    fn finished(mut self) -> Result<Foreign, FileError> {
        self.close_state()?;
        if let Some(states) = self.states
            && self.seen.len() != states as usize
            && !self.lost_states
        {
            let message = format!("@nr_states is {states}, but the file has {}", counted(self.seen.len(), "state"));
            self.text.accept(Err::<(), _>(self.text.error(0, message)))?;
        }
        if let Some((count, offset, example)) = self.renamed {
            let have = if count == 1 { "1 action has".to_owned() } else { format!("{count} actions have") };
            let message = format!("{have} the name of another action of the same state: {example}");
            self.text.warn(offset, message, &mut self.foreign.notes);
        }
        if let [_, _, ..] = self.initial[..] {
            let note = format!("{} states are marked init: each is as likely to be the first", self.initial.len());
            self.foreign.notes.push(note);
        }
        if !self.initial.is_empty() {
            let share = 1.0 / self.initial.len() as f64;
            let entries = self.initial.iter().map(|&state| (state, share, 0)).collect();
            self.foreign.initial = Some(Initial { entries, ..Initial::default() });
        }
        // In the order of their numbers, where all have one.
        let numbers: Option<Vec<u32>> =
            self.action_names.iter().map(|name| name.strip_prefix('a')?.parse().ok()).collect();
        if let Some(numbers) = numbers {
            let mut order: Vec<usize> = (0..numbers.len()).collect();
            order.sort_by_key(|&action| numbers[action]);
            let mut place = vec![0; order.len()];
            for (new, &old) in order.iter().enumerate() {
                place[old] = new as u32;
            }
            for row in &mut self.foreign.rows {
                row.action = place[row.action as usize];
            }
            self.foreign.unread.renumber(&place);
            self.action_names = order.iter().map(|&action| self.action_names[action].clone()).collect();
        }
        self.foreign.action_names = Some(self.action_names);
        Ok(self.foreign)
    }
}

/// The number of an action with this name.
fn numbered(numbers: &mut HashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(&number) = numbers.get(name) {
        return number;
    }
    names.push(name.to_owned());
    numbers.insert(name.to_owned(), names.len() as u32 - 1);
    names.len() as u32 - 1
}
