//! Episodes beside their roofline.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gumdp::rng::{self, Purpose};
use gumdp::{Planner, Policy, Problem, Roofline};

/// How long episodes take, and how long their roofline does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Race {
    /// Seconds of an episode with the planner.
    pub planned: f64,
    /// Seconds of as many random paths from the same occupancy states.
    pub roofline: f64,
    /// Simulated steps of an episode.
    pub steps: f64,
}

/// Episodes that are raced; the mean of them is reported.
const EPISODES: u64 = 4;
/// How often each is played at least.
const ROUNDS: u64 = 5;

/// Times episodes of a planner beside their roofline. The same few episodes are played again and again, each decision in
/// turns with its roofline, until `patience` is over, and the fastest time of each decision counts: what else the machine does
/// then hardly matters.
pub fn race(problem: &Problem, planner: &Planner, patience: Duration) -> Race {
    let horizon = problem.horizon();
    let mut fastest = vec![(f64::INFINITY, f64::INFINITY); horizon * EPISODES as usize];
    let started = Instant::now();
    let mut rounds = 0;
    let steps = loop {
        rounds += 1;
        let play = |(number, decisions)| race_episode(problem, &mut planner.clone(), number, decisions);
        let steps: u64 = (0..EPISODES).zip(fastest.chunks_mut(horizon)).map(play).sum();
        if rounds >= ROUNDS && started.elapsed() >= patience {
            break steps;
        }
    };
    let mean = |seconds: fn(&(f64, f64)) -> f64| fastest.iter().map(seconds).sum::<f64>() / EPISODES as f64;
    Race { planned: mean(|pair| pair.0), roofline: mean(|pair| pair.1), steps: steps as f64 / EPISODES as f64 }
}

/// Plays one episode, keeps the fastest times of each decision and its roofline, and returns the simulated steps.
fn race_episode(problem: &Problem, planner: &mut Planner, number: u64, fastest: &mut [(f64, f64)]) -> u64 {
    let mut roofline = Roofline::new(problem);
    let mut environment = rng::stream(0, number, Purpose::Environment);
    let mut own = rng::stream(0, number, Purpose::Policy);
    let mut other = rng::stream(1, number, Purpose::Policy);
    let mut at = problem.start(problem.mdp().sample_initial(&mut environment));
    for (planned, roof) in fastest {
        let (steps_before, before) = (planner.simulated_steps(), Instant::now());
        let action = planner.act(&at, &mut own).expect("the objective is finite");
        *planned = planned.min(before.elapsed().as_secs_f64());
        let paths = (planner.simulated_steps() - steps_before) / (problem.horizon() - at.time) as u64;
        let before = Instant::now();
        black_box(roofline.simulate(&at, paths, &mut other));
        *roof = roof.min(before.elapsed().as_secs_f64());
        let pair = problem.mdp().pair(at.state, action).expect("planners play actions of the state");
        problem.advance(&mut at, pair, problem.mdp().sample(pair, &mut environment));
    }
    planner.simulated_steps()
}
