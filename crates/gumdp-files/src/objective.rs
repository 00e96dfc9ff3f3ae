//! The `[objective]` of a file.

use std::collections::BTreeMap;

use super::document::{Table, Value};
use super::files::Files;
use super::mistakes::{Mistake, every};
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
                ["expression", "targets", "parts"].into_iter().chain(fields.flat_map(spellings).copied()).collect()
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
    pub(super) longest: Vec<(usize, Mistake<'a>)>,
    pub(super) files: Files<'a>,
    /// Costs with a name, for each pair; `None` for one with a mistake.
    pub(super) features: BTreeMap<String, Option<Vec<f64>>>,
    /// There may be features that could not be read.
    pub(super) features_broken: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn read(&mut self, table: Table<'a>) -> Option<Objective> {
        let lost = table.has_lost("features") || table.has_lost("targets");
        self.features_broken = self.read_features(table).is_none() || lost;
        let objective = self.read_term(table, &["kind", "scale", "offset", "range", "features", "limit"]);
        let limits = self.limits(table);
        Some(limits?.into_iter().fold(objective?, |sum, limit| sum + limit))
    }

    pub(super) fn read_term(&mut self, table: Table<'a>, common: &[&str]) -> Option<Objective> {
        let kind = table.need("kind").and_then(|kind| kind.choice(&Kind::all()));
        if let Some(kind) = kind {
            table.only(&[common, &kind.fields()].concat());
        }
        // An objective of the wrong kind is read as what its fields are for.
        let objective = match kind.or(Kind::likely(table)) {
            Some(Kind::One(kind)) => self.of_kind(kind, table, None),
            Some(Kind::Formula) => self.formula(table),
            Some(Kind::Sum) => self.sum(table),
            None => None,
        };
        rescaled(objective.filter(|_| kind.is_some()), table)
    }

    /// An objective of the fields that its kind declares; a formula says what the target is.
    pub(super) fn of_kind(
        &mut self,
        kind: &'static kinds::Kind,
        table: Table<'a>,
        target: Option<Value<'a>>,
    ) -> Option<Objective> {
        let (mut given, mut cells, mut sound) = (Given::default(), None, true);
        for field in kind.fields {
            let content = match field.holds {
                Holds::Cost | Holds::Costs | Holds::ByCost | Holds::Number => {
                    if field.is_optional && table.get(field.name).is_none() {
                        continue;
                    }
                    self.content(field, table)
                }
                // What is over the wrong entries cannot be looked at.
                Holds::Cells { .. } => Some(self.counted(field, &mut cells, table, target)?),
                _ => self.counted(field, &mut cells, table, target),
            };
            sound &= content.is_some();
            given.0.extend(content.map(|content| (field.name, content)));
        }
        if !sound {
            return None;
        }
        kind.of(given).map_err(|error| self.refuse(&error, table)).ok()
    }

    /// What is in a field that needs no cells.
    fn content(&self, field: &Field, table: Table) -> Option<Content> {
        let Some(value) = table.get(field.name) else {
            return match (field.holds, self.world.costs.first()) {
                (Holds::Cost, _) if self.world.doubts.costs => None,
                (Holds::Cost, Some((_, cost))) => Some(Content::Numbers(cost.clone())),
                _ => table.missing(field.name, None),
            };
        };
        let content = match field.holds {
            Holds::Cost => Content::Numbers(self.cost(value)?),
            Holds::Costs => Content::Costs(value.elements(|cost| self.cost(cost))?),
            Holds::Number => Content::Number(value.number()?),
            _ => {
                let numbers = value.elements(Value::finite);
                let length = |list: Value| if list.is_list() { list.list().map_or(0, |list| list.len()) } else { 0 };
                let (got, expected) = (length(value), table.get("costs").map_or(0, length));
                if value.is_list() && expected > 0 && got != expected {
                    self.refuse(&ObjectiveError::Length { what: field.name, got, expected }, table);
                    return None;
                }
                Content::Numbers(numbers?)
            }
        };
        Some(content)
    }

    /// A cost for each pair: that of a feature by its name, or the sum of all entries of a table that apply to it.
    pub(super) fn cost(&self, value: Value) -> Option<Vec<f64>> {
        if value.as_text().is_some() {
            return self.feature(value);
        }
        let mut costs = vec![0.0; self.world.mdp.pair_count()];
        let entries = value.entries()?.into_iter().map(|(key, cost)| {
            let (pairs, cost) = (self.world.select(key), cost.finite());
            pairs.zip(cost)
        });
        for (pairs, cost) in every::<_, Vec<_>>(entries)? {
            for pair in pairs {
                costs[pair.index()] += cost;
            }
        }
        Some(costs)
    }

    fn sum(&mut self, table: Table<'a>) -> Option<Objective> {
        let list = table.need("terms")?;
        let terms = list.elements(|value| {
            let term = value.table()?;
            let weight = term.get("weight").and_then(Value::finite).unwrap_or(1.0);
            Some(weight * self.read_term(term, &["kind", "scale", "offset", "range", "weight"])?)
        })?;
        list.not_empty("have at least one term")?;
        terms.into_iter().reduce(|sum, term| sum + term)
    }

    /// Tells the objective's complaint at the field that caused it; nothing where it only follows from doubts about the model.
    pub(super) fn refuse(&self, error: &ObjectiveError, table: Table) {
        let doubtful = self.world.doubts.any();
        match error {
            ObjectiveError::Length { what: "targets", .. } | ObjectiveError::Breaks { .. } if doubtful => {}
            // The number of entries is in doubt.
            ObjectiveError::Setting { what: EPSILON, value, .. } if doubtful => {
                if let Some(epsilon) = table.get("epsilon").filter(|_| !(0.0..=1.0).contains(value)) {
                    epsilon.refused(value, "lie in [0, 1 / number of entries]").tell::<()>();
                }
            }
            _ => locate(error, table),
        }
    }
}

/// (scale·f + offset − low) / (high − low).
fn rescaled(objective: Option<Objective>, table: Table) -> Option<Objective> {
    let scale = table.get("scale").and_then(Value::finite);
    let offset = table.get("offset").and_then(Value::finite);
    let range = table.get("range").and_then(|range| range.range(|_| true, "be [low, high] with low < high"));
    let mut objective = objective?;
    if let Some(scale) = scale {
        objective = scale * objective;
    }
    if let Some(offset) = offset {
        objective = objective.shifted(offset);
    }
    if let Some([low, high]) = range {
        objective = (1.0 / (high - low)) * objective.shifted(-low);
    }
    Some(objective)
}

fn locate(error: &ObjectiveError, table: Table) {
    let what = match error {
        ObjectiveError::Setting { what, .. } => what.rsplit(' ').next().unwrap_or_default(),
        ObjectiveError::Length { what, .. } | ObjectiveError::Empty { what } => what.trim_end_matches('s'),
        ObjectiveError::Entry { what, .. } => what,
        _ => "",
    };
    let value = table.any(&[what, &format!("{what}s")]);
    value.map_or_else(|| table.error(error.to_string()), |value| value.error(error.to_string())).tell::<()>();
}
