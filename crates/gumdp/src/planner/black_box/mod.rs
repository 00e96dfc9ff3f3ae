//! Planners for a simulator without tables. Here: ERM-MCTS, the same tree, grown from samples of states that are met on the way. The default
//! planner is in `learning`.

mod learning;
mod simulator;

pub use learning::{LearningPlanner, LearningSettings};
pub use simulator::{SimulatedProblem, Simulator, Situation};

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use crate::clock::Moment;
use crate::model::{Action, State};
use crate::policy::{Decision, StopReason};
use crate::risk::{Erm, FixedRisk, Seen, Weigher};
use crate::rng::{self, Rng};
use crate::stop::Stop;

use super::mcts::decision::{chosen, reason, risk, together};
use super::mcts::tree::{EdgeId, NodeId, ROOT, Tree};
use super::settings::{Expansion, Exploration, MAX_SIMULATIONS, PlannerError, PlannerSettings};

/// Random episodes that show how large costs are.
const PILOTS: u64 = 16;

/// Where β times the size of costs is smaller, the difference to the mean would be lost in rounding unless it is kept apart.
const MILD: f64 = 1e-6;

/// Where β times the spread of costs is larger, the entropic risk is the worst case to 11 digits.
const EXTREME: f64 = 1e12;

/// Plans by ERM-MCTS in a [`Simulator`], one decision at a time.
///
/// The features of a step must be a function of its state, its action and the next state. Costs may have any size: a few random
/// episodes are played before the first decision, and exploration constants count in units of the spread of their costs.
/// `settings.workers` is ignored: a simulator need not be shared by threads.
///
/// ```
/// use std::convert::Infallible;
/// use std::sync::Arc;
///
/// use gumdp::rng::{self, Rng};
/// use gumdp::{Action, BlackBoxPlanner, Erm, PlannerSettings, SimulatedProblem, Simulator};
///
/// /// A walk along the integers that is to be even on both sides of 0; every third step to the right is three long.
/// struct Walk;
///
/// impl Simulator for Walk {
///     type State = i64;
///     type Error = Infallible;
///     fn feature_count(&self) -> usize {
///         2
///     }
///     fn initial(&self, _: &mut Rng) -> Result<i64, Infallible> {
///         Ok(0)
///     }
///     fn action_count(&self, _: &i64) -> Result<u32, Infallible> {
///         Ok(2)
///     }
///     fn step(&self, at: &i64, action: Action, rng: &mut Rng, features: &mut [f64]) -> Result<Option<i64>, Infallible> {
///         features[usize::from(*at > 0)] += 1.0;
///         Ok(Some(if action.index() == 0 { at - 1 } else if rng::below(rng, 3) == 0 { at + 3 } else { at + 1 }))
///     }
///     fn cost(&self, time: &[f64]) -> Result<f64, Infallible> {
///         Ok((time[0] - time[1]).abs())
///     }
/// }
///
/// let problem = Arc::new(SimulatedProblem::new(Walk, 1.0, 12)?);
/// let mut planner = BlackBoxPlanner::new(&problem, Erm::new(5.0)?, PlannerSettings::paper_illustrative())?;
/// let end = problem.play(|at, rng| Ok(planner.decide(at, rng)?.action), 0, 0)?;
/// assert!(Walk.cost(&end.features)? < 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BlackBoxPlanner<S: Simulator> {
    problem: Arc<SimulatedProblem<S>>,
    risk: FixedRisk,
    settings: PlannerSettings,
    /// Known after some random episodes, as the size of the exploration constants.
    weigher: Option<Weigher>,
    exploration: Exploration,
    tree: Tree,
    /// The sums of features at each node, one after the other.
    sums: Vec<f64>,
    known: Known<S::State>,
    trail: Vec<(NodeId, EdgeId)>,
    /// The sums of features along a simulation, and the features of one step.
    running: Vec<f64>,
    step: Vec<f64>,
    /// Memory for re-rooting the tree.
    spare: Tree,
    origins: Vec<NodeId>,
    /// The edge that was played last and the time of what follows it, if the tree below it is to be kept.
    played: Option<(EdgeId, usize)>,
    stop: Stop,
}

/// The states of the tree, by number.
#[derive(Debug)]
struct Known<T> {
    states: Vec<T>,
    actions: Vec<u32>,
    numbers: HashMap<T, State>,
}

