//! Where the nodes of a lattice are: for each time and state that can be reached a box of points of the axes.

use super::axis::{Axis, Place};
use super::frame::{Frame, MOST_AXES};
use crate::model::State;
use crate::planner::guided::Moves;
use crate::problem::Problem;
use crate::risk::FixedRisk;

/// A state that is not reached at a time.
const NOWHERE: u32 = u32::MAX;

/// The nodes of all times.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// By time.
    pub(super) times: Vec<Layer>,
    /// Number of nodes.
    pub(super) nodes: usize,
    /// Numbers that a solution reads.
    pub(super) work: usize,
    /// Whether all values of all axes are points: nothing is between them.
    pub(super) is_exact: bool,
}

/// The nodes of one time.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) axes: Vec<Axis>,
    /// Where the point `k` of an axis is at the next time after a step: `next[axis][step][k]`; none at the last time.
    pub(super) next: Vec<Vec<Vec<Place>>>,
    /// The number of the box of a state, or [`NOWHERE`].
    boxes: Vec<u32>,
    /// The state of each box, and where its nodes start.
    pub(super) states: Vec<State>,
    pub(super) first: Vec<usize>,
    /// For box·axes + axis the first point and the number of points.
    pub(super) low: Vec<u32>,
    pub(super) size: Vec<u32>,
}

/// A point between the nodes of a box: the weights of the corners around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corners {
    pub(super) places: [Place; MOST_AXES],
    pub(super) axes: usize,
}

impl Layout {
    /// Boxes of at most `most` points on each axis; `None` if they are more than `limit` nodes.
    pub(super) fn new(
        problem: &Problem,
        moves: &Moves,
        risk: &FixedRisk,
        frame: &Frame,
        most: usize,
        limit: usize,
    ) -> Option<Self> {
        let (horizon, states) = (problem.horizon(), problem.mdp().state_count());
        if horizon.saturating_mul(states.min(limit)) > 4 * limit {
            return None;
        }
        let (axes, is_exact) = axes_of(problem, risk, frame, most);
        let r = frame.axes.len();
        let mut layout = Self { times: Vec::with_capacity(horizon), nodes: 0, work: 0, is_exact };
        let mut layer = Layer::new(axes[0].clone(), states);
        for &(state, _) in problem.mdp().initial() {
            layer.widen(state, &[0; MOST_AXES][..r], &[0; MOST_AXES][..r]);
        }
        for time in 0..horizon {
            layer.close();
            let nodes = layer.first.last().copied().unwrap_or(0);
            layout.nodes = layout.nodes.saturating_add(nodes);
            if layout.nodes > limit {
                return None;
            }
            let mut after = Layer::new(axes.get(time + 1).cloned().unwrap_or_default(), states);
            let mut inexact = 0;
            if time + 1 < horizon {
                layer.next = steps(problem, frame, time, &layer.axes, &after.axes);
                inexact = layer.next.iter().filter(|axis| axis.iter().flatten().any(|place| place.part > 0.0)).count();
            }
            for (number, &state) in layer.states.iter().enumerate() {
                let own = number * r..(number + 1) * r;
                let (low, size) = (&layer.low[own.clone()], &layer.size[own]);
                let mut outcomes = 0;
                for (_, one, to) in moves.of(state) {
                    outcomes += to.len();
                    if time + 1 == horizon {
                        continue;
                    }
                    let (mut from, mut until) = ([0; MOST_AXES], [0; MOST_AXES]);
                    for axis in 0..r {
                        let step = &layer.next[axis][frame.step_of[one.class as usize * r + axis] as usize];
                        from[axis] = step[low[axis] as usize].index;
                        let end = step[(low[axis] + size[axis] - 1) as usize];
                        until[axis] = end.index + u32::from(end.part > 0.0);
                    }
                    for outcome in to {
                        after.widen(outcome.state, &from[..r], &until[..r]);
                    }
                }
                let nodes = layer.first[number + 1] - layer.first[number];
                layout.work = layout.work.saturating_add(nodes.saturating_mul(outcomes) << inexact);
            }
            layout.times.push(std::mem::replace(&mut layer, after));
        }
        Some(layout)
    }
}

