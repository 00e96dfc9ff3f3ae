//! Few features: backward induction over (time, state, cell of features), with an affine function on each cell that the lowest risk is
//! nowhere below.
//!
//! A node is a cell of a grid with a box around all features that episodes can have in it. A step moves a box by the same amount
//! everywhere; it then overlaps a few cells of the next time, each of which has its affine function on its part of the box. From there on
//! everything is lowered until it is affine again, and never more than needed: to one slope over all cells of an outcome, to the tangent of
//! the entropic risk of the outcomes where that is convex (β ≥ 0), and to the slope of the best action. At the end stands an affine function
//! below f ([`Minorant`]). Boxes shrink with the grid, and what is lost with their square where nothing bends. Where features take few
//! values boxes are points, and the bound is the optimum.
//!
//! What f is linear in is charged step by step if the risk is entropic. Probabilities of exceeding a threshold are bounded in the same way,
//! with 0 and 1 at the end, and values at risk by bisection.

use rayon::prelude::*;

use super::boxes::{Grid, Layer, Layout, Parts, Steps};
use super::rounded_down;
use crate::model::{Pair, State};
use crate::objective::{Minorant, Within};
use crate::oracle::{Limits, OracleError, check_stop};
use crate::problem::Problem;
use crate::risk::{Erm, OuterForm, Risk, SearchBy};

/// Cells of an axis at first; the gain of twice as many that is worth it, as a part of the range of values.
const FIRST: usize = 4;
const WORTHWHILE: f64 = 2e-4;
/// Parts of boxes that are kept for each transition that a bound may look at, and at most.
const SHARE: u64 = 16;
const MOST_PARTS: u64 = 20_000_000;
/// What rounding may do in a step, as a part of the numbers of it.
const ROUNDING: f64 = 1e-14;
/// The same for a cost that is compared with a threshold.
const FLOOR_ROUNDING: f64 = 1e-11;
/// Slopes are not followed beyond this times the size of values.
const STEEPEST: f64 = 1e4;
/// How often an interval of values at risk is halved.
const HALVINGS: usize = 24;

/// The best bound; `None` if the features are too many.
pub(super) fn bound(problem: &Problem, risk: Risk, limits: &Limits) -> Result<Option<f64>, OracleError> {
    let aim = Aim::of(risk);
    let Some(grid) = Grid::new(problem, matches!(aim, Aim::Entropic(_))) else { return Ok(None) };
    let parts = (limits.relaxed_transitions / SHARE).min(MOST_PARTS) as usize;
    let (mut best, mut last): (Option<f64>, Option<f64>) = (None, None);
    let mut cells = FIRST;
    loop {
        check_stop(&limits.stop)?;
        let Some(layout) = Layout::new(problem, grid.with(cells), parts) else {
            if best.is_some() {
                return Ok(best);
            }
            // Fewer cells, then: one of each axis at least.
            let coarser = (1..FIRST).rev().find_map(|cells| Layout::new(problem, grid.with(cells), parts));
            return Ok(coarser.map(|layout| Lattice { problem, layout }.solve(aim)));
        };
        let exact = layout.is_exact;
        let lattice = Lattice { problem, layout };
        let value = lattice.solve(aim);
        best = Some(best.map_or(value, |best| best.max(value)));
        let bounds = problem.objective().bounds();
        let range = if aim.is_probability() { 1.0 } else { (bounds.high - bounds.low).abs() };
        let gains = last.is_none_or(|last| value - last > WORTHWHILE * range);
        if exact || !grid.can_have(2 * cells) || (cells > 8 * FIRST && !gains) {
            return Ok(best);
        }
        (last, cells) = (Some(value), 2 * cells);
    }
}

/// What is bounded.
#[derive(Clone, Copy, Debug)]
enum Aim {
    Entropic(Erm),
    /// The probability of a cost above this.
    Above(f64),
    /// The least cost that is exceeded with at most this probability.
    Least(f64),
}

