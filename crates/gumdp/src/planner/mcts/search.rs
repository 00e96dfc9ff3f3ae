//! One simulation: select → expand → roll out → evaluate → back up.

use crate::model::{Follow, Mdp, Pair};
use crate::objective::{PathEvaluator, Track, Walk};
use crate::problem::Problem;
use crate::risk::{FixedRisk, Weigher};
use crate::rng::{Choices, Rng};

use super::tree::{EdgeId, NodeId, ROOT, Tree};
use crate::planner::settings::{Expansion, PlannerSettings};

/// Memory of a simulation, reused by the next.
#[derive(Clone, Debug)]
pub(super) struct Simulator {
    problem: Problem,
    /// What is made of a cost before it is recorded.
    risk: FixedRisk,
    evaluator: PathEvaluator,
    /// Time of the root.
    start: usize,
    /// Pairs visited from the root on; the first H − start are used.
    path: Vec<u32>,
    /// The part of the path that is in the tree.
    trail: Vec<(NodeId, EdgeId)>,
}

impl Simulator {
    pub(super) fn new(problem: &Problem, risk: FixedRisk) -> Self {
        let horizon = problem.horizon();
        Self {
            risk,
            evaluator: problem.path_evaluator(),
            problem: problem.clone(),
            start: 0,
            path: vec![0; horizon],
            trail: Vec::with_capacity(horizon),
        }
    }

    /// Simulations start at this time with these features from now on.
    pub(super) fn set_root(&mut self, time: usize, features: &[f64]) {
        self.start = time;
        self.evaluator.set_root(features);
    }

    /// Steps from the root to the horizon.
    pub(super) fn steps(&self) -> usize {
        self.problem.horizon() - self.start
    }

    /// Simulates one path from the root to the horizon and puts its cost into the tree.
    #[inline]
    pub(super) fn simulate(&mut self, tree: &mut Tree, settings: &PlannerSettings, weigher: &Weigher, rng: &mut Rng) {
        let mdp = self.problem.mdp();
        let steps = self.steps();
        self.trail.clear();
        let mut node = ROOT;
        // The state in which the path leaves the tree, by its first pair.
        let mut left_at = None;
        for step in 0..steps {
            let at = tree.visit(node);
            let edge = tree.select(&at, settings.exploration.at(self.start + step), settings.untried, rng);
            let pair = at.first_pair + (edge - at.first_edge);
            self.path[step] = pair;
            self.trail.push((node, edge));
            if step + 1 == steps {
                break;
            }
            let next = mdp.sample(Pair(pair), rng);
            if let Some(child) = tree.child(edge, next) {
                node = child;
                continue;
            }
            node = tree.add_child(edge, next, mdp.pairs(next));
            if settings.expansion == Expansion::OneNode {
                left_at = Some(mdp.pairs(next).start);
                break;
            }
        }
        let known = self.trail.len();
        let path = &mut self.path[..steps];
        let cost = self.evaluator.value(path, known, self.start, Rollout { mdp, first_pair: left_at, rng });
        tree.record(&self.trail, weigher, self.risk.of_cost(cost));
    }
}

/// Uniformly random actions from the state whose first pair is given; nothing if there is none.
pub(super) struct Rollout<'a> {
    pub(super) mdp: &'a Mdp,
    pub(super) first_pair: Option<u32>,
    pub(super) rng: &'a mut Rng,
}

impl Walk for Rollout<'_> {
    #[inline]
    fn walk(self, track: &mut impl Track) {
        let Self { mdp, first_pair: Some(first_pair), rng } = self else { return };
        match mdp.uniform_actions() {
            // A power of two known to the compiler takes its bits from a random word by constant shifts.
            Some(2) => wander(mdp, first_pair, rng, track, |_| 2),
            Some(4) => wander(mdp, first_pair, rng, track, |_| 4),
            Some(actions) => wander(mdp, first_pair, rng, track, |_| actions),
            None => wander(mdp, first_pair, rng, track, |first_pair| mdp.actions_from(first_pair)),
        }
    }
}

#[inline]
fn wander(mdp: &Mdp, mut first_pair: u32, rng: &mut Rng, track: &mut impl Track, actions: impl Fn(u32) -> u32) {
    let mut choices = Choices::default();
    while !track.is_over() {
        let mut pair = first_pair + choices.below(actions(first_pair), rng);
        track.visit(pair);
        // Where the last action leads does not matter.
        if track.is_over() {
            return;
        }
        first_pair = match mdp.follow(pair, rng) {
            Follow::Next(first_pair) => first_pair,
            Follow::Stay(0) => mdp.leave(pair, rng),
            Follow::Stay(times) => {
                let alike = track.visit_alike(first_pair..first_pair + actions(first_pair), times);
                for _ in 0..if alike { 0 } else { times } {
                    pair = first_pair + choices.below(actions(first_pair), rng);
                    track.visit(pair);
                    if track.is_over() {
                        return;
                    }
                }
                if track.is_over() {
                    return;
                }
                if alike {
                    pair = first_pair + choices.below(actions(first_pair), rng);
                }
                mdp.leave(pair, rng)
            }
        };
    }
}
