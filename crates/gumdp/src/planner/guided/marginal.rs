//! Marginal backward induction: the objective as if it were a sum of step costs, solved by dynamic programming.
//!
//! With the occupancy Φ of the root, visiting a pair at time t is taken to cost the secant
//!
//! c_t(pair) = m_t/M · (f(Φ + M·pair) − f(Φ)),
//!
//! where m_t is the mass of the step and M that of the visit it may be part of: the expected stay in the state. A secant, because
//! slopes are infinite where nothing has been visited, and over M, because a state that holds the agent is as bad as all of its
//! stay. With these costs the ERM of the sum is minimised over (time, state) with the true probabilities, as for a linear
//! objective (which it solves exactly):
//!
//! U_t(s) = min over pairs of c_t(pair) + ERM[U_{t+1}(s')].
//!
//! Nothing in it knows of visits to come, so it is repeated as the occupancy grows. Where chance decides more than choice, much
//! of what is to come is known nevertheless: part of the expected occupancy of random moves is then added to Φ, so that states
//! which chance will bring anyway are not sought.

use std::ops::Range;

use super::moves::{Move, Moves};
use crate::model::State;
use crate::problem::{OccupancyState, Problem};
use crate::risk::Erm;

/// Step costs beyond this number are not kept but computed for each time anew.
const KEPT_COSTS: usize = 1 << 22;

/// Values differ by rounding at least; a smaller part of their scale is a tie.
const TIE: f64 = 1e-12;

/// No place among the states within reach of the root.
const NO_PLACE: u32 = u32::MAX;

/// U of the last root, and what it is made from.
#[derive(Clone, Debug)]
pub(super) struct Marginal {
    /// The time of the root.
    since: usize,
    /// Steps that are looked ahead; U is 0 where they end.
    depth: usize,
    /// The states that can be reached in that many steps, the nearest first, and the place of each state among them.
    states: Vec<State>,
    places: Vec<u32>,
    /// `within[d]` of them can be reached in d steps.
    within: Vec<usize>,
    /// U after d steps at d·states + place.
    values: Vec<f64>,
    /// ERM of U after a move, at d·moves + number; empty if nobody asked for it.
    risks: Vec<f64>,
    moves: usize,
    /// M and m_t/M at t·holds + hold; 0 where the mass is lost in rounding.
    visits: Vec<(f64, f64)>,
    holds: usize,
    /// c at t·classes + class; empty if there are too many.
    costs: Vec<f64>,
    /// What the costs of each class were computed from, and the last root's time: they hold from there on.
    computed_from: Vec<u64>,
    last_time: Option<usize>,
    /// The occupancy at which costs are taken, and the probabilities of the states that a forecast visits.
    aim: Vec<f64>,
    likely: Vec<f64>,
}

/// How an [`update`](Marginal::update) looks ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Outcomes of moves to look at.
    pub(super) work: usize,
    /// The part of what random moves would visit that counts as visited.
    pub(super) forecast: f64,
    /// Whether [`Marginal::risk`] will be asked for.
    pub(super) keep_risks: bool,
}

impl Marginal {
    pub(super) fn new(problem: &Problem, moves: &Moves) -> Self {
        let (horizon, classes, holds) = (problem.horizon(), moves.classes.len(), moves.holds.len());
        let mut visits = vec![(0.0, 0.0); horizon * holds];
        let mut stays = vec![0.0; holds];
        for (t, mass) in problem.masses().iter().enumerate().rev() {
            for (k, stay) in moves.holds.iter().enumerate() {
                stays[k] = mass + stay * stays[k];
                visits[t * holds + k] = if stays[k] > 0.0 { (stays[k], mass / stays[k]) } else { (0.0, 0.0) };
            }
        }
        Self {
            since: 0,
            depth: 0,
            states: Vec::new(),
            places: vec![NO_PLACE; problem.mdp().state_count()],
            within: Vec::new(),
            values: Vec::new(),
            risks: Vec::new(),
            moves: moves.len(),
            visits,
            holds,
            costs: vec![0.0; if horizon * classes <= KEPT_COSTS { horizon * classes } else { 0 }],
            computed_from: vec![0; classes],
            last_time: None,
            aim: Vec::new(),
            likely: Vec::new(),
        }
    }

