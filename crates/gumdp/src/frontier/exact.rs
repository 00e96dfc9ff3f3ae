//! How optimal behaviour changes with the attitude to risk.
//!
//! Levels come first: each is solved, and its behaviour is the one that [`solve()`] has there, of lowest mean among those of lowest
//! risk, to within rounding. Between two levels with different behaviours, their distributions tell where their risks cross; that is
//! found by bisection, without solving anything, and then solved once. If one of the two is optimal there, the change is found; if a
//! third one is better, it lies between them, and so on. This search alone is bounded by the clock.
//!
//! What is not seen: a behaviour that comes and goes between two levels or crossings, and one that is better by less than
//! rounding. Two actions that lead to the same distribution are a tie, not a change.

use std::time::Duration;

use super::{Behaviour, Change, Explorer, Frontier, Point};
use crate::model::{Pair, State};
use crate::oracle::{
    Distribution, Limits, OptimalPolicy, OracleError, Solution, Visit, distribution_with_visits, probability_of_visit,
    solve,
};
use crate::problem::Problem;
use crate::risk::{Form, Risk};

/// A behaviour whose risk is this close to the optimum, relative to its largest cost, is optimal: the rest is rounding. So is its mean.
const ROUNDING: f64 = 1e-11;
/// The same for measures that are found by a search.
const SEARCHED: f64 = 1e-9;
/// How exactly crossings are located, relative to the level, and how often an interval is halved for that.
const LOCATED: f64 = 1e-9;
const HALVINGS: usize = 64;
/// Distributions are equal if their costs and probabilities are as close as this.
const EQUAL: f64 = 1e-9;
/// Behaviours after which no more are looked for between levels.
const MOST_BEHAVIOURS: usize = 256;
/// β times the spread of costs that stands for all larger ones: nothing but the worst case counts, and ties in it are told apart.
const FAR: f64 = 1e6;

