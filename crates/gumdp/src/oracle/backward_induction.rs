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

use super::backup::{Backup, Extreme, Form, Sums, Weight, Windows, exp, exp_m1, ln, ln_1p};
use super::occupancy_dp::{Limits, Optimum};
use super::ties::EQUAL;
use super::unfolded::Start;
use super::{OracleError, check_stop};
use crate::model::{Pair, State};
use crate::problem::{OccupancyState, Problem};
use crate::risk::Erm;

/// Transitions of one piece of parallel work, about: fixed, so that results depend on nothing else.
const PIECE: usize = 1 << 14;
/// Differences of fewer units in the last place than this are rounding: a tie.
const TIE: f64 = 16.0 * f64::EPSILON;

/// The best pair of each state for each time, as its place among the pairs of the state: bytes, to spare memory.
#[derive(Debug)]
pub(super) struct Choices {
    /// Bytes of one choice.
    width: usize,
    /// From the last time to the first; of each the lowest bytes of all states, then the next.
    bytes: Vec<u8>,
}

impl Choices {
    fn new(problem: &Problem) -> Self {
        let mdp = problem.mdp();
        let most = mdp.states().map(|state| mdp.pairs(state).len()).max().unwrap_or(0);
        let width = (1..4).find(|&width| most <= 1 << (8 * width)).unwrap_or(4);
        Self { width, bytes: Vec::with_capacity(width * mdp.state_count() * problem.horizon()) }
    }

    /// Adds the choices of the time before.
    fn push(&mut self, pairs: &[u32], first_pairs: &[u32]) {
        for byte in 0..self.width {
            self.bytes.extend(pairs.iter().zip(first_pairs).map(|(pair, first)| ((pair - first) >> (8 * byte)) as u8));
        }
    }

    /// The best pair; at the horizon one of the last time.
    pub(super) fn best(&self, problem: &Problem, time: usize, state: State) -> Pair {
        let (mdp, from_last) = (problem.mdp(), (problem.horizon() - 1).saturating_sub(time));
        let byte = |byte: usize| self.bytes[(from_last * self.width + byte) * mdp.state_count() + state.index()];
        Pair(mdp.pairs(state).start + (0..self.width).map(|k| u32::from(byte(k)) << (8 * k)).sum::<u32>())
    }
}

/// What the optimum costs from a state on at one time: the risk U, which is minimised, and the mean of the minimiser, if that is
/// wanted. Next to each other, so that a transition looks both up at once.
type Value<const N: usize> = [f64; N];

/// A problem with a linear objective.
#[derive(Clone)]
pub(super) struct Linear<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    costs: Vec<f64>,
    constant: f64,
    /// Risks that are closer than this are equal: the lower mean decides.
    tie: f64,
    /// States of one piece of parallel work.
    piece: usize,
    /// Pairs with one successor, and that successor: no risk is taken, and nothing is rounded.
    certain: Vec<(u32, u32)>,
}

