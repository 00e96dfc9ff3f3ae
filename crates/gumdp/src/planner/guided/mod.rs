//! The guided planner: a model-based policy that is improved by search where search can see far enough.
//!
//! 1. *Marginal backward induction* ([`marginal`](self)) treats the objective as a sum of step costs at the occupancy reached so
//!    far and solves that by dynamic programming over (time, state), again at every decision. For a linear objective that is
//!    optimal, and nothing else is done. Where chance decides more than choice, it reckons with what chance will bring.
//! 2. Where the horizon is within reach of the simulations, a tree is searched with Bellman backups of the entropic risk: every
//!    outcome enters with its probability. Leaves are evaluated by rollouts that follow (1) with the step costs of the running
//!    occupancy.
//! 3. An action other than that of (1) is played only if the tree has evidence that it is better.
//!
//! It needs the model's probabilities; [`crate::Planner`], the published algorithm, needs samples only. With more and more
//! simulations the whole horizon comes within reach, every outcome is met and every node is solved or visited again and again:
//! decisions approach the optimum, if `reach` and `exploration` are positive, up to the rounding of backups (1e-7 of the
//! spread of values for each step). `docs/planner.md` has the reasons and the measurements.

mod choice;
mod exact;
mod marginal;
mod moves;
mod plans;
mod prepare;
mod rollout;
mod settings;
mod tree;

pub(super) use choice::{error_of_difference, risk_of};
pub(super) use moves::{Moves, Outcome};
pub use settings::GuidedSettings;

use std::sync::Arc;

use crate::clock::Moment;
use crate::model::{Action, Pair};
use crate::objective::PathEvaluator;
use crate::oracle::OptimalPolicy;
use crate::policy::{ActionReason, Decision, Policy, PolicyFailure, StopReason, certain};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Erm, FixedRisk};
use crate::rng::Rng;
use crate::stop::Stop;

use super::lattice::{Lattice, Scratch};
use super::mcts::Planner;
use super::pilots::Rarities;
use super::settings::PlannerError;
use choice::Manner;
use marginal::{Ahead, Marginal};
use moves::Spread;
use plans::Leg;
use prepare::Prepared;
use tree::{EdgeId, NodeId, ROOT, Tree};

/// Simulations between two looks at the clock.
const CLOCK_INTERVAL: u64 = 16;

/// One in so many of the simulations of a decision improves the plan that is kept: they take longer than others.
const SHARE: u64 = 3;

/// Seven tenths of the simulations of a decision make a tree where another manner would decide at once: they take longer than those of the
/// published planner.
const IN_TREE: (u64, u64) = (7, 10);

/// The most outcomes that marginal backward induction looks at: a fraction of a second, and some hundred megabytes.
const MOST_OUTCOMES: usize = 1 << 25;

/// Plans with the model's probabilities, one decision at a time.
///
/// ```
/// use gumdp::{Budget, Erm, GuidedPlanner, GuidedSettings, run};
/// use gumdp_files::tasks;
/// let problem = tasks::get("grid-mo").unwrap().problem;
/// let settings = GuidedSettings { budget: Budget::simulations(1024), ..GuidedSettings::default() };
/// let mut planner = GuidedPlanner::new(&problem, Erm::new(1.0)?, settings)?;
/// let run = run(&problem, &mut planner, 0, 0)?;
/// assert!(run.episode.cost < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GuidedPlanner {
    problem: Problem,
    risk: FixedRisk,
    /// What is taken over outcomes.
    erm: Erm,
    settings: GuidedSettings,
    moves: Arc<Moves>,
    spread: Spread,
    rarities: Arc<Rarities>,
    /// Whether what is minimised is linear: then marginal backward induction is exact.
    linear: bool,
    marginal: Marginal,
    /// What was prepared before the first decision.
    prepared: Option<Prepared>,
    scratch: Scratch,
    /// Decides if it could be had.
    optimal: Option<OptimalPolicy>,
    /// Whether solving exactly was tried in vain.
    too_large: bool,
    /// Decides in its manner.
    published: Option<Box<Planner>>,
    /// What is left of the incumbent plan.
    plan: Vec<Leg>,
    tree: Tree,
    evaluator: PathEvaluator,
    /// Pairs of the simulated path; the first H − (root's time) are used.
    path: Vec<u32>,
    /// The part of the path that is in the tree.
    trail: Vec<(NodeId, EdgeId)>,
    /// The features of the root, and those along a rollout, which are the same between simulations.
    root: Vec<f64>,
    running: Vec<f64>,
    /// The edge that was played last, and what the next occupancy state must be for the tree below it to be of use.
    played: Option<EdgeId>,
    expected: OccupancyState,
    simulated_steps: u64,
    stop: Stop,
}

