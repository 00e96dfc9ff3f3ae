//! The modules of the library use only those that come before them: no circles, and a reader can start at the top.
//! Between crates the compiler sees to that.
#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom to the top; `docs/architecture.md` says what each is for.
const ORDER: [&str; 20] = [
    "words",
    "logarithm",
    "rng",
    "clock",
    "stop",
    "model",
    "objective",
    "risk",
    "problem",
    "policy",
    "stats",
    "episode",
    "experiment",
    "oracle",
    "bound",
    "trials",
    "planner",
    "agent",
    "explain",
    "frontier",
];

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|entry| files(&entry)).filter(|file| file.extension().is_some_and(|end| end == "rs")).collect()
}

/// Modules that a text names by `crate::`, tests and comments left out.
fn used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let word = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    code.split("crate::").skip(1).map(word).collect()
}

#[test]
fn modules_use_only_those_before_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    let mut mistakes = Vec::new();
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if ["lib", "test_problems"].contains(&module.as_str()) {
            continue;
        }
        let Some(own) = place(&module) else { panic!("{module} is not in the list of modules") };
        for file in files(&path) {
            for name in used(&fs::read_to_string(&file).unwrap()) {
                match place(&name) {
                    Some(other) if other <= own => {}
                    Some(_) => mistakes.push(format!("{}: {module} uses {name}", file.display())),
                    None => mistakes.push(format!("{}: name {name} by its module", file.display())),
                }
            }
        }
    }
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}
