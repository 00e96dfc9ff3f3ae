//! Cassandra's text format for MDPs and POMDPs, of which the MDP is read: `discount`, `values`, `states`, `actions`, `start`, `T` and `R`.
//!
//! What stands later replaces what stands earlier. Rewards are gains unless `values: cost` says otherwise. Format:
//! <https://www.pomdp.org/code/pomdp-file-spec.html>.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::document::shortened;
use super::super::mistakes::{every, unknown};
use super::super::names::Numbered;
use super::super::world::MAX_TRANSITIONS;
use super::foreign::{Foreign, Row};
use super::lines::{Piece, lines};
use super::start::Initial;
use super::{Format, Text};

#[rustfmt::skip]
const KEYWORDS: [&str; 11] = [
    "discount", "values", "states", "actions", "observations", "start", "start include", "start exclude", "T", "O", "R",
];
const MAX_STATES: u32 = 1_000_000;

pub(super) const FORMAT: Format =
    Format { name: "cassandra", extension: "mdp", looks_like, read, read_neighbours: None };

/// Whether the first line that says something begins with a keyword and a colon.
fn looks_like(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.and_then(|line| line.split_once(':')).is_some_and(|(word, _)| KEYWORDS.contains(&word.trim()))
}

fn read(text: Text) -> Option<Foreign> {
    let mut reader = Reader {
        foreign: Foreign::new(vec!["cost".to_owned()], true),
        states: Names::new("state"),
        actions: Names::new("action"),
        observations: Names::new("observation"),
        rows: BTreeMap::new(),
        count: 0,
    };
    let statements = statements(text)?;
    let (transitions, others): (Vec<_>, Vec<_>) = statements.iter().partition(|statement| statement.name() == "T");
    let (rewards, header): (Vec<_>, Vec<_>) = others.into_iter().partition(|statement| statement.name() == "R");
    for statement in header {
        reader.foreign.unread.wholes |= reader.field(statement).is_none();
    }
    for names in [&reader.states, &reader.actions] {
        if names.count == 0 && !reader.foreign.unread.any() {
            return text.error(0, format!("the field \"{}s\" is missing", names.what)).tell();
        }
    }
    for statement in transitions {
        reader.foreign.unread.wholes |= reader.transitions(statement).is_none();
    }
    for statement in rewards {
        reader.foreign.unread.wholes |= reader.rewards(statement).is_none();
    }
    reader.finished(text)
}

/// A keyword, what follows it between colons, and the values after that.
struct Statement<'a> {
    keyword: Piece<'a>,
    heads: Vec<Piece<'a>>,
    values: Vec<Piece<'a>>,
}

fn statements(text: Text) -> Option<Vec<Statement>> {
    let mut statements: Vec<Statement> = Vec::new();
    for line in lines(text).filter_map(|line| line.without("#")) {
        let parts: Vec<Piece> = line.split(':').collect();
        match (parts.split_first(), statements.last_mut()) {
            (Some((keyword, parts @ [.., last])), _) if KEYWORDS.contains(&keyword.content) => {
                let mut values: Vec<Piece> = last.words().collect();
                let mut heads = parts[..parts.len() - 1].to_vec();
                if !values.is_empty() {
                    heads.push(values.remove(0));
                }
                statements.push(Statement { keyword: *keyword, heads, values });
            }
            (_, Some(statement)) => statement.values.extend(line.words()),
            _ => {
                let mistake = line.error(format!("\"{}\" stands before the first field", shortened(line.content)));
                return mistake
                    .hint(format!("a field is a line such as \"discount: 0.9\", of {}", KEYWORDS.join(", ")))
                    .tell();
            }
        }
    }
    Some(statements)
}

impl<'a> Statement<'a> {
    fn name(&self) -> &'a str {
        self.keyword.content
    }

    /// All words after the colon.
    fn words(&self) -> Vec<Piece<'a>> {
        [&self.heads[..], &self.values].concat()
    }

    /// The only word after the colon.
    fn word(&self) -> Option<Piece<'a>> {
        match self.words()[..] {
            [word] => Some(word),
            ref words => self.keyword.error(format!("{} has {} values; 1 is needed", self.name(), words.len())).tell(),
        }
    }
}

/// The states, actions or observations: names, or a number of them.
struct Names {
    what: &'static str,
    known: Numbered,
    count: u32,
}

impl Names {
    fn new(what: &'static str) -> Self {
        Self { what, known: Numbered::default(), count: 0 }
    }

