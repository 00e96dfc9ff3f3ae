//! Storm's explicit format DRN, for MDPs and Markov chains (DTMCs).
//!
//! Rewards of a state and of an action add up to the reward of the pair. They are costs unless the user says otherwise: the
//! format does not tell. Labels are names for sets of states; `init` marks where episodes start.

use std::collections::HashSet;

use super::super::document::shortened;
use super::super::error::counted;
use super::super::mistakes::every;
use super::super::names::Numbered;
use super::foreign::{Foreign, Row};
use super::lines::{Piece, lines};
use super::start::Initial;
use super::{Format, Text};

/// What Storm writes for an action without a name.
const NO_NAME: &str = "__NOLABEL__";
const COMMENT: &str = "//";

pub(super) const FORMAT: Format = Format { name: "drn", extension: "drn", looks_like, read, read_neighbours: None };

/// Whether a text begins like a DRN file.
fn looks_like(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(COMMENT));
    lines.next().is_some_and(|line| line.starts_with('@'))
}

/// The model of a file.
fn read(text: Text) -> Option<Foreign> {
    let mut lines = lines(text);
    let header = Header::read(text, &mut lines)?;
    let mut reader = Reader::new(text, header);
    for line in lines.filter_map(|line| line.without(COMMENT)) {
        if reader.line(line).is_none() {
            reader.broken = true;
            reader.lost_states |= reader.current.is_none();
            reader.foreign.unread.wholes = true;
        }
    }
    Some(reader.finished())
}

/// What stands before the states.
#[derive(Default)]
struct Header {
    reward_models: Vec<String>,
    states: Option<u32>,
    typed: bool,
}

impl Header {
    fn read<'a>(text: Text<'a>, lines: &mut impl Iterator<Item = Piece<'a>>) -> Option<Self> {
        let (mut header, mut doubtful, mut last) = (Self::default(), false, None);
        while let Some(line) = last.take().or_else(|| lines.next()) {
            let Some(line) = line.without(COMMENT) else { continue };
            if line.content == "@model" {
                if !header.typed && !doubtful {
                    line.error("the field \"@type\" is missing; it must be MDP or DTMC").tell::<()>();
                }
                return Some(header);
            }
            if !line.content.starts_with('@') {
                let mistake = line.error(format!("\"{}\" stands before \"@model\"", shortened(line.content)));
                return mistake.hint("the header consists of fields that begin with @").tell();
            }
            let name_end = line.content.find([':', ' ', '\t']).unwrap_or(line.content.len());
            let mut value = line.from(name_end);
            value = value.content.strip_prefix(':').map_or(value, |_| value.from(1));
            if value.is_empty() {
                // The value is on the next line, which may be empty.
                match lines.next() {
                    Some(next) if next.content.starts_with('@') => last = Some(next),
                    Some(next) => value = next.without(COMMENT).unwrap_or(next.until(0)),
                    None => {}
                }
            }
            doubtful |= header.field(line.until(name_end).content, value).is_none();
        }
        let end = text.error(text.content.len(), "the line \"@model\" is missing");
        end.hint("a DRN file has a header, a line \"@model\", and then its states").tell()
    }

    fn field(&mut self, name: &str, value: Piece) -> Option<()> {
        match name {
            "@type" => {
                self.typed = true;
                if !["mdp", "dtmc"].contains(&value.content.to_lowercase().as_str()) {
                    return value.refused(name, "be MDP or DTMC").tell();
                }
            }
            "@parameters" | "@placeholders" if !value.is_empty() => {
                let mistake = value.refused(name, "be empty: every value must be a number");
                return mistake.hint("let Storm fill the parameters in before exporting").tell();
            }
            "@reward_models" => {
                for word in value.words() {
                    if self.reward_models.iter().any(|name| name == word.content) {
                        let name = shortened(word.content);
                        word.error(format!("the reward model \"{name}\" is given twice")).tell::<()>();
                    }
                    self.reward_models.push(word.content.to_owned());
                }
            }
            "@nr_states" => self.states = Some(value.id(name)?),
            _ => {}
        }
        Some(())
    }
}

