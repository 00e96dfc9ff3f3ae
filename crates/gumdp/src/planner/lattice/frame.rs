//! Which features a lattice carries: as few as f needs.
//!
//! What f is linear in is charged step by step, where the measure allows it. Features that follow from time and the other ones (the
//! last cell of a partition: masses sum to what has passed) are computed from them. What is left are the *axes*.

use crate::objective::Nature;
use crate::problem::Problem;

use crate::planner::guided::Moves;

/// More features than this are not looked at.
const MOST_FEATURES: usize = 48;
/// More axes than this have too many points.
pub(super) const MOST_AXES: usize = 10;

/// The axes, and how the other features follow.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The feature of each axis.
    pub(super) axes: Vec<usize>,
    /// Features that follow from the axes.
    dependents: Vec<Dependent>,
    /// What a class of moves costs for each unit of mass, besides what the axes see.
    pub(super) charges: Vec<f64>,
    /// For class·axes + axis the number of the step in `steps`.
    pub(super) step_of: Vec<u32>,
    /// For each axis its different steps: a pair that makes them.
    pub(super) steps: Vec<Vec<usize>>,
    /// Slopes of the features that are charged.
    linear: Vec<(usize, f64)>,
    features: usize,
}

/// A feature that is `rate`·(mass passed) + Σ weight·axis.
#[derive(Clone, Debug)]
struct Dependent {
    feature: usize,
    rate: f64,
    weights: Vec<f64>,
    /// It cannot be negative.
    mass: bool,
}

impl Frame {
    /// `None` if there are too many features. What f is linear in is charged only if `charges`.
    pub(super) fn new(problem: &Problem, moves: &Moves, charges: bool) -> Option<Self> {
        let objective = problem.objective();
        let natures = objective.natures()?;
        let is_charged = |nature: &Nature| charges && matches!(nature, Nature::Linear(_));
        let carried: Vec<usize> = (0..natures.len())
            .filter(|&feature| !is_charged(&natures[feature]) && natures[feature] != Nature::Derived)
            .collect();
        if carried.len() > MOST_FEATURES {
            return None;
        }
        let linear: Vec<(usize, f64)> = natures
            .iter()
            .enumerate()
            .filter_map(|(feature, nature)| match nature {
                Nature::Linear(slope) if charges => Some((feature, *slope)),
                _ => None,
            })
            .collect();
        let mut scratch = vec![0.0; natures.len()];
        let zeros = scratch.clone();
        let mut rates = Vec::with_capacity(moves.classes.len() * carried.len());
        let mut costs = Vec::with_capacity(moves.classes.len());
        for class in &moves.classes {
            let pair = class.pair.index();
            objective.add(&mut scratch, pair, 1.0);
            costs.push(linear.iter().map(|&(feature, slope)| slope * scratch[feature]).sum());
            rates.extend(carried.iter().map(|&feature| scratch[feature]));
            objective.restore(&mut scratch, &zeros, pair);
        }
        let flags: Vec<bool> = carried.iter().map(|&feature| natures[feature] == Nature::Flag).collect();
        let (pivots, rows) = independent(&rates, carried.len(), &flags)?;
        let dependents = (0..carried.len()).filter(|column| !pivots.contains(column)).map(|column| {
            let (rate, weights) = follows(&rows, &pivots, column);
            let mass = natures[carried[column]] == Nature::Sum { mass: true };
            Dependent { feature: carried[column], rate, weights, mass }
        });
        let mut frame = Self {
            dependents: dependents.collect(),
            axes: pivots.iter().map(|&column| carried[column]).collect(),
            charges: costs,
            step_of: Vec::with_capacity(moves.classes.len() * pivots.len()),
            steps: vec![Vec::new(); pivots.len()],
            linear,
            features: natures.len(),
        };
        let mut known: Vec<std::collections::HashMap<u64, u32>> = vec![std::collections::HashMap::new(); pivots.len()];
        for (class, rates) in moves.classes.iter().zip(rates.chunks(carried.len().max(1))) {
            for (axis, &column) in pivots.iter().enumerate() {
                let steps = &mut frame.steps[axis];
                let number = *known[axis].entry((rates[column] + 0.0).to_bits()).or_insert_with(|| {
                    steps.push(class.pair.index());
                    steps.len() as u32 - 1
                });
                frame.step_of.push(number);
            }
        }
        Some(frame)
    }

