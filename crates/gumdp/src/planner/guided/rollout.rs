//! Simulated paths: through the tree, along a plan, and then by marginal backward induction.

use super::GuidedPlanner;
use super::plans::Leg;
use super::tree::{NONE, ROOT};
use crate::model::{Mdp, Pair, State};
use crate::objective::{Track, Walk};
use crate::problem::OccupancyState;
use crate::rng::Rng;

/// The whole path is known.
struct Known;

impl Walk for Known {
    fn walk(self, _: &mut impl Track) {}
}

impl GuidedPlanner {
    /// Paths start here from now on.
    pub(super) fn set_paths(&mut self, at: &OccupancyState) {
        self.root.clone_from(&at.features);
        self.running.clone_from(&at.features);
        self.evaluator.set_root(&at.features);
    }

    /// One simulation: select, expand, roll out, back up. Returns whether its cost was a number.
    pub(super) fn simulate(&mut self, start: usize, steps: usize, rng: &mut Rng) -> bool {
        self.trail.clear();
        let exploration = self.settings.exploration * self.scale_of_values();
        let mut node = ROOT;
        let mut leaf = None;
        for step in 0..steps {
            let edge = self.tree.select(node, &self.moves, exploration);
            self.path[step] = self.moves.get(self.tree.edge(edge).number).pair.0;
            self.trail.push((node, edge));
            if step + 1 == steps {
                break;
            }
            node = self.tree.outcome(edge, &self.moves, rng);
            if self.tree.is_leaf(node, self.settings.rollouts) {
                leaf = Some(node);
                break;
            }
        }
        let certain = leaf.is_some_and(|leaf| {
            let (state, known) = (self.tree.node(leaf).state, self.trail.len());
            let (preferred, certain) =
                self.roll_out(state, known, start, steps, &[], |mdp, pair| mdp.sample(pair, rng));
            self.tree.node_mut(leaf).preferred = preferred;
            certain
        });
        let cost = self.cost_of_path(start, steps);
        self.tree.record(&self.trail, leaf, certain, self.erm, self.risk.of_cost(cost));
        cost.is_finite()
    }

    /// The cost of the path.
    pub(super) fn cost_of_path(&mut self, start: usize, steps: usize) -> f64 {
        self.evaluator.value(&mut self.path[..steps], steps, start, Known)
    }

    /// Completes the path, of which `known` steps lead to `state`: along a plan, and then with the moves that are best at the running
    /// occupancy; `next` says what follows. Returns the first move, and whether there was no choice and no chance.
    pub(super) fn roll_out(
        &mut self,
        mut state: State,
        known: usize,
        start: usize,
        steps: usize,
        plan: &[Leg],
        mut next: impl FnMut(&Mdp, Pair) -> State,
    ) -> (u32, bool) {
        let destinations = self.destinations();
        let Self { problem, moves, marginal, running, path, .. } = self;
        let (objective, masses) = (problem.objective(), &problem.masses()[start..]);
        for (&pair, &mass) in path[..known].iter().zip(masses) {
            objective.add(running, pair as usize, mass);
        }
        let mut legs = plan.iter();
        let mut leg = legs.next().copied();
        let mut preferred = NONE;
        let mut certain = true;
        for step in known..steps {
            let time = start + step;
            let own = moves.range(state);
            let number = if let (Some(to), Some(destinations)) = (&mut leg, &destinations) {
                let number = destinations.step(moves, *to, legs.as_slice().first(), state);
                if destinations.arrives(to, moves.get(number).class) {
                    leg = legs.next().copied();
                }
                number
            } else {
                let differ = !moves.are_one_class(state);
                let mut best = (f64::INFINITY, own.start);
                let mut known = (NONE, 0.0);
                for number in own.clone() {
                    let class = moves.get(number).class;
                    // What costs the same whatever the move does not matter.
                    if differ && class != known.0 {
                        known = (class, marginal.cost(problem, moves, running, time, class));
                    }
                    let value = known.1 + marginal.risk(time, number);
                    if value < best.0 {
                        best = (value, number);
                    }
                }
                best.1
            };
            preferred = if preferred == NONE { number } else { preferred };
            let pair = moves.get(number).pair;
            path[step] = pair.0;
            objective.add(running, pair.index(), masses[step]);
            state = next(problem.mdp(), pair);
            certain &= own.len() == 1 && moves.outcomes(number).len() == 1;
        }
        for &pair in &path[..steps] {
            objective.restore(running, &self.root, pair as usize);
        }
        (preferred, certain)
    }
}
