//! What is known of the shape of f: whether it is convex, and whether it is a sum over cells.

use super::cells::Cells;
use super::expression::{Binary, Node, Unary};
use super::formula::Formula;
use super::kind::{Extreme, Utility};
use super::term::{Function, Term};
use super::{Bounds, Objective};

/// Ranges are widened by rounding: beyond 0 by less than this part of their size is not beyond it.
const TINY: f64 = 4e-12;

/// f(d) = offset + Σ cost·d + weight·Σ_j φ_j(x_j) with convex φ_j and a weight that is not negative.
#[derive(Clone, Debug)]
pub(crate) struct Separable<'a> {
    offset: f64,
    costs: Vec<f64>,
    weight: f64,
    cells: &'a Cells,
}

impl Separable<'_> {
    /// The constant.
    pub(crate) fn offset(&self) -> f64 {
        self.offset
    }

    /// How large its offset and linear costs are.
    pub(crate) fn size(&self) -> f64 {
        self.offset.abs() + self.costs.iter().fold(0.0_f64, |size, cost| size.max(cost.abs()))
    }

    /// The linear cost of a pair.
    pub(crate) fn cost(&self, pair: usize) -> f64 {
        self.costs[pair]
    }

    /// The number of cells.
    pub(crate) fn cell_count(&self) -> usize {
        self.cells.partition.cell_count()
    }

    /// The cell of a pair.
    pub(crate) fn cell(&self, pair: usize) -> u32 {
        self.cells.partition.cell(pair) as u32
    }

    /// weight·φ_j(x).
    pub(crate) fn of_cell(&self, cell: u32, x: f64) -> f64 {
        self.weight * self.cells.cell_value(cell as usize, x)
    }

    /// weight·φ_j'(x), perhaps infinite.
    pub(crate) fn slope(&self, cell: u32, x: f64) -> f64 {
        self.weight * self.cells.slope(cell as usize, x)
    }
}

impl Objective {
    /// f as a sum over the cells of one partition and a linear cost, if it is one and convex.
    pub(crate) fn as_separable(&self) -> Option<Separable<'_>> {
        let mut separable: Option<(f64, &Cells)> = None;
        let mut costs = vec![0.0; self.pair_count()?];
        for (weight, term) in &self.terms {
            match &term.function {
                Function::Utility(utility) if utility.is_linear() => {
                    let own = (0..costs.len()).map(|pair| term.costs.of(pair)[0]);
                    costs.iter_mut().zip(own).for_each(|(sum, cost)| *sum += weight * cost);
                }
                Function::Sum if separable.is_none() && *weight >= 0.0 => separable = Some((*weight, &term.cells[0])),
                _ => return None,
            }
        }
        separable.map(|(weight, cells)| Separable { offset: self.offset, costs, weight, cells })
    }

    /// Whether f is known to be convex. `false` says nothing.
    pub(crate) fn is_convex(&self) -> bool {
        self.terms.iter().all(|(weight, term)| term.curve().times(*weight).is_convex())
    }
}

impl Term {
    pub(super) fn curve(&self) -> Curve {
        match &self.function {
            Function::Utility(Utility::Linear(_)) => Curve::Affine,
            Function::Utility(Utility::Extreme(Extreme::Maximum)) | Function::Sum => Curve::Convex,
            Function::Utility(Utility::Extreme(Extreme::Minimum)) => Curve::Concave,
            Function::Utility(_) | Function::Custom(_) => Curve::Unknown,
            Function::Formula(formula) => {
                let totals = self.costs.count();
                let input = |number: usize| if number < totals { Curve::Affine } else { Curve::Convex };
                let ranges = Formula::ranges(self);
                formula.root().curve(&input, &|node| node.range(&ranges))
            }
        }
    }
}

/// What is known of the curvature of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    Constant,
    Affine,
    Convex,
    Concave,
    Unknown,
}

impl Curve {
    fn negated(self) -> Self {
        match self {
            Self::Convex => Self::Concave,
            Self::Concave => Self::Convex,
            other => other,
        }
    }

    pub(super) fn times(self, factor: f64) -> Self {
        match factor {
            0.0 => Self::Constant,
            x if x < 0.0 => self.negated(),
            _ => self,
        }
    }