    /// The features of a point on the axes once this much mass has passed; those that are charged are 0.
    pub(super) fn features(&self, point: &[f64], passed: f64, features: &mut Vec<f64>) {
        features.clear();
        features.resize(self.features, 0.0);
        for (&axis, &x) in self.axes.iter().zip(point) {
            features[axis] = x;
        }
        for dependent in &self.dependents {
            let x = dependent.at(point, passed);
            // A mass of 0 that rounding made negative.
            features[dependent.feature] = if dependent.mass && x < 0.0 && x > -1e-9 { 0.0 } else { x };
        }
    }

    /// Whether masses that follow from this point are not negative by more than these slacks of the axes allow.
    pub(super) fn is_possible(&self, point: &[f64], passed: f64, slacks: &[f64]) -> bool {
        self.dependents.iter().filter(|dependent| dependent.mass).all(|dependent| {
            let slack: f64 = dependent.weights.iter().zip(slacks).map(|(weight, slack)| weight.abs() * slack).sum();
            dependent.at(point, passed) >= -1e-9 - slack
        })
    }

    /// Sets the features that are charged to 0.
    pub(super) fn forget_charged(&self, features: &mut [f64]) {
        self.linear.iter().for_each(|&(feature, _)| features[feature] = 0.0);
    }

    /// What was charged for the features gathered so far.
    pub(super) fn charged(&self, features: &[f64]) -> f64 {
        self.linear.iter().map(|&(feature, slope)| slope * features[feature]).sum()
    }
}

impl Dependent {
    fn at(&self, point: &[f64], passed: f64) -> f64 {
        self.rate * passed + self.weights.iter().zip(point).map(|(weight, x)| weight * x).sum::<f64>()
    }
}

/// Columns of a matrix with a row for each class that, with a column of ones, are linearly independent, and the reduced rows. Flags
/// follow from nothing and nothing follows from them. `None` if there are too many.
fn independent(rates: &[f64], columns: usize, flags: &[bool]) -> Option<(Vec<usize>, Vec<Vec<f64>>)> {
    let mut pivots: Vec<usize> = Vec::new();
    // Each row has the column of ones first; `rows[0]` is reduced to have its pivot there.
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for rates in rates.chunks(columns.max(1)) {
        let own = rates.iter().zip(flags).map(|(rate, flag)| if *flag { 0.0 } else { *rate });
        let mut row: Vec<f64> = std::iter::once(1.0).chain(own).collect();
        let scale = row.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        for (known, &place) in rows.iter().zip(&places) {
            let factor = row[place];
            row.iter_mut().zip(known).for_each(|(x, k)| *x -= factor * k);
            row[place] = 0.0;
        }
        let (place, size) = row
            .iter()
            .enumerate()
            .fold((0, 0.0), |best, (place, x)| if x.abs() > best.1 { (place, x.abs()) } else { best });
        // The first row takes the column of ones.
        let place = if rows.is_empty() { 0 } else { place };
        if size <= 1e-9 * scale {
            continue;
        }
        let pivot = row[place];
        for x in &mut row {
            *x /= pivot;
        }
        for known in &mut rows {
            let factor = known[place];
            known.iter_mut().zip(&row).for_each(|(k, x)| *k -= factor * x);
            known[place] = 0.0;
        }
        rows.push(row);
        places.push(place);
        if place > 0 {
            pivots.push(place - 1);
        }
        if pivots.len() > MOST_AXES {
            return None;
        }
    }
    // Row k has 1 at its place and 0 at those of the others: its entry elsewhere is the weight with which that column follows.
    let mut order: Vec<usize> = (0..rows.len()).filter(|&k| places[k] > 0).collect();
    order.sort_by_key(|&k| places[k]);
    let first = places.iter().position(|&place| place == 0);
    let reduced = first.into_iter().chain(order).map(|k| rows[k].clone()).collect();
    pivots.extend((0..columns).filter(|&column| flags[column]));
    pivots.sort_unstable();
    (pivots.len() <= MOST_AXES).then_some((pivots, reduced))
}

/// How a column follows from the column of ones and the pivots that are no flags.
fn follows(rows: &[Vec<f64>], pivots: &[usize], column: usize) -> (f64, Vec<f64>) {
    let Some((ones, rows)) = rows.split_first() else { return (0.0, vec![0.0; pivots.len()]) };
    let weight = |&pivot: &usize| rows.iter().find(|row| row[pivot + 1] == 1.0).map_or(0.0, |row| row[column + 1]);
    (ones[column + 1], pivots.iter().map(weight).collect())
}
