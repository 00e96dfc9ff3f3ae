//! Models of other programs: what they become, what is assumed, what is refused, and that nothing is lost on the way out and
//! back.

use std::path::PathBuf;

use gumdp::file::{ExportFormat, export};
use gumdp::oracle::{self, Limits};
use gumdp::{Erm, FileError, Mdp, Pair, State, Task, Uniform, tasks};

const CSV: &str = include_str!("corpus/chain.csv");
const QUOTED: &str = include_str!("corpus/quoted.csv");
const GYMNASIUM: &str = include_str!("corpus/gymnasium.json");
const WRAPPED: &str = include_str!("corpus/wrapped.json");
const DIE: &str = include_str!("corpus/die.drn");
const ROBOT: &str = include_str!("corpus/robot.drn");

fn parse(file: &str, text: &str) -> Task {
    Task::parse(file, text).unwrap_or_else(|error| panic!("{error} {:?}", error.hint))
}

/// Each pair as "state action: next probability, …" with its cost.
fn listed(task: &Task) -> Vec<String> {
    let mdp = task.problem.mdp();
    let (costs, constant) = task.problem.objective().as_linear().expect("a linear objective");
    let row = |pair: Pair| {
        let outcomes: Vec<String> =
            mdp.successors(pair).map(|(next, p)| format!("{} {p}", mdp.state_name(next))).collect();
        let (state, action) = (mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)));
        format!("{state} {action}: {} | {}", outcomes.join(", "), costs[pair.index()] + constant)
    };
    (0..mdp.pair_count() as u32).map(|pair| row(pair.into())).collect()
}

fn start(mdp: &Mdp) -> Vec<(&str, f64)> {
    mdp.initial().iter().map(|&(state, p)| (mdp.state_name(state), p)).collect()
}

/// A problem file that imports this text.
fn wrapper(format: &str, fields: &str, text: &str) -> String {
    format!("kind = \"import\"\nformat = \"{format}\"\ntext = '''\n{text}'''\n{fields}\n")
}

#[test]
fn csv_gets_expected_rewards_and_says_what_it_assumes() {
    let task = parse("chain.csv", CSV);
    assert_eq!(
        listed(&task),
        [
            "s0 a0: s0 1 | -5",
            "s0 a1: s0 0.4, s1 0.6 | 0.6",
            "s1 a0: s0 1 | -5",
            "s1 a1: s0 0.25, s2 0.75 | -10",
            "s2 a0: s2 1 | 0",
        ]
    );
    assert_eq!((task.problem.discount(), task.problem.horizon()), (0.95, 131));
    assert!(8.0 * 0.95_f64.powi(131) <= 0.01 && 8.0 * 0.95_f64.powi(130) > 0.01);
    assert_eq!(
        task.notes,
        [
            "rewards are taken for gains: a cost is minus a reward",
            "1 states without transitions absorb at no cost: s2",
            "no discount is given: it is 0.95",
            "no start is given: episodes start in s0",
            "no horizon is given: it is 131, which leaves at most a hundredth of the largest cost",
            "in 2 of 5 state-action pairs the reward depends on the next state; the expected reward is the cost \
             (rewards = \"split\" keeps the law of the total exact)",
        ]
    );
}

#[test]
fn csv_columns_quotes_and_bases() {
    let task = parse("quoted.csv", QUOTED);
    assert_eq!(
        listed(&task),
        ["s1 a1: s1 1 | 0", "s2 a1: s1 0.5, s3 0.5 | -498.75", "s2 a2: s2 1 | 0", "s3 a1: s3 1 | 0"]
    );
    assert_eq!(task.notes[0], "no state is 0: the ids count from 1");
    // The content decides where the name does not, and marks and line ends of other systems do not matter.
    let foreign = format!("\u{feff}{}", CSV.replace('\n', "\r\n"));
    assert_eq!(listed(&parse("model", &foreign.replace('\u{feff}', ""))), listed(&parse("chain.csv", &foreign)));
    assert_eq!(parse("model", GYMNASIUM).problem.mdp().state_count(), 4);
    assert_eq!(parse("model", DIE).problem.mdp().state_count(), 4);
}

