//! The `[objective]` of a file.

use std::collections::BTreeMap;

use super::document::{Table, Value};
use super::error::FileError;
use super::files::Files;
use super::scene::{GridScene, Scene};
use super::world::World;
use crate::model::Pair;
use crate::objective::{Objective, ObjectiveError, Partition};

/// More cells that nobody visits than this are taken for a mistake.
const MAX_UNVISITED: u64 = 1_000_000;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Linear,
    WeightedSum,
    Maximum,
    Minimum,
    SignedPower,
    Entropy,
    SquaredDistance,
    AbsoluteDistance,
    Kl,
    Formula,
    Sum,
}

const KINDS: [(&str, Kind); 11] = [
    ("linear", Kind::Linear),
    ("weighted-sum", Kind::WeightedSum),
    ("maximum", Kind::Maximum),
    ("minimum", Kind::Minimum),
    ("signed-power", Kind::SignedPower),
    ("entropy", Kind::Entropy),
    ("squared-distance", Kind::SquaredDistance),
    ("absolute-distance", Kind::AbsoluteDistance),
    ("kl", Kind::Kl),
    ("formula", Kind::Formula),
    ("sum", Kind::Sum),
];

impl Kind {
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Linear => &["cost"],
            Self::WeightedSum | Self::Maximum | Self::Minimum => &["costs", "weights"],
            Self::SignedPower => &["costs", "weights", "powers"],
            Self::Entropy => &["over", "epsilon", "unvisited_cells"],
            Self::SquaredDistance | Self::AbsoluteDistance => &["over", "target", "behaviour", "unvisited_cells"],
            Self::Kl => &["over", "target", "behaviour", "unvisited_cells", "epsilon"],
            Self::Formula => &["expression", "over", "targets", "epsilon", "unvisited_cells"],
            Self::Sum => &["terms"],
        }
    }
}

/// What the occupancy is counted over.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Over {
    States,
    Pairs,
    Cells,
    CellActions,
}

/// Reads an objective for a world.
pub(super) struct Reader<'a> {
    pub(super) world: &'a World,
    pub(super) discount: f64,
    /// `None` if it is to be computed from the objective.
    pub(super) horizon: Option<usize>,
    /// The path to be imitated, once one is read.
    pub(super) behaviour: Vec<u32>,
    pub(super) files: Files<'a>,
    /// Costs with a name, for each pair.
    pub(super) features: BTreeMap<String, Vec<f64>>,
}

