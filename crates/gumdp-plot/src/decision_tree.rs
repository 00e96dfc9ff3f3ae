//! Decision trees: cards from left to right, or one below the other as in an outline, joined by branches as thick as they are likely.

use super::frame::{MARGIN, WIDTH};
use super::ink::{self, GRID, MUTED, PAPER};
use super::or;
use super::scale::{Extent, brief, drawable};
use super::svg::{Anchor, Canvas, Paint, Path, Point, Rect, TextStyle};
use super::text;

const CARD_WIDTH: f64 = 196.0;
const CARD_HEIGHT: f64 = 74.0;
/// Between cards that follow each other, and between cards one above the other.
const GAPS: (f64, f64) = (84.0, 12.0);
/// Between cards of an outline, where the label of a branch stands, and by how much each follows to the right.
const OUTLINE: (f64, f64) = (22.0, 20.0);
/// Deeper cards of an outline are not moved further to the right.
const DEEPEST: usize = 6;
const STRIPE: f64 = 6.0;
const SIZE: f64 = 11.0;
const SCALE_STEPS: usize = 24;

/// A tree of situations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecisionTree {
    /// Heading; may be empty.
    pub title: String,
    /// What the colour of a card stands for.
    pub heat_label: String,
    /// Where the tree begins.
    pub root: TreeCard,
}

/// A situation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TreeCard {
    /// Its name.
    pub heading: String,
    /// What is done there; up to two lines.
    pub detail: String,
    /// What could be done instead; shown if there is room.
    pub alternative: String,
    /// Numbers, on the last line.
    pub note: String,
    /// How likely it is to be here at all, beside the name.
    pub reached: String,
    /// Label of the branch that leads here.
    pub branch: String,
    /// Probability of ever being here, the thickness of the branch.
    pub share: f64,
    /// The value that colours it; `None` if there is none.
    pub heat: Option<f64>,
    /// Whether it stands for others that are not shown.
    pub folded: bool,
    /// What may follow.
    pub children: Vec<TreeCard>,
}

/// Where a card is, and all that the branches to its children need.
struct Placed<'a> {
    card: &'a TreeCard,
    place: Rect,
    children: Vec<Placed<'a>>,
}

impl DecisionTree {
    /// The figure as a standalone SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        self.drawn(f64::INFINITY, place, draw_branches, GAPS.1)
    }

    /// A figure for narrow screens: an outline, each card below the one that it follows.
    #[must_use]
    pub fn narrow(&self) -> String {
        self.drawn(WIDTH - 2.0 * MARGIN, outlined, draw_outline, OUTLINE.0)
    }

    fn drawn<'a>(
        &'a self,
        room: f64,
        place: fn(&'a TreeCard, usize, &mut f64) -> Placed<'a>,
        branches: fn(&mut Canvas, &Placed),
        gap: f64,
    ) -> String {
        let mut canvas = Canvas::default();
        let mut top = MARGIN;
        if !self.title.is_empty() {
            let lines = text::wrap(&self.title, 15.0, room, 3);
            canvas.lines((MARGIN, top + 8.0), 18.0, &lines, &TextStyle::new(14.0, Anchor::Start).bold());
            top += 8.0 + 18.0 * lines.len() as f64;
        }
        let cards = self.root.all();
        let range = Extent::of(cards.iter().filter_map(|card| card.heat)).0.unwrap_or_default();
        let mut legend_end = 0.0;
        if range.0 < range.1 {
            legend_end = draw_scale(&mut canvas, top + 6.0, or(&self.heat_label, "value"), range);
            top += 24.0;
        }
        let mut bottom = top;
        let placed = place(&self.root, 0, &mut bottom);
        branches(&mut canvas, &placed);
        draw_cards(&mut canvas, &placed, range);
        let right = placed.right().max(legend_end);
        let description: Vec<String> = cards.iter().map(|card| card.description()).collect();
        let title = or(&self.title, "Decision tree");
        canvas.finish(right + MARGIN, bottom - gap + MARGIN, title, &description.join(" "))
    }
}

impl TreeCard {
    /// It and all that follow, each before its own.
    fn all(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.children.iter().flat_map(Self::all)).collect()
    }

    /// How the branch that leads here is drawn.
    fn paint(&self) -> Paint {
        let share = if drawable(self.share) { self.share.clamp(0.0, 1.0) } else { 0.0 };
        let dash = if self.folded { "3 3" } else { "" };
        Paint::stroke(MUTED, 1.0 + 5.0 * share).dash(dash).opacity(0.55)
    }

    fn description(&self) -> String {
        let separator = if self.branch.is_empty() { "" } else { ": " };
        format!("{}{separator}{}, {} {}.", self.branch, self.heading, self.detail, self.note)
    }
}

impl Placed<'_> {
    fn right(&self) -> f64 {
        self.children.iter().map(Placed::right).fold(self.place.right(), f64::max)
    }
}

/// Leaves one below the other, their parents at half height.
fn place<'a>(card: &'a TreeCard, depth: usize, bottom: &mut f64) -> Placed<'a> {
    let children: Vec<Placed> = card.children.iter().map(|child| place(child, depth + 1, bottom)).collect();
    let mut y = *bottom;
    if let (Some(first), Some(last)) = (children.first(), children.last()) {
        y = f64::midpoint(first.place.y, last.place.y);
    } else {
        *bottom += CARD_HEIGHT + GAPS.1;
    }
    let x = MARGIN + depth as f64 * (CARD_WIDTH + GAPS.0);
    Placed { card, place: Rect::new(x, y, CARD_WIDTH, CARD_HEIGHT), children }
}

