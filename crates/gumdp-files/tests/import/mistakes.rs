//! What is refused, and where.

use gumdp_files::{FileError, Task};

use super::{CSV, DIE, GYMNASIUM, wrapper};

fn refused(file: &str, text: &str) -> (String, Option<String>) {
    let FileError { line, column, message, hint, .. } =
        Task::parse(file, text).map(|task| task.name).expect_err("this must be refused");
    (format!("{}:{}: {message}", line.unwrap_or(0), column.unwrap_or(0)), hint)
}

#[track_caller]
fn check(file: &str, text: &str, (old, new): (&str, &str), message: &str) {
    assert!(text.contains(old), "the file has no {old}");
    assert_eq!(refused(file, &text.replacen(old, new, 1)).0, message);
}

#[test]
fn mistakes_in_csv() {
    let csv = |old, new, message| check("x.csv", CSV, (old, new), message);
    csv(
        "idaction",
        "action",
        "1:1: the column \"idaction\" is missing; the first line must name idstatefrom,idaction,idstateto,probability,reward",
    );
    csv(
        "probability",
        "reward",
        "1:1: the column \"probability\" is missing; the first line must name idstatefrom,idaction,idstateto,probability,reward",
    );
    csv("0,0,0,1.0,5.0", "0,0,0,1.0", "2:1: this line has 4 fields; the first line has 5");
    csv("0,0,0,1.0,5.0", "x,0,0,1.0,5.0", "2:1: idstatefrom is \"x\"; it must be a whole number in [0, 10000000]");
    csv("0,0,0,1.0,5.0", "0,-1,0,1.0,5.0", "2:3: idaction is \"-1\"; it must be a whole number in [0, 10000000]");
    csv("0,0,0,1.0,5.0", "0,0, 4e9 ,1.0,5.0", "2:6: idstateto is \"4e9\"; it must be a whole number in [0, 10000000]");
    csv("0,0,0,1.0,5.0", "0,0,0,1.5,5.0", "2:7: probability is \"1.5\"; it must be a number in [0, 1]");
    csv("0,0,0,1.0,5.0", "0,0,0,1.0,inf", "2:11: reward is \"inf\"; it must be a finite number");
    csv("0.6", "0.5", "3:1: state \"s0\", action \"a1\": the probabilities sum to 0.9; they must sum to 1 within 1e-9");
    assert_eq!(
        refused("x.csv", "").0,
        "1:1: the file is empty; its first line must be idstatefrom,idaction,idstateto,probability,reward"
    );
    let header = CSV.lines().next().unwrap();
    assert_eq!(refused("x.csv", header).0, "1:1: the file has no transitions; it needs at least one");
}

#[test]
fn mistakes_in_json() {
    let json = |old, new, message| check("x.json", GYMNASIUM, (old, new), message);
    json("[1.0, 0, 0.0, false]", "[1.0, 0, 0.0, maybe]", "1:28: expected true or false, not \"maybe\"");
    json("[1.0, 0,", "[1.0, -1,", "1:20: the next state is -1; it must be a whole number in [0, 10000000]");
    json("[1.0, 0,", "[2.0, 0,", "1:15: the probability is 2; it must lie in [0, 1]");
    json("[1.0, 0,", "[1.0, NaN,", "1:20: the next state is NaN; it must be a whole number in [0, 10000000]");
    json("0.0, false", "Infinity, false", "1:23: the reward is inf; it must be finite");
    json(
        "[[0.5, 1",
        "[[0.4, 1",
        "1:43: state \"s0\", action \"a1\": the probabilities sum to 0.9; they must sum to 1 within 1e-9",
    );
    json("{\"0\"", "{\"-1\"", "1:2: the id \"-1\" of a state or an action must be a whole number in [0, 10000000]");
    assert_eq!(
        refused("x.json", "{\"Q\": [1, {}]}").0,
        "1:1: the file has no transitions: neither \"P\" nor states such as \"0\""
    );
    json(
        "\"1\"",
        "\"4000000000\"",
        "1:37: the id \"4000000000\" of a state or an action must be a whole number in [0, 10000000]",
    );
    json("[1.0, 0, 0.0, false]]", "[1.0, 0, 0.0, false]", "1:36: expected '[' and p, s', r, terminated, not '\"'");
    json("}}\n", "}", "3:60: expected ',' or '}', not the end of the file");
    let deep = format!("{{\"x\": {}", "[".repeat(100_000));
    assert_eq!(refused("x.json", &deep).0, "1:100006: not valid JSON: EOF while parsing a list");
}

