//! Matrices as heat maps with one colour scale, beside an optional map of cell categories.

use super::frame::{heading, width_or};
use super::ink::{GRID, INK, MUTED, ON_DARK, ON_LIGHT, legible_on, sequential};
use super::legend::{self, Entry, Sample};
use super::scale::{Axis, Extent, brief, drawable, fixed};
use super::svg::{Anchor, Canvas, Paint, Path, Point, Rect, TextStyle};
use super::{or, spoken_list, terrain, text};
use std::fmt::Write as _;

const MARGIN: f64 = 10.0;
const GAP: f64 = 16.0;
const TITLE: f64 = 12.0;
const LABEL: f64 = 8.5;

/// One or more matrices with a shared colour bar; panels wrap into rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMaps {
    /// Heading; may be empty.
    pub title: String,
    /// What the colours measure, with its unit; stands at the colour bar.
    pub value_label: String,
    /// The matrices.
    pub panels: Vec<HeatPanel>,
    /// A left-most panel with the category of each cell.
    pub map: Option<CategoryMap>,
    /// Cells (row, column) to outline in every matrix, such as difficult terrain.
    pub outlined: Vec<(usize, usize)>,
    /// Legend entry of the outline.
    pub outline_label: String,
    /// Write the value into each cell; cells grow until it fits.
    pub cell_labels: bool,
    /// Ends of the colour scale; by default those of the values.
    pub range: Option<(f64, f64)>,
    /// Largest width in pixels; 720 by default.
    pub width: Option<f64>,
}

