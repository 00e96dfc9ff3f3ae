//! Problem files: what they can say, and what is said when they are wrong.

use std::fmt::Write as _;

use gumdp::{FileError, PlannerVariant, Scene, State, Task, tasks};
use proptest::prelude::*;

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

/// The message for a file in which `old` is replaced by `new`, without the file's name.
#[track_caller]
fn refused(file: &str, old: &str, new: &str) -> (String, Option<String>) {
    assert!(file.contains(old), "the file has no {old}");
    let error = parse(&file.replacen(old, new, 1)).map(|task| task.name).expect_err("this must be refused");
    let text = error.to_string();
    (text.strip_prefix("dir/my.toml:").unwrap_or(&text).to_owned(), error.hint)
}

#[track_caller]
fn check(file: &str, old: &str, new: &str, message: &str) {
    assert_eq!(refused(file, old, new).0, message);
}

#[track_caller]
fn check_hint(file: &str, old: &str, new: &str, message: &str, hint: &str) {
    assert_eq!(refused(file, old, new), (message.to_owned(), Some(hint.to_owned())));
}

#[test]
fn errors_show_file_line_and_column() {
    let error = parse(&EXPLICIT.replace("discount = 0.9", "discount = 1.5")).unwrap_err();
    assert_eq!(error.to_string(), "dir/my.toml:5:12: the discount is 1.5; it must lie in (0, 1]");
    assert_eq!((error.line, error.column), (Some(5), Some(12)));
    assert_eq!(error.file, "dir/my.toml");
}

#[test]
fn syntax_types_and_fields() {
    check(
        EXPLICIT,
        "horizon = 5",
        "horizon =",
        "6:10: not valid TOML: string values must be quoted, expected literal string",
    );
    check(EXPLICIT, "horizon = 5", "horizon = 5\nhorizon = 6", "7:1: not valid TOML: duplicate key");
    check(EXPLICIT, "0.9", "\"high\"", "5:12: discount must be a number, not the text \"high\"");
    check(EXPLICIT, "horizon = 5", "horizon = 5.5", "6:11: horizon must be a whole number, not the number 5.5");
    check(EXPLICIT, "{ y = 1 }", "{ y = true }", "13:14: objective.cost.y must be a number, not true");
    check(EXPLICIT, "start = \"x\"\n", "", "1:1: the field \"start\" is missing");
    check(EXPLICIT, "discount = 0.9\n", "", "1:1: the field \"discount\" is missing");
    check(EXPLICIT, "cost = { y = 1 }\n", "", "11:1: the field \"cost\" is missing in objective");
    check(EXPLICIT, "to = \"y\"", "", "8:3: the field \"to\" is missing in transitions[0]");
    let (message, hint) = ("5:1: unknown field \"discont\"", "did you mean \"discount\"?");
    check_hint(EXPLICIT, "discount", "discont", message, hint);
    let (message, hint) =
        ("15:1: unknown field \"zzz\" in experiment", "the fields here are beta, risk, curve, runs, simulations");
    check_hint(EXPLICIT, "beta =", "zzz =", message, hint);
    let message = "1:8: kind is \"grod\"; it must be \"explicit\", \"grid\" or \"import\"";
    check_hint(EXPLICIT, "explicit", "grod", message, "did you mean \"grid\"?");
    assert_eq!(parse("").unwrap_err().to_string(), "dir/my.toml:1:1: the field \"kind\" is missing");
    let deep = format!("x = {}", "[".repeat(100_000));
    assert!(parse(&deep).is_err());
}

#[test]
fn numbers_out_of_range() {
    check(EXPLICIT, "0.9", "nan", "5:12: the discount is NaN; it must lie in (0, 1]");
    check(EXPLICIT, "0.9", "0", "5:12: the discount is 0; it must lie in (0, 1]");
    check(EXPLICIT, "horizon = 5", "horizon = 0", "6:11: horizon is 0; it must lie in [1, 1000000]");
    check(EXPLICIT, "horizon = 5", "horizon = -3", "6:11: horizon is -3; it must lie in [1, 1000000]");
    check(EXPLICIT, "horizon = 5", "accuracy = 0", "6:12: the accuracy is 0; it must be positive and finite");
    check(EXPLICIT, "horizon = 5\n", "", "1:1: the field \"horizon\" is missing");
    check(EXPLICIT, "{ y = 1 }", "{ y = inf }", "13:14: objective.cost.y is inf; it must be finite");
    let message = "15:12: experiment.beta[1] is NaN; it must be a number (inf is the worst case)";
    check(EXPLICIT, "[0, 1]", "[0, nan]", message);
    check(EXPLICIT, "[0, 1]", "[]", "15:8: experiment.beta is empty; it must have at least one number");
    check(EXPLICIT, "beta = [0, 1]", "runs = 0", "15:8: experiment.runs is 0; it must lie in [1, 1000000000]");
    check(
        EXPLICIT,
        "[experiment]\nbeta = [0, 1]",
        "[planner]\nexploration = -1",
        "15:15: planner.exploration is -1; it must not be negative",
    );
    check(
        EXPLICIT,
        "[objective]",
        "[objective]\nrange = [1, 1]",
        "12:9: objective.range is [1, 1]; it must be [low, high] with low < high",
    );
}

