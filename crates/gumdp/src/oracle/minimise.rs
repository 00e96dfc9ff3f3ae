//! The lowest possible value of any risk measure, as a certified interval.
//!
//! `CVaR`, `EVaR` and their like are minima over one outer variable ([`OuterForm`]). The best value found for any of its
//! values is an upper bound; intervals of the outer variable are excluded, or halved and looked at again, until no value of it
//! can beat that bound by more than the tolerance. Values are cheap, many of them come out of one pass; policies and their
//! distributions are computed only where the search starts and ends.
//! Not here: what needs no search ([`super::optimal`]), and values at risk ([`super::least`]).

use super::forward::distribution;
use super::least::least;
use super::occupancy_dp::Limits;
use super::optima::Passes;
use super::optimal::Inner;
use super::settled::by_mean;
use super::solution::Solution;
use super::ties::{EQUAL, lowest_mean, rounding, spread};
use super::{OracleError, check_bounded};
use crate::problem::Problem;
use crate::risk::{Bounded, Erm, Extremes, FirstLook, Interval, Risk, SearchBy};

/// How wide the interval may be, as a part of how far apart costs can be, and after so many solves.
const WIDTH: f64 = 1e-10;
const PATIENCE: u64 = 512;
pub(super) const WIDE: f64 = 1e-7;
/// The part of it that is excluded, and the part that is claimed; the rest is for rounding.
pub(super) const EXCLUDED: f64 = 0.9;
pub(super) const CLAIMED: f64 = 0.95;
/// The least gain that is worth looking at, as a part of the width.
const WORTHWHILE: f64 = 0.01;
/// Turns of taking the best policy for an outer variable and the best outer variable for the policy.
const TURNS: usize = 20;
/// Values of the outer variable looked at first, and how often values closer to the best of them are.
const FIRST_LOOK: usize = 16;
const CLOSER_LOOKS: usize = 3;
/// Values on either side of the best in a closer look, which has them this much closer.
const NEIGHBOURS: i32 = 4;
const CLOSER: f64 = NEIGHBOURS as f64 + 0.5;
/// Values of the outer variable looked at before anything is excluded.
const LOOKS: u64 = (FIRST_LOOK + 2 * CLOSER_LOOKS * NEIGHBOURS as usize) as u64;
/// Occupancy states of the distribution of a policy that was found by backward induction, at most: it may have far more than that.
pub(super) const MOST_LAW_STATES: u64 = 2_000_000;
/// Solves after which the search gives up: hours, and no problem is known to need them.
pub(super) const MOST_SOLVES: u64 = 1 << 18;

/// The lowest risk over all policies, history-dependent and stochastic ones included, in parallel in rayon's current thread pool;
/// the same bits for any number of threads. Exact but for rounding if the measure has no outer variable, or it is found by
/// bisection; else to within 1e-10 of how far apart costs can be, after many solves 1e-7 (or rounding, if that is larger).
///
/// ```
/// use gumdp::oracle::{Limits, Method, distribution, solve};
/// use gumdp::{Erm, Risk};
/// use gumdp_files::tasks;
/// let [linear, general] = ["mdp", "rooms"].map(|name| tasks::get(name).unwrap().problem);
/// let solution = solve(&linear, Erm::new(5.0)?, &Limits::QUICK)?;
/// assert_eq!((solution.method, solution.states), (Method::BackwardInduction, 4 * 20));
/// assert!(solution.low == solution.value && solution.outer.is_none());
///
/// let risk: Risk = "cvar:0.95".parse()?;
/// let solution = solve(&general, risk, &Limits::QUICK)?;
/// assert!(solution.low <= solution.value && solution.value - solution.low <= 1e-6);
/// assert_eq!(solution.outer.unwrap().variable, "lambda");
/// let costs = distribution(&general, &solution.policy(), &Limits::QUICK)?;
/// assert!((costs.risk(risk) - solution.value).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OracleError::TooLarge`] or [`OracleError::Memory`] if the problem does not fit the limits: the model if the objective is linear
/// and what is minimised an entropic risk (only `max_states` is looked at), else the occupancy MDP. [`OracleError::Overflow`] for
/// astronomic costs; [`OracleError::NotFinite`] for a formula that breaks.
pub fn solve(problem: &Problem, risk: impl Into<Risk>, limits: &Limits) -> Result<Solution, OracleError> {
    check_bounded(problem)?;
    let risk = problem.measure(risk);
    let outer = match (risk.fixed(), risk.outer()) {
        (None, Some(outer)) => outer,
        (fixed, _) => {
            let fixed = fixed.unwrap_or(Erm::MEAN.into());
            let inner = lowest_mean(problem, fixed.aim, limits)?;
            let work = (inner.states, 1);
            return Ok(Solution::of(risk, fixed, inner, work));
        }
    };
    let outer = match outer.search() {
        SearchBy::Exclusion(outer) => outer,
        SearchBy::Bisection { most } => return least(problem, risk, most, limits),
    };
    if let Some(solution) = by_mean(problem, risk, outer.as_ref(), limits)? {
        return Ok(solution);
    }
    let mut search = Search::new(problem, risk, outer, limits, Passes::with_policies(problem, limits)?)?;
    search.look_around()?;
    search.improve()?;
    let looked_at = search.best.outer;
    let low = match search.costs() {
        Some(costs) => search.look_through(&costs)?,
        None => search.certify()?.unwrap_or(search.best.risk),
    };
    if !search.is_same(looked_at, search.best.outer) {
        search.improve()?;
    }
    let low = low.max(search.extremes.mean);
    search.solution(low)
}

