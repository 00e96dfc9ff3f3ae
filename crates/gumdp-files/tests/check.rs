//! `check`: all mistakes at once, none that follows from another, and warnings.

use gumdp_files::tasks;
use gumdp_files::{Severity, check_text};

const COIN: &str = include_str!("problems/coin.toml");

/// What is found in a file with these replacements, without the file's name.
fn found(file: &str, text: &str, edits: &[(&str, &str)]) -> Vec<String> {
    let mut text = text.to_owned();
    for (old, new) in edits {
        assert!(text.contains(old), "the file has no {old}");
        text = text.replacen(old, new, 1);
    }
    let shown = |finding: gumdp_files::Finding| finding.to_string().trim_start_matches(file).to_owned();
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
            ":9:3: error: state \"heads\", action \"toss\": the probabilities sum to 0.9; they must sum to 1 within 1e-9 \
             (and 1 more like it)",
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
    assert_eq!(found("coin.toml", COIN, &[("\"explicit\"", "\"explict\"")]).len(), 1);
    // What is not there cannot be looked at.
    assert_eq!(found("coin.toml", COIN, &[("states", "stats")]).len(), 2);
}

/// Edits of a file, and the beginning of each message they must lead to, in order.
type Edits<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

#[track_caller]
fn all_found(file: &str, text: &str, cases: &[Edits]) {
    for (edits, expected) in cases {
        let findings = found(file, text, edits);
        let errors: Vec<&String> = findings.iter().filter(|finding| finding.contains(" error: ")).collect();
        let same = errors.len() == expected.len() && errors.iter().zip(*expected).all(|(e, x)| e.contains(x));
        assert!(same, "{edits:?}\n{errors:#?}\n{expected:#?}");
    }
}

/// The mistakes of other sections are told whatever is wrong with the model, and nothing that follows from another mistake.
#[test]
fn no_section_hides_another() {
    let objective = ("cost = { tails = 1 }", "cost = { tail = 1, tails = nan }");
    let script = ("[\"keep\"]", "[\"kept\"]");
    let sum = ("tails = 0.5 }", "tails = 0.4 }");
    let (cost, sums, kept) = ("objective.cost.tails is NaN", "the probabilities sum to 0.9", "unknown action \"kept\"");
    let tail = "unknown state or group \"tail\"";
    all_found(
        "coin.toml",
        COIN,
        &[
            // Names may be those that the broken list was to have; numbers are wrong all the same.
            (
                &[("[\"heads\", \"tails\"]", "[\"heads\", 7]"), objective, script, sum],
                &["states[1] must be a text", sums, cost, kept],
            ),
            (
                &[("states = [\"heads\", \"tails\"]", "states = 2"), objective, script, sum],
                &["states must be a list", sums, cost, kept],
            ),
            (
                &[("states = [\"heads\", \"tails\"]\n", ""), objective, script, sum],
                &["\"states\" is missing", sums, cost, kept],
            ),
            (&[("[\"heads\", \"tails\"]", "[]"), objective, script], &["states is empty", cost, kept]),
            (
                &[("[\"toss\", \"keep\"]", "[\"toss\", true]"), objective, script, sum],
                &["actions[1] must be a text", sums, tail, cost],
            ),
            // A name that is given twice leaves no doubt about the others.
            (
                &[("[\"heads\", \"tails\"]", "[\"heads\", \"tails\", \"heads\"]"), objective, script, sum],
                &["given twice", sums, tail, cost, kept],
            ),
            // A transition given twice is one mistake, its probabilities and those of others are more.
            (
                &[
                    (
                        "from = \"heads\", action = \"keep\", to = \"heads\"",
                        "from = \"heads\", action = \"toss\", to = { heads = 0.9 }",
                    ),
                    sum,
                    objective,
                ],
                &["sum to 0.9", "sum to 0.9", "is given twice", tail, cost],
            ),
            // All that is wrong with one transition.
            (
                &[(
                    "from = \"heads\", action = \"keep\", to = \"heads\"",
                    "from = \"head\", action = \"kep\", to = { had = 1, tails = \"x\" }, sty = 1",
                )],
                &[
                    "unknown state \"head\"",
                    "unknown action \"kep\"",
                    "unknown state \"had\"",
                    "must be a number",
                    "unknown field \"sty\"",
                ],
            ),
            // Every probability, and a group with a mistake is not also missed.
            (
                &[
                    ("heads = 0.5, tails = 0.5", "heads = 2, tails = -1"),
                    ("start = \"heads\"", "initial = { heads = 3, tails = nan }"),
                ],
                &[
                    "initial.heads is 3",
                    "initial.tails is NaN",
                    ":49: error: transitions[0].to.heads is 2",
                    "transitions[0].to.tails is -1",
                ],
            ),
            (
                &[
                    ("from = \"*\"", "from = \"all\""),
                    ("[objective]", "[groups]\nall = [\"heads\", \"tal\"]\n[objective]"),
                    ("{ tails = 1 }", "{ all = 1 }"),
                ],
                &["unknown state \"tal\""],
            ),
            // A target that cannot be reached does not unmake the action.
            (
                &[("to = \"heads\" }", "to = \"hads\" }"), ("{ tails = 1 }", "{ \"heads/keep\" = 1 }")],
                &["unknown state \"hads\""],
            ),
            (
                &[("\"explicit\"", "\"explict\""), objective, script, sum],
                &["kind is \"explict\"", sums, tail, cost, kept],
            ),
            (
                &[("transitions = [", "transitons = ["), objective, script],
                &["\"transitions\" is missing", "unknown field", tail, cost, kept],
            ),
            (
                &[("discount = 0.9", "discount = 0.9\naccuracy = -1"), ("horizon = 5\n", ""), objective],
                &["the accuracy is -1", tail, cost],
            ),
        ],
    );
}

