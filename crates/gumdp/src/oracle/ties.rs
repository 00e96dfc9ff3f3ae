//! Of the policies of lowest risk one of lowest mean.
//!
//! Risks are equal within 1e-12 of how far apart costs can be. Solvers take, in every situation, the choice of lower mean among those of
//! equal value; a value counts as equal if it is within a share of that tolerance that all steps together use up. That is enough where a
//! risk weighs every situation it may lead to, as means of a function of the cost do. The worst case and strong aversion do not weigh
//! situations that are not the worst: a choice there may cost more than it must without being seen. So what they minimise is written
//! as the mean of a function of the cost, known once the lowest risk is, and solved again:
//!
//! | measure | second aim |
//! |---|---|
//! | worst case w | no cost above w |
//! | ERM_β = v, strong | mean of expm1(β(f − v))/β, which is 0 at the optimum |
//!
//! A linear objective then needs its occupancy states, where it had none before; if there are too many, the first answer stays.
//!
//! The best case sees one episode only. If the policy of lowest mean may come to it, that is the one; else every situation is left for the
//! best that it can still come to, at the lowest mean of those choices. A lower mean would take a policy that remembers whether
//! the episode is still the one that comes to the best case.

use super::backward_induction::Linear;
use super::forward::distribution;
use super::minimise::{MOST_LAW_STATES, Search};
use super::occupancy_dp::{Limits, Method, Strategy, solve_aim};
use super::optima::Passes;
use super::optimal::{Inner, optimum};
use super::unfolded::Start;
use super::{OracleError, check_stop};
use crate::objective::Bounds;
use crate::problem::Problem;
use crate::risk::{Aim, Erm};

/// Risks that are closer than this part of how far apart costs can be are equal; so are probabilities that are closer than this.
pub(super) const EQUAL: f64 = 1e-12;
/// From this |β|·spread on, some situations are hardly seen.
const STRONG: f64 = 20.0;
/// Occupancy states that a linear objective may take for the sake of the mean.
pub(super) const LINEAR_STATES: u64 = 2_000_000;

/// How far apart costs can be; of a formula, whose bounds may be far too wide, how far apart its lowest and its minimax cost are.
pub(super) fn spread(problem: &Problem, limits: &Limits) -> Result<f64, OracleError> {
    spread_from(problem, limits, Start::of(problem))
}

/// The same of what follows this start.
pub(super) fn spread_from(problem: &Problem, limits: &Limits, start: Start) -> Result<f64, OracleError> {
    let Bounds { low, high } = problem.objective().bounds();
    if !problem.objective().has_formula() {
        return Ok(high - low);
    }
    let ends = Passes::new(problem, limits, start)?.lowest(&[Erm::BEST, Erm::WORST])?;
    Ok(ends[1] - ends[0])
}

/// What rounding may make of a risk.
pub(super) fn rounding(problem: &Problem, lowest: f64, minimax: f64) -> f64 {
    let Bounds { low, high } = problem.objective().bounds();
    // Of a function that is known by its values only there may be no bounds; costs that matter are between these.
    let largest =
        if low.is_finite() && high.is_finite() { low.abs().max(high.abs()) } else { lowest.abs().max(minimax.abs()) };
    640.0 * f64::EPSILON * largest
}

/// How close values of an aim are equal in one situation, so that all steps together stay within the tolerance.
pub(super) fn near(problem: &Problem, aim: Aim, spread: f64) -> f64 {
    EQUAL * if aim.is_probability() { 1.0 } else { spread } / problem.horizon() as f64
}

/// The optimum for an aim of its own measure, and of all policies that attain it one of lowest mean.
pub(super) fn lowest_mean(problem: &Problem, aim: Aim, limits: &Limits) -> Result<Inner, OracleError> {
    if aim == Erm::MEAN.into() {
        return optimum(problem, aim, limits);
    }
    let spread = spread(problem, limits)?;
    let first = optimum(problem, aim.within(near(problem, aim, spread)), limits)?;
    if aim == Erm::BEST.into() {
        return or_by_mean(problem, first, spread, limits);
    }
    let Some(second) = second_aim(aim, first.value, spread) else { return Ok(first) };
    let mut limits = limits.clone();
    if first.method == Method::BackwardInduction {
        if limits.strategy == Strategy::ByState
            || reaches_more_than(LINEAR_STATES, problem, &limits)?
            || first.mean <= optimum(problem, Erm::MEAN.into(), &limits)?.value + EQUAL * spread
        {
            return Ok(first);
        }
        limits.max_states = limits.max_states.min(LINEAR_STATES);
    }
    match solve_aim(problem, second.within(near(problem, second, spread)), &limits) {
        Ok(inner) => Ok(of_lower_mean(first, inner, spread)),
        Err(error) if !error.is_limit() => Err(error),
        _ => Ok(first),
    }
}

