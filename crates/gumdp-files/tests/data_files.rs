//! `check` and the files of data: one mistake hides no other, each has its own place, and nothing is told that follows from
//! another. Also texts that are not TOML.

use gumdp_files::Task;
use gumdp_files::{Finding, Severity, check, check_text};

const ROBOT: &str = include_str!("problems/robot.toml");

fn shown(findings: Vec<Finding>) -> Vec<String> {
    findings.into_iter().map(|finding| finding.to_string()).collect()
}

/// What is found if the robot imitates this file.
fn imitated(text: &str, demo: &str) -> Vec<String> {
    shown(check_text("my.toml", &format!("{text}[files]\n\"demo.csv\" = '''\n{demo}'''\n")))
}

#[test]
fn trajectories() {
    assert_eq!(
        imitated(ROBOT, "state,action\ndock,fly\nfeld,go\nfield\n"),
        [
            "demo.csv:2:6: error: unknown action \"fly\"",
            "demo.csv:3:1: error: unknown state \"feld\"",
            "demo.csv:4:1: error: this line has 1 field; the first line has 2",
        ]
    );
    // Times are not missed after a line that could not be read.
    assert_eq!(
        imitated(ROBOT, "time,state,action\n0,dock,go\n1,field\n2,field,go\nx,dock,go\n4,dock,go\n6,dock,wait\n"),
        [
            "demo.csv:3:1: error: this line has 2 fields; the first line has 3",
            "demo.csv:5:1: error: time must be a whole number, not \"x\"",
            "demo.csv:7:1: error: time 6 follows time 4; it must be 5",
        ]
    );
    assert_eq!(
        imitated(ROBOT, "a,b\n1,2\n"),
        ["demo.csv:1:1: error: unknown column \"a\"", "demo.csv:1:3: error: unknown column \"b\""]
    );
}

#[test]
fn policies() {
    let (dock, field) = (
        "demo.csv:2:9: error: the probabilities of state \"dock\" sum to 0.7; they must sum to 1",
        "demo.csv:3:12: error: the probabilities of state \"field\" sum to 0.2; they must sum to 1",
    );
    let policy = |lines: &str| imitated(ROBOT, &format!("state,action,probability\n{lines}\n"));
    assert_eq!(policy("dock,go,0.7\nfield,wait,0.2\nbroken,wait,1"), [dock, field]);
    let negative = "demo.csv:3:12: error: the probability is -1; it must be finite and not negative";
    assert_eq!(policy("dock,go,0.7\nfield,wait,-1"), [dock, negative]);
    // A line of an unknown state may be one of the dock, if its probability is what is missing there.
    let unknown = "demo.csv:3:1: error: unknown state \"dok\"";
    assert_eq!(policy("dock,go,0.7\ndok,wait,0.3"), [unknown]);
    assert_eq!(policy("dock,go,0.7\ndok,wait,0.4"), [dock, unknown]);
    assert_eq!(
        policy("dock,go,1"),
        ["demo.csv:2:1: error: the policy meets states \"field\", \"broken\", of which the file says nothing"]
    );
}

#[test]
fn accuracy_goes_with_targets_that_need_no_horizon() {
    let text = ROBOT.replace("horizon = 5", "accuracy = 0.01");
    assert_eq!(imitated(&text, "state,action,mass\ndock,go,0.5\nfield,go,0.5\n"), [""; 0]);
    assert_eq!(imitated(&text, "state,action\ndock,go\nfield,go\ndock,go\n"), [""; 0]);
    let long = format!("state,action\n{}", "dock,wait\n".repeat(1000));
    assert_eq!(
        imitated(&text, &long),
        ["my.toml:16:19: error: objective.target.file has an episode of 1000 steps, which accuracy may cut off"]
    );
    assert_eq!(
        imitated(&text, "state,action,probability\ndock,wait,1\n"),
        ["my.toml:16:19: error: objective.target.file is a policy, which needs horizon instead of accuracy"]
    );
    // The horizon is that of the distance to the same masses.
    let horizon = |target: &str| {
        let text = text.replace("{ file = \"demo.csv\" }", target);
        let files = "[files]\n\"demo.csv\" = \"\"\"\nstate,action,mass\ndock,go,0.5\nfield,go,0.5\n\"\"\"\n";
        Task::parse("my.toml", &format!("{text}{files}")).unwrap().problem.horizon()
    };
    assert_eq!(horizon("{ file = \"demo.csv\" }"), horizon("{ \"dock/go\" = 0.5, \"field/go\" = 0.5 }"));
}