/// The state and the action that is read.
#[derive(Default)]
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
    text: Text<'a>,
    foreign: Foreign,
    states: Option<u32>,
    seen: HashSet<u32>,
    current: Option<Current>,
    actions: Numbered,
    labels: Numbered,
    initial: Vec<u32>,
    /// The last state or action could not be read: what belongs to it is passed over.
    broken: bool,
    /// The number of states is not known for that reason.
    lost_states: bool,
    /// How many actions have the name of another one of their state, and where the first of them stands.
    renamed: Option<(usize, usize, String)>,
}

impl<'a> Reader<'a> {
    fn new(text: Text<'a>, header: Header) -> Self {
        let costless = header.reward_models.is_empty();
        let mut foreign = Foreign::new(if costless { vec!["cost".to_owned()] } else { header.reward_models }, false);
        if costless {
            foreign.notes.push("the file has no reward model: all costs are 0".to_owned());
        }
        Self {
            text,
            foreign,
            states: header.states,
            seen: HashSet::new(),
            current: None,
            actions: Numbered::default(),
            labels: Numbered::default(),
            initial: Vec::new(),
            broken: false,
            lost_states: false,
            renamed: None,
        }
    }

    fn line(&mut self, line: Piece<'a>) -> Option<()> {
        let (word, rest) = line.word();
        match word.content {
            "state" => {
                self.broken = false;
                self.close_state();
                self.state(rest)
            }
            _ if self.broken && self.current.is_none() => Some(()),
            "action" => {
                self.broken = false;
                self.action(rest)
            }
            _ if self.broken => Some(()),
            _ => {
                let read = self.transition(line);
                self.current.iter_mut().for_each(|current| current.pending = None);
                read
            }
        }
    }

    /// A state with several actions must have transitions for each; that of one without any keeps the agent.
    fn close_state(&mut self) {
        if let Some(Current { choices: 2.., pending, empty, .. }) = self.current.take()
            && let Some(offset) = empty.or(pending)
        {
            self.text.error(offset, "this action has no transitions").tell::<()>();
        }
    }

    /// The number of a state, which must be smaller than their count.
    fn id(&self, number: Piece, what: &str) -> Option<u32> {
        let id = number.id(what)?;
        match self.states.filter(|&states| id >= states) {
            Some(count) => number.error(format!("{what} is {id}; @nr_states is {count}, so it must lie below")).tell(),
            None => Some(id),
        }
    }

    fn state(&mut self, rest: Piece<'a>) -> Option<()> {
        let (number, rest) = rest.word();
        let state = self.id(number, "the state")?;
        if !self.seen.insert(state) {
            return number.error(format!("the state {state} is given twice")).tell();
        }
        self.foreign.extra_states.push(state);
        let (rewards, rest) = self.rewards(rest);
        for label in rest.words() {
            let members = if label.content == "init" {
                &mut self.initial
            } else {
                let place = self.labels.number_of(label.content);
                if place == self.foreign.labels.len() {
                    self.foreign.labels.push((label.content.to_owned(), Vec::new()));
                }
                &mut self.foreign.labels[place].1
            };
            // Twice is as good as once.
            if members.last() != Some(&state) {
                members.push(state);
            }
        }
        self.current = Some(Current { state, rewards, ..Current::default() });
        Some(())
    }

    /// `[r1, r2, …]`, or nothing. Rewards that are wrong do not keep a state from being one.
    fn rewards(&self, rest: Piece<'a>) -> (Vec<f64>, Piece<'a>) {
        let models = self.foreign.rewards.names.len();
        let read = || {
            let Some(end) = rest.content.find(']') else {
                return rest.error("these rewards have no closing ]").tell();
            };
            let list = rest.until(end).from(1);
            let parts = list.split(',').filter(|_| !list.is_empty());
            let values: Vec<f64> = parts.map(|part| part.number("the reward").unwrap_or(0.0)).collect();
            if values.len() != models {
                let (got, models) = (counted(values.len(), "reward"), counted(models, "reward model"));
                let are = if values.len() == 1 { "is" } else { "are" };
                return rest.error(format!("{got} {are} given for {models}")).tell();
            }
            Some((values, rest.from(end + 1)))
        };
        if rest.content.starts_with('[') {
            return read().unwrap_or((vec![0.0; models], rest.until(0)));
        }
        (vec![0.0; models], rest)
    }

