//! The tasks on a map.

use gumdp::{Action, Pair, Problem};

use super::{check_defaults, check_model, check_row, cost_of, entropy_cost, grid, mass, state, task};

#[rustfmt::skip]
const DIFFICULT: [(usize, usize); 20] = [
    (6, 0), (6, 1), (6, 2), (6, 3), (6, 4), (8, 3), (9, 3),
    (1, 5), (1, 6), (1, 7), (1, 8), (2, 5), (2, 6), (2, 7),
    (2, 8), (7, 5), (3, 5), (3, 9), (9, 1), (5, 2),
];

const ACTIONS: [&str; 4] = ["left", "up", "right", "down"];

/// Where a move leads on a 10 × 10 map without walls.
fn moved((row, column): (usize, usize), action: usize) -> (usize, usize) {
    match action {
        0 => (row, column.max(1) - 1),
        1 => (row.max(1) - 1, column),
        2 => (row, (column + 1).min(9)),
        _ => ((row + 1).min(9), column),
    }
}

#[test]
fn the_map_of_grid_msee_and_grid_il() {
    for (name, horizon) in [("grid-msee", 200), ("grid-il", 99)] {
        let task = task(name);
        let mdp = task.problem.mdp();
        check_model(&task.problem, "(9,0)", 0.99, horizon);
        assert_eq!(mdp.state_count(), 120);
        let actions: Vec<&str> = (0..4).map(|a| mdp.action_name(Action::from(a))).collect();
        assert_eq!(actions, ACTIONS);
        for row in 0..10 {
            for column in 0..10 {
                let name = format!("({row},{column})");
                let stuck = format!("({row},{column}) stuck");
                let difficult = DIFFICULT.contains(&(row, column));
                assert_eq!(mdp.find_state(&stuck).is_some(), difficult);
                for (number, action) in ACTIONS.into_iter().enumerate() {
                    let (r, c) = moved((row, column), number);
                    let next = format!("({r},{c})");
                    if difficult {
                        check_row(mdp, &name, action, &[(&next, 0.9), (&stuck, 0.1)]);
                        check_row(mdp, &stuck, action, &[(&next, 0.01), (&stuck, 0.99)]);
                    } else {
                        check_row(mdp, &name, action, &[(&next, 1.0)]);
                    }
                }
            }
        }
        let scene = grid(&task);
        assert_eq!((scene.rows, scene.columns, scene.start, scene.home), (10, 10, 90, None));
        for state in mdp.states() {
            let (row, column) = scene.position(scene.cell_of_state[state.index()].unwrap());
            assert!(mdp.state_name(state).starts_with(&format!("({row},{column})")));
        }
        for cell in scene.cells() {
            assert_eq!(scene.terrain(cell).sticky.is_some(), DIFFICULT.contains(&scene.position(cell)));
        }
    }
}

#[test]
fn grid_msee_merges_the_flag_and_counts_a_cell_that_nobody_visits() {
    let task = task("grid-msee");
    check_defaults(&task, [0.001, 1.0, 1000.0], 128, 1024);
    // Up along the left border, stuck for a while in (6,0), then into the corner.
    let mut steps = vec![("(9,0)", "up"), ("(8,0)", "up"), ("(7,0)", "up"), ("(6,0)", "left")];
    let mut cells = vec![90, 80, 70, 60];
    for _ in 0..49 {
        steps.push(("(6,0) stuck", "right"));
        cells.push(60);
    }
    steps.push(("(6,0) stuck", "up"));
    cells.push(60);
    for (name, cell) in [("(5,0)", 50), ("(4,0)", 40), ("(3,0)", 30), ("(2,0)", 20), ("(1,0)", 10)] {
        steps.push((name, "up"));
        cells.push(cell);
    }
    while steps.len() < 200 {
        steps.push(("(0,0)", "left"));
        cells.push(0);
    }
    let mut entries = vec![vec![0.0; 4]; 101];
    for (t, (step, cell)) in steps.iter().zip(cells).enumerate() {
        let action = ACTIONS.iter().position(|action| *action == step.1).unwrap();
        entries[cell][action] += mass(0.99, 200, t as i32);
    }
    let expected = entropy_cost(&entries, 1e-7, -101.0_f64.ln());
    assert!((cost_of(&task.problem, &steps) - expected).abs() < 1e-13);
}

