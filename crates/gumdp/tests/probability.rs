//! Measures that are probabilities or quantiles against brute force over all history-dependent policies, ties included.

mod common;

use common::brute_force::{Outcomes, tiny_problem};
use common::{OBJECTIVE_KINDS, Shape, generator};
use gumdp::oracle::{Limits, distribution, solve};
use gumdp::stats::Summary;
use gumdp::{Bounds, Problem, Risk, rng};

/// At least 200 tiny problems of all kinds of objectives, with several initial states, and all their distributions.
fn each_problem(test: u64, mut check: impl FnMut(&str, &Problem, &[Outcomes], &mut rng::Rng)) {
    let shape = Shape { states: 3, actions: 3, successors: 2, initial: 2 };
    let (mut problems, mut number) = (0, 0);
    while problems < 204.max(16 * OBJECTIVE_KINDS) {
        number += 1;
        let mut rng = generator(test, number);
        let found = tiny_problem(shape, problems % OBJECTIVE_KINDS, 1 << 10, &mut rng);
        let Some((problem, distributions)) = found else { continue };
        check(&format!("problem {number}"), &problem, &distributions, &mut rng);
        problems += 1;
    }
}

/// How far apart costs can be.
fn range(problem: &Problem) -> f64 {
    let bounds = problem.objective().bounds();
    if (bounds.high - bounds.low).is_finite() { bounds.high - bounds.low } else { 0.0 }
}

fn mean(costs: &Outcomes) -> f64 {
    costs.iter().map(|(cost, p)| cost * p).sum()
}

/// P(f > c), costs within 1e-12 of the range being equal.
fn exceeds(costs: &Outcomes, threshold: f64, range: f64) -> f64 {
    costs.iter().filter(|(cost, _)| *cost > threshold + 1e-12 * range).map(|(_, p)| p).sum()
}

/// A cost that some policy may have.
fn some_cost(distributions: &[Outcomes], rng: &mut rng::Rng) -> f64 {
    let of = &distributions[rng::below(rng, distributions.len() as u32) as usize];
    of[rng::below(rng, of.len() as u32) as usize].0
}

#[test]
fn exceed_equals_brute_force() {
    each_problem(41, |name, problem, distributions, rng| {
        let range = range(problem);
        let cost = some_cost(distributions, rng);
        // Equal to a cost, off by rounding on either side, and off by more than that.
        for threshold in [cost, cost + 1e-13 * range, cost - 1e-13 * range, cost - 1e-9 * range, cost + 1e-9 * range] {
            let lowest = distributions.iter().map(|of| exceeds(of, threshold, range)).fold(f64::INFINITY, f64::min);
            let risk: Risk = format!("exceed:{threshold}").parse().unwrap();
            let solution = solve(problem, risk, &Limits::default()).unwrap();
            let context = format!("{name}, {risk}: {lowest} {solution:?}");
            assert!((solution.value - lowest).abs() < 1e-12, "{context}");
            assert!(solution.low == solution.value && solution.high == solution.value && solution.outer.is_none());
            let costs = distribution(problem, &solution.policy(), &Limits::default()).unwrap();
            assert!(
                (costs.risk(risk) - lowest).abs() < 1e-12 && (costs.mean() - solution.mean).abs() < 1e-9,
                "{context}"
            );
            // Mixing the policies of two distributions is linear: no mixture is better than the best of them.
            let half: Outcomes = distributions[0].iter().chain(&distributions[1]).map(|&(x, p)| (x, p / 2.0)).collect();
            assert!(exceeds(&half, threshold, range) >= lowest - 1e-12);
        }
    });
}

/// Of policies that are sure not to exceed a threshold, the one with the lowest mean is played.
#[test]
fn ties_are_broken_by_the_mean() {
    let mut ties = 0;
    each_problem(42, |name, problem, distributions, _| {
        let all = distributions.iter().flatten().map(|outcome| outcome.0);
        let threshold = all.fold(f64::NEG_INFINITY, f64::max);
        let risk: Risk = format!("exceed:{threshold}").parse().unwrap();
        let solution = solve(problem, risk, &Limits::default()).unwrap();
        let lowest = distributions.iter().map(mean).fold(f64::INFINITY, f64::min);
        assert_eq!(solution.value, 0.0, "{name}");
        assert!((solution.mean - lowest).abs() < 1e-9, "{name}: {} {lowest}", solution.mean);
        ties += 1;
    });
    assert!(ties >= 200);
}

/// The least cost that is not exceeded with this probability.
fn quantile(costs: &Outcomes, level: f64) -> f64 {
    let mut sorted = costs.clone();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    let reached = sorted.iter().find(|(_, p)| {
        sum += p;
        sum >= level - 1e-12
    });
    reached.unwrap_or(&sorted[sorted.len() - 1]).0
}

#[test]
fn value_at_risk_equals_brute_force() {
    each_problem(43, |name, problem, distributions, rng| {
        let of = &distributions[rng::below(rng, distributions.len() as u32) as usize];
        // Levels at which the distribution of some policy steps, and others.
        let step: f64 = of.iter().filter(|(cost, _)| *cost <= of[0].0).map(|(_, p)| p).sum::<f64>().clamp(0.0, 1.0);
        for level in [0.0, 0.1, 0.5, 0.9, step, 1.0] {
            let lowest = distributions.iter().map(|of| quantile(of, level)).fold(f64::INFINITY, f64::min);
            let risk: Risk = format!("var:{level}").parse().unwrap();
            let solution = solve(problem, risk, &Limits::default()).unwrap();
            let context = format!("{name}, {risk}: {lowest} {solution:?}");
            assert!((solution.value - lowest).abs() < 1e-12 * (1.0 + lowest.abs()), "{context}");
            assert!(solution.low == solution.value && solution.high == solution.value, "{context}");
            let costs = distribution(problem, &solution.policy(), &Limits::default()).unwrap();
            assert!((costs.risk(risk) - lowest).abs() < 1e-12 * (1.0 + lowest.abs()), "{context}");
            assert!((costs.mean() - solution.mean).abs() < 1e-9, "{context}");
            // P(f ≤ x) is linear in the policy: no mixture is better than the best of its parts.
            let half: Outcomes = distributions[0].iter().chain(&distributions[1]).map(|&(x, p)| (x, p / 2.0)).collect();
            assert!(quantile(&half, level) >= lowest - 1e-12 * (1.0 + lowest.abs()));
        }
    });
}

/// 4 of 20 samples: Clopper and Pearson's interval.
#[test]
fn sampled_probabilities_have_exact_intervals() {
    const ENDLESS: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
    let costs: Vec<f64> = (0..20).map(|k| if k < 4 { 3.0 } else { 1.0 }).collect();
    let of = |text: &str| Summary::of(&costs, text.parse::<Risk>().unwrap(), ENDLESS, 1).unwrap();
    let summary = of("exceed:1");
    assert_eq!(summary.value, 0.2);
    assert!((summary.low - 0.057_334).abs() < 1e-6 && (summary.high - 0.436_614).abs() < 1e-6, "{summary:?}");
    assert_eq!((of("exceed:3").value, of("exceed:3").low), (0.0, 0.0));
    assert!(of("exceed:3").high > 0.1);
    let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
    let summary = Summary::of(&hundred, "var:0.5".parse::<Risk>().unwrap(), ENDLESS, 1).unwrap();
    assert_eq!((summary.value, summary.low, summary.high), (50.0, 40.0, 61.0));
    assert_eq!(
        "exceed:inf".parse::<Risk>().unwrap_err().to_string(),
        "exceed:inf: threshold is inf, but must be finite"
    );
}
