//! Where the states of a small graph go: a line for chains, hub and spokes for stars, else a ring.

use super::scale::drawable;
use super::svg::Point;
use std::collections::BTreeSet;
use std::f64::consts::{PI, TAU};

/// Widest row of a chain in pixels; longer chains wind back and forth.
const ROW: f64 = 330.0;

/// Unordered pairs of different states with an edge between them.
pub(super) type Pairs = BTreeSet<(usize, usize)>;

/// Centres of `count` states whose neighbours want `spacing` pixels between centres.
pub(super) fn centres(count: usize, pairs: &Pairs, spacing: f64) -> Vec<Point> {
    if let Some(order) = chain(count, pairs) {
        line(&order, spacing)
    } else if let Some(hub) = hub(count, pairs) {
        star(count, hub, spacing)
    } else {
        // Many chords need room for their labels.
        let density = pairs.len() as f64 / count.max(1) as f64;
        ring(count, spacing * (0.86 + 0.14 * density).clamp(1.0, 1.5))
    }
}

/// Caller's positions scaled so that the two nearest states are `spacing` apart; `None` if they are unusable.
pub(super) fn scaled(positions: &[Point], spacing: f64) -> Option<Vec<Point>> {
    if !positions.iter().all(|(x, y)| drawable(*x) && drawable(*y)) {
        return None;
    }
    let pairs = positions.iter().enumerate().flat_map(|(index, a)| positions[..index].iter().map(move |b| (a, b)));
    let nearest = pairs.map(|(a, b)| (a.0 - b.0).hypot(a.1 - b.1)).fold(f64::INFINITY, f64::min);
    if nearest == f64::INFINITY {
        return Some(positions.to_vec());
    }
    let scale = spacing / nearest;
    let furthest = positions.iter().map(|(x, y)| x.hypot(*y) * scale).fold(0.0, f64::max);
    (nearest > 0.0 && furthest < 1e5).then(|| positions.iter().map(|(x, y)| (x * scale, y * scale)).collect())
}

/// The states in order if consecutive ones are joined and every other edge shares one end (resets to the start).
fn chain(count: usize, pairs: &Pairs) -> Option<Vec<usize>> {
    if count < 2 {
        return None;
    }
    let by_index = (1..count).all(|i| pairs.contains(&(i - 1, i)));
    let others: Vec<&(usize, usize)> = pairs.iter().filter(|(a, b)| a + 1 != *b).collect();
    let one_end = |end: usize| others.iter().all(|(a, b)| *a == end || *b == end);
    if by_index && (others.is_empty() || (count > 3 && (one_end(0) || one_end(count - 1)))) {
        return Some((0..count).collect());
    }
    // A path in another order: walk it from an end.
    let neighbours = |state: usize| {
        let other = move |(a, b): &(usize, usize)| match (*a == state, *b == state) {
            (true, _) => Some(*b),
            (_, true) => Some(*a),
            _ => None,
        };
        pairs.iter().filter_map(other).collect::<Vec<usize>>()
    };
    if pairs.len() + 1 != count || (0..count).any(|state| neighbours(state).len() > 2) {
        return None;
    }
    let mut order = vec![(0..count).find(|state| neighbours(*state).len() == 1)?];
    while let Some(next) = order.last().and_then(|last| neighbours(*last).into_iter().find(|n| !order.contains(n))) {
        order.push(next);
    }
    (order.len() == count).then_some(order)
}

/// The state that every edge touches, if there are at least three others, all joined to it.
fn hub(count: usize, pairs: &Pairs) -> Option<usize> {
    let joined = |state: usize| pairs.iter().filter(|(a, b)| *a == state || *b == state).count();
    (0..count).find(|state| count > 3 && pairs.len() + 1 == count && joined(*state) + 1 == count)
}

fn line(order: &[usize], spacing: f64) -> Vec<Point> {
    let per_row = ((ROW / spacing).floor() as usize + 1).max(2);
    let rows = order.len().div_ceil(per_row);
    let per_row = order.len().div_ceil(rows.max(1));
    let mut out = vec![(0.0, 0.0); order.len()];
    for (place, state) in order.iter().enumerate() {
        let (row, column) = (place / per_row, place % per_row);
        let column = if row % 2 == 0 { column } else { per_row - 1 - column };
        out[*state] = (column as f64 * spacing, row as f64 * spacing.max(150.0));
    }
    out
}

fn star(count: usize, hub: usize, spacing: f64) -> Vec<Point> {
    let spokes = (count - 1) as f64;
    let radius = (spacing * 1.05).max(spacing * 0.62 * spokes / PI);
    // Four spokes look best as a cross on the diagonals; others start at the top.
    let first = if count == 5 { -0.8 * PI } else { -PI / 2.0 };
    let mut spoke = 0.0;
    let place = |state: usize| {
        if state == hub {
            return (0.0, 0.0);
        }
        let angle = if count == 5 {
            [first, -0.2 * PI, 0.2 * PI, 0.8 * PI][(spoke as usize).min(3)]
        } else {
            first + TAU * spoke / spokes
        };
        spoke += 1.0;
        (radius * 1.25 * angle.cos(), radius * angle.sin())
    };
    (0..count).map(place).collect()
}

fn ring(count: usize, spacing: f64) -> Vec<Point> {
    if count < 2 {
        return vec![(0.0, 0.0); count];
    }
    let radius = spacing / 2.0 / (PI / count as f64).sin();
    let start = if count == 2 { PI } else { -PI / 2.0 };
    let angle = |state: usize| start + TAU * state as f64 / count as f64;
    (0..count).map(|state| (radius * 1.15 * angle(state).cos(), radius * angle(state).sin())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_recognised_in_any_order() {
        assert_eq!(chain(3, &Pairs::from([(0, 1), (1, 2)])), Some(vec![0, 1, 2]));
        assert_eq!(chain(3, &Pairs::from([(0, 2), (1, 2)])), Some(vec![0, 2, 1]));
        assert_eq!(chain(5, &Pairs::from([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(chain(3, &Pairs::from([(0, 1), (1, 2), (0, 2)])), None);
        assert_eq!(chain(1, &Pairs::new()), None);
    }

    #[test]
    fn stars_are_recognised() {
        assert_eq!(hub(4, &Pairs::from([(0, 1), (0, 2), (0, 3)])), Some(0));
        assert_eq!(hub(4, &Pairs::from([(0, 1), (1, 2), (1, 3)])), Some(1));
        assert_eq!(hub(4, &Pairs::from([(0, 1), (1, 2), (2, 3)])), None);
    }

    #[test]
    fn unusable_positions_are_refused() {
        assert_eq!(scaled(&[(0.0, 0.0), (0.0, 0.0)], 100.0), None);
        assert_eq!(scaled(&[(0.0, f64::NAN)], 100.0), None);
        assert_eq!(scaled(&[(0.0, 0.0), (2.0, 0.0)], 100.0), Some(vec![(0.0, 0.0), (100.0, 0.0)]));
    }
}
