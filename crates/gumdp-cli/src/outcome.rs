//! How a gathering episode ended.

use gumdp::Pair;
use gumdp_files::{Scene, Task};

/// All outcomes of a gathering task, best first; empty for other tasks.
pub fn all(task: &Task) -> Vec<String> {
    let mdp = task.problem.mdp();
    let mut loads: Vec<String> = mdp
        .states()
        .filter_map(|state| mdp.state_name(state).strip_prefix("home with "))
        .filter(|load| *load != "nothing")
        .map(str::to_owned)
        .collect();
    if loads.is_empty() {
        return loads;
    }
    loads.sort_by_key(|load| (usize::MAX - load.matches('+').count(), load.clone()));
    loads.extend(["nothing".to_owned(), "defeated".to_owned()]);
    loads
}

/// What an episode brought home: resources, "nothing" (also if it never came home), or "defeated". `None` if the task is not
/// about gathering.
pub fn of(task: &Task, path: &[u32]) -> Option<String> {
    let Scene::Grid(grid) = &task.scene else { return None };
    grid.home?;
    let mdp = task.problem.mdp();
    let ended = path.iter().find_map(|&pair| {
        let name = mdp.state_name(mdp.state(Pair::from(pair)));
        if name == "defeated" { Some(name) } else { name.strip_prefix("home with ") }
    });
    Some(ended.unwrap_or("nothing").to_owned())
}