#[test]
fn transitions_as_csv() {
    let header = "idstatefrom,idaction,idstateto,probability,reward\n";
    let found = |lines: &str| {
        let findings = shown(check_text("x.csv", &format!("{header}{lines}")));
        findings
            .iter()
            .filter_map(|finding| Some(finding.strip_prefix("x.csv:")?.split(" error").next()?.to_owned()))
            .collect::<Vec<_>>()
    };
    let lines = "0,0,0,0.5,1\n0,0,1,0.4,1\n1,0,0,1.2,1\n1,x,0,1,1\n-1,0,0,1,1\n2,0,0,nan,1\n2,0,0,1,inf\n2,0\n";
    assert_eq!(found(lines), ["2:1:", "4:7:", "5:3:", "6:1:", "7:7:", "8:9:", "9:1:"]);
    // What is missing may stand in the line that could not be read.
    assert_eq!(found("0,0,0,0.5,1\no,0,1,0.5,1\n1,0,1,0.5,0\n1,1,1,1,0\n"), ["3:1:"]);
    assert_eq!(found("0,0,0,0.5,1\n0,o,1,0.5,1\n1,0,1,0.6,0\n"), ["3:3:", "4:1:"]);
    // What stands in quotes is one field, also with a comma.
    assert_eq!(found("0,0,0,\"0,5\",1\n"), ["2:7:"]);
    let note = "idstatefrom,idaction,note,idstateto,probability,reward\n0,0,\"a, b\",0,1,1\n";
    assert!(Task::parse("x.csv", note).is_ok());
    let columns = "idstatefrom,idaction,idstateto,prob\n0,0,0,1\n";
    let findings = check_text("x.csv", columns);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert_eq!(findings[0].place.hint.as_deref(), Some("\"prob\" may be meant: call it \"probability\""));
}

#[test]
fn gymnasium_as_json() {
    let found = |text: &str| {
        let findings = check_text("x.json", text).into_iter();
        shown(findings.filter(|finding| finding.severity == Severity::Error).collect())
    };
    let text = "{\"0\": {\"0\": [[1.0, 0, 0.0, false]], \"1\": [[0.5, 1, -1.0, false], [0.4, 2, 1.0, true]]}, \"1\": {\"0\": [[0.25, \"0\", -1.0, 0]]}, \"x\": 3}";
    assert_eq!(
        found(text),
        [
            "x.json:1:43: error: state \"s0\", action \"a1\": the probabilities sum to 0.9; they must sum to 1 within 1e-9",
            "x.json:1:108: error: expected a number, not '\"'",
            "x.json:1:125: error: the id \"x\" of a state or an action must be a whole number in [0, 10000000]",
        ]
    );
    let text = "{\"P\": {\"0\": {\"0\": [[1.0, 0, 0.0, false]]}}, \"initial\": [0.5,0.4], \"discount\": 2, \"horizon\": -1, \"foo\": 1}";
    assert_eq!(
        found(text),
        [
            "x.json:1:56: error: the initial probabilities sum to 0.9; they must sum to 1 within 1e-9",
            "x.json:1:61: error: episodes start in s1, but no transition mentions that state",
            "x.json:1:79: error: discount is 2; it must be a number in (0, 1]",
            "x.json:1:93: error: horizon is -1; it must be a whole number in [1, 1000000]",
        ]
    );
    assert_eq!(
        found(
            "{\"0\": {\"0\": [[1, 0, 0, 0]],\n \"0\": [[1, 0, 0, 0]]}, \"0\": {}, \"1\": {\"0\": [[1, 0]], \"1\": 7}}"
        ),
        [
            "x.json:2:2: error: the action 0 is given twice; first in line 1, column 8",
            "x.json:2:24: error: \"0\" is given twice; first in line 1, column 2",
            "x.json:2:50: error: expected ',' and the reward, not ']'",
            "x.json:2:59: error: expected '[' and the transitions [p, s', r, terminated], not '7'",
        ]
    );
    let empty = "{\"0\": {\"0\": [[1, 0, 0, 0]], \"1\": []}}";
    assert_eq!(found(empty), ["x.json:1:34: error: action 1 of state 0 has no transitions"]);
    // The end is missing: what stands before it is looked at.
    assert_eq!(found("{\"0\": {\"0\": [[0.9, 0, 0, 0]], \"1\": [[1, 0").len(), 2);
}

