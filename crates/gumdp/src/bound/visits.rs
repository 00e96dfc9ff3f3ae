//! Separable convex f: f(d) ≥ constant + a sum over visits, whose lowest risk is found by backward induction.
//!
//! Let f(d) = Σ_j h_j(d_j) with convex h_j, and y any occupancy of the cells. With c_j = h_j(y_j) − h_j'(y_j)·y_j,
//!
//! ψ_j(a) = h_j'(y_j)·a for a < y_j, h_j(a) − c_j for a ≥ y_j
//!
//! is convex with ψ_j(0) = 0, hence superadditive on [0, ∞), and ψ_j ≤ h_j − c_j. A visit is a longest stretch of time in one cell; the
//! masses of the visits of a cell sum to its occupancy, so f(d) ≥ Σ c_j + Σ over visits ψ_j(mass). The right side grows step by step by what
//! a step adds to its visit, so backward induction over (time, state, cell and entry time of the visit under way) finds its lowest
//! risk. Fixed-point steps improve y; every y gives a bound.

use super::rounded_down;
use crate::model::Pair;
use crate::objective::Separable;
use crate::oracle::{Limits, OracleError, check_stop};
use crate::problem::Problem;
use crate::risk::Erm;

/// Steps towards the best y.
const STEPS: usize = 14;
/// The most decisions that are kept: one for each time, state, cell and entry.
const MOST_DECISIONS: usize = 1 << 27;
/// Where the slope at 0 is infinite, y_j is at least this.
const LEAST: f64 = 1e-7;

/// The best bound; `None` if f is not separable and convex, or the problem is too large.
pub(super) fn bound(problem: &Problem, erm: Erm, limits: &Limits) -> Result<Option<f64>, OracleError> {
    let Some(f) = problem.objective().as_separable() else { return Ok(None) };
    let mut relaxation = match Relaxation::new(problem, f, erm) {
        Some(relaxation) => relaxation,
        None => return Ok(None),
    };
    let cells = relaxation.f.cell_count();
    let mut y = vec![1.0 / cells as f64; cells];
    let mut best: Option<f64> = None;
    for step in 0..STEPS {
        check_stop(&limits.stop)?;
        let (value, occupancy) = relaxation.solve(&y);
        best = Some(best.map_or(value, |best: f64| best.max(value)));
        let share = 2.0 / (step as f64 + 2.0);
        y.iter_mut().zip(&occupancy).for_each(|(y, d)| *y += share * (d - *y));
    }
    Ok(best.filter(|best| best.is_finite()))
}

/// The relaxed problem.
struct Relaxation<'a> {
    problem: &'a Problem,
    f: Separable<'a>,
    erm: Erm,
    /// The different cells of the pairs of each state.
    own: Vec<Vec<u32>>,
    /// Mass before each time.
    passed: Vec<f64>,
    /// By time and slot the pair of the best move, counted from the first of its state.
    decisions: Vec<Vec<u16>>,
}

/// ψ of a cell at a y.
#[derive(Clone, Copy)]
struct Charge {
    y: f64,
    slope: f64,
    constant: f64,
}

impl<'a> Relaxation<'a> {
    fn new(problem: &'a Problem, f: Separable<'a>, erm: Erm) -> Option<Self> {
        let mdp = problem.mdp();
        let cells_of = |state| {
            let mut cells: Vec<u32> = mdp.pairs(state).map(|pair| f.cell(pair as usize)).collect();
            cells.sort_unstable();
            cells.dedup();
            cells
        };
        let own: Vec<Vec<u32>> = mdp.states().map(cells_of).collect();
        let horizon = problem.horizon();
        let slots = own.iter().map(Vec::len).sum::<usize>().saturating_mul(horizon * (horizon + 1) / 2);
        let most_actions = mdp.states().map(|state| mdp.pairs(state).len()).max().unwrap_or(0);
        if slots > MOST_DECISIONS || most_actions > usize::from(u16::MAX) {
            return None;
        }
        let mut passed = vec![0.0];
        problem.masses().iter().for_each(|mass| passed.push(passed[passed.len() - 1] + mass));
        Some(Self { problem, f, erm, own, passed, decisions: Vec::new() })
    }

    /// Where the slots of each state start at a time: one for no visit under way, then those of each cell and entry time.
    fn starts(&self, time: usize) -> Vec<usize> {
        let mut starts = vec![0];
        self.own.iter().for_each(|own| starts.push(starts[starts.len() - 1] + 1 + own.len() * time));
        starts
    }

    /// What the step at a time adds to a visit that began at `entry`.
    fn charge(&self, psi: Charge, cell: u32, entry: usize, time: usize) -> f64 {
        let of = |mass: f64| if mass < psi.y { psi.slope * mass } else { self.f.of_cell(cell, mass) - psi.constant };
        let before = if entry == time { 0.0 } else { of(self.passed[time] - self.passed[entry]) };
        of(self.passed[time + 1] - self.passed[entry]) - before
    }

