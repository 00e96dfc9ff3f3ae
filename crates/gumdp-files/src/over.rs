//! What an objective counts: states, pairs, cells of a map or groups by name, and numbers for each of them.

use super::document::{Key, Table, Value, shortened};
use super::error::FileError;
use super::objective::Reader;
use super::scene::{GridScene, Scene};
use gumdp::kinds::{Content, Field, Holds};
use gumdp::{ObjectiveError, Pair, Partition};

/// More cells that nobody visits than this are taken for a mistake.
const MAX_UNVISITED: u64 = 1_000_000;

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

/// What a file may call a field.
pub(super) fn spellings(field: &'static Field) -> &'static [&'static str] {
    match field.holds {
        Holds::Cells { .. } => &["over", "unvisited_cells"],
        Holds::Target => &["target", "behaviour"],
        Holds::ByCell => &["weights", "groups"],
        _ => std::slice::from_ref(&field.name),
    }
}

impl Reader<'_> {
    /// What is in a field that is cells, or numbers for the cells before it; a formula says what the target is.
    pub(super) fn counted(
        &mut self,
        field: &Field,
        cells: &mut Option<(Over, Partition)>,
        table: Table,
        target: Option<Value>,
    ) -> Result<Content, FileError> {
        let Some((over, partition)) = cells else {
            let by_pair = field.holds == (Holds::Cells { by_pair: true });
            let over = table.accept(self.over(by_pair, table))?;
            // What is over the wrong entries cannot be looked at.
            if over.is_none() {
                table.field("epsilon", Value::probability)?;
            }
            let over = over.ok_or_else(FileError::told)?;
            let partition = table.accept(self.partition(over, table))?;
            let partition = partition.unwrap_or_else(|| Partition::pairs(&self.world.mdp));
            *cells = Some((over, partition.clone()));
            return Ok(Content::Cells(partition));
        };
        let numbers = match (field.holds, target) {
            (Holds::ByCell, _) => self.weights(*over, partition, table),
            (_, Some(target)) => self.target(target, partition),
            (_, None) => self.own_target(*over, partition, table),
        };
        numbers.map(Content::Numbers)
    }

    /// What is counted: where nothing is said, states or pairs, or their cells on a map.
    fn over(&self, by_pair: bool, table: Table) -> Result<Over, FileError> {
        let is_grid = matches!(self.world.scene, Scene::Grid(_));
        let on_map = [("cells", Over::Cells), ("cell-actions", Over::CellActions)];
        let everywhere = [("states", Over::States), ("pairs", Over::Pairs)];
        if let (Some(_), Some(groups)) = (table.get("over"), table.get("groups")) {
            return Err(groups.error("both over and groups are given; give one of them"));
        }
        let has_groups = table.get("groups").is_some() || table.get("weights").is_some_and(Value::is_table);
        match table.get("over") {
            None if has_groups => Ok(Over::Groups),
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
            return self.named_groups(table);
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

    /// Cells for the groups of `over` or `groups`, or for those that have weights.
    fn named_groups(&self, table: Table) -> Result<Partition, FileError> {
        let weights = table.get("weights").filter(|weights| weights.is_table());
        match (table.get("over").or(table.get("groups")), weights) {
            (Some(list), None) => self.groups(list, &list.elements(|group| group.all(Value::key))?),
            (None, Some(weights)) => self
                .groups(weights, &weights.table()?.entries().into_iter().map(|(key, _)| vec![key]).collect::<Vec<_>>()),
            (Some(_), Some(weights)) => {
                let message =
                    format!("{} by name are the groups; give no others, or a list of numbers", weights.name());
                Err(weights.error(message))
            }
            (None, None) => Err(table.missing("groups")),
        }
    }

    /// What each cell counts: 1, or as it is given; nothing for what is in no group or no cell of the map.
    fn weights(&self, over: Over, partition: &Partition, table: Table) -> Result<Vec<f64>, FileError> {
        let weight = |value: Value| {
            let weight = value.finite()?;
            if weight < 0.0 { Err(value.refused(weight, "not be negative")) } else { Ok(weight) }
        };
        let given = table.get("weights");
        let weights = match given {
            Some(list) if !list.is_table() => Some(list.elements(weight)?),
            Some(named) => {
                let numbers = named.table()?.entries().into_iter().map(|(_, value)| named.accept(weight(value)));
                let numbers: Vec<Option<f64>> = numbers.collect::<Result<_, _>>()?;
                Some(numbers.into_iter().collect::<Option<_>>().ok_or_else(FileError::told)?)
            }
            None => None,
        };
        let expected = match (over, &self.world.scene, table.get("over").or(table.get("groups"))) {
            (Over::Groups, _, Some(list)) => list.list()?.len(),
            (Over::Groups, _, None) => weights.as_ref().map_or(0, Vec::len),
            (Over::Cells, Scene::Grid(grid), _) => compact_cells(grid).1 as usize,
            _ => partition.cell_count(),
        };
        let mut weights = weights.unwrap_or_else(|| vec![1.0; expected]);
        if weights.len() != expected {
            let error = ObjectiveError::Length { what: "weights", got: weights.len(), expected };
            return Err(self.refused(&error, table));
        }
        weights.resize(partition.cell_count(), 0.0);
        Ok(weights)
    }

    /// A cell for each of these groups of names, and one for all that is in none.
    fn groups(&self, list: Value, groups: &[Vec<Key>]) -> Result<Partition, FileError> {
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