#[test]
fn files_next_to_a_csv() {
    let folder = std::env::temp_dir().join(format!("gumdp-import-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("chain.csv", CSV);
    write("initial.csv", "idstate,probability\n0,0.25\n1,0.75\n2,0\n");
    write("parameters.csv", "parameter,value\ndiscount,0.5\nhorizon,7\ncolour,2\n");
    let task = Task::load(&folder.join("chain.csv")).unwrap();
    assert_eq!((task.problem.discount(), task.problem.horizon()), (0.5, 7));
    assert_eq!(start(task.problem.mdp()), [("s0", 0.25), ("s1", 0.75)]);
    assert!(task.notes.iter().any(|note| note == "these parameters are ignored: colour"), "{:?}", task.notes);
    // Those with the name of the file come first.
    write("chain.parameters.csv", "\"parameter\",\"value\"\n\"Initial State\",1\n\"gamma\",1.0\n");
    write("chain.initial.csv", "idstate,probability\n2,1\n");
    let task = Task::load(&folder.join("chain.csv")).unwrap();
    assert_eq!((task.problem.discount(), task.problem.horizon()), (1.0, 100));
    assert_eq!(start(task.problem.mdp()), [("s2", 1.0)]);
    // What was read is in the source, which needs no file.
    let again = parse("elsewhere/chain.toml", &task.source);
    assert_eq!((listed(&again), start(again.problem.mdp())), (listed(&task), start(task.problem.mdp())));
    assert_eq!((again.problem.discount(), again.problem.horizon()), (1.0, 100));
    // A problem file says the rest.
    write("mine.toml", "kind = \"import\"\nfile = \"chain.csv\" # the model\nstart = 1\nhorizon = 3\n");
    let task = Task::load(&folder.join("mine.toml")).unwrap();
    assert_eq!((task.name.as_str(), start(task.problem.mdp())), ("mine", vec![("s1", 1.0)]));
    let again = parse("elsewhere/mine.toml", &task.source);
    assert_eq!((listed(&again), again.problem.discount()), (listed(&task), 1.0));
    let message =
        |name: &str| Task::load(&folder.join(name)).unwrap_err().to_string().replace(folder.to_str().unwrap(), "");
    write("chain.parameters.csv", "parameter,value\ndiscount,1.5\n");
    assert_eq!(message("chain.csv"), "/chain.parameters.csv:2:10: value is \"1.5\"; it must be a number in (0, 1]");
    write("chain.parameters.csv", "parameter,value\n");
    write("chain.initial.csv", "idstate,probability\n9,1\n");
    assert_eq!(message("chain.csv"), "/chain.csv:1:1: episodes start in s9, but no transition mentions that state");
    write("mine.toml", "kind = \"import\"\nfile = \"none.csv\"\n");
    assert_eq!(message("mine.toml"), "/mine.toml:2:8: /none.csv: there is no such file");
    write("mine.toml", "kind = \"import\"\nfile = \"/dev/zero\"\n");
    assert_eq!(message("mine.toml"), "/mine.toml:2:8: /dev/zero: this is not a file");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn gymnasium_ends_episodes() {
    let task = parse("gymnasium.json", GYMNASIUM);
    assert_eq!(
        listed(&task),
        [
            "s0 a0: s0 1 | 0",
            "s0 a1: s1 0.5, terminated 0.5 | 0",
            "s1 a0: s0 0.25, terminated 0.75 | -0.5",
            "s2 a0: terminated 1 | 0",
            "s2 a1: s0 1 | -3",
            "terminated a0: terminated 1 | 0",
        ]
    );
    // State 1 absorbs at no cost, so that it needs no other.
    let task = parse("wrapped.json", WRAPPED);
    assert_eq!(listed(&task), ["s0 a0: s1 1 | 1", "s0 a1: s0 0.9, s1 0.1 | 0", "s1 a0: s1 1 | 0"]);
    assert_eq!((task.problem.discount(), task.problem.horizon()), (0.9, 4));
    assert_eq!(start(task.problem.mdp()), [("s0", 0.5), ("s1", 0.5)]);
    assert_eq!(task.notes, ["\"metadata\" is ignored", "rewards are taken for gains: a cost is minus a reward"]);
}

#[test]
fn drn_has_labels_and_several_costs() {
    let task = parse("die.drn", DIE);
    assert_eq!(
        listed(&task),
        [
            "s0 a0: s1 0.5, s2 0.5 | 1",
            "s1 a0: s2 0.25, s3 0.75 | 0.3333333333333333",
            "s2 a0: s2 1 | 0",
            "s3 a0: s3 1 | 0"
        ]
    );
    let names: Vec<&str> = task.costs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, &task.costs[1].1), (vec!["flips", "time"], &vec![1.0, 1.0, 0.0, 0.0]));
    assert!(task.notes.contains(&"the cost is \"flips\"; [objective] can use the others: time".to_owned()));

    let objective = "discount = 1\nhorizon = 4\n[objective]\nkind = \"weighted-sum\"\n\
                     costs = [\"flips\", \"time\", { done = 1 }, { \"second label\" = 8 }]\nweights = [1, 10, 100, 1000]";
    let text = wrapper("drn", objective, DIE);
    let (costs, _) = parse("my.toml", &text).problem.objective().as_linear().unwrap();
    assert_eq!(costs, [11.0, 1.0 / 3.0 + 10.0, 8100.0, 100.0]);
    let gains = parse("my.toml", &text.replace("discount = 1\n", "discount = 1\ngain = true\n"));
    assert_eq!(gains.problem.objective().as_linear().unwrap().0, [-11.0, -1.0 / 3.0 - 10.0, 8100.0, 100.0]);

    let task = parse("robot.drn", ROBOT);
    assert_eq!(
        listed(&task),
        ["s0 safe: s1 1 | 2", "s0 fast: s1 0.9, s2 0.1 | 1", "s1 stay: s1 1 | 0", "s2 safe: s2 1 | 0"]
    );
    assert_eq!(start(task.problem.mdp()), [("s0", 0.5), ("s1", 0.5)]);
}

/// The law of the normalised discounted total of minus the rewards, by going through every sequence of transitions in
/// which each action is equally likely.
fn enumerated(rows: &[(u32, u32, u32, f64, f64)], state: u32, horizon: usize, discount: f64) -> Vec<(f64, f64)> {
    fn go(
        rows: &[(u32, u32, u32, f64, f64)],
        state: u32,
        time: usize,
        (total, probability): (f64, f64),
        (horizon, discount): (usize, f64),
        found: &mut Vec<(f64, f64)>,
    ) {
        if time == horizon {
            found.push((total, probability));
            return;
        }
        let mut actions: Vec<u32> = rows.iter().filter(|row| row.0 == state).map(|row| row.1).collect();
        actions.dedup();
        for &(_, _, next, p, reward) in rows.iter().filter(|row| row.0 == state) {
            let sum = total - reward * discount.powi(time as i32);
            let p = probability * p / actions.len() as f64;
            go(rows, next, time + 1, (sum, p), (horizon, discount), found);
        }
    }
    let mut found = Vec::new();
    go(rows, state, 0, (0.0, 1.0), (horizon, discount), &mut found);
    let norm: f64 = (0..horizon).map(|t| discount.powi(t as i32)).sum();
    found.into_iter().map(|(total, p)| (total / norm, p)).collect()
}

#[test]
fn split_states_keep_the_law_of_the_total() {
    // By (s, a); state 2 absorbs.
    let rows = [
        (0, 0, 0, 1.0, 5.0),
        (0, 1, 0, 0.4, 0.0),
        (0, 1, 1, 0.6, -1.0),
        (1, 0, 0, 1.0, 5.0),
        (1, 1, 0, 0.25, 0.0),
        (1, 1, 2, 0.5, 10.0),
        (1, 1, 2, 0.25, 20.0),
        (2, 0, 2, 1.0, 0.0),
    ];
    for (discount, horizon) in [(0.9, 6), (1.0, 5), (0.5, 1), (0.3, 2)] {
        let fields = format!("discount = {discount}\nhorizon = {horizon}\nrewards = \"split\"\nstart = \"s0\"");
        let split = parse("my.toml", &wrapper("csv", &fields, CSV));
        assert_eq!(split.problem.horizon(), horizon + 1);
        let mdp = split.problem.mdp();
        let names: Vec<&str> = mdp.states().map(|state| mdp.state_name(state)).collect();
        assert_eq!(names, ["s0[0]", "s0[5]", "s1", "s2[0]", "s2[10]", "s2[20]"]);
        let law = oracle::distribution(&split.problem, &Uniform::new(&split.problem), &Limits::default()).unwrap();
        let all = enumerated(&rows, 0, horizon, discount);
        for &(value, _) in &all {
            // Just below and just above every value.
            for at in [value - 1e-7, value + 1e-7] {
                let expected: f64 = all.iter().filter(|&&(v, _)| v <= at).map(|&(_, p)| p).sum();
                assert!((law.cdf(at) - expected).abs() < 1e-12, "γ {discount}, H {horizon}: P(f ≤ {at})");
            }
        }
        for beta in [-1.0, 0.0, 2.0] {
            let erm = Erm::new(beta).unwrap();
            assert!((law.erm(erm) - erm.of_outcomes(all.iter().copied())).abs() < 1e-10);
        }
        // The mean does not need the split.
        let expected = parse("my.toml", &wrapper("csv", &fields.replace("split", "expected"), CSV));
        let optimum = |task: &Task| oracle::optimum(&task.problem, Erm::new(0.0).unwrap(), &Limits::default()).unwrap();
        assert!((optimum(&split).value - optimum(&expected).value).abs() < 1e-12);
        assert_eq!(expected.problem.horizon(), horizon);
    }
}

#[test]
fn copies_of_a_state_are_a_group() {
    let fields = "rewards = \"split\"\n[objective]\nkind = \"linear\"\ncost = { s2 = 1, \"s0[5]\" = 10 }";
    let task = parse("my.toml", &wrapper("csv", fields, CSV));
    let (mdp, (costs, _)) = (task.problem.mdp(), task.problem.objective().as_linear().unwrap());
    let cost = |name: &str| costs[mdp.pairs(mdp.find_state(name).unwrap()).start as usize];
    assert_eq!(["s0[0]", "s0[5]", "s1", "s2[0]", "s2[20]"].map(cost), [0.0, 10.0, 0.0, 1.0, 1.0]);
}

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
    for format in [ExportFormat::Csv, ExportFormat::Drn, ExportFormat::Toml] {
        let notes = export(&rooms, format).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("is not linear and cannot be written")), "{notes:?}");
    }
    let several = tasks::get("mo-max").unwrap();
    let drn = through(&several, ExportFormat::Drn);
    let names: Vec<&str> = drn.costs.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.starts_with(&["cost1", "cost2"]), "{names:?}");
}

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
    assert_eq!(refused("x.json", &deep).0, "1:71: the lists and objects are nested too deeply");
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
    drn("action 0 [1, 0]", "action 0 [1]", "12:11: 1 rewards are given for 2 reward models");
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

