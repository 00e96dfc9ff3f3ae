//! Matrices as heat maps with one colour scale, beside an optional map of cell categories.

use super::cells::{Cells, entries, shape};
use super::frame::{MARGIN, WIDTH, head};
use super::ink::{GRID, INK, MUTED, ON_DARK, ON_LIGHT, legible_on, sequential};
use super::legend::{self, Entry};
use super::scale::{Axis, brief, drawable, fixed};
use super::svg::{Anchor, Canvas, Paint, Path, Point, Rect, TextStyle};
use super::{name, or, spoken_list, terrain, text};
use std::fmt::Write as _;

/// A matrix has at least this room for its title.
const LEAST_PANEL: f64 = 56.0;
const GAP: f64 = 16.0;
const TITLE: f64 = 12.0;
const LABEL: f64 = 8.5;
/// Size of the names of rows and columns, and the room that one gets at most.
const NAME: f64 = 10.0;
const MOST_NAME: f64 = 84.0;

/// One or more matrices with a shared colour bar; panels wrap into rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMaps {
    /// Heading; may be empty.
    pub title: String,
    /// What the colours measure, with its unit; stands at the colour bar.
    pub value_label: String,
    /// The matrices: a title, and rows of values, top row first; NaN is drawn as a missing cell.
    pub panels: Vec<(String, Vec<Vec<f64>>)>,
    /// A left-most panel with the category of each cell.
    pub map: Option<CategoryMap>,
    /// Cells (row, column) to outline in every matrix, such as difficult terrain.
    pub outlined: Vec<(usize, usize)>,
    /// Legend entry of the outline.
    pub outline_label: String,
    /// Write the value into each cell; cells grow until it fits.
    pub cell_labels: bool,
    /// Legend entry of cells that are exactly 0, which have a colour of their own; if it is empty, 0 is a value as others.
    pub zero_label: String,
    /// Names of the rows, left of the matrices; there may be none.
    pub row_names: Vec<String>,
    /// Names of the columns, above the matrices; there may be none.
    pub column_names: Vec<String>,
    /// Largest width in pixels; 720 by default.
    pub width: Option<u32>,
}

/// A matrix of categories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CategoryMap {
    /// Title above the map.
    pub title: String,
    /// Rows of indices into `names`, top row first.
    pub cells: Vec<Vec<usize>>,
    /// Names of the categories; the first is the ordinary one.
    pub names: Vec<String>,
}

/// Where the panels go.
struct Layout {
    cell: f64,
    places: Vec<Point>,
    right: f64,
    bottom: f64,
}

impl HeatMaps {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let values = || self.panels.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        let axis = Axis::of_colours(values());
        let largest = values().filter(|value| drawable(*value)).map(f64::abs).fold(0.0, f64::max);
        let ticks = text::widest(axis.ticks.iter().map(|tick| &tick.label), 11.0);
        let bar_room = if self.panels.is_empty() {
            0.0
        } else {
            18.0 + 12.0 + 8.0 + ticks + if axis.scale().is_empty() { 20.0 } else { 34.0 }
        };

        // Two digits for the largest value.
        let decimals = (1.0 - largest.log10().floor()).clamp(0.0, 4.0) as usize;
        let label_width = text::widest(values().map(|value| self.cell_label(value, decimals)), LABEL);
        let least = if self.cell_labels { (label_width + 7.0).clamp(16.0, 44.0) } else { 9.0 };
        let room = self.width.map_or(2.0 * WIDTH, f64::from);
        let layout = self.layout(room - 2.0 * MARGIN - bar_room, least);
        let width = (layout.right + bar_room + MARGIN).max(300.0).max(legend::widest(&self.legend()) + 2.0 * MARGIN);

