//! The points of an axis: all values that a feature can have at a time, or the most telling of them.

/// Values that differ by less than this part of the axis are one.
const SAME: f64 = 1e-11;

/// Where a value lies between the points of an axis: `part` of the way from this one to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) index: u32,
    pub(super) part: f64,
}

/// Ascending points.
#[derive(Clone, Debug, Default)]
pub(super) struct Axis {
    pub(super) points: Vec<f64>,
    /// Values closer than this are one.
    same: f64,
}

impl Axis {
    /// At most `most` points for these values on an axis of this length; the ends are kept, and where `bend` says that f changes much
    /// more points than where it does not. Also whether every value is a point.
    pub(super) fn new(mut values: Vec<f64>, length: f64, most: usize, bend: impl Fn(f64, f64) -> f64) -> (Self, bool) {
        let same = SAME * length;
        values.sort_unstable_by(f64::total_cmp);
        values.dedup_by(|b, a| *b - *a <= same);
        let all = values.len() <= most;
        if !all {
            values = thinned(&values, most, bend);
        }
        (Self { points: values, same }, all)
    }

    /// Where a value lies; beyond the ends, at the end.
    pub(super) fn place(&self, x: f64) -> Place {
        let above = self.points.partition_point(|point| *point <= x + self.same);
        let index = above.saturating_sub(1);
        let below = self.points[index];
        match self.points.get(above) {
            Some(next) if above > 0 && x - below > self.same => {
                Place { index: index as u32, part: (x - below) / (next - below) }
            }
            _ => Place { index: index as u32, part: 0.0 },
        }
    }

    /// Whether a value is not beyond the ends.
    pub(super) fn contains(&self, x: f64) -> bool {
        let slack = 1e3 * self.same;
        self.points.first().is_some_and(|low| x >= low - slack)
            && self.points.last().is_some_and(|high| x <= high + slack)
    }

    /// The largest distance of neighbours.
    pub(super) fn spacing(&self) -> f64 {
        self.points.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
    }
}

/// So many of the values, evenly by length and bend.
fn thinned(values: &[f64], most: usize, bend: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let length = values[values.len() - 1] - values[0];
    let bends: Vec<f64> = values.windows(2).map(|pair| bend(pair[0], pair[1])).collect();
    let total: f64 = bends.iter().sum();
    let gaps = values.windows(2).zip(&bends);
    let lengths: Vec<f64> = gaps
        .map(|(pair, bend)| {
            let even = (pair[1] - pair[0]) / length;
            if total > 0.0 { 0.6 * even + 0.4 * bend / total } else { even }
        })
        .collect();
    // Both sides of a gap that is as long as a step are kept, so there may be a few more points than steps.
    let step = 1.0 / (most - 1) as f64;
    let mut kept = vec![values[0]];
    let (mut passed, mut last) = (0.0, 0.0);
    for (k, gap) in lengths.iter().enumerate() {
        let jumps = *gap >= step;
        if jumps && *kept.last().unwrap_or(&values[0]) != values[k] {
            kept.push(values[k]);
        }
        passed += gap;
        if jumps || passed - last >= step || k + 1 == lengths.len() {
            kept.push(values[k + 1]);
            last = passed;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_all_kept_and_found() {
        let (axis, all) = Axis::new(vec![0.5, 0.0, 0.25, 0.25 + 1e-14, 1.0], 1.0, 5, |_, _| 0.0);
        assert!(all);
        assert_eq!(axis.points, [0.0, 0.25, 0.5, 1.0]);
        assert_eq!(axis.place(0.25 - 1e-14), Place { index: 1, part: 0.0 });
        assert_eq!(axis.place(0.75), Place { index: 2, part: 0.5 });
        assert_eq!(axis.place(-1.0), Place { index: 0, part: 0.0 });
        assert_eq!(axis.place(2.0), Place { index: 3, part: 0.0 });
    }

    #[test]
    fn bends_have_more_points() {
        let values: Vec<f64> = (0..=1000).map(|k| f64::from(k) / 1000.0).collect();
        let jump = |a: f64, b: f64| f64::from(u8::from(a < 0.3 && b >= 0.3));
        let (axis, all) = Axis::new(values, 1.0, 11, jump);
        assert!(!all && axis.points.len() <= 14, "{:?}", axis.points);
        assert!(axis.points.contains(&0.299) && axis.points.contains(&0.3));
        assert_eq!((axis.points[0], axis.points[axis.points.len() - 1]), (0.0, 1.0));
    }
}
