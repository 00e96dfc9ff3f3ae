//! The way to what is not known yet: simulations that go there find goals that random moves do not meet.

use std::hash::Hash;

use super::table::{END, Table};
use crate::rng::{self, Rng};

/// A pair that was tried so often is known well enough.
const ENOUGH: u32 = 32;
/// Sweeps over all states, half of them in each direction.
const SWEEPS: usize = 32;

/// Expected steps to the nearest pair that was tried less than wanted.
#[derive(Clone, Debug, Default)]
pub(super) struct Frontier {
    /// Pairs are wanted to be tried so often: once at first, then twice as often, and so on.
    wanted: u32,
    distances: Vec<f64>,
}

impl Frontier {
    /// Looks from this root, within so many steps, at the nearest states that so much work allows; returns whether there is anything to be found out.
    pub(super) fn update<T: Clone + Hash + Eq>(
        &mut self,
        table: &Table<T>,
        root: u32,
        steps: usize,
        work: usize,
    ) -> bool {
        // Those that were met first are near where episodes begin.
        let states = table.state_count().min((work / SWEEPS).max(root as usize + 1)) as u32;
        let fewest = (0..states).flat_map(|state| table.pairs_of(state)).map(|pair| table.times(pair)).min();
        self.wanted = fewest.map_or(1, |fewest| (fewest + 1).next_power_of_two());
        while self.wanted <= ENOUGH {
            self.measure(table, states, steps as f64);
            if self.distances[root as usize] < steps as f64 {
                return true;
            }
            // What is missing is too far away.
            self.wanted *= 2;
        }
        self.wanted = 0;
        false
    }

    fn measure<T: Clone + Hash + Eq>(&mut self, table: &Table<T>, states: u32, far: f64) {
        self.distances.clear();
        self.distances.resize(table.state_count(), far);
        for sweep in 0..SWEEPS {
            let mut change = 0.0_f64;
            for place in 0..states {
                let state = if sweep.is_multiple_of(2) { states - 1 - place } else { place };
                let before = self.distances[state as usize];
                let after = table.pairs_of(state).map(|pair| self.through(table, pair, far)).fold(far, f64::min);
                self.distances[state as usize] = after;
                change = change.max(before - after);
            }
            if change < 0.5 {
                break;
            }
        }
    }

    /// Steps to the nearest unknown pair if this pair comes next.
    fn through<T: Clone + Hash + Eq>(&self, table: &Table<T>, pair: u32, far: f64) -> f64 {
        let times = table.times(pair);
        if times < self.wanted {
            return 0.0;
        }
        // What was met since is unknown.
        let distance = |to: u32| if to == END { far } else { self.distances.get(to as usize).copied().unwrap_or(0.0) };
        let sum: f64 = table.outcomes(pair).map(|to| f64::from(to.count) * distance(to.state)).sum();
        (1.0 + sum / f64::from(times)).min(far)
    }

    /// The pair that leads there, by its place among those of the state; any of those that are as good.
    pub(super) fn best<T: Clone + Hash + Eq>(&self, table: &Table<T>, state: u32, rng: &mut Rng) -> u32 {
        let own = table.pairs_of(state);
        let met = (state as usize) < self.distances.len();
        let (mut best, mut equal) = ((f64::INFINITY, 0), 0);
        for (k, pair) in (0..).zip(own) {
            // Where nobody has looked yet, what was tried least is next.
            let distance = if met { self.through(table, pair, f64::MAX) } else { f64::from(table.times(pair)) };
            if distance < best.0 {
                (best, equal) = ((distance, k), 1);
            } else if distance == best.0 {
                equal += 1;
                if rng::below(rng, equal) == 0 {
                    best.1 = k;
                }
            }
        }
        best.1
    }
}
