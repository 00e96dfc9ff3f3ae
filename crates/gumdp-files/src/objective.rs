//! The `[objective]` of a file.

use std::collections::BTreeMap;

use super::document::{Table, Value};
use super::error::FileError;
use super::files::Files;
use super::over::spellings;
use super::world::World;
use gumdp::kinds::{self, Content, Field, Given, Holds};
use gumdp::{Objective, ObjectiveError};

/// What the objective calls ε.
const EPSILON: &str = "smoothing epsilon";

/// What `kind` may be.
#[derive(Clone, Copy)]
enum Kind {
    One(&'static kinds::Kind),
    Formula,
    Sum,
}

impl Kind {
    fn all() -> Vec<(&'static str, Self)> {
        let composed = [("formula", Self::Formula), ("sum", Self::Sum)];
        kinds::Kind::all().map(|kind| (kind.name, Self::One(kind))).chain(composed).collect()
    }

    fn fields(self) -> Vec<&'static str> {
        match self {
            Self::One(kind) => kind.fields.iter().flat_map(spellings).copied().collect(),
            Self::Formula => {
                let callable = kinds::Kind::all().filter(|kind| kind.call.is_some());
                let fields = callable.flat_map(|kind| kind.fields).filter(|field| field.holds != Holds::Target);
                ["expression", "targets"].into_iter().chain(fields.flat_map(spellings).copied()).collect()
            }
            Self::Sum => vec!["terms"],
        }
    }

    /// The kind that has most of the fields of a table, where it does not say so.
    fn likely(table: Table) -> Option<Self> {
        let found = |kind: Self| kind.fields().iter().filter(|field| table.get(field).is_some()).count();
        let counted = Self::all().into_iter().map(|(_, kind)| (found(kind), kind));
        counted.rev().max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 0).map(|(_, kind)| kind)
    }
}

/// Reads an objective for a world.
pub(super) struct Reader<'a> {
    pub(super) world: &'a World,
    pub(super) discount: f64,
    /// `None` if it is to be computed from the objective.
    pub(super) horizon: Option<usize>,
    /// Whether discount and horizon are what the file says; else they are wrong there, which is told already.
    pub(super) timed: bool,
    /// The path to be imitated, once one is read.
    pub(super) behaviour: Vec<u32>,
    /// Episodes whose occupancy depends on the horizon if it is shorter: their steps, and what is then to be said.
    pub(super) longest: Vec<(usize, FileError)>,
    pub(super) files: Files<'a>,
    /// Costs with a name, for each pair; `None` for one with a mistake.
    pub(super) features: BTreeMap<String, Option<Vec<f64>>>,
    /// There may be features that could not be read.
    pub(super) features_broken: bool,
}

