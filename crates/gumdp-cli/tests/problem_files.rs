//! Problem files against their schema and the reader: the built-in tasks, every example of `docs/problem-files.md`, and wrong ones.

use std::path::{Path, PathBuf};

use gumdp_files::{Task, tasks};
use serde_json::Value;

fn docs(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a file of docs")
}

fn schema() -> Value {
    serde_json::from_str(&docs("problem-file.schema.json")).expect("JSON")
}

/// As editors see it: infinity, which JSON does not have, is null.
fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => Value::Object(table.into_iter().map(|(key, value)| (key, json(value))).collect()),
    }
}

/// What the schema says against a text that is TOML.
fn complaints(text: &str) -> Vec<String> {
    let document = json(toml::Value::Table(text.parse().expect("TOML")));
    let validator = jsonschema::draft7::new(&schema()).expect("a schema");
    validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// The blocks of a page, as what follows the opening quotes, and the text.
fn blocks_of(page: &str) -> Vec<(String, String)> {
    let page = docs(page);
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            blocks.push((info.to_owned(), text.join("\n") + "\n"));
        }
    }
    blocks
}

fn blocks() -> Vec<(String, String)> {
    blocks_of("problem-files.md")
}

/// The complete files of the page: fragments take the place of the objective of the first.
fn examples() -> Vec<String> {
    let blocks = blocks();
    let first = &blocks.iter().find(|(info, _)| info == "toml").expect("a first example").1;
    let model = first.split("[objective]").next().expect("a model");
    let complete = |(info, text): &(String, String)| match info.as_str() {
        "toml" => Some(text.clone()),
        "toml fragment" => Some(format!("{model}{text}")),
        _ => None,
    };
    blocks.iter().filter_map(complete).collect()
}

/// A folder with the CSV files of the page.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    for (info, text) in blocks() {
        if let Some(name) = info.strip_prefix("csv ") {
            std::fs::write(folder.path().join(name), text).expect("a CSV file");
        }
    }
    let path = folder.path().join("example.toml");
    (folder, path)
}

fn read(path: &Path, text: &str) -> Result<Task, gumdp_files::FileError> {
    std::fs::write(path, text).expect("a problem file");
    Task::load(path)
}

#[test]
fn the_schema_is_one_and_describes_every_field() {
    let schema = schema();
    assert!(jsonschema::draft7::meta::is_valid(&schema));
    let described = |field: &Value| match field["$ref"].as_str() {
        Some(place) => {
            schema.pointer(place.trim_start_matches('#')).is_some_and(|field| field["description"].is_string())
        }
        None => field["description"].is_string(),
    };
    let definitions = schema["definitions"].as_object().expect("definitions").values();
    let alternatives = definitions
        .clone()
        .flat_map(|definition| ["oneOf", "anyOf"].into_iter().filter_map(|key| definition[key].as_array()).flatten());
    for object in definitions.clone().chain(alternatives).chain([&schema]) {
        for (name, field) in object["properties"].as_object().into_iter().flatten() {
            assert!(described(field), "{name}");
        }
    }
}

