//! A decision with its reasons, and how it follows from what a search has seen.

use crate::model::Action;
use crate::risk::{Seen, Weigher};

use super::settings::FinalChoice;

/// A decision and its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The action to play.
    pub action: Action,
    /// What the search knows of each action, in the order of the state's pairs.
    pub reasons: Vec<ActionReason>,
    /// The empirical ERM V̂_n of all simulations from here; of what costs count for if the planner minimises a
    /// [threshold](crate::FixedRisk).
    pub root_estimate: f64,
    /// Nodes in the tree, or in the trees of all workers.
    pub tree_nodes: usize,
    /// Simulations done for this decision.
    pub simulations: u64,
    /// Model steps simulated for this decision.
    pub simulated_steps: u64,
    /// Why the search ended.
    pub stopped: StopReason,
}

/// What the search knows of one action. An action that was never tried has no visits and NaN estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionReason {
    /// The action.
    pub action: Action,
    /// Simulations that took it, those kept from earlier decisions included.
    pub visits: u64,
    /// Their empirical ERM.
    pub erm: f64,
    /// Their mean cost.
    pub mean: f64,
    /// The lowest cost seen.
    pub min: f64,
    /// The highest cost seen.
    pub max: f64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All simulations of the budget are done.
    Simulations,
    /// The time of the budget is over, or the search was asked to [stop](crate::Stop).
    TimeLimit,
    /// Nothing is left to be found out: the estimates are exact.
    Solved,
    /// The objective was infinite or not a number at the end of a simulation: its formula breaks there, and the decision means
    /// nothing.
    NotFinite,
    /// The horizon is out of reach of a search, or nothing needs to be searched: marginal backward induction decided. Its
    /// estimates are sums of step costs, which rank actions. They are risks only if the objective is linear, the measure is
    /// entropic and the look-ahead, which is shorter in large models, reaches the horizon.
    Marginal,
}

impl ActionReason {
    pub(super) fn new(action: Action, seen: &Seen, weigher: &Weigher) -> Self {
        let known = |x: f64| if seen.count == 0 { f64::NAN } else { x };
        Self {
            action,
            visits: seen.count,
            erm: risk(seen, weigher),
            mean: known(seen.total / seen.count as f64),
            min: known(seen.min),
            max: known(seen.max),
        }
    }
}

/// The empirical ERM of what was seen; NaN if that is nothing.
pub(super) fn risk(seen: &Seen, weigher: &Weigher) -> f64 {
    if seen.count == 0 { f64::NAN } else { weigher.risk(seen, 1.0 / seen.count as f64) }
}

/// The action to play, by its place among the state's; ties go to the first.
pub(super) fn chosen(root: &[Seen], weigher: &Weigher, play: FinalChoice) -> u32 {
    let better = |a: &Seen, b: &Seen| match play {
        FinalChoice::LowestRisk => a.count > 0 && (b.count == 0 || risk(a, weigher) < risk(b, weigher)),
        FinalChoice::MostVisited => a.count > b.count,
    };
    (0..root.len()).reduce(|best, k| if better(&root[k], &root[best]) { k } else { best }).unwrap_or(0) as u32
}
