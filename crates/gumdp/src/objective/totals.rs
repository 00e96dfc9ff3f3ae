//! Total costs z_i = c_i·d. How these are combined, says the kind.

use super::kind::{Content, Given, Kind, Utility, Written, each_utility};
use super::minorant::Within;
use super::term::{Function, Term};
use super::{Bounds, Objective, ObjectiveError};

/// The costs c_i of k totals c_i·d.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    /// Pair by pair: `table[pair·k + i]`.
    table: Vec<f64>,
    k: usize,
    pairs: usize,
}

/// How a kind combines total costs z_i.
pub(super) trait Combine {
    /// The names and fields that it has elsewhere.
    const KINDS: &'static [Kind];

    /// Which of these it is.
    fn kind(&self) -> &'static Kind {
        &Self::KINDS[0]
    }

    /// The utility of these totals.
    fn of(&self, totals: impl Iterator<Item = f64>) -> f64;

    /// Its slope in each total, perhaps infinite.
    fn slopes(&self, totals: &[f64]) -> Vec<f64>;

    /// The Lipschitz constant where no cost of the i-th total is larger than `largest[i]`.
    fn lipschitz(&self, largest: &[f64]) -> Option<f64> {
        largest.iter().copied().reduce(f64::max)
    }

    /// The range of the utility for totals in these ranges.
    fn bounds(&self, ranges: &[Bounds]) -> Bounds;

    /// weight·utility in the middle of a box, less what makes it affine: nothing in the box is below the value plus the slopes'
    /// part.
    fn minorant(&self, weight: f64, within: Within<'_>, slopes: &mut [f64]) -> f64;

    /// A formula for people of totals with these names.
    fn describe(&self, totals: &[String]) -> String;

    /// All fields.
    fn written(&self, costs: Vec<Vec<f64>>) -> Vec<(&'static str, Content)> {
        vec![("costs", Content::Costs(costs))]
    }
}

impl Utility {
    pub(super) fn objective(self, costs: &[Vec<f64>]) -> Result<Objective, ObjectiveError> {
        Ok(Objective::of(Term::new(Costs::new(costs)?, Vec::new(), Function::Utility(self))))
    }

    /// Whether it is the only total itself.
    #[inline]
    pub(super) fn is_linear(&self) -> bool {
        matches!(self, Self::Linear(_))
    }

    #[inline]
    pub(super) fn value(&self, totals: &[f64]) -> f64 {
        self.of(totals.iter().copied())
    }

    #[inline]
    pub(super) fn of(&self, totals: impl Iterator<Item = f64>) -> f64 {
        each_utility!(self, utility => utility.of(totals))
    }

    /// The utility after a path that starts with totals `root`; `totals` is memory for one number each.
    #[inline]
    pub(super) fn value_of_path(
        &self,
        costs: &Costs,
        root: impl Iterator<Item = f64>,
        totals: &mut [f64],
        path: &[u32],
        masses: &[f64],
    ) -> f64 {
        match costs.k {
            1 => self.value(&costs.sum_path::<1>(root, path, masses)),
            2 => self.value(&costs.sum_path::<2>(root, path, masses)),
            3 => self.value(&costs.sum_path::<3>(root, path, masses)),
            _ => {
                costs.add_path(root, totals, path, masses);
                self.value(totals)
            }
        }
    }

    /// The slope in each total, perhaps infinite.
    pub(super) fn slopes(&self, totals: &[f64]) -> Vec<f64> {
        each_utility!(self, utility => utility.slopes(totals))
    }

    pub(super) fn lipschitz(&self, costs: &Costs) -> Option<f64> {
        let largest: Vec<f64> = costs.ranges().map(|cost| cost.low.abs().max(cost.high.abs())).collect();
        each_utility!(self, utility => utility.lipschitz(&largest))
    }

    /// As [`Combine::minorant`].
    pub(super) fn minorant(&self, weight: f64, within: Within<'_>, slopes: &mut [f64]) -> f64 {
        each_utility!(self, utility => utility.minorant(weight, within, slopes))
    }

    pub(super) fn bounds(&self, costs: &Costs) -> Bounds {
        let ranges: Vec<Bounds> = costs.ranges().collect();
        each_utility!(self, utility => utility.bounds(&ranges)).widened()
    }

    /// A formula for people of so many totals.
    pub(super) fn describe(&self, totals: usize) -> String {
        let names: Vec<String> = (1..=totals).map(|i| format!("c{i}·d")).collect();
        each_utility!(self, utility => utility.describe(&names))
    }

    pub(super) fn written(&self, costs: &Costs) -> Written {
        let costs = (0..costs.k).map(|i| costs.of_total(i).collect()).collect();
        let (kind, fields) = each_utility!(self, utility => (utility.kind(), utility.written(costs)));
        Written { kind, fields: Given(fields) }
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
            ObjectiveError::check_length("pairs", cost.len(), pairs)?;
            ObjectiveError::check("cost", cost, f64::is_finite, "finite")?;
        }
        let table = (0..pairs).flat_map(|pair| costs.iter().map(move |cost| cost[pair])).collect();
        Ok(Self { table, k, pairs })
    }

    /// No totals of a model with this many pairs.
    pub(super) fn none(pairs: usize) -> Self {
        Self { table: Vec::new(), k: 0, pairs }
    }

    /// The cost of each pair, of the only total.
    pub(super) fn table(&self) -> &[f64] {
        &self.table
    }

    /// Number of totals.
    pub(super) fn count(&self) -> usize {
        self.k
    }

    pub(super) fn pair_count(&self) -> usize {
        self.pairs
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

    /// The cost of each pair, of one total.
    pub(super) fn of_total(&self, total: usize) -> impl Iterator<Item = f64> {
        self.rows().map(move |row| row[total])
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.table.chunks_exact(self.k)
    }

    /// Lowest and highest cost of each total.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Bounds> + '_ {
        let nothing = Bounds { low: f64::INFINITY, high: f64::NEG_INFINITY };
        let wider = |range: Bounds, cost: f64| Bounds { low: range.low.min(cost), high: range.high.max(cost) };
        (0..self.k).map(move |i| self.rows().fold(nothing, |range, row| wider(range, row[i])))
    }
}