impl<'a> Linear<'a> {
    /// `None` if the objective is not linear.
    pub(super) fn new(problem: &'a Problem, limits: &'a Limits) -> Option<Self> {
        let (costs, constant) = problem.objective().as_linear()?;
        let mdp = problem.mdp();
        let piece = (PIECE * mdp.state_count() / mdp.transition_count()).max(1);
        let rows = mdp.rows(0..mdp.pair_count() as u32).zip(0..);
        let certain = rows.filter_map(|((to, _), pair)| if let [only] = *to { Some((pair, only)) } else { None });
        let (low, high) = costs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &c| (c.min(a), c.max(b)));
        let tie = EQUAL * (high - low) / problem.horizon() as f64;
        Some(Self { problem, limits, costs, constant, tie, piece, certain: certain.collect() })
    }

    /// States of the model times the steps from `time` to the horizon: what one induction goes through.
    pub(super) fn stages(&self, time: usize) -> u64 {
        self.problem.horizon().saturating_sub(time) as u64 * self.problem.mdp().state_count() as u64
    }

    /// Transitions that one induction looks at.
    pub(super) fn transitions(&self, time: usize) -> u64 {
        let steps = self.problem.horizon().saturating_sub(time) as u64;
        (self.problem.mdp().transition_count() as u64).saturating_mul(steps)
    }

    /// The optimum, and its choices.
    pub(super) fn solve(&self, erm: Erm) -> Result<(Optimum, Choices), OracleError> {
        let mdp = self.problem.mdp();
        let mut choices = Choices::new(self.problem);
        let first_pairs = mdp.first_pairs(0..mdp.state_count());
        let optima = self.optima(erm, 0, true, &[mdp.initial()], |pairs| choices.push(pairs, first_pairs))?;
        Ok((optima[0].after(self.constant), choices))
    }

    /// The optimum of what follows the start, with its mean if that is wanted.
    pub(super) fn optimum(&self, erm: Erm, start: &Start, with_means: bool) -> Result<Optimum, OracleError> {
        let Start { time, features, outcomes } = start;
        let so_far = if *time == 0 { self.constant } else { self.problem.objective().value_of_features(features) };
        Ok(self.optima(erm, *time, with_means, &[outcomes], |_| {})?[0].after(so_far))
    }

    /// The optimum after taking each pair of a state, in their order.
    pub(super) fn of_pairs(&self, erm: Erm, at: &OccupancyState) -> Result<Vec<Optimum>, OracleError> {
        self.check(at.time)?;
        let (mdp, so_far, mass) = (self.problem.mdp(), self.problem.cost(at), self.problem.masses()[at.time]);
        let pairs = || mdp.pairs(at.state).map(Pair);
        let successors: Vec<Vec<(State, f64)>> = pairs().map(|pair| mdp.successors(pair).collect()).collect();
        let next = self.optima(erm, at.time + 1, true, &successors, |_| {})?;
        Ok(pairs().zip(next).map(|(pair, next)| next.after(so_far + mass * self.costs[pair.index()])).collect())
    }

    /// How far apart two costs can be, whatever the policy.
    pub(super) fn range(&self) -> Result<f64, OracleError> {
        let start = Start::of(self.problem);
        let gains = self.costs.iter().map(|cost| -cost).collect();
        let gains = Self { costs: gains, constant: -self.constant, ..self.clone() };
        Ok(-gains.optimum(Erm::BEST, &start, false)?.value - self.optimum(Erm::BEST, &start, false)?.value)
    }

    /// Whether induction from `time` on is within the limits: its size is known beforehand.
    fn check(&self, time: usize) -> Result<(), OracleError> {
        let (states, limit) = (self.stages(time), self.limits.max_states);
        let projected = Some(states as f64);
        if states <= limit { Ok(()) } else { Err(OracleError::TooLarge { reached: 0, projected, limit }) }
    }

    /// From time `first` on, for each distribution of the state then. `chosen` is given the pairs of each time, from the last to
    /// the first.
    fn optima(
        &self,
        erm: Erm,
        first: usize,
        with_means: bool,
        starts: &[impl AsRef<[(State, f64)]> + Sync],
        chosen: impl FnMut(&[u32]) + Send,
    ) -> Result<Vec<Optimum>, OracleError> {
        self.check(first)?;
        // In a worker, so that small steps are not handed from thread to thread.
        rayon::scope(|_| {
            if with_means && erm != Erm::MEAN {
                Ok(after::<2>(&self.steps(erm, first, chosen)?, erm, starts))
            } else {
                Ok(after::<1>(&self.steps(erm, first, chosen)?, erm, starts))
            }
        })
    }

    fn steps<const N: usize>(
        &self,
        erm: Erm,
        first: usize,
        mut chosen: impl FnMut(&[u32]),
    ) -> Result<Vec<Value<N>>, OracleError> {
        let stop = &self.limits.stop;
        let largest_cost = self.costs.iter().fold(0.0_f64, |largest, cost| largest.max(cost.abs()));
        let states = self.problem.mdp().state_count();
        let (mut next, mut now) = (vec![[0.0; N]; states], vec![[0.0; N]; states]);
        let (mut terms, mut windows, mut pairs) = (Vec::new(), Vec::new(), vec![0; states]);
        let (mut low, mut high) = (0.0, 0.0);
        for &mass in self.problem.masses()[first..].iter().rev() {
            check_stop(stop)?;
            let form = Form::new(erm, low, high);
            let (beta, scale) = (erm.beta(), 1.0 / erm.beta());
            // Extreme values are exact: only equal risks are ties.
            let rounded = if matches!(form, Form::Worst | Form::Best) { 0.0 } else { TIE };
            let near = rounded * (low.abs().max(high.abs()) + mass * largest_cost);
            let noise = match form {
                Form::Mild { .. } => near,
                Form::Plain | Form::Windows => TIE * scale.abs(),
                Form::Mean | Form::Worst | Form::Best => 0.0,
            };
            let step = Step { of: self, mass, next: &next, near: near + noise, noise };
            let values = &*next;
            (low, high) = match form {
                Form::Mean => step.run(&Sums { terms: values, inverse: |sum| sum }, &mut now, &mut pairs),
                Form::Mild { shift } => {
                    self.of_states(&mut terms, values, move |value| exp_m1(beta * (value - shift)));
                    let inverse = move |sum| shift + ln_1p(sum) * scale;
                    step.run(&Sums { terms: &terms, inverse }, &mut now, &mut pairs)
                }
                Form::Plain => {
                    self.of_states(&mut terms, values, move |value| exp(beta * value));
                    step.run(&Sums { terms: &terms, inverse: move |sum| ln(sum) * scale }, &mut now, &mut pairs)
                }
                Form::Windows => {
                    windows.clear();
                    windows.par_extend(values.par_iter().map(|value| Weight::of(beta * value[0])));
                    step.run(&Windows { erm, values, weights: &windows }, &mut now, &mut pairs)
                }
                Form::Worst => step.run(&Extreme::<true, N>(values), &mut now, &mut pairs),
                Form::Best => step.run(&Extreme::<false, N>(values), &mut now, &mut pairs),
            };
            chosen(&pairs);
            std::mem::swap(&mut now, &mut next);
        }
        check_stop(stop)?;
        Ok(next)
    }

    /// The same values with another function of the risk.
    fn of_states<const N: usize>(&self, all: &mut Vec<Value<N>>, values: &[Value<N>], of: impl Fn(f64) -> f64 + Sync) {
        all.resize(values.len(), [0.0; N]);
        all.par_chunks_mut(self.piece).zip(values.par_chunks(self.piece)).for_each(|(all, values)| {
            for (one, value) in all.iter_mut().zip(values) {
                *one = *value;
                one[0] = of(value[0]);
            }
        });
    }
}