impl Reader<'_> {
    pub(super) fn read(&mut self, table: Table) -> Result<Objective, FileError> {
        self.read_features(table)?;
        let objective = self.read_term(table, &["kind", "scale", "offset", "range", "features", "limit"])?;
        self.limited(objective, table)
    }

    fn read_term(&mut self, table: Table, common: &[&str]) -> Result<Objective, FileError> {
        let kind = table.need("kind")?.choice(&KINDS)?;
        table.only(&[common, kind.fields()].concat())?;
        let objective = match kind {
            Kind::Linear => {
                let cost = match table.get("cost") {
                    Some(cost) => self.cost(cost)?,
                    None => {
                        self.world.costs.first().map(|(_, cost)| cost.clone()).ok_or_else(|| table.missing("cost"))?
                    }
                };
                Objective::linear(cost).map_err(|error| locate(&error, table))?
            }
            Kind::WeightedSum | Kind::Maximum | Kind::Minimum | Kind::SignedPower => self.several(kind, table)?,
            Kind::Sum => self.sum(table)?,
            Kind::Formula => self.formula(table)?,
            Kind::Entropy | Kind::SquaredDistance | Kind::AbsoluteDistance | Kind::Kl => self.cells(kind, table)?,
        };
        rescaled(objective, table)
    }

    /// A cost for each pair: that of a feature by its name, or the sum of all entries of a table that apply to it.
    pub(super) fn cost(&self, value: Value) -> Result<Vec<f64>, FileError> {
        if value.as_text().is_some() {
            return self.feature(value);
        }
        let mut costs = vec![0.0; self.world.mdp.pair_count()];
        for (key, cost) in value.table()?.entries() {
            let entry = || Ok((self.world.select(key)?, cost.finite()?));
            let Some((pairs, cost)) = value.accept(entry())? else { continue };
            for pair in pairs {
                costs[pair.index()] += cost;
            }
        }
        Ok(costs)
    }

    fn several(&self, kind: Kind, table: Table) -> Result<Objective, FileError> {
        let list = table.need("costs")?;
        let mut costs: Vec<Vec<f64>> =
            list.list()?.into_iter().map(|cost| self.cost(cost)).collect::<Result<_, _>>()?;
        let weights = match table.get("weights") {
            Some(weights) => weights.finite_numbers()?,
            None => vec![1.0; costs.len()],
        };
        if weights.len() != costs.len() {
            let error = ObjectiveError::Length { what: "weights", got: weights.len(), expected: costs.len() };
            return Err(locate(&error, table));
        }
        if matches!(kind, Kind::Maximum | Kind::Minimum) {
            for (cost, weight) in costs.iter_mut().zip(&weights) {
                for c in cost {
                    *c *= weight;
                }
            }
        }
        let objective = match kind {
            Kind::Maximum => Objective::maximum(&costs),
            Kind::Minimum => Objective::minimum(&costs),
            Kind::SignedPower => {
                let powers = table.need("powers")?.finite_numbers()?;
                Objective::signed_power(&costs, &weights, &powers)
            }
            _ => Objective::weighted_sum(&costs, &weights),
        };
        objective.map_err(|error| locate(&error, table))
    }

    fn sum(&mut self, table: Table) -> Result<Objective, FileError> {
        let list = table.need("terms")?;
        let mut sum: Option<Objective> = None;
        for value in list.list()? {
            let mut weighted = || {
                let term = value.table()?;
                let weight = term.get("weight").map(Value::finite).transpose()?.unwrap_or(1.0);
                Ok(weight * self.read_term(term, &["kind", "scale", "offset", "range", "weight"])?)
            };
            let Some(term) = value.accept(weighted())? else { continue };
            sum = Some(match sum {
                Some(sum) => sum + term,
                None => term,
            });
        }
        if sum.is_none() && !list.list()?.is_empty() {
            return self.placeholder(list);
        }
        sum.ok_or_else(|| list.error(format!("{} is empty; it must have at least one term", list.name())))
    }

    /// Stands for an objective whose mistakes are reported already.
    fn placeholder(&self, list: Value) -> Result<Objective, FileError> {
        Objective::linear(vec![0.0; self.world.mdp.pair_count()]).map_err(|error| list.error(error.to_string()))
    }

    /// Objectives over the masses of cells: entropy and the distances to a target.
    fn cells(&mut self, kind: Kind, table: Table) -> Result<Objective, FileError> {
        let over = self.over(kind, table)?;
        let partition = self.partition(over, table)?;
        let epsilon = match table.get("epsilon") {
            Some(epsilon) => epsilon.number()?,
            None if kind == Kind::Kl => return Err(table.missing("epsilon")),
            None => 0.0,
        };
        let objective = match kind {
            Kind::Entropy => Objective::entropy(partition, epsilon),
            Kind::SquaredDistance => {
                let target = self.own_target(over, &partition, table)?;
                Objective::squared_distance(partition, target)
            }
            Kind::AbsoluteDistance => {
                let target = self.own_target(over, &partition, table)?;
                Objective::absolute_distance(partition, target)
            }
            _ => {
                let target = self.own_target(over, &partition, table)?;
                Objective::kl_divergence(partition, target, epsilon)
            }
        };
        objective.map_err(|error| locate(&error, table))
    }

    pub(super) fn over(&self, kind: Kind, table: Table) -> Result<Over, FileError> {
        let is_grid = matches!(self.world.scene, Scene::Grid(_));
        let on_map = [("cells", Over::Cells), ("cell-actions", Over::CellActions)];
        let everywhere = [("states", Over::States), ("pairs", Over::Pairs)];
        match table.get("over") {
            Some(over) if is_grid => over.choice(&[on_map, everywhere].concat()),
            Some(over) => over.choice(&everywhere),
            None => Ok(match (kind == Kind::Entropy, is_grid) {
                (true, true) => Over::Cells,
                (true, false) => Over::States,
                (false, true) => Over::CellActions,
                (false, false) => Over::Pairs,
            }),
        }
    }

    pub(super) fn partition(&self, over: Over, table: Table) -> Result<Partition, FileError> {
        let mdp = &self.world.mdp;
        let unvisited = table.get("unvisited_cells");
        let (Scene::Grid(grid), Over::Cells | Over::CellActions) = (&self.world.scene, over) else {
            if let Some(value) = unvisited {
                let message = format!("{} is given, but the objective is not over the cells of a map", value.name());
                return Err(value.error(message));
            }
            return Ok(if over == Over::States { Partition::states(mdp) } else { Partition::pairs(mdp) });
        };
        let unvisited = unvisited.map(|value| value.count(0, MAX_UNVISITED)).transpose()?.unwrap_or(0);
        let actions = mdp.action_count() as u32;
        let (cell_of_state, cells) = cells_of_states(grid);
        let cells = cells + unvisited as u32;
        let pairs = (0..mdp.pair_count() as u32).map(Pair);
        let (cell_of_pair, entries) = if over == Over::Cells {
            (pairs.map(|pair| cell_of_state[mdp.state(pair).index()]).collect(), vec![actions; cells as usize])
        } else {
            let cell = |pair| cell_of_state[mdp.state(pair).index()] * actions + mdp.action(pair).0;
            (pairs.map(cell).collect(), vec![1; (cells * actions) as usize])
        };
        Partition::new(cell_of_pair, entries).map_err(|error| locate(&error, table))
    }
}

