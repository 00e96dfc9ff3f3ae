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
use crate::error::{FileError, position};
use crate::files::read_text;
use crate::mistakes::{Mistakes, Text, every};
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
        let mistakes = Mistakes::default();
        let table = Self::read(Text::of_data(file, text, &mistakes), problem);
        table.ok_or_else(|| mistakes.into_first(file))
    }

    fn read(text: Text, problem: &Problem) -> Option<Self> {
        let csv = Csv::open(text, "name the columns", Some(HINT))?.only(&COLUMNS);
        let columns = COLUMNS.map(|name| csv.column(name));
        let reader = Reader { csv, problem, columns };
        let rows: Vec<Vec<Field>> = every(reader.csv.rows().map(|(row, whole)| whole.then_some(row)))?;
        match columns {
            _ if text.mistakes.any() => None,
            [None, None, Some(_), None] => reader.script(&rows).map(Self::Script),
            [_, Some(_), Some(_), _] => reader.markov(&rows).map(Self::Markov),
            _ => {
                let missing = if columns[2].is_none() { "action" } else { "state" };
                text.error(0, format!("the column \"{missing}\" is missing")).hint(HINT).tell()
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
    fn field<'r, 'a>(&self, row: &'r [Field<'a>], column: usize) -> Option<&'r Field<'a>> {
        self.columns[column].map(|place| &row[place])
    }

    fn time(&self, field: &Field) -> Option<usize> {
        let last = self.problem.horizon() - 1;
        let time = field.text.parse().ok().filter(|time| *time <= last);
        time.or_else(|| self.csv.refused(field, "the time", &format!("be a whole number in [0, {last}]")).tell())
    }

    fn probability(&self, field: &Field) -> Option<f64> {
        let probability = field.text.parse().ok().filter(|p| (0.0..=1.0).contains(p));
        probability.or_else(|| self.csv.refused(field, "the probability", "lie in [0, 1]").tell())
    }

    fn script(&self, rows: &[Vec<Field>]) -> Option<Scripted> {
        let actions: Vec<Action> = every(rows.iter().map(|row| self.csv.action(self.problem.mdp(), &row[0])))?;
        let refused = |error: PolicyError| {
            let offset = match &error {
                PolicyError::Row { time, .. } => rows[time % rows.len()][0].offset,
                _ => 0,
            };
            self.csv.text.error(offset, error.to_string()).tell::<()>()
        };
        Scripted::new(self.problem, actions).map_err(refused).ok()
    }

    fn markov(&self, rows: &[Vec<Field>]) -> Option<Markov> {
        let problem = self.problem;
        let entries = self.entries(rows)?;
        self.check_sums(&entries)?;
        self.check_reached(&entries)?;
        let (mdp, by_time) = (problem.mdp(), self.columns[0].is_some());
        let times = if by_time { problem.horizon() } else { 1 };
        let certain = entries.values().flatten().all(|entry| entry.probability == 0.0 || entry.probability == 1.0);
        let width = if certain { mdp.state_count() } else { mdp.pair_count() };
        let refused = |message: String| self.csv.text.error(0, message);
        if times.saturating_mul(width) > MOST_ENTRIES {
            let message = format!("a table of {times} times {width} entries is too large; at most {MOST_ENTRIES} fit");
            return refused(message).tell();
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
            return Some(Markov::of_pairs(problem, pairs));
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
        Markov::stochastic(problem, probabilities).map_err(|error| refused(error.to_string()).tell::<()>()).ok()
    }

    fn entries(&self, rows: &[Vec<Field>]) -> Option<HashMap<Place, Vec<Entry>>> {
        let mdp = self.problem.mdp();
        let mut entries: HashMap<Place, Vec<Entry>> = HashMap::new();
        for row in rows {
            let (state_field, action_field) = (self.field(row, 1)?, self.field(row, 2)?);
            let time = self.field(row, 0).map_or(Some(0), |field| self.time(field))?;
            let (state, action) = (self.csv.state(mdp, state_field)?, self.csv.action(mdp, action_field)?);
            let probability = self.field(row, 3).map_or(Some(1.0), |field| self.probability(field))?;
            // A full table has rows for actions that a state does not allow.
            if mdp.pair(state, action).is_none() && probability == 0.0 {
                continue;
            }
            let pair = self.csv.pair(mdp, state_field, action_field)?;
            let of_place = entries.entry((time, state.0)).or_default();
            let with_probabilities = self.columns[3].is_some();
            if let Some(earlier) = of_place.iter().find(|earlier| !with_probabilities || earlier.pair == pair) {
                let (line, _) = position(self.csv.text.content, earlier.offset);
                let place = self.place((time, state.0));
                let hint = "a column \"probability\" makes an action a matter of chance";
                let hint = (!with_probabilities).then(|| hint.to_owned());
                let message = format!("{place} has a second row; the first is on line {line}");
                return self.csv.error(state_field, message).maybe_hint(hint).tell();
            }
            of_place.push(Entry { pair, probability, offset: row[0].offset });
        }
        Some(entries)
    }

    fn place(&self, (time, state): Place) -> String {
        let name = self.problem.mdp().state_name(State(state));
        if self.columns[0].is_some() { format!("time {time}, state \"{name}\"") } else { format!("state \"{name}\"") }
    }

    fn check_sums(&self, entries: &HashMap<Place, Vec<Entry>>) -> Option<()> {
        let sum = |entries: &Vec<Entry>| entries.iter().map(|entry| entry.probability).sum::<f64>();
        let wrong = entries.iter().filter(|(_, entries)| (sum(entries) - 1.0).abs() > 1e-9);
        let Some((place, entries)) = wrong.min_by_key(|(_, entries)| entries[0].offset) else { return Some(()) };
        let (place, sum) = (self.place(*place), sum(entries));
        let message = format!("{place}: the probabilities sum to {sum}; they must sum to 1 within 1e-9");
        self.csv.text.error(entries[0].offset, message).tell()
    }

    /// Refuses a table without rows for states to which it leads and which have several actions.
    fn check_reached(&self, entries: &HashMap<Place, Vec<Entry>>) -> Option<()> {
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
            return Some(());
        }
        let names: Vec<String> = missing.iter().take(NAMED).map(|place| self.place(*place)).collect();
        let more = missing.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let error = FileError::unreadable(self.csv.text.file, format!("no row for {}{more}", names.join("; ")));
        let hint = "every state that the policy leads to needs a row, unless it has one action only";
        self.csv.text.mistakes.accept(Err(error.hint(hint)))
    }
}