/// The policy of lowest mean if it may come to the best case, too; else the one that was found.
fn or_by_mean(problem: &Problem, found: Inner, spread: f64, limits: &Limits) -> Result<Inner, OracleError> {
    let by_mean = match optimum(problem, Erm::MEAN.into(), limits) {
        Err(error) if error.is_limit() => return Ok(found),
        by_mean => by_mean?,
    };
    let few = Limits { max_states: limits.max_states.min(MOST_LAW_STATES), ..limits.clone() };
    match distribution(problem, &by_mean.policy, &few) {
        Ok(costs) if costs.min() <= found.value + EQUAL * spread => Ok(of_lower_mean(found, by_mean, spread)),
        Err(error) if !error.is_limit() => Err(error),
        _ => Ok(found),
    }
}

/// The first, or one of the same risk if its mean is lower.
fn of_lower_mean(first: Inner, second: Inner, spread: f64) -> Inner {
    if second.mean < first.mean - EQUAL * spread {
        Inner { value: first.value, states: first.states + second.states, ..second }
    } else {
        first
    }
}

/// Whether episodes reach more states than this, each counted at every time it can be reached: there are at least as many occupancy
/// states.
fn reaches_more_than(most: u64, problem: &Problem, limits: &Limits) -> Result<bool, OracleError> {
    let mdp = problem.mdp();
    let mut reached = vec![false; mdp.state_count()];
    for (state, _) in mdp.initial() {
        reached[state.index()] = true;
    }
    let mut count = 0;
    for remaining in (1..=problem.horizon() as u64).rev() {
        check_stop(&limits.stop)?;
        let mut next = vec![false; reached.len()];
        for (state, _) in mdp.states().zip(&reached).filter(|&(_, &reached)| reached) {
            for &successor in mdp.rows(mdp.pairs(state)).flat_map(|(successors, _)| successors) {
                next[successor as usize] = true;
            }
        }
        // A set that leads to itself stays.
        let times = if next == reached { remaining } else { 1 };
        count += times * reached.iter().filter(|&&reached| reached).count() as u64;
        if count > most || times == remaining {
            break;
        }
        reached = next;
    }
    Ok(count > most)
}

/// Lowest risk and mean of each of some entropic risks with the bits that [`lowest_mean`] has, many in one pass and without policies.
/// Nothing if the objective is linear, which is solved otherwise and soon enough.
///
/// # Errors
/// Those of [`super::solve()`].
pub(crate) fn lowest_means(
    problem: &Problem,
    erms: &[Erm],
    limits: &Limits,
) -> Result<Option<Vec<(f64, f64)>>, OracleError> {
    if Linear::new(problem, limits).is_some() {
        return Ok(None);
    }
    let spread = spread(problem, limits)?;
    let close = |aim: Aim| if aim == Erm::MEAN.into() { aim } else { aim.within(near(problem, aim, spread)) };
    let mut passes = Passes::from_start(problem, limits)?;
    let aims: Vec<Aim> = erms.iter().map(|&erm| erm.into()).collect();
    let mut optima = passes.solve(&aims.iter().copied().map(close).collect::<Vec<_>>())?;
    let second = |(place, aim): (usize, &Aim)| Some((place, second_aim(*aim, optima[place].value, spread)?));
    let (places, again): (Vec<usize>, Vec<Aim>) =
        aims.iter().enumerate().filter(|(_, aim)| **aim != Erm::MEAN.into()).filter_map(second).unzip();
    let again = passes.solve(&again.into_iter().map(close).collect::<Vec<_>>())?;
    for (place, other) in places.into_iter().zip(again) {
        if other.mean < optima[place].mean - EQUAL * spread {
            optima[place].mean = other.mean;
        }
    }
    for (optimum, &aim) in optima.iter_mut().zip(&aims).filter(|(_, aim)| **aim == Erm::BEST.into()) {
        optimum.mean = lowest_mean(problem, aim, limits)?.mean;
    }
    Ok(Some(optima.into_iter().map(|optimum| (optimum.value, optimum.mean)).collect()))
}

/// What is minimised once the lowest risk is known, where some situations are hardly seen.
pub(super) fn second_aim(aim: Aim, lowest: f64, spread: f64) -> Option<Aim> {
    let beta = aim.erm.beta();
    if !aim.is_entropic() || beta == f64::NEG_INFINITY {
        None
    } else if beta == f64::INFINITY {
        Some(Aim::never_above(lowest + EQUAL * spread))
    } else {
        (beta.abs() * spread > STRONG).then(|| Aim::exponential(beta, lowest))
    }
}

