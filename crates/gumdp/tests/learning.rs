//! The learning planner: what recurs is learned, what does not is searched and planned all the same.

mod common;

use std::convert::Infallible;
use std::sync::Arc;

use common::hidden::{Hidden, hidden};
use gumdp::rng::{self, Purpose, Rng};
use gumdp::{
    Action, BlackBoxPlanner, Budget, Erm, FixedRisk, LearningPlanner, LearningSettings, PlannerSettings, Risk,
    SimulatedProblem, Simulator, Situation, StopReason, learning_planner,
};
use gumdp_files::tasks;

fn settings(simulations: u64) -> LearningSettings {
    LearningSettings { budget: Budget::simulations(simulations), ..LearningSettings::default() }
}

/// The costs of some episodes.
fn costs<S: Simulator<Error = E>, E: std::fmt::Debug>(
    problem: &SimulatedProblem<S>,
    planner: &mut LearningPlanner<S>,
    runs: std::ops::Range<u64>,
) -> Vec<f64> {
    let episode = |run| {
        planner.begin_episode();
        let end = problem.play(|at, rng| Ok(planner.decide(at, rng)?.action), 0, run).unwrap();
        problem.simulator().cost(&end.features).unwrap()
    };
    runs.map(episode).collect()
}

/// The published planner's risk is .195 with 1024 simulations (256 runs); a single defeat would break the bar.
#[test]
fn resources_are_brought_home_past_enemies() {
    let problem = hidden(&tasks::get("grid-mo").unwrap().problem);
    let mut planner = LearningPlanner::new(&problem, Erm::new(1.0).unwrap(), settings(300)).unwrap();
    let played = costs(&problem, &mut planner, 0..4);
    let mean = played.iter().sum::<f64>() / 4.0;
    assert!(mean < 0.08, "{played:?}");
}

/// What an episode is planned with does not depend on the episodes before, so runs can be shared by threads.
#[test]
fn same_seed_same_bits_in_any_order() {
    let problem = hidden(&tasks::get("rooms").unwrap().problem);
    let new = || LearningPlanner::new(&problem, Erm::new(5.0).unwrap(), settings(60)).unwrap();
    let together = costs(&problem, &mut new(), 0..4);
    let apart: Vec<f64> = (0..4).rev().flat_map(|run| costs(&problem, &mut new(), run..run + 1)).collect();
    assert!(together.iter().eq(apart.iter().rev()), "{together:?} {apart:?}");
}

#[test]
fn failures_arrive_and_leave_the_planner_usable() {
    let problem = hidden(&tasks::get("rooms").unwrap().problem);
    let start = problem.start(problem.simulator().initial(&mut rng::stream(0, 0, Purpose::Environment)).unwrap());
    let mut planner = LearningPlanner::new(&problem, Erm::MEAN, settings(200)).unwrap();
    let mut rng = rng::stream(0, 0, Purpose::Policy);
    for steps in [0, 5, 400, 2000] {
        problem.simulator().fail_after(steps);
        assert!(planner.decide(&start, &mut rng).is_err());
    }
    problem.simulator().fail_after(u64::MAX);
    let decision = planner.decide(&start, &mut rng).unwrap();
    assert_eq!((decision.simulations, decision.stopped), (200, StopReason::Simulations));
    assert!(decision.simulated_steps <= 200 * problem.horizon() as u64);
}

/// A treasure of 10 lies at the end of a corridor of 30 cells, a trifle of 1 at its beginning; what is not kept up falls back.
struct Corridor;

impl Simulator for Corridor {
    type State = i32;
    type Error = Infallible;

    fn feature_count(&self) -> usize {
        1
    }

    fn initial(&self, _: &mut Rng) -> Result<i32, Infallible> {
        Ok(0)
    }

    fn action_count(&self, _: &i32) -> Result<u32, Infallible> {
        Ok(4)
    }

    fn step(&self, at: &i32, action: Action, rng: &mut Rng, features: &mut [f64]) -> Result<Option<i32>, Infallible> {
        // Which action leads on differs from cell to cell; now and then nothing happens.
        let on = action.index() as i32 == (at * 7 + 3) % 4;
        let to = if rng::below(rng, 20) == 0 { *at } else { (at + if on { 1 } else { -1 }).max(-1) };
        if to == -1 || to == 30 {
            features[0] = if to == 30 { 10.0 } else { 1.0 };
            return Ok(None);
        }
        Ok(Some(to))
    }

