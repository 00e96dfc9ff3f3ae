//! Fills and icons of cells, shared by maps and their legends. All colours are fixed: a map looks alike in light and dark.

use super::ink::{self, MUTED, ON_DARK, ON_LIGHT, legible_on, series_colour};
use super::legend::arrow_head;
use super::svg::{Anchor, Canvas, Paint, Path, Point, Rect, TextStyle};

const FLOOR: &str = "#f3f4f6";
const WALL: &str = "#4a4d55";
const TERRAINS: [&str; 6] = [FLOOR, "#d9b77e", "#a9cbe8", "#a8cf9a", "#d7bde2", "#c7c9cf"];

/// A small picture about a centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Icon {
    Home,
    Start,
    Enemy,
    /// A resource by index, with the first letter of its name.
    Resource(usize, char),
    /// First cell of the path with this index.
    PathStart(usize),
    /// Last cell of the path with this index.
    PathEnd(usize),
    /// A stay in the same cell.
    Stay,
}

/// Fills a cell with the colour and hatch of a terrain class; class 0 is plain floor.
pub(super) fn fill(canvas: &mut Canvas, rect: Rect, class: usize) {
    let colour = TERRAINS[class % TERRAINS.len()];
    canvas.rect(rect, 0.0, &Paint::fill(colour).and_stroke("#d4d7dd", 0.7));
    if let Some(hatch) = ink::hatch(canvas, class, "#6d6250", 0.45) {
        canvas.rect(rect, 0.0, &Paint::fill(&hatch));
    }
}

/// A cell of a terrain class in a legend.
pub(super) fn sample(canvas: &mut Canvas, rect: Rect, class: usize) {
    fill(canvas, rect, class);
    canvas.rect(rect, 0.0, &Paint::stroke(MUTED, 0.6));
}

/// Fills a cell as a wall.
pub(super) fn wall(canvas: &mut Canvas, rect: Rect) {
    canvas.rect(rect, 0.0, &Paint::fill(WALL).and_stroke(WALL, 0.7));
}

impl Icon {
    /// The icon in a legend, on floor.
    pub fn sample(self, canvas: &mut Canvas, place: Rect) {
        fill(canvas, Rect::centred(place.middle(), place.w, 16.0), 0);
        self.draw(canvas, place.middle(), 6.5);
    }

    /// Draws the icon within a radius.
    pub fn draw(self, canvas: &mut Canvas, (x, y): Point, r: f64) {
        let shape = |corners: &[Point]| Path::around((x, y), r, corners);
        match self {
            Icon::Home => {
                let walls = [(-0.7, 0.0), (0.7, 0.0), (0.7, 0.85), (-0.7, 0.85)];
                canvas.path(&shape(&walls), &Paint::fill(ON_LIGHT));
                canvas.path(&shape(&[(-1.0, 0.05), (0.0, -0.9), (1.0, 0.05)]), &Paint::fill(ON_LIGHT));
                canvas.path(&shape(&[(-0.2, 0.3), (0.2, 0.3), (0.2, 0.85), (-0.2, 0.85)]), &Paint::fill(ON_DARK));
            }
            Icon::Start => {
                let pole = Paint::stroke(ON_LIGHT, 1.5);
                canvas.line((x - 0.55 * r, y - 0.9 * r), (x - 0.55 * r, y + 0.95 * r), &pole);
                let flag = [(-0.55, -0.9), (0.8, -0.45), (-0.55, 0.05)];
                canvas.path(&shape(&flag), &Paint::fill(series_colour(2)).and_stroke(ON_LIGHT, 0.8));
            }
            Icon::Enemy => {
                let triangle = [(0.0, -0.95), (0.98, 0.8), (-0.98, 0.8)];
                canvas.path(&shape(&triangle), &Paint::fill("#b3261e").and_stroke(ON_LIGHT, 0.8));
                canvas.line((x, y - 0.35 * r), (x, y + 0.25 * r), &Paint::stroke(ON_DARK, 0.2 * r));
                canvas.circle((x, y + 0.52 * r), 0.12 * r, &Paint::fill(ON_DARK));
            }
            Icon::Resource(index, letter) => {
                // Home and path take the first colours; resources start at green.
                let colour = series_colour(index + 2);
                let hexagon = [(0.5, -0.87), (1.0, 0.0), (0.5, 0.87), (-0.5, 0.87), (-1.0, 0.0), (-0.5, -0.87)];
                canvas.path(&shape(&hexagon), &Paint::fill(colour).and_stroke(ON_LIGHT, 0.8));
                let style = TextStyle::new((r * 1.1).max(8.0), Anchor::Middle).colour(legible_on(colour)).bold();
                canvas.text((x, y), &letter.to_string(), &style);
            }
            Icon::PathStart(path) => {
                canvas.circle((x, y), 0.6 * r, &Paint::fill(ON_DARK).and_stroke(series_colour(path), 2.2));
            }
            Icon::PathEnd(path) => {
                let square = Rect::centred((x, y), 1.15 * r, 1.15 * r);
                canvas.rect(square, 0.0, &Paint::fill(series_colour(path)).and_stroke(ON_DARK, 1.0));
            }
            Icon::Stay => {
                let paint = Paint::stroke(ON_LIGHT, 1.2);
                let mut ring = Path::default();
                let k = 0.9 * r;
                ring.move_to((x - 0.35 * r, y + 0.35 * r));
                ring.curve_to((x - k * 1.2, y - k), (x + k * 1.2, y - k), (x + 0.35 * r, y + 0.35 * r));
                canvas.path(&ring, &paint);
                arrow_head(canvas, (x + 0.25 * r, y + 0.65 * r), (-0.5, 0.87), 0.7 * r, ON_LIGHT);
            }
        }
    }
}