        let mut canvas = Canvas::default();
        let top = head(&mut canvas, &self.title, &self.legend(), width, 6.0);
        let mut places = layout.places.iter().map(|(x, y)| Cells { origin: (*x, y + top), side: layout.cell });
        if let (Some(map), Some(cells)) = (&self.map, self.map.as_ref().and_then(|_| places.next())) {
            draw_map(&mut canvas, map, &cells);
        }
        let mut bar: Option<Rect> = None;
        for ((title, values), cells) in self.panels.iter().zip(places) {
            panel_title(&mut canvas, title, cells.frame(shape(values)), self.names_above(&cells));
            self.draw_names(&mut canvas, &cells, shape(values));
            self.draw_panel(&mut canvas, values, &cells, &axis, decimals);
            let height = cells.frame(shape(values)).h.max(80.0);
            bar = bar.or(Some(Rect::new(layout.right + 18.0, cells.origin.1, 12.0, height)));
        }
        if let Some(bar) = bar {
            colour_bar(&mut canvas, bar, &axis, ticks, &self.value_label);
        }
        let bottom = top + layout.bottom.max(if self.panels.is_empty() { 0.0 } else { 110.0 });
        canvas.finish(width, bottom + MARGIN, or(&self.title, "Heat maps"), &self.description())
    }

    /// Chooses the number of panels per row so that cells are at least `least` pixels wide and rows are about equal.
    fn layout(&self, room: f64, least: f64) -> Layout {
        let map = self.map.iter().map(|map| (shape(&map.cells), map.title.as_str()));
        let panels = self.panels.iter().map(|(title, values)| (shape(values), title.as_str()));
        let sizes: Vec<((usize, usize), &str)> = map.chain(panels).collect();
        let columns = sizes.iter().map(|((_, columns), _)| *columns).max().unwrap_or(1).max(1) as f64;
        let beside = self.names_beside();
        let cell_for = |count: usize| ((room - GAP * (count as f64 - 1.0)) / count as f64 - beside) / columns;
        let fits = |count: &usize| cell_for(*count) >= least && cell_for(*count) * columns >= LEAST_PANEL;
        let most = (1..=sizes.len().max(1)).rev().find(fits).unwrap_or(1);
        // Four panels where three fit are two rows of two, not three and a lonely one.
        let per_row = sizes.len().div_ceil(sizes.len().div_ceil(most).max(1)).max(1);
        let floor = if self.cell_labels { least } else { 3.0 };
        let cell = cell_for(most).min(34.0).max(floor);
        let above = self.names_above(&Cells { origin: (0.0, 0.0), side: cell });
        let slot = beside + (columns * cell).max(LEAST_PANEL);
        let mut layout = Layout { cell, places: Vec::new(), right: MARGIN, bottom: 0.0 };
        for row in sizes.chunks(per_row) {
            let title_lines = row.iter().map(|(_, title)| text::wrap(title, TITLE, slot, 2).len()).max().unwrap_or(0);
            let top = layout.bottom + above + title_lines as f64 * 15.0 + if title_lines > 0 { 4.0 } else { 0.0 };
            for (index, ((rows, _), _)) in row.iter().enumerate() {
                let x = MARGIN + index as f64 * (slot + GAP);
                layout.places.push((x + beside, top));
                layout.right = layout.right.max(x + slot);
                layout.bottom = layout.bottom.max(top + *rows as f64 * cell);
            }
            layout.bottom += GAP;
        }
        layout.bottom = (layout.bottom - GAP).max(0.0);
        layout
    }

    fn legend(&self) -> Vec<Entry<'_>> {
        let names = self.map.iter().flat_map(|map| &map.names);
        let mut entries = legend::of_series(names, terrain::sample);
        if !self.outlined.is_empty() && !self.panels.is_empty() {
            entries.push(legend::entry(or(&self.outline_label, "marked"), |canvas, place| {
                canvas.rect(place, 0.0, &Paint::fill(&sequential(0.45)).and_stroke(ON_LIGHT, 3.4));
                canvas.rect(place, 0.0, &Paint::stroke(ON_DARK, 1.6));
            }));
        }
        let some = |holds: fn(f64) -> bool| {
            self.panels.iter().any(|(_, values)| values.iter().flatten().any(|value| holds(*value)))
        };
        if !self.zero_label.is_empty() && some(|value| value == 0.0) {
            entries.push(legend::entry(&self.zero_label, zero));
        }
        if some(|value| !drawable(value)) {
            entries.push(legend::entry("no value", legend::missing));
        }
        entries
    }

    fn draw_panel(&self, canvas: &mut Canvas, values: &[Vec<f64>], cells: &Cells, axis: &Axis, decimals: usize) {
        let frame = cells.frame(shape(values));
        for (row, column, &value) in entries(values) {
            let rect = cells.rect(row, column);
            canvas.with_tip(&tip(row, column, &brief(value)), |canvas| {
                if !drawable(value) {
                    return legend::missing(canvas, rect);
                }
                if value == 0.0 && !self.zero_label.is_empty() {
                    return zero(canvas, rect);
                }
                let background = sequential(axis.fraction(value).unwrap_or(0.0));
                // A hair of stroke in the same colour closes the seams between cells.
                canvas.rect(rect, 0.0, &Paint::fill(&background).and_stroke(&background, 0.4));
                if self.cell_labels {
                    let label = self.cell_label(value, decimals);
                    let size = (LABEL * (rect.w - 7.0) / text::width(&label, LABEL)).clamp(LABEL, 11.0);
                    let style = TextStyle::new(size, Anchor::Middle).colour(legible_on(&background));
                    canvas.text(rect.middle(), &label, &style);
                }
            });
        }
        let (rows, columns) = shape(values);
        let inside = |&&(row, column): &&(usize, usize)| row < rows && column < columns;
        let marked: Vec<(usize, usize)> = self.outlined.iter().filter(inside).copied().collect();
        let thick = (cells.side / 7.0).clamp(1.2, 2.4);
        if !marked.is_empty() {
            canvas.clipped(frame, |canvas| {
                for (colour, width) in [(ON_LIGHT, thick * 2.0), (ON_DARK, thick * 0.9)] {
                    canvas.path(&outline(&marked, cells, width), &Paint::stroke(colour, width));
                }
            });
        }
        border(canvas, frame);
    }

    /// Nothing in cells that are exactly 0 and say so by their colour.
    fn cell_label(&self, value: f64, decimals: usize) -> String {
        if value == 0.0 && !self.zero_label.is_empty() { String::new() } else { cell_label(value, decimals) }
    }

    /// Room for the names of the rows.
    fn names_beside(&self) -> f64 {
        if self.row_names.is_empty() { 0.0 } else { text::widest(&self.row_names, NAME).min(MOST_NAME) + 5.0 }
    }

    /// Room for the names of the columns, which are turned if a cell is too narrow for them.
    fn names_above(&self, cells: &Cells) -> f64 {
        let widest = text::widest(&self.column_names, NAME).min(MOST_NAME);
        if self.column_names.is_empty() {
            0.0
        } else if widest + 3.0 <= cells.side {
            14.0
        } else {
            widest + 5.0
        }
    }

    fn draw_names(&self, canvas: &mut Canvas, cells: &Cells, (rows, columns): (usize, usize)) {
        // Every second, third … name where cells are too small for all.
        let every = (NAME / cells.side).ceil().max(1.0) as usize;
        let style = |anchor| TextStyle::new(NAME, anchor).colour(MUTED);
        for (row, name) in self.row_names.iter().take(rows).enumerate().step_by(every) {
            let (x, y) = (cells.origin.0 - 4.0, cells.centre((row, 0)).1);
            let words = text::shorten(name, NAME, MOST_NAME);
            canvas.text((x, y), &words, &style(Anchor::End));
        }
        let level = self.names_above(cells) <= 14.0;
        for (column, name) in self.column_names.iter().take(columns).enumerate().step_by(every) {
            let x = cells.centre((0, column)).0;
            let name = text::shorten(name, NAME, MOST_NAME);
            if level {
                canvas.text((x, cells.origin.1 - 7.0), &name, &style(Anchor::Middle));
            } else {
                canvas.text((x, cells.origin.1 - 4.0), &name, &style(Anchor::Start).turned(-90.0));
            }
        }
    }

    fn description(&self) -> String {
        let names = spoken_list(self.panels.iter().map(|(title, _)| title));
        let mut out = format!("Heat maps of {} for {names}.", or(&self.value_label, "values"));
        for (title, values) in &self.panels {
            let (rows, columns) = shape(values);
            let drawn = entries(values).filter(|entry| drawable(*entry.2));
            let _ = write!(out, " {}: {rows} by {columns} cells", or(title, "matrix"));
            if let Some((row, column, value)) = drawn.max_by(|a, b| a.2.total_cmp(b.2)) {
                let _ = write!(out, ", largest {} in row {row}, column {column}", brief(*value));
            }
            out.push('.');
        }
        out
    }
}

