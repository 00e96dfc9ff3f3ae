//! The search for the outer variable of `CVaR` and its mixtures where all costs are known that an episode can end with.
//!
//! Between two neighbouring costs what a policy attains is linear in λ, so one that is best inside is best at both ends: only costs
//! have to be looked at. Intervals between them are excluded, or halved until nothing is inside; around the best they are narrow, and
//! twice as wide farther away, as bounds get worse with the width. What is left are all values that are as good as the best.

use std::collections::BTreeSet;

use super::OracleError;
use super::minimise::{CLAIMED, EXCLUDED, MOST_SOLVES, Search, WIDE};
use super::ties::EQUAL;
use crate::risk::Aim;

/// Solves after which values that are as good as the best are no longer looked for, and after which the interval may be wide.
const FOR_TIES: u64 = 256;
const PATIENCE: u64 = 512;

impl Search<'_> {
    /// The costs that can be the best λ, ascending, if they are known. Those that differ by rounding are one.
    pub(super) fn costs(&mut self) -> Option<Vec<f64>> {
        if self.outer.is_entropic() {
            return None;
        }
        let equal = EQUAL * self.spread;
        let matter = self.outer.that_matter((self.best.risk + equal, self.best.outer), self.extremes, f64::INFINITY);
        let &(low, high) = matter.first()?;
        let mut costs = self.passes.final_costs((low - equal, high + equal))?;
        self.merge(&mut costs);
        Some(costs).filter(|costs| !costs.is_empty())
    }

    /// Makes one of ascending values that are the same but for rounding: the highest, since rounding above λ may weigh much in the tail,
    /// and rounding below it does not.
    fn merge(&self, values: &mut Vec<f64>) {
        values.dedup_by(|next, last| {
            let is_same = self.is_same(*next, *last);
            *last = if is_same { *next } else { *last };
            is_same
        });
    }

    /// Looks at all of these costs, or excludes them. Returns what is certain then.
    pub(super) fn look_through(&mut self, costs: &[f64]) -> Result<f64, OracleError> {
        let (equal, before) = (EQUAL * self.spread, self.passes.solves);
        let mut found = vec![(self.best.risk, self.best.outer)];
        let (mut seen, mut slack) = (BTreeSet::new(), equal);
        let mut open = around(nearest(costs, self.best.outer), costs.len());
        while !open.is_empty() {
            let solves = self.passes.solves - before;
            if solves > MOST_SOLVES {
                return Ok(self.extremes.mean);
            }
            if solves > FOR_TIES {
                self.width = self.width.max(if solves > PATIENCE { WIDE * self.spread } else { 0.0 });
                slack = -EXCLUDED * self.width;
            }
            let threshold = self.best.risk + slack;
            let ends = |&(low, high): &(usize, usize)| (costs[low], costs[high]);
            let aims: Vec<Aim> = open.iter().flat_map(|k| self.outer.exclusion(ends(k), threshold)).collect();
            let values = self.passes.values(&aims)?;
            let left = open.iter().zip(values.chunks(2));
            let left = left.filter(|(k, solved)| !self.outer.is_excluded(ends(k), solved, threshold));
            let left: Vec<(usize, usize)> = left.map(|(&k, _)| k).collect();
            let points = left.iter().flat_map(|&(low, high)| [low, usize::midpoint(low, high), high]);
            let new: BTreeSet<usize> = points.filter(|&k| seen.insert(k)).collect();
            let aims: Vec<Aim> = new.iter().map(|&k| self.aim(costs[k])).collect();
            let values = self.passes.values(&aims)?;
            let risks: Vec<(f64, f64)> =
                new.iter().zip(values).map(|(&k, value)| (self.risk_at(costs[k], value), costs[k])).collect();
            found.extend(risks);
            for &(risk, y) in &found {
                if risk < self.best.risk - equal {
                    (self.best.risk, self.best.outer) = (risk, y);
                }
            }
            let halves = left.into_iter().filter(|(low, high)| high - low > 1).flat_map(|(low, high)| {
                let middle = usize::midpoint(low, high);
                [(low, middle), (middle, high)]
            });
            open = halves.collect();
        }
        let tied = found.into_iter().filter(|&(risk, _)| risk <= self.best.risk + 2.0 * equal);
        let mut tied: Vec<f64> = tied.map(|(_, y)| y).collect();
        tied.sort_by(f64::total_cmp);
        self.merge(&mut tied);
        self.tied = tied;
        let width = if slack > 0.0 { self.rounding.max(4.0 * equal) } else { CLAIMED * self.width };
        Ok(self.best.risk - width)
    }
}

/// The number of the cost that is nearest to a value.
fn nearest(costs: &[f64], value: f64) -> usize {
    let above = costs.partition_point(|&cost| cost < value).min(costs.len() - 1);
    let below = above.saturating_sub(1);
    if value - costs[below] < costs[above] - value { below } else { above }
}

/// Intervals of so many numbers that touch, narrow around one of them and wider farther away.
fn around(best: usize, count: usize) -> Vec<(usize, usize)> {
    let last = count - 1;
    let best = best.min(last);
    let steps = (0..usize::BITS - 1).map(|power| 1 << power);
    let near = steps.flat_map(|step: usize| [best.saturating_sub(step), best.saturating_add(step).min(last)]);
    let points: Vec<usize> = near.chain([0, best, last]).collect::<BTreeSet<_>>().into_iter().collect();
    if points.len() == 1 { vec![(best, best)] } else { points.windows(2).map(|pair| (pair[0], pair[1])).collect() }
}

#[cfg(test)]
mod tests {
    use super::{around, nearest};

    #[test]
    fn all_numbers_are_in_some_interval() {
        assert_eq!(around(0, 1), [(0, 0)]);
        assert_eq!(around(7, 2), [(0, 1)]);
        assert_eq!(around(3, 9), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 7), (7, 8)]);
        assert_eq!([-1.0, 0.0, 0.4, 0.6, 2.0, 9.0].map(|value| nearest(&[0.0, 1.0, 2.0], value)), [0, 0, 0, 1, 2, 2]);
        let many = around(1000, 1_000_000);
        assert!(many.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert_eq!((many[0].0, many[many.len() - 1].1, many.len()), (0, 999_999, 32));
    }
}