#[test]
fn states_actions_and_transitions() {
    check(EXPLICIT, "[\"x\", \"y\"]", "[]", "2:10: states is empty; it must name at least one state");
    check(
        EXPLICIT,
        "[\"x\", \"y\"]",
        "[\"x\", \"y\", \"x\"]",
        "2:21: state name \"x\" is given twice; names must differ",
    );
    check(EXPLICIT, "[\"go\"]", "[\"*\"]", "3:12: \"*\" cannot be the name of a state or an action");
    check(EXPLICIT, "start = \"x\"", "start = \"z\"", "4:9: unknown state \"z\"");
    check(EXPLICIT, "from = \"x\"", "from = [\"x\", \"z\"]", "8:18: unknown state \"z\"");
    check_hint(EXPLICIT, "action = \"go\"", "action = \"goo\"", "8:26: unknown action \"goo\"", "did you mean \"go\"?");
    check(EXPLICIT, "{ x = 0.25 }", "{ z = 0.25 }", "9:38: unknown state \"z\"");
    let sum = "9:3: state \"y\", action \"go\": the probabilities sum to 0.9; they must sum to 1 within 1e-9";
    check(EXPLICIT, "stay = 0.75", "stay = 0.65", sum);
    let negative = "9:3: state \"y\", action \"go\": the probability of \"x\" is -0.25; it must lie in [0, 1]";
    check(EXPLICIT, "x = 0.25", "x = -0.25", negative);
    let nan = "9:3: state \"y\", action \"go\": the probability of \"y\" is NaN; it must lie in [0, 1]";
    check(EXPLICIT, "stay = 0.75", "stay = nan", nan);
    let twice = "9:3: the transition of state \"x\", action \"go\" is given twice";
    check(EXPLICIT, "from = \"y\"", "from = \"*\"", twice);
    let none = "2:16: state \"y\" has no action; every state needs at least one transition";
    check(EXPLICIT, "  { from = \"y\", action = \"*\", to = { x = 0.25 }, stay = 0.75 },\n", "", none);
    let initial = "4:11: the initial probabilities sum to 0.75; they must sum to 1 within 1e-9";
    check(EXPLICIT, "start = \"x\"", "initial = { x = 0.5, y = 0.25 }", initial);
    let both = "5:11: both start and initial are given; give one of them";
    check(EXPLICIT, "start = \"x\"", "start = \"x\"\ninitial = { x = 1 }", both);
    // The other way to write transitions has a place too.
    let tables = EXPLICIT.replace("{ from = \"y\", action = \"*\", to = { x = 0.25 }, stay = 0.75 },", "")
        + "[[transition]]\nfrom = \"y\"\naction = \"go\"\nto = { x = 0.5 }\n";
    check(
        &tables,
        "x = 0.5",
        "x = 0.4",
        "16:1: state \"y\", action \"go\": the probabilities sum to 0.4; they must sum to 1 within 1e-9",
    );
}

#[test]
fn maps_and_legends() {
    check(GRID, "S.~", "S.", "6:1: row 1 of map has 3 cells; the first row has 2");
    let message = "6:3: '2' at (1,2) of map is not in legend";
    check_hint(GRID, "#.1", "#.2", message, "the characters of legend are S . # ~ 1");
    check_hint(
        GRID,
        "S.~",
        "..~",
        "4:7: map has no start; it must have one",
        "add a character with \"start\" to legend",
    );
    check(GRID, "S.~", "SS~", "4:7: map has two starts, (0,0) and (0,1); it must have one");
    check(
        GRID,
        "\"start\"",
        "\"begin\"",
        "9:7: legend.S is \"begin\"; it must be \"floor\", \"wall\", \"start\", \"home\" or \"goal\"",
    );
    check(GRID, "enemy = 0.125", "enemy = 1.5", "13:17: legend.1.enemy is 1.5; it must lie in [0, 1]");
    check(GRID, ", unstuck = 0.25", "", "12:7: the field \"unstuck\" is missing in legend.~");
    check(GRID, "\"~\" =", "\"~~\" =", "12:1: legend: \"~~\" must be a single character of the map");
    check(
        GRID,
        "enemy = 0.125",
        "home = true, start = true, wall = true",
        "13:1: legend.1: a wall cannot be entered, so it can be nothing else",
    );
    check(
        GRID,
        "enemy = 0.125",
        "resource = \"a/b\"",
        "13:20: legend.1.resource is \"a/b\"; it must consist of letters, digits, - and _",
    );
    check(GRID, "horizon = 3", "horizon = 3\nslip = -1", "4:8: slip is -1; it must lie in [0, 1]");
    check(GRID, "\"mud\"", "\"(0,1)\"", "12:1: the terrain \"(0,1)\" has the name of a state; names must differ");
    let map = "\"\"\"\nS.~\n#.1\n\"\"\"";
    check(GRID, map, "\"\"", "4:7: map is empty; it must have at least one cell");
    check(GRID, map, "\"S~?\"", "4:7: '?' at (0,2) of map is not in legend");
}

