//! Where the episodes of an imported model start.

use std::fmt::Write as _;

use super::super::document::{Table, shortened};
use super::super::error::{FileError, did_you_mean};
use super::foreign::{MAX_ID, Model, TERMINATED, state_name};
use super::{Text, quoted};
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

/// Where episodes start, by id.
pub(super) fn initial(
    root: Table,
    model: &Model,
    text: &Text,
    notes: &mut Vec<String>,
    lines: &mut String,
) -> Result<Vec<(u32, f64)>, FileError> {
    let find = |name: &str| {
        let id = if name == "terminated" { TERMINATED } else { name.strip_prefix('s')?.parse().ok()? };
        model.knows(id).then_some(id)
    };
    let unknown = |name: &str, error: FileError| {
        // Transitions that could not be read may mention the state.
        if model.foreign.unread.any() {
            return FileError::told();
        }
        let names: Vec<String> = model.states.iter().map(|&state| state_name(state)).collect();
        error.maybe_hint(did_you_mean(name, names.iter().map(String::as_str)))
    };
    match (root.get("start"), root.get("initial")) {
        (Some(_), Some(initial)) => Err(initial.error("both start and initial are given; give one of them")),
        (Some(start), None) => {
            // A bare id is as good as a name.
            let name = match start.as_text() {
                Some(name) => name.to_owned(),
                None => format!("s{}", start.count(0, u64::from(MAX_ID))?),
            };
            let error = || unknown(&name, start.error(format!("unknown state \"{}\"", shortened(&name))));
            Ok(vec![(find(&name).ok_or_else(error)?, 1.0)])
        }
        (None, Some(table)) => {
            let mut initial = Vec::new();
            let entries = table.table()?.entries();
            let count = entries.len();
            let mut sum = Some(0.0);
            for (key, value) in entries {
                let error = || unknown(key.text, key.error(format!("unknown state \"{}\"", shortened(key.text))));
                let state = root.accept(find(key.text).ok_or_else(error))?;
                let probability = root.accept(value.probability())?;
                sum = sum.zip(probability).map(|(sum, probability)| sum + probability);
                initial.extend(state.zip(probability));
            }
            if let Some(error) = sum.and_then(wrong_sum) {
                return Err(table.error(error.to_string()).maybe_hint(error.hint()));
            }
            if initial.len() < count { Err(FileError::told()) } else { Ok(initial) }
        }
        (None, None) => {
            let initial = of_model(model, text, notes)?;
            if let [(state, _)] = initial[..] {
                let _ = writeln!(lines, "start = {}", quoted(&state_name(state)));
            } else {
                let entry = |&(state, p): &(u32, f64)| format!("{} = {p:?}", quoted(&state_name(state)));
                let _ = writeln!(lines, "initial = {{ {} }}", initial.iter().map(entry).collect::<Vec<_>>().join(", "));
            }
            Ok(initial)
        }
    }
}

/// What the files of the model say, else their first state.
fn of_model(model: &Model, text: &Text, notes: &mut Vec<String>) -> Result<Vec<(u32, f64)>, FileError> {
    let first = model.states[0];
    let Some(given) = &model.foreign.initial else {
        notes.push(format!("no start is given: episodes start in {}", state_name(first)));
        return Ok(vec![(first, 1.0)]);
    };
    let other = given.elsewhere.as_ref().map(|(file, content)| Text { file, content, mistakes: text.mistakes });
    let text = other.as_ref().unwrap_or(text);
    let mut sound = !given.doubtful;
    let possible = || given.entries.iter().filter(|&&(_, probability, _)| probability > 0.0);
    for &(state, _, offset) in possible().filter(|&&(state, ..)| !model.knows(state)) {
        sound = false;
        if !model.foreign.unread.any() {
            let message = format!("episodes start in {}, but no transition mentions that state", state_name(state));
            text.accept::<()>(Err(text.error(offset, message)))?;
        }
    }
    if let Some(error) = wrong_sum(possible().map(|&(_, probability, _)| probability).sum()) {
        if !given.doubtful {
            text.accept::<()>(Err(text.error(given.offset, error.to_string()).maybe_hint(error.hint())))?;
        }
        sound = false;
    }
    if !sound {
        return Ok(vec![(first, 1.0)]);
    }
    Ok(possible().map(|&(state, probability, _)| (state, probability)).collect())
}

fn wrong_sum(sum: f64) -> Option<ModelError> {
    ((sum - 1.0).abs() > ROW_TOLERANCE).then_some(ModelError::InitialSum { sum })
}
