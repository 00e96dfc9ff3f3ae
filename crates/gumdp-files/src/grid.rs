//! Files of `kind = "grid"`: a map of characters, and a legend that says what they are.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::document::{Key, Table, Value, shortened};
use super::dynamics::{ACTIONS, MAX_CELLS, Map, Situation};
use super::error::counted;
use super::mistakes::Mistake;
use super::scene::{GridScene, Scene, Sticky, Terrain};
use super::world::{ALL, Doubts, World};
use gumdp::{Pair, State};

/// The name of the costs in the legend of a map.
const MAP_COST: &str = "cost";

pub(super) const FIELDS: [&str; 3] = ["map", "legend", "slip"];

const LEGEND_FIELDS: [&str; 11] =
    ["name", "wall", "start", "home", "resource", "enemy", "stuck", "unstuck", "one_way", "absorbing", "cost"];

/// The sets of carried resources are subsets, so their number doubles with each.
const MAX_RESOURCES: usize = 32;

pub(super) fn read(root: Table) -> Option<World> {
    let map_value = root.need("map").filter(|map| map.text().is_some());
    let legend = root.need("legend").and_then(|legend| Legend::read(legend.table()?));
    let slip = root.get("slip").and_then(Value::probability).unwrap_or(0.0);
    let (map_value, mut legend) = (map_value?, legend?);
    let map = read_map(map_value, &mut legend, slip)?;
    let too_many = || format!("the map has more than {} states; at most that many are read", map.most_states());
    let help =
        "fewer cells or resources: what is carried is part of a state, so each resource doubles the states of a cell";
    let situations = map.situations().or_else(|| map_value.error(too_many()).hint(help).tell())?;
    let mdp = map_value.accept(map.model(&situations))?;

    let groups = groups(&map, &situations, &legend.names);
    for (name, key) in &legend.names {
        if mdp.find_state(name).is_some() {
            let name = shortened(name);
            key.error(format!("the terrain \"{name}\" has the name of a state; names must differ")).tell::<()>();
        }
    }
    let cost = |situation: &Situation| match *situation {
        Situation::On { cell, .. } => map.grid.terrain(cell).cost,
        _ => 0.0,
    };
    let of_states: Vec<f64> = situations.iter().map(cost).collect();
    let of_pairs = || (0..mdp.pair_count() as u32).map(|pair| of_states[mdp.state(Pair(pair)).index()]).collect();
    let has_costs = map.grid.terrains.iter().any(|terrain| terrain.cost != 0.0);
    let costs = if has_costs { vec![(MAP_COST.to_owned(), of_pairs())] } else { Vec::new() };
    let cell_of_state = situations.iter().map(|&situation| map.cell(situation)).collect();
    let scene = Scene::Grid(GridScene { cell_of_state, ..map.grid });
    let doubts =
        Doubts { states: legend.doubtful || legend.torn, of_map: legend.torn && !legend.doubtful, ..Doubts::default() };
    Some(World { mdp: Arc::new(mdp), groups, costs, scene, doubts })
}

/// What the characters of a map mean.
#[derive(Default)]
struct Legend<'a> {
    terrains: Vec<Terrain>,
    number: HashMap<char, u32>,
    /// In alphabetical order.
    resources: Vec<String>,
    /// Names given to terrains, which are groups of states.
    names: HashMap<&'a str, Key<'a>>,
    /// Characters or names are wrong, which is told already: others may be right.
    doubtful: bool,
    /// What some characters stand for is not known.
    unclear: bool,
    /// The map has cells of which nothing is known.
    torn: bool,
}

type Change = fn(&mut Terrain);

/// What a word of the legend makes of a floor.
const WORDS: [(&str, Change); 5] = [
    ("floor", |_| {}),
    ("wall", |terrain| terrain.wall = true),
    ("start", |terrain| terrain.start = true),
    ("home", |terrain| terrain.home = true),
    ("goal", |terrain| terrain.absorbing = true),
];

impl<'a> Legend<'a> {
    fn read(table: Table<'a>) -> Option<Self> {
        let lost = table.document.has_lost("legend");
        let mut legend = Self { doubtful: lost, unclear: lost, ..Self::default() };
        let mut resources = BTreeSet::new();
        for (key, value) in table.entries() {
            let mut characters = key.text.chars();
            let (Some(symbol), None) = (characters.next(), characters.next()) else {
                let name = shortened(key.text);
                key.error(format!("legend: \"{name}\" must be a single character of the map")).tell::<()>();
                (legend.doubtful, legend.unclear) = (true, true);
                continue;
            };
            legend.number.insert(symbol, legend.terrains.len() as u32);
            let terrain = legend.terrain(symbol, key, value).unwrap_or_else(|| {
                (legend.doubtful, legend.unclear) = (true, true);
                Terrain::floor(symbol)
            });
            resources.extend(terrain.resource.clone());
            legend.terrains.push(terrain);
        }
        if resources.len() > MAX_RESOURCES {
            let message = format!("legend has {} resources; at most {MAX_RESOURCES} are allowed", resources.len());
            return table.error(message).tell();
        }
        legend.resources = resources.into_iter().collect();
        Some(legend)
    }

