//! Transitions as CSV: `idstatefrom,idaction,idstateto,probability,reward`, and the small tables that may lie next to it.
//!
//! Rewards are gains. Columns may come in any order; others are ignored.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use super::super::csv::{self, Csv};
use super::super::document::shortened;
use super::super::error::{FileError, nearest, position};
use super::super::files::read_file;
use super::super::mistakes::Mistakes;
use super::foreign::{Foreign, MAX_ID, Row};
use super::start::Initial;
use super::{Format, Text};
use gumdp::MAX_HORIZON;

const COLUMNS: [&str; 5] = ["idstatefrom", "idaction", "idstateto", "probability", "reward"];

pub(super) const FORMAT: Format =
    Format { name: "csv", extension: "csv", looks_like, read, read_neighbours: Some(read_neighbours) };

/// Whether a text begins like a table of transitions.
fn looks_like(text: &str) -> bool {
    let first = text.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty());
    first.is_some_and(|line| line.to_ascii_lowercase().contains(COLUMNS[0]))
}

/// The transitions of a file.
fn read(text: &Text) -> Result<Foreign, FileError> {
    let mut foreign = Foreign::new(vec!["cost".to_owned()], true);
    let table = Columns::read(text, &COLUMNS)?;
    if !table.ignored.is_empty() {
        foreign.notes.push(format!("these columns are ignored: {}", table.ignored.join(", ")));
    }
    let mut lowest = u32::MAX;
    for (row, whole) in table.csv.rows() {
        if text.accept(whole)?.is_none() {
            let [state, action] = [0, 1].map(|column| table.field(&row, column)?.id().ok());
            foreign.unread.add(state, action, None);
            continue;
        }
        let fields = table.fields(&row);
        let [state, action, next] = [0, 1, 2].map(|column| text.accept(fields[column].id()));
        let (state, action, next) = (state?, action?, next?);
        let (probability, reward) = (text.accept(fields[3].probability())?, text.accept(fields[4].finite())?);
        let (Some(state), Some(action)) = (state, action) else {
            foreign.unread.add(state, action, probability);
            continue;
        };
        let (Some(next), Some(probability), Some(reward)) = (next, probability, reward) else {
            foreign.unread.of_pair(state, action);
            continue;
        };
        let reward = foreign.rewards.number_of(&[reward]);
        lowest = lowest.min(state).min(next);
        foreign.push(Row { state, action, next, probability, reward, offset: row[0].offset }, text)?;
    }
    if lowest == 1 {
        foreign.notes.push("no state is 0: the ids count from 1".to_owned());
    }
    Ok(foreign)
}

/// The initial distribution: `idstate,probability`.
fn read_initial(text: &Text) -> Result<Initial, FileError> {
    let table = Columns::read(text, &["idstate", "probability"])?;
    let mut initial = Initial::default();
    let mut lines = HashMap::new();
    for (row, whole) in table.csv.rows() {
        let entry = whole.and_then(|()| {
            let fields = table.fields(&row);
            let (state, probability) = (text.accept(fields[0].id())?, text.accept(fields[1].probability())?);
            if let Some(state) = state {
                fields[0].once(&mut lines, state)?;
            }
            let (state, probability) = state.zip(probability).ok_or_else(FileError::told)?;
            Ok((state, probability, fields[0].offset))
        });
        initial.doubtful |= entry.is_err();
        initial.entries.extend(text.accept(entry)?);
    }
    Ok(initial)
}

/// What a table of parameters says.
#[derive(Default)]
struct Parameters {
    discount: Option<f64>,
    horizon: Option<usize>,
    /// The state, and where it stands.
    start: Option<(u32, usize)>,
    /// The start is wrong, which is told already.
    start_doubtful: bool,
    ignored: Vec<String>,
}

