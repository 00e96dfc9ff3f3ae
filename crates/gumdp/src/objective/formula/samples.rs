//! Where a formula is tried out before it is accepted: all vertices of the simplex, and points between them.

use super::Formula;
use crate::objective::ObjectiveError;
use crate::objective::term::Term;
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
    pub(super) fn check_samples(&self, term: &Term) -> Result<(), ObjectiveError> {
        let pairs = term.pair_count();
        let check_point = |point: &[(usize, f64)]| check(self.value_of_point(term, point), || point.to_vec());
        for pair in 0..pairs {
            check(self.value_of_vertex(term, pair), || vec![(pair, 1.0)])?;
        }
        for point in lines(term) {
            check_point(&point)?;
        }
        let mut rng = rng::stream(0, 0, Purpose::Generation);
        for number in 0..SPARSE {
            let count = if number % 2 == 0 { 2 } else { 3 + number / 2 % 6 };
            let chosen: Vec<usize> = (0..count).map(|_| rng::below(&mut rng, pairs as u32) as usize).collect();
            check_point(&weighted(chosen, &mut rng))?;
        }
        let uniform: Vec<(usize, f64)> = (0..pairs).map(|pair| (pair, 1.0 / pairs as f64)).collect();
        check_point(&uniform)?;
        for _ in 0..DENSE.min(DENSE_WORK / pairs) {
            check_point(&weighted((0..pairs).collect(), &mut rng))?;
        }
        Ok(())
    }

    /// The value of an occupancy that has these masses and no others: no work for cells that are not visited.
    fn value_of_point(&self, term: &Term, point: &[(usize, f64)]) -> f64 {
        let mut inputs = vec![0.0; term.carried];
        for &(pair, mass) in point {
            term.costs.add(&mut inputs, pair, mass);
        }
        let sums = inputs[term.costs.count()..].iter_mut();
        for ((sum, cells), empty) in sums.zip(&term.cells).zip(&self.empty) {
            let mut masses: Vec<(usize, f64)> =
                point.iter().map(|&(pair, mass)| (cells.partition.cell(pair), mass)).collect();
            masses.sort_by_key(|&(cell, _)| cell);
            let visited = masses.chunk_by(|a, b| a.0 == b.0).map(|same| {
                let (cell, mass) = (same[0].0, same.iter().map(|(_, mass)| mass).sum());
                cells.cell_value(cell, mass) - cells.cell_value(cell, 0.0)
            });
            *sum = empty + visited.sum::<f64>();
        }
        self.of_inputs(&|number| inputs[number])
    }
}

/// For each total cost the line between a pair with the lowest and one with the highest: zeros of a divisor are on it.
fn lines(term: &Term) -> Vec<Vec<(usize, f64)>> {
    let mut points = Vec::new();
    for i in 0..term.costs.count() {
        let cost = |pair: usize| term.costs.of(pair)[i];
        let (mut low, mut high) = (0, 0);
        for pair in 1..term.pair_count() {
            low = if cost(pair) < cost(low) { pair } else { low };
            high = if cost(pair) > cost(high) { pair } else { high };
        }
        points.extend((1..ON_LINE).map(|step| {
            let share = step as f64 / ON_LINE as f64;
            vec![(low, 1.0 - share), (high, share)]
        }));
    }
    points
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
