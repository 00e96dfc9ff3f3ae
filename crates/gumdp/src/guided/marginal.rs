//! Marginal backward induction: the objective as if it were a sum of step costs, solved by dynamic programming.
//!
//! With the occupancy Φ of the root, visiting a pair at time t is taken to cost the secant
//!
//! c_t(pair) = m_t/M · (f(Φ + M·pair) − f(Φ)),
//!
//! where m_t is the mass of the step and M that of the visit it may be part of: the expected stay in the state, and where the
//! state can be met again at least a share of all that remains. A secant, because slopes are infinite where nothing has been
//! visited, and over M, because a state that holds the agent is as bad as all of its stay. With these costs the ERM of the sum
//! is minimised over (time, state) with the true probabilities, as for a linear objective (which it solves exactly):
//!
//! U_t(s) = min over pairs of c_t(pair) + ERM[U_{t+1}(s')].
//!
//! Nothing in it knows of visits to come, so it is repeated as the occupancy grows.

use super::moves::Moves;
use crate::model::State;
use crate::problem::{OccupancyState, Problem};
use crate::risk::Erm;

/// Step costs beyond this number are not kept but computed for each time anew.
const KEPT_COSTS: usize = 1 << 22;

/// Values differ by rounding at least; a smaller difference is a tie.
const TIE: f64 = 1e-12;

/// U of the last root, and what it is made from.
#[derive(Clone, Debug)]
pub(super) struct Marginal {
    /// U_t(s) at t·states + s, for t from the root's time to the horizon.
    values: Vec<f64>,
    states: usize,
    /// ERM of U_{t+1} after a move, at t·moves + number; empty if nobody asked for it.
    risks: Vec<f64>,
    moves: usize,
    /// M at t·holds + hold.
    visits: Vec<f64>,
    holds: usize,
    /// c at t·classes + class if all are kept, else of one time.
    costs: Vec<f64>,
    /// What the costs of each class were computed from.
    computed_from: Vec<u64>,
    /// The time of the last root: all that was computed from it holds from there on.
    since: Option<usize>,
}

impl Marginal {
    /// `share` is the part of the remaining mass that a visit to a state that can be met again brings at least.
    pub(super) fn new(problem: &Problem, moves: &Moves, share: f64) -> Self {
        let (horizon, states, classes) = (problem.horizon(), problem.mdp().state_count(), moves.classes.len());
        let holds = moves.holds.len();
        let mut visits = vec![0.0; horizon * holds];
        let (mut stays, mut remaining) = (vec![0.0; holds], 0.0);
        for (t, mass) in problem.masses().iter().enumerate().rev() {
            remaining += mass;
            for (k, hold) in moves.holds.iter().enumerate() {
                stays[k] = mass + hold.stay * stays[k];
                let least = if hold.recurs { share * remaining } else { 0.0 };
                visits[t * holds + k] = least.max(stays[k]);
            }
        }
        let kept = if horizon * classes <= KEPT_COSTS { horizon * classes } else { classes };
        Self {
            values: vec![0.0; (horizon + 1) * states],
            states,
            risks: Vec::new(),
            moves: moves.len(),
            visits,
            holds,
            costs: vec![0.0; kept],
            computed_from: vec![0; classes],
            since: None,
        }
    }

    /// U_t(s).
    #[inline]
    pub(super) fn value(&self, time: usize, state: State) -> f64 {
        self.values[time * self.states + state.index()]
    }

    /// ERM of U_{t+1} after a move; only after an [`update`](Self::update) that was to keep it.
    #[inline]
    pub(super) fn risk(&self, time: usize, number: u32) -> f64 {
        self.risks[time * self.moves + number as usize]
    }

    /// What a move costs at this time if the occupancy is that of `features`.
    #[inline]
    pub(super) fn cost(&self, problem: &Problem, moves: &Moves, features: &[f64], time: usize, class: u32) -> f64 {
        let class = &moves.classes[class as usize];
        let visit = self.visits[time * self.holds + class.hold as usize];
        problem.objective().increase(features, class.pair.index(), visit) * (problem.masses()[time] / visit)
    }

    /// The move that is best at the root of the last update, or later.
    pub(super) fn best(&self, problem: &Problem, moves: &Moves, erm: Erm, at: &OccupancyState) -> u32 {
        let mut best = (f64::INFINITY, 0);
        for number in moves.range(at.state) {
            let value = self.of_move(problem, moves, erm, at, number);
            if value < best.0 - TIE {
                best = (value, number);
            }
        }
        best.1
    }

    /// How much the risk of f grows from here on if this move is made.
    pub(super) fn of_move(&self, problem: &Problem, moves: &Moves, erm: Erm, at: &OccupancyState, number: u32) -> f64 {
        let cost = self.cost(problem, moves, &at.features, at.time, moves.get(number).class);
        let after = moves.outcomes(number).iter().map(|to| (self.value(at.time + 1, to.state), to.probability));
        cost + backup(erm, after)
    }

