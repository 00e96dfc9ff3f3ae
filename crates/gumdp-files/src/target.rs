//! Occupancies to be imitated: by name, as a list, as a path on a map, or from a CSV file (`recording`).

use super::document::{Either, Table, Value, shortened};
use super::error::counted;
use super::mistakes::{Text, every};
use super::objective::Reader;
use super::over::{Over, compact_cells};
use super::recording::Recording;
use super::scene::{GridScene, Scene};
use gumdp::{Objective, Partition, Problem, normalised_discounts};

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Trajectory,
    Occupancy,
    Policy,
}

impl<'a> Reader<'a> {
    /// The target of an objective's own table: `target` or `behaviour`.
    pub(super) fn own_target(&mut self, over: Over, partition: &Partition, table: Table<'a>) -> Option<Vec<f64>> {
        match table.either("target", "behaviour")? {
            Either::One(target) => self.target(target, partition),
            Either::Other(path) => self.path_target(path, over, partition),
            Either::Neither => table.missing("target", None),
        }
    }

    /// A target for each cell of the partition.
    pub(super) fn target(&mut self, target: Value<'a>, partition: &Partition) -> Option<Vec<f64>> {
        if !target.is_table() {
            return target.elements(Value::number);
        }
        match target.table()?.get("file") {
            Some(file) if file.as_text().is_some() => self.target_of_file(target.table()?, file, partition),
            _ => self.named_target(target, partition),
        }
    }

    /// The occupancy of a path over the cells of a map.
    fn path_target(&mut self, path: Value, over: Over, partition: &Partition) -> Option<Vec<f64>> {
        let Scene::Grid(grid) = &self.world.scene else {
            return path.error(format!("{} needs a map; give target instead", path.name())).tell();
        };
        if !matches!(over, Over::Cells | Over::CellActions) {
            let message = format!("{} needs over = \"cells\" or \"cell-actions\"", path.name());
            path.error(message).tell::<()>();
        }
        // On a map that is wrong any path may be right.
        if self.world.doubts.any() {
            path.elements(|cell| cell.count(0, u64::from(u32::MAX)));
            return None;
        }
        let horizon = if self.timed { self.known_horizon(path)? } else { path.list()?.len().saturating_sub(1).max(1) };
        let (compact, _) = compact_cells(grid);
        let cells = cells(path, grid)?;
        let mut target = vec![0.0; partition.cell_count()];
        let masses = normalised_discounts(self.discount, horizon);
        for ((cell, action), mass) in steps(&cells, path, grid, horizon)?.into_iter().zip(masses.iter()) {
            let cell = compact[cell as usize] as usize;
            match over {
                Over::Cells => target[cell] += mass,
                Over::CellActions => target[cell * 4 + action] += mass,
                _ => return None,
            }
        }
        self.behaviour = cells;
        Some(target)
    }

    fn known_horizon(&self, value: Value) -> Option<usize> {
        self.horizon.or_else(|| {
            let mistake = value.error(format!("{} needs horizon instead of accuracy", value.name()));
            mistake.hint("how much of the path counts depends on the horizon").tell()
        })
    }

    /// A target by name: `"s0/a0" = 0.5`; cells that are not named get 0.
    fn named_target(&self, target: Value, partition: &Partition) -> Option<Vec<f64>> {
        let mut targets = vec![0.0; partition.cell_count()];
        let named = target.entries()?.into_iter().map(|(key, value)| {
            let value = value.number();
            let mut cells = self.world.select(key)?.into_iter().map(|pair| partition.cell(pair.index()));
            let Some(cell) = cells.next().filter(|&cell| cells.all(|other| other == cell)) else {
                let name = shortened(key.text);
                let mistake = key.error(format!("the target \"{name}\" must name exactly one entry of the occupancy"));
                return mistake.hint("over = \"states\" counts states, \"pairs\" counts state/action").tell();
            };
            targets[cell] = value?;
            Some(())
        });
        every::<_, Vec<()>>(named)?;
        Some(targets)
    }

