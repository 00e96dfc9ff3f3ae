//! How a decision follows from what a search has seen.

use crate::model::Action;
use crate::policy::ActionReason;
use crate::risk::{Seen, Weigher};

use crate::planner::settings::FinalChoice;

/// What was seen of an action.
pub(in crate::planner) fn reason(action: Action, seen: &Seen, weigher: &Weigher) -> ActionReason {
    let known = |x: f64| if seen.count == 0 { f64::NAN } else { x };
    ActionReason {
        action,
        visits: seen.count,
        erm: risk(seen, weigher),
        mean: known(seen.total / seen.count as f64),
        min: known(seen.min),
        max: known(seen.max),
    }
}

/// What was seen of all actions together.
pub(in crate::planner) fn together(root: &[Seen]) -> Seen {
    root.iter().fold(Seen::NOTHING, |mut all, seen| {
        all.merge(seen);
        all
    })
}

/// The empirical ERM of what was seen; NaN if that is nothing.
pub(in crate::planner) fn risk(seen: &Seen, weigher: &Weigher) -> f64 {
    if seen.count == 0 { f64::NAN } else { weigher.risk(seen, 1.0 / seen.count as f64) }
}

/// The action to play, by its place among the state's; ties go to the first.
pub(in crate::planner) fn chosen(root: &[Seen], weigher: &Weigher, play: FinalChoice) -> u32 {
    let better = |a: &Seen, b: &Seen| match play {
        FinalChoice::LowestRisk => a.count > 0 && (b.count == 0 || risk(a, weigher) < risk(b, weigher)),
        FinalChoice::MostVisited => a.count > b.count,
    };
    (0..root.len()).reduce(|best, k| if better(&root[k], &root[best]) { k } else { best }).unwrap_or(0) as u32
}