    /// One entry: a word for what is simple, a table for the rest.
    fn terrain(&mut self, symbol: char, key: Key<'a>, value: Value<'a>) -> Option<Terrain> {
        let mut terrain = Terrain::floor(symbol);
        if !value.is_table() {
            value.choice(&WORDS)?(&mut terrain);
            value.text()?.clone_into(&mut terrain.name);
            return Some(terrain);
        }
        let table = value.table()?;
        table.only(&LEGEND_FIELDS);
        let name = table.get("name").map(|name| self.name(name, key));
        let mut flag = |field: &str| {
            let flag = table.get(field).map_or(Some(false), Value::flag);
            self.unclear |= flag.is_none();
            flag.unwrap_or(false)
        };
        terrain.wall = flag("wall");
        terrain.start = flag("start");
        terrain.home = flag("home");
        terrain.absorbing = flag("absorbing");
        terrain.resource = table.get("resource").and_then(resource);
        // A probability that is wrong is one all the same.
        let probability = |field| table.get(field).map(|value| value.probability().unwrap_or(0.5));
        terrain.enemy = probability("enemy");
        let (stuck, unstuck) = (probability("stuck"), probability("unstuck"));
        if stuck.is_some() || unstuck.is_some() {
            table.need("unstuck");
            table.need("stuck");
            terrain.sticky = Some(Sticky { stuck: stuck.unwrap_or(0.5), unstuck: unstuck.unwrap_or(0.5) });
        }
        let actions: Vec<(&str, u32)> = ACTIONS.into_iter().zip(0..).collect();
        terrain.one_way = table.get("one_way").and_then(|direction| direction.choice(&actions));
        terrain.cost = table.get("cost").and_then(Value::finite).unwrap_or(0.0);
        let Terrain { start, cost, .. } = terrain;
        let nothing_else = if terrain.absorbing {
            let allowed = terrain == Terrain { absorbing: true, start, cost, ..Terrain::floor(symbol) };
            (!allowed).then_some("an absorbing cell is never left, so it can only have a name and a cost")
        } else {
            let allowed = !terrain.wall || terrain == Terrain { wall: true, ..Terrain::floor(symbol) };
            (!allowed).then_some("a wall cannot be entered, so it can be nothing else")
        };
        if let Some(because) = nothing_else {
            key.error(format!("legend.\"{}\": {because}", symbol.escape_debug())).tell::<()>();
        }
        self.doubtful |= name == Some(None) || (terrain.resource.is_none() && table.get("resource").is_some());
        terrain.name = name.flatten().unwrap_or_else(|| described(&terrain));
        Some(terrain)
    }

    fn name(&mut self, value: Value<'a>, key: Key<'a>) -> Option<String> {
        let name = value.text()?;
        let reserved = [ALL, "stuck", "home", "defeated"].contains(&name) || name.starts_with("delivered-");
        if reserved || name.is_empty() {
            let quoted = format!("\"{}\"", shortened(name));
            return value.refused(quoted, "be another name; this one has a meaning").tell();
        }
        if self.names.insert(name, key).is_some() {
            let name = shortened(name);
            return value.error(format!("terrain name \"{name}\" is given twice; names must differ")).tell();
        }
        Some(name.to_owned())
    }
}

fn described(terrain: &Terrain) -> String {
    if let Some(resource) = &terrain.resource {
        return resource.clone();
    }
    let words = [
        ("wall", terrain.wall),
        ("home", terrain.home),
        ("start", terrain.start),
        ("enemy", terrain.enemy.is_some()),
        ("difficult", terrain.sticky.is_some()),
        ("goal", terrain.absorbing),
        ("one-way", terrain.one_way.is_some()),
    ];
    words.iter().find(|(_, applies)| *applies).map_or("floor", |(word, _)| word).to_owned()
}

fn resource(value: Value) -> Option<String> {
    let name = value.text()?;
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') {
        let quoted = format!("\"{}\"", shortened(name));
        return value.refused(quoted, "consist of letters, digits, - and _").tell();
    }
    Some(name.to_owned())
}

/// Stands for a cell of which nothing is known.
const UNKNOWN: u32 = u32::MAX;

