//! Arithmetic expressions of a formula: from text to a tree, which is evaluated without allocating.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = { "-" | "+" } power
//! power   = atom [ "^" signed ]                 -x^2 = -(x^2), 2^3^2 = 2^(3^2)
//! atom    = number | "(" sum ")" | function "(" sum { "," sum } ")" | name | name "(" [ name ] ")"
//! ```
//!
//! The functions are `abs`, `exp`, `ln`, `sqrt` and, of any number of arguments, `min` and `max`. Every other name is an input;
//! one with parentheses is an input too, whose name has no spaces. Not here: what inputs are.
//!
//! The crate exmex, which the tests hold this against, does not do: it takes -2^2 for 4 and `max_load` for a function,
//! refuses max(1, max(2, 3)), and does not say where a mistake is.

use super::ObjectiveError;

/// An expression as a tree. Inputs are numbered in the order in which they first appear.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Number(f64),
    Input(usize),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Absolute,
    Exponential,
    Logarithm,
    SquareRoot,
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Minimum,
    Maximum,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    pub(super) root: Node,
    /// The name of each input and where it first appears, in bytes.
    pub(super) inputs: Vec<(String, usize)>,
}

/// Names with a meaning, which no input can have.
pub(super) const FUNCTIONS: [&str; 6] = ["abs", "exp", "ln", "sqrt", "min", "max"];

/// Nobody writes longer or more deeply nested formulas; the stack of the parser is finite.
const LONGEST: usize = 4000;
const DEEPEST: usize = 100;

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Self, ObjectiveError> {
        if text.len() > LONGEST {
            return Err(error(0, format!("the expression is longer than {LONGEST} bytes")));
        }
        let mut parser = Parser { text, at: 0, depth: 0, inputs: Vec::new() };
        let root = parser.sum()?;
        match parser.peek() {
            None => Ok(Self { root, inputs: parser.inputs }),
            Some(')') => Err(parser.error("this ) closes nothing")),
            Some(',') => Err(parser.error("a comma stands only between the arguments of min and max")),
            Some(_) => Err(parser.error("an operator such as + or * is missing here")),
        }
    }
}

fn error(at: usize, message: impl Into<String>) -> ObjectiveError {
    ObjectiveError::Expression { at, message: message.into() }
}

/// Reads from left to right.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    inputs: Vec<(String, usize)>,
}