/// A number without the zero before the point: cells are small. A small one beside large ones has a decimal more.
fn cell_label(value: f64, decimals: usize) -> String {
    let decimals = if value.abs() < 0.95 && decimals < 2 { decimals + 1 } else { decimals };
    let label = fixed(value, decimals);
    if value.abs() < 1.0 && decimals > 0 { label.replacen("0.", ".", 1) } else { label }
}

/// A cell that is exactly 0.
fn zero(canvas: &mut Canvas, rect: Rect) {
    terrain::fill(canvas, rect, 0);
    canvas.circle(rect.middle(), (rect.h / 12.0).clamp(0.6, 1.4), &Paint::fill(MUTED));
}

fn tip(row: usize, column: usize, content: &str) -> String {
    format!("row {row}, column {column}: {content}")
}

fn panel_title(canvas: &mut Canvas, title: &str, frame: Rect, above: f64) {
    let lines = text::wrap(title, TITLE, frame.w.max(LEAST_PANEL), 2);
    let top = frame.y - above - lines.len() as f64 * 15.0 + 5.0;
    canvas.lines((frame.x, top), 15.0, &lines, &TextStyle::new(TITLE, Anchor::Start));
}

fn border(canvas: &mut Canvas, frame: Rect) {
    if frame.w > 0.0 && frame.h > 0.0 {
        canvas.rect(frame, 0.0, &Paint::stroke(MUTED, 0.8));
    }
}

