//! Plans: where to go, for how long, and where to go next. They find what one visit alone does not show: "first x, then y", a tour, a share
//! that only a long stay brings.
//!
//! Pairs that change the features alike are one *destination*. For each there is a stationary policy that visits it as often as it can. A plan
//! is a list of destinations, each with a number of visits after which the next one is headed for; after the last of them marginal
//! backward induction plays. The incumbent plan is kept from decision to decision; simulations try changes of it, with common random numbers, and
//! one replaces it only if there is evidence that it is better.
//!
//! Where f is flat (the least of several shares, their product: 0 until all have been visited) no change of a plan is better than another. So the
//! first plan is also looked for with f *smoothed*: its mean with what it would be if some more had been gathered of everything.

use std::collections::HashMap;
use std::sync::Arc;

use super::GuidedPlanner;
use super::choice::{error_of_difference, risk_of};
use super::moves::Moves;
use crate::model::{Mdp, State};
use crate::problem::{OccupancyState, Problem};
use crate::rng::{self, Purpose, Rng};

/// The most numbers that all policies together are made from: a fraction of a second.
const MOST_WORK: usize = 1 << 27;
/// Simulations of a plan that say whether it is worth more of them, and the most of them.
const FIRST: usize = 16;
const ALL: usize = 256;

/// Changes of a plan at once, at most.
const MOST_CHANGES: usize = 4;
/// Simulations with the same random numbers: later ones have others, so that plans suit no special luck.
const ROUND: u64 = 1 << 14;
/// How much more of everything is added to smooth f, one after the other.
const SMOOTHINGS: [f64; 2] = [0.25, 0.03];
/// So many times f is looked at where more has been gathered.
const SHIFTS: usize = 8;

/// Go there until there were so many visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leg {
    destination: u32,
    visits: u32,
}

/// The policies of all destinations.
#[derive(Clone, Debug)]
pub(super) struct Destinations {
    /// The destination of each class of moves.
    of_class: Vec<u32>,
    /// The move of a destination's policy at destination·states + state.
    moves: Vec<u32>,
    states: usize,
    count: u32,
    /// The plans that were found before the first decision, by the state where episodes start, the likeliest first.
    pub(super) firsts: Vec<(State, Vec<Leg>)>,
}

impl Destinations {
    /// `None` if there are too many, or one only.
    pub(super) fn new(problem: &Problem, moves: &Moves) -> Option<Self> {
        let mut known = HashMap::new();
        let effects = moves.classes.iter().map(|class| problem.objective().effect(class.pair.index()).collect());
        let number = |effect: Vec<u64>| {
            let count = known.len() as u32;
            *known.entry(effect).or_insert(count)
        };
        let of_class: Vec<u32> = effects.map(number).collect();
        let (count, states) = (known.len(), problem.mdp().state_count());
        let work = count.saturating_mul(problem.horizon()).saturating_mul(problem.mdp().transition_count());
        if count < 2 || work > MOST_WORK {
            return None;
        }
        let mut own = Self { of_class, moves: Vec::new(), states, count: count as u32, firsts: Vec::new() };
        let ahead = 1.0 - 1.0 / problem.horizon() as f64;
        for destination in 0..own.count {
            own.moves.extend(own.policy(moves, destination, ahead, problem.horizon()));
        }
        Some(own)
    }

    /// The moves that visit a destination most, visits to come counting `ahead` each step less.
    fn policy(&self, moves: &Moves, destination: u32, ahead: f64, sweeps: usize) -> Vec<u32> {
        let (mut values, mut best) = (vec![0.0; self.states], vec![0; self.states]);
        for _ in 0..sweeps {
            let mut change = 0.0_f64;
            for state in (0..self.states as u32).map(State) {
                let mut highest = (f64::NEG_INFINITY, 0);
                for (number, one, outcomes) in moves.of(state) {
                    let here = f64::from(u8::from(self.of_class[one.class as usize] == destination));
                    let later: f64 = outcomes.iter().map(|to| to.probability * values[to.state.index()]).sum();
                    if here + ahead * later > highest.0 {
                        highest = (here + ahead * later, number);
                    }
                }
                // Where an episode ends nothing is visited any more.
                if highest.0 == f64::NEG_INFINITY {
                    continue;
                }
                change = change.max(highest.0 - values[state.index()]);
                (values[state.index()], best[state.index()]) = highest;
            }
            if change < 1e-9 {
                break;
            }
        }
        best
    }

    /// The plan that episodes start with in this state; elsewhere that of the likeliest start.
    pub(super) fn first(&self, state: State) -> &[Leg] {
        let own = self.firsts.iter().find(|first| first.0 == state).or(self.firsts.first());
        own.map_or(&[], |first| &first.1)
    }