#[test]
fn objectives() {
    let message = "12:8: objective.kind is \"lineer\"; it must be \"linear\", \"weighted-sum\", \"maximum\", \"minimum\", \
                   \"signed-power\", \"entropy\", \"squared-distance\", \"absolute-distance\", \"kl\", \"formula\" or \"sum\"";
    check_hint(EXPLICIT, "\"linear\"", "\"lineer\"", message, "did you mean \"linear\"?");
    check(EXPLICIT, "{ y = 1 }", "{ z = 1 }", "13:10: unknown state or group \"z\"");
    check_hint(EXPLICIT, "{ y = 1 }", "{ \"y/goo\" = 1 }", "13:10: unknown action \"goo\"", "did you mean \"go\"?");
    let objective = "kind = \"linear\"\ncost = { y = 1 }";
    let target = "kind = \"squared-distance\"\ntarget = [1, 0, 0]";
    check(EXPLICIT, objective, target, "13:10: the objective has 3 targets; 2 are needed");
    let target = "kind = \"squared-distance\"\ntarget = [1, nan]";
    check(EXPLICIT, objective, target, "13:10: target 1 of the objective is NaN; it must be finite and not negative");
    let target = "kind = \"squared-distance\"\ntarget = { \"*\" = 1 }";
    check(EXPLICIT, objective, target, "13:12: the target \"*\" must name exactly one entry of the occupancy");
    let path = "kind = \"kl\"\nepsilon = 0.1\nbehaviour = [1]";
    check(EXPLICIT, objective, path, "14:13: objective.behaviour needs a map; give target instead");
    let epsilon = "kind = \"entropy\"\nepsilon = 2";
    check(
        EXPLICIT,
        objective,
        epsilon,
        "13:11: the smoothing epsilon is 2; it must lie in [0, 5e-1] (1 / number of entries)",
    );
    let costs = "kind = \"maximum\"\ncosts = []";
    check(EXPLICIT, objective, costs, "13:9: the objective has no costs; it needs at least one");
    let costs = "kind = \"minimum\"\ncosts = [{ x = 1 }]\nweights = [1, 2]";
    check(EXPLICIT, objective, costs, "14:11: the objective has 2 weights; 1 are needed");
    let costs = "kind = \"signed-power\"\ncosts = [{ x = 1 }]\npowers = [0]";
    check(EXPLICIT, objective, costs, "14:10: power 0 of the objective is 0; it must be finite and positive");
    let costs = "kind = \"sum\"\nterms = [{ kind = \"linear\", cost = { x = 1 }, weight = nan }]";
    check(EXPLICIT, objective, costs, "13:56: objective.terms[0].weight is NaN; it must be finite");
    let unvisited = "kind = \"entropy\"\nunvisited_cells = 1";
    let message = "13:19: objective.unvisited_cells is given, but the objective is not over the cells of a map";
    check(EXPLICIT, objective, unvisited, message);
    let root = "kind = \"signed-power\"\ncosts = [{ x = 1 }]\npowers = [0.5]";
    let rooted = EXPLICIT.replace(objective, root);
    let message = "6:12: no horizon follows from an accuracy: the objective has no finite Lipschitz constant; give the horizon itself";
    check(&rooted, "horizon = 5", "accuracy = 0.1", message);
}