    fn read(&mut self, statement: &Statement) -> Option<()> {
        let words = statement.words();
        if let [word] = words[..]
            && word.content.bytes().all(|byte| byte.is_ascii_digit())
        {
            let count = word.content.parse().ok().filter(|count| (1..=MAX_STATES).contains(count));
            let must = format!("be names or a whole number in [1, {MAX_STATES}]");
            self.count = count.or_else(|| word.refused(statement.name(), &must).tell())?;
            return Some(());
        }
        every::<_, Vec<()>>(words.iter().map(|word| {
            let is_new = self.known.number_of(word.content) == self.count as usize;
            self.count += u32::from(is_new);
            let message = || format!("the {} \"{}\" is given twice", self.what, shortened(word.content));
            if is_new { Some(()) } else { word.error(message()).tell() }
        }))?;
        if self.count == 0 {
            statement.keyword.error(format!("{} is empty", statement.name())).tell()
        } else {
            Some(())
        }
    }

    /// The numbers of what a word stands for: a name, a number, or * for all.
    fn find(&self, word: Piece) -> Option<Range<u32>> {
        if word.content == "*" {
            return Some(0..self.count);
        }
        let named = self.known.find(word.content).map(|number| number as u32);
        let number = named.or_else(|| word.content.parse().ok()).filter(|&number| number < self.count);
        let names = self.known.all.iter().map(String::as_str);
        let number = number.or_else(|| unknown(self.what, word.content, names, |message| word.error(message)))?;
        Some(number..number + 1)
    }
}

struct Reader {
    foreign: Foreign,
    states: Names,
    actions: Names,
    observations: Names,
    /// By state and action, then by the next state.
    rows: BTreeMap<(u32, u32), BTreeMap<u32, Outcome>>,
    count: usize,
}

struct Outcome {
    probability: f64,
    reward: f64,
    offset: usize,
}

impl Reader {
    fn field(&mut self, statement: &Statement) -> Option<()> {
        match statement.name() {
            "states" => self.states.read(statement)?,
            "actions" => self.actions.read(statement)?,
            "observations" => {
                self.observations.read(statement)?;
                self.foreign.notes.push("observations are left out: the state is seen".to_owned());
            }
            "discount" => {
                let word = statement.word()?;
                let discount = word.content.parse().ok().filter(|&discount| discount > 0.0 && discount <= 1.0);
                let refused = || word.refused("discount", "be a number in (0, 1]").tell();
                self.foreign.discount = Some(discount.or_else(refused)?);
            }
            "values" => {
                let word = statement.word()?;
                self.foreign.gains = match word.content {
                    "reward" => true,
                    "cost" => false,
                    _ => return word.refused("values", "be reward or cost").tell(),
                };
            }
            // Observations are not read.
            "O" => {}
            _ => self.start(statement)?,
        }
        Some(())
    }

    /// A state, probabilities, `uniform`, or states that are equally likely.
    fn start(&mut self, statement: &Statement) -> Option<()> {
        let (words, count, offset) = (statement.words(), self.states.count, statement.keyword.offset);
        let initial = if statement.name() != "start" {
            let named: Vec<Range<u32>> = every(words.iter().map(|word| self.states.find(*word)))?;
            let is_named = |state: &u32| named.iter().any(|range| range.contains(state));
            let states = (0..count).filter(|state| is_named(state) == (statement.name() == "start include"));
            Initial::equally(states.collect::<Vec<u32>>().into_iter(), offset)
        } else if let [word] = words[..] {
            Initial::equally(if word.content == "uniform" { 0..count } else { self.states.find(word)? }, offset)
        } else if words.len() == count as usize {
            let entry = |(state, word): (u32, &Piece)| Some((state, word.probability("the probability")?, word.offset));
            Initial { entries: every((0..).zip(&words).map(entry))?, offset, ..Initial::default() }
        } else {
            let message = format!("start has {} values; it needs 1 or {count}", words.len());
            return statement.keyword.error(message).tell();
        };
        self.foreign.initial = Some(initial);
        Some(())
    }

    /// The actions, states and next states that a statement is about: all, where it names none.
    fn about(&self, statement: &Statement) -> Option<[Range<u32>; 3]> {
        if statement.heads.is_empty() {
            return statement.keyword.error(format!("{} names no action", statement.name())).tell();
        }
        let names = [&self.actions, &self.states, &self.states];
        let find = |place: usize| {
            statement.heads.get(place).map_or(Some(0..names[place].count), |word| names[place].find(*word))
        };
        let [actions, states, nexts] = [0, 1, 2].map(find);
        Some([actions?, states?, nexts?])
    }

