//! Behaviour to be imitated from a CSV file.
//!
//! It is a trajectory (`state, action`, and `episode` or `time`), an occupancy (`state, action, mass` or `state, mass`) or a
//! Markov policy (`state, action, probability`).

use std::collections::HashMap;

use super::csv::{Csv, Field, Row};
use super::document::shortened;
use super::import::some_of;
use super::mistakes::{Mistake, Text, every};
use gumdp::oracle::expected_occupancy;
use gumdp::{Markov, Partition, Problem, normalised_discounts};
use gumdp::{Mdp, Pair, missing_to_1};

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

impl<'a> Recording<'a> {
    pub(super) fn open(text: Text<'a>, mdp: &'a Mdp, discount: f64) -> Option<Self> {
        let csv = Csv::open(text, "name the columns", None)?.only(&COLUMNS);
        let rows: Vec<Row> = csv.rows().collect();
        if rows.is_empty() {
            return csv.error(&csv.header[0], "there is no line after the names of the columns").tell();
        }
        Some(Self { csv, rows, mdp, discount })
    }

    /// A mistake at the first entry of a column, for what is wrong with all of it.
    fn error_of(&self, column: usize, message: impl Into<String>) -> Mistake<'a> {
        let first = self.rows.iter().find(|(_, whole)| *whole);
        self.csv.error(first.map_or(&self.csv.header[column], |(row, _)| &row[column]), message)
    }

    /// A finite number that is not negative.
    fn amount(&self, field: &Field, what: &str) -> Option<f64> {
        let message = match field.text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => return Some(number),
            Ok(_) => format!("{what} is {}; it must be finite and not negative", field.text),
            Err(_) => format!("{what} must be a number, not \"{}\"", shortened(&field.text)),
        };
        self.csv.error(field, message).tell()
    }

    /// The average occupancy of the episodes, and the number of steps of the longest. Of each the first steps count, as many as
    /// the horizon has, all if there is none; a shorter one is discounted and normalised by its own length.
    pub(super) fn trajectories(&self, partition: &Partition, horizon: Option<usize>) -> Option<(Vec<f64>, usize)> {
        let episodes = self.episodes()?;
        let mut target = vec![0.0; partition.cell_count()];
        for pairs in &episodes {
            let masses = normalised_discounts(self.discount, pairs.len().min(horizon.unwrap_or(usize::MAX)));
            for (pair, mass) in pairs.iter().zip(masses.iter()) {
                target[partition.cell(pair.index())] += mass / episodes.len() as f64;
            }
        }
        Some((target, episodes.iter().map(Vec::len).max().unwrap_or(0)))
    }

    /// The pairs of each episode, in the order of the file.
    fn episodes(&self) -> Option<Vec<Vec<Pair>>> {
        let csv = &self.csv;
        let (states, actions) = (csv.need("state")?, csv.need("action")?);
        let (episode, time) = (csv.column("episode"), csv.column("time"));
        if let Some(column) = csv.column("mass").or(csv.column("probability")) {
            return self.error_of(column, "a trajectory has no column \"mass\" or \"probability\"").tell();
        }
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut episodes: Vec<Vec<Pair>> = Vec::new();
        // Of each episode the last time, and whether it has ended.
        let mut last: Vec<(Option<u64>, bool)> = Vec::new();
        let mut sound = true;
        for (row, whole) in &self.rows {
            if !whole {
                // Whatever follows may follow from the line that could not be read.
                last.fill((None, false));
                sound = false;
                continue;
            }
            let time = time.map(|column| (&row[column], self.time(&row[column])));
            let now = time.and_then(|(_, now)| now);
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
            let follows = match (time, before.map(|before| before.saturating_add(1))) {
                (Some((field, Some(now))), Some(next)) if now != next => {
                    csv.error(field, format!("time {now} follows time {}; it must be {next}", next - 1)).tell()
                }
                (Some((_, None)), _) => None,
                _ => Some(()),
            };
            let goes_on = if ended {
                csv.error(&row[states], "the episode has ended: the line before has no action").tell()
            } else {
                Some(())
            };
            // The state in which an episode ends has no action.
            let ends = row[actions].text.is_empty();
            let pair = if ends {
                csv.state(self.mdp, &row[states]).map(|_| None)
            } else {
                csv.pair(self.mdp, &row[states], &row[actions]).map(Some)
            };
            sound &= follows.and(goes_on).is_some() && pair.is_some();
            episodes[number].extend(pair.flatten());
            last[number] = (now, ends);
        }
        if !sound {
            return None;
        }
        if let Some(number) = episodes.iter().position(Vec::is_empty) {
            return self.error_of(states, format!("episode {} of the file has no action", number + 1)).tell();
        }
        Some(episodes)
    }

    fn time(&self, field: &Field) -> Option<u64> {
        let message = || format!("time must be a whole number, not \"{}\"", shortened(&field.text));
        field.text.parse().ok().or_else(|| self.csv.error(field, message()).tell())
    }

    pub(super) fn occupancy(&self, partition: &Partition) -> Option<Vec<f64>> {
        let csv = &self.csv;
        let (states, masses) = (csv.need("state")?, csv.need("mass")?);
        let mut target = vec![0.0; partition.cell_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        every::<_, Vec<()>>(self.rows.iter().map(|(row, whole)| {
            whole.then_some(())?;
            let mass = self.amount(&row[masses], "the mass");
            let (pair, alone) = if let Some(column) = csv.column("action") {
                (csv.pair(self.mdp, &row[states], &row[column])?, true)
            } else {
                let mut pairs = self.mdp.pairs(csv.state(self.mdp, &row[states])?);
                let first = Pair(pairs.start);
                (first, pairs.all(|pair| partition.cell(pair as usize) == partition.cell(first.index())))
            };
            if !alone {
                let message = "the objective counts actions, but the table has no column \"action\"";
                return csv.error(&row[states], message).hint("over = \"states\" counts states").tell();
            }
            if std::mem::replace(&mut given[pair.index()], true) {
                return csv.error(&row[states], "this entry of the occupancy is given twice").tell();
            }
            target[partition.cell(pair.index())] += mass?;
            Some(())
        }))?;
        let sum: f64 = target.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let message = format!("the masses sum to {sum}; those of an occupancy sum to 1");
            return self.error_of(masses, message).hint("divide counts by their sum").tell();
        }
        Some(target)
    }

    pub(super) fn policy(&self, partition: &Partition, problem: &Problem) -> Option<Vec<f64>> {
        let csv = &self.csv;
        let (states, actions) = (csv.need("state")?, csv.need("action")?);
        let column = csv.need("probability")?;
        let mut probabilities = vec![0.0; self.mdp.pair_count()];
        // The last line about each state, for messages.
        let mut lines: Vec<Option<&Field>> = vec![None; self.mdp.state_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        let mut read = |row: &[Field]| {
            let probability = self.amount(&row[column], "the probability");
            let pair = csv.pair(self.mdp, &row[states], &row[actions])?;
            if std::mem::replace(&mut given[pair.index()], true) {
                return csv.error(&row[actions], "this action of the state is given twice").tell();
            }
            Some((pair, probability?))
        };
        let mut sound = true;
        // States with lines that could not be read, and the least probability of such a line that may belong to any state.
        let mut doubtful = vec![false; self.mdp.state_count()];
        let mut least = f64::INFINITY;
        for (row, whole) in &self.rows {
            let line = if *whole { read(row) } else { None };
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
                csv.error(field, message).maybe_hint(missing_to_1(sum)).tell::<()>();
            }
        }
        if !sound {
            return None;
        }
        let refuse = |message: String| self.error_of(states, message).tell::<()>();
        let policy =
            Markov::stochastic(problem, vec![probabilities]).map_err(|error| refuse(error.to_string())).ok()?;
        let occupancy = expected_occupancy(problem, &policy).map_err(|error| refuse(error.to_string())).ok()?;
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
            return Some(target);
        }
        let names = some_of(unsaid.iter().map(|&state| format!("\"{}\"", shortened(self.mdp.state_name(state)))));
        let are = if unsaid.len() == 1 { "state" } else { "states" };
        self.error_of(states, format!("the policy meets {are} {names}, of which the file says nothing")).tell()
    }
}
