//! Formulas: any arithmetic expression of a few inputs, each a total cost or a sum over cells.
//!
//! The features of a formula are its total costs, then a running value of each sum over cells, then the masses of these cells.
//! The running values make a step cost O(1) to foresee; they are rounded to multiples of 2⁻⁴², so that their sum does not
//! depend on the order of visits and occupancies with equal masses have equal features. Final values never use them.

use super::cells::Cells;
use super::expression::Binary::{Add, Multiply};
use super::expression::{Expression, FUNCTIONS, Node};
use super::program::Program;
use super::term::Term;
use super::totals::Costs;
use super::{Bounds, Objective, ObjectiveError, Part};

pub(super) mod samples;

/// An expression with its inputs: first the total costs, then the sums over cells.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    text: String,
    program: Program,
    /// `None` if the expression has no total costs.
    pub(super) costs: Option<Costs>,
    pub(super) cells: Vec<Cells>,
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

/// Until all inputs are known, the place of the first sum over cells.
const SUMS: usize = usize::MAX / 2;

/// The value of a cell, as it enters a running sum.
fn coarse(value: f64) -> f64 {
    const STEPS: f64 = (1_u64 << 42) as f64;
    (value * STEPS).round() / STEPS
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
            return Err(ObjectiveError::ReservedName { name: (*name).to_owned() });
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
        Ok(Self::of(Term::Formula(Box::new(Formula::new(expression, root, &used)?))))
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
    fn new(text: &str, root: Node, used: &[&(&str, Objective)]) -> Result<Self, ObjectiveError> {
        let (mut costs, mut cells) = (Vec::new(), Vec::new());
        let mut inputs = Vec::with_capacity(used.len());
        for (name, part) in used {
            let (offset, weight, place) = match (part.as_linear(), &part.terms[..]) {
                (Some((own, offset)), _) => {
                    costs.push(own);
                    (offset, 1.0, costs.len() - 1)
                }
                (None, [(weight, Term::Cells(own))]) => {
                    cells.push(own.clone());
                    (part.offset, *weight, SUMS + cells.len() - 1)
                }
                _ => return Err(ObjectiveError::Input { name: (*name).to_owned() }),
            };
            inputs.push(Named { name: (*name).to_owned(), offset, weight, place });
        }
        // Sums over cells come after all total costs.
        for input in inputs.iter_mut().filter(|input| input.place >= SUMS) {
            input.place = input.place - SUMS + costs.len();
        }
        let mut pairs = used.iter().filter_map(|(_, part)| part.pair_count());
        let expected = pairs.next().unwrap_or_default();
        if let Some(got) = pairs.find(|&got| got != expected) {
            return Err(ObjectiveError::Length { what: "pairs", got, expected });
        }
        let root = root.with_inputs(&|number| inputs[number].node()).folded();
        let mut linear = root.linear_inputs(costs.len() + cells.len());
        linear.truncate(costs.len());
        let program = Program::new(&root);
        if !program.fits() {
            let message = "the expression is nested too deeply".to_owned();
            return Err(ObjectiveError::Expression { at: 0, message });
        }
        let costs = if costs.is_empty() { None } else { Some(Costs::new(&costs)?) };
        let empty = cells.iter().map(Cells::empty).collect();
        let formula = Self { text: text.trim().to_owned(), program, costs, cells, empty, linear, inputs };
        formula.check_samples()?;
        Ok(formula)
    }

    /// Number of total costs.
    fn total_count(&self) -> usize {
        self.costs.as_ref().map_or(0, Costs::count)
    }

    /// Number of features that are not masses of cells.
    pub(super) fn carried(&self) -> usize {
        self.total_count() + self.cells.len()
    }

    pub(super) fn features(&self) -> usize {
        let cells: usize = self.cells.iter().map(|cells| cells.partition.cell_count()).sum();
        self.carried() + cells
    }

    pub(super) fn pair_count(&self) -> usize {
        let of_cells = || self.cells.first().map_or(0, |cells| cells.partition.pair_count());
        self.costs.as_ref().map_or_else(of_cells, Costs::pair_count)
    }

    /// The costs of a pair, one for each total.
    #[inline]
    fn costs(&self, pair: usize) -> &[f64] {
        self.costs.as_ref().map_or(&[], |costs| costs.of(pair))
    }

    /// For each sum over cells the place of the first of them among the features.
    fn parts(&self) -> impl Iterator<Item = (usize, &Cells)> {
        let first = self.carried();
        self.cells.iter().scan(first, |first, cells| {
            let own = *first;
            *first += cells.partition.cell_count();
            Some((own, cells))
        })
    }

    #[inline]
    pub(super) fn add(&self, features: &mut [f64], pair: usize, mass: f64, certain: bool) {
        if let Some(costs) = &self.costs {
            costs.add(features, pair, mass);
        }
        for (k, (first, cells)) in self.parts().enumerate() {
            let j = cells.partition.cell(pair);
            let before = features[first + j];
            let after = cells.after_visit(j, before, mass, certain);
            features[first + j] = after;
            features[self.total_count() + k] +=
                coarse(cells.cell_value(j, after)) - coarse(cells.cell_value(j, before));
        }
    }

    pub(super) fn restore(&self, features: &mut [f64], from: &[f64], pair: usize) {
        let carried = ..self.carried();
        features[carried].copy_from_slice(&from[carried]);
        for (first, cells) in self.parts() {
            let cell = first + cells.partition.cell(pair);
            features[cell] = from[cell];
        }
    }

    /// The value for these total costs and sums over cells, all of them in one list.
    #[inline]
    pub(super) fn of_inputs(&self, inputs: &[f64]) -> f64 {
        self.program.value(|number| inputs[number])
    }

    pub(super) fn value(&self, features: &[f64]) -> f64 {
        let k = self.total_count();
        self.program.value(|number| if number < k { features[number] } else { self.sum(features, number - k) })
    }

    /// The expression.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Each input of the expression with its value.
    pub(super) fn input_values(&self, features: &[f64]) -> Vec<(String, f64)> {
        let k = self.total_count();
        let value = |place: usize| if place < k { features[place] } else { self.sum(features, place - k) };
        let named = |input: &Named| (input.name.clone(), input.offset + input.weight * value(input.place));
        self.inputs.iter().map(named).collect()
    }

    /// The k-th sum over cells.
    fn sum(&self, features: &[f64], k: usize) -> f64 {
        let (first, cells) = self.part(k);
        cells.value(&features[first..first + cells.partition.cell_count()])
    }

    /// How much the value grows if `pair` is visited with this much occupancy. A formula need not have a value before the
    /// episode is over; where it has none, the value of visiting nothing but `pair` stands in, which was checked to exist.
    #[inline]
    pub(super) fn increase(&self, features: &[f64], pair: usize, mass: f64) -> f64 {
        let k = self.total_count();
        let costs = self.costs(pair);
        let now = |number: usize| features[number] + if number < k { 0.0 } else { self.empty[number - k] };
        let later = |number: usize| {
            if number < k {
                return features[number] + mass * costs[number];
            }
            let (first, cells) = self.part(number - k);
            let j = cells.partition.cell(pair);
            let x = features[first + j];
            now(number) + cells.cell_value(j, x + mass) - cells.cell_value(j, x)
        };
        let increase = self.program.value(later) - self.program.value(now);
        if increase.is_finite() { increase } else { mass * self.value_of_vertex(pair) }
    }

    fn part(&self, k: usize) -> (usize, &Cells) {
        let before: usize = self.cells[..k].iter().map(|cells| cells.partition.cell_count()).sum();
        (self.carried() + before, &self.cells[k])
    }

    /// The value of an occupancy that is all in one pair.
    fn value_of_vertex(&self, pair: usize) -> f64 {
        let (k, costs) = (self.total_count(), self.costs(pair));
        self.program.value(|number| {
            if number < k {
                return costs[number];
            }
            let cells = &self.cells[number - k];
            let j = cells.partition.cell(pair);
            self.empty[number - k] - cells.cell_value(j, 0.0) + cells.cell_value(j, 1.0)
        })
    }

    /// Whether visits of `pair` change nothing that the formula looks at.
    pub(super) fn ignores(&self, pair: usize) -> bool {
        self.cells.is_empty() && self.costs(pair).iter().all(|&cost| cost == 0.0)
    }

    /// All that `increase` looks at.
    pub(super) fn glimpsed<'a>(&'a self, features: &'a [f64], pair: usize) -> impl Iterator<Item = f64> + 'a {
        let carried = &features[..self.carried()];
        let masses = self.parts().map(move |(first, cells)| features[first + cells.partition.cell(pair)]);
        carried.iter().copied().chain(masses)
    }

    /// The gradient with respect to the occupancy, pair by pair; `None` if a slope is infinite.
    pub(super) fn gradient(&self, features: &[f64]) -> Option<Vec<f64>> {
        let k = self.total_count();
        let inputs: Vec<f64> =
            features[..k].iter().copied().chain((0..self.cells.len()).map(|m| self.sum(features, m))).collect();
        let slopes = self.program.slopes(&inputs)?;
        let of_cells: Vec<Vec<f64>> = self
            .parts()
            .map(|(first, cells)| cells.slopes(&features[first..first + cells.partition.cell_count()]))
            .collect::<Option<_>>()?;
        let of_pair = |pair: usize| {
            let totals: f64 = self.costs(pair).iter().zip(&slopes).map(|(cost, slope)| cost * slope).sum();
            let cells = self.cells.iter().zip(&of_cells).zip(&slopes[k..]);
            totals + cells.map(|((cells, own), slope)| slope * own[cells.partition.cell(pair)]).sum::<f64>()
        };
        Some((0..self.pair_count()).map(of_pair).collect())
    }

    /// Interval arithmetic over the ranges of the inputs: it contains all values, and may be wide or infinite where inputs
    /// depend on each other.
    pub(super) fn bounds(&self) -> Bounds {
        let of_totals = self.costs.iter().flat_map(Costs::ranges).map(|range| {
            // A sum of numbers of one sign rounds by a part of itself, another by a part of the largest.
            let Bounds { low, high } = range;
            let largest = 1e-12 * low.abs().max(high.abs());
            let bounds = range.outward();
            Bounds {
                low: if low < 0.0 { low - largest } else { bounds.low },
                high: if high > 0.0 { high + largest } else { bounds.high },
            }
        });
        let inputs: Vec<Bounds> = of_totals.chain(self.cells.iter().map(Cells::bounds)).collect();
        self.program.range(&inputs)
    }

    /// As a file would have it.
    pub(super) fn written(&self) -> Part<'_> {
        let (mut costs, mut cells) = (Vec::new(), Vec::new());
        for input in &self.inputs {
            let name = input.name.as_str();
            match (&self.costs, input.place.checked_sub(self.total_count())) {
                (Some(own), None) => {
                    // An occupancy sums to 1, so that a constant is a cost of every pair.
                    let cost = |pair: usize| input.offset + input.weight * own.of(pair)[input.place];
                    costs.push((name, (0..own.pair_count()).map(cost).collect()));
                }
                (_, Some(number)) if input.offset == 0.0 && input.weight == 1.0 => {
                    cells.push((name, self.cells[number].written()));
                }
                _ => return Part::Unwritable,
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