impl Layer {
    fn new(axes: Vec<Axis>, states: usize) -> Self {
        let (low, size) = (Vec::new(), Vec::new());
        Self { axes, next: Vec::new(), boxes: vec![NOWHERE; states], states: Vec::new(), first: Vec::new(), low, size }
    }

    /// Makes the box of a state contain these points; sizes are last points until it is closed.
    fn widen(&mut self, state: State, from: &[u32], until: &[u32]) {
        let r = from.len();
        let number = &mut self.boxes[state.index()];
        if *number == NOWHERE {
            *number = self.states.len() as u32;
            self.states.push(state);
            self.low.extend(from);
            self.size.extend(until);
            return;
        }
        let own = *number as usize * r;
        for axis in 0..r {
            self.low[own + axis] = self.low[own + axis].min(from[axis]);
            self.size[own + axis] = self.size[own + axis].max(until[axis]);
        }
    }

    /// Numbers the nodes.
    fn close(&mut self) {
        let r = self.axes.len();
        for (last, low) in self.size.iter_mut().zip(&self.low) {
            *last = *last - low + 1;
        }
        let mut first = 0_usize;
        self.first.push(0);
        for number in 0..self.states.len() {
            let nodes = self.size[number * r..(number + 1) * r]
                .iter()
                .fold(1_usize, |all, &size| all.saturating_mul(size as usize));
            first = first.saturating_add(nodes);
            self.first.push(first);
        }
    }

    /// The value between the nodes around a point in the box of a state; corners without a value do not count. Not a number
    /// if an episode cannot get there.
    #[inline]
    pub(super) fn between(&self, values: &[f64], state: State, corners: &Corners) -> f64 {
        let number = self.boxes[state.index()] as usize;
        if number == NOWHERE as usize {
            return f64::NAN;
        }
        let r = corners.axes;
        if r == 0 {
            return values[number];
        }
        let own = number * r;
        let (mut position, mut stride) = (self.first[number], 1);
        // Strides and weights of the axes on which the point is between two nodes.
        let mut open: [(usize, f64); MOST_AXES] = [(0, 0.0); MOST_AXES];
        let mut count = 0;
        for axis in (0..r).rev() {
            let (low, size) = (self.low[own + axis], self.size[own + axis]);
            let Place { index, part } = corners.places[axis];
            if index + 1 < low || index > low + size {
                return f64::NAN;
            }
            // Rounding may lead out of the box by a point.
            let offset = index.saturating_sub(low).min(size - 1);
            position += offset as usize * stride;
            if part > 0.0 && offset + 1 < size {
                open[count] = (stride, part);
                count += 1;
            }
            stride *= size as usize;
        }
        match count {
            0 => values[position],
            1 => {
                let (stride, part) = open[0];
                blend(values[position], values[position + stride], part)
            }
            _ => corner(values, position, &open[..count]),
        }
    }
}

/// Linear interpolation; a value that is not there does not count.
#[inline]
fn blend(a: f64, b: f64, part: f64) -> f64 {
    let value = a + part * (b - a);
    if value.is_nan() { if a.is_nan() { b } else { a } } else { value }
}

#[inline]
fn corner(values: &[f64], position: usize, open: &[(usize, f64)]) -> f64 {
    let [rest @ .., (stride, part)] = open else { return values[position] };
    blend(corner(values, position, rest), corner(values, position + stride, rest), *part)
}

/// The axes at each time, and whether all values are on them.
fn axes_of(problem: &Problem, risk: &FixedRisk, frame: &Frame, most: usize) -> (Vec<Vec<Axis>>, bool) {
    let (objective, horizon) = (problem.objective(), problem.horizon());
    let mut scratch = vec![0.0; objective.feature_count()];
    let zeros = scratch.clone();
    let lengths: Vec<f64> = (0..frame.axes.len()).map(|axis| length_of(problem, frame, axis)).collect();
    let mut times: Vec<Vec<Axis>> = vec![vec![]; horizon];
    let mut is_exact = true;
    for (axis, &feature) in frame.axes.iter().enumerate() {
        let bends = Bends::new(problem, risk, frame, axis, lengths[axis]);
        let mut values = vec![0.0];
        for (time, layer) in times.iter_mut().enumerate() {
            let (own, all) = Axis::new(values, lengths[axis], most, |a, b| bends.between(a, b));
            is_exact &= all;
            values = Vec::with_capacity(own.points.len() * frame.steps[axis].len());
            for &pair in &frame.steps[axis] {
                for &x in &own.points {
                    scratch[feature] = x;
                    objective.add(&mut scratch, pair, problem.masses()[time]);
                    values.push(scratch[feature]);
                    objective.restore(&mut scratch, &zeros, pair);
                    scratch[feature] = 0.0;
                }
            }
            layer.push(own);
        }
    }
    (times, is_exact)
}

