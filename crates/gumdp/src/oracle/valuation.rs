//! What an occupancy state is worth, from what follows it: the one place where risk is taken, so that every way through the
//! occupancy MDP gives the same bits.

use super::outlook::Outlook;
use super::reduced::Successor;
use crate::risk::{Aim, Terminals};

/// Values that differ by no more than this part of them are equal but for rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Takes the risk of final costs and of choices.
pub(super) trait Valuation: Sync {
    /// What is known of an occupancy state once it is solved.
    type Value: Copy + Send + Sync;

    /// Worse than anything that can be solved.
    const UNSOLVED: Self::Value;

    /// Of a pair at the last step, by the final cost.
    fn of_cost(&self, pair: u32, cost: f64) -> Self::Value;

    /// Of a choice, from its successors.
    fn of_choice<'v>(
        &self,
        pair: u32,
        successors: &[Successor],
        values: impl Iterator<Item = &'v Self::Value> + Clone,
    ) -> Self::Value
    where
        Self::Value: 'v;

    /// Takes the other if that is better.
    fn better(&self, best: &mut Self::Value, other: &Self::Value);

    /// Of all that can follow, if nothing more has to be known of it.
    #[inline]
    fn of_outlook(&self, _: &Outlook) -> Option<Self::Value> {
        None
    }
}

/// What is known of an occupancy state once it is solved for one aim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solved {
    /// The optimal value of the aim.
    pub(super) value: f64,
    /// The expected final cost of the choices that attain it.
    pub(super) mean: f64,
    /// The lowest best pair.
    pub(super) pair: u32,
}

/// Several aims share the way through the occupancy MDP; the bits of each are those it would have alone.
impl<const AIMS: usize> Valuation for [Aim; AIMS] {
    type Value = [Solved; AIMS];

    const UNSOLVED: Self::Value = [Solved { value: f64::INFINITY, mean: f64::INFINITY, pair: 0 }; AIMS];

    #[inline]
    fn of_cost(&self, pair: u32, cost: f64) -> Self::Value {
        self.map(|aim| Solved { value: aim.terminal.of(cost), mean: cost, pair })
    }

    #[inline]
    fn of_choice<'v>(
        &self,
        pair: u32,
        successors: &[Successor],
        mut values: impl Iterator<Item = &'v Self::Value> + Clone,
    ) -> Self::Value {
        if let ([_], Some(value)) = (successors, values.clone().next()) {
            return value.map(|solved| Solved { pair, ..solved });
        }
        std::array::from_fn(|k| {
            let outcomes = values.by_ref().clone().map(|solved| &solved[k]).zip(successors);
            let mean = outcomes.clone().map(|(next, successor)| successor.probability * next.mean).sum();
            let value = self[k].erm.of_outcomes(outcomes.map(|(next, successor)| (next.value, successor.probability)));
            Solved { value, mean, pair }
        })
    }

    /// Of equal ones the one with the lower mean, and of those the first. One that is not a number is never passed over: it shows at
    /// the root.
    #[inline]
    fn better(&self, best: &mut Self::Value, other: &Self::Value) {
        for ((best, other), aim) in best.iter_mut().zip(other).zip(self) {
            let gain = best.value - other.value;
            let near = if aim.near > 0.0 { aim.near + ROUNDING * other.value.abs() } else { 0.0 };
            let is_better = if gain.abs() <= near {
                best.mean - other.mean > ROUNDING * (best.mean.abs() + other.mean.abs())
            } else {
                gain > 0.0
            };
            if is_better || other.value.is_nan() {
                *best = *other;
            }
        }
    }
}

/// Risk-neutral aims, for final costs that are finite. Nothing but values comes out, with a rounding of their own.
pub(super) struct Neutral<T, const AIMS: usize>(pub(super) T);

impl<T: Terminals<AIMS>, const AIMS: usize> Valuation for Neutral<T, AIMS> {
    type Value = [f64; AIMS];

    const UNSOLVED: Self::Value = [f64::INFINITY; AIMS];

    #[inline]
    fn of_cost(&self, _: u32, cost: f64) -> Self::Value {
        self.0.of(cost)
    }

    #[inline]
    fn of_choice<'v>(
        &self,
        _: u32,
        successors: &[Successor],
        values: impl Iterator<Item = &'v Self::Value> + Clone,
    ) -> Self::Value {
        expected(values.zip(successors.iter().map(|successor| successor.probability)))
    }

    #[inline]
    fn better(&self, best: &mut Self::Value, other: &Self::Value) {
        for (best, other) in best.iter_mut().zip(other) {
            *best = if *other < *best { *other } else { *best };
        }
    }

    #[inline]
    fn of_outlook(&self, &Outlook { low, high, mean, .. }: &Outlook) -> Option<Self::Value> {
        self.0.of_lowest_mean((low, high), mean)
    }
}

/// The mean of some values with their probabilities, for each aim.
#[inline]
pub(super) fn expected<'v, const AIMS: usize>(outcomes: impl Iterator<Item = (&'v [f64; AIMS], f64)>) -> [f64; AIMS] {
    outcomes.fold([0.0; AIMS], |mut sum, (value, probability)| {
        sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += probability * value);
        sum
    })
}

/// No aim at all, where only the costs are wanted.
impl Valuation for () {
    type Value = ();

    const UNSOLVED: () = ();

    fn of_cost(&self, _: u32, _: f64) {}

    fn of_choice<'v>(&self, _: u32, _: &[Successor], _: impl Iterator<Item = &'v ()> + Clone) {}

    fn better(&self, (): &mut (), (): &()) {}
}