    fn cost(&self, features: &[f64]) -> Result<f64, Infallible> {
        Ok(-features[0])
    }
}

/// Random play is at the far end once in 4^29 tries.
#[test]
fn far_goals_are_found() {
    let problem = Arc::new(SimulatedProblem::new(Corridor, 1.0, 80).unwrap());
    let mut planner = LearningPlanner::new(&problem, Erm::new(1.0).unwrap(), settings(1000)).unwrap();
    let played = costs(&problem, &mut planner, 0..2);
    assert!(played.iter().all(|&cost| (cost + 10.0 / 80.0).abs() < 1e-12), "{played:?}");
    let settings = PlannerSettings { budget: Budget::simulations(1000), ..PlannerSettings::paper_illustrative() };
    let mut published = BlackBoxPlanner::new(&problem, Erm::new(1.0).unwrap(), settings).unwrap();
    let end = problem.play(|at, rng| Ok(published.decide(at, rng)?.action), 0, 0).unwrap();
    assert!(end.features[0] < 0.02);
}

/// A cart in a valley: it has to swing to get out, and no state is ever met again. The action is a force, one of very many.
struct Cart {
    forces: u32,
    wind: f64,
}

/// Position and speed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moving(f64, f64);

impl Eq for Moving {}

impl std::hash::Hash for Moving {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0.to_bits(), self.1.to_bits()).hash(state);
    }
}

impl Simulator for Cart {
    type State = Moving;
    type Error = Infallible;

    fn feature_count(&self) -> usize {
        2
    }

    fn initial(&self, rng: &mut Rng) -> Result<Moving, Infallible> {
        Ok(Moving(-0.6 + 0.2 * rng::unit(rng), 0.0))
    }

    fn action_count(&self, _: &Moving) -> Result<u32, Infallible> {
        Ok(self.forces)
    }

    fn step(
        &self,
        &Moving(x, v): &Moving,
        action: Action,
        rng: &mut Rng,
        features: &mut [f64],
    ) -> Result<Option<Moving>, Infallible> {
        let force = 2.0 * action.index() as f64 / f64::from(self.forces - 1) - 1.0 + self.wind * (rng::unit(rng) - 0.5);
        // Four of the usual steps each.
        let (mut x, mut v) = (x, v);
        for _ in 0..4 {
            v = (v + 0.001 * force - 0.0025 * (3.0 * x).cos()).clamp(-0.07, 0.07);
            x = (x + v).max(-1.2);
            if x == -1.2 {
                v = v.max(0.0);
            }
        }
        features[0] = 1.0;
        if x >= 0.5 {
            features[1] = 1.0;
            return Ok(None);
        }
        Ok(Some(Moving(x, v)))
    }

    /// To be out of the valley, soon.
    fn cost(&self, features: &[f64]) -> Result<f64, Infallible> {
        Ok(features[0] - 60.0 * features[1])
    }
}

/// Few forces or four billions, with and without wind: all episodes end outside.
#[test]
fn carts_swing_out_of_valleys() {
    for (forces, wind) in [(3, 0.0), (3, 0.3), (u32::MAX, 0.3)] {
        let problem = Arc::new(SimulatedProblem::new(Cart { forces, wind }, 1.0, 60).unwrap());
        let mut planner = LearningPlanner::new(&problem, Erm::new(1.0).unwrap(), settings(300)).unwrap();
        let played = costs(&problem, &mut planner, 0..2);
        assert!(played.iter().all(|&cost| cost < 0.0), "{forces} {wind}: {played:?}");
    }
}

/// Stop with a loss of 1 for sure, or lose 3 with probability 1/4; costs of any size.
struct Gamble(f64);

impl Simulator for Gamble {
    type State = u8;
    type Error = Infallible;

    fn feature_count(&self) -> usize {
        1
    }

    fn initial(&self, _: &mut Rng) -> Result<u8, Infallible> {
        Ok(0)
    }

