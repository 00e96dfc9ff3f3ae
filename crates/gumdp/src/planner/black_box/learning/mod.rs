//! The default planner for simulators: it learns what recurs, plays on that, and searches where search can see far enough.
//!
//! 1. *A table* of states, actions and outcomes is counted from all simulated steps, as long as states recur. Marginal backward induction
//!    on it makes a policy, again at every decision and whenever twice as much is known.
//! 2. *A lattice*: the same table solved over (time, state, sums of features), which sees what one visit alone does not show.
//! 3. *The frontier*: some simulations go to the nearest action that was tried least, so that goals are found which random moves do not meet.
//! 4. *A tree* with Bellman backups of the risk over the outcomes of the table, or sampled ones, whose rollouts follow that policy, or chance where that does better.
//!    It needs no states that recur: outcomes and actions are widened.
//! 5. *A plan* of actions for the rest of the episode is kept and improved where states do not recur. It leads only where its simulations do better than
//!    chance.
//!
//! Everything is learned anew in each episode, so runs can be played in any order and give the same bits.

mod frontier;
mod induction;
mod lattice;
mod leader;
mod plan;
mod reasons;
mod search;
mod settings;
mod table;
mod tree;

pub use settings::LearningSettings;

use std::sync::Arc;

use crate::clock::Moment;
use crate::policy::{Decision, StopReason};
use crate::risk::FixedRisk;
use crate::rng::{self, Rng};
use crate::stop::Stop;

use super::{SimulatedProblem, Simulator, Situation, action_count};
use crate::planner::settings::{Budget, MAX_SIMULATIONS, PlannerError};
use frontier::Frontier;
use induction::Induction;
use lattice::Lattice;
use plan::Plan;
use table::{END, Table};
use tree::{EdgeId, NodeId, Tree};

/// Random episodes from where an episode begins: they show how large costs are.
const PILOTS: u64 = 16;
/// Simulations of a decision in pilot episodes.
const PILOT_SIMULATIONS: u64 = 64;
/// Rollouts from a leaf before it is expanded.
const ROLLOUTS: u32 = 4;
/// Simulations between two looks at the clock.
const CLOCK_INTERVAL: u64 = 16;
/// Marginal backward induction looks at so many outcomes for each step that a decision simulates.
const WORK: usize = 4;
/// The lattice looks at one outcome for so many steps that were learned, but at so many at least.
const STEPS_PER_OUTCOME: usize = 16;
const LEAST_WORK: usize = 4096;
/// Simulations that a time limit is taken for.
const UNLIMITED: u64 = 10_000;

/// Plans in a [`Simulator`], one decision at a time.
///
/// The features of a step must be a function of its state, its action and the next state. A planner learns within an episode and forgets between them.
///
/// ```
/// use std::convert::Infallible;
/// use std::sync::Arc;
///
/// use gumdp::rng::Rng;
/// use gumdp::{Action, Erm, LearningPlanner, LearningSettings, SimulatedProblem, Simulator};
///
/// /// A corridor with a prize at its end; whoever turns back has to begin again.
/// struct Corridor;
///
/// impl Simulator for Corridor {
///     type State = u32;
///     type Error = Infallible;
///     fn feature_count(&self) -> usize {
///         1
///     }
///     fn initial(&self, _: &mut Rng) -> Result<u32, Infallible> {
///         Ok(0)
///     }
///     fn action_count(&self, _: &u32) -> Result<u32, Infallible> {
///         Ok(2)
///     }
///     fn step(&self, at: &u32, action: Action, _: &mut Rng, features: &mut [f64]) -> Result<Option<u32>, Infallible> {
///         let next = if action.index() == 1 { at + 1 } else { 0 };
///         features[0] = f64::from(u8::from(next == 30));
///         Ok(Some(next).filter(|&next| next < 30))
///     }
///     fn cost(&self, features: &[f64]) -> Result<f64, Infallible> {
///         Ok(-features[0])
///     }
/// }
///
/// let problem = Arc::new(SimulatedProblem::new(Corridor, 1.0, 40)?);
/// let mut planner = LearningPlanner::new(&problem, Erm::MEAN, LearningSettings::default())?;
/// let end = problem.play(|at, rng| Ok(planner.decide(at, rng)?.action), 0, 0)?;
/// assert!(end.features[0] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LearningPlanner<S: Simulator> {
    problem: Arc<SimulatedProblem<S>>,
    risk: FixedRisk,
    settings: LearningSettings,
    table: Table<S::State>,
    induction: Induction,
    lattice: Lattice,
    frontier: Frontier,
    /// Whether there is anything to be found out.
    open: bool,
    /// Steps of the table at which it is solved next.
    solve_at: u64,
    /// States at which the frontier is looked for next.
    extend_at: usize,
    /// Logarithms of how many possibilities a step opens: half of the choices, and chance.
    spread: f64,
    plan: Plan,
    tree: Tree<S::State>,
    trail: Vec<(NodeId, EdgeId)>,
    /// What rollouts from the root cost: by the policy that was learned, and by chance.
    learned: Vec<(f64, f64)>,
    by_lattice: Vec<(f64, f64)>,
    random: Vec<(f64, f64)>,
    /// Of the random numbers of rollouts that are compared.
    seed: u64,
    /// Who does best, and the number of simulations after which that is looked at again.
    leads: By,
    look_at: u64,
    /// How far apart costs are, once that is known.
    scale: Option<f64>,
    lowest: f64,
    highest: f64,
    running: Vec<f64>,
    step: Vec<f64>,
    simulated_steps: u64,
    unseen: f64,
    is_finite: bool,
    stop: Stop,
}