/// One matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatPanel {
    /// Title above the matrix.
    pub title: String,
    /// Rows of values, top row first; NaN is drawn as a missing cell.
    pub values: Vec<Vec<f64>>,
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
        let values = || self.panels.iter().flat_map(|panel| panel.values.iter().flatten().copied());
        let chosen = self.range.filter(|(low, high)| drawable(*low) && drawable(*high) && low < high);
        let (low, high) = chosen.unwrap_or_else(|| Extent::of(values()).range());
        let axis = Axis::linear((low, high), 5);
        let ticks = axis.ticks.iter().map(|tick| text::width(&tick.label, 11.0)).fold(0.0, f64::max);
        let bar_room = if self.panels.is_empty() { 0.0 } else { 18.0 + 12.0 + 8.0 + ticks + 20.0 };

        let width = width_or(self.width, 720.0);
        // Two digits for the largest value.
        let decimals = (1.0 - low.abs().max(high.abs()).log10().floor()).clamp(0.0, 4.0) as usize;
        let label_width = values().map(|value| text::width(&cell_label(value, decimals), LABEL)).fold(0.0, f64::max);
        let least = if self.cell_labels { (label_width + 7.0).clamp(16.0, 44.0) } else { 9.0 };
        let layout = self.layout(width - 2.0 * MARGIN - bar_room, least);
        let width = (layout.right + bar_room + MARGIN).max(300.0);

        let mut canvas = Canvas::default();
        let room = width - 2.0 * MARGIN;
        let mut top = MARGIN + heading(&mut canvas, &self.title, MARGIN, MARGIN, room);
        let used = legend::draw(&mut canvas, (MARGIN, top), room, &self.legend());
        top += if used > 0.0 { used + 6.0 } else { 0.0 };

        let mut places = layout.places.iter().map(|(x, y)| (*x, y + top));
        let mut first_panel: Option<Rect> = None;
        if let (Some(map), Some(at)) = (&self.map, self.map.as_ref().and_then(|_| places.next())) {
            draw_map(&mut canvas, map, at, layout.cell);
        }
        for (panel, at) in self.panels.iter().zip(places) {
            let colour = |value: f64| sequential(axis.fraction(value).unwrap_or(0.0));
            let label = |value: f64| self.cell_labels.then(|| cell_label(value, decimals));
            self.draw_panel(&mut canvas, panel, at, layout.cell, colour, label);
            let (rows, _) = shape(&panel.values);
            first_panel = first_panel.or(Some(Rect::new(at.0, at.1, 0.0, rows as f64 * layout.cell)));
        }
        if let Some(panel) = first_panel {
            let bar = Rect::new(layout.right + 18.0, panel.y, 12.0, panel.h.max(80.0));
            colour_bar(&mut canvas, bar, &axis, ticks, &self.value_label);
        }
        let bottom = top + layout.bottom.max(if self.panels.is_empty() { 0.0 } else { 110.0 });
        canvas.finish(width, bottom + MARGIN, or(&self.title, "Heat maps"), &self.description())
    }

    /// Chooses the number of panels per row so that cells are at least `least` pixels wide and rows are about equal.
    fn layout(&self, room: f64, least: f64) -> Layout {
        let map = self.map.iter().map(|map| (shape(&map.cells), map.title.as_str()));
        let panels = self.panels.iter().map(|panel| (shape(&panel.values), panel.title.as_str()));
        let sizes: Vec<((usize, usize), &str)> = map.chain(panels).collect();
        let columns = sizes.iter().map(|((_, columns), _)| *columns).max().unwrap_or(1).max(1) as f64;
        let cell_for = |count: usize| (room - GAP * (count as f64 - 1.0)) / (count as f64 * columns);
        let most = (1..=sizes.len().max(1)).rev().find(|count| cell_for(*count) >= least).unwrap_or(1);
        // Four panels where three fit are two rows of two, not three and a lonely one.
        let per_row = sizes.len().div_ceil(sizes.len().div_ceil(most).max(1)).max(1);
        let floor = if self.cell_labels { least } else { 3.0 };
        let cell = cell_for(most).min(34.0).max(floor);
        let slot = (columns * cell).max(56.0);
        let mut layout = Layout { cell, places: Vec::new(), right: MARGIN, bottom: 0.0 };
        for row in sizes.chunks(per_row) {
            let title_lines = row.iter().map(|(_, title)| text::wrap(title, TITLE, slot, 2).len()).max().unwrap_or(0);
            let top = layout.bottom + title_lines as f64 * 15.0 + if title_lines > 0 { 4.0 } else { 0.0 };
            for (index, ((rows, _), _)) in row.iter().enumerate() {
                let x = MARGIN + index as f64 * (slot + GAP);
                layout.places.push((x, top));
                layout.right = layout.right.max(x + slot);
                layout.bottom = layout.bottom.max(top + *rows as f64 * cell);
            }
            layout.bottom += GAP;
        }
        layout.bottom = (layout.bottom - GAP).max(0.0);
        layout
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        if let Some(map) = &self.map {
            let name = |(index, name): (usize, &String)| Entry::new(Sample::Terrain(index), name);
            entries.extend(map.names.iter().enumerate().map(name));
        }
        if !self.outlined.is_empty() && !self.panels.is_empty() {
            entries.push(Entry::new(Sample::Outline, or(&self.outline_label, "marked")));
        }
        if self.panels.iter().any(|panel| panel.values.iter().flatten().any(|value| !drawable(*value))) {
            entries.push(Entry::new(Sample::Missing, "no value"));
        }
        entries
    }

    fn draw_panel(
        &self,
        canvas: &mut Canvas,
        panel: &HeatPanel,
        at: Point,
        cell: f64,
        colour: impl Fn(f64) -> String,
        label: impl Fn(f64) -> Option<String>,
    ) {
        let (rows, columns) = shape(&panel.values);
        panel_title(canvas, &panel.title, at, (columns as f64 * cell).max(56.0));
        for (row, column, value) in entries(&panel.values) {
            let rect = cell_rect(at, cell, row, column);
            let tip = format!("row {row}, column {column}: {}", brief(value));
            canvas.with_tip(&tip, |canvas| {
                if !drawable(value) {
                    legend::missing(canvas, rect);
                    return;
                }
                let background = colour(value);
                // A hair of stroke in the same colour closes the seams between cells.
                canvas.rect(rect, 0.0, &Paint::fill(&background).and_stroke(&background, 0.4));
                if let Some(label) = label(value) {
                    let size = (LABEL * (cell - 7.0) / text::width(&label, LABEL)).clamp(LABEL, 11.0);
                    let style = TextStyle::new(size, Anchor::Middle).colour(legible_on(&background));
                    canvas.text(rect.middle(), &label, &style);
                }
            });
        }
        let inside = |&&(row, column): &&(usize, usize)| row < rows && column < columns;
        let marked: Vec<(usize, usize)> = self.outlined.iter().filter(inside).copied().collect();
        let thick = (cell / 7.0).clamp(1.2, 2.4);
        let frame = Rect::new(at.0, at.1, columns as f64 * cell, rows as f64 * cell);
        if !marked.is_empty() {
            canvas.clipped(frame, |canvas| {
                for (colour, width) in [(ON_LIGHT, thick * 2.0), (ON_DARK, thick * 0.9)] {
                    canvas.path(&outline(&marked, at, cell, width), &Paint::stroke(colour, width));
                }
            });
        }
        if rows > 0 && columns > 0 {
            canvas.rect(frame, 0.0, &Paint::stroke(MUTED, 0.8));
        }
    }

    fn description(&self) -> String {
        let names: Vec<String> = self.panels.iter().map(|panel| panel.title.clone()).collect();
        let mut out = format!("Heat maps of {} for {}.", or(&self.value_label, "values"), spoken_list(&names));
        for panel in &self.panels {
            let (rows, columns) = shape(&panel.values);
            let largest = entries(&panel.values).filter(|entry| drawable(entry.2)).max_by(|a, b| a.2.total_cmp(&b.2));
            let _ = write!(out, " {}: {rows} by {columns} cells", or(&panel.title, "matrix"));
            if let Some((row, column, value)) = largest {
                let _ = write!(out, ", largest {} in row {row}, column {column}", brief(value));
            }
            out.push('.');
        }
        out
    }
}

