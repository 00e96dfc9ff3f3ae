//! Marginal backward induction on what was learned: the objective as if it were a sum of step costs, as
//! [the planner for tables](crate::GuidedPlanner) has it, with counted outcomes.
//!
//! A step with features φ from a pair that holds the agent costs m_t·r, r = (f(Φ + M·φ) − f(Φ))/M, with M the expected mass of the stay. Rates r are
//! computed at a few times and interpolated between them; pairs that were never tried are left out.

use std::hash::Hash;

use super::table::{END, Table};
use crate::risk::Erm;

/// Times at which rates are computed.
const TIMES: usize = 9;
/// Stays are told apart by a quarter of a doubling.
const LEVELS_PER_DOUBLING: f64 = 4.0;
/// The most numbers that are kept.
const MOST_KEPT: usize = 1 << 24;

/// U_t(s) of the last root, and what it is made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Induction {
    since: usize,
    depth: usize,
    pairs: usize,
    states: usize,
    /// Whether a state can be reached in so many steps from the root; the largest number if not.
    distances: Vec<u32>,
    order: Vec<u32>,
    /// By depth·states + state.
    values: Vec<f64>,
    /// By depth·pairs + pair; infinite for those that were not tried.
    risks: Vec<f64>,
    /// Of each pair: its level of stays and the effect that is most usual.
    levels: Vec<u32>,
    usual: Vec<u32>,
    /// Whether the pairs of a state have different effects.
    differ: Vec<bool>,
    /// Rates by class·TIMES + k; `NaN` as long as not needed.
    rates: Vec<f64>,
    level_count: usize,
    /// M by level·(horizon + 1) + time.
    stays: Vec<f64>,
    horizon: usize,
    /// The sums of the root.
    scratch: Vec<f64>,
    base: f64,
}

/// Where an update looks from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root<'a> {
    pub(super) state: u32,
    pub(super) time: usize,
    /// The sums of features.
    pub(super) sums: &'a [f64],
}

/// The number of a probability to stay.
fn level(stay: f64, most: usize) -> u32 {
    let doublings = -(1.0 - stay).max(1e-12).log2();
    ((LEVELS_PER_DOUBLING * doublings).round() as usize).min(most - 1) as u32
}

impl Induction {
    /// For episodes with these masses of steps.
    pub(super) fn new(masses: &[f64]) -> Self {
        let horizon = masses.len();
        let level_count = (LEVELS_PER_DOUBLING * (horizon as f64).log2()).ceil() as usize + 9;
        let mut stays = vec![0.0; level_count * (horizon + 1)];
        for (level, own) in stays.chunks_mut(horizon + 1).enumerate() {
            let last = level + 1 == level_count;
            let hold = if last { 1.0 } else { 1.0 - (-(level as f64) / LEVELS_PER_DOUBLING).exp2() };
            for time in (0..horizon).rev() {
                own[time] = masses[time] + hold * own[time + 1];
            }
        }
        Self { level_count, stays, horizon, ..Self::default() }
    }

    /// Forgets what was solved.
    pub(super) fn clear(&mut self) {
        self.states = 0;
    }

    /// Solves from this root; looks at `work` outcomes at most, but at one step at least.
    ///
    /// # Errors
    /// Those of `cost`.
    pub(super) fn update<T: Clone + Hash + Eq, E>(
        &mut self,
        table: &Table<T>,
        masses: &[f64],
        erm: Erm,
        root: Root<'_>,
        work: usize,
        mut cost: impl FnMut(&[f64]) -> Result<f64, E>,
    ) -> Result<(), E> {
        let time = root.time;
        (self.since, self.states, self.pairs) = (time, table.state_count(), table.pair_count());
        self.scratch.clear();
        self.scratch.extend_from_slice(root.sums);
        self.base = cost(root.sums)?;
        self.look_around(table, root.state, self.horizon - time, work);
        self.know_pairs(table);
        self.rates.clear();
        self.rates.resize(table.effect_count() * self.level_count * TIMES, f64::NAN);
        self.values.clear();
        self.values.resize((self.depth + 1) * self.states, 0.0);
        self.risks.clear();
        self.risks.resize(self.depth * self.pairs, f64::INFINITY);
        for ahead in (0..self.depth).rev() {
            let now = time + ahead;
            let mass = masses[now];
            for place in 0..self.order.len() {
                let state = self.order[place];
                if self.distances[state as usize] as usize > ahead {
                    break;
                }
                let mut lowest = f64::INFINITY;
                for pair in table.pairs_of(state) {
                    if table.times(pair) == 0 {
                        continue;
                    }
                    let level = self.levels[pair as usize];
                    for outcome in table.outcomes(pair) {
                        self.ensure_rate(table, outcome.effect, level, now, &mut cost)?;
                    }
                    let later = |to: u32| {
                        if to == END { 0.0 } else { self.values[(ahead + 1) * self.states + to as usize] }
                    };
                    let own = table
                        .outcomes(pair)
                        .map(|to| (mass * self.rate(to.effect, level, now) + later(to.state), f64::from(to.count)));
                    let risk = erm.quickly(own);
                    self.risks[ahead * self.pairs + pair as usize] = risk;
                    lowest = lowest.min(risk);
                }
                self.values[ahead * self.states + state as usize] = if lowest < f64::INFINITY { lowest } else { 0.0 };
            }
        }
        Ok(())
    }

