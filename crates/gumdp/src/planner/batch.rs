//! ERM-MCTS in a simulator that steps many states at once: the simulations of a batch go abreast, one step of all of them after the other.
//!
//! A simulation that is under way counts as a visit without a cost, so that those of a batch take different ways (Liu et al., *Watch the
//! unobserved: a simple approach to parallelizing Monte Carlo tree search*, 2020). With batches of one it is the published planner, but for the
//! tree, which begins anew at each decision.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use crate::clock::Moment;
use crate::model::{Action, State};
use crate::policy::{Decision, StopReason};
use crate::problem::{ProblemError, masses};
use crate::risk::{Erm, FixedRisk, Seen, Weigher};
use crate::rng::{self, Rng};
use crate::stop::Stop;

use super::black_box::Situation;
use super::mcts::decision::{chosen, reason, risk, together};
use super::mcts::tree::{EdgeId, NodeId, ROOT, Tree};
use super::settings::{Expansion, Exploration, MAX_SIMULATIONS, PlannerError, PlannerSettings, UntriedOrder};

/// Random episodes that show how large costs are.
const PILOTS: usize = 16;
/// Where β times the size of costs is smaller, the difference to the mean would be lost in rounding unless it is kept apart.
const MILD: f64 = 1e-6;
/// Where β times the spread of costs is larger, the entropic risk is the worst case to 11 digits.
const EXTREME: f64 = 1e12;

/// A model that steps many states at once, each of them a row of numbers.
pub trait BatchSimulator {
    /// What a row is made of. Rows that are equal are the same state.
    type Part: Copy + Debug + Eq + Hash;
    /// Why something could not be sampled; [`std::convert::Infallible`] if that cannot happen.
    type Error;

    /// Length of the features of a step.
    fn feature_count(&self) -> usize;

    /// The number of actions, at least 1, the same in all states; they are numbered from 0.
    fn action_count(&self) -> u32;

    /// Takes an action in each state: makes the rows of `next`, the features, which are all 0, and says which episodes are over.
    ///
    /// # Errors
    /// If that fails.
    fn step(
        &self,
        from: BatchFrom<'_, Self::Part>,
        to: BatchTo<'_, Self::Part>,
        rng: &mut Rng,
    ) -> Result<(), Self::Error>;

    /// The objective: what an episode with these discounted sums of features costs.
    ///
    /// # Errors
    /// If that fails.
    fn cost(&self, features: &[f64]) -> Result<f64, Self::Error>;
}

/// States, one row after the other, and the action in each.
#[derive(Clone, Copy, Debug)]
pub struct BatchFrom<'a, T> {
    /// Rows of the same length.
    pub states: &'a [T],
    /// As many as there are rows.
    pub actions: &'a [Action],
}

/// What steps lead to, by row.
#[derive(Debug)]
pub struct BatchTo<'a, T> {
    /// The next states; of an episode that is over, whatever it was.
    pub states: &'a mut [T],
    /// The features of the steps.
    pub features: &'a mut [f64],
    /// Whether the episode is over.
    pub over: &'a mut [bool],
}

/// A simulator with a discount and a horizon.
#[derive(Clone, Debug)]
pub struct BatchProblem<S> {
    simulator: S,
    masses: Arc<[f64]>,
}

impl<S: BatchSimulator> BatchProblem<S> {
    /// Puts a problem together; steps count as in a [`SimulatedProblem`](crate::SimulatedProblem).
    ///
    /// # Errors
    /// If the discount is not in (0, 1] or the horizon not in [1, [`MAX_HORIZON`](crate::problem::MAX_HORIZON)].
    pub fn new(simulator: S, discount: f64, horizon: usize) -> Result<Self, ProblemError> {
        Ok(Self { simulator, masses: masses(discount, horizon)? })
    }

    /// The simulator.
    pub fn simulator(&self) -> &S {
        &self.simulator
    }

    /// Number of steps of an episode, at most.
    #[must_use]
    pub fn horizon(&self) -> usize {
        self.masses.len()
    }

    /// Moves on: a step had these features and led to `next`, or ended the episode.
    ///
    /// # Panics
    /// If the episode is already over.
    pub fn advance(&self, at: &mut Situation<Vec<S::Part>>, features: &[f64], next: Option<&[S::Part]>) {
        gather(&mut at.features, features, self.masses[at.time]);
        at.time = if next.is_some() { at.time + 1 } else { self.horizon() };
        if let Some(row) = next {
            at.state.copy_from_slice(row);
        }
    }
}