    fn plus(self, other: Self) -> Self {
        // The order counts: affine plus constant is affine.
        match (self, other) {
            (Self::Constant, one) | (one, Self::Constant) => one,
            (a, b) if a == Self::Affine || a == b => b,
            (a, Self::Affine) => a,
            _ => Self::Unknown,
        }
    }

    pub(super) fn is_convex(self) -> bool {
        matches!(self, Self::Constant | Self::Affine | Self::Convex)
    }

    pub(super) fn is_concave(self) -> bool {
        self.negated().is_convex()
    }

    fn if_convex(convex: bool) -> Self {
        if convex { Self::Convex } else { Self::Unknown }
    }
}

impl Node {
    /// By the rules of disciplined convex programming, given the curvature of each input and a range of each expression.
    fn curve(&self, input: &dyn Fn(usize) -> Curve, range: &dyn Fn(&Node) -> Bounds) -> Curve {
        match self {
            Self::Number(_) => Curve::Constant,
            Self::Input(number) => input(*number),
            Self::Unary(unary, inner) => {
                let (own, bounds) = (inner.curve(input, range), range(inner));
                match unary {
                    _ if own == Curve::Constant => own,
                    Unary::Negate => own.negated(),
                    Unary::Absolute => {
                        let affine = own == Curve::Affine;
                        Curve::if_convex(
                            affine
                                || (own.is_convex() && is_positive(bounds))
                                || (own.is_concave() && is_positive(Bounds { low: -bounds.high, high: -bounds.low })),
                        )
                    }
                    Unary::Exponential => Curve::if_convex(own.is_convex()),
                    Unary::Logarithm | Unary::SquareRoot => Curve::if_convex(own.is_concave()).negated(),
                }
            }
            Self::Binary(binary, left, right) => {
                let (a, b) = (left.curve(input, range), right.curve(input, range));
                match (binary, &**left, &**right) {
                    _ if a == Curve::Constant && b == Curve::Constant => Curve::Constant,
                    (Binary::Add, ..) => a.plus(b),
                    (Binary::Subtract, ..) => a.plus(b.negated()),
                    (Binary::Multiply, Self::Number(x), _) => b.times(*x),
                    (Binary::Multiply, _, Self::Number(x)) => a.times(*x),
                    (Binary::Divide, _, Self::Number(x)) => a.times(1.0 / x),
                    (Binary::Maximum, ..) => Curve::if_convex(a.is_convex() && b.is_convex()),
                    (Binary::Minimum, ..) => Curve::if_convex(a.is_concave() && b.is_concave()).negated(),
                    (Binary::Power, base, Self::Number(power)) => power_of(a, range(base), *power),
                    _ => Curve::Unknown,
                }
            }
        }
    }
}

/// Whether nothing in a range is negative, but for rounding.
fn is_positive(range: Bounds) -> bool {
    range.low >= -TINY * range.low.abs().max(range.high.abs()).min(f64::MAX)
}

/// The curvature of x^p for an x of this curvature and range.
fn power_of(x: Curve, range: Bounds, power: f64) -> Curve {
    let even = power > 0.0 && power % 2.0 == 0.0;
    if power == 1.0 {
        x
    } else if even && x == Curve::Affine {
        Curve::Convex
    } else if power > 1.0 && is_positive(range) {
        Curve::if_convex(x.is_convex())
    } else if power > 0.0 && power < 1.0 && is_positive(range) {
        Curve::if_convex(x.is_concave()).negated()
    } else {
        Curve::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convex_formulas_are_known() {
        let cost = |k: usize| Objective::linear((0..3).map(|pair| f64::from(u8::from(pair == k))).collect()).unwrap();
        let inputs = [("x", cost(0)), ("y", cost(1)), ("z", cost(2))];
        let is_convex = |text: &str| Objective::formula(text, &inputs).unwrap().is_convex();
        for text in [
            "max(-x, -y)",
            "abs(x - 0.3) + 2*y^2",
            "2*z - sqrt(x)",
            "exp(max(x, y)) - min(x, z)",
            "max(0, x - y)^2",
            "x^1.5",
        ] {
            assert!(is_convex(text), "{text}");
        }
        for text in
            ["sqrt(x + 1)", "-4*x*y", "min(x, y)", "sqrt(x)", "x^3 - y^2", "1 / (1 + x)", "abs(x*y)", "-abs(x - 0.2)"]
        {
            assert!(!is_convex(text), "{text}");
        }
    }
}
