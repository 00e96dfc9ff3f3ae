//! A decision with its reasons.

use crate::model::Action;

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
    /// The time of the budget is over.
    TimeLimit,
    /// Nothing is left to be found out: the estimates are exact.
    Solved,
    /// The objective was infinite or not a number at the end of a simulation with a [simulator](crate::Simulator): the decision
    /// means nothing.
    NotFinite,
    /// The horizon is out of reach of a search, or nothing needs to be searched: marginal backward induction decided. Its
    /// estimates are sums of step costs, which rank actions. They are risks only if the objective is linear, the measure is
    /// entropic and the look-ahead, which is shorter in large models, reaches the horizon.
    Marginal,
    /// Backward induction over a lattice of features decided; its estimates are those risks, interpolated between its points.
    Lattice,
    /// There was nothing to search: the policy knows its action.
    Known,
}

impl Decision {
    /// Whether estimates of actions rank them only, and are no risks.
    #[must_use]
    pub fn only_ranks(&self) -> bool {
        self.stopped == StopReason::Marginal
    }

    /// The place of each action, 1 for the best, equal for equal estimates; those never tried come last.
    #[must_use]
    pub fn ranks(&self) -> Vec<usize> {
        let better = |a: f64, b: f64| a < b || (b.is_nan() && !a.is_nan());
        let rank = |own: &ActionReason| 1 + self.reasons.iter().filter(|other| better(other.erm, own.erm)).count();
        self.reasons.iter().map(rank).collect()
    }

    /// An action without reasons.
    pub(super) fn known(action: Action) -> Self {
        Self {
            action,
            reasons: Vec::new(),
            root_estimate: f64::NAN,
            tree_nodes: 0,
            simulations: 0,
            simulated_steps: 0,
            stopped: StopReason::Known,
        }
    }
}
