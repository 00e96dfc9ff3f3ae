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
//! transitions, a product and a sum for each ([`super::backup`]). Not here: any other objective; for them the history matters
//! (see [`super::occupancy_dp`]).

use rayon::prelude::*;

use super::backup::{Backup, Exponential, Extreme, Form, Mean, Mild, Weight};
use super::{OracleError, check_stop};
use crate::logarithm::Logarithm;
use crate::model::{Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::risk::Erm;
use crate::stop::Stop;

/// Transitions of one piece of parallel work, about: fixed, so that results depend on nothing else.
const PIECE: usize = 1 << 14;
/// Differences of fewer units in the last place than this are rounding: a tie.
const TIE: f64 = 16.0 * f64::EPSILON;

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
    let from_start =
        Induction::new(problem, erm, costs, true, stop).from(0, |chosen| pairs.push(std::mem::take(chosen)))?;
    pairs.reverse();
    let initial = || problem.mdp().initial().iter().copied();
    Ok((constant + from_start.risk(erm, initial()), constant + from_start.mean(initial()), pairs))
}

/// Risk and mean of what the optimum costs from a time on, one of these states being the first. The mean is 0 if it is not wanted.
pub(super) fn onwards(
    problem: &Problem,
    erm: Erm,
    costs: &[f64],
    time: usize,
    states: &[(State, f64)],
    with_mean: bool,
    stop: &Stop,
) -> Result<(f64, f64), OracleError> {
    let next = Induction::new(problem, erm, costs, with_mean, stop).from(time, |_| {})?;
    Ok((next.risk(erm, states.iter().copied()), next.mean(states.iter().copied())))
}

/// Risk and mean of taking each pair of a state, and of the optimum from then on, in the order of the pairs.
pub(super) fn of_pairs(
    problem: &Problem,
    erm: Erm,
    costs: &[f64],
    at: &OccupancyState,
    stop: &Stop,
) -> Result<Vec<(f64, f64)>, OracleError> {
    let next = Induction::new(problem, erm, costs, true, stop).from(at.time + 1, |_| {})?;
    let (mdp, so_far, mass) = (problem.mdp(), problem.cost(at), problem.masses()[at.time]);
    let of_pair = |pair: Pair| {
        let cost = so_far + mass * costs[pair.index()];
        (cost + next.risk(erm, mdp.successors(pair)), cost + next.mean(mdp.successors(pair)))
    };
    Ok(mdp.pairs(at.state).map(Pair).map(of_pair).collect())
}

/// What the optimum costs from each state on at one time.
struct Values {
    /// U, which is minimised.
    risks: Vec<f64>,
    /// The mean of the minimiser, if wanted.
    means: Vec<f64>,
}

impl Values {
    fn risk(&self, erm: Erm, states: impl Iterator<Item = (State, f64)> + Clone) -> f64 {
        erm.of_outcomes(states.map(|(state, p)| (self.risks[state.index()], p)))
    }

    fn mean(&self, states: impl Iterator<Item = (State, f64)> + Clone) -> f64 {
        Erm::MEAN.of_outcomes(states.map(|(state, p)| (self.means[state.index()], p)))
    }
}

/// Backward induction for one attitude to risk.
struct Induction<'a> {
    problem: &'a Problem,
    erm: Erm,
    costs: &'a [f64],
    largest_cost: f64,
    /// States of one piece of parallel work.
    piece: usize,
    /// Whether means are computed beside the risks.
    with_means: bool,
    logarithm: Logarithm,
    stop: &'a Stop,
}

impl<'a> Induction<'a> {
    fn new(problem: &'a Problem, erm: Erm, costs: &'a [f64], with_means: bool, stop: &'a Stop) -> Self {
        let with_means = with_means && erm != Erm::MEAN;
        let mdp = problem.mdp();
        let largest_cost = costs.iter().fold(0.0_f64, |largest, cost| largest.max(cost.abs()));
        let piece = (PIECE * mdp.state_count() / mdp.transition_count()).max(1);
        Self { problem, erm, costs, largest_cost, piece, with_means, logarithm: Logarithm::new(), stop }
    }

    /// From each state at time `first` on. `chosen` is given the pairs of each time, from the last to the first, and may take
    /// them.
    fn from(&self, first: usize, chosen: impl FnMut(&mut Vec<u32>) + Send) -> Result<Values, OracleError> {
        // In a worker, so that small steps are not handed from thread to thread.
        rayon::scope(|_| self.steps(first, chosen))
    }