#[test]
fn drn() {
    let text = "@type: MDP\n@parameters\n\n@reward_models\ncost\n@nr_states\n3\n@model\nstate 0 [0] init\n\taction a [2]\n\t\t1 : 0.5\n\t\t7 : 0.4\n\taction a [x]\n\t\t1 : 1/0\nstate 2 [0,1]\n";
    let found = shown(check_text("x.drn", text));
    let beginnings = [
        "x.drn:1:1: error: @nr_states is 3, but",
        "x.drn:12:3: error",
        "x.drn:13:12: error",
        "x.drn:14:7: error",
        "x.drn:15:9: error",
    ];
    assert!(found.iter().zip(beginnings).all(|(finding, beginning)| finding.starts_with(beginning)), "{found:#?}");
    let again =
        "x.drn:13:9: warning: 1 action has the name of another action of the same state: \"a\" of s0 is called \"a#1\"";
    assert_eq!((found.len(), found[5].as_str()), (6, again));
    // A label that is there twice is there once.
    let twice = "@type: MDP\n@nr_states\n2\n@model\nstate 0 init x init x\n\taction 0\n\t\t1 : 1\nstate 1 init\n";
    let task = Task::parse("x.drn", twice).unwrap();
    assert_eq!(task.problem.mdp().initial().iter().map(|&(_, p)| p).collect::<Vec<_>>(), [0.5, 0.5]);
    let empty = "@type: MDP\n@nr_states\n1\n@model\nstate 0 init\n\taction a\n\taction b\n\t\t0 : 1\n";
    assert_eq!(shown(check_text("x.drn", empty)), ["x.drn:6:9: error: this action has no transitions"]);
    // A state without transitions absorbs, also the only one.
    let task = Task::parse("x.drn", "@type: MDP\n@nr_states\n1\n@model\nstate 0 init\n").unwrap();
    assert_eq!((task.problem.mdp().state_count(), task.problem.mdp().pair_count()), (1, 1));
}