/// The best so far.
pub(super) struct Best {
    /// A risk that some policy attains.
    pub(super) risk: f64,
    /// The outer variable for which it does.
    pub(super) outer: f64,
    /// The best policy looked at.
    policy: Option<Found>,
}

/// A policy with its risk and the best outer variable for its distribution.
struct Found {
    risk: f64,
    outer: f64,
    inner: Inner,
}

/// The search from some start on.
pub(super) struct Search<'a> {
    pub(super) problem: &'a Problem,
    risk: Risk,
    pub(super) outer: Box<dyn Bounded>,
    /// Whether values come from backward induction.
    pub(super) by_induction: bool,
    pub(super) limits: &'a Limits,
    pub(super) passes: Passes<'a>,
    pub(super) extremes: Extremes,
    pub(super) best: Best,
    /// How far apart costs can be.
    pub(super) spread: f64,
    /// What rounding may make of a risk.
    pub(super) rounding: f64,
    /// How wide the certified interval may be.
    pub(super) width: f64,
    /// Values of the outer variable that are as good as the best.
    pub(super) tied: Vec<f64>,
    /// Occupancy states after which the search gives up.
    most_states: u64,
}

impl<'a> Search<'a> {
    /// Knows the extremes of what follows the start of the passes. `risk` is not entropic.
    pub(super) fn new(
        problem: &'a Problem,
        risk: Risk,
        mut outer: Box<dyn Bounded>,
        limits: &'a Limits,
        mut passes: Passes<'a>,
    ) -> Result<Self, OracleError> {
        let linear_range = if outer.is_entropic() { passes.linear_range()? } else { None };
        if let Some(range) = linear_range {
            outer.know_linear_range(range);
        }
        let by_induction = linear_range.is_some();
        let Limits { search_transitions: limit, .. } = *limits;
        let for_a_look = LOOKS.saturating_mul(passes.transitions_of_induction());
        if by_induction && for_a_look > limit {
            return Err(OracleError::LongSearch { limit });
        }
        let extremes = passes.solve(&[Erm::BEST.into(), Erm::MEAN.into(), Erm::WORST.into()])?;
        let [lowest, mean, minimax] = [0, 1, 2].map(|k| extremes[k].value);
        let spread = spread(problem, limits)?;
        let rounding = rounding(problem, lowest, minimax);
        let best = Best { risk: f64::INFINITY, outer: 0.0, policy: None };
        let extremes = Extremes { lowest, mean, minimax };
        Ok(Self {
            problem,
            risk,
            outer,
            by_induction,
            limits,
            passes,
            extremes,
            best,
            spread,
            rounding,
            width: rounding.max(WIDTH * spread),
            tied: Vec::new(),
            most_states: u64::MAX,
        })
    }