    /// U_t(s).
    #[inline]
    fn value(&self, time: usize, state: State) -> f64 {
        let ahead = time - self.since;
        if ahead > self.depth {
            return 0.0;
        }
        self.values[ahead * self.states.len() + self.places[state.index()] as usize]
    }

    /// ERM of U_{t+1} after a move; only after an [`update`](Self::update) that was to keep it.
    #[inline]
    pub(super) fn risk(&self, time: usize, number: u32) -> f64 {
        let ahead = time - self.since;
        if ahead >= self.depth { 0.0 } else { self.risks[ahead * self.moves + number as usize] }
    }

    /// What a move costs at this time if the occupancy is that of `features`.
    #[inline]
    pub(super) fn cost(&self, problem: &Problem, moves: &Moves, features: &[f64], time: usize, class: u32) -> f64 {
        let class = &moves.classes[class as usize];
        let (visit, rate) = self.visits[time * self.holds + class.hold as usize];
        problem.objective().increase(features, class.pair.index(), visit) * rate
    }

    /// The move that is best at the root of the last update.
    pub(super) fn best(&self, problem: &Problem, moves: &Moves, erm: Erm, at: &OccupancyState, scale: f64) -> u32 {
        let mut best = (f64::INFINITY, moves.range(at.state).start);
        for number in moves.range(at.state) {
            let value = self.of_move(problem, moves, erm, at, number);
            if value < best.0 - TIE * scale {
                best = (value, number);
            }
        }
        best.1
    }

    /// How much the risk of f grows from here on if this move is made.
    pub(super) fn of_move(&self, problem: &Problem, moves: &Moves, erm: Erm, at: &OccupancyState, number: u32) -> f64 {
        let cost = self.cost(problem, moves, &self.aim, at.time, moves.get(number).class);
        let after = moves.outcomes(number).iter().map(|to| (self.value(at.time + 1, to.state), to.probability));
        cost + erm.quickly(after)
    }

    /// Solves the problem from this root.
    pub(super) fn update(&mut self, problem: &Problem, moves: &Moves, erm: Erm, at: &OccupancyState, ahead: Ahead) {
        let Ahead { work, forecast, keep_risks } = ahead;
        let steps = problem.horizon() - at.time;
        self.aim.clone_from(&at.features);
        if forecast > 0.0 {
            self.look_around(moves, at.state, steps, work);
            self.add_forecast(problem, moves, at, forecast);
            // A forecast changes all costs at every decision: none is kept.
            self.last_time = None;
            self.refresh_costs(problem, moves, at.time..at.time + self.depth);
            self.last_time = None;
            self.since = at.time;
            self.induce(problem, moves, erm, at, ahead);
            return;
        }
        let changed = self.refresh_costs(problem, moves, at.time..problem.horizon());
        // Where all of the way to the horizon is known, steps that change no cost change nothing.
        let known = self.since <= at.time
            && self.since + self.depth == problem.horizon()
            && self.places[at.state.index()] != NO_PLACE
            && self.within[at.time - self.since] > self.places[at.state.index()] as usize;
        if known && !changed && (!keep_risks || !self.risks.is_empty()) {
            return;
        }
        self.look_around(moves, at.state, steps, work);
        self.since = at.time;
        self.induce(problem, moves, erm, at, ahead);
    }

