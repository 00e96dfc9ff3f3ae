//! ERM-MCTS: online planning in the occupancy MDP.
//!
//! Algorithm 1 of the paper (Santos et al., *Risk-Aware General-Utility Markov Decision Processes*), and the variant its
//! published results were computed with. A decision simulates paths from the current occupancy state to the horizon. In a
//! node of the tree an untried action is taken, or else
//!
//! a ∈ argmin_a ρ̂(s, a) − θ_t √(√N(s) / N(s, a)),
//!
//! or by another [rule](super::Selection), where ρ̂(s, a) is the empirical ERM of the terminal costs f of the simulations that took a in s. The cost of the whole
//! path, from time 0 to the horizon, is recorded on every edge it took.
//!
//! The planner is a [`Policy`]; [`Planner::decide`] also returns its reasons. It samples the model and looks at no
//! probability. Exact solutions are in [`crate::oracle`], which this module does not use.

pub(super) mod decision;
mod roofline;
mod search;
pub(super) mod tree;
mod worker;

pub use roofline::Roofline;

use rayon::prelude::*;

use crate::clock::Moment;
use crate::model::{Action, Pair};
use crate::policy::{Decision, Policy, PolicyFailure, StopReason};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{FixedRisk, Seen, Weigher};
use crate::rng::{self, Purpose, Rng};
use crate::stop::Stop;

use super::settings::{PlannerError, PlannerSettings};
use decision::{chosen, reason, risk, together};
use worker::Worker;

/// Plans by ERM-MCTS, one decision at a time.
///
/// ```
/// use gumdp::rng::{self, Purpose};
/// use gumdp::{Erm, Mdp, Objective, Planner, PlannerSettings, Policy, Problem};
/// let mdp = Mdp::named(["fork", "good", "bad"], ["left", "right"])
///     .start("fork")
///     .transition("fork", "left", [("bad", 1.0)])
///     .transition("fork", "right", [("good", 1.0)])
///     .transition("good", "left", [("good", 1.0)])
///     .transition("bad", "left", [("bad", 1.0)])
///     .build()?;
/// let objective = Objective::linear(mdp.by_state(&[0.0, 0.0, 1.0])?)?;
/// let problem = Problem::new(mdp, objective, 0.9, 5)?;
/// let mut planner = Planner::new(&problem, Erm::new(2.0)?, PlannerSettings::paper_illustrative())?;
/// let start = problem.start(problem.mdp().find_state("fork").unwrap());
/// let decision = planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy))?;
/// assert_eq!(problem.mdp().action_name(decision.action), "right");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Planner {
    problem: Problem,
    weigher: Weigher,
    settings: PlannerSettings,
    /// Each with its own tree; their roots are merged before an action is chosen.
    workers: Vec<Worker>,
    /// What all workers know of the root's actions.
    root: Vec<Seen>,
    /// The action that was played last, by its place among the state's, if the trees below it are to be kept.
    played: Option<u32>,
    /// What the next occupancy state must be for that tree to be of use, but for its state.
    expected: OccupancyState,
    simulated_steps: u64,
    stop: Stop,
}