#[rustfmt::skip]
const BEHAVIOUR: [usize; 100] = [
    90, 91, 92, 93, 83, 82, 81, 80, 70, 71, 72, 73, 63,
    62, 61, 60, 50, 40, 30, 20, 10, 0, 1, 11, 21, 31, 41, 51, 52, 42, 32, 22, 12, 2, 3, 13, 23, 33, 43, 53, 54, 44, 34, 24,
    14, 4, 5, 15, 25, 35, 45, 55, 56, 46, 36, 26, 16, 6, 7, 17, 27, 37, 47, 57, 58, 48, 38, 28, 18, 8, 9, 19, 29, 39, 49,
    59, 69, 68, 67, 66, 65, 64, 74, 75, 76, 77, 78, 79, 89, 88, 87, 86, 85, 84, 94, 95, 96, 97, 98, 99,
];

#[test]
fn grid_il() {
    let task = task("grid-il");
    check_defaults(&task, [0.02, 1.0, 500.0], 128, 1024);
    assert_eq!(grid(&task).behaviour.iter().map(|&cell| cell as usize).collect::<Vec<_>>(), BEHAVIOUR);

    // The first 99 state-action pairs of the path.
    let mut target = vec![0.0; 400];
    let mut names = Vec::new();
    for (t, cells) in BEHAVIOUR.windows(2).enumerate() {
        let leads = |action: &usize| moved((cells[0] / 10, cells[0] % 10), *action) == (cells[1] / 10, cells[1] % 10);
        let action = (0..4).find(leads).unwrap();
        target[cells[0] * 4 + action] += mass(0.99, 99, t as i32);
        names.push((format!("({},{})", cells[0] / 10, cells[0] % 10), ACTIONS[action]));
    }
    let steps: Vec<(&str, &str)> = names.iter().map(|(state, action)| (state.as_str(), *action)).collect();
    assert!(cost_of(&task.problem, &steps).abs() < 1e-30);

    // Another path: bump into the left border for the whole episode.
    let corner = 90 * 4;
    let squares: f64 = target.iter().map(|t| t * t).sum();
    let distance = squares - target[corner].powi(2) + (1.0 - target[corner]).powi(2);
    let cost = cost_of(&task.problem, &[("(9,0)", "left"); 99]);
    assert!((cost - 0.5 * distance / 0.12).abs() < 1e-13);
}

#[test]
fn grid_mo_has_the_published_states_and_transitions() {
    let task = task("grid-mo");
    let mdp = task.problem.mdp();
    check_model(&task.problem, "start", 0.99, 40);
    check_defaults(&task, [0.125, 1.0, 8.0], 128, 1024);
    // The start, 25 cells × 4 loads, 4 ways to be home, "defeated", "over".
    assert_eq!(mdp.state_count(), 107);

    check_row(mdp, "start", "up", &[("(3,2)", 0.95), ("(4,1)", 0.025), ("(4,3)", 0.025)]);
    check_row(mdp, "start", "down", &[("start", 0.95), ("(4,1)", 0.025), ("(4,3)", 0.025)]);
    check_row(mdp, "(2,2)", "left", &[("(2,1)", 0.95), ("(1,2)", 0.025), ("(3,2)", 0.025)]);
    check_row(mdp, "(0,0)", "up", &[("(0,0)", 0.975), ("(0,1)", 0.025)]);
    let homewards = [("(4,2) with R1", 0.95), ("(3,1) with R1", 0.025), ("(4,1) with R1", 0.025)];
    check_row(mdp, "(4,1) with R1", "right", &homewards);
    let alive = 0.975;
    let from_enemy = [("defeated", 0.025), ("(0,2)", 0.95 * alive), ("(1,1)", 0.025 * alive), ("(1,3)", 0.025 * alive)];
    check_row(mdp, "(1,2)", "up", &from_enemy);
    let bump_at_enemy = [
        ("defeated", 0.025),
        ("(0,3) with R1", 0.95 * alive),
        ("(0,2) with R1", 0.025 * alive),
        ("(0,4) with R1", 0.025 * alive),
    ];
    check_row(mdp, "(0,3) with R1", "up", &bump_at_enemy);
    check_row(mdp, "(0,2)", "up", &[("(0,2) with R1", 0.95), ("(0,1) with R1", 0.025), ("(0,3) with R1", 0.025)]);
    let second = [("(2,4) with R1+R2", 0.95), ("(1,3) with R1+R2", 0.025), ("(1,4) with R1+R2", 0.025)];
    check_row(mdp, "(1,4) with R1", "down", &second);
    for action in ACTIONS {
        for (load, home) in [("", "nothing"), (" with R1", "R1"), (" with R2", "R2"), (" with R1+R2", "R1+R2")] {
            check_row(mdp, &format!("(4,2){load}"), action, &[(&format!("home with {home}"), 1.0)]);
            check_row(mdp, &format!("home with {home}"), action, &[("over", 1.0)]);
        }
        check_row(mdp, "defeated", action, &[("over", 1.0)]);
        check_row(mdp, "over", action, &[("over", 1.0)]);
    }
    let scene = grid(&task);
    assert_eq!((scene.rows, scene.columns, scene.start, scene.home), (5, 5, 22, Some(22)));
    let enemies: Vec<u32> = scene.cells().filter(|&cell| scene.terrain(cell).enemy == Some(0.025)).collect();
    assert_eq!(enemies, [3, 7]);
    assert_eq!(scene.cell_of_state[state(mdp, "home with R1").index()], Some(22));
    assert_eq!(scene.cell_of_state[state(mdp, "over").index()], None);
}