    /// A risk that is attained, the expected cost of a policy that does, and whether it is the lowest to within `width` of the spread, which
    /// is not found out if that takes more than `most_states`. No policy is looked at.
    pub(super) fn lowest(mut self, width: f64, most_states: u64) -> Result<(f64, f64, bool), OracleError> {
        (self.width, self.most_states) = (self.width.max(width * self.spread), most_states);
        self.look_around()?;
        let certain = self.certify()?.is_none_or(|low| low > self.extremes.mean);
        let Best { risk, outer, .. } = self.best;
        Ok((risk, self.passes.solve(&[self.aim(outer)])?[0].mean, certain))
    }

    /// Whether two values of the outer variable are the same but for rounding.
    pub(super) fn is_same(&self, a: f64, b: f64) -> bool {
        self.outer.is_same(a, b, self.extremes)
    }

    /// Excludes everything that is better than the best by more than the width; returns what is certain then, unless that is
    /// certain anyway.
    fn certify(&mut self) -> Result<Option<f64>, OracleError> {
        let mean = self.extremes.mean;
        // No risk measure here is below the mean.
        if self.best.risk - mean <= EXCLUDED * self.width {
            return Ok(None);
        }
        let highest = self.problem.objective().bounds().high;
        let open = self.outer.that_matter((self.best.risk, self.best.outer), self.extremes, highest);
        let finished = self.exclude(open)?;
        Ok(Some(if finished { self.best.risk - CLAIMED * self.width } else { mean }))
    }

    /// Looks at values all over the range of the outer variable, and closer around the best of them.
    fn look_around(&mut self) -> Result<(), OracleError> {
        let FirstLook { known, values, mut step } = self.outer.first_look(self.extremes, FIRST_LOOK);
        if let Some(known) = known {
            (self.best.risk, self.best.outer) = known;
        }
        self.look_at(values, self.extremes.minimax)?;
        for _ in 0..CLOSER_LOOKS {
            let (best, closer) = (self.best.outer, step / CLOSER);
            let around = (-NEIGHBOURS..=NEIGHBOURS).filter(|&k| k != 0).map(|k| closer * f64::from(k));
            let candidates =
                around.map(|by| self.outer.near(best, by, self.extremes)).filter(|&y| !self.is_same(y, best)).collect();
            self.look_at(candidates, self.best.risk)?;
            step = closer;
        }
        Ok(())
    }

    /// Takes the best policy for the best outer variable, the best outer variable for its distribution, and so on.
    fn improve(&mut self) -> Result<(), OracleError> {
        let mut y = self.best.outer;
        for _ in 0..TURNS {
            let inner = self.passes.inner(self.aim(y))?;
            let found = self.found(inner, y)?;
            let Found { risk, outer, .. } = found;
            let gain = self.best.policy.as_ref().map_or(f64::INFINITY, |best| best.risk - risk);
            if gain > 0.0 || self.best.policy.is_none() {
                self.best.policy = Some(found);
            }
            if risk < self.best.risk {
                (self.best.risk, self.best.outer) = (risk, outer);
            }
            let least = WORTHWHILE * self.width;
            if gain <= least || self.is_same(outer, y) {
                break;
            }
            // A policy is looked at only if it is better.
            let about = self.best.risk;
            let value = self.passes.values(&[self.outer.quick_aim(outer, about)])?[0];
            if self.outer.quick_risk(outer, value, about) >= risk - least {
                break;
            }
            y = outer;
        }
        Ok(())
    }

    /// A policy that was solved for at y, with the risk and the best outer variable of its distribution if that is not too large.
    fn found(&mut self, inner: Inner, y: f64) -> Result<Found, OracleError> {
        let most_states = if self.by_induction { MOST_LAW_STATES } else { u64::MAX };
        let law_limits = Limits { max_states: self.limits.max_states.min(most_states), ..self.limits.clone() };
        let (risk, outer) = match distribution(self.problem, &inner.policy, &law_limits) {
            Ok(costs) => (costs.risk(self.risk), self.outer.best(&costs.tail())),
            Err(error) if error.is_limit() => (self.risk_at(y, inner.value), y),
            Err(other) => return Err(other),
        };
        Ok(Found { risk, outer, inner })
    }