fn draw_map(canvas: &mut Canvas, map: &CategoryMap, cells: &Cells) {
    let frame = cells.frame(shape(&map.cells));
    panel_title(canvas, &map.title, frame, 0.0);
    for (row, column, &category) in entries(&map.cells) {
        canvas.with_tip(&tip(row, column, name(&map.names, category)), |canvas| {
            terrain::fill(canvas, cells.rect(row, column), category);
        });
    }
    border(canvas, frame);
}

/// The border of the marked cells; edges reach half a line width further, which closes the corners.
fn outline(marked: &[(usize, usize)], cells: &Cells, line: f64) -> Path {
    let is_marked =
        |row: Option<usize>, column: Option<usize>| row.zip(column).is_some_and(|place| marked.contains(&place));
    let mut path = Path::default();
    let half = line / 2.0;
    for &(row, column) in marked {
        let cell = cells.rect(row, column);
        let (left, top, right, bottom) = (cell.x, cell.y, cell.right(), cell.bottom());
        let (wide, high) = ((left - half, right + half), (top - half, bottom + half));
        for (neighbour, from, to) in [
            ((row.checked_sub(1), Some(column)), (wide.0, top), (wide.1, top)),
            ((Some(row + 1), Some(column)), (wide.0, bottom), (wide.1, bottom)),
            ((Some(row), column.checked_sub(1)), (left, high.0), (left, high.1)),
            ((Some(row), Some(column + 1)), (right, high.0), (right, high.1)),
        ] {
            if !is_marked(neighbour.0, neighbour.1) {
                path.move_to(from);
                path.line_to(to);
            }
        }
    }
    path
}

fn colour_bar(canvas: &mut Canvas, bar: Rect, axis: &Axis, tick_width: f64, label: &str) {
    const STRIPES: usize = 64;
    let height = bar.h / STRIPES as f64;
    for stripe in 0..STRIPES {
        let colour = sequential((stripe as f64 + 0.5) / STRIPES as f64);
        let rect = Rect::new(bar.x, bar.bottom() - (stripe as f64 + 1.0) * height, bar.w, height);
        canvas.rect(rect, 0.0, &Paint::fill(&colour).and_stroke(&colour, 0.4));
    }
    canvas.rect(bar, 0.0, &Paint::stroke(MUTED, 0.8));
    for tick in &axis.ticks {
        let Some(y) = axis.fraction(tick.value).map(|f| bar.bottom() - f * bar.h) else { continue };
        canvas.line((bar.right(), y), (bar.right() + 4.0, y), &Paint::stroke(INK, 1.0));
        canvas.line((bar.x, y), (bar.right(), y), &Paint::stroke(GRID, 0.6).opacity(0.5));
        let style = TextStyle::new(11.0, Anchor::Start).colour(MUTED);
        canvas.text((bar.right() + 7.0, y), &tick.label, &style);
    }
    let lines = [label, axis.scale()].map(|line| text::shorten(line, 12.0, bar.h.max(110.0)));
    let style = TextStyle::new(12.0, Anchor::Middle).turned(-90.0);
    let below_top = (text::widest(&lines, 12.0) - bar.h).max(0.0) / 2.0;
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let x = bar.right() + 8.0 + tick_width + 11.0 + 14.0 * index as f64;
        canvas.text((x, bar.middle().1 + below_top), line, &style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_labels_are_short() {
        assert_eq!(cell_label(0.125, 2), ".12");
        assert_eq!(cell_label(-0.5, 2), "−.50");
        assert_eq!(cell_label(0.999, 2), "1.00");
        assert_eq!(cell_label(10.0, 1), "10.0");
        assert_eq!(cell_label(0.25, 0), ".2");
        assert_eq!(cell_label(0.85, 1), ".85");
    }

    #[test]
    fn panels_wrap_when_cells_get_too_small() {
        let panel = ("p".to_owned(), vec![vec![0.5; 10]; 10]);
        let maps = HeatMaps { panels: vec![panel; 6], ..HeatMaps::default() };
        let (wide, narrow) = (maps.layout(2000.0, 9.0), maps.layout(300.0, 9.0));
        assert!(wide.places.iter().all(|place| place.1 == wide.places[0].1));
        assert!(narrow.places[5].1 > narrow.places[0].1);
    }
}
