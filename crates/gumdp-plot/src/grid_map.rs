//! Maps of grid worlds: terrain, walls, icons and the paths that agents took.

use super::cells::{Cells, entries, shape};
use super::frame::{MARGIN, WIDTH, head};
use super::grid_path;
use super::ink::{MUTED, ON_DARK, ON_LIGHT};
use super::legend::{self, Entry};
use super::svg::{Anchor, Canvas, Paint, Rect, TextStyle};
use super::terrain::{self, Icon};
use super::{name, or, spoken_list, text};
use std::fmt::Write as _;

/// Room for the numbers of the rows.
const INDICES: f64 = 20.0;

/// A rectangular world seen from above.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GridMap {
    /// Rows of cells, top row first.
    pub cells: Vec<Vec<GridCell>>,
    /// Names of the terrain classes by index; the first is the ordinary one.
    pub terrains: Vec<String>,
    /// Names of the resources by index.
    pub resources: Vec<String>,
    /// Groups of cells, such as those to be visited, marked on whatever they are.
    pub groups: Vec<NamedCells>,
    /// Paths, drawn in order: cells by time step; the same cell twice in a row is a stay.
    pub paths: Vec<NamedCells>,
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GridCell {
    /// What the cell is.
    pub kind: CellKind,
    /// A few characters written into the cell; may be empty.
    pub text: String,
}

/// What a cell is; decides its fill and icon. Legends list kinds in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellKind {
    /// Free floor.
    #[default]
    Floor,
    /// A class of terrain, an index into [`GridMap::terrains`].
    Terrain(usize),
    /// Not enterable.
    Wall,
    /// Where resources are brought.
    Home,
    /// Where episodes start, if not at home.
    Start,
    /// A resource, an index into [`GridMap::resources`].
    Resource(usize),
    /// A place where an enemy may strike.
    Enemy,
}

/// Cells that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedCells {
    /// Legend entry.
    pub name: String,
    /// (row, column) of each.
    pub cells: Vec<(usize, usize)>,
}

impl GridMap {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let (rows, columns) = shape(&self.cells);
        let side = ((WIDTH - 2.0 * MARGIN - INDICES) / columns.max(1) as f64).clamp(8.0, 42.0);
        let legend = self.legend();
        let map_width = columns as f64 * side + INDICES;
        let width = (map_width + 2.0 * MARGIN).max((legend::width(&legend) + 2.0 * MARGIN).min(WIDTH)).max(220.0);

