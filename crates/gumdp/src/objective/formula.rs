//! Formulas: any arithmetic expression of a few inputs, each a total cost or a sum over cells.
//!
//! The features of a formula are its total costs, then a running value of each sum over cells, then the masses of these cells.
//! The running values make a step cost O(1) to foresee; they are rounded to multiples of 2⁻⁴², so that their sum does not
//! depend on the order of visits and occupancies with equal masses have equal features. Final values never use them.

use std::fmt;

use super::cells::Cells;
use super::expression::{Expression, FUNCTIONS, Node};
use super::program::Program;
use super::totals::{Costs, Totals};
use super::{Bounds, Objective, ObjectiveError, Term};

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
    /// What the expression calls its inputs.
    pub(super) inputs: Vec<Named>,
}

/// An input of an expression by its name: offset + weight·(the total cost or sum over cells at `place`).
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) offset: f64,
    pub(super) weight: f64,
    /// Total costs come first, then sums over cells.
    pub(super) place: usize,
}

/// The value of a cell, as it enters a running sum.
fn coarse(value: f64) -> f64 {
    const STEPS: f64 = (1_u64 << 42) as f64;
    (value * STEPS).round() / STEPS
}

/// An input of an expression: offset + weight·(the k-th total cost or sum over cells).
struct Input {
    offset: f64,
    weight: f64,
    term: Term,
}

impl Input {
    fn of(name: &str, objective: &Objective) -> Result<Self, ObjectiveError> {
        if let Some((costs, offset)) = objective.as_linear() {
            return Ok(Self { offset, weight: 1.0, term: Term::Totals(Totals::linear(costs)?) });
        }
        match &objective.terms[..] {
            [(weight, term @ Term::Cells(_))] => {
                Ok(Self { offset: objective.offset, weight: *weight, term: term.clone() })
            }
            _ => Err(ObjectiveError::Input { name: name.to_owned() }),
        }
    }
}

/// The objective of an expression. An expression that is a weighted sum of its inputs becomes one.
pub(super) fn objective(text: &str, named: &[(&str, Objective)]) -> Result<Objective, ObjectiveError> {
    if let Some((name, _)) = named.iter().find(|(name, _)| FUNCTIONS.contains(name)) {
        return Err(ObjectiveError::ReservedName { name: (*name).to_owned() });
    }
    let Expression { root, inputs } = Expression::parse(text)?;
    let root = root.folded();
    let found = |(name, at): &(String, usize)| {
        let found = named.iter().find(|(known, _)| known == name);
        found.ok_or_else(|| ObjectiveError::UnknownName { name: name.clone(), at: *at })
    };
    let used: Vec<&(&str, Objective)> = inputs.iter().map(found).collect::<Result<_, _>>()?;
    if used.is_empty() {
        return Err(ObjectiveError::Empty { what: "inputs in its expression" });
    }
    if let Some((weights, constant)) = root.as_affine(used.len()) {
        let parts = used.iter().zip(&weights).map(|((_, part), weight)| *weight * part.clone());
        return Ok(parts.fold(Objective { offset: constant, terms: Vec::new(), features: 0 }, |sum, part| sum + part));
    }
    let inputs: Vec<Input> = used.iter().map(|(name, part)| Input::of(name, part)).collect::<Result<_, _>>()?;
    let names: Vec<&str> = used.iter().map(|(name, _)| *name).collect();
    Ok(Objective::of(Term::Formula(Box::new(Formula::new(text, root, &names, &inputs)?))))
}

impl Formula {
    fn new(text: &str, root: Node, names: &[&str], inputs: &[Input]) -> Result<Self, ObjectiveError> {
        let pairs = inputs[0].term.pair_count();
        let (mut costs, mut cells) = (Vec::new(), Vec::new());
        let mut places = Vec::with_capacity(inputs.len());
        for input in inputs {
            if input.term.pair_count() != pairs {
                let got = input.term.pair_count();
                return Err(ObjectiveError::Length { what: "pairs", got, expected: pairs });
            }
            places.push(match &input.term {
                Term::Cells(own) => {
                    cells.push(own.clone());
                    Err(cells.len() - 1)
                }
                term => {
                    let own = term.costs().map(|own| (0..pairs).map(|pair| own.of(pair)[0]).collect());
                    costs.push(own.unwrap_or_default());
                    Ok(costs.len() - 1)
                }
            });
        }
        let place = |number: usize| places[number].unwrap_or_else(|cells| costs.len() + cells);
        let named = inputs.iter().zip(names).enumerate().map(|(number, (input, name))| Named {
            name: (*name).to_owned(),
            offset: input.offset,
            weight: input.weight,
            place: place(number),
        });
        let named: Vec<Named> = named.collect();
        let replacement = |number: usize| inputs[number].node(place(number));
        let root = root.with_inputs(&replacement).folded();
        let program = Program::new(&root);
        if !program.fits() {
            let message = "the expression is nested too deeply".to_owned();
            return Err(ObjectiveError::Expression { at: 0, message });
        }
        let costs = if costs.is_empty() { None } else { Some(Costs::new(&costs)?) };
        let empty = cells.iter().map(Cells::empty).collect();
        let formula = Self { text: text.trim().to_owned(), program, costs, cells, empty, inputs: named };
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
    pub(super) fn add(&self, features: &mut [f64], pair: usize, mass: f64) {
        if let Some(costs) = &self.costs {
            costs.add(features, pair, mass);
        }
        for (k, (first, cells)) in self.parts().enumerate() {
            let j = cells.partition.cell(pair);
            let before = features[first + j];
            features[first + j] = before + mass;
            features[self.total_count() + k] +=
                coarse(cells.cell_value(j, before + mass)) - coarse(cells.cell_value(j, before));
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
        let of_totals = self.costs.iter().flat_map(Costs::ranges).map(|(low, high)| {
            // A sum of numbers of one sign rounds by a part of itself, another by a part of the largest.
            let largest = 1e-12 * low.abs().max(high.abs());
            let bounds = Bounds { low, high }.outward();
            Bounds {
                low: if low < 0.0 { low - largest } else { bounds.low },
                high: if high > 0.0 { high + largest } else { bounds.high },
            }
        });
        let inputs: Vec<Bounds> = of_totals.chain(self.cells.iter().map(Cells::bounds)).collect();
        self.program.range(&inputs)
    }

    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})", self.text)
    }
}

impl Input {
    /// offset + weight·(the input at this place).
    fn node(&self, place: usize) -> Node {
        use super::expression::Binary::{Add, Multiply};
        let plain = Node::Input(place);
        let number = |x| Box::new(Node::Number(x));
        let weighted =
            if self.weight == 1.0 { plain } else { Node::Binary(Multiply, number(self.weight), Box::new(plain)) };
        if self.offset == 0.0 { weighted } else { Node::Binary(Add, number(self.offset), Box::new(weighted)) }
    }
}