fn read_map(value: Value, legend: &mut Legend, slip: f64) -> Option<Map> {
    let lines: Vec<&str> = value.text()?.lines().collect();
    let first_width = lines.first().map_or(0, |line| line.chars().count());
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    if first_width == 0 {
        return value.error("map is empty; it must have at least one cell").tell();
    }
    if lines.len().saturating_mul(columns) > MAX_CELLS {
        let mistake = value.error(format!("map has more than {MAX_CELLS} cells; at most that many are read"));
        return mistake.hint("larger cells, or the part of the map that matters").tell();
    }
    let mut terrain_of_cell = Vec::with_capacity(lines.len() * columns);
    let (mut starts, mut homes) = (Vec::new(), Vec::new());
    let mut unknown = BTreeSet::new();
    for (row, line) in lines.iter().enumerate() {
        let width = line.chars().count();
        if width != first_width {
            let message = format!("row {row} of map has {}; the first row has {first_width}", counted(width, "cell"));
            at_cell(value, &lines, row, 0, message).tell::<()>();
            legend.torn = true;
        }
        for (column, symbol) in line.chars().enumerate() {
            let cell = terrain_of_cell.len() as u32;
            let Some(&terrain) = legend.number.get(&symbol) else {
                terrain_of_cell.push(UNKNOWN);
                // A character that the legend has wrong is told there.
                if !legend.unclear && unknown.insert(symbol) {
                    let known: Vec<String> = legend.terrains.iter().map(|terrain| terrain.symbol.to_string()).collect();
                    let message = format!("'{}' at ({row},{column}) of map is not in legend", symbol.escape_debug());
                    let hint = format!("the characters of legend are {}", known.join(" "));
                    at_cell(value, &lines, row, column, message).hint(hint).tell::<()>();
                }
                legend.torn = true;
                continue;
            };
            let Terrain { start, home, .. } = legend.terrains[terrain as usize];
            starts.extend(start.then_some(cell));
            homes.extend(home.then_some(cell));
            terrain_of_cell.push(terrain);
        }
        terrain_of_cell.resize((row + 1) * columns, UNKNOWN);
    }
    let place = |cell: u32| format!("({},{})", cell as usize / columns, cell as usize % columns);
    for (what, cells, can) in [("homes", &homes, "can"), ("starts", &starts, "must")] {
        if let [first, second, ..] = cells[..] {
            let message = format!("map has two {what}, {} and {}; it {can} have one", place(first), place(second));
            value.error(message).tell::<()>();
        }
    }
    let start = match starts.first() {
        Some(&start) => start,
        None if legend.unclear => return None,
        // A character that is not in the legend may have been meant for the start.
        None if legend.torn => 0,
        None => {
            let mistake = value.error("map has no start; it must have one");
            return mistake.hint("add a character with \"start\" to legend").tell();
        }
    };
    if legend.torn {
        // Whatever stands there, the rest can be looked at as if it were nothing.
        let floor = legend.terrains.len() as u32;
        legend.terrains.push(Terrain::floor(' '));
        for terrain in terrain_of_cell.iter_mut().filter(|terrain| **terrain == UNKNOWN) {
            *terrain = floor;
        }
    }
    let terrains = std::mem::take(&mut legend.terrains);
    let resources = std::mem::take(&mut legend.resources);
    let found = terrains.iter().map(|terrain| bit(&resources, terrain)).collect();
    let (rows, home) = (lines.len(), homes.first().copied());
    let grid = GridScene { rows, columns, terrains, terrain_of_cell, start, home, ..GridScene::default() };
    Some(Map { grid, slip, resources, found })
}

/// The bit of the resource of a terrain; 0 if it has none.
fn bit(resources: &[String], terrain: &Terrain) -> u32 {
    let number = resources.iter().position(|resource| Some(resource) == terrain.resource.as_ref());
    number.map_or(0, |number| 1 << number)
}

/// A mistake at a cell of the map: its own place if the map is written row by row, that of the map otherwise.
fn at_cell<'a>(map: Value<'a>, lines: &[&str], row: usize, column: usize, message: String) -> Mistake<'a> {
    let start = map.span().start;
    let source = map.document.text.content.get(start..).unwrap_or_default();
    // The opening quotes are followed by a line break, which is not part of the text.
    let mut offset = start;
    for (number, line) in source.split_inclusive('\n').enumerate() {
        if number == row + 1 && line.trim_end_matches(['\n', '\r']) == lines[row] {
            let within: usize = line.chars().take(column).map(char::len_utf8).sum();
            return map.document.error(offset + within, message);
        }
        offset += line.len();
    }
    map.error(message)
}

/// Names for what objectives often look at. A group exists, though empty, if nothing that it names can be reached.
fn groups(map: &Map, situations: &[Situation], names: &HashMap<&str, Key>) -> HashMap<String, Vec<State>> {
    let mut groups: HashMap<String, Vec<State>> = HashMap::new();
    let delivered = |resource: &String| format!("delivered-{resource}");
    groups.extend(names.keys().map(|name| ((*name).to_owned(), Vec::new())));
    groups.extend(map.resources.iter().map(|resource| (delivered(resource), Vec::new())));
    groups.extend(["stuck", "home", "defeated"].map(|name| (name.to_owned(), Vec::new())));

    let mut add = |name: &str, state: usize| {
        if let Some(group) = groups.get_mut(name) {
            group.push(State(state as u32));
        }
    };
    for (state, &situation) in situations.iter().enumerate() {
        match situation {
            Situation::On { cell, stuck, .. } => {
                let name = map.grid.terrain(cell).name.as_str();
                if names.contains_key(name) {
                    add(name, state);
                }
                if stuck {
                    add("stuck", state);
                }
            }
            Situation::Home { carried } => {
                add("home", state);
                for (bit, resource) in map.resources.iter().enumerate() {
                    if carried & (1 << bit) != 0 {
                        add(&delivered(resource), state);
                    }
                }
            }
            Situation::Defeated => add("defeated", state),
            Situation::Over => {}
        }
    }
    groups
}
