//! Where a formula is tried out before it is accepted: all vertices of the simplex, and points between them.

use super::Formula;
use crate::objective::ObjectiveError;
use crate::rng::{self, Purpose, Rng};

/// Points with up to eight visited pairs.
const SPARSE: usize = 2000;
/// Points where every pair is visited, unless there are very many pairs.
const DENSE: usize = 200;
/// Numbers that dense points may take in all.
const DENSE_WORK: usize = 20_000_000;
/// Points on the line between the pairs with the lowest and the highest cost of an input.
const ON_LINE: usize = 64;

impl Formula {
    /// Refuses a formula that is infinite or not a number at a vertex or one of the points, which are always the same.
    pub(super) fn check_samples(&self) -> Result<(), ObjectiveError> {
        let pairs = self.pair_count();
        for pair in 0..pairs {
            check(self.value_of_vertex(pair), || vec![(pair, 1.0)])?;
        }
        let mut features = vec![0.0; self.features()];
        for point in self.lines() {
            self.check_point(&mut features, &point)?;
        }
        let mut rng = rng::stream(0, 0, Purpose::Generation);
        for number in 0..SPARSE {
            let count = if number % 2 == 0 { 2 } else { 3 + number / 2 % 6 };
            let chosen: Vec<usize> = (0..count).map(|_| rng::below(&mut rng, pairs as u32) as usize).collect();
            let point = weighted(chosen, &mut rng);
            self.check_point(&mut features, &point)?;
        }
        let uniform: Vec<(usize, f64)> = (0..pairs).map(|pair| (pair, 1.0 / pairs as f64)).collect();
        self.check_point(&mut features, &uniform)?;
        for _ in 0..DENSE.min(DENSE_WORK / pairs) {
            let point = weighted((0..pairs).collect(), &mut rng);
            self.check_point(&mut features, &point)?;
        }
        Ok(())
    }

    fn check_point(&self, features: &mut [f64], point: &[(usize, f64)]) -> Result<(), ObjectiveError> {
        features.fill(0.0);
        for &(pair, mass) in point {
            self.add(features, pair, mass);
        }
        check(self.value(features), || point.to_vec())
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
