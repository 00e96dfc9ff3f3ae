//! The tasks without a map.

use gumdp::{Action, Scripted, play, rng};

use super::{check_defaults, check_model, check_row, cost_of, entropy_cost, mass, task};

#[test]
fn rooms() {
    let task = task("rooms");
    let mdp = task.problem.mdp();
    check_model(&task.problem, "s1", 0.99, 20);
    check_defaults(&task, [1.0, 10.0, 50.0], 100, 500);
    assert_eq!(task.defaults.curve, Some([0.01, 100.0]));
    assert_eq!(mdp.pair_count(), 8);
    for (from, to) in [("s0", "s0"), ("s1", "s0"), ("s2", "s1"), ("s3", "s3")] {
        check_row(mdp, from, "left", &[(to, 1.0)]);
    }
    for (from, to) in [("s0", "s1"), ("s2", "s2"), ("s3", "s3")] {
        check_row(mdp, from, "right", &[(to, 1.0)]);
    }
    check_row(mdp, "s1", "right", &[("s2", 0.9), ("s3", 0.1)]);

    // pi2: s1, s0, s1, s0, …
    let steps: Vec<_> = (0..20).map(|t| if t % 2 == 0 { ("s1", "left") } else { ("s0", "right") }).collect();
    let mut entries = vec![vec![0.0; 2]; 4];
    for t in 0..20 {
        entries[usize::from(t % 2 == 0)][usize::from(t % 2 == 1)] += mass(0.99, 20, t);
    }
    let expected = entropy_cost(&entries, 1e-10, -8.0_f64.ln());
    assert!((cost_of(&task.problem, &steps) - expected).abs() < 1e-14);

    let (left, right) = (mdp.find_action("left").unwrap(), mdp.find_action("right").unwrap());
    let scripts: Vec<(&str, &[Action])> = task.scripts.iter().map(|s| (s.name.as_str(), &s.actions[..])).collect();
    assert_eq!(scripts, [("pi1", &[right, left, left, right][..]), ("pi2", &[left, right][..])]);
    let mut policy = Scripted::new(&task.problem, task.scripts[1].actions.clone()).unwrap();
    let mut environment = rng::stream(1, 0, rng::Purpose::Environment);
    let mut own = rng::stream(1, 0, rng::Purpose::Policy);
    let episode = play(&task.problem, &mut policy, &mut environment, &mut own).unwrap();
    assert!((episode.cost - expected).abs() < 1e-14);
}

#[test]
fn mdp() {
    let task = task("mdp");
    let mdp = task.problem.mdp();
    check_model(&task.problem, "s0", 0.9, 20);
    check_defaults(&task, [0.1, 5.0, 10.0], 100, 500);
    check_row(mdp, "s0", "a0", &[("s2", 0.85), ("s3", 0.15)]);
    check_row(mdp, "s0", "a1", &[("s1", 1.0)]);
    for state in ["s1", "s2", "s3"] {
        for action in ["a0", "a1"] {
            check_row(mdp, state, action, &[("s0", 0.1), (state, 0.9)]);
        }
    }
    let (costs, constant) = task.problem.objective().as_linear().unwrap();
    assert_eq!(costs, [0.0, 0.0, 0.25, 0.25, 0.05, 0.05, 1.0, 1.0]);
    assert_eq!(constant, 0.0);
}

