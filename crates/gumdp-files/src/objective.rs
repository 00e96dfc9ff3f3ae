//! The `[objective]` of a file.

use std::collections::BTreeMap;

use super::document::{Table, Value};
use super::error::FileError;
use super::files::Files;
use super::scene::{GridScene, Scene};
use super::world::World;
use gumdp::model::Pair;
use gumdp::objective::{Objective, ObjectiveError, Partition};

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

    /// The kind whose fields a table has, where it does not say so.
    fn likely(table: Table) -> Option<Self> {
        let fields = [
            ("cost", Self::Linear),
            ("powers", Self::SignedPower),
            ("costs", Self::WeightedSum),
            ("expression", Self::Formula),
            ("terms", Self::Sum),
            ("target", Self::SquaredDistance),
            ("behaviour", Self::SquaredDistance),
        ];
        fields.into_iter().find(|(field, _)| table.get(field).is_some()).map(|(_, kind)| kind)
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
    /// Whether discount and horizon are what the file says; else they are wrong there, which is told already.
    pub(super) timed: bool,
    /// The path to be imitated, once one is read.
    pub(super) behaviour: Vec<u32>,
    /// Episodes whose occupancy depends on the horizon if it is shorter: their steps, and what is then to be said.
    pub(super) longest: Vec<(usize, FileError)>,
    pub(super) files: Files<'a>,
    /// Costs with a name, for each pair; `None` for one with a mistake.
    pub(super) features: BTreeMap<String, Option<Vec<f64>>>,
    /// There may be features that could not be read.
    pub(super) features_broken: bool,
}

