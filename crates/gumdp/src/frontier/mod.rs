//! How behaviour changes with the attitude to risk: what each costs and saves, and where one takes over from another.
//!
//! [`exact()`] solves; where that is too large, [`sampled()`] lets the optimum or a planner play at each level, all levels with common
//! random numbers. An [`Explorer`] does what [`exact()`] does one level at a time. [`usual()`], [`attitudes()`] and [`few()`] say which levels to look at if nobody does.

mod exact;
mod explorer;
mod levels;
mod sampled;

pub use exact::exact;
pub use explorer::Explorer;
pub use levels::{attitudes, far_apart_first, few, usual};
pub use sampled::{Intervals, SampleError, Sampled, Tally, sampled};

use crate::model::{Mdp, Pair, State};
use crate::oracle::{Distribution, OracleError};
use crate::risk::{Cvar, Risk};

/// States whose visits are told, for each change.
const MOST_VISITS: usize = 6;
/// Fewer visits than this are none: they are rounding.
pub const NO_VISIT: f64 = 1e-9;
/// The tail whose mean is looked at.
pub const TAIL: f64 = 0.95;
/// What a bargain saves is at least this part of what can be saved: the best rate is often that of the smallest change.
const WORTHWHILE: f64 = 0.1;
/// Less than this part of the largest cost is rounding.
const ROUNDING: f64 = 1e-11;

/// Behaviour over the attitude to risk.
#[derive(Clone, Debug)]
pub struct Frontier {
    /// One for each measure, levels ascending.
    pub points: Vec<Point>,
    /// Those found, in the order in which they take over; sampled ones are those of the points.
    pub behaviours: Vec<Behaviour>,
    /// Where one takes over from another, in that order.
    pub changes: Vec<Change>,
    /// Whether every change between measures of one kind is located; false if there are too many, or it ended before.
    pub complete: bool,
    /// Why it ended before all that was asked for was done; what is there is kept.
    pub ended: Option<OracleError>,
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
    /// The expected occupancy of each pair: what costs are weighed with.
    pub occupancy: Vec<f64>,
    /// The probability that an episode visits one of the pairs of each marked set, in the order of the sets.
    pub met: Vec<f64>,
    /// The first pair in each initial state, in the order of [`Mdp::initial`]; of runs the most frequent, in states that were met.
    pub first: Vec<Pair>,
}

/// How much of an episode is spent in a place, weighed as costs are, and how much with each action. Occupancies of all places sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// With any action.
    pub occupancy: f64,
    /// By the number of the action.
    pub actions: Vec<f64>,
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

/// The behaviour that saves most in the tail for what it costs in the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bargain {
    /// Its number.
    pub behaviour: usize,
    /// The number of the behaviour of lowest mean, with which it is compared.
    pub neutral: usize,
    /// By how much its mean is higher.
    pub paid: f64,
    /// By how much the mean of its worst 5 % is lower.
    pub saved: f64,
}

impl Point {
    /// β, or the level of the measure.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.risk.swept().map_or(f64::NAN, |(_, level)| level)
    }
}

impl Behaviour {
    /// The mean of the worst 5 % of the costs.
    #[must_use]
    pub fn tail(&self) -> f64 {
        self.costs.risk(Cvar::new(TAIL).map_or(Risk::WORST, Risk::Cvar))
    }

    /// What is done in each of some places, such as the cells of a map: the expected occupancy of all pairs there, and of each action
    /// by its number. States that have no place are left out.
    #[must_use]
    pub fn places(&self, mdp: &Mdp, count: usize, place: impl Fn(State) -> Option<usize>) -> Vec<Place> {
        let empty = Place { occupancy: 0.0, actions: vec![0.0; mdp.action_count()] };
        let mut all = vec![empty; count];
        for (number, &mass) in self.occupancy.iter().enumerate() {
            let pair = Pair(number as u32);
            if let Some(own) = place(mdp.state(pair)).and_then(|place| all.get_mut(place)) {
                own.occupancy += mass;
                own.actions[mdp.action(pair).index()] += mass;
            }
        }
        all
    }

    /// The expected total of a cost with one number for each pair, such as a feature with a name.
    #[must_use]
    pub fn expected(&self, cost: &[f64]) -> f64 {
        self.occupancy.iter().zip(cost).map(|(mass, cost)| mass * cost).sum()
    }
}

/// The pairs at which a cost is positive: marked, they tell in which share of the episodes there is some of it. `None` if it is
/// negative somewhere, so that visits do not tell.
///
/// ```
/// use gumdp::frontier::marked;
/// assert_eq!(marked(&[0.0, 2.0]), Some(vec![false, true]));
/// assert_eq!(marked(&[0.0, -2.0]), None);
/// ```
#[must_use]
pub fn marked(cost: &[f64]) -> Option<Vec<bool>> {
    cost.iter().all(|&cost| cost >= 0.0).then(|| cost.iter().map(|&cost| cost > 0.0).collect())
}

impl Frontier {
    /// The best bargain: of the behaviours that save at least a tenth of what can be saved in the mean of the worst 5 %, compared with
    /// the behaviour of lowest mean, the one that saves most for what it costs in the mean. `None` if nothing is saved. Nothing is said
    /// of costs that were sampled, which differ by chance.
    #[must_use]
    pub fn bargain(&self) -> Option<Bargain> {
        let of = |own: &Behaviour| (own.costs.mean(), own.tail());
        let all: Vec<(f64, f64)> = self.behaviours.iter().filter(|_| self.sampled.is_none()).map(of).collect();
        let neutral = (0..all.len()).min_by(|&a, &b| all[a].0.total_cmp(&all[b].0))?;
        let (mean, tail) = all[neutral];
        let rounding = ROUNDING * self.behaviours.iter().fold(0.0, |most: f64, own| most.max(own.costs.max().abs()));
        let bargain = |behaviour: usize| {
            let (own_mean, own_tail) = all[behaviour];
            Bargain { behaviour, neutral, paid: (own_mean - mean).max(0.0), saved: tail - own_tail }
        };
        let bargains: Vec<Bargain> = (0..all.len()).map(bargain).filter(|own| own.saved > rounding).collect();
        let most = bargains.iter().fold(0.0, |most: f64, own| most.max(own.saved));
        // What is as good as free is compared by what it saves.
        let rate = |own: &Bargain| own.saved / own.paid.max(rounding);
        let worthwhile = bargains.into_iter().filter(|own| own.saved >= WORTHWHILE * most);
        worthwhile.max_by(|a, b| rate(a).total_cmp(&rate(b)).then(b.behaviour.cmp(&a.behaviour)))
    }

    /// The lowest level at which a behaviour is known to be optimal.
    #[must_use]
    pub fn reigns_from(&self, behaviour: usize) -> Option<f64> {
        let changes = self.changes.iter().filter(|change| change.after == behaviour).filter_map(|change| change.level);
        let points = self.points.iter().filter(|point| point.behaviour == behaviour).map(Point::level);
        changes.chain(points).min_by(f64::total_cmp)
    }

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
