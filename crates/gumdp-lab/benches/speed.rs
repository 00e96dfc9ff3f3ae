//! Benchmarks: `cargo bench` runs all, `cargo bench -- NAME…` those whose name contains one of the words.
//!
//! Every figure is the fastest of many repetitions, so that other work on the machine matters little; the planner is also
//! given as a multiple of the roofline (random paths without a tree) measured in turns with it. `cargo bench -- --count TASK`
//! makes one decision (with `--setup`: only prepares it) for a profiler: `scripts/instructions` counts with it.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use gumdp::measures::{Seen, Weigher};
use gumdp::oracle::{self, Limits};
use gumdp::rng::{self, Purpose, Rng};
use gumdp::{
    Action, BlackBoxPlanner, Budget, Erm, LearningPlanner, LearningSettings, Mdp, Objective, Planner, PlannerSettings,
    Policy, Problem, Roofline, SimulatedProblem, Simulator,
};
use gumdp_files::{Task, tasks};

#[path = "../src/race.rs"]
mod race;
use race::{Race, race};

type Benchmark = (&'static str, fn());

/// How long a benchmark is repeated.
const PATIENCE: Duration = Duration::from_millis(1500);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--count") {
        count(&arguments[at + 1], arguments.iter().any(|argument| argument == "--setup"));
        return;
    }
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|word| name.contains(word.as_str()));
    let benchmarks: [Benchmark; 7] = [
        ("step", step),
        ("evaluation", evaluation),
        ("weigher", weigher),
        ("selection", selection),
        ("solve", solve),
        ("induction", induction),
        ("simulator", simulator),
    ];
    for (name, benchmark) in benchmarks {
        if wanted(name) {
            benchmark();
        }
    }
    for name in tasks::NAMES {
        if wanted(&format!("decision {name}")) {
            decision(name);
        }
    }
    for name in tasks::NAMES {
        if wanted(&format!("episode {name}")) {
            episode(name);
        }
    }
}

/// Seconds of the fastest repetition.
fn fastest(mut work: impl FnMut()) -> f64 {
    let started = Instant::now();
    let mut best = f64::INFINITY;
    while started.elapsed() < PATIENCE {
        // Others may be busy, too.
        let before = ThreadTime::now();
        work();
        best = best.min(before.elapsed().as_secs_f64());
    }
    best
}

fn report(name: &str, seconds: f64, operations: f64, unit: &str) {
    println!("{name:<24} {:>10.2} ns per {unit}", seconds / operations * 1e9);
}

/// One step of the model.
fn step() {
    for name in ["grid-msee", "grid-mo"] {
        let mdp = tasks::get(name).unwrap().problem.mdp().clone();
        let mut rng = rng::stream(0, 0, Purpose::Policy);
        let seconds = fastest(|| {
            let mut state = mdp.initial()[0].0;
            for _ in 0..10_000 {
                let pairs = mdp.pairs(state);
                state = mdp.sample((pairs.start + rng::below(&mut rng, pairs.len() as u32)).into(), &mut rng);
            }
            black_box(state);
        });
        report(&format!("step {name}"), seconds, 1e4, "step");
    }
}

/// f of a whole occupancy.
fn evaluation() {
    for name in tasks::NAMES {
        let problem = tasks::get(name).unwrap().problem;
        let pairs = problem.mdp().pair_count();
        let occupancy = vec![1.0 / pairs as f64; pairs];
        let objective: &Objective = problem.objective();
        let seconds = fastest(|| {
            black_box(objective.value(black_box(&occupancy)));
        });
        report(&format!("evaluation {name}"), seconds, 1.0, "occupancy");
    }
}

/// One sample added, and the value read, as in every node of a simulation.
fn weigher() {
    let mut rng = rng::stream(0, 0, Purpose::Generation);
    let samples: Vec<f64> = (0..1000).map(|_| rng::unit(&mut rng)).collect();
    for beta in [0.0, 0.1, 10.0, 1000.0, f64::INFINITY] {
        let weigher = Weigher::new(Erm::new(beta).unwrap(), 0.5, 0.0, 1.0);
        let seconds = fastest(|| {
            let mut seen = Seen::NOTHING;
            let mut sum = 0.0;
            for &sample in &samples {
                seen.add(sample, weigher.weigh(sample));
                sum += weigher.risk(&seen, 1.0 / seen.count as f64);
            }
            black_box(sum);
        });
        report(&format!("weigher beta {beta}"), seconds, 1e3, "sample");
    }
}

/// A walk on a ring whose steps take next to no time; with states that recur or not.
struct Free {
    recurring: bool,
}

