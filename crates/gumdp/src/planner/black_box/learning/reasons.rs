//! What a decision is, and why.

use super::table::END;
use super::tree::ROOT;
use super::{LearningPlanner, Simulator};
use crate::model::Action;
use crate::planner::guided::risk_of;
use crate::policy::{ActionReason, Decision, StopReason};

/// Where there are more actions, nobody asks for each of them.
pub(super) const MOST_REASONS: u32 = 256;

impl<S: Simulator> LearningPlanner<S> {
    /// The decision with what is known of each action.
    pub(super) fn decision(
        &self,
        chosen: u32,
        actions: u32,
        simulations: u64,
        simulated_steps: u64,
        stopped: StopReason,
    ) -> Decision {
        let reason = |action: u32| {
            let edge = self.tree.edges_of(ROOT).map(|(_, edge)| edge).find(|edge| edge.action == action);
            let (visits, erm) = edge.map_or((0, f64::NAN), |edge| (u64::from(edge.visits), edge.value));
            let (mean, min, max) = (f64::NAN, f64::NAN, f64::NAN);
            ActionReason { action: Action(action), visits, erm, mean, min, max }
        };
        // Of very many actions only those that were tried have reasons.
        let reasons: Vec<ActionReason> = if actions <= MOST_REASONS {
            (0..actions).map(reason).collect()
        } else {
            let mut tried: Vec<u32> = self.tree.edges_of(ROOT).map(|(_, edge)| edge.action).collect();
            tried.sort_unstable();
            tried.into_iter().map(reason).collect()
        };
        let erm = self.risk.erm();
        let of_rollouts = [&self.learned, &self.random].map(|costs| risk_of(erm, costs));
        let known = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
        let root = known(self.tree.node(ROOT).value).min(known(of_rollouts[0])).min(known(of_rollouts[1]));
        Decision {
            action: Action(chosen),
            root_estimate: root,
            reasons,
            tree_nodes: self.tree.len(),
            simulations,
            simulated_steps,
            stopped,
        }
    }

    /// What [`LearningPlanner::unseen`] says of a decision in the state with this number.
    pub(super) fn hidden_tail(&self, number: u32, decision: &Decision) -> f64 {
        let action = decision.action.0;
        let in_tree =
            self.tree.edges_of(ROOT).find(|(_, edge)| edge.action == action).map_or(0, |(_, edge)| edge.children);
        let draws = if number == END || !self.table.learns() {
            in_tree
        } else {
            self.table.times(self.table.pairs_of(number).start + action)
        };
        let (risk, highest) = (decision.root_estimate, self.highest);
        if risk.is_nan() || risk >= highest {
            return 0.0;
        }
        self.risk.erm().quickly([(risk, f64::from(draws)), (highest, 1.0)].into_iter()) - risk
    }

    /// The action to play, where `base` is that of whoever leads; `None` if too little is known.
    pub(super) fn choose(&self, base: Option<u32>, actions: u32, averages: bool) -> Option<u32> {
        let best = if averages {
            // A low average of few simulations may have missed what is bad.
            self.tree.most_visited()
        } else {
            self.tree.best(base, self.settings.caution)
        };
        let best = best.map(|edge| edge.action);
        best.filter(|_| self.tree.node(ROOT).visits >= actions.min(MOST_REASONS)).or(base)
    }
}
