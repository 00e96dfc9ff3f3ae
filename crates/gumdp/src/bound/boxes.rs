//! Boxes of features that episodes can have, cell by cell: where the nodes of [`super::cells`] are.
//!
//! Boxes are moved by additions, as features are in an episode but for rounding; at the end they are widened by what that may be.

use hashbrown::HashTable;

use crate::model::{Pair, State};
use crate::objective::{Nature, Within};
use crate::problem::Problem;
use crate::rng::mix;

/// More features than this make too many boxes.
const MOST_AXES: usize = 6;
/// Where there are more features than this, more than that many are changed by some pair: they are not looked at pair by pair.
const MOST_FEATURES: usize = 1024;
/// Boxes that are narrower than this part of the axis are points.
const POINT: f64 = 1e-11;
/// Cells begin here, in cells before the lowest value: not where values that are multiples of each other lie.
const BEFORE: f64 = 0.371_829;
/// Ends of cells are rounded.
const ROUNDING: f64 = 1e-12;
/// The most cells of an axis.
const MOST_CELLS: usize = 1 << 12;
/// The most nodes: they are kept.
const MOST_NODES: usize = 1 << 21;

/// The axes and their cells.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// The feature of each axis.
    pub(super) axes: Vec<usize>,
    /// What a pair costs for each unit of mass, besides what the axes see.
    pub(super) charges: Vec<f64>,
    low: Vec<f64>,
    /// How far apart values of each axis can be.
    pub(super) lengths: Vec<f64>,
    width: Vec<f64>,
    flags: Vec<bool>,
    cells: u64,
}

impl Grid {
    /// Of one cell; `None` if there are too many features. What f is linear in is charged if `charges`.
    pub(super) fn new(problem: &Problem, charges: bool) -> Option<Self> {
        let objective = problem.objective();
        let natures = objective.natures()?;
        let is_charged = |nature: &Nature| charges && matches!(nature, Nature::Linear(_));
        let may_be_axis = |nature: &&Nature| !is_charged(nature) && **nature != Nature::Derived;
        if natures.iter().filter(may_be_axis).count() > MOST_FEATURES {
            return None;
        }
        let pairs = problem.mdp().pair_count();
        let mut features = vec![0.0; natures.len()];
        let (mut low, mut high, mut of_pairs) = (features.clone(), features.clone(), Vec::with_capacity(pairs));
        for pair in 0..pairs {
            features.fill(0.0);
            objective.add(&mut features, pair, 1.0);
            let slope = |(nature, x): (&Nature, &f64)| if let Nature::Linear(slope) = nature { slope * x } else { 0.0 };
            of_pairs.push(if charges { natures.iter().zip(&features).map(slope).sum() } else { 0.0 });
            for (k, &x) in features.iter().enumerate() {
                (low[k], high[k]) = (low[k].min(x), high[k].max(x));
            }
        }
        // What no pair changes need not be known.
        let is_axis = |&k: &usize| !is_charged(&natures[k]) && natures[k] != Nature::Derived && high[k] > low[k];
        let axes: Vec<usize> = (0..natures.len()).filter(is_axis).collect();
        let of_axes = |of: &dyn Fn(usize) -> f64| axes.iter().map(|&axis| of(axis)).collect::<Vec<f64>>();
        let (low, lengths) = (of_axes(&|k| low[k]), of_axes(&|k| high[k] - low[k]));
        let flags = axes.iter().map(|&axis| natures[axis] == Nature::Flag).collect();
        let (width, charges) = (lengths.clone(), of_pairs);
        (axes.len() <= MOST_AXES).then_some(Self { axes, charges, low, lengths, width, flags, cells: 1 })
    }

    /// The same with so many cells on each axis.
    pub(super) fn with(&self, cells: usize) -> Self {
        // Whether there was a visit is one cell or the other.
        let width = |k: usize| self.lengths[k] / if self.flags[k] { 2.0 } else { cells as f64 };
        Self { width: (0..self.axes.len()).map(width).collect(), cells: cells.max(2) as u64 + 4, ..self.clone() }
    }

    /// Whether so many cells on each axis have numbers.
    pub(super) fn can_have(&self, cells: usize) -> bool {
        cells <= MOST_CELLS && (cells as u64 + 4).checked_pow(self.axes.len() as u32).is_some()
    }