    /// Backward induction with the costs of the root.
    fn induce(&mut self, problem: &Problem, moves: &Moves, erm: Erm, at: &OccupancyState, ahead: Ahead) {
        let keep_risks = ahead.keep_risks;
        let (depth, width, classes) = (self.depth, self.states.len(), moves.classes.len());
        self.values.clear();
        self.values.resize((depth + 1) * width, 0.0);
        self.risks.resize(if keep_risks { depth * self.moves } else { 0 }, 0.0);
        let mut values = std::mem::take(&mut self.values);
        let mut risks = std::mem::take(&mut self.risks);
        for ahead in (0..depth).rev() {
            let time = at.time + ahead;
            let (now, next) = values[ahead * width..(ahead + 2) * width].split_at_mut(width);
            let value = |state: State| next[self.places[state.index()] as usize];
            let kept_costs = self.costs.get(time * classes..(time + 1) * classes);
            for (lowest, &state) in now.iter_mut().zip(&self.states[..self.within[ahead]]) {
                *lowest = f64::INFINITY;
                for (number, Move { class, .. }, outcomes) in moves.of(state) {
                    let risk = match outcomes {
                        [certain] => value(certain.state),
                        _ => erm.quickly(outcomes.iter().map(|to| (value(to.state), to.probability))),
                    };
                    let cost = match kept_costs {
                        Some(costs) => costs[*class as usize],
                        None => self.cost(problem, moves, &self.aim, time, *class),
                    };
                    if keep_risks {
                        risks[ahead * self.moves + number as usize] = risk;
                    }
                    // Not f64::min, which asks for NaN as well.
                    if cost + risk < *lowest {
                        *lowest = cost + risk;
                    }
                }
            }
        }
        (self.values, self.risks) = (values, risks);
    }

