//! `check`: all mistakes at once, none that follows from another, and warnings.

use gumdp::file::{Severity, check_text};
use gumdp::tasks;

const COIN: &str = r#"kind = "explicit"
states = ["heads", "tails"]
actions = ["toss", "keep"]
start = "heads"
discount = 0.9
horizon = 5
transitions = [
  { from = "*", action = "toss", to = { heads = 0.5, tails = 0.5 } },
  { from = "heads", action = "keep", to = "heads" },
  { from = "tails", action = "keep", to = "tails" },
]
[objective]
kind = "linear"
cost = { tails = 1 }
[experiment]
beta = [0, 1]
[scripts]
hold = ["keep"]
"#;

/// What is found in a file with these replacements, without the file's name.
fn found(file: &str, text: &str, edits: &[(&str, &str)]) -> Vec<String> {
    let mut text = text.to_owned();
    for (old, new) in edits {
        assert!(text.contains(old), "the file has no {old}");
        text = text.replacen(old, new, 1);
    }
    let shown = |finding: gumdp::file::Finding| finding.to_string().trim_start_matches(file).to_owned();
    check_text(file, &text).into_iter().map(shown).collect()
}

#[test]
fn a_good_file_has_no_findings() {
    assert_eq!(found("coin.toml", COIN, &[]), [""; 0]);
    for name in tasks::NAMES {
        let errors = check_text(&format!("{name}.toml"), tasks::source(name).unwrap());
        assert!(errors.iter().all(|finding| finding.severity == Severity::Warning), "{errors:?}");
    }
}

#[test]
fn independent_mistakes_are_found_together() {
    let edits = [
        ("start = \"heads\"", "start = \"head\"\ncolour = 3"),
        ("discount = 0.9", "discount = 9"),
        ("horizon = 5", "horizon = 0"),
        ("tails = 0.5 }", "tails = 0.4 }"),
        ("to = \"heads\"", "to = \"hends\""),
        ("cost = { tails = 1 }", "cost = { tail = 1, heads = \"2\", tails = nan }"),
        ("beta = [0, 1]", "beta = []\nruns = 0"),
        ("[\"keep\"]", "[\"kept\"]"),
    ];
    assert_eq!(
        found("coin.toml", COIN, &edits),
        [
            ":4:9: error: unknown state \"head\"",
            ":5:1: error: unknown field \"colour\"",
            ":6:12: error: the discount is 9; it must lie in (0, 1]",
            ":7:11: error: horizon is 0; it must lie in [1, 1000000]",
            ":9:3: error: state \"heads\", action \"toss\": the probabilities sum to 0.9; they must sum to 1 within 1e-9",
            ":9:3: error: state \"tails\", action \"toss\": the probabilities sum to 0.9; they must sum to 1 within 1e-9",
            ":10:43: error: unknown state \"hends\"",
            ":15:10: error: unknown state or group \"tail\"",
            ":15:28: error: objective.cost.heads must be a number, not the text \"2\"",
            ":15:41: error: objective.cost.tails is NaN; it must be finite",
            ":17:8: error: experiment.beta is empty; it must have at least one number",
            ":18:8: error: experiment.runs is 0; it must lie in [1, 1000000000]",
            ":20:9: error: unknown action \"kept\"",
        ]
    );
}

#[test]
fn mistakes_do_not_cause_others() {
    // A transition that cannot be read is not missed as well, nor is the action that it would have made possible.
    let edits = [
        ("from = \"tails\", action = \"keep\"", "from = \"tails\", action = \"kep\""),
        ("tails = 1 }", "\"tails/toss\" = 1 }"),
    ];
    assert_eq!(found("coin.toml", COIN, &edits), [":10:30: error: unknown action \"kep\""]);
    // Syntax comes first.
    let edits = [("discount = 0.9", "discount = = 0.9"), ("horizon = 5", "horizon = -1")];
    let findings = found("coin.toml", COIN, &edits);
    assert!(!findings.is_empty() && findings.iter().all(|finding| finding.contains("not valid TOML")), "{findings:?}");
    assert_eq!(found("coin.toml", COIN, &[("\"explicit\"", "\"explict\"")]).len(), 1);
    // What is not there cannot be looked at.
    assert_eq!(found("coin.toml", COIN, &[("states", "stats")]).len(), 2);
}

