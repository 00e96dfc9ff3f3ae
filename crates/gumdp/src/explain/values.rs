//! What is done in a situation and what it costs from there on: from the exact solution, or from a planner.

use rayon::prelude::*;

use super::ExplainError;
use crate::episode::{EpisodeError, play_on};
use crate::experiment::Watch;
use crate::model::Pair;
use crate::oracle::{ExactDecision, Limits, OptimalPolicy, OracleError, Solution};
use crate::policy::Policy;
use crate::problem::{OccupancyState, Problem};
use crate::risk::{Erm, FixedRisk};
use crate::rng::{self, Purpose, Rng};
use crate::stop::Stop;

/// Risk and expected final cost, given that one is there.
pub(super) struct Value {
    /// The risk, as the outer variable sees it if the measure has one.
    pub(super) risk: f64,
    /// The expected cost.
    pub(super) mean: f64,
    /// The second best first action, and how much more risk it means, if that is known.
    pub(super) next_best: Option<(Pair, f64)>,
}

/// Knows what is done and what it costs.
pub(super) trait Explainer {
    /// What is done from now on is done in another situation; `number` tells situations apart.
    fn begin(&mut self, _number: u64) {}

    /// What is done here; nothing if that is not to be known.
    fn act(&mut self, at: &OccupancyState) -> Option<Pair>;

    /// What it costs from here on.
    fn value(&mut self, at: &OccupancyState, number: u64) -> Result<Value, ExplainError>;
}

/// The exact solution.
pub(super) struct Exact<'a> {
    pub(super) problem: &'a Problem,
    pub(super) limits: &'a Limits,
    pub(super) solution: &'a Solution,
    pub(super) policy: OptimalPolicy,
    /// The first decision with each action at its own outer variable, if that is known.
    pub(super) first: Option<ExactDecision>,
}

impl Explainer for Exact<'_> {
    fn act(&mut self, at: &OccupancyState) -> Option<Pair> {
        Some(self.policy.best(at))
    }

    fn value(&mut self, at: &OccupancyState, _: u64) -> Result<Value, ExplainError> {
        if self.limits.stop.is_requested() {
            return Err(OracleError::Stopped.into());
        }
        if at.time >= self.problem.horizon() {
            let (cost, fixed) = (self.problem.cost(at), self.solution.fixed());
            return Ok(Value { risk: fixed.of_cost(cost) + fixed.price(), mean: cost, next_best: None });
        }
        let decision = match self.first.as_ref().filter(|_| at.time == 0) {
            Some(first) => first.clone(),
            None => self.solution.decide_in_itself(at, self.limits)?,
        };
        let best = self.policy.best(at);
        let mut value = Value { risk: f64::NAN, mean: f64::NAN, next_best: None };
        for (pair, reason) in self.problem.mdp().pairs(at.state).map(Pair::from).zip(&decision.reasons) {
            if pair == best {
                (value.risk, value.mean) = (reason.value, reason.mean);
            } else if value.next_best.is_none_or(|(_, risk)| reason.value < risk) {
                value.next_best = Some((pair, reason.value));
            }
        }
        value.next_best = value.next_best.map(|(pair, risk)| (pair, risk - value.risk));
        Ok(value)
    }
}

/// A planner, and episodes that it plays on from a situation.
pub(super) struct Planned<'a> {
    pub(super) problem: &'a Problem,
    /// The risk measure with its outer variable.
    pub(super) fixed: FixedRisk,
    pub(super) planner: Box<dyn Policy>,
    pub(super) rng: Rng,
    pub(super) seed: u64,
    /// Episodes for each situation.
    pub(super) runs: u64,
    pub(super) stop: &'a Stop,
    /// Is told that one more situation is known.
    pub(super) watch: &'a dyn Watch,
}

impl Explainer for Planned<'_> {
    fn begin(&mut self, number: u64) {
        self.rng = rng::stream(self.seed, number, Purpose::Policy);
        self.planner.begin_episode();
    }

    fn act(&mut self, at: &OccupancyState) -> Option<Pair> {
        // What it fails for is told where its episodes are played.
        let action = if self.stop.is_requested() { None } else { self.planner.act(at, &mut self.rng).ok() };
        self.problem.mdp().pair(at.state, action?)
    }

    fn value(&mut self, at: &OccupancyState, number: u64) -> Result<Value, ExplainError> {
        let play = |planner: &mut Box<dyn Policy>, run: u64| {
            if self.stop.is_requested() {
                return Err(EpisodeError::Stopped { time: at.time });
            }
            let stream = |purpose| rng::stream(self.seed, (number << 32) + (1 << 31) + run, purpose);
            let (mut environment, mut own) = (stream(Purpose::Environment), stream(Purpose::Policy));
            Ok(play_on(self.problem, &mut **planner, at.clone(), &mut environment, &mut own)?.cost)
        };
        let costs: Result<Vec<f64>, EpisodeError> =
            (0..self.runs).into_par_iter().map_init(|| self.planner.clone(), play).collect();
        let costs = costs?;
        self.watch.finished(1);
        let counted: Vec<f64> = costs.iter().map(|&cost| self.fixed.of_cost(cost)).collect();
        let risk = self.fixed.erm().of_samples(&counted) + self.fixed.price();
        Ok(Value { risk, mean: Erm::MEAN.of_samples(&costs), next_best: None })
    }
}
