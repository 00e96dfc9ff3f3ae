//! Objectives of files: formulas, limits, targets from other files.

use gumdp_files::{FileError, Task};

use super::{parse, with_objective};

#[test]
fn formulas_are_read() {
    let text = with_objective(
        "kind = \"formula\"\nexpression = \"sqrt(coverage) + 2*max(0, risk - 0.1) + entropy() * distance(demo)\"\n\
         features = { coverage = { x = 1 }, risk = { \"y/go\" = 0.5 } }\ntargets = { demo = { x = 1 } }\nover = \"states\"",
    );
    let objective = parse(&text).unwrap().problem.objective().clone();
    let (x, y) = (0.75_f64, 0.25_f64);
    let entropy = x * x.ln() + y * y.ln();
    let expected = x.sqrt() + 2.0 * (0.5 * y - 0.1).max(0.0) + entropy * ((x - 1.0).powi(2) + y * y);
    assert!((objective.value(&[x, y]) - expected).abs() < 1e-12);
    assert_eq!(objective.to_string(), "(sqrt(coverage) + 2*max(0, risk - 0.1) + entropy() * distance(demo))");
    let linear = parse(&with_objective("kind = \"formula\"\nexpression = \"2*a - 1\"\nfeatures = { a = { y = 1 } }"));
    assert_eq!(linear.unwrap().problem.objective().as_linear(), Some((vec![0.0, 2.0], -1.0)));
}

#[test]
fn objectives_over_groups_of_states() {
    let over = |groups: &str| {
        let text = super::GRID.replace("kind = \"squared-distance\"\nbehaviour = [0, 1, 4, 5]", "kind = \"entropy\"");
        parse(&format!("{text}over = {groups}\n")).map(|task| task.problem.objective().to_string())
    };
    // Mud, two cells by their places, and all others together.
    assert_eq!(over("[\"mud\", [\"(0,0)\", \"(0,1)\"]]").unwrap(), "Σ y ln y over 3 cells");
    for (groups, message) in [
        ("[]", "16:8: objective.over has a group without a name; there must be at least one"),
        ("[\"mud\", []]", "16:8: objective.over has a group without a name; there must be at least one"),
        ("[\"mud\", \"mut\"]", "16:16: unknown state or group \"mut\""),
        (
            "[\"mud\", [\"(1,1)\", \"(0,2)\"]]",
            "16:26: \"(0,2)\" has states of a group before it; groups must not overlap",
        ),
        ("[3]", "16:9: objective.over[0] must be a text in quotes, not the number 3"),
    ] {
        assert_eq!(over(groups).unwrap_err().to_string(), format!("dir/my.toml:{message}"), "{groups}");
    }
}

#[test]
fn wrong_formulas_are_refused_at_their_place() {
    let formula = |expression: &str| {
        let objective = format!(
            "kind = \"formula\"\nfeatures = {{ cover = {{ x = 1 }} }}\ntargets = {{ demo = {{ x = 1 }} }}\nover = \"states\"\n\
             expression = \"{expression}\""
        );
        let error = parse(&with_objective(&objective)).unwrap_err();
        (error.to_string(), error.hint.unwrap_or_default())
    };
    for (expression, message, hint) in [
        ("1 + covr^2", "16:19: objective.expression: unknown name \"covr\"", "did you mean \"cover\"?"),
        ("sqr(cover)", "16:15: objective.expression: unknown name \"sqr\"", "did you mean \"sqrt\"?"),
        (
            "distance(dmo)",
            "16:15: objective.expression: \"dmo\" is no target",
            "targets are defined in [objective.targets]",
        ),
        ("cover + ", "16:23: objective.expression: the expression ends where a number or a name is needed", ""),
        ("kl(demo)", "11:1: the field \"epsilon\" is missing in objective", ""),
        (
            "ln(cover)",
            "16:14: objective.expression is -inf for the occupancy 1 of y/go; it must be finite everywhere",
            "keep divisors, roots and logarithms away from 0: ln(x + 0.01), max(0, x)",
        ),
        (
            "1/(cover - 0.25)",
            "16:14: objective.expression is inf for the occupancy 0.75 of y/go, 0.25 of x/go; it must be finite everywhere",
            "keep divisors, roots and logarithms away from 0: ln(x + 0.01), max(0, x)",
        ),
    ] {
        assert_eq!(formula(expression), (format!("dir/my.toml:{message}"), hint.to_owned()), "{expression}");
    }
    let refused = |objective: &str| parse(&with_objective(objective)).unwrap_err().to_string();
    let feature =
        |name: &str| refused(&format!("kind = \"linear\"\ncost = {{ y = 1 }}\nfeatures = {{ {name} = {{}} }}"));
    assert!(feature("max").contains("the feature \"max\" needs another name"));
    assert!(feature("\"a b\"").contains("needs a name of letters, digits and _"));
    assert!(refused("kind = \"linear\"\ncost = \"fuel\"").ends_with("unknown feature \"fuel\""));
}

