//! The lowest risk of every measure against brute force over all history-dependent policies, and by hand.

mod common;

use std::time::Duration;

use common::brute_force::{distributions, tiny_problem};
use common::{OBJECTIVE_KINDS, Shape, generator, task};
use gumdp::oracle::{self, Limits, Solution, distribution};
use gumdp::{Erm, Mdp, Objective, Outer, Problem, Risk, frontier};

fn risk(text: &str) -> Risk {
    text.parse().unwrap()
}

fn solve(problem: &Problem, risk: Risk) -> Solution {
    oracle::solve(problem, risk, &Limits::default()).unwrap()
}

/// At least 100 tiny problems of all kinds of objectives, each with at most 2^16 policies, against each of these measures.
fn equals_brute_force(test: u64, measures: &[&str]) {
    let shape = Shape { states: 3, actions: 3, successors: 2, initial: 2 };
    let (mut problems, mut number) = (0, 0);
    while problems < 8 * OBJECTIVE_KINDS {
        number += 1;
        let most = if problems == 0 { 1 << 16 } else { 1 << 12 };
        let mut rng = generator(test, number);
        let Some((problem, distributions)) = tiny_problem(shape, problems % OBJECTIVE_KINDS, most, &mut rng) else {
            continue;
        };
        for measure in measures {
            let risk = risk(measure);
            let context = format!("problem {number}, {risk}");
            let lowest =
                distributions.iter().map(|found| risk.of_distribution(found).unwrap()).fold(f64::INFINITY, f64::min);
            let solution = solve(&problem, risk);
            assert!(solution.high - solution.low <= 1e-6, "{context}: {solution:?}");
            assert!(
                solution.low <= lowest + 1e-9 && lowest <= solution.high + 1e-9,
                "{context}: {lowest} {solution:?}"
            );
            let found = distribution(&problem, &solution.policy(), &Limits::default()).unwrap();
            assert!(
                (found.risk(risk) - solution.high).abs() <= 1e-9,
                "{context}: {} {}",
                found.risk(risk),
                solution.high
            );
            assert!((found.mean() - solution.mean).abs() <= 1e-9, "{context}");
        }
        problems += 1;
    }
    assert!(problems >= 100);
}

#[test]
fn cvar_equals_brute_force() {
    equals_brute_force(21, &["cvar:0.3", "cvar:0.5", "cvar:0.95"]);
}

#[test]
fn evar_equals_brute_force() {
    equals_brute_force(22, &["evar:0.05", "evar:0.5", "evar:0.95"]);
}

#[test]
fn mean_cvar_equals_brute_force() {
    equals_brute_force(23, &["mean-cvar:0.5:0.25", "mean-cvar:0.9:0.5", "mean-cvar:0.99:0.75"]);
}

#[test]
fn mean_worst_and_seeking_equal_brute_force() {
    equals_brute_force(24, &["mean", "worst", "best", "seeking:5", "erm:3"]);
}

/// One decision; action k has the distribution `distributions[k]`, given as (cost, probability).
fn lottery(choices: &[&[(f64, f64)]]) -> Problem {
    let outcomes: Vec<f64> = choices.iter().flat_map(|found| found.iter().map(|outcome| outcome.0)).collect();
    let mut builder = Mdp::sized(1 + outcomes.len(), choices.len()).start(0);
    let mut state = 1;
    for (action, found) in choices.iter().enumerate() {
        let row: Vec<(usize, f64)> = found.iter().enumerate().map(|(k, outcome)| (state + k, outcome.1)).collect();
        builder = builder.transition(0, action, row);
        state += found.len();
    }
    for state in 1..=outcomes.len() {
        builder = builder.transition(state, 0, [(state, 1.0)]);
    }
    let mdp = builder.build().unwrap();
    let costs: Vec<f64> = std::iter::once(0.0).chain(outcomes.iter().map(|cost| 2.0 * cost)).collect();
    let costs = mdp.by_state(&costs).unwrap();
    Problem::new(mdp, Objective::linear(costs).unwrap(), 1.0, 2).unwrap()
}

#[test]
fn cvar_with_two_valleys() {
    // At level 0.5 the first lottery has λ = 0 and CVaR 0.4·1/0.5 = 0.8; the second costs 0.79, at λ = 0.79. In between, at
    // λ = 0.5, neither is below 0.5 + min(0.2, 0.29)/0.5 = 0.9.
    let problem = lottery(&[&[(0.0, 0.6), (1.0, 0.4)], &[(0.79, 1.0)]]);
    let solution = solve(&problem, risk("cvar:0.5"));
    assert!((solution.high - 0.79).abs() < 1e-12 && solution.low <= 0.79, "{solution:?}");
    assert_eq!(solution.outer, Some(Outer { variable: "lambda", value: 0.79 }));
    let problem = lottery(&[&[(0.0, 0.6), (1.0, 0.4)], &[(0.81, 1.0)]]);
    let solution = solve(&problem, risk("cvar:0.5"));
    assert!((solution.high - 0.8).abs() < 1e-12, "{solution:?}");
    assert_eq!(solution.outer, Some(Outer { variable: "lambda", value: 0.0 }));
}

