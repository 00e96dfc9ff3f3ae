//! One worker of a search: its own tree, its own simulations.

use std::time::Duration;

use crate::clock::Moment;
use crate::model::Mdp;
use crate::policy::StopReason;
use crate::problem::{OccupancyState, Problem};
use crate::risk::{FixedRisk, Seen, Weigher};
use crate::rng::Rng;
use crate::stop::Stop;

use super::search::Simulator;
use super::tree::{EdgeId, NodeId, ROOT, Tree};
use crate::planner::selection::Selection;
use crate::planner::settings::{MAX_SIMULATIONS, PlannerSettings};

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

impl Worker {
    pub(super) fn new(problem: &Problem, risk: FixedRisk, selection: Selection) -> Self {
        Self {
            simulator: Simulator::new(problem, risk),
            tree: Tree::new(selection),
            spare: Tree::new(selection),
            origins: Vec::new(),
            simulations: 0,
            stopped: StopReason::Simulations,
        }
    }

    /// Moves the root to `at`: keeps the tree below the root's edge that was played, if one is given, or starts anew.
    pub(super) fn set_root(&mut self, mdp: &Mdp, at: &OccupancyState, played: Option<EdgeId>) {
        self.simulator.set_root(at.time, &at.features);
        match played.and_then(|edge| self.tree.child(edge, at.state)) {
            Some(node) => self.tree.reroot(node, &mut self.spare, &mut self.origins),
            None => self.tree.reset(at.state, mdp.pairs(at.state)),
        }
    }

    /// Simulates `most` times, or until the time is over or it is asked to stop.
    pub(super) fn search(
        &mut self,
        settings: &PlannerSettings,
        weigher: &Weigher,
        most: Option<u64>,
        deadline: Option<(Moment, Duration)>,
        stop: &Stop,
        rng: &mut Rng,
    ) {
        let interval = (CLOCK_INTERVAL / self.simulator.steps()).clamp(1, 16) as u64;
        let most = most.unwrap_or(MAX_SIMULATIONS);
        self.stopped = StopReason::Simulations;
        self.simulations = most;
        for done in 0..most {
            let is_over = || deadline.is_some_and(|(start, limit)| start.elapsed() >= limit) || stop.is_requested();
            if done % interval == 0 && done > 0 && is_over() {
                self.stopped = StopReason::TimeLimit;
                self.simulations = done;
                return;
            }
            self.simulator.simulate(&mut self.tree, settings, weigher, rng);
        }
    }

    /// Adds what this tree knows of the root's actions.
    pub(super) fn add_root(&self, actions: &mut [Seen]) {
        let first = self.tree.node(ROOT).first_edge;
        for (action, edge) in actions.iter_mut().zip(first..) {
            action.merge(&self.tree.edge(edge).seen);
        }
    }

    /// Nodes in the tree.
    pub(super) fn nodes(&self) -> usize {
        self.tree.len()
    }
}
