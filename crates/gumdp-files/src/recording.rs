//! Behaviour to be imitated from a CSV file.
//!
//! It is a trajectory (`state, action`, and `episode` or `time`), an occupancy (`state, action, mass` or `state, mass`) or a
//! Markov policy (`state, action, probability`).

use std::collections::HashMap;

use super::document::shortened;
use super::error::{FileError, nearest_or_all};
use super::import::some_of;
use super::mistakes::Mistakes;
use super::sheet::{Cell, Sheet};
use gumdp::model::{Mdp, Pair, State, missing_to_1};
use gumdp::objective::Partition;
use gumdp::oracle::expected_occupancy;
use gumdp::policy::Markov;
use gumdp::problem::{Problem, normalised_discounts};

pub(super) const COLUMNS: [&str; 6] = ["state", "action", "episode", "time", "mass", "probability"];

/// How far the masses of an occupancy may be from summing to 1: published ones are rounded.
const SUM_TOLERANCE: f64 = 0.05;

/// A CSV file that is read for a model.
pub(super) struct Recording<'a> {
    pub(super) sheet: Sheet<'a>,
    pub(super) mdp: &'a Mdp,
    pub(super) discount: f64,
    pub(super) mistakes: &'a Mistakes,
}

impl Recording<'_> {
    fn state(&self, cell: &Cell) -> Result<State, FileError> {
        self.mdp.find_state(&cell.text).ok_or_else(|| {
            let names = self.mdp.states().map(|state| self.mdp.state_name(state));
            self.sheet
                .error(cell, format!("unknown state \"{}\"", shortened(&cell.text)))
                .maybe_hint(nearest_or_all("state", &cell.text, names))
        })
    }

    fn pair(&self, state: &Cell, action: &Cell) -> Result<Pair, FileError> {
        let found = self.state(state)?;
        let known = self.mdp.find_action(&action.text).ok_or_else(|| {
            let names = (0..self.mdp.action_count() as u32).map(|action| self.mdp.action_name(action.into()));
            self.sheet
                .error(action, format!("unknown action \"{}\"", shortened(&action.text)))
                .maybe_hint(nearest_or_all("action", &action.text, names))
        })?;
        self.mdp.pair(found, known).ok_or_else(|| {
            let (state, name) = (shortened(&state.text), shortened(&action.text));
            self.sheet.error(action, format!("state \"{state}\" does not allow the action \"{name}\""))
        })
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
        let sheet = &self.sheet;
        let (states, actions) = (sheet.need("state")?, sheet.need("action")?);
        let (episode, time) = (sheet.column("episode"), sheet.column("time"));
        if let Some(column) = sheet.column("mass").or(sheet.column("probability")) {
            return Err(sheet.error(sheet.first(column), "a trajectory has no column \"mass\" or \"probability\""));
        }
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut episodes: Vec<Vec<Pair>> = Vec::new();
        // Of each episode the last time, and whether it has ended.
        let mut last: Vec<(Option<u64>, bool)> = Vec::new();
        let mut sound = true;
        let mut tell = |error: FileError| {
            sound = false;
            self.mistakes.accept_in_line::<()>(Err(error)).map(|_| ())
        };
        for row in sheet.rows() {
            let Ok(row) = row else {
                // Whatever follows may follow from the line that could not be read.
                last.fill((None, false));
                tell(FileError::told())?;
                continue;
            };
            let now = match time.map(|column| self.time(&row[column])).transpose() {
                Ok(now) => now,
                Err(error) => {
                    tell(error)?;
                    None
                }
            };
            let name = episode.map(|column| row[column].text.as_str());
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
                tell(sheet.error(&row[column], message))?;
            }
            if ended {
                tell(sheet.error(&row[states], "the episode has ended: the line before has no action"))?;
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
            return Err(sheet.error(sheet.first(states), message));
        }
        Ok(episodes)
    }

    fn time(&self, cell: &Cell) -> Result<u64, FileError> {
        cell.text.parse().map_err(|_| {
            self.sheet.error(cell, format!("time must be a whole number, not \"{}\"", shortened(&cell.text)))
        })
    }

    pub(super) fn occupancy(&self, partition: &Partition) -> Result<Vec<f64>, FileError> {
        let sheet = &self.sheet;
        let (states, masses) = (sheet.need("state")?, sheet.need("mass")?);
        let mut target = vec![0.0; partition.cell_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        let mut read = |row: &[Cell]| {
            let mass = self.mistakes.accept_in_line(sheet.amount(&row[masses], "the mass"))?;
            let (pair, alone) = if let Some(column) = sheet.column("action") {
                (self.pair(&row[states], &row[column])?, true)
            } else {
                let mut pairs = self.mdp.pairs(self.state(&row[states])?);
                let first = Pair(pairs.start);
                (first, pairs.all(|pair| partition.cell(pair as usize) == partition.cell(first.index())))
            };
            if !alone {
                let message = "the objective counts actions, but the table has no column \"action\"";
                return Err(sheet.error(&row[states], message).hint("over = \"states\" counts states"));
            }
            if std::mem::replace(&mut given[pair.index()], true) {
                return Err(sheet.error(&row[states], "this entry of the occupancy is given twice"));
            }
            target[partition.cell(pair.index())] += mass.ok_or_else(FileError::told)?;
            Ok(())
        };
        let mut sound = true;
        for row in sheet.rows() {
            let read = row.map_err(|_| FileError::told()).and_then(&mut read);
            sound &= self.mistakes.accept_in_line(read)?.is_some();
        }
        if !sound {
            return Err(FileError::told());
        }
        let sum: f64 = target.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let message = format!("the masses sum to {sum}; those of an occupancy sum to 1");
            return Err(sheet.error(sheet.first(masses), message).hint("divide counts by their sum"));
        }
        Ok(target)
    }

    pub(super) fn policy(&self, partition: &Partition, problem: &Problem) -> Result<Vec<f64>, FileError> {
        let sheet = &self.sheet;
        let (states, actions) = (sheet.need("state")?, sheet.need("action")?);
        let column = sheet.need("probability")?;
        let mut probabilities = vec![0.0; self.mdp.pair_count()];
        // The last line about each state, for messages.
        let mut lines: Vec<Option<Cell>> = vec![None; self.mdp.state_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        let mut read = |row: &[Cell]| {
            let probability = self.mistakes.accept_in_line(sheet.amount(&row[column], "the probability"))?;
            let pair = self.pair(&row[states], &row[actions])?;
            if std::mem::replace(&mut given[pair.index()], true) {
                return Err(sheet.error(&row[actions], "this action of the state is given twice"));
            }
            let line = &row[column];
            Ok((pair, probability.ok_or_else(FileError::told)?, line.clone()))
        };
        let mut sound = true;
        // States with lines that could not be read, and the least probability of such a line that may belong to any state.
        let mut doubtful = vec![false; self.mdp.state_count()];
        let mut least = f64::INFINITY;
        for row in sheet.rows() {
            let (Ok(cells) | Err(cells)) = row;
            let line = row.map_err(|_| FileError::told()).and_then(&mut read);
            if let Some((pair, probability, line)) = self.mistakes.accept_in_line(line)? {
                probabilities[pair.index()] = probability;
                lines[self.mdp.state(pair).index()] = Some(line);
                continue;
            }
            sound = false;
            match cells.get(states).and_then(|cell| self.mdp.find_state(&cell.text)) {
                Some(state) => doubtful[state.index()] = true,
                None => least = least.min(row.ok().and_then(|row| row[column].text.parse().ok()).unwrap_or(0.0)),
            }
        }
        for state in self.mdp.states() {
            let pairs = self.mdp.pairs(state);
            let own = &mut probabilities[pairs.start as usize..pairs.end as usize];
            // Only states that are never met may be left out.
            let Some(cell) = &lines[state.index()] else {
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
                let error = sheet.error(cell, message).maybe_hint(missing_to_1(sum));
                self.mistakes.accept_in_line::<()>(Err(error))?;
            }
        }
        if !sound {
            return Err(FileError::told());
        }
        let first = sheet.first(states);
        let policy =
            Markov::stochastic(problem, vec![probabilities]).map_err(|error| sheet.error(first, error.to_string()))?;
        let occupancy = expected_occupancy(problem, &policy).map_err(|error| sheet.error(first, error.to_string()))?;
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
        let states = if unsaid.len() == 1 { "state" } else { "states" };
        Err(sheet.error(first, format!("the policy meets {states} {names}, of which the file says nothing")))
    }
}
