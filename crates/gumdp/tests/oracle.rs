//! The exact oracles against brute force, against each other, and against simulation.

mod common;

use common::brute_force::tiny_problem;
use common::{OBJECTIVE_KINDS, Shape, generator, random_discount, random_mdp, random_objective, task};
use gumdp::oracle::{Distribution, Limits, Method, Strategy, distribution, expected_occupancy, solve};
use gumdp::rng;
use gumdp::{Erm, Markov, Mdp, Objective, Pair, Problem, State, Uniform, experiment};

const BETAS: [f64; 11] = [f64::NEG_INFINITY, -20.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 3.0, 20.0, 200.0, f64::INFINITY];

fn erm(beta: f64) -> Erm {
    Erm::new(beta).unwrap()
}

#[track_caller]
fn assert_close(a: f64, b: f64, context: &str) {
    assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{a} is not {b}: {context}");
}

fn with(strategy: Strategy) -> Limits {
    Limits { strategy, ..Limits::default() }
}

#[test]
fn optimum_equals_brute_force_over_all_history_dependent_policies() {
    let shape = Shape { states: 3, actions: 3, successors: 2, initial: 2 };
    let (mut problems, mut policies, mut number) = (0, 0, 0);
    while problems < 20 * OBJECTIVE_KINDS {
        number += 1;
        let mut rng = generator(1, number);
        let Some((problem, distributions)) = tiny_problem(shape, problems % OBJECTIVE_KINDS, 1 << 13, &mut rng) else {
            continue;
        };
        for beta in BETAS {
            let lowest =
                distributions.iter().map(|found| erm(beta).of_distribution(found)).fold(f64::INFINITY, f64::min);
            let solution = solve(&problem, erm(beta), &with(Strategy::Mixed)).unwrap();
            assert_close(solution.value, lowest, &format!("problem {number}, beta {beta}"));
        }
        problems += 1;
        policies += distributions.len();
    }
    assert!(policies > 50_000, "{policies}");
}

#[test]
fn backward_induction_equals_the_occupancy_solver() {
    let shape = Shape { states: 6, actions: 2, successors: 2, initial: 3 };
    for number in 0..60 {
        let mut rng = generator(2, number);
        let mdp = random_mdp(shape, &mut rng);
        let kind = common::LINEAR_KINDS[number as usize % 2];
        let objective = random_objective(&mdp, kind, &mut rng).shifted(0.25);
        let horizon = 1 + rng::below(&mut rng, 8) as usize;
        let problem = Problem::new(mdp, objective, random_discount(&mut rng), horizon).unwrap();
        for beta in BETAS {
            let context = format!("problem {number}, beta {beta}");
            let linear = solve(&problem, erm(beta), &with(Strategy::ByState)).unwrap();
            assert_eq!(linear.method, Method::BackwardInduction);
            let general = solve(&problem, erm(beta), &with(Strategy::Mixed)).unwrap();
            assert_close(linear.value, general.value, &context);
            let found = distribution(&problem, &linear.policy(), &Limits::default()).unwrap();
            assert_close(found.erm(erm(beta)), linear.value, &context);
            assert_close(found.mean(), linear.mean, &context);
        }
    }
}

