//! What machines read, held against the documented schemas of `docs/json`.

mod common;

use common::{COIN, Sandbox};
use serde_json::Value;

fn schema(name: &str) -> Value {
    let path = format!("{}/../../docs/json/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON")
}

/// The output, if it fits the schema.
#[track_caller]
fn valid(name: &str, text: &str) -> Value {
    let output: Value = serde_json::from_str(text).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema(name)).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(&output).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
    output
}

/// The fields that the rows of `run` and `compare` share.
const ROW: [&str; 28] = [
    "task",
    "risk",
    "beta",
    "runs",
    "simulations",
    "seed",
    "preset",
    "mean",
    "median",
    "q25",
    "q75",
    "whisker_low",
    "whisker_high",
    "min",
    "max",
    "value",
    "low",
    "high",
    "var95",
    "cvar95",
    "cpu_seconds",
    "simulated_steps",
    "bound",
    "bound_method",
    "below_bound",
    "exact",
    "effective_runs",
    "caution",
];

fn fields(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn schemas_are_schemas_and_describe_every_field() {
    let folder = std::fs::read_dir(format!("{}/../../docs/json", env!("CARGO_MANIFEST_DIR"))).expect("a folder");
    let files: Vec<String> =
        folder.map(|file| file.expect("a file").file_name().into_string().expect("text")).collect();
    assert!(files.len() >= 14, "{files:?}");
    for name in files.iter().map(|file| file.strip_suffix(".schema.json").expect("a schema")) {
        let schema = schema(name);
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
        assert_documented(&schema, name);
    }
}

/// A command with `--json` shows how in its help, and what that prints fits the schema with its name.
#[test]
fn examples_of_every_command_with_json_fit_its_schema() {
    let has_json = |help: &str| help.lines().any(|line| line.trim_start().starts_with("--json"));
    for (command, help) in Sandbox::new().helps().into_iter().filter(|(_, help)| has_json(help)) {
        let sandbox = Sandbox::new();
        let examples = sandbox.json_examples(&command, &help);
        assert!(!examples.is_empty(), "the help of {command} has no example that ends with --json: {help}");
        assert!(schema(&command)["title"].as_str().is_some_and(|title| title == format!("gumdp {command} --json")));
        for example in examples {
            valid(&command, &sandbox.data(&format!("{example} --json")));
        }
    }
}

/// Objects allow no other fields, and every field says what it is, unless it is an object itself.
fn assert_documented(schema: &Value, place: &str) {
    if let Some(properties) = schema["properties"].as_object() {
        assert_eq!(schema["additionalProperties"], Value::Bool(false), "{place}");
        let required = schema["required"].as_array().expect("required fields");
        for (name, field) in properties {
            let place = format!("{place}.{name}");
            assert!(field["description"].is_string() || field["properties"].is_object(), "{place}");
            assert!(required.contains(&Value::from(name.as_str())), "{place}");
            assert_documented(field, &place);
        }
    }
    if schema["items"].is_object() {
        assert_documented(&schema["items"], &format!("{place}[]"));
    }
}

#[test]
fn list() {
    let output = valid("list", &Sandbox::new().data("list --json"));
    let names: Vec<&str> = output.as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap()).collect();
    assert_eq!(names, gumdp_files::tasks::NAMES);
}

#[test]
fn check() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    assert_eq!(valid("check", &sandbox.data("check coin.toml --json")), Value::Array(Vec::new()));
    sandbox.write("coin.toml", &COIN.replace("0.9", "9").replace("runs = 4", "runs = -4\nsimulatons = 1"));
    for (file, found) in [("coin.toml", 3), ("none.toml", 1)] {
        let ended = sandbox.gumdp(&format!("check {file} --json"));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), ""));
        assert_eq!(valid("check", &ended.stdout).as_array().unwrap().len(), found);
    }
}

#[test]
fn run() {
    let sandbox = Sandbox::new();
    let output = valid("run", &sandbox.data("run mdp --beta -inf,-1,0,inf --runs 3 --simulations 10 --json"));
    let betas: Vec<&Value> = output.as_array().unwrap().iter().map(|row| &row["beta"]).collect();
    assert_eq!(betas, [&Value::from("-inf"), &Value::from(-1.0), &Value::from(0.0), &Value::from("inf")]);
    let mut contract: Vec<&str> = ROW.into_iter().chain(["auto", "outer"]).collect();
    contract.sort_unstable();
    for row in output.as_array().unwrap() {
        assert_eq!(fields(row), contract);
    }
    // One β is an array too, and one run is enough for every statistic.
    for options in ["", "--policy auto", "--policy planner", "--policy uniform", "--policy exact", "--preset paper"] {
        let one = valid("run", &sandbox.data(&format!("run mdp --beta 5 --runs 1 {options} --json")));
        assert_eq!(one.as_array().unwrap().len(), 1);
    }
    valid("run", &sandbox.data("run mdp --beta 5 --runs 1 --policy backward-induction --json"));
    sandbox.write("coin.toml", COIN);
    assert_eq!(valid("run", &sandbox.data("run coin.toml --json")).as_array().unwrap().len(), 3);
}

