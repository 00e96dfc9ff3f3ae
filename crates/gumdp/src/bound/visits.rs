//! Separable convex f: f(d) ≥ constant + a sum over visits, whose lowest risk is found by backward induction.
//!
//! Let f(d) = Σ_j h_j(d_j) with convex h_j, and y any occupancy of the cells. With c_j = h_j(y_j) − h_j'(y_j)·y_j,
//!
//! ψ_j(a) = h_j'(y_j)·a for a < y_j, h_j(a) − c_j for a ≥ y_j
//!
//! is convex with ψ_j(0) = 0, hence superadditive on [0, ∞), and ψ_j ≤ h_j − c_j. A visit is a longest stretch of time in one cell; the
//! masses of the visits of a cell sum to its occupancy, so f(d) ≥ Σ c_j + Σ over visits ψ_j(mass). The right side grows step by step by what
//! a step adds to its visit, so backward induction over (time, state, cell and entry time of the visit under way) finds its lowest
//! risk.
//!
//! Parts of a visit may be charged as visits of their own, which only lowers the bound. So entry times are remembered only where a visit may
//! go on by chance, or must; a visit that one prolongs at will is no dearer than going to and fro, which is free to do anyway.
//!
//! Every y gives a bound. Where h_j'' exists, the slope of the bound in y_j is h_j''(y_j)·(u_j − y_j) with u_j = E Σ over visits
//! min(mass, y_j), under the policy found and with probabilities tilted by exp(β·cost). Steps along it ([`super::ascent`]) improve y.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::ascent::{LEAST, STEPS, Shared};
use super::rounded_down;
use crate::model::{Pair, State};
use crate::objective::Separable;
use crate::oracle::{Limits, OracleError, check_stop};
use crate::problem::Problem;
use crate::risk::Erm;

/// The most values that are kept: one for each time, state, cell and entry, of ten bytes.
const MOST_VALUES: usize = 1 << 25;

/// The best bound; `None` if f is not separable and convex, or the problem is too large. `start` is an occupancy whose tangent is good.
pub(super) fn bound(
    problem: &Problem,
    erm: Erm,
    start: Option<&[f64]>,
    limits: &Limits,
) -> Result<Option<f64>, OracleError> {
    let Some(f) = problem.objective().as_separable() else { return Ok(None) };
    let Some(relaxation) = Relaxation::new(problem, f, erm, limits) else { return Ok(None) };
    let cells = relaxation.f.cell_count();
    let even = vec![1.0 / cells as f64; cells];
    let mut of_cells = vec![0.0; if start.is_some() { cells } else { 0 }];
    for (pair, d) in start.into_iter().flatten().enumerate() {
        of_cells[relaxation.f.cell(pair) as usize] += d;
    }
    let (alike, apart) = (relaxation.alike(), (0..cells).collect::<Vec<usize>>());
    let starts = [(&alike, &even), (&alike, &of_cells), (&apart, &of_cells)].into_iter().filter(|(_, y)| !y.is_empty());
    let mut best: Option<(f64, Shared)> = None;
    for (class, y) in starts {
        check_stop(&limits.stop)?;
        let shared = Shared::new(class, y);
        if let Some((value, _)) = relaxation.solve(&shared.of_cells())
            && best.as_ref().is_none_or(|(best, _)| value > *best)
        {
            best = Some((value, shared));
        }
    }
    let Some((mut best, mut y)) = best else { return Ok(None) };
    for step in 0..STEPS {
        check_stop(&limits.stop)?;
        let Some((value, u)) = relaxation.solve(&y.of_cells()) else { break };
        best = best.max(value);
        y.step(step, &u);
    }
    Ok(Some(best))
}

/// The relaxed problem.
struct Relaxation<'a> {
    problem: &'a Problem,
    f: Separable<'a>,
    erm: Erm,
    /// The cells of each state whose visits are followed.
    own: Vec<Vec<u32>>,
    /// Whether visits of a cell are followed anywhere.
    followed: Vec<bool>,
    moves: Vec<Move>,
    /// Mass before each time.
    passed: Vec<f64>,
}

/// What a pair does to the visit under way.
struct Move {
    cell: u32,
    /// Next states where the visit is followed, with the place of the cell among theirs, and the probability.
    stays: Vec<(State, usize, f64)>,
    /// Other next states.
    leaves: Vec<(State, f64)>,
    gone: f64,
    /// The first pair of the state, counted from its first, which differs from this one in where it leaves to only.
    like: usize,
}

/// ψ of a cell at a y.
#[derive(Clone, Copy)]
struct Charge {
    y: f64,
    slope: f64,
    constant: f64,
}

