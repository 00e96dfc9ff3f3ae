//! Policies as CSV tables, as a person or another program writes them.
//!
//! | columns | policy |
//! |---|---|
//! | `state,action` | the action of each state |
//! | `state,action,probability` | the probability of each action; actions without a row have none |
//! | `time,state,action` and `time,state,action,probability` | the same at each time, from 0 |
//! | `action` | a script: one action after the other, repeated from its beginning |
//!
//! Columns may come in any order. A state needs rows if it has several actions and the policy leads to it (at that time).

use std::collections::HashMap;
use std::path::Path;

use crate::csv::{Csv, Field};
use crate::error::FileError;
use crate::mistakes::Mistakes;
use crate::text::Text;
use crate::world::{find_action, find_state};
use crate::{read_text, shortened};
use gumdp::{Action, Markov, Pair, Policy, PolicyError, Problem, Scripted, State};

const COLUMNS: [&str; 4] = ["time", "state", "action", "probability"];
const HINT: &str =
    "the columns are state,action or time,state,action, then probability if there is one; a script has action only";
/// A table by time and state may have this many entries in memory.
const MOST_ENTRIES: usize = 1 << 27;
/// How many missing states are named.
const NAMED: usize = 4;

/// A policy read from a CSV table.
///
/// ```
/// use gumdp::oracle::{Limits, distribution};
/// use gumdp_files::{PolicyTable, tasks};
/// let problem = tasks::get("rooms").unwrap().problem;
/// let cautious = PolicyTable::parse("cautious.csv", "state,action\ns0,right\ns1,left\n", &problem)?.into_policy();
/// assert!(distribution(&problem, &*cautious, &Limits::QUICK)?.max() < 0.7);
/// let error = PolicyTable::parse("wrong.csv", "state,action\ns0,rihgt\n", &problem).unwrap_err();
/// assert_eq!(error.to_string(), "wrong.csv:2:4: unknown action \"rihgt\"");
/// assert_eq!(error.hint.as_deref(), Some("did you mean \"right\"?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum PolicyTable {
    /// By state, or by time and state.
    Markov(Markov),
    /// A column of actions.
    Script(Scripted),
}

impl PolicyTable {
    /// Reads the text of a table. `file` is shown in errors.
    ///
    /// # Errors
    /// The first mistake found, with its place.
    pub fn parse(file: &str, text: &str, problem: &Problem) -> Result<Self, FileError> {
        let text = Text { file, content: text, mistakes: &Mistakes::first() };
        let Some(csv) = Csv::open(&text)? else {
            return Err(text.error(0, "the file is empty; its first line must name the columns").hint(HINT));
        };
        let csv = csv.only(&COLUMNS)?;
        let rows = csv.rows().map(|(row, whole)| whole.map(|()| row)).collect::<Result<Vec<_>, _>>()?;
        let columns = COLUMNS.map(|name| csv.column(name));
        let reader = Reader { csv, problem, columns };
        match reader.columns {
            [None, None, Some(_), None] => reader.script(&rows).map(Self::Script),
            [_, Some(_), Some(_), _] => reader.markov(&rows).map(Self::Markov),
            _ => {
                let missing = if columns[2].is_none() { "action" } else { "state" };
                let error = reader.error(0, format!("the column \"{missing}\" is missing"));
                Err(error.hint(HINT))
            }
        }
    }

    /// Reads a table.
    ///
    /// # Errors
    /// If the file cannot be read, is not UTF-8, or has a mistake.
    pub fn load(path: &Path, problem: &Problem) -> Result<Self, FileError> {
        Self::parse(&path.display().to_string(), &read_text(path, "a table of a policy")?, problem)
    }

    /// The policy itself, whichever it is.
    #[must_use]
    pub fn into_policy(self) -> Box<dyn Policy> {
        match self {
            Self::Markov(policy) => Box::new(policy),
            Self::Script(policy) => Box::new(policy),
        }
    }
}

/// A row's time (0 if there is no such column) and state.
type Place = (usize, u32);

/// The probability of a pair, and where that stands.
struct Entry {
    pair: Pair,
    probability: f64,
    offset: usize,
}

