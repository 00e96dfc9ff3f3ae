//! The rows of studies are the right ones, and none is measured twice.

use std::fs;
use std::process::{Command, Output};

/// An empty folder in which commands are run; it is removed in the end.
struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn lab(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gumdp-lab"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path()).output().unwrap()
    }

    /// The stdout of a command that must succeed and say nothing.
    fn data(&self, arguments: &str) -> String {
        let ended = self.lab(arguments);
        assert!(ended.status.success() && ended.stderr.is_empty(), "{arguments}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    }

    /// What a command says that must be refused.
    fn refusal(&self, arguments: &str) -> String {
        let ended = self.lab(arguments);
        assert_eq!(ended.status.code(), Some(2));
        String::from_utf8(ended.stderr).unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.path().join(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The rows of a Markdown table, as cells; without its header.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let table = text.lines().filter(|line| line.starts_with('|')).skip(2);
    table.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn a_second_call_measures_nothing_and_prints_the_same() {
    let sandbox = Sandbox::new();
    let arguments = "study mo-max share-1 --runs 20 --quiet --cells --out rows";
    let printed = sandbox.data(arguments);
    let rows = rows(&printed);
    let names: Vec<&str> = rows.iter().take(8).map(|row| row[0]).collect();
    assert_eq!(names[..6], ["mo-max"; 6]);
    assert!(names[6..].iter().all(|name| name.starts_with("share-1")), "{printed}");
    let saved = sandbox.read("rows/study.csv");
    assert!(
        saved.starts_with(
            "family,cell,risk,variant,simulations,runs,value,optimum,method,at_best,uniform,excess,surely_lower,surely_higher,"
        )
    );
    let picture = sandbox.read("rows/study.svg");
    assert_eq!(sandbox.data(arguments), printed);
    assert_eq!(sandbox.read("rows/study.csv"), saved);
    assert_eq!(sandbox.read("rows/study.svg"), picture);
    assert_eq!(sandbox.files("rows"), ["study.csv", "study.svg"]);
}

/// What is lost is measured again, and nothing else; times aside, with the same result.
#[test]
fn an_interrupted_study_goes_on_with_the_rows_it_has() {
    let sandbox = Sandbox::new();
    let arguments = "study mo-max --runs 20 --quiet --out rows";
    let printed = sandbox.data(arguments);
    let saved = sandbox.read("rows/study.csv");
    let lines: Vec<&str> = saved.lines().collect();
    sandbox.write("rows/study.csv", &(lines[..lines.len() - 2].join("\n") + "\n"));
    assert_eq!(sandbox.data(arguments), printed);
    let again = sandbox.read("rows/study.csv");
    assert_eq!(again.lines().take(lines.len() - 2).collect::<Vec<_>>(), lines[..lines.len() - 2]);
    assert_eq!(again.lines().count(), lines.len());
}

#[test]
fn budgets_and_variants_have_rows_of_their_own() {
    let sandbox = Sandbox::new();
    let printed = sandbox.data("study mdp --runs 20 --quiet --times 1,10 --variants default,no-tree");
    let rows = rows(&printed);
    let kinds: Vec<(&str, &str)> = rows.iter().take(4).map(|row| (row[1], row[2])).collect();
    assert_eq!(kinds, [("default", "× 1"), ("no tree", "× 1"), ("default", "× 10"), ("no tree", "× 10")]);
    // It is linear: every variant plays the optimum.
    assert!(rows.iter().all(|row| row[9] == "0"), "{printed}");
}

#[test]
fn what_cannot_be_studied_is_refused() {
    let sandbox = Sandbox::new();
    let said = sandbox.refusal("study nothing");
    assert!(said.starts_with("error: no family and no problem is called nothing"), "{said}");
    sandbox.write("study.csv", "task,beta\nmdp,1\n");
    let said = sandbox.refusal("study mdp --out .");
    assert!(said.starts_with("error: ./study.csv does not hold rows of a study"), "{said}");
}
