//! Simulations: from the present situation or through the tree, all of them learned from.

use super::reasons::MOST_REASONS;
use super::table::{END, NONE as UNKNOWN, Outcome};
use super::tree::{EdgeId, NodeId, ROOT};
use super::{By, LearningPlanner, PILOTS, ROLLOUTS};
use crate::model::Action;
use crate::planner::black_box::{Simulator, Situation, action_count, advance};
use crate::rng::{self, Rng};

/// θ of the published planner, in units of how far apart costs are.
const PUBLISHED_EXPLORATION: f64 = 1.0;

/// From so many draws of an action on, the table knows what follows better than a node.
const ENOUGH: u32 = 32;

impl<S: Simulator> LearningPlanner<S> {
    /// The simulation with this number.
    pub(super) fn simulate(
        &mut self,
        at: &Situation<S::State>,
        root: u32,
        number: u64,
        rng: &mut Rng,
    ) -> Result<(), S::Error> {
        let (learns, plans) = (self.table.learns(), self.settings.plans);
        let averages = self.averages(self.problem.horizon() - at.time);
        let by = match number {
            first if self.scale.is_none() && first < PILOTS => By::Chance,
            _ if number % 16 == 2 => By::Chance,
            _ if plans && !learns && number % 2 == 1 => By::Change,
            _ if learns && self.open && number.is_multiple_of(4) => By::Frontier,
            _ if averages && number % 16 != 1 => return self.search_as_published(at, rng),
            _ if learns && number % 8 == 1 && self.lattice.is_solved() => By::Lattice,
            _ if learns && number % 4 == 1 => By::Learned,
            _ if self.searches(self.problem.horizon() - at.time) => return self.search(at, rng),
            _ if self.open => By::Frontier,
            _ => self.leads,
        };
        self.running.clone_from(&at.features);
        if by == By::Change {
            let Self { problem, plan, .. } = self;
            let draw = |rng: &mut Rng| Ok(problem.simulator().sample_action(&at.state, rng)?.0);
            let mut own = plan.next(rng, draw)?;
            let cost = self.roll_out(at.state.clone(), root, at.time, by, &mut own)?;
            self.plan.record(cost, self.risk.erm(), self.settings.caution);
            return Ok(());
        }
        let compared = match by {
            By::Chance => self.random.len(),
            By::Learned => self.learned.len(),
            By::Lattice => self.by_lattice.len(),
            _ => 0,
        };
        let cost = match by {
            By::Chance | By::Learned | By::Lattice => {
                let mut own = rng::stream(self.seed, compared as u64, rng::Purpose::Policy);
                self.roll_out(at.state.clone(), root, at.time, by, &mut own)?
            }
            _ => self.roll_out(at.state.clone(), root, at.time, by, rng)?,
        };
        match by {
            By::Chance => self.random.push((cost, 1.0)),
            By::Learned => self.learned.push((cost, 1.0)),
            By::Lattice => self.by_lattice.push((cost, 1.0)),
            By::Plan | By::Change | By::Frontier => {}
        }
        Ok(())
    }

