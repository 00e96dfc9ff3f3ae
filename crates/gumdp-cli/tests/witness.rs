//! `convert --occupancy` held against other solvers: the file is read and solved as an ordinary MDP, and the line of its header that says
//! how turns the lowest expected cost into the lowest risk. gumdp's own backward induction does it in the ordinary run, for short
//! horizons; with `GUMDP_SLOW=1` Storm does it for the tasks as they are, one of them shortened (stormpy, which pip installs below `target/tmp`).

mod common;

use std::path::Path;
use std::process::Command;

use common::Sandbox;
use gumdp::oracle::{Limits, solve};
use gumdp::{Erm, Objective, Problem};
use gumdp_files::{Task, tasks};

/// The lowest risk, from the header of a file and the lowest expected cost.
fn risk_of(drn: &str, v: f64) -> f64 {
    let after = |text: &str| {
        drn.split_once(text).expect("a header").1.split([' ', '\n']).next().expect("a number").parse::<f64>()
    };
    let offset = after("// lowest risk = ").unwrap();
    if drn.contains("+ ln(1 + b v) / b,") {
        let b = after(" b = ").unwrap();
        offset + (b * v).ln_1p() / b
    } else {
        offset + v
    }
}

fn lowest(sandbox: &Sandbox, task: &str, risk: &str) -> f64 {
    let solved = sandbox.data(&format!("solve {task} --risk {risk} --json -q"));
    serde_json::from_str::<serde_json::Value>(&solved).unwrap()["value"].as_f64().unwrap()
}

/// Writes a built-in task with another horizon as short.toml.
fn shorten(sandbox: &Sandbox, name: &str, horizon: usize) {
    let line =
        |line: &str| if line.starts_with("horizon =") { format!("horizon = {horizon}\n") } else { format!("{line}\n") };
    sandbox.write("short.toml", &tasks::source(name).unwrap().lines().map(line).collect::<String>());
}

#[test]
fn the_mean_of_the_occupancy_mdp_is_the_risk_of_the_task() {
    let sandbox = Sandbox::new();
    for name in ["mdp", "msee", "rooms", "il", "mo-weighted", "mo-max", "mo-min", "grid-mo"] {
        shorten(&sandbox, name, 5);
        for risk in [
            "mean",
            "erm:1e-9",
            "erm:-3",
            "erm:7",
            "erm:200",
            "cvar:0.8",
            "mean-cvar:0.5:0.3",
            "evar:0.4",
            "exceed:0.5",
        ] {
            let ended = sandbox.gumdp(&format!("convert short.toml short.drn --occupancy --force --risk {risk} -q"));
            // The best of all has a certain cost: its EVaR is the worst case.
            if risk == "evar:0.4" && ended.stderr.contains("evar:0.4 at beta = inf looks at one outcome only") {
                continue;
            }
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{name}, {risk}");
            let read = Task::load(&sandbox.path("short.drn")).unwrap();
            let (mdp, cost) = (read.problem.mdp().clone(), Objective::linear(read.costs[0].1.clone()).unwrap());
            let linear = Problem::new(mdp, cost, 1.0, 6).unwrap();
            let v = 6.0 * solve(&linear, Erm::MEAN, &Limits::default()).unwrap().value;
            let (found, wanted) = (risk_of(&sandbox.read("short.drn"), v), lowest(&sandbox, "short.toml", risk));
            assert!((found - wanted).abs() < 1e-9, "{name}, {risk}: {found} instead of {wanted}");
        }
        // A value at risk is written as the probability to exceed it.
        sandbox.data("convert short.toml short.drn --occupancy --force --risk var:0.9 -q");
        let x = lowest(&sandbox, "short.toml", "var:0.9");
        assert!(sandbox.read("short.drn").contains(&format!("at x = {x:?}")), "{name}: {x}");
    }
}

#[test]
fn what_is_no_expectation_is_refused() {
    let sandbox = Sandbox::new();
    let refused = |arguments: &str, stderr: &str| {
        let ended = sandbox.gumdp(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), stderr), "{arguments}");
    };
    refused(
        "convert grid-mo x.drn --occupancy --risk worst",
        "error: the risk cannot be written as an expectation: worst at beta = inf looks at one outcome only\n",
    );
    refused(
        "convert rooms x.toml --occupancy --beta 1",
        "error: x.toml: an occupancy MDP is written as DRN only\nhint: its name must end in .drn\n",
    );
    refused(
        "convert rooms x.drn --occupancy",
        "error: the attitude to risk is missing\nhint: give --beta B or --risk MEASURE, such as --beta 5 or --risk cvar:0.95\n",
    );
    refused(
        "convert rooms x.drn --beta 1",
        "error: --beta and --risk go with --occupancy only\nhint: add --occupancy\n",
    );
    let ended = sandbox.gumdp("convert grid-mo x.drn --occupancy --beta 1000");
    assert!(ended.stderr.contains("erm:1000 takes exp(1000 (f - min f))"), "{}", ended.stderr);
    assert_eq!(sandbox.files("."), [""; 0]);
}

/// Solves files and prints the values.
const STORM: &str = r#"
import sys, stormpy
[query] = stormpy.parse_properties('R{"cost"}min=? [F "done"]')
for path in sys.argv[1:]:
    model = stormpy.build_model_from_drn(path)
    print(stormpy.model_checking(model, query).get_value(model.initial_states[0]))
"#;

#[test]
fn storm_agrees() {
    if std::env::var_os("GUMDP_SLOW").is_none() {
        return;
    }
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("storm");
    let done = |command: &mut Command| {
        let output = command.output().expect("a program");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    done(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    done(Command::new(venv.join("bin/pip")).args(["install", "--quiet", "stormpy==2.0.0"]));
    let sandbox = Sandbox::new();
    for (name, horizon, measures) in [
        // Linear, with 20 steps it has more than nine million occupancy states.
        ("mdp", 12, ["erm:5", "cvar:0.9"]),
        ("msee", 20, ["erm:25", "evar:0.5"]),
        ("rooms", 20, ["erm:50", "cvar:0.9"]),
        ("mo-weighted", 20, ["erm:-1", "cvar:0.9"]),
        ("mo-max", 20, ["erm:20", "mean-cvar:0.9:0.5"]),
        ("mo-min", 20, ["erm:50", "cvar:0.9"]),
        ("grid-mo", 40, ["erm:8", "cvar:0.9"]),
    ] {
        shorten(&sandbox, name, horizon);
        for risk in measures {
            sandbox.data(&format!("convert short.toml x.drn --occupancy --force --risk {risk} -q"));
            let v = done(Command::new(venv.join("bin/python")).args(["-c", STORM]).arg(sandbox.path("x.drn")));
            let header = sandbox.read("x.drn");
            let found = risk_of(&header, v.trim().parse().unwrap());
            let (wanted, states) =
                (lowest(&sandbox, "short.toml", risk), header.split("@nr_states\n").nth(1).unwrap().lines().next());
            println!(
                "{name} {risk}: Storm {found:.12}, gumdp {wanted:.12}, apart {:.1e}, {} states",
                (found - wanted).abs(),
                states.unwrap()
            );
            assert!((found - wanted).abs() < 1e-6, "{name}, {risk}");
        }
    }
}
