//! f of the average occupancy of several episodes: against all tuples of episodes one by one, and the lowest f(E d) against its proof.
#![allow(missing_docs)]

mod common;

use common::{OBJECTIVE_KINDS, Shape, generator, random_discount, random_mdp, random_objective, task};
use gumdp::oracle::{Limits, OracleError, expected_occupancy, solve};
use gumdp::rng;
use gumdp::trials::{self, EvaluationError, Trials, TrialsError};
use gumdp::{Erm, Experiment, Markov, Objective, Pair, Problem, State, Uniform};

/// A random problem of a kind of objective.
fn problem(number: u64, horizon: u32) -> Problem {
    let mut rng = generator(47, number);
    let shape = Shape { states: 2 + number as u32 % 3, actions: 2, successors: 2, initial: 2 };
    let mdp = random_mdp(shape, &mut rng);
    let objective = random_objective(&mdp, number as usize % OBJECTIVE_KINDS, &mut rng);
    let horizon = 1 + rng::below(&mut rng, horizon) as usize;
    Problem::new(mdp, objective, random_discount(&mut rng), horizon).unwrap()
}

/// The policy has the value that is said, no other has less, and a single episode costs no less on average (Jensen).
#[test]
fn infinitely_many_trials() {
    let tasks = ["msee", "il", "mdp", "rooms", "mo-max"].map(task);
    let random = (0..160).map(|number| problem(number, 6));
    let (mut solved, mut refused, mut wide) = (0, 0, Vec::new());
    for (number, problem) in tasks.into_iter().chain(random).enumerate() {
        let found = match trials::solve(&problem, &Limits::default()) {
            Ok(found) => found,
            Err(error) => {
                assert_eq!(error, TrialsError::NotConvex, "{number}");
                refused += 1;
                continue;
            }
        };
        solved += 1;
        let occupancy = expected_occupancy(&problem, &found.policy).unwrap();
        assert!((problem.objective().value(&occupancy) - found.value).abs() < 1e-9, "{number}");
        let bounds = problem.objective().bounds();
        assert!(found.low <= found.value, "{number} {} {}", found.low, found.value);
        let gap = (found.value - found.low) / (bounds.high - bounds.low).max(1e-3);
        if gap > 1e-4 {
            wide.push((number, gap));
        }
        let single = solve(&problem, Erm::MEAN, &Limits::QUICK);
        if let Ok(single) = &single {
            assert!(found.low <= single.value + 1e-9, "{number}");
            if problem.objective().as_linear().is_some() {
                assert!((found.value - single.value).abs() < 1e-9 && found.value - found.low < 1e-9, "{number}");
            }
        }
        // Policies at random are no better.
        let mut rng = generator(48, number as u64);
        for _ in 0..20 {
            let row = |_| {
                let mut row = vec![0.0; problem.mdp().pair_count()];
                for state in problem.mdp().states() {
                    let pairs = problem.mdp().pairs(state);
                    let chosen = pairs.start + rng::below(&mut rng, pairs.len() as u32);
                    row[chosen as usize] = 1.0;
                }
                row
            };
            let policy = Markov::stochastic(&problem, (0..problem.horizon()).map(row).collect()).unwrap();
            let value = problem.objective().value(&expected_occupancy(&problem, &policy).unwrap());
            assert!(value >= found.low - 1e-9, "{number}: {value} below {}", found.low);
        }
    }
    assert!(solved >= 90 && refused >= 40 && wide.len() <= 3, "{solved} {refused} {wide:?}");
    assert_eq!(trials::solve(&task("mo-min"), &Limits::default()).unwrap_err(), TrialsError::NotConvex);
}

/// Every episode of a policy that chooses evenly, with its probability.
fn episodes(problem: &Problem, path: &mut Vec<Pair>, state: State, p: f64, all: &mut Vec<(Vec<f64>, f64)>) {
    if path.len() == problem.horizon() {
        all.push((problem.occupancy(path), p));
        return;
    }
    let pairs = problem.mdp().pairs(state);
    for pair in pairs.clone().map(Pair::from) {
        path.push(pair);
        let p = p / pairs.len() as f64;
        if path.len() == problem.horizon() {
            episodes(problem, path, state, p, all);
        } else {
            for (next, q) in problem.mdp().successors(pair) {
                episodes(problem, path, next, p * q, all);
            }
        }
        path.pop();
    }
}

