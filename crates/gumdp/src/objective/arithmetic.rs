//! What an expression comes to: values, slopes and ranges.

use super::Bounds;
use super::expression::{Binary, Node, Unary};

impl Node {
    /// The value for these inputs.
    pub(super) fn value(&self, input: &impl Fn(usize) -> f64) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Input(number) => input(*number),
            Self::Unary(unary, x) => unary.of(x.value(input)),
            Self::Binary(binary, x, y) => binary.of(x.value(input), y.value(input)),
        }
    }

    /// The value, and the slope in one input by automatic differentiation: at a kink one of the Clarke subdifferential's.
    pub(super) fn slope(&self, inputs: &[f64], wanted: usize) -> (f64, f64) {
        match self {
            Self::Number(x) => (*x, 0.0),
            Self::Input(number) => (inputs[*number], if *number == wanted { 1.0 } else { 0.0 }),
            Self::Unary(unary, x) => {
                let (x, slope) = x.slope(inputs, wanted);
                (unary.of(x), times(unary.slope(x), slope))
            }
            Self::Binary(binary, x, y) => {
                let ((x, x_slope), (y, y_slope)) = (x.slope(inputs, wanted), y.slope(inputs, wanted));
                let (in_x, in_y) = binary.slopes(x, y);
                (binary.of(x, y), times(in_x, x_slope) + times(in_y, y_slope))
            }
        }
    }

    /// The range of values, and one that contains all slopes in one input, at kinks the Clarke subdifferential: everything where a slope
    /// may be infinite.
    pub(super) fn slope_range(&self, inputs: &[Bounds], wanted: usize) -> (Bounds, Bounds) {
        match self {
            Self::Number(x) => (Bounds::at(*x), Bounds::at(0.0)),
            Self::Input(number) => (inputs[*number], Bounds::at(if *number == wanted { 1.0 } else { 0.0 })),
            Self::Unary(unary, x) => {
                let (x, slope) = x.slope_range(inputs, wanted);
                (unary.range(x).outward(), unary.slope_range(x).product(slope))
            }
            Self::Binary(binary, x, y) => {
                let ((x, in_x), (y, in_y)) = (x.slope_range(inputs, wanted), y.slope_range(inputs, wanted));
                let slope = match binary {
                    Binary::Minimum | Binary::Maximum => {
                        let (first, second) = if *binary == Binary::Minimum { (x, y) } else { (y, x) };
                        match () {
                            () if first.high < second.low => in_x,
                            () if second.high < first.low => in_y,
                            () => Bounds { low: in_x.low.min(in_y.low), high: in_x.high.max(in_y.high) },
                        }
                    }
                    _ => {
                        let [of_x, of_y] = binary.slope_ranges(x, y);
                        Binary::Add.range(of_x.product(in_x), of_y.product(in_y)).outward()
                    }
                };
                (binary.range(x, y).outward(), slope)
            }
        }
    }

    /// A range that contains every value that is a number, if the inputs are in these ranges: interval arithmetic. Its ends may
    /// be infinite.
    pub(super) fn range(&self, inputs: &[Bounds]) -> Bounds {
        match self {
            Self::Number(x) => Bounds { low: *x, high: *x },
            Self::Input(number) => inputs[*number],
            Self::Unary(unary, x) => unary.range(x.range(inputs)).outward(),
            Self::Binary(binary, x, y) => binary.range(x.range(inputs), y.range(inputs)).outward(),
        }
    }
}

/// A part of a sum.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Addend {
    pub(super) node: Node,
    /// The inputs it depends on.
    pub(super) inputs: Vec<usize>,
}

impl Node {
    /// What the expression is the sum of, but for constants: what does not change need not be computed again.
    pub(super) fn addends(&self) -> Vec<Addend> {
        let mut addends = Vec::new();
        self.collect_addends(1.0, &mut addends);
        addends
    }

    fn collect_addends(&self, weight: f64, addends: &mut Vec<Addend>) {
        match self {
            Self::Number(_) => {}
            Self::Unary(Unary::Negate, x) => x.collect_addends(-weight, addends),
            Self::Binary(operator @ (Binary::Add | Binary::Subtract), x, y) => {
                x.collect_addends(weight, addends);
                y.collect_addends(if *operator == Binary::Add { weight } else { -weight }, addends);
            }
            _ => {
                if let Self::Binary(Binary::Multiply, x, y) = self {
                    match (&**x, &**y) {
                        (Self::Number(factor), sum) | (sum, Self::Number(factor)) => {
                            return sum.collect_addends(weight * factor, addends);
                        }
                        _ => {}
                    }
                }
                let mut inputs = Vec::new();
                self.collect_inputs(&mut inputs);
                let number = Box::new(Self::Number(weight));
                let plain = self.clone();
                let node = if weight == 1.0 { plain } else { Self::Binary(Binary::Multiply, number, Box::new(plain)) };
                addends.push(Addend { node, inputs });
            }
        }
    }

