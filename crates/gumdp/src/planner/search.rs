//! One simulation: select → expand → roll out → evaluate → back up.

use crate::model::{Mdp, Pair, State};
use crate::objective::PathEvaluator;
use crate::problem::Problem;
use crate::risk::Erm;
use crate::rng::{self, Rng};

use super::settings::{Expansion, PlannerSettings, UntriedOrder};
use super::tree::{EdgeId, NodeId, ROOT, Tree};

/// Memory of a simulation, reused by the next.
#[derive(Clone, Debug)]
pub(super) struct Simulator {
    problem: Problem,
    evaluator: PathEvaluator,
    /// Time of the root.
    start: usize,
    /// Pairs visited from the root on.
    path: Vec<u32>,
    /// The part of the path that is in the tree.
    trail: Vec<(NodeId, EdgeId)>,
}

impl Simulator {
    pub(super) fn new(problem: &Problem) -> Self {
        let horizon = problem.horizon();
        Self {
            evaluator: problem.path_evaluator(),
            problem: problem.clone(),
            start: 0,
            path: Vec::with_capacity(horizon),
            trail: Vec::with_capacity(horizon),
        }
    }

    /// Simulations start at this time with these features from now on.
    pub(super) fn set_root(&mut self, time: usize, features: &[f64]) {
        self.start = time;
        self.evaluator.set_root(features);
    }

    /// Simulates one path from the root to the horizon and puts its cost into the tree. Returns the number of steps.
    #[inline]
    pub(super) fn simulate(&mut self, tree: &mut Tree, settings: &PlannerSettings, erm: Erm, rng: &mut Rng) -> usize {
        let mdp = self.problem.mdp();
        let steps = self.problem.horizon() - self.start;
        self.path.clear();
        self.trail.clear();
        let mut node = ROOT;
        loop {
            let time = self.start + self.path.len();
            let edge = select(tree, node, settings, time, rng);
            let at = tree.node(node);
            let pair = Pair(mdp.pairs(at.state).start + (edge - at.first_edge));
            self.path.push(pair.0);
            self.trail.push((node, edge));
            if self.path.len() == steps {
                break;
            }
            let next = mdp.sample(pair, rng);
            if let Some(child) = tree.child(edge, next) {
                node = child;
                continue;
            }
            node = tree.add_child(mdp, edge, next);
            if settings.expansion == Expansion::OneNode {
                roll_out(mdp, next, steps, &mut self.path, rng);
                break;
            }
        }
        let cost = self.evaluator.value(&self.path, self.start);
        for &(node, edge) in &self.trail {
            tree.record(node, edge, erm, cost);
        }
        steps
    }
}

/// An untried action if there is one, else argmin_a ρ̂(s, a) − θ_t √(√N(s) / N(s, a)).
#[inline]
fn select(tree: &Tree, node: NodeId, settings: &PlannerSettings, time: usize, rng: &mut Rng) -> EdgeId {
    let at = tree.node(node);
    if at.tried == at.edges {
        let bonus = settings.exploration.at(time) * f64::from(at.visits).sqrt().sqrt();
        return tree.lowest(node, bonus);
    }
    match settings.untried {
        // Taken in order, so those tried so far come first.
        UntriedOrder::ByIndex => at.first_edge + at.tried,
        UntriedOrder::Random => {
            let chosen = rng::below(rng, at.edges - at.tried) as usize;
            let untried = |edge: &EdgeId| tree.seen(*edge).erm.count() == 0;
            (at.first_edge..at.first_edge + at.edges).filter(untried).nth(chosen).unwrap_or(at.first_edge)
        }
    }
}

/// Continues the path with uniformly random actions until it has `steps` pairs.
#[inline]
fn roll_out(mdp: &Mdp, mut state: State, steps: usize, path: &mut Vec<u32>, rng: &mut Rng) {
    loop {
        let pairs = mdp.pairs(state);
        let actions = pairs.len() as u32;
        let chosen = if actions == 1 { 0 } else { rng::below(rng, actions) };
        let pair = Pair(pairs.start + chosen);
        path.push(pair.0);
        if path.len() == steps {
            return;
        }
        state = mdp.sample(pair, rng);
    }
}
