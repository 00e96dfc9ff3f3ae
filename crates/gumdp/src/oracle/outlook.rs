//! What can follow an occupancy state, whatever the aim: known once, it saves walking there for aims that cannot tell the costs apart.
//!
//! A function of the cost that is linear and does not fall between the lowest and the highest cost that can follow is minimised, in
//! expectation, by the lowest mean. So are those of `CVaR` away from their λ.

use super::OracleError;
use super::reduced::{Reduced, Successor};
use super::valuation::Valuation;
use crate::stop::Stop;

/// See above; the costs are finite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outlook {
    /// The lowest and the highest cost that can follow.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The lowest mean that can.
    pub(crate) mean: f64,
    /// Final costs in the tree below, and outlooks of the states in it.
    pub(super) costs: u32,
    pub(super) outlooks: u32,
}

impl Outlook {
    /// Before an outcome is known.
    const NOTHING: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, mean: 0.0, costs: 0, outlooks: 0 };
    /// Before a choice is known.
    const NO_CHOICE: Self = Self { mean: f64::INFINITY, ..Self::NOTHING };

    /// Of a certain cost.
    fn of_cost(cost: f64) -> Self {
        Self { low: cost, high: cost, mean: cost, ..Self::NOTHING }
    }

    /// Another outcome of the same choice.
    fn with(self, probability: f64, other: &Self) -> Self {
        let mean = self.mean + probability * other.mean;
        Self { low: self.low.min(other.low), high: self.high.max(other.high), mean, ..self }
    }

    /// Another choice.
    fn or(self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), mean: self.mean.min(other.mean), ..self }
    }
}

/// Makes outlooks of outlooks.
pub(super) struct Looking;

impl Valuation for Looking {
    type Value = Outlook;

    const UNSOLVED: Outlook = Outlook::NO_CHOICE;

    fn of_cost(&self, _: u32, cost: f64) -> Outlook {
        Outlook::of_cost(cost)
    }

    fn of_choice<'v>(
        &self,
        _: u32,
        successors: &[Successor],
        values: impl Iterator<Item = &'v Outlook> + Clone,
    ) -> Outlook {
        let outcomes = successors.iter().zip(values);
        outcomes.fold(Outlook::NOTHING, |all, (successor, next)| all.with(successor.probability, next))
    }

    fn better(&self, best: &mut Outlook, other: &Outlook) {
        *best = best.or(other);
    }
}

/// Outlooks of all states of a tree before the last step, in the order of a depth-first walk.
pub(super) struct Trees<'a> {
    pub(super) reduced: &'a Reduced,
    /// What is left of the final costs, in the same order.
    pub(super) costs: std::slice::Iter<'a, f64>,
    pub(super) outlooks: Vec<Outlook>,
    pub(super) stop: &'a Stop,
}

impl Trees<'_> {
    /// That of a state when so many steps remain.
    pub(super) fn look(&mut self, remaining: usize, state: u32) -> Result<Outlook, OracleError> {
        let reduced = self.reduced;
        if remaining == 1 {
            let costs = self.costs.by_ref().take(reduced.last_pairs(state).len());
            return Ok(costs.fold(Outlook::NO_CHOICE, |all, &cost| all.or(&Outlook::of_cost(cost))));
        }
        super::check_stop(self.stop)?;
        let (place, costs) = (self.outlooks.len(), self.costs.len());
        self.outlooks.push(Outlook::NOTHING);
        let mut all = Outlook::NO_CHOICE;
        for &choice in reduced.choices(state) {
            let mut own = Outlook::NOTHING;
            for successor in reduced.successors(choice) {
                own = own.with(successor.probability, &self.look(remaining - 1, successor.state)?);
            }
            all = all.or(&own);
        }
        all.costs = (costs - self.costs.len()) as u32;
        all.outlooks = (self.outlooks.len() - place - 1) as u32;
        self.outlooks[place] = all;
        Ok(all)
    }
}
