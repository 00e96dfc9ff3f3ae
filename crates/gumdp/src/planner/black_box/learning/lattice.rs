//! Backward induction over (time, state, sums of features) of what was learned, with counted outcomes: it sees what marginal backward induction
//! does not, that two visits together may be worth what neither of them is.
//!
//! V(t, s, Φ) = min over pairs of ERM[V(t + 1, s', Φ + m_t·φ)], from the root on, for what can follow as far as is known. Sums in the same cell of a grid are
//! one, those that were met first; cells are as small as the work allows. Where features are many, or cells would be too large, there is no lattice. That of
//! [the planner for tables](crate::GuidedPlanner) interpolates instead; it needs to know how f is made.

use std::hash::Hash;

use super::table::{END, Table};
use crate::risk::Erm;
use crate::rng;

/// Sums of more features than this take too long to compare.
const MOST_FEATURES: usize = 32;
/// Sizes of cells, as parts of what can still be gathered: first so small that only equal sums are one.
const CELLS: [f64; 4] = [1e-9, 1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0];
/// Smaller cells are tried again when this part of the steps is left with which they were too many.
const FEWER: f64 = 0.8;
/// The end of a list.
const NONE: u32 = u32::MAX;

/// V of the last root, and the best pairs.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    is_solved: bool,
    since: usize,
    width: usize,
    /// Which of the sizes of cells is tried next, and with how many steps to go smaller ones were too many.
    size: usize,
    failed: [usize; CELLS.len()],
    /// One over the sides of a cell; 0 where nothing can be gathered.
    fineness: [f64; MOST_FEATURES],
    root: [f64; MOST_FEATURES],
    nodes: Vec<Node>,
    /// The sums of each node, one after the other.
    sums: Vec<f64>,
    /// The node that each outcome leads to, in the order of the table.
    steps: Vec<u32>,
    /// Nodes at places that follow from their keys; a power of two of them, half empty.
    slots: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// A hash of 64 bits of time, state and cell, taken for these: none of a million nodes is mistaken with probability 1 − 3e-8.
    key: u64,
    /// [`END`] where the episode is over.
    state: u32,
    time: u32,
    /// The first of its outcomes.
    first: u32,
    /// The best pair, by its place among those of the state.
    best: u32,
    value: f64,
}

