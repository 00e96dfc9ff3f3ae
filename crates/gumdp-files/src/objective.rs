//! The `[objective]` of a file.

use std::collections::BTreeMap;

use super::document::{Key, Table, Value, shortened};
use super::error::FileError;
use super::files::Files;
use super::scene::{GridScene, Scene};
use super::world::World;
use gumdp::model::Pair;
use gumdp::objective::{self, Content, Field, Given, Holds, Objective, ObjectiveError, Partition};

/// More cells that nobody visits than this are taken for a mistake.
const MAX_UNVISITED: u64 = 1_000_000;

/// What the objective calls ε.
const EPSILON: &str = "smoothing epsilon";

/// What `kind` may be.
#[derive(Clone, Copy)]
enum Kind {
    One(&'static objective::Kind),
    Formula,
    Sum,
}

impl Kind {
    fn all() -> Vec<(&'static str, Self)> {
        let composed = [("formula", Self::Formula), ("sum", Self::Sum)];
        objective::Kind::all().map(|kind| (kind.name, Self::One(kind))).chain(composed).collect()
    }

    fn fields(self) -> Vec<&'static str> {
        match self {
            Self::One(kind) => kind.fields.iter().flat_map(spellings).copied().collect(),
            Self::Formula => {
                let callable = objective::Kind::all().filter(|kind| kind.call.is_some());
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

/// What a file may call a field.
fn spellings(field: &'static Field) -> &'static [&'static str] {
    match field.holds {
        Holds::Cells { .. } => &["over", "unvisited_cells"],
        Holds::Target => &["target", "behaviour"],
        _ => std::slice::from_ref(&field.name),
    }
}

/// What the occupancy is counted over.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Over {
    States,
    Pairs,
    Cells,
    CellActions,
    /// Groups of states by name, and all others together.
    Groups,
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
        kind: &'static objective::Kind,
        table: Table,
        target: Option<Value>,
    ) -> Result<Objective, FileError> {
        let mut given = Given::default();
        let (mut cells, mut sound) = (None, true);
        for field in kind.fields {
            let content = match field.holds {
                Holds::Cells { by_pair } => {
                    let over = table.accept(self.over(by_pair, table))?;
                    // What is over the wrong entries cannot be looked at.
                    if over.is_none() {
                        table.field("epsilon", Value::probability)?;
                    }
                    let over = over.ok_or_else(FileError::told)?;
                    let partition = table.accept(self.partition(over, table))?;
                    let partition = partition.unwrap_or_else(|| Partition::pairs(&self.world.mdp));
                    cells = Some((over, partition.clone()));
                    Ok(Some(Content::Cells(partition)))
                }
                Holds::Target => match (&cells, target) {
                    (Some((_, partition)), Some(target)) => self.target(target, partition),
                    (Some((over, partition)), None) => self.own_target(*over, partition, table),
                    (None, _) => Err(FileError::told()),
                }
                .map(|target| Some(Content::Numbers(target))),
                _ => self.content(field, table),
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

    /// What is counted: where nothing is said, states or pairs, or their cells on a map.
    fn over(&self, by_pair: bool, table: Table) -> Result<Over, FileError> {
        let is_grid = matches!(self.world.scene, Scene::Grid(_));
        let on_map = [("cells", Over::Cells), ("cell-actions", Over::CellActions)];
        let everywhere = [("states", Over::States), ("pairs", Over::Pairs)];
        match table.get("over") {
            Some(over) if over.is_list() => Ok(Over::Groups),
            Some(over) if is_grid => over.choice(&[on_map, everywhere].concat()),
            Some(over) => over.choice(&everywhere),
            None => Ok(match (by_pair, is_grid) {
                (false, true) => Over::Cells,
                (false, false) => Over::States,
                (true, true) => Over::CellActions,
                (true, false) => Over::Pairs,
            }),
        }
    }

    fn partition(&self, over: Over, table: Table) -> Result<Partition, FileError> {
        let mdp = &self.world.mdp;
        if over == Over::Groups && table.get("unvisited_cells").is_none() {
            let list = table.need("over")?;
            return self.groups(list, list.elements(|group| group.all(Value::key))?);
        }
        let unvisited = table.get("unvisited_cells");
        let (Scene::Grid(grid), Over::Cells | Over::CellActions) = (&self.world.scene, over) else {
            if let Some(value) = unvisited {
                let message = format!("{} is given, but the objective is not over the cells of a map", value.name());
                return Err(value.error(message));
            }
            return Ok(if over == Over::States { Partition::states(mdp) } else { Partition::pairs(mdp) });
        };
        let unvisited = unvisited.map(|value| value.count(0, MAX_UNVISITED)).transpose()?.unwrap_or(0);
        let actions = mdp.action_count() as u32;
        let (cell_of_state, cells) = cells_of_states(grid);
        let cells = cells + unvisited as u32;
        let pairs = (0..mdp.pair_count() as u32).map(Pair);
        let (cell_of_pair, entries) = if over == Over::Cells {
            (pairs.map(|pair| cell_of_state[mdp.state(pair).index()]).collect(), vec![actions; cells as usize])
        } else {
            let cell = |pair| cell_of_state[mdp.state(pair).index()] * actions + mdp.action(pair).0;
            (pairs.map(cell).collect(), vec![1; (cells * actions) as usize])
        };
        Partition::new(cell_of_pair, entries).map_err(|error| self.refused(&error, table))
    }
}

impl Reader<'_> {
    /// A cell for each of these groups of names, and one for all that is in none.
    fn groups(&self, list: Value, groups: Vec<Vec<Key>>) -> Result<Partition, FileError> {
        const NONE: u32 = u32::MAX;
        if groups.is_empty() || groups.iter().any(Vec::is_empty) {
            return Err(list.error(format!("{} has a group without a name; there must be at least one", list.name())));
        }
        let mut cell_of_pair = vec![NONE; self.world.mdp.pair_count()];
        let (mut entries, mut sound) = (vec![0; groups.len()], true);
        for (cell, key) in groups.iter().enumerate().flat_map(|(cell, names)| names.iter().map(move |key| (cell, *key)))
        {
            let pairs = self.world.select(key).and_then(|pairs| {
                let name = shortened(key.text);
                if pairs.is_empty() {
                    return Err(key.error(format!("there is no state in \"{name}\"")));
                }
                let taken = pairs.iter().any(|pair| ![NONE, cell as u32].contains(&cell_of_pair[pair.index()]));
                let message = || format!("\"{name}\" has states of a group before it; groups must not overlap");
                if taken { Err(key.error(message())) } else { Ok(pairs) }
            });
            let pairs = list.accept(pairs)?;
            sound &= pairs.is_some();
            for pair in pairs.into_iter().flatten() {
                cell_of_pair[pair.index()] = cell as u32;
            }
        }
        let rest = entries.len() as u32;
        entries.extend(cell_of_pair.contains(&NONE).then_some(0));
        for cell in &mut cell_of_pair {
            *cell = (*cell).min(rest);
            entries[*cell as usize] += 1;
        }
        if !sound {
            return Err(FileError::told());
        }
        Partition::new(cell_of_pair, entries).map_err(|error| list.error(error.to_string()))
    }
}

/// The cells of a map without its walls, numbered from 0; their number.
pub(super) fn compact_cells(grid: &GridScene) -> (Vec<u32>, u32) {
    let mut count = 0;
    let numbers = grid
        .cells()
        .map(|cell| {
            let number = count;
            count += u32::from(!grid.terrain(cell).wall);
            number
        })
        .collect();
    (numbers, count)
}

/// For each state the number of its cell. States that are in no cell have one of their own, after those of the map.
fn cells_of_states(grid: &GridScene) -> (Vec<u32>, u32) {
    let (compact, mut count) = compact_cells(grid);
    let cells = grid
        .cell_of_state
        .iter()
        .map(|cell| {
            cell.map_or_else(
                || {
                    count += 1;
                    count - 1
                },
                |cell| compact[cell as usize],
            )
        })
        .collect();
    (cells, count)
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
