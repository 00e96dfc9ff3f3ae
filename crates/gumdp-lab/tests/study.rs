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
    let arguments = "study ablation --task mo-max --runs 2 --quiet --out rows";
    let printed = sandbox.data(arguments);
    let (rows, saved) = (rows(&printed), sandbox.read("rows/study.csv"));
    let firsts: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(firsts, ["mo-max", "mo-max", "mo-max", "better than default", "worse than default"]);
    assert_eq!(rows.iter().map(|row| row[1]).collect::<Vec<_>>(), ["0.1", "10", "20", "", ""]);
    assert!(rows.iter().all(|row| row.len() == 2 + 8 + 1), "{printed}");
    assert!(rows[..3].iter().flatten().skip(2).all(|cell| *cell != "–"), "{printed}");
    assert_eq!(saved.lines().count(), 1 + 3 * 8);
    assert!(saved.starts_with("study,task,beta,variant,simulations,runs,seed,erm,erm_low,erm_high,mean,optimum,"));
    let picture = sandbox.read("rows/ablation.svg");

    assert_eq!(sandbox.data(arguments), printed);
    assert_eq!(sandbox.read("rows/study.csv"), saved);
    assert_eq!(sandbox.read("rows/ablation.svg"), picture);
    assert_eq!(sandbox.files("rows"), ["ablation.svg", "study.csv"]);
}

#[test]
fn an_interrupted_study_goes_on_with_the_rows_it_has() {
    let sandbox = Sandbox::new();
    let arguments = "study ablation --task mo-max --runs 1 --quiet --out rows";
    sandbox.data(arguments);
    let saved = sandbox.read("rows/study.csv");
    // The last rows are lost, and the first is one of other settings.
    let (lines, lost): (Vec<&str>, usize) = (saved.lines().collect(), 3);
    let mut kept = lines[..lines.len() - lost].to_vec();
    let stale = format!("{}stale", &lines[1][..=lines[1].rfind(',').unwrap()]);
    kept[1] = &stale;
    sandbox.write("rows/study.csv", &(kept.join("\n") + "\n"));
    sandbox.data(arguments);
    let again = sandbox.read("rows/study.csv");
    // Times differ from one measurement to the next; what was kept is as it was.
    let without_times = |text: &str| {
        let mut rows: Vec<Vec<String>> =
            text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        for row in &mut rows {
            row.remove(12);
        }
        rows.sort();
        rows
    };
    assert_eq!(without_times(&again), without_times(&saved));
    assert_eq!(again.lines().skip(1).take(kept.len() - 2).collect::<Vec<_>>(), &lines[2..lines.len() - lost]);
}

#[test]
fn worlds_and_convergence_have_both_planners() {
    let sandbox = Sandbox::new();
    let printed = sandbox.data("study worlds --task sparse-linear --runs 2 --quiet");
    let worlds = rows(&printed);
    assert_eq!(worlds.iter().map(|row| row[1]).collect::<Vec<_>>(), ["0.5", "3", "30"]);
    assert!(worlds.iter().all(|row| ["better", "equal", "worse"].contains(&row[7])), "{printed}");
    let printed = sandbox.data("study convergence --task mdp --runs 1 --quiet");
    let convergence = rows(&printed);
    let planners: Vec<(&str, &str)> = convergence.iter().map(|row| (row[2], row[3])).collect();
    let budgets = ["500", "5000", "50000"];
    assert_eq!(planners, [budgets.map(|n| ("paper", n)), budgets.map(|n| ("default", n))].concat());
    assert_eq!(sandbox.files("gumdp-out/study"), ["convergence.svg", "study.csv", "worlds.svg"]);
}

#[test]
fn what_cannot_be_studied_is_refused() {
    let sandbox = Sandbox::new();
    let said = sandbox.refusal("study worlds --task mdp");
    assert!(said.starts_with("error: no study has a task \"mdp\"\nhint: there are explore-6,"), "{said}");
    sandbox.write("study.csv", "task,beta\nmdp,1\n");
    let said = sandbox.refusal("study --task mdp --out .");
    assert!(said.starts_with("error: ./study.csv does not hold rows of a study"), "{said}");
}