/// The cells of a map without its walls, numbered from 0; their number.
pub(super) fn compact_cells(grid: &GridScene) -> (Vec<u32>, u32) {
    let mut count = 0;
    let numbers = grid
        .cells()
        .map(|cell| {
            let number = count;
            count += u32::from(!grid.terrain(cell).wall);
            number
        })
        .collect();
    (numbers, count)
}

/// For each state the number of its cell. States that are in no cell have one of their own, after those of the map.
fn cells_of_states(grid: &GridScene) -> (Vec<u32>, u32) {
    let (compact, mut count) = compact_cells(grid);
    let cells = grid
        .cell_of_state
        .iter()
        .map(|cell| {
            cell.map_or_else(
                || {
                    count += 1;
                    count - 1
                },
                |cell| compact[cell as usize],
            )
        })
        .collect();
    (cells, count)
}

/// (scale·f + offset − low) / (high − low).
fn rescaled(objective: Objective, table: Table) -> Result<Objective, FileError> {
    let number = |key| table.get(key).map(Value::finite).transpose();
    let mut objective = objective;
    if let Some(scale) = number("scale")? {
        objective = scale * objective;
    }
    if let Some(offset) = number("offset")? {
        objective = objective.shifted(offset);
    }
    if let Some(range) = table.get("range") {
        let [low, high] = range.two_numbers()?;
        if low >= high {
            return Err(range.refused(format!("[{low}, {high}]"), "be [low, high] with low < high"));
        }
        objective = (1.0 / (high - low)) * objective.shifted(-low);
    }
    Ok(objective)
}

/// The objective's complaint, at the field that caused it.
pub(super) fn locate(error: &ObjectiveError, table: Table) -> FileError {
    let field = match error {
        ObjectiveError::Epsilon { .. } => Some("epsilon"),
        ObjectiveError::Length { what: "weights", .. } | ObjectiveError::Entry { what: "weight", .. } => {
            Some("weights")
        }
        ObjectiveError::Length { what: "powers", .. } | ObjectiveError::Entry { what: "power", .. } => Some("powers"),
        ObjectiveError::Length { what: "targets", .. } | ObjectiveError::Entry { what: "target", .. } => Some("target"),
        ObjectiveError::Empty { what: "costs" } | ObjectiveError::Entry { what: "cost", .. } => Some("costs"),
        _ => None,
    };
    match field.and_then(|field| table.get(field)) {
        Some(value) => value.error(error.to_string()),
        None => table.error(error.to_string()),
    }
}