    /// One simulation in the tree: select, expand, roll out, back up.
    fn search(&mut self, at: &Situation<S::State>, rng: &mut Rng) -> Result<(), S::Error> {
        let theta = self.settings.exploration * self.scale();
        let by = self.leads;
        let (mut node, mut time) = (ROOT, at.time);
        self.trail.clear();
        self.running.clone_from(&at.features);
        let leaf = loop {
            let edge = self.edge(node, time, theta, by, rng)?;
            self.trail.push((node, edge));
            let wants = self.tree.wants_outcome(edge, self.settings.widening);
            let known = self.table_knows(node, edge);
            if known || !wants {
                let new = if known && wants { self.add_known(node, edge, time) } else { None };
                if known {
                    self.count_known(node, edge, new.is_some());
                }
                node = new.unwrap_or_else(|| self.tree.stored(edge));
                time += 1;
                self.running.copy_from_slice(self.tree.sums(node));
                if self.tree.node(node).state.is_none() || self.tree.node(node).rollouts < ROLLOUTS {
                    break node;
                }
                continue;
            }
            let (from, number) = (&self.tree.node(node).state, self.tree.node(node).number);
            let Some(from) = from else { break node };
            let action = Action(self.tree.edge(edge).action);
            let next = advance(&self.problem, from, action, time, rng, &mut self.step, &mut self.running)?;
            self.simulated_steps += 1;
            let to = self.learn(number, action.0, next.as_ref())?;
            time += 1;
            let next = next.filter(|_| time < self.problem.horizon());
            node = self.tree.draw(edge, next, to, &self.running);
            if self.tree.node(node).state.is_none() || self.tree.node(node).rollouts < ROLLOUTS {
                break node;
            }
        };
        let cost = match self.tree.node(leaf).state.clone() {
            // What is over costs the same each time.
            None if self.tree.node(leaf).rollouts > 0 => None,
            None => Some(self.cost()?),
            Some(state) => Some(self.roll_out(state, self.tree.node(leaf).number, time, by, rng)?),
        };
        if let Some(cost) = cost {
            self.tree.evaluate(leaf, self.risk.erm(), cost);
        }
        self.tree.back_up(&self.trail, self.risk.erm());
        Ok(())
    }

    /// Whether the table has seen so much of an action that its outcomes need no simulator.
    fn table_knows(&self, node: NodeId, edge: EdgeId) -> bool {
        let number = self.tree.node(node).number;
        number != END
            && self.table.learns()
            && self.table.times(self.table.pairs_of(number).start + self.tree.edge(edge).action) >= ENOUGH
    }

    /// The most likely of the outcomes in the table that an edge does not have, if there is one.
    fn add_known(&mut self, node: NodeId, edge: EdgeId, time: usize) -> Option<NodeId> {
        let pair = self.table.pairs_of(self.tree.node(node).number).start + self.tree.edge(edge).action;
        let missing = |(number, _): &(u32, &Outcome)| self.tree.child_of(edge, *number).is_none();
        let (outcome, &next) = self.table.numbered(pair).filter(missing).max_by_key(|(_, outcome)| outcome.count)?;
        self.running.copy_from_slice(self.tree.sums(node));
        let mass = self.problem.masses()[time];
        for &(feature, value) in self.table.effect_of(next.effect) {
            self.running[feature as usize] += mass * value;
        }
        let goes_on = next.state != END && time + 1 < self.problem.horizon();
        let state = goes_on.then(|| self.table.state(next.state).clone());
        Some(self.tree.add(edge, state, (next.state, outcome), &self.running))
    }

    /// Gives the outcomes of an edge the counts that they have in the table by now, now and then.
    fn count_known(&mut self, node: NodeId, edge: EdgeId, is_new: bool) {
        if !is_new && !self.tree.wants_counts(edge) {
            return;
        }
        let pair = self.table.pairs_of(self.tree.node(node).number).start + self.tree.edge(edge).action;
        for (number, outcome) in self.table.numbered(pair) {
            self.tree.count(edge, number, outcome.count);
        }
    }

    /// One simulation of the published planner: one new node, a random rollout, and averages.
    fn search_as_published(&mut self, at: &Situation<S::State>, rng: &mut Rng) -> Result<(), S::Error> {
        let theta = PUBLISHED_EXPLORATION * self.scale();
        let (mut node, mut time) = (ROOT, at.time);
        self.trail.clear();
        self.running.clone_from(&at.features);
        loop {
            let number = self.tree.node(node).number;
            let Some(state) = self.tree.node(node).state.clone() else { break };
            if time > at.time && self.tree.node(node).visits == 0 && self.tree.node(node).rollouts == 0 {
                self.tree.visit(node);
                let cost = self.roll_out(state, number, time, By::Chance, rng)?;
                self.tree.average(&self.trail, self.risk.erm(), cost);
                return Ok(());
            }
            let edge = self.edge(node, time, theta, By::Chance, rng)?;
            self.trail.push((node, edge));
            let action = Action(self.tree.edge(edge).action);
            let next = advance(&self.problem, &state, action, time, rng, &mut self.step, &mut self.running)?;
            self.simulated_steps += 1;
            let to = self.learn(number, action.0, next.as_ref())?;
            time += 1;
            let next = next.filter(|_| time < self.problem.horizon());
            node = self.tree.draw(edge, next, to, &self.running);
        }
        let cost = self.cost()?;
        self.tree.average(&self.trail, self.risk.erm(), cost);
        Ok(())
    }

