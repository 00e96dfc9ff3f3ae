//! What an objective counts: states, pairs, cells of a map or groups by name, and numbers for each of them.

use super::document::{Either, Key, Table, Value, shortened};
use super::mistakes::every;
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

impl<'a> Reader<'a> {
    /// What is in a field that is cells, or numbers for the cells before it; a formula says what the target is.
    pub(super) fn counted(
        &mut self,
        field: &Field,
        cells: &mut Option<(Over, Partition)>,
        table: Table<'a>,
        target: Option<Value<'a>>,
    ) -> Option<Content> {
        let Some((over, partition)) = cells else {
            let by_pair = field.holds == (Holds::Cells { by_pair: true });
            let over = self.over(by_pair, table);
            if over.is_none() {
                table.get("epsilon").and_then(Value::probability);
            }
            let partition = self.partition(over?, table).unwrap_or_else(|| Partition::pairs(&self.world.mdp));
            *cells = Some((over?, partition.clone()));
            return Some(Content::Cells(partition));
        };
        let numbers = match (field.holds, target) {
            (Holds::ByCell, _) => self.weights(*over, partition, table),
            (_, Some(target)) => self.target(target, partition),
            (_, None) => self.own_target(*over, partition, table),
        };
        numbers.map(Content::Numbers)
    }

    /// What is counted: where nothing is said, states or pairs, or their cells on a map.
    fn over(&self, by_pair: bool, table: Table) -> Option<Over> {
        let is_grid = matches!(self.world.scene, Scene::Grid(_));
        let on_map = [("cells", Over::Cells), ("cell-actions", Over::CellActions)];
        let everywhere = [("states", Over::States), ("pairs", Over::Pairs)];
        match table.either("over", "groups")? {
            Either::Other(_) => Some(Over::Groups),
            Either::One(over) if over.is_list() => Some(Over::Groups),
            Either::One(over) if is_grid => over.choice(&[on_map, everywhere].concat()),
            Either::One(over) => over.choice(&everywhere),
            Either::Neither if table.get("weights").is_some_and(Value::is_table) => Some(Over::Groups),
            Either::Neither => {
                let usual = if is_grid { on_map } else { everywhere };
                Some(usual[usize::from(by_pair)].1)
            }
        }
    }

    fn partition(&self, over: Over, table: Table) -> Option<Partition> {
        let mdp = &self.world.mdp;
        let unvisited = table.get("unvisited_cells");
        if over == Over::Groups && unvisited.is_none() {
            return self.named_groups(table);
        }
        let (Scene::Grid(grid), Over::Cells | Over::CellActions) = (&self.world.scene, over) else {
            if let Some(value) = unvisited {
                let message = format!("{} is given, but the objective is not over the cells of a map", value.name());
                return value.error(message).tell();
            }
            return Some(if over == Over::States { Partition::states(mdp) } else { Partition::pairs(mdp) });
        };
        let unvisited = unvisited.map_or(Some(0), |value| value.count(0, MAX_UNVISITED))?;
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
        Partition::new(cell_of_pair, entries).map_err(|error| self.refuse(&error, table)).ok()
    }

    /// Cells for the groups of `over` or `groups`, or for those that have weights.
    fn named_groups(&self, table: Table) -> Option<Partition> {
        let weights = table.get("weights").filter(|weights| weights.is_table());
        match (table.any(&["over", "groups"]), weights) {
            (Some(list), None) => self.groups(list, &list.elements(|group| group.all(Value::key))?),
            (None, Some(weights)) => {
                let groups: Vec<Vec<Key>> = weights.entries()?.into_iter().map(|(key, _)| vec![key]).collect();
                self.groups(weights, &groups)
            }
            (Some(_), Some(weights)) => {
                let name = weights.name();
                weights.error(format!("{name} by name are the groups; give no others, or a list of numbers")).tell()
            }
            (None, None) => table.missing("groups", None),
        }
    }

    /// What each cell counts: 1, or as it is given; nothing for what is in no group or no cell of the map.
    fn weights(&self, over: Over, partition: &Partition, table: Table) -> Option<Vec<f64>> {
        let given = table.get("weights").map(|weights| {
            let named = || every(weights.entries()?.into_iter().map(|(_, weight)| weight.amount()));
            if weights.is_table() { named() } else { weights.elements(Value::amount) }
        });
        let weights: Option<Vec<f64>> = match given {
            Some(weights) => Some(weights?),
            None => None,
        };
        let expected = match (over, &self.world.scene, table.any(&["over", "groups"])) {
            (Over::Groups, _, Some(list)) => list.list()?.len(),
            (Over::Groups, _, None) => weights.as_ref().map_or(0, Vec::len),
            (Over::Cells, Scene::Grid(grid), _) => compact_cells(grid).1 as usize,
            _ => partition.cell_count(),
        };
        let mut weights = weights.unwrap_or_else(|| vec![1.0; expected]);
        if weights.len() != expected {
            self.refuse(&ObjectiveError::Length { what: "weights", got: weights.len(), expected }, table);
            return None;
        }
        weights.resize(partition.cell_count(), 0.0);
        Some(weights)
    }

    /// A cell for each of these groups of names, and one for all that is in none.
    fn groups(&self, list: Value, groups: &[Vec<Key>]) -> Option<Partition> {
        const NONE: u32 = u32::MAX;
        if groups.is_empty() || groups.iter().any(Vec::is_empty) {
            let name = list.name();
            return list.error(format!("{name} has a group without a name; there must be at least one")).tell();
        }
        let mut cell_of_pair = vec![NONE; self.world.mdp.pair_count()];
        let keys = (0..).zip(groups).flat_map(|(cell, names)| names.iter().map(move |key| (cell, *key)));
        every::<_, Vec<()>>(keys.map(|(cell, key)| {
            let (pairs, name) = (self.world.select(key)?, shortened(key.text));
            if pairs.is_empty() {
                return key.error(format!("there is no state in \"{name}\"")).tell();
            }
            if pairs.iter().any(|pair| ![NONE, cell].contains(&cell_of_pair[pair.index()])) {
                let message = format!("\"{name}\" has states of a group before it; groups must not overlap");
                return key.error(message).tell();
            }
            for pair in pairs {
                cell_of_pair[pair.index()] = cell;
            }
            Some(())
        }))?;
        let mut entries = vec![0; groups.len()];
        let rest = entries.len() as u32;
        entries.extend(cell_of_pair.contains(&NONE).then_some(0));
        for cell in &mut cell_of_pair {
            *cell = (*cell).min(rest);
            entries[*cell as usize] += 1;
        }
        list.accept(Partition::new(cell_of_pair, entries))
    }
}

/// The cells of a map without its walls, numbered from 0; their number.
pub(super) fn compact_cells(grid: &GridScene) -> (Vec<u32>, u32) {
    let mut count = 0;
    let number = |cell| {
        let number = count;
        count += u32::from(!grid.terrain(cell).wall);
        number
    };
    (grid.cells().map(number).collect(), count)
}

/// For each state the number of its cell. States that are in no cell have one of their own, after those of the map.
fn cells_of_states(grid: &GridScene) -> (Vec<u32>, u32) {
    let (compact, mut count) = compact_cells(grid);
    let number = |cell: &Option<u32>| {
        let of_map = cell.map(|cell| compact[cell as usize]);
        count += u32::from(of_map.is_none());
        of_map.unwrap_or(count - 1)
    };
    (grid.cell_of_state.iter().map(number).collect(), count)
}
