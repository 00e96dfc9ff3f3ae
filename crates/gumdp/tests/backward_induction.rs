//! Backward induction against the recursion written down literally: the entropic risk of the outcomes, one exponential for each.

mod common;

use common::{Shape, generator, random_discount, random_mdp};
use gumdp::oracle::{Limits, Method, OptimalPolicy, Solution, Strategy, solve};
use gumdp::rng::{self, Rng};
use gumdp::{Erm, Mdp, Objective, OccupancyState, Pair, Problem, State};

const BETAS: [f64; 13] =
    [f64::NEG_INFINITY, -1e6, -700.0, -3.0, -1e-3, 0.0, 1e-12, 1e-3, 0.2, 3.0, 700.0, 1e6, f64::INFINITY];

fn erm(beta: f64) -> Erm {
    Erm::new(beta).unwrap()
}

fn backward_induction(problem: &Problem, erm: Erm) -> Solution {
    let limits = Limits { strategy: Strategy::ByState, ..Limits::default() };
    let solution = solve(problem, erm, &limits).unwrap();
    assert_eq!(solution.method, Method::BackwardInduction);
    solution
}

/// What a policy for a linear objective does: it looks at time and state only.
fn choice(policy: &OptimalPolicy, time: usize, state: State) -> Pair {
    policy.best(&OccupancyState { time, state, features: Vec::new() })
}

/// The risk and the mean of each state and time backwards, with the pairs that `choose` takes.
fn recursion(
    problem: &Problem,
    costs: &[f64],
    erm: Erm,
    choose: impl Fn(usize, &[(Pair, f64, f64)]) -> usize,
) -> (f64, f64) {
    let mdp = problem.mdp();
    let mut next = vec![(0.0, 0.0); mdp.state_count()];
    for (time, mass) in problem.masses().iter().enumerate().rev() {
        let solve = |state| {
            let of_pair = |pair: u32| {
                let (pair, cost) = (Pair::from(pair), mass * costs[pair as usize]);
                let after = || mdp.successors(pair).map(|(state, p)| (next[state.index()], p));
                let risk = erm.of_outcomes(after().map(|((risk, _), p)| (risk, p)));
                (pair, cost + risk, cost + Erm::MEAN.of_outcomes(after().map(|((_, mean), p)| (mean, p))))
            };
            let pairs: Vec<(Pair, f64, f64)> = mdp.pairs(state).map(of_pair).collect();
            let (_, risk, mean) = pairs[choose(time, &pairs)];
            (risk, mean)
        };
        next = mdp.states().map(solve).collect();
    }
    let start = || mdp.initial().iter().map(|&(state, p)| (next[state.index()], p));
    (erm.of_outcomes(start().map(|((risk, _), p)| (risk, p))), Erm::MEAN.of_outcomes(start().map(|((_, m), p)| (m, p))))
}

/// The first pair with the lowest risk.
fn lowest(_: usize, pairs: &[(Pair, f64, f64)]) -> usize {
    (1..pairs.len()).fold(0, |best, k| if pairs[k].1 < pairs[best].1 { k } else { best })
}

fn random_problem(shape: Shape, costs: impl Fn(&mut Rng) -> f64, horizon: usize, rng: &mut Rng) -> (Problem, Vec<f64>) {
    let mdp = random_mdp(shape, rng);
    let costs: Vec<f64> = (0..mdp.pair_count()).map(|_| costs(rng)).collect();
    let objective = Objective::linear(costs.clone()).unwrap();
    (Problem::new(mdp, objective, random_discount(rng), horizon).unwrap(), costs)
}

#[test]
fn it_is_the_literal_recursion_at_any_beta_and_scale() {
    let shape = Shape { states: 12, actions: 3, successors: 4, initial: 3 };
    for (scale, offset) in [(1e-300, 0.0), (1.0, 0.0), (1.0, -0.3), (1e300, 0.0), (1.0, 1e3)] {
        for number in 0..30 {
            let mut rng = generator(31, number);
            let horizon = 1 + rng::below(&mut rng, 30) as usize;
            let cost = |rng: &mut Rng| scale * (rng::unit(rng) + offset);
            let (problem, costs) = random_problem(shape, cost, horizon, &mut rng);
            for beta in BETAS {
                let solution = backward_induction(&problem, erm(beta));
                let (value, mean, policy) = (solution.value, solution.mean, solution.policy());
                let close = |a: f64, b: f64, what: &str| {
                    let largest = costs.iter().fold(0.0_f64, |largest, cost| largest.max(cost.abs()));
                    let off = (a - b).abs();
                    assert!(
                        off <= 1e-13 * largest,
                        "{what} {a:e} is not {b:e}, problem {number}, scale {scale:e}, offset {offset}, beta {beta}"
                    );
                };
                close(value, recursion(&problem, &costs, erm(beta), lowest).0, "optimum");
                let follow = |time: usize, pairs: &[(Pair, f64, f64)]| {
                    let chosen = choice(&policy, time, problem.mdp().state(pairs[0].0));
                    pairs.iter().position(|&(pair, ..)| pair == chosen).unwrap()
                };
                let (of_policy, its_mean) = recursion(&problem, &costs, erm(beta), follow);
                close(value, of_policy, "risk of the policy");
                close(mean, its_mean, "mean");
            }
        }
    }
}

