//! Backward induction over (time, state, features on a lattice): for objectives that see few features.
//!
//! V_t(s, φ) is kept at the points of a grid of features and interpolated between them; the last step is exact:
//!
//! V_t(s, φ) = min over pairs of m_t·c(pair) + ERM[V_{t+1}(s', φ + m_t·pair)],
//!
//! where c is what f is linear in (it needs no axis if the measure is entropic). Where features take few values, as with γ = 1 and
//! whole costs, all of them are points and the solution is exact. Otherwise points are where f bends, and their number is doubled until
//! two solutions agree or the work is too much. With no axis at all it is plain backward induction. Playing looks one step ahead.

mod axis;
mod frame;
mod layout;

use rayon::prelude::*;

use self::axis::Place;
use self::frame::{Frame, MOST_AXES};
use self::layout::{Corners, Layer, Layout};
use crate::planner::guided::Moves;
use crate::problem::{OccupancyState, Problem};
use crate::risk::FixedRisk;
use crate::stop::Stop;
use crate::words::counted;

/// The most nodes: they are kept.
const MOST_NODES: usize = 1 << 24;
/// Points of an axis at first, and the fewest that are worth it.
const FIRST_POINTS: usize = 17;
const FEWEST_POINTS: usize = 5;
/// Two solutions agree if they differ by less than this part of the range of values.
const AGREEMENT: f64 = 5e-4;

/// A solved lattice.
#[derive(Debug)]
pub(super) struct Lattice {
    problem: Problem,
    risk: FixedRisk,
    frame: Frame,
    layout: Layout,
    /// V by time and node.
    values: Vec<Vec<f64>>,
    settled: bool,
    /// V at the start.
    pub(super) value: f64,
}

impl Lattice {
    /// Solves a problem if its features are few enough for a lattice that reads at most `work` numbers.
    pub(super) fn solve(problem: &Problem, moves: &Moves, risk: FixedRisk, work: usize, stop: &Stop) -> Option<Self> {
        let frame = Frame::new(problem, moves, risk.is_entropic())?;
        let layout = |points: usize| {
            Layout::new(problem, moves, &risk, &frame, points, MOST_NODES).filter(|layout| layout.work <= work)
        };
        let (mut points, mut found) = (FIRST_POINTS, layout(FIRST_POINTS));
        while found.is_none() && points / 2 + 1 >= FEWEST_POINTS && !frame.axes.is_empty() {
            points = points / 2 + 1;
            found = layout(points);
        }
        let mut best = Self::on(problem, moves, risk, frame.clone(), found?, stop)?;
        while !best.layout.is_exact {
            points = 2 * points - 1;
            let Some(finer) = layout(points) else { break };
            let finer = Self::on(problem, moves, risk, frame.clone(), finer, stop)?;
            let range = finer.range();
            let agree = (finer.value - best.value).abs() <= AGREEMENT * range;
            best = finer;
            best.settled = agree;
            if agree {
                break;
            }
        }
        best.settled |= best.layout.is_exact;
        Some(best)
    }

    /// Whether it is exact but for rounding.
    pub(super) fn is_exact(&self) -> bool {
        self.layout.is_exact
    }

    /// Whether it is exact but for rounding, or a finer one says the same.
    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// How far apart values are.
    fn range(&self) -> f64 {
        let finite = self.values.iter().flatten().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        high - low
    }

    fn on(
        problem: &Problem,
        moves: &Moves,
        risk: FixedRisk,
        frame: Frame,
        layout: Layout,
        stop: &Stop,
    ) -> Option<Self> {
        let horizon = problem.horizon();
        let mut lattice = Self {
            problem: problem.clone(),
            risk,
            frame,
            layout,
            values: vec![Vec::new(); horizon],
            settled: false,
            value: f64::NAN,
        };
        for time in (0..horizon).rev() {
            if stop.is_requested() {
                return None;
            }
            lattice.values[time] = lattice.sweep(moves, time);
            // Where f may have no value, simulations find out whether that can be met.
            if time + 1 == horizon && lattice.values[time].iter().any(|value| value.is_infinite()) {
                return None;
            }
        }
        let initial = problem.mdp().initial();
        let at_start = initial.iter().map(|&(state, p)| {
            let corners = Corners { places: [Place::default(); MOST_AXES], axes: lattice.frame.axes.len() };
            (lattice.layout.times[0].between(&lattice.values[0], state, &corners), p)
        });
        lattice.value = risk.erm().quickly(at_start.collect::<Vec<_>>().into_iter());
        Some(lattice)
    }

    /// V at the nodes of a time, given those of the next.
    fn sweep(&self, moves: &Moves, time: usize) -> Vec<f64> {
        let layer = &self.layout.times[time];
        let mut values = vec![f64::NAN; layer.first.last().copied().unwrap_or(0)];
        let mut boxes = Vec::with_capacity(layer.states.len());
        let mut rest = &mut values[..];
        for number in 0..layer.states.len() {
            let (own, others) = rest.split_at_mut(layer.first[number + 1] - layer.first[number]);
            boxes.push((number, own));
            rest = others;
        }
        let passed: f64 = self.problem.masses()[..time].iter().sum();
        let slacks: Vec<f64> = layer.axes.iter().map(axis::Axis::spacing).collect();
        boxes.into_par_iter().with_min_len(8).for_each_init(Scratch::default, |scratch, (number, own)| {
            self.sweep_box(moves, time, layer, number, passed, &slacks, own, scratch);
        });
        values
    }