/// Each card below all that come before it.
fn outlined<'a>(card: &'a TreeCard, depth: usize, bottom: &mut f64) -> Placed<'a> {
    let x = MARGIN + depth.min(DEEPEST) as f64 * OUTLINE.1;
    let place = Rect::new(x, *bottom, WIDTH - MARGIN - x, CARD_HEIGHT);
    *bottom += CARD_HEIGHT + OUTLINE.0;
    Placed { card, place, children: card.children.iter().map(|child| outlined(child, depth + 1, bottom)).collect() }
}

fn draw_outline(canvas: &mut Canvas, placed: &Placed) {
    for child in &placed.children {
        let (x, y) = (placed.place.x + OUTLINE.1 / 2.0, child.place.middle().1);
        let path = Path::polyline(&[(x, placed.place.bottom()), (x, y), (child.place.x, y)]);
        canvas.path(&path, &child.card.paint());
        draw_outline(canvas, child);
        let label = TextStyle::new(SIZE, Anchor::Start).halo(PAPER);
        canvas.text((child.place.x + 2.0, child.place.y - 8.0), &child.card.branch, &label);
    }
}

fn draw_branches(canvas: &mut Canvas, placed: &Placed) {
    let start: Point = (placed.place.right(), placed.place.middle().1);
    for child in &placed.children {
        let end: Point = (child.place.x, child.place.middle().1);
        let middle = f64::midpoint(start.0, end.0);
        let mut path = Path::default();
        path.move_to(start);
        path.curve_to((middle, start.1), (middle, end.1), end);
        canvas.path(&path, &child.card.paint());
        draw_branches(canvas, child);
        // On the side from which the branch does not come.
        let aside = if end.1 > start.1 + 1.0 { 11.0 } else { -11.0 };
        let label = TextStyle::new(SIZE, Anchor::End).halo(PAPER);
        canvas.text((end.0 - 6.0, end.1 + aside), &child.card.branch, &label);
    }
}

fn draw_cards(canvas: &mut Canvas, placed: &Placed, (low, high): (f64, f64)) {
    let Placed { card, place, children } = placed;
    let room = place.w - STRIPE - 16.0;
    let left = place.x + STRIPE + 8.0;
    let tip = format!("{}\n{}\n{}", card.heading, card.detail, card.note);
    canvas.with_tip(&tip, |canvas| {
        let (colour, dash) = if card.folded { (GRID, "3 3") } else { (MUTED, "") };
        canvas.rect(*place, 4.0, &Paint::fill(PAPER).and_stroke(colour, 1.0).dash(dash));
        if let Some(heat) = card.heat.filter(|heat| drawable(*heat)) {
            let share = if high > low { (heat - low) / (high - low) } else { 0.0 };
            let stripe = Rect::new(place.x, place.y, STRIPE, place.h);
            canvas.rect(stripe, 2.0, &Paint::fill(&ink::sequential(share)));
        }
        let share = TextStyle::new(SIZE - 0.5, Anchor::End).colour(MUTED);
        canvas.text((place.right() - 8.0, place.y + 13.0), &card.reached, &share);
        let heading = text::shorten(&card.heading, SIZE + 1.0, room - text::width(&card.reached, SIZE) - 6.0);
        canvas.text((left, place.y + 13.0), &heading, &TextStyle::new(SIZE + 1.0, Anchor::Start).bold());
        let lines = text::wrap(&card.detail, SIZE, room, 2);
        canvas.lines((left, place.y + 30.0), 14.0, &lines, &TextStyle::new(SIZE, Anchor::Start));
        let style = TextStyle::new(SIZE - 0.5, Anchor::Start).colour(MUTED);
        let muted = |words: &str| text::shorten(words, SIZE - 0.5, room);
        if lines.len() < 2 {
            canvas.text((left, place.y + 44.0), &muted(&card.alternative), &style);
        }
        canvas.text((left, place.bottom() - 11.0), &muted(&card.note), &style);
    });
    for child in children {
        draw_cards(canvas, child, (low, high));
    }
}

/// A bar of colours with its ends named; returns where it ends.
fn draw_scale(canvas: &mut Canvas, y: f64, label: &str, (low, high): (f64, f64)) -> f64 {
    let style = TextStyle::new(SIZE, Anchor::Start).colour(MUTED);
    let mut x = MARGIN;
    let mut write = |canvas: &mut Canvas, words: &str, room: f64| {
        canvas.text((x, y), words, &style);
        let end = x + text::width(words, SIZE) + 7.0;
        x = end + room;
        end
    };
    write(canvas, &format!("{label}:"), 0.0);
    let bar = write(canvas, &brief(low), SCALE_STEPS as f64 * 4.0 + 7.0);
    for step in 0..SCALE_STEPS {
        let colour = ink::sequential(step as f64 / (SCALE_STEPS - 1) as f64);
        canvas.rect(Rect::new(bar + step as f64 * 4.0, y - 5.0, 4.5, 10.0), 0.0, &Paint::fill(&colour));
    }
    write(canvas, &brief(high), 0.0)
}