/// Optimal behaviour for many attitudes to risk, solved in the order given and kept in that of growing levels, and where it changes
/// between neighbouring levels of one measure. `known` is told of each level as soon as it is. Then changes are located, the largest
/// first, for as long as `patience` lasts: levels do not depend on the clock, only how many changes are located.
///
/// Of each behaviour it is told how probable a visit of each `marked` set of pairs is.
///
/// If it is stopped, what is known is kept ([`Frontier::ended`]); so is, if a later level does not fit the limits, what is known of two levels or
/// more.
///
/// ```
/// use gumdp::oracle::Limits;
/// use gumdp::{Erm, Mdp, Objective, Problem, Risk, frontier};
/// // A sure cost of 1, or a coin between 0 and 1.8: the careful pay for certainty.
/// let mdp = Mdp::named(["start", "nothing", "sure", "much"], ["pay", "toss"])
///     .start("start")
///     .transition("start", "pay", [("sure", 1.0)])
///     .transition("start", "toss", [("nothing", 0.5), ("much", 0.5)])
///     .transition("nothing", "pay", [("nothing", 1.0)])
///     .transition("sure", "pay", [("sure", 1.0)])
///     .transition("much", "pay", [("much", 1.0)])
///     .build()?;
/// let objective = Objective::linear(mdp.by_state(&[0.0, 0.0, 2.0, 3.6])?)?;
/// let problem = Problem::new(mdp, objective, 1.0, 2)?;
/// let levels: Vec<Risk> = [0.0, 1.0, f64::INFINITY].map(|beta| Erm::new(beta).unwrap().into()).to_vec();
/// let (mut means, patience) = (Vec::new(), std::time::Duration::from_secs(60));
/// let frontier = frontier::exact(&problem, &levels, &[], &Limits::QUICK, patience, |_, own| means.push(own.costs.mean()))?;
/// assert_eq!(means, [0.9, 1.0, 1.0]);
/// let [change] = frontier.changes[..] else { panic!("one change") };
/// let beta = change.level.unwrap();
/// // ERM of the coin is 1 where exp(1.8β) + 1 = 2·exp(β).
/// assert!(((1.8 * beta).exp() + 1.0 - 2.0 * beta.exp()).abs() < 1e-8);
/// assert_eq!(frontier.behaviours[change.after].costs.values(), [1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`solve()`] and [`distribution()`](crate::oracle::distribution()), of which a tenth of `max_states` is allowed;
/// [`OracleError::Memory`] also if the distributions of all behaviours together do not fit.
pub fn exact(
    problem: &Problem,
    risks: &[Risk],
    marked: &[Vec<bool>],
    limits: &Limits,
    patience: Duration,
    mut known: impl FnMut(&Point, &Behaviour),
) -> Result<Frontier, OracleError> {
    let mut explorer = Explorer::new(problem, limits)?.marking(marked);
    let mut ended = None;
    for &risk in risks {
        let levels = explorer.levels();
        match explorer.look(risk) {
            Ok((point, behaviour)) => known(&point, behaviour),
            // One level is no frontier where more can be sampled, but all that there is for one who stops.
            Err(error) if levels > usize::from(error != OracleError::Stopped) && cuts_short(&error) => {
                ended = Some(error);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let patience = if ended.is_some() { Duration::ZERO } else { patience };
    let found = explorer.frontier(patience)?;
    let ended = found.ended.or(ended);
    Ok(Frontier { complete: found.complete && ended.is_none(), ended, ..found })
}

/// Whether what is known already is still worth something.
fn cuts_short(error: &OracleError) -> bool {
    error.is_limit() || *error == OracleError::Stopped
}

pub(super) fn same_form(a: &Point, b: &Point) -> bool {
    matches!((a.risk.swept(), b.risk.swept()), (Some((one, _)), Some((other, _))) if one.name == other.name)
}

/// A change between two levels that is not located yet.
#[derive(Clone, Copy)]
struct Gap {
    form: &'static Form,
    low: f64,
    high: f64,
    before: usize,
    after: usize,
    point: usize,
    /// The levels of the points around it.
    ends: [f64; 2],
}

impl Gap {
    /// The measure at a level between the ends, where it exists.
    fn at(&self, level: f64) -> Risk {
        self.form.at(level).unwrap_or(Risk::MEAN)
    }

    fn is_entropic(&self) -> bool {
        self.at(self.low).beta().is_some()
    }

    fn change(&self, level: Option<f64>) -> (f64, Change) {
        (self.low, Change { before: self.before, after: self.after, level, point: self.point })
    }

    /// With another behaviour at a level inside: what is left to be located.
    fn split(self, level: f64, behaviour: usize) -> impl Iterator<Item = Self> {
        let halves = [Self { high: level, after: behaviour, ..self }, Self { low: level, before: behaviour, ..self }];
        halves.into_iter().filter(|gap| gap.before != gap.after)
    }
}

pub(super) struct Found<'a> {
    pub(super) problem: &'a Problem,
    pub(super) marked: &'a [Vec<bool>],
    pub(super) limits: Limits,
    pub(super) behaviours: Vec<Behaviour>,
}

impl Found<'_> {
    /// Solves a level, unless it is known that a behaviour is optimal there.
    pub(super) fn point(&mut self, risk: Risk, lowest: Option<Lowest>) -> Result<Point, OracleError> {
        let at = |Lowest { low, high, .. }: Lowest, behaviour| Point { risk, value: high, low, high, behaviour };
        if let Some((lowest, number)) = lowest.and_then(|lowest| Some((lowest, self.same(&lowest)?))) {
            return Ok(at(lowest, number));
        }
        let solution = solve(self.problem, risk, &self.limits)?;
        let lowest = Lowest::from(&solution);
        let behaviour = match self.same(&lowest) {
            Some(number) => number,
            None => self.add(&solution.policy())?,
        };
        Ok(at(lowest, behaviour))
    }

    /// The behaviour found last of those that have this risk and mean.
    fn same(&self, lowest: &Lowest) -> Option<usize> {
        let same = |costs: &Distribution| lowest.is_of(costs) && costs.mean() <= lowest.mean + lowest.tolerance(costs);
        (0..self.behaviours.len()).rev().find(|&number| same(&self.behaviours[number].costs))
    }

    /// The number of a policy's behaviour, which may be known.
    fn add(&mut self, policy: &OptimalPolicy) -> Result<usize, OracleError> {
        let (problem, limit) = (self.problem, self.limits.max_bytes);
        let mut visits = vec![0.0; problem.mdp().pair_count()];
        let mut occupancy = visits.clone();
        let count = |visit: Visit<'_>| {
            visits[visit.pair.index()] += visit.probability;
            occupancy[visit.pair.index()] += visit.probability * problem.masses()[visit.time];
        };
        let costs = distribution_with_visits(problem, policy, &self.limits.of_distribution(), count)?;
        let best = |&(state, _): &(State, f64)| policy.best(&problem.start(state));
        let first: Vec<Pair> = problem.mdp().initial().iter().map(best).collect();
        let known = |other: &Behaviour| other.first == first && is_close(&other.costs, &costs);
        if let Some(number) = self.behaviours.iter().position(known) {
            return Ok(number);
        }
        let met = |set: &Vec<bool>| probability_of_visit(problem, policy, &self.limits.of_distribution(), set);
        let met = self.marked.iter().map(met).collect::<Result<_, _>>()?;
        self.behaviours.push(Behaviour { costs, visits, occupancy, met, first });
        let outcomes: usize = self.behaviours.iter().map(|behaviour| behaviour.costs.values().len()).sum();
        let bytes = (outcomes * size_of::<(f64, f64)>()) as u64;
        if bytes > limit {
            return Err(OracleError::Memory { bytes, reached: outcomes as u64, projected: None, limit });
        }
        Ok(self.behaviours.len() - 1)
    }

    /// All changes in order, and whether each is located.
    pub(super) fn changes(&mut self, points: &[Point]) -> Result<(Vec<Change>, bool), OracleError> {
        let (mut changes, mut gaps, mut complete) = (Vec::new(), Vec::new(), true);
        for (number, pair) in points.windows(2).enumerate() {
            let (before, after, point) = (pair[0].behaviour, pair[1].behaviour, number + 1);
            let Some((form, low)) = pair[0].risk.swept().filter(|_| same_form(&pair[0], &pair[1])) else {
                changes.extend((before != after).then_some((0.0, Change { before, after, level: None, point })));
                continue;
            };
            let high = pair[1].level();
            let gap = Gap { form, low, high, before, after, point, ends: [low, high] };
            gaps.extend((before != after || self.far(&gap).is_some()).then_some(gap));
        }
        while let Some(widest) = self.widest(&gaps) {
            let gap = gaps.remove(widest);
            match self.look_into(&gap) {
                Ok((level, None)) => changes.push(gap.change(Some(level))),
                Ok((level, Some(third))) => gaps.extend(gap.split(level, third)),
                Err(error) if cuts_short(&error) => {
                    complete = false;
                    let left = gaps.drain(..).chain([gap]).filter(|gap| gap.before != gap.after);
                    changes.extend(left.map(|gap| gap.change(None)));
                }
                Err(error) => return Err(error),
            }
        }
        changes.sort_by(|(low, a), (other, b)| a.point.cmp(&b.point).then(low.total_cmp(other)));
        let mut changes: Vec<Change> = changes.into_iter().map(|(_, change)| change).collect();
        // What changes twice in the limit changes once.
        changes.dedup_by(|next, last| {
            let again =
                next.level.is_some_and(f64::is_infinite) && (next.level, next.point) == (last.level, last.point);
            if again {
                last.after = next.after;
            }
            again
        });
        changes.retain(|change| change.before != change.after);
        Ok((changes, complete))
    }

    /// The gap whose behaviours differ most: in the mean, in the middle and at both ends of the distribution.
    fn widest(&self, gaps: &[Gap]) -> Option<usize> {
        let distance = |gap: &Gap| {
            let [before, after] = self.ends(gap);
            let part = |of: fn(&Distribution) -> f64| (of(before) - of(after)).abs();
            part(Distribution::mean)
                + part(Distribution::min)
                + part(Distribution::max)
                + part(|costs| costs.quantile(0.95))
        };
        let distances: Vec<f64> = gaps.iter().map(distance).collect();
        (0..gaps.len()).max_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(b.cmp(&a)))
    }

    fn ends(&self, gap: &Gap) -> [&Distribution; 2] {
        [gap.before, gap.after].map(|number| &self.behaviours[number].costs)
    }

    /// How far apart the costs of both behaviours are.
    fn spread(&self, gap: &Gap) -> f64 {
        let [before, after] = self.ends(gap);
        (before.max().max(after.max()) - before.min().min(after.min())).max(f64::MIN_POSITIVE)
    }

    /// The β that stands for all larger ones, if one end of the gap is infinite and the other is not so far.
    fn far(&self, gap: &Gap) -> Option<f64> {
        let far = FAR / self.spread(gap);
        match (gap.low, gap.high) {
            (low, f64::INFINITY) if low < far => Some(far),
            (f64::NEG_INFINITY, high) if high > -far => Some(-far),
            _ => None,
        }
        .filter(|far| far.is_finite())
    }

    /// A level at which the behaviours change, or one and a third behaviour that is better there.
    fn look_into(&mut self, gap: &Gap) -> Result<(f64, Option<usize>), OracleError> {
        if let Some(far) = self.far(gap) {
            return Ok((far, Some(self.point(gap.at(far), None)?.behaviour)));
        }
        if let Some(limit) = [gap.low, gap.high].into_iter().find(|level| level.is_infinite()) {
            return Ok((limit, None));
        }
        let level = self.crossing(gap);
        // Optimal at the far β only because its mean is lower and the risk the same but for rounding: so it is in the limit.
        let meets = |end: f64| (level - end).abs() <= 2.0 * LOCATED * end.abs();
        if let Some((_, limit)) = [gap.low, gap.high]
            .into_iter()
            .zip(gap.ends)
            .find(|&(own, end)| own != end && end.is_infinite() && meets(own))
        {
            return Ok((limit, None));
        }
        let solution = solve(self.problem, gap.at(level), &self.limits)?;
        if self.ends(gap).into_iter().any(|costs| Lowest::from(&solution).is_of(costs)) {
            return Ok((level, None));
        }
        if self.behaviours.len() > MOST_BEHAVIOURS {
            return Err(OracleError::Stopped);
        }
        let third = self.add(&solution.policy())?;
        Ok((level, Some(third).filter(|third| ![gap.before, gap.after].contains(third))))
    }

    /// Where the risk of the later behaviour falls below that of the earlier one. No β is too large: the bisection is over
    /// x/(1 + |x|), with x the product of β and the spread of the costs.
    fn crossing(&self, gap: &Gap) -> f64 {
        let ([before, after], spread, entropic) = (self.ends(gap), self.spread(gap), gap.is_entropic());
        let place = |level: f64| if entropic { level * spread / (1.0 + (level * spread).abs()) } else { level };
        let level = |place: f64| if entropic { place / (1.0 - place.abs()) / spread } else { place };
        let (mut low, mut high) = (place(gap.low), place(gap.high));
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if level(high) - level(low) <= LOCATED * level(middle).abs() {
                break;
            }
            let risk = gap.at(level(middle));
            if risk_of(after, risk) < risk_of(before, risk) {
                high = middle;
            } else {
                low = middle;
            }
        }
        level(f64::midpoint(low, high))
    }
}

