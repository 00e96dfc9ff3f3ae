//! Ties in risk do not cost the mean: against brute force over all history-dependent policies of problems with many ties.

mod common;

use common::brute_force::{Outcomes, distributions};
use common::generator;
use gumdp::oracle::{Limits, decide, distribution, solve};
use gumdp::rng::{self, Rng};
use gumdp::{Mdp, Objective, Problem, Risk};

/// Few different costs and probabilities, so that many policies have the same risk.
fn problem(number: u64, scale: f64, rng: &mut Rng) -> Problem {
    let (states, actions) = (3, 2 + (number % 2) as usize);
    let mut mdp = Mdp::sized(states, actions);
    mdp = if number % 7 == 3 { mdp.initial([(0, 0.5), (1, 0.5)]) } else { mdp.start(0) };
    for (state, action) in (0..states).flat_map(|state| (0..actions).map(move |action| (state, action))) {
        let (to, p) = (rng::below(rng, 3) as usize, [1.0, 0.5, 0.25, 0.9][rng::below(rng, 4) as usize]);
        let row = [(to, p), ((to + 1) % states, 1.0 - p)];
        mdp = mdp.transition(state, action, row.into_iter().filter(|&(_, p)| p > 0.0));
    }
    let mdp = mdp.build().unwrap();
    let mut costs = || (0..mdp.pair_count()).map(|_| scale * f64::from(rng::below(rng, 3))).collect::<Vec<f64>>();
    let objective = match number % 4 {
        0 | 1 => Objective::linear(costs()).unwrap(),
        2 => Objective::maximum(&[costs(), costs()]).unwrap(),
        _ => {
            let inputs = [("x", Objective::linear(costs()).unwrap()), ("y", Objective::linear(costs()).unwrap())];
            Objective::formula("abs(x - y)", &inputs).unwrap()
        }
    };
    let horizon = if number % 7 == 3 { 2 } else { 3 };
    Problem::new(mdp, objective, if number % 5 == 4 { 0.9 } else { 1.0 }, horizon).unwrap()
}

fn mean(found: &Outcomes) -> f64 {
    found.iter().map(|(cost, p)| cost * p).sum()
}

/// The lowest of `keys`, and the lowest mean of the distributions whose key is within each of two tolerances of it: what is equal for
/// certain, and what may be.
fn lowest(distributions: &[Outcomes], key: impl Fn(&Outcomes) -> f64, tolerances: [f64; 2]) -> (f64, [f64; 2]) {
    let keys: Vec<f64> = distributions.iter().map(key).collect();
    let lowest = keys.iter().copied().fold(f64::INFINITY, f64::min);
    let of = |tolerance: f64| {
        let equal = distributions.iter().zip(&keys).filter(|(_, key)| **key <= lowest + tolerance);
        equal.map(|(found, _)| mean(found)).fold(f64::INFINITY, f64::min)
    };
    (lowest, tolerances.map(of))
}

const MEASURES: [&str; 19] = [
    "worst",
    "erm:1000",
    "erm:60",
    "erm:3",
    "erm:-3",
    "erm:-1000",
    "cvar:0.25",
    "cvar:0.5",
    "cvar:0.75",
    "cvar:0.9",
    "cvar:0.999999999999",
    "mean-cvar:0.5:0.5",
    "mean-cvar:0.75:0.25",
    "evar:0.5",
    "evar:0.75",
    "evar:0.95",
    "exceed:0.5",
    "var:0.5",
    "var:0.75",
];

/// A measure of costs that are so many times as large.
fn scaled(measure: &str, scale: f64) -> Risk {
    let number = |text: &str| text.parse::<f64>().unwrap();
    match measure.split_once(':') {
        Some(("erm", beta)) => format!("erm:{}", number(beta) / scale).parse().unwrap(),
        Some(("exceed", cost)) => format!("exceed:{}", number(cost) * scale).parse().unwrap(),
        _ => measure.parse().unwrap(),
    }
}