#[test]
fn msee() {
    let task = task("msee");
    let mdp = task.problem.mdp();
    check_model(&task.problem, "s1", 0.9, 20);
    check_defaults(&task, [0.1, 25.0, 50.0], 100, 500);
    for (from, to) in [("s0", "s0"), ("s1", "s0"), ("s2", "s1"), ("s3", "s2"), ("s4", "s4")] {
        check_row(mdp, from, "left", &[(to, 1.0)]);
    }
    for (from, to) in [("s0", "s1"), ("s1", "s2"), ("s3", "s3"), ("s4", "s4")] {
        check_row(mdp, from, "right", &[(to, 1.0)]);
    }
    check_row(mdp, "s2", "right", &[("s3", 0.8), ("s4", 0.2)]);

    let mut steps = vec![("s1", "right"), ("s2", "right")];
    let mut entries = vec![vec![0.0; 2]; 5];
    entries[1][1] = mass(0.9, 20, 0);
    entries[2][1] = mass(0.9, 20, 1);
    for t in 2..20 {
        steps.push(("s4", "left"));
        entries[4][0] += mass(0.9, 20, t);
    }
    let expected = entropy_cost(&entries, 1e-10, -10.0_f64.ln());
    assert!((cost_of(&task.problem, &steps) - expected).abs() < 1e-14);
}

#[test]
fn il() {
    let task = task("il");
    let mdp = task.problem.mdp();
    check_model(&task.problem, "s0", 0.9, 20);
    check_defaults(&task, [0.1, 40.0, 80.0], 100, 2000);
    check_row(mdp, "s0", "a0", &[("s2", 0.85), ("s3", 0.15)]);
    check_row(mdp, "s0", "a1", &[("s1", 1.0)]);
    for action in ["a0", "a1"] {
        check_row(mdp, "s1", action, &[("s0", 0.9), ("s1", 0.1)]);
        check_row(mdp, "s2", action, &[("s0", 0.9), ("s2", 0.1)]);
        check_row(mdp, "s3", action, &[("s0", 0.05), ("s3", 0.95)]);
    }
    let target = [
        0.206_050_990_044_710_59,
        0.301_757_324_942_909_7,
        0.170_541_041_262_798_65,
        0.150_045_078_700_894_34,
        0.102_456_293_392_397_52,
        0.082_989_597_647_842,
        0.0,
        0.0,
    ];
    assert!((target.iter().sum::<f64>() - 1.01384).abs() < 1e-5);
    let objective = task.problem.objective();
    assert!(objective.value(&target).abs() < 1e-30);
    // Each partial derivative at 0 is −2 times the target.
    for (slope, target) in objective.gradient(&[0.0; 8]).unwrap().iter().zip(target) {
        assert!((slope + 2.0 * target).abs() < 1e-15);
    }
}

#[test]
fn mo() {
    type Case = (&'static str, [f64; 3], fn(f64, f64) -> f64);
    let c1 = [0.0, -1.0, 0.5, 0.0, 0.0];
    let c2 = [0.0, 0.0, 0.0, -0.2, 0.2];
    let cases: [Case; 3] = [
        ("mo-weighted", [0.1, 20.0, 40.0], |a, b| a + b),
        ("mo-max", [0.1, 10.0, 20.0], f64::max),
        ("mo-min", [0.1, 20.0, 50.0], |a, b| a.min(2.0 * b)),
    ];
    for (name, betas, combine) in cases {
        let task = task(name);
        let mdp = task.problem.mdp();
        check_model(&task.problem, "s0", 0.99, 20);
        check_defaults(&task, betas, 100, 500);
        check_row(mdp, "s0", "a0", &[("s1", 0.4), ("s2", 0.6)]);
        check_row(mdp, "s0", "a1", &[("s3", 0.6), ("s4", 0.4)]);
        for state in ["s1", "s2", "s3", "s4"] {
            for action in ["a0", "a1"] {
                check_row(mdp, state, action, &[("s0", 1.0)]);
            }
        }
        for by_state in [[0.5, 0.5, 0.0, 0.0, 0.0], [0.4, 0.0, 0.3, 0.2, 0.1], [0.5, 0.1, 0.1, 0.1, 0.2]] {
            let occupancy: Vec<f64> = by_state.iter().flat_map(|d| [0.75 * d, 0.25 * d]).collect();
            let total = |c: [f64; 5]| c.iter().zip(by_state).map(|(c, d)| c * d).sum::<f64>();
            let expected = combine(total(c1), total(c2));
            assert!((task.problem.objective().value(&occupancy) - expected).abs() < 1e-15);
        }
    }
}