impl Search<'_> {
    /// What is minimised at a value of the outer variable to find a policy.
    pub(super) fn aim(&self, y: f64) -> Aim {
        if self.outer.is_entropic() { self.outer.at(y).aim } else { self.outer.quick_aim(y, self.best.risk) }
    }

    /// The risk that goes with a value of that.
    pub(super) fn risk_at(&self, y: f64, value: f64) -> f64 {
        if self.outer.is_entropic() {
            return value + self.outer.at(y).price();
        }
        self.outer.quick_risk(y, value, self.best.risk)
    }

    /// For each value of the outer variable that is as good as the best, as far as they are found, a policy of lowest mean; of many
    /// the one that has the lowest.
    pub(super) fn of_lowest_mean(&mut self) -> Result<Vec<Inner>, OracleError> {
        let problem = self.problem;
        if self.outer.is_entropic() {
            let worst = self.extremes.minimax <= self.best.risk + EQUAL * self.spread;
            let best = self.best.outer;
            let others = [best, f64::INFINITY].into_iter().filter(|&y| y == best || worst);
            return others.map(|y| self.of_lowest_entropic_mean(self.outer.at(y).aim)).collect();
        }
        let near = near(problem, Erm::WORST.into(), self.spread) * self.outer.unit();
        let best = [self.best.outer].into_iter().filter(|&best| !self.tied.iter().any(|&y| self.is_same(y, best)));
        let aims: Vec<Aim> = self.tied.iter().copied().chain(best).map(|y| self.aim(y).within(near)).collect();
        let means: Vec<f64> = self.passes.solve(&aims)?.iter().map(|optimum| optimum.mean).collect();
        let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
        let is_lowest = |(_, mean): &(&Aim, &f64)| **mean <= lowest + EQUAL * self.spread;
        let first = aims.iter().zip(&means).find(is_lowest).map(|(&aim, _)| aim);
        first.into_iter().map(|aim| self.passes.inner(aim)).collect()
    }

    /// What [`lowest_mean`] finds.
    fn of_lowest_entropic_mean(&mut self, aim: Aim) -> Result<Inner, OracleError> {
        let Self { problem, limits, spread, .. } = *self;
        if self.by_induction {
            let inner = lowest_mean(problem, aim, limits)?;
            self.passes.solves += 1;
            self.passes.states += inner.states;
            return Ok(inner);
        }
        let first = self.passes.inner(aim.within(near(problem, aim, spread)))?;
        let Some(second) = second_aim(aim, first.value, spread) else { return Ok(first) };
        let second = self.passes.inner(second.within(near(problem, second, spread)))?;
        Ok(of_lower_mean(first, second, spread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::solve;
    use crate::test_problems::{msee, rooms};
    use crate::{Mdp, Objective};

    /// Many in one pass have the bits of each alone, ties and strong aversion included.
    #[test]
    fn many_optima_are_those_of_one_after_the_other() {
        let betas = [0.0, f64::INFINITY, f64::NEG_INFINITY, -40.0, -1.0, 0.3, 5.0, 19.0, 25.0, 300.0];
        let erms = betas.map(|beta| Erm::new(beta).unwrap());
        for problem in [rooms(), msee()] {
            let together = lowest_means(&problem, &erms, &Limits::QUICK).unwrap().expect("no linear objective");
            for (erm, (value, mean)) in erms.into_iter().zip(together) {
                let alone = solve(&problem, erm, &Limits::QUICK).unwrap();
                assert_eq!((value, mean), (alone.value, alone.mean), "{erm:?}");
            }
        }
    }

    #[test]
    fn linear_objectives_are_solved_otherwise() {
        let mdp = rooms().mdp().clone();
        let linear = Objective::linear(vec![1.0; mdp.pair_count()]).unwrap();
        let problem = Problem::new(mdp, linear, 0.9, 5).unwrap();
        assert_eq!(lowest_means(&problem, &[Erm::MEAN], &Limits::QUICK).unwrap(), None);
    }

    /// A ring has one state at each time; a state that may be left for good has two from the second time on.
    #[test]
    fn states_are_counted_at_every_time() {
        let ring =
            (0..3).fold(Mdp::sized(3, 1).start(0), |mdp, state| mdp.transition(state, 0, [((state + 1) % 3, 1.0)]));
        let left = Mdp::sized(2, 1).start(0).transition(0, 0, [(0, 0.5), (1, 0.5)]).transition(1, 0, [(1, 1.0)]);
        for (mdp, count) in [(ring, 10), (left, 19)] {
            let mdp = mdp.build().unwrap();
            let costs = Objective::linear(vec![1.0; mdp.pair_count()]).unwrap();
            let problem = Problem::new(mdp, costs, 1.0, 10).unwrap();
            let reaches = |most| reaches_more_than(most, &problem, &Limits::QUICK).unwrap();
            assert_eq!([reaches(count - 1), reaches(count)], [true, false]);
        }
    }
}