/// Each measure on some problems; returns how many had policies of equal risk and different means.
fn compare(numbers: std::ops::Range<u64>, scale: f64) -> usize {
    let mut ties = 0;
    for number in numbers {
        let problem = problem(number, scale, &mut generator(51, number));
        let distributions = distributions(&problem);
        let bounds = problem.objective().bounds();
        let range = (bounds.high - bounds.low).max(1e-3 * scale);
        for measure in MEASURES {
            let risk = problem.measure(scaled(measure, scale));
            let solution = solve(&problem, risk, &Limits::default()).unwrap();
            let context = format!("problem {number}, {risk}, scale {scale}");
            let of = |found: &Outcomes| risk.of_distribution(found).unwrap();
            let is_probability = measure.starts_with("exceed");
            let unit = if is_probability { 1.0 } else { range };
            let (best, mut means) = lowest(&distributions, of, [1e-14 * unit, 4e-12 * unit]);
            assert!((solution.value - best).abs() <= 1e-11 * unit, "{context}: {} {best}", solution.value);
            assert!(solution.low <= best + 1e-11 * unit, "{context}: {} {best}", solution.low);
            assert!(solution.high - solution.low <= 1e-6 * unit, "{context}: {} {}", solution.low, solution.high);
            if measure.starts_with("var") {
                // Of those that make a cost of at most that most probable.
                let above =
                    |found: &Outcomes| found.iter().filter(|o| o.0 > best + 1e-12 * range).map(|o| o.1).sum::<f64>();
                means = lowest(&distributions, above, [1e-14, 4e-12]).1;
            }
            let [certain, possible] = means;
            let near = 1e-9 * range;
            assert!(solution.mean <= certain + near, "{context}: mean {}, {certain} is possible", solution.mean);
            assert!(solution.mean >= possible - near, "{context}: mean {} {possible}", solution.mean);
            let found = distribution(&problem, &solution.policy(), &Limits::default()).unwrap();
            assert!((found.mean() - solution.mean).abs() <= near, "{context}");
            assert!((found.risk(risk) - best).abs() <= 1e-11 * unit, "{context}: {} {best}", found.risk(risk));
            let highest = distributions
                .iter()
                .filter(|found| of(found) <= best + 1e-14 * unit)
                .map(mean)
                .fold(f64::MIN, f64::max);
            ties += usize::from(highest > certain + near);
        }
    }
    ties
}

/// More with GUMDP_SLOW=1.
#[test]
fn the_mean_is_the_lowest_among_equal_risks() {
    let many = if std::env::var_os("GUMDP_SLOW").is_some() { 400 } else { 40 };
    assert!(compare(0..many, 1.0) > 3 * many as usize);
}

#[test]
fn the_unit_of_cost_does_not_matter() {
    for scale in [1e-12, 1e-9, 1e12] {
        compare(0..12, scale);
    }
}

/// What is done is the same whatever the unit: one that rounds nothing, and two that round every cost. So is the work, always in the first
/// case and with few exceptions in the other: a value that is equal to a bound but for rounding may be looked at again.
#[test]
fn the_unit_of_cost_changes_no_decision() {
    let many = if std::env::var_os("GUMDP_SLOW").is_some() { 200 } else { 30 };
    let (mut cases, mut differ) = (0, Vec::new());
    for number in 0..many {
        let at = |scale: f64| problem(number, scale, &mut generator(51, number));
        for measure in MEASURES {
            let solved = |scale: f64| {
                let (problem, risk) = (at(scale), scaled(measure, scale));
                let solution = solve(&problem, risk, &Limits::default()).unwrap();
                let found = distribution(&problem, &solution.policy(), &Limits::default()).unwrap();
                let costs = found.values().iter().map(|cost| (1e9 * cost / scale).round() as i64).collect::<Vec<_>>();
                // Equal costs are added up in another order where they round otherwise.
                let probabilities = found.probabilities().iter().map(|p| (1e12 * p).round() as i64).collect::<Vec<_>>();
                ((solution.solves, solution.states), (solution.method, costs, probabilities))
            };
            let (work, done) = solved(1.0);
            for scale in [2.0_f64.powi(40), 2.0_f64.powi(-40), 1e12, 1e-12] {
                let (own_work, own) = solved(scale);
                let context = format!("problem {number}, {measure}, scale {scale:e}: {own_work:?} instead of {work:?}");
                assert_eq!(own, done, "{context}");
                // One unit of rounding in λ is 1e-4 of the risk at this level, so that the work follows it.
                if own_work != work && !measure.ends_with("999999") {
                    assert!([1e12, 1e-12].contains(&scale), "{context}");
                    differ.push(context);
                }
                cases += 1;
            }
        }
    }
    assert!(1000 * differ.len() <= cases, "{} of {cases}: {differ:?}", differ.len());
}