impl<'a> Parser<'a> {
    fn error(&self, message: impl Into<String>) -> ObjectiveError {
        error(self.at, message)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    /// One level deeper, within limits.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Node, ObjectiveError>) -> Result<Node, ObjectiveError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("the expression is nested more than {DEEPEST} deep")));
        }
        let node = read(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn sum(&mut self) -> Result<Node, ObjectiveError> {
        self.chain([('+', Binary::Add), ('-', Binary::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Node, ObjectiveError> {
        self.chain([('*', Binary::Multiply), ('/', Binary::Divide)], Self::signed)
    }

    fn chain(
        &mut self,
        operators: [(char, Binary); 2],
        operand: fn(&mut Self) -> Result<Node, ObjectiveError>,
    ) -> Result<Node, ObjectiveError> {
        let mut left = operand(self)?;
        while let Some(&(_, operator)) = operators.iter().find(|(symbol, _)| self.takes(*symbol)) {
            left = binary(operator, left, operand(self)?);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Node, ObjectiveError> {
        if self.takes('-') {
            return Ok(Node::Unary(Unary::Negate, Box::new(self.nested(Self::signed)?)));
        }
        if self.takes('+') { self.nested(Self::signed) } else { self.power() }
    }

    fn power(&mut self) -> Result<Node, ObjectiveError> {
        let base = self.atom()?;
        if self.rest().trim_start().starts_with("**") {
            return Err(self.error("** is not an operator; a power is written with ^"));
        }
        if !self.takes('^') {
            return Ok(base);
        }
        Ok(binary(Binary::Power, base, self.nested(Self::signed)?))
    }

    fn atom(&mut self) -> Result<Node, ObjectiveError> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.nested(Self::sum)?;
                self.close()?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.named(),
            Some(c) => Err(self.error(format!("a number, a name or ( is needed here, not '{}'", c.escape_debug()))),
            None => Err(self.error("the expression ends where a number or a name is needed")),
        }
    }

    fn close(&mut self) -> Result<(), ObjectiveError> {
        if self.takes(')') { Ok(()) } else { Err(self.error("a ) is missing here")) }
    }

    fn number(&mut self) -> Result<Node, ObjectiveError> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.rest();
        let mut length = digits(rest);
        if rest[length..].starts_with('.') {
            length += 1 + digits(&rest[length + 1..]);
        }
        let exponent = &rest[length..];
        if exponent.starts_with(['e', 'E']) {
            let sign = usize::from(exponent[1..].starts_with(['+', '-']));
            let written = digits(&exponent[1 + sign..]);
            length += if written > 0 { 1 + sign + written } else { 0 };
        }
        let written = &rest[..length];
        match written.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.at += length;
                Ok(Node::Number(number))
            }
            Ok(_) => Err(self.error(format!("{written} is too large for a number"))),
            Err(_) => Err(self.error(format!("{written} is not a number"))),
        }
    }

    /// A letter or underscore and what follows of letters, digits and underscores.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// A function with its arguments, or an input.
    fn named(&mut self) -> Result<Node, ObjectiveError> {
        let start = self.at;
        let name = self.name();
        if FUNCTIONS.contains(&name) {
            return self.function(name, start);
        }
        let mut full = name.to_owned();
        if self.takes('(') {
            self.peek();
            full = format!("{name}({})", self.name());
            if !self.takes(')') {
                return Err(ObjectiveError::UnknownName { name: name.to_owned(), at: start });
            }
        }
        let number = self.inputs.iter().position(|(known, _)| *known == full).unwrap_or_else(|| {
            self.inputs.push((full, start));
            self.inputs.len() - 1
        });
        Ok(Node::Input(number))
    }

    fn function(&mut self, name: &str, start: usize) -> Result<Node, ObjectiveError> {
        if !self.takes('(') {
            return Err(error(start, format!("{name} is a function; its argument follows in parentheses")));
        }
        let mut arguments = vec![self.nested(Self::sum)?];
        while self.takes(',') {
            arguments.push(self.nested(Self::sum)?);
        }
        self.close()?;
        let operator = match name {
            "min" => Ok(Binary::Minimum),
            "max" => Ok(Binary::Maximum),
            "abs" => Err(Unary::Absolute),
            "exp" => Err(Unary::Exponential),
            "ln" => Err(Unary::Logarithm),
            _ => Err(Unary::SquareRoot),
        };
        let count = arguments.len();
        let mut arguments = arguments.into_iter();
        match (operator, arguments.next()) {
            (Ok(binary_operator), Some(first)) if count >= 2 => {
                Ok(arguments.fold(first, |left, right| binary(binary_operator, left, right)))
            }
            (Err(unary), Some(only)) if count == 1 => Ok(Node::Unary(unary, Box::new(only))),
            (Ok(_), _) => Err(error(start, format!("{name} has one argument; it needs at least two"))),
            (Err(_), _) => Err(error(start, format!("{name} has {count} arguments; it needs one"))),
        }
    }
}

fn binary(operator: Binary, left: Node, right: Node) -> Node {
    Node::Binary(operator, Box::new(left), Box::new(right))
}

impl Unary {
    #[inline]
    pub(super) fn of(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Absolute => x.abs(),
            Self::Exponential => x.exp(),
            Self::Logarithm => x.ln(),
            Self::SquareRoot => x.sqrt(),
        }
    }
}

impl Binary {
    /// Unlike `f64::min` and `f64::max`, the smaller and the larger of something with NaN are NaN.
    #[inline]
    pub(super) fn of(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Add => x + y,
            Self::Subtract => x - y,
            Self::Multiply => x * y,
            Self::Divide => x / y,
            Self::Power if y == 2.0 => x * x,
            Self::Power => x.powf(y),
            Self::Minimum if x < y || x.is_nan() => x,
            Self::Maximum if x > y || x.is_nan() => x,
            Self::Minimum | Self::Maximum => y,
        }
    }
}