#[test]
fn behaviour_paths() {
    check(
        GRID,
        "[0, 1, 4, 5]",
        "[0, 1, 5, 4]",
        "16:20: objective.behaviour[2] is 5, (1,2); it must be a neighbour of 1, (0,1)",
    );
    check(GRID, "[0, 1, 4, 5]", "[0, 1, 4, 3]", "16:23: objective.behaviour[3] is 3, which is a wall");
    check(GRID, "[0, 1, 4, 5]", "[0, 1, 4, 6]", "16:23: objective.behaviour[3] is 6; it must lie in [0, 5]");
    check(GRID, "[0, 1, 4, 5]", "[0, 1]", "16:13: objective.behaviour has 2 cells; a horizon of 3 needs at least 4");
    check(
        GRID,
        "behaviour",
        "over = \"states\"\nbehaviour",
        "17:13: objective.behaviour needs over = \"cells\" or \"cell-actions\"",
    );
    check(GRID, "horizon = 3", "accuracy = 0.1", "16:13: objective.behaviour needs horizon instead of accuracy");
}

#[test]
fn files_that_cannot_be_read() {
    let folder = std::env::temp_dir().join(format!("gumdp-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let missing = folder.join("none.toml");
    let message = |path: &std::path::Path| Task::load(path).unwrap_err().to_string();
    assert_eq!(message(&missing), format!("{}: there is no such file", missing.display()));
    assert_eq!(message(&folder), format!("{}: this is a folder; name a problem file", folder.display()));
    let binary = folder.join("binary.toml");
    std::fs::write(&binary, b"kind = \"grid\"\nmap = \"\xff\"").unwrap();
    assert_eq!(message(&binary), format!("{}:2:8: the file is not text in UTF-8", binary.display()));
    let good = folder.join("good.toml");
    std::fs::write(&good, EXPLICIT).unwrap();
    assert_eq!(Task::load(&good).unwrap().name, "good");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_left_out_has_defaults() {
    let task = parse(&EXPLICIT.replace("[experiment]\nbeta = [0, 1]\n", "")).unwrap();
    assert_eq!((task.name.as_str(), task.title.as_str(), task.description.as_str()), ("my", "my", ""));
    assert_eq!(task.defaults, gumdp::Defaults::default());
    assert_eq!(task.defaults.betas, [0.1, 1.0, 10.0]);
    assert_eq!((task.defaults.runs, task.defaults.simulations), (100, 500));
    assert_eq!(task.defaults.exploration, 2.0_f64.sqrt());
    assert_eq!(task.defaults.variant, PlannerVariant::Grid);
    assert!(task.scripts.is_empty());
    let worst = parse(&EXPLICIT.replace("[0, 1]", "[0, inf, -inf, 2]")).unwrap();
    assert_eq!(worst.defaults.betas, [0.0, f64::INFINITY, f64::NEG_INFINITY, 2.0]);
}

#[test]
fn costs_of_states_groups_and_actions_add_up() {
    let text = EXPLICIT
        .replace("\"go\"]", "\"go\", \"run\"]")
        .replace("action = \"go\"", "action = \"*\"")
        .replace("{ y = 1 }", "{ y = 1, both = 10, \"*/run\" = 100, \"x/go\" = 1000 }")
        + "[groups]\nboth = [\"x\", \"y\"]\n";
    let (costs, _) = parse(&text).unwrap().problem.objective().as_linear().unwrap();
    assert_eq!(costs, [1010.0, 110.0, 11.0, 111.0]);
}

#[test]
fn sums_scales_and_ranges() {
    let sum = "kind = \"sum\"\nscale = 2\noffset = 1\nrange = [-1, 3]\nterms = [\n\
               { kind = \"linear\", cost = { y = 1 }, weight = 3 },\n\
               { kind = \"absolute-distance\", over = \"states\", target = { x = 1 } },\n]";
    let task = parse(&EXPLICIT.replace("kind = \"linear\"\ncost = { y = 1 }", sum)).unwrap();
    let f = 3.0 * 0.25 + 0.25 + 0.25;
    assert!((task.problem.objective().value(&[0.75, 0.25]) - (2.0 * f + 1.0 + 1.0) / 4.0).abs() < 1e-15);
}

#[test]
fn accuracy_gives_the_horizon() {
    let task = parse(&EXPLICIT.replace("horizon = 5", "accuracy = 0.01")).unwrap();
    assert_eq!(task.problem.horizon(), gumdp::Problem::horizon_for(task.problem.objective(), 0.9, 0.01).unwrap());
}

#[test]
fn walls_are_not_cells_and_enemies_need_no_home() {
    let task = parse(GRID).unwrap();
    let mdp = task.problem.mdp();
    let names: Vec<&str> = mdp.states().map(|s| mdp.state_name(s)).collect();
    assert_eq!(names, ["(0,0)", "(0,1)", "(0,2)", "(0,2) stuck", "(1,1)", "(1,2)", "defeated", "over"]);
    // 5 cells without the wall, and one each for the two states in no cell; 4 actions.
    assert_eq!(task.problem.objective().feature_count(), 7 * 4);
    let down = mdp.pair(State::from(0), mdp.find_action("down").unwrap()).unwrap();
    assert_eq!(mdp.successors(down).collect::<Vec<_>>(), [(State::from(0), 1.0)]);
    let Scene::Grid(scene) = task.scene else { panic!("not a grid") };
    assert_eq!(scene.behaviour, [0, 1, 4, 5]);
    assert_eq!(scene.terrain(2).name, "mud");
    assert!(scene.terrain(3).wall);
}

#[test]
fn large_files_are_read() {
    let mut map = format!("S{}\n", ".".repeat(299));
    for _ in 1..300 {
        writeln!(map, "{}", ".~".repeat(150)).unwrap();
    }
    let text = GRID
        .replace("S.~\n#.1\n", &map)
        .replace("kind = \"squared-distance\"\nbehaviour = [0, 1, 4, 5]", "kind = \"entropy\"");
    assert_eq!(parse(&text).unwrap().problem.mdp().state_count(), 300 * 300 + 299 * 150);

    let count = 100_000;
    let names: Vec<String> = (0..count).map(|n| format!("\"n{n}\"")).collect();
    let mut text = format!(
        "kind = \"explicit\"\nstates = [{}]\nactions = [\"go\"]\nstart = \"n0\"\ndiscount = 0.9\nhorizon = 5\n",
        names.join(", ")
    );
    text.push_str("[objective]\nkind = \"linear\"\ncost = { n7 = 1 }\n");
    for n in 0..count {
        writeln!(text, "[[transition]]\nfrom = \"n{n}\"\naction = \"go\"\nto = \"n{}\"", (n * 7 + 1) % count).unwrap();
    }
    assert_eq!(parse(&text).unwrap().problem.mdp().state_count(), count);
    let message = parse(&text.replace("to = \"n1\"\n", "to = \"m\"\n")).unwrap_err().to_string();
    assert!(message.ends_with("unknown state \"m\""), "{message}");
    let all = "from = \"*\"\naction = \"*\"\nto = { n0 = 0.5 }\n[[transition]]\n".repeat(300);
    let message = parse(&text.replacen("from", &format!("{all}from"), 1)).unwrap_err().message;
    assert_eq!(message, "the model has more than 20000000 transitions; at most that many are read");
}

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

/// A file with an objective in place of that of `EXPLICIT`.
fn with_objective(objective: &str) -> String {
    EXPLICIT.replace("kind = \"linear\"\ncost = { y = 1 }", objective)
}

#[test]
fn formulas_are_read() {
    let text = with_objective(
        "kind = \"formula\"\nexpression = \"sqrt(coverage) + 2*max(0, risk - 0.1) + entropy() * distance(demo)\"\n\
         features = { coverage = { x = 1 }, risk = { \"y/go\" = 0.5 } }\ntargets = { demo = { x = 1 } }\nover = \"states\"",
    );
    let objective = parse(&text).unwrap().problem.objective().clone();
    let (x, y) = (0.75_f64, 0.25_f64);
    let entropy = x * x.ln() + y * y.ln();
    let expected = x.sqrt() + 2.0 * (0.5 * y - 0.1).max(0.0) + entropy * ((x - 1.0).powi(2) + y * y);
    assert!((objective.value(&[x, y]) - expected).abs() < 1e-12);
    assert_eq!(objective.to_string(), "(sqrt(coverage) + 2*max(0, risk - 0.1) + entropy() * distance(demo))");
    let linear = parse(&with_objective("kind = \"formula\"\nexpression = \"2*a - 1\"\nfeatures = { a = { y = 1 } }"));
    assert_eq!(linear.unwrap().problem.objective().as_linear(), Some((vec![0.0, 2.0], -1.0)));
}

#[test]
fn wrong_formulas_are_refused_at_their_place() {
    let formula = |expression: &str| {
        let objective = format!(
            "kind = \"formula\"\nfeatures = {{ cover = {{ x = 1 }} }}\ntargets = {{ demo = {{ x = 1 }} }}\nover = \"states\"\n\
             expression = \"{expression}\""
        );
        let error = parse(&with_objective(&objective)).unwrap_err();
        (error.to_string(), error.hint.unwrap_or_default())
    };
    for (expression, message, hint) in [
        ("1 + covr^2", "16:19: objective.expression: unknown name \"covr\"", "did you mean \"cover\"?"),
        ("sqr(cover)", "16:15: objective.expression: unknown name \"sqr\"", "did you mean \"sqrt\"?"),
        (
            "distance(dmo)",
            "16:15: objective.expression: \"dmo\" is no target",
            "targets are defined in [objective.targets]",
        ),
        ("cover + ", "16:23: objective.expression: the expression ends where a number or a name is needed", ""),
        ("kl(demo)", "11:1: the field \"epsilon\" is missing in objective", ""),
        (
            "ln(cover)",
            "16:14: objective.expression is -inf for the occupancy 1 of y/go; it must be finite everywhere",
            "keep divisors, roots and logarithms away from 0: ln(x + 0.01), max(0, x)",
        ),
        (
            "1/(cover - 0.25)",
            "16:14: objective.expression is inf for the occupancy 0.75 of y/go, 0.25 of x/go; it must be finite everywhere",
            "keep divisors, roots and logarithms away from 0: ln(x + 0.01), max(0, x)",
        ),
    ] {
        assert_eq!(formula(expression), (format!("dir/my.toml:{message}"), hint.to_owned()), "{expression}");
    }
    let refused = |objective: &str| parse(&with_objective(objective)).unwrap_err().to_string();
    let feature =
        |name: &str| refused(&format!("kind = \"linear\"\ncost = {{ y = 1 }}\nfeatures = {{ {name} = {{}} }}"));
    assert!(feature("max").contains("the feature \"max\" needs another name"));
    assert!(feature("\"a b\"").contains("needs a name of letters, digits and _"));
    assert!(refused("kind = \"linear\"\ncost = \"fuel\"").ends_with("unknown feature \"fuel\""));
}

#[test]
fn limits_are_penalties() {
    let base = "kind = \"entropy\"\nfeatures = { fuel = { y = 2 } }\n";
    let plain = parse(&with_objective(base)).unwrap().problem.objective().clone();
    let limited = |limit: &str| parse(&with_objective(&format!("{base}limit = {limit}"))).map(|task| task.problem);
    let d = [0.75, 0.25];
    for (limit, expected) in [
        ("{ feature = \"fuel\", at_most = 0.2, penalty = 10 }", 3.0),
        ("{ feature = \"fuel\", at_most = 0.6, penalty = 10 }", 0.0),
        ("{ feature = { y = 2 }, at_least = 0.75, penalty = 4 }", 1.0),
        (
            "[{ feature = \"fuel\", at_most = 0.2, penalty = 10 }, { feature = { x = 1 }, at_least = 1, penalty = 2 }]",
            3.5,
        ),
    ] {
        let objective = limited(limit).unwrap().objective().clone();
        assert!((objective.value(&d) - plain.value(&d) - expected).abs() < 1e-12, "{limit}");
    }
    let refused = |limit: &str| limited(limit).unwrap_err().to_string();
    assert!(
        refused("{ feature = \"fuel\", penalty = 1 }").contains("the field \"at_most\" is missing in objective.limit")
    );
    assert!(
        refused("{ feature = \"fuel\", at_most = 1, at_least = 0, penalty = 1 }").contains("both at_most and at_least")
    );
    assert!(refused("{ feature = \"fuel\", at_most = 1, penalty = -1 }").contains("it must not be negative"));
    assert!(refused("{ feature = \"fule\", at_most = 1, penalty = 1 }").contains("unknown feature \"fule\""));
}

/// Two states to and fro, two actions in the first.
const IMITATION: &str = r#"kind = "explicit"
states = ["x", "y"]
actions = ["stay", "go"]
start = "x"
discount = 0.5
horizon = 3
transitions = [
  { from = "x", action = "stay", to = "x" },
  { from = "x", action = "go", to = "y" },
  { from = "y", action = "go", to = "x" },
]
[objective]
kind = "absolute-distance"
target = { file = "demo.csv" }
[files]
"demo.csv" = """
"#;

/// The distance of the zero vector to the target is its sum; the distance of a vertex tells one entry.
fn target_of(csv: &str) -> Result<[f64; 3], FileError> {
    let task = parse(&format!("{IMITATION}{csv}\"\"\""))?;
    let objective = task.problem.objective();
    // |x − τ| with x far above τ in one entry, minus that at 0.
    let at = |pair: usize| {
        let mut d = [0.0; 3];
        d[pair] = 4.0;
        (objective.value(&[0.0; 3]) + 4.0 - objective.value(&d)) / 2.0
    };
    Ok([at(0), at(1), at(2)])
}

#[test]
fn targets_come_from_files() {
    let near = |csv: &str, expected: [f64; 3]| {
        let found = target_of(csv).unwrap();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{csv}: {found:?}");
    };
    // Masses 4/7, 2/7, 1/7 of three steps; 2/3, 1/3 of two.
    near("state,action\nx,stay\nx,go\ny,go\nx,go\n", [4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
    near("state,action\nx,go\ny,go\nx,\n", [0.0, 2.0 / 3.0, 1.0 / 3.0]);
    let two = [0.5, 1.0 / 3.0, 1.0 / 6.0];
    near("episode,state,action\na,x,go\nb,x,stay\na,y,go\n", two);
    near("time,state,action\n0,x,go\n1,y,go\n0,x,stay\n", two);
    near("state,action,mass\nx,stay,0.25\ny,go,0.75\n", [0.25, 0.0, 0.75]);
    // Stays with probability 1/2: x at time 0, x or y with 1/2 each at time 1, x with 3/4 at time 2.
    let x = 4.0 / 7.0 + 0.5 * 2.0 / 7.0 + 0.75 / 7.0;
    near("state,action,probability\nx,stay,0.5\nx,go,0.5\ny,go,1\n", [x / 2.0, x / 2.0, 1.0 - x]);
    near("state,action,probability\nx,stay,1\n", [1.0, 0.0, 0.0]);
}

#[test]
fn wrong_target_files_are_refused_at_their_place() {
    for (csv, message) in [
        ("state,acton\nx,go", "demo.csv:1:7: unknown column \"acton\""),
        ("state,action\nx,go\nz,go", "demo.csv:3:1: unknown state \"z\""),
        ("state,action\nx,fly", "demo.csv:2:3: unknown action \"fly\""),
        ("state,action\ny,stay", "demo.csv:2:3: state \"y\" does not allow the action \"stay\""),
        ("state\nx", "demo.csv:1:1: there is no column \"action\"; the columns are state"),
        ("time,state,action\n0,x,go\n2,y,go", "demo.csv:3:1: time 2 follows time 0; it must be 1"),
        ("time,state,action\nsoon,x,go", "demo.csv:2:1: time must be a whole number, not \"soon\""),
        ("episode,state,action\na,x,\na,x,go", "demo.csv:3:3: the episode has ended: the line before has no action"),
        ("state,action\nx,", "demo.csv:2:1: episode 1 of the file has no action"),
        ("state,action,mass\nx,go,-1", "demo.csv:2:6: the mass is -1; it must be finite and not negative"),
        ("state,action,mass\nx,go,many", "demo.csv:2:6: the mass must be a number, not \"many\""),
        ("state,action,mass\nx,go,3", "demo.csv:2:6: the masses sum to 3; those of an occupancy sum to 1"),
        ("state,action,mass\nx,go,0.5\nx,go,0.5", "demo.csv:3:1: this entry of the occupancy is given twice"),
        ("state,mass\nx,1", "demo.csv:2:1: the objective counts actions, but the table has no column \"action\""),
        (
            "state,action,probability\nx,go,0.5",
            "demo.csv:2:6: the probabilities of state \"x\" sum to 0.5; they must sum to 1",
        ),
        (
            "state,action,probability\nx,go,1",
            "demo.csv:2:1: the policy meets state \"y\", of which the file says nothing",
        ),
        ("state,action,probability\nx,go,1\nx,go,1", "demo.csv:3:3: this action of the state is given twice"),
    ] {
        assert_eq!(target_of(csv).unwrap_err().to_string(), message, "{csv}");
    }
    let without = IMITATION.split("[files]").next().unwrap();
    let error = parse(without).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dir/my.toml:14:19: objective.target.file is \"demo.csv\", but this text was not read from a folder"
    );
    assert!(error.hint.unwrap().contains("[files]"));
    let other = parse(&format!("{without}[files]\n\"other.csv\" = \"\"")).unwrap_err().to_string();
    assert!(other.ends_with("objective.target.file is \"demo.csv\", which [files] does not have"));
}

/// A file that was loaded with others can be parsed without them.
#[test]
fn loaded_files_are_kept_with_the_source() {
    let folder = std::env::temp_dir().join(format!("gumdp-targets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("my.toml");
    std::fs::write(&path, IMITATION.split("[files]").next().unwrap()).unwrap();
    let missing = Task::load(&path).unwrap_err().to_string();
    assert!(
        missing.contains("objective.target.file is \"demo.csv\": ") && missing.ends_with("there is no such file"),
        "{missing}"
    );
    std::fs::create_dir(folder.join("demo.csv")).unwrap();
    let directory = Task::load(&path).unwrap_err().to_string();
    assert!(directory.ends_with("this is not a file"), "{directory}");
    std::fs::remove_dir(folder.join("demo.csv")).unwrap();
    std::fs::write(folder.join("demo.csv"), b"state,action\nx,\xff").unwrap();
    let binary = Task::load(&path).unwrap_err();
    assert_eq!((binary.line, binary.column), (Some(2), Some(3)));
    assert_eq!(binary.hint.as_deref(), Some("save it as text in UTF-8"));
    std::fs::write(folder.join("demo.csv"), "state,action\r\n\"x\",go\n# \\ \"\"\"\ny,go\n").unwrap();
    let task = Task::load(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let again = Task::parse("my.toml", &task.source).unwrap();
    let d = [0.2, 0.3, 0.5];
    assert_eq!(task.problem.objective().value(&d), again.problem.objective().value(&d));
    assert_eq!(again.source, task.source);
}

#[test]
fn one_way_cells_goals_and_costs_of_cells() {
    let text = r#"kind = "grid"
discount = 0.9
horizon = 5
slip = 0.2
map = """
S>.G
"""
[legend]
"S" = "start"
"." = { cost = 0.25 }
">" = { one_way = "right", cost = 1 }
"G" = "goal"
[objective]
kind = "linear"
"#;
    let task = parse(text).unwrap();
    let mdp = task.problem.mdp();
    let state = |column: u32| mdp.find_state(&format!("(0,{column})")).unwrap();
    let reached = |column: u32, action: &str| {
        let pair = mdp.pair(state(column), mdp.find_action(action).unwrap()).unwrap();
        let mut reached: Vec<(State, f64)> = mdp.successors(pair).collect();
        reached.sort_by_key(|(state, _)| state.index());
        reached
    };
    assert_eq!(reached(1, "left"), [(state(1), 1.0)]);
    assert_eq!(reached(1, "right").last().unwrap().0, state(2));
    assert!(reached(1, "up").iter().any(|&(to, p)| to == state(2) && (p - 0.1).abs() < 1e-12), "slips obey it too");
    for action in ["left", "up", "right", "down"] {
        assert_eq!(reached(3, action), [(state(3), 1.0)]);
    }
    let (costs, _) = task.problem.objective().as_linear().unwrap();
    let cost = |column: u32| costs[mdp.pairs(state(column)).start as usize];
    assert_eq!([cost(0), cost(1), cost(2), cost(3)], [0.0, 1.0, 0.25, 0.0]);
    let formula = text.replace("kind = \"linear\"", "kind = \"formula\"\nexpression = \"cost^2\"");
    assert!(parse(&formula).unwrap().problem.objective().to_string().contains("cost^2"));
    let refused = |from: &str, to: &str| parse(&text.replace(from, to)).unwrap_err().to_string();
    assert!(
        refused("one_way = \"right\"", "one_way = \"east\"")
            .contains("it must be \"left\", \"up\", \"right\" or \"down\"")
    );
    assert!(refused("\"goal\"", "{ absorbing = true, enemy = 0.5 }").contains("an absorbing cell is never left"));
    assert!(refused("cost = 0.25", "cost = inf").contains("it must be finite"));
}

#[test]
fn many_resources_can_be_gathered() {
    let map: String = ('a'..='t').collect();
    let mut legend = String::new();
    for c in 'a'..='t' {
        writeln!(legend, "\"{c}\" = {{ resource = \"r{c}\", one_way = \"right\" }}").unwrap();
    }
    let text = format!(
        "kind = \"grid\"\ndiscount = 0.9\nhorizon = 30\nmap = \"S{map}H\"\n[legend]\nS = {{ start = true, one_way = \"right\" }}\n\
         H = \"home\"\n{legend}[objective]\nkind = \"linear\"\ncost = {{ delivered-rt = -1 }}\n"
    );
    let task = parse(&text).unwrap();
    assert!(
        task.problem.mdp().states().any(|state| task.problem.mdp().state_name(state).starts_with("home with ra+rb"))
    );
}

#[test]
fn settings_of_the_guided_planner() {
    let text = format!("{EXPLICIT}[planner.guided]\nreach = inf\nexploration = 0.1\nrollouts = 2\n");
    let guided = parse(&text).unwrap().defaults.guided;
    assert_eq!((guided.reach, guided.exploration), (f64::INFINITY, 0.1));
    assert_eq!((guided.rollouts, guided.budget.simulations), (2, Some(500)));
    let refused = |from: &str, to: &str| parse(&text.replace(from, to)).unwrap_err().to_string();
    assert!(refused("reach = inf", "reach = nan").contains("planner.guided.reach is NaN; it must not be negative"));
    assert!(
        refused("rollouts = 2", "rollouts = 0").contains("planner.guided.rollouts is 0; it must lie in [1, 1000000]")
    );
}
