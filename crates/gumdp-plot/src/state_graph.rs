//! The transitions of a small decision process: a graph while it can be read, else a matrix for each action.

use super::frame::{MARGIN, WIDTH, head};
use super::graph_curve::{Curve, free_angle, place_labels, unit};
use super::graph_layout::{self, Pairs};
use super::ink::{INK, MUTED, PAPER, series_colour, series_dash};
use super::legend::{self, Entry};
use super::scale::Extent;
use super::svg::{Anchor, Canvas, Paint, Point, Rect, TextStyle};
use super::{HeatMaps, name, spoken_list, svg, text};
use std::fmt::Write as _;

/// Graphs with more states or arrows than these would not be legible: they are drawn as matrices.
const MOST_STATES: usize = 12;
const MOST_ARROWS: usize = 20;
/// Matrices with more states are not drawn.
const MOST_ROWS: usize = 60;
/// With more actions than this a matrix shows the largest probability over all of them.
const MOST_ACTIONS: usize = 9;
/// Matrices with at most this many states have numbers in their cells.
const LABELLED: usize = 8;
const NAME: f64 = 13.0;
const NOTE: f64 = 10.5;
const LABEL: f64 = 11.0;

/// A directed graph of states; edges are labelled by the caller, for example "a0 .85".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateGraph {
    /// The states.
    pub nodes: Vec<GraphNode>,
    /// The transitions; those to or from unknown states are left out.
    pub edges: Vec<GraphEdge>,
    /// Names of the actions, which give edges their colour and dash.
    pub actions: Vec<String>,
    /// The one of them that stands for all others: whatever is done has this outcome.
    pub any_action: Option<usize>,
    /// One position per state in any unit, y downwards; by default a layout is chosen.
    pub positions: Option<Vec<(f64, f64)>>,
}

/// A state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphNode {
    /// Name in the node.
    pub name: String,
    /// Second line, such as "c = 0.25"; may be empty.
    pub note: String,
    /// Drawn with a double ring.
    pub start: bool,
}

/// A transition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphEdge {
    /// Index of the state it leaves.
    pub from: usize,
    /// Index of the state it enters; may be the same.
    pub to: usize,
    /// Index of the action.
    pub action: usize,
    /// Its probability.
    pub probability: f64,
    /// Text at the edge; may be empty.
    pub label: String,
}