impl Lattice {
    pub(super) fn new() -> Self {
        Self {
            is_solved: false,
            since: 0,
            width: 0,
            size: 0,
            failed: [usize::MAX; CELLS.len()],
            fineness: [0.0; MOST_FEATURES],
            root: [0.0; MOST_FEATURES],
            nodes: Vec::new(),
            sums: Vec::new(),
            steps: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        (self.is_solved, self.size, self.failed) = (false, 0, [usize::MAX; CELLS.len()]);
    }

    /// So many steps are left: with a fifth fewer than before smaller cells may do.
    pub(super) fn refine(&mut self, steps: usize) {
        while self.size > 0 && steps as f64 <= FEWER * self.failed[self.size - 1] as f64 {
            self.size -= 1;
        }
    }

    /// Whether something is known of a state at these sums.
    pub(super) fn knows(&self, state: u32, time: usize, sums: &[f64]) -> bool {
        self.best(state, time, sums).is_some()
    }

    pub(super) fn is_solved(&self) -> bool {
        self.is_solved
    }

    /// Whether only equal sums are one.
    pub(super) fn is_exact(&self) -> bool {
        self.is_solved && self.size == 0
    }

    /// Solves from this root if that takes at most so much `work`, counted in outcomes; `cost` is that of sums at the end.
    ///
    /// # Errors
    /// Those of `cost`.
    pub(super) fn update<T: Clone + Hash + Eq, E>(
        &mut self,
        table: &Table<T>,
        masses: &[f64],
        erm: Erm,
        (state, time, sums): (u32, usize, &[f64]),
        work: usize,
        cost: impl FnMut(&[f64]) -> Result<f64, E>,
    ) -> Result<(), E> {
        (self.is_solved, self.since, self.width) = (false, time, sums.len());
        if sums.len() > MOST_FEATURES || state == END {
            return Ok(());
        }
        self.root[..self.width].copy_from_slice(sums);
        while self.size < CELLS.len() {
            self.set_cells(table, masses[time..].iter().sum::<f64>() * CELLS[self.size]);
            if self.look_ahead(table, masses, state, work) {
                self.solve(table, masses.len(), erm, cost)?;
                self.is_solved = true;
                break;
            }
            self.failed[self.size] = masses.len() - time;
            self.size += 1;
        }
        Ok(())
    }

    /// The best pair at these sums, by its place among those of the state; `None` where nothing is known.
    #[inline]
    pub(super) fn best(&self, state: u32, time: usize, sums: &[f64]) -> Option<u32> {
        if !self.is_solved || time < self.since {
            return None;
        }
        let node = self.find(self.key(state, time as u32, sums)).ok()?;
        let node = &self.nodes[node as usize];
        (node.best != NONE).then_some(node.best)
    }

    fn set_cells<T: Clone + Hash + Eq>(&mut self, table: &Table<T>, size: f64) {
        let mut ends = [(0.0_f64, 0.0_f64); MOST_FEATURES];
        for effect in 0..table.effect_count() as u32 {
            for &(place, x) in table.effect_of(effect) {
                let (low, high) = &mut ends[place as usize];
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        self.fineness = ends.map(|(low, high)| if high > low { 1.0 / (size * (high - low)) } else { 0.0 });
    }

    /// Finds all that can follow, as far as is known; returns whether the work was enough.
    fn look_ahead<T: Clone + Hash + Eq>(&mut self, table: &Table<T>, masses: &[f64], state: u32, work: usize) -> bool {
        self.nodes.clear();
        self.sums.clear();
        self.steps.clear();
        self.slots.clear();
        self.slots.resize(64, NONE);
        let root = self.root;
        self.node(state, self.since as u32, &root[..self.width]);
        let (mut place, horizon) = (0, masses.len() as u32);
        while let Some(&Node { state, time, .. }) = self.nodes.get(place) {
            self.nodes[place].first = self.steps.len() as u32;
            if state != END && time < horizon {
                let mut from = [0.0; MOST_FEATURES];
                from[..self.width].copy_from_slice(&self.sums[place * self.width..(place + 1) * self.width]);
                for pair in table.pairs_of(state) {
                    for outcome in table.outcomes(pair) {
                        let mut sums = from;
                        for &(feature, x) in table.effect_of(outcome.effect) {
                            sums[feature as usize] += masses[time as usize] * x;
                        }
                        // In the end no state counts.
                        let to = if time + 1 == horizon { END } else { outcome.state };
                        let to = self.node(to, time + 1, &sums[..self.width]);
                        self.steps.push(to);
                    }
                }
                if self.steps.len() > work {
                    return false;
                }
            }
            place += 1;
        }
        true
    }

    /// V of all nodes, the last first: what follows a node comes after it.
    fn solve<T: Clone + Hash + Eq, E>(
        &mut self,
        table: &Table<T>,
        horizon: usize,
        erm: Erm,
        mut cost: impl FnMut(&[f64]) -> Result<f64, E>,
    ) -> Result<(), E> {
        for place in (0..self.nodes.len()).rev() {
            let Node { state, time, first, .. } = self.nodes[place];
            if state == END || time as usize == horizon {
                self.nodes[place].value = cost(&self.sums[place * self.width..(place + 1) * self.width])?;
                continue;
            }
            let (mut lowest, mut best, mut step) = (f64::INFINITY, NONE, first as usize);
            for (number, pair) in (0..).zip(table.pairs_of(state)) {
                let outcomes = table.outcomes(pair);
                let steps = &self.steps[step..];
                // Of places where nobody was, nothing is known.
                let known = outcomes
                    .clone()
                    .zip(steps)
                    .map(|(outcome, &to)| (self.nodes[to as usize].value, f64::from(outcome.count)))
                    .filter(|(value, _)| !value.is_nan());
                if known.clone().next().is_some() {
                    let value = erm.quickly(known);
                    if value < lowest {
                        (lowest, best) = (value, number);
                    }
                }
                step += outcomes.count();
            }
            self.nodes[place].best = best;
            self.nodes[place].value = if best == NONE { f64::NAN } else { lowest };
        }
        Ok(())
    }

    #[inline]
    fn key(&self, state: u32, time: u32, sums: &[f64]) -> u64 {
        let mut key = u64::from(time) << 32 | u64::from(state);
        for ((&x, &from), &fineness) in sums.iter().zip(&self.root).zip(&self.fineness) {
            if fineness > 0.0 {
                key = rng::mix(key ^ ((x - from) * fineness).round() as i64 as u64);
            }
        }
        rng::mix(key)
    }

    /// The node with this key, or the slot for it.
    #[inline]
    fn find(&self, key: u64) -> Result<u32, usize> {
        let mut slot = key as usize & (self.slots.len() - 1);
        loop {
            let node = self.slots[slot];
            if node == NONE {
                return Err(slot);
            }
            if self.nodes[node as usize].key == key {
                return Ok(node);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn node(&mut self, state: u32, time: u32, sums: &[f64]) -> u32 {
        let key = self.key(state, time, sums);
        let slot = match self.find(key) {
            Ok(known) => return known,
            Err(slot) => slot,
        };
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { key, state, time, first: 0, best: NONE, value: f64::NAN });
        self.sums.extend_from_slice(sums);
        self.slots[slot] = id;
        if 2 * self.nodes.len() > self.slots.len() {
            let twice = 2 * self.slots.len();
            self.slots.clear();
            self.slots.resize(twice, NONE);
            for id in 0..self.nodes.len() {
                if let Err(slot) = self.find(self.nodes[id].key) {
                    self.slots[slot] = id as u32;
                }
            }
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::planner::black_box::{Action, Simulator};
    use crate::rng::Rng;

    /// On three places in a row: to stay, or to move on, which fails one time in four.
    struct Row;

    impl Simulator for Row {
        type State = u32;
        type Error = Infallible;
        fn feature_count(&self) -> usize {
            3
        }
        fn initial(&self, _: &mut Rng) -> Result<u32, Infallible> {
            Ok(0)
        }
        fn action_count(&self, _: &u32) -> Result<u32, Infallible> {
            Ok(2)
        }
        fn step(&self, _: &u32, _: Action, _: &mut Rng, _: &mut [f64]) -> Result<Option<u32>, Infallible> {
            unreachable!("the table is filled by hand")
        }
        fn cost(&self, sums: &[f64]) -> Result<f64, Infallible> {
            Ok((sums[0] - 0.5).abs() + (sums[1] - 0.1).powi(2) - sums[2].min(0.3))
        }
    }

    fn learned() -> Table<u32> {
        let mut table = Table::new(true);
        for state in 0..3 {
            let Ok(_) = table.meet(&Row, &state);
        }
        for state in 0..3_u32 {
            let mut features = [0.0; 3];
            features[state as usize] = 1.0;
            table.record(state, 0, state, &features);
            for failed in [true, false, false, false] {
                table.record(state, 1, if failed { state } else { (state + 1) % 3 }, &features);
            }
        }
        table
    }

    /// The lowest risk by trying everything.
    fn brute(masses: &[f64], erm: Erm, state: u32, time: usize, mut sums: [f64; 3]) -> f64 {
        let Some(mass) = masses.get(time) else {
            let Ok(cost) = Row.cost(&sums);
            return cost;
        };
        sums[state as usize] += mass;
        let stay = brute(masses, erm, state, time + 1, sums);
        let on = brute(masses, erm, (state + 1) % 3, time + 1, sums);
        stay.min(erm.of_distribution(&[(stay, 1.0), (on, 3.0)]))
    }

    #[test]
    fn equals_trying_everything_where_cells_are_small_and_nearly_where_not() {
        let table = learned();
        for discount in [1.0_f64, 0.9] {
            let masses = crate::problem::masses(discount, 9).unwrap();
            for beta in [0.0, 2.0, -3.0] {
                let erm = Erm::new(beta).unwrap();
                let exact = brute(&masses, erm, 0, 0, [0.0; 3]);
                let mut lattice = Lattice::new();
                let at = (0, 0, &[0.0; 3][..]);
                let Ok(()) = lattice.update(&table, &masses, erm, at, usize::MAX, |sums| Row.cost(sums));
                assert!(lattice.is_exact() && (lattice.nodes[0].value - exact).abs() < 1e-6, "{discount} {beta}");
                let Ok(()) = lattice.update(&table, &masses, erm, at, 1300, |sums| Row.cost(sums));
                if discount < 1.0 {
                    assert!(lattice.is_solved() && !lattice.is_exact());
                    assert!((lattice.nodes[0].value - exact).abs() < 0.02, "{}", lattice.nodes[0].value - exact);
                }
                let Ok(()) = lattice.update(&table, &masses, erm, at, 3, |sums| Row.cost(sums));
                assert!(!lattice.is_solved() && lattice.best(0, 0, &[0.0; 3]).is_none());
            }
        }
    }
}