fn gather(sums: &mut [f64], features: &[f64], mass: f64) {
    for (sum, feature) in sums.iter_mut().zip(features) {
        *sum += mass * feature;
    }
}

/// Plans in a [`BatchSimulator`], one decision at a time.
///
/// Settings are those of [`BlackBoxPlanner`](crate::BlackBoxPlanner), but for `keep_tree`: nothing is kept.
///
/// ```
/// use std::convert::Infallible;
/// use std::sync::Arc;
///
/// use gumdp::rng::{self, Purpose, Rng};
/// use gumdp::{BatchFrom, BatchPlanner, BatchProblem, BatchSimulator, BatchTo, Erm, PlannerSettings, Situation};
///
/// /// A walk along the integers that is to end where it began.
/// struct Walk;
///
/// impl BatchSimulator for Walk {
///     type Part = i64;
///     type Error = Infallible;
///     fn feature_count(&self) -> usize {
///         1
///     }
///     fn action_count(&self) -> u32 {
///         2
///     }
///     fn step(&self, from: BatchFrom<'_, i64>, to: BatchTo<'_, i64>, _: &mut Rng) -> Result<(), Infallible> {
///         for (k, (at, action)) in from.states.iter().zip(from.actions).enumerate() {
///             to.states[k] = if action.index() == 0 { at - 1 } else { at + 1 };
///             to.features[k] = (to.states[k] - at) as f64;
///         }
///         Ok(())
///     }
///     fn cost(&self, sums: &[f64]) -> Result<f64, Infallible> {
///         Ok(sums[0].abs())
///     }
/// }
///
/// let problem = Arc::new(BatchProblem::new(Walk, 1.0, 4)?);
/// let mut planner = BatchPlanner::new(&problem, Erm::MEAN, PlannerSettings::paper_illustrative(), 32)?;
/// let at = Situation { time: 3, state: vec![1], features: vec![0.25] };
/// let decision = planner.decide(&at, &mut rng::stream(0, 0, Purpose::Policy))?;
/// assert_eq!(decision.action.index(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BatchPlanner<S: BatchSimulator> {
    problem: Arc<BatchProblem<S>>,
    risk: FixedRisk,
    settings: PlannerSettings,
    size: usize,
    /// Known after some random episodes, as the size of the exploration constants.
    weigher: Option<Weigher>,
    exploration: Exploration,
    tree: Tree,
    /// The states of the tree, by number.
    numbers: HashMap<Box<[S::Part]>, State>,
    /// Simulations under way, of each edge.
    pending: Vec<u64>,
    abreast: Abreast<S::Part>,
    stop: Stop,
}

/// Simulations under way, each in a place of its own.
#[derive(Debug)]
struct Abreast<T> {
    /// The places of those that go on, where these are, and what they do.
    live: Vec<usize>,
    states: Vec<T>,
    actions: Vec<Action>,
    /// What their steps lead to.
    reached: Vec<T>,
    features: Vec<f64>,
    over: Vec<bool>,
    /// By place: the sums of features, the node as long as it is in the tree, and the way there.
    sums: Vec<f64>,
    nodes: Vec<Option<NodeId>>,
    trails: Vec<Vec<(NodeId, EdgeId)>>,
}

