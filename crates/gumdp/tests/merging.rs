//! Occupancy states whose features are equal but for rounding are one: against a solver that counts in integers.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::generator;
use gumdp::oracle::{Limits, Strategy, distribution, solve};
use gumdp::rng::{self, Rng};
use gumdp::{Erm, Mdp, Objective, Pair, Problem, Uniform};

/// A model, costs as integers of some denominator, and what is made of the totals.
struct Case {
    problem: Problem,
    /// Of each pair, for each total.
    counts: Vec<Vec<i64>>,
    denominator: f64,
    f: fn(&[f64]) -> f64,
}

/// What costs are divided by.
const DENOMINATORS: [f64; 8] = [1.0, 2.0, 10.0, 3.0, 100.0, 7.0, 1e9, 0.001];

/// 1 where this is above 0, else 0.
fn step(of: &str) -> String {
    format!("max(0, {of})/(max(0, {of}) + 1e-30)")
}

fn random_case(number: u64, rng: &mut Rng) -> Case {
    let (states, actions, totals) = (2 + rng::below(rng, 2) as usize, 2, 1 + (number % 2) as usize);
    let mut mdp = Mdp::sized(states, actions).start(0);
    for (state, action) in (0..states).flat_map(|state| (0..actions).map(move |action| (state, action))) {
        let p = [0.3, 0.5, 0.25][rng::below(rng, 3) as usize];
        let to = rng::below(rng, states as u32) as usize;
        mdp = mdp.transition(state, action, [(to, p), ((to + 1) % states, 1.0 - p)]);
    }
    let mdp = mdp.build().unwrap();
    let horizon = [5, 7, 11, 13, 24, 31][rng::below(rng, 6) as usize] / totals;
    // With a discount little is equal.
    let (discount, horizon) = if number % 5 == 4 { (0.5, horizon.min(6)) } else { (1.0, horizon) };
    let denominator = DENOMINATORS[rng::below(rng, 8) as usize];
    let mut count = || i64::from(rng::below(rng, 12)) - 3;
    let counts: Vec<Vec<i64>> = (0..mdp.pair_count()).map(|_| (0..totals).map(|_| count()).collect()).collect();
    let costs: Vec<Vec<f64>> =
        (0..totals).map(|k| counts.iter().map(|of_pair| of_pair[k] as f64 / denominator).collect()).collect();
    let inputs = |names: [&'static str; 2]| -> Vec<(&'static str, Objective)> {
        names.into_iter().zip(&costs).map(|(name, cost)| (name, Objective::linear(cost.clone()).unwrap())).collect()
    };
    let (objective, f): (Objective, fn(&[f64]) -> f64) = match number % 3 {
        0 => (Objective::maximum(&costs).unwrap(), |z| z.iter().copied().fold(f64::MIN, f64::max)),
        1 => (Objective::formula(&format!("3*{} + x", step("x - 0.3")), &inputs(["x", "y"])[..1]).unwrap(), |z| {
            if z[0] > 0.3 { 3.0 + z[0] } else { z[0] }
        }),
        _ => (Objective::formula(&format!("2*{} + x^2", step("1 - x")), &inputs(["x", "y"])[..1]).unwrap(), |z| {
            if z[0] < 1.0 { 2.0 + z[0] * z[0] } else { z[0] * z[0] }
        }),
    };
    // The formulas look at the first total.
    let counts =
        if number.is_multiple_of(3) { counts } else { counts.iter().map(|of_pair| vec![of_pair[0]]).collect() };
    Case { problem: Problem::new(mdp, objective, discount, horizon).unwrap(), counts, denominator, f }
}

impl Case {
    /// Integer weights of the times: all 1, or powers of two.
    fn weights(&self) -> Vec<i64> {
        let horizon = self.problem.horizon();
        (0..horizon).map(|t| if self.problem.discount() == 1.0 { 1 } else { 1 << (horizon - 1 - t) }).collect()
    }

    /// f of totals in integers, each a quotient that is rounded once.
    fn cost(&self, totals: &[i64]) -> f64 {
        let all: i64 = self.weights().iter().sum();
        let of = |&total: &i64| {
            let below = all as f64 * self.denominator;
            total as f64 / below
        };
        (self.f)(&totals.iter().map(of).collect::<Vec<_>>())
    }

    fn after(&self, totals: &[i64], pair: Pair, weight: i64) -> Vec<i64> {
        totals.iter().zip(&self.counts[pair.index()]).map(|(total, count)| total + weight * count).collect()
    }

