//! What is said when a file is wrong, and where. Mistakes in formulas and targets are with the objectives.

use gumdp::kinds::Kind;
use gumdp_files::Task;

use super::{EXPLICIT, GRID, parse};

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
    check(
        EXPLICIT,
        "horizon = 5",
        "horizon = 5\nhorizon = 6",
        "7:1: not valid TOML: duplicate key \"horizon\"; it is given first on line 6",
    );
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
    let negative = "9:42: transitions[1].to.x is -0.25; it must lie in [0, 1]";
    check(EXPLICIT, "x = 0.25", "x = -0.25", negative);
    let nan = "9:57: transitions[1].stay is NaN; it must lie in [0, 1]";
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
        "9:7: legend.\"S\" is \"begin\"; it must be \"floor\", \"wall\", \"start\", \"home\" or \"goal\"",
    );
    check(GRID, "enemy = 0.125", "enemy = 1.5", "13:17: legend.\"1\".enemy is 1.5; it must lie in [0, 1]");
    check(GRID, ", unstuck = 0.25", "", "12:7: the field \"unstuck\" is missing in legend.\"~\"");
    check(GRID, "\"~\" =", "\"~~\" =", "12:1: legend: \"~~\" must be a single character of the map");
    check(
        GRID,
        "enemy = 0.125",
        "home = true, start = true, wall = true",
        "13:1: legend.\"1\": a wall cannot be entered, so it can be nothing else",
    );
    check(
        GRID,
        "enemy = 0.125",
        "resource = \"a/b\"",
        "13:20: legend.\"1\".resource is \"a/b\"; it must consist of letters, digits, - and _",
    );
    check(GRID, "horizon = 3", "horizon = 3\nslip = -1", "4:8: slip is -1; it must lie in [0, 1]");
    check(GRID, "\"mud\"", "\"(0,1)\"", "12:1: the terrain \"(0,1)\" has the name of a state; names must differ");
    let map = "\"\"\"\nS.~\n#.1\n\"\"\"";
    check(GRID, map, "\"\"", "4:7: map is empty; it must have at least one cell");
    check(GRID, map, "\"S~?\"", "4:7: '?' at (0,2) of map is not in legend");
}

#[test]
fn objectives() {
    let kinds: Vec<String> = Kind::all().map(|kind| format!("\"{}\"", kind.name)).collect();
    assert!(kinds.len() >= 9);
    let kinds = kinds.join(", ");
    let message = format!("12:8: objective.kind is \"lineer\"; it must be {kinds}, \"formula\" or \"sum\"");
    check_hint(EXPLICIT, "\"linear\"", "\"lineer\"", &message, "did you mean \"linear\"?");
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
    check(EXPLICIT, objective, costs, "14:11: the objective has 2 weights; 1 is needed");
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
