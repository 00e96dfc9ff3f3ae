//! Separable terms: a sum over the cells of a partition of a function of the cell's mass. Entropy and imitation.

use std::fmt;

use super::{Bounds, ObjectiveError, Partition};

/// Σ_j φ_j(x_j) over the cells of a partition.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) partition: Partition,
    kernel: Kernel,
    /// What φ_j needs to know of cell j.
    parameters: Vec<Cell>,
    /// Weight 1 − εn of the occupancy in smoothing; 1 without.
    scale: f64,
}

/// The shape of φ_j, with y = scale·x + shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kernel {
    /// y·(ln y − target): entropy (target 0) and KL (target is the logarithm of the smoothed target).
    Logarithmic,
    /// (x − target)².
    Squared,
    /// |x − target|.
    Absolute,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    shift: f64,
    target: f64,
}

impl Cells {
    pub(super) fn entropy(partition: Partition, epsilon: f64) -> Result<Self, ObjectiveError> {
        let (scale, shifts) = smoothing(&partition, epsilon, "[0")?;
        let parameters = shifts.map(|shift| Cell { shift, target: 0.0 }).collect();
        Ok(Self { partition, kernel: Kernel::Logarithmic, parameters, scale })
    }

    pub(super) fn kl(partition: Partition, target: Vec<f64>, epsilon: f64) -> Result<Self, ObjectiveError> {
        check_target(&partition, &target)?;
        let (scale, shifts) = smoothing(&partition, epsilon, "(0")?;
        let parameters: Vec<Cell> =
            shifts.zip(target).map(|(shift, t)| Cell { shift, target: (scale * t + shift).ln() }).collect();
        // A cell that stands for no entry is not smoothed.
        if let Some(index) = parameters.iter().position(|cell| !cell.target.is_finite()) {
            let allowed = "positive after smoothing (a cell that stands for no entry is not smoothed)";
            return Err(ObjectiveError::Entry { what: "target", index, value: 0.0, allowed });
        }
        Ok(Self { partition, kernel: Kernel::Logarithmic, parameters, scale })
    }

    pub(super) fn distance(partition: Partition, target: Vec<f64>, kernel: Kernel) -> Result<Self, ObjectiveError> {
        check_target(&partition, &target)?;
        let parameters = target.into_iter().map(|target| Cell { shift: 0.0, target }).collect();
        Ok(Self { partition, kernel, parameters, scale: 1.0 })
    }

    pub(super) fn value(&self, masses: &[f64]) -> f64 {
        masses.iter().enumerate().map(|(j, &x)| self.cell_value(j, x)).sum()
    }

    /// The value when nothing has been visited.
    pub(super) fn empty(&self) -> f64 {
        (0..self.parameters.len()).map(|j| self.cell_value(j, 0.0)).sum()
    }

    /// φ_j(x).
    #[inline]
    pub(super) fn cell_value(&self, j: usize, x: f64) -> f64 {
        self.cell_value_with(f64::ln, j, x)
    }

    /// φ_j(x) with this natural logarithm.
    #[inline]
    pub(super) fn cell_value_with(&self, ln: impl Fn(f64) -> f64, j: usize, x: f64) -> f64 {
        let cell = self.parameters[j];
        match self.kernel {
            Kernel::Logarithmic => {
                let y = self.scale * x + cell.shift;
                if y > 0.0 { y * (ln(y) - cell.target) } else { 0.0 }
            }
            Kernel::Squared => (x - cell.target) * (x - cell.target),
            Kernel::Absolute => (x - cell.target).abs(),
        }
    }

    /// φ_j'(x); infinite where the logarithm is.
    fn slope(&self, j: usize, x: f64) -> f64 {
        let cell = self.parameters[j];
        match self.kernel {
            Kernel::Logarithmic => self.scale * ((self.scale * x + cell.shift).ln() - cell.target + 1.0),
            Kernel::Squared => 2.0 * (x - cell.target),
            // At the kink 0 is one of the subgradients.
            Kernel::Absolute if x == cell.target => 0.0,
            Kernel::Absolute => (x - cell.target).signum(),
        }
    }

    /// The slope of every cell; `None` if one that can be visited is infinite.
    pub(super) fn slopes(&self, masses: &[f64]) -> Option<Vec<f64>> {
        let slopes: Vec<f64> = masses.iter().enumerate().map(|(j, &x)| self.slope(j, x)).collect();
        let exists = self.visitable().all(|j| slopes[j].is_finite());
        exists.then_some(slopes)
    }

