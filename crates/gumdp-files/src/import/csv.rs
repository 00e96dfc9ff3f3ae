//! Transitions as CSV: `idstatefrom,idaction,idstateto,probability,reward`, and the small tables that may lie next to it.
//!
//! Rewards are gains. Columns may come in any order; others are ignored.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use super::super::csv::{Csv, Field};
use super::super::document::shortened;
use super::super::error::{nearest, position};
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
fn read(text: Text) -> Option<Foreign> {
    let mut foreign = Foreign::new(vec!["cost".to_owned()], true);
    let table = Columns::read(text, &COLUMNS)?;
    if !table.ignored.is_empty() {
        foreign.notes.push(format!("these columns are ignored: {}", table.ignored.join(", ")));
    }
    let mut lowest = u32::MAX;
    for (row, whole) in table.csv.rows() {
        if !whole {
            let [state, action] = [0, 1].map(|column| id_in(&row.get(table.column[column])?.text));
            foreign.unread.add(state, action, None);
            continue;
        }
        let [state, action, next] = [0, 1, 2].map(|column| table.id(&row, column));
        let (probability, reward) =
            (table.probability(&row, 3), table.number(&row, 4, f64::is_finite, "be a finite number"));
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
    Some(foreign)
}

/// The initial distribution: `idstate,probability`.
fn read_initial(text: Text) -> Option<Initial> {
    let table = Columns::read(text, &["idstate", "probability"])?;
    let mut initial = Initial::default();
    let mut lines = HashMap::new();
    for (row, whole) in table.csv.rows() {
        let mut read = || {
            whole.then_some(())?;
            let (state, probability) = (table.id(&row, 0), table.probability(&row, 1));
            table.once(&row, &mut lines, state?)?;
            Some((state?, probability?, row[table.column[0]].offset))
        };
        let entry = read();
        initial.doubtful |= entry.is_none();
        initial.entries.extend(entry);
    }
    Some(initial)
}

/// Parameters: `parameter,value`. Names are compared without case, spaces and underscores.
fn read_parameters(text: Text, foreign: &mut Foreign) -> Option<()> {
    let table = Columns::read(text, &["parameter", "value"])?;
    let has_initial = foreign.initial.is_some();
    let (mut ignored, mut lines) = (Vec::new(), HashMap::new());
    for (row, _) in table.csv.rows().filter(|(_, whole)| *whole) {
        let [parameter, value] = [0, 1].map(|column| &row[table.column[column]]);
        let name: String = parameter.text.chars().filter(|c| c.is_alphanumeric()).collect();
        match name.to_lowercase().as_str() {
            "discount" | "gamma" | "discountfactor" => {
                table.once(&row, &mut lines, "discount");
                let valid = |number: f64| number > 0.0 && number <= 1.0;
                foreign.discount = table.number(&row, 1, valid, "be a number in (0, 1]").or(foreign.discount);
            }
            "horizon" | "timehorizon" | "t" => {
                table.once(&row, &mut lines, "horizon");
                let valid = |number: f64| number.fract() == 0.0 && (1.0..=MAX_HORIZON as f64).contains(&number);
                let must = format!("be a whole number in [1, {MAX_HORIZON}]");
                let horizon = table.number(&row, 1, valid, &must).map(|number| number as usize);
                foreign.horizon = horizon.or(foreign.horizon);
            }
            "start" | "startstate" | "initial" | "initialstate" | "idinitialstate" | "s0" => {
                table.once(&row, &mut lines, "start");
                let start = table.id(&row, 1);
                if !has_initial {
                    let entries = start.map(|state| (state, 1.0, value.offset)).into_iter().collect();
                    let elsewhere = Some((text.file.to_owned(), text.content.to_owned()));
                    foreign.initial = Some(Initial { entries, offset: 0, doubtful: start.is_none(), elsewhere });
                }
            }
            _ => ignored.push(shortened(parameter.text.trim())),
        }
    }
    if !ignored.is_empty() {
        foreign.notes.push(format!("these parameters are ignored: {}", ignored.join(", ")));
    }
    Some(())
}

/// Reads `NAME.initial.csv` and `NAME.parameters.csv`, or else `initial.csv` and `parameters.csv`, next to `NAME.csv`.
fn read_neighbours(path: &Path, foreign: &mut Foreign, mistakes: &Mistakes) {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let neighbour = |what: &str, foreign: &mut Foreign| {
        let names = [format!("{stem}.{what}.csv"), format!("{what}.csv")];
        let mut paths = names.into_iter().map(|name| path.with_file_name(name));
        let path = paths.find(|other| other.is_file() && other != path)?;
        foreign.notes.push(format!("{} is used", path.display()));
        Some((
            path.display().to_string(),
            mistakes.accept(read_file(path.parent().unwrap_or(Path::new("")), &path, mistakes)),
        ))
    };
    if let Some((file, content)) = neighbour("initial", foreign) {
        let initial = content.and_then(|content| {
            let initial = read_initial(Text::of_data(&file, &content, mistakes))?;
            Some(Initial { elsewhere: Some((file, content)), ..initial })
        });
        foreign.initial = initial.or(Some(Initial { doubtful: true, ..Initial::default() }));
    }
    if let Some((file, Some(content))) = neighbour("parameters", foreign) {
        read_parameters(Text::of_data(&file, &content, mistakes), foreign);
    }
}

/// A table with these columns.
struct Columns<'a> {
    csv: Csv<'a>,
    names: &'static [&'static str],
    /// For each name the number of its column.
    column: Vec<usize>,
    ignored: Vec<String>,
}