/// Who plays a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Chance,
    Learned,
    Lattice,
    Plan,
    /// The change of the plan that is tried.
    Change,
    Frontier,
}

impl<S: Simulator> LearningPlanner<S> {
    /// A planner for a problem and an attitude to risk.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(
        problem: &Arc<SimulatedProblem<S>>,
        risk: impl Into<FixedRisk>,
        settings: LearningSettings,
    ) -> Result<Self, PlannerError> {
        settings.check()?;
        Ok(Self::unchecked(problem, risk.into(), settings))
    }

    fn unchecked(problem: &Arc<SimulatedProblem<S>>, risk: FixedRisk, settings: LearningSettings) -> Self {
        let features = vec![0.0; problem.simulator().feature_count()];
        Self {
            problem: Arc::clone(problem),
            risk,
            table: Table::new(settings.table),
            settings,
            induction: Induction::new(problem.masses()),
            lattice: Lattice::new(),
            frontier: Frontier::default(),
            open: false,
            solve_at: 0,
            extend_at: 0,
            spread: 0.0,
            plan: Plan::default(),
            tree: Tree::new(features.len()),
            trail: Vec::new(),
            learned: Vec::new(),
            by_lattice: Vec::new(),
            seed: 0,
            random: Vec::new(),
            leads: By::Chance,
            look_at: 0,
            scale: None,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
            running: features.clone(),
            step: features,
            simulated_steps: 0,
            unseen: f64::NAN,
            is_finite: true,
            stop: Stop::NEVER,
        }
    }

    /// The same planner for another attitude to risk, without what was learned.
    #[must_use]
    pub fn with_risk(&self, risk: impl Into<FixedRisk>) -> Self {
        Self::unchecked(&self.problem, risk.into(), self.settings.clone())
    }

    /// One for pilot episodes, which decides with few simulations.
    pub(crate) fn for_pilots(&self, risk: FixedRisk) -> Self {
        let few = self.settings.budget.simulations.unwrap_or(PILOT_SIMULATIONS).min(PILOT_SIMULATIONS);
        let settings = LearningSettings { budget: Budget::simulations(few), ..self.settings.clone() };
        Self::unchecked(&self.problem, risk, settings)
    }

    /// What it plans in.
    pub(crate) fn problem(&self) -> &Arc<SimulatedProblem<S>> {
        &self.problem
    }

    /// Plans one decision and returns it with its reasons.
    ///
    /// # Errors
    /// Those of the simulator; the planner can be used again.
    ///
    /// # Panics
    /// If the episode is over (there is no decision at the horizon), or if a state has no action.
    pub fn decide(&mut self, at: &Situation<S::State>, rng: &mut Rng) -> Result<Decision, S::Error> {
        assert!(!self.problem.is_over(at), "there is no decision at the horizon");
        let started = Moment::now();
        let steps_before = self.simulated_steps;
        let number = if self.table.learns() { self.table.meet(self.problem.simulator(), &at.state)? } else { END };
        let actions = action_count(self.problem.simulator(), &at.state)?;
        self.tree.reset(at.state.clone(), number, &at.features);
        self.learned.clear();
        self.by_lattice.clear();
        self.random.clear();
        self.seed = rng::word(rng);
        self.begin_plan(at, rng)?;
        (self.solve_at, self.look_at) = (0, 0);
        self.is_finite = true;
        let (mut simulations, mut stopped) = (0, StopReason::Simulations);
        while simulations < self.settings.budget.simulations.unwrap_or(MAX_SIMULATIONS) {
            let out_of_time = |limit| simulations % CLOCK_INTERVAL == 1 && started.elapsed() >= limit;
            if self.settings.budget.time_limit.is_some_and(out_of_time) || self.stop.is_requested() {
                stopped = StopReason::TimeLimit;
                break;
            }
            if self.table.learns() && self.table.steps() >= self.solve_at {
                self.solve(at, number)?;
                // They were played with what was known before.
                self.learned.clear();
                self.by_lattice.clear();
            } else if self.table.learns() && self.table.state_count() >= self.extend_at {
                self.extend(at, number);
            }
            if simulations >= self.look_at {
                self.look_who_leads(at, number);
                self.look_at = simulations + simulations / 4 + 8;
            }
            self.simulate(at, number, simulations, rng)?;
            simulations += 1;
        }
        if self.scale.is_none() && self.lowest <= self.highest {
            self.scale = Some(self.highest - self.lowest);
        }
        self.look_who_leads(at, number);
        let leads = self.leads;
        let mut base = None;
        if self.table.learns() && self.table.steps() > 0 {
            self.lattice.refine(self.problem.horizon() - at.time);
            self.solve(at, number)?;
            self.running.clone_from(&at.features);
            base = self.by_learned(if leads == By::Chance { By::Learned } else { leads }, number, at.time)?;
        }
        let led = match leads {
            By::Plan => self.plan.action(at.time).map(|action| action.min(actions - 1)),
            By::Chance => None,
            _ => base,
        };
        let averages = self.averages(self.problem.horizon() - at.time);
        let chosen = self.choose(led, actions, averages).or(base).unwrap_or_else(|| rng::below(rng, actions));
        if !self.is_finite {
            stopped = StopReason::NotFinite;
        }
        let decision = self.decision(chosen, actions, simulations, self.simulated_steps - steps_before, stopped);
        self.unseen = self.hidden_tail(number, &decision);
        Ok(decision)
    }

    /// From now on searches end, as if their time were over, soon after this is requested.
    pub fn set_stop(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    /// Forgets what was learned in the last episode.
    pub fn begin_episode(&mut self) {
        self.table.clear();
        self.plan.clear();
        self.lattice.clear();
        self.induction.clear();
        (self.leads, self.open) = (By::Chance, false);
        self.scale = None;
        (self.lowest, self.highest) = (f64::INFINITY, f64::NEG_INFINITY);
    }

    /// Whether states recur, as far as is known, so that what was simulated is learned from. If not, states of earlier decisions are of no further use.
    #[must_use]
    pub fn learns(&self) -> bool {
        self.table.learns()
    }

    /// By how much the risk of the last decision may be higher because of something that was too rare to be seen: outcomes of the chosen action were
    /// drawn c times, and one of probability 1/c may lead to the highest cost that was met. Where states recur the table counts all draws; elsewhere c is the number of
    /// stored outcomes, at most k·√N. With more aversion to risk it takes more simulations, or a larger `widening`, to make this small. Not a number before the first decision.
    #[must_use]
    pub fn unseen(&self) -> f64 {
        self.unseen
    }

    /// Steps simulated so far.
    #[must_use]
    pub fn simulated_steps(&self) -> u64 {
        self.simulated_steps
    }

    /// Marginal backward induction on what is known now.
    fn solve(&mut self, at: &Situation<S::State>, number: u32) -> Result<(), S::Error> {
        let steps = self.problem.horizon() - at.time;
        self.table.look();
        self.solve_at = (2 * self.table.steps()).max(64);
        if !self.table.recurs() {
            // Too little to plan with.
            return Ok(());
        }
        let work = self.work(steps);
        let Self { problem, induction, table, .. } = self;
        let root = induction::Root { state: number, time: at.time, sums: &at.features };
        let cost = |sums: &[f64]| problem.simulator().cost(sums);
        induction.update(table, problem.masses(), self.risk.erm(), root, work, cost)?;
        self.spread = induction.spread(table);
        // What was solved for the last decision may be good for the next simulations.
        let first = self.solve_at == 0 && self.lattice.is_exact();
        if self.settings.lattice && !(first && self.lattice.knows(number, at.time, &at.features)) {
            let Self { problem, lattice, table, risk, .. } = self;
            let cost = |sums: &[f64]| Ok(risk.of_cost(problem.simulator().cost(sums)?));
            let work = (table.steps() as usize / STEPS_PER_OUTCOME).max(LEAST_WORK);
            lattice.update(table, problem.masses(), risk.erm(), (number, at.time, &at.features), work, cost)?;
        }
        self.extend(at, number);
        Ok(())
    }

    /// Looks for what is unknown, again and again while more and more states are met.
    fn extend(&mut self, at: &Situation<S::State>, number: u32) {
        let steps = self.problem.horizon() - at.time;
        let states = self.table.state_count();
        self.extend_at = states + states / 8 + 1;
        self.open = self.settings.frontier && self.frontier.update(&self.table, number, steps, self.work(steps));
    }

    /// Outcomes that may be looked at.
    fn work(&self, steps: usize) -> usize {
        let simulations = self.settings.budget.simulations.unwrap_or(UNLIMITED) as usize;
        simulations.saturating_mul(steps).saturating_mul(WORK)
    }

    /// The plan for a decision.
    fn begin_plan(&mut self, at: &Situation<S::State>, rng: &mut Rng) -> Result<(), S::Error> {
        let Self { problem, plan, .. } = self;
        let draw = |rng: &mut Rng| Ok(problem.simulator().sample_action(&at.state, rng)?.0);
        plan.begin(at.time, problem.horizon() - at.time, rng, draw)
    }

    /// Whether a tree sees far enough.
    fn searches(&self, steps: usize) -> bool {
        let simulations = self.settings.budget.simulations.unwrap_or(UNLIMITED) as f64;
        !self.table.learns() || steps as f64 * self.spread <= self.settings.reach * simulations.ln()
    }

    /// Whether the tree is that of the published planner: the horizon is too far for Bellman backups, and nothing that was learned does better than
    /// chance.
    fn averages(&self, steps: usize) -> bool {
        self.leads == By::Chance && !self.searches(steps)
    }
}