#[test]
fn the_policy_attains_the_optimum_however_it_was_found() {
    let shape = Shape { states: 4, actions: 3, successors: 2, initial: 2 };
    for number in 0..8 * OBJECTIVE_KINDS {
        let mut rng = generator(3, number as u64);
        let mdp = random_mdp(shape, &mut rng);
        let objective = random_objective(&mdp, number % OBJECTIVE_KINDS, &mut rng);
        let discount = random_discount(&mut rng);
        let problem = Problem::new(mdp, objective, discount, 2 + number % 5).unwrap();
        let beta = BETAS[number % BETAS.len()];
        let context = format!("problem {number}, beta {beta}");
        let merged = solve(&problem, erm(beta), &with(Strategy::Merge)).unwrap();
        let deep = solve(&problem, erm(beta), &with(Strategy::DepthFirst)).unwrap();
        let forgetful = solve(&problem, erm(beta), &Limits { policy_bytes: 0, ..with(Strategy::Merge) }).unwrap();
        assert_eq!((merged.method, deep.method), (Method::Merged, Method::DepthFirst));
        assert_eq!(merged.value.to_bits(), deep.value.to_bits(), "{context}");
        assert_eq!(merged.mean.to_bits(), deep.mean.to_bits(), "{context}");
        assert!(merged.states <= deep.states);
        let found = distribution(&problem, &merged.policy(), &Limits::default()).unwrap();
        assert_eq!(found, distribution(&problem, &deep.policy(), &Limits::default()).unwrap());
        assert_eq!(found, distribution(&problem, &forgetful.policy(), &Limits::default()).unwrap());
        assert!((found.probabilities().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(found.values().is_sorted());
        assert_close(found.erm(erm(beta)), merged.value, &context);
        assert_close(found.mean(), merged.mean, &context);
    }
}

#[test]
fn merging_is_massive_without_discount_and_changes_nothing() {
    let problem = common::grid(2, 1.0, 12);
    for beta in [0.0, 10.0] {
        let merged = solve(&problem, erm(beta), &with(Strategy::Merge)).unwrap();
        let deep = solve(&problem, erm(beta), &with(Strategy::DepthFirst)).unwrap();
        assert_eq!(merged.value.to_bits(), deep.value.to_bits());
        assert!(merged.states * 50 < deep.states, "{} {}", merged.states, deep.states);
    }
}

#[test]
fn small_tasks_have_their_known_optimum() {
    // msee, beta 50: 0.394 is the reference; the others guard against change.
    let known = [
        ("mdp", 0.1, 0.159_318, 0.156_723),
        ("mdp", 5.0, 0.202_863, 0.200_450),
        ("mdp", 10.0, 0.204_126, 0.202_719),
        ("msee", 0.1, 0.366_225, 0.366_109),
        ("msee", 25.0, 0.384_439, 0.366_680),
        ("msee", 50.0, 0.393_761, 0.373_933),
        ("mo-weighted", 20.0, -0.010_169, -0.019_899),
        ("mo-max", 0.1, 0.001_644, 0.001_579),
        ("mo-max", 20.0, 0.006_586, 0.004_834),
        ("mo-min", 20.0, -0.041_081, -0.055_053),
        ("mo-min", 50.0, -0.028_734, -0.048_582),
        ("rooms", 10.0, 0.457_106, 0.443_590),
        ("grid-mo", 8.0, 0.159_289, 0.066_545),
    ];
    for (name, beta, value, mean) in known {
        let problem = task(name);
        let solution = solve(&problem, erm(beta), &with(Strategy::Mixed)).unwrap();
        if name == "grid-mo" {
            assert!(solution.method == Method::Merged && solution.states < 10_000, "{solution:?}");
        } else {
            assert!(matches!(solution.method, Method::Mixed { .. }), "{name}: {:?}", solution.method);
        }
        assert!((solution.value - value).abs() < 1e-6, "{name}, beta {beta}: {}", solution.value);
        assert!((solution.mean - mean).abs() < 1e-6, "{name}, beta {beta}: {}", solution.mean);
        assert_close(solution.value, solve(&problem, erm(beta), &Limits::default()).unwrap().value, name);
        let found = distribution(&problem, &solution.policy(), &Limits::default()).unwrap();
        assert_close(found.erm(erm(beta)), solution.value, name);
    }
}

/// The largest distance of the empirical distribution from the exact one. Every cost that was seen must be possible, but for
/// rounding: the distribution lists equal costs once.
fn kolmogorov_distance(found: &Distribution, costs: &mut [f64]) -> f64 {
    for cost in costs.iter_mut() {
        let value = found.values()[found.values().partition_point(|value| value < cost)];
        assert!(value - *cost <= 1e-12, "{cost}");
        *cost = value;
    }
    costs.sort_unstable_by(f64::total_cmp);
    let n = costs.len() as f64;
    let gap = |&value: &f64| (costs.partition_point(|&cost| cost <= value) as f64 / n - found.cdf(value)).abs();
    found.values().iter().map(gap).fold(0.0, f64::max)
}

#[test]
fn simulation_follows_the_exact_law() {
    // Dvoretzky, Kiefer, Wolfowitz: P(distance > x) <= 2 exp(-2 n x^2) = 1e-4, for each comparison.
    let runs = 20_000_u64;
    let allowed = (2.0e4_f64.ln() / (2.0 * runs as f64)).sqrt();
    for (name, beta) in [("mo-max", 20.0), ("msee", 0.1), ("il", 1.0)] {
        let problem = task(name).with_horizon(7).unwrap();
        let optimal = solve(&problem, erm(beta), &Limits::default()).unwrap().policy();
        let uniform = Uniform::new(&problem);
        let found = distribution(&problem, &optimal, &Limits::default()).unwrap();
        let runs_of_optimal = experiment(&problem, &optimal, 5, 0..runs).unwrap();
        let mut costs: Vec<f64> = runs_of_optimal.iter().map(|run| run.episode.cost).collect();
        assert!(kolmogorov_distance(&found, &mut costs) < allowed, "{name}, optimal");
        let found = distribution(&problem, &uniform, &Limits::default()).unwrap();
        let runs_of_uniform = experiment(&problem, &uniform, 6, 0..runs).unwrap();
        let mut costs: Vec<f64> = runs_of_uniform.iter().map(|run| run.episode.cost).collect();
        assert!(kolmogorov_distance(&found, &mut costs) < allowed, "{name}, uniform");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            ["mo-min", "rooms"].map(|name| {
                let problem = task(name);
                let solution = solve(&problem, erm(10.0), &Limits::default()).unwrap();
                let found = distribution(&problem, &solution.policy(), &Limits::default()).unwrap();
                (solution.value.to_bits(), solution.mean.to_bits(), solution.states, solution.method, found)
            })
        })
    };
    let one = in_pool(1);
    assert_eq!(one, in_pool(2));
    assert_eq!(one, in_pool(7));
}

