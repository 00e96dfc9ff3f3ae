//! Occupancies to be imitated: by name, as a list, as a path on a map, or from a CSV file.
//!
//! A file is a trajectory (`state, action`, and `episode` or `time`), an occupancy (`state, action, mass` or `state, mass`) or a
//! Markov policy (`state, action, probability`); the names of its columns decide.

use std::collections::HashMap;

use super::behaviour;
use super::document::{Table, Value, shortened};
use super::error::{FileError, nearest};
use super::mistakes::Mistakes;
use super::objective::{Over, Reader, compact_cells};
use super::scene::Scene;
use super::sheet::{Cell, Sheet};
use crate::model::{Mdp, Pair, State};
use crate::objective::{Objective, Partition};
use crate::oracle::expected_occupancy;
use crate::policy::Markov;
use crate::problem::{Problem, normalised_discounts};

/// How far the masses of an occupancy may be from summing to 1: published ones are rounded.
const SUM_TOLERANCE: f64 = 0.05;

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Trajectory,
    Occupancy,
    Policy,
}

const COLUMNS: [&str; 6] = ["state", "action", "episode", "time", "mass", "probability"];

impl Reader<'_> {
    /// The target of an objective's own table: `target` or `behaviour`.
    pub(super) fn own_target(
        &mut self,
        over: Over,
        partition: &Partition,
        table: Table,
    ) -> Result<Vec<f64>, FileError> {
        match (table.get("target"), table.get("behaviour")) {
            (Some(target), None) => self.target(target, partition),
            (None, Some(path)) => self.path_target(path, over, partition),
            (Some(_), Some(path)) => Err(path.error("both target and behaviour are given; give one of them")),
            (None, None) => Err(table.missing("target")),
        }
    }

    /// A target for each cell of the partition.
    pub(super) fn target(&mut self, target: Value, partition: &Partition) -> Result<Vec<f64>, FileError> {
        if !target.is_table() {
            return target.elements(Value::number);
        }
        match target.table()?.get("file") {
            Some(file) if file.as_text().is_some() => self.target_of_file(target.table()?, file, partition),
            _ => self.named_target(target, partition),
        }
    }

    /// The occupancy of a path over the cells of a map.
    fn path_target(&mut self, path: Value, over: Over, partition: &Partition) -> Result<Vec<f64>, FileError> {
        let Scene::Grid(grid) = &self.world.scene else {
            return Err(path.error(format!("{} needs a map; give target instead", path.name())));
        };
        if matches!(over, Over::States | Over::Pairs) {
            let message = format!("{} needs over = \"cells\" or \"cell-actions\"", path.name());
            path.accept::<()>(Err(path.error(message)))?;
        }
        // On a map that is wrong any path may be right.
        if self.world.doubts.any() {
            path.elements(|cell| cell.count(0, u64::from(u32::MAX)))?;
            return Err(FileError::told());
        }
        let horizon = if self.timed { self.known_horizon(path)? } else { path.list()?.len().saturating_sub(1).max(1) };
        let (compact, _) = compact_cells(grid);
        let steps = behaviour::steps(path, grid, horizon)?;
        let mut target = vec![0.0; partition.cell_count()];
        for ((cell, action), mass) in steps.iter().zip(normalised_discounts(self.discount, horizon).iter()) {
            let cell = compact[*cell as usize];
            match over {
                Over::Cells => target[cell as usize] += mass,
                Over::CellActions => target[cell as usize * 4 + action] += mass,
                Over::States | Over::Pairs => return Err(FileError::told()),
            }
        }
        self.behaviour = behaviour::cells(path, grid)?;
        Ok(target)
    }

    fn known_horizon(&self, value: Value) -> Result<usize, FileError> {
        self.horizon.ok_or_else(|| value.error(format!("{} needs horizon instead of accuracy", value.name())))
    }

    /// A target by name: `"s0/a0" = 0.5`; cells that are not named get 0.
    fn named_target(&self, target: Value, partition: &Partition) -> Result<Vec<f64>, FileError> {
        let mut targets = vec![0.0; partition.cell_count()];
        let mut sound = true;
        for (key, value) in target.table()?.entries() {
            let cell = || {
                let mut cells = self.world.select(key)?.into_iter().map(|pair| partition.cell(pair.index()));
                let first = cells.next().filter(|&cell| cells.all(|other| other == cell));
                first.ok_or_else(|| {
                    let message =
                        format!("the target \"{}\" must name exactly one entry of the occupancy", shortened(key.text));
                    key.error(message).hint("over = \"states\" counts states, \"pairs\" counts state/action")
                })
            };
            match (target.accept(value.number())?, target.accept(cell())?) {
                (Some(value), Some(cell)) => targets[cell] = value,
                _ => sound = false,
            }
        }
        if sound { Ok(targets) } else { Err(FileError::told()) }
    }

    fn target_of_file(&mut self, source: Table, file: Value, partition: &Partition) -> Result<Vec<f64>, FileError> {
        source.only(&["file", "format"])?;
        let formats =
            [("trajectory", Format::Trajectory), ("occupancy", Format::Occupancy), ("policy", Format::Policy)];
        let format = source.get("format").map(|format| format.choice(&formats)).transpose()?;
        let horizon = self.horizon;
        let (name, text) = self.files.read(file)?;
        let sheet = Sheet::parse(&name, &text, &COLUMNS)?;
        let has = |column| sheet.column(column).is_some();
        let format = format.unwrap_or(match (has("probability"), has("mass")) {
            (true, _) => Format::Policy,
            (false, true) => Format::Occupancy,
            (false, false) => Format::Trajectory,
        });
        let timed = self.timed;
        let needed = |horizon: Option<usize>| {
            horizon
                .or(if timed { None } else { Some(1) })
                .ok_or_else(|| file.error(format!("{} needs horizon instead of accuracy", file.name())))
        };
        // Against a model with mistakes the names in the file mean nothing.
        if self.world.doubts.any() {
            return Err(FileError::told());
        }
        let mistakes = file.document().mistakes;
        let reading = Reading { sheet, mdp: &self.world.mdp, discount: self.discount, mistakes };
        match format {
            Format::Trajectory => reading.trajectories(partition, needed(horizon)?),
            Format::Occupancy => reading.occupancy(partition),
            Format::Policy => {
                let problem = Objective::linear(vec![0.0; self.world.mdp.pair_count()]);
                let problem = problem.map_err(|error| file.error(error.to_string())).and_then(|nothing| {
                    Problem::new(self.world.mdp.clone(), nothing, self.discount, needed(horizon)?)
                        .map_err(|error| file.error(error.to_string()))
                })?;
                reading.policy(partition, &problem)
            }
        }
    }
}

