//! Where the episodes of an imported model start.

use std::fmt::Write as _;

use super::super::document::{Either, Table, shortened};
use super::super::error::did_you_mean;
use super::super::mistakes::{Mistake, every};
use super::foreign::{MAX_ID, Model};
use super::{Assumed, Text, quoted};
use gumdp::{ModelError, ROW_TOLERANCE};

/// What a file of the model says about it.
#[derive(Debug, Default)]
pub(super) struct Initial {
    /// States with their probabilities, and where they stand.
    pub(super) entries: Vec<(u32, f64, usize)>,
    /// Where all of it stands.
    pub(super) offset: usize,
    /// Some of it is wrong, which is told already.
    pub(super) doubtful: bool,
    /// Name and text of the file, if it is not that of the transitions.
    pub(super) elsewhere: Option<(String, String)>,
}

impl Initial {
    /// Each of these states is as likely to be the first.
    pub(super) fn equally(states: impl ExactSizeIterator<Item = u32>, offset: usize) -> Self {
        let share = 1.0 / states.len() as f64;
        Self { entries: states.map(|state| (state, share, offset)).collect(), offset, ..Self::default() }
    }
}

/// Where episodes start, by id.
pub(super) fn initial<'a>(
    root: Table<'a>,
    model: &Model,
    text: Text,
    assumed: &mut Assumed,
) -> Option<Vec<(u32, f64)>> {
    let find = |name: &str, error: &dyn Fn(String) -> Mistake<'a>| {
        if let Some(id) = model.foreign.find_state(name).filter(|&id| model.knows(id)) {
            return Some(id);
        }
        // Transitions that could not be read may mention the state.
        if model.foreign.unread.any() {
            return None;
        }
        let names: Vec<String> = model.states.iter().map(|&state| model.foreign.state_name(state)).collect();
        let hint = did_you_mean(name, names.iter().map(String::as_str));
        error(format!("unknown state \"{}\"", shortened(name))).maybe_hint(hint).tell()
    };
    match root.either("start", "initial")? {
        Either::One(start) => {
            // A bare id is as good as a name.
            let name = match start.as_text() {
                Some(name) => name.to_owned(),
                None => model.foreign.state_name(start.count(0, u64::from(MAX_ID))? as u32),
            };
            Some(vec![(find(&name, &|message| start.error(message))?, 1.0)])
        }
        Either::Other(table) => {
            let entries = table.entries()?;
            let states: Vec<Option<u32>> =
                entries.iter().map(|(key, _)| find(key.text, &|message| key.error(message))).collect();
            let probabilities: Vec<f64> = every(entries.iter().map(|(_, value)| value.probability()))?;
            if let Some(error) = wrong_sum(probabilities.iter().sum()) {
                return table.error(error.to_string()).maybe_hint(error.hint()).tell();
            }
            states.into_iter().zip(probabilities).map(|(state, probability)| Some((state?, probability))).collect()
        }
        Either::Neither => {
            let initial = of_model(model, text, &mut assumed.notes);
            if let [(state, _)] = initial[..] {
                let _ = writeln!(assumed.lines, "start = {}", quoted(&model.foreign.state_name(state)));
            } else {
                let entry = |&(state, p): &(u32, f64)| format!("{} = {p:?}", quoted(&model.foreign.state_name(state)));
                let entries: Vec<String> = initial.iter().map(entry).collect();
                let _ = writeln!(assumed.lines, "initial = {{ {} }}", entries.join(", "));
            }
            Some(initial)
        }
    }
}

/// What the files of the model say, else their first state.
fn of_model(model: &Model, text: Text, notes: &mut Vec<String>) -> Vec<(u32, f64)> {
    let first = model.states[0];
    let Some(given) = &model.foreign.initial else {
        notes.push(format!("no start is given: episodes start in {}", model.foreign.state_name(first)));
        return vec![(first, 1.0)];
    };
    let other = given.elsewhere.as_ref().map(|(file, content)| Text::of_data(file, content, text.mistakes));
    let text = other.unwrap_or(text);
    let mut sound = !given.doubtful;
    let possible = || given.entries.iter().filter(|&&(_, probability, _)| probability > 0.0);
    for &(state, _, offset) in possible().filter(|&&(state, ..)| !model.knows(state)) {
        sound = false;
        if !model.foreign.unread.any() {
            let message =
                format!("episodes start in {}, but no transition mentions that state", model.foreign.state_name(state));
            text.error(offset, message).tell::<()>();
        }
    }
    if let Some(error) = wrong_sum(possible().map(|&(_, probability, _)| probability).sum()) {
        if !given.doubtful {
            text.error(given.offset, error.to_string()).maybe_hint(error.hint()).tell::<()>();
        }
        sound = false;
    }
    if sound { possible().map(|&(state, probability, _)| (state, probability)).collect() } else { vec![(first, 1.0)] }
}

fn wrong_sum(sum: f64) -> Option<ModelError> {
    ((sum - 1.0).abs() > ROW_TOLERANCE).then_some(ModelError::InitialSum { sum })
}