#[test]
fn limits_are_penalties() {
    let base = "kind = \"entropy\"\nfeatures = { fuel = { y = 2 } }\n";
    let plain = parse(&with_objective(base)).unwrap().problem.objective().clone();
    let limited = |limit: &str| parse(&with_objective(&format!("{base}limit = {limit}"))).map(|task| task.problem);
    let d = [0.75, 0.25];
    for (limit, expected) in [
        ("{ feature = \"fuel\", at_most = 0.2, penalty = 10 }", 3.0),
        ("{ feature = \"fuel\", at_most = 0.6, penalty = 10 }", 0.0),
        ("{ feature = { y = 2 }, at_least = 0.75, penalty = 4 }", 1.0),
        (
            "[{ feature = \"fuel\", at_most = 0.2, penalty = 10 }, { feature = { x = 1 }, at_least = 1, penalty = 2 }]",
            3.5,
        ),
    ] {
        let objective = limited(limit).unwrap().objective().clone();
        assert!((objective.value(&d) - plain.value(&d) - expected).abs() < 1e-12, "{limit}");
    }
    let refused = |limit: &str| limited(limit).unwrap_err().to_string();
    assert!(
        refused("{ feature = \"fuel\", penalty = 1 }").contains("the field \"at_most\" is missing in objective.limit")
    );
    assert!(
        refused("{ feature = \"fuel\", at_most = 1, at_least = 0, penalty = 1 }").contains("both at_most and at_least")
    );
    assert!(refused("{ feature = \"fuel\", at_most = 1, penalty = -1 }").contains("it must not be negative"));
    assert!(refused("{ feature = \"fule\", at_most = 1, penalty = 1 }").contains("unknown feature \"fule\""));
}

/// Two states to and fro, two actions in the first.
const IMITATION: &str = include_str!("../problems/imitation.toml");

/// The distance of the zero vector to the target is its sum; the distance of a vertex tells one entry.
fn target_of(csv: &str) -> Result<[f64; 3], FileError> {
    let task = parse(&format!("{IMITATION}{csv}\"\"\""))?;
    let objective = task.problem.objective();
    // |x − τ| with x far above τ in one entry, minus that at 0.
    let at = |pair: usize| {
        let mut d = [0.0; 3];
        d[pair] = 4.0;
        (objective.value(&[0.0; 3]) + 4.0 - objective.value(&d)) / 2.0
    };
    Ok([at(0), at(1), at(2)])
}