    /// V at the nodes of a state.
    #[allow(clippy::too_many_arguments)]
    fn sweep_box(
        &self,
        moves: &Moves,
        time: usize,
        layer: &Layer,
        number: usize,
        passed: f64,
        slacks: &[f64],
        values: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let r = self.frame.axes.len();
        let (low, size) = (&layer.low[number * r..(number + 1) * r], &layer.size[number * r..(number + 1) * r]);
        let mass = self.problem.masses()[time];
        let next = self.layout.times.get(time + 1).zip(self.values.get(time + 1));
        let mut index: [u32; MOST_AXES] = [0; MOST_AXES];
        index[..r].copy_from_slice(low);
        for value in values {
            scratch.point.clear();
            scratch.point.extend(layer.axes.iter().zip(&index).map(|(axis, &k)| axis.points[k as usize]));
            if self.frame.is_possible(&scratch.point, passed, slacks) {
                let (mut lowest, mut broken) = (f64::INFINITY, false);
                let mut terminal: Option<(u32, f64)> = None;
                for (_, one, outcomes) in moves.of(layer.states[number]) {
                    let class = one.class as usize;
                    let after = if let Some((after, of_next)) = next {
                        let mut corners = Corners { places: [Place::default(); MOST_AXES], axes: r };
                        for (axis, (place, &k)) in corners.places.iter_mut().zip(&index[..r]).enumerate() {
                            let step = self.frame.step_of[class * r + axis] as usize;
                            *place = layer.next[axis][step][k as usize];
                        }
                        let value = |to: &crate::planner::guided::Outcome| after.between(of_next, to.state, &corners);
                        if let [certain] = outcomes {
                            value(certain)
                        } else {
                            scratch.outcomes.clear();
                            scratch.outcomes.extend(outcomes.iter().map(|to| (value(to), to.probability)));
                            self.risk.erm().quickly(scratch.outcomes.iter().copied())
                        }
                    } else {
                        match terminal {
                            Some((known, value)) if known == one.class => value,
                            _ => {
                                let Scratch { point, features, .. } = scratch;
                                self.frame.features(point, passed, features);
                                self.problem.objective().add(features, one.pair.index(), mass);
                                let value = self.terminal(features);
                                terminal = Some((one.class, value));
                                value
                            }
                        }
                    };
                    let own = mass * self.frame.charges[class] + after;
                    broken |= next.is_none() && !own.is_finite();
                    if own < lowest {
                        lowest = own;
                    }
                }
                // Infinite if f has no value there; not a number if nothing is known of what follows.
                let unknown = lowest == f64::INFINITY && !broken;
                *value = if unknown {
                    f64::NAN
                } else if broken {
                    f64::INFINITY
                } else {
                    lowest
                };
            }
            for axis in (0..r).rev() {
                index[axis] += 1;
                if index[axis] < low[axis] + size[axis] {
                    break;
                }
                index[axis] = low[axis];
            }
        }
    }

    /// What the features of a whole episode count, but for what is charged on the way.
    fn terminal(&self, features: &mut [f64]) -> f64 {
        self.frame.forget_charged(features);
        self.risk.of_cost(self.problem.objective().value_of_features(features))
    }

    /// The risk of f if this move is made now and the best ones of the lattice follow; not a number where no episode gets.
    pub(super) fn of_move(&self, moves: &Moves, at: &OccupancyState, number: u32, scratch: &mut Scratch) -> f64 {
        let one = moves.get(number);
        let Scratch { features, outcomes, .. } = scratch;
        features.clone_from(&at.features);
        self.problem.objective().add(features, one.pair.index(), self.problem.masses()[at.time]);
        let charged = self.frame.charged(features);
        let after = if at.time + 1 == self.problem.horizon() {
            self.terminal(features)
        } else {
            let layer = &self.layout.times[at.time + 1];
            let mut corners = Corners { places: [Place::default(); MOST_AXES], axes: self.frame.axes.len() };
            for ((place, &feature), axis) in corners.places.iter_mut().zip(&self.frame.axes).zip(&layer.axes) {
                if !axis.contains(features[feature]) {
                    return f64::NAN;
                }
                *place = axis.place(features[feature]);
            }
            outcomes.clear();
            let value = |state| layer.between(&self.values[at.time + 1], state, &corners);
            outcomes.extend(moves.outcomes(number).iter().map(|to| (value(to.state), to.probability)));
            if outcomes.iter().any(|outcome| outcome.0.is_nan()) {
                return f64::NAN;
            }
            self.risk.erm().quickly(outcomes.iter().copied())
        };
        charged + after
    }
}

impl std::fmt::Display for Lattice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes = counted(self.layout.nodes, "node");
        match self.frame.axes.len() {
            0 => write!(f, "backward induction, {nodes}"),
            axes if self.layout.is_exact => write!(f, "exact lattice of {}, {nodes}", counted(axes, "feature")),
            axes => write!(f, "lattice of {}, {nodes}", counted(axes, "feature")),
        }
    }
}

/// Memory for one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    point: Vec<f64>,
    features: Vec<f64>,
    outcomes: Vec<(f64, f64)>,
}