    /// φ_j' is monotone on [0, 1], so its largest size is at an end.
    pub(super) fn lipschitz(&self) -> Option<f64> {
        let largest = self
            .visitable()
            .flat_map(|j| [self.slope(j, 0.0), self.slope(j, 1.0)])
            .fold(0.0, |a: f64, b| a.max(b.abs()));
        largest.is_finite().then_some(largest)
    }

    /// Every kernel is convex, so the highest value is at a vertex of the simplex; the lowest is bounded by Jensen's
    /// inequality with the sum of all cells fixed.
    pub(super) fn bounds(&self) -> Bounds {
        let empty = self.empty();
        let high = self
            .visitable()
            .map(|j| empty - self.cell_value(j, 0.0) + self.cell_value(j, 1.0))
            .fold(f64::NEG_INFINITY, f64::max);
        let count = self.parameters.len() as f64;
        let total_target: f64 = self.parameters.iter().map(|cell| cell.target).sum();
        let low = match self.kernel {
            Kernel::Logarithmic => -self.parameters.iter().map(|cell| cell.target.exp()).sum::<f64>().ln(),
            Kernel::Squared => (1.0 - total_target).powi(2) / count,
            Kernel::Absolute => (1.0 - total_target).abs(),
        };
        Bounds { low, high }.widened()
    }

    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.parameters.len();
        match self.kernel {
            Kernel::Logarithmic if self.parameters.iter().all(|cell| cell.target == 0.0) => {
                write!(f, "Σ y ln y over {count} cells")
            }
            Kernel::Logarithmic => write!(f, "Σ y ln(y/target) over {count} cells"),
            Kernel::Squared => write!(f, "Σ (x − target)² over {count} cells"),
            Kernel::Absolute => write!(f, "Σ |x − target| over {count} cells"),
        }
    }

    /// The kind of objective, its ε and its target.
    pub(super) fn parts(&self) -> (&'static str, f64, Vec<f64>) {
        let entries = self.partition.entries();
        let smoothed = self.parameters.iter().zip(entries).find(|&(_, &entries)| entries > 0);
        let epsilon = smoothed.map_or(0.0, |(cell, &entries)| cell.shift / f64::from(entries));
        let targets = self.parameters.iter();
        match self.kernel {
            Kernel::Squared => ("squared-distance", 0.0, targets.map(|cell| cell.target).collect()),
            Kernel::Absolute => ("absolute-distance", 0.0, targets.map(|cell| cell.target).collect()),
            Kernel::Logarithmic if self.parameters.iter().all(|cell| cell.target == 0.0) => {
                ("entropy", epsilon, Vec::new())
            }
            Kernel::Logarithmic => {
                // Where the occupancy does not count, neither does the target.
                let target = |cell: &Cell| {
                    if self.scale > 0.0 { ((cell.target.exp() - cell.shift) / self.scale).max(0.0) } else { 0.0 }
                };
                ("kl", epsilon, targets.map(target).collect())
            }
        }
    }

    fn visitable(&self) -> impl Iterator<Item = usize> {
        self.partition.visitable().into_iter().enumerate().filter_map(|(j, visitable)| visitable.then_some(j))
    }
}

/// Scale and shifts of the smoothing y_j = (1 − εn)·x_j + ε·m_j.
fn smoothing(
    partition: &Partition,
    epsilon: f64,
    lowest: &'static str,
) -> Result<(f64, impl Iterator<Item = f64> + use<>), ObjectiveError> {
    let n: f64 = partition.entries().iter().map(|&m| f64::from(m)).sum();
    // Where no cell stands for an entry there is nothing to smooth with.
    let highest = if n > 0.0 { 1.0 / n } else { 0.0 };
    let allowed = (0.0..=highest).contains(&epsilon) && (epsilon > 0.0 || lowest == "[0");
    if !allowed {
        return Err(ObjectiveError::Epsilon { value: epsilon, lowest, highest });
    }
    let shifts: Vec<f64> = partition.entries().iter().map(|&m| epsilon * f64::from(m)).collect();
    Ok((1.0 - epsilon * n, shifts.into_iter()))
}

fn check_target(partition: &Partition, target: &[f64]) -> Result<(), ObjectiveError> {
    if target.len() != partition.cell_count() {
        let (got, expected) = (target.len(), partition.cell_count());
        return Err(ObjectiveError::Length { what: "targets", got, expected });
    }
    match target.iter().position(|t| !t.is_finite() || *t < 0.0) {
        None => Ok(()),
        Some(index) => {
            let allowed = "finite and not negative";
            Err(ObjectiveError::Entry { what: "target", index, value: target[index], allowed })
        }
    }
}
