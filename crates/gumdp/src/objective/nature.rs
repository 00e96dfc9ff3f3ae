//! What it takes to carry a feature along a trajectory, for solvers that can carry only a few.

use super::Objective;
use super::cells::Cells;
use super::term::Function;

/// How a feature enters f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Nature {
    /// f grows by this slope for each unit, whatever the other features are: what was gathered need not be known.
    Linear(f64),
    /// A sum of what visits add; a mass, which is never negative, if it is that of a cell.
    Sum { mass: bool },
    /// Whether there was a visit.
    Flag,
    /// Follows from others; f does not look at it once an episode is over.
    Derived,
}

impl Objective {
    /// The nature of each feature; `None` if f is a function, which is asked about whole occupancies only.
    pub(crate) fn natures(&self) -> Option<Vec<Nature>> {
        let mut all = Vec::with_capacity(self.features);
        for (weight, term) in &self.terms {
            let sum = |mass| Nature::Sum { mass };
            match &term.function {
                Function::Utility(utility) if utility.is_linear() => all.push(Nature::Linear(*weight)),
                Function::Utility(_) => all.resize(all.len() + term.features, sum(false)),
                Function::Sum => all.extend(term.cells.iter().flat_map(of_cells)),
                Function::Formula(formula) => {
                    let of_total =
                        |slope: &Option<f64>| slope.map_or(sum(false), |slope| Nature::Linear(weight * slope));
                    all.extend(formula.linear.iter().map(of_total));
                    all.resize(all.len() + term.cells.len(), Nature::Derived);
                    all.extend(term.cells.iter().flat_map(of_cells));
                }
                Function::Custom(_) => return None,
            }
        }
        Some(all)
    }
}

fn of_cells(cells: &Cells) -> impl Iterator<Item = Nature> {
    (0..cells.partition.cell_count())
        .map(move |cell| if cells.adds_up(cell) { Nature::Sum { mass: true } } else { Nature::Flag })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Partition;

    #[test]
    fn formulas_know_what_is_linear_in_them() {
        let cost = |k: usize| Objective::linear((0..3).map(|pair| f64::from(u8::from(pair == k))).collect()).unwrap();
        let inputs = [("x", cost(0)), ("y", cost(1)), ("z", cost(2))];
        let natures = |text: &str| Objective::formula(text, &inputs).unwrap().natures().unwrap();
        let sum = Nature::Sum { mass: false };
        assert_eq!(natures("2*x - y + z^2"), [Nature::Linear(2.0), Nature::Linear(-1.0), sum]);
        assert_eq!(natures("-(x/4 + x*y) + z"), [sum, sum, Nature::Linear(1.0)]);
        assert_eq!(natures("x - 3*(x - max(y, z))"), [Nature::Linear(-2.0), sum, sum]);
    }

    #[test]
    fn coverage_remembers_visits() {
        let cells = Partition::new(vec![0, 1], vec![1; 2]).unwrap();
        let natures = |smooth| Objective::coverage(&cells, &[1.0, 1.0], smooth).unwrap().natures().unwrap();
        assert_eq!(natures(None), [Nature::Flag; 2]);
        assert_eq!(natures(Some(0.1)), [Nature::Sum { mass: true }; 2]);
    }
}
