//! A task as a picture: a state graph or a map.

use std::collections::{BTreeMap, BTreeSet};

use gumdp::kinds::{Content, Part};
use gumdp::{Mdp, Pair, State};
use gumdp_files::{GridScene, Scene, Task, Terrain};

use crate::results::distinct;
use gumdp_plot::{CellKind, GraphEdge, GraphNode, GridCell, GridMap, NamedCells, StateGraph};

/// More groups of cells than this are not marked on a map: there are eight colours.
const MOST_GROUPS: usize = 8;

/// Draws a task, and again for narrow screens if that is too wide; `None` if it has too many states.
pub fn task(task: &Task) -> Option<(String, Option<String>)> {
    match &task.scene {
        Scene::Grid(grid) => Some((map(task, grid).svg(), None)),
        Scene::Graph(graph) => {
            let positions = graph.positions.as_ref().map(|all| all.iter().map(|&[x, y]| (x, y)).collect());
            let graph = state_graph(task, positions);
            Some((graph.svg()?, graph.narrow()))
        }
    }
}

fn map(task: &Task, grid: &GridScene) -> GridMap {
    let resources: Vec<String> = grid.terrains.iter().filter_map(|terrain| terrain.resource.clone()).collect();
    // Terrain classes are those that hold an agent; the ordinary one comes first.
    let sticky: Vec<usize> = (0..grid.terrains.len()).filter(|&i| grid.terrains[i].sticky.is_some()).collect();
    let terrains =
        std::iter::once("normal".to_owned()).chain(sticky.iter().map(|&i| grid.terrains[i].name.clone())).collect();
    let cell = |cell: u32| {
        let index = grid.terrain_of_cell[cell as usize] as usize;
        let terrain = grid.terrain(cell);
        let kind = if terrain.wall {
            CellKind::Wall
        } else if grid.home == Some(cell) {
            CellKind::Home
        } else if grid.start == cell {
            CellKind::Start
        } else if let Some(resource) = &terrain.resource {
            CellKind::Resource(resources.iter().position(|name| name == resource).unwrap_or(0))
        } else if terrain.enemy.is_some() {
            CellKind::Enemy
        } else if let Some(class) = sticky.iter().position(|&i| i == index) {
            CellKind::Terrain(class + 1)
        } else {
            CellKind::Floor
        };
        GridCell { kind, text: label(terrain) }
    };
    let cells = (0..grid.rows)
        .map(|row| (0..grid.columns).map(|column| cell((row * grid.columns + column) as u32)).collect())
        .collect();
    let paths = if grid.behaviour.is_empty() {
        Vec::new()
    } else {
        let cells = grid.behaviour.iter().map(|&cell| grid.position(cell)).collect();
        vec![NamedCells { name: "behaviour to imitate".to_owned(), cells }]
    };
    GridMap { cells, terrains, resources, groups: groups_to_visit(task, grid), paths }
}

/// The groups of cells that an objective of kind "coverage" wants visited, each with its share; none if they are too many to be
/// told apart.
pub fn groups_to_visit(task: &Task, grid: &GridScene) -> Vec<NamedCells> {
    let (mdp, (_, parts)) = (task.problem.mdp(), task.problem.objective().written());
    let coverage = parts.iter().find_map(|(_, part)| match part {
        Part::Kind(written) if written.kind.name == "coverage" => Some(&written.fields),
        _ => None,
    });
    let fields = coverage.map(|fields| (fields.get("over"), fields.get("weights")));
    let Some((Some(Content::Cells(over)), Some(Content::Numbers(weights)))) = fields else { return Vec::new() };
    let mut groups: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for pair in 0..mdp.pair_count() {
        let cell = grid.cell_of_state[mdp.state(Pair::from(pair as u32)).index()];
        if let Some(cell) = cell.filter(|_| weights[over.cell(pair)] > 0.0) {
            groups.entry(over.cell(pair)).or_default().insert(cell);
        }
    }
    if groups.len() > MOST_GROUPS {
        return Vec::new();
    }
    // By the names of their terrains, or else by number.
    let terrains =
        |cells: &BTreeSet<u32>| distinct(cells.iter().map(|&cell| grid.terrain(cell).name.as_str())).join(" or ");
    let names: Vec<String> = groups.values().map(terrains).collect();
    let are_distinct = distinct(names.iter()).len() == names.len();
    let total: f64 = weights.iter().sum();
    let named = |((group, cells), (number, name)): ((usize, BTreeSet<u32>), (usize, String))| NamedCells {
        name: format!(
            "to visit: {} ({:.0} %)",
            if are_distinct { name } else { format!("group {}", number + 1) },
            100.0 * weights[group] / total
        ),
        cells: cells.into_iter().map(|cell| grid.position(cell)).collect(),
    };
    groups.into_iter().zip(names.into_iter().enumerate()).map(named).collect()
}

