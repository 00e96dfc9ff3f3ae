//! Transitions with mistakes, which are told already: what cannot be known without them.

use std::collections::HashMap;

use gumdp::ROW_TOLERANCE;

/// Transitions that could not be read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// By state and action, `None` where that could not be read: the smallest probability that such a transition may have.
    least: HashMap<(Option<u32>, Option<u32>), f64>,
    /// A pair or a state is missing with all its transitions.
    pub(super) wholes: bool,
}

impl Unread {
    /// Takes note of a transition of this pair.
    pub(super) fn of_pair(&mut self, state: u32, action: u32) {
        self.add(Some(state), Some(action), None);
    }

    /// Takes note of a transition of which this is known.
    pub(super) fn add(&mut self, state: Option<u32>, action: Option<u32>, probability: Option<f64>) {
        let known = probability.filter(|_| state.is_none() || action.is_none()).unwrap_or(0.0);
        let least = self.least.entry((state, action)).or_insert(known);
        *least = least.min(known);
    }

    pub(super) fn any(&self) -> bool {
        self.wholes || !self.least.is_empty()
    }

    /// Whether the probabilities of a pair may sum to 1 with those that could not be read.
    pub(super) fn may_add(&self, (state, action): (u32, u32), missing: f64) -> bool {
        let (state, action) = (Some(state), Some(action));
        [(state, action), (state, None), (None, action), (None, None)]
            .iter()
            .any(|place| self.least.get(place).is_some_and(|&least| least <= missing + ROW_TOLERANCE))
    }

    /// Numbers the actions anew: `place` has the new number of each.
    pub(super) fn renumber(&mut self, place: &[u32]) {
        let old = std::mem::take(&mut self.least);
        for ((state, action), least) in old {
            self.least.insert((state, action.map(|action| place[action as usize])), least);
        }
    }
}
