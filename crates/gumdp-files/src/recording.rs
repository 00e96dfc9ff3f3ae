//! Behaviour to be imitated from a CSV file.
//!
//! It is a trajectory (`state, action`, and `episode` or `time`), an occupancy (`state, action, mass` or `state, mass`) or a
//! Markov policy (`state, action, probability`).

use std::collections::HashMap;

use super::csv::{Csv, Field};
use super::document::shortened;
use super::error::FileError;
use super::import::some_of;
use super::text::Text;
use super::world::{find_action, find_state};
use gumdp::oracle::expected_occupancy;
use gumdp::{Markov, Partition, Problem, normalised_discounts};
use gumdp::{Mdp, Pair, State, missing_to_1};

const COLUMNS: [&str; 6] = ["state", "action", "episode", "time", "mass", "probability"];

/// How far the masses of an occupancy may be from summing to 1: published ones are rounded.
const SUM_TOLERANCE: f64 = 0.05;

/// A table of behaviour that is read for a model.
pub(super) struct Recording<'a> {
    pub(super) csv: Csv<'a>,
    rows: Vec<Row<'a>>,
    mdp: &'a Mdp,
    discount: f64,
}

/// The fields of a line, and whether there is one for each column; if not, that is told already.
type Row<'a> = (Vec<Field<'a>>, bool);

impl<'a> Recording<'a> {
    pub(super) fn open(text: &'a Text<'a>, mdp: &'a Mdp, discount: f64) -> Result<Self, FileError> {
        let Some(csv) = Csv::open(text)? else {
            return Err(text.error(0, "the file is empty; its first line must name the columns"));
        };
        let csv = csv.only(&COLUMNS)?;
        let told = |(fields, whole)| Ok((fields, text.accept(whole)?.is_some()));
        let rows: Vec<Row> = csv.rows().map(told).collect::<Result<_, _>>()?;
        if rows.is_empty() {
            return Err(csv.error(&csv.header[0], "there is no line after the names of the columns"));
        }
        Ok(Self { csv, rows, mdp, discount })
    }

    /// An error at the first entry of a column, for what is wrong with all of it.
    fn error_of(&self, column: usize, message: impl Into<String>) -> FileError {
        let first = self.rows.iter().find(|(_, whole)| *whole);
        self.csv.error(first.map_or(&self.csv.header[column], |(row, _)| &row[column]), message)
    }

    fn state(&self, field: &Field) -> Result<State, FileError> {
        find_state(self.mdp, &field.text, |message| self.csv.error(field, message))
    }

    fn pair(&self, state: &Field, action: &Field) -> Result<Pair, FileError> {
        let found = self.state(state)?;
        let known = find_action(self.mdp, &action.text, |message| self.csv.error(action, message))?;
        self.mdp.pair(found, known).ok_or_else(|| {
            let (state, name) = (shortened(&state.text), shortened(&action.text));
            self.csv.error(action, format!("state \"{state}\" does not allow the action \"{name}\""))
        })
    }

