//! Models that are written and read again.

use std::path::PathBuf;

use gumdp::{Bounds, Mdp, Objective, Pair, Problem, Selection, State};
use gumdp_files::{Defaults, ExportFormat, Scene, Task, export, tasks};

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
    let built_in = Selection::ALL.map(|(_, selection)| {
        let task = tasks::get("mdp").unwrap();
        Task { defaults: Defaults { selection, ..task.defaults }, ..task }
    });
    let imported =
        [parse("chain.csv", CSV), parse("quoted.csv", QUOTED), parse("g.json", GYMNASIUM), parse("w.json", WRAPPED)];
    let imported = imported.into_iter().chain([parse("die.drn", DIE), parse("robot.drn", ROBOT)]);
    for task in imported.chain(built_in) {
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
    let labelled = export(&parse("my.toml", &format!("{MODEL}kind = \"entropy\"\n")), ExportFormat::Drn).unwrap();
    assert!(labelled.files[0].1.contains("state 1 y far\n"), "{}", labelled.files[0].1);
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let rooms = tasks::get("rooms").unwrap();
    for format in [ExportFormat::Csv, ExportFormat::Drn] {
        let notes = export(&rooms, format).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("is not linear and cannot be written")), "{notes:?}");
    }
    // A map is written as it is, since its cells are no states.
    let notes = export(&tasks::get("grid-msee").unwrap(), ExportFormat::Toml).unwrap().notes;
    assert!(notes[0].starts_with("the problem file is written as it is"), "{notes:?}");
    assert_eq!(export(&rooms, ExportFormat::Toml).unwrap().notes, [""; 0]);
    // A function has no text.
    let custom = Objective::custom(rooms.problem.mdp().pair_count(), Bounds { low: 0.0, high: 0.0 }, |_| 0.0).unwrap();
    let problem = Problem::new(rooms.problem.mdp().clone(), custom, 0.9, 3).unwrap();
    let nameless = Task { problem, source: String::new(), ..rooms };
    let refused = export(&nameless, ExportFormat::Toml).unwrap_err().to_string();
    assert!(refused.contains("is not linear and cannot be written"), "{refused}");
    let several = tasks::get("mo-max").unwrap();
    let drn = through(&several, ExportFormat::Drn);
    let names: Vec<&str> = drn.costs.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.starts_with(&["cost1", "cost2"]), "{names:?}");
}

const MODEL: &str = include_str!("../problems/model.toml");

/// Every kind of objective: what is written and read again has the same value everywhere.
#[test]
fn objectives_survive() {
    let objectives = [
        "kind = \"linear\"\ncost = { far = 1, \"x/go\" = 0.1 }\noffset = 2\nscale = 3",
        "kind = \"weighted-sum\"\ncosts = [{ x = 1 }, { y = 1 }]\nweights = [0.5, -2]",
        "kind = \"maximum\"\ncosts = [{ x = 1 }, { y = 1, \"z/go\" = 3 }]\nweights = [2, 3]",
        "kind = \"minimum\"\ncosts = [{ x = 1 }, { \"*/stay\" = 1 }]\nrange = [-1, 3]",
        "kind = \"signed-power\"\ncosts = [{ x = 1 }, { y = -1 }]\nweights = [2, 3]\npowers = [0.5, 3]",
        "kind = \"entropy\"\nepsilon = 0.01",
        "kind = \"entropy\"\nover = \"pairs\"",
        "kind = \"entropy\"\nover = [[\"x/go\", \"y\"], \"z\"]\nepsilon = 0.01",
        "kind = \"squared-distance\"\ntarget = { \"x/go\" = 0.3, \"y/go\" = 0.7 }",
        "kind = \"absolute-distance\"\nover = \"states\"\ntarget = [0.1, 0.2, 0.7]",
        "kind = \"kl\"\nover = \"states\"\nepsilon = 1e-3\ntarget = [0.1, 0.2, 0.7]",
        "kind = \"formula\"\nexpression = \"sqrt(far) + 2*max(0, harm - 0.1) * entropy()\"\nfeatures = { far = { far = 1 }, harm = { z = 2 } }",
        "kind = \"formula\"\nexpression = \"distance(d)^2 * kl(t) + entropy()^2\"\nover = \"states\"\nepsilon = 1e-4\n\
         targets = { d = [1, 0, 0], t = { x = 0.5, y = 0.5 } }",
        "kind = \"sum\"\nterms = [{ kind = \"entropy\", weight = 0.3 }, { kind = \"linear\", cost = \"c\", offset = 1 }, \
         { kind = \"formula\", expression = \"c*c*absolute(t)\", targets = { t = [1, 0, 0, 0, 0, 0] } }]\n\
         features = { c = { z = 1 } }\nlimit = [{ feature = \"c\", at_most = 0.2, penalty = 10 }, { feature = { x = 1 }, at_least = 0.1, penalty = 1 }]",
    ];
    let built_in = tasks::NAMES.map(|name| tasks::get(name).unwrap());
    for task in
        objectives.map(|objective| parse("my.toml", &format!("{MODEL}{objective}\n"))).into_iter().chain(built_in)
    {
        let again = through(&task, ExportFormat::Toml);
        let (one, other) = (task.problem.mdp(), again.problem.mdp());
        assert_eq!(one.pair_count(), other.pair_count());
        for pair in (0..one.pair_count() as u32).map(Pair::from) {
            let same = |((a, p), (b, q)): ((State, f64), (State, f64))| a == b && (p - q).abs() < 1e-15;
            assert_eq!(one.successors(pair).len(), other.successors(pair).len());
            assert!(one.successors(pair).zip(other.successors(pair)).all(same), "{}", task.name);
        }
        assert_eq!((&again.defaults, &again.scripts), (&task.defaults, &task.scripts));
        assert!(again.scene == task.scene || matches!(task.scene, Scene::Grid(_)));
        let mut word = 1_u64;
        for _ in 0..20 {
            let mut draw = || {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (word >> 11) as f64 / (1_u64 << 53) as f64
            };
            let masses: Vec<f64> = (0..one.pair_count()).map(|_| draw().powi(4)).collect();
            let sum: f64 = masses.iter().sum();
            let occupancy: Vec<f64> = masses.iter().map(|mass| mass / sum).collect();
            let (value, same) =
                (task.problem.objective().value(&occupancy), again.problem.objective().value(&occupancy));
            assert!(
                (value - same).abs() <= 1e-12 * value.abs().max(1.0),
                "{} {value} {same}",
                task.problem.objective()
            );
        }
    }
}