impl Node {
    /// Constants computed, so that `2*3*x` is `6*x`.
    pub(super) fn folded(self) -> Self {
        match self {
            Self::Number(_) | Self::Input(_) => self,
            Self::Unary(unary, inner) => match inner.folded() {
                Self::Number(x) => Self::Number(unary.of(x)),
                inner => Self::Unary(unary, Box::new(inner)),
            },
            Self::Binary(operator, left, right) => match (left.folded(), right.folded()) {
                (Self::Number(x), Self::Number(y)) => Self::Number(operator.of(x, y)),
                (left, right) => binary(operator, left, right),
            },
        }
    }

    /// Every input replaced by another node.
    pub(super) fn with_inputs(self, replacement: &impl Fn(usize) -> Self) -> Self {
        match self {
            Self::Number(_) => self,
            Self::Input(number) => replacement(number),
            Self::Unary(unary, inner) => Self::Unary(unary, Box::new(inner.with_inputs(replacement))),
            Self::Binary(operator, left, right) => {
                binary(operator, left.with_inputs(replacement), right.with_inputs(replacement))
            }
        }
    }

    /// The slopes in those of so many inputs in which the expression is linear whatever the others are.
    pub(super) fn linear_inputs(&self, inputs: usize) -> Vec<Option<f64>> {
        let mut slopes = vec![Some(0.0); inputs];
        self.collect_linear(1.0, &mut slopes);
        slopes
    }

    fn collect_linear(&self, weight: f64, slopes: &mut [Option<f64>]) {
        match self {
            Self::Number(_) => {}
            Self::Input(number) => {
                slopes[*number] = slopes[*number].map(|slope| slope + weight).filter(|slope| slope.is_finite());
            }
            Self::Unary(Unary::Negate, inner) => inner.collect_linear(-weight, slopes),
            Self::Unary(_, inner) => inner.collect_linear(f64::NAN, slopes),
            Self::Binary(operator, left, right) => {
                let (of_left, of_right) = match (operator, &**left, &**right) {
                    (Binary::Add, ..) => (weight, weight),
                    (Binary::Subtract, ..) => (weight, -weight),
                    (Binary::Multiply, Self::Number(x), _) | (Binary::Multiply, _, Self::Number(x)) => {
                        (weight * x, weight * x)
                    }
                    (Binary::Divide, _, Self::Number(x)) => (weight / x, weight / x),
                    _ => (f64::NAN, f64::NAN),
                };
                left.collect_linear(of_left, slopes);
                right.collect_linear(of_right, slopes);
            }
        }
    }

    /// The weight of each input and the constant, if the expression is a weighted sum of inputs.
    pub(super) fn as_affine(&self, inputs: usize) -> Option<(Vec<f64>, f64)> {
        let scaled = |(mut weights, constant): (Vec<f64>, f64), factor: f64| {
            for weight in &mut weights {
                *weight *= factor;
            }
            (weights, constant * factor)
        };
        match self {
            Self::Number(x) => Some((vec![0.0; inputs], *x)),
            Self::Input(number) => {
                let mut weights = vec![0.0; inputs];
                weights[*number] = 1.0;
                Some((weights, 0.0))
            }
            Self::Unary(Unary::Negate, inner) => Some(scaled(inner.as_affine(inputs)?, -1.0)),
            Self::Binary(operator, left, right) => match (operator, &**left, &**right) {
                (Binary::Multiply, Self::Number(x), other) | (Binary::Multiply, other, Self::Number(x)) => {
                    Some(scaled(other.as_affine(inputs)?, *x))
                }
                (Binary::Divide, other, Self::Number(x)) => Some(scaled(other.as_affine(inputs)?, 1.0 / x)),
                (Binary::Add | Binary::Subtract, left, right) => {
                    let sign = if *operator == Binary::Add { 1.0 } else { -1.0 };
                    let ((mut weights, constant), (others, other)) =
                        (left.as_affine(inputs)?, scaled(right.as_affine(inputs)?, sign));
                    weights.iter_mut().zip(others).for_each(|(weight, more)| *weight += more);
                    Some((weights, constant + other))
                }
                _ => None,
            },
            Self::Unary(..) => None,
        }
        .filter(|(weights, constant)| constant.is_finite() && weights.iter().all(|weight| weight.is_finite()))
    }
}
