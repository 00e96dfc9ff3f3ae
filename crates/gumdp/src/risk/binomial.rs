//! Exact intervals of a probability and of a quantile from independent samples: no bootstrap, and they hold for any number of them.
//!
//! References: Clopper and Pearson, *The use of confidence or fiducial limits illustrated in the case of the binomial*, Biometrika
//! 26 (1934); David and Nagaraja, *Order Statistics*, section 7.1. Tails of the binomial distribution are the incomplete beta
//! function, by its continued fraction (*Numerical Recipes*, section 6.4).

use super::ascending::Ascending;

/// The interval that covers a probability with at least this confidence, when `hits` of `count` samples were hits.
pub(super) fn probability_interval(hits: usize, count: usize, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    // The probability at which so many hits, or more, have the probability of a tail; the other end mirrors it.
    let low = |hits: usize| if hits == 0 { 0.0 } else { solve(|p| at_least(hits, count, p), tail) };
    (low(hits), 1.0 - low(count - hits))
}

/// The interval that covers a quantile with at least this confidence, from ascending samples; infinite where there are too few.
///
/// The number of samples up to the quantile is binomial with a probability of at least `level`, the number below it with one
/// of less: the j-th sample is above it with P(Bin < j) at most, and below it with P(Bin ≥ j) at most.
pub(super) fn quantile_interval(costs: &Ascending, level: f64, confidence: f64) -> (f64, f64) {
    let (count, tail) = (costs.count(), (1.0 - confidence) / 2.0);
    let place = |holds: &dyn Fn(usize) -> bool| {
        // The first number in 1..=count + 1 for which it holds; it does from there on.
        let (mut no, mut yes) = (0, count + 1);
        while yes - no > 1 {
            let middle = usize::midpoint(no, yes);
            if holds(middle) {
                yes = middle;
            } else {
                no = middle;
            }
        }
        yes
    };
    let upper = place(&|j| at_least(j, count, level) <= tail);
    // P(Bin < j) ≤ tail holds up to a number.
    let lower = place(&|j| 1.0 - at_least(j, count, level) > tail) - 1;
    let low = lower.checked_sub(1).and_then(|number| costs.get(number)).unwrap_or(f64::NEG_INFINITY);
    (low, costs.get(upper - 1).unwrap_or(f64::INFINITY))
}

/// P(at least `hits` of `count`), each with probability p.
fn at_least(hits: usize, count: usize, p: f64) -> f64 {
    if hits == 0 {
        1.0
    } else if hits > count {
        0.0
    } else {
        incomplete_beta(hits as f64, (count - hits + 1) as f64, p)
    }
}

/// Where a growing function of a probability has a value.
fn solve(f: impl Fn(f64) -> f64, value: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if f(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges quickly on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |y: f64| if y.abs() < TINY { TINY } else { y };
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut value) = (1.0, d);
    for m in (1..10_000).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            factor = c * d;
            value *= factor;
        }
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// ln Γ(x) for x ≥ 1, by Lanczos' approximation (g = 7, nine terms).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let sum = (1..).zip(TERMS).fold(0.999_999_999_999_809_9, |sum, (k, term)| sum + term / (x + f64::from(k)));
    let t = x + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binomial tails by adding up.
    fn tail(hits: usize, count: usize, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(count as i32);
        let mut sum = if hits == 0 { term } else { 0.0 };
        for k in 1..=count {
            term *= (count - k + 1) as f64 / k as f64 * p / (1.0 - p);
            sum += if k >= hits { term } else { 0.0 };
        }
        sum
    }

    #[test]
    fn tails_are_those_of_the_binomial() {
        for count in [1, 2, 7, 50, 150] {
            for hits in [0, 1, count / 3, count / 2, count - 1, count, count + 1] {
                for p in [1e-6, 0.01, 0.3, 0.5, 0.95] {
                    let (found, exact) = (at_least(hits, count, p), tail(hits, count, p));
                    assert!((found - exact).abs() < 1e-11, "{hits} {count} {p}: {found} {exact}");
                }
            }
        }
    }

    /// The published example, the closed forms at both ends, and coverage for every p.
    #[test]
    fn probability_intervals_hold() {
        let (low, high) = probability_interval(4, 20, 0.95);
        assert!((low - 0.057_334).abs() < 1e-6 && (high - 0.436_614).abs() < 1e-6, "{low} {high}");
        assert_eq!(probability_interval(0, 100, 0.95).0, 0.0);
        assert!((probability_interval(0, 100, 0.95).1 - (1.0 - 0.025_f64.powf(0.01))).abs() < 1e-12);
        assert_eq!(probability_interval(7, 7, 0.95).1, 1.0);
        for p in [0.001, 0.02, 0.3, 0.5, 0.77, 0.95] {
            let intervals = (0..=40).map(|hits| (hits, probability_interval(hits, 40, 0.95)));
            let covered = intervals.filter(|(_, (low, high))| *low <= p && p <= *high);
            let sum: f64 = covered.map(|(hits, _)| tail(hits, 40, p) - tail(hits + 1, 40, p)).sum();
            assert!(sum >= 0.95, "{p}: {sum}");
        }
    }

    #[test]
    fn quantile_intervals_hold() {
        let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
        // P(Bin(100, 0.5) ≤ 39) = 0.0176, P(≤ 40) = 0.0284; and mirrored.
        assert_eq!(quantile_interval(&Ascending::from(&sorted), 0.5, 0.95), (40.0, 61.0));
        assert_eq!(quantile_interval(&Ascending::from(&sorted), 0.99, 0.95).1, f64::INFINITY);
        assert_eq!(quantile_interval(&Ascending::from(&sorted[..3]), 0.5, 0.95), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