    fn action_count(&self, _: &u8) -> Result<u32, Infallible> {
        Ok(2)
    }

    fn step(&self, _: &u8, action: Action, rng: &mut Rng, features: &mut [f64]) -> Result<Option<u8>, Infallible> {
        if action.index() == 0 {
            features[0] += 1.0;
            return Ok(None);
        }
        let lost = rng::below(rng, 4) == 0;
        features[0] += if lost { 3.0 } else { 0.0 };
        Ok(Some(u8::from(lost)))
    }

    fn cost(&self, features: &[f64]) -> Result<f64, Infallible> {
        Ok(self.0 * features[0])
    }
}

fn first(problem: &Arc<SimulatedProblem<Gamble>>, risk: impl Into<FixedRisk>) -> usize {
    let mut planner = LearningPlanner::new(problem, risk, settings(500)).unwrap();
    let decision = planner.decide(&problem.start(0), &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
    assert!(decision.root_estimate.is_finite() && decision.stopped == StopReason::Simulations, "{decision:?}");
    decision.action.index()
}

#[test]
fn risks_are_finite_for_any_beta_and_size_of_costs() {
    for (scale, beta) in
        [(1.0, 0.0), (1.0, 1e-300), (1e12, 1e-15), (1.0, 50.0), (1e9, 1e9), (1.0, f64::INFINITY), (1e-9, -1e300)]
    {
        let problem = Arc::new(SimulatedProblem::new(Gamble(scale), 1.0, 1).unwrap());
        let careful = beta * scale > 5.0;
        assert_eq!(first(&problem, Erm::new(beta).unwrap()), usize::from(!careful), "{scale} {beta}");
    }
}

/// Every measure that tables have: the mean says go (.75 against 1), the tail says stop.
#[test]
fn all_measures_of_tables_are_planned_with() {
    let problem = Arc::new(SimulatedProblem::new(Gamble(1.0), 1.0, 1).unwrap());
    let any = LearningPlanner::new(&problem, Erm::MEAN, settings(500)).unwrap();
    for (text, stops) in [
        ("mean", false),
        ("cvar:0.9", true),
        ("evar:0.95", true),
        ("mean-cvar:0.9:0.9", true),
        ("exceed:2", true),
        ("exceed:0.5", false),
        ("var:0.5", false),
        ("worst", true),
    ] {
        let risk: Risk = text.parse().unwrap();
        let Ok(mut planner) = learning_planner(&any, risk, 1);
        let Ok(decision) = planner.decide(&problem.start(0), &mut rng::stream(0, 0, Purpose::Policy));
        assert_eq!(decision.action.index() == 0, stops, "{text}");
    }
}

#[test]
fn wrong_settings_are_named() {
    let problem = Arc::new(SimulatedProblem::new(Gamble(1.0), 1.0, 1).unwrap());
    let refused = |settings| LearningPlanner::new(&problem, Erm::MEAN, settings).err().unwrap().to_string();
    let default = LearningSettings::default;
    assert!(refused(settings(0)).contains("number of simulations is 0"));
    assert!(refused(LearningSettings { caution: -1.0, ..default() }).contains("caution is -1"));
    assert!(refused(LearningSettings { widening: f64::NAN, ..default() }).contains("widening is NaN"));
    assert!(refused(LearningSettings { exploration: f64::INFINITY, ..default() }).contains("exploration is inf"));
}

/// A walk along the integers that is to be even on both sides of 0; every third step to the right is three long. One visit alone shows nothing.
struct Balance;

impl Simulator for Balance {
    type State = i64;
    type Error = Infallible;

    fn feature_count(&self) -> usize {
        2
    }

    fn initial(&self, _: &mut Rng) -> Result<i64, Infallible> {
        Ok(0)
    }

    fn action_count(&self, _: &i64) -> Result<u32, Infallible> {
        Ok(2)
    }

    fn step(&self, at: &i64, action: Action, rng: &mut Rng, features: &mut [f64]) -> Result<Option<i64>, Infallible> {
        features[usize::from(*at > 0)] += 1.0;
        let right = if rng::below(rng, 3) == 0 { 3 } else { 1 };
        Ok(Some(at + if action.index() == 0 { -1 } else { right }))
    }

    fn cost(&self, time: &[f64]) -> Result<f64, Infallible> {
        Ok((time[0] - time[1]).abs())
    }
}

/// With 60 simulations the published planner's risk is .046 and that without the lattice .145 (400 runs), with 240 they are .005 and .059; the lattice makes .012 and 0. A walk
/// that is not even costs 1/6 at least.
#[test]
fn kinks_are_seen() {
    let problem = Arc::new(SimulatedProblem::new(Balance, 1.0, 12).unwrap());
    let erm = Erm::new(3.0).unwrap();
    let risk = |settings| {
        let mut planner = LearningPlanner::new(&problem, erm, settings).unwrap();
        erm.of_samples(&costs(&problem, &mut planner, 0..60))
    };
    assert!(risk(settings(60)) < 0.04);
    assert!(risk(settings(240)) < 1e-3);
    assert!(risk(LearningSettings { lattice: false, ..settings(60) }) > 0.08);
}

/// A loss of 3 has probability 1/4 and is seen; what may be unseen shrinks with more simulations and grows with the aversion to risk.
#[test]
fn what_may_be_unseen_is_told() {
    let problem = Arc::new(SimulatedProblem::new(Gamble(1.0), 1.0, 1).unwrap());
    let unseen = |beta: f64, simulations: u64| {
        let mut planner = LearningPlanner::new(&problem, Erm::new(beta).unwrap(), settings(simulations)).unwrap();
        assert!(planner.unseen().is_nan());
        planner.decide(&problem.start(0), &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
        planner.unseen()
    };
    let (few, many) = (unseen(0.1, 100), unseen(0.1, 10_000));
    assert!(0.0 < many && many < few / 20.0 && few < 0.2, "{few} {many}");
    // The worst case needs one sample only.
    assert!(unseen(5.0, 1000) > unseen(0.1, 1000));
}

/// Vectors have their size after a decision or two; with ten times the simulations nothing more is allocated than a few doublings.
#[test]
fn simulations_allocate_nothing() {
    fn allocated<S: Simulator<Error = Infallible>>(problem: &Arc<SimulatedProblem<S>>) -> u64 {
        let mut planner = LearningPlanner::new(problem, Erm::new(1.0).unwrap(), settings(2000)).unwrap();
        let mut published = BlackBoxPlanner::new(problem, Erm::new(1.0).unwrap(), {
            PlannerSettings { budget: Budget::simulations(2000), ..PlannerSettings::paper_illustrative() }
        })
        .unwrap();
        let mut rng = rng::stream(0, 0, Purpose::Policy);
        let Ok(state) = problem.simulator().initial(&mut rng);
        let at = problem.start(state);
        let mut decide = || {
            let Ok(_) = planner.decide(&at, &mut rng);
            let Ok(_) = published.decide(&at, &mut rng);
        };
        decide();
        allocation_counter::measure(decide).count_total
    }
    let corridor = allocated(&Arc::new(SimulatedProblem::new(Corridor, 1.0, 80).unwrap()));
    let cart = allocated(&Arc::new(SimulatedProblem::new(Cart { forces: 3, wind: 0.3 }, 1.0, 60).unwrap()));
    let balance = allocated(&Arc::new(SimulatedProblem::new(Balance, 1.0, 12).unwrap()));
    assert!(corridor < 200 && cart < 200 && balance < 200, "{corridor} {cart} {balance}");
}

/// A situation that does not follow the last one is planned anew.
#[test]
fn any_situation_can_be_planned_from() {
    let problem: Arc<SimulatedProblem<Hidden>> = hidden(&tasks::get("rooms").unwrap().problem);
    let mut planner = LearningPlanner::new(&problem, Erm::MEAN, settings(40)).unwrap();
    let mut at = problem.start(problem.simulator().initial(&mut rng::stream(0, 0, Purpose::Environment)).unwrap());
    for time in [0, 7, 19, 3] {
        at = Situation { time, ..at };
        let decision = planner.decide(&at, &mut rng::stream(0, 1, Purpose::Policy)).unwrap();
        assert_eq!(decision.simulations, 40);
    }
}