fn risk_of(costs: &Distribution, risk: Risk) -> f64 {
    risk.as_erm().map_or_else(|| costs.risk(risk), |erm| costs.erm(erm))
}

/// The lowest risk at a level, and the lowest mean of those that have it.
#[derive(Clone, Copy)]
pub(super) struct Lowest {
    pub(super) risk: Risk,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) mean: f64,
    /// Whether it was found by a search.
    pub(super) searched: bool,
}

impl From<&Solution> for Lowest {
    fn from(solution: &Solution) -> Self {
        let &Solution { risk, low, high, mean, outer, .. } = solution;
        Self { risk, low, high, mean, searched: outer.is_some() }
    }
}

impl Lowest {
    /// What rounding may make of the costs of a behaviour, and the search for its measure.
    fn tolerance(&self, costs: &Distribution) -> f64 {
        let share = if self.searched { SEARCHED } else { ROUNDING };
        share * costs.min().abs().max(costs.max().abs())
    }

    /// Whether no behaviour has a lower risk than the one with these costs.
    fn is_of(&self, costs: &Distribution) -> bool {
        risk_of(costs, self.risk) <= self.high + self.tolerance(costs)
    }
}

fn is_close(a: &Distribution, b: &Distribution) -> bool {
    let scale = a.min().abs().max(a.max().abs());
    a.values().len() == b.values().len()
        && a.outcomes()
            .zip(b.outcomes())
            .all(|((x, p), (y, q))| (x - y).abs() <= EQUAL * scale && (p - q).abs() <= EQUAL)
}

/// Behaviours in the order in which they take over.
pub(super) fn renumbered(mut of: Frontier) -> Frontier {
    let first = of.points.first().map(|point| point.behaviour);
    let mut order: Vec<usize> = Vec::with_capacity(of.behaviours.len());
    for behaviour in first.into_iter().chain(of.changes.iter().map(|change| change.after)) {
        if !order.contains(&behaviour) {
            order.push(behaviour);
        }
    }
    let new = |old: usize| order.iter().position(|&other| other == old).unwrap_or_default();
    of.points.iter_mut().for_each(|point| point.behaviour = new(point.behaviour));
    of.changes.iter_mut().for_each(|change| (change.before, change.after) = (new(change.before), new(change.after)));
    of.behaviours = order.iter().map(|&old| of.behaviours[old].clone()).collect();
    of
}