#[test]
fn auto_says_what_it_chose() {
    let sandbox = Sandbox::new();
    for (task, preset, simulations) in [("mdp", "exact", 0), ("il", "default", 10)] {
        let arguments = format!("run {task} --beta 5 --runs 1 --simulations 10 --json --out {task}");
        let row = &valid("run", &sandbox.gumdp(&arguments).stdout)[0];
        assert_eq!((&row["preset"], &row["simulations"]), (&Value::from(preset), &Value::from(simulations)));
        let manifest = valid("manifest", &sandbox.read(&format!("{task}/manifest.json")));
        assert_eq!(manifest["experiments"][0]["cells"][0]["auto"], row["auto"]);
        let found = row["auto"].as_str().expect("what it found");
        assert!(sandbox.read(&format!("{task}/report.html")).contains(&format!("<p>Policy auto: {found}.</p>")));
    }
}

#[test]
fn compare() {
    let mut contract: Vec<&str> = ROW.into_iter().chain(["optimum", "outer"]).collect();
    contract.sort_unstable();
    for (task, policies) in
        [("rooms", &["paper", "default", "exact", "uniform"][..]), ("il", &["paper", "default", "uniform"])]
    {
        let arguments = format!("compare {task} --beta -inf,5 --runs 2 --simulations 10 --json");
        let output = valid("compare", &Sandbox::new().data(&arguments));
        let rows = output.as_array().unwrap();
        assert!(rows.iter().all(|row| fields(row) == contract));
        let expected: Vec<(Value, &str)> = [Value::from("-inf"), Value::from(5.0)]
            .into_iter()
            .flat_map(|beta| policies.iter().map(move |&policy| (beta.clone(), policy)))
            .collect();
        let played: Vec<(Value, &str)> =
            rows.iter().map(|row| (row["beta"].clone(), row["preset"].as_str().unwrap())).collect();
        assert_eq!(played, expected);
        assert!(rows.iter().all(|row| row["optimum"].is_object() == (task == "rooms")));
    }
}

#[test]
fn solve() {
    let mut contract = [
        "task", "risk", "beta", "trials", "value", "low", "high", "outer", "mean", "method", "states", "solves",
        "seconds",
    ];
    contract.sort_unstable();
    for (task, beta) in [("rooms", "10"), ("mdp", "inf"), ("mdp", "-inf"), ("mo-max", "0"), ("mdp", "-1")] {
        let output = valid("solve", &Sandbox::new().data(&format!("solve {task} --beta {beta} --json")));
        assert_eq!(fields(&output), contract);
        assert_eq!(output["beta"].is_string(), beta.contains("inf"));
        assert_eq!([&output["low"], &output["high"]], [&output["value"]; 2]);
    }
    for (risk, variable) in [("cvar:0.9", "lambda"), ("evar:0.95", "beta"), ("mean-cvar:0.9:0.5", "lambda")] {
        let output = valid("solve", &Sandbox::new().data(&format!("solve grid-mo --risk {risk} --json")));
        assert_eq!((output["risk"].as_str(), output["beta"].is_null()), (Some(risk), true));
        assert_eq!(output["outer"]["variable"], variable);
        assert_eq!(output["value"], output["high"]);
        let width = output["high"].as_f64().unwrap() - output["low"].as_f64().unwrap();
        assert!((0.0..=1e-6).contains(&width), "{width}");
    }
}