/// The value of every slot at each time, and the pair that has it, counted from the first of its state.
struct Found {
    values: Vec<Vec<f64>>,
    decisions: Vec<Vec<u16>>,
}

impl<'a> Relaxation<'a> {
    /// `None` if it is too large.
    fn new(problem: &'a Problem, f: Separable<'a>, erm: Erm, limits: &Limits) -> Option<Self> {
        let (mdp, horizon) = (problem.mdp(), problem.horizon());
        let too_many = |looks: usize| looks.saturating_mul(STEPS) as u64 > limits.relaxed_transitions;
        let plain = horizon.saturating_mul(mdp.transition_count());
        if too_many(plain) {
            return None;
        }
        let own = followed(problem, &f);
        let mut moves: Vec<Move> = Vec::with_capacity(mdp.pair_count());
        for state in mdp.states() {
            let first = moves.len();
            for pair in mdp.pairs(state).map(Pair) {
                let cell = f.cell(pair.index());
                let (mut stays, mut leaves) = (Vec::new(), Vec::new());
                for (to, p) in mdp.successors(pair) {
                    match own[to.index()].binary_search(&cell) {
                        Ok(place) => stays.push((to, place, p)),
                        Err(_) => leaves.push((to, p)),
                    }
                }
                let number = moves.len() - first;
                let cost = f.cost(pair.index());
                let alike = |k: &usize| {
                    let other: &Move = &moves[first + k];
                    other.cell == cell && other.stays == stays && f.cost(first + k) == cost && !leaves.is_empty()
                };
                let like = (0..number.min(16)).find(alike).unwrap_or(number);
                let gone = leaves.iter().map(|(_, p)| p).sum();
                moves.push(Move { cell, stays, leaves, gone, like });
            }
        }
        let entries = horizon.saturating_mul(horizon + 1) / 2;
        let slots = own.iter().map(Vec::len).sum::<usize>().saturating_mul(entries);
        let most_actions = mdp.states().map(|state| mdp.pairs(state).len()).max().unwrap_or(0);
        let of_state = |state| {
            let own = mdp.pairs(state).start as usize..mdp.pairs(state).end as usize;
            moves[own]
                .iter()
                .enumerate()
                .filter(|(number, of)| of.like == *number)
                .map(|(_, of)| of.stays.len())
                .sum::<usize>()
        };
        let following = mdp.states().map(of_state).sum::<usize>().saturating_mul(entries);
        if slots > MOST_VALUES || most_actions > usize::from(u16::MAX) || too_many(following.saturating_add(plain)) {
            return None;
        }
        let mut passed = vec![0.0];
        problem.masses().iter().for_each(|mass| passed.push(passed[passed.len() - 1] + mass));
        let mut somewhere = vec![false; f.cell_count()];
        own.iter().flatten().for_each(|&cell| somewhere[cell as usize] = true);
        Some(Self { problem, f, erm, own, followed: somewhere, moves, passed })
    }

    /// The class of each cell: those with the same function, costs and largest chance to stay are alike.
    fn alike(&self) -> Vec<usize> {
        let mut marks: Vec<(f64, Vec<u64>)> = vec![(0.0, Vec::new()); self.f.cell_count()];
        for (pair, of) in self.moves.iter().enumerate() {
            let (chance, costs) = &mut marks[of.cell as usize];
            *chance = of.stays.iter().fold(*chance, |most, (_, _, p)| most.max(*p));
            costs.push(self.f.cost(pair).to_bits());
        }
        let mut classes = BTreeMap::new();
        let class = |(cell, (chance, mut mark)): (usize, (f64, Vec<u64>))| {
            mark.sort_unstable();
            mark.dedup();
            mark.push(chance.to_bits());
            mark.extend([0.0, 0.25, 1.0].map(|x| self.f.of_cell(cell as u32, x).to_bits()));
            let next = classes.len();
            *classes.entry(mark).or_insert(next)
        };
        marks.into_iter().enumerate().map(class).collect()
    }

    /// Where the slots of each state start at a time: one for no visit under way, then those of each cell and entry time.
    fn starts(&self, time: usize) -> Vec<usize> {
        let mut starts = vec![0];
        self.own.iter().for_each(|own| starts.push(starts[starts.len() - 1] + 1 + own.len() * time));
        starts
    }

    /// ψ of each cell at y; `None` if one has no finite slope there.
    fn charges(&self, y: &[f64]) -> Option<Vec<Charge>> {
        let charge = |(cell, y): (usize, &f64)| {
            let (cell, y) = (cell as u32, y.max(LEAST));
            let slope = self.f.slope(cell, y);
            let constant = self.f.of_cell(cell, y) - slope * y;
            (slope.is_finite() && constant.is_finite()).then_some(Charge { y, slope, constant })
        };
        y.iter().enumerate().map(charge).collect()
    }