impl Simulator for Free {
    type State = u64;
    type Error = Infallible;

    fn feature_count(&self) -> usize {
        1
    }

    fn initial(&self, _: &mut Rng) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn action_count(&self, _: &u64) -> Result<u32, Infallible> {
        Ok(2)
    }

    #[inline]
    fn step(&self, at: &u64, action: Action, rng: &mut Rng, features: &mut [f64]) -> Result<Option<u64>, Infallible> {
        features[0] = (at & 1) as f64;
        let moved = at.wrapping_add(1 + action.index() as u64);
        Ok(Some(if self.recurring { moved & 63 } else { moved ^ (u64::from(rng::below(rng, u32::MAX)) << 32) }))
    }

    fn cost(&self, features: &[f64]) -> Result<f64, Infallible> {
        Ok(features[0])
    }
}

/// The first decision in a simulator whose own steps are free.
fn simulator() {
    let settings = LearningSettings { budget: Budget::simulations(2000), ..LearningSettings::default() };
    let published = PlannerSettings { budget: settings.budget, ..PlannerSettings::paper_illustrative() };
    for recurring in [true, false] {
        let problem = Arc::new(SimulatedProblem::new(Free { recurring }, 1.0, 500).unwrap());
        let what = if recurring { "recurring" } else { "new states" };
        for (who, learns) in [("default", true), ("published", false)] {
            let mut steps = 0;
            let seconds = fastest(|| {
                let rng = &mut rng::stream(0, 0, Purpose::Policy);
                let decision = if learns {
                    LearningPlanner::new(&problem, Erm::MEAN, settings.clone()).unwrap().decide(&problem.start(0), rng)
                } else {
                    BlackBoxPlanner::new(&problem, Erm::MEAN, published.clone()).unwrap().decide(&problem.start(0), rng)
                };
                steps = decision.unwrap().simulated_steps;
            });
            let name = format!("simulator {who}, {what}");
            println!("{name:<32} {:>8.1} million steps per second", steps as f64 / seconds / 1e6);
        }
    }
}

/// Descending and updating a tree without rollouts: the whole path is in the tree.
fn selection() {
    let task = tasks::get("msee").unwrap();
    let settings = PlannerSettings { expansion: gumdp::Expansion::WholePath, ..PlannerSettings::paper_illustrative() };
    let start = task.problem.start(task.problem.mdp().initial()[0].0);
    let mut planner = Planner::new(&task.problem, Erm::new(25.0).unwrap(), settings).unwrap();
    let mut number = 0;
    let seconds = fastest(|| {
        number += 1;
        black_box(planner.decide(&start, &mut rng::stream(0, number % 8, Purpose::Policy)).unwrap());
    });
    report("selection msee", seconds, 500.0 * 20.0, "node");
}

fn solve() {
    for name in ["mdp", "msee", "mo-max", "grid-mo"] {
        let task = tasks::get(name).unwrap();
        let erm = Erm::new(task.defaults.betas[1]).unwrap();
        let mut states = 0;
        let seconds = fastest(|| states = oracle::solve(&task.problem, erm, &Limits::default()).unwrap().states);
        println!(
            "{:<24} {:>10.1} million states per second ({states} in {seconds:.4} s)",
            format!("solve {name}"),
            states as f64 / seconds / 1e6
        );
    }
}

/// Backward induction of a linear objective with a million transitions, beside plain products of the same sparse rows.
fn induction() {
    for (actions, outcomes) in [(2, 5), (5, 2)] {
        let problem = random_linear(1_000_000 / (actions * outcomes), actions, outcomes);
        let mdp = problem.mdp();
        let (mut ends, mut successors, mut probabilities) = (vec![0], Vec::new(), Vec::new());
        for pair in 0..mdp.pair_count() as u32 {
            for (state, p) in mdp.successors(pair.into()) {
                successors.push(state.0);
                probabilities.push(p);
            }
            ends.push(successors.len());
        }
        let (values, mut products) = (vec![0.5; mdp.state_count()], vec![0.0; mdp.pair_count()]);
        let visited = (mdp.transition_count() * problem.horizon()) as f64;
        for beta in [0.0, 1.0, 30.0, 1000.0] {
            let (mut solved, mut plain) = (f64::INFINITY, f64::INFINITY);
            fastest(|| {
                let before = Instant::now();
                black_box(oracle::solve(&problem, Erm::new(beta).unwrap(), &Limits::default()).unwrap());
                solved = solved.min(before.elapsed().as_secs_f64());
                let before = Instant::now();
                for _ in 0..problem.horizon() {
                    for (product, row) in products.iter_mut().zip(ends.windows(2)) {
                        let row = row[0]..row[1];
                        let terms = successors[row.clone()].iter().zip(&probabilities[row]);
                        *product = terms.map(|(&state, p)| p * values[state as usize]).sum();
                    }
                    black_box(&mut products);
                }
                plain = plain.min(before.elapsed().as_secs_f64());
            });
            println!(
                "{:<24} {:>10.2} ns per transition on {} threads; product {:.2} ns, ratio {:.2}",
                format!("induction {actions}×{outcomes} β {beta}"),
                solved / visited * 1e9,
                rayon::current_num_threads(),
                plain / visited * 1e9,
                solved / plain
            );
        }
    }
}