    /// The move of a leg. Its last visit is made on the way to the next one, where that is possible.
    #[inline]
    pub(super) fn step(&self, moves: &Moves, leg: Leg, next: Option<&Leg>, state: State) -> u32 {
        let towards = |leg: Leg| self.moves[leg.destination as usize * self.states + state.index()];
        let onwards = next.filter(|_| leg.visits == 1).map(|next| towards(*next));
        let visits = |&number: &u32| self.of_class[moves.get(number).class as usize] == leg.destination;
        onwards.filter(visits).unwrap_or_else(|| towards(leg))
    }

    /// Counts a move of this class if it is a visit; returns whether it ends the leg.
    #[inline]
    pub(super) fn arrives(&self, leg: &mut Leg, class: u32) -> bool {
        if self.of_class[class as usize] != leg.destination {
            return false;
        }
        leg.visits -= 1;
        leg.visits == 0
    }

    /// A changed plan, for episodes of so many steps to come: one change, often another one, so that what has to change together can.
    fn change(&self, plan: &[Leg], steps: usize, rng: &mut Rng) -> Vec<Leg> {
        let mut plan = plan.to_vec();
        for _ in 0..MOST_CHANGES {
            self.change_once(&mut plan, steps, rng);
            if rng::below(rng, 2) == 0 {
                break;
            }
        }
        plan
    }

    fn change_once(&self, plan: &mut Vec<Leg>, steps: usize, rng: &mut Rng) {
        let below = |rng: &mut Rng, bound: usize| rng::below(rng, bound as u32) as usize;
        // Short and long stays are alike likely on a scale of doublings; often all stays are to be alike.
        let visits = |rng: &mut Rng, plan: &[Leg]| match plan.len() {
            legs if legs > 0 && below(rng, 2) == 0 => plan[below(rng, legs)].visits,
            _ => (steps as f64).powf(rng::unit(rng) * rng::unit(rng)) as u32,
        };
        let kind = match plan.len() {
            0 => 0,
            legs if legs < steps => below(rng, 6),
            _ => 1 + below(rng, 5),
        };
        let place = below(rng, plan.len() + usize::from(kind == 0));
        match kind {
            0 => {
                let visits = visits(rng, plan);
                plan.insert(place, Leg { destination: rng::below(rng, self.count), visits });
            }
            1 => {
                plan[place].visits = match (below(rng, 4), plan[place].visits) {
                    (0, visits) => visits + 1,
                    (1, visits) => (visits - 1).max(1),
                    _ => visits(rng, plan),
                }
            }
            2 => plan[place].destination = rng::below(rng, self.count),
            3 => drop(plan.remove(place)),
            4 => {
                let leg = plan.remove(place);
                plan.insert(below(rng, plan.len() + 1), leg);
            }
            _ => {
                let other = below(rng, plan.len());
                plan[place.min(other)..=place.max(other)].reverse();
            }
        }
    }
}

/// f as if some more had been gathered of everything, in several ways.
#[derive(Clone, Debug)]
pub(super) struct Smoothing {
    /// The features that are total costs, and how much more of each there would be.
    shifts: Vec<(usize, [f64; SHIFTS])>,
    /// The features of a path, and with more gathered.
    features: Vec<f64>,
    shifted: Vec<f64>,
}

impl Smoothing {
    /// `None` if f looks at no total costs. `part` is how much of the most that there can be is added at most.
    pub(super) fn new(problem: &Problem, part: f64, rng: &mut Rng) -> Option<Self> {
        let shift = |(feature, costs): (usize, Vec<f64>)| {
            let most = costs.iter().fold(0.0_f64, |most, cost| if cost.abs() > most.abs() { *cost } else { most });
            (feature, [(); SHIFTS].map(|()| part * most * rng::unit(rng)))
        };
        let shifts: Vec<_> = problem.objective().totals().map(shift).collect();
        (!shifts.is_empty()).then(|| Self { shifts, features: Vec::new(), shifted: Vec::new() })
    }

    /// The mean of f and of its mean over the shifts, for a path that starts with the features of `root`.
    fn cost(&mut self, problem: &Problem, root: &[f64], path: &[u32], start: usize, cost: f64) -> f64 {
        let objective = problem.objective();
        self.features.clear();
        self.features.extend_from_slice(root);
        for (&pair, &mass) in path.iter().zip(&problem.masses()[start..]) {
            objective.add(&mut self.features, pair as usize, mass);
        }
        let (mut sum, mut count) = (0.0, 0);
        for way in 0..SHIFTS {
            self.shifted.clone_from(&self.features);
            for (feature, shifts) in &self.shifts {
                self.shifted[*feature] += shifts[way];
            }
            // f need not have a value where more has been gathered than there is.
            let value = objective.value_of_features(&self.shifted);
            if value.is_finite() {
                (sum, count) = (sum + value, count + 1);
            }
        }
        if count == 0 { cost } else { 0.5 * (cost + sum / f64::from(count)) }
    }
}