#[test]
fn truncation_error_is_bounded() {
    // Paper, appendix: |rho(f_H) - rho(f)| <= 2 L gamma^H for each policy, hence for the optimum.
    let shape = Shape { states: 3, actions: 2, successors: 2, initial: 1 };
    for number in 0..110 {
        let mut rng = generator(4, number);
        let mdp = random_mdp(shape, &mut rng);
        let kind = common::LIPSCHITZ_KINDS[number as usize % common::LIPSCHITZ_KINDS.len()];
        let objective = random_objective(&mdp, kind, &mut rng);
        let discount = 0.2 + 0.7 * rng::unit(&mut rng);
        let lipschitz = objective.lipschitz().unwrap();
        let beta = BETAS[rng::below(&mut rng, BETAS.len() as u32) as usize];
        let long = Problem::new(mdp, objective, discount, 7).unwrap();
        let risks = |problem: &Problem| {
            let optimum = solve(problem, erm(beta), &Limits::default()).unwrap().value;
            [optimum, distribution(problem, &Uniform::new(problem), &Limits::default()).unwrap().erm(erm(beta))]
        };
        let reference = risks(&long);
        for horizon in 1..7 {
            let bound = 2.0 * lipschitz * (discount.powi(horizon as i32) + discount.powi(7)) + 1e-12;
            for (short, long) in risks(&long.with_horizon(horizon).unwrap()).into_iter().zip(reference) {
                assert!((short - long).abs() <= bound, "problem {number}, horizon {horizon}: {short} {long} {bound}");
            }
        }
    }
}

#[test]
fn ties_go_to_the_lowest_action() {
    let builder = Mdp::sized(3, 2).start(0).transition(0, 0, [(1, 1.0)]).transition(0, 1, [(2, 1.0)]);
    let mdp = builder.transition(1, 0, [(1, 1.0)]).transition(2, 0, [(2, 1.0)]).build().unwrap();
    let problem = Problem::new(mdp, Objective::linear(vec![1.0; 4]).unwrap(), 0.9, 3).unwrap();
    for strategy in [Strategy::Auto, Strategy::Mixed, Strategy::Merge, Strategy::DepthFirst] {
        let policy = solve(&problem, erm(1.0), &with(strategy)).unwrap().policy();
        assert_eq!(policy.best(&problem.start(State::from(0))), Pair::from(0));
    }
}

#[test]
fn expected_occupancy_is_the_mean_of_occupancies() {
    let shape = Shape { states: 3, actions: 2, successors: 3, initial: 3 };
    for number in 0..20 {
        let mut rng = generator(7, number);
        let mdp = random_mdp(shape, &mut rng);
        let discount = random_discount(&mut rng);
        let rows = vec![mdp.by_pair(|s, _| 1.0 / mdp.pairs(s).len() as f64)];
        for pair in 0..mdp.pair_count() {
            // The mean of a linear cost that sees one pair is the expected occupancy of that pair.
            let mut cost = vec![0.0; mdp.pair_count()];
            cost[pair] = 1.0;
            let problem = Problem::new(mdp.clone(), Objective::linear(cost).unwrap(), discount, 5).unwrap();
            let policy = Markov::stochastic(&problem, rows.clone()).unwrap();
            let mean = distribution(&problem, &policy, &Limits::default()).unwrap().mean();
            assert_close(expected_occupancy(&problem, &policy).unwrap()[pair], mean, "one pair");
        }
    }
}

#[test]
fn laws_answer_questions() {
    let mdp = Mdp::sized(1, 2).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).build().unwrap();
    let problem = Problem::new(mdp, Objective::linear(vec![0.0, 1.0]).unwrap(), 1.0, 2).unwrap();
    let policy = Markov::stochastic(&problem, vec![vec![0.1, 0.9]]).unwrap();
    let found = distribution(&problem, &policy, &Limits::default()).unwrap();
    assert_eq!((found.values(), found.min(), found.max()), (&[0.0, 0.5, 1.0][..], 0.0, 1.0));
    assert_close(found.mean(), 0.9, "mean");
    let quantiles = [0.0, 0.01, 0.011, 0.19, 0.2, 1.0].map(|level| found.quantile(level));
    assert_eq!(quantiles, [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]);
    assert_close(found.cdf(0.7), 0.19, "below 0.7");
    assert_eq!((found.cdf(-0.1), found.erm(Erm::WORST)), (0.0, 1.0));
}
