//! Formulas: any arithmetic expression of a few inputs, each a total cost or a sum over cells.
//!
//! The features of a formula are its total costs, then a running value of each sum over cells, then the masses of these cells.
//! The running values make a step cost O(1) to foresee; they are rounded to multiples of 2⁻⁴², so that their sum does not
//! depend on the order of visits and occupancies with equal masses have equal features. Final values never use them.

use super::arithmetic::Addend;
use super::cells::Cells;
use super::expression::Binary::{Add, Multiply};
use super::expression::{Expression, FUNCTIONS, Node};
use super::term::{Function, Term};
use super::totals::Costs;
use super::{Bounds, Objective, ObjectiveError, Part};

pub(super) mod samples;

/// An expression of the inputs of a term.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    text: String,
    root: Node,
    addends: Vec<Addend>,
    /// The value of each sum over cells when nothing has been visited.
    empty: Vec<f64>,
    /// The slopes in those total costs in which it is linear whatever the other inputs are.
    pub(super) linear: Vec<Option<f64>>,
    /// What the expression calls its inputs.
    inputs: Vec<Named>,
}

/// An input of an expression by its name: offset + weight·(the total cost or sum over cells at `place`).
#[derive(Clone, Debug)]
struct Named {
    name: String,
    offset: f64,
    weight: f64,
    /// Total costs come first, then sums over cells.
    place: usize,
}

impl Objective {
    /// Any arithmetic expression of named inputs, each of them [linear](Self::linear) or an [entropy](Self::entropy) or distance,
    /// perhaps scaled and shifted. There are `+ - * / ^`, parentheses, `abs`, `exp`, `ln`, `sqrt`, `min` and `max`. The name of an
    /// input may have parentheses, as in `distance(expert)`. An expression that is a weighted sum of inputs is one, so it may
    /// be linear. Bounds come from interval arithmetic.
    ///
    /// ```
    /// use gumdp::Objective;
    /// let (coverage, risk) = (Objective::linear(vec![1.0, 0.0, 0.0])?, Objective::linear(vec![0.0, 0.0, 1.0])?);
    /// let inputs = [("coverage", coverage), ("risk", risk)];
    /// let f = Objective::formula("-sqrt(coverage) + 2*max(0, risk - 0.1)", &inputs)?;
    /// assert!((f.value(&[0.25, 0.25, 0.5]) - 0.3).abs() < 1e-12);
    /// assert!(Objective::formula("coverage - 3*risk", &inputs)?.as_linear().is_some());
    /// let error = Objective::formula("ln(coverage)", &inputs).unwrap_err();
    /// assert_eq!(error.to_string(), "the formula is -inf at the occupancy with 1.0000 in pair 1");
    /// # Ok::<(), gumdp::ObjectiveError>(())
    /// ```
    ///
    /// # Errors
    /// If the expression cannot be read, has a name that is no input, or is infinite or not a number for an occupancy: all those
    /// with a single pair and over a thousand others are tried. It may still break at others; then planning stops.
    pub fn formula(expression: &str, inputs: &[(&str, Self)]) -> Result<Self, ObjectiveError> {
        if let Some((name, _)) = inputs.iter().find(|(name, _)| FUNCTIONS.contains(name)) {
            return Err(ObjectiveError::ReservedName((*name).to_owned()));
        }
        let Expression { root, inputs: names } = Expression::parse(expression)?;
        let root = root.folded();
        let found = |(name, at): &(String, usize)| {
            let found = inputs.iter().find(|(known, _)| known == name);
            found.ok_or_else(|| ObjectiveError::UnknownName { name: name.clone(), at: *at })
        };
        let used: Vec<&(&str, Self)> = names.iter().map(found).collect::<Result<_, _>>()?;
        if used.is_empty() {
            return Err(ObjectiveError::Empty { what: "inputs in its expression" });
        }
        if let Some((weights, constant)) = root.as_affine(used.len()) {
            let parts = used.iter().zip(&weights).map(|((_, part), weight)| *weight * part.clone());
            return Ok(parts.fold(Self { offset: constant, terms: Vec::new(), features: 0 }, |sum, part| sum + part));
        }
        Ok(Self::of(Formula::term(expression, root, &used)?))
    }

    /// The names of the inputs of an expression in the order of their first appearance, and where that is, in bytes.
    ///
    /// # Errors
    /// If the expression cannot be read.
    pub fn formula_inputs(expression: &str) -> Result<Vec<(String, usize)>, ObjectiveError> {
        Expression::parse(expression).map(|expression| expression.inputs)
    }

    /// The value of an expression without inputs.
    ///
    /// # Errors
    /// If the expression cannot be read or has inputs.
    pub fn formula_constant(expression: &str) -> Result<f64, ObjectiveError> {
        match Expression::parse(expression)?.root.folded() {
            Node::Number(value) => Ok(value),
            _ => Err(ObjectiveError::Empty { what: "value without inputs" }),
        }
    }