/// A number without the zero before the point: cells are small.
fn cell_label(value: f64, decimals: usize) -> String {
    let label = fixed(value, decimals);
    if value.abs() < 1.0 && decimals > 0 { label.replacen("0.", ".", 1) } else { label }
}

fn shape<T>(rows: &[Vec<T>]) -> (usize, usize) {
    (rows.len(), rows.iter().map(Vec::len).max().unwrap_or(0))
}

fn entries<T: Copy>(rows: &[Vec<T>]) -> impl Iterator<Item = (usize, usize, T)> {
    rows.iter().enumerate().flat_map(|(row, cells)| cells.iter().enumerate().map(move |(column, v)| (row, column, *v)))
}

fn cell_rect((x, y): Point, cell: f64, row: usize, column: usize) -> Rect {
    Rect::new(x + column as f64 * cell, y + row as f64 * cell, cell, cell)
}

fn panel_title(canvas: &mut Canvas, title: &str, (x, y): Point, room: f64) {
    let lines = text::wrap(title, TITLE, room, 2);
    for (index, line) in lines.iter().enumerate() {
        let up = (lines.len() - index) as f64 * 15.0 - 5.0;
        canvas.text((x, y - up), line, &TextStyle::new(TITLE, Anchor::Start));
    }
}

fn draw_map(canvas: &mut Canvas, map: &CategoryMap, at: Point, cell: f64) {
    let (rows, columns) = shape(&map.cells);
    panel_title(canvas, &map.title, at, (columns as f64 * cell).max(56.0));
    for (row, column, category) in entries(&map.cells) {
        let name = map.names.get(category).map_or("", String::as_str);
        canvas.with_tip(&format!("row {row}, column {column}: {name}"), |canvas| {
            terrain::fill(canvas, cell_rect(at, cell, row, column), category);
        });
    }
    if rows > 0 && columns > 0 {
        let frame = Rect::new(at.0, at.1, columns as f64 * cell, rows as f64 * cell);
        canvas.rect(frame, 0.0, &Paint::stroke(MUTED, 0.8));
    }
}

/// The border of the marked cells; edges reach half a line width further, which closes the corners.
fn outline(marked: &[(usize, usize)], (x, y): Point, cell: f64, line: f64) -> Path {
    let is_marked = |row: Option<usize>, column: Option<usize>| match (row, column) {
        (Some(row), Some(column)) => marked.contains(&(row, column)),
        _ => false,
    };
    let mut path = Path::default();
    let mut edge = |from: Point, to: Point| {
        path.move_to(from);
        path.line_to(to);
    };
    let half = line / 2.0;
    for &(row, column) in marked {
        let (left, top) = (x + column as f64 * cell, y + row as f64 * cell);
        let (right, bottom) = (left + cell, top + cell);
        if !is_marked(row.checked_sub(1), Some(column)) {
            edge((left - half, top), (right + half, top));
        }
        if !is_marked(Some(row + 1), Some(column)) {
            edge((left - half, bottom), (right + half, bottom));
        }
        if !is_marked(Some(row), column.checked_sub(1)) {
            edge((left, top - half), (left, bottom + half));
        }
        if !is_marked(Some(row), Some(column + 1)) {
            edge((right, top - half), (right, bottom + half));
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
    let label = text::shorten(label, 12.0, bar.h.max(110.0));
    let style = TextStyle::new(12.0, Anchor::Middle).turned(-90.0);
    let below_top = (text::width(&label, 12.0) - bar.h).max(0.0) / 2.0;
    canvas.text((bar.right() + 8.0 + tick_width + 11.0, bar.middle().1 + below_top), &label, &style);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_labels_are_short() {
        assert_eq!(cell_label(0.125, 2), ".12");
        assert_eq!(cell_label(-0.5, 1), "−.5");
        assert_eq!(cell_label(0.999, 2), "1.00");
        assert_eq!(cell_label(10.0, 1), "10.0");
    }

    #[test]
    fn panels_wrap_when_cells_get_too_small() {
        let panel = HeatPanel { title: "p".into(), values: vec![vec![0.5; 10]; 10] };
        let maps = HeatMaps { panels: vec![panel; 6], ..HeatMaps::default() };
        let (wide, narrow) = (maps.layout(2000.0, 9.0), maps.layout(300.0, 9.0));
        assert!(wide.places.iter().all(|place| place.1 == wide.places[0].1));
        assert!(narrow.places[5].1 > narrow.places[0].1);
    }
}
