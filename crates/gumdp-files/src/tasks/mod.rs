//! The built-in tasks: problem files, embedded. Everything about a task is in its file.
//!
//! ```
//! let task = gumdp_files::tasks::get("rooms").unwrap();
//! assert_eq!(task.problem.mdp().state_count(), 4);
//! assert!(gumdp_files::tasks::source("rooms").unwrap().contains("kind = \"explicit\""));
//! ```

use crate::Task;

/// The names of the built-in tasks: the motivating example, the illustrative tasks, the grids.
pub const NAMES: [&str; 10] =
    ["rooms", "mdp", "msee", "il", "mo-weighted", "mo-max", "mo-min", "grid-msee", "grid-il", "grid-mo"];

/// The text of a built-in task's file.
#[must_use]
pub fn source(name: &str) -> Option<&'static str> {
    Some(match name {
        "rooms" => include_str!("rooms.toml"),
        "mdp" => include_str!("mdp.toml"),
        "msee" => include_str!("msee.toml"),
        "il" => include_str!("il.toml"),
        "mo-weighted" => include_str!("mo-weighted.toml"),
        "mo-max" => include_str!("mo-max.toml"),
        "mo-min" => include_str!("mo-min.toml"),
        "grid-msee" => include_str!("grid-msee.toml"),
        "grid-il" => include_str!("grid-il.toml"),
        "grid-mo" => include_str!("grid-mo.toml"),
        _ => return None,
    })
}

/// A built-in task.
///
/// # Panics
/// Never: the tests read every built-in file.
#[must_use]
pub fn get(name: &str) -> Option<Task> {
    source(name).map(|text| Task::parse(&format!("{name}.toml"), text).expect("a built-in file is correct"))
}