    fn collect_inputs(&self, inputs: &mut Vec<usize>) {
        match self {
            Self::Number(_) => {}
            Self::Input(number) if inputs.contains(number) => {}
            Self::Input(number) => inputs.push(*number),
            Self::Unary(_, x) => x.collect_inputs(inputs),
            Self::Binary(_, x, y) => {
                x.collect_inputs(inputs);
                y.collect_inputs(inputs);
            }
        }
    }
}

const EVERYTHING: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };

impl Bounds {
    /// Each operation rounds, by a part of its result; the range covers that. Ends that are not numbers say nothing.
    pub(super) fn outward(self) -> Self {
        const ROUNDING: f64 = 1e-12;
        let low = if self.low.is_nan() { f64::NEG_INFINITY } else { self.low };
        let high = if self.high.is_nan() { f64::INFINITY } else { self.high };
        let slack = |end: f64| if end.is_finite() { ROUNDING * end.abs() } else { 0.0 };
        Self { low: low - slack(low), high: high + slack(high) }
    }

    fn at(x: f64) -> Self {
        Self { low: x, high: x }
    }

    /// Both ends times a factor.
    pub(super) fn times(self, factor: f64) -> Self {
        let (a, b) = (factor * self.low, factor * self.high);
        Self { low: a.min(b), high: a.max(b) }.outward()
    }

    /// Products of one from each; what is 0 for certain stays it.
    fn product(self, other: Self) -> Self {
        if other == Self::at(0.0) { other } else { Binary::Multiply.range(self, other).outward() }
    }

    fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut bounds = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        for value in values {
            if value.is_nan() {
                return EVERYTHING;
            }
            bounds.low = bounds.low.min(value);
            bounds.high = bounds.high.max(value);
        }
        bounds
    }

    fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

/// What does not depend on the input has slope 0, however steep it is.
fn times(outer: f64, inner: f64) -> f64 {
    if inner == 0.0 { 0.0 } else { outer * inner }
}

impl Unary {
    fn slope(self, x: f64) -> f64 {
        match self {
            Self::Negate => -1.0,
            Self::Absolute if x == 0.0 => 0.0,
            Self::Absolute => x.signum(),
            Self::Exponential => x.exp(),
            Self::Logarithm => 1.0 / x,
            Self::SquareRoot => 0.5 / x.sqrt(),
        }
    }

    /// All slopes in a range.
    fn slope_range(self, x: Bounds) -> Bounds {
        match self {
            Self::Negate => Bounds::at(-1.0),
            Self::Absolute if x.low > 0.0 => Bounds::at(1.0),
            Self::Absolute if x.high < 0.0 => Bounds::at(-1.0),
            Self::Absolute => Bounds { low: -1.0, high: 1.0 },
            Self::Exponential => self.range(x).outward(),
            Self::Logarithm | Self::SquareRoot if x.low <= 0.0 => EVERYTHING,
            Self::Logarithm | Self::SquareRoot => Bounds { low: self.slope(x.high), high: self.slope(x.low) }.outward(),
        }
    }

    fn range(self, Bounds { low, high }: Bounds) -> Bounds {
        match self {
            Self::Negate => Bounds { low: -high, high: -low },
            Self::Absolute => {
                let nearest = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
                Bounds { low: nearest, high: low.abs().max(high.abs()) }
            }
            Self::Exponential => Bounds { low: low.exp(), high: high.exp() },
            // Numbers below 0 have neither; those in reach of rounding count as 0.
            Self::Logarithm => Bounds { low: low.max(0.0).ln(), high: high.max(0.0).ln() },
            Self::SquareRoot => Bounds { low: low.max(0.0).sqrt(), high: high.max(0.0).sqrt() },
        }
    }
}