/// How far apart the values of a feature can be in the end.
fn length_of(problem: &Problem, frame: &Frame, axis: usize) -> f64 {
    let (low, high) = ends(problem, frame, axis);
    (high - low).max(f64::MIN_POSITIVE)
}

/// The lowest and the highest value of a feature in the end.
fn ends(problem: &Problem, frame: &Frame, axis: usize) -> (f64, f64) {
    let mut scratch = vec![0.0; problem.objective().feature_count()];
    let zeros = scratch.clone();
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    for &pair in &frame.steps[axis] {
        problem.objective().add(&mut scratch, pair, 1.0);
        low = low.min(scratch[frame.axes[axis]]);
        high = high.max(scratch[frame.axes[axis]]);
        problem.objective().restore(&mut scratch, &zeros, pair);
    }
    (low, high)
}

/// How much the final value changes along an axis.
struct Bends {
    low: f64,
    step: f64,
    /// Sums of changes up to each of the samples.
    sums: Vec<f64>,
}

impl Bends {
    /// What is narrower than a step of a long episode is seldom met.
    const SAMPLES: usize = 2048;

    fn new(problem: &Problem, risk: &FixedRisk, frame: &Frame, axis: usize, length: f64) -> Self {
        let ends: Vec<(f64, f64)> = (0..frame.axes.len()).map(|axis| ends(problem, frame, axis)).collect();
        let step = length / Self::SAMPLES as f64;
        let mut sums = vec![0.0; Self::SAMPLES + 1];
        let mut features = Vec::new();
        for others in [0.0, 0.25, 0.5] {
            let mut point: Vec<f64> = ends.iter().map(|(low, high)| low + others * (high - low)).collect();
            let mut before = f64::NAN;
            let mut all = 0.0;
            for (k, sum) in sums.iter_mut().enumerate() {
                point[axis] = ends[axis].0 + step * k as f64;
                frame.features(&point, 1.0, &mut features);
                let value = risk.of_cost(problem.objective().value_of_features(&features));
                let change = (value - before).abs();
                all += if change.is_finite() { change } else { 0.0 };
                before = value;
                *sum += all;
            }
        }
        Self { low: ends[axis].0, step, sums }
    }

    fn at(&self, x: f64) -> f64 {
        let place = ((x - self.low) / self.step).clamp(0.0, Self::SAMPLES as f64);
        let below = (place as usize).min(Self::SAMPLES - 1);
        self.sums[below] + (place - below as f64) * (self.sums[below + 1] - self.sums[below])
    }

    fn between(&self, a: f64, b: f64) -> f64 {
        self.at(b) - self.at(a)
    }
}

/// Where the points of each axis are after each step.
fn steps(problem: &Problem, frame: &Frame, time: usize, now: &[Axis], after: &[Axis]) -> Vec<Vec<Vec<Place>>> {
    let objective = problem.objective();
    let mut scratch = vec![0.0; objective.feature_count()];
    let zeros = scratch.clone();
    let mut all = Vec::with_capacity(now.len());
    for (axis, own) in now.iter().enumerate() {
        let feature = frame.axes[axis];
        let mut place = |pair: usize, x: f64| {
            scratch[feature] = x;
            objective.add(&mut scratch, pair, problem.masses()[time]);
            let place = after[axis].place(scratch[feature]);
            objective.restore(&mut scratch, &zeros, pair);
            scratch[feature] = 0.0;
            place
        };
        all.push(frame.steps[axis].iter().map(|&pair| own.points.iter().map(|&x| place(pair, x)).collect()).collect());
    }
    all
}