/// A state with a sure cost of 1 against an even chance of 0 or 1, and a branch that has slack.
#[test]
fn a_branch_with_slack_lowers_the_mean() {
    // From 0 chance leads to 1 (nothing helps: it costs 1) or to 2, where a sure cost of 0.6 or a coin of 0 and 1 is chosen.
    let mdp = Mdp::sized(7, 2).start(0).transition(0, 0, [(1, 0.5), (2, 0.5)]).transition(1, 0, [(4, 1.0)]);
    let mdp = mdp.transition(2, 0, [(5, 1.0)]).transition(2, 1, [(3, 0.5), (4, 0.5)]);
    let mdp = [3, 4, 5, 6].into_iter().fold(mdp, |mdp, s| mdp.transition(s, 0, [(s, 1.0)])).build().unwrap();
    let costs = mdp.by_state(&[0.0, 0.0, 0.0, 0.0, 3.0, 1.8, 0.0]).unwrap();
    for objective in [Objective::linear(costs.clone()).unwrap(), Objective::maximum(&[costs]).unwrap()] {
        let problem = Problem::new(mdp.clone(), objective, 1.0, 3).unwrap();
        for measure in ["worst", "evar:0.5", "cvar:0.75"] {
            let solution = solve(&problem, measure.parse::<Risk>().unwrap(), &Limits::default()).unwrap();
            assert!((solution.mean - 0.75).abs() < 1e-12, "{measure}: {}", solution.mean);
        }
    }
}

/// Where every policy of lowest mean may come to the best case, the best case does not cost the mean.
#[test]
fn the_best_case_does_not_cost_the_mean() {
    let (mut cases, mut ties) = (0, 0);
    for number in 0..80 {
        let problem = problem(number, 1.0, &mut generator(52, number));
        let distributions = distributions(&problem);
        let least = |found: &Outcomes| found.iter().filter(|o| o.1 > 0.0).map(|o| o.0).fold(f64::INFINITY, f64::min);
        let (best, [mean_of_best, _]) = lowest(&distributions, least, [1e-14; 2]);
        let (lowest_mean, _) = lowest(&distributions, mean, [0.0; 2]);
        if distributions.iter().any(|found| mean(found) < lowest_mean + 1e-9 && least(found) > best + 1e-9) {
            continue;
        }
        cases += 1;
        let highest =
            distributions.iter().filter(|found| least(found) <= best + 1e-14).map(mean).fold(f64::MIN, f64::max);
        ties += usize::from(highest > mean_of_best + 1e-9);
        for measure in ["best", "erm:-inf", "var:0"] {
            let solution = solve(&problem, measure.parse::<Risk>().unwrap(), &Limits::default()).unwrap();
            assert!((solution.value - best).abs() < 1e-12, "problem {number}, {measure}: {}", solution.value);
            assert!((solution.mean - mean_of_best).abs() < 1e-9, "problem {number}, {measure}: {}", solution.mean);
        }
    }
    assert!(cases > 40 && ties > 30, "{cases} {ties}");
}

/// The first decision is that of the optimum: the same risk, the same mean, with an action that has both.
#[test]
fn the_first_decision_breaks_ties_alike() {
    let mut decisions = 0;
    for number in 0..60 {
        let problem = problem(number, 1.0, &mut generator(53, number));
        let &[(state, _)] = problem.mdp().initial() else { continue };
        let range = problem.objective().bounds().high - problem.objective().bounds().low;
        for measure in MEASURES {
            let risk = problem.measure(scaled(measure, 1.0));
            let Some(fixed) = risk.fixed() else { continue };
            let solution = solve(&problem, risk, &Limits::default()).unwrap();
            let decision = decide(&problem, fixed, &problem.start(state), &Limits::default()).unwrap();
            let best = decision.reasons.iter().find(|reason| reason.action == decision.action).unwrap();
            assert!((best.value - solution.value).abs() <= 1e-11 * range.max(1.0), "problem {number}, {measure}");
            let means = (best.mean, solution.mean);
            assert!((means.0 - means.1).abs() <= 1e-9 * range, "problem {number}, {measure}: {means:?}");
            decisions += 1;
        }
    }
    assert!(decisions > 300, "{decisions}");
}
