//! Costs counted in bins of equal width, which doubles when they are too far apart.

/// Costs in bins of equal width.
#[derive(Clone, Debug, Default)]
pub(super) struct Bins {
    /// There are no more than this.
    most: i64,
    /// A power of two; 0 before there are two different costs.
    width: f64,
    /// Bin k begins k widths above this: the first cost.
    zero: f64,
    /// The number of the first bin, and all from there.
    from: i64,
    all: Vec<Bin>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    count: u64,
    /// Of what the costs are above the zero of all bins.
    sum: f64,
    low: f64,
    high: f64,
}

impl Bin {
    fn merge(&mut self, other: Self) {
        if other.count == 0 {
            return;
        }
        *self = if self.count == 0 {
            other
        } else {
            let (low, high) = (self.low.min(other.low), self.high.max(other.high));
            Self { count: self.count + other.count, sum: self.sum + other.sum, low, high }
        };
    }
}

impl Bins {
    /// No costs yet, in this many bins at most.
    pub(super) fn new(most: i64) -> Self {
        Self { most: most.max(2), ..Self::default() }
    }

    /// How wide they are.
    pub(super) fn width(&self) -> f64 {
        self.width
    }

    /// How much memory they take.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Bin>()
    }

    pub(super) fn add(&mut self, cost: f64, count: u64) {
        if self.all.is_empty() {
            self.zero = cost;
            self.all.push(Bin::default());
        }
        let (low, high) = self.extremes(cost);
        // Powers of two divide without rounding, so that two bins always make one.
        while self.place(high) - self.place(low) >= self.most as f64 {
            self.double();
        }
        let number = self.place(cost) as i64;
        if number < self.from {
            let more = (self.from - number) as usize;
            self.all.splice(0..0, std::iter::repeat_n(Bin::default(), more));
            self.from = number;
        }
        let index = (number - self.from) as usize;
        if index >= self.all.len() {
            self.all.resize(index + 1, Bin::default());
        }
        let sum = (cost - self.zero) * count as f64;
        self.all[index].merge(Bin { count, sum, low: cost, high: cost });
    }

    /// The lowest and the highest cost, this one included.
    fn extremes(&self, cost: f64) -> (f64, f64) {
        let ends = [self.all.first(), self.all.last()].map(|bin| bin.filter(|bin| bin.count > 0));
        (ends[0].map_or(cost, |bin| bin.low.min(cost)), ends[1].map_or(cost, |bin| bin.high.max(cost)))
    }

    fn place(&self, cost: f64) -> f64 {
        let distance = cost - self.zero;
        if distance == 0.0 { 0.0 } else { (distance / self.width).floor() }
    }

    fn double(&mut self) {
        self.width = (2.0 * self.width).max(f64::MIN_POSITIVE);
        let (from, old) = (self.from, std::mem::take(&mut self.all));
        self.from = from.div_euclid(2);
        for (index, bin) in old.into_iter().enumerate() {
            let index = ((from + index as i64).div_euclid(2) - self.from) as usize;
            if index >= self.all.len() {
                self.all.push(Bin::default());
            }
            self.all[index].merge(bin);
        }
    }

    /// The mean cost of each bin, ascending; the lowest and the highest cost are told apart.
    pub(super) fn counted(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let last = self.all.len() - usize::from(!self.all.is_empty());
        self.all.iter().enumerate().filter(|(_, bin)| bin.count > 0).flat_map(move |(index, bin)| {
            let (mut sum, mut count) = (bin.sum, bin.count);
            let mut apart = |is_end: bool, cost: f64| {
                let taken = u64::from(is_end && count > 1);
                sum -= taken as f64 * (cost - self.zero);
                count -= taken;
                (cost, taken)
            };
            let (low, high) = (apart(index == 0, bin.low), apart(index == last, bin.high));
            let mean = (self.zero + sum / count as f64).clamp(bin.low, bin.high);
            [low, (mean, count), high]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Costs that come from far away make bins wider, never wrong.
    #[test]
    fn bins_grow() {
        let mut bins = Bins::new(1 << 15);
        let costs = [5.0, 5.0, 5.25, -3.0, 1e9, -2e12, 5.0];
        for cost in costs {
            bins.add(cost, 1);
        }
        let counted: Vec<(f64, u64)> = bins.counted().filter(|one| one.1 > 0).collect();
        assert_eq!(counted.iter().map(|one| one.1).sum::<u64>(), 7);
        assert!(bins.all.len() <= 1 << 15 && bins.width <= 2.0 * 2.001e12 / 32_767.0);
        assert_eq!((counted[0].0, counted[counted.len() - 1].0), (-2e12, 1e9));
        assert!(counted.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{counted:?}");
    }
}
