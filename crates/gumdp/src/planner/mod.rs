//! ERM-MCTS: online planning in the occupancy MDP.
//!
//! Algorithm 1 of the paper (Santos et al., *Risk-Aware General-Utility Markov Decision Processes*), and the variant its
//! published results were computed with. A decision simulates paths from the current occupancy state to the horizon. In a
//! node of the tree an untried action is taken, or else
//!
//! a ∈ argmin_a ρ̂(s, a) − θ_t √(√N(s) / N(s, a)),
//!
//! where ρ̂(s, a) is the empirical ERM of the terminal costs f of the simulations that took a in s. The cost of the whole
//! path, from time 0 to the horizon, is recorded on every edge it took.
//!
//! The planner is a [`Policy`]; [`Planner::decide`] also returns its reasons. It samples the model and looks at no
//! probability. Exact solutions are in [`crate::oracle`], which this module does not use.

mod roofline;
mod search;
mod settings;
mod tree;

pub use roofline::roofline;
pub use settings::{
    Budget, Expansion, Exploration, FinalChoice, MAX_SIMULATIONS, PlannerError, PlannerSettings, UntriedOrder,
};

use std::time::Instant;

use crate::model::{Action, Pair};
use crate::policy::Policy;
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Erm, ErmAccumulator};
use crate::rng::Rng;

use search::Simulator;
use tree::{EdgeId, NodeId, ROOT, Tree};

/// Simulated steps between two looks at the clock, as far as whole simulations allow.
const CLOCK_INTERVAL: usize = 4096;

/// A decision and its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The action to play.
    pub action: Action,
    /// What the search knows of each action, in the order of the state's pairs.
    pub reasons: Vec<ActionReason>,
    /// The empirical ERM V̂_n of all simulations from here.
    pub root_estimate: f64,
    /// Nodes in the tree.
    pub tree_nodes: usize,
    /// Simulations done for this decision.
    pub simulations: u64,
    /// Model steps simulated for this decision.
    pub simulated_steps: u64,
    /// Why the search ended.
    pub stopped: StopReason,
}

/// What the search knows of one action. An action that was never tried has no visits and NaN estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionReason {
    /// The action.
    pub action: Action,
    /// Simulations that took it, those kept from earlier decisions included.
    pub visits: u64,
    /// Their empirical ERM.
    pub erm: f64,
    /// Their mean cost.
    pub mean: f64,
    /// The lowest cost seen.
    pub min: f64,
    /// The highest cost seen.
    pub max: f64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All simulations of the budget are done.
    Simulations,
    /// The time of the budget is over.
    TimeLimit,
}

/// Plans by ERM-MCTS, one decision at a time.
///
/// ```
/// use gumdp::rng::{self, Purpose};
/// use gumdp::{Erm, Mdp, Objective, Planner, PlannerSettings, Problem};
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
/// let decision = planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy));
/// assert_eq!(problem.mdp().action_name(decision.action), "right");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Planner {
    problem: Problem,
    erm: Erm,
    settings: PlannerSettings,
    simulator: Simulator,
    tree: Tree,
    /// Memory for re-rooting the tree.
    spare: Tree,
    origins: Vec<NodeId>,
    /// The edge that was played last, if the tree below it is to be kept.
    played: Option<EdgeId>,
    /// What the next occupancy state must be for that tree to be of use, but for its state.
    expected: OccupancyState,
    simulated_steps: u64,
}

