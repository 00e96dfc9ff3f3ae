//! Models of other programs on the command line: notes, `convert` and `check`.

mod common;

use common::{COIN, Sandbox};

const CSV: &str = "idstatefrom,idaction,idstateto,probability,reward\n0,0,0,0.5,1\n0,0,1,0.5,3\n0,1,1,1,0\n";

#[test]
fn imported_models_are_played_solved_and_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("chain.csv", CSV);
    let ended = sandbox.gumdp("solve chain.csv --beta 1");
    assert_eq!(ended.code, Some(0));
    assert_eq!(
        ended.stderr,
        "note: rewards are taken for gains: a cost is minus a reward\n\
         note: 1 state without transitions absorbs at no cost: s1\n\
         note: no discount is given: it is 0.95\n\
         note: no start is given: episodes start in s0\n\
         note: no horizon is given: it is 131, which leaves at most a hundredth of the largest cost\n\
         note: in 1 of 3 state-action pairs the reward depends on the next state; the expected reward is the cost \
         (rewards = \"split\" keeps the distribution of the total exact)\n"
    );
    sandbox.data("solve chain.csv --beta 1 -q");
    sandbox.data("show chain.csv -q");
    sandbox.data("plan chain.csv --beta 1 -q");
    // The results hold the model: they can be shown again without its file.
    sandbox.data("run chain.csv --runs 2 --beta 1 --out out -q");
    std::fs::remove_file(sandbox.path("chain.csv")).unwrap();
    sandbox.data("report out -q");
    assert!(sandbox.data("replay out --run 0").contains("s0"));
    assert!(sandbox.read("out/tasks/chain.toml").contains("0,0,1,0.5,3\n"));
}

#[test]
fn convert_there_and_back() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    let ended = sandbox.gumdp("convert coin.toml coin.csv");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    assert_eq!(ended.stderr, "note: CSV has no names: states and actions are written by number\n");
    assert_eq!(sandbox.files("."), ["coin.csv", "coin.initial.csv", "coin.parameters.csv", "coin.toml"]);
    assert_eq!(sandbox.read("coin.parameters.csv"), "parameter,value\ndiscount,0.9\nhorizon,5\n");
    let ended = sandbox.gumdp("convert coin.csv coin.drn -q");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    sandbox.data("convert coin.drn back.toml -q");
    let optimum = |file: &str| {
        let text = sandbox.data(&format!("solve {file} --beta 1 --json -q"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["value"].as_f64().unwrap()
    };
    assert!((optimum("coin.toml") - optimum("coin.csv")).abs() < 1e-12);
    assert!(sandbox.gumdp("convert rooms rooms.drn").stderr.contains("is not linear and cannot be written"));
    // Whatever the objective is, a problem file holds it; a map stays a map.
    for task in ["rooms", "mo-max", "il", "grid-msee"] {
        let ended = sandbox.gumdp(&format!("convert {task} {task}.toml"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ended.stderr.contains("is written as it is"), task == "grid-msee", "{}", ended.stderr);
        let check = sandbox.gumdp(&format!("check {task}.toml"));
        assert_eq!(check.code, Some(0), "{}", check.stdout);
    }
}

#[test]
fn reward_models_and_labels_are_kept() {
    let sandbox = Sandbox::new();
    let drn = "@type: MDP\n@parameters\n\n@reward_models\ntime energy-use\n@nr_states\n2\n@model\nstate 0 init\n\taction go [1, 2]\n\
               \t\t1 : 1\nstate 1 goal\n\taction go [0, 3]\n\t\t1 : 1\n";
    sandbox.write("two.drn", drn);
    let ended = sandbox.gumdp("convert two.drn two.toml");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("the cost \"energy-use\" is called \"cost_energy_use\""), "{}", ended.stderr);
    let text = sandbox.read("two.toml");
    for part in ["cost = \"time\"", "[objective.features.\"cost_energy_use\"]", "\"goal\" = [\"s1\"]"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    sandbox.write("both.toml", &text.replace("cost = \"time\"", "cost = \"cost_energy_use\""));
    sandbox.data("solve both.toml --beta 1 -q");
}

#[test]
fn convert_splits_states() {
    let sandbox = Sandbox::new();
    sandbox.write("chain.csv", CSV);
    sandbox.data("convert chain.csv split.toml --rewards split -q");
    assert!(sandbox.read("split.toml").contains("\"s1[3]\""));
    let ended = sandbox.gumdp("convert split.toml x.csv --rewards split");
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.starts_with("error: --rewards is for models to be imported, and split.toml is not one\nhint: ")
    );
}

#[test]
fn convert_refuses_to_guess_or_to_overwrite() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    sandbox.write("coin.initial.csv", "precious");
    let refused = |arguments: &str, stderr: &str| {
        let ended = sandbox.gumdp(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), stderr), "{arguments}");
    };
    refused("convert coin.toml coin.csv", "error: coin.initial.csv exists\nhint: --force replaces it\n");
    assert_eq!(sandbox.files("."), ["coin.initial.csv", "coin.toml"]);
    let format = "the format of the output is not known\nhint: its name must end in .csv, .drn or .toml\n";
    refused("convert coin.toml coin.pdf", &format!("error: coin.pdf: {format}"));
    refused("convert none.csv coin.drn", "error: none.csv: there is no such file\n");
    sandbox.data("convert coin.toml coin.csv --force -q");
    assert!(sandbox.read("coin.initial.csv").starts_with("idstate"));
    sandbox.write("bad.csv", &CSV.replace("0.5,3", "0.4,3"));
    refused(
        "solve bad.csv --beta 1",
        "error: bad.csv:2:1: state \"s0\", action \"a0\": the probabilities sum to 0.9; they must sum to 1 within 1e-9\nhint: 0.1 is missing to 1\n",
    );
}

#[test]
fn check_reports_everything() {
    let sandbox = Sandbox::new();
    sandbox.write("coin.toml", COIN);
    assert_eq!(sandbox.data("check coin.toml"), "coin.toml: no mistakes found\n");
    sandbox.write("coin.toml", &COIN.replace("horizon = 5", "horizon = 1"));
    assert_eq!(
        sandbox.data("check coin.toml"),
        "coin.toml:6:11: warning: the horizon is 1: only the first action counts\n"
    );
    sandbox.write("coin.toml", &COIN.replace("horizon = 5", "horizn = 5").replace("0.9", "1.9"));
    let ended = sandbox.gumdp("check coin.toml");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), ""));
    assert_eq!(
        ended.stdout,
        "coin.toml:1:1: error: the field \"horizon\" is missing\n  \
         hint: give the number of steps, or accuracy = … to have it computed\n\
         coin.toml:5:12: error: the discount is 1.9; it must lie in (0, 1]\n\
         coin.toml:6:1: error: unknown field \"horizn\"\n  hint: did you mean \"horizon\"?\n"
    );
}