    /// Names that no input of an expression can have.
    pub const FORMULA_FUNCTIONS: [&'static str; 6] = FUNCTIONS;
}

impl Formula {
    fn term(text: &str, root: Node, used: &[&(&str, Objective)]) -> Result<Term, ObjectiveError> {
        let linear: Vec<_> = used.iter().map(|(_, part)| part.as_linear()).collect();
        // Sums over cells come after all total costs.
        let totals = linear.iter().flatten().count();
        let (mut costs, mut cells, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        for ((name, part), linear) in used.iter().zip(linear) {
            let name = (*name).to_owned();
            inputs.push(match (linear, &part.terms[..]) {
                (Some((own, offset)), _) => {
                    costs.push(own);
                    Named { name, offset, weight: 1.0, place: costs.len() - 1 }
                }
                (None, [(weight, Term { function: Function::Sum, cells: own, .. })]) => {
                    cells.extend_from_slice(own);
                    Named { name, offset: part.offset, weight: *weight, place: totals + cells.len() - 1 }
                }
                _ => return Err(ObjectiveError::Input(name)),
            });
        }
        let mut pairs = used.iter().filter_map(|(_, part)| part.pair_count());
        let expected = pairs.next().unwrap_or_default();
        pairs.try_for_each(|got| ObjectiveError::check_length("pairs", got, expected))?;
        let root = root.with_inputs(&|number| inputs[number].node()).folded();
        let mut linear = root.linear_inputs(costs.len() + cells.len());
        linear.truncate(costs.len());
        let costs = if costs.is_empty() { Costs::none(expected) } else { Costs::new(&costs)? };
        let empty = cells.iter().map(Cells::empty).collect();
        let formula = Self { text: text.trim().to_owned(), addends: root.addends(), root, empty, linear, inputs };
        let term = Term::new(costs, cells, Function::Formula(Box::new(formula)));
        term.formula().map_or(Ok(()), |formula| formula.check_samples(&term))?;
        Ok(term)
    }

    /// The value for these inputs.
    #[inline]
    pub(super) fn of_inputs(&self, input: &impl Fn(usize) -> f64) -> f64 {
        self.root.value(input)
    }

    /// The slope in each input, perhaps infinite.
    pub(super) fn slopes(&self, inputs: &[f64]) -> Vec<f64> {
        (0..inputs.len()).map(|wanted| self.root.slope(inputs, wanted).1).collect()
    }

    /// The expression.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Each input of the expression with its value.
    pub(super) fn input_values(&self, term: &Term, features: &[f64]) -> Vec<(String, f64)> {
        let value = |input: &Named| input.offset + input.weight * term.input(features, input.place);
        self.inputs.iter().map(|input| (input.name.clone(), value(input))).collect()
    }

    /// How much the value grows if `pair` is visited with this much occupancy. A formula need not have a value before the
    /// episode is over; where what changes of it has none, the value of visiting nothing but `pair` stands in, which was checked to exist.
    #[inline]
    pub(super) fn increase(&self, term: &Term, features: &[f64], pair: usize, mass: f64) -> f64 {
        let (k, costs) = (term.costs.count(), term.costs.of(pair));
        let now = |number: usize| features[number] + if number < k { 0.0 } else { self.empty[number - k] };
        let later = |number: usize| match number.checked_sub(k).and_then(|sum| term.parts().nth(sum)) {
            None => features[number] + mass * costs[number],
            Some((first, cells)) => {
                let j = cells.partition.cell(pair);
                let x = features[first + j];
                now(number) + cells.cell_value(j, x + mass) - cells.cell_value(j, x)
            }
        };
        let changes = |number: &usize| costs.get(*number) != Some(&0.0);
        let changed = self.addends.iter().filter(|addend| addend.inputs.iter().any(changes));
        let increase: f64 = changed.map(|Addend { node, .. }| node.value(&later) - node.value(&now)).sum();
        if increase.is_finite() { increase } else { mass * self.value_of_vertex(term, pair) }
    }

    /// The value of an occupancy that is all in one pair.
    fn value_of_vertex(&self, term: &Term, pair: usize) -> f64 {
        let (k, costs) = (term.costs.count(), term.costs.of(pair));
        self.of_inputs(&|number| {
            if number < k {
                return costs[number];
            }
            let cells = &term.cells[number - k];
            let j = cells.partition.cell(pair);
            self.empty[number - k] - cells.cell_value(j, 0.0) + cells.cell_value(j, 1.0)
        })
    }

    /// Interval arithmetic over the ranges of the inputs: it contains all values, and may be wide or infinite where inputs
    /// depend on each other.
    pub(super) fn bounds(&self, term: &Term) -> Bounds {
        self.root.range(&Self::ranges(term))
    }

    /// The expression as a tree.
    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    /// The ranges of the inputs.
    pub(super) fn ranges(term: &Term) -> Vec<Bounds> {
        let of_totals = term.costs.ranges().map(|range| {
            // A sum of numbers of one sign rounds by a part of itself, another by a part of the largest.
            let Bounds { low, high } = range;
            let largest = 1e-12 * low.abs().max(high.abs());
            let bounds = range.outward();
            Bounds {
                low: if low < 0.0 { low - largest } else { bounds.low },
                high: if high > 0.0 { high + largest } else { bounds.high },
            }
        });
        of_totals.chain(term.cells.iter().map(Cells::bounds)).collect()
    }

    /// As a file would have it.
    pub(super) fn written(&self, term: &Term) -> Part<'_> {
        let (mut costs, mut cells) = (Vec::new(), Vec::new());
        for Named { name, offset, weight, place } in &self.inputs {
            match place.checked_sub(term.costs.count()) {
                None => {
                    // An occupancy sums to 1, so that a constant is a cost of every pair.
                    let cost = |pair: usize| offset + weight * term.costs.of(pair)[*place];
                    costs.push((name.as_str(), (0..term.pair_count()).map(cost).collect()));
                }
                Some(number) => cells.push((name.as_str(), [*weight, *offset], term.cells[number].written())),
            }
        }
        Part::Formula { text: &self.text, costs, cells }
    }
}

impl Named {
    fn node(&self) -> Node {
        let number = |x| Box::new(Node::Number(x));
        let plain = Node::Input(self.place);
        let weighted =
            if self.weight == 1.0 { plain } else { Node::Binary(Multiply, number(self.weight), Box::new(plain)) };
        if self.offset == 0.0 { weighted } else { Node::Binary(Add, number(self.offset), Box::new(weighted)) }
    }
}