impl Reader<'_> {
    pub(super) fn read(&mut self, table: Table) -> Result<Objective, FileError> {
        let lost = table.has_lost("features") || table.has_lost("targets");
        self.features_broken = table.accept(self.read_features(table))?.is_none() || lost;
        let objective = self.read_term(table, &["kind", "scale", "offset", "range", "features", "limit"]);
        let objective = table.accept(objective)?;
        let limits = self.limits(table)?;
        let objective = objective.ok_or_else(FileError::told)?;
        Ok(limits.into_iter().fold(objective, |sum, limit| sum + limit))
    }

    fn read_term(&mut self, table: Table, common: &[&str]) -> Result<Objective, FileError> {
        let kind = table.needed("kind", |kind| kind.choice(&Kind::all()))?;
        if let Some(kind) = kind {
            table.only(&[common, &kind.fields()].concat())?;
        }
        // An objective of the wrong kind is read as what its fields are for.
        let objective = match kind.or(Kind::likely(table)) {
            Some(Kind::One(kind)) => table.accept(self.of_kind(kind, table, None))?,
            Some(Kind::Formula) => table.accept(self.formula(table))?,
            Some(Kind::Sum) => table.accept(self.sum(table))?,
            None => None,
        };
        rescaled(objective.filter(|_| kind.is_some()), table)
    }

    /// An objective of the fields that its kind declares; a formula says what the target is.
    pub(super) fn of_kind(
        &mut self,
        kind: &'static kinds::Kind,
        table: Table,
        target: Option<Value>,
    ) -> Result<Objective, FileError> {
        let mut given = Given::default();
        let (mut cells, mut sound) = (None, true);
        for field in kind.fields {
            let content = match field.holds {
                Holds::Cost | Holds::Costs | Holds::ByCost | Holds::Number => self.content(field, table),
                Holds::Cells { .. } => Ok(Some(self.counted(field, &mut cells, table, target)?)),
                _ => self.counted(field, &mut cells, table, target).map(Some),
            };
            match table.accept(content)? {
                Some(content) => given.0.extend(content.map(|content| (field.name, content))),
                None => sound = false,
            }
        }
        if !sound {
            return Err(FileError::told());
        }
        kind.of(given).map_err(|error| self.refused(&error, table))
    }

    /// What is in a field that needs no cells; `None` if it is left out.
    fn content(&self, field: &Field, table: Table) -> Result<Option<Content>, FileError> {
        let Some(value) = table.get(field.name) else {
            return match (field.holds, self.world.costs.first()) {
                _ if field.is_optional => Ok(None),
                (Holds::Cost, _) if self.world.doubts.costs => Err(FileError::told()),
                (Holds::Cost, Some((_, cost))) => Ok(Some(Content::Numbers(cost.clone()))),
                _ => Err(table.missing(field.name)),
            };
        };
        let content = match field.holds {
            Holds::Cost => Content::Numbers(self.cost(value)?),
            Holds::Costs => Content::Costs(value.elements(|cost| self.cost(cost))?),
            Holds::Number => Content::Number(value.number()?),
            _ => {
                let numbers = table.accept(value.finite_numbers())?;
                let length = |list: Value| list.list().map_or(0, |list| list.len());
                let (got, expected) = (length(value), table.get("costs").map_or(0, length));
                if value.is_list() && expected > 0 && got != expected {
                    return Err(self.refused(&ObjectiveError::Length { what: field.name, got, expected }, table));
                }
                Content::Numbers(numbers.ok_or_else(FileError::told)?)
            }
        };
        Ok(Some(content))
    }

    /// A cost for each pair: that of a feature by its name, or the sum of all entries of a table that apply to it.
    pub(super) fn cost(&self, value: Value) -> Result<Vec<f64>, FileError> {
        if value.as_text().is_some() {
            return self.feature(value);
        }
        let mut costs = vec![0.0; self.world.mdp.pair_count()];
        let mut sound = true;
        for (key, cost) in value.table()?.entries() {
            let pairs = value.accept(self.world.select(key))?;
            let cost = value.accept(cost.finite())?;
            sound &= pairs.is_some() && cost.is_some();
            for pair in pairs.into_iter().flatten() {
                costs[pair.index()] += cost.unwrap_or(0.0);
            }
        }
        if sound { Ok(costs) } else { Err(FileError::told()) }
    }

    fn sum(&mut self, table: Table) -> Result<Objective, FileError> {
        let list = table.need("terms")?;
        let terms = list.elements(|value| {
            let term = value.table()?;
            let weight = term.field("weight", Value::finite)?.unwrap_or(1.0);
            Ok(weight * self.read_term(term, &["kind", "scale", "offset", "range", "weight"])?)
        })?;
        let sum = terms.into_iter().reduce(|sum, term| sum + term);
        sum.ok_or_else(|| list.error(format!("{} is empty; it must have at least one term", list.name())))
    }

    /// The objective's complaint, at the field that caused it; nothing new where it only follows from doubts about the model.
    pub(super) fn refused(&self, error: &ObjectiveError, table: Table) -> FileError {
        let follows = match error {
            ObjectiveError::Length { what, .. } => *what == "targets",
            ObjectiveError::Setting { what: EPSILON, value, .. } => (0.0..=1.0).contains(value),
            ObjectiveError::Breaks { .. } => true,
            _ => false,
        };
        match error {
            _ if follows && self.world.doubts.any() => FileError::told(),
            // The number of entries is in doubt.
            ObjectiveError::Setting { what: EPSILON, value, .. } if self.world.doubts.any() => table
                .get("epsilon")
                .map_or_else(FileError::told, |epsilon| epsilon.refused(value, "lie in [0, 1 / number of entries]")),
            _ => locate(error, table),
        }
    }
}

/// (scale·f + offset − low) / (high − low).
fn rescaled(objective: Option<Objective>, table: Table) -> Result<Objective, FileError> {
    let scale = table.field("scale", Value::finite)?;
    let offset = table.field("offset", Value::finite)?;
    let range = table.field("range", |range| {
        let [low, high] = range.two_numbers()?;
        if low >= high {
            return Err(range.refused(format!("[{low}, {high}]"), "be [low, high] with low < high"));
        }
        Ok([low, high])
    })?;
    let mut objective = objective.ok_or_else(FileError::told)?;
    if let Some(scale) = scale {
        objective = scale * objective;
    }
    if let Some(offset) = offset {
        objective = objective.shifted(offset);
    }
    if let Some([low, high]) = range {
        objective = (1.0 / (high - low)) * objective.shifted(-low);
    }
    Ok(objective)
}

fn locate(error: &ObjectiveError, table: Table) -> FileError {
    let what = match error {
        ObjectiveError::Setting { what, .. } => what.rsplit(' ').next().unwrap_or_default(),
        ObjectiveError::Length { what, .. } | ObjectiveError::Empty { what } => what.trim_end_matches('s'),
        ObjectiveError::Entry { what, .. } => what,
        _ => "",
    };
    match table.get(what).or_else(|| table.get(&format!("{what}s"))) {
        Some(value) => value.error(error.to_string()),
        None => table.error(error.to_string()),
    }
}
