//! Features that are whole numbers of a unit, kept as such, so that what is equal has the same bits.
//!
//! A sum of costs in floating point depends on the order of its terms: 0.1 + 0.2 is not 0.3, and three times 1/80 not 3/80. Where the
//! costs of a total are whole multiples of some number and the weights of all times are too (without discount, or with one of
//! 1/2, 1/3, …), the total after any steps is n units with an integer n. After each step it is set to the value of that: a
//! quotient of two integers, rounded once, wherever the costs are such quotients, as decimal numbers are. So paths with the same n
//! are merged, and a total of exactly 0.3 does not exceed a limit of 0.3. Costs move by rounding only: a unit is accepted if it
//! reproduces every cost to within [`CLOSE`].

use std::ops::Range;

use crate::objective::Objective;

/// How far, as a part of a cost, a multiple of the unit may be from it.
const CLOSE: f64 = 4.0 * f64::EPSILON;
/// Whole numbers up to this are far from where a step would be lost to rounding.
const LARGEST: f64 = (1_u64 << 48) as f64;
/// The largest denominators of ratios between costs, and that all of them may have in common.
const DENOMINATOR: f64 = 1e6;
const COMMON: f64 = 1e9;
/// All integers up to this are numbers of the type.
const EXACT: f64 = (1_u64 << 53) as f64;
/// Units outside of these bounds would over- or underflow.
const UNITS: Range<f64> = 1e-250..1e250;

/// The features that have a unit.
#[derive(Debug)]
pub(super) struct Units {
    totals: Vec<(usize, Unit)>,
    /// Where features that are the masses of all pairs begin, and their unit.
    masses: Vec<(usize, Unit)>,
}

/// numerator/denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    numerator: f64,
    denominator: f64,
    /// How many there are in 1.
    inverse: f64,
}

impl Units {
    pub(super) fn new(objective: &Objective, discount: f64, horizon: usize) -> Self {
        let Some(weight) = all_weights(discount, horizon) else { return Self { totals: vec![], masses: vec![] } };
        let totals = objective.totals();
        let unit = |(feature, costs): (usize, Vec<f64>)| Some((feature, Unit::of(costs, weight)?));
        let mass = Unit::new((1.0, 1.0), 1.0, weight);
        let masses = objective.masses_of_pairs().filter_map(|first| Some((first, mass?)));
        Self { totals: totals.filter_map(unit).collect(), masses: masses.collect() }
    }

    /// Sets the features that visits of these pairs may have changed to whole numbers of their units.
    #[inline]
    pub(super) fn settle(&self, features: &mut [f64], pairs: Range<usize>) {
        for &(feature, unit) in &self.totals {
            features[feature] = unit.settled(features[feature]);
        }
        for &(first, unit) in &self.masses {
            features[first..][pairs.clone()].iter_mut().for_each(|mass| *mass = unit.settled(*mass));
        }
    }
}

impl Unit {
    /// The largest common one of these costs, for so many weights in all.
    fn of(costs: Vec<f64>, weight: f64) -> Option<Self> {
        let mut sizes: Vec<f64> = costs.into_iter().map(f64::abs).filter(|&size| size != 0.0).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.dedup();
        let smallest = *sizes.first()?;
        let mut common = 1.0;
        for size in &sizes {
            let ratio = size / smallest;
            let (_, denominator) = fraction(ratio, DENOMINATOR, |found| (found - ratio).abs() <= CLOSE * ratio)?;
            common *= denominator / divisor(common, denominator);
            if common > COMMON {
                return None;
            }
        }
        let counts: Vec<f64> = sizes.iter().map(|size| (size / smallest * common).round()).collect();
        let whole = counts.iter().fold(0.0, |all, &count| divisor(all, count));
        let (first, most) = (counts[0] / whole, counts[counts.len() - 1] / whole);
        let exact = fraction(smallest, EXACT, |found| found == smallest).map(|(above, below)| {
            let shared = divisor(above, first);
            (above / shared, below * (first / shared))
        });
        let same = |&(above, below): &(f64, f64)| {
            let of_counts = counts.iter().map(|count| count / whole * above / below);
            above * most <= EXACT && below <= EXACT && of_counts.eq(sizes.iter().copied())
        };
        Self::new(exact.filter(same).unwrap_or((smallest, first)), most, weight)
    }