    /// What the step at a time adds to a visit that began at `entry`.
    fn charge(&self, psi: Charge, cell: u32, entry: usize, time: usize) -> f64 {
        let of = |mass: f64| if mass < psi.y { psi.slope * mass } else { self.f.of_cell(cell, mass) - psi.constant };
        let before = if entry == time { 0.0 } else { of(self.passed[time] - self.passed[entry]) };
        of(self.passed[time + 1] - self.passed[entry]) - before
    }

    /// The bound at y, and u; `None` if there is none.
    fn solve(&self, y: &[f64]) -> Option<(f64, Vec<f64>)> {
        let psi = self.charges(y)?;
        let found = self.induction(&psi);
        let (mdp, starts) = (self.problem.mdp(), self.starts(0));
        let roots = mdp.initial().iter().map(|&(state, p)| (found.values[0][starts[state.index()]], p));
        let constants: f64 = psi.iter().map(|psi| psi.constant).sum();
        let steepest = psi.iter().map(|psi| psi.slope.abs()).fold(0.0, f64::max);
        let size = psi.iter().map(|psi| psi.constant.abs()).sum::<f64>() + steepest + self.f.size();
        let value = self.f.offset() + constants + self.erm.of_outcomes(roots);
        value.is_finite().then(|| (rounded_down(self.problem, value, size), self.towards(&psi, &found)))
    }

    /// The lowest risk of the sum over visits from each time, state and visit under way.
    fn induction(&self, psi: &[Charge]) -> Found {
        let (mdp, horizon) = (self.problem.mdp(), self.problem.horizon());
        let mut values = vec![vec![0.0; self.starts(horizon)[self.own.len()]]];
        let mut decisions = Vec::with_capacity(horizon);
        for time in (0..horizon).rev() {
            let (starts, after, next) = (self.starts(time), self.starts(time + 1), &values[values.len() - 1]);
            let mass = self.problem.masses()[time];
            let charges: Vec<Vec<f64>> = (0..psi.len())
                .into_par_iter()
                .map(|cell| {
                    let entries = if self.followed[cell] { 0..=time } else { time..=time };
                    entries.map(|entry| self.charge(psi[cell], cell as u32, entry, time)).collect()
                })
                .collect();
            let mut lowest = vec![f64::INFINITY; starts[self.own.len()]];
            let mut best = vec![0_u16; lowest.len()];
            let each = pieces(&mut lowest, &starts).into_par_iter().zip(pieces(&mut best, &starts));
            each.zip(&self.own).enumerate().for_each(|(state, ((lowest, best), own))| {
                let pairs = mdp.pairs(State(state as u32));
                let moves = &self.moves[pairs.start as usize..pairs.end as usize];
                let left = |of: &Move| {
                    let outcomes = of.leaves.iter().map(|&(to, p)| (next[after[to.index()]], p));
                    (!of.leaves.is_empty()).then(|| (self.erm.of_outcomes(outcomes), of.gone))
                };
                let lefts: Vec<Option<(f64, f64)>> = moves.iter().map(left).collect();
                // Of pairs that are alike only the one that leaves to better states is ever taken.
                let mut taken: Vec<usize> = (0..moves.len()).collect();
                for (number, of) in moves.iter().enumerate() {
                    let best = &mut taken[of.like];
                    if lefts[number].map(|(left, _)| left) < lefts[*best].map(|(left, _)| left) {
                        *best = number;
                    }
                }
                for (number, of) in moves.iter().enumerate().filter(|(number, of)| taken[of.like] == *number) {
                    let (charges, left) = (&charges[of.cell as usize], lefts[number]);
                    let cost = mass * self.f.cost(pairs.start as usize + number);
                    let rest = |entry: usize| {
                        let slot = |to: State, place: usize| after[to.index()] + 1 + place * (time + 1) + entry;
                        let stays = of.stays.iter().map(|&(to, place, p)| (next[slot(to, place)], p));
                        match left {
                            Some((left, _)) if of.stays.is_empty() => left,
                            left => self.erm.of_outcomes(stays.chain(left)),
                        }
                    };
                    let fresh = cost + charges[charges.len() - 1] + rest(time);
                    let mut lower = |slot: usize, value: f64| {
                        if value < lowest[slot] {
                            lowest[slot] = value;
                            best[slot] = number as u16;
                        }
                    };
                    lower(0, fresh);
                    for (place, &visited) in own.iter().enumerate() {
                        let first = 1 + place * time;
                        if visited == of.cell {
                            let followed = charges.iter().enumerate().take(time);
                            followed.for_each(|(entry, charge)| lower(first + entry, cost + charge + rest(entry)));
                        } else {
                            (first..first + time).for_each(|slot| lower(slot, fresh));
                        }
                    }
                }
            });
            decisions.push(best);
            values.push(lowest);
        }
        values.reverse();
        decisions.reverse();
        Found { values, decisions }
    }