impl Aim {
    fn of(risk: Risk) -> Self {
        match (risk, risk.outer().map(OuterForm::search)) {
            (Risk::Exceed(exceed), _) => Self::Above(exceed.highest()),
            (_, Some(SearchBy::Bisection { most })) => Self::Least(most),
            _ => Self::Entropic(risk.entropic_floor()),
        }
    }

    fn is_probability(self) -> bool {
        matches!(self, Self::Above(_))
    }
}

/// A value in the middle of each box, with slopes.
#[derive(Default)]
struct Values {
    middle: Vec<f64>,
    slopes: Vec<f64>,
    /// How large values are at the end.
    size: f64,
}

struct Lattice<'a> {
    problem: &'a Problem,
    layout: Layout<'a>,
}

impl Lattice<'_> {
    fn solve(&self, aim: Aim) -> f64 {
        match aim {
            Aim::Entropic(erm) => self.lowest(erm, self.last()),
            Aim::Above(threshold) => self.probability(&self.floors(), threshold),
            Aim::Least(most) => {
                let floors = self.floors();
                // Below the lowest everything is exceeded.
                let mut low = floors.iter().copied().fold(f64::INFINITY, f64::min);
                let mut high = floors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                for _ in 0..HALVINGS {
                    let x = low + 0.5 * (high - low);
                    if self.probability(&floors, x) > most + 1e-9 { low = x } else { high = x }
                }
                low
            }
        }
    }

    /// A lower bound on the probability of a cost above a threshold, from what costs are at least.
    fn probability(&self, floors: &[f64], threshold: f64) -> f64 {
        let middle = floors.iter().map(|floor| f64::from(u8::from(*floor > threshold))).collect();
        let slopes = vec![0.0; floors.len() * self.layout.grid.axes.len()];
        self.lowest(Erm::MEAN, Values { middle, slopes, size: 1.0 }).clamp(0.0, 1.0)
    }

    /// What the boxes of the end cost at least.
    fn floors(&self) -> Vec<f64> {
        let (last, r) = (self.last(), self.layout.grid.axes.len());
        let layer = &self.layout.layers[self.problem.horizon()];
        let floor = |(number, value): (usize, &f64)| {
            let slopes = &last.slopes[number * r..(number + 1) * r];
            value - turned(slopes, &vec![0.0; r], layer.boxes.of(number, r)) - FLOOR_ROUNDING * last.size
        };
        last.middle.iter().enumerate().map(floor).collect()
    }

    /// What the boxes of the end count.
    fn last(&self) -> Values {
        let (grid, layer) = (&self.layout.grid, &self.layout.layers[self.problem.horizon()]);
        let (minorant, r) = (Minorant::new(self.problem.objective()), grid.axes.len());
        let features = self.problem.objective().feature_count();
        let of_node = |number: usize| {
            let [mut low, mut high, mut slopes] = [(); 3].map(|()| vec![0.0; features]);
            let within = layer.boxes.of(number, r);
            for (k, &axis) in grid.axes.iter().enumerate() {
                (low[axis], high[axis]) = grid.rounded(k, within.low[k], within.high[k], self.problem.horizon());
            }
            let widened = Within { low: &low, high: &high };
            let mut value = minorant.on(widened, &mut slopes);
            // From the middle of the widened box to that of the box itself, and for what lies beyond it.
            for (k, &axis) in grid.axes.iter().enumerate() {
                let moved = (widened.middle(axis) - within.middle(k)).abs();
                value -= slopes[axis].abs() * (widened.half(axis) - within.half(k) + moved).max(0.0);
            }
            (value, grid.axes.iter().map(|&axis| slopes[axis]).collect::<Vec<f64>>())
        };
        let found: Vec<(f64, Vec<f64>)> = (0..layer.states.len()).into_par_iter().map(of_node).collect();
        let finite = found.iter().map(|(value, _)| value.abs()).filter(|size| size.is_finite());
        let mut values = Values { size: finite.fold(0.0, f64::max), ..Values::default() };
        for (number, (value, mut slopes)) in found.into_iter().enumerate() {
            values.middle.push(self.flattened(values.size, layer.boxes.of(number, r), value, &mut slopes));
            values.slopes.append(&mut slopes);
        }
        values
    }

    /// Slopes that are too steep to compute with are not followed.
    fn flattened(&self, size: f64, within: Within<'_>, mut value: f64, slopes: &mut [f64]) -> f64 {
        for (k, slope) in slopes.iter_mut().enumerate() {
            if slope.abs() * self.layout.grid.lengths[k] > STEEPEST * size {
                value -= slope.abs() * within.half(k);
                *slope = 0.0;
            }
        }
        value
    }

    /// The lowest entropic risk of what the end counts, at least.
    fn lowest(&self, erm: Erm, last: Values) -> f64 {
        let r = self.layout.grid.axes.len();
        let size = last.size;
        let mut after = last;
        for time in (0..self.problem.horizon()).rev() {
            let layer = &self.layout.layers[time];
            let found: Vec<(f64, Vec<f64>)> = (0..layer.states.len())
                .into_par_iter()
                .with_min_len(64)
                .map_init(Scratch::default, |scratch, number| self.backup(erm, time, number, &after, scratch))
                .collect();
            let (middle, slopes) = (Vec::with_capacity(found.len()), Vec::with_capacity(r * found.len()));
            after = Values { middle, slopes, size };
            for (value, mut slopes) in found {
                after.middle.push(value);
                after.slopes.append(&mut slopes);
            }
        }
        // At the start there are only points.
        let starts = self.layout.starts.iter().zip(self.problem.mdp().initial());
        let value = erm.of_outcomes(starts.map(|(&node, &(_, p))| (after.middle[node as usize], p)));
        let charges = self.layout.grid.charges.iter().fold(0.0_f64, |size, charge| size.max(charge.abs()));
        rounded_down(self.problem, value, size + charges)
    }

    /// An affine function below the lowest risk from a node on.
    fn backup(&self, erm: Erm, time: usize, number: usize, after: &Values, scratch: &mut Scratch) -> (f64, Vec<f64>) {
        let (grid, layer, next) = (&self.layout.grid, &self.layout.layers[time], &self.layout.layers[time + 1]);
        let (mdp, r, mass) = (self.problem.mdp(), grid.axes.len(), self.problem.masses()[time]);
        let is_last = time + 1 == self.problem.horizon();
        let (state, within) = (State(layer.states[number]), layer.boxes.of(number, r));
        let mut targets = layer.targets_of(number);
        // The value of each action in the middle, and its slopes.
        let mut actions: Vec<(f64, Vec<f64>)> = Vec::with_capacity(mdp.pairs(state).len());
        for pair in mdp.pairs(state).map(Pair) {
            let moved = grid.step(self.problem, time, pair, within, &mut scratch.steps);
            grid.parts(moved, &mut scratch.parts);
            let probabilities: &mut Vec<f64> = &mut scratch.probabilities;
            probabilities.clear();
            if is_last {
                probabilities.push(1.0);
            } else {
                probabilities.extend(mdp.successors(pair).map(|(_, p)| p));
            }
            let (own, others) = targets.split_at(scratch.parts.keys.len() * probabilities.len());
            targets = others;
            let outcomes: Vec<(f64, Vec<f64>)> = (0..probabilities.len())
                .map(|outcome| {
                    let nodes = own.iter().skip(outcome).step_by(probabilities.len());
                    joined(next, after, &scratch.parts, nodes.map(|&node| node as usize), moved, r)
                })
                .collect();
            let (value, slopes) = combined(erm, &outcomes, probabilities, within, r);
            actions.push((value + mass * grid.charges[pair.index()], slopes));
        }
        let best = (0..actions.len()).min_by(|&a, &b| actions[a].0.total_cmp(&actions[b].0)).unwrap_or(0);
        let (value, slopes) = &actions[best];
        let below = |(other, own): &(f64, Vec<f64>)| other - value - turned(own, slopes, within);
        let lost = actions.iter().map(below).fold(0.0, f64::min);
        let size: f64 = slopes.iter().zip(&grid.lengths).map(|(slope, length)| slope.abs() * length).sum();
        let mut slopes = slopes.clone();
        let value = self.flattened(after.size, within, value + lost - ROUNDING * (value.abs() + size), &mut slopes);
        (value, slopes)
    }
}

