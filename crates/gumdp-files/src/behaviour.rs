//! A path over the cells of a map that is to be imitated.

use super::document::Value;
use super::error::{FileError, counted};
use super::scene::GridScene;

/// The cells of a path, each checked to be one that can be entered.
pub(super) fn cells(path: Value, grid: &GridScene) -> Result<Vec<u32>, FileError> {
    let last = grid.terrain_of_cell.len() as u64 - 1;
    path.elements(|value| {
        let cell = value.count(0, last)? as u32;
        if grid.terrain(cell).wall {
            return Err(value.error(format!("{} is {cell}, which is a wall", value.name())));
        }
        Ok(cell)
    })
}

/// The first `horizon` steps of a path, as `(cell, action)`; the actions follow from consecutive cells.
pub(super) fn steps(path: Value, grid: &GridScene, horizon: usize) -> Result<Vec<(u32, usize)>, FileError> {
    let cells = cells(path, grid)?;
    if cells.len() <= horizon {
        let (name, got, needed) = (path.name(), counted(cells.len(), "cell"), horizon + 1);
        let message = format!("{name} has {got}; a horizon of {horizon} needs at least {needed}");
        return Err(path.error(message));
    }
    let values = path.list()?;
    let mut steps = Vec::with_capacity(horizon);
    for (step, cells) in cells.windows(2).enumerate().take(horizon) {
        let action = action(grid, cells[0], cells[1]).ok_or_else(|| {
            let name = values[step + 1].name();
            let (row, column) = grid.position(cells[0]);
            let (next_row, next_column) = grid.position(cells[1]);
            values[step + 1].error(format!(
                "{name} is {}, ({next_row},{next_column}); it must be a neighbour of {}, ({row},{column})",
                cells[1], cells[0]
            ))
        });
        steps.extend(path.accept(action)?.map(|action| (cells[0], action)));
    }
    if steps.len() == horizon { Ok(steps) } else { Err(FileError::told()) }
}

/// The number of the action left, up, right or down that leads from one cell to the other.
fn action(grid: &GridScene, from: u32, to: u32) -> Option<usize> {
    let (row, column) = grid.position(from);
    let (next_row, next_column) = grid.position(to);
    let rows = next_row as i64 - row as i64;
    let columns = next_column as i64 - column as i64;
    [(0, -1), (-1, 0), (0, 1), (1, 0)].iter().position(|&step| step == (rows, columns))
}