    /// Adds a part of the expected occupancy of random moves from here on.
    fn add_forecast(&mut self, problem: &Problem, moves: &Moves, at: &OccupancyState, part: f64) {
        let width = self.states.len();
        self.likely.clear();
        self.likely.resize(2 * width, 0.0);
        let (mut now, mut next) = self.likely.split_at_mut(width);
        now[0] = 1.0;
        for (ahead, &within) in self.within[..self.depth].iter().enumerate() {
            next.fill(0.0);
            for (&state, &probability) in self.states[..within].iter().zip(&*now) {
                let own = moves.range(state);
                let share = probability / own.len() as f64;
                for number in own {
                    // The step that is decided now is not left to chance.
                    if ahead > 0 {
                        let mass = part * share * problem.masses()[at.time + ahead];
                        problem.objective().expect(&mut self.aim, moves.get(number).pair.index(), mass);
                    }
                    for to in moves.outcomes(number) {
                        next[self.places[to.state.index()] as usize] += share * to.probability;
                    }
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
    }

    /// Finds the states that can be reached from `root` in up to `steps` steps, fewer if the outcomes of the moves of all of them
    /// at all of these times would be more than `work`.
    fn look_around(&mut self, moves: &Moves, root: State, steps: usize, work: usize) {
        for state in self.states.drain(..) {
            self.places[state.index()] = NO_PLACE;
        }
        self.within.clear();
        self.states.push(root);
        self.places[root.index()] = 0;
        let (mut seen, mut outcomes, mut all) = (0, 0, 0);
        self.depth = 0;
        while self.depth < steps {
            let layer = self.states.len();
            outcomes += self.states[seen..].iter().map(|&state| moves.outcomes_from(state).len()).sum::<usize>();
            all += outcomes;
            if self.depth > 0 && all > work {
                break;
            }
            self.within.push(layer);
            for place in seen..layer {
                for to in moves.outcomes_from(self.states[place]) {
                    let place = &mut self.places[to.state.index()];
                    if *place == NO_PLACE {
                        *place = self.states.len() as u32;
                        self.states.push(to.state);
                    }
                }
            }
            seen = layer;
            self.depth += 1;
        }
        self.within.push(self.states.len());
    }

    /// Computes the costs, at these times, of the classes for which the occupancy of the root has changed; returns whether there are any.
    fn refresh_costs(&mut self, problem: &Problem, moves: &Moves, times: Range<usize>) -> bool {
        let anew = self.last_time.is_none_or(|last| times.start < last);
        self.last_time = Some(times.start);
        let mut changed = anew || self.costs.is_empty();
        for number in 0..if self.costs.is_empty() { 0 } else { moves.classes.len() as u32 } {
            let pair = moves.classes[number as usize].pair;
            let from = problem.objective().glimpse(&self.aim, pair.index());
            if !anew && self.computed_from[number as usize] == from {
                continue;
            }
            self.computed_from[number as usize] = from;
            changed = true;
            // Without a discount and a stay all times are alike.
            let hold = moves.classes[number as usize].hold as usize;
            let mut known = None;
            for time in times.clone() {
                let visit = self.visits[time * self.holds + hold];
                let cost = match known {
                    Some((same, cost)) if same == visit => cost,
                    _ => self.cost(problem, moves, &self.aim, time, number),
                };
                known = Some((visit, cost));
                self.costs[time * moves.classes.len() + number as usize] = cost;
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Limits, expected_occupancy, solve};
    use crate::policy::Markov;
    use crate::test_problems::{gamble, msee};

    /// What is told of how far it looks is how far it looks.
    #[test]
    fn it_looks_as_far_as_it_says() {
        for problem in [msee(), gamble()] {
            let moves = Moves::new(&problem);
            let start = problem.start(problem.mdp().initial()[0].0);
            let mut marginal = Marginal::new(&problem, &moves);
            let (_, all) = moves.horizon_of(0);
            for work in [0, 1, all / 7, all / 2, all - 1, all] {
                let ahead = Ahead { work, forecast: 0.0, keep_risks: false };
                marginal.last_time = None;
                marginal.since = usize::MAX;
                marginal.update(&problem, &moves, Erm::MEAN, &start, ahead);
                assert_eq!(moves.horizon_of(work), (marginal.depth, all), "{work} of {all}");
            }
            assert_eq!(marginal.depth, problem.horizon());
        }
    }

    /// What is added is the expected occupancy of random moves but for that of the step which is decided now.
    #[test]
    fn the_forecast_is_what_random_moves_visit() {
        let problem = msee();
        let moves = Moves::new(&problem);
        let start = problem.start(problem.mdp().initial()[0].0);
        let mut marginal = Marginal::new(&problem, &moves);
        let ahead = Ahead { work: usize::MAX, forecast: 0.5, keep_risks: false };
        marginal.update(&problem, &moves, Erm::new(1.0).unwrap(), &start, ahead);
        let uniform = Markov::stochastic(&problem, vec![vec![0.5; problem.mdp().pair_count()]]).unwrap();
        let expected = expected_occupancy(&problem, &uniform).unwrap();
        let mut all = vec![0.0; marginal.aim.len()];
        for (pair, mass) in expected.into_iter().enumerate() {
            problem.objective().add(&mut all, pair, 0.5 * mass);
        }
        // An entropy of states: both of the first state's pairs count alike.
        let mut first = vec![0.0; all.len()];
        let pair = problem.mdp().pairs(start.state).start;
        problem.objective().add(&mut first, pair as usize, 0.5 * problem.masses()[0]);
        for ((all, first), aim) in all.iter().zip(&first).zip(&marginal.aim) {
            assert!((all - first - aim).abs() < 1e-12, "{aim} instead of {}", all - first);
        }
    }

    /// A linear objective is a sum of step costs: the value at the start is the optimum.
    #[test]
    fn linear_objectives_are_solved_exactly() {
        let problem = gamble();
        let moves = Moves::new(&problem);
        for beta in [0.1, 5.0, 10.0] {
            let erm = Erm::new(beta).unwrap();
            let start = problem.start(problem.mdp().initial()[0].0);
            let mut marginal = Marginal::new(&problem, &moves);
            let ahead = Ahead { work: usize::MAX, forecast: 0.0, keep_risks: true };
            marginal.update(&problem, &moves, erm, &start, ahead);
            let optimum = solve(&problem, erm, &Limits::QUICK).unwrap().value;
            let found = problem.cost(&start) + marginal.value(0, start.state);
            assert!((found - optimum).abs() < 1e-7, "beta {beta}: {found} instead of {optimum}");
        }
    }
}
