//! Occupancies to be imitated: by name, as a list, as a path on a map, or from a CSV file (`recording`).

use super::behaviour;
use super::document::{Table, Value, shortened};
use super::error::{FileError, counted};
use super::objective::Reader;
use super::over::{Over, compact_cells};
use super::recording::Recording;
use super::scene::Scene;
use super::text::Text;
use gumdp::{Objective, Partition, Problem, normalised_discounts};

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Trajectory,
    Occupancy,
    Policy,
}

impl Reader<'_> {
    /// The target of an objective's own table: `target` or `behaviour`.
    pub(super) fn own_target(
        &mut self,
        over: Over,
        partition: &Partition,
        table: Table,
    ) -> Result<Vec<f64>, FileError> {
        match (table.get("target"), table.get("behaviour")) {
            (Some(target), None) => self.target(target, partition),
            (None, Some(path)) => self.path_target(path, over, partition),
            (Some(_), Some(path)) => Err(path.error("both target and behaviour are given; give one of them")),
            (None, None) => Err(table.missing("target")),
        }
    }

    /// A target for each cell of the partition.
    pub(super) fn target(&mut self, target: Value, partition: &Partition) -> Result<Vec<f64>, FileError> {
        if !target.is_table() {
            return target.elements(Value::number);
        }
        match target.table()?.get("file") {
            Some(file) if file.as_text().is_some() => self.target_of_file(target.table()?, file, partition),
            _ => self.named_target(target, partition),
        }
    }

    /// The occupancy of a path over the cells of a map.
    fn path_target(&mut self, path: Value, over: Over, partition: &Partition) -> Result<Vec<f64>, FileError> {
        let Scene::Grid(grid) = &self.world.scene else {
            return Err(path.error(format!("{} needs a map; give target instead", path.name())));
        };
        if !matches!(over, Over::Cells | Over::CellActions) {
            let message = format!("{} needs over = \"cells\" or \"cell-actions\"", path.name());
            path.accept::<()>(Err(path.error(message)))?;
        }
        // On a map that is wrong any path may be right.
        if self.world.doubts.any() {
            path.elements(|cell| cell.count(0, u64::from(u32::MAX)))?;
            return Err(FileError::told());
        }
        let horizon = if self.timed { self.known_horizon(path)? } else { path.list()?.len().saturating_sub(1).max(1) };
        let (compact, _) = compact_cells(grid);
        let steps = behaviour::steps(path, grid, horizon)?;
        let mut target = vec![0.0; partition.cell_count()];
        for ((cell, action), mass) in steps.iter().zip(normalised_discounts(self.discount, horizon).iter()) {
            let cell = compact[*cell as usize];
            match over {
                Over::Cells => target[cell as usize] += mass,
                Over::CellActions => target[cell as usize * 4 + action] += mass,
                _ => return Err(FileError::told()),
            }
        }
        self.behaviour = behaviour::cells(path, grid)?;
        Ok(target)
    }

    fn known_horizon(&self, value: Value) -> Result<usize, FileError> {
        self.horizon.ok_or_else(|| {
            let message = format!("{} needs horizon instead of accuracy", value.name());
            value.error(message).hint("how much of the path counts depends on the horizon")
        })
    }

    /// A target by name: `"s0/a0" = 0.5`; cells that are not named get 0.
    fn named_target(&self, target: Value, partition: &Partition) -> Result<Vec<f64>, FileError> {
        let mut targets = vec![0.0; partition.cell_count()];
        let mut sound = true;
        for (key, value) in target.table()?.entries() {
            let cell = || {
                let mut cells = self.world.select(key)?.into_iter().map(|pair| partition.cell(pair.index()));
                let first = cells.next().filter(|&cell| cells.all(|other| other == cell));
                first.ok_or_else(|| {
                    let message =
                        format!("the target \"{}\" must name exactly one entry of the occupancy", shortened(key.text));
                    key.error(message).hint("over = \"states\" counts states, \"pairs\" counts state/action")
                })
            };
            match (target.accept(value.number())?, target.accept(cell())?) {
                (Some(value), Some(cell)) => targets[cell] = value,
                _ => sound = false,
            }
        }
        if sound { Ok(targets) } else { Err(FileError::told()) }
    }

    fn target_of_file(&mut self, source: Table, file: Value, partition: &Partition) -> Result<Vec<f64>, FileError> {
        source.only(&["file", "format"])?;
        let formats =
            [("trajectory", Format::Trajectory), ("occupancy", Format::Occupancy), ("policy", Format::Policy)];
        let format = source.field("format", |format| format.choice(&formats))?;
        let (name, text) = self.files.read(file)?;
        let text = Text { file: &name, content: &text, mistakes: file.document().mistakes };
        let recording = Recording::open(&text, &self.world.mdp, self.discount)?;
        let has = |column| recording.csv.column(column).is_some();
        let format = format.unwrap_or(match (has("probability"), has("mass")) {
            (true, _) => Format::Policy,
            (false, true) => Format::Occupancy,
            (false, false) => Format::Trajectory,
        });
        // Against a model with mistakes the names in the file mean nothing.
        if self.world.doubts.any() {
            return Err(FileError::told());
        }
        // Where the horizon has a mistake any will do.
        let horizon = self.horizon.or(if self.timed { None } else { Some(1) });
        match format {
            Format::Trajectory => {
                let (target, longest) = recording.trajectories(partition, horizon)?;
                if horizon.is_none() {
                    let steps = counted(longest, "step");
                    let message = format!("{} has an episode of {steps}, which accuracy may cut off", file.name());
                    let error = file.error(message).hint(format!("give horizon = {longest}, or fewer steps, instead"));
                    self.longest.push((longest, error));
                }
                Ok(target)
            }
            Format::Occupancy => recording.occupancy(partition),
            Format::Policy => {
                let horizon = horizon.ok_or_else(|| {
                    let message = format!("{} is a policy, which needs horizon instead of accuracy", file.name());
                    file.error(message).hint("the occupancy of a policy depends on the horizon")
                })?;
                let problem = Objective::linear(vec![0.0; self.world.mdp.pair_count()]);
                let problem = problem.map_err(|error| file.error(error.to_string())).and_then(|nothing| {
                    Problem::new(self.world.mdp.clone(), nothing, self.discount, horizon)
                        .map_err(|error| file.error(error.to_string()))
                })?;
                recording.policy(partition, &problem)
            }
        }
    }
}