/// Parameters: `parameter,value`. Names are compared without case, spaces and underscores.
fn read_parameters(text: &Text) -> Result<Parameters, FileError> {
    let table = Columns::read(text, &["parameter", "value"])?;
    let mut parameters = Parameters::default();
    let mut lines = HashMap::new();
    for (row, whole) in table.csv.rows() {
        let entry = whole.and_then(|()| {
            let fields = table.fields(&row);
            let name: String = fields[0].value.chars().filter(|c| c.is_alphanumeric()).collect();
            match name.to_lowercase().as_str() {
                "discount" | "gamma" | "discountfactor" => {
                    text.accept(fields[0].once(&mut lines, "discount"))?;
                    parameters.discount = Some(fields[1].discount()?);
                }
                "horizon" | "timehorizon" | "t" => {
                    text.accept(fields[0].once(&mut lines, "horizon"))?;
                    parameters.horizon = Some(fields[1].horizon()?);
                }
                "start" | "startstate" | "initial" | "initialstate" | "idinitialstate" | "s0" => {
                    text.accept(fields[0].once(&mut lines, "start"))?;
                    parameters.start_doubtful = true;
                    parameters.start = Some((fields[1].id()?, fields[1].offset));
                    parameters.start_doubtful = false;
                }
                _ => parameters.ignored.push(shortened(fields[0].value)),
            }
            Ok(())
        });
        text.accept(entry)?;
    }
    Ok(parameters)
}

/// Reads `NAME.initial.csv` and `NAME.parameters.csv`, or else `initial.csv` and `parameters.csv`, next to `NAME.csv`.
fn read_neighbours(
    path: &Path,
    foreign: &mut Foreign,
    notes: &mut Vec<String>,
    mistakes: &Mistakes,
) -> Result<(), FileError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let neighbour = |what: &str| {
        let names = [format!("{stem}.{what}.csv"), format!("{what}.csv")];
        names.into_iter().map(|name| path.with_file_name(name)).find(|other| other.is_file() && other != path)
    };
    let open = |path: &Path, notes: &mut Vec<String>| {
        notes.push(format!("{} is used", path.display()));
        mistakes.accept(read_file(path))
    };
    if let Some(path) = neighbour("initial") {
        let mut initial = None;
        if let Some(content) = open(&path, notes)? {
            let file = path.display().to_string();
            initial = mistakes.accept(read_initial(&Text { file: &file, content: &content, mistakes }))?;
            if let Some(initial) = &mut initial {
                initial.elsewhere = Some((file, content));
            }
        }
        foreign.initial = initial.or(Some(Initial { doubtful: true, ..Initial::default() }));
    }
    if let Some(path) = neighbour("parameters")
        && let Some(content) = open(&path, notes)?
    {
        let file = path.display().to_string();
        let parameters = read_parameters(&Text { file: &file, content: &content, mistakes });
        let parameters = mistakes.accept(parameters)?.unwrap_or_default();
        foreign.discount = parameters.discount.or(foreign.discount);
        foreign.horizon = parameters.horizon.or(foreign.horizon);
        if foreign.initial.is_none() && (parameters.start.is_some() || parameters.start_doubtful) {
            let entries = parameters.start.map(|(state, offset)| (state, 1.0, offset)).into_iter().collect();
            let doubtful = parameters.start_doubtful;
            foreign.initial = Some(Initial { entries, offset: 0, doubtful, elsewhere: Some((file, content)) });
        }
        if !parameters.ignored.is_empty() {
            notes.push(format!("these parameters are ignored: {}", parameters.ignored.join(", ")));
        }
    }
    Ok(())
}

/// A table with these columns.
struct Columns<'a> {
    csv: Csv<'a>,
    names: &'a [&'static str],
    /// For each name the number of its column.
    column: Vec<usize>,
    ignored: Vec<String>,
}