impl Planner {
    /// A planner for a problem and an attitude to risk.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(problem: &Problem, risk: impl Into<FixedRisk>, settings: PlannerSettings) -> Result<Self, PlannerError> {
        let risk = risk.into();
        settings.check(problem.horizon())?;
        let bounds = problem.objective().bounds();
        Ok(Self {
            problem: problem.clone(),
            weigher: Weigher::new(risk.erm(), usual_cost(problem), bounds.low, bounds.high),
            workers: vec![Worker::new(problem, risk, settings.selection); settings.workers],
            settings,
            root: Vec::new(),
            played: None,
            expected: problem.start(problem.mdp().initial()[0].0),
            simulated_steps: 0,
            stop: Stop::NEVER,
        })
    }

    /// The settings it plans with.
    #[must_use]
    pub fn settings(&self) -> &PlannerSettings {
        &self.settings
    }

    /// Simulates until the budget is used up and merges what the workers found.
    fn search(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<(), PolicyFailure> {
        let steps = self.problem.horizon().checked_sub(at.time).filter(|&steps| steps > 0);
        let steps = steps.expect("there is no decision at the horizon");
        let Self { problem, weigher, settings, workers, root, played, expected, stop, .. } = self;
        let deadline = settings.budget.time_limit.map(|limit| (Moment::now(), limit));
        let follows = expected.time == at.time && expected.features == at.features;
        let played = played.take().filter(|_| follows);
        if let [worker] = workers.as_mut_slice() {
            worker.set_root(problem.mdp(), at, played);
            worker.search(settings, weigher, settings.budget.simulations, deadline, stop, rng);
        } else {
            // The workers are logical: their number and streams are fixed, whatever the number of threads.
            let seed = rng::word(rng);
            let count = workers.len() as u64;
            workers.par_iter_mut().enumerate().for_each(|(number, worker)| {
                let number = number as u64;
                let share = |all: u64| all / count + u64::from(number < all % count);
                let mut own = rng::stream(seed, number, Purpose::Policy);
                worker.set_root(problem.mdp(), at, played);
                worker.search(settings, weigher, settings.budget.simulations.map(share), deadline, stop, &mut own);
            });
        }
        root.clear();
        root.resize(problem.mdp().pairs(at.state).len(), Seen::NOTHING);
        for worker in workers.iter() {
            worker.add_root(root);
        }
        self.simulated_steps += self.workers.iter().map(|worker| worker.simulations * steps as u64).sum::<u64>();
        if self.stop.is_requested() {
            return Err(PolicyFailure::Stopped);
        }
        if self.root.iter().all(Seen::is_finite) { Ok(()) } else { Err(PolicyFailure::NotFinite) }
    }

    /// The chosen action; remembers what follows if the trees are to be kept.
    fn play(&mut self, at: &OccupancyState) -> Action {
        let mdp = self.problem.mdp();
        let chosen = chosen(&self.root, &self.weigher, self.settings.play);
        let pair = Pair(mdp.pairs(at.state).start + chosen);
        let action = mdp.action(pair);
        if self.settings.keep_tree {
            self.expected.clone_from(at);
            self.problem.advance(&mut self.expected, pair, at.state);
            self.played = Some(chosen);
        }
        action
    }
}

/// The cost of the path that takes every state's first action and its most likely outcome.
fn usual_cost(problem: &Problem) -> f64 {
    let mdp = problem.mdp();
    let mut state = mdp.initial()[0].0;
    let path: Vec<Pair> = (0..problem.horizon())
        .map(|_| {
            let pair = Pair(mdp.pairs(state).start);
            let likeliest = mdp.successors(pair).reduce(|a, b| if b.1 > a.1 { b } else { a });
            state = likeliest.map_or(state, |next| next.0);
            pair
        })
        .collect();
    let cost = problem.objective().value(&problem.occupancy(&path));
    if cost.is_finite() { cost } else { 0.0 }
}

impl Policy for Planner {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Action, PolicyFailure> {
        self.search(at, rng)?;
        Ok(self.play(at))
    }

    /// # Panics
    /// If the episode is over (there is no decision at the horizon) or `at` is a state of another problem.
    fn decide(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Decision, PolicyFailure> {
        self.search(at, rng)?;
        let mdp = self.problem.mdp();
        let of_pairs = mdp.pairs(at.state).map(|pair| mdp.action(Pair(pair))).zip(&self.root);
        let reasons = of_pairs.map(|(action, seen)| reason(action, seen, &self.weigher)).collect();
        let simulations = self.workers.iter().map(|worker| worker.simulations).sum();
        let out_of_time = self.workers.iter().any(|worker| worker.stopped == StopReason::TimeLimit);
        Ok(Decision {
            reasons,
            root_estimate: risk(&together(&self.root), &self.weigher),
            tree_nodes: self.workers.iter().map(Worker::nodes).sum(),
            simulations,
            simulated_steps: simulations * (self.problem.horizon() - at.time) as u64,
            stopped: if out_of_time { StopReason::TimeLimit } else { StopReason::Simulations },
            action: self.play(at),
        })
    }

    fn begin_episode(&mut self) {
        self.played = None;
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    fn simulated_steps(&self) -> u64 {
        self.simulated_steps
    }

    fn problem(&self) -> Option<&Problem> {
        Some(&self.problem)
    }
}