    /// A finite number that is not negative.
    fn amount(&self, field: &Field, what: &str) -> Result<f64, FileError> {
        match field.text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            Ok(_) => {
                Err(self.csv.error(field, format!("{what} is {}; it must be finite and not negative", field.text)))
            }
            Err(_) => {
                Err(self.csv.error(field, format!("{what} must be a number, not \"{}\"", shortened(&field.text))))
            }
        }
    }

    /// The average occupancy of the episodes, and the number of steps of the longest. Of each the first steps count, as many as
    /// the horizon has, all if there is none; a shorter one is discounted and normalised by its own length.
    pub(super) fn trajectories(
        &self,
        partition: &Partition,
        horizon: Option<usize>,
    ) -> Result<(Vec<f64>, usize), FileError> {
        let episodes = self.episodes()?;
        let mut target = vec![0.0; partition.cell_count()];
        for pairs in &episodes {
            let masses = normalised_discounts(self.discount, pairs.len().min(horizon.unwrap_or(usize::MAX)));
            for (pair, mass) in pairs.iter().zip(masses.iter()) {
                target[partition.cell(pair.index())] += mass / episodes.len() as f64;
            }
        }
        Ok((target, episodes.iter().map(Vec::len).max().unwrap_or(0)))
    }

    /// The pairs of each episode, in the order of the file.
    fn episodes(&self) -> Result<Vec<Vec<Pair>>, FileError> {
        let csv = &self.csv;
        let (states, actions) = (csv.need("state")?, csv.need("action")?);
        let (episode, time) = (csv.column("episode"), csv.column("time"));
        if let Some(column) = csv.column("mass").or(csv.column("probability")) {
            return Err(self.error_of(column, "a trajectory has no column \"mass\" or \"probability\""));
        }
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut episodes: Vec<Vec<Pair>> = Vec::new();
        // Of each episode the last time, and whether it has ended.
        let mut last: Vec<(Option<u64>, bool)> = Vec::new();
        let mut sound = true;
        let mut tell = |error: FileError| {
            sound = false;
            csv.text.tell(error)
        };
        for (row, whole) in &self.rows {
            if !whole {
                // Whatever follows may follow from the line that could not be read.
                last.fill((None, false));
                tell(FileError::told())?;
                continue;
            }
            let now = match time.map(|column| self.time(&row[column])).transpose() {
                Ok(now) => now,
                Err(error) => {
                    tell(error)?;
                    None
                }
            };
            let name = episode.map(|column| &*row[column].text);
            let number = match name {
                Some(name) => numbers.get(name).copied(),
                // Without a name, an end or a time that does not grow begins another.
                None => episodes.len().checked_sub(1).filter(|&open| {
                    let (before, ended) = last[open];
                    !ended && now.is_none_or(|now| Some(now) > before)
                }),
            };
            let number = number.unwrap_or_else(|| {
                numbers.extend(name.map(|name| (name, episodes.len())));
                episodes.push(Vec::new());
                last.push((None, false));
                episodes.len() - 1
            });
            let (before, ended) = last[number];
            if let (Some(column), Some(now), Some(before)) = (time, now, before)
                && now != before.saturating_add(1)
            {
                let message = format!("time {now} follows time {before}; it must be {}", before.saturating_add(1));
                tell(csv.error(&row[column], message))?;
            }
            if ended {
                tell(csv.error(&row[states], "the episode has ended: the line before has no action"))?;
            }
            // The state in which an episode ends has no action.
            let ends = row[actions].text.is_empty();
            let pair = if ends {
                self.state(&row[states]).map(|_| None)
            } else {
                self.pair(&row[states], &row[actions]).map(Some)
            };
            match pair {
                Ok(pair) => episodes[number].extend(pair),
                Err(error) => tell(error)?,
            }
            last[number] = (now, ends);
        }
        if !sound {
            return Err(FileError::told());
        }
        if let Some(number) = episodes.iter().position(Vec::is_empty) {
            let message = format!("episode {} of the file has no action", number + 1);
            return Err(self.error_of(states, message));
        }
        Ok(episodes)
    }

    fn time(&self, cell: &Field) -> Result<u64, FileError> {
        cell.text.parse().map_err(|_| {
            self.csv.error(cell, format!("time must be a whole number, not \"{}\"", shortened(&cell.text)))
        })
    }

    pub(super) fn occupancy(&self, partition: &Partition) -> Result<Vec<f64>, FileError> {
        let csv = &self.csv;
        let (states, masses) = (csv.need("state")?, csv.need("mass")?);
        let mut target = vec![0.0; partition.cell_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        let mut read = |row: &[Field]| {
            let mass = csv.text.accept(self.amount(&row[masses], "the mass"))?;
            let (pair, alone) = if let Some(column) = csv.column("action") {
                (self.pair(&row[states], &row[column])?, true)
            } else {
                let mut pairs = self.mdp.pairs(self.state(&row[states])?);
                let first = Pair(pairs.start);
                (first, pairs.all(|pair| partition.cell(pair as usize) == partition.cell(first.index())))
            };
            if !alone {
                let message = "the objective counts actions, but the table has no column \"action\"";
                return Err(csv.error(&row[states], message).hint("over = \"states\" counts states"));
            }
            if std::mem::replace(&mut given[pair.index()], true) {
                return Err(csv.error(&row[states], "this entry of the occupancy is given twice"));
            }
            target[partition.cell(pair.index())] += mass.ok_or_else(FileError::told)?;
            Ok(())
        };
        let mut sound = true;
        for (row, whole) in &self.rows {
            sound &= *whole && csv.text.accept(read(row))?.is_some();
        }
        if !sound {
            return Err(FileError::told());
        }
        let sum: f64 = target.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let message = format!("the masses sum to {sum}; those of an occupancy sum to 1");
            return Err(self.error_of(masses, message).hint("divide counts by their sum"));
        }
        Ok(target)
    }

    pub(super) fn policy(&self, partition: &Partition, problem: &Problem) -> Result<Vec<f64>, FileError> {
        let csv = &self.csv;
        let (states, actions) = (csv.need("state")?, csv.need("action")?);
        let column = csv.need("probability")?;
        let mut probabilities = vec![0.0; self.mdp.pair_count()];
        // The last line about each state, for messages.
        let mut lines: Vec<Option<&Field>> = vec![None; self.mdp.state_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        let mut read = |row: &[Field]| {
            let probability = csv.text.accept(self.amount(&row[column], "the probability"))?;
            let pair = self.pair(&row[states], &row[actions])?;
            if std::mem::replace(&mut given[pair.index()], true) {
                return Err(csv.error(&row[actions], "this action of the state is given twice"));
            }
            Ok((pair, probability.ok_or_else(FileError::told)?))
        };
        let mut sound = true;
        // States with lines that could not be read, and the least probability of such a line that may belong to any state.
        let mut doubtful = vec![false; self.mdp.state_count()];
        let mut least = f64::INFINITY;
        for (row, whole) in &self.rows {
            let line = if *whole { csv.text.accept(read(row))? } else { None };
            if let Some((pair, probability)) = line {
                probabilities[pair.index()] = probability;
                lines[self.mdp.state(pair).index()] = Some(&row[column]);
                continue;
            }
            sound = false;
            match row.get(states).and_then(|field| self.mdp.find_state(&field.text)) {
                Some(state) => doubtful[state.index()] = true,
                None if *whole => least = least.min(row[column].text.parse().unwrap_or(0.0)),
                None => least = 0.0,
            }
        }
        for state in self.mdp.states() {
            let pairs = self.mdp.pairs(state);
            let own = &mut probabilities[pairs.start as usize..pairs.end as usize];
            // Only states that are never met may be left out.
            let Some(field) = lines[state.index()] else {
                own[0] = 1.0;
                continue;
            };
            let sum: f64 = own.iter().sum();
            if (sum - 1.0).abs() <= 1e-6 {
                for probability in own {
                    *probability /= sum;
                }
                continue;
            }
            sound = false;
            // A sum may be too low for what could not be read.
            if sum > 1.0 || !(doubtful[state.index()] || least <= 1.0 - sum + 1e-6) {
                let name = shortened(self.mdp.state_name(state));
                let message = format!("the probabilities of state \"{name}\" sum to {sum}; they must sum to 1");
                let error = csv.error(field, message).maybe_hint(missing_to_1(sum));
                csv.text.tell(error)?;
            }
        }
        if !sound {
            return Err(FileError::told());
        }
        let refused = |error: &dyn std::fmt::Display| self.error_of(states, error.to_string());
        let policy = Markov::stochastic(problem, vec![probabilities]).map_err(|error| refused(&error))?;
        let occupancy = expected_occupancy(problem, &policy).map_err(|error| refused(&error))?;
        let mut target = vec![0.0; partition.cell_count()];
        let mut unsaid = Vec::new();
        for (pair, mass) in occupancy.into_iter().enumerate() {
            let state = self.mdp.state(Pair(pair as u32));
            if mass > 0.0 && lines[state.index()].is_none() && unsaid.last() != Some(&state) {
                unsaid.push(state);
            }
            target[partition.cell(pair)] += mass;
        }
        if unsaid.is_empty() {
            return Ok(target);
        }
        let names = some_of(unsaid.iter().map(|&state| format!("\"{}\"", shortened(self.mdp.state_name(state)))));
        let are = if unsaid.len() == 1 { "state" } else { "states" };
        Err(self.error_of(states, format!("the policy meets {are} {names}, of which the file says nothing")))
    }
}