    /// Of so many weights, if no more than `most` units come with each.
    fn new((numerator, denominator): (f64, f64), most: f64, weight: f64) -> Option<Self> {
        let denominator = denominator * weight;
        let sensible = most * weight <= LARGEST && UNITS.contains(&(numerator / denominator));
        sensible.then_some(Self { numerator, denominator, inverse: denominator / numerator })
    }

    #[inline]
    fn settled(&self, x: f64) -> f64 {
        /// What is added to this is rounded to an integer.
        const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;
        ((x * self.inverse + ROUND) - ROUND) * self.numerator / self.denominator
    }
}

/// The sum of the weights of all times, if these are integers: 1, or the powers of 1/γ.
fn all_weights(discount: f64, horizon: usize) -> Option<f64> {
    let growth = (1.0 / discount).round();
    let sum = (0..horizon).try_fold((0.0, 1.0), |(sum, weight): (f64, f64), _| {
        let sum = sum + weight;
        (sum <= LARGEST).then_some((sum, weight * growth))
    });
    sum.filter(|_| discount == 1.0 / growth).map(|(sum, _)| sum)
}

/// The largest integer that divides both; the other one if one is 0.
fn divisor(mut a: f64, mut b: f64) -> f64 {
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The first fraction of positive integers up to `most` in the continued fraction of x that is accepted.
fn fraction(x: f64, most: f64, accept: impl Fn(f64) -> bool) -> Option<(f64, f64)> {
    let (mut before, mut last, mut rest) = ((0.0, 1.0), (1.0, 0.0), x);
    loop {
        let whole = rest.floor();
        let next = (whole * last.0 + before.0, whole * last.1 + before.1);
        if !(next.0 <= EXACT && next.1 <= most) {
            return None;
        }
        if next.0 > 0.0 && accept(next.0 / next.1) {
            return Some(next);
        }
        (before, last, rest) = (last, next, 1.0 / (rest - whole));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(costs: &[f64], weight: f64) -> Option<(f64, f64)> {
        Unit::of(costs.to_vec(), weight).map(|unit| (unit.numerator, unit.denominator))
    }

    #[test]
    fn the_largest_common_unit_is_found() {
        assert_eq!(unit(&[1.0, 2.0, 7.0, 0.0], 80.0), Some((1.0, 80.0)));
        assert_eq!(unit(&[6.0, -9.0, 15.0], 7.0), Some((3.0, 7.0)));
        assert_eq!(unit(&[0.1, 0.2, 0.3, -0.7], 10.0), Some((1.0, 100.0)));
        assert_eq!(unit(&[0.5, 1.25], 3.0), Some((1.0, 12.0)));
        assert_eq!(unit(&[1.0 / 3.0, 0.5], 1.0), Some((1.0, 6.0)));
        assert_eq!(unit(&[1e-9, 3e-9], 9.0), Some((1.0, 9e9)));
        assert_eq!(unit(&[0.4, 0.6], 1.0), Some((1.0, 5.0)));
        // A unit that is no quotient of small integers.
        let odd = std::f64::consts::PI / 1e7;
        assert!(unit(&[odd, 3.0 * odd, 7.0 * odd], 12.0).is_some());
        // None, or one that is far too small.
        for costs in [&[1.0, std::f64::consts::PI][..], &[0.0], &[1.0, 1e15], &[1e300], &[1e-300, 2e-300]] {
            assert_eq!(unit(costs, 10.0), None, "{costs:?}");
        }
    }

    #[test]
    fn sums_are_rounded_once() {
        for (costs, weight) in [([0.1, 0.3, 0.7], 80.0), ([1.0, 2.0, 7.0], 77.0), ([0.5, 2.5, 11.0], 1000.0)] {
            let unit = Unit::of(costs.to_vec(), weight).unwrap();
            let (mut total, mut tenths) = (0.0, 0.0);
            for step in 0..weight as usize {
                let cost = costs[step * step % 3] * if step % 5 == 0 { -1.0 } else { 1.0 };
                total = unit.settled(total + cost / weight);
                tenths += (cost * 10.0).round();
                assert_eq!(total, tenths / (10.0 * weight), "{costs:?} {step}");
            }
        }
    }

    #[test]
    fn weights_are_those_of_integer_growth() {
        assert_eq!(all_weights(1.0, 80), Some(80.0));
        assert_eq!(all_weights(0.5, 10), Some(1023.0));
        assert_eq!([all_weights(0.9, 10), all_weights(0.5, 60)], [None; 2]);
    }
}