/// What is written on a cell.
fn label(terrain: &Terrain) -> String {
    match (&terrain.resource, terrain.one_way, terrain.absorbing) {
        (Some(resource), ..) => resource.clone(),
        (None, Some(action), _) => ["←", "↑", "→", "↓"].get(action as usize).copied().unwrap_or_default().to_owned(),
        (None, None, true) => "end".to_owned(),
        (None, None, false) => String::new(),
    }
}

fn state_graph(task: &Task, positions: Option<Vec<(f64, f64)>>) -> StateGraph {
    let mdp = task.problem.mdp();
    let names = (0..mdp.action_count() as u32).map(|action| mdp.action_name(action.into()).to_owned());
    let any = mdp.action_count();
    let nodes = mdp
        .states()
        .map(|state| GraphNode {
            name: mdp.state_name(state).to_owned(),
            note: cost_note(task, state),
            start: mdp.initial().iter().any(|&(start, _)| start == state),
        })
        .collect();
    let mut edges = Vec::new();
    let mut uses_any = false;
    for state in mdp.states() {
        let pairs: Vec<Pair> = mdp.pairs(state).map(Pair::from).collect();
        let all_alike = pairs.len() > 1 && pairs.iter().all(|&pair| same_row(mdp, pairs[0], pair));
        uses_any |= all_alike;
        for &pair in if all_alike { &pairs[..1] } else { &pairs[..] } {
            let action = if all_alike { any } else { mdp.action(pair).index() };
            for (successor, probability) in mdp.successors(pair) {
                let label = if probability == 1.0 { String::new() } else { probability.to_string() };
                edges.push(GraphEdge { from: state.index(), to: successor.index(), action, probability, label });
            }
        }
    }
    let actions = names.chain(uses_any.then(|| "any action".to_owned())).collect();
    StateGraph { nodes, edges, actions, any_action: uses_any.then_some(any), positions }
}

fn same_row(mdp: &Mdp, pair: Pair, other: Pair) -> bool {
    mdp.successors(pair).eq(mdp.successors(other))
}

/// The costs of a state, if all its actions have the same.
fn cost_note(task: &Task, state: State) -> String {
    let (mdp, objective) = (task.problem.mdp(), task.problem.objective());
    let mut costs = mdp.pairs(state).map(|pair| objective.pair_costs(pair as usize));
    let first = costs.next().unwrap_or_default();
    if first.is_empty() || costs.any(|other| other != first) {
        return String::new();
    }
    match first.as_slice() {
        [only] => format!("c = {only}"),
        several => format!("c = {}", several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_a_coverage_objective_are_on_the_map() {
        let source = "kind = \"grid\"\ndiscount = 1\nhorizon = 9\nmap = \"A..S.B\"\n[legend]\n\"S\" = \"start\"\n\
                      \".\" = \"floor\"\n\"A\" = { name = \"gate\" }\n\"B\" = { name = \"vault\" }\n\
                      [objective]\nkind = \"coverage\"\n";
        let groups = |objective: &str| {
            let of = Task::parse("patrol.toml", &format!("{source}{objective}")).unwrap();
            let Scene::Grid(grid) = &of.scene else { panic!("a map") };
            let found = groups_to_visit(&of, grid);
            assert!(found.iter().all(|group| task(&of).unwrap().0.contains(&group.name)));
            found.into_iter().map(|group| (group.name, group.cells)).collect::<Vec<_>>()
        };
        let visit = |name: &str, cells: &[(usize, usize)]| (format!("to visit: {name}"), cells.to_vec());
        let (gate, vault) = (visit("gate (33 %)", &[(0, 0)]), visit("vault (67 %)", &[(0, 5)]));
        assert_eq!(groups("weights = { gate = 1, vault = 2 }\n"), [gate, vault]);
        assert_eq!(groups("groups = [[\"gate\", \"vault\"]]\n"), [visit("gate or vault (100 %)", &[(0, 0), (0, 5)])]);
    }
}
