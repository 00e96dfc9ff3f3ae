//! One exact decision with its reasons: what each action costs if everything after it is optimal.

use super::backward_induction::Linear;
use super::occupancy_dp::{Limits, Optimum};
use super::reduced::Reduced;
use super::sweep::Sweep;
use super::unfolded::Start;
use super::{OracleError, check_bounded, finite};
use crate::model::{Action, Pair};
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Aim, FixedRisk};

/// A decision that cannot be improved, and what each action would cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactDecision {
    /// The best action; the lowest of several.
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
    /// The expected cost of a policy that attains it.
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
    let risk = risk.into();
    let aim = risk.aim;
    assert!(at.time < problem.horizon(), "there is no decision at the horizon");
    check_bounded(problem)?;
    let linear = Linear::new(problem, limits).filter(|_| aim.is_entropic());
    let (values, states) = if let Some(linear) = linear {
        (linear.of_pairs(aim.erm, at)?, linear.stages(at.time))
    } else {
        over_occupancy_states(problem, aim, at, limits)?
    };
    let mdp = problem.mdp();
    let reason = |(pair, Optimum { value, mean })| ActionValue {
        action: mdp.action(Pair(pair)),
        value: value + risk.price(),
        mean,
    };
    let reasons: Vec<ActionValue> = mdp.pairs(at.state).zip(values).map(reason).collect();
    let best = reasons[1..].iter().fold(reasons[0], |best, &other| if other.value < best.value { other } else { best });
    Ok(ExactDecision { action: best.action, reasons, states, certain: risk.outer().is_none() })
}

/// The optimum after each pair, and the number of occupancy states expanded, this one included.
fn over_occupancy_states(
    problem: &Problem,
    aim: Aim,
    at: &OccupancyState,
    limits: &Limits,
) -> Result<(Vec<Optimum>, u64), OracleError> {
    let reduced = Reduced::new(problem, &Start::at(at));
    let limits = &Limits { policy_bytes: 0, ..limits.clone() };
    let (mut values, mut states) = (Vec::new(), 1);
    for pair in problem.mdp().pairs(at.state).map(Pair) {
        let start = Start::after(problem, at, pair);
        if let Some(cost) = start.final_cost(problem) {
            let (value, mean) = finite(aim.terminal.of(cost), cost)?;
            values.push(Optimum { value, mean });
            continue;
        }
        let rest = Sweep { problem, reduced: &reduced, limits }.run(&start, aim)?;
        values.extend(Optimum::of(&start.outcomes, &rest.roots, &[aim])?);
        states += rest.states;
    }
    Ok((values, states))
}
