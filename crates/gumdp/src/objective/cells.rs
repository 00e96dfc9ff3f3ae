//! Sums over the cells of a partition of a function of the cell's mass. Which function, says the kind.

use super::kind::{Content, Given, Kind, Summand, Written, each_kernel};
use super::term::{Function, Term};
use super::totals::Costs;
use super::{Bounds, Objective, Partition};

/// Σ_j φ_j(x_j) over the cells of a partition.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) partition: Partition,
    summand: Summand,
    /// What φ_j needs to know of cell j.
    each: Vec<Cell>,
}

/// What a kind may know of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) shift: f64,
    pub(super) target: f64,
}

/// The functions φ_j of one kind. All are convex on [0, 1], with slopes that are monotone.
pub(super) trait Kernel: Copy {
    /// The names and fields that it has elsewhere.
    const KINDS: &'static [Kind];

    /// Which of these it is.
    fn kind(self) -> &'static Kind {
        &Self::KINDS[0]
    }

    /// φ_j(x), with this natural logarithm.
    fn value(self, ln: impl Fn(f64) -> f64, cell: Cell, x: f64) -> f64;

    /// What is remembered of a cell with x after a visit, for certain or in expectation: its mass, or anything with the same φ_j
    /// then and after whatever follows.
    #[inline]
    fn after_visit(self, _: Cell, x: f64, mass: f64, _certain: bool) -> f64 {
        x + mass
    }

    /// φ_j'(x), or infinite.
    fn slope(self, cell: Cell, x: f64) -> f64;

    /// A lower bound on the sum.
    fn lowest(self, cells: &[Cell]) -> f64;

    /// The sum as a formula for people.
    fn describe(self, cells: &[Cell]) -> String;

    /// All fields but what it is over.
    fn written(self, partition: &Partition, cells: &[Cell]) -> Vec<(&'static str, Content)>;
}

impl Cells {
    pub(super) fn objective(partition: Partition, summand: Summand, each: Vec<Cell>) -> Objective {
        let pairs = Costs::none(partition.pair_count());
        Objective::of(Term::new(pairs, vec![Self { partition, summand, each }], Function::Sum))
    }

    /// The sum for masses that begin with those of its cells.
    pub(super) fn value(&self, masses: &[f64]) -> f64 {
        masses[..self.each.len()].iter().enumerate().map(|(j, &x)| self.cell_value(j, x)).sum()
    }

    /// How much the sum grows if `pair` is visited with this much occupancy; `masses` begin with those of its cells.
    #[inline]
    pub(super) fn increase(&self, pair: usize, masses: &[f64], mass: f64) -> f64 {
        let j = self.partition.cell(pair);
        self.cell_value(j, masses[j] + mass) - self.cell_value(j, masses[j])
    }

    /// φ_j(x) as it enters a running sum: a multiple of 2⁻⁴².
    pub(super) fn coarse_value(&self, j: usize, x: f64) -> f64 {
        const STEPS: f64 = (1_u64 << 42) as f64;
        (self.cell_value(j, x) * STEPS).round() / STEPS
    }

    /// The value when nothing has been visited.
    pub(super) fn empty(&self) -> f64 {
        (0..self.each.len()).map(|j| self.cell_value(j, 0.0)).sum()
    }

    /// φ_j(x).
    #[inline]
    pub(super) fn cell_value(&self, j: usize, x: f64) -> f64 {
        self.cell_value_with(f64::ln, j, x)
    }

    /// φ_j(x) with this natural logarithm.
    #[inline]
    pub(super) fn cell_value_with(&self, ln: impl Fn(f64) -> f64, j: usize, x: f64) -> f64 {
        let cell = self.each[j];
        each_kernel!(&self.summand, kernel => kernel.value(ln, cell, x))
    }

    /// Adds a visit of `pair` to masses that begin with those of its cells, for certain or in expectation; what is remembered of
    /// the cell before and after.
    #[inline]
    pub(super) fn visit(&self, masses: &mut [f64], pair: usize, mass: f64, certain: bool) -> [f64; 2] {
        let j = self.partition.cell(pair);
        let before = masses[j];
        masses[j] = each_kernel!(&self.summand, kernel => kernel.after_visit(self.each[j], before, mass, certain));
        [before, masses[j]]
    }

    /// Whether the mass of a cell is remembered, and not only whether there was a visit.
    pub(super) fn adds_up(&self, j: usize) -> bool {
        each_kernel!(&self.summand, kernel => kernel.after_visit(self.each[j], 0.25, 0.5, true) == 0.75)
    }

    /// φ_j'(x), or infinite.
    pub(super) fn slope(&self, j: usize, x: f64) -> f64 {
        each_kernel!(&self.summand, kernel => kernel.slope(self.each[j], x))
    }

    /// The slope in each cell; `None` if one that can be visited is infinite.
    pub(super) fn slopes(&self, masses: &[f64]) -> Option<Vec<f64>> {
        let slopes: Vec<f64> = masses[..self.each.len()].iter().enumerate().map(|(j, &x)| self.slope(j, x)).collect();
        let exists = self.partition.visitable().all(|j| slopes[j].is_finite());
        exists.then_some(slopes)
    }

    /// φ_j' is monotone on [0, 1], so its largest size is at an end.
    pub(super) fn lipschitz(&self) -> Option<f64> {
        let largest = self
            .partition
            .visitable()
            .flat_map(|j| [self.slope(j, 0.0), self.slope(j, 1.0)])
            .fold(0.0, |a: f64, b| a.max(b.abs()));
        largest.is_finite().then_some(largest)
    }

    /// φ_j is convex, so the highest value is at a vertex of the simplex.
    pub(super) fn bounds(&self) -> Bounds {
        let empty = self.empty();
        let high = self
            .partition
            .visitable()
            .map(|j| empty - self.cell_value(j, 0.0) + self.cell_value(j, 1.0))
            .fold(f64::NEG_INFINITY, f64::max);
        let low = each_kernel!(&self.summand, kernel => kernel.lowest(&self.each));
        Bounds { low, high }.widened()
    }

    pub(super) fn describe(&self) -> String {
        each_kernel!(&self.summand, kernel => kernel.describe(&self.each))
    }

    pub(super) fn written(&self) -> Written {
        let Self { partition, each, .. } = self;
        let (kind, own) = each_kernel!(&self.summand, kernel => (kernel.kind(), kernel.written(partition, each)));
        let over = ("over", Content::Cells(partition.clone()));
        Written { kind, fields: Given([over].into_iter().chain(own).collect()) }
    }
}
