//! Models that are written and read again.

use std::path::PathBuf;

use gumdp::file::{ExportFormat, export};
use gumdp::{Mdp, Pair, State, Task, tasks};

use super::{CSV, DIE, GYMNASIUM, QUOTED, ROBOT, WRAPPED, parse, start};

/// Whether two tasks have the same transitions, start and costs; names too, if they are expected to survive.
#[track_caller]
fn assert_same(a: &Task, b: &Task, names: bool) {
    let (one, other) = (a.problem.mdp(), b.problem.mdp());
    assert_eq!((one.state_count(), one.pair_count()), (other.state_count(), other.pair_count()));
    let (costs, constant) = a.problem.objective().as_linear().expect("linear");
    let (others, other_constant) = b.problem.objective().as_linear().expect("linear");
    for pair in (0..one.pair_count() as u32).map(Pair::from) {
        assert_eq!((one.state(pair), one.action(pair)), (other.state(pair), other.action(pair)));
        let rows = one.successors(pair).zip(other.successors(pair));
        assert_eq!(one.successors(pair).len(), other.successors(pair).len());
        assert!(rows.into_iter().all(|(x, y)| x.0 == y.0 && (x.1 - y.1).abs() < 1e-12));
        let (cost, other_cost) = (costs[pair.index()] + constant, others[pair.index()] + other_constant);
        assert!((cost - other_cost).abs() < 1e-12, "{cost} {other_cost}");
    }
    if names {
        let states = |mdp: &Mdp| mdp.states().map(|state| mdp.state_name(state).to_owned()).collect::<Vec<_>>();
        assert_eq!(states(one), states(other));
        assert_eq!(start(one), start(other));
    }
}

/// A task written in a format and read again, on disk.
fn through(task: &Task, format: ExportFormat) -> Task {
    let exported = export(task, format).unwrap();
    let folder =
        std::env::temp_dir().join(format!("gumdp-export-{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::create_dir_all(&folder).unwrap();
    let paths: Vec<PathBuf> =
        exported.files.iter().map(|(extension, _)| folder.join("model").with_extension(extension)).collect();
    for (path, (_, text)) in paths.iter().zip(&exported.files) {
        std::fs::write(path, text).unwrap();
    }
    let read = Task::load(&paths[0]);
    std::fs::remove_dir_all(&folder).unwrap();
    read.unwrap_or_else(|error| panic!("{error}\n{}", exported.files[0].1))
}

#[test]
fn round_trips() {
    let built_in = tasks::get("mdp").unwrap();
    let imported =
        [parse("chain.csv", CSV), parse("quoted.csv", QUOTED), parse("g.json", GYMNASIUM), parse("w.json", WRAPPED)];
    let imported = imported.into_iter().chain([parse("die.drn", DIE), parse("robot.drn", ROBOT)]);
    for task in imported.chain([built_in]) {
        let csv = through(&task, ExportFormat::Csv);
        assert_same(&task, &csv, false);
        assert_eq!(csv.problem.discount(), task.problem.discount());
        assert_eq!(csv.problem.horizon(), task.problem.horizon());
        let numbers =
            |task: &Task| task.problem.mdp().initial().iter().map(|&(s, p)| (s, p)).collect::<Vec<(State, f64)>>();
        assert_eq!(numbers(&csv), numbers(&task));
        let back = through(&through(&csv, ExportFormat::Drn), ExportFormat::Csv);
        assert_same(&csv, &back, true);
        let toml = through(&task, ExportFormat::Toml);
        assert_same(&task, &toml, true);
        assert_eq!(toml.problem.horizon(), task.problem.horizon());
        assert_eq!(toml.defaults, task.defaults);
        // The source of an imported task says the same without its file.
        assert_same(&task, &parse("again.toml", &task.source), true);
    }
    let die = parse("die.drn", DIE);
    assert_eq!(through(&die, ExportFormat::Drn).costs, die.costs);
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let rooms = tasks::get("rooms").unwrap();
    for format in [ExportFormat::Csv, ExportFormat::Drn] {
        let notes = export(&rooms, format).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("is not linear and cannot be written")), "{notes:?}");
    }
    // A problem file has an objective: without it, it would be another problem.
    let refused = export(&rooms, ExportFormat::Toml).unwrap_err().to_string();
    assert!(refused.contains("is not linear and cannot be written"), "{refused}");
    let several = tasks::get("mo-max").unwrap();
    let drn = through(&several, ExportFormat::Drn);
    let names: Vec<&str> = drn.costs.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.starts_with(&["cost1", "cost2"]), "{names:?}");
}
