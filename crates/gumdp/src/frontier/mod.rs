//! How behaviour changes with the attitude to risk: what each costs and saves, and where one takes over from another.
//!
//! [`exact()`] solves; where that is too large, [`sampled()`] lets a planner play at each level, all levels with common random
//! numbers. [`usual()`] says which levels to look at if nobody does.

mod exact;
mod levels;
mod sampled;

pub use exact::exact;
pub use levels::{few, usual};
pub use sampled::{Intervals, SampleError, Sampled, sampled};

use crate::model::{Mdp, Pair, State};
use crate::oracle::Distribution;
use crate::risk::Risk;

/// States whose visits are told, for each change.
const MOST_VISITS: usize = 6;
/// Fewer visits than this are none: they are rounding.
pub const NO_VISIT: f64 = 1e-9;

/// Behaviour over the attitude to risk.
#[derive(Clone, Debug)]
pub struct Frontier {
    /// One for each measure, in the same order.
    pub points: Vec<Point>,
    /// Those found, in the order in which they take over; sampled ones are those of the points.
    pub behaviours: Vec<Behaviour>,
    /// Where one takes over from another, in that order.
    pub changes: Vec<Change>,
    /// Whether every change between measures of one kind is located; false if there are too many.
    pub complete: bool,
    /// How it was sampled; `None` if it is exact.
    pub sampled: Option<Sampled>,
}

/// One attitude to risk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The attitude to risk.
    pub risk: Risk,
    /// The lowest possible risk, or that of the runs.
    pub value: f64,
    /// It is not lower: no policy has a lower one, or the end of a 95 % interval.
    pub low: f64,
    /// It is not higher.
    pub high: f64,
    /// The number of a behaviour that has it.
    pub behaviour: usize,
}

/// What a policy does and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// The distribution of the cost.
    pub costs: Distribution,
    /// The expected number of steps at each pair of the model.
    pub visits: Vec<f64>,
    /// The first pair in each initial state, in the order of [`Mdp::initial`]; of runs the most frequent, in states that were met.
    pub first: Vec<Pair>,
}

/// One behaviour takes over from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The number of the behaviour up to here.
    pub before: usize,
    /// The number of the one from here on.
    pub after: usize,
    /// The β from which on the later one is better, to within 1e-6 of β and rounding; for `CVaR` and `EVaR` the level at which
    /// the risks of the two cross and no behaviour is better by more than 1e-6. `None` if it is only known to lie between two
    /// points.
    pub level: Option<f64>,
    /// The number of the first point that is not before the change.
    pub point: usize,
}

/// How often a state is visited, or an action taken in it, before and after a change.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Visits {
    /// The state's name.
    pub state: String,
    /// The action's name if only the actions differ.
    pub action: Option<String>,
    /// Expected number of visits before.
    pub before: f64,
    /// And after.
    pub after: f64,
}

impl Frontier {
    /// The states whose expected visits change most; if none does, the actions that are taken in them. Nothing is said of visits
    /// that were sampled, which differ by chance.
    #[must_use]
    pub fn visits(&self, mdp: &Mdp, change: &Change) -> Vec<Visits> {
        if self.sampled.is_some() {
            return Vec::new();
        }
        let [before, after] = [change.before, change.after].map(|number| &self.behaviours[number].visits);
        let of_state = |state: State| {
            let sum = |visits: &[f64]| mdp.pairs(state).map(|pair| visits[pair as usize]).sum::<f64>();
            Visits { state: mdp.state_name(state).to_owned(), action: None, before: sum(before), after: sum(after) }
        };
        let changed = most_changed(mdp.states().map(of_state));
        if !changed.is_empty() {
            return changed;
        }
        let of_pair = |number: u32| {
            let (pair, place) = (Pair::from(number), number as usize);
            let (state, action) = (mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)));
            let (state, action) = (state.to_owned(), Some(action.to_owned()));
            Visits { state, action, before: before[place], after: after[place] }
        };
        most_changed((0..mdp.pair_count() as u32).map(of_pair))
    }
}

fn most_changed(all: impl Iterator<Item = Visits>) -> Vec<Visits> {
    let by = |visits: &Visits| (visits.after - visits.before).abs();
    let mut changed: Vec<Visits> = all.filter(|visits| by(visits) > NO_VISIT).collect();
    changed.sort_by(|a, b| by(b).total_cmp(&by(a)));
    changed.truncate(MOST_VISITS);
    changed
}