#[test]
fn targets_come_from_files() {
    let near = |csv: &str, expected: [f64; 3]| {
        let found = target_of(csv).unwrap();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{csv}: {found:?}");
    };
    // Masses 4/7, 2/7, 1/7 of three steps; 2/3, 1/3 of two.
    near("state,action\nx,stay\nx,go\ny,go\nx,go\n", [4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
    near("state,action\nx,go\ny,go\nx,\n", [0.0, 2.0 / 3.0, 1.0 / 3.0]);
    let two = [0.5, 1.0 / 3.0, 1.0 / 6.0];
    near("episode,state,action\na,x,go\nb,x,stay\na,y,go\n", two);
    near("time,state,action\n0,x,go\n1,y,go\n0,x,stay\n", two);
    near("state,action,mass\nx,stay,0.25\ny,go,0.75\n", [0.25, 0.0, 0.75]);
    // Stays with probability 1/2: x at time 0, x or y with 1/2 each at time 1, x with 3/4 at time 2.
    let x = 4.0 / 7.0 + 0.5 * 2.0 / 7.0 + 0.75 / 7.0;
    near("state,action,probability\nx,stay,0.5\nx,go,0.5\ny,go,1\n", [x / 2.0, x / 2.0, 1.0 - x]);
    near("state,action,probability\nx,stay,1\n", [1.0, 0.0, 0.0]);
}

#[test]
fn wrong_target_files_are_refused_at_their_place() {
    for (csv, message) in [
        ("state,acton\nx,go", "demo.csv:1:7: unknown column \"acton\""),
        ("state,action\nx,go\nz,go", "demo.csv:3:1: unknown state \"z\""),
        ("state,action\nx,fly", "demo.csv:2:3: unknown action \"fly\""),
        ("state,action\ny,stay", "demo.csv:2:3: state \"y\" does not allow action \"stay\""),
        ("state\nx", "demo.csv:1:1: there is no column \"action\"; the columns are state"),
        ("time,state,action\n0,x,go\n2,y,go", "demo.csv:3:1: time 2 follows time 0; it must be 1"),
        ("time,state,action\nsoon,x,go", "demo.csv:2:1: time must be a whole number, not \"soon\""),
        ("episode,state,action\na,x,\na,x,go", "demo.csv:3:3: the episode has ended: the line before has no action"),
        ("state,action\nx,", "demo.csv:2:1: episode 1 of the file has no action"),
        ("state,action,mass\nx,go,-1", "demo.csv:2:6: the mass is -1; it must be finite and not negative"),
        ("state,action,mass\nx,go,many", "demo.csv:2:6: the mass must be a number, not \"many\""),
        ("state,action,mass\nx,go,3", "demo.csv:2:6: the masses sum to 3; those of an occupancy sum to 1"),
        ("state,action,mass\nx,go,0.5\nx,go,0.5", "demo.csv:3:1: this entry of the occupancy is given twice"),
        ("state,mass\nx,1", "demo.csv:2:1: the objective counts actions, but the table has no column \"action\""),
        (
            "state,action,probability\nx,go,0.5",
            "demo.csv:2:6: the probabilities of state \"x\" sum to 0.5; they must sum to 1",
        ),
        (
            "state,action,probability\nx,go,1",
            "demo.csv:2:1: the policy meets state \"y\", of which the file says nothing",
        ),
        ("state,action,probability\nx,go,1\nx,go,1", "demo.csv:3:3: this action of the state is given twice"),
    ] {
        assert_eq!(target_of(csv).unwrap_err().to_string(), message, "{csv}");
    }
    let without = IMITATION.split("[files]").next().unwrap();
    let error = parse(without).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dir/my.toml:14:19: objective.target.file is \"demo.csv\", but this text was not read from a folder"
    );
    assert!(error.hint.unwrap().contains("[files]"));
    let other = parse(&format!("{without}[files]\n\"other.csv\" = \"\"")).unwrap_err().to_string();
    assert!(other.ends_with("objective.target.file is \"demo.csv\", which [files] does not have"));
}

/// A file that was loaded with others can be parsed without them.
#[test]
fn loaded_files_are_kept_with_the_source() {
    let folder = std::env::temp_dir().join(format!("gumdp-targets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("my.toml");
    std::fs::write(&path, IMITATION.split("[files]").next().unwrap()).unwrap();
    let missing = Task::load(&path).unwrap_err().to_string();
    assert!(
        missing.contains("objective.target.file is \"demo.csv\": ") && missing.ends_with("there is no such file"),
        "{missing}"
    );
    std::fs::create_dir(folder.join("demo.csv")).unwrap();
    let directory = Task::load(&path).unwrap_err().to_string();
    assert!(directory.ends_with("this is not a file"), "{directory}");
    std::fs::remove_dir(folder.join("demo.csv")).unwrap();
    std::fs::write(folder.join("demo.csv"), b"state,action\nx,\xff").unwrap();
    let binary = Task::load(&path).unwrap_err();
    assert_eq!((binary.line, binary.column), (Some(2), Some(3)));
    assert_eq!(binary.hint.as_deref(), Some("save it as text in UTF-8"));
    std::fs::write(folder.join("demo.csv"), "state,action\r\n\"x\",go\n# \\ \"\"\"\ny,go\n").unwrap();
    let task = Task::load(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let again = Task::parse("my.toml", &task.source).unwrap();
    let d = [0.2, 0.3, 0.5];
    assert_eq!(task.problem.objective().value(&d), again.problem.objective().value(&d));
    assert_eq!(again.source, task.source);
}