impl<'a> Columns<'a> {
    fn read(text: Text<'a>, names: &'static [&'static str]) -> Option<Self> {
        let csv = Csv::open(text, &format!("be {}", names.join(",")), None)?;
        let mut column = Vec::new();
        for &name in names {
            let mut places = csv.header.iter().enumerate().filter(|(_, field)| field.text == name);
            let place = places.next();
            if place.is_none() {
                let message = format!("the column \"{name}\" is missing; the first line must name {}", names.join(","));
                let mut others = csv.header.iter().map(|field| &*field.text).filter(|other| !names.contains(other));
                let meant = others.find(|other| nearest(other, [name]).is_some());
                let hint = meant.map(|other| format!("\"{}\" may be meant: call it \"{name}\"", shortened(other)));
                csv.error(&csv.header[0], message).maybe_hint(hint).tell::<()>();
            }
            if let Some((_, twice)) = places.next() {
                csv.error(twice, format!("the column \"{name}\" is there twice")).tell::<()>();
            }
            column.extend(place.map(|(place, _)| place));
        }
        let others =
            csv.header.iter().map(|field| &*field.text).filter(|name| !names.contains(name) && !name.is_empty());
        let ignored = others.map(|name| format!("\"{}\"", shortened(name))).collect();
        (column.len() == names.len()).then_some(Self { csv, names, column, ignored })
    }

    /// The number in a column of a whole line, for which this holds.
    fn number(&self, row: &[Field], column: usize, valid: impl Fn(f64) -> bool, must: &str) -> Option<f64> {
        let field = &row[self.column[column]];
        let number = field.text.trim().parse().ok().filter(|&number| valid(number));
        number.or_else(|| self.csv.refused(field, self.names[column], must).tell())
    }

    fn id(&self, row: &[Field], column: usize) -> Option<u32> {
        let must = || format!("be a whole number in [0, {MAX_ID}]");
        let field = &row[self.column[column]];
        id_in(&field.text).or_else(|| self.csv.refused(field, self.names[column], &must()).tell())
    }

    fn probability(&self, row: &[Field], column: usize) -> Option<f64> {
        self.number(row, column, |number| (0.0..=1.0).contains(&number), "be a number in [0, 1]")
    }

    /// Refuses what stands in the first column of an earlier line as well.
    fn once<T: Eq + Hash>(&self, row: &[Field], places: &mut HashMap<T, usize>, what: T) -> Option<()> {
        let field = &row[self.column[0]];
        let Some(first) = places.insert(what, field.offset) else { return Some(()) };
        let (line, _) = position(self.csv.text.content, first);
        let (name, value) = (self.names[0], shortened(field.text.trim()));
        self.csv.error(field, format!("{name} \"{value}\" is given twice; first on line {line}")).tell()
    }
}

/// The id that a text is.
fn id_in(text: &str) -> Option<u32> {
    // Some programs write whole numbers as 3.0.
    let number: f64 = text.trim().parse().ok()?;
    (number.fract() == 0.0 && (0.0..=f64::from(MAX_ID)).contains(&number)).then_some(number as u32)
}
