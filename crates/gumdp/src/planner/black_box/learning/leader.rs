//! Who leads: the policy whose simulations from the present situation have the lowest risk. Those that learn are compared with the same random numbers.

use super::{By, LearningPlanner, Simulator, Situation};
use crate::planner::guided::{error_of_difference, risk_of};

/// Rollouts that say which policy is better.
const SOME: usize = 8;

impl<S: Simulator> LearningPlanner<S> {
    /// The action of the lattice at the running sums, or where there is none that of marginal backward induction.
    #[inline]
    pub(super) fn by_learned(&mut self, by: By, number: u32, time: usize) -> Result<Option<u32>, S::Error> {
        if by == By::Lattice
            && let Some(best) = self.lattice.best(number, time, &self.running)
        {
            return Ok(Some(best));
        }
        let Self { problem, induction, table, running, .. } = self;
        let cost = |sums: &[f64]| problem.simulator().cost(sums);
        induction.best(table, problem.masses(), number, time, running, cost)
    }

    /// Finds out who leads now. A tree that was made in another way is of no further use.
    pub(super) fn look_who_leads(&mut self, at: &Situation<S::State>, number: u32) {
        let steps = self.problem.horizon() - at.time;
        let before = self.averages(steps);
        // As long as nothing was simulated, whoever led in the last decision does.
        if !(self.random.is_empty() && at.time > 0) {
            self.leads = self.leader();
        }
        if self.averages(steps) != before {
            self.tree.reset(at.state.clone(), number, &at.features);
        }
    }

    /// Who did best in simulations from the root: what was learned, unless the others are better.
    fn leader(&self) -> By {
        let erm = self.risk.erm();
        let mut best = (By::Chance, &self.random[..]);
        let enough = |costs: &[(f64, f64)]| costs.len() >= SOME;
        if self.table.learns() {
            let (mut first, mut other) = ((By::Learned, &self.learned[..]), (By::Lattice, &self.by_lattice[..]));
            let exact = self.lattice.is_exact();
            if exact {
                std::mem::swap(&mut first, &mut other);
            }
            if enough(first.1) && enough(other.1) {
                let error = self.settings.caution * error_of_difference(erm, first.1, other.1);
                if risk_of(erm, other.1) + error < risk_of(erm, first.1) {
                    first = other;
                }
            }
            let known = enough(best.1) && enough(first.1);
            let error = self.settings.caution * error_of_difference(erm, best.1, first.1);
            let chance = if !known {
                !exact && self.leads == By::Chance
            } else if exact {
                risk_of(erm, best.1) < risk_of(erm, first.1)
            } else {
                // What a search with chance finds is as good as it is: something else needs evidence.
                risk_of(erm, best.1) <= risk_of(erm, first.1) + error
            };
            if !chance {
                best = first;
            }
        }
        let planned = self.plan.costs();
        if !self.table.learns() && enough(planned) && enough(best.1) {
            let common = planned.len().min(best.1.len());
            let error = self.settings.caution * error_of_difference(erm, &planned[..common], &best.1[..common]);
            if risk_of(erm, planned) + error < risk_of(erm, best.1) {
                return By::Plan;
            }
        }
        best.0
    }
}