#[test]
fn the_model_has_one_source() {
    let folder = std::env::temp_dir().join(format!("gumdp-data-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("my.toml");
    let csv = "idstatefrom,idaction,idstateto,probability,reward\n0,0,0,1,1\n";
    std::fs::write(&path, format!("kind = \"import\"\nfile = \"none.csv\"\nformat = \"csv\"\ntext = '''\n{csv}'''\n"))
        .unwrap();
    let found: Vec<String> = check(&path).into_iter().map(|finding| finding.place.message).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].ends_with("none.csv: there is no such file"), "{found:?}");
    assert_eq!(found[1], "both file and text are given; give one of them");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn texts_that_are_not_toml() {
    let target = "[objective]\nkind = \"linear\"\ncost = { dock = 1 }\n";
    let text = ROBOT.split("[objective]").next().unwrap().to_owned() + target;
    let found = |edits: &[(&str, &str)]| {
        let edited = edits.iter().fold(text.clone(), |text, (old, new)| {
            assert!(text.contains(old), "the file has no {old}");
            text.replacen(old, new, 1)
        });
        shown(check_text("my.toml", &edited))
    };
    // A list that is not closed is one mistake, and what does not depend on it is looked at.
    assert_eq!(
        found(&[
            ("\"broken\"]", "\"broken\""),
            ("discount = 0.9", "discount = 9"),
            ("{ dock", "{ anywhere"),
            ("0.95", "0.94")
        ]),
        [
            "my.toml:2:36: error: not valid TOML: unclosed array, expected `]`",
            "my.toml:5:12: error: the discount is 9; it must lie in (0, 1]",
            "my.toml:10:3: error: state \"field\", action \"wait\": the probabilities sum to 0.99; they must sum to 1 within 1e-9",
        ]
    );
    let lines = |edits: &[(&str, &str)]| -> Vec<String> {
        found(edits).iter().map(|finding| finding.split(':').nth(1).unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(lines(&[("]\n[objective]", "\n[objective]")]), ["12"]);
    assert_eq!(lines(&[("[objective]", "[objective"), ("horizon = 5", "horizon = 0")]), ["6", "14"]);
    assert_eq!(lines(&[("horizon = 5", "horizon 5"), ("start = \"dock\"", "start = dock")]), ["4", "6"]);
    assert_eq!(
        lines(&[("horizon = 5", "horizon = 5\nhorizon = 6\ndiscount = 7"), ("dock = 1", "dok = 1")]),
        ["7", "8", "18"]
    );
    assert_eq!(lines(&[("[objective]", "[groups]\nall = [\"dock\"\n[objective]"), ("{ dock", "{ all")]), ["15"]);
    assert_eq!(lines(&[("cost = {", "features = { x = { dock = 1 }\ncost = \"x\" #")]), ["16"]);
}

#[test]
fn hints() {
    let hint = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "the file has no {old}");
        check_text("my.toml", &text.replacen(old, new, 1)).remove(0).place.hint.unwrap_or_default()
    };
    let linear = ROBOT.replace(
        "kind = \"squared-distance\"\ntarget = { file = \"demo.csv\" }",
        "kind = \"linear\"\ncost = { dock = 1 }",
    );
    assert_eq!(hint(&linear, "0.9\n", "\"0.9\"\n"), "write it without quotes: 0.9");
    assert_eq!(hint(&linear, "field = 0.97", "field = 0.9"), "0.07 is missing to 1");
    assert_eq!(hint(&linear, "action = \"*\"", "action = \"fly\""), "the actions are \"wait\", \"go\"");
    let formula = |expression: &str| {
        let objective =
            format!("kind = \"formula\"\nexpression = \"{expression}\"\nfeatures = {{ x = {{ dock = 1 }} }}");
        let place = check_text("my.toml", &linear.replace("kind = \"linear\"\ncost = { dock = 1 }", &objective))
            .remove(0)
            .place;
        (place.message.replace("objective.expression: ", ""), place.hint.unwrap_or_default())
    };
    for wrong in ["entropy(1)", "entropy", "entropy(x)"] {
        assert_eq!(formula(wrong).0, "entropy has no argument; write entropy()");
    }
    assert_eq!(formula("kl()").0, "kl has one argument, the name of a target; write kl(target)");
    assert_eq!(formula("kl(y)").0, "\"y\" is no target");
    let calls: Vec<&str> = gumdp::kinds::Kind::all().filter_map(|kind| kind.call).collect();
    let all = format!("the features are: x; the functions are: abs, exp, ln, sqrt, min, max, {}", calls.join(", "));
    for wrong in ["sin(x)", "sin(2*x)", "inf", "nan*x"] {
        assert_eq!(formula(wrong).1, all, "{wrong}");
    }
    assert_eq!(formula("sqr(x)").1, "did you mean \"sqrt\"?");
}

#[test]
fn actions_with_the_same_effect_where_nothing_matters() {
    let text = "kind = \"explicit\"\nstates = [\"a\", \"b\"]\nactions = [\"x\", \"y\"]\nstart = \"a\"\ndiscount = 0.9\nhorizon = 5\n\
                transitions = [{ from = \"*\", action = \"*\", to = \"a\" }]\nobjective = { kind = \"linear\", cost = { b = 1 } }\n";
    let found = shown(check_text("my.toml", text));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[1].ends_with("in 2 states actions have the same effect, such as \"x\" and \"y\" in \"a\""),
        "{found:?}"
    );
}
