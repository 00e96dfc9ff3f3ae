//! Problems that several tests use: the built-in tasks, a grid, and random ones.
#![allow(dead_code, missing_docs)]

pub mod brute_force;
pub mod hidden;

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{Mdp, Objective, Partition, Problem};
use gumdp_files::tasks;

/// The problem of a built-in task.
pub fn task(name: &str) -> Problem {
    tasks::get(name).unwrap().problem
}

/// Exploration of a square grid, from a corner, with a cell more than there are states.
pub fn grid(side: usize, discount: f64, horizon: usize) -> Problem {
    let cell = |row: usize, column: usize| row * side + column;
    let mut builder = Mdp::sized(side * side, 4).start(cell(side - 1, 0));
    for row in 0..side {
        for column in 0..side {
            let moves = [
                cell(row, column.saturating_sub(1)),
                cell(row.saturating_sub(1), column),
                cell(row, (column + 1).min(side - 1)),
                cell((row + 1).min(side - 1), column),
            ];
            for (action, to) in moves.into_iter().enumerate() {
                builder = builder.transition(cell(row, column), action, [(to, 1.0)]);
            }
        }
    }
    let mdp = builder.build().unwrap();
    let cells = (0..mdp.pair_count()).map(|pair| pair as u32 / 4).collect();
    let partition = Partition::new(cells, vec![4; side * side + 1]).unwrap();
    let objective = Objective::entropy(partition, 1e-7).unwrap();
    Problem::new(mdp, objective, discount, horizon).unwrap()
}

/// Number of kinds that [`random_objective`] knows.
pub const OBJECTIVE_KINDS: usize = 16;
/// Those of them that have a finite Lipschitz constant.
pub const LIPSCHITZ_KINDS: [usize; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13];
/// The linear ones.
pub const LINEAR_KINDS: [usize; 2] = [0, 6];

/// An objective of the given kind with random parameters.
pub fn random_objective(mdp: &Mdp, kind: usize, rng: &mut Rng) -> Objective {
    let pairs = mdp.pair_count();
    let mut costs = || (0..pairs).map(|_| 2.0 * rng::unit(rng) - 1.0).collect::<Vec<f64>>();
    let (a, b) = (costs(), costs());
    let target: Vec<f64> = costs().into_iter().map(f64::abs).collect();
    let by_state: Vec<f64> = target[..mdp.state_count()].to_vec();
    let (states, by_pair) = (Partition::states(mdp), Partition::pairs(mdp));
    let weight = 4.0 * rng::unit(rng) - 2.0;
    match kind {
        0 => Objective::linear(a),
        1 => Objective::entropy(states, 1e-3),
        2 => Objective::entropy(by_pair, 1e-3),
        3 => Objective::squared_distance(by_pair, target),
        4 => Objective::absolute_distance(states, by_state),
        5 => Objective::kl_divergence(by_pair, target, 1e-3),
        6 => Objective::weighted_sum(&[a, b], &[weight, 1.0]),
        7 => Objective::maximum(&[a, b]),
        8 => Objective::minimum(&[a, b]),
        9 => Objective::signed_power(&[a, b], &[1.0, weight], &[0.5, 2.0]),
        10 => Ok(weight * Objective::squared_distance(states, by_state).unwrap().shifted(0.5)),
        11 => Ok(Objective::linear(a).unwrap() + weight * Objective::entropy(by_pair, 1e-2).unwrap()),
        12 => Objective::entropy(states, 0.0),
        13 => Ok(Objective::linear(a).unwrap() + weight * Objective::excess(b, 0.1).unwrap()),
        14 => {
            let inputs = [("a", Objective::linear(a).unwrap()), ("b", Objective::linear(b).unwrap())];
            Objective::formula("sqrt(abs(a)) + 2*max(0, b - 0.1) - a*b", &inputs)
        }
        15 => {
            let inputs = [
                ("a", Objective::linear(a).unwrap()),
                ("entropy()", Objective::entropy(states, 1e-3).unwrap()),
                ("distance(t)", Objective::squared_distance(by_pair, target).unwrap()),
            ];
            Objective::formula("exp(entropy())*a + sqrt(distance(t)) + max(a, entropy())", &inputs)
        }
        _ => panic!("no kind {kind}"),
    }
    .unwrap()
}

/// What a random model may look like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub states: u32,
    pub actions: u32,
    /// Most successors of a pair.
    pub successors: u32,
    /// Most initial states.
    pub initial: u32,
}

/// A random model: between 1 and the given number of everything, actions that differ by state.
pub fn random_mdp(shape: Shape, rng: &mut Rng) -> Mdp {
    let states = 1 + rng::below(rng, shape.states);
    let distribution = |most: u32, rng: &mut Rng| {
        let mut row = vec![];
        for _ in 0..=rng::below(rng, most.min(states)) {
            row.push((rng::below(rng, states) as usize, 0.1 + rng::unit(rng)));
        }
        let sum: f64 = row.iter().map(|(_, p)| p).sum();
        row.into_iter().map(|(s, p)| (s, p / sum)).collect::<Vec<(usize, f64)>>()
    };
    let mut builder = Mdp::sized(states as usize, shape.actions as usize).initial(distribution(shape.initial, rng));
    for state in 0..states as usize {
        // One action at least, any subset otherwise.
        let always = rng::below(rng, shape.actions);
        for action in 0..shape.actions {
            if action == always || rng::unit(rng) < 0.7 {
                builder = builder.transition(state, action as usize, distribution(shape.successors, rng));
            }
        }
    }
    builder.build().unwrap()
}

/// A discount: one in three times exactly 1.
pub fn random_discount(rng: &mut Rng) -> f64 {
    if rng::below(rng, 3) == 0 { 1.0 } else { 1.0 - rng::unit(rng) }
}

/// The stream of random problem number `number` of a test.
pub fn generator(test: u64, number: u64) -> Rng {
    rng::stream(test, number, Purpose::Generation)
}