    fn action(&mut self, rest: Piece<'a>) -> Option<()> {
        let (name, after) = rest.word();
        let (rewards, after) = self.rewards(after);
        if !after.is_empty() {
            let message = format!("\"{}\" follows the action; only its rewards may", shortened(after.content));
            return after.error(message).tell();
        }
        let Some(current) = &mut self.current else {
            return rest.error("this action stands before the first state").tell();
        };
        if let Some(earlier) = current.pending.replace(rest.offset) {
            current.empty.get_or_insert(earlier);
        }
        let choice = current.choices;
        current.choices += 1;
        let called = match name.content {
            "" | NO_NAME => format!("a{choice}"),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => format!("a{digits}"),
            other => other.to_owned(),
        };
        let mut action = self.actions.number_of(&called) as u32;
        if current.names.contains(&action) {
            let again = format!("{called}#{choice}");
            let (count, ..) = self.renamed.get_or_insert_with(|| {
                let example =
                    format!("\"{}\" of s{} is called \"{}\"", shortened(&called), current.state, shortened(&again));
                (0, name.offset, example)
            });
            *count += 1;
            action = self.actions.number_of(&again) as u32;
        }
        current.names.insert(action);
        let total: Vec<f64> = current.rewards.iter().zip(&rewards).map(|(a, b)| a + b).collect();
        if total.iter().any(|reward| !reward.is_finite()) {
            return rest.error("the rewards of state and action together are infinite").tell();
        }
        current.action = Some((action, self.foreign.rewards.number_of(&total)));
        Some(())
    }

    fn transition(&mut self, line: Piece<'a>) -> Option<()> {
        let Some(colon) = line.content.find(':') else {
            let found = shortened(line.content);
            line.error(format!("\"{found}\" is not a state, an action or \"state : probability\"")).tell::<()>();
            let Some(Current { state, action: Some((action, _)), .. }) = self.current else { return None };
            self.foreign.unread.of_pair(state, action);
            return Some(());
        };
        let next = self.id(line.until(colon), "the next state");
        let probability = line.from(colon + 1).probability("the probability");
        if self.current.as_ref().is_some_and(|current| current.action.is_none()) {
            // A Markov chain may leave its only action out.
            self.action(line.until(0))?;
        }
        let Some(Current { state, action: Some((action, reward)), .. }) = self.current else {
            return line.error("this transition stands before the first state").tell();
        };
        let (Some(next), Some(probability)) = (next, probability) else {
            self.foreign.unread.of_pair(state, action);
            return Some(());
        };
        self.foreign.push(Row { state, action, next, probability, reward, offset: line.offset }, self.text)
    }

    fn finished(mut self) -> Foreign {
        self.close_state();
        if let Some(states) = self.states
            && self.seen.len() != states as usize
            && !self.lost_states
        {
            let message = format!("@nr_states is {states}, but the file has {}", counted(self.seen.len(), "state"));
            self.text.error(0, message).tell::<()>();
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
            self.foreign.initial = Some(Initial::equally(self.initial.iter().copied(), 0));
        }
        // In the order of their numbers, where all have one.
        let mut names = self.actions.all;
        let number = |name: &String| name.strip_prefix('a')?.parse::<u32>().ok();
        if let Some(numbers) = every::<u32, Vec<u32>>(names.iter().map(number)) {
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
            names = order.iter().map(|&action| names[action].clone()).collect();
        }
        self.foreign.action_names = names;
        self.foreign
    }
}
