//! States that are split by the reward that led to them keep the distribution of the total.

use gumdp::oracle::{self, Limits};
use gumdp::{Erm, Uniform};
use gumdp_files::Task;

use super::{CSV, parse, wrapper};

/// The distribution of the normalised discounted total of minus the rewards, by going through every sequence of transitions in
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
        let found = oracle::distribution(&split.problem, &Uniform::new(&split.problem), &Limits::default()).unwrap();
        let all = enumerated(&rows, 0, horizon, discount);
        for &(value, _) in &all {
            // Just below and just above every value.
            for at in [value - 1e-7, value + 1e-7] {
                let expected: f64 = all.iter().filter(|&&(v, _)| v <= at).map(|&(_, p)| p).sum();
                assert!((found.cdf(at) - expected).abs() < 1e-12, "γ {discount}, H {horizon}: P(f ≤ {at})");
            }
        }
        for beta in [-1.0, 0.0, 2.0] {
            let erm = Erm::new(beta).unwrap();
            assert!((found.erm(erm) - erm.of_outcomes(all.iter().copied())).abs() < 1e-10);
        }
        // The mean does not need the split.
        let expected = parse("my.toml", &wrapper("csv", &fields.replace("split", "expected"), CSV));
        let optimum = |task: &Task| oracle::solve(&task.problem, Erm::new(0.0).unwrap(), &Limits::default()).unwrap();
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
