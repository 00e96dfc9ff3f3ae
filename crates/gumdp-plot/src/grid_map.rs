//! Maps of grid worlds: terrain, walls, icons and the paths that agents took.

use super::frame::{heading, width_or};
use super::grid_path;
use super::ink::{MUTED, ON_LIGHT};
use super::legend::{self, Entry, Sample};
use super::svg::{Anchor, Canvas, Paint, Point, Rect, TextStyle};
use super::terrain::{self, Icon};
use super::{or, spoken_list, text};
use std::fmt::Write as _;

const MARGIN: f64 = 10.0;

/// A rectangular world seen from above.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GridMap {
    /// Heading; may be empty.
    pub title: String,
    /// Rows of cells, top row first.
    pub cells: Vec<Vec<GridCell>>,
    /// Names of the terrain classes by index; the first is the ordinary one.
    pub terrains: Vec<String>,
    /// Names of the resources by index.
    pub resources: Vec<String>,
    /// Paths, drawn in order.
    pub paths: Vec<GridPath>,
    /// Write row and column numbers at the border.
    pub indices: bool,
    /// Largest width in pixels; 460 by default.
    pub width: Option<f64>,
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GridCell {
    /// What the cell is.
    pub kind: CellKind,
    /// A few characters written into the cell; may be empty.
    pub text: String,
}

/// What a cell is; decides its fill and icon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CellKind {
    /// Free floor.
    #[default]
    Floor,
    /// Not enterable.
    Wall,
    /// A class of terrain, an index into [`GridMap::terrains`].
    Terrain(usize),
    /// Where resources are brought.
    Home,
    /// Where episodes start, if not at home.
    Start,
    /// A resource, an index into [`GridMap::resources`].
    Resource(usize),
    /// A place where an enemy may strike.
    Enemy,
}

/// Cells in the order of visits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GridPath {
    /// Legend entry.
    pub name: String,
    /// (row, column) per time step; the same cell twice in a row is a stay.
    pub cells: Vec<(usize, usize)>,
}

impl GridMap {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let rows = self.cells.len();
        let columns = self.cells.iter().map(Vec::len).max().unwrap_or(0);
        let margin = if self.indices { 20.0 } else { 0.0 };
        let room = width_or(self.width, 460.0) - 2.0 * MARGIN - margin;
        let cell = (room / columns.max(1) as f64).clamp(8.0, 42.0);
        let entries = self.legend();
        let map_width = columns as f64 * cell + margin;
        let width = (map_width + 2.0 * MARGIN).max((legend::width(&entries) + 2.0 * MARGIN).min(360.0)).max(220.0);

