//! Planning in simulators without tables, against the planner for tables and against exact optima.

mod common;

use std::sync::Arc;

use common::hidden::{Broken, hidden};
use common::{Shape, generator, random_discount, random_mdp, random_objective};
use gumdp::oracle::{Limits, decide};
use gumdp::rng::{self, Purpose, Rng};
use gumdp::{
    Action, BlackBoxPlanner, Budget, Erm, Pair, Planner, PlannerSettings, Problem, SimulatedProblem, Simulator,
    StopReason, run,
};
use gumdp_files::tasks;

/// With many simulations decisions are optimal; near ties are left out.
#[test]
fn decisions_approach_the_optimum() {
    let mut clear = 0;
    for seed in 0..30 {
        let mut rng = generator(40, seed);
        let mdp = random_mdp(Shape { states: 4, actions: 3, successors: 2, initial: 1 }, &mut rng);
        let objective = random_objective(&mdp, seed as usize % 6, &mut rng);
        let problem = Problem::new(mdp, objective, random_discount(&mut rng), 4).unwrap();
        let erm = Erm::new([0.0, 1.0, 5.0][seed as usize % 3]).unwrap();
        let start = problem.mdp().initial()[0].0;
        let exact = decide(&problem, erm, &problem.start(start), &Limits::default()).unwrap();
        let mut values: Vec<f64> = exact.reasons.iter().map(|reason| reason.value).collect();
        values.sort_by(f64::total_cmp);
        if values.len() < 2 || values[1] - values[0] < 0.05 {
            continue;
        }
        clear += 1;
        let black_box = hidden(&problem);
        let settings = PlannerSettings { budget: Budget::simulations(20_000), ..PlannerSettings::paper_illustrative() };
        let mut planner = BlackBoxPlanner::new(&black_box, erm, settings).unwrap();
        let decision = planner.decide(&black_box.start(start), &mut rng::stream(seed, 0, Purpose::Policy)).unwrap();
        let pair = Pair::from(problem.mdp().pairs(start).start + decision.action.index() as u32);
        assert_eq!(problem.mdp().action(pair), exact.action, "problem {seed}");
        assert_eq!((decision.simulations, decision.stopped), (20_000, StopReason::Simulations));
    }
    assert!(clear >= 5, "only {clear} problems tell anything");
}

/// The same algorithm on the same problem: the mean costs of both planners agree. False alarm: below 1e-6.
#[test]
fn plays_as_the_planner_for_tables() {
    const RUNS: u64 = 150;
    let problem = tasks::get("msee").unwrap().problem;
    let erm = Erm::new(5.0).unwrap();
    let black_box = hidden(&problem);
    for settings in [PlannerSettings::paper_illustrative(), PlannerSettings::paper_grid()] {
        let settings = PlannerSettings { budget: Budget::simulations(100), ..settings };
        let mut table = Planner::new(&problem, erm, settings.clone()).unwrap();
        let mut planner = BlackBoxPlanner::new(&black_box, erm, settings).unwrap();
        let costs = |of_run: &mut dyn FnMut(u64) -> f64| {
            let costs: Vec<f64> = (0..RUNS).map(of_run).collect();
            let mean = costs.iter().sum::<f64>() / RUNS as f64;
            (mean, costs.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / RUNS as f64)
        };
        let known = costs(&mut |number| run(&problem, &mut table, 1, number).unwrap().episode.cost);
        let sampled = costs(&mut |number| {
            planner.begin_episode();
            let end = black_box.play(|at, rng| Ok(planner.decide(at, rng)?.action), 2, number).unwrap();
            black_box.simulator().cost(&end.features).unwrap()
        });
        let error = ((known.1 + sampled.1) / RUNS as f64).sqrt();
        assert!((known.0 - sampled.0).abs() < 5.0 * error, "{known:?} {sampled:?}");
    }
}

#[test]
fn same_seed_same_bits() {
    let problem = hidden(&tasks::get("rooms").unwrap().problem);
    let play = || {
        let settings = PlannerSettings { budget: Budget::simulations(50), ..PlannerSettings::paper_illustrative() };
        let mut planner = BlackBoxPlanner::new(&problem, Erm::new(1.0).unwrap(), settings).unwrap();
        problem.play(|at, rng| Ok(planner.decide(at, rng)?.action), 3, 4).unwrap()
    };
    assert_eq!(play(), play());
}