impl StateGraph {
    /// The figure as a standalone SVG document; `None` if there are no states or too many to be legible.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let legible = self.nodes.len() <= MOST_STATES && self.edges.len() <= MOST_ARROWS;
        let drawn = 1..=MOST_ROWS;
        drawn.contains(&self.nodes.len()).then(|| if legible { self.graph() } else { self.matrix(None) })
    }

    /// A figure that fits on a narrow screen, where the other does not.
    #[must_use]
    pub fn narrow(&self) -> Option<String> {
        let width = self.svg().as_deref().and_then(|svg| svg::side(svg, "width"))?;
        // A little wider is shrunk, and still legible.
        (width > 1.25 * WIDTH).then(|| self.matrix(Some(WIDTH as u32)))
    }

    /// How likely each state follows each other one, by action.
    fn matrix(&self, width: Option<u32>) -> String {
        let count = self.nodes.len();
        let names: Vec<String> = self.nodes.iter().map(|node| node.name.clone()).collect();
        let of = |chosen: &dyn Fn(usize) -> bool| {
            let mut rows = vec![vec![0.0_f64; count]; count];
            for edge in self.edges.iter().filter(|edge| edge.from < count && edge.to < count && chosen(edge.action)) {
                rows[edge.from][edge.to] = rows[edge.from][edge.to].max(edge.probability);
            }
            rows
        };
        let single: Vec<usize> = (0..self.actions.len()).filter(|action| self.any_action != Some(*action)).collect();
        let panels = if single.is_empty() || single.len() > MOST_ACTIONS {
            vec![("the most likely over all actions".to_owned(), of(&|_| true))]
        } else {
            let panel = |action: &usize| {
                let rows = of(&|other| other == *action || self.any_action == Some(other));
                (self.actions[*action].clone(), rows)
            };
            single.iter().map(panel).collect()
        };
        let maps = HeatMaps {
            title: "From the state of the row to that of the column".to_owned(),
            value_label: "probability".to_owned(),
            panels,
            cell_labels: count <= LABELLED,
            zero_label: "never".to_owned(),
            row_names: names.clone(),
            column_names: names,
            width,
            ..HeatMaps::default()
        };
        maps.svg()
    }

    fn graph(&self) -> String {
        let count = self.nodes.len();
        let edges: Vec<&GraphEdge> = self.edges.iter().filter(|edge| edge.from < count && edge.to < count).collect();
        let radii = self.radii();
        let sizes: Vec<Point> = edges.iter().map(|edge| label_size(&edge.label)).collect();
        let widest = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
        let spacing = 2.0 * radii.0 + (widest + 18.0).max(42.0);
        let pairs: Pairs = edges.iter().map(|e| (e.from.min(e.to), e.from.max(e.to))).filter(|(a, b)| a != b).collect();
        let given = self.positions.as_ref().filter(|positions| positions.len() == count);
        let centres = given
            .and_then(|positions| graph_layout::scaled(positions, spacing))
            .unwrap_or_else(|| graph_layout::centres(count, &pairs, spacing));

        let curves = curves(&edges, &centres, radii);
        let boxes: Vec<Rect> =
            centres.iter().map(|at| Rect::centred(*at, 2.0 * radii.0 + 2.0, 2.0 * radii.1 + 2.0)).collect();
        let labels = place_labels(&curves, &sizes, &boxes);
        let bounds = bounds(boxes.iter().chain(&labels), curves.iter().flat_map(Curve::samples));

        let mut canvas = Canvas::default();
        let entries = self.legend();
        let width =
            (bounds.w + 2.0 * MARGIN).max(legend::width(&entries).min(WIDTH - 2.0 * MARGIN) + 2.0 * MARGIN).max(260.0);
        let top = head(&mut canvas, "", &entries, width, 10.0);
        let shift = ((width - bounds.w) / 2.0 - bounds.x, top - bounds.y);

        for (edge, curve) in edges.iter().zip(&curves) {
            let tip = format!("{} to {}: {}", self.nodes[edge.from].name, self.nodes[edge.to].name, edge.label);
            canvas.with_tip(&tip, |canvas| draw_edge(canvas, &moved(curve, shift), edge.action));
        }
        for (edge, rect) in edges.iter().zip(&labels).filter(|(edge, _)| !edge.label.is_empty()) {
            let at = (rect.middle().0 + shift.0, rect.middle().1 + shift.1);
            canvas.rect(Rect::centred(at, rect.w, rect.h), 3.0, &Paint::fill(PAPER));
            canvas.text(at, &edge.label, &TextStyle::new(LABEL, Anchor::Middle));
        }
        for (node, at) in self.nodes.iter().zip(&centres) {
            draw_node(&mut canvas, node, (at.0 + shift.0, at.1 + shift.1), radii);
        }
        let bottom = top + bounds.h + MARGIN;
        canvas.finish(width, bottom, "State graph", &self.description(&edges))
    }

    fn radii(&self) -> Point {
        let names = text::widest(self.nodes.iter().map(|node| &node.name), NAME);
        let widest = text::widest(self.nodes.iter().map(|node| &node.note), NOTE).max(names);
        let short = if self.nodes.iter().any(|node| !node.note.is_empty()) { 26.0 } else { 21.0 };
        ((widest / 2.0 + 10.0).clamp(short, 58.0), short)
    }

    fn legend(&self) -> Vec<Entry<'_>> {
        let used = |action: &usize| self.edges.iter().any(|edge| edge.action == *action);
        let actions = self.actions.iter().enumerate().filter(|(index, _)| used(index));
        let entry = |(index, name): (usize, &String)| {
            legend::entry(name, move |canvas, place| legend::arrow(canvas, place, index))
        };
        let start = self.nodes.iter().any(|node| node.start).then(|| {
            legend::entry("start", |canvas, place| {
                canvas.circle(place.middle(), 6.5, &Paint::fill(PAPER).and_stroke(INK, 1.2));
                canvas.circle(place.middle(), 3.8, &Paint::stroke(INK, 1.2));
            })
        });
        actions.map(entry).chain(start).collect()
    }

    fn description(&self, edges: &[&GraphEdge]) -> String {
        let names = spoken_list(self.nodes.iter().map(|node| &node.name));
        let mut out = format!("Graph of the states {names}.");
        for edge in edges {
            let (from, to) = (&self.nodes[edge.from].name, &self.nodes[edge.to].name);
            let _ = write!(out, " {from} to {to} by {}: {}.", name(&self.actions, edge.action), edge.label);
        }
        out
    }
}

fn label_size(label: &str) -> Point {
    if label.is_empty() { (0.0, 0.0) } else { (text::width(label, LABEL) + 6.0, 15.0) }
}