#[test]
fn every_entry_of_a_list_is_looked_at() {
    let risk = "risk = [\"cvar:2\", \"mean\", \"vra:1\", \"evar\"]";
    let limit = "cost = { tails = 1 }\nlimit = { feature = { tail = 1 }, at_most = nan, at_least = inf, penalty = -1 }";
    let formula = "kind = \"formula\"\nexpression = \"a + b + c\"\nfeatures = { a = { hads = 1 }, ln = { heads = 1 }, \"x y\" = { tails = inf } }\nscale = nan\noffset = inf";
    let power = "kind = \"signed-power\"\ncosts = [{ hads = 1 }, { tails = 1, tals = 2 }]\nweights = [1, nan, 2]\npowers = [\"x\", 1]";
    all_found(
        "coin.toml",
        COIN,
        &[
            (&[("beta = [0, 1]", risk)], &["cvar:2: level is 2", "\"vra:1\" is no risk measure", "evar needs 1"]),
            (&[("beta = [0, 1]", "beta = [nan, 1, \"x\"]")], &["beta[0] is NaN", "beta[2] must be a number"]),
            (
                &[("cost = { tails = 1 }", limit)],
                &[
                    "unknown state or group \"tail\"",
                    "at_most is NaN",
                    "at_least is inf",
                    "both at_most and at_least",
                    "penalty is -1",
                ],
            ),
            (
                &[("kind = \"linear\"\ncost = { tails = 1 }", formula)],
                &[
                    "unknown name \"b\"",
                    "unknown name \"c\"",
                    "unknown state or group \"hads\"",
                    "the feature \"ln\" needs another name",
                    "the feature \"x y\" needs a name",
                    "is inf",
                    "scale is NaN",
                    "offset is inf",
                ],
            ),
            (
                &[("kind = \"linear\"\ncost = { tails = 1 }", power)],
                &["\"hads\"", "\"tals\"", "has 3 weights", "weights[1] is NaN", "powers[0] must be a number"],
            ),
            (&[("[\"keep\"]", "[\"kep\", 3, \"keep\", \"tos\"]")], &["\"kep\"", "scripts.hold[1]", "\"tos\""]),
            (
                &[(
                    "[scripts]",
                    "[planner]\nexploration = -1\nselection = \"y\"\nvariant = \"x\"\nguided = { reach = -1, rollouts = 0 }\n[scripts]",
                )],
                &["exploration is -1", "selection is \"y\"", "variant is \"x\"", "reach is -1", "rollouts is 0"],
            ),
        ],
    );
}

#[test]
fn a_broken_map_hides_nothing_else() {
    let grid = "kind = \"grid\"\ndiscount = 0.9\nhorizon = 3\nmap = \"\"\"\nS.~\n\"\"\"\n[legend]\n\"S\" = \"start\"\n\".\" = \"floor\"\n\
                \"~\" = { name = \"mud\", stuck = 0.5, unstuck = 1 }\n[objective]\nkind = \"linear\"\ncost = { mud = 1 }\n[scripts]\nx = [\"left\"]\n";
    let (cost, script) = (("{ mud = 1 }", "{ mod = 1, mud = nan }"), ("[\"left\"]", "[\"lift\"]"));
    let (nan, unknown, lift) = ("cost.mud is NaN", "unknown state or group \"mod\"", "unknown action \"lift\"");
    all_found(
        "g.toml",
        grid,
        &[
            // The cells of such a map are not known, the names of its legend are.
            (
                &[("S.~", "S.?"), cost, ("horizon = 3", "horizon = 3\nslip = 7")],
                &["slip is 7", "'?' at (0,2)", unknown, nan],
            ),
            (
                &[
                    ("S.~", "S.?\n.~S~"),
                    ("{ mud = 1 }", "{ \"(0,3)\" = 1, \"(2,0)\" = 1, delivered-gold = 1 }"),
                    script,
                ],
                &[
                    "two starts, (0,0) and (1,2)",
                    "'?' at (0,2)",
                    "row 1 of map",
                    "\"(2,0)\"",
                    "\"delivered-gold\"",
                    lift,
                ],
            ),
            (&[("S.~", "?.~"), cost], &["'?' at (0,0)", unknown, nan]),
            (&[("map = \"\"\"\nS.~\n\"\"\"\n", ""), cost], &["\"map\" is missing", nan]),
            (&[("\"S\" = \"start\"", "\"S\" = \"strat\""), cost], &["legend.\"S\" is \"strat\"", nan]),
            (&[("\"~\" =", "\"~~\" ="), cost], &["\"~~\" must be a single character", nan]),
            // Numbers in the legend leave the names as they are.
            (
                &[("stuck = 0.5, unstuck = 1", "stuck = 5, unstuck = -1, cost = inf"), cost, script],
                &[
                    "legend.\"~\".stuck is 5",
                    "legend.\"~\".unstuck is -1",
                    "legend.\"~\".cost is inf",
                    unknown,
                    nan,
                    lift,
                ],
            ),
            (&[("S.~", "SS~"), cost, script], &["two starts", unknown, nan, lift]),
        ],
    );
}