impl<S: BatchSimulator> BatchPlanner<S> {
    /// A planner of so many simulations at once, at least one.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(
        problem: &Arc<BatchProblem<S>>,
        risk: impl Into<FixedRisk>,
        settings: PlannerSettings,
        size: usize,
    ) -> Result<Self, PlannerError> {
        settings.check(problem.horizon())?;
        Ok(Self {
            problem: Arc::clone(problem),
            risk: risk.into(),
            size: size.max(1),
            weigher: None,
            exploration: settings.exploration.clone(),
            tree: Tree::new(settings.selection),
            settings,
            numbers: HashMap::new(),
            pending: Vec::new(),
            abreast: Abreast {
                live: Vec::new(),
                states: Vec::new(),
                actions: Vec::new(),
                reached: Vec::new(),
                features: Vec::new(),
                over: Vec::new(),
                sums: Vec::new(),
                nodes: Vec::new(),
                trails: vec![Vec::new(); size.max(PILOTS)],
            },
            stop: Stop::NEVER,
        })
    }

    /// Plans one decision and returns it with its reasons.
    ///
    /// # Errors
    /// Those of the simulator; the planner can be used again.
    ///
    /// # Panics
    /// If the episode is over (there is no decision at the horizon).
    pub fn decide(&mut self, at: &Situation<Vec<S::Part>>, rng: &mut Rng) -> Result<Decision, S::Error> {
        assert!(at.time < self.problem.horizon(), "there is no decision at the horizon");
        let started = Moment::now();
        let weigher = match self.weigher.take() {
            Some(weigher) => weigher,
            None => self.pilot(at, rng)?,
        };
        self.numbers.clear();
        self.pending.clear();
        self.numbers.insert(at.state.as_slice().into(), State(0));
        self.tree.reset(State(0), 0..self.problem.simulator.action_count());
        let most = self.settings.budget.simulations.unwrap_or(MAX_SIMULATIONS);
        let (mut simulations, mut simulated_steps, mut stopped) = (0, 0, StopReason::Simulations);
        while simulations < most {
            let out_of_time = |limit| simulations > 0 && started.elapsed() >= limit;
            if self.settings.budget.time_limit.is_some_and(out_of_time) || self.stop.is_requested() {
                stopped = StopReason::TimeLimit;
                break;
            }
            let count = (self.size as u64).min(most - simulations) as usize;
            simulated_steps += self.simulate(at, count, Some(&weigher), rng)?;
            for place in 0..count {
                let cost = self.cost(place)?;
                self.tree.record(&self.abreast.trails[place], &weigher, cost);
            }
            self.pending.fill(0);
            simulations += count as u64;
        }
        let at_root = self.tree.visit(ROOT);
        let edges = at_root.first_edge..at_root.first_edge + at_root.actions;
        let root: Vec<Seen> = edges.map(|edge| self.tree.edge(edge).seen).collect();
        let all = together(&root);
        let reasons = (0..).zip(&root).map(|(k, seen)| reason(Action(k), seen, &weigher)).collect();
        let (action, root_estimate) = (chosen(&root, &weigher, self.settings.play), risk(&all, &weigher));
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

    /// Plays random episodes to see how large costs are.
    fn pilot(&mut self, at: &Situation<Vec<S::Part>>, rng: &mut Rng) -> Result<Weigher, S::Error> {
        self.simulate(at, PILOTS, None, rng)?;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for place in 0..PILOTS {
            let cost = self.cost(place)?;
            if cost.is_finite() {
                (low, high) = (low.min(cost), high.max(cost));
            }
        }
        let (weigher, spread) = weigher_of(self.risk.erm(), low, high);
        self.exploration = self.settings.exploration.scaled(spread);
        Ok(weigher)
    }

    /// What the simulation in a place, which has ended, counts.
    fn cost(&self, place: usize) -> Result<f64, S::Error> {
        let width = self.problem.simulator.feature_count();
        let sums = &self.abreast.sums[place * width..(place + 1) * width];
        Ok(self.risk.of_cost(self.problem.simulator.cost(sums)?))
    }

    /// So many simulations at once, in the tree or, without a weigher, at random. Returns the number of their steps.
    fn simulate(
        &mut self,
        at: &Situation<Vec<S::Part>>,
        count: usize,
        weigher: Option<&Weigher>,
        rng: &mut Rng,
    ) -> Result<u64, S::Error> {
        let (width, wide) = (at.state.len(), at.features.len());
        self.abreast.begin(at, count, weigher.map(|_| ROOT));
        let mut steps = 0;
        for time in at.time..self.problem.horizon() {
            self.choose(time, weigher, rng);
            let abreast = &mut self.abreast;
            let rows = abreast.live.len();
            steps += rows as u64;
            abreast.make_room(rows, width, wide);
            let from = BatchFrom { states: &abreast.states, actions: &abreast.actions };
            let to = BatchTo { states: &mut abreast.reached, features: &mut abreast.features, over: &mut abreast.over };
            self.problem.simulator.step(from, to, rng)?;
            let (mass, is_last) = (self.problem.masses[time], time + 1 == self.problem.horizon());
            let mut kept = 0;
            for row in 0..rows {
                let abreast = &mut self.abreast;
                let place = abreast.live[row];
                gather(&mut abreast.sums[place * wide..][..wide], &abreast.features[row * wide..][..wide], mass);
                if abreast.over[row] || is_last {
                    continue;
                }
                abreast.live[kept] = place;
                abreast.states[kept * width..][..width].copy_from_slice(&abreast.reached[row * width..][..width]);
                kept += 1;
                self.descend(place, row * width, width);
            }
            self.abreast.live.truncate(kept);
            self.abreast.states.truncate(kept * width);
            if kept == 0 {
                break;
            }
        }
        Ok(steps)
    }

    /// An action in each state: selected in the tree, random beyond it.
    fn choose(&mut self, time: usize, weigher: Option<&Weigher>, rng: &mut Rng) {
        self.abreast.actions.clear();
        for row in 0..self.abreast.live.len() {
            let place = self.abreast.live[row];
            let action = match (self.abreast.nodes[place], weigher) {
                (Some(node), Some(weigher)) => {
                    let edge = self.select(node, self.exploration.at(time), weigher, rng);
                    self.abreast.trails[place].push((node, edge));
                    edge - self.tree.node(node).first_edge
                }
                _ => rng::below(rng, self.problem.simulator.action_count()),
            };
            self.abreast.actions.push(Action(action));
        }
    }

    /// An untried action if there is one that nobody is trying, else argmin_a ρ̂(s, a) − θ w(N(s) + O(s))/√(N(s, a) + O(s, a)), where O counts the
    /// simulations under way.
    fn select(&mut self, node: NodeId, theta: f64, weigher: &Weigher, rng: &mut Rng) -> EdgeId {
        let here = self.tree.visit(node);
        let edges = here.first_edge..here.first_edge + here.actions;
        self.pending.resize(self.pending.len().max(edges.end as usize), 0);
        let taken = |edge: EdgeId| self.tree.edge(edge).seen.count + self.pending[edge as usize];
        let untried = edges.clone().filter(|&edge| taken(edge) == 0).count() as u32;
        let chosen = if untried > 0 {
            let nth = if self.settings.untried == UntriedOrder::Random { rng::below(rng, untried) } else { 0 };
            edges.clone().filter(|&edge| taken(edge) == 0).nth(nth as usize)
        } else {
            let bonus = theta * self.settings.selection.weight(edges.clone().map(taken).sum::<u64>() as f64);
            let score = |edge: EdgeId| {
                let seen = &self.tree.edge(edge).seen;
                // Where nothing has come back yet, the rarest is next.
                let known = if seen.count == 0 { f64::MAX } else { risk(seen, weigher) };
                (known - bonus / (taken(edge) as f64).sqrt(), taken(edge))
            };
            edges.clone().min_by(|&a, &b| {
                let ((low, few), (other, many)) = (score(a), score(b));
                low.total_cmp(&other).then(few.cmp(&many))
            })
        };
        let edge = chosen.unwrap_or(edges.start);
        self.pending[edge as usize] += 1;
        edge
    }

    /// A simulation in the tree has reached this row: it goes on from its node, or leaves the tree with a new one.
    fn descend(&mut self, place: usize, row: usize, width: usize) {
        if self.abreast.nodes[place].is_none() {
            return;
        }
        let Some(&(_, edge)) = self.abreast.trails[place].last() else { return };
        let state = &self.abreast.reached[row..row + width];
        let next = State(self.numbers.len() as u32);
        // Rows that are known are not copied.
        let known = self.numbers.get(state).copied();
        let number = known.unwrap_or_else(|| *self.numbers.entry(state.into()).or_insert(next));
        self.abreast.nodes[place] = self.tree.child(edge, number).or_else(|| {
            let node = self.tree.add_child(edge, number, 0..self.problem.simulator.action_count());
            (self.settings.expansion == Expansion::WholePath).then_some(node)
        });
    }
}