/// A plan with what it cost in simulations.
struct Tried {
    plan: Vec<Leg>,
    /// With their weights.
    costs: Vec<(f64, f64)>,
}

impl GuidedPlanner {
    /// Looks for the plan that episodes start with, with so many simulations; begins with that of another start, if there was one.
    pub(super) fn first_plan(
        &mut self,
        destinations: &Destinations,
        at: &OccupancyState,
        simulations: u64,
        rng: &mut Rng,
    ) {
        let improve = |own: &mut Self, share: u64, mut smoothing: Option<Smoothing>, rng: &mut Rng| {
            let mut left = simulations / share;
            while left > 0 {
                let round = left.min(ROUND);
                own.improve_plan(destinations, at, round, 0.0, smoothing.as_mut(), rng);
                left -= round;
            }
        };
        let smoothings = SMOOTHINGS.map(|part| Smoothing::new(&self.problem, part, rng));
        if smoothings[0].is_none() {
            return improve(self, 1, None, rng);
        }
        improve(self, 4, None, rng);
        let plain = std::mem::take(&mut self.plan);
        // A smoothed simulation takes about twice as long.
        for smoothing in smoothings {
            improve(self, 8, smoothing, rng);
        }
        improve(self, 4, None, rng);
        let [mut plain, mut smoothed] =
            [plain, std::mem::take(&mut self.plan)].map(|plan| Tried { plan, costs: Vec::new() });
        let seed = rng::word(rng);
        let most = ALL.min(simulations as usize / 16);
        for tried in [&mut plain, &mut smoothed] {
            self.try_plan(tried, at, seed, most, &mut { most }, None);
        }
        self.plan = if most > 0 && self.leads(&smoothed, &plain, 0.0) { smoothed.plan } else { plain.plan };
    }

    /// Improves the plan with so many simulations from here on, by changes that are better by `caution` standard errors; returns how many
    /// were made, and the risk of the plan in them.
    pub(super) fn improve_plan(
        &mut self,
        destinations: &Destinations,
        at: &OccupancyState,
        simulations: u64,
        caution: f64,
        mut smoothing: Option<&mut Smoothing>,
        rng: &mut Rng,
    ) -> (u64, f64) {
        let steps = self.problem.horizon() - at.time;
        self.set_paths(at);
        let seed = rng::word(rng);
        let mut left = simulations as usize;
        let mut best = Tried { plan: std::mem::take(&mut self.plan), costs: Vec::new() };
        // Fewer than the first would say nothing about changes.
        let all = (left / 8).clamp(FIRST.min(left), ALL);
        self.try_plan(&mut best, at, seed, all, &mut left, smoothing.as_deref_mut());
        while left >= all.max(FIRST) && !self.stop.is_requested() {
            let mut rival = Tried { plan: destinations.change(&best.plan, steps, rng), costs: Vec::new() };
            self.try_plan(&mut rival, at, seed, FIRST, &mut left, smoothing.as_deref_mut());
            if self.leads(&rival, &best, 0.0) {
                self.try_plan(&mut rival, at, seed, all, &mut left, smoothing.as_deref_mut());
                if self.leads(&rival, &best, caution) {
                    best = rival;
                }
            }
        }
        self.plan = best.plan;
        (simulations - left as u64, risk_of(self.erm, &best.costs))
    }

    /// Whether a plan is better than another by so many standard errors, or just as good.
    fn leads(&self, rival: &Tried, best: &Tried, caution: f64) -> bool {
        let common = &best.costs[..rival.costs.len()];
        let error = caution * error_of_difference(self.erm, common, &rival.costs);
        risk_of(self.erm, &rival.costs) + error <= risk_of(self.erm, common)
    }

    /// Simulates a plan until it has so many costs.
    fn try_plan(
        &mut self,
        tried: &mut Tried,
        at: &OccupancyState,
        seed: u64,
        most: usize,
        left: &mut usize,
        mut smoothing: Option<&mut Smoothing>,
    ) {
        let steps = self.problem.horizon() - at.time;
        let rarities = Arc::clone(&self.rarities);
        for number in tried.costs.len() as u64..most as u64 {
            let mut rng = rng::stream(seed, number, Purpose::Policy);
            let mut chances = rarities.chances(number, &mut rng);
            let next = |mdp: &Mdp, pair| chances.next(mdp, pair, &mut rng);
            self.roll_out(at.state, 0, at.time, steps, &tried.plan, next);
            let mut cost = self.cost_of_path(at.time, steps);
            if let Some(smoothing) = &mut smoothing {
                cost = smoothing.cost(&self.problem, &self.root, &self.path[..steps], at.time, cost);
            }
            tried.costs.push((self.risk.of_cost(cost), chances.weight()));
            *left -= 1;
        }
    }
}