/// What changing slopes to others costs at a corner of a box.
fn turned(from: &[f64], to: &[f64], within: Within<'_>) -> f64 {
    from.iter().zip(to).enumerate().map(|(k, (a, b))| (a - b).abs() * within.half(k)).sum()
}

/// An affine function below those of the cells that a box overlaps: its value in the middle of the box, and its slopes.
fn joined(
    next: &Layer,
    after: &Values,
    parts: &Parts,
    nodes: impl Iterator<Item = usize> + Clone,
    moved: Within<'_>,
    r: usize,
) -> (f64, Vec<f64>) {
    let slopes_of = |node: usize| &after.slopes[node * r..(node + 1) * r];
    let holds = |part: &Within<'_>| (0..r).all(|k| part.low[k] <= moved.middle(k) && moved.middle(k) <= part.high[k]);
    let mut around = nodes.clone().enumerate().filter(|(k, _)| holds(&parts.boxes.of(*k, r))).map(|(_, node)| node);
    let main = around.next().or(nodes.clone().next()).unwrap_or(0);
    let slopes = slopes_of(main);
    let mut lowest = f64::INFINITY;
    for (number, node) in nodes.enumerate() {
        let (part, own, whole) = (parts.boxes.of(number, r), slopes_of(node), next.boxes.of(node, r));
        let mut value = after.middle[node];
        for k in 0..r {
            let middle = part.middle(k);
            value += own[k] * (middle - whole.middle(k)) - slopes[k] * (middle - moved.middle(k));
        }
        lowest = lowest.min(value - turned(own, slopes, part));
    }
    (lowest, slopes.to_vec())
}

