//! A task as a picture: a state graph or a map.

use gumdp::{Mdp, Pair, State};
use gumdp_files::{GridScene, Scene, Task, Terrain};

use gumdp_plot::{CellKind, GraphEdge, GraphNode, GridCell, GridMap, GridPath, StateGraph};

/// Draws a task; `None` if it is a graph with too many states.
pub fn task(task: &Task) -> Option<String> {
    match &task.scene {
        Scene::Grid(grid) => Some(map(grid).svg()),
        Scene::Graph(graph) => {
            let positions = graph.positions.as_ref().map(|all| all.iter().map(|&[x, y]| (x, y)).collect());
            state_graph(task, positions).svg()
        }
    }
}

fn map(grid: &GridScene) -> GridMap {
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
        vec![GridPath { name: "behaviour to imitate".to_owned(), cells }]
    };
    GridMap { cells, terrains, resources, paths, ..GridMap::default() }
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
                edges.push(GraphEdge { from: state.index(), to: successor.index(), action, label });
            }
        }
    }
    let actions = names.chain(uses_any.then(|| "any action".to_owned())).collect();
    StateGraph { nodes, edges, actions, positions, ..StateGraph::default() }
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