    /// The pair that is best, by its place among those of the state; `None` where nothing is known. Costs are those of the running
    /// sums where pairs differ in them.
    ///
    /// # Errors
    /// Those of `cost`.
    #[inline]
    pub(super) fn best<T: Clone + Hash + Eq, E>(
        &mut self,
        table: &Table<T>,
        masses: &[f64],
        state: u32,
        time: usize,
        running: &mut [f64],
        cost: impl FnMut(&[f64]) -> Result<f64, E>,
    ) -> Result<Option<u32>, E> {
        let ahead = time - self.since;
        if state as usize >= self.states || ahead >= self.depth || self.distances[state as usize] as usize > ahead {
            return Ok(None);
        }
        let own = table.pairs_of(state);
        let risks = &self.risks[ahead * self.pairs + own.start as usize..ahead * self.pairs + own.end as usize];
        let mut best = (f64::INFINITY, None);
        if self.differ[state as usize] {
            return self.best_anew(table, masses, state, time, running, cost);
        }
        for (k, &risk) in (0..).zip(risks) {
            if risk < best.0 {
                best = (risk, Some(k));
            }
        }
        Ok(best.1)
    }

    /// The same with costs at the running sums.
    fn best_anew<T: Clone + Hash + Eq, E>(
        &mut self,
        table: &Table<T>,
        masses: &[f64],
        state: u32,
        time: usize,
        running: &mut [f64],
        mut cost: impl FnMut(&[f64]) -> Result<f64, E>,
    ) -> Result<Option<u32>, E> {
        let (ahead, own) = (time - self.since, table.pairs_of(state));
        let base = cost(running)?;
        let mut best = (f64::INFINITY, None);
        let mut known = (END, END, 0.0);
        for (k, pair) in (0..).zip(own) {
            let risk = self.risks[ahead * self.pairs + pair as usize];
            if risk == f64::INFINITY {
                continue;
            }
            let (effect, level) = (self.usual[pair as usize], self.levels[pair as usize]);
            if (known.0, known.1) != (effect, level) {
                let stay = self.stay(level, time);
                let rate = rate_at(table, running, effect, stay, base, &mut cost)?;
                let change = masses[time] * (rate - self.rate(effect, level, time));
                // f need not have a value before the end.
                known = (effect, level, if change.is_finite() { change } else { 0.0 });
            }
            if risk + known.2 < best.0 {
                best = (risk + known.2, Some(k));
            }
        }
        Ok(best.1)
    }

    /// Half the logarithm of the choices of a step, and the entropy of its outcomes: means over all that was tried.
    pub(super) fn spread<T: Clone + Hash + Eq>(&self, table: &Table<T>) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for &state in &self.order {
            let own = table.pairs_of(state);
            let choice = 0.5 * (own.len() as f64).ln();
            for pair in own {
                let times = f64::from(table.times(pair));
                let entropy = |count: u32| f64::from(count) * (times / f64::from(count)).ln();
                sum += times * choice + table.outcomes(pair).map(|to| entropy(to.count)).sum::<f64>();
                all += times;
            }
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }

    fn stay(&self, level: u32, time: usize) -> f64 {
        self.stays[level as usize * (self.horizon + 1) + time]
    }

    /// The times between which a rate is interpolated.
    fn between(&self, time: usize) -> (usize, f64) {
        let last = self.horizon - 1;
        if last == self.since {
            return (0, 0.0);
        }
        let place = (time - self.since) as f64 / (last - self.since) as f64 * (TIMES - 1) as f64;
        let below = (place as usize).min(TIMES - 2);
        (below, place - below as f64)
    }

    fn time_of(&self, place: usize) -> usize {
        self.since + (self.horizon - 1 - self.since) * place / (TIMES - 1)
    }