#[test]
fn evar_at_infinity_and_in_between() {
    // P(worst) = 0.1 ≥ 1 − 0.9: the infimum is the worst case, at β = ∞.
    let problem = lottery(&[&[(0.0, 0.9), (1.0, 0.1)]]);
    let solution = solve(&problem, risk("evar:0.9"));
    assert_eq!((solution.high, solution.outer), (1.0, Some(Outer { variable: "beta", value: f64::INFINITY })));
    // With a sure cost of 0.95 there is something better; with 1.05 there is not.
    let sure = |cost: f64| lottery(&[&[(0.0, 0.9), (1.0, 0.1)], &[(cost, 1.0)]]);
    assert!((solve(&sure(0.95), risk("evar:0.9")).high - 0.95).abs() < 1e-12);
    assert!((solve(&sure(1.05), risk("evar:0.9")).high - 1.0).abs() < 1e-12);
    // A level of 0.5 has its β inside.
    let solution = solve(&problem, risk("evar:0.5"));
    let Some(Outer { variable: "beta", value: beta }) = solution.outer else { panic!("{solution:?}") };
    let at = |beta: f64| ((0.9 + 0.1 * beta.exp()).ln() + 2.0_f64.ln()) / beta;
    assert!((at(beta) - solution.high).abs() < 1e-12 && at(0.99 * beta) > at(beta) && at(1.01 * beta) > at(beta));
}

#[test]
fn mixtures_by_hand() {
    // (1 − w)·mean + w·CVaR: 0.5·0.4 + 0.5·0.8 against 0.5·0.61 + 0.5·0.61.
    let problem = lottery(&[&[(0.0, 0.6), (1.0, 0.4)], &[(0.61, 1.0)]]);
    let solution = solve(&problem, risk("mean-cvar:0.5:0.5"));
    assert!((solution.high - 0.6).abs() < 1e-12 && (solution.mean - 0.4).abs() < 1e-12, "{solution:?}");
    assert!((solve(&problem, risk("cvar:0.5")).high - 0.61).abs() < 1e-12);
}

#[test]
fn degenerate_problems_are_solved() {
    let constant = lottery(&[&[(3.0, 1.0)]]);
    for measure in ["cvar:0.9", "evar:0.9", "mean-cvar:0.9:0.1", "cvar:1", "evar:0", "cvar:0.999999999999"] {
        let solution = solve(&constant, risk(measure));
        assert!((solution.high - 3.0).abs() < 1e-9 && solution.high - solution.low <= 1e-6, "{measure}: {solution:?}");
    }
    let huge = lottery(&[&[(1e9, 0.5), (3e9, 0.5)], &[(2.5e9, 1.0)]]);
    for (measure, value) in [("cvar:0.5", 2.5e9), ("evar:0.5", 2.5e9), ("mean-cvar:0.5:0.25", 2.25e9)] {
        let solution = solve(&huge, risk(measure));
        assert!((solution.high - value).abs() < 1.0 && solution.high - solution.low < 1.0, "{measure}: {solution:?}");
    }
}

#[test]
fn many_levels_at_once_have_the_bits_of_each_alone() {
    for name in ["mo-max", "rooms", "mdp"] {
        let problem = task(name);
        let problem = problem.with_horizon(problem.horizon().min(8)).unwrap();
        let erms: Vec<Erm> = (-3..10).map(|k| Erm::new(2.5 * f64::from(k)).unwrap()).collect();
        let erms = [&[Erm::BEST, Erm::WORST][..], &erms].concat();
        let risks: Vec<Risk> = erms.into_iter().map(Risk::from).collect();
        for point in
            frontier::exact(&problem, &risks, &[], &Limits::default(), Duration::ZERO, |_, _| {}).unwrap().points
        {
            let alone = oracle::solve(&problem, point.risk, &Limits::default()).unwrap();
            assert_eq!(alone.value.to_bits(), point.value.to_bits(), "{name} {}", point.risk);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            ["cvar:0.9", "evar:0.9", "mean-cvar:0.9:0.5"].map(|measure| {
                let solution = solve(&task("mo-max").with_horizon(7).unwrap(), risk(measure));
                let bits = [solution.low, solution.high, solution.mean].map(f64::to_bits);
                (bits, format!("{:?}", solution.outer), solution.states, solution.solves)
            })
        })
    };
    let one = in_pool(1);
    assert_eq!(one, in_pool(2));
    assert_eq!(one, in_pool(5));
}

#[test]
fn measures_are_ordered_and_brute_force_knows_its_laws() {
    let problem = lottery(&[&[(0.0, 0.6), (1.0, 0.4)], &[(0.61, 1.0)]]);
    assert_eq!(distributions(&problem).len(), 2);
    let [mean, cvar, evar, worst] =
        ["mean", "cvar:0.7", "evar:0.7", "worst"].map(|measure| solve(&problem, risk(measure)).high);
    assert!(mean <= cvar && cvar <= evar + 1e-12 && evar <= worst + 1e-12);
}
