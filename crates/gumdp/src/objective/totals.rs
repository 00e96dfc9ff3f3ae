//! Terms that see the occupancy through a few total costs z_i = c_i·d: plain cost and several objectives at once.

use std::fmt;

use super::{Bounds, ObjectiveError};
use crate::words::rounded;

/// A utility of k total costs.
#[derive(Clone, Debug)]
pub(super) struct Totals {
    pub(super) costs: Costs,
    utility: Utility,
}

/// The costs c_i of k totals c_i·d.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    /// Pair by pair: `table[pair·k + i]`.
    table: Vec<f64>,
    k: usize,
}

/// How total costs are combined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Utility {
    /// The only total itself.
    Identity,
    /// The largest total.
    Maximum,
    /// The smallest total.
    Minimum,
    /// Σ_i weight_i · sign(z_i)|z_i|^power_i, as `(weight, power)`.
    SignedPower(Vec<(f64, f64)>),
}

impl Totals {
    pub(super) fn linear(costs: Vec<f64>) -> Result<Self, ObjectiveError> {
        Self::new(&[costs], Utility::Identity)
    }

    pub(super) fn new(costs: &[Vec<f64>], utility: Utility) -> Result<Self, ObjectiveError> {
        Ok(Self { costs: Costs::new(costs)?, utility })
    }

    pub(super) fn signed_power(costs: &[Vec<f64>], weights: &[f64], powers: &[f64]) -> Result<Self, ObjectiveError> {
        for (what, got) in [("weights", weights.len()), ("powers", powers.len())] {
            if got != costs.len() {
                return Err(ObjectiveError::Length { what, got, expected: costs.len() });
            }
        }
        check_finite("weight", weights)?;
        if let Some(index) = powers.iter().position(|p| !(p.is_finite() && *p > 0.0)) {
            let allowed = "finite and positive";
            return Err(ObjectiveError::Entry { what: "power", index, value: powers[index], allowed });
        }
        if powers.iter().all(|&power| power == 1.0) {
            // Validated first, then folded into one cost.
            let separate = Self::new(costs, Utility::Identity)?;
            return Self::linear(
                separate.costs.rows().map(|row| row.iter().zip(weights).map(|(c, w)| c * w).sum()).collect(),
            );
        }
        let utility = Utility::SignedPower(weights.iter().copied().zip(powers.iter().copied()).collect());
        Self::new(costs, utility)
    }

    pub(super) fn utility(&self) -> &Utility {
        &self.utility
    }

    /// Whether the utility is the total itself.
    #[inline]
    pub(super) fn is_linear(&self) -> bool {
        matches!(self.utility, Utility::Identity)
    }

    /// How much the utility grows if `pair` is visited with this much occupancy.
    #[inline]
    pub(super) fn increase(&self, totals: &[f64], pair: usize, mass: f64) -> f64 {
        let costs = self.costs.of(pair);
        if self.is_linear() {
            return mass * costs[0];
        }
        if costs.iter().all(|&cost| cost == 0.0) {
            return 0.0;
        }
        let after = totals.iter().zip(costs).map(|(total, cost)| total + mass * cost);
        self.utility_of(after) - self.value(totals)
    }

    #[inline]
    pub(super) fn value(&self, totals: &[f64]) -> f64 {
        self.utility_of(totals.iter().copied())
    }

    #[inline]
    fn utility_of(&self, mut totals: impl Iterator<Item = f64>) -> f64 {
        match &self.utility {
            Utility::Identity => totals.next().unwrap_or(0.0),
            Utility::Maximum => totals.fold(f64::NEG_INFINITY, f64::max),
            Utility::Minimum => totals.fold(f64::INFINITY, f64::min),
            Utility::SignedPower(parameters) => {
                totals.zip(parameters).map(|(z, &(weight, power))| weight * signed_power(z, power)).sum()
            }
        }
    }

    /// The utility after a path that starts with totals `root`; `totals` is memory for one number each.
    #[inline]
    pub(super) fn value_of_path(
        &self,
        root: impl Iterator<Item = f64>,
        totals: &mut [f64],
        path: &[u32],
        masses: &[f64],
    ) -> f64 {
        match self.costs.k {
            1 => self.value(&self.costs.sum_path::<1>(root, path, masses)),
            2 => self.value(&self.costs.sum_path::<2>(root, path, masses)),
            3 => self.value(&self.costs.sum_path::<3>(root, path, masses)),
            _ => {
                self.costs.add_path(root, totals, path, masses);
                self.value(totals)
            }
        }
    }

    /// The slope of the utility in each total; `None` if one is infinite.
    pub(super) fn slopes(&self, totals: &[f64]) -> Option<Vec<f64>> {
        let only = |chosen: f64| {
            let first = totals.iter().position(|&z| z == chosen);
            (0..self.costs.k).map(|i| if Some(i) == first { 1.0 } else { 0.0 }).collect()
        };
        match &self.utility {
            Utility::Identity => Some(vec![1.0]),
            Utility::Maximum | Utility::Minimum => Some(only(self.value(totals))),
            Utility::SignedPower(parameters) => {
                let slopes: Vec<f64> = totals
                    .iter()
                    .zip(parameters)
                    .map(|(&z, &(weight, power))| weight * power * z.abs().powf(power - 1.0))
                    .collect();
                slopes.iter().all(|s| s.is_finite()).then_some(slopes)
            }
        }
    }