    /// The edge to follow from a node: a new one, that of the learned policy first, or the best.
    fn edge(&mut self, node: NodeId, time: usize, theta: f64, by: By, rng: &mut Rng) -> Result<EdgeId, S::Error> {
        let Some(state) = &self.tree.node(node).state else { return Ok(0) };
        let number = self.tree.node(node).number;
        let actions = if number == END {
            action_count(self.problem.simulator(), state)?
        } else {
            self.table.pairs_of(number).len() as u32
        };
        if !self.tree.wants_edge(node, actions, self.settings.widening) {
            return Ok(self.tree.select(node, theta));
        }
        let edges = self.tree.node(node).edges;
        let state = state.clone();
        let action = match by {
            By::Learned | By::Lattice if edges == 0 && number != END => self.by_learned(by, number, time)?,
            By::Plan if edges == 0 => self.plan.action(time).map(|action| action.min(actions - 1)),
            _ => None,
        };
        let action = match action {
            Some(action) => action,
            None if actions <= MOST_REASONS => {
                // Any that has no edge yet.
                let tried = |action: u32| self.tree.edges_of(node).any(|(_, edge)| edge.action == action);
                let place = rng::below(rng, actions - edges) as usize;
                (0..actions).filter(|&action| !tried(action)).nth(place).unwrap_or(0)
            }
            None => self.problem.simulator().sample_action(&state, rng)?.0,
        };
        Ok(self.tree.edge_for(node, action))
    }

    /// How far apart costs are.
    fn scale(&self) -> f64 {
        let met = self.scale.unwrap_or(self.highest - self.lowest);
        if met > 0.0 && met.is_finite() { met } else { 1.0 }
    }

    /// A step was made; returns the number of the state that it led to, and that of this outcome.
    #[inline]
    fn learn(&mut self, from: u32, action: u32, next: Option<&S::State>) -> Result<(u32, u32), S::Error> {
        if from == END || !self.table.learns() {
            return Ok((END, UNKNOWN));
        }
        let to = match next {
            Some(next) => self.table.meet(self.problem.simulator(), next)?,
            None => END,
        };
        let known = to != END || next.is_none();
        Ok((to, if known { self.table.record(from, action, to, &self.step) } else { UNKNOWN }))
    }

    /// Plays to the end of the episode; returns what that costs.
    fn roll_out(
        &mut self,
        mut state: S::State,
        mut number: u32,
        mut time: usize,
        by: By,
        rng: &mut Rng,
    ) -> Result<f64, S::Error> {
        while time < self.problem.horizon() {
            let action = match by {
                By::Frontier if number != END => Some(self.frontier.best(&self.table, number, rng)),
                By::Learned | By::Lattice if number != END => self.by_learned(by, number, time)?,
                By::Plan | By::Change => {
                    // A state may have fewer actions than that of the root.
                    let actions = action_count(self.problem.simulator(), &state)?;
                    let planned = if by == By::Plan { self.plan.action(time) } else { self.plan.tried(time) };
                    planned.map(|action| action.min(actions - 1))
                }
                _ => None,
            };
            let action = match action {
                Some(action) => Action(action),
                None => self.problem.simulator().sample_action(&state, rng)?,
            };
            let next = advance(&self.problem, &state, action, time, rng, &mut self.step, &mut self.running)?;
            self.simulated_steps += 1;
            (number, _) = self.learn(number, action.0, next.as_ref())?;
            time += 1;
            let Some(next) = next else { break };
            state = next;
        }
        self.cost()
    }

    /// What the simulation that has just ended counts.
    fn cost(&mut self) -> Result<f64, S::Error> {
        let cost = self.risk.of_cost(self.problem.simulator().cost(&self.running)?);
        self.is_finite &= cost.is_finite();
        (self.lowest, self.highest) = (self.lowest.min(cost), self.highest.max(cost));
        Ok(cost)
    }
}