    #[inline]
    fn rate(&self, effect: u32, level: u32, time: usize) -> f64 {
        let (below, part) = self.between(time);
        let first = (effect as usize * self.level_count + level as usize) * TIMES + below;
        let low = self.rates[first];
        if part == 0.0 { low } else { low + part * (self.rates[first + 1] - low) }
    }

    fn ensure_rate<T: Clone + Hash + Eq, E>(
        &mut self,
        table: &Table<T>,
        effect: u32,
        level: u32,
        time: usize,
        mut cost: impl FnMut(&[f64]) -> Result<f64, E>,
    ) -> Result<(), E> {
        let (below, part) = self.between(time);
        let first = (effect as usize * self.level_count + level as usize) * TIMES;
        for place in below..=below + usize::from(part > 0.0) {
            if self.rates[first + place].is_nan() {
                let stay = self.stay(level, self.time_of(place));
                let mut scratch = std::mem::take(&mut self.scratch);
                let rate = rate_at(table, &mut scratch, effect, stay, self.base, &mut cost);
                self.scratch = scratch;
                let rate = rate?;
                self.rates[first + place] = if rate.is_finite() { rate } else { 0.0 };
            }
        }
        Ok(())
    }

    /// Levels and effects of all pairs.
    fn know_pairs<T: Clone + Hash + Eq>(&mut self, table: &Table<T>) {
        self.levels.clear();
        self.levels.resize(self.pairs, 0);
        self.usual.clear();
        self.usual.resize(self.pairs, END);
        self.differ.clear();
        self.differ.resize(self.states, false);
        for &state in &self.order {
            let mut first = END;
            for pair in table.pairs_of(state).filter(|&pair| table.times(pair) > 0) {
                let stays: u32 = table.outcomes(pair).filter(|to| to.state == state).map(|to| to.count).sum();
                let stay = f64::from(stays) / f64::from(table.times(pair));
                self.levels[pair as usize] = level(stay, self.level_count);
                let usual = table.outcomes(pair).max_by_key(|to| to.count).map_or(END, |to| to.effect);
                self.usual[pair as usize] = usual;
                self.differ[state as usize] |= first != END && first != usual;
                first = usual;
            }
        }
    }

    /// Finds the states that can be reached, the nearest first.
    fn look_around<T: Clone + Hash + Eq>(&mut self, table: &Table<T>, root: u32, steps: usize, work: usize) {
        self.distances.clear();
        self.distances.resize(self.states, u32::MAX);
        self.order.clear();
        self.order.push(root);
        self.distances[root as usize] = 0;
        let (mut seen, mut outcomes, mut all, mut depth) = (0, 0_usize, 0_usize, 0);
        while depth < steps {
            let layer = self.order.len();
            for place in seen..layer {
                let state = self.order[place];
                for pair in table.pairs_of(state) {
                    for to in table.outcomes(pair) {
                        outcomes += 1;
                        if to.state != END && self.distances[to.state as usize] == u32::MAX {
                            self.distances[to.state as usize] = depth as u32 + 1;
                            self.order.push(to.state);
                        }
                    }
                }
            }
            all = all.saturating_add(outcomes);
            let kept = (depth + 1).saturating_mul(self.pairs);
            if depth > 0 && (all > work || kept > MOST_KEPT) {
                break;
            }
            seen = layer;
            depth += 1;
        }
        self.depth = depth;
    }
}

/// (f(Φ + M·φ) − f(Φ))/M; the sums are as before in the end.
fn rate_at<T: Clone + Hash + Eq, E>(
    table: &Table<T>,
    sums: &mut [f64],
    effect: u32,
    stay: f64,
    base: f64,
    mut cost: impl FnMut(&[f64]) -> Result<f64, E>,
) -> Result<f64, E> {
    let changes = table.effect_of(effect);
    if changes.is_empty() || stay <= 0.0 {
        return Ok(0.0);
    }
    let mut few = [0.0; 8];
    let many: Vec<f64>;
    let before: &[f64] = if changes.len() <= few.len() {
        for (kept, &(place, _)) in few.iter_mut().zip(changes) {
            *kept = sums[place as usize];
        }
        &few
    } else {
        many = changes.iter().map(|&(place, _)| sums[place as usize]).collect();
        &many
    };
    for &(place, x) in changes {
        sums[place as usize] += stay * x;
    }
    let after = cost(sums);
    for (&(place, _), &x) in changes.iter().zip(before) {
        sums[place as usize] = x;
    }
    Ok((after? - base) / stay)
}
