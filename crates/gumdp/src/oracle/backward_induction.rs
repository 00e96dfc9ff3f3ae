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
//! transitions. Not here: any other objective; for them the history matters (see [`super::occupancy_dp`]).

use rayon::prelude::*;

use super::{OracleError, check_stop};
use crate::model::{Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::risk::Erm;
use crate::stop::Stop;

/// States of one piece of parallel work.
const PIECE: usize = 256;

/// States of the model times the steps from `time` to the horizon: what backward induction goes through.
pub(super) fn stages(problem: &Problem, time: usize) -> u64 {
    problem.horizon().saturating_sub(time) as u64 * problem.mdp().state_count() as u64
}

/// Risk and mean of the optimum, and the best pair of each state for each time.
pub(super) fn induction(
    problem: &Problem,
    erm: Erm,
    costs: &[f64],
    constant: f64,
    stop: &Stop,
) -> Result<(f64, f64, Vec<Vec<u32>>), OracleError> {
    let mut pairs = Vec::with_capacity(problem.horizon());
    let from_start = from(problem, erm, costs, 0, stop, |chosen| pairs.push(chosen))?;
    pairs.reverse();
    let initial = || problem.mdp().initial().iter().copied();
    Ok((constant + risk(&from_start, initial(), erm), constant + mean(&from_start, initial()), pairs))
}

/// Risk and mean of what the optimum costs from a time on, one of these states being the first.
pub(super) fn onwards(
    problem: &Problem,
    erm: Erm,
    costs: &[f64],
    time: usize,
    states: &[(State, f64)],
    stop: &Stop,
) -> Result<(f64, f64), OracleError> {
    let next = from(problem, erm, costs, time, stop, drop)?;
    Ok((risk(&next, states.iter().copied(), erm), mean(&next, states.iter().copied())))
}

/// Risk and mean of taking each pair of a state, and of the optimum from then on, in the order of the pairs.
pub(super) fn of_pairs(
    problem: &Problem,
    erm: Erm,
    costs: &[f64],
    at: &OccupancyState,
    stop: &Stop,
) -> Result<Vec<(f64, f64)>, OracleError> {
    let next = from(problem, erm, costs, at.time + 1, stop, drop)?;
    let (mdp, so_far, mass) = (problem.mdp(), problem.cost(at), problem.masses()[at.time]);
    let of_pair = |pair: Pair| {
        let cost = so_far + mass * costs[pair.index()];
        (cost + risk(&next, mdp.successors(pair), erm), cost + mean(&next, mdp.successors(pair)))
    };
    Ok(mdp.pairs(at.state).map(Pair).map(of_pair).collect())
}

/// From each state at time `first` on: the risk that is minimised and the mean of the minimiser. `chosen` is given the pairs
/// of each time, from the last to the first.
fn from(
    problem: &Problem,
    erm: Erm,
    costs: &[f64],
    first: usize,
    stop: &Stop,
    mut chosen: impl FnMut(Vec<u32>),
) -> Result<Vec<(f64, f64)>, OracleError> {
    let mdp = problem.mdp();
    let mut next = vec![(0.0, 0.0); mdp.state_count()];
    let mut now = next.clone();
    for &mass in problem.masses()[first..].iter().rev() {
        check_stop(stop)?;
        let mut pairs = vec![0; mdp.state_count()];
        let solve = |state: usize, now: &mut (f64, f64), chosen: &mut u32| {
            let mut best = (f64::INFINITY, Pair(0));
            for pair in mdp.pairs(State(state as u32)).map(Pair) {
                let risk = mass * costs[pair.index()] + risk(&next, mdp.successors(pair), erm);
                if risk < best.0 {
                    best = (risk, pair);
                }
            }
            let mean = mass * costs[best.1.index()] + mean(&next, mdp.successors(best.1));
            *now = (best.0, mean);
            *chosen = best.1.0;
        };
        now.par_iter_mut().zip(&mut pairs).enumerate().with_min_len(PIECE).for_each(|(state, (now, chosen))| {
            solve(state, now, chosen);
        });
        chosen(pairs);
        std::mem::swap(&mut now, &mut next);
    }
    Ok(next)
}

/// The entropic risk of the risk from the next state on.
fn risk(next: &[(f64, f64)], successors: impl Iterator<Item = (State, f64)> + Clone, erm: Erm) -> f64 {
    erm.of_outcomes(successors.map(|(state, p)| (next[state.index()].0, p)))
}

/// The mean of the mean from the next state on.
fn mean(next: &[(f64, f64)], successors: impl Iterator<Item = (State, f64)> + Clone) -> f64 {
    Erm::MEAN.of_outcomes(successors.map(|(state, p)| (next[state.index()].1, p)))
}
