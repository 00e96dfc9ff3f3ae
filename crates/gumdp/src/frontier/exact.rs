//! How optimal behaviour changes with the attitude to risk.
//!
//! A behaviour is kept from level to level for as long as it stays optimal, to within rounding: its distribution tells its risk at
//! every level, and the optimum says whether that is the lowest. Where it stops being optimal, the distributions before and after
//! cross; the crossing is found by bisection over the two distributions, without solving anything, and then solved once. If both
//! behaviours are optimal there, the change is found; if a third one is better, it lies between them, and so on.
//!
//! What is not seen: a behaviour that comes and goes between two levels or crossings, and one that is better by less than
//! rounding. Two actions that lead to the same distribution are a tie, not a change.

use super::{Behaviour, Change, Frontier, Point};
use crate::model::{Pair, State};
use crate::oracle::{
    Distribution, Limits, OptimalPolicy, OracleError, PASS, Passes, Visit, check_bounded, distribution_with_visits,
    solve,
};
use crate::problem::Problem;
use crate::risk::{Erm, Form, Risk};

/// A behaviour whose risk is this close to the optimum, relative to its largest cost, is optimal: the rest is rounding.
const ROUNDING: f64 = 1e-11;
/// The same, absolute, for measures that are known as an interval of this width.
const WIDTH: f64 = 1e-6;
/// How exactly crossings are located, relative to β.
const LOCATED: f64 = 1e-9;
/// Distributions are equal if their costs and probabilities are as close as this.
const EQUAL: f64 = 1e-9;
/// Behaviours after which no more are looked for between levels.
const MOST_BEHAVIOURS: usize = 256;
/// Solutions of measures that are not entropic after which no more are looked for: each is a search of its own.
const MOST_SEARCHES: usize = 32;
/// How exactly crossings of such measures are located.
const LEVEL_LOCATED: f64 = 1e-9;
/// Gaps that are looked into at once, the widest first.
const AT_ONCE: usize = 8;

/// Optimal behaviour for many attitudes to risk, in the order given, which should be that of growing aversion; and between
/// neighbouring ones of one kind the level at which it changes. `solved` is told how many levels are solved, each time that one
/// more is; when all of them are, the changes are located.
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
/// let mut solved = Vec::new();
/// let frontier = frontier::exact(&problem, &levels, &Limits::QUICK, |levels| solved.push(levels))?;
/// assert_eq!(solved, [1, 2, 3]);
/// let [change] = frontier.changes[..] else { panic!("one change") };
/// let beta = change.level.unwrap();
/// // ERM of the coin is 1 where exp(1.8β) + 1 = 2·exp(β).
/// assert!(((1.8 * beta).exp() + 1.0 - 2.0 * beta.exp()).abs() < 1e-8);
/// assert_eq!(frontier.behaviours[change.after].costs.values(), [1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`solve()`] and [`distribution()`](crate::oracle::distribution()); [`OracleError::Memory`] also if the distributions of
/// all behaviours together do not fit.
pub fn exact(
    problem: &Problem,
    risks: &[Risk],
    limits: &Limits,
    solved: impl FnMut(usize),
) -> Result<Frontier, OracleError> {
    check_bounded(problem)?;
    let mut found = Found { problem, limits, behaviours: Vec::new() };
    let points = found.points(risks, solved)?;
    let (mut changes, mut gaps) = (Vec::new(), Vec::new());
    for (index, pair) in points.windows(2).enumerate() {
        let (before, after, point) = (pair[0].behaviour, pair[1].behaviour, index + 1);
        if before == after {
            continue;
        }
        match (pair[0].risk.swept(), pair[1].risk.swept()) {
            (Some((form, low)), Some((other, high))) if form.name == other.name => {
                gaps.push(Gap { form, low, high, before, after, point });
            }
            _ => changes.push((0.0, Change { before, after, level: None, point })),
        }
    }
    let complete = found.locate(gaps, &mut changes)?;
    // Changes between the same two points are in the order of β, which may fall if the levels do.
    changes.sort_by(|(low, a), (other, b)| {
        let falling = points[a.point - 1].risk.beta() > points[a.point].risk.beta();
        let by_beta = low.total_cmp(other);
        a.point.cmp(&b.point).then(if falling { by_beta.reverse() } else { by_beta })
    });
    let changes = changes.into_iter().map(|(_, change)| change).collect();
    Ok(renumbered(points, found.behaviours, changes, complete))
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
}

impl Gap {
    /// The measure at a level between the ends, where it exists.
    fn at(&self, level: f64) -> Risk {
        self.form.at(level).unwrap_or(Risk::MEAN)
    }

    fn is_entropic(&self) -> bool {
        self.at(self.low).beta().is_some()
    }
}