impl<T: Copy> Abreast<T> {
    /// So many simulations begin here.
    fn begin(&mut self, at: &Situation<Vec<T>>, count: usize, node: Option<NodeId>) {
        self.live.clear();
        self.live.extend(0..count);
        self.nodes.clear();
        self.nodes.resize(count, node);
        self.states.clear();
        self.sums.clear();
        for trail in &mut self.trails[..count] {
            self.states.extend_from_slice(&at.state);
            self.sums.extend_from_slice(&at.features);
            trail.clear();
        }
    }

    /// For the outcomes of so many steps.
    fn make_room(&mut self, rows: usize, width: usize, wide: usize) {
        self.reached.clear();
        self.reached.extend_from_slice(&self.states[..rows * width]);
        self.features.clear();
        self.features.resize(rows * wide, 0.0);
        self.over.clear();
        self.over.resize(rows, false);
    }
}

/// How costs between these are weighed, and how far apart they are: 1 if that is not known.
fn weigher_of(erm: Erm, low: f64, high: f64) -> (Weigher, f64) {
    let centre = if low <= high { f64::midpoint(low, high) } else { 0.0 };
    let (spread, largest) = (high - low, low.abs().max(high.abs()));
    let erm = match erm {
        extreme if extreme.beta() * spread > EXTREME => Erm::WORST,
        extreme if extreme.beta() * spread < -EXTREME => Erm::BEST,
        usual => usual,
    };
    let size = if erm.beta().abs() * largest <= MILD { largest } else { f64::INFINITY };
    let known = spread > 0.0 && spread.is_finite();
    (Weigher::new(erm, centre, -size, size), if known { spread } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use std::convert::Infallible;

    /// A walk along the integers; every third step to the right is three long. The features are the time on both sides of 0.
    #[derive(Debug)]
    struct Walk;

    impl BatchSimulator for Walk {
        type Part = i64;
        type Error = Infallible;

        fn feature_count(&self) -> usize {
            2
        }

        fn action_count(&self) -> u32 {
            2
        }

        fn step(&self, from: BatchFrom<'_, i64>, to: BatchTo<'_, i64>, rng: &mut Rng) -> Result<(), Infallible> {
            for (k, (at, action)) in from.states.iter().zip(from.actions).enumerate() {
                to.features[2 * k + usize::from(*at > 0)] = 1.0;
                to.states[k] = at
                    + if action.0 == 0 {
                        -1
                    } else if rng::below(rng, 3) == 0 {
                        3
                    } else {
                        1
                    };
                to.over[k] = to.states[k] > 8;
            }
            Ok(())
        }

        fn cost(&self, time: &[f64]) -> Result<f64, Infallible> {
            Ok((time[0] - time[1]).abs())
        }
    }

    fn played(size: usize, beta: f64, seed: u64) -> f64 {
        let problem = Arc::new(BatchProblem::new(Walk, 1.0, 12).unwrap());
        let settings = PlannerSettings::paper_illustrative();
        let mut planner = BatchPlanner::new(&problem, Erm::new(beta).unwrap(), settings, size).unwrap();
        let [mut own, mut world] = [Purpose::Policy, Purpose::Environment].map(|purpose| rng::stream(seed, 0, purpose));
        let mut at = Situation { time: 0, state: vec![0], features: vec![0.0; 2] };
        while at.time < 12 {
            let actions = [planner.decide(&at, &mut own).unwrap().action];
            let (mut next, mut features, mut over) = ([0], [0.0; 2], [false]);
            let to = BatchTo { states: &mut next, features: &mut features, over: &mut over };
            problem.simulator().step(BatchFrom { states: &at.state, actions: &actions }, to, &mut world).unwrap();
            problem.advance(&mut at, &features, (!over[0]).then_some(&next[..]));
        }
        Walk.cost(&at.features).unwrap()
    }

    /// Whatever the size of the batches, it plays well; the same seed plays the same.
    #[test]
    fn batches_of_any_size_plan() {
        for size in [1, 7, 64] {
            let costs: Vec<f64> = (0..10).map(|seed| played(size, 3.0, seed)).collect();
            // Random play costs .6.
            assert!(costs.iter().sum::<f64>() / 10.0 < 0.2, "{size}: {costs:?}");
            assert_eq!(played(size, 3.0, 4).to_bits(), costs[4].to_bits());
        }
    }

    /// Those under way count as visits: the first ones share the actions evenly, and all are recorded once.
    #[test]
    fn simulations_under_way_take_different_ways() {
        let problem = Arc::new(BatchProblem::new(Walk, 1.0, 12).unwrap());
        let settings =
            PlannerSettings { budget: super::super::Budget::simulations(100), ..PlannerSettings::paper_grid() };
        let settings = PlannerSettings { exploration: Exploration::Constant(1.0), ..settings };
        let mut planner = BatchPlanner::new(&problem, Erm::MEAN, settings, 100).unwrap();
        let at = Situation { time: 0, state: vec![0], features: vec![0.0; 2] };
        let decision = planner.decide(&at, &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
        assert_eq!(decision.reasons.iter().map(|reason| reason.visits).collect::<Vec<_>>(), [50, 50]);
        assert_eq!(decision.simulations, 100);
        // Not all walks reach the end of the horizon.
        assert!((100..1200).contains(&decision.simulated_steps));
    }
}