/// f of an expected occupancy: what `solve` finds, `evaluate` confirms.
#[test]
fn trials() {
    let sandbox = Sandbox::new();
    for (task, gap) in [("msee", 1e-4), ("mdp", 1e-9), ("mo-max", 1e-6)] {
        let solved = sandbox.data(&format!("solve {task} --trials inf --beta 0 --save {task}.json --json -q"));
        let solved = valid("solve", &solved);
        let [value, low] = ["value", "low"].map(|name| solved[name].as_f64().unwrap());
        assert!(low <= value && value - low < gap, "{solved}");
        assert_eq!((&solved["trials"], &solved["mean"]), (&Value::from("inf"), &Value::Null));
        valid("policy", &sandbox.read(&format!("{task}.json")));
        let means = sandbox.data(&format!("evaluate {task} --policy {task}.json --trials 1,2,inf --json"));
        let means = valid("trials", &means)["means"].as_array().unwrap().clone();
        let values: Vec<f64> = means.iter().map(|mean| mean["value"].as_f64().unwrap()).collect();
        assert!(means[2]["exact"] == true && (values[2] - value).abs() < 1e-9, "{means:?}");
        // Sampled ones know their intervals.
        let low = |k: usize| means[k]["low"].as_f64().unwrap();
        assert!(values[0] >= low(1) - 1e-9 && values[1] >= value - 1e-9, "{means:?}");
    }
    sandbox.data("plan il --beta 1 --simulations 20 --save il.json -q");
    let output = valid("trials", &sandbox.data("evaluate il --policy il.json --trials 2,inf --runs 40 --json"));
    for mean in output["means"].as_array().unwrap() {
        assert_eq!((&mean["exact"], &mean["episodes"]), (&Value::from(false), &Value::from(40)));
        assert!(mean["low"].as_f64() <= mean["value"].as_f64() && mean["value"].as_f64() <= mean["high"].as_f64());
    }
}

#[test]
fn bound() {
    let sandbox = Sandbox::new();
    for (arguments, method) in [
        ("rooms --beta 50", "exact"),
        ("grid-il --beta 500", "visits"),
        ("grid-il --risk cvar:0.9", "visits"),
        ("mo-min --beta 1 --max-states 1", "cells"),
    ] {
        let output = valid("bound", &sandbox.data(&format!("bound {arguments} --json")));
        assert_eq!(fields(&output), ["beta", "bound", "method", "risk", "task"]);
        assert_eq!(output["method"], method, "{arguments}");
    }
}

#[test]
fn plan() {
    for (options, preset, reasons) in [
        ("--beta inf --simulations 1 --policy planner", "default", "lattice"),
        ("--beta -1 --simulations 50 --preset paper", "paper", "number of simulations"),
        ("--beta 0 --time-limit 5ms", "default", "lattice"),
        ("--beta 8", "exact", "solved exactly"),
        ("--beta -inf --policy exact", "exact", "solved exactly"),
    ] {
        let output = valid("plan", &Sandbox::new().data(&format!("plan grid-mo {options} --json")));
        assert_eq!((&output["preset"], &output["stopped"]), (&Value::from(preset), &Value::from(reasons)));
        assert_eq!(output["auto"].is_string(), options == "--beta 8");
        let ranked = Value::from("step costs");
        let estimated = if reasons == "marginal backward induction" { &ranked } else { &output["risk"] };
        assert_eq!((&output["estimate_of"], &output["upper_bounds"]), (estimated, &Value::from(false)));
    }
    for (options, bounds) in [("--risk cvar:0.9", false), ("--risk evar:0.5 --policy planner --simulations 20", false)]
    {
        let output = valid("plan", &Sandbox::new().data(&format!("plan grid-mo {options} --json")));
        assert!(output["outer"].is_string() && output["estimate_of"].is_string());
        assert_eq!(output["upper_bounds"], Value::from(bounds));
    }
}

#[test]
fn evaluate_and_saved_policies() {
    let sandbox = Sandbox::new();
    for (task, beta) in [("rooms", "10"), ("mdp", "-inf"), ("grid-mo", "8")] {
        sandbox.data(&format!("solve {task} --beta {beta} --save {task}.json -q"));
        valid("policy", &sandbox.read(&format!("{task}.json")));
        let output = valid("evaluate", &sandbox.data(&format!("evaluate {task} --policy {task}.json --json")));
        assert!(output["risks"][0]["gap"].as_f64().unwrap().abs() < 1e-9, "{task}");
    }
    // A policy is measured by what it was made for, unless other measures are asked for.
    sandbox.data("solve grid-mo --risk cvar:0.9 --save tail.json -q");
    let output = valid("evaluate", &sandbox.data("evaluate grid-mo --policy tail.json --json"));
    assert_eq!((&output["risks"][0]["risk"], &output["risks"][0]["beta"]), (&Value::from("cvar:0.9"), &Value::Null));
    assert!(output["risks"][0]["gap"].as_f64().unwrap().abs() < 1e-6);
    let asked = "evaluate grid-mo --policy tail.json --risk mean,evar:0.7,mean-cvar:0.5:0.5 --json";
    let output = valid("evaluate", &sandbox.data(asked));
    assert_eq!(output["risks"].as_array().unwrap().len(), 3);
    assert!(output["risks"].as_array().unwrap().iter().all(|row| row["gap"].as_f64().unwrap() > -1e-6));
    sandbox.data("plan il --beta 1 --simulations 20 --save il.json -q");
    valid("policy", &sandbox.read("il.json"));
    let output = valid("evaluate", &sandbox.data("evaluate il --policy il.json --runs 3 --out il -q --json"));
    assert_eq!((&output["exact"], &output["runs"]), (&Value::from(false), &Value::from(3)));
    let row = &output["risks"][0];
    assert!(row["low"].as_f64() <= row["value"].as_f64() && row["value"].as_f64() <= row["high"].as_f64(), "{row}");
    assert_eq!(valid("evaluate", &sandbox.read("il/evaluation.json")), output);
}

