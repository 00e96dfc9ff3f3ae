//! Cassandra's format: what a file becomes, and what is said when it is wrong.

use gumdp_files::{Task, check_text};

const MAZE: &str = include_str!("corpus/maze.mdp");

fn listed(text: &str) -> Vec<String> {
    let task = Task::parse("maze.mdp", text).unwrap_or_else(|error| panic!("{error}"));
    let mdp = task.problem.mdp();
    let (costs, _) = task.problem.objective().as_linear().unwrap();
    let row = |pair: u32| {
        let outcomes = mdp.successors(pair.into()).map(|(next, p)| format!("{} {p}", mdp.state_name(next)));
        let (state, action) = (mdp.state(pair.into()), mdp.action(pair.into()));
        let outcomes = outcomes.collect::<Vec<_>>().join(", ");
        format!("{} {}: {outcomes} | {}", mdp.state_name(state), mdp.action_name(action), costs[pair as usize])
    };
    (0..mdp.pair_count() as u32).map(row).collect()
}

#[test]
fn later_lines_replace_earlier_ones() {
    assert_eq!(
        listed(MAZE),
        [
            "left west: left 1 | 0",
            "left east: right 0.9, trap 0.1 | 0.5",
            "right west: left 1 | 0",
            "right east: goal 1 | -10",
            "trap west: trap 1 | 0",
            "trap east: trap 1 | 0",
            "goal west: goal 1 | 0",
            "goal east: goal 1 | 0",
        ]
    );
    let task = Task::parse("model", MAZE).unwrap();
    assert_eq!((task.problem.discount(), task.problem.mdp().initial()), (0.95, &[(0.into(), 1.0)][..]));
    let again = Task::parse("again.toml", &task.source).unwrap();
    assert_eq!(again.problem.fingerprint(), task.problem.fingerprint());
}

#[test]
fn numbers_matrices_and_observations() {
    let text = "discount: 1\nvalues: cost\nstates: 2\nactions: 1\nobservations: see hide\n\
                T: 0\n0.5 0.5\n0 1\nO: *\nuniform\nR: 0 : 0\n1 1\n3 3\n";
    assert_eq!(listed(text), ["s0 a0: s0 0.5, s1 0.5 | 2", "s1 a0: s1 1 | 0"]);
    let task = Task::parse("x.pomdp", text).unwrap();
    assert_eq!(task.problem.mdp().initial().len(), 2);
    let notes =
        ["observations are left out: the state is seen", "no start is given: each state is as likely to be the first"];
    assert_eq!(task.notes[..2], notes);
    let starts = |start: &str| {
        let task = Task::parse("x.mdp", &MAZE.replace("start: left", start)).unwrap();
        task.problem.mdp().initial().iter().map(|&(state, p)| (state.index(), p)).collect::<Vec<_>>()
    };
    assert_eq!(starts("start: 0.25 0.75 0 0"), [(0, 0.25), (1, 0.75)]);
    assert_eq!(starts("start include: trap 1"), [(1, 0.5), (2, 0.5)]);
    assert_eq!(starts("start exclude: trap goal"), [(0, 0.5), (1, 0.5)]);
    assert_eq!(starts("start: uniform").len(), 4);
}

#[test]
fn mistakes_have_their_place() {
    let both = MAZE.replace("10.0", "ten").replace("discount: 0.95", "discount: 2");
    assert_eq!(check_text("x.mdp", &both).len(), 2);
    let seen = "discount: 1\nstates: 1\nactions: 1\nobservations: 2\nT: 0\nidentity\nR: 0 : 0 : 0 : 1 5\n";
    let error = Task::parse("x.pomdp", seen).unwrap_err();
    assert_eq!(error.to_string(), "x.pomdp:7:1: the reward depends on the observation");
    let huge = "discount: 1\nstates: 1000000\nactions: 9\nT: *\nuniform\n";
    assert!(Task::parse("x.mdp", huge).unwrap_err().message.contains("more than 20000000 transitions"));
}