#[test]
fn mistakes_in_drn() {
    let drn = |old, new, message| check("x.drn", DIE, (old, new), message);
    drn("DTMC", "CTMC", "2:8: @type is \"CTMC\"; it must be MDP or DTMC");
    drn("@type: DTMC\n", "", "9:1: the field \"@type\" is missing; it must be MDP or DTMC");
    drn(
        "@parameters\n\n",
        "@parameters\np q\n",
        "5:1: @parameters is \"p q\"; it must be empty: every value must be a number",
    );
    drn(
        "@nr_states\n4",
        "@nr_states\n9999999999",
        "9:1: @nr_states is \"9999999999\"; it must be a whole number in [0, 10000000]",
    );
    drn("@nr_states\n4", "@nr_states\n5", "1:1: @nr_states is 5, but the file has 4 states");
    drn("@model", "@modle", "12:2: \"action 0 [1, 0]\" stands before \"@model\"");
    assert_eq!(refused("x.drn", "@type: MDP\n").0, "2:1: the line \"@model\" is missing");
    drn("state 3", "state 2", "21:7: the state 2 is given twice");
    drn("state 3", "state 7", "21:7: the state is 7; @nr_states is 4, so it must lie below");
    drn("1 : 1/2", "1 : 1/x", "13:7: the probability is \"1/x\"; it must be a finite number or a fraction a/b");
    drn("1 : 1/2", "1 : 3/2", "13:7: the probability is 1.5; it must lie in [0, 1]");
    drn("1 : 1/2", "9 : 1/2", "13:3: the next state is 9; @nr_states is 4, so it must lie below");
    drn(
        "1 : 1/2",
        "1 : 1/4",
        "13:3: state \"s0\", action \"a0\": the probabilities sum to 0.75; they must sum to 1 within 1e-9",
    );
    drn("action 0 [1, 0]", "action 0 [1]", "12:11: 1 reward is given for 2 reward models");
    drn("action 0 [1, 0]", "action 0 [1, 0", "12:11: these rewards have no closing ]");
    drn("1 : 1/2", "hello", "13:3: \"hello\" is not a state, an action or \"state : probability\"");
}

#[test]
fn mistakes_in_the_file_around() {
    let text = wrapper("drn", "discount = 1\nhorizon = 4\n[objective]\nkind = \"linear\"\ncost = \"flips\"", DIE);
    let toml = |old, new, message| check("my.toml", &text, (old, new), message);
    toml("\"flips\"", "\"flip\"", "32:8: unknown feature \"flip\"");
    toml(
        "format = \"drn\"",
        "format = \"dnr\"",
        "2:10: format is \"dnr\"; it must be \"csv\", \"gymnasium\" or \"drn\"",
    );
    toml("horizon = 4", "start = \"s9\"", "29:9: unknown state \"s9\"");
    toml(
        "horizon = 4",
        "initial = { s0 = 0.5 }",
        "29:11: the initial probabilities sum to 0.5; they must sum to 1 within 1e-9",
    );
    toml(
        "horizon = 4",
        "rewards = \"split\"\naccuracy = 0.1",
        "30:12: rewards = \"split\" needs horizon instead of accuracy",
    );
    toml("discount = 1", "discount = 2", "28:12: the discount is 2; it must lie in (0, 1]");
    assert_eq!(refused("my.toml", "kind = \"import\"").0, "1:1: the field \"file\" is missing");
    let costless = "kind = \"explicit\"\nstates = [\"x\"]\nactions = [\"go\"]\nstart = \"x\"\ndiscount = 1\nhorizon = 1\n\
                    transitions = [{ from = \"x\", action = \"go\", to = \"x\" }]\n[objective]\nkind = \"linear\"\ncost = \"flips\"";
    assert_eq!(refused("my.toml", costless).0, "10:8: unknown feature \"flips\"");
}