#[test]
fn frontier() {
    let sandbox = Sandbox::new();
    for arguments in [
        "mdp",
        "mdp --levels -inf,-1,0,5,inf",
        "grid-mo --risk cvar --levels 0,0.5,0.9",
        "mdp --risk evar --levels 0,1",
    ] {
        let output = valid("frontier", &sandbox.data(&format!("frontier {arguments} --json --out f -q")));
        assert_eq!(valid("frontier", &sandbox.read("f/frontier.json")), output);
        let (levels, changes) = (output["levels"].as_array().unwrap(), output["changes"].as_array().unwrap());
        let risks: Vec<f64> = levels.iter().map(|level| level["value"].as_f64().unwrap()).collect();
        assert!(risks.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6), "{risks:?}");
        // One behaviour leads to the next.
        let mut now = &levels[0]["behaviour"];
        for change in changes {
            assert_eq!(&change["before"], now, "{arguments}");
            now = &change["after"];
        }
        assert_eq!(now, &levels[levels.len() - 1]["behaviour"], "{arguments}");
    }
}

#[test]
fn sampled_frontier() {
    let sandbox = Sandbox::new();
    let arguments = "frontier rooms --max-states 100 --runs 20 --simulations 20 --levels 0,10,inf -q";
    let output = valid("frontier", &sandbox.data(&format!("{arguments} --json")));
    assert_eq!(output["sampled"]["runs"].as_u64(), Some(20));
    let intervals = output["sampled"]["intervals"].as_array().unwrap();
    for (level, interval) in output["levels"].as_array().unwrap().iter().zip(intervals) {
        let mean = level["mean"].as_f64().unwrap();
        assert!(interval["mean"][0].as_f64().unwrap() <= mean && mean <= interval["mean"][1].as_f64().unwrap());
    }
    assert!(output["changes"].as_array().unwrap().iter().all(|change| change["at"].is_null()));
    // Threads do not matter.
    let one = sandbox.data(&format!("{arguments} --threads 1 --json"));
    assert_eq!(one, sandbox.data(&format!("{arguments} --threads 3 --json")));
    // Fewer levels than usual, and a cvar sweep.
    let output = valid(
        "frontier",
        &sandbox.data("frontier rooms --risk cvar --max-states 100 --runs 2 --simulations 5 -q --json"),
    );
    assert_eq!(output["levels"].as_array().unwrap().len(), 6);
}

#[test]
fn explain() {
    let sandbox = Sandbox::new();
    for arguments in
        ["rooms --beta 50", "mdp --beta -inf --depth 0", "grid-mo --beta 8 --nodes 9", "il --beta 1 --runs 2 --nodes 3"]
    {
        let output = valid("explain", &sandbox.data(&format!("explain {arguments} --json")));
        assert_eq!(output["exact"].as_bool(), Some(!arguments.starts_with("il")));
        assert!(output["outer"].is_null() && !output["beta"].is_null());
    }
    for (arguments, variable) in [
        ("grid-mo --risk cvar:0.9 --nodes 9", "lambda"),
        ("grid-mo --risk evar:0.5 --nodes 9", "beta"),
        ("mdp --risk evar:0.5 --depth 1", "beta"),
    ] {
        let output = valid("explain", &sandbox.data(&format!("explain {arguments} --json")));
        assert_eq!((output["outer"]["variable"].as_str(), output["beta"].is_null()), (Some(variable), true));
        let command = arguments.split(" --n").next().and_then(|text| text.split(" --d").next()).expect("a task");
        let solved = valid("solve", &sandbox.data(&format!("solve {command} --json")));
        assert_eq!((&output["value"], &output["upper_bounds"]), (&solved["value"], &Value::from(false)));
        let (tree, risk) = (output["tree"]["value"].as_f64().unwrap(), solved["value"].as_f64().unwrap());
        assert!((tree - risk).abs() < 1e-9, "{arguments}: {tree} {risk}");
    }
}

