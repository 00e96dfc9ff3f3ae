//! Problem files: what they can say, and what is said when they are wrong.

#[path = "../cases/mod.rs"]
mod cases;
mod contents;
mod fuzzed;
mod mistakes;
mod objectives;

use gumdp_files::{FileError, Task};

const EXPLICIT: &str = include_str!("../problems/two_states.toml");

const GRID: &str = include_str!("../problems/mud.toml");

fn parse(text: &str) -> Result<Task, FileError> {
    Task::parse("dir/my.toml", text)
}

/// A file with an objective in place of that of `EXPLICIT`.
fn with_objective(objective: &str) -> String {
    EXPLICIT.replace("kind = \"linear\"\ncost = { y = 1 }", objective)
}