        let mut canvas = Canvas::default();
        let mut top = MARGIN + heading(&mut canvas, &self.title, MARGIN, MARGIN, width - 2.0 * MARGIN);
        let used = legend::draw(&mut canvas, (MARGIN, top), width - 2.0 * MARGIN, &entries);
        top += if used > 0.0 { used + 8.0 } else { 0.0 } + if self.indices { 14.0 } else { 0.0 };
        let origin = (MARGIN + margin, top);
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, content) in cells.iter().enumerate() {
                let rect = Rect::new(origin.0 + column as f64 * cell, origin.1 + row as f64 * cell, cell, cell);
                let tip = format!("row {row}, column {column}: {}", self.name_of(content.kind));
                let visited = self.paths.iter().any(|path| path.cells.contains(&(row, column)));
                canvas.with_tip(&tip, |canvas| self.draw_cell(canvas, content, rect, visited));
            }
        }
        if rows > 0 && columns > 0 {
            let frame = Rect::new(origin.0, origin.1, columns as f64 * cell, rows as f64 * cell);
            canvas.rect(frame, 0.0, &Paint::stroke(MUTED, 1.0));
        }
        if self.indices {
            draw_indices(&mut canvas, origin, (rows, columns), cell);
        }
        let paths: Vec<Vec<(usize, usize)>> = self.paths.iter().map(|path| inside(path, rows, columns)).collect();
        grid_path::draw(&mut canvas, &paths, origin, cell);
        let bottom = origin.1 + rows as f64 * cell + MARGIN;
        canvas.finish(width, bottom, or(&self.title, "Grid map"), &self.description(rows, columns))
    }

    fn name_of(&self, kind: CellKind) -> &str {
        match kind {
            CellKind::Floor => self.terrains.first().map_or("floor", String::as_str),
            CellKind::Wall => "wall",
            CellKind::Terrain(class) => self.terrains.get(class).map_or("terrain", String::as_str),
            CellKind::Home => "home",
            CellKind::Start => "start",
            CellKind::Resource(index) => self.resources.get(index).map_or("resource", String::as_str),
            CellKind::Enemy => "enemy",
        }
    }

    fn icon(&self, kind: CellKind) -> Option<Icon> {
        match kind {
            CellKind::Floor | CellKind::Wall | CellKind::Terrain(_) => None,
            CellKind::Home => Some(Icon::Home),
            CellKind::Start => Some(Icon::Start),
            CellKind::Enemy => Some(Icon::Enemy),
            CellKind::Resource(index) => {
                let letter = self.name_of(kind).chars().next().unwrap_or('?');
                Some(Icon::Resource(index, letter.to_uppercase().next().unwrap_or(letter)))
            }
        }
    }

    fn draw_cell(&self, canvas: &mut Canvas, cell: &GridCell, rect: Rect, visited: bool) {
        match cell.kind {
            CellKind::Wall => terrain::wall(canvas, rect),
            CellKind::Terrain(class) => terrain::fill(canvas, rect, class),
            _ => terrain::fill(canvas, rect, 0),
        }
        if let Some(icon) = self.icon(cell.kind) {
            // Icons make way for a path and for text.
            let (radius, right, down) = match (visited, cell.text.is_empty()) {
                (true, _) => (0.2, -0.26, -0.26),
                (false, true) => (0.34, 0.0, 0.0),
                (false, false) => (0.26, 0.0, -0.14),
            };
            let (x, y) = rect.middle();
            icon.draw(canvas, (x + right * rect.w, y + down * rect.w), radius * rect.w);
        }
        if !cell.text.is_empty() && rect.w >= 12.0 {
            let size = (rect.w * 0.36).clamp(7.0, 12.0);
            let words = text::shorten(&cell.text, size, rect.w - 2.0);
            let y = if self.icon(cell.kind).is_some() { rect.bottom() - size * 0.6 } else { rect.middle().1 };
            let wall = cell.kind == CellKind::Wall;
            let colour = if wall { super::ink::ON_DARK } else { ON_LIGHT };
            canvas.text((rect.middle().0, y), &words, &TextStyle::new(size, Anchor::Middle).colour(colour));
        }
    }

    fn legend(&self) -> Vec<Entry> {
        let mut kinds: Vec<CellKind> = Vec::new();
        for cell in self.cells.iter().flatten() {
            let ordinary = matches!(cell.kind, CellKind::Floor | CellKind::Terrain(0));
            if !ordinary && !kinds.contains(&cell.kind) {
                kinds.push(cell.kind);
            }
        }
        kinds.sort_by_key(|kind| match kind {
            CellKind::Floor => (0, 0),
            CellKind::Terrain(class) => (1, *class),
            CellKind::Wall => (2, 0),
            CellKind::Home => (3, 0),
            CellKind::Start => (4, 0),
            CellKind::Resource(index) => (5, *index),
            CellKind::Enemy => (6, 0),
        });
        let mut entries = Vec::new();
        for kind in kinds {
            let sample = match kind {
                CellKind::Wall => Sample::Wall,
                CellKind::Terrain(class) => Sample::Terrain(class),
                kind => self.icon(kind).map_or(Sample::Terrain(0), Sample::Icon),
            };
            entries.push(Entry::new(sample, self.name_of(kind)));
        }
        for (index, path) in self.paths.iter().enumerate() {
            entries.push(Entry::new(Sample::Arrow(index), or(&path.name, "path")));
        }
        if let Some(last) = self.paths.len().checked_sub(1) {
            let shown = if last == 0 { 0 } else { 6 };
            entries.push(Entry::new(Sample::Icon(Icon::PathStart(shown)), "first cell"));
            entries.push(Entry::new(Sample::Icon(Icon::PathEnd(shown)), "last cell"));
        }
        if self.paths.iter().any(|path| path.cells.windows(2).any(|pair| pair[0] == pair[1])) {
            entries.push(Entry::new(Sample::Icon(Icon::Stay), "stays"));
        }
        entries
    }

    fn description(&self, rows: usize, columns: usize) -> String {
        let mut names: Vec<String> = Vec::new();
        for cell in self.cells.iter().flatten() {
            let name = self.name_of(cell.kind).to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut out = format!("Map of {rows} by {columns} cells with {}.", spoken_list(&names));
        for path in &self.paths {
            if let (Some(first), Some(last)) = (path.cells.first(), path.cells.last()) {
                let steps = path.cells.len() - 1;
                let _ = write!(out, " {}: {steps} steps from {first:?} to {last:?}.", or(&path.name, "path"));
            }
        }
        out
    }
}

fn inside(path: &GridPath, rows: usize, columns: usize) -> Vec<(usize, usize)> {
    path.cells.iter().copied().filter(|(row, column)| *row < rows && *column < columns).collect()
}

fn draw_indices(canvas: &mut Canvas, (x, y): Point, (rows, columns): (usize, usize), cell: f64) {
    // Every second, fifth … index where cells are too small for all.
    let every = (15.0 / cell).ceil().max(1.0) as usize;
    let style = TextStyle::new(10.0, Anchor::Middle).colour(MUTED);
    for column in (0..columns).step_by(every) {
        canvas.text((x + (column as f64 + 0.5) * cell, y - 8.0), &column.to_string(), &style);
    }
    for row in (0..rows).step_by(every) {
        canvas.text((x - 10.0, y + (row as f64 + 0.5) * cell), &row.to_string(), &style);
    }
}
