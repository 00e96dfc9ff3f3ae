//! Transitions as CSV: `idstatefrom,idaction,idstateto,probability,reward`, and the small tables that may lie next to it.
//!
//! Rewards are gains. Columns may come in any order and be separated by commas, semicolons or tabs; names may be quoted.

use std::collections::HashMap;
use std::hash::Hash;

use super::super::document::shortened;
use super::super::error::{FileError, counted, nearest, position};
use super::Text;
use super::foreign::{Foreign, MAX_ID, Row};
use super::start::Initial;
use gumdp::problem::MAX_HORIZON;

const COLUMNS: [&str; 5] = ["idstatefrom", "idaction", "idstateto", "probability", "reward"];

/// Whether a text begins like a table of transitions.
pub(super) fn looks_like(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.to_ascii_lowercase().contains(COLUMNS[0]))
}

/// The transitions of a file.
pub(super) fn read(text: &Text) -> Result<Foreign, FileError> {
    let mut foreign = Foreign::new(vec!["cost".to_owned()], true);
    let table = Columns::read(text, &COLUMNS)?;
    if !table.ignored.is_empty() {
        foreign.notes.push(format!("these columns are ignored: {}", table.ignored.join(", ")));
    }
    let mut lowest = u32::MAX;
    for line in &table.lines {
        let Some(fields) = text.accept(table.fields(line))? else {
            let [state, action] = [0, 1].map(|column| table.field(line, column)?.id().ok());
            foreign.unread.add(state, action, None);
            continue;
        };
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
        foreign.push(Row { state, action, next, probability, reward, offset: line.offset }, text)?;
    }
    if lowest == 1 {
        foreign.notes.push("no state is 0: the ids count from 1".to_owned());
    }
    Ok(foreign)
}

/// The initial distribution: `idstate,probability`.
pub(super) fn read_initial(text: &Text) -> Result<Initial, FileError> {
    let table = Columns::read(text, &["idstate", "probability"])?;
    let mut initial = Initial::default();
    let mut lines = HashMap::new();
    for line in &table.lines {
        let entry = table.fields(line).and_then(|fields| {
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
pub(super) struct Parameters {
    pub(super) discount: Option<f64>,
    pub(super) horizon: Option<usize>,
    /// The state, and where it stands.
    pub(super) start: Option<(u32, usize)>,
    /// The start is wrong, which is told already.
    pub(super) start_doubtful: bool,
    pub(super) ignored: Vec<String>,
}

/// Parameters: `parameter,value`. Names are compared without case, spaces and underscores.
pub(super) fn read_parameters(text: &Text) -> Result<Parameters, FileError> {
    let table = Columns::read(text, &["parameter", "value"])?;
    let mut parameters = Parameters::default();
    let mut lines = HashMap::new();
    for line in &table.lines {
        let mut entry = || {
            let fields = table.fields(line)?;
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
        };
        text.accept(entry())?;
    }
    Ok(parameters)
}

/// A line that holds something.
#[derive(Clone, Copy)]
struct Line<'a> {
    content: &'a str,
    offset: usize,
}

/// A table whose first line names its columns.
struct Columns<'a> {
    text: &'a Text<'a>,
    names: &'a [&'static str],
    separator: char,
    /// For each name the number of its column.
    column: Vec<usize>,
    count: usize,
    ignored: Vec<String>,
    /// All lines but the first.
    lines: Vec<Line<'a>>,
}

impl<'a> Columns<'a> {
    fn read(text: &'a Text<'a>, names: &'a [&'static str]) -> Result<Self, FileError> {
        let mut offset = 0;
        let lines = text.content.split_inclusive('\n').map(|line| {
            let start = offset;
            offset += line.len();
            Line { content: line.trim_end_matches(['\n', '\r']), offset: start }
        });
        let mut lines = lines.filter(|line| !line.content.trim().is_empty());
        let Some(header) = lines.next() else {
            return Err(text.error(0, format!("the file is empty; its first line must be {}", names.join(","))));
        };
        let separator = [',', ';', '\t'].into_iter().find(|&s| header.content.contains(s)).unwrap_or(',');
        // Some programs begin a file with a mark of its encoding.
        let found: Vec<(String, usize)> = split(header, separator)
            .map(|(name, offset)| (unquoted(name.trim_start_matches('\u{feff}')).to_lowercase(), offset))
            .collect();
        let mut column = Vec::new();
        for &name in names {
            let mut places = (0..found.len()).filter(|&place| found[place].0 == name);
            let place = places.next();
            if place.is_none() {
                let message = format!("the column \"{name}\" is missing; the first line must name {}", names.join(","));
                let others = found.iter().map(|(other, _)| other.as_str()).filter(|other| !names.contains(other));
                let meant = others.into_iter().find(|other| nearest(other, [name]).is_some());
                let hint = meant.map(|other| format!("\"{}\" may be meant: call it \"{name}\"", shortened(other)));
                text.accept::<()>(Err(text.error(header.offset, message).maybe_hint(hint)))?;
            }
            if let Some(twice) = places.next() {
                let message = format!("the column \"{name}\" is given twice");
                text.accept::<()>(Err(text.error(found[twice].1, message)))?;
            }
            column.extend(place);
        }
        if column.len() < names.len() {
            return Err(FileError::told());
        }
        let others = found.iter().filter(|(name, _)| !names.contains(&name.as_str()) && !name.is_empty());
        let ignored = others.map(|(name, _)| format!("\"{}\"", shortened(name))).collect();
        Ok(Self { text, names, separator, column, count: found.len(), ignored, lines: lines.collect() })
    }

    /// The fields of a line, in the order of the names.
    fn fields(&self, line: &Line<'a>) -> Result<Vec<Field<'a>>, FileError> {
        let values: Vec<(&str, usize)> = split(*line, self.separator).collect();
        if values.len() != self.count {
            let got = counted(values.len(), "field");
            let message = format!("this line has {got}; the first line has {}", self.count);
            return Err(self.text.error(line.offset, message));
        }
        let field = |(&column, &name): (&usize, &&'static str)| {
            let (value, offset) = values[column];
            Field { text: self.text, name, value: unquoted(value), offset }
        };
        Ok(self.column.iter().zip(self.names).map(field).collect())
    }

    /// The field of a line, which may have too many or too few, under one of the names.
    fn field(&self, line: &Line<'a>, name: usize) -> Option<Field<'a>> {
        let (value, offset) = split(*line, self.separator).nth(self.column[name])?;
        Some(Field { text: self.text, name: self.names[name], value: unquoted(value), offset })
    }
}

/// The fields of a line, and where they stand in the file. What stands in quotes is in one field.
fn split(line: Line<'_>, separator: char) -> impl Iterator<Item = (&str, usize)> {
    let (mut offset, mut quoted) = (line.offset, false);
    let is_end = move |c: char| {
        quoted ^= c == '"';
        c == separator && !quoted
    };
    line.content.split(is_end).map(move |field| {
        let blanks = field.len() - field.trim_start().len();
        let start = offset + blanks;
        offset += field.len() + separator.len_utf8();
        (field.trim(), start)
    })
}

fn unquoted(field: &str) -> &str {
    field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field).trim()
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