#[test]
fn built_in_tasks_fit_the_schema() {
    for name in tasks::NAMES {
        let errors = complaints(tasks::source(name).expect("a task"));
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn examples_of_imports_and_worked_examples_fit_the_schema() {
    let imports = blocks_of("import.md").into_iter().filter(|(info, _)| info == "toml").map(|(_, text)| text);
    let example = |path: &str| {
        let path = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("an example")
    };
    let worked = ["inventory/inventory.toml", "delivery/delivery.toml", "imitation/rounds.toml"].map(example);
    let mut seen = 0;
    for text in imports.chain(worked) {
        let errors = complaints(&text);
        assert!(errors.is_empty(), "{errors:#?}\n{text}");
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} examples");
}

#[test]
fn examples_of_the_page_load_and_fit_the_schema() {
    let (_folder, path) = folder();
    let examples = examples();
    assert!(examples.len() > 10, "only {} examples", examples.len());
    for text in &examples {
        let task = read(&path, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let errors = complaints(text);
        assert!(errors.is_empty(), "{errors:#?}\n{text}");
        // What is kept of it means the same.
        let again = Task::parse("again.toml", &task.source).unwrap_or_else(|error| panic!("{error}\n{}", task.source));
        assert_eq!(again.problem.objective().to_string(), task.problem.objective().to_string());
        assert!(complaints(&task.source).is_empty(), "{}", task.source);
    }
}

/// Everything that the schema knows is in the page, and the other way round as far as the reader tells.
#[test]
fn the_page_names_every_field() {
    let page = docs("problem-files.md");
    let schema = schema();
    let mut names: Vec<&String> = schema["properties"].as_object().expect("fields").keys().collect();
    for place in ["/definitions/terrain/anyOf/1", "/definitions/transition", "/definitions/limit"] {
        names.extend(schema.pointer(place).and_then(|object| object["properties"].as_object()).expect("fields").keys());
    }
    for table in ["experiment", "planner"] {
        names.extend(schema["properties"][table]["properties"].as_object().expect("fields").keys());
    }
    for object in schema["definitions"]["objective"]["oneOf"].as_array().expect("kinds") {
        names.extend(object["properties"].as_object().expect("fields").keys());
    }
    for name in names {
        assert!(page.contains(name.as_str()), "{name}");
    }
}

#[test]
fn wrong_files_are_refused_by_both() {
    let (_folder, path) = folder();
    let first = &examples()[0];
    let grid = examples().into_iter().find(|text| text.contains("one_way")).expect("a map");
    let import = examples().into_iter().find(|text| text.contains("kind = \"import\"")).expect("an import");
    let limited = examples().into_iter().find(|text| text.contains("at_most")).expect("limits");
    for (text, from, to) in [
        (first, "kind = \"explicit\"", "kind = \"exlicit\""),
        (first, "kind = \"explicit\"\n", ""),
        (first, "discount = 0.95", "discount = 1.5"),
        (first, "discount = 0.95", "discount = \"high\""),
        (first, "discount = 0.95\n", ""),
        (first, "horizon = 20", "horizon = 0"),
        (first, "horizon = 20", "horizon = 20\naccuracy = 0.1"),
        (first, "horizon = 20\n", ""),
        (first, "horizon = 20", "horizn = 20"),
        (first, "horizon = 20", "horizon = 20\nmap = \"S\""),
        (first, "start = \"dock\"", "start = \"dock\"\ninitial = { dock = 1 }"),
        (first, "start = \"dock\"\n", ""),
        (first, "actions = [\"wait\", \"go\"]", "actions = []"),
        (first, "\"dock\", \"field\", \"broken\"", "\"dock\", \"dock\", \"field\", \"broken\""),
        (first, "to = \"broken\"", "too = \"broken\""),
        (first, ", to = \"broken\"", ""),
        (first, "broken = 0.03", "broken = 3"),
        (first, "kind = \"formula\"", "kind = \"formulas\""),
        (first, "expression = ", "formula = "),
        (first, "field = 1", "field = \"much\""),
        (first, "[objective]", "[experiment]\nruns = 0\n[objective]"),
        (first, "[objective]", "[experiment]\nbeta = []\n[objective]"),
        (first, "[objective]", "[experiment]\nrisk = 5\n[objective]"),
        (first, "[objective]", "[experiment]\nrisk = []\n[objective]"),
        (first, "[objective]", "[experiment]\nrisk = \"tail:0.9\"\n[objective]"),
        (first, "[objective]", "[experiment]\nrisk = \"cvar\"\n[objective]"),
        (first, "[objective]", "[experiment]\nrisk = \"mean\"\nbeta = 1\n[objective]"),
        (first, "start = \"dock\"", "start = 0"),
        (first, "start = \"dock\"", "start = \"dock\"\nfile = \"model.csv\""),
        (&import, "kind = \"import\"", "kind = \"import\"\nstates = [\"s0\"]"),
        (&import, "text =", "txt ="),
        (&import, "rewards = \"split\"", "rewards = \"splitted\""),
        (&import, "format = \"csv\"", "format = \"xls\""),
        (&import, "gain = false", "gain = 0"),
        (&import, "horizon = 5", "horizon = 5\naccuracy = 0.1"),
        (&import, "start = 0", "start = 0\ninitial = { s0 = 1 }"),
        (first, "[objective]", "[planner]\nvariant = \"mine\"\n[objective]"),
        (first, "[objective]", "[planner.guided]\nshare = 2\n[objective]"),
        (first, "[objective]", "[scripts]\nidle = []\n[objective]"),
        (first, "[objective]", "[layout]\ndock = [1]\n[objective]"),
        (&grid, "one_way = \"right\"", "one_way = \"east\""),
        (&grid, "unstuck = 0.5", "untuck = 0.5"),
        (&grid, ", unstuck = 0.5", ""),
        (&grid, "stuck = 0.3", "stuck = 3"),
        (&grid, "\"wall\"", "\"wal\""),
        (&grid, "\"G\" = \"goal\"", "\"Goal\" = \"goal\""),
        (&grid, "slip = 0.1", "slip = -0.1"),
        (&limited, "at_most = 0.05, ", ""),
        (&limited, "at_most = 0.05", "at_most = 0.05, at_least = 0"),
        (&limited, "penalty = 10", "penalty = -10"),
        (&limited, "kind = \"entropy\"", "kind = \"entropy\"\nweight = 2"),
        (&limited, "kind = \"entropy\"", "kind = \"kl\"\ntarget = { file = \"demo.csv\" }"),
        (&limited, "kind = \"entropy\"", "kind = \"kl\"\nepsilon = 0.01\ntarget = { file = \"demo.csv\", fromat = 1 }"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(&wrong, text, "{from} is not there");
        assert!(read(&path, &wrong).is_err(), "the reader takes {to}");
        assert!(!complaints(&wrong).is_empty(), "the schema takes {to}");
    }
}
