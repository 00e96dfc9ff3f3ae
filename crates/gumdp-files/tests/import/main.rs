//! Models of other programs: what they become, what is assumed, what is refused, and that nothing is lost on the way out and
//! back.

#[path = "../cases/mod.rs"]
mod cases;
mod mistakes;
mod models;
mod round_trips;
mod split_states;
mod written;

use gumdp::{Mdp, Pair};
use gumdp_files::Task;

const CSV: &str = include_str!("../corpus/chain.csv");
const QUOTED: &str = include_str!("../corpus/quoted.csv");
const GYMNASIUM: &str = include_str!("../corpus/gymnasium.json");
const WRAPPED: &str = include_str!("../corpus/wrapped.json");
const DIE: &str = include_str!("../corpus/die.drn");
const ROBOT: &str = include_str!("../corpus/robot.drn");

fn parse(file: &str, text: &str) -> Task {
    Task::parse(file, text).unwrap_or_else(|error| panic!("{error} {:?}", error.hint))
}

/// Each pair as "state action: next probability, …" with its cost.
fn listed(task: &Task) -> Vec<String> {
    let mdp = task.problem.mdp();
    let (costs, constant) = task.problem.objective().as_linear().expect("a linear objective");
    let row = |pair: Pair| {
        let outcomes: Vec<String> =
            mdp.successors(pair).map(|(next, p)| format!("{} {p}", mdp.state_name(next))).collect();
        let (state, action) = (mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)));
        format!("{state} {action}: {} | {}", outcomes.join(", "), costs[pair.index()] + constant)
    };
    (0..mdp.pair_count() as u32).map(|pair| row(pair.into())).collect()
}

fn start(mdp: &Mdp) -> Vec<(&str, f64)> {
    mdp.initial().iter().map(|&(state, p)| (mdp.state_name(state), p)).collect()
}

/// A problem file that imports this text.
fn wrapper(format: &str, fields: &str, text: &str) -> String {
    format!("kind = \"import\"\nformat = \"{format}\"\ntext = '''\n{text}'''\n{fields}\n")
}