    /// The lowest mean, and how many different (time, state, totals) there are before the end.
    fn by_counting(&self) -> (f64, u64) {
        let (mdp, weights) = (self.problem.mdp(), self.weights());
        let start = (mdp.initial()[0].0, vec![0; self.counts[0].len()]);
        let mut levels = vec![BTreeSet::from([start.clone()])];
        for &weight in &weights {
            let mut next = BTreeSet::new();
            for (state, totals) in &levels[levels.len() - 1] {
                for pair in mdp.pairs(*state).map(Pair::from) {
                    let after = self.after(totals, pair, weight);
                    next.extend(mdp.successors(pair).map(|(to, _)| (to, after.clone())));
                }
            }
            levels.push(next);
        }
        let last = levels.pop().unwrap();
        let mut values: BTreeMap<_, f64> =
            last.into_iter().map(|(state, totals)| ((state, totals.clone()), self.cost(&totals))).collect();
        let reached = levels.iter().map(|level| level.len() as u64).sum();
        for (level, &weight) in levels.iter().zip(&weights).rev() {
            let value = |(state, totals): &(gumdp::State, Vec<i64>)| {
                let of_pair = |pair: Pair| {
                    let after = self.after(totals, pair, weight);
                    mdp.successors(pair).map(|(to, p)| p * values[&(to, after.clone())]).sum::<f64>()
                };
                mdp.pairs(*state).map(Pair::from).map(of_pair).fold(f64::INFINITY, f64::min)
            };
            values = level.iter().map(|key| (key.clone(), value(key))).collect();
        }
        (values[&start], reached)
    }
}

#[test]
fn states_and_values_are_those_of_integers() {
    let limits = Limits { strategy: Strategy::Merge, ..Limits::default() };
    for number in 0..60 {
        let case = random_case(number, &mut generator(41, number));
        let (value, reached) = case.by_counting();
        let solution = solve(&case.problem, Erm::MEAN, &limits).unwrap();
        let bounds = case.problem.objective().bounds();
        let (low, high) = (bounds.low.max(-1e9), bounds.high.min(1e9));
        assert!((solution.value - value).abs() <= 1e-12 * (high - low), "{number}: {} {value}", solution.value);
        // Linear problems are solved by their states alone.
        assert_eq!(solution.states, reached, "{number}: {:?} / {}", case.counts, case.denominator);
        // Depth first, and piece by piece, the same.
        if reached < 20_000 && case.problem.horizon() <= 13 {
            let walked =
                solve(&case.problem, Erm::MEAN, &Limits { strategy: Strategy::DepthFirst, ..Limits::default() });
            assert!((walked.unwrap().value - value).abs() <= 1e-12 * (high - low), "{number}");
        }
    }
}

/// 24 visits out of 80 are 0.3, neither more nor less, in whatever order they come.
#[test]
fn thresholds_are_met_exactly() {
    let mdp = Mdp::sized(2, 2).start(0);
    let mdp = [0, 1].into_iter().fold(mdp, |mdp, s| mdp.transition(s, 0, [(0, 1.0)]).transition(s, 1, [(1, 1.0)]));
    let mdp = mdp.build().unwrap();
    for (expression, value) in [
        (format!("{} + x", step("0.3 - x")), 0.3),
        (format!("1 - {} + x", step("x - 0.3")), 0.3125),
        (format!("2*{} - x", step("x - 0.3")), -0.3),
    ] {
        let x = Objective::linear(mdp.by_state(&[0.0, 1.0]).unwrap()).unwrap();
        let objective = Objective::formula(&expression, &[("x", x)]).unwrap();
        let problem = Problem::new(mdp.clone(), objective, 1.0, 80).unwrap();
        assert_eq!(solve(&problem, Erm::MEAN, &Limits::QUICK).unwrap().value, value, "{expression}");
    }
    let at_least = |d: &[f64]| if d[1] + d[3] >= 0.3 { d[1] + d[3] } else { 1.0 };
    let objective = Objective::custom(4, gumdp::Bounds { low: 0.0, high: 1.0 }, at_least).unwrap();
    let problem = Problem::new(mdp, objective, 1.0, 10).unwrap();
    assert!((solve(&problem, Erm::MEAN, &Limits::QUICK).unwrap().value - 0.3).abs() < 1e-15);
}

/// Costs of 0.1 and 0.2 sum to 17 different totals in eight steps, and the distribution lists each once.
#[test]
fn equal_costs_are_listed_once() {
    let to = [(0, 0.4), (1, 0.3), (2, 0.3)];
    let mdp = (0..3).fold(Mdp::sized(3, 1).start(0), |mdp, state| mdp.transition(state, 0, to)).build().unwrap();
    let costs = mdp.by_state(&[0.0, 0.1, 0.2]).unwrap();
    let found = |objective: Objective| {
        let problem = Problem::new(mdp.clone(), objective, 1.0, 8).unwrap();
        distribution(&problem, &Uniform::new(&problem), &Limits::QUICK).unwrap()
    };
    let linear = Objective::linear(costs.clone()).unwrap();
    // The last state counts, the first does not: 0 to 14 tenths, by 8.
    let sums = found(linear.clone());
    assert_eq!(sums.values(), (0..=14).map(|k| f64::from(k) / 80.0).collect::<Vec<_>>());
    assert!((sums.probabilities().iter().sum::<f64>() - 1.0).abs() < 1e-14);
    // Where two features make the same cost in several ways.
    let twice = Objective::formula("x + 3*y", &[("x", linear.clone()), ("y", linear)]).unwrap();
    assert_eq!(found(twice).values().len(), 15);
}
