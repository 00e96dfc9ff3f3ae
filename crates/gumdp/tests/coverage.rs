//! How often the 95 % intervals of sampled risks hold: over measures, distributions with rare and with common large costs, and few
//! runs. The ordinary tests look at some seeds; `GUMDP_SLOW=1` at 500 of each, and prints the table of `docs/risk.md`.
#![allow(missing_docs)]

use gumdp::rng::{self, Purpose, Rng};
use gumdp::stats::{Statistic, intervals};
use gumdp::{Bounds, Risk};

const RISKS: [&str; 20] = [
    "erm:-1000",
    "erm:-10",
    "erm:-1",
    "mean",
    "erm:0.1",
    "erm:1",
    "erm:5",
    "erm:10",
    "erm:50",
    "erm:1000",
    "cvar:0.5",
    "cvar:0.9",
    "cvar:0.99",
    "evar:0.5",
    "evar:0.9",
    "evar:0.99",
    "mean-cvar:0.9:0.5",
    "var:0.5",
    "var:0.95",
    "exceed:0.5",
];
const RUNS: [usize; 4] = [10, 30, 100, 1000];

/// A distribution of costs in [0, 1] as (cost, probability), ascending.
type Costs = Vec<(f64, f64)>;

/// So many equally likely costs, the k-th at `of` its place in (0, 1).
fn spread(count: usize, of: impl Fn(f64) -> f64) -> Costs {
    (0..count).map(|k| (of((k as f64 + 0.5) / count as f64), 1.0 / count as f64)).collect()
}

/// The same, and a cost of 1 with probability p.
fn with_rare(costs: Costs, p: f64) -> Costs {
    costs.into_iter().map(|(cost, q)| (cost, q * (1.0 - p))).chain([(1.0, p)]).collect()
}

fn distributions() -> Vec<(String, Costs)> {
    let mut all: Vec<(String, Costs)> = Vec::new();
    for p in [0.5, 0.1, 1e-2, 1e-3, 1e-4] {
        all.push((format!("0, or 1 with p = {p}"), vec![(0.0, 1.0 - p), (1.0, p)]));
    }
    for p in [1e-2, 1e-3, 1e-4] {
        let base = spread(200, |u| 0.3 + 0.1 * u);
        all.push((format!("uniform in [.3, .4], or 1 with p = {p}"), with_rare(base, p)));
    }
    all.push(("uniform in [0, 1]".into(), spread(2000, |u| u)));
    all.push(("uniform in [.2, .4]".into(), spread(2000, |u| 0.2 + 0.2 * u)));
    all.push(("u^8: rarely large".into(), spread(2000, |u| u.powi(8))));
    all.push(("1 - u^8: rarely small".into(), spread(2000, |u| 1.0 - (1.0 - u).powi(8))));
    all.push(("exponential, cut at 1".into(), spread(2000, |u| (-(1.0 - u).ln() / 12.0).min(1.0))));
    all.push(("a ladder of rarer and larger costs".into(), {
        let steps: Costs = (1..=9).rev().map(|k| (1.0 / f64::from(k), 0.7 * 0.3_f64.powi(10 - k))).collect();
        let rest = 1.0 - steps.iter().map(|step| step.1).sum::<f64>();
        std::iter::once((0.0, rest)).chain(steps).collect()
    }));
    all.push(("always .5".into(), vec![(0.5, 1.0)]));
    all
}

fn draw(cumulated: &[(f64, f64)], rng: &mut Rng) -> f64 {
    let u = rng::unit(rng);
    let at = cumulated.partition_point(|&(_, up_to)| up_to <= u);
    cumulated[at.min(cumulated.len() - 1)].0
}

/// How many of the intervals hold for each measure, and their mean widths.
fn study(costs: &Costs, runs: usize, risks: &[Risk], seeds: u64) -> Vec<(u64, f64)> {
    let truth: Vec<f64> = risks.iter().map(|risk| risk.of_distribution(costs).unwrap()).collect();
    let mut sum = 0.0;
    let add = |&(cost, p): &(f64, f64)| {
        sum += p;
        (cost, sum)
    };
    let cumulated: Vec<(f64, f64)> = costs.iter().map(add).collect();
    let statistics: Vec<Statistic> = risks.iter().copied().map(Statistic::Risk).collect();
    let mut held = vec![(0, 0.0); risks.len()];
    for seed in 0..seeds {
        let mut rng = rng::stream(seed, runs as u64, Purpose::Generation);
        let samples: Vec<f64> = (0..runs).map(|_| draw(&cumulated, &mut rng)).collect();
        let found = intervals(&samples, &statistics, Bounds { low: 0.0, high: 1.0 }, seed);
        for (((interval, _), truth), (count, width)) in found.iter().zip(&truth).zip(&mut held) {
            *count += u64::from(interval.low <= truth + 1e-9 && truth - 1e-9 <= interval.high);
            *width += (interval.high - interval.low) / seeds as f64;
        }
    }
    held
}

/// A coverage of 95 % or more falls below this count with a probability of less than 1e-6: Chernoff's bound for the binomial.
fn fewest(seeds: u64) -> u64 {
    let n = seeds as f64;
    let divergence = |x: f64| x * (x / 0.95).ln() + if x < 1.0 { (1.0 - x) * ((1.0 - x) / 0.05).ln() } else { 0.0 };
    let held = |count: &u64| n * divergence(*count as f64 / n) <= 1e6_f64.ln();
    (0..=(0.95 * n) as u64).find(held).unwrap_or(0)
}

#[test]
fn intervals_hold() {
    let slow = std::env::var_os("GUMDP_SLOW").is_some();
    let seeds = if slow { 500 } else { 20 };
    let risks: Vec<Risk> = RISKS.iter().map(|risk| risk.parse().unwrap()).collect();
    let all = distributions();
    let runs: &[usize] = if slow { &RUNS } else { &RUNS[..3] };
    let mut lowest = vec![vec![(u64::MAX, String::new()); runs.len()]; risks.len()];
    for (name, costs) in &all {
        for (column, &runs) in runs.iter().enumerate() {
            for (row, (held, width)) in study(costs, runs, &risks, seeds).into_iter().enumerate() {
                if std::env::var_os("GUMDP_SHOW").is_some() {
                    println!("{name:40} {runs:5} {:20} {held:4} {width:.4}", RISKS[row]);
                }
                if held < lowest[row][column].0 {
                    lowest[row][column] = (held, name.clone());
                }
            }
        }
    }
    println!("lowest coverage of {seeds} seeds over {} distributions, in percent", all.len());
    println!("| measure | {} |", runs.iter().map(|runs| format!("{runs} runs")).collect::<Vec<_>>().join(" | "));
    for (risk, row) in RISKS.iter().zip(&lowest) {
        let cells: Vec<String> =
            row.iter().map(|(held, _)| format!("{:.1}", 100.0 * *held as f64 / seeds as f64)).collect();
        println!("| `{risk}` | {} |", cells.join(" | "));
    }
    for (risk, row) in RISKS.iter().zip(&lowest) {
        for ((held, name), runs) in row.iter().zip(runs) {
            assert!(*held >= fewest(seeds), "{risk}, {runs} runs, {name}: {held} of {seeds}");
        }
    }
}