impl<S: Simulator> BlackBoxPlanner<S> {
    /// A planner for a problem and an attitude to risk.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(
        problem: &Arc<SimulatedProblem<S>>,
        risk: impl Into<FixedRisk>,
        settings: PlannerSettings,
    ) -> Result<Self, PlannerError> {
        settings.check(problem.horizon())?;
        let features = vec![0.0; problem.simulator().feature_count()];
        Ok(Self {
            problem: Arc::clone(problem),
            risk: risk.into(),
            exploration: settings.exploration.clone(),
            weigher: None,
            tree: Tree::new(settings.selection),
            sums: Vec::new(),
            known: Known { states: Vec::new(), actions: Vec::new(), numbers: HashMap::new() },
            trail: Vec::new(),
            running: features.clone(),
            step: features,
            spare: Tree::new(settings.selection),
            settings,
            origins: Vec::new(),
            played: None,
            stop: Stop::NEVER,
        })
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
        let weigher = match self.weigher.take() {
            Some(weigher) => weigher,
            None => self.pilot(at, rng)?,
        };
        self.set_root(at)?;
        let (mut simulations, mut simulated_steps, mut stopped) = (0, 0, StopReason::Simulations);
        while simulations < self.settings.budget.simulations.unwrap_or(MAX_SIMULATIONS) {
            let out_of_time = |limit| simulations > 0 && started.elapsed() >= limit;
            if self.settings.budget.time_limit.is_some_and(out_of_time) || self.stop.is_requested() {
                stopped = StopReason::TimeLimit;
                break;
            }
            simulated_steps += self.simulate(at, &weigher, rng)?;
            simulations += 1;
        }
        let root: Vec<Seen> = {
            let at = self.tree.visit(ROOT);
            (at.first_edge..at.first_edge + at.actions).map(|edge| self.tree.edge(edge).seen).collect()
        };
        let all = together(&root);
        let action = chosen(&root, &weigher, self.settings.play);
        if self.settings.keep_tree {
            self.played = Some((self.tree.node(ROOT).first_edge + action, at.time + 1));
        }
        let reasons = (0..).zip(&root).map(|(k, seen)| reason(Action(k), seen, &weigher)).collect();
        let root_estimate = risk(&all, &weigher);
        self.weigher = Some(weigher);
        Ok(Decision {
            action: Action(action),
            reasons,
            root_estimate,
            tree_nodes: self.tree.len(),
            simulations,
            simulated_steps,
            stopped: if all.is_finite() { stopped } else { StopReason::NotFinite },
        })
    }

    /// From now on searches end, as if their time were over, soon after this is requested.
    pub fn set_stop(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }

    /// Forgets what was planned for the last episode.
    pub fn begin_episode(&mut self) {
        self.played = None;
    }

    /// Plays random episodes to see how large costs are.
    fn pilot(&mut self, at: &Situation<S::State>, rng: &mut Rng) -> Result<Weigher, S::Error> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for _ in 0..PILOTS {
            self.running.clone_from(&at.features);
            self.wander(at.state.clone(), at.time, rng)?;
            let cost = self.cost()?;
            if cost.is_finite() {
                (low, high) = (low.min(cost), high.max(cost));
            }
        }
        let centre = if low <= high { f64::midpoint(low, high) } else { 0.0 };
        let (spread, largest) = (high - low, low.abs().max(high.abs()));
        if spread > 0.0 && spread.is_finite() {
            self.exploration = self.settings.exploration.scaled(spread);
        }
        let erm = match self.risk.erm() {
            extreme if extreme.beta() * spread > EXTREME => Erm::WORST,
            extreme if extreme.beta() * spread < -EXTREME => Erm::BEST,
            usual => usual,
        };
        let size = if erm.beta().abs() * largest <= MILD { largest } else { f64::INFINITY };
        Ok(Weigher::new(erm, centre, -size, size))
    }

    /// What the simulation that has just ended counts.
    fn cost(&self) -> Result<f64, S::Error> {
        Ok(self.risk.of_cost(self.problem.simulator().cost(&self.running)?))
    }

    /// Moves the root to `at`: keeps the tree below what was played if it led here, or starts anew.
    fn set_root(&mut self, at: &Situation<S::State>) -> Result<(), S::Error> {
        let played = self.played.take().filter(|&(_, time)| time == at.time).map(|(edge, _)| edge);
        let number = self.known.numbers.get(&at.state).copied();
        let child = played.zip(number).and_then(|(edge, state)| self.tree.child(edge, state));
        let width = at.features.len();
        let of_node = |node: NodeId| node as usize * width..(node as usize + 1) * width;
        if let Some(node) = child.filter(|&node| self.sums[of_node(node)] == at.features) {
            self.tree.reroot(node, &mut self.spare, &mut self.origins);
            self.sums = self.origins.iter().flat_map(|&old| self.sums[of_node(old)].to_vec()).collect();
            return Ok(());
        }
        self.known.clear();
        let (state, actions) = self.known.number(self.problem.simulator(), &at.state)?;
        self.tree.reset(state, 0..actions);
        self.sums.clone_from(&at.features);
        Ok(())
    }

    /// One simulation: select, expand, roll out, back up. Returns the number of its steps.
    fn simulate(&mut self, at: &Situation<S::State>, weigher: &Weigher, rng: &mut Rng) -> Result<u64, S::Error> {
        self.trail.clear();
        self.running.clone_from(&at.features);
        let mut node = ROOT;
        let mut end = at.time;
        while end < self.problem.horizon() {
            let here = self.tree.visit(node);
            let edge = self.tree.select(&here, self.exploration.at(end), self.settings.untried, rng);
            let from = &self.known.states[here.state.index()];
            let next = advance(
                &self.problem,
                from,
                Action(edge - here.first_edge),
                end,
                rng,
                &mut self.step,
                &mut self.running,
            )?;
            self.trail.push((node, edge));
            end += 1;
            let Some(next) = next.filter(|_| end < self.problem.horizon()) else { break };
            let (state, actions) = self.known.number(self.problem.simulator(), &next)?;
            if let Some(child) = self.tree.child(edge, state) {
                node = child;
                continue;
            }
            node = self.tree.add_child(edge, state, 0..actions);
            self.sums.extend_from_slice(&self.running);
            if self.settings.expansion == Expansion::OneNode {
                end = self.wander(next, end, rng)?;
                break;
            }
        }
        self.tree.record(&self.trail, weigher, self.cost()?);
        Ok((end - at.time) as u64)
    }

    /// Uniformly random actions to the end of the episode; returns the time of that.
    fn wander(&mut self, mut state: S::State, mut time: usize, rng: &mut Rng) -> Result<usize, S::Error> {
        while time < self.problem.horizon() {
            let actions = action_count(self.problem.simulator(), &state)?;
            let action = Action(rng::below(rng, actions));
            let next = advance(&self.problem, &state, action, time, rng, &mut self.step, &mut self.running)?;
            time += 1;
            let Some(next) = next else { break };
            state = next;
        }
        Ok(time)
    }
}

