//! A policy that remembers beats every Markov policy when f is not linear.
//!
//! A ferry lands on a random shore, returns to the harbour, and the traveller then chooses a shore. The goal is to see
//! both shores equally often. Whoever remembers the first shore chooses the other one; a Markov policy, seeing only the
//! harbour, cannot. Run with `cargo run --release --example history_matters`.

use gumdp::oracle::{self, Limits};
use gumdp::{Action, Erm, Markov, Mdp, Objective, Partition, Problem};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mdp = Mdp::named(["ferry", "west", "east", "harbour"], ["to west", "to east"])
        .start("ferry")
        .transition("ferry", "to west", [("west", 0.5), ("east", 0.5)])
        .transition("west", "to west", [("harbour", 1.0)])
        .transition("east", "to west", [("harbour", 1.0)])
        .transition("harbour", "to west", [("west", 1.0)])
        .transition("harbour", "to east", [("east", 1.0)])
        .build()?;
    // The shores are cells of their own; ferry and harbour share the third.
    let cells = mdp.by_state(&[2.0, 0.0, 1.0, 2.0])?.iter().map(|&cell| cell as u32).collect();
    let explore = Objective::entropy(Partition::new(cells, vec![1, 1, 3])?, 0.0)?;
    let problem = Problem::new(mdp, explore, 1.0, 4)?;

    for beta in [0.0, 5.0, f64::INFINITY] {
        let erm = Erm::new(beta)?;
        let optimum = oracle::solve(&problem, erm, &Limits::default())?;

        // E exp(βf) is linear in the action probabilities of each time and state, so the best Markov policy, stochastic
        // ones included, is among the deterministic ones. Only the harbour has a choice, and it is met at time 2 only.
        let harbour = problem.mdp().find_state("harbour").ok_or("named above")?;
        let mut best = f64::INFINITY;
        for choice in [0, 1] {
            let actions =
                problem.mdp().states().map(|state| Action::from(if state == harbour { choice } else { 0 })).collect();
            let policy = Markov::deterministic(&problem, &[actions])?;
            let found = oracle::distribution(&problem, &policy, &Limits::default())?;
            best = best.min(found.erm(erm));
        }
        println!("beta = {beta}: best Markov policy {best:.4}, with memory {:.4}", optimum.value);
        assert!(optimum.value < best - 0.1);
    }

    // And why f of the expected occupancy is not what matters: it is the same as if every single journey were balanced.
    let coin = Markov::stochastic(&problem, vec![vec![1.0, 1.0, 1.0, 0.5, 0.5]])?;
    let f_of_mean = problem.objective().value(&oracle::expected_occupancy(&problem, &coin)?);
    let mean_of_f = oracle::distribution(&problem, &coin, &Limits::default())?.mean();
    println!("tossing a coin in the harbour: f(E[d]) = {f_of_mean:.4}, but E[f(d)] = {mean_of_f:.4}");
    assert!(mean_of_f > f_of_mean + 0.1);
    Ok(())
}

#[test]
fn memory_wins() {
    main().unwrap();
}