/// All tuples of so many episodes.
fn mean_of(objective: &Objective, all: &[(Vec<f64>, f64)], left: u64, sum: &[f64], p: f64, count: u64) -> f64 {
    if left == 0 {
        return p * objective.value(&sum.iter().map(|x| x / count as f64).collect::<Vec<f64>>());
    }
    let next = |(d, q): &(Vec<f64>, f64)| {
        let sum: Vec<f64> = sum.iter().zip(d).map(|(x, y)| x + y).collect();
        mean_of(objective, all, left - 1, &sum, p * q, count)
    };
    all.iter().map(next).sum()
}

#[test]
fn a_few_trials_are_all_tuples_of_episodes() {
    let (mut checked, mut missed, mut sampled) = (0, 0, 0);
    for number in 0..120 {
        let problem = problem(number, 3);
        let mut all = Vec::new();
        for &(state, p) in problem.mdp().initial() {
            episodes(&problem, &mut Vec::new(), state, p, &mut all);
        }
        let uniform = Uniform::new(&problem);
        let experiment = Experiment::new(&problem, &uniform, number);
        let zeros = vec![0.0; problem.mdp().pair_count()];
        for count in [1, 2, 3] {
            if (all.len() as u64).pow(count as u32) > 20_000 {
                continue;
            }
            let expected = mean_of(problem.objective(), &all, count, &zeros, 1.0, count);
            let found = trials::evaluate(&experiment, Trials::Finite(count), 1, &Limits::QUICK).unwrap();
            assert!(
                found.sampled.is_none() && (found.value - expected).abs() < 1e-9,
                "{number} {count}: {found:?} {expected}"
            );
            checked += 1;
            // The same from episodes.
            let none = Limits { max_states: 1, ..Limits::QUICK };
            match trials::evaluate(&experiment, Trials::Finite(count), 3000, &none) {
                Ok(found) if found.sampled.is_some() => {
                    sampled += 1;
                    missed += usize::from(!(found.low - 1e-9..=found.high + 1e-9).contains(&expected));
                }
                other => assert!(other.unwrap().value - expected < 1e-9),
            }
        }
        let all_of_them = trials::evaluate(&experiment, Trials::Infinite, 1, &Limits::QUICK).unwrap();
        let d: Vec<f64> = (0..zeros.len()).map(|pair| all.iter().map(|(d, p)| p * d[pair]).sum()).collect();
        assert!((all_of_them.value - problem.objective().value(&d)).abs() < 1e-9, "{number}");
    }
    // 95 % intervals: with 200 or more of them, 25 misses are expected less than once in a thousand.
    assert!(checked >= 200 && sampled >= 150 && missed <= 25, "{checked} {sampled} {missed}");
}

/// More trials cost no more on average where f is convex, and come near f(E d).
#[test]
fn more_trials_are_less_risk() {
    let problem = task("rooms");
    let uniform = Uniform::new(&problem);
    let experiment = Experiment::new(&problem, &uniform, 3);
    let of = |trials| trials::evaluate(&experiment, trials, trials.episodes(1000), &Limits::QUICK).unwrap();
    let costs: Vec<f64> = [1, 2, 4, 16].map(|count| of(Trials::Finite(count)).value).into();
    assert!(costs.windows(2).all(|pair| pair[0] > pair[1] - 1e-3), "{costs:?}");
    let all = of(Trials::Infinite);
    assert!(all.sampled.is_none() && all.value < costs[3] && costs[3] - all.value < 0.1, "{costs:?} {all:?}");
    let few = trials::evaluate(&experiment, Trials::Finite(1000), 1500, &Limits { max_states: 1, ..Limits::QUICK });
    assert_eq!(few.unwrap_err(), EvaluationError::TooFew { episodes: 1500, trials: 1000 });
    let other = Problem::new(problem.mdp().clone(), problem.objective().clone(), 1.0, 3).unwrap();
    let wrong = trials::evaluate(&Experiment::new(&other, &uniform, 0), Trials::Infinite, 1, &Limits::QUICK);
    assert!(matches!(wrong, Err(EvaluationError::Oracle(OracleError::OtherProblem { .. }))));
}