    /// The values of a statement: one, or `last`, for each of the states and next states that it leaves out.
    fn given(&self, statement: &Statement, last: usize, read: fn(&Piece) -> Option<f64>) -> Option<Vec<f64>> {
        let left_out = 3_usize.saturating_sub(statement.heads.len());
        let needed = (self.states.count as usize).saturating_pow(left_out as u32).saturating_mul(last);
        if statement.values.len() != needed {
            let (name, got) = (statement.name(), statement.values.len());
            return statement.keyword.error(format!("{name} has {got} values here; it needs {needed}")).tell();
        }
        every(statement.values.iter().map(read))
    }

    fn transitions(&mut self, statement: &Statement) -> Option<()> {
        let [actions, states, nexts] = self.about(statement)?;
        let is =
            |word: &str| matches!(&statement.values[..], [only] if only.content == word && statement.heads.len() < 3);
        let (uniform, identity) = (is("uniform"), is("identity") && statement.heads.len() == 1);
        let mut given = Vec::new();
        if !uniform && !identity {
            given = self.given(statement, 1, |value| value.probability("the probability"))?;
        }
        let width = if identity { 1 } else { nexts.len() };
        if actions.len().saturating_mul(states.len()).saturating_mul(width) > MAX_TRANSITIONS - self.count {
            let message = format!("the model has more than {MAX_TRANSITIONS} transitions; at most that many are read");
            return statement.keyword.error(message).tell();
        }
        let count = self.states.count;
        for (action, state) in actions.flat_map(|action| states.clone().map(move |state| (action, state))) {
            let row = self.rows.entry((state, action)).or_default();
            self.count -= row.len();
            if identity {
                row.clear();
            }
            for next in if identity { state..state + 1 } else { nexts.clone() } {
                let place = place(given.len(), state, next, count);
                let constant = if identity { 1.0 } else { 1.0 / f64::from(count) };
                let probability = given.get(place).copied().unwrap_or(constant);
                row.insert(next, Outcome { probability, reward: 0.0, offset: statement.values[place].offset });
            }
            row.retain(|_, outcome| outcome.probability > 0.0);
            self.count += row.len();
        }
        Some(())
    }

    fn rewards(&mut self, statement: &Statement) -> Option<()> {
        let [actions, states, nexts] = self.about(statement)?;
        // A reward may depend on the observation, which is not there.
        let observations = if statement.heads.len() < 4 { self.observations.count.max(1) as usize } else { 1 };
        let seen = match statement.heads.get(3) {
            Some(word) => self.observations.find(*word)?.len() < self.observations.count as usize,
            None => false,
        };
        let values = self.given(statement, observations, |value| value.number("the reward"))?;
        if seen || values.chunks(observations).any(|values| values.iter().any(|value| *value != values[0])) {
            let mistake = statement.keyword.error("the reward depends on the observation");
            return mistake.hint("the state is seen: rewards of actions, states and next states are read").tell();
        }
        let values: Vec<f64> = values.into_iter().step_by(observations).collect();
        let count = self.states.count;
        let about = self.rows.range_mut((states.start, 0)..(states.end, 0));
        for (&(state, _), row) in about.filter(|((_, action), _)| actions.contains(action)) {
            for (&next, outcome) in row.range_mut(nexts.clone()) {
                outcome.reward = values[place(values.len(), state, next, count)];
            }
        }
        Some(())
    }

    fn finished(mut self, text: Text) -> Option<Foreign> {
        if self.rows.is_empty() && text.mistakes.any() {
            return None;
        }
        self.foreign.extra_states = (0..self.states.count).collect();
        self.foreign.state_names = self.states.known.all;
        self.foreign.action_names = self.actions.known.all;
        if self.foreign.initial.is_none() {
            self.foreign.initial = Some(Initial::equally(self.foreign.extra_states.iter().copied(), 0));
            self.foreign.notes.push("no start is given: each state is as likely to be the first".to_owned());
        }
        for ((state, action), row) in self.rows {
            for (next, Outcome { probability, reward, offset }) in row {
                let reward = self.foreign.rewards.number_of(&[reward]);
                self.foreign.push(Row { state, action, next, probability, reward, offset }, text)?;
            }
        }
        Some(self.foreign)
    }
}

/// Where the value for a state and the next one stands among these: the only one, one of a row, or one of a matrix.
fn place(values: usize, state: u32, next: u32, count: u32) -> usize {
    match values {
        0 | 1 => 0,
        row if row == count as usize => next as usize,
        _ => state as usize * count as usize + next as usize,
    }
}
