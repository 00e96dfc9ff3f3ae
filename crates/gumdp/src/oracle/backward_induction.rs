//! Backward induction for linear objectives, f(d) = c·d + constant, under the entropic risk measure.
//!
//! With V_t(s) the optimal risk of the discounted cost from time t on, Hau, Petrik and Ghavamzadeh (*Entropic risk
//! optimization in discounted MDPs*, AISTATS 2023) show
//!
//! ```text
//! V_t(s) = min_a  ERM_{βγ^t}( c(s,a) + γ V_{t+1}(s') ),   V_H = 0
//! ```
//!
//! Here the cost is normalised, so β is too. In terms of U_t = w_t V_t, where w_t = γ^t (1−γ)/(1−γ^H) is the occupancy that
//! time t contributes, β is the same at all times and stays exact when γ^t is tiny:
//!
//! ```text
//! U_t(s) = min_a  w_t c(s,a) + ERM_β( U_{t+1}(s') ),   U_H = 0
//! ```
//!
//! The optimum is constant + ERM_β(U_0(s_0)), and a deterministic Markov policy attains it. Work: H times the number of
//! transitions. Not here: any other objective; for them the history matters (see [`super::solve`]).

use super::{OracleError, check_bounded};
use crate::model::{Action, Pair, State};
use crate::policy::Markov;
use crate::problem::Problem;
use crate::risk::Erm;

/// The policy's table may take this many bytes.
const POLICY_BYTES: u64 = 1 << 32;

/// The optimum of a linear problem.
#[derive(Clone, Debug)]
pub struct LinearSolution {
    /// The lowest possible ERM of the cost.
    pub value: f64,
    /// The expected cost of [`LinearSolution::policy`].
    pub mean: f64,
    /// A policy that attains it: time-dependent, ties to the lowest action.
    pub policy: Markov,
}

/// Solves a problem with a linear objective.
///
/// ```
/// use gumdp::oracle::backward_induction;
/// use gumdp::risk::Erm;
/// use gumdp::{Mdp, Objective, Problem};
/// // A sure cost of 0.6 against a fair coin for 0 or 1.
/// let mdp = Mdp::named(["choose", "good", "fair", "bad"], ["gamble", "play safe"])
///     .start("choose")
///     .transition("choose", "gamble", [("good", 0.5), ("bad", 0.5)])
///     .transition("choose", "play safe", [("fair", 1.0)])
///     .transition("good", "gamble", [("good", 1.0)])
///     .transition("fair", "gamble", [("fair", 1.0)])
///     .transition("bad", "gamble", [("bad", 1.0)])
///     .build()?;
/// let cost = Objective::linear(mdp.by_state(&[0.0, 0.0, 1.2, 2.0])?)?;
/// let problem = Problem::new(mdp, cost, 1.0, 2)?;
/// assert_eq!(backward_induction(&problem, Erm::MEAN)?.value, 0.5);
/// assert_eq!(backward_induction(&problem, Erm::WORST)?.value, 0.6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OracleError::NotLinear`] for another objective; [`OracleError::Memory`] if the policy's table (8 bytes for each time
/// and pair) is larger than 4 GiB; [`OracleError::Overflow`] for astronomic costs.
#[expect(clippy::missing_panics_doc, reason = "the policy is made of the model's own actions")]
pub fn backward_induction(problem: &Problem, erm: Erm) -> Result<LinearSolution, OracleError> {
    check_bounded(problem)?;
    let (mdp, horizon) = (problem.mdp(), problem.horizon());
    let (costs, constant) = problem.objective().as_linear().ok_or(OracleError::NotLinear)?;
    let bytes = 8 * horizon as u64 * mdp.pair_count() as u64;
    if bytes > POLICY_BYTES {
        return Err(OracleError::Memory { bytes, reached: 0, projected: None, limit: POLICY_BYTES });
    }
    let mut next = vec![Cost::default(); mdp.state_count()];
    let mut now = next.clone();
    let mut actions = vec![Vec::new(); horizon];
    for (time, &mass) in problem.masses().iter().enumerate().rev() {
        let last = time + 1 == horizon;
        actions[time] = mdp
            .states()
            .map(|state| {
                let mut best = (Cost { risk: f64::INFINITY, mean: f64::INFINITY }, Action(0));
                for pair in mdp.pairs(state).map(Pair) {
                    let later = if last { Cost::default() } else { Cost::expected(&next, mdp.successors(pair), erm) };
                    let cost = later.plus(mass * costs[pair.index()]);
                    if cost.risk < best.0.risk {
                        best = (cost, mdp.action(pair));
                    }
                }
                now[state.index()] = best.0;
                best.1
            })
            .collect();
        std::mem::swap(&mut now, &mut next);
    }
    let total = Cost::expected(&next, mdp.initial().iter().copied(), erm).plus(constant);
    let policy = Markov::deterministic(problem, &actions).expect("the actions come from the model");
    Ok(LinearSolution { value: total.risk, mean: total.mean, policy })
}

/// Cost from some time on: what is minimised, and the mean of the minimiser.
#[derive(Clone, Copy, Default)]
struct Cost {
    risk: f64,
    mean: f64,
}

impl Cost {
    fn plus(self, cost: f64) -> Self {
        Self { risk: self.risk + cost, mean: self.mean + cost }
    }

    fn expected(of: &[Self], successors: impl Iterator<Item = (State, f64)> + Clone, erm: Erm) -> Self {
        Self {
            risk: erm.of_outcomes(successors.clone().map(|(state, p)| (of[state.index()].risk, p))),
            mean: Erm::MEAN.of_outcomes(successors.map(|(state, p)| (of[state.index()].mean, p))),
        }
    }
}