/// A CSV file that is read for a model.
struct Reading<'a> {
    sheet: Sheet<'a>,
    mdp: &'a Mdp,
    discount: f64,
    mistakes: &'a Mistakes,
}

impl Reading<'_> {
    fn state(&self, cell: &Cell) -> Result<State, FileError> {
        self.mdp.find_state(&cell.text).ok_or_else(|| {
            let names = self.mdp.states().map(|state| self.mdp.state_name(state));
            self.sheet
                .error(cell, format!("unknown state \"{}\"", shortened(&cell.text)))
                .maybe_hint(nearest(&cell.text, names))
        })
    }

    fn pair(&self, state: &Cell, action: &Cell) -> Result<Pair, FileError> {
        let found = self.state(state)?;
        let known = self.mdp.find_action(&action.text).ok_or_else(|| {
            let names = (0..self.mdp.action_count() as u32).map(|action| self.mdp.action_name(action.into()));
            self.sheet
                .error(action, format!("unknown action \"{}\"", shortened(&action.text)))
                .maybe_hint(nearest(&action.text, names))
        })?;
        self.mdp.pair(found, known).ok_or_else(|| {
            let (state, name) = (shortened(&state.text), shortened(&action.text));
            self.sheet.error(action, format!("state \"{state}\" does not allow the action \"{name}\""))
        })
    }

    /// The average occupancy of the episodes. Of each the first steps count, as many as the horizon has; a shorter one is
    /// discounted and normalised by its own length.
    fn trajectories(&self, partition: &Partition, horizon: usize) -> Result<Vec<f64>, FileError> {
        let episodes = self.episodes()?;
        let mut target = vec![0.0; partition.cell_count()];
        for pairs in &episodes {
            let masses = normalised_discounts(self.discount, pairs.len().min(horizon));
            for (pair, mass) in pairs.iter().zip(masses.iter()) {
                target[partition.cell(pair.index())] += mass / episodes.len() as f64;
            }
        }
        Ok(target)
    }

    /// The pairs of each episode, in the order of the file.
    fn episodes(&self) -> Result<Vec<Vec<Pair>>, FileError> {
        let sheet = &self.sheet;
        let (states, actions) = (sheet.need("state")?, sheet.need("action")?);
        let (episode, time) = (sheet.column("episode"), sheet.column("time"));
        if let Some(column) = sheet.column("mass").or(sheet.column("probability")) {
            return Err(sheet.error(&sheet.rows[0][column], "a trajectory has no column \"mass\" or \"probability\""));
        }
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut episodes: Vec<Vec<Pair>> = Vec::new();
        // Of each episode the last time, and whether it has ended.
        let mut last: Vec<(Option<u64>, bool)> = Vec::new();
        let mut sound = true;
        for row in &sheet.rows {
            let now = time.map(|column| self.time(&row[column])).transpose()?;
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
                && now != before + 1
            {
                let message = format!("time {now} follows time {before}; it must be {}", before + 1);
                return Err(sheet.error(&row[column], message));
            }
            if ended {
                return Err(sheet.error(&row[states], "the episode has ended: the line before has no action"));
            }
            // The state in which an episode ends has no action.
            let ends = row[actions].text.is_empty();
            let pair = if ends {
                self.state(&row[states]).map(|_| None)
            } else {
                self.pair(&row[states], &row[actions]).map(Some)
            };
            match self.mistakes.accept_in_line(pair)? {
                Some(pair) => episodes[number].extend(pair),
                None => sound = false,
            }
            last[number] = (now, ends);
        }
        if !sound {
            return Err(FileError::told());
        }
        if let Some(number) = episodes.iter().position(Vec::is_empty) {
            let message = format!("episode {} of the file has no action", number + 1);
            return Err(sheet.error(&sheet.rows[0][states], message));
        }
        Ok(episodes)
    }

    fn time(&self, cell: &Cell) -> Result<u64, FileError> {
        cell.text.parse().map_err(|_| {
            self.sheet.error(cell, format!("time must be a whole number, not \"{}\"", shortened(&cell.text)))
        })
    }

    /// Reads every line on its own.
    fn each_row<'b>(&'b self, mut read: impl FnMut(&'b [Cell]) -> Result<(), FileError>) -> Result<(), FileError> {
        let mut sound = true;
        for row in &self.sheet.rows {
            let result = read(row);
            sound &= result.is_ok();
            self.mistakes.accept_in_line(result)?;
        }
        if sound { Ok(()) } else { Err(FileError::told()) }
    }

    fn occupancy(&self, partition: &Partition) -> Result<Vec<f64>, FileError> {
        let sheet = &self.sheet;
        let (states, masses) = (sheet.need("state")?, sheet.need("mass")?);
        let mut target = vec![0.0; partition.cell_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        self.each_row(|row| {
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
        })?;
        let sum: f64 = target.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let message = format!("the masses sum to {sum}; those of an occupancy sum to 1");
            return Err(sheet.error(&sheet.rows[0][masses], message).hint("divide counts by their sum"));
        }
        Ok(target)
    }

    fn policy(&self, partition: &Partition, problem: &Problem) -> Result<Vec<f64>, FileError> {
        let sheet = &self.sheet;
        let (states, actions) = (sheet.need("state")?, sheet.need("action")?);
        let column = sheet.need("probability")?;
        let mut probabilities = vec![0.0; self.mdp.pair_count()];
        // The last line about each state, for messages.
        let mut lines: Vec<Option<&Cell>> = vec![None; self.mdp.state_count()];
        let mut given = vec![false; self.mdp.pair_count()];
        self.each_row(|row| {
            let probability = self.mistakes.accept_in_line(sheet.amount(&row[column], "the probability"))?;
            let pair = self.pair(&row[states], &row[actions])?;
            if std::mem::replace(&mut given[pair.index()], true) {
                return Err(sheet.error(&row[actions], "this action of the state is given twice"));
            }
            probabilities[pair.index()] = probability.ok_or_else(FileError::told)?;
            lines[self.mdp.state(pair).index()] = Some(&row[column]);
            Ok(())
        })?;
        for state in self.mdp.states() {
            let pairs = self.mdp.pairs(state);
            let own = &mut probabilities[pairs.start as usize..pairs.end as usize];
            match lines[state.index()] {
                // Only states that are never met may be left out.
                None => own[0] = 1.0,
                Some(cell) => {
                    let sum: f64 = own.iter().sum();
                    if (sum - 1.0).abs() > 1e-6 {
                        let name = shortened(self.mdp.state_name(state));
                        let message = format!("the probabilities of state \"{name}\" sum to {sum}; they must sum to 1");
                        return Err(sheet.error(cell, message));
                    }
                    for probability in own {
                        *probability /= sum;
                    }
                }
            }
        }
        let first = &sheet.rows[0][states];
        let policy =
            Markov::stochastic(problem, vec![probabilities]).map_err(|error| sheet.error(first, error.to_string()))?;
        let occupancy = expected_occupancy(problem, &policy).map_err(|error| sheet.error(first, error.to_string()))?;
        let mut target = vec![0.0; partition.cell_count()];
        for (pair, mass) in occupancy.into_iter().enumerate() {
            let state = self.mdp.state(Pair(pair as u32));
            if mass > 0.0 && lines[state.index()].is_none() {
                let name = shortened(self.mdp.state_name(state));
                return Err(
                    sheet.error(first, format!("the policy meets state \"{name}\", of which the file says nothing"))
                );
            }
            target[partition.cell(pair)] += mass;
        }
        Ok(target)
    }
}
