//! What is said when a file is wrong, and where. Mistakes in formulas and targets are with the objectives.

use gumdp::kinds::Kind;
use gumdp_files::Task;

use super::cases::{check as check_cases, refused, replaced};
use super::{EXPLICIT, GRID, parse};

#[track_caller]
fn check(file: &str, old: &str, new: &str, message: &str) {
    assert_eq!(refused("dir/my.toml", &replaced(file, old, new)).0, message);
}

/// One mistake in a file each.
#[test]
fn one_mistake_each() {
    check_cases(include_str!("../cases/problem_files.txt"), |name| {
        ("dir/my.toml", if name == "mud" { GRID } else { EXPLICIT }.to_owned())
    });
}

#[test]
fn errors_show_file_line_and_column() {
    let error = parse(&EXPLICIT.replace("discount = 0.9", "discount = 1.5")).unwrap_err();
    assert_eq!(error.to_string(), "dir/my.toml:5:12: the discount is 1.5; it must lie in (0, 1]");
    assert_eq!((error.line, error.column), (Some(5), Some(12)));
    assert_eq!(error.file, "dir/my.toml");
}

#[test]
fn files_without_content() {
    assert_eq!(parse("").unwrap_err().to_string(), "dir/my.toml:1:1: the field \"kind\" is missing");
    let deep = format!("x = {}", "[".repeat(100_000));
    assert!(parse(&deep).is_err());
}

/// The other way to write transitions has a place too.
#[test]
fn transitions_as_tables() {
    let tables = EXPLICIT.replace("{ from = \"y\", action = \"*\", to = { x = 0.25 }, stay = 0.75 },", "")
        + "[[transition]]\nfrom = \"y\"\naction = \"go\"\nto = { x = 0.5 }\n";
    let sum = "16:1: state \"y\", action \"go\": the probabilities sum to 0.4; they must sum to 1 within 1e-9";
    check(&tables, "x = 0.5", "x = 0.4", sum);
}

#[test]
fn objectives() {
    let kinds: Vec<String> = Kind::all().map(|kind| format!("\"{}\"", kind.name)).collect();
    assert!(kinds.len() >= 9);
    let kinds = kinds.join(", ");
    let message = format!("12:8: objective.kind is \"lineer\"; it must be {kinds}, \"formula\" or \"sum\"");
    let hint = Some("did you mean \"linear\"?".to_owned());
    assert_eq!(refused("dir/my.toml", &replaced(EXPLICIT, "\"linear\"", "\"lineer\"")), (message, hint));
    let root = "kind = \"signed-power\"\ncosts = [{ x = 1 }]\npowers = [0.5]";
    let rooted = replaced(EXPLICIT, "kind = \"linear\"\ncost = { y = 1 }", root);
    let message = "6:12: no horizon follows from an accuracy: the objective has no finite Lipschitz constant; give the horizon itself";
    check(&rooted, "horizon = 5", "accuracy = 0.1", message);
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
