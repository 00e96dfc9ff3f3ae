//! Costs in ascending order, equal ones counted: what quantiles, counts and intervals of sampled costs are read from.

/// Ascending costs, each with the number of runs that had it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ascending {
    /// Each different cost, and how many costs there are up to it.
    ends: Vec<(f64, u64)>,
    /// A cost stands for others that are at most so far from it; 0 if each stands for itself.
    width: f64,
}

impl Ascending {
    /// From ascending costs with the numbers of runs, each of which stands for costs that are at most this far from it.
    pub(crate) fn new(counted: impl Iterator<Item = (f64, u64)>, width: f64) -> Self {
        let (mut ends, mut up_to) = (Vec::<(f64, u64)>::with_capacity(counted.size_hint().0), 0);
        for (cost, count) in counted.filter(|&(_, count)| count > 0) {
            up_to += count;
            match ends.last_mut() {
                Some(last) if last.0 == cost => last.1 = up_to,
                _ => ends.push((cost, up_to)),
            }
        }
        Self { ends, width }
    }

    /// How many costs there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ends.last().map_or(0, |last| last.1 as usize)
    }

    /// How far a cost may be from those that it stands for.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The costs that differ.
    #[must_use]
    pub fn values(&self) -> impl ExactSizeIterator<Item = f64> + Clone + '_ {
        self.ends.iter().map(|end| end.0)
    }

    /// Each cost with how often it was met.
    pub fn counted(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let before = std::iter::once(0).chain(self.ends.iter().map(|end| end.1));
        self.ends.iter().zip(before).map(|(&(cost, up_to), before)| (cost, up_to - before))
    }

    /// Every cost as often as it was met.
    pub(crate) fn each(&self) -> impl Iterator<Item = f64> + '_ {
        self.counted().flat_map(|(cost, count)| std::iter::repeat_n(cost, count as usize))
    }

    /// The cost with this number, from 0.
    pub(crate) fn get(&self, number: usize) -> Option<f64> {
        let place = self.ends.partition_point(|end| end.1 <= number as u64);
        self.ends.get(place).map(|end| end.0)
    }

    /// Each different cost with the number after its last.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (f64, usize)> + '_ {
        self.ends.iter().map(|&(cost, up_to)| (cost, up_to as usize))
    }

    /// How many costs are not above a limit.
    pub(crate) fn up_to(&self, limit: f64) -> usize {
        let places = self.ends.partition_point(|end| end.0 <= limit);
        places.checked_sub(1).map_or(0, |last| self.ends[last].1 as usize)
    }

    /// The lowest and the highest cost; NaN if there is none.
    pub(crate) fn extremes(&self) -> [f64; 2] {
        [self.ends.first(), self.ends.last()].map(|end| end.map_or(f64::NAN, |end| end.0))
    }
}

impl<C: AsRef<[f64]> + ?Sized> From<&C> for Ascending {
    fn from(costs: &C) -> Self {
        let mut sorted = costs.as_ref().to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self::new(sorted.into_iter().map(|cost| (cost, 1)), 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts() {
        let costs = [2.0, 1.0, 2.0, 5.0, 2.0];
        let ascending = Ascending::from(&costs);
        assert_eq!(ascending.counted().collect::<Vec<_>>(), [(1.0, 1), (2.0, 3), (5.0, 1)]);
        assert_eq!(ascending.each().collect::<Vec<_>>(), [1.0, 2.0, 2.0, 2.0, 5.0]);
        assert_eq!([0, 1, 3, 4].map(|k| ascending.get(k).unwrap()), [1.0, 2.0, 2.0, 5.0]);
        assert_eq!((ascending.get(5), ascending.count(), ascending.extremes()), (None, 5, [1.0, 5.0]));
        assert_eq!(ascending.groups().collect::<Vec<_>>(), [(1.0, 1), (2.0, 4), (5.0, 5)]);
        assert_eq!([0.5, 1.0, 4.0, 9.0].map(|limit| ascending.up_to(limit)), [0, 1, 4, 5]);
    }
}
