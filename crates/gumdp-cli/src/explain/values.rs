//! What is done in a situation and what it costs from there on: from the exact solution, or from a planner.

use anyhow::Result;
use gumdp::oracle::{ExactDecision, Limits, OptimalPolicy, Solution};
use gumdp::rng::{self, Purpose};
use gumdp::{Erm, FixedRisk, OccupancyState, Pair, Policy, Problem, play_on};
use rayon::prelude::*;

use crate::exact::unsolved;
use crate::failure::Interrupted;
use crate::interrupt;

/// Risk and expected final cost, given that one is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The risk, as the outer variable sees it if the measure has one.
    pub erm: f64,
    /// The expected cost.
    pub mean: f64,
    /// The second best first action, and how much more risk it means, if that is known.
    pub next_best: Option<(Pair, f64)>,
}

/// Knows what is done and what it costs.
pub trait Explainer {
    /// What is done from here on, until chance has its turn or the episode is over. `number` tells situations apart.
    fn follow(
        &mut self,
        at: &OccupancyState,
        number: u64,
        step: &mut dyn FnMut(&OccupancyState, Pair) -> Option<OccupancyState>,
    );

    /// What it costs from here on.
    fn value(&mut self, at: &OccupancyState, number: u64) -> Result<Value>;
}

/// The exact solution.
#[derive(Debug)]
pub struct Exact<'a> {
    problem: &'a Problem,
    limits: Limits,
    solution: &'a Solution,
    policy: OptimalPolicy,
    task: &'a str,
    /// The first decision with each action at its own outer variable, if that is known.
    first: Option<ExactDecision>,
}

impl<'a> Exact<'a> {
    /// Explains this solution.
    pub fn new(problem: &'a Problem, limits: Limits, solution: &'a Solution, task: &'a str) -> Self {
        Self { problem, limits, solution, policy: solution.policy(), task, first: None }
    }

    /// Explains the first decision with these reasons.
    #[must_use]
    pub fn with_first(self, first: Option<ExactDecision>) -> Self {
        Self { first, ..self }
    }
}

impl Explainer for Exact<'_> {
    fn follow(
        &mut self,
        at: &OccupancyState,
        _: u64,
        step: &mut dyn FnMut(&OccupancyState, Pair) -> Option<OccupancyState>,
    ) {
        let mut at = at.clone();
        while let Some(next) = step(&at, self.policy.best(&at)) {
            at = next;
        }
    }

    fn value(&mut self, at: &OccupancyState, _: u64) -> Result<Value> {
        if interrupt::requested() {
            return Err(Interrupted.into());
        }
        if at.time >= self.problem.horizon() {
            let (cost, fixed) = (self.problem.cost(at), self.solution.fixed());
            return Ok(Value { erm: fixed.of_cost(cost) + fixed.price(), mean: cost, next_best: None });
        }
        let decision = match self.first.as_ref().filter(|_| at.time == 0) {
            Some(first) => first.clone(),
            None => self.solution.decide(at, &self.limits).map_err(|error| unsolved(self.task, &error))?,
        };
        let mdp = self.problem.mdp();
        let best = self.policy.best(at);
        let mut value = Value { erm: f64::NAN, mean: f64::NAN, next_best: None };
        for (pair, reason) in mdp.pairs(at.state).map(Pair::from).zip(&decision.reasons) {
            if pair == best {
                (value.erm, value.mean) = (reason.value, reason.mean);
            } else if value.next_best.is_none_or(|(_, erm)| reason.value < erm) {
                value.next_best = Some((pair, reason.value));
            }
        }
        value.next_best = value.next_best.map(|(pair, erm)| (pair, erm - value.erm));
        Ok(value)
    }
}

/// A planner, and episodes that it plays on from a situation.
pub struct Planned<'a> {
    /// What is planned.
    pub problem: &'a Problem,
    /// The risk measure with its outer variable.
    pub fixed: FixedRisk,
    /// Who plans.
    pub planner: Box<dyn Policy>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Episodes for each situation.
    pub runs: u64,
    /// Says that one more situation is known.
    pub progress: &'a crate::progress::Progress,
}

impl Explainer for Planned<'_> {
    fn follow(
        &mut self,
        at: &OccupancyState,
        number: u64,
        step: &mut dyn FnMut(&OccupancyState, Pair) -> Option<OccupancyState>,
    ) {
        let mdp = self.problem.mdp();
        let mut rng = rng::stream(self.seed, number, Purpose::Policy);
        self.planner.begin_episode();
        let mut at = Some(at.clone());
        while let Some(now) = at {
            if now.time >= self.problem.horizon() || interrupt::requested() {
                return;
            }
            // What it fails for is told where its episodes are played.
            let Ok(action) = self.planner.act(&now, &mut rng) else { return };
            at = mdp.pair(now.state, action).and_then(|pair| step(&now, pair));
        }
    }

    fn value(&mut self, at: &OccupancyState, number: u64) -> Result<Value> {
        let play = |planner: &mut Box<dyn Policy>, run: u64| {
            if interrupt::requested() {
                return Err(Interrupted.into());
            }
            let stream = |purpose| rng::stream(self.seed, (number << 32) + (1 << 31) + run, purpose);
            let (mut environment, mut own) = (stream(Purpose::Environment), stream(Purpose::Policy));
            Ok(play_on(self.problem, &mut **planner, at.clone(), &mut environment, &mut own)?.cost)
        };
        let costs: Result<Vec<f64>> = (0..self.runs).into_par_iter().map_init(|| self.planner.clone(), play).collect();
        let costs = costs?;
        self.progress.advance(1);
        let counted: Vec<f64> = costs.iter().map(|&cost| self.fixed.of_cost(cost)).collect();
        let erm = self.fixed.erm().of_samples(&counted) + self.fixed.price();
        Ok(Value { erm, mean: Erm::MEAN.of_samples(&costs), next_best: None })
    }
}
