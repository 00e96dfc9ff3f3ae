//! No text makes the reader panic, and every refusal names a line.

use gumdp_files::tasks;
use proptest::prelude::*;

use super::parse;

/// Pieces that are likely to break something.
#[rustfmt::skip]
const PIECES: [&str; 24] = [
    "nan", "-1", "inf", "0", "1e400", "99999999999999999999", "\"\"", "\"*\"", "[]", "{}", "\"", "=", "[", "]", "{", "}",
    "\n", "é", "s0", "1979-05-27", "true", "0.5", "[[transition]]", "/",
];

/// Files with what the built-in tasks do not have.
const RICH: [&str; 2] = [
    r#"kind = "explicit"
states = ["x", "y"]
actions = ["stay", "go"]
initial = { x = 0.5, y = 0.5 }
discount = 0.5
horizon = 3
transitions = [{ from = "*", action = "stay", stay = 1 }, { from = "both", action = "go", to = { x = 0.25, y = 0.75 } }]
groups = { both = ["x", "y"] }
[objective]
kind = "formula"
expression = "sqrt(cover) + 2*max(0, risk - 0.1)^2 + abs(entropy())/(1 + distance(demo)) - kl(demo)*1e-3"
features = { cover = { x = 1 }, risk = { "y/go" = 0.5, both = 0.25 } }
targets.demo = { file = "demo.csv", format = "policy" }
epsilon = 0.01
limit = [{ feature = "cover", at_most = 0.2, penalty = 10 }, { feature = { y = 1 }, at_least = 0.2, penalty = 1 }]
[planner.guided]
reach = 3
[files]
"demo.csv" = """
state,action,probability
x,go,1
"y",stay,0.5
y,go,0.5
"""
"#,
    r#"kind = "grid"
discount = 0.9
horizon = 5
slip = 0.2
map = """
S>.G
1.E~
"""
[legend]
"S" = { start = true, home = true }
"." = { cost = 0.25, name = "field" }
">" = { one_way = "right", cost = 1 }
"1" = { resource = "R1" }
"E" = { enemy = 0.125 }
"~" = { stuck = 0.5, unstuck = 0.25 }
"G" = "goal"
[objective]
kind = "formula"
expression = "cost + exp(-2*won)"
features.won = { delivered-R1 = 1 }
"#,
];

fn source(number: usize) -> &'static str {
    tasks::NAMES.get(number).map_or_else(|| RICH[number - tasks::NAMES.len()], |name| tasks::source(name).unwrap())
}

#[test]
fn rich_files_are_right() {
    for text in RICH {
        parse(text).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_files_never_panic(
        task in 0..tasks::NAMES.len() + RICH.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12, 0..PIECES.len()), 1..5),
    ) {
        let mut text: Vec<char> = source(task).chars().collect();
        for (place, length, piece) in edits {
            let start = place.index(text.len().max(1)).min(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = parse(&text) {
            // Other files have lines of their own.
            let own = error.file == "dir/my.toml";
            prop_assert!(!own || error.line.is_some_and(|line| line >= 1 && line <= text.lines().count() + 1));
            prop_assert!(!error.message.is_empty());
        }
    }

    /// Replaces whole values, so that most files are still TOML and the later checks are reached.
    #[test]
    fn replaced_values_never_panic(
        task in 0..tasks::NAMES.len() + RICH.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len()), 1..3),
    ) {
        let mut text = source(task).to_owned();
        for (place, piece) in edits {
            let starts: Vec<usize> = text.match_indices("= ").map(|(start, _)| start + 2).collect();
            if starts.is_empty() {
                continue;
            }
            let start = starts[place.index(starts.len())];
            let length = text[start..].find([',', '\n', '}']).unwrap_or(text.len() - start);
            text.replace_range(start..start + length, PIECES[piece]);
        }
        let _ = parse(&text);
    }

    #[test]
    fn any_text_never_panics(text in "\\PC{0,200}") {
        prop_assert!(parse(&text).is_err());
    }
}