/// Risk and mean for each distribution of the state, from what follows each state.
fn after<const N: usize>(values: &[Value<N>], erm: Erm, starts: &[impl AsRef<[(State, f64)]>]) -> Vec<Optimum> {
    let of = |start: &[(State, f64)], erm: Erm, k: usize| {
        erm.of_outcomes(start.iter().map(|&(state, p)| (values[state.index()][k], p)))
    };
    let optimum = |start: &[(State, f64)]| Optimum { value: of(start, erm, 0), mean: of(start, Erm::MEAN, N - 1) };
    starts.iter().map(|start| optimum(start.as_ref())).collect()
}

/// One step backwards.
struct Step<'a, const N: usize> {
    of: &'a Linear<'a>,
    mass: f64,
    next: &'a [Value<N>],
    /// Risks that differ by more are no tie.
    near: f64,
    /// How exactly risks are known at least, but for the rounding of what follows the pair.
    noise: f64,
}

impl<const N: usize> Step<'_, N> {
    /// Solves each state; returns the lowest and the highest risk.
    fn run<B: Backup<N>>(&self, backup: &B, now: &mut [Value<N>], pairs: &mut [u32]) -> (f64, f64) {
        let piece = self.of.piece;
        let pieces = now.par_chunks_mut(piece).zip(pairs.par_chunks_mut(piece)).enumerate();
        pieces
            .map_init(Vec::new, |scratch, (number, (now, pairs))| {
                self.run_piece(backup, number * piece, now, pairs, scratch)
            })
            .reduce(|| (f64::INFINITY, f64::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    fn run_piece<B: Backup<N>>(
        &self,
        backup: &B,
        first: usize,
        now: &mut [Value<N>],
        pairs: &mut [u32],
        scratch: &mut Vec<Value<N>>,
    ) -> (f64, f64) {
        let Linear { problem, limits, costs, certain, .. } = self.of;
        let mdp = problem.mdp();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        if limits.stop.is_requested() {
            return (low, high);
        }
        let first_pairs = mdp.first_pairs(first..first + now.len());
        let all = first_pairs[0]..first_pairs[now.len()];
        let place = |pair: u32| certain.partition_point(|&(certain, _)| certain < pair);
        let certain = &certain[place(all.start)..place(all.end)];
        let costs = &costs[all.start as usize..all.end as usize];
        // All risks first: a comparison would wait for its risk, and all after it.
        scratch.clear();
        if certain.len() < all.len() {
            scratch
                .extend(mdp.rows(all.clone()).map(|(successors, probabilities)| backup.sum(successors, probabilities)));
            for (value, cost) in scratch.iter_mut().zip(costs) {
                value[0] = backup.risk(value[0]);
                *value = value.map(|value| self.mass * cost + value);
            }
        }
        scratch.resize(all.len(), [0.0; N]);
        for &(pair, successor) in certain {
            let place = (pair - all.start) as usize;
            scratch[place] = self.next[successor as usize].map(|value| self.mass * costs[place] + value);
        }
        let mut of_pairs = &scratch[..];
        for (own, (best, chosen)) in first_pairs.windows(2).zip(now.iter_mut().zip(pairs)) {
            let of_own;
            (of_own, of_pairs) = of_pairs.split_at((own[1] - own[0]) as usize);
            let mut lowest = (f64::INFINITY, 0);
            for (place, value) in of_own.iter().enumerate() {
                let risk = value[0];
                let gain = lowest.0 - risk;
                // Between 0 and `near`, in one comparison: of two, the first would often go the other way than expected.
                let may_be_tie = gain.to_bits().wrapping_sub(1) < self.near.to_bits();
                if may_be_tie && !self.is_better(own[0] + place as u32, gain) {
                    continue;
                }
                lowest.1 = if risk < lowest.0 { place } else { lowest.1 };
                lowest.0 = if risk < lowest.0 { risk } else { lowest.0 };
            }
            let equal = lowest.0 + self.near + self.of.tie;
            let with_means = N > 1;
            if with_means && of_own.iter().filter(|value| value[0] <= equal).count() > 1 {
                lowest.1 = lowest_mean(of_own, equal);
            }
            *best = of_own[lowest.1];
            *chosen = own[0] + lowest.1 as u32;
            low = if best[0] < low { best[0] } else { low };
            high = if best[0] > high { best[0] } else { high };
        }
        (low, high)
    }

    /// Whether the risk of a pair is lower by more than rounding.
    #[cold]
    fn is_better(&self, pair: u32, gain: f64) -> bool {
        let sizes = self.of.problem.mdp().successors(Pair(pair)).map(|(s, p)| p * self.next[s.index()][0].abs());
        let size = sizes.sum::<f64>() + (self.mass * self.of.costs[pair as usize]).abs();
        gain > TIE * size + self.noise
    }
}

/// Of the values whose risk is at most `equal` the place of the first that has the lowest mean.
#[cold]
fn lowest_mean<const N: usize>(values: &[Value<N>], equal: f64) -> usize {
    let mut best = (f64::INFINITY, 0);
    for (place, value) in values.iter().enumerate().filter(|(_, value)| value[0] <= equal) {
        let mean = value[N - 1];
        if mean < best.0 - TIE * mean.abs() {
            best = (mean, place);
        }
    }
    best.1
}
