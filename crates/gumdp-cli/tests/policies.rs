//! Policies as things: saved, brought, evaluated; runs to a wanted precision.

mod common;

use common::{COIN, Sandbox};
use serde_json::Value;

fn evaluated(sandbox: &Sandbox, arguments: &str) -> Value {
    serde_json::from_str(&sandbox.data(&format!("evaluate {arguments} --json"))).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_saved_optimum_is_the_optimum_to_the_last_bits() {
    let sandbox = Sandbox::new();
    for (task, beta) in [("rooms", 10), ("msee", 25), ("mdp", 5), ("mo-max", 1), ("grid-mo", 1)] {
        sandbox.data(&format!("solve {task} --beta {beta} --save {task}.json -q"));
        let saved: Value = serde_json::from_str(&sandbox.read(&format!("{task}.json"))).expect("JSON");
        let optimum = evaluated(&sandbox, &format!("{task} --policy {task}.json"));
        assert_eq!(optimum["exact"], Value::from(true));
        assert!((number(&optimum["risks"][0]["value"]) - number(&saved["value"])).abs() < 1e-12, "{task}");
        assert!((number(&optimum["measures"][0]["value"]) - number(&saved["mean"])).abs() < 1e-12, "{task}");
        // As version 1 had it.
        let mut old = saved;
        let fields = old.as_object_mut().unwrap();
        let value = fields.remove("value").unwrap();
        fields.extend([("version", 1.into()), ("beta", beta.into()), ("erm", value)].map(|(k, v)| (k.to_owned(), v)));
        fields.retain(|field, _| !["risk", "low", "high"].contains(&field.as_str()));
        sandbox.write("old.json", &old.to_string());
        assert_eq!(evaluated(&sandbox, &format!("{task} --policy old.json"))["risks"], optimum["risks"], "{task}");
    }
}

#[test]
fn plan_saves_what_solve_saves() {
    let sandbox = Sandbox::new();
    for task in ["rooms", "mdp"] {
        sandbox.data(&format!("solve {task} --beta 10 --save solved.json -q"));
        sandbox.data(&format!("plan {task} --beta 10 --save planned.json -q"));
        assert!(sandbox.read("solved.json") == sandbox.read("planned.json"), "{task}");
    }
}

#[test]
fn a_saved_planner_plays_the_same_runs() {
    let sandbox = Sandbox::new();
    for (options, preset) in [("--policy planner", "--policy planner"), ("--preset paper", "--preset paper")] {
        sandbox.data(&format!("plan il --beta 1 {options} --simulations 30 --seed 7 --save il.json -q"));
        let again = evaluated(&sandbox, "il --policy il.json --runs 6");
        let runs = sandbox.data(&format!("run il --beta 1 {preset} --simulations 30 --seed 7 --runs 6 --json"));
        let runs: Value = serde_json::from_str(&runs).expect("JSON");
        assert!((number(&again["risks"][0]["value"]) - number(&runs[0]["value"])).abs() < 1e-12);
    }
}

#[test]
fn one_policy_in_every_form_has_one_distribution() {
    let sandbox = Sandbox::new();
    // pi2 of the task: left, right and again.
    sandbox.write("script.csv", "action\nleft\nright\n");
    sandbox.write("state.csv", "# careful\nstate, action\ns1, left\n\"s0\", right\n");
    sandbox.write("chance.csv", "probability,action,state\n1,left,s1\n0.0,right,s1\n1,right,s0\n");
    let row = |time: u32| format!("{time},{}\n", if time.is_multiple_of(2) { "s1,left" } else { "s0,right" });
    let by_time = format!("time,state,action\n{}", (0..20).map(row).collect::<String>());
    sandbox.write("time.csv", &by_time);
    let script = evaluated(&sandbox, "rooms --policy pi2 --beta 1,inf");
    for file in ["script.csv", "state.csv", "chance.csv", "time.csv"] {
        let table = evaluated(&sandbox, &format!("rooms --policy {file} --beta 1,inf"));
        assert_eq!(table["measures"], script["measures"], "{file}");
        assert_eq!(table["risks"], script["risks"], "{file}");
    }
    sandbox.write("coin.toml", COIN);
    sandbox.write(
        "half.csv",
        "state,action,probability\nheads,toss,0.5\nheads,keep,0.5\ntails,toss,0.5\ntails,keep,0.5\n",
    );
    let half = evaluated(&sandbox, "coin.toml --policy half.csv");
    assert_eq!(half["measures"], evaluated(&sandbox, "coin.toml --policy uniform")["measures"]);
}

/// The sampled mean is within five standard errors of the exact one: a false alarm has probability 6e-7.
#[test]
fn samples_agree_with_the_distribution() {
    let sandbox = Sandbox::new();
    let exact = evaluated(&sandbox, "msee --policy uniform --beta 5");
    let sampled = evaluated(&sandbox, "msee --policy uniform --beta 5 --max-states 0 --runs 4000");
    assert_eq!((&exact["exact"], &sampled["exact"]), (&Value::from(true), &Value::from(false)));
    let value = |of: &Value, place: usize| number(&of["measures"][place]["value"]);
    let error = value(&exact, 1) / 4000_f64.sqrt();
    assert!((value(&exact, 0) - value(&sampled, 0)).abs() < 5.0 * error);
    assert_eq!(sampled, evaluated(&sandbox, "msee --policy uniform --beta 5 --max-states 0 --runs 4000 --threads 1"));
}

#[test]
fn runs_go_on_until_they_are_precise() {
    let sandbox = Sandbox::new();
    let rows = |arguments: &str| -> Value { serde_json::from_str(&sandbox.data(arguments)).expect("JSON") };
    let run =
        "run rooms --policy planner --preset paper --simulations 5 --runs 50 --beta 1,10 --precision 0.01 -q --json";
    let whole = rows(&format!("{run} --out whole"));
    for row in whole.as_array().unwrap() {
        assert!((number(&row["high"]) - number(&row["low"])) / 2.0 <= 0.01);
        assert!(number(&row["runs"]) > 50.0);
    }
    // Cut short by a lower limit, then gone on with: the same bits.
    rows(&format!("{run} --out parts --max-runs 120"));
    rows(&format!("{run} --out parts"));
    assert!(sandbox.read("parts/samples.csv") == sandbox.read("whole/samples.csv"));
    let capped = rows(&format!("{run} --max-runs 60"));
    assert!(capped.as_array().unwrap().iter().all(|row| row["runs"] == 60));
    // What is known exactly needs no more runs.
    let known = rows("run rooms --policy uniform --runs 50 --beta 1 --precision 0.01 -q --json");
    assert_eq!((&known[0]["exact"], &known[0]["runs"]), (&Value::from(true), &Value::from(50)));
}

#[test]
fn other_settings_in_one_folder_are_named_and_never_mixed() {
    let sandbox = Sandbox::new();
    sandbox.data("run mdp --policy uniform --beta 1 --runs 5 --out out -q");
    let ended = sandbox.gumdp("run mdp --policy uniform --beta 1 --runs 5 --seed 1 --out out");
    assert!(ended.stderr.contains(
        "out also holds runs of other settings, which are kept but not part of these results: mdp_uniform_beta1_"
    ));
    sandbox.data("run mdp --policy uniform --beta 1 --runs 5 --seed 1 --out fresh -q");
    assert!(sandbox.read("out/samples.csv") == sandbox.read("fresh/samples.csv"));
}

#[test]
fn bad_policies_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.data("solve rooms --beta 1 --save rooms.json -q");
    let saved = sandbox.read("rooms.json");
    sandbox.write("cut.json", &saved[..saved.len() / 2]);
    sandbox.write("old.json", &saved.replace("\"version\": 2", "\"version\": 7"));
    sandbox.write("gap.json", &saved.replacen("[0,\"s1\"", "[0,\"s0\"", 1));
    sandbox.write("state.json", &saved.replacen("[0,\"s1\"", "[0,\"s9\"", 1));
    sandbox.write("extra.json", &saved.replacen("\"task\"", "\"tusk\"", 1));
    sandbox.write("wrong.csv", "state,action\ns0,left\ns1,dance\n");
    sandbox.write("few.csv", "state,action\n");
    for (policy, expected) in [
        ("cut.json", "error: cut.json:"),
        (
            "old.json",
            "error: old.json: format is \"gumdp policy\", version 7; it must be \"gumdp policy\", version 1 to 3\n",
        ),
        ("gap.json", "error: gap.json: time 0, state \"s1\": the policy leads there, but has no row for it\n"),
        ("state.json", "error: state.json: policy.by-occupancy.rows[0]: unknown state \"s9\"\n"),
        ("extra.json", "error: extra.json:5:8: not a saved policy: unknown field `tusk`"),
        ("wrong.csv", "error: wrong.csv:3:4: unknown action \"dance\"\n"),
        ("few.csv", "error: few.csv: no row for state \"s1\"\nhint: every state that the policy leads to needs a row"),
        ("missing.csv", "error: missing.csv: there is no such file\n"),
        ("missing.json", "error: missing.json: there is no such file\n"),
        (
            "chance",
            "error: unknown policy \"chance\"\nhint: it may be uniform, pi1, pi2, a file policy.json saved by gumdp",
        ),
    ] {
        let ended = sandbox.gumdp(&format!("evaluate rooms --policy {policy}"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{policy}");
        assert!(ended.stderr.starts_with(expected), "{policy}: {}", ended.stderr);
    }
    let other = sandbox.gumdp("evaluate msee --policy rooms.json");
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.starts_with("error: rooms.json: the policy is for another problem, saved as \"rooms\""));
    let unwritable = sandbox.gumdp("solve rooms --beta 1 --save /dev/null/policy.json");
    assert_eq!(unwritable.code, Some(2));
}