    fn target_of_file(&mut self, source: Table<'a>, file: Value<'a>, partition: &Partition) -> Option<Vec<f64>> {
        source.only(&["file", "format"]);
        let formats =
            [("trajectory", Format::Trajectory), ("occupancy", Format::Occupancy), ("policy", Format::Policy)];
        let format = source.get("format").and_then(|format| format.choice(&formats));
        let (name, text) = self.files.read(file)?;
        let text = Text::of_data(&name, &text, source.text().mistakes);
        let recording = Recording::open(text, &self.world.mdp, self.discount)?;
        let has = |column| recording.csv.column(column).is_some();
        let format = format.unwrap_or(match (has("probability"), has("mass")) {
            (true, _) => Format::Policy,
            (false, true) => Format::Occupancy,
            (false, false) => Format::Trajectory,
        });
        // Against a model with mistakes the names in the file mean nothing.
        if self.world.doubts.any() {
            return None;
        }
        // Where the horizon has a mistake any will do.
        let horizon = self.horizon.or(if self.timed { None } else { Some(1) });
        match format {
            Format::Trajectory => {
                let (target, longest) = recording.trajectories(partition, horizon)?;
                if horizon.is_none() {
                    let steps = counted(longest, "step");
                    let message = format!("{} has an episode of {steps}, which accuracy may cut off", file.name());
                    let mistake =
                        file.error(message).hint(format!("give horizon = {longest}, or fewer steps, instead"));
                    self.longest.push((longest, mistake));
                }
                Some(target)
            }
            Format::Occupancy => recording.occupancy(partition),
            Format::Policy => {
                let Some(horizon) = horizon else {
                    let message = format!("{} is a policy, which needs horizon instead of accuracy", file.name());
                    return file.error(message).hint("the occupancy of a policy depends on the horizon").tell();
                };
                let nothing = Objective::linear(vec![0.0; self.world.mdp.pair_count()]).ok()?;
                let problem = Problem::new(self.world.mdp.clone(), nothing, self.discount, horizon);
                recording.policy(partition, &file.accept(problem)?)
            }
        }
    }
}

/// The cells of a path, each checked to be one that can be entered.
fn cells(path: Value, grid: &GridScene) -> Option<Vec<u32>> {
    let last = grid.terrain_of_cell.len() as u64 - 1;
    path.elements(|value| {
        let cell = value.count(0, last)? as u32;
        if grid.terrain(cell).wall {
            return value.error(format!("{} is {cell}, which is a wall", value.name())).tell();
        }
        Some(cell)
    })
}

/// The first `horizon` steps of a path, as `(cell, action)`; the actions follow from consecutive cells.
fn steps(cells: &[u32], path: Value, grid: &GridScene, horizon: usize) -> Option<Vec<(u32, usize)>> {
    if cells.len() <= horizon {
        let (name, got, needed) = (path.name(), counted(cells.len(), "cell"), horizon + 1);
        return path.error(format!("{name} has {got}; a horizon of {horizon} needs at least {needed}")).tell();
    }
    let values = path.list()?;
    every(cells.windows(2).zip(&values[1..]).take(horizon).map(|(cells, value)| {
        let [(row, column), (next_row, next_column)] = [grid.position(cells[0]), grid.position(cells[1])];
        // Left, up, right, down.
        let step = (next_row as i64 - row as i64, next_column as i64 - column as i64);
        let action = [(0, -1), (-1, 0), (0, 1), (1, 0)].iter().position(|&direction| direction == step);
        let message = || {
            format!(
                "{} is {}, ({next_row},{next_column}); it must be a neighbour of {}, ({row},{column})",
                value.name(),
                cells[1],
                cells[0]
            )
        };
        Some((cells[0], action.or_else(|| value.error(message()).tell())?))
    }))
}