/// How a search went.
struct Searched {
    simulations: u64,
    stopped: StopReason,
    /// The move to play.
    chosen: u32,
    /// The risk of the plan that it follows, if it follows one.
    planned: Option<f64>,
}

impl GuidedPlanner {
    /// A planner for a problem and an attitude to risk.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(problem: &Problem, risk: impl Into<FixedRisk>, settings: GuidedSettings) -> Result<Self, PlannerError> {
        settings.check()?;
        Ok(Self::of_moves(problem, risk.into(), settings, Moves::new(problem)))
    }

    fn of_moves(problem: &Problem, risk: FixedRisk, settings: GuidedSettings, moves: Moves) -> Self {
        let features = vec![0.0; problem.objective().feature_count()];
        Self {
            risk,
            erm: risk.erm(),
            linear: problem.objective().as_linear().is_some() && risk.is_entropic(),
            marginal: Marginal::new(problem, &moves),
            settings,
            spread: moves.spread(problem),
            moves: Arc::new(moves),
            rarities: Arc::new(Rarities::new(problem)),
            prepared: None,
            scratch: Scratch::default(),
            optimal: None,
            too_large: false,
            published: None,
            plan: Vec::new(),
            tree: Tree::default(),
            evaluator: problem.path_evaluator(),
            path: vec![0; problem.horizon()],
            trail: Vec::with_capacity(problem.horizon()),
            root: features.clone(),
            running: features,
            played: None,
            expected: problem.start(problem.mdp().initial()[0].0),
            simulated_steps: 0,
            stop: Stop::NEVER,
            problem: problem.clone(),
        }
    }

    /// Simulations of a move of the root and the estimated ERM of playing it.
    fn estimate(&self, at: &OccupancyState, number: u32, stopped: StopReason) -> (u64, f64) {
        if let Some(lattice) = self.lattice().filter(|_| stopped == StopReason::Lattice) {
            return (0, lattice.of_move(&self.moves, at, number, &mut Scratch::default()));
        }
        if stopped == StopReason::Marginal {
            let value = self.marginal.of_move(&self.problem, &self.moves, self.erm, at, number);
            // A formula need not have a value before the end.
            let gathered = self.problem.objective().value_of_features(&at.features);
            return (0, value + if gathered.is_finite() { gathered } else { 0.0 });
        }
        let edge = self.tree.root_edges().iter().find(|edge| edge.number == number);
        edge.filter(|edge| edge.visits > 0).map_or((0, f64::NAN), |edge| (u64::from(edge.visits), edge.value))
    }

    fn search(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Searched, PolicyFailure> {
        let started = Moment::now();
        let steps = self.problem.horizon().checked_sub(at.time).filter(|&steps| steps > 0);
        let steps = steps.expect("there is no decision at the horizon");
        let mut scratch = std::mem::take(&mut self.scratch);
        let by_lattice = self.by_lattice(at, &mut scratch);
        self.scratch = scratch;
        // Where simulations can meet everything that may follow, the tree is exact, and most lattices are not.
        let decides = |lattice: &Lattice| lattice.is_exact() || !self.covers(steps);
        if let Some(chosen) = by_lattice.filter(|_| self.lattice().is_some_and(decides)) {
            return Ok(Searched { simulations: 0, stopped: StopReason::Lattice, chosen, planned: None });
        }
        let (reach, forecast) = match self.prepared.as_ref().map(|prepared| prepared.manner) {
            Some(Manner::Marginal { reach, forecast }) => (reach, forecast),
            Some(Manner::Plans) => (self.settings.reach, 0.0),
            _ => (self.settings.reach, self.settings.forecast),
        };
        let plans = self.destinations();
        let searches =
            by_lattice.is_some() || if plans.is_some() { self.covers(steps) } else { self.within(reach, steps) };
        let work = self.work(steps);
        let forecast = if searches || self.linear { 0.0 } else { forecast };
        let keep_risks = searches || plans.is_some();
        self.marginal.update(&self.problem, &self.moves, self.erm, at, Ahead { work, forecast, keep_risks });
        let marginal = self.marginal.best(&self.problem, &self.moves, self.erm, at, self.scale_of_values());
        let mut base = by_lattice.unwrap_or(marginal);
        if let Some(destinations) = plans {
            if at.time == 0 || !self.follows(at) {
                self.plan.clear();
                self.plan.extend_from_slice(destinations.first(at.state));
            }
            let (simulations, caution) = (self.settings.most().div_ceil(SHARE), self.settings.caution);
            let planned = (!searches).then(|| self.improve_plan(&destinations, at, simulations, caution, None, rng));
            let next = self.plan.get(1);
            base = self.plan.first().map_or(marginal, |leg| destinations.step(&self.moves, *leg, next, at.state));
            if let Some((simulations, risk)) = planned {
                self.simulated_steps += simulations * steps as u64;
                self.played = None;
                self.expect(at, base);
                return Ok(Searched {
                    simulations,
                    stopped: StopReason::Simulations,
                    chosen: base,
                    planned: Some(risk),
                });
            }
        } else if !searches {
            self.played = None;
            return Ok(Searched { simulations: 0, stopped: StopReason::Marginal, chosen: base, planned: None });
        }
        self.set_root(at, base);
        let most = if by_lattice.is_some() || !self.within(self.settings.reach, steps) {
            self.settings.most().saturating_mul(IN_TREE.0).div_ceil(IN_TREE.1)
        } else {
            self.settings.most()
        };
        let (mut simulations, mut stopped, mut failure) = (0, StopReason::Simulations, None);
        while simulations < most {
            if self.tree.is_solved() {
                stopped = StopReason::Solved;
                break;
            }
            let out_of_time = |limit| simulations % CLOCK_INTERVAL == 1 && started.elapsed() >= limit;
            if self.settings.budget.time_limit.is_some_and(out_of_time) {
                stopped = StopReason::TimeLimit;
                break;
            }
            let is_finite = self.simulate(at.time, steps, rng);
            simulations += 1;
            failure = match (is_finite, self.stop.is_requested()) {
                (false, _) => Some(PolicyFailure::NotFinite),
                (true, true) => Some(PolicyFailure::Stopped),
                (true, false) => continue,
            };
            break;
        }
        self.simulated_steps += simulations * steps as u64;
        if let Some(failure) = failure {
            // What a broken tree knows is of no further use.
            return Err(failure);
        }
        let edge = self.tree.best(base, self.settings.caution);
        let chosen = self.tree.edge(edge).number;
        self.expect(at, chosen);
        self.played = Some(edge);
        Ok(Searched { simulations, stopped, chosen, planned: None })
    }

    /// What the next occupancy state must be if this move is made, and what is left of the plan then.
    fn expect(&mut self, at: &OccupancyState, chosen: u32) {
        self.expected.clone_from(at);
        self.problem.advance(&mut self.expected, self.moves.get(chosen).pair, at.state);
        let class = self.moves.get(chosen).class;
        if let Some(destinations) = self.destinations()
            && let Some(leg) = self.plan.first_mut()
            && destinations.arrives(leg, class)
        {
            self.plan.remove(0);
        }
    }

    fn follows(&self, at: &OccupancyState) -> bool {
        self.expected.time == at.time && self.expected.features == at.features
    }

    /// Moves the root of the tree to `at`, where `base` is the move of marginal backward induction.
    fn set_root(&mut self, at: &OccupancyState, base: u32) {
        self.set_paths(at);
        let follows = self.follows(at);
        match self.played.take().filter(|_| follows).and_then(|edge| self.tree.child(edge, at.state)) {
            Some(node) => self.tree.reroot(node),
            None => self.tree.reset(at.state),
        }
        if self.tree.root_edges().is_empty() {
            self.tree.node_mut(ROOT).preferred = base;
            self.tree.expand(ROOT, &self.moves);
        }
    }
}