struct Found<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    behaviours: Vec<Behaviour>,
}

impl Found<'_> {
    fn points(&mut self, risks: &[Risk], mut solved: impl FnMut(usize)) -> Result<Vec<Point>, OracleError> {
        let erms: Vec<Erm> = risks.iter().filter_map(|risk| risk.as_erm()).collect();
        // Entropic levels are solved one pass ahead.
        let mut passes = Passes::from_start(self.problem, self.limits)?;
        let mut ahead = erms.chunks(PASS);
        let mut entropic = Vec::new().into_iter();
        let mut points: Vec<Point> = Vec::with_capacity(risks.len());
        for &risk in risks {
            let last = points.last().map(|point| point.behaviour);
            let (value, low, behaviour) = if let Some(erm) = risk.as_erm() {
                if entropic.len() == 0 {
                    entropic = passes.lowest(ahead.next().unwrap_or_default())?.into_iter();
                }
                let value = entropic.next().unwrap_or(f64::NAN);
                let behaviour = match last.filter(|&last| self.is_optimal(last, erm, value)) {
                    Some(last) => last,
                    None => self.solve(erm)?,
                };
                (value, value, behaviour)
            } else {
                let solution = solve(self.problem, risk, self.limits)?;
                let bound = solution.high.max(solution.low + WIDTH);
                let keeps = |&last: &usize| self.behaviours[last].costs.risk(risk) <= bound;
                let behaviour = match last.filter(keeps) {
                    Some(last) => last,
                    None => self.add(&solution.policy())?,
                };
                (solution.high, solution.low, behaviour)
            };
            points.push(Point { risk, value, low, high: value, behaviour });
            solved(points.len());
        }
        Ok(points)
    }

    /// Whether a behaviour attains the optimum.
    fn is_optimal(&self, behaviour: usize, erm: Erm, optimum: f64) -> bool {
        let costs = &self.behaviours[behaviour].costs;
        costs.erm(erm) <= optimum + ROUNDING * costs.min().abs().max(costs.max().abs())
    }

    fn solve(&mut self, erm: Erm) -> Result<usize, OracleError> {
        self.add(&solve(self.problem, erm, self.limits)?.policy())
    }

    /// The number of a policy's behaviour, which may be known.
    fn add(&mut self, policy: &OptimalPolicy) -> Result<usize, OracleError> {
        let problem = self.problem;
        let mut visits = vec![0.0; problem.mdp().pair_count()];
        let count = |visit: Visit<'_>| visits[visit.pair.index()] += visit.probability;
        let costs = distribution_with_visits(problem, policy, self.limits, count)?;
        let first: Vec<Pair> = problem
            .mdp()
            .initial()
            .iter()
            .map(|&(state, _): &(State, f64)| policy.best(&problem.start(state)))
            .collect();
        let known = |other: &Behaviour| other.first == first && is_close(&other.costs, &costs);
        if let Some(number) = self.behaviours.iter().position(known) {
            return Ok(number);
        }
        self.behaviours.push(Behaviour { costs, visits, first });
        let outcomes: usize = self.behaviours.iter().map(|behaviour| behaviour.costs.values().len()).sum();
        let bytes = (outcomes * size_of::<(f64, f64)>()) as u64;
        let limit = self.limits.max_bytes;
        if bytes > limit {
            return Err(OracleError::Memory { bytes, reached: outcomes as u64, projected: None, limit });
        }
        Ok(self.behaviours.len() - 1)
    }

    /// How much two behaviours differ: in the mean, in the middle and at both ends of the distribution.
    fn distance(&self, gap: &Gap) -> f64 {
        let (before, after) = (&self.behaviours[gap.before].costs, &self.behaviours[gap.after].costs);
        let part = |of: fn(&Distribution) -> f64| (of(before) - of(after)).abs();
        part(Distribution::mean)
            + part(Distribution::min)
            + part(Distribution::max)
            + part(|costs| costs.quantile(0.95))
    }

    /// Finds the β of each change, and the changes between, each after a β that it does not come before, the largest first;
    /// returns whether all were located.
    fn locate(&mut self, mut gaps: Vec<Gap>, changes: &mut Vec<(f64, Change)>) -> Result<bool, OracleError> {
        let mut searches = 0;
        while !gaps.is_empty() {
            if self.behaviours.len() > MOST_BEHAVIOURS || searches >= MOST_SEARCHES {
                let unlocated =
                    |Gap { low, before, after, point, .. }| (low, Change { before, after, level: None, point });
                changes.extend(gaps.into_iter().map(unlocated));
                return Ok(false);
            }
            gaps.sort_by(|a, b| self.distance(b).total_cmp(&self.distance(a)).then(a.low.total_cmp(&b.low)));
            let later = gaps.split_off(gaps.len().min(AT_ONCE));
            let entropic = gaps.iter().filter(|gap| gap.is_entropic());
            let erms: Vec<Erm> = entropic.map(|gap| self.crossing(gap)).collect();
            let optima = Passes::from_start(self.problem, self.limits)?.lowest(&erms)?;
            let mut solved = erms.iter().zip(optima);
            let mut next = Vec::new();
            for gap in gaps {
                let Gap { form, low, high, before, after, point } = gap;
                let crossed = if gap.is_entropic() { solved.next() } else { None };
                let (at, third) = if let Some((&erm, optimum)) = crossed {
                    let settled = [before, after].into_iter().any(|end| self.is_optimal(end, erm, optimum));
                    (erm.beta(), if settled { before } else { self.solve(erm)? })
                } else {
                    searches += 1;
                    self.search(&gap)?
                };
                if [before, after].contains(&third) {
                    changes.push((at, Change { before, after, level: Some(at), point }));
                } else {
                    next.push(Gap { form, low, high: at, before, after: third, point });
                    next.push(Gap { form, low: at, high, before: third, after, point });
                }
            }
            next.extend(later);
            gaps = next;
        }
        Ok(true)
    }

    /// The level at which the risks of two behaviours cross, and a behaviour that is optimal there: one of them if it is.
    fn search(&mut self, gap: &Gap) -> Result<(f64, usize), OracleError> {
        let (before, after) = (&self.behaviours[gap.before].costs, &self.behaviours[gap.after].costs);
        let (mut low, mut high) = (gap.low, gap.high);
        while (high - low).abs() > LEVEL_LOCATED {
            let middle = f64::midpoint(low, high);
            let risk = gap.at(middle);
            if after.risk(risk) < before.risk(risk) {
                high = middle;
            } else {
                low = middle;
            }
        }
        let level = f64::midpoint(low, high);
        let risk = gap.at(level);
        let solution = solve(self.problem, risk, self.limits)?;
        let bound = solution.high.max(solution.low + WIDTH);
        if before.risk(risk) <= bound || after.risk(risk) <= bound {
            return Ok((level, gap.before));
        }
        Ok((level, self.add(&solution.policy())?))
    }

    /// Where the risk of the later behaviour falls below that of the earlier one. No β is too large: the bisection is over
    /// x/(1 + |x|), with x the product of β and the spread of the costs.
    fn crossing(&self, gap: &Gap) -> Erm {
        let (before, after) = (&self.behaviours[gap.before].costs, &self.behaviours[gap.after].costs);
        let spread = (before.max().max(after.max()) - before.min().min(after.min())).max(f64::MIN_POSITIVE);
        let place = |beta: f64| {
            if beta.is_infinite() { beta.signum() } else { (beta * spread) / (1.0 + (beta * spread).abs()) }
        };
        let erm_at = |place: f64| Erm::new(place / (1.0 - place.abs()) / spread).unwrap_or(Erm::MEAN);
        let (mut low, mut high) = (place(gap.low), place(gap.high));
        loop {
            let middle = f64::midpoint(low, high);
            let erm = erm_at(middle);
            let narrow = (erm_at(high).beta() - erm_at(low).beta()).abs() <= LOCATED * erm.beta().abs();
            let tiny = (high - low).abs() <= LOCATED * LOCATED;
            if narrow || tiny || middle == low || middle == high {
                return erm;
            }
            if after.erm(erm) < before.erm(erm) {
                high = middle;
            } else {
                low = middle;
            }
        }
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
fn renumbered(
    mut points: Vec<Point>,
    behaviours: Vec<Behaviour>,
    mut changes: Vec<Change>,
    complete: bool,
) -> Frontier {
    let mut order: Vec<usize> = Vec::with_capacity(behaviours.len());
    let first = points.first().map(|point| point.behaviour);
    for behaviour in first.into_iter().chain(changes.iter().map(|change| change.after)) {
        if !order.contains(&behaviour) {
            order.push(behaviour);
        }
    }
    let mut number = vec![0; behaviours.len()];
    for (new, &old) in order.iter().enumerate() {
        number[old] = new;
    }
    for point in &mut points {
        point.behaviour = number[point.behaviour];
    }
    for change in &mut changes {
        (change.before, change.after) = (number[change.before], number[change.after]);
    }
    let mut taken: Vec<Option<Behaviour>> = behaviours.into_iter().map(Some).collect();
    let behaviours = order.into_iter().filter_map(|old| taken[old].take()).collect();
    Frontier { points, behaviours, changes, complete, sampled: None }
}