    fn steps(&self, first: usize, mut chosen: impl FnMut(&mut Vec<u32>)) -> Result<Values, OracleError> {
        let states = self.problem.mdp().state_count();
        let mut next = Values { risks: vec![0.0; states], means: vec![0.0; states] };
        let mut now = Values { risks: next.risks.clone(), means: next.means.clone() };
        let (mut terms, mut windows, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut low, mut high) = (0.0, 0.0);
        for &mass in self.problem.masses()[first..].iter().rev() {
            check_stop(self.stop)?;
            pairs.resize(states, 0);
            let form = Form::new(self.erm, low, high);
            let (erm, beta, scale) = (self.erm, self.erm.beta(), 1.0 / self.erm.beta());
            // Extreme values are exact: only equal risks are ties.
            let rounded = if matches!(form, Form::Worst | Form::Best) { 0.0 } else { TIE };
            let near = rounded * (low.abs().max(high.abs()) + mass * self.largest_cost);
            let mut step = Step { of: self, mass, next: &next, near, noise: 0.0 };
            let values = &*next.risks;
            (low, high) = match form {
                Form::Mean => step.run(&Mean(values), &mut now, &mut pairs),
                Form::Mild { shift } => {
                    self.of_states(&mut terms, values, |value| Mild::term(beta * (value - shift)));
                    step.allow(near);
                    step.run(&Mild { values, terms: &terms, shift, scale }, &mut now, &mut pairs)
                }
                Form::Plain => {
                    self.of_states(&mut terms, values, |value| (beta * value).exp());
                    step.allow(TIE * scale.abs());
                    let (weights, logarithm) = (&*terms, &self.logarithm);
                    step.run(&Exponential { erm, values, weights, scale, logarithm }, &mut now, &mut pairs)
                }
                Form::Windows => {
                    self.of_states(&mut windows, values, |value| Weight::of(beta * value));
                    step.allow(TIE * scale.abs());
                    let (weights, logarithm) = (&*windows, &self.logarithm);
                    step.run(&Exponential { erm, values, weights, scale, logarithm }, &mut now, &mut pairs)
                }
                Form::Worst => step.run(&Extreme::<true>(values), &mut now, &mut pairs),
                Form::Best => step.run(&Extreme::<false>(values), &mut now, &mut pairs),
            };
            chosen(&mut pairs);
            std::mem::swap(&mut now, &mut next);
        }
        check_stop(self.stop)?;
        if self.erm == Erm::MEAN {
            next.means.clone_from(&next.risks);
        }
        Ok(next)
    }

    /// Computes something for each state.
    fn of_states<T: Copy + Default + Send>(&self, all: &mut Vec<T>, values: &[f64], of: impl Fn(f64) -> T + Sync) {
        all.resize(values.len(), T::default());
        all.par_chunks_mut(self.piece).zip(values.par_chunks(self.piece)).for_each(|(all, values)| {
            all.iter_mut().zip(values).for_each(|(one, &value)| *one = of(value));
        });
    }
}

/// One step backwards.
struct Step<'a> {
    of: &'a Induction<'a>,
    mass: f64,
    next: &'a Values,
    /// Risks that differ by more are no tie.
    near: f64,
    /// How exactly risks are known at least, but for the rounding of what follows the pair.
    noise: f64,
}

impl Step<'_> {
    /// Allows for this much noise.
    fn allow(&mut self, noise: f64) {
        self.noise += noise;
        self.near += noise;
    }

    /// Solves each state; returns the lowest and the highest risk.
    fn run<B: Backup>(&self, backup: &B, now: &mut Values, pairs: &mut [u32]) -> (f64, f64) {
        let piece = self.of.piece;
        let Values { risks, means } = now;
        let pieces = risks.par_chunks_mut(piece).zip(means.par_chunks_mut(piece)).zip(pairs.par_chunks_mut(piece));
        pieces
            .enumerate()
            .map_init(Vec::new, |scratch, (number, ((risks, means), pairs))| {
                self.run_piece(backup, number * piece, risks, means, pairs, scratch)
            })
            .reduce(|| (f64::INFINITY, f64::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    fn run_piece<B: Backup>(
        &self,
        backup: &B,
        first: usize,
        risks: &mut [f64],
        means: &mut [f64],
        pairs: &mut [u32],
        scratch: &mut Vec<f64>,
    ) -> (f64, f64) {
        let mdp = self.of.problem.mdp();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        if self.of.stop.is_requested() {
            return (low, high);
        }
        // All risks first: a comparison that went the other way than expected would wait for its risk, and all after it.
        let all = mdp.pairs_of(first..first + risks.len());
        let costs = &self.of.costs[all.start as usize..all.end as usize];
        scratch.clear();
        scratch.extend(mdp.rows(all.clone()).zip(costs).map(|((to, p), cost)| self.mass * cost + backup.of(to, p)));
        for (state, (best, chosen)) in (first..).zip(risks.iter_mut().zip(&mut *pairs)) {
            let own = mdp.pairs(State(state as u32));
            let mut lowest = (f64::INFINITY, own.start);
            for (&risk, pair) in scratch[(own.start - all.start) as usize..].iter().zip(own) {
                let gain = lowest.0 - risk;
                let is_better = if gain > 0.0 && gain <= self.near { self.is_better(pair, gain) } else { gain > 0.0 };
                lowest = if is_better { (risk, pair) } else { lowest };
            }
            (*best, *chosen) = lowest;
            low = if lowest.0 < low { lowest.0 } else { low };
            high = if lowest.0 > high { lowest.0 } else { high };
        }
        if self.of.with_means {
            // The rows are still at hand.
            let next = Mean(&self.next.means);
            for (mean, &mut pair) in means.iter_mut().zip(pairs) {
                let (successors, probabilities) = mdp.outcomes(Pair(pair));
                *mean = self.mass * self.of.costs[pair as usize] + next.of(successors, probabilities);
            }
        }
        (low, high)
    }

    /// Whether the risk of a pair is lower by more than rounding.
    #[cold]
    fn is_better(&self, pair: u32, gain: f64) -> bool {
        let sizes = self.of.problem.mdp().successors(Pair(pair)).map(|(s, p)| p * self.next.risks[s.index()].abs());
        let size = sizes.sum::<f64>() + (self.mass * self.of.costs[pair as usize]).abs();
        gain > TIE * size + self.noise
    }
}
