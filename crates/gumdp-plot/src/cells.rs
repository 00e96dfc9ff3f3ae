//! Square cells in rows and columns, as maps and matrices have them.

use super::svg::{Point, Rect};

/// Where the cells of a map are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells {
    /// Top left corner of the first cell.
    pub origin: Point,
    /// Side of a cell in pixels.
    pub side: f64,
}

impl Cells {
    pub fn rect(&self, row: usize, column: usize) -> Rect {
        let (x, y) = (self.origin.0 + column as f64 * self.side, self.origin.1 + row as f64 * self.side);
        Rect::new(x, y, self.side, self.side)
    }

    pub fn centre(&self, (row, column): (usize, usize)) -> Point {
        (self.origin.0 + (column as f64 + 0.5) * self.side, self.origin.1 + (row as f64 + 0.5) * self.side)
    }

    /// All cells together.
    pub fn frame(&self, (rows, columns): (usize, usize)) -> Rect {
        Rect::new(self.origin.0, self.origin.1, columns as f64 * self.side, rows as f64 * self.side)
    }
}

/// Numbers of rows and columns.
pub(super) fn shape<T>(rows: &[Vec<T>]) -> (usize, usize) {
    (rows.len(), rows.iter().map(Vec::len).max().unwrap_or(0))
}

/// (row, column, content) of every cell.
pub(super) fn entries<T>(rows: &[Vec<T>]) -> impl Iterator<Item = (usize, usize, &T)> {
    rows.iter().enumerate().flat_map(|(row, cells)| cells.iter().enumerate().map(move |(column, v)| (row, column, v)))
}