impl<'a> Columns<'a> {
    fn read(text: &'a Text<'a>, names: &'a [&'static str]) -> Result<Self, FileError> {
        let Some(csv) = Csv::open(text)? else {
            return Err(text.error(0, format!("the file is empty; its first line must be {}", names.join(","))));
        };
        let mut column = Vec::new();
        for &name in names {
            let mut places = csv.header.iter().enumerate().filter(|(_, field)| field.text == name);
            let place = places.next();
            if place.is_none() {
                let message = format!("the column \"{name}\" is missing; the first line must name {}", names.join(","));
                let mut others = csv.header.iter().map(|field| &*field.text).filter(|other| !names.contains(other));
                let meant = others.find(|other| nearest(other, [name]).is_some());
                let hint = meant.map(|other| format!("\"{}\" may be meant: call it \"{name}\"", shortened(other)));
                text.tell(csv.error(&csv.header[0], message).maybe_hint(hint))?;
            }
            if let Some((_, twice)) = places.next() {
                text.tell(csv.error(twice, format!("the column \"{name}\" is there twice")))?;
            }
            column.extend(place.map(|(place, _)| place));
        }
        if column.len() < names.len() {
            return Err(FileError::told());
        }
        let others =
            csv.header.iter().map(|field| &*field.text).filter(|name| !names.contains(name) && !name.is_empty());
        let ignored = others.map(|name| format!("\"{}\"", shortened(name))).collect();
        Ok(Self { csv, names, column, ignored })
    }

    /// The fields of a whole line, in the order of the names.
    fn fields<'r>(&self, row: &'r [csv::Field]) -> Vec<Field<'r>>
    where
        'a: 'r,
    {
        (0..self.names.len()).filter_map(|name| self.field(row, name)).collect()
    }

    /// The field of a line, which may have too many or too few, under one of the names.
    fn field<'r>(&self, row: &'r [csv::Field], name: usize) -> Option<Field<'r>>
    where
        'a: 'r,
    {
        let csv::Field { text, offset } = row.get(self.column[name])?;
        Some(Field { text: self.csv.text, name: self.names[name], value: text.trim(), offset: *offset })
    }
}

/// One field of a table.
struct Field<'a> {
    text: &'a Text<'a>,
    name: &'static str,
    value: &'a str,
    offset: usize,
}

impl Field<'_> {
    fn refused(&self, must: &str) -> FileError {
        let Self { name, value, .. } = self;
        self.text.error(self.offset, format!("{name} is \"{}\"; it must {must}", shortened(value)))
    }

    /// Refuses what stands in an earlier line as well.
    fn once<T: Eq + Hash>(&self, places: &mut HashMap<T, usize>, what: T) -> Result<(), FileError> {
        let Some(first) = places.insert(what, self.offset) else { return Ok(()) };
        let (line, _) = position(self.text.content, first);
        let Self { name, value, .. } = self;
        let message = format!("{name} \"{}\" is given twice; first on line {line}", shortened(value));
        Err(self.text.error(self.offset, message))
    }

    fn number(&self) -> Option<f64> {
        self.value.parse().ok()
    }

    fn id(&self) -> Result<u32, FileError> {
        // Some programs write whole numbers as 3.0.
        let number = self.number().filter(|number| number.fract() == 0.0 && (0.0..=f64::from(MAX_ID)).contains(number));
        number.map(|number| number as u32).ok_or_else(|| self.refused(&format!("be a whole number in [0, {MAX_ID}]")))
    }

    fn finite(&self) -> Result<f64, FileError> {
        self.number().filter(|number| number.is_finite()).ok_or_else(|| self.refused("be a finite number"))
    }

    fn probability(&self) -> Result<f64, FileError> {
        let number = self.number().filter(|number| (0.0..=1.0).contains(number));
        number.ok_or_else(|| self.refused("be a number in [0, 1]"))
    }

    fn discount(&self) -> Result<f64, FileError> {
        let number = self.number().filter(|&number| number > 0.0 && number <= 1.0);
        number.ok_or_else(|| self.refused("be a number in (0, 1]"))
    }

    fn horizon(&self) -> Result<usize, FileError> {
        let range = 1.0..=MAX_HORIZON as f64;
        let number = self.number().filter(|number| number.fract() == 0.0 && range.contains(number));
        let must = || self.refused(&format!("be a whole number in [1, {MAX_HORIZON}]"));
        number.map(|number| number as usize).ok_or_else(must)
    }
}
