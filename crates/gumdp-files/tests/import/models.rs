//! What models become, and what is assumed.

use gumdp_files::Task;

use super::{CSV, DIE, GYMNASIUM, QUOTED, ROBOT, WRAPPED, listed, parse, start, wrapper};

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
            "1 state without transitions absorbs at no cost: s2",
            "no discount is given: it is 0.95",
            "no start is given: episodes start in s0",
            "no horizon is given: it is 131, which leaves at most a hundredth of the largest cost",
            "in 2 of 5 state-action pairs the reward depends on the next state; the expected reward is the cost \
             (rewards = \"split\" keeps the distribution of the total exact)",
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
    assert_eq!(
        message("chain.csv"),
        "/chain.initial.csv:2:1: episodes start in s9, but no transition mentions that state"
    );
    write("chain.initial.csv", "idstate,probability\n0,0.5\n1,0.25\n0,0.25\n");
    assert_eq!(message("chain.csv"), "/chain.initial.csv:4:1: idstate \"0\" is given twice; first on line 2");
    std::fs::remove_file(folder.join("chain.initial.csv")).unwrap();
    std::fs::remove_file(folder.join("initial.csv")).unwrap();
    write("chain.parameters.csv", "parameter,value\nstart,99\n");
    assert_eq!(
        message("chain.csv"),
        "/chain.parameters.csv:2:7: episodes start in s99, but no transition mentions that state"
    );
    write("chain.parameters.csv", "parameter,value\nhorizon,9\nT,8\n");
    assert_eq!(message("chain.csv"), "/chain.parameters.csv:3:1: parameter \"T\" is given twice; first on line 2");
    write("mine.toml", "kind = \"import\"\nfile = \"none.csv\"\n");
    assert_eq!(message("mine.toml"), "/mine.toml:2:8: /none.csv: there is no such file");
    write("mine.toml", "kind = \"import\"\nfile = \"/dev/zero\"\n");
    assert_eq!(message("mine.toml"), "/mine.toml:2:8: /dev/zero: this leads out of the folder of the problem file");
    let allowed = Task::load_allowing(&folder.join("mine.toml"), true).unwrap_err().to_string();
    assert!(allowed.ends_with("/mine.toml:2:8: /dev/zero: this is not a file"), "{allowed}");
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