impl Reader<'_> {
    pub(super) fn read(&mut self, table: Table) -> Result<Objective, FileError> {
        let lost = table.has_lost("features") || table.has_lost("targets");
        self.features_broken = table.accept(self.read_features(table))?.is_none() || lost;
        let objective = self.read_term(table, &["kind", "scale", "offset", "range", "features", "limit"]);
        let objective = table.accept(objective)?;
        let limits = self.limits(table)?;
        let objective = objective.ok_or_else(FileError::told)?;
        Ok(limits.into_iter().fold(objective, |sum, limit| sum + limit))
    }

    fn read_term(&mut self, table: Table, common: &[&str]) -> Result<Objective, FileError> {
        let kind = table.needed("kind", |kind| kind.choice(&KINDS))?;
        if let Some(kind) = kind {
            table.only(&[common, kind.fields()].concat())?;
        }
        // An objective of the wrong kind is read as what its fields are for.
        let objective = match kind.or(Kind::likely(table)) {
            Some(kind) => table.accept(self.of_kind(kind, table))?,
            None => None,
        };
        rescaled(objective.filter(|_| kind.is_some()), table)
    }

    fn of_kind(&mut self, kind: Kind, table: Table) -> Result<Objective, FileError> {
        match kind {
            Kind::Linear => {
                let cost = match table.get("cost") {
                    Some(cost) => self.cost(cost)?,
                    None if self.world.doubts.costs => return Err(FileError::told()),
                    None => {
                        self.world.costs.first().map(|(_, cost)| cost.clone()).ok_or_else(|| table.missing("cost"))?
                    }
                };
                Objective::linear(cost).map_err(|error| self.refused(&error, table))
            }
            Kind::WeightedSum | Kind::Maximum | Kind::Minimum | Kind::SignedPower => self.several(kind, table),
            Kind::Sum => self.sum(table),
            Kind::Formula => self.formula(table),
            Kind::Entropy | Kind::SquaredDistance | Kind::AbsoluteDistance | Kind::Kl => self.cells(kind, table),
        }
    }

    /// A cost for each pair: that of a feature by its name, or the sum of all entries of a table that apply to it.
    pub(super) fn cost(&self, value: Value) -> Result<Vec<f64>, FileError> {
        if value.as_text().is_some() {
            return self.feature(value);
        }
        let mut costs = vec![0.0; self.world.mdp.pair_count()];
        let mut sound = true;
        for (key, cost) in value.table()?.entries() {
            let pairs = value.accept(self.world.select(key))?;
            let cost = value.accept(cost.finite())?;
            sound &= pairs.is_some() && cost.is_some();
            for pair in pairs.into_iter().flatten() {
                costs[pair.index()] += cost.unwrap_or(0.0);
            }
        }
        if sound { Ok(costs) } else { Err(FileError::told()) }
    }

    fn several(&self, kind: Kind, table: Table) -> Result<Objective, FileError> {
        let costs = table.needed("costs", |list| list.elements(|cost| self.cost(cost)))?;
        let weights = table.accept(table.get("weights").map(Value::finite_numbers).transpose())?;
        let powers = match kind {
            Kind::SignedPower => table.needed("powers", Value::finite_numbers)?,
            _ => Some(Vec::new()),
        };
        let length = |field: &str| table.get(field).and_then(|list| list.list().ok()).map(|list| list.len());
        let expected = length("costs").unwrap_or(0);
        let mut sound = true;
        for what in ["weights", "powers"] {
            if let Some(got) = length(what).filter(|&got| expected > 0 && got != expected) {
                sound = false;
                table.accept::<()>(Err(self.refused(&ObjectiveError::Length { what, got, expected }, table)))?;
            }
        }
        let (Some(mut costs), Some(weights), Some(powers), true) = (costs, weights, powers, sound) else {
            return Err(FileError::told());
        };
        let weights = weights.unwrap_or_else(|| vec![1.0; expected]);
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
            Kind::SignedPower => Objective::signed_power(&costs, &weights, &powers),
            _ => Objective::weighted_sum(&costs, &weights),
        };
        objective.map_err(|error| self.refused(&error, table))
    }

    fn sum(&mut self, table: Table) -> Result<Objective, FileError> {
        let list = table.need("terms")?;
        let terms = list.elements(|value| {
            let term = value.table()?;
            let weight = term.field("weight", Value::finite)?.unwrap_or(1.0);
            Ok(weight * self.read_term(term, &["kind", "scale", "offset", "range", "weight"])?)
        })?;
        let sum = terms.into_iter().reduce(|sum, term| sum + term);
        sum.ok_or_else(|| list.error(format!("{} is empty; it must have at least one term", list.name())))
    }

    /// Objectives over the masses of cells: entropy and the distances to a target.
    fn cells(&mut self, kind: Kind, table: Table) -> Result<Objective, FileError> {
        let over = table.accept(self.over(kind, table))?;
        let epsilon = table.accept(match table.get("epsilon") {
            Some(epsilon) => epsilon.number(),
            None if kind == Kind::Kl => Err(table.missing("epsilon")),
            None => Ok(0.0),
        })?;
        // What is over the wrong entries cannot be looked at.
        if over.is_none() {
            table.field("epsilon", Value::probability)?;
        }
        let over = over.ok_or_else(FileError::told)?;
        let partition = table.accept(self.partition(over, table))?;
        let partition = match partition {
            Some(partition) => partition,
            None => Partition::pairs(&self.world.mdp),
        };
        let target = match kind {
            Kind::Entropy => Some(Vec::new()),
            _ => table.accept(self.own_target(over, &partition, table))?,
        };
        let (Some(epsilon), Some(target)) = (epsilon, target) else { return Err(FileError::told()) };
        let objective = match kind {
            Kind::Entropy => Objective::entropy(partition, epsilon),
            Kind::SquaredDistance => Objective::squared_distance(partition, target),
            Kind::AbsoluteDistance => Objective::absolute_distance(partition, target),
            _ => Objective::kl_divergence(partition, target, epsilon),
        };
        objective.map_err(|error| self.refused(&error, table))
    }

    /// The objective's complaint, at the field that caused it; nothing new where it only follows from doubts about the model.
    pub(super) fn refused(&self, error: &ObjectiveError, table: Table) -> FileError {
        let follows = match error {
            ObjectiveError::Length { what, .. } => *what == "targets",
            ObjectiveError::Epsilon { value, .. } => (0.0..=1.0).contains(value),
            ObjectiveError::Breaks { .. } => true,
            _ => false,
        };
        match error {
            _ if follows && self.world.doubts.any() => FileError::told(),
            // The number of entries is in doubt.
            ObjectiveError::Epsilon { value, .. } if self.world.doubts.any() => table
                .get("epsilon")
                .map_or_else(FileError::told, |epsilon| epsilon.refused(value, "lie in [0, 1 / number of entries]")),
            _ => locate(error, table),
        }
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
        Partition::new(cell_of_pair, entries).map_err(|error| self.refused(&error, table))
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
fn rescaled(objective: Option<Objective>, table: Table) -> Result<Objective, FileError> {
    let scale = table.field("scale", Value::finite)?;
    let offset = table.field("offset", Value::finite)?;
    let range = table.field("range", |range| {
        let [low, high] = range.two_numbers()?;
        if low >= high {
            return Err(range.refused(format!("[{low}, {high}]"), "be [low, high] with low < high"));
        }
        Ok([low, high])
    })?;
    let mut objective = objective.ok_or_else(FileError::told)?;
    if let Some(scale) = scale {
        objective = scale * objective;
    }
    if let Some(offset) = offset {
        objective = objective.shifted(offset);
    }
    if let Some([low, high]) = range {
        objective = (1.0 / (high - low)) * objective.shifted(-low);
    }
    Ok(objective)
}

fn locate(error: &ObjectiveError, table: Table) -> FileError {
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
