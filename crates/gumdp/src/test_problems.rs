//! Problems that the unit tests share; those of other tests are the built-in tasks of the crate `gumdp-files`.

use crate::{Mdp, Objective, Partition, Problem};

/// A chain of states to be visited evenly, from the second on, with a trap before the last one.
fn chain(length: usize, trapped: f64, discount: f64) -> Problem {
    let trap = length;
    let mut builder = Mdp::named((0..=length).map(|state| format!("s{state}")), ["left", "right"]).start("s1");
    let name = |state: usize| format!("s{state}");
    for state in 0..length {
        builder = builder.transition(name(state), "left", [(name(state.saturating_sub(1)), 1.0)]);
        builder = if state + 2 == length {
            builder.transition(name(state), "right", [(name(state + 1), 1.0 - trapped), (name(trap), trapped)])
        } else {
            builder.transition(name(state), "right", [(name((state + 1).min(length - 1)), 1.0)])
        };
    }
    for action in ["left", "right"] {
        builder = builder.transition(name(trap), action, [(name(trap), 1.0)]);
    }
    let mdp = builder.build().unwrap();
    let entropy = Objective::entropy(Partition::states(&mdp), 1e-10).unwrap();
    let scale = ((2 * length + 2) as f64).ln();
    Problem::new(mdp, ((1.0 / scale) * entropy).shifted(1.0), discount, 20).unwrap()
}

/// The task `rooms`.
pub fn rooms() -> Problem {
    chain(3, 0.1, 0.99)
}

/// The task `msee`.
pub fn msee() -> Problem {
    chain(4, 0.2, 0.9)
}

/// The task `mdp`: a gamble between little and much, or a sure cost, all of them left slowly.
pub fn gamble() -> Problem {
    let mut builder = Mdp::sized(4, 2).start(0);
    builder = builder.transition(0, 0, [(2, 0.85), (3, 0.15)]).transition(0, 1, [(1, 1.0)]);
    for state in 1..4 {
        for action in 0..2 {
            builder = builder.transition(state, action, [(0, 0.1), (state, 0.9)]);
        }
    }
    let mdp = builder.build().unwrap();
    let cost = Objective::linear(mdp.by_state(&[0.0, 0.25, 0.05, 1.0]).unwrap()).unwrap();
    Problem::new(mdp, cost, 0.9, 20).unwrap()
}

/// An empty map of 10 × 10 cells to be covered.
pub fn map(horizon: usize) -> Problem {
    let cell = |row: usize, column: usize| 10 * row + column;
    let mut builder = Mdp::sized(100, 4).start(90);
    for (row, column) in (0..10_usize).flat_map(|row| (0..10_usize).map(move |column| (row, column))) {
        let moves = [
            cell(row, column.saturating_sub(1)),
            cell(row.saturating_sub(1), column),
            cell(row, (column + 1).min(9)),
            cell((row + 1).min(9), column),
        ];
        for (action, to) in moves.into_iter().enumerate() {
            builder = builder.transition(cell(row, column), action, [(to, 1.0)]);
        }
    }
    let mdp = builder.build().unwrap();
    let objective = Objective::entropy(Partition::states(&mdp), 1e-7).unwrap();
    Problem::new(mdp, objective, 0.99, horizon).unwrap()
}
