//! Where a formula is tried out before it is accepted: all vertices of the simplex, and points between them.

use super::Formula;
use crate::objective::ObjectiveError;
use crate::rng::{self, Purpose, Rng};

/// Points with up to eight visited pairs.
const SPARSE: usize = 2000;
/// Points where every pair is visited, unless there are very many pairs.
const DENSE: usize = 200;
/// Numbers that dense points may take in all.
const DENSE_WORK: usize = 5_000_000;
/// Points on the line between the pairs with the lowest and the highest cost of an input.
const ON_LINE: usize = 64;

impl Formula {
    /// Refuses a formula that is infinite or not a number at a vertex or one of the points, which are always the same.
    pub(super) fn check_samples(&self) -> Result<(), ObjectiveError> {
        let pairs = self.pair_count();
        for pair in 0..pairs {
            check(self.value_of_vertex(pair), || vec![(pair, 1.0)])?;
        }
        for point in self.lines() {
            self.check_point(&point)?;
        }
        let mut rng = rng::stream(0, 0, Purpose::Generation);
        for number in 0..SPARSE {
            let count = if number % 2 == 0 { 2 } else { 3 + number / 2 % 6 };
            let chosen: Vec<usize> = (0..count).map(|_| rng::below(&mut rng, pairs as u32) as usize).collect();
            self.check_point(&weighted(chosen, &mut rng))?;
        }
        let uniform: Vec<(usize, f64)> = (0..pairs).map(|pair| (pair, 1.0 / pairs as f64)).collect();
        self.check_point(&uniform)?;
        for _ in 0..DENSE.min(DENSE_WORK / pairs) {
            self.check_point(&weighted((0..pairs).collect(), &mut rng))?;
        }
        Ok(())
    }

    fn check_point(&self, point: &[(usize, f64)]) -> Result<(), ObjectiveError> {
        check(self.value_of_point(point), || point.to_vec())
    }

    /// The value of an occupancy that has these masses and no others: no work for cells that are not visited.
    fn value_of_point(&self, point: &[(usize, f64)]) -> f64 {
        let mut inputs = vec![0.0; self.carried()];
        let (totals, sums) = inputs.split_at_mut(self.total_count());
        for &(pair, mass) in point {
            totals.iter_mut().zip(self.costs(pair)).for_each(|(total, cost)| *total += mass * cost);
        }
        for ((sum, cells), empty) in sums.iter_mut().zip(&self.cells).zip(&self.empty) {
            let mut masses: Vec<(usize, f64)> =
                point.iter().map(|&(pair, mass)| (cells.partition.cell(pair), mass)).collect();
            masses.sort_by_key(|&(cell, _)| cell);
            let visited = masses.chunk_by(|a, b| a.0 == b.0).map(|same| {
                let (cell, mass) = (same[0].0, same.iter().map(|(_, mass)| mass).sum());
                cells.cell_value(cell, mass) - cells.cell_value(cell, 0.0)
            });
            *sum = empty + visited.sum::<f64>();
        }
        self.of_inputs(&inputs)
    }

    /// For each total cost the line between a pair with the lowest and one with the highest: zeros of a divisor are on it.
    fn lines(&self) -> Vec<Vec<(usize, f64)>> {
        let mut points = Vec::new();
        let costs = |pair: usize| self.costs(pair);
        for i in 0..self.total_count() {
            let mut pairs = 0..self.pair_count();
            let Some(first) = pairs.next() else { continue };
            let (mut low, mut high) = (first, first);
            for pair in pairs {
                low = if costs(pair)[i] < costs(low)[i] { pair } else { low };
                high = if costs(pair)[i] > costs(high)[i] { pair } else { high };
            }
            points.extend((1..ON_LINE).map(|step| {
                let share = step as f64 / ON_LINE as f64;
                vec![(low, 1.0 - share), (high, share)]
            }));
        }
        points
    }
}

fn check(value: f64, point: impl FnOnce() -> Vec<(usize, f64)>) -> Result<(), ObjectiveError> {
    if value.is_finite() { Ok(()) } else { Err(ObjectiveError::Breaks { value, point: point() }) }
}

/// These pairs with random masses that sum to 1: exponential ones, normalised, are uniform on the simplex.
fn weighted(pairs: Vec<usize>, rng: &mut Rng) -> Vec<(usize, f64)> {
    let mut point: Vec<(usize, f64)> = pairs.into_iter().map(|pair| (pair, -(1.0 - rng::unit(rng)).ln())).collect();
    let total: f64 = point.iter().map(|(_, mass)| mass).sum();
    for (_, mass) in &mut point {
        *mass /= total.max(f64::MIN_POSITIVE);
    }
    point
}