    pub(super) fn lipschitz(&self) -> Option<f64> {
        let largest: Vec<f64> = self.costs.ranges().map(|(low, high)| low.abs().max(high.abs())).collect();
        match &self.utility {
            Utility::Identity | Utility::Maximum | Utility::Minimum => largest.into_iter().reduce(f64::max),
            Utility::SignedPower(parameters) => {
                largest.iter().zip(parameters).try_fold(0.0, |sum, (&largest, &(weight, power))| {
                    let needless = weight == 0.0 || largest == 0.0;
                    (power >= 1.0 || needless)
                        .then(|| if needless { sum } else { sum + weight.abs() * power * largest.powf(power) })
                })
            }
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        let (lows, highs): (Vec<f64>, Vec<f64>) = self.costs.ranges().unzip();
        match &self.utility {
            Utility::Identity => Bounds { low: lows[0], high: highs[0] },
            Utility::Maximum => Bounds {
                low: lows.into_iter().fold(f64::NEG_INFINITY, f64::max),
                high: highs.into_iter().fold(f64::NEG_INFINITY, f64::max),
            },
            Utility::Minimum => Bounds {
                low: lows.into_iter().fold(f64::INFINITY, f64::min),
                high: highs.into_iter().fold(f64::INFINITY, f64::min),
            },
            Utility::SignedPower(parameters) => {
                let mut bounds = Bounds { low: 0.0, high: 0.0 };
                for ((low, high), &(weight, power)) in lows.into_iter().zip(highs).zip(parameters) {
                    let (a, b) = (weight * signed_power(low, power), weight * signed_power(high, power));
                    bounds.low += a.min(b);
                    bounds.high += a.max(b);
                }
                bounds
            }
        }
        .widened()
    }

    /// The cost of each pair if the term is linear.
    pub(super) fn as_linear(&self) -> Option<impl Iterator<Item = f64> + '_> {
        (self.utility == Utility::Identity).then(|| self.costs.table.iter().copied())
    }

    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = (1..=self.costs.k).map(|i| format!("c{i}·d")).collect::<Vec<_>>().join(", ");
        match &self.utility {
            Utility::Identity => f.write_str("c·d"),
            Utility::Maximum => write!(f, "max({list})"),
            Utility::Minimum => write!(f, "min({list})"),
            Utility::SignedPower(parameters) => {
                let term = |(i, (weight, power)): (usize, &(f64, f64))| {
                    let weight = if *weight == 1.0 { String::new() } else { format!("{}·", rounded(*weight)) };
                    let (z, power) = (format!("c{}·d", i + 1), rounded(*power));
                    // An odd power keeps the sign by itself.
                    match (power == 1.0, power % 2.0 == 1.0) {
                        (true, _) => format!("{weight}{z}"),
                        (_, true) => format!("{weight}({z})^{power}"),
                        _ => format!("{weight}sign({z})|{z}|^{power}"),
                    }
                };
                write!(f, "({})", parameters.iter().enumerate().map(term).collect::<Vec<_>>().join(" + "))
            }
        }
    }
}

impl Costs {
    pub(super) fn new(costs: &[Vec<f64>]) -> Result<Self, ObjectiveError> {
        let k = costs.len();
        let pairs = costs.first().ok_or(ObjectiveError::Empty { what: "costs" })?.len();
        if pairs == 0 {
            return Err(ObjectiveError::Empty { what: "pairs" });
        }
        for cost in costs {
            if cost.len() != pairs {
                return Err(ObjectiveError::Length { what: "pairs", got: cost.len(), expected: pairs });
            }
            check_finite("cost", cost)?;
        }
        let table = (0..pairs).flat_map(|pair| costs.iter().map(move |cost| cost[pair])).collect();
        Ok(Self { table, k })
    }

    /// Number of totals.
    pub(super) fn count(&self) -> usize {
        self.k
    }

    pub(super) fn pair_count(&self) -> usize {
        self.table.len() / self.k
    }

    /// The costs of one pair, one for each total.
    #[inline]
    pub(super) fn of(&self, pair: usize) -> &[f64] {
        &self.table[pair * self.k..(pair + 1) * self.k]
    }

    #[inline]
    pub(super) fn add(&self, totals: &mut [f64], pair: usize, mass: f64) {
        for (total, cost) in totals.iter_mut().zip(self.of(pair)) {
            *total += mass * cost;
        }
    }

    /// The totals after a path that starts with `root`.
    #[inline]
    pub(super) fn add_path(&self, root: impl Iterator<Item = f64>, totals: &mut [f64], path: &[u32], masses: &[f64]) {
        for (total, root) in totals.iter_mut().zip(root) {
            *total = root;
        }
        for (&pair, &mass) in path.iter().zip(masses) {
            self.add(totals, pair as usize, mass);
        }
    }

    /// The same for a number of totals known to the compiler, which keeps them in registers.
    #[inline]
    fn sum_path<const K: usize>(&self, root: impl Iterator<Item = f64>, path: &[u32], masses: &[f64]) -> [f64; K] {
        let mut totals = [0.0; K];
        for (total, root) in totals.iter_mut().zip(root) {
            *total = root;
        }
        let (costs, _) = self.table.as_chunks::<K>();
        for (&pair, &mass) in path.iter().zip(masses) {
            for (total, cost) in totals.iter_mut().zip(&costs[pair as usize]) {
                *total += mass * cost;
            }
        }
        totals
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.table.chunks_exact(self.k)
    }

    /// Lowest and highest cost of each total.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        (0..self.k).map(|i| {
            self.rows().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), row| (low.min(row[i]), high.max(row[i])))
        })
    }
}

fn signed_power(z: f64, power: f64) -> f64 {
    if power == 0.5 { z.abs().sqrt().copysign(z) } else { z.abs().powf(power).copysign(z) }
}

fn check_finite(what: &'static str, values: &[f64]) -> Result<(), ObjectiveError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(ObjectiveError::Entry { what, index, value: values[index], allowed: "finite" }),
    }
}
