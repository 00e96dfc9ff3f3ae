//! Policies that people write as tables: what is wrong is said with its place, and nothing panics.

use gumdp::{Mdp, Objective, Problem, rng};
use gumdp_files::{PolicyTable, tasks};
use proptest::prelude::*;

fn refused(text: &str) -> String {
    let problem = tasks::get("rooms").unwrap().problem;
    let error = PolicyTable::parse("p.csv", text, &problem).unwrap_err();
    error.hint.as_ref().map_or_else(|| error.to_string(), |hint| format!("{error} | {hint}"))
}

#[test]
fn mistakes_have_their_place() {
    let columns =
        "the columns are state,action or time,state,action, then probability if there is one; a script has action only";
    for (text, expected) in [
        ("", format!("p.csv:1:1: the file is empty; its first line must name the columns | {columns}")),
        ("state\ns0\n", format!("p.csv:1:1: the column \"action\" is missing | {columns}")),
        ("time,action\n0,left\n", format!("p.csv:1:1: the column \"state\" is missing | {columns}")),
        ("state,acton\n", "p.csv:1:7: unknown column \"acton\" | did you mean \"action\"?".to_owned()),
        ("state;acton\n", "p.csv:1:7: unknown column \"acton\" | did you mean \"action\"?".to_owned()),
        ("state,action,state\n", "p.csv:1:14: the column \"state\" is there twice".to_owned()),
        ("state,action\ns0\n", "p.csv:2:1: this line has 1 field; the first line has 2 | a field with a separator in it needs double quotes".to_owned()),
        ("state,action\ns7,left\n", "p.csv:2:1: unknown state \"s7\" | did you mean \"s0\"?".to_owned()),
        (
            "state,action\ns0,left\n\ns0,right\n",
            "p.csv:4:1: state \"s0\" has a second row; the first is on line 2 | a column \"probability\" makes an action a matter of chance".to_owned(),
        ),
        (
            "time,state,action\n20,s0,left\n",
            "p.csv:2:1: the time is \"20\"; it must be a whole number in [0, 19]".to_owned(),
        ),
        (
            "state,action,probability\ns0,left,1.5\n",
            "p.csv:2:9: the probability is \"1.5\"; it must lie in [0, 1]".to_owned(),
        ),
        (
            "state,action,probability\ns0,left,0.5\ns0,right,0.4\n",
            "p.csv:2:1: state \"s0\": the probabilities sum to 0.9; they must sum to 1 within 1e-9".to_owned(),
        ),
        (
            "state,action\ns1,right\n",
            "p.csv: no row for state \"s2\"; state \"s3\" | every state that the policy leads to needs a row, unless it has one action only".to_owned(),
        ),
        (
            "time,state,action\n0,s1,left\n",
            "p.csv: no row for time 1, state \"s0\" | every state that the policy leads to needs a row, unless it has one action only".to_owned(),
        ),
        ("action\n", "p.csv:1:1: the script has no actions; it needs at least one".to_owned()),
        ("action\n\"left", "p.csv:2:1: the quoted field has no end".to_owned()),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
}

#[test]
fn semicolons_and_tabs_separate_too() {
    let problem = tasks::get("rooms").unwrap().problem;
    for text in ["state;action\ns0;right\ns1;left\n", "state\taction\ns0\tright\ns1\tleft\n"] {
        assert!(PolicyTable::parse("p.csv", text, &problem).is_ok(), "{text}");
    }
}

#[test]
fn states_with_one_action_need_no_row() {
    let mdp = Mdp::named(["choose", "end"], ["a", "b"])
        .start("choose")
        .transition("choose", "a", [("end", 1.0)])
        .transition("choose", "b", [("end", 1.0)])
        .transition("end", "b", [("end", 1.0)])
        .build()
        .unwrap();
    let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0, 0.0]).unwrap(), 1.0, 3).unwrap();
    for text in ["state,action\nchoose,b\n", "time,state,action\n0,choose,b\n"] {
        let mut policy = PolicyTable::parse("p.csv", text, &problem).unwrap().into_policy();
        let mut rng = rng::stream(0, 0, rng::Purpose::Policy);
        let start = problem.start(problem.mdp().initial()[0].0);
        assert_eq!(problem.mdp().action_name(policy.act(&start, &mut rng).unwrap()), "b");
        assert_eq!(policy.problem().unwrap().horizon(), 3);
    }
    let error = PolicyTable::parse("p.csv", "state,action\nchoose,b\nend,a\n", &problem).unwrap_err();
    assert_eq!(error.to_string(), "p.csv:3:5: state \"end\" does not allow action \"a\"");
    // Unless it is never taken there, as in a full table.
    let full = "state,action,probability\nchoose,a,0\nchoose,b,1\nend,a,0\nend,b,1\n";
    assert!(PolicyTable::parse("p.csv", full, &problem).is_ok());
}

#[test]
fn fingerprints_tell_problems_apart() {
    let of = |costs: Vec<f64>, p: f64, names: [&str; 2]| {
        let mdp = Mdp::named(names, ["a"])
            .start(names[0])
            .transition(names[0], "a", [(names[0], p), (names[1], 1.0 - p)])
            .transition(names[1], "a", [(names[1], 1.0)])
            .build()
            .unwrap();
        Problem::new(mdp, Objective::linear(costs).unwrap(), 0.9, 5).unwrap().fingerprint()
    };
    let base = of(vec![0.0, 1.0], 0.5, ["x", "y"]);
    assert_eq!(base, of(vec![0.0, 1.0], 0.5, ["x", "y"]));
    for other in [
        of(vec![0.0, 1.0 + 1e-12], 0.5, ["x", "y"]),
        of(vec![0.0, 1.0], 0.5 + 1e-12, ["x", "y"]),
        of(vec![0.0, 1.0], 0.5, ["x", "z"]),
    ] {
        assert_ne!(base, other);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,60}") {
        let problem = tasks::get("rooms").unwrap().problem;
        let _ = PolicyTable::parse("p.csv", &text, &problem);
    }

    #[test]
    fn anything_like_a_table_is_read_or_refused(
        header in prop::sample::select(vec!["state,action", "time,state,action", "state,action,probability", "action", "probability,time,action,state"]),
        rows in prop::collection::vec("(s[0-4]|left|right|[0-9]|0\\.5|1|\"|,){1,8}", 0..8),
    ) {
        let problem = tasks::get("rooms").unwrap().problem;
        let text = format!("{header}\n{}", rows.join("\n"));
        let _ = PolicyTable::parse("p.csv", &text, &problem);
    }
}