    /// The ends of a box after so many additions, widened by what rounding may do.
    pub(super) fn rounded(&self, k: usize, low: f64, high: f64, steps: usize) -> (f64, f64) {
        let size = self.lengths[k] + self.low[k].abs();
        let slack = if self.flags[k] { 0.0 } else { 8.0 * f64::EPSILON * (steps + 8) as f64 * size };
        // What is never negative, but for rounding, stays it.
        ((low - slack).max(self.low[k].min(low)), high + slack)
    }

    fn cell(&self, k: usize, x: f64) -> i64 {
        ((x - self.low[k]) / self.width[k] + BEFORE).floor() as i64
    }

    /// Where a box is after a step.
    pub(super) fn step<'s>(
        &self,
        problem: &Problem,
        time: usize,
        pair: Pair,
        within: Within<'_>,
        steps: &'s mut Steps,
    ) -> Within<'s> {
        let (objective, mass) = (problem.objective(), problem.masses()[time]);
        for (ends, moved) in [(within.low, &mut steps.low), (within.high, &mut steps.high)] {
            steps.features.clear();
            steps.features.resize(objective.feature_count(), 0.0);
            for (&axis, &x) in self.axes.iter().zip(ends) {
                steps.features[axis] = x;
            }
            objective.add(&mut steps.features, pair.index(), mass);
            moved.clear();
            moved.extend(self.axes.iter().map(|&axis| steps.features[axis]));
        }
        Within { low: &steps.low, high: &steps.high }
    }

    /// The parts of a box by cells.
    pub(super) fn parts(&self, within: Within<'_>, parts: &mut Parts) {
        let r = self.axes.len();
        let first: Vec<i64> = (0..r).map(|k| self.cell(k, within.low[k])).collect();
        let last: Vec<i64> = (0..r).map(|k| self.cell(k, within.high[k])).collect();
        let mut at = first.clone();
        parts.boxes.low.clear();
        parts.boxes.high.clear();
        parts.keys.clear();
        loop {
            let mut key = 0;
            for k in 0..r {
                let end = |cell: i64| self.low[k] + (cell as f64 - BEFORE) * self.width[k];
                let slack = ROUNDING * (self.lengths[k] + self.low[k].abs());
                parts.boxes.low.push(if at[k] == first[k] { within.low[k] } else { end(at[k]) - slack });
                parts.boxes.high.push(if at[k] == last[k] { within.high[k] } else { end(at[k] + 1) + slack });
                key = key * self.cells + (at[k] + 2) as u64;
            }
            parts.keys.push(key);
            let Some(k) = (0..r).rev().find(|&k| at[k] < last[k]) else { break };
            at[k] += 1;
            at[k + 1..].copy_from_slice(&first[k + 1..]);
        }
    }
}

/// Memory for a step.
#[derive(Default)]
pub(super) struct Steps {
    low: Vec<f64>,
    high: Vec<f64>,
    features: Vec<f64>,
}

/// Boxes one after the other: the ends of all axes of the first, then of the next.
#[derive(Default)]
pub(super) struct Boxes {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Boxes {
    /// A box of so many axes.
    pub(super) fn of(&self, number: usize, r: usize) -> Within<'_> {
        let own = number * r..(number + 1) * r;
        Within { low: &self.low[own.clone()], high: &self.high[own] }
    }
}

/// The parts of a box, each with the number of its cell.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) keys: Vec<u64>,
    pub(super) boxes: Boxes,
}

/// The nodes of one time.
#[derive(Default)]
pub(super) struct Layer {
    pub(super) states: Vec<u32>,
    keys: Vec<u64>,
    pub(super) boxes: Boxes,
    places: HashTable<u32>,
    /// Where the targets of each node begin; one more than nodes.
    first: Vec<usize>,
    /// Nodes of the next time: by node, pair, part of the box and outcome.
    targets: Vec<u32>,
}

impl Layer {
    pub(super) fn targets_of(&self, number: usize) -> &[u32] {
        &self.targets[self.first[number]..self.first[number + 1]]
    }