        let mut canvas = Canvas::default();
        let top = head(&mut canvas, "", &legend, width, 8.0) + 14.0;
        let grid = Cells { origin: (MARGIN + INDICES, top), side };
        for (row, column, content) in entries(&self.cells) {
            let holds = |named: &NamedCells| named.cells.contains(&(row, column));
            let group = self.groups.iter().position(holds);
            let group_name = group.map_or_else(String::new, |group| format!(", {}", self.groups[group].name));
            let tip = format!("row {row}, column {column}: {}{group_name}", self.name_of(content.kind));
            let visited = self.paths.iter().any(holds);
            canvas.with_tip(&tip, |canvas| self.draw_cell(canvas, content, grid.rect(row, column), group, visited));
        }
        if columns > 0 {
            canvas.rect(grid.frame((rows, columns)), 0.0, &Paint::stroke(MUTED, 1.0));
        }
        draw_indices(&mut canvas, &grid, (rows, columns));
        let paths: Vec<Vec<(usize, usize)>> = self.paths.iter().map(|path| inside(path, rows, columns)).collect();
        grid_path::draw(&mut canvas, &paths, &grid);
        let bottom = top + rows as f64 * side + MARGIN;
        canvas.finish(width, bottom, "Grid map", &self.description(rows, columns))
    }

    fn name_of(&self, kind: CellKind) -> &str {
        match kind {
            CellKind::Floor => or(name(&self.terrains, 0), "floor"),
            CellKind::Wall => "wall",
            CellKind::Terrain(class) => or(name(&self.terrains, class), "terrain"),
            CellKind::Home => "home",
            CellKind::Start => "start",
            CellKind::Resource(index) => or(name(&self.resources, index), "resource"),
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

    fn draw_cell(&self, canvas: &mut Canvas, cell: &GridCell, rect: Rect, group: Option<usize>, visited: bool) {
        match cell.kind {
            CellKind::Wall => terrain::wall(canvas, rect),
            CellKind::Terrain(class) => terrain::fill(canvas, rect, class),
            _ => terrain::fill(canvas, rect, 0),
        }
        if let Some(group) = group {
            legend::tinted(canvas, Rect::centred(rect.middle(), rect.w * 0.82, rect.h * 0.82), group);
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
            let colour = if cell.kind == CellKind::Wall { ON_DARK } else { ON_LIGHT };
            canvas.text((rect.middle().0, y), &words, &TextStyle::new(size, Anchor::Middle).colour(colour));
        }
    }

    fn legend(&self) -> Vec<Entry<'_>> {
        let mut kinds: Vec<CellKind> = self.cells.iter().flatten().map(|cell| cell.kind).collect();
        kinds.retain(|kind| !matches!(kind, CellKind::Floor | CellKind::Terrain(0)));
        kinds.sort();
        kinds.dedup();
        let mut entries = Vec::new();
        for kind in kinds {
            let icon = self.icon(kind);
            entries.push(legend::entry(self.name_of(kind), move |canvas, place| match (kind, icon) {
                (CellKind::Wall, _) => terrain::wall(canvas, place),
                (CellKind::Terrain(class), _) => terrain::sample(canvas, place, class),
                (_, Some(icon)) => icon.sample(canvas, place),
                (_, None) => terrain::sample(canvas, place, 0),
            }));
        }
        entries.extend(legend::of_series(self.groups.iter().map(|group| &group.name), legend::tinted));
        for (index, path) in self.paths.iter().enumerate() {
            entries.push(legend::entry(or(&path.name, "path"), move |canvas, place| {
                legend::arrow(canvas, place, index);
            }));
        }
        let shown = if self.paths.len() == 1 { 0 } else { 6 };
        let stays = self.paths.iter().any(|path| path.cells.windows(2).any(|pair| pair[0] == pair[1]));
        for (icon, name, is_drawn) in [
            (Icon::PathStart(shown), "first cell", !self.paths.is_empty()),
            (Icon::PathEnd(shown), "last cell", !self.paths.is_empty()),
            (Icon::Stay, "stays", stays),
        ] {
            if is_drawn {
                entries.push(legend::entry(name, move |canvas, place| icon.sample(canvas, place)));
            }
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
        for group in &self.groups {
            let _ = write!(out, " {}: cells {:?}.", group.name, group.cells);
        }
        for path in &self.paths {
            if let (Some(first), Some(last)) = (path.cells.first(), path.cells.last()) {
                let steps = path.cells.len() - 1;
                let _ = write!(out, " {}: {steps} steps from {first:?} to {last:?}.", or(&path.name, "path"));
            }
        }
        out
    }
}

fn inside(path: &NamedCells, rows: usize, columns: usize) -> Vec<(usize, usize)> {
    path.cells.iter().copied().filter(|(row, column)| *row < rows && *column < columns).collect()
}

fn draw_indices(canvas: &mut Canvas, grid: &Cells, (rows, columns): (usize, usize)) {
    // Every second, fifth … index where cells are too small for all.
    let every = (15.0 / grid.side).ceil().max(1.0) as usize;
    let style = TextStyle::new(10.0, Anchor::Middle).colour(MUTED);
    for column in (0..columns).step_by(every) {
        canvas.text((grid.centre((0, column)).0, grid.origin.1 - 8.0), &column.to_string(), &style);
    }
    for row in (0..rows).step_by(every) {
        canvas.text((grid.origin.0 - 10.0, grid.centre((row, 0)).1), &row.to_string(), &style);
    }
}
