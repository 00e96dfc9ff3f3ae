//! Paths on a grid map. Each crossing of the same border between two cells gets its own lane, so that a path which
//! comes back stays readable.

use super::cells::Cells;
use super::ink::{series_colour, series_dash};
use super::legend::arrow_head;
use super::svg::{Canvas, Paint, Path, Point};
use super::terrain::Icon;
use std::collections::BTreeMap;

type Cell = (usize, usize);

/// A move between two cells with its sideways shift in pixels.
#[derive(Debug, Clone, Copy)]
struct Move {
    from: Cell,
    to: Cell,
    shift: f64,
}

impl Move {
    fn direction(&self) -> Point {
        let sign = |from: usize, to: usize| (to as f64 - from as f64).signum() * f64::from(u8::from(from != to));
        (sign(self.from.1, self.to.1), sign(self.from.0, self.to.0))
    }

    /// One cell along a row or a column.
    fn is_step(&self) -> bool {
        self.from.0.abs_diff(self.to.0) + self.from.1.abs_diff(self.to.1) == 1
    }

    fn is_lying(&self) -> bool {
        self.from.0 == self.to.0
    }

    /// The centre of a cell moved into this lane; jumps run between centres.
    fn at(&self, cell: Cell, grid: &Cells) -> Point {
        let (x, y) = grid.centre(cell);
        if !self.is_step() {
            (x, y)
        } else if self.is_lying() {
            (x, y + self.shift)
        } else {
            (x + self.shift, y)
        }
    }
}

/// Draws the paths in order.
pub(super) fn draw(canvas: &mut Canvas, paths: &[Vec<Cell>], grid: &Cells) {
    let cell = grid.side;
    let lanes = lanes(paths, cell);
    for (index, (path, moves)) in paths.iter().zip(&lanes).enumerate() {
        let (Some(first), Some(last)) = (path.first(), path.last()) else { continue };
        let colour = series_colour(index);
        let width = (cell / 16.0).clamp(1.0, 2.0);
        let points = corners(moves, grid);
        if points.len() > 1 {
            canvas.path(&Path::polyline(&points), &Paint::stroke(colour, width).dash(series_dash(index)));
        }
        let every = (moves.len() / 40).max(1);
        for step in moves.iter().step_by(every).filter(|step| step.is_step()) {
            let (from, to) = (step.at(step.from, grid), step.at(step.to, grid));
            let (dx, dy) = step.direction();
            let length = (cell * 0.2).clamp(4.0, 7.0);
            let middle =
                (f64::midpoint(from.0, to.0) + dx * length / 2.0, f64::midpoint(from.1, to.1) + dy * length / 2.0);
            arrow_head(canvas, middle, (dx, dy), length, colour);
        }
        for (place, stays) in stays(path) {
            let (x, y) = grid.centre(place);
            canvas.with_tip(&format!("{stays} stays"), |canvas| {
                Icon::Stay.draw(canvas, (x + cell * 0.3, y - cell * 0.28), cell * 0.15);
            });
        }
        let start = moves.first().map_or(grid.centre(*first), |step| step.at(*first, grid));
        let end = moves.last().map_or(grid.centre(*last), |step| step.at(*last, grid));
        let radius = (cell * 0.26).clamp(4.0, 8.0);
        Icon::PathStart(index).draw(canvas, start, radius);
        if path.len() > 1 {
            Icon::PathEnd(index).draw(canvas, end, radius * 0.8);
        }
    }
}

/// Spreads all crossings of a border evenly, in the order in which they happen.
fn lanes(paths: &[Vec<Cell>], cell: f64) -> Vec<Vec<Move>> {
    let border = |from: Cell, to: Cell| (from.min(to), from.max(to));
    let crossings = |path: &Vec<Cell>| {
        path.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
    };
    let mut totals: BTreeMap<(Cell, Cell), usize> = BTreeMap::new();
    for (from, to) in paths.iter().flat_map(crossings) {
        *totals.entry(border(from, to)).or_default() += 1;
    }
    let mut used: BTreeMap<(Cell, Cell), usize> = BTreeMap::new();
    let mut lane = |(from, to): (Cell, Cell)| {
        let total = totals.get(&border(from, to)).copied().unwrap_or(1) as f64;
        let taken = used.entry(border(from, to)).or_default();
        let gap = (cell * 0.16).clamp(2.0, 6.0).min(cell * 0.72 / total);
        let shift = (*taken as f64 - (total - 1.0) / 2.0) * gap;
        *taken += 1;
        Move { from, to, shift }
    };
    paths.iter().map(|path| crossings(path).into_iter().map(&mut lane).collect()).collect()
}

/// The poly-line through all moves; lanes change inside the cells.
fn corners(moves: &[Move], grid: &Cells) -> Vec<Point> {
    let mut points = Vec::new();
    if let Some(first) = moves.first() {
        points.push(first.at(first.from, grid));
    }
    for pair in moves.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let cell = before.to;
        let (a, b) = (before.at(cell, grid), after.at(cell, grid));
        let (dx, dy) = before.direction();
        let turns = before.is_lying() != after.is_lying();
        if !(before.is_step() && after.is_step()) {
            points.extend([a, b]);
        } else if turns {
            points.push(if before.is_lying() { (b.0, a.1) } else { (a.0, b.1) });
        } else {
            let reach = grid.side * 0.2;
            let straight = before.direction() == after.direction();
            let (back, on) = if straight { (-reach, reach) } else { (0.0, 0.0) };
            points.extend([(a.0 + dx * back, a.1 + dy * back), (b.0 + dx * on, b.1 + dy * on)]);
        }
    }
    if let Some(last) = moves.last() {
        points.push(last.at(last.to, grid));
    }
    points
}

/// Cells where a path stayed, with how often.
fn stays(path: &[Cell]) -> BTreeMap<Cell, usize> {
    let mut out = BTreeMap::new();
    for pair in path.windows(2).filter(|pair| pair[0] == pair[1]) {
        *out.entry(pair[0]).or_default() += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_of_one_border_get_their_own_lanes() {
        let path = vec![(0, 0), (0, 1), (0, 0), (0, 1)];
        let shifts: Vec<f64> = lanes(&[path], 30.0)[0].iter().map(|step| step.shift).collect();
        assert_eq!(shifts.len(), 3);
        assert!(shifts[0] < shifts[1] && shifts[1] < shifts[2]);
        assert!(shifts.iter().sum::<f64>().abs() < 1e-9);
    }

    #[test]
    fn stays_are_counted() {
        let path = [(1, 1), (1, 1), (1, 1), (1, 2)];
        assert_eq!(stays(&path).into_iter().collect::<Vec<_>>(), [((1, 1), 2)]);
    }
}