/// A problem with random rows and costs.
fn random_linear(states: usize, actions: usize, outcomes: usize) -> Problem {
    let mut rng = rng::stream(0, 0, Purpose::Generation);
    let mut mdp = Mdp::sized(states, actions).start(0);
    for (state, action) in (0..states).flat_map(|state| (0..actions).map(move |action| (state, action))) {
        let weights: Vec<f64> = (0..outcomes).map(|_| rng::unit(&mut rng)).collect();
        let sum: f64 = weights.iter().sum();
        let to = |weight: f64| (rng::below(&mut rng, states as u32) as usize, weight / sum);
        mdp = mdp.transition(state, action, weights.into_iter().map(to).collect::<Vec<_>>());
    }
    let mdp = mdp.build().unwrap();
    let costs = (0..mdp.pair_count()).map(|_| rng::unit(&mut rng)).collect();
    Problem::new(mdp, Objective::linear(costs).unwrap(), 0.9, 131).unwrap()
}

/// The paper's planner for a task, and an occupancy state in the middle of an episode.
fn planner(task: &Task) -> Planner {
    let settings = task.defaults.published();
    Planner::new(&task.problem, Erm::new(task.defaults.betas[1]).unwrap(), settings).unwrap()
}

/// The first decision of a task, beside the roofline.
fn decision(name: &str) {
    let task = tasks::get(name).unwrap();
    let (problem, simulations) = (&task.problem, task.defaults.simulations);
    let start = problem.start(problem.mdp().initial()[0].0);
    let steps = simulations as f64 * problem.horizon() as f64;
    let mut planner = planner(&task);
    let mut roofline = Roofline::new(problem);
    let (mut planned, mut roof) = (f64::INFINITY, f64::INFINITY);
    let mut number = 0;
    fastest(|| {
        number += 1;
        let mut rng = rng::stream(0, number % 4, Purpose::Policy);
        let before = Instant::now();
        black_box(planner.decide(&start, &mut rng).unwrap());
        planned = planned.min(before.elapsed().as_secs_f64());
        let before = Instant::now();
        black_box(roofline.simulate(&start, simulations, &mut rng));
        roof = roof.min(before.elapsed().as_secs_f64());
    });
    println!(
        "{:<24} {:>10.2} ns per step, {:>6.2} ms; roofline {:.2} ns per step, ratio {:.2}",
        format!("decision {name}"),
        planned / steps * 1e9,
        planned * 1e3,
        roof / steps * 1e9,
        planned / roof
    );
}

/// A whole episode, beside as many random paths from the same occupancy states.
fn episode(name: &str) {
    let task = tasks::get(name).unwrap();
    let Race { planned, roofline, .. } = race(&task.problem, &planner(&task), 2 * PATIENCE);
    println!(
        "{:<24} {planned:>10.4} s per run; roofline {roofline:.4} s, ratio {:.2}",
        format!("episode {name}"),
        planned / roofline
    );
}

/// One decision, or only its preparation; for `induction:2x5:1` one solution with 2 actions, 5 outcomes
/// and β = 1, or only its problem.
fn count(name: &str, only_setup: bool) {
    if let Some((shape, beta)) = name.strip_prefix("induction:").and_then(|rest| rest.split_once(':')) {
        let (actions, outcomes) = shape.split_once('x').unwrap();
        let (actions, outcomes) = (actions.parse().unwrap(), outcomes.parse().unwrap());
        let problem = random_linear(100_000 / (actions * outcomes), actions, outcomes);
        if !only_setup {
            black_box(oracle::solve(&problem, Erm::new(beta.parse().unwrap()).unwrap(), &Limits::default()).unwrap());
        }
        return;
    }
    let task = tasks::get(name).unwrap();
    let start = task.problem.start(task.problem.mdp().initial()[0].0);
    let mut planner = planner(&task);
    if !only_setup {
        black_box(planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy)).unwrap());
    }
}