/// The cost of a path of named states that ends in "over", with any actions that fit.
#[track_caller]
fn outcome(problem: &Problem, states: &[&str]) -> f64 {
    let mdp = problem.mdp();
    let mut names = states.to_vec();
    names.resize(problem.horizon() + 1, "over");
    let path: Vec<Pair> = names
        .windows(2)
        .map(|step| {
            let next = state(mdp, step[1]);
            let fits = |p: &u32| mdp.successors(Pair::from(*p)).any(|(s, _)| s == next);
            let found = mdp.pairs(state(mdp, step[0])).find(fits);
            Pair::from(found.unwrap_or_else(|| panic!("{} does not lead to {}", step[0], step[1])))
        })
        .collect();
    problem.objective().value(&problem.occupancy(&path))
}

#[test]
fn grid_mo_has_the_published_costs() {
    let task = task("grid-mo");
    let rescaled = |f: f64| (f + 0.189_324_64) / (0.029_018_56 + 0.189_324_64);
    let at = |time| mass(0.99, 40, time);
    let up = ["start", "(3,2)", "(2,2)", "(1,2)"];

    // The worst: straight to an enemy and defeated there.
    let cost = outcome(&task.problem, &[&up[..], &["defeated"]].concat());
    assert!((cost - rescaled(at(4))).abs() < 1e-14);
    assert!((cost - 1.0).abs() < 1e-7);

    // The best: both resources on a shortest way, home at time 12, counted at time 13.
    #[rustfmt::skip]
    let both = [
        "(0,2)", "(0,3) with R1", "(0,4) with R1", "(1,4) with R1", "(2,4) with R1+R2", "(3,4) with R1+R2",
        "(4,4) with R1+R2", "(4,3) with R1+R2", "(4,2) with R1+R2", "home with R1+R2",
    ];
    let cost = outcome(&task.problem, &[&up[..], &both].concat());
    assert!((cost - rescaled(-at(13) - at(13).sqrt())).abs() < 1e-14);
    assert!(cost.abs() < 1e-7);

    // Only R1, back the way it came.
    let one = ["(0,2)", "(1,2) with R1", "(2,2) with R1", "(3,2) with R1", "(4,2) with R1", "home with R1"];
    let cost = outcome(&task.problem, &[&up[..], &one].concat());
    assert!((cost - rescaled(-at(9).sqrt())).abs() < 1e-14);

    // Only R2.
    #[rustfmt::skip]
    let one = [
        "start", "(3,2)", "(3,3)", "(2,3)", "(2,4)", "(1,4)", "(2,4) with R2", "(3,4) with R2", "(4,4) with R2",
        "(4,3) with R2", "(4,2) with R2", "home with R2",
    ];
    let cost = outcome(&task.problem, &one);
    assert!((cost - rescaled(-at(11))).abs() < 1e-14);
    assert!((cost - 0.74).abs() < 0.01);

    // Nothing: out and back at once, or later.
    let nothing = outcome(&task.problem, &["start", "(3,2)", "(4,2)", "home with nothing"]);
    assert!((nothing - rescaled(0.0)).abs() < 1e-14);
    assert!((nothing - 0.867).abs() < 0.001);
    assert_eq!(outcome(&task.problem, &["start", "start", "start", "(3,2)", "(4,2)", "home with nothing"]), nothing);
}