#[test]
fn manifest_and_comparison() {
    let sandbox = Sandbox::new();
    sandbox.data("reproduce rooms mdp mo-weighted grid-mo --runs 2 --out paper -q");
    let manifest = valid("manifest", &sandbox.read("paper/manifest.json"));
    assert_eq!(manifest["experiments"].as_array().unwrap().len(), 4);
    let comparisons = valid("comparison", &sandbox.read("paper/comparison.json"));
    assert!(comparisons.as_array().unwrap().len() > 6);
    sandbox.data("run mdp --beta -inf,0,inf --runs 1 --policy uniform --out run -q");
    let manifest = valid("manifest", &sandbox.read("run/manifest.json"));
    let optimum = &manifest["experiments"][0]["optima"][0];
    assert_eq!((&optimum["risk"], &optimum["low"]), (&Value::from("best"), &optimum["value"]));
    sandbox.data("compare mdp --beta 0,inf --runs 1 --simulations 5 --out compare -q");
    assert_eq!(valid("manifest", &sandbox.read("compare/manifest.json"))["command"], "compare");
    // Infinities are read back as well.
    sandbox.data("report run -q");
    assert!(sandbox.data("replay run --run 0 --beta -inf").starts_with("mdp, beta = -inf, uniform, run 0: cost "));
}

#[test]
fn files_of_earlier_versions_are_read() {
    let sandbox = Sandbox::new();
    // β instead of the measure's name, optima as pairs, no checksums.
    sandbox.data("run mdp --beta 0.5,inf --runs 2 --policy uniform --out run -q");
    let mut manifest: Value = serde_json::from_str(&sandbox.read("run/manifest.json")).unwrap();
    let experiment = &mut manifest["experiments"][0];
    let betas = [Value::from(0.5), Value::from("inf")];
    for (cell, beta) in experiment["cells"].as_array_mut().unwrap().iter_mut().zip(&betas) {
        let cell = cell.as_object_mut().unwrap();
        cell.remove("risk").unwrap();
        cell.insert("beta".to_owned(), beta.clone());
    }
    for (optimum, beta) in experiment["optima"].as_array_mut().unwrap().iter_mut().zip(&betas) {
        *optimum = Value::from(vec![beta.clone(), optimum["value"].clone()]);
    }
    for field in ["files", "check"] {
        manifest.as_object_mut().unwrap().remove(field).unwrap();
    }
    let report = sandbox.read("run/report.html");
    sandbox.write("run/manifest.json", &manifest.to_string());
    sandbox.data("report run -q");
    assert_eq!(sandbox.read("run/report.html"), report);

    sandbox.data("solve rooms --beta 10 --save rooms.json -q");
    let arguments = "evaluate rooms --policy rooms.json --json";
    let (saved, now) = (sandbox.read("rooms.json"), sandbox.data(arguments));
    let (value, low, high) = ("\"value\":", "\"low\":", "\"high\":");
    let lines = saved.lines().filter(|line| !line.contains(low) && !line.contains(high));
    let older = lines.map(|line| line.replace("\"risk\": \"erm:10\"", "\"beta\": 10.0").replace(value, "\"erm\":"));
    let older = older.collect::<Vec<_>>().join("\n");
    assert!(older.contains("\"beta\": 10.0,") && older.contains("\"erm\": "), "{older}");
    sandbox.write("rooms.json", &older);
    assert_eq!(sandbox.data(arguments), now);
}

#[test]
fn tables_have_their_documented_columns() {
    let sandbox = Sandbox::new();
    sandbox.data("run mdp --beta 1,inf --runs 2 --policy uniform --out run -q");
    let documentation =
        std::fs::read_to_string(format!("{}/../../docs/json.md", env!("CARGO_MANIFEST_DIR"))).expect("docs/json.md");
    sandbox.data("frontier mdp --levels 0,5,inf --out run -q");
    for (file, rows) in [("samples.csv", 2 * 2), ("trajectories.csv", 2 * 2 * 20), ("frontier.csv", 3)] {
        let table = sandbox.read(&format!("run/{file}"));
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        for column in reader.headers().expect("a header") {
            assert!(documentation.contains(&format!("| {column}")) || documentation.contains(&format!(", {column}")));
        }
        assert_eq!(reader.records().flatten().count(), rows, "{table}");
    }
}