impl Binary {
    /// The slopes in x and in y.
    fn slopes(self, x: f64, y: f64) -> (f64, f64) {
        match self {
            Self::Add => (1.0, 1.0),
            Self::Subtract => (1.0, -1.0),
            Self::Multiply => (y, x),
            Self::Divide => (1.0 / y, -x / (y * y)),
            Self::Power => {
                let in_x = if y == 0.0 { 0.0 } else { y * x.powf(y - 1.0) };
                (in_x, if x == 0.0 && y > 0.0 { 0.0 } else { x.powf(y) * x.ln() })
            }
            Self::Minimum if x <= y => (1.0, 0.0),
            Self::Maximum if x >= y => (1.0, 0.0),
            Self::Minimum | Self::Maximum => (0.0, 1.0),
        }
    }

    /// All slopes in x and in y, but for minima and maxima.
    fn slope_ranges(self, x: Bounds, y: Bounds) -> [Bounds; 2] {
        let one = Bounds::at(1.0);
        match self {
            Self::Add => [one, one],
            Self::Subtract => [one, Bounds::at(-1.0)],
            Self::Multiply => [y, x],
            Self::Divide if y.contains(0.0) => [EVERYTHING; 2],
            Self::Divide => {
                let inverse = self.range(one, y).outward();
                [inverse, Bounds::at(-1.0).product(x).product(inverse).product(inverse)]
            }
            // Exponents that change are not looked at.
            Self::Power if y.low == y.high => {
                let slope = power_range(x, Bounds::at(y.low - 1.0)).outward().times(y.low);
                [if y.low == 0.0 { Bounds::at(0.0) } else { slope }, EVERYTHING]
            }
            Self::Power | Self::Minimum | Self::Maximum => [EVERYTHING; 2],
        }
    }

    fn range(self, x: Bounds, y: Bounds) -> Bounds {
        let ends = |f: fn(f64, f64) -> f64| {
            Bounds::of([f(x.low, y.low), f(x.low, y.high), f(x.high, y.low), f(x.high, y.high)])
        };
        match self {
            Self::Add => Bounds { low: x.low + y.low, high: x.high + y.high },
            Self::Subtract => Bounds { low: x.low - y.high, high: x.high - y.low },
            Self::Multiply => ends(|x, y| x * y),
            Self::Divide if y.contains(0.0) => EVERYTHING,
            Self::Divide => ends(|x, y| x / y),
            Self::Minimum => Bounds { low: x.low.min(y.low), high: x.high.min(y.high) },
            Self::Maximum => Bounds { low: x.low.max(y.low), high: x.high.max(y.high) },
            Self::Power => power_range(x, y),
        }
    }
}

/// The range of x^y.
fn power_range(x: Bounds, y: Bounds) -> Bounds {
    let constant = y.low == y.high;
    let whole = constant && y.low == y.low.trunc();
    if !(constant || x.low >= 0.0) {
        // Bases below 0 have powers where y happens to be whole.
        return EVERYTHING;
    }
    if whole && x.low < 0.0 {
        let power = |base: f64| base.powf(y.low);
        return match (y.low < 0.0, y.low % 2.0 == 0.0) {
            (true, _) if x.contains(0.0) => EVERYTHING,
            (false, true) if x.high > 0.0 => Bounds::of([0.0, power(x.low), power(x.high)]),
            _ => Bounds::of([power(x.low), power(x.high)]),
        };
    }
    // Without a whole exponent only bases from 0 on have powers; there the extremes are at the corners.
    let (low, high) = (x.low.max(0.0), x.high.max(0.0));
    Bounds::of([low.powf(y.low), low.powf(y.high), high.powf(y.low), high.powf(y.high)])
}

#[cfg(test)]
mod tests {
    use crate::objective::expression::Expression;

    /// What changes is the sum of what changes in the parts; parts are as small as the expression allows.
    #[test]
    fn addends_sum_up() {
        for (text, parts) in [
            ("x + y*z - 3", 2),
            ("2*(x^2 - (sqrt(y) + 4)) - z", 3),
            ("-(x + y)*0.5 + min(x, z)", 3),
            ("x*y*z", 1),
            ("(x + y)/2", 1),
        ] {
            let root = Expression::parse(text).unwrap().root;
            let addends = root.addends();
            assert_eq!(addends.len(), parts, "{text}");
            let [at, to] = [[0.3, 0.7, 0.2], [1.3, 0.7, 0.9]];
            let increase = root.value(&|number| to[number]) - root.value(&|number| at[number]);
            let changed = addends.iter().filter(|addend| addend.inputs.iter().any(|&number| at[number] != to[number]));
            let sum: f64 = changed.map(|addend| addend.node.value(&|k| to[k]) - addend.node.value(&|k| at[k])).sum();
            assert!((sum - increase).abs() < 1e-12, "{text}: {sum} instead of {increase}");
        }
    }
}
