//! Problems to begin with: the built-in tasks and the examples.

use serde_json::{Value, json};

use crate::shown;
use gumdp_files::{Task, tasks};

const DELIVERY: &str = include_str!("../../../examples/delivery/delivery.toml");
const INVENTORY: &str = include_str!("../../../examples/inventory/inventory.toml");
const ROUNDS: &str = include_str!("../../../examples/imitation/rounds.toml");
const WATCHMAN: &str = include_str!("../../../examples/imitation/watchman.csv");

/// Name and text of each.
fn texts() -> Vec<(&'static str, String)> {
    let built_in = tasks::NAMES.iter().filter_map(|name| Some((*name, tasks::source(name)?.to_owned())));
    let rounds = format!("{ROUNDS}\n[files]\n\"watchman.csv\" = '''\n{WATCHMAN}'''\n");
    let examples = [("delivery", DELIVERY.to_owned()), ("inventory", INVENTORY.to_owned()), ("rounds", rounds)];
    built_in.chain(examples).collect()
}

/// All of them with what is needed to draw them.
pub fn all() -> Value {
    let entry = |(name, text): (&str, String)| {
        let task = Task::parse(&format!("{name}.toml"), &text).ok()?;
        let built_in = tasks::source(name).is_some();
        Some(json!({
            "name": name,
            "built_in": built_in,
            "title": task.title,
            "description": task.description,
            "text": text,
            "scene": shown::scene(&task),
            "states": shown::state_names(&task),
        }))
    };
    texts().into_iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_tasks_and_examples_are_there() {
        assert_eq!(super::all().as_array().unwrap().len(), 13);
    }
}
