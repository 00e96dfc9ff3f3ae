//! What the page asks and is told, without a browser.
#![allow(missing_docs)]

use gumdp::Risk;
use gumdp::frontier;
use gumdp::oracle::{Limits, solve};
use gumdp_files::tasks;
use gumdp_web::Studio;
use serde_json::{Value, json};

fn ask(studio: &mut Studio, question: &Value) -> Value {
    serde_json::from_str(&studio.ask(&question.to_string())).expect("JSON")
}

fn opened(name: &str) -> Studio {
    let mut studio = Studio::default();
    let answer = ask(
        &mut studio,
        &json!({ "op": "open", "file": format!("{name}.toml"), "text": tasks::source(name).unwrap() }),
    );
    assert!(answer["problem"].is_object() && answer["findings"].as_array().unwrap().is_empty(), "{answer}");
    studio
}

#[test]
fn levels_are_those_of_the_library() {
    let (mut studio, problem) = (opened("grid-mo"), tasks::get("grid-mo").unwrap().problem);
    let told = ask(&mut studio, &json!({ "op": "levels", "measure": "erm", "count": 12 }));
    let levels: Vec<&str> =
        told["levels"].as_array().unwrap().iter().map(|level| level["risk"].as_str().unwrap()).collect();
    assert!(told["planned"].is_null() && levels.len() >= 12);
    let risks: Vec<Risk> = levels.iter().map(|level| level.parse().unwrap()).collect();
    for (level, &risk) in levels.iter().zip(&risks) {
        let told = ask(&mut studio, &json!({ "op": "look", "risk": level }));
        let solution = solve(&problem, risk, &Limits::QUICK).unwrap();
        assert_eq!(told["value"].as_f64(), Some(solution.value), "{level}");
        assert!((told["behaviour"]["mean"].as_f64().unwrap() - solution.mean).abs() < 1e-9, "{level}");
        let occupancy: f64 = told["behaviour"]["occupancy"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
        assert!(occupancy <= 1.0 + 1e-9 && occupancy > 0.1, "{level}: {occupancy}");
    }
    // Between which levels changes are is known at once.
    let told = ask(&mut studio, &json!({ "op": "changes", "quick": true }));
    assert!(!told["changes"].as_array().unwrap().is_empty() && told["complete"] == json!(false));
    assert!(told["changes"].as_array().unwrap().iter().all(|change| change["level"].is_null()), "{told}");
    // The same frontier, with its changes and its bargain.
    let told = ask(&mut studio, &json!({ "op": "changes" }));
    let patience = std::time::Duration::from_mins(5);
    let own = frontier::exact(&problem, &risks, &[], &Limits::QUICK, patience, |_, _| {}).unwrap();
    assert_eq!(told["changes"].as_array().unwrap().len(), own.changes.len());
    assert_eq!(told["bargain"]["saved"].as_f64(), own.bargain().map(|bargain| bargain.saved));
}

#[test]
fn episodes_situations_and_what_if_agree() {
    let (mut studio, risk) = (opened("rooms"), "erm:10");
    let episode = ask(&mut studio, &json!({ "op": "episode", "risk": risk, "number": 3 }));
    let actions: Vec<u64> =
        episode["steps"].as_array().unwrap().iter().map(|step| step["action"].as_u64().unwrap()).collect();
    assert_eq!(actions.len(), 20);
    for time in [0, 5, 19, 20] {
        let question = json!({ "op": "situation", "risk": risk, "number": 3, "actions": actions[..time] });
        let told = ask(&mut studio, &question);
        assert_eq!(told["time"].as_u64(), Some(time as u64));
        if time == 20 {
            assert_eq!(told["cost"], episode["cost"]);
            assert!(told["not_above"].as_f64().unwrap() > 0.0);
            continue;
        }
        assert_eq!(told["best"].as_u64(), Some(actions[time]), "the same chance, the same choice");
        for reason in told["reasons"].as_array().unwrap() {
            let question = json!({ "op": "what_if", "risk": risk, "number": 3, "actions": actions[..time], "action": reason["action"] });
            let follows = ask(&mut studio, &question);
            assert!((follows["mean"].as_f64().unwrap() - reason["mean"].as_f64().unwrap()).abs() < 1e-9, "{follows}");
            assert!((follows["value"].as_f64().unwrap() - reason["risk"].as_f64().unwrap()).abs() < 1e-9, "{follows}");
        }
    }
}

#[test]
fn what_is_too_large_is_planned_with_a_bound() {
    let mut studio = opened("grid-msee");
    let first = ask(&mut studio, &json!({ "op": "look", "risk": "erm:0" }));
    assert!(first["too_large"].as_str().unwrap().starts_with("too large to solve"), "{first}");
    let told = ask(&mut studio, &json!({ "op": "levels", "measure": "erm", "count": 64 }));
    assert!(told["planned"].is_string() && told["levels"].as_array().unwrap().len() <= 8);
    let known = ask(&mut studio, &json!({ "op": "look", "risk": "erm:1" }));
    assert_eq!(known["exact"], json!(false));
    let bound = known["bound"]["value"].as_f64().unwrap();
    assert!(bound <= known["value_high"].as_f64().unwrap());
    let question = json!({ "op": "what_if", "risk": "erm:1", "number": 0, "actions": [], "action": 0 });
    assert!(ask(&mut studio, &question)["error"].as_str().unwrap().contains("planned, not solved"));
}

#[test]
fn planned_answers_stand_beside_solved_ones() {
    let mut studio = opened("rooms");
    let solved = ask(&mut studio, &json!({ "op": "look", "risk": "erm:1" }));
    let bound = ask(&mut studio, &json!({ "op": "bound", "risk": "erm:1" }));
    assert!(bound["value"].as_f64().unwrap() <= solved["value"].as_f64().unwrap() + 1e-12, "{bound}");
    let told = ask(&mut studio, &json!({ "op": "levels", "measure": "erm", "count": 64, "plan": true }));
    assert!(told["planned"].is_string() && told["levels"].as_array().unwrap().len() <= 8);
    for rough in [true, false] {
        let known = ask(&mut studio, &json!({ "op": "look", "risk": "erm:1", "rough": rough }));
        assert_eq!(known["exact"], json!(false));
        assert_eq!(known["simulations"].as_u64().unwrap() < 100, rough);
        assert!(known["value_low"].as_f64().unwrap() <= known["value_high"].as_f64().unwrap());
        assert_eq!(known["bound"], bound);
    }
}

#[test]
fn levels_of_other_measures_are_far_apart_first() {
    let mut studio = opened("grid-mo");
    let told = ask(&mut studio, &json!({ "op": "levels", "measure": "cvar", "count": 64 }));
    let levels: Vec<f64> = told["levels"].as_array().unwrap().iter().map(|at| at["level"].as_f64().unwrap()).collect();
    assert_eq!(levels.len(), 21);
    assert!(levels[0] == 0.0 && (levels[2] - levels[1]).abs() > 0.15, "{levels:?}");
    let mut sorted = levels.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    assert_eq!(sorted.len(), 21);
}

#[test]
fn figures_are_those_of_the_plot_crate() {
    let mut studio = Studio::default();
    let distribution = json!({ "name": "β = 0", "mean": 1.5, "outcomes": [[1.0, 0.5], [2.0, 0.5]] });
    let panel = json!({ "name": "β = 0", "rows": [[0.5, null], [0.25, 0.25]] });
    let figures = [
        json!({ "kind": "distribution", "title": "costs", "distributions": [distribution] }),
        json!({ "kind": "frontier", "title": "choice", "points": [[1.0, 3.0], [2.0, 2.5]], "named": [["β = 0", [1.0, 3.0]]] }),
        json!({ "kind": "world", "title": "time", "panels": [panel], "row_names": [], "column_names": [] }),
    ];
    for figure in figures {
        let mut file = |format: &str| ask(&mut studio, &json!({ "op": "figure", "figure": figure, "format": format }));
        let svg = file("svg");
        let text = svg["text"].as_str().unwrap();
        assert!(text.starts_with("<svg") && text.contains(figure["title"].as_str().unwrap()), "{text}");
        assert!(text.contains(gumdp_plot::theme::LIGHT.ink) && !text.contains("NaN"), "{text}");
        for (format, begins) in [("pdf", b"%PDF"), ("png", b"\x89PNG")] {
            let bytes = file(format)["bytes"].as_array().unwrap()[..4].to_vec();
            let bytes: Vec<u8> = bytes.iter().map(|byte| byte.as_u64().unwrap() as u8).collect();
            assert_eq!(bytes, begins, "{format}");
        }
        assert!(file("gif")["error"].is_string());
    }
}

#[test]
fn nonsense_is_refused_and_nothing_breaks() {
    let mut studio = Studio::default();
    for question in ["", "{}", r#"{"op":"look","risk":"erm:1"}"#, r#"{"op":"levels","measure":"x","count":1}"#] {
        assert!(studio.ask(question).starts_with("{\"error\":"), "{question}");
    }
    let mut studio = opened("rooms");
    for question in [
        json!({ "op": "look", "risk": "erm:?" }),
        json!({ "op": "situation", "risk": "erm:1", "number": 0, "actions": [9] }),
        json!({ "op": "what_if", "risk": "erm:1", "number": 0, "actions": [0], "action": 7 }),
        json!({ "op": "changes" }),
    ] {
        assert!(ask(&mut studio, &question)["error"].is_string(), "{question}");
    }
}