/// One curve per edge. Edges between the same two states fan out; each direction bulges to its own left.
fn curves(edges: &[&GraphEdge], centres: &[Point], radii: Point) -> Vec<Curve> {
    let mut curves: Vec<Option<Curve>> = vec![None; edges.len()];
    let mut used: Vec<Vec<f64>> = vec![Vec::new(); centres.len()];
    for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.from != edge.to) {
        let same = |other: &&GraphEdge| other.from == edge.from && other.to == edge.to;
        let rank = edges[..index].iter().copied().filter(|other| same(other)).count() as f64;
        let alone = edges.iter().copied().filter(|other| same(other)).count() == 1
            && !edges.iter().any(|other| other.from == edge.to && other.to == edge.from);
        let (a, b) = (centres[edge.from], centres[edge.to]);
        let between = blocked(a, b, centres, radii);
        let bend = match between {
            0 if alone => 0.0,
            0 => 17.0 + 24.0 * rank,
            // An arc over the states in between, higher the more there are.
            count => radii.1 + 26.0 + 20.0 * count as f64 + 24.0 * rank,
        };
        let curve = Curve::between(a, b, bend).clipped(radii);
        let angle = |from: Point, to: Point| (to.1 - from.1).atan2(to.0 - from.0);
        used[edge.from].push(angle(a, curve.0[0]));
        used[edge.to].push(angle(b, curve.0[3]));
        curves[index] = Some(curve);
    }
    let mean = |pick: fn(&Point) -> f64| centres.iter().map(pick).sum::<f64>() / centres.len().max(1) as f64;
    let middle = (mean(|p| p.0), mean(|p| p.1));
    for (index, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.from == edge.to) {
        let at = centres[edge.from];
        let (dx, dy) = (at.0 - middle.0, at.1 - middle.1);
        // On a line, "outward" would run along it: loops go up there.
        let outward = if dy.abs() < 1.0 { -std::f64::consts::FRAC_PI_2 } else { dy.atan2(dx) };
        let angle = free_angle(&used[edge.from], outward);
        used[edge.from].extend([angle - 0.5, angle, angle + 0.5]);
        let reach = 34.0 + radii.0 - radii.0.min(radii.1) * 0.6;
        curves[index] = Some(Curve::around(at, radii, angle, reach * if radii.0 > radii.1 { 0.8 } else { 1.0 }));
    }
    curves.into_iter().flatten().collect()
}

/// How many other states lie on the straight line between two.
fn blocked(a: Point, b: Point, centres: &[Point], radii: Point) -> usize {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let square = (dx * dx + dy * dy).max(1e-9);
    let on_line = |p: &&Point| {
        let along = ((p.0 - a.0) * dx + (p.1 - a.1) * dy) / square;
        let (x, y) = (a.0 + along * dx, a.1 + along * dy);
        along > 0.02 && along < 0.98 && ((p.0 - x) / (radii.0 + 6.0)).hypot((p.1 - y) / (radii.1 + 6.0)) < 1.0
    };
    centres.iter().filter(on_line).count()
}

fn bounds<'a>(rects: impl Iterator<Item = &'a Rect>, points: impl Iterator<Item = Point>) -> Rect {
    let corners = rects.flat_map(|rect| [(rect.x, rect.y), (rect.right(), rect.bottom())]);
    let all: Vec<Point> = corners.chain(points).collect();
    let extent = |pick: fn(&Point) -> f64| Extent::of(all.iter().map(pick)).0.unwrap_or_default();
    let ((left, right), (top, bottom)) = (extent(|point| point.0), extent(|point| point.1));
    Rect::new(left, top, (right - left).max(1.0), (bottom - top).max(1.0))
}

fn moved(curve: &Curve, (dx, dy): Point) -> Curve {
    Curve(curve.0.map(|(x, y)| (x + dx, y + dy)))
}

fn draw_edge(canvas: &mut Canvas, curve: &Curve, action: usize) {
    let colour = series_colour(action);
    let head = curve.before_end(8.0);
    let line = curve.part(0.0, head.max(0.01));
    canvas.path(&line.path(), &Paint::stroke(colour, 1.7).dash(series_dash(action)));
    let (tip, base) = (curve.0[3], curve.at(head));
    legend::arrow_head(canvas, tip, unit(base, tip), 8.5, colour);
}

fn draw_node(canvas: &mut Canvas, node: &GraphNode, (x, y): Point, radii: Point) {
    let room = 2.0 * radii.0 - 8.0;
    let name = text::shorten(&node.name, NAME, room);
    let note = text::shorten(&node.note, NOTE, room);
    canvas.with_tip(&format!("{} {}", node.name, node.note), |canvas| {
        canvas.ellipse((x, y), radii, &Paint::fill(PAPER).and_stroke(INK, 1.5));
        if node.start {
            canvas.ellipse((x, y), (radii.0 - 3.2, radii.1 - 3.2), &Paint::stroke(INK, 1.1));
        }
        let up = if note.is_empty() { 0.0 } else { 6.5 };
        canvas.text((x, y - up), &name, &TextStyle::new(NAME, Anchor::Middle).bold());
        if !note.is_empty() {
            canvas.text((x, y + 8.0), &note, &TextStyle::new(NOTE, Anchor::Middle).colour(MUTED));
        }
    });
}
