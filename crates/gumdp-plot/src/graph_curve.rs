//! Curves of a state graph: edges between ellipses, self loops, and where their labels go.

use super::svg::{Path, Point, Rect};
use std::f64::consts::TAU;

/// A cubic Bézier curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Curve(pub [Point; 4]);

impl Curve {
    /// From one centre to another, bulging by `bend` pixels to the left of travel.
    pub fn between(a: Point, b: Point, bend: f64) -> Self {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = dx.hypot(dy).max(1e-6);
        // A cubic reaches three quarters of the height of its control points.
        let (nx, ny) = (dy / length * bend / 0.75, -dx / length * bend / 0.75);
        let control = |share: f64| (a.0 + dx * share + nx, a.1 + dy * share + ny);
        Self([a, control(0.3), control(0.7), b])
    }

    /// A loop at a centre, leaving towards `angle` and reaching `reach` pixels out.
    pub fn around(centre: Point, (rx, ry): Point, angle: f64, reach: f64) -> Self {
        let rim = |turn: f64| (centre.0 + rx * (angle + turn).cos(), centre.1 + ry * (angle + turn).sin());
        let out = |turn: f64| {
            let far = rx.min(ry) + reach * 1.33;
            (centre.0 + far * (angle + turn).cos(), centre.1 + far * (angle + turn).sin())
        };
        Self([rim(-0.42), out(-0.52), out(0.52), rim(0.42)])
    }

    pub fn at(&self, t: f64) -> Point {
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        let sum = |pick: fn(&Point) -> f64| self.0.iter().zip(weights).map(|(p, w)| pick(p) * w).sum::<f64>();
        (sum(|p| p.0), sum(|p| p.1))
    }

    /// Unit vector of travel.
    pub fn direction(&self, t: f64) -> Point {
        unit(self.at((t - 0.01).max(0.0)), self.at((t + 0.01).min(1.0)))
    }

    /// The part between two parameters, by de Casteljau's algorithm.
    pub fn part(&self, from: f64, to: f64) -> Self {
        let blossom = |a: f64, b: f64, c: f64| {
            let mix = |p: Point, q: Point, t: f64| (p.0 + (q.0 - p.0) * t, p.1 + (q.1 - p.1) * t);
            let [p, q, r, s] = self.0;
            let (pq, qr, rs) = (mix(p, q, a), mix(q, r, a), mix(r, s, a));
            mix(mix(pq, qr, b), mix(qr, rs, b), c)
        };
        Self([blossom(from, from, from), blossom(from, from, to), blossom(from, to, to), blossom(to, to, to)])
    }

    /// The part outside the ellipses about its two ends.
    pub fn clipped(&self, radii: Point) -> Self {
        let outside = |t: f64, centre: Point, room: f64| {
            let (x, y) = self.at(t);
            ((x - centre.0) / (radii.0 + room)).hypot((y - centre.1) / (radii.1 + room)) >= 1.0
        };
        let steps = || (0..=400).map(|i| f64::from(i) / 400.0);
        let from = steps().find(|t| outside(*t, self.0[0], 0.0)).unwrap_or(0.0);
        let to = steps().rev().find(|t| outside(*t, self.0[3], 1.5)).unwrap_or(1.0);
        if from < to { self.part(from, to) } else { *self }
    }

    /// The parameter at which `length` pixels are left.
    pub fn before_end(&self, length: f64) -> f64 {
        let end = self.0[3];
        let far = |t: &f64| {
            let (x, y) = self.at(*t);
            (x - end.0).hypot(y - end.1) >= length
        };
        (0..=200).rev().map(|i| f64::from(i) / 200.0).find(far).unwrap_or(0.0)
    }

    pub fn path(&self) -> Path {
        let mut path = Path::default();
        path.move_to(self.0[0]);
        path.curve_to(self.0[1], self.0[2], self.0[3]);
        path
    }

    /// Points along the curve, for bounds and overlaps.
    pub fn samples(&self) -> impl Iterator<Item = Point> + '_ {
        (0..=40).map(|i| self.at(f64::from(i) / 40.0))
    }
}

/// The unit vector from one point to another.
pub(super) fn unit(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-6);
    (dx / length, dy / length)
}

/// The free direction for a self loop: far from the directions in use, and rather `outward` than not.
pub(super) fn free_angle(used: &[f64], outward: f64) -> f64 {
    let distance = |a: f64, b: f64| {
        let turn = (a - b).rem_euclid(TAU);
        turn.min(TAU - turn)
    };
    let score = |angle: f64| {
        let room = used.iter().map(|other| distance(angle, *other)).fold(1.3, f64::min);
        room + 0.15 * (angle - outward).cos()
    };
    let candidates = (0..24).map(|i| outward + TAU * f64::from(i) / 24.0);
    candidates.max_by(|a, b| score(*a).total_cmp(&score(*b)).then(b.total_cmp(a))).unwrap_or(outward)
}

/// Finds a place for each label on its own curve, off nodes, other labels and, if possible, other curves.
pub(super) fn place_labels(curves: &[Curve], sizes: &[Point], nodes: &[Rect]) -> Vec<Rect> {
    const PLACES: [f64; 11] = [0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8];
    let traces: Vec<Vec<Point>> = curves.iter().map(|curve| curve.samples().collect()).collect();
    let mut placed: Vec<Rect> = Vec::new();
    for (index, (curve, (width, height))) in curves.iter().zip(sizes).enumerate() {
        let cost = |rect: &Rect, order: usize| {
            let hits = |others: &[Rect]| others.iter().filter(|other| rect.overlaps(other)).count();
            let others = traces.iter().enumerate().filter(|(other, _)| *other != index);
            let crossed = others.flat_map(|(_, trace)| trace).filter(|p| rect.contains(**p)).count();
            hits(nodes) * 1000 + hits(&placed) * 1000 + crossed * 12 + order
        };
        let candidates = PLACES.iter().enumerate().flat_map(|(order, t)| {
            let (x, y) = curve.at(*t);
            let (dx, dy) = curve.direction(*t);
            // On the line first; beside it, clear of the line, if that is taken.
            let beside = f64::midpoint(width * dy.abs(), height * dx.abs()) + 3.0;
            [0.0, beside, -beside].into_iter().enumerate().map(move |(side, shift)| {
                (order + 8 * side.min(1), Rect::centred((x + dy * shift, y - dx * shift), *width, *height))
            })
        });
        let best = candidates.min_by_key(|(order, rect)| cost(rect, *order));
        placed.push(best.map_or(Rect::centred(curve.at(0.5), *width, *height), |(_, rect)| rect));
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_edges_do_not_coincide() {
        let (a, b) = ((0.0, 0.0), (100.0, 0.0));
        let (there, back) = (Curve::between(a, b, 20.0).at(0.5), Curve::between(b, a, 20.0).at(0.5));
        assert!((there.1 + 20.0).abs() < 1e-9 && (back.1 - 20.0).abs() < 1e-9, "{there:?} {back:?}");
    }

    #[test]
    fn parts_lie_on_the_curve() {
        let curve = Curve::between((0.0, 0.0), (80.0, 30.0), 12.0);
        let part = curve.part(0.25, 0.75);
        let (a, b) = (part.at(0.5), curve.at(0.5));
        assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9);
    }

    #[test]
    fn labels_keep_apart() {
        let curve = Curve::between((0.0, 0.0), (200.0, 0.0), 0.0);
        let placed = place_labels(&[curve, curve], &[(40.0, 14.0), (40.0, 14.0)], &[]);
        assert!(!placed[0].overlaps(&placed[1]));
    }
}