    /// u: what is expected of min(mass, y) over the visits of each cell, with probabilities tilted by the risk.
    fn towards(&self, psi: &[Charge], found: &Found) -> Vec<f64> {
        let mdp = self.problem.mdp();
        let mut cells = vec![0.0; psi.len()];
        let mut now = vec![0.0; found.values[0].len()];
        let starts = self.starts(0);
        let mut places: Vec<(usize, f64)> =
            mdp.initial().iter().map(|&(state, p)| (starts[state.index()], p)).collect();
        self.spread(1.0, &mut places, &found.values[0], &mut now);
        for (time, decisions) in found.decisions.iter().enumerate() {
            let (starts, after) = (self.starts(time), self.starts(time + 1));
            let mut next = vec![0.0; found.values[time + 1].len()];
            for state in mdp.states() {
                for slot in starts[state.index()]..starts[state.index() + 1] {
                    if now[slot] == 0.0 {
                        continue;
                    }
                    let of = &self.moves[mdp.pairs(state).start as usize + usize::from(decisions[slot])];
                    let entry = match (slot - starts[state.index()]).checked_sub(1) {
                        Some(k) if self.own[state.index()][k / time] == of.cell => k % time,
                        _ => time,
                    };
                    let y = psi[of.cell as usize].y;
                    let [before, then] = [time, time + 1].map(|time| (self.passed[time] - self.passed[entry]).min(y));
                    cells[of.cell as usize] += now[slot] * (then - before);
                    places.clear();
                    places.extend(of.leaves.iter().map(|&(to, p)| (after[to.index()], p)));
                    places.extend(
                        of.stays.iter().map(|&(to, place, p)| (after[to.index()] + 1 + place * (time + 1) + entry, p)),
                    );
                    self.spread(now[slot], &mut places, &found.values[time + 1], &mut next);
                }
            }
            now = next;
        }
        cells
    }

    /// Adds a weight to these slots, each by its probability, tilted.
    fn spread(&self, weight: f64, places: &mut [(usize, f64)], values: &[f64], to: &mut [f64]) {
        let beta = self.erm.beta();
        if beta != 0.0 && places.len() > 1 {
            let worse = |a: f64, b: f64| if beta > 0.0 { a.max(b) } else { a.min(b) };
            let shift = places.iter().map(|&(slot, _)| values[slot]).reduce(worse).unwrap_or(0.0);
            for (slot, p) in &mut *places {
                *p *= self.erm.tilt(values[*slot], shift);
            }
        }
        let total: f64 = places.iter().map(|(_, p)| p).sum();
        for &mut (slot, p) in places {
            to[slot] += weight * p / total;
        }
    }
}

/// The cells of each state whose visits may go on in it by chance, or must.
fn followed(problem: &Problem, f: &Separable<'_>) -> Vec<Vec<u32>> {
    let mdp = problem.mdp();
    let has = |state: State, cell: u32| mdp.pairs(state).any(|pair| f.cell(pair as usize) == cell);
    let mut own: Vec<Vec<u32>> = vec![Vec::new(); mdp.state_count()];
    for state in mdp.states() {
        let goes_on = |pair: Pair| {
            let cell = f.cell(pair.index());
            mdp.successors(pair).map(move |(to, _)| (to, cell)).filter(|&(to, cell)| has(to, cell))
        };
        let pairs = || mdp.pairs(state).map(Pair);
        let is_free = pairs().any(|pair| goes_on(pair).next().is_none());
        for pair in pairs() {
            let at_will = is_free && goes_on(pair).count() == mdp.successors(pair).count();
            goes_on(pair).filter(|_| !at_will).for_each(|(to, cell)| own[to.index()].push(cell));
        }
    }
    for cells in &mut own {
        cells.sort_unstable();
        cells.dedup();
    }
    own
}

/// The slots of each state.
fn pieces<'a, T>(mut all: &'a mut [T], starts: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(starts.len() - 1);
    for bounds in starts.windows(2) {
        let (own, others) = all.split_at_mut(bounds[1] - bounds[0]);
        pieces.push(own);
        all = others;
    }
    pieces
}