fn action_count<S: Simulator + ?Sized>(simulator: &S, state: &S::State) -> Result<u32, S::Error> {
    let actions = simulator.action_count(state)?;
    assert!(actions > 0, "a state of the simulator has no action: {state:?}");
    Ok(actions)
}

/// One simulated step.
#[inline]
fn advance<S: Simulator>(
    problem: &SimulatedProblem<S>,
    state: &S::State,
    action: Action,
    time: usize,
    rng: &mut Rng,
    step: &mut [f64],
    running: &mut [f64],
) -> Result<Option<S::State>, S::Error> {
    step.fill(0.0);
    let next = problem.simulator().step(state, action, rng, step)?;
    problem.gather(running, step, time);
    Ok(next)
}

impl<T: Clone + Debug + Eq + Hash> Known<T> {
    fn clear(&mut self) {
        self.states.clear();
        self.actions.clear();
        self.numbers.clear();
    }

    /// The number of a state, which it gets when it is met first, and that of its actions.
    fn number<S: Simulator<State = T>>(&mut self, simulator: &S, state: &T) -> Result<(State, u32), S::Error> {
        if let Some(&number) = self.numbers.get(state) {
            return Ok((number, self.actions[number.index()]));
        }
        let number = State(self.states.len() as u32);
        let actions = action_count(simulator, state)?;
        self.actions.push(actions);
        self.states.push(state.clone());
        self.numbers.insert(state.clone(), number);
        Ok((number, actions))
    }
}