impl Policy for GuidedPlanner {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Action, PolicyFailure> {
        self.look_at(at);
        self.prepare_once()?;
        if let Some(action) = self.exactly(at) {
            return Ok(action);
        }
        if let Some(published) = &mut self.published {
            return published.act(at, rng);
        }
        let chosen = self.search(at, rng)?.chosen;
        Ok(self.problem.mdp().action(self.moves.get(chosen).pair))
    }

    /// For each action the number of simulations and the estimated ERM of playing it. Actions that do the same share their
    /// reasons; means and extremes are not estimated. Where nothing was searched ([`StopReason::Marginal`]) the estimates are
    /// sums of step costs: they rank actions, and are risks only if the objective is linear.
    ///
    /// # Panics
    /// If the episode is over (there is no decision at the horizon) or `at` is a state of another problem.
    fn decide(&mut self, at: &OccupancyState, rng: &mut Rng) -> Result<Decision, PolicyFailure> {
        self.look_at(at);
        self.prepare_once()?;
        if let Some(decision) = self.decide_exactly(at) {
            return Ok(decision);
        }
        if let Some(published) = &mut self.published {
            return published.decide(at, rng);
        }
        let Searched { simulations, stopped, chosen, planned } = self.search(at, rng)?;
        let mdp = self.problem.mdp();
        let reason = |pair: Pair| {
            let number = self.moves.of_pair(&self.problem, at.state, pair);
            let (visits, erm) = match planned {
                Some(risk) if number == chosen => (simulations, risk),
                Some(_) => (0, f64::NAN),
                None => self.estimate(at, number, stopped),
            };
            ActionReason { action: mdp.action(pair), visits, erm, mean: f64::NAN, min: f64::NAN, max: f64::NAN }
        };
        let reasons: Vec<ActionReason> = mdp.pairs(at.state).map(Pair).map(reason).collect();
        let root_estimate = reasons.iter().map(|reason| reason.erm).fold(f64::INFINITY, f64::min);
        let tree_nodes = if stopped == StopReason::Marginal || planned.is_some() { 0 } else { self.tree.len() };
        Ok(Decision {
            action: mdp.action(self.moves.get(chosen).pair),
            reasons,
            root_estimate,
            tree_nodes,
            simulations,
            simulated_steps: simulations * (self.problem.horizon() - at.time) as u64,
            stopped,
        })
    }