    /// Excludes all intervals, or finds a better value until they can be. Returns whether it came to an end.
    fn exclude(&mut self, mut open: Vec<Interval>) -> Result<bool, OracleError> {
        while !open.is_empty() {
            let Passes { solves, states, transitions, .. } = self.passes;
            if solves > MOST_SOLVES || states > self.most_states || transitions > self.limits.search_transitions {
                return Ok(false);
            }
            if solves > PATIENCE {
                self.width = self.width.max(WIDE * self.spread);
            }
            let threshold = self.best.risk - EXCLUDED * self.width;
            let aims: Vec<_> = open.iter().flat_map(|&interval| self.outer.exclusion(interval, threshold)).collect();
            let solved = self.passes.values(&aims)?;
            let outer = self.outer.as_ref();
            let excluded = |(interval, ends): (&Interval, _)| outer.is_excluded(*interval, ends, threshold);
            let left = open.iter().zip(solved.chunks(2)).filter(|&pair| !excluded(pair)).map(|(&interval, _)| interval);
            // An interval without inside has been solved at both of its ends, and that is all there is.
            let split = left.filter_map(|interval| Some((interval, split(outer, interval, self.best.outer)?)));
            let split: Vec<(Interval, f64)> = split.collect();
            let candidates: Vec<f64> =
                split.iter().map(|&(_, y)| y).filter(|&y| !self.is_same(y, self.best.outer)).collect();
            self.look_at(candidates, threshold)?;
            open = split.into_iter().flat_map(|((low, high), y)| [(low, y), (y, high)]).collect();
        }
        Ok(true)
    }

    /// Takes the best of these values of the outer variable if it is better than the best so far. The risks should not be
    /// far from `about`.
    fn look_at(&mut self, candidates: Vec<f64>, about: f64) -> Result<(), OracleError> {
        let aims: Vec<_> = candidates.iter().map(|&y| self.outer.quick_aim(y, about)).collect();
        let solved = self.passes.values(&aims)?;
        let risk = |(y, value): (f64, f64)| (self.outer.quick_risk(y, value, about), y);
        let risks = candidates.into_iter().zip(solved).map(risk).filter(|(risk, _)| risk.is_finite());
        let risks: Vec<(f64, f64)> = risks.collect();
        let lowest = risks.iter().fold(f64::INFINITY, |lowest, (risk, _)| risk.min(lowest));
        // A smaller gain is not worth a look; the interval that holds it is excluded or split again.
        let least = WORTHWHILE * self.width;
        // So that rounding does not choose among equal ones.
        let equal = risks.into_iter().filter(|(risk, _)| *risk <= lowest + least);
        let Some((risk, y)) = equal.min_by(|(_, a), (_, b)| a.total_cmp(b)) else { return Ok(()) };
        if risk < self.best.risk - least {
            let value = self.passes.values(&[self.aim(y)])?[0];
            let risk = self.risk_at(y, value);
            if risk < self.best.risk - least {
                (self.best.risk, self.best.outer) = (risk, y);
            }
        }
        Ok(())
    }

    /// The best policy; `low` is certified.
    fn solution(mut self, low: f64) -> Result<Solution, OracleError> {
        // There is one from the start on.
        let mut found = self.best.policy.take().ok_or(OracleError::Overflow)?;
        for inner in self.of_lowest_mean()? {
            let other = self.found(inner, found.outer)?;
            let (risk, mean) = (found.risk - other.risk, found.inner.mean - other.inner.mean);
            let equal = EQUAL * self.spread;
            if risk > equal || (risk >= -equal && mean > equal) {
                found = other;
            }
        }
        let Passes { states, solves, .. } = self.passes;
        let Found { risk: value, outer, inner } = found;
        let solution = Solution::of(self.risk, self.outer.at(outer), inner, (states, solves));
        Ok(Solution { value, low: low.min(value), high: value, ..solution })
    }
}

/// Where to split an interval: at the best value if that is inside; `None` if it has no inside.
fn split(outer: &dyn Bounded, interval: Interval, best: f64) -> Option<f64> {
    [best, outer.middle(interval)].into_iter().find(|y| *y > interval.0 && *y < interval.1)
}
