//! Plans: actions for the rest of the episode whatever happens, mostly the same one for some time. They find what takes many steps in a row, also
//! where no state is ever met again.
//!
//! The plan is kept from decision to decision. Random changes of it are simulated with the random numbers of the plan itself, and one
//! replaces it only if there is evidence under the very measure of risk, or if nothing tells them apart.

use crate::planner::guided::{error_of_difference, risk_of};
use crate::risk::Erm;
use crate::rng::{self, Rng};

/// Simulations that say whether a change is worth more, and all that it gets.
const FIRST: usize = 2;
const ALL: usize = 16;

/// A plan, and a change of it that is being tried.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    start: usize,
    /// For this and the next steps.
    actions: Vec<u32>,
    /// What it cost with the first random numbers of this decision, each of weight 1.
    costs: Vec<(f64, f64)>,
    rival: Vec<u32>,
    rival_costs: Vec<(f64, f64)>,
    /// Of the random numbers of this decision.
    seed: u64,
}

impl Plan {
    /// A decision begins, with so many steps to go; `draw` draws actions.
    ///
    /// # Errors
    /// Those of `draw`.
    pub(super) fn begin<E>(
        &mut self,
        time: usize,
        steps: usize,
        rng: &mut Rng,
        draw: impl FnMut(&mut Rng) -> Result<u32, E>,
    ) -> Result<(), E> {
        if time > self.start && self.actions.len() == steps + time - self.start {
            self.actions.drain(..time - self.start);
        } else {
            self.actions.clear();
            self.actions.resize(steps, 0);
            fill(&mut self.actions, rng, draw)?;
        }
        self.start = time;
        self.costs.clear();
        self.rival.clear();
        self.seed = rng::word(rng);
        Ok(())
    }

    /// Forgets the plan.
    pub(super) fn clear(&mut self) {
        self.actions.clear();
    }

    /// The action that is planned for a time.
    #[inline]
    pub(super) fn action(&self, time: usize) -> Option<u32> {
        self.actions.get(time - self.start).copied()
    }

    /// That of the change which is tried now, or else of the plan.
    #[inline]
    pub(super) fn tried(&self, time: usize) -> Option<u32> {
        let tried = if self.rival.is_empty() { &self.actions } else { &self.rival };
        tried.get(time - self.start).copied()
    }

    /// What is tried next, and with which random numbers.
    ///
    /// # Errors
    /// Those of `draw`.
    pub(super) fn next<E>(&mut self, rng: &mut Rng, draw: impl FnMut(&mut Rng) -> Result<u32, E>) -> Result<Rng, E> {
        let number = if self.costs.len() < ALL {
            self.costs.len()
        } else {
            if self.rival.is_empty() {
                self.change(rng, draw)?;
            }
            self.rival_costs.len()
        };
        Ok(rng::stream(self.seed, number as u64, rng::Purpose::Policy))
    }

    /// What was tried cost this; a change must be better by so many standard errors.
    pub(super) fn record(&mut self, cost: f64, erm: Erm, caution: f64) {
        if self.rival.is_empty() {
            self.costs.push((cost, 1.0));
            return;
        }
        self.rival_costs.push((cost, 1.0));
        let tried = self.rival_costs.len();
        let leads = |caution: f64| {
            let common = &self.costs[..tried];
            let error = caution * error_of_difference(erm, common, &self.rival_costs);
            risk_of(erm, &self.rival_costs) + error <= risk_of(erm, common)
        };
        // Where there is no chance, one simulation says all.
        let certain = self.costs.iter().all(|known| known.0 == self.costs[0].0);
        let enough = if certain && leads(0.0) && tried >= FIRST { tried } else { ALL };
        if tried >= FIRST && !leads(0.0) || certain && !leads(0.0) {
            self.rival.clear();
        } else if tried >= enough {
            if leads(caution) {
                std::mem::swap(&mut self.actions, &mut self.rival);
                std::mem::swap(&mut self.costs, &mut self.rival_costs);
                let last = self.costs[tried - 1];
                self.costs.resize(ALL, last);
            }
            self.rival.clear();
        }
    }

    /// What the plan cost in this decision.
    pub(super) fn costs(&self) -> &[(f64, f64)] {
        &self.costs
    }

    /// A stretch gets another action, or stretches move.
    fn change<E>(&mut self, rng: &mut Rng, mut draw: impl FnMut(&mut Rng) -> Result<u32, E>) -> Result<(), E> {
        self.rival.clone_from(&self.actions);
        self.rival_costs.clear();
        let steps = self.rival.len();
        let from = rng::below(rng, steps as u32) as usize;
        let until = (from + length(steps, rng)).min(steps);
        match rng::below(rng, 4) {
            // Something else for a while.
            0 | 1 => self.rival[from..until].fill(draw(rng)?),
            // Later steps come earlier, the last is repeated.
            2 => {
                self.rival.copy_within(until.., from);
                let kept = from + steps - until;
                let last = draw(rng)?;
                self.rival[kept..].fill(last);
            }
            // Something is put in.
            _ => {
                self.rival.copy_within(from..steps - (until - from), until);
                let new = draw(rng)?;
                self.rival[from..until].fill(new);
            }
        }
        Ok(())
    }
}

/// Short and long stretches are alike likely on a scale of doublings.
fn length(steps: usize, rng: &mut Rng) -> usize {
    ((steps as f64).powf(rng::unit(rng)) as usize).clamp(1, steps)
}

/// Stretches of random actions.
fn fill<E>(actions: &mut [u32], rng: &mut Rng, mut draw: impl FnMut(&mut Rng) -> Result<u32, E>) -> Result<(), E> {
    let (mut from, steps) = (0, actions.len());
    while from < steps {
        let until = (from + length(steps, rng)).min(steps);
        actions[from..until].fill(draw(rng)?);
        from = until;
    }
    Ok(())
}