    fn prepare(&mut self) -> Result<(), PolicyFailure> {
        self.prepare_once()
    }

    fn begin_episode(&mut self) {
        self.published.iter_mut().for_each(|published| published.begin_episode());
        self.played = None;
        // A plan is begun at time 0 and kept only by the decisions that follow one another.
        self.expected.time = 0;
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.optimal.iter_mut().for_each(|optimal| optimal.set_stop(stop));
        self.published.iter_mut().for_each(|published| published.set_stop(stop));
        self.stop = stop.clone();
    }

    fn simulated_steps(&self) -> u64 {
        self.simulated_steps + self.published.as_ref().map_or(0, |published| published.simulated_steps())
    }

    /// Known where the optimum or an exact lattice decides: nothing is drawn then.
    fn probabilities(&self, at: &OccupancyState, probabilities: &mut Vec<f64>) -> bool {
        if let Some(action) = self.exactly(at) {
            let mdp = self.problem.mdp();
            return certain(mdp, at.state, mdp.pair(at.state, action), probabilities);
        }
        if !self.lattice().is_some_and(Lattice::is_exact) {
            return false;
        }
        let Some(chosen) = self.by_lattice(at, &mut Scratch::default()) else { return false };
        let pair = self.moves.get(chosen).pair;
        probabilities.clear();
        probabilities.extend(self.problem.mdp().pairs(at.state).map(|own| f64::from(u8::from(own == pair.0))));
        true
    }

    fn problem(&self) -> Option<&Problem> {
        Some(&self.problem)
    }
}