/// An affine function below the entropic risk of affine ones.
fn combined(
    erm: Erm,
    outcomes: &[(f64, Vec<f64>)],
    probabilities: &[f64],
    within: Within<'_>,
    r: usize,
) -> (f64, Vec<f64>) {
    if let [(value, slopes)] = outcomes {
        return (*value, slopes.clone());
    }
    let beta = erm.beta();
    let values = || outcomes.iter().map(|(value, _)| *value);
    let worst = values().reduce(|a, b| if (beta > 0.0) == (a > b) { a } else { b }).unwrap_or(0.0);
    let weights: Vec<f64> = values().zip(probabilities).map(|(value, p)| p * erm.tilt(value, worst)).collect();
    let sum: f64 = weights.iter().sum();
    let mut slopes = vec![0.0; r];
    for ((_, own), weight) in outcomes.iter().zip(&weights) {
        slopes.iter_mut().zip(own).for_each(|(slope, own)| *slope += weight / sum * own);
    }
    // Convex in the outcomes for β ≥ 0, so that the tangent will do; else each is lowered to the common slope first.
    let lowered =
        |(value, own): &(f64, Vec<f64>)| if beta < 0.0 { value - turned(own, &slopes, within) } else { *value };
    let lowered: Vec<f64> = outcomes.iter().map(lowered).collect();
    let value = erm.of_outcomes(lowered.iter().copied().zip(probabilities.iter().copied()));
    (value, slopes)
}

/// Memory for one thread.
#[derive(Default)]
struct Scratch {
    steps: Steps,
    parts: Parts,
    probabilities: Vec<f64>,
}