    /// Makes the box of a node contain this one.
    fn widen(&mut self, state: State, key: u64, within: Within<'_>) -> u32 {
        let r = within.low.len();
        let hash = |state: u32, key: u64| mix(key ^ mix(u64::from(state)));
        let (states, keys) = (&self.states, &self.keys);
        let is_it = |&number: &u32| states[number as usize] == state.0 && keys[number as usize] == key;
        if let Some(&number) = self.places.find(hash(state.0, key), is_it) {
            let first = number as usize * r;
            for k in 0..r {
                self.boxes.low[first + k] = self.boxes.low[first + k].min(within.low[k]);
                self.boxes.high[first + k] = self.boxes.high[first + k].max(within.high[k]);
            }
            return number;
        }
        let number = self.states.len() as u32;
        self.states.push(state.0);
        self.keys.push(key);
        self.boxes.low.extend_from_slice(within.low);
        self.boxes.high.extend_from_slice(within.high);
        let of = |&number: &u32| hash(self.states[number as usize], self.keys[number as usize]);
        self.places.insert_unique(hash(state.0, key), number, of);
        number
    }
}

/// The nodes of all times, the end included.
pub(super) struct Layout<'a> {
    pub(super) grid: Grid,
    pub(super) layers: Vec<Layer>,
    /// The node of each initial state.
    pub(super) starts: Vec<u32>,
    /// Whether all boxes are points.
    pub(super) is_exact: bool,
    problem: &'a Problem,
}

impl<'a> Layout<'a> {
    /// `None` if boxes have more parts than `most`.
    pub(super) fn new(problem: &'a Problem, grid: Grid, most: usize) -> Option<Self> {
        let r = grid.axes.len();
        let zeros = vec![0.0; r];
        let mut layer = Layer::default();
        let nothing = Within { low: &zeros, high: &zeros };
        let starts = problem.mdp().initial().iter().map(|&(state, _)| layer.widen(state, 0, nothing)).collect();
        let layers = Vec::with_capacity(problem.horizon() + 1);
        let mut layout = Self { grid, layers, starts, is_exact: true, problem };
        let (mut steps, mut parts) = (Steps::default(), Parts::default());
        let (mut nodes, mut all) = (0, 0);
        for time in 0..problem.horizon() {
            let mut next = Layer::default();
            nodes += layer.states.len();
            for number in 0..layer.states.len() {
                layer.first.push(layer.targets.len());
                layout.extend(time, number, &mut layer, &mut next, &mut steps, &mut parts);
                if all + layer.targets.len() > most || nodes + next.states.len() > MOST_NODES {
                    return None;
                }
            }
            layer.first.push(layer.targets.len());
            all += layer.targets.len();
            layer.places = HashTable::new();
            layout.is_exact &= layout.are_points(&layer);
            layout.layers.push(std::mem::replace(&mut layer, next));
        }
        layer.places = HashTable::new();
        layout.is_exact &= layout.are_points(&layer);
        layout.layers.push(layer);
        Some(layout)
    }

    fn are_points(&self, layer: &Layer) -> bool {
        let r = self.grid.axes.len();
        let narrow = |number: usize| (0..r).all(|k| layer.boxes.of(number, r).half(k) <= POINT * self.grid.lengths[k]);
        (0..layer.states.len()).all(narrow)
    }

    /// Where the pairs of a node lead to.
    fn extend(
        &self,
        time: usize,
        number: usize,
        layer: &mut Layer,
        next: &mut Layer,
        steps: &mut Steps,
        parts: &mut Parts,
    ) {
        let (mdp, r, is_last) = (self.problem.mdp(), self.grid.axes.len(), time + 1 == self.problem.horizon());
        let state = State(layer.states[number]);
        for pair in mdp.pairs(state).map(Pair) {
            let moved = self.grid.step(self.problem, time, pair, layer.boxes.of(number, r), steps);
            self.grid.parts(moved, parts);
            for part in 0..parts.keys.len() {
                let (key, within) = (parts.keys[part], parts.boxes.of(part, r));
                if is_last {
                    // Where an episode ends does not matter.
                    layer.targets.push(next.widen(State(0), key, within));
                } else {
                    layer.targets.extend(mdp.successors(pair).map(|(to, _)| next.widen(to, key, within)));
                }
            }
        }
    }
}