/// A small part of the model costs next to nothing beside the rest: where means count, its decisions are as good.
#[test]
fn small_costs_next_to_large_ones_keep_their_digits() {
    let dear = Mdp::sized(4, 2).start(0).transition(0, 0, [(1, 0.5), (2, 0.5)]).transition(0, 1, [(1, 0.4), (2, 0.6)]);
    let dear = dear.transition(1, 0, [(1, 1.0)]).transition(2, 0, [(2, 1.0)]).transition(3, 0, [(3, 0.5), (0, 0.5)]);
    let mdp = dear.build().unwrap();
    for sign in [1.0, -1.0] {
        let costs = Objective::linear(mdp.by_state(&[0.0, 2e-6, 1e-6, sign * 1e15]).unwrap()).unwrap();
        let problem = Problem::new(mdp.clone(), costs, 1.0, 3).unwrap();
        let solution = backward_induction(&problem, Erm::MEAN);
        assert_eq!(choice(&solution.policy(), 0, 0.into()), 1.into());
        assert!((solution.value - 1.4e-6 * 2.0 / 3.0).abs() < 1e-20, "{}", solution.value);
    }
}

/// Probabilities so small that nothing is left of them next to their exponentials.
#[test]
fn tiny_probabilities_count() {
    for p in [1e-17, 1e-100, 1e-300] {
        let mdp = Mdp::sized(3, 1).start(0).transition(0, 0, [(1, 1.0), (2, p)]).transition(1, 0, [(1, 1.0)]);
        let mdp = mdp.transition(2, 0, [(2, 1.0)]).build().unwrap();
        for shift in [0.0, -1.0, 1.0] {
            let costs = vec![0.0, 2.0 * shift, 2.0 * (shift + 1.0)];
            let problem = Problem::new(mdp.clone(), Objective::linear(costs.clone()).unwrap(), 1.0, 2).unwrap();
            for beta in [30.0, 290.0, 299.0, 500.0, 650.0, 690.0, 800.0, 1300.0, 2000.0, 1e5] {
                let value = backward_induction(&problem, erm(beta)).value;
                let literal = recursion(&problem, &costs, erm(beta), lowest).0;
                assert!((value - literal).abs() < 1e-14, "p {p}, shift {shift}, beta {beta}: {value} {literal}");
            }
        }
    }
}

/// Two halves of a model are each other's mirror image: rounding does not decide between them, the lower action does.
#[test]
fn ties_go_to_the_lowest_action() {
    for number in 0..40 {
        let mut rng = generator(32, number);
        let half = 6;
        let mut mdp = Mdp::sized(1 + 2 * half, 2).start(0);
        let mut costs = vec![0.0; 1 + 2 * half];
        let mirror = |state: usize| 2 * half + 1 - state;
        let row = |rng: &mut Rng| {
            let weights: Vec<f64> = (0..half).map(|_| rng::unit(rng)).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter().enumerate().map(|(k, weight)| (k + 1, weight / sum)).collect::<Vec<(usize, f64)>>()
        };
        let mirrored = |row: &[(usize, f64)]| row.iter().map(|&(to, p)| (mirror(to), p)).collect::<Vec<_>>();
        for state in 0..=half {
            let outcomes = row(&mut rng);
            costs[state] = rng::unit(&mut rng);
            let other = if state == 0 { 0 } else { mirror(state) };
            costs[other] = costs[state];
            mdp = mdp.transition(state, 0, outcomes.clone()).transition(
                other,
                usize::from(state == 0),
                mirrored(&outcomes),
            );
        }
        let mdp = mdp.build().unwrap();
        let objective = Objective::linear(mdp.by_state(&costs).unwrap()).unwrap();
        let problem = Problem::new(mdp, objective, 0.95, 20).unwrap();
        for beta in BETAS {
            let policy = backward_induction(&problem, erm(beta)).policy();
            assert!((0..20).all(|time| choice(&policy, time, 0.into()) == 0.into()), "problem {number}, beta {beta}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut rng = generator(33, 0);
    let (states, horizon) = (9000, 4);
    let mut mdp = Mdp::sized(states, 2).start(0);
    for state in 0..states {
        for action in 0..2 {
            let mut row = || ((rng::unit(&mut rng) * states as f64) as usize, 1.0 / 3.0);
            mdp = mdp.transition(state, action, [row(), row(), row()]);
        }
    }
    let mdp = mdp.build().unwrap();
    assert!(mdp.transition_count() > 3 << 14, "several pieces");
    let costs = (0..mdp.pair_count()).map(|_| rng::unit(&mut rng)).collect();
    let problem = Problem::new(mdp, Objective::linear(costs).unwrap(), 0.9, horizon).unwrap();
    for beta in [0.0, 1e-3, 3.0, 1e4, f64::INFINITY] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let solution = pool.install(|| backward_induction(&problem, erm(beta)));
            let policy = solution.policy();
            let situations = (0..horizon).flat_map(|time| problem.mdp().states().map(move |state| (time, state)));
            let chosen: Vec<Pair> = situations.map(|(time, state)| choice(&policy, time, state)).collect();
            (solution.value.to_bits(), solution.mean.to_bits(), chosen)
        };
        let alone = with(1);
        assert!([2, 3].into_iter().all(|threads| with(threads) == alone), "beta {beta}");
    }
}