struct Reader<'a> {
    csv: Csv<'a>,
    problem: &'a Problem,
    /// Where each of [`COLUMNS`] is.
    columns: [Option<usize>; 4],
}

impl Reader<'_> {
    fn error(&self, offset: usize, message: impl Into<String>) -> FileError {
        self.csv.text.error(offset, message)
    }

    fn field<'r, 'a>(&self, row: &'r [Field<'a>], column: usize) -> Option<&'r Field<'a>> {
        self.columns[column].map(|place| &row[place])
    }

    fn action(&self, field: &Field) -> Result<Action, FileError> {
        find_action(self.problem.mdp(), &field.text, |message| self.csv.error(field, message))
    }

    fn state(&self, field: &Field) -> Result<State, FileError> {
        find_state(self.problem.mdp(), &field.text, |message| self.csv.error(field, message))
    }

    fn time(&self, field: &Field) -> Result<usize, FileError> {
        let last = self.problem.horizon() - 1;
        field.text.parse().ok().filter(|time| *time <= last).ok_or_else(|| {
            let message =
                format!("the time is \"{}\"; it must be a whole number in [0, {last}]", shortened(&field.text));
            self.error(field.offset, message)
        })
    }

    fn probability(&self, field: &Field) -> Result<f64, FileError> {
        field.text.parse().ok().filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| {
            let message = format!("the probability is \"{}\"; it must lie in [0, 1]", shortened(&field.text));
            self.error(field.offset, message)
        })
    }

    fn script(&self, rows: &[Vec<Field>]) -> Result<Scripted, FileError> {
        let actions: Vec<Action> = rows.iter().map(|row| self.action(&row[0])).collect::<Result<_, _>>()?;
        Scripted::new(self.problem, actions.clone()).map_err(|error| {
            let offset = match &error {
                PolicyError::Unavailable { time, .. } => rows[time % actions.len()][0].offset,
                _ => 0,
            };
            self.error(offset, error.to_string())
        })
    }

    fn markov(&self, rows: &[Vec<Field>]) -> Result<Markov, FileError> {
        let problem = self.problem;
        let entries = self.entries(rows)?;
        self.check_sums(&entries)?;
        self.check_reached(&entries)?;
        let (mdp, by_time) = (problem.mdp(), self.columns[0].is_some());
        let times = if by_time { problem.horizon() } else { 1 };
        let certain = entries.values().flatten().all(|entry| entry.probability == 0.0 || entry.probability == 1.0);
        let width = if certain { mdp.state_count() } else { mdp.pair_count() };
        if times.saturating_mul(width) > MOST_ENTRIES {
            let message = format!("a table of {times} times {width} entries is too large; at most {MOST_ENTRIES} fit");
            return Err(self.error(0, message));
        }
        // Where the policy never comes to, the first action stands for any.
        let first = |state: State| mdp.pairs(state).start;
        if certain {
            let mut pairs = vec![mdp.states().map(first).collect::<Vec<u32>>(); times];
            for ((time, state), entries) in &entries {
                if let Some(entry) = entries.iter().find(|entry| entry.probability == 1.0) {
                    pairs[*time][*state as usize] = entry.pair.0;
                }
            }
            return Ok(Markov::of_pairs(problem, pairs));
        }
        let mut none = vec![0.0; mdp.pair_count()];
        mdp.states().for_each(|state| none[first(state) as usize] = 1.0);
        let mut probabilities = vec![none; times];
        for ((time, state), entries) in &entries {
            probabilities[*time][first(State(*state)) as usize] = 0.0;
            for entry in entries {
                probabilities[*time][entry.pair.index()] = entry.probability;
            }
        }
        Markov::stochastic(problem, probabilities).map_err(|error| self.error(0, error.to_string()))
    }

    fn entries(&self, rows: &[Vec<Field>]) -> Result<HashMap<Place, Vec<Entry>>, FileError> {
        let mdp = self.problem.mdp();
        let mut entries: HashMap<Place, Vec<Entry>> = HashMap::new();
        for row in rows {
            let (Some(state_field), Some(action_field)) = (self.field(row, 1), self.field(row, 2)) else { continue };
            let time = self.field(row, 0).map_or(Ok(0), |field| self.time(field))?;
            let (state, action) = (self.state(state_field)?, self.action(action_field)?);
            let probability = self.field(row, 3).map_or(Ok(1.0), |field| self.probability(field))?;
            let Some(pair) = mdp.pair(state, action) else {
                // A full table has rows for actions that a state does not allow.
                if probability == 0.0 {
                    continue;
                }
                let allowed: Vec<&str> =
                    mdp.pairs(state).map(|pair| mdp.action_name(mdp.action(Pair(pair)))).take(8).collect();
                let message = format!("state \"{}\" does not allow action \"{}\"", state_field.text, action_field.text);
                let hint = format!("its actions are {}", allowed.join(", "));
                return Err(self.error(action_field.offset, message).hint(hint));
            };
            let of_place = entries.entry((time, state.0)).or_default();
            let with_probabilities = self.columns[3].is_some();
            if let Some(earlier) = of_place.iter().find(|earlier| !with_probabilities || earlier.pair == pair) {
                let (line, _) = crate::error::position(self.csv.text.content, earlier.offset);
                let place = self.place((time, state.0));
                let message = format!("{place} has a second row; the first is on line {line}");
                let error = self.error(state_field.offset, message);
                let hint = "a column \"probability\" makes an action a matter of chance";
                return Err(if with_probabilities { error } else { error.hint(hint) });
            }
            of_place.push(Entry { pair, probability, offset: row[0].offset });
        }
        Ok(entries)
    }

    fn place(&self, (time, state): Place) -> String {
        let name = self.problem.mdp().state_name(State(state));
        if self.columns[0].is_some() { format!("time {time}, state \"{name}\"") } else { format!("state \"{name}\"") }
    }

    fn check_sums(&self, entries: &HashMap<Place, Vec<Entry>>) -> Result<(), FileError> {
        let sum = |entries: &Vec<Entry>| entries.iter().map(|entry| entry.probability).sum::<f64>();
        let wrong = entries.iter().filter(|(_, entries)| (sum(entries) - 1.0).abs() > 1e-9);
        match wrong.min_by_key(|(_, entries)| entries[0].offset) {
            None => Ok(()),
            Some((place, entries)) => {
                let (place, sum) = (self.place(*place), sum(entries));
                let message = format!("{place}: the probabilities sum to {sum}; they must sum to 1 within 1e-9");
                Err(self.error(entries[0].offset, message))
            }
        }
    }

    /// Refuses a table without rows for states to which it leads and which have several actions.
    fn check_reached(&self, entries: &HashMap<Place, Vec<Entry>>) -> Result<(), FileError> {
        let mdp = self.problem.mdp();
        let by_time = self.columns[0].is_some();
        let mut now: Vec<State> = mdp.initial().iter().map(|&(state, _)| state).collect();
        let mut listed = vec![false; mdp.state_count()];
        for state in &now {
            listed[state.index()] = true;
        }
        let mut missing: Vec<Place> = Vec::new();
        for time in 0..self.problem.horizon() {
            if by_time {
                for state in &now {
                    listed[state.index()] = false;
                }
            }
            let mut next = Vec::new();
            for &state in &now {
                let place = (if by_time { time } else { 0 }, state.0);
                let pairs: Vec<Pair> = match entries.get(&place) {
                    Some(entries) => entries.iter().filter(|e| e.probability > 0.0).map(|e| e.pair).collect(),
                    None if mdp.pairs(state).len() == 1 => mdp.pairs(state).map(Pair).collect(),
                    None => {
                        missing.push(place);
                        continue;
                    }
                };
                for (successor, _) in pairs.into_iter().flat_map(|pair| mdp.successors(pair)) {
                    if !std::mem::replace(&mut listed[successor.index()], true) {
                        next.push(successor);
                    }
                }
            }
            now = next;
            // A gap hides what comes after it, and one time with gaps is enough to correct.
            if now.is_empty() || (by_time && !missing.is_empty()) {
                break;
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = missing.iter().take(NAMED).map(|place| self.place(*place)).collect();
        let more = missing.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let error = FileError::unreadable(self.csv.text.file, format!("no row for {}{more}", names.join("; ")));
        Err(error.hint("every state that the policy leads to needs a row, unless it has one action only"))
    }
}
