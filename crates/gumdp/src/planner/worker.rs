//! One worker of a search: its own tree, its own simulations.

use std::time::{Duration, Instant};

use crate::model::Mdp;
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Erm, ErmAccumulator};
use crate::rng::Rng;

use super::search::Simulator;
use super::settings::PlannerSettings;
use super::tree::{EdgeId, NodeId, ROOT, Tree};
use super::{MAX_SIMULATIONS, StopReason};

/// Simulated steps between two looks at the clock, as far as whole simulations allow.
const CLOCK_INTERVAL: usize = 4096;

/// A tree and what grows it.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    simulator: Simulator,
    tree: Tree,
    /// Memory for re-rooting the tree.
    spare: Tree,
    origins: Vec<NodeId>,
    /// Simulations of the last search.
    pub(super) simulations: u64,
    /// Why the last search ended.
    pub(super) stopped: StopReason,
}

/// What is known of one action at the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct RootAction {
    pub(super) erm: ErmAccumulator,
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl RootAction {
    pub(super) const UNTRIED: Self =
        Self { erm: ErmAccumulator::EMPTY, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn merge(&mut self, erm: Erm, other: &Self) {
        self.erm.merge(erm, &other.erm);
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl Worker {
    pub(super) fn new(problem: &Problem) -> Self {
        Self {
            simulator: Simulator::new(problem),
            tree: Tree::default(),
            spare: Tree::default(),
            origins: Vec::new(),
            simulations: 0,
            stopped: StopReason::Simulations,
        }
    }

    /// Moves the root to `at`: keeps the tree below the root's edge that was played, if one is given, or starts anew.
    pub(super) fn set_root(&mut self, mdp: &Mdp, at: &OccupancyState, played: Option<EdgeId>) {
        self.simulator.set_root(at.time, &at.features);
        match played.and_then(|edge| self.tree.child(edge, at.state)) {
            Some(node) => self.tree.reroot(mdp, node, &mut self.spare, &mut self.origins),
            None => self.tree.reset(mdp, at.state),
        }
    }

    /// Simulates `most` times, or until the time is over.
    pub(super) fn search(
        &mut self,
        settings: &PlannerSettings,
        erm: Erm,
        most: Option<u64>,
        deadline: Option<(Instant, Duration)>,
        rng: &mut Rng,
    ) {
        let interval = (CLOCK_INTERVAL / self.simulator.steps()).clamp(1, 16) as u64;
        let most = most.unwrap_or(MAX_SIMULATIONS);
        self.stopped = StopReason::Simulations;
        self.simulations = most;
        for done in 0..most {
            if done % interval == 0
                && done > 0
                && let Some((start, limit)) = deadline
                && start.elapsed() >= limit
            {
                self.stopped = StopReason::TimeLimit;
                self.simulations = done;
                return;
            }
            self.simulator.simulate(&mut self.tree, settings, erm, rng);
        }
    }

    /// Adds what this tree knows of the root's actions.
    pub(super) fn add_root(&self, erm: Erm, actions: &mut [RootAction]) {
        let first = self.tree.node(ROOT).first_edge;
        for (action, edge) in actions.iter_mut().zip(first..) {
            let seen = self.tree.edge(edge);
            action.merge(erm, &RootAction { erm: seen.erm, sum: seen.sum, min: seen.min, max: seen.max });
        }
    }

    /// Nodes in the tree.
    pub(super) fn nodes(&self) -> usize {
        self.tree.len()
    }
}