#[test]
fn large_models_are_read() {
    use std::fmt::Write as _;
    let states = 20_000;
    let mut csv = String::from("idstatefrom,idaction,idstateto,probability,reward\n");
    for state in 0..states {
        for action in 0..2 {
            for outcome in 0..5 {
                let next = (state * 7 + action * 13 + outcome * 101) % states;
                writeln!(csv, "{state},{action},{next},0.2,{outcome}").unwrap();
            }
        }
    }
    let task = parse("large.csv", &csv);
    assert_eq!((task.problem.mdp().state_count(), task.problem.mdp().transition_count()), (states, states * 10));
}

#[test]
fn the_examples_of_the_documentation_are_right() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/import.md")).expect("docs/import.md");
    let blocks: Vec<(&str, &str)> = text
        .split("```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').expect("the name of a language and a block"))
        .collect();
    let block = |language: &str| blocks.iter().find(|(name, _)| *name == language).expect("a block").1;
    let folder = std::env::temp_dir().join(format!("gumdp-docs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, content) in [("riverswim.csv", block("csv")), ("lake.json", block("json")), ("robot.drn", block(""))] {
        std::fs::write(folder.join(file), content).unwrap();
        Task::load(&folder.join(file)).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!((block("csv"), block("json"), block("")), (CSV, GYMNASIUM, ROBOT));
    let problems: Vec<&str> = blocks.iter().filter(|(name, _)| *name == "toml").map(|&(_, content)| content).collect();
    assert_eq!(problems.len(), 2);
    for problem in problems {
        parse(folder.join("mine.toml").to_str().unwrap(), problem);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
