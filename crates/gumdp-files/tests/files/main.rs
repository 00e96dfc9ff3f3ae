//! Problem files: what they can say, and what is said when they are wrong.

mod contents;
mod fuzzed;
mod mistakes;
mod objectives;

use gumdp_files::{FileError, Task};

const EXPLICIT: &str = r#"kind = "explicit"
states = ["x", "y"]
actions = ["go"]
start = "x"
discount = 0.9
horizon = 5
transitions = [
  { from = "x", action = "go", to = "y" },
  { from = "y", action = "*", to = { x = 0.25 }, stay = 0.75 },
]
[objective]
kind = "linear"
cost = { y = 1 }
[experiment]
beta = [0, 1]
"#;

const GRID: &str = r##"kind = "grid"
discount = 0.9
horizon = 3
map = """
S.~
#.1
"""
[legend]
"S" = "start"
"." = "floor"
"#" = "wall"
"~" = { name = "mud", stuck = 0.5, unstuck = 0.25 }
"1" = { enemy = 0.125 }
[objective]
kind = "squared-distance"
behaviour = [0, 1, 4, 5]
"##;

fn parse(text: &str) -> Result<Task, FileError> {
    Task::parse("dir/my.toml", text)
}

/// A file with an objective in place of that of `EXPLICIT`.
fn with_objective(objective: &str) -> String {
    EXPLICIT.replace("kind = \"linear\"\ncost = { y = 1 }", objective)
}