#[test]
fn hints_for_rounded_probabilities_and_constant_expressions() {
    let text = COIN.replace("heads = 0.5, tails = 0.5", "heads = 0.333333, tails = 0.666666");
    let finding = &check_text("coin.toml", &text)[0];
    assert!(finding.place.hint.as_ref().unwrap().starts_with("these look like rounded numbers: write more digits"));
    let csv = "idstatefrom,idaction,idstateto,probability,reward\n0,0,0,0.333333,1\n0,0,1,0.666666,3\n";
    assert!(check_text("x.csv", csv)[0].place.hint.is_some());
    let constant = [("kind = \"linear\"\ncost = { tails = 1 }", "kind = \"formula\"\nexpression = \"3\"")];
    assert_eq!(
        found("coin.toml", COIN, &constant),
        [":12:1: warning: the objective is the same whatever happens: every policy is optimal"]
    );
    let wrong_kind = [("\"linear\"", "\"lineer\""), ("{ tails = 1 }", "{ tail = 1 }")];
    let findings = found("coin.toml", COIN, &wrong_kind);
    assert!(findings.len() == 2 && findings[1].contains("unknown state or group \"tail\""), "{findings:?}");
    let infinite = [("kind = \"linear\"\ncost = { tails = 1 }", "kind = \"formula\"\nexpression = \"1/0\"")];
    assert_eq!(found("coin.toml", COIN, &infinite), [":14:14: error: objective.expression is inf; it must be finite"]);
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
    // All that is wrong with a line, and the sums of pairs that have no such line.
    let edits = [("0,0,0,1.0,5.0", "x,-1,0.5,2,inf"), ("1,0,0,1.0,5.0", "1,0,0,1.0,5.0\n1,0,0,0.5,5.0")];
    let findings = found("chain.csv", csv, &edits);
    assert_eq!(findings.len(), 6, "{findings:?}");
    assert!(findings[5].contains("sum to 1.5"), "{findings:?}");
    let edits = [("0,0,0,1.0,5.0", "0,0,0,1.0,x"), ("0,1,0,0.4,0.0", "0,1,0,0.2,0.0")];
    let findings = found("chain.csv", csv, &edits);
    assert!(findings.len() == 2 && findings[1].contains("sum to 0.8"), "{findings:?}");
    let drn = include_str!("corpus/die.drn");
    let edits =
        [("1 : 1/2", "1 : half"), ("action __NOLABEL__ [0, 0]", "action x [0]"), ("state 3 done", "state x done")];
    assert_eq!(found("die.drn", drn, &edits).len(), 3);
    let edits = [
        ("DTMC", "CTMC"),
        ("@nr_states\n4", "@nr_states\nx"),
        ("1 : 1/2", "z : 3/2"),
        ("action 0 [1, 0]", "action 0 [y, z]"),
    ];
    assert_eq!(found("die.drn", drn, &edits).len(), 6);
    let gymnasium = include_str!("corpus/gymnasium.json");
    let edits = [("[1.0, 0, 0.0, false]", "[2.0, -1, NaN, false]")];
    assert_eq!(found("g.json", gymnasium, &edits).len(), 3);
    let all_wrong = format!("{}\n0,0,0,x,1\n", csv.lines().next().unwrap());
    assert_eq!(found("x.csv", &all_wrong, &[]), [":2:7: error: probability is \"x\"; it must be a number in [0, 1]"]);
    let many = format!("{}{}", csv.lines().next().unwrap(), "\n0,0,0,x,1".repeat(1000));
    let findings = found("many.csv", &many, &[]);
    assert_eq!(findings.len(), 21);
    assert_eq!(findings[20], ": error: and 980 more mistakes in lines that are not shown");
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
    // The same by a pattern.
    let pattern = warned(&[
        ("action = \"toss\", to", "action = \"*\", to"),
        (
            "  { from = \"heads\", action = \"keep\", to = \"heads\" },\n  { from = \"tails\", action = \"keep\", to = \"tails\" },\n",
            "",
        ),
    ]);
    let same = "in 2 states actions have the same effect, such as \"toss\" and \"keep\" in \"heads\"";
    assert_eq!(pattern, [format!(":7:15: warning: {same}")]);
}