impl Planner {
    /// A planner for a problem and an attitude to risk.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(problem: &Problem, erm: Erm, settings: PlannerSettings) -> Result<Self, PlannerError> {
        settings.check(problem.horizon())?;
        Ok(Self {
            problem: problem.clone(),
            erm,
            settings,
            simulator: Simulator::new(problem),
            tree: Tree::default(),
            spare: Tree::default(),
            origins: Vec::new(),
            played: None,
            expected: problem.start(problem.mdp().initial()[0].0),
            simulated_steps: 0,
        })
    }

    /// The settings it plans with.
    #[must_use]
    pub fn settings(&self) -> &PlannerSettings {
        &self.settings
    }

    /// Plans one decision and returns it with its reasons.
    ///
    /// # Panics
    /// If the episode is over (there is no decision at the horizon) or `at` is a state of another problem.
    pub fn decide(&mut self, at: &OccupancyState, rng: &mut Rng) -> Decision {
        let (simulations, stopped) = self.search(at, rng);
        let edge = self.chosen();
        let mdp = self.problem.mdp();
        let mut all = ErmAccumulator::EMPTY;
        let reasons = mdp
            .pairs(at.state)
            .enumerate()
            .map(|(k, pair)| {
                let edge = self.tree.node(ROOT).first_edge + k as EdgeId;
                let seen = self.tree.edge(edge);
                let visits = seen.erm.count();
                all.merge(self.erm, &seen.erm);
                let known = |x: f64| if visits == 0 { f64::NAN } else { x };
                ActionReason {
                    action: mdp.action(Pair(pair)),
                    visits,
                    erm: known(self.tree.risk(edge)),
                    mean: known(seen.sum / visits as f64),
                    min: known(seen.min),
                    max: known(seen.max),
                }
            })
            .collect();
        Decision {
            action: self.play(at, edge),
            reasons,
            root_estimate: all.value(self.erm),
            tree_nodes: self.tree.len(),
            simulations,
            simulated_steps: simulations * (self.problem.horizon() - at.time) as u64,
            stopped,
        }
    }

    /// Simulates until the budget is used up. Returns the number of simulations and why they ended.
    fn search(&mut self, at: &OccupancyState, rng: &mut Rng) -> (u64, StopReason) {
        assert!(at.time < self.problem.horizon(), "there is no decision at the horizon");
        let started = self.settings.budget.time_limit.map(|limit| (Instant::now(), limit));
        self.set_root(at);
        let most = self.settings.budget.simulations.unwrap_or(MAX_SIMULATIONS);
        let interval = (CLOCK_INTERVAL / (self.problem.horizon() - at.time)).clamp(1, 16) as u64;
        for done in 0..most {
            if done % interval == 0
                && done > 0
                && let Some((start, limit)) = started
                && start.elapsed() >= limit
            {
                return (done, StopReason::TimeLimit);
            }
            let steps = self.simulator.simulate(&mut self.tree, &self.settings, self.erm, rng);
            self.simulated_steps += steps as u64;
        }
        (most, StopReason::Simulations)
    }

    /// Keeps the part of the tree that is still of use, or starts a new one.
    fn set_root(&mut self, at: &OccupancyState) {
        self.simulator.set_root(at.time, &at.features);
        let follows = self.expected.time == at.time && self.expected.features == at.features;
        let kept = self.played.take().filter(|_| follows).and_then(|edge| self.tree.child(edge, at.state));
        match kept {
            Some(node) => self.tree.reroot(self.problem.mdp(), node, &mut self.spare, &mut self.origins),
            None => self.tree.reset(self.problem.mdp(), at.state),
        }
    }

    /// The root's edge to play.
    fn chosen(&self) -> EdgeId {
        let root = self.tree.node(ROOT);
        match self.settings.play {
            FinalChoice::LowestRisk => self.tree.lowest(root, 0.0),
            FinalChoice::MostVisited => {
                let visits = |edge: EdgeId| self.tree.edge(edge).erm.count();
                let edges = root.first_edge..root.first_edge + root.actions;
                edges.reduce(|best, edge| if visits(edge) > visits(best) { edge } else { best }).unwrap_or(0)
            }
        }
    }

    /// The action of the chosen edge; remembers what follows if the tree is to be kept.
    fn play(&mut self, at: &OccupancyState, edge: EdgeId) -> Action {
        let mdp = self.problem.mdp();
        let pair = Pair(mdp.pairs(at.state).start + (edge - self.tree.node(ROOT).first_edge));
        let action = mdp.action(pair);
        if self.settings.keep_tree {
            self.expected.clone_from(at);
            self.problem.advance(&mut self.expected, pair, at.state);
            self.played = Some(edge);
        }
        action
    }
}

impl Policy for Planner {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action {
        self.search(at, rng);
        self.play(at, self.chosen())
    }

    fn begin_episode(&mut self) {
        self.played = None;
    }

    fn simulated_steps(&self) -> u64 {
        self.simulated_steps
    }
}