    /// The bound at y, and the expected occupancy of the cells under the policy that attains it.
    fn solve(&mut self, y: &[f64]) -> (f64, Vec<f64>) {
        let psi: Vec<Charge> = (0..y.len() as u32)
            .map(|cell| {
                let mut y = y[cell as usize];
                let mut slope = self.f.slope(cell, y);
                if !slope.is_finite() || y < LEAST {
                    y = y.max(LEAST);
                    slope = self.f.slope(cell, y);
                }
                Charge { y, slope, constant: self.f.of_cell(cell, y) - slope * y }
            })
            .collect();
        let (problem, horizon) = (self.problem, self.problem.horizon());
        let mdp = problem.mdp();
        let mut next: Vec<f64> = vec![0.0; self.starts(horizon)[self.own.len()]];
        self.decisions = vec![Vec::new(); horizon];
        let mut outcomes: Vec<(f64, f64)> = Vec::new();
        for time in (0..horizon).rev() {
            let (starts, after) = (self.starts(time), self.starts(time + 1));
            let mass = problem.masses()[time];
            let charges: Vec<f64> = (0..psi.len())
                .flat_map(|cell| (0..=time).map(move |entry| (cell, entry)))
                .map(|(cell, entry)| self.charge(psi[cell], cell as u32, entry, time))
                .collect();
            let mut values = vec![f64::INFINITY; starts[self.own.len()]];
            let mut decisions = vec![0_u16; values.len()];
            for state in mdp.states() {
                let start = starts[state.index()];
                let own = &self.own[state.index()];
                for (number, pair) in mdp.pairs(state).map(Pair).enumerate() {
                    let cell = self.f.cell(pair.index());
                    let mut of_entry = |entry: usize| {
                        outcomes.clear();
                        outcomes.extend(mdp.successors(pair).map(|(to, p)| {
                            let place = self.own[to.index()].binary_search(&cell);
                            let slot = place.map_or(0, |place| 1 + place * (time + 1) + entry);
                            (next[after[to.index()] + slot], p)
                        }));
                        let rest = if let [(only, _)] = outcomes[..] {
                            only
                        } else {
                            self.erm.of_outcomes(outcomes.iter().copied())
                        };
                        mass * self.f.cost(pair.index()) + charges[cell as usize * (time + 1) + entry] + rest
                    };
                    let fresh = of_entry(time);
                    let mut lower = |slot: usize, value: f64| {
                        if value < values[start + slot] {
                            values[start + slot] = value;
                            decisions[start + slot] = number as u16;
                        }
                    };
                    lower(0, fresh);
                    for (place, &visited) in own.iter().enumerate() {
                        for entry in 0..time {
                            let value = if visited == cell { of_entry(entry) } else { fresh };
                            lower(1 + place * time + entry, value);
                        }
                    }
                }
            }
            self.decisions[time] = decisions;
            next = values;
        }
        let starts = self.starts(0);
        let roots = mdp.initial().iter().map(|&(state, p)| (next[starts[state.index()]], p));
        let constants: f64 = psi.iter().map(|psi| psi.constant).sum();
        let size =
            psi.iter().map(|psi| psi.constant.abs() + psi.slope.abs() * psi.y).sum::<f64>() + self.f.offset().abs();
        let value = self.f.offset() + constants + self.erm.of_outcomes(roots);
        (rounded_down(value, size), self.occupancy())
    }

    /// The expected occupancy of the cells under the decisions.
    fn occupancy(&self) -> Vec<f64> {
        let mdp = self.problem.mdp();
        let mut cells = vec![0.0; self.f.cell_count()];
        let mut now = vec![0.0; self.starts(0)[self.own.len()]];
        let starts = self.starts(0);
        mdp.initial().iter().for_each(|&(state, p)| now[starts[state.index()]] += p);
        for (time, decisions) in self.decisions.iter().enumerate() {
            let (starts, after) = (self.starts(time), self.starts(time + 1));
            let mut next = vec![0.0; after[self.own.len()]];
            for state in mdp.states() {
                for slot in starts[state.index()]..starts[state.index() + 1] {
                    if now[slot] == 0.0 {
                        continue;
                    }
                    let pair = Pair(mdp.pairs(state).start + u32::from(decisions[slot]));
                    let cell = self.f.cell(pair.index());
                    cells[cell as usize] += now[slot] * self.problem.masses()[time];
                    let entry = match (slot - starts[state.index()]).checked_sub(1) {
                        Some(k) if self.own[state.index()][k / time] == cell => k % time,
                        _ => time,
                    };
                    for (to, p) in mdp.successors(pair) {
                        let place = self.own[to.index()].binary_search(&cell);
                        let slot_of = place.map_or(0, |place| 1 + place * (time + 1) + entry);
                        next[after[to.index()] + slot_of] += p * now[slot];
                    }
                }
            }
            now = next;
        }
        cells
    }
}