#[test]
fn maps_and_terms() {
    let grid = "kind = \"grid\"\ndiscount = 0.9\nhorizon = 3\nslip = 2\nmap = \"\"\"\nS.~\n\"\"\"\n[legend]\n\"S\" = \"start\"\n\".\" = \"flor\"\n\
                \"~\" = { stuck = 3, unstuck = 1 }\n[objective]\nkind = \"sum\"\nterms = [{ kind = \"entropy\", epsilon = 7 }, { kind = \"x\" }]\n";
    let places: Vec<String> =
        found("g.toml", grid, &[]).iter().map(|finding| finding.split(" error").next().unwrap().to_owned()).collect();
    assert_eq!(places, [":4:8:", ":10:7:", ":11:17:", ":14:40:", ":14:54:"]);
    // Every row of the wrong length and every unknown character, each of these once.
    let grid = "kind = \"grid\"\ndiscount = 0.9\nhorizon = 3\nmap = \"\"\"\nS.?\n..\n.!?\n....\n\"\"\"\n[legend]\n\"S\" = \"start\"\n\
                \".\" = \"floor\"\n[objective]\nkind = \"entropy\"\n";
    assert_eq!(
        found("g.toml", grid, &[]),
        [
            ":5:3: error: '?' at (0,2) of map is not in legend",
            ":6:1: error: row 1 of map has 2 cells; the first row has 3",
            ":7:2: error: '!' at (2,1) of map is not in legend",
            ":8:1: error: row 3 of map has 4 cells; the first row has 3",
        ]
    );
}

#[test]
fn models_of_other_programs() {
    let csv = include_str!("corpus/chain.csv");
    let edits = [("0,0,0,1.0,5.0", "0,0,0,1.0,x"), ("0,1,0,0.4,0.0", "0,1,0,2,0.0"), ("1,0,0,1.0,5.0", "1,0")];
    assert_eq!(
        found("chain.csv", csv, &edits),
        [
            ":2:11: error: reward is \"x\"; it must be a finite number",
            ":3:7: error: probability is \"2\"; it must be a number in [0, 1]",
            ":5:1: error: this line has 2 fields; the first line has 5",
        ]
    );
    let edits = [("0,0,0,1.0,5.0", "0,0,0,0.5,5.0"), ("0,1,0,0.4,0.0", "0,1,0,0.5,0.0")];
    assert_eq!(found("chain.csv", csv, &edits).len(), 2);
    let drn = include_str!("corpus/die.drn");
    let edits =
        [("1 : 1/2", "1 : half"), ("action __NOLABEL__ [0, 0]", "action x [0]"), ("state 3 done", "state x done")];
    assert_eq!(found("die.drn", drn, &edits).len(), 3);
    let many = format!("{}{}", csv.lines().next().unwrap(), "\n0,0,0,x,1".repeat(1000));
    let findings = found("many.csv", &many, &[]);
    assert_eq!(findings.len(), 102);
    assert_eq!(findings[101], ": error: there are more than 100 mistakes; the rest is not shown");
}

#[test]
fn warnings() {
    let warned = |edits: &[(&str, &str)]| found("coin.toml", COIN, edits);
    assert_eq!(
        warned(&[
            ("[\"heads\", \"tails\"]", "[\"heads\", \"tails\", \"edge\"]"),
            ("from = \"tails\"", "from = [\"tails\", \"edge\"]")
        ]),
        [":2:10: warning: 1 of 3 states cannot be reached from the start: edge"]
    );
    assert_eq!(
        warned(&[("\"keep\"]", "\"keep\", \"spin\"]")]),
        [":3:11: warning: no state allows these actions: spin"]
    );
    assert_eq!(
        warned(&[("horizon = 5", "horizon = 1")]),
        [":6:11: warning: the horizon is 1: only the first action counts"]
    );
    assert_eq!(
        warned(&[("{ tails = 1 }", "{ \"*\" = 1 }")]),
        [":12:1: warning: the objective is the same whatever happens: every policy is optimal"]
    );
    assert_eq!(
        warned(&[(
            "{ from = \"heads\", action = \"keep\", to = \"heads\" }",
            "{ from = \"heads\", action = \"keep\", to = { heads = 0.5, tails = 0.5 } }"
        )]),
        [":7:15: warning: in 1 state actions have the same effect, such as \"toss\" and \"keep\" in \"heads\""]
    );
}