/// A kept tree is that of a new planner but for what it remembers: the estimates go on from the simulations below.
#[test]
fn kept_trees_follow_the_episode() {
    let problem = hidden(&tasks::get("rooms").unwrap().problem);
    let settings = PlannerSettings { budget: Budget::simulations(200), ..PlannerSettings::paper_illustrative() };
    let mut planner = BlackBoxPlanner::new(&problem, Erm::MEAN, settings).unwrap();
    let mut first = true;
    problem
        .play(
            |at, rng| {
                let decision = planner.decide(at, rng)?;
                let visits: u64 = decision.reasons.iter().map(|reason| reason.visits).sum();
                assert!(if first { visits == 200 } else { visits >= 200 });
                assert!(first || visits > 200 || at.time > 1, "nothing was kept at time {}", at.time);
                first = false;
                Ok(decision.action)
            },
            5,
            0,
        )
        .unwrap();
    // A situation that does not follow is planned anew.
    let start = problem.start(problem.simulator().initial(&mut rng::stream(0, 0, Purpose::Environment)).unwrap());
    let decision = planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
    assert_eq!(decision.reasons.iter().map(|reason| reason.visits).sum::<u64>(), 200);
}

#[test]
fn failures_arrive_and_leave_the_planner_usable() {
    let problem = hidden(&tasks::get("rooms").unwrap().problem);
    let start = problem.start(problem.simulator().initial(&mut rng::stream(0, 0, Purpose::Environment)).unwrap());
    let mut planner = BlackBoxPlanner::new(&problem, Erm::MEAN, PlannerSettings::paper_illustrative()).unwrap();
    let mut rng = rng::stream(0, 0, Purpose::Policy);
    for steps in [0, 5, 400, 5000] {
        problem.simulator().fail_after(steps);
        assert_eq!(planner.decide(&start, &mut rng), Err(Broken));
    }
    problem.simulator().fail_after(u64::MAX);
    let decision = planner.decide(&start, &mut rng).unwrap();
    assert_eq!(decision.reasons.iter().map(|reason| reason.visits).sum::<u64>(), 500);
}

/// A game of chance that may end early, with costs of any size.
struct Gamble(f64);

impl Simulator for Gamble {
    type State = u8;
    type Error = std::convert::Infallible;

    fn feature_count(&self) -> usize {
        1
    }

    fn initial(&self, _: &mut Rng) -> Result<u8, Self::Error> {
        Ok(0)
    }

    fn action_count(&self, _: &u8) -> Result<u32, Self::Error> {
        Ok(2)
    }

    /// Action 0 stops with a loss of 1 for sure; action 1 loses nothing, or 3 with probability 1/4, and goes on.
    fn step(&self, _: &u8, action: Action, rng: &mut Rng, features: &mut [f64]) -> Result<Option<u8>, Self::Error> {
        if action.index() == 0 {
            features[0] += 1.0;
            return Ok(None);
        }
        let lost = rng::below(rng, 4) == 0;
        features[0] += if lost { 3.0 } else { 0.0 };
        Ok(Some(u8::from(lost)))
    }

    fn cost(&self, features: &[f64]) -> Result<f64, Self::Error> {
        Ok(self.0 * features[0])
    }
}

#[test]
fn episodes_may_end_early_and_risks_are_finite_for_any_beta() {
    for (scale, beta) in
        [(1.0, 0.0), (1.0, 1e-300), (1e12, 1e-15), (1.0, 50.0), (1e9, 1e9), (1.0, f64::INFINITY), (1e-9, -1e300)]
    {
        let problem = Arc::new(SimulatedProblem::new(Gamble(scale), 1.0, 1).unwrap());
        let mut planner =
            BlackBoxPlanner::new(&problem, Erm::new(beta).unwrap(), PlannerSettings::paper_illustrative()).unwrap();
        let decision = planner.decide(&problem.start(0), &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
        assert!(decision.reasons.iter().all(|reason| reason.erm.is_finite()), "{scale} {beta}: {decision:?}");
        let careful = beta * scale > 5.0;
        assert_eq!(decision.action.index(), usize::from(!careful), "{scale} {beta}: {decision:?}");
    }
    let problem = SimulatedProblem::new(Gamble(1.0), 1.0, 4).unwrap();
    let end = problem.play(|at, _| Ok(Action::from(u32::from(at.time < 2))), 0, 0).unwrap();
    assert!(problem.is_over(&end) && end.features[0] >= 0.25);
}
