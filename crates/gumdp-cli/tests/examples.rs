//! The worked examples of `examples/` and the ten lines of the README: checked, solved or planned, and played.

mod common;

use common::Sandbox;

const EXAMPLES: [(&str, &[&str]); 3] = [
    ("inventory", &["inventory.toml"]),
    ("delivery", &["delivery.toml"]),
    ("imitation", &["rounds.toml", "watchman.csv"]),
];

fn text(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A folder with the files of an example.
fn folder(name: &str, files: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for file in files {
        sandbox.write(file, &text(&format!("examples/{name}/{file}")));
    }
    sandbox
}

#[test]
fn examples_have_no_mistakes_and_can_be_played() {
    for (name, files) in EXAMPLES {
        let (sandbox, file) = (folder(name, files), files[0]);
        assert_eq!(sandbox.data(&format!("check {file}")), format!("{file}: no mistakes found\n"));
        let rows = sandbox.data(&format!("run {file} --runs 3 --simulations 20 --json --quiet"));
        assert_eq!(rows.matches("\"beta\"").count(), 3, "{name}: {rows}");
        let figures = sandbox.gumdp(&format!("run {file} --runs 2 --simulations 20 --out out"));
        assert_eq!(figures.code, Some(0), "{figures:?}");
        assert!(sandbox.files("out").contains(&"report.html".to_owned()));
    }
}

/// The optima that the pages quote.
#[test]
fn exact_optima_are_those_of_the_pages() {
    for ((name, files), betas) in [(EXAMPLES[0], [0, 1]), (EXAMPLES[2], [0, 5])] {
        let (sandbox, page) = (folder(name, files), text(&format!("examples/{name}/README.md")));
        for beta in betas {
            let solved = sandbox.data(&format!("solve {} --beta {beta} --json", files[0]));
            let solved: serde_json::Value = serde_json::from_str(&solved).expect("JSON");
            let mean = solved["mean"].as_f64().expect("a mean");
            assert!(page.contains(&format!("{mean:.4}")), "{name}: {mean:.4} is not in its page");
        }
    }
}

#[test]
fn the_readme_shows_a_whole_problem_in_ten_lines() {
    let readme = text("README.md");
    let section = readme.split("## Your own problem in ten lines").nth(1).expect("the section");
    let file = section.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a file");
    assert!(file.lines().count() <= 10, "{file}");
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", file);
    assert_eq!(sandbox.data("check mine.toml"), "mine.toml: no mistakes found\n");
    let solved = sandbox.data("solve mine.toml --beta 0");
    for line in solved.lines().filter(|line| !line.contains(" states in ")) {
        assert!(section.contains(line), "{line} is not in the README");
    }
    assert_eq!(sandbox.gumdp("run mine.toml --runs 2").code, Some(0));
}