    /// Solves the problem from this root.
    pub(super) fn update(&mut self, problem: &Problem, moves: &Moves, erm: Erm, at: &OccupancyState, keep_risks: bool) {
        let horizon = problem.horizon();
        let keep_costs = self.costs.len() >= horizon * moves.classes.len();
        let anew = self.since.is_none_or(|since| at.time < since) || keep_risks && self.risks.is_empty();
        if keep_costs && !self.refresh_costs(problem, moves, at, anew) && !anew {
            return;
        }
        self.since = Some(at.time);
        self.risks.resize(if keep_risks { horizon * self.moves } else { 0 }, 0.0);
        let classes = moves.classes.len();
        for time in (at.time..horizon).rev() {
            if !keep_costs {
                for class in 0..classes as u32 {
                    self.costs[class as usize] = self.cost(problem, moves, &at.features, time, class);
                }
            }
            let costs = &self.costs[if keep_costs { time * classes } else { 0 }..][..classes];
            let (now, next) = self.values[time * self.states..(time + 2) * self.states].split_at_mut(self.states);
            for (state, value) in (0..).map(State).zip(now) {
                *value = f64::INFINITY;
                for number in moves.range(state) {
                    let risk = match moves.outcomes(number) {
                        [certain] => next[certain.state.index()],
                        outcomes => backup(erm, outcomes.iter().map(|to| (next[to.state.index()], to.probability))),
                    };
                    if keep_risks {
                        self.risks[time * self.moves + number as usize] = risk;
                    }
                    *value = value.min(costs[moves.get(number).class as usize] + risk);
                }
            }
        }
    }

    /// Computes the costs of the classes for which the occupancy of the root has changed; returns whether there are any.
    fn refresh_costs(&mut self, problem: &Problem, moves: &Moves, at: &OccupancyState, anew: bool) -> bool {
        let mut changed = false;
        for (number, class) in (0..).zip(&moves.classes) {
            let from = problem.objective().glimpse(&at.features, class.pair.index());
            if !anew && self.computed_from[number as usize] == from {
                continue;
            }
            self.computed_from[number as usize] = from;
            changed = true;
            for time in at.time..problem.horizon() {
                self.costs[time * moves.classes.len() + number as usize] =
                    self.cost(problem, moves, &at.features, time, number);
            }
        }
        changed
    }
}

/// The ERM of a few values with probabilities. Weak aversion to risk is expanded to the second order, whose error is below
/// 1e-7 of the spread of the values; otherwise exact to rounding.
#[inline]
pub(super) fn backup(erm: Erm, outcomes: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (mut low, mut high, mut total, mut mean) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0);
    for (value, weight) in outcomes.clone() {
        low = low.min(value);
        high = high.max(value);
        total += weight;
        mean += weight * value;
    }
    let beta = erm.beta();
    let shift = if beta < 0.0 { low } else { high };
    if low == high || beta.is_infinite() {
        return shift;
    }
    mean /= total;
    if beta.abs() * (high - low) < 1e-3 {
        let variance = outcomes.map(|(value, weight)| weight * (value - mean) * (value - mean)).sum::<f64>() / total;
        return mean + 0.5 * beta * variance;
    }
    let tilted = |value: f64| if value == shift { 1.0 } else { (beta * (value - shift)).exp() };
    let sum: f64 = outcomes.map(|(value, weight)| weight * tilted(value)).sum();
    shift + (sum / total).ln() / beta
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::backward_induction;
    use crate::rng::{self, Purpose};
    use crate::tasks;

    #[test]
    fn backups_are_the_entropic_risk() {
        let mut rng = rng::stream(6, 0, Purpose::Generation);
        for scale in [0.0, 1e-9, 1e-4, 1e-3, 0.1, 5.0, 1e3, 1e6, f64::INFINITY] {
            for beta in [scale, -scale] {
                let erm = Erm::new(beta).unwrap();
                for _ in 0..20 {
                    let outcomes: Vec<(f64, f64)> =
                        (0..3).map(|_| (rng::unit(&mut rng), 0.01 + rng::unit(&mut rng))).collect();
                    let exact = erm.of_distribution(&outcomes);
                    assert!((backup(erm, outcomes.iter().copied()) - exact).abs() < 1e-7);
                }
            }
        }
    }

    /// A linear objective is a sum of step costs: the value at the start is the optimum.
    #[test]
    fn linear_objectives_are_solved_exactly() {
        for name in ["mdp", "mo-weighted"] {
            let task = tasks::get(name).unwrap();
            let (problem, moves) = (&task.problem, Moves::new(&task.problem));
            for &beta in &task.defaults.betas {
                let erm = Erm::new(beta).unwrap();
                let start = problem.start(problem.mdp().initial()[0].0);
                let mut marginal = Marginal::new(problem, &moves, 0.2);
                marginal.update(problem, &moves, erm, &start, true);
                let optimum = backward_induction(problem, erm).unwrap().value;
                let found = problem.cost(&start) + marginal.value(0, start.state);
                assert!((found - optimum).abs() < 1e-7, "{name}, beta {beta}: {found} instead of {optimum}");
            }
        }
    }
}
