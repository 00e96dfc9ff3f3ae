//! One exact decision with its reasons: what each action costs if everything after it is optimal.

use super::backward_induction::Linear;
use super::occupancy_dp::{Limits, Optimum, Strategy};
use super::reduced::Reduced;
use super::sweep::Sweep;
use super::ties::{EQUAL, LINEAR_STATES, near, second_aim, spread_from};
use super::unfolded::Start;
use super::{OracleError, check_bounded, finite};
use crate::model::{Action, Pair};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Aim, Erm, FixedRisk};

/// A decision that cannot be improved, and what each action would cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactDecision {
    /// The best action; of several the one of lowest mean, then the lowest.
    pub action: Action,
    /// What each action of the state would cost, in the order of the state's pairs.
    pub reasons: Vec<ActionValue>,
    /// Number of occupancy states expanded; for a linear objective, states of the model times the remaining steps.
    pub states: u64,
    /// Whether what each action costs is the lowest possible, to within 1e-5: with an outer variable fixed, or where the search for
    /// its own was given up, another may be attained but not the lowest.
    pub certain: bool,
}

/// The final cost if an action is taken now and everything after it is optimal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionValue {
    /// The action.
    pub action: Action,
    /// The lowest possible risk of the cost.
    pub value: f64,
    /// The lowest expected cost of a policy that attains it, as [`solve()`](super::solve()) finds it.
    pub mean: f64,
}

/// Solves the rest of an episode from any occupancy state on, one action after the other. An outer variable stays fixed; what an
/// action costs is then the risk of the whole episode as this variable sees it.
///
/// ```
/// use gumdp::oracle::{Limits, decide};
/// use gumdp::Erm;
/// use gumdp_files::tasks;
/// let problem = tasks::get("rooms").unwrap().problem;
/// let start = problem.start(problem.mdp().find_state("s1").unwrap());
/// let decision = decide(&problem, Erm::new(50.0)?, &start, &Limits::QUICK)?;
/// let [left, right] = decision.reasons[..] else { panic!("two actions") };
/// assert_eq!(problem.mdp().action_name(decision.action), "left");
/// assert!(left.value < right.value);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OracleError::TooLarge`] or [`OracleError::Memory`] if the rest does not fit the limits, which each action may use up;
/// [`OracleError::Overflow`] for astronomic costs; [`OracleError::NotFinite`] for a formula that breaks.
///
/// # Panics
/// If the episode is over (there is no decision at the horizon) or `at` is a state of another problem.
pub fn decide(
    problem: &Problem,
    risk: impl Into<FixedRisk>,
    at: &OccupancyState,
    limits: &Limits,
) -> Result<ExactDecision, OracleError> {
    decided(problem, risk.into(), at, limits, true)
}

/// The same, but where the measure hardly sees some situations the mean is that of a policy which is as good in each of them, so that the mean of a
/// situation is that of its outcomes.
pub(super) fn decide_in_itself(
    problem: &Problem,
    risk: FixedRisk,
    at: &OccupancyState,
    limits: &Limits,
) -> Result<ExactDecision, OracleError> {
    decided(problem, risk, at, limits, false)
}

fn decided(
    problem: &Problem,
    risk: FixedRisk,
    at: &OccupancyState,
    limits: &Limits,
    lowest_mean: bool,
) -> Result<ExactDecision, OracleError> {
    let aim = risk.aim;
    assert!(at.time < problem.horizon(), "there is no decision at the horizon");
    check_bounded(problem)?;
    let limits = &Limits { policy_bytes: 0, ..limits.clone() };
    let spread = spread_from(problem, limits, Start::at(at))?;
    let rest = Rest { problem, at, spread, reduced: Reduced::new(problem, &Start::at(at)) };
    let linear = Linear::new(problem, limits).filter(|_| aim.is_entropic());
    let (mut values, mut states) = match &linear {
        Some(linear) => (linear.of_pairs(aim.erm, at)?, linear.stages(at.time)),
        None => (Vec::new(), 1),
    };
    let pairs = || problem.mdp().pairs(at.state).map(Pair);
    if linear.is_none() {
        for pair in pairs() {
            let (optimum, expanded) = rest.after(pair, aim, limits)?;
            values.push(optimum);
            states += expanded;
        }
    }
    let lowest_means =
        linear.as_ref().filter(|_| lowest_mean).map(|linear| linear.of_pairs(Erm::MEAN, at)).transpose()?;
    for (k, pair) in pairs().enumerate().filter(|_| lowest_mean) {
        let is_lowest = |means: &Vec<Optimum>| values[k].mean <= means[k].value + EQUAL * spread;
        if lowest_means.as_ref().is_none_or(|means| limits.strategy != Strategy::ByState && !is_lowest(means)) {
            let most = lowest_means.as_ref().map_or(u64::MAX, |means| LINEAR_STATES / means.len() as u64);
            let limits = Limits { max_states: limits.max_states.min(most), ..limits.clone() };
            states += rest.lower_mean(&mut values[k], pair, aim, &limits)?;
        }
    }
    let reason = |(pair, Optimum { value, mean }): (Pair, Optimum)| ActionValue {
        action: problem.mdp().action(pair),
        value: value + risk.price(),
        mean,
    };
    let reasons: Vec<ActionValue> = pairs().zip(values).map(reason).collect();
    let equal = EQUAL * if aim.is_probability() { 1.0 } else { spread };
    let better = |best: ActionValue, other: &ActionValue| {
        let is_better = if (other.value - best.value).abs() <= equal {
            other.mean < best.mean - EQUAL * spread
        } else {
            other.value < best.value
        };
        if is_better { *other } else { best }
    };
    let best = reasons[1..].iter().fold(reasons[0], better);
    Ok(ExactDecision { action: best.action, reasons, states, certain: risk.outer().is_none() })
}

/// The rest of an episode from some occupancy state on.
struct Rest<'a> {
    problem: &'a Problem,
    at: &'a OccupancyState,
    reduced: Reduced,
    /// How far apart costs can be.
    spread: f64,
}

impl Rest<'_> {
    /// The optimum after a pair, and the number of occupancy states expanded.
    fn after(&self, pair: Pair, aim: Aim, limits: &Limits) -> Result<(Optimum, u64), OracleError> {
        let Self { problem, at, reduced, spread } = self;
        let start = Start::after(problem, at, pair);
        if let Some(cost) = start.final_cost(problem) {
            let (value, mean) = finite(aim.terminal.of(cost), cost)?;
            return Ok((Optimum { value, mean }, 0));
        }
        let close = if aim == Erm::MEAN.into() { aim } else { aim.within(near(problem, aim, *spread)) };
        let rest = Sweep { problem, reduced, limits }.run(&start, close)?;
        let [optimum] = Optimum::of(&start.outcomes, &rest.roots, &[aim])?;
        Ok((optimum, rest.states))
    }

    /// Takes the mean of a policy that is as good after a pair and has a lower one, where the aim hardly sees some situations.
    fn lower_mean(&self, own: &mut Optimum, pair: Pair, aim: Aim, limits: &Limits) -> Result<u64, OracleError> {
        let Some(second) = second_aim(aim, own.value, self.spread) else { return Ok(0) };
        match self.after(pair, second, limits) {
            Ok((other, expanded)) if other.mean < own.mean - EQUAL * self.spread => {
                own.mean = other.mean;
                Ok(expanded)
            }
            Ok(_) => Ok(0),
            Err(error) if error.is_limit() => Ok(0),
            Err(error) => Err(error),
        }
    }
}
