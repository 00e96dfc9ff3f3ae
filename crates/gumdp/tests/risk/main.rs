//! The entropic risk measure against a high-precision reference, its axioms and its limits.

mod axioms;

use dashu_float::{FBig, round::mode::HalfEven};
use gumdp::measures::{Seen, Weigher};
use gumdp::{Cvar, Erm};

/// 240 bits are 72 decimal digits, of which |β|·range = 1e-12 costs twelve.
const BITS: usize = 240;
/// The required accuracy is 1e-12 of the largest magnitude; the implementation promises a few units in the last place.
const ACCURACY: f64 = 2e-15;
/// What planners back up, relative to the range.
const QUICK: f64 = 1e-7;

type Big = FBig<HalfEven, 2>;

fn big(x: f64) -> Big {
    Big::try_from(x).unwrap().with_precision(BITS).value()
}

/// (1/β) ln Σ wᵢ exp(βxᵢ) / Σ wᵢ, shifted by the extreme value. Terms below e⁻²⁰⁰ of the largest are left out: they
/// change the result by less than 1e-80.
fn reference(beta: f64, outcomes: &[(f64, f64)]) -> Big {
    let pick = if beta > 0.0 { f64::max } else { f64::min };
    let shift = outcomes.iter().map(|o| o.0).reduce(pick).unwrap();
    let (mut total, mut tilted) = (big(0.0), big(0.0));
    for &(value, weight) in outcomes {
        total += big(weight);
        if beta * (value - shift) > -200.0 {
            let z = big(beta) * (big(value) - big(shift));
            tilted += big(weight) * z.exp();
        }
    }
    if beta == 0.0 {
        let sum = outcomes.iter().fold(big(0.0), |sum, &(x, w)| sum + big(x) * big(w));
        return sum / total;
    }
    big(shift) + (tilted / total).ln() / big(beta)
}

fn error(computed: f64, exact: &Big) -> f64 {
    (big(computed) - exact).to_f64().value().abs()
}

fn erm(beta: f64) -> Erm {
    Erm::new(beta).unwrap()
}

/// A weigher for these samples, as a planner has one: it knows bounds and a usual cost.
fn weigher(erm: Erm, samples: &[f64]) -> Weigher {
    let [low, high] = [Erm::BEST, Erm::WORST].map(|erm| erm.of_samples(samples));
    Weigher::new(erm, f64::midpoint(low, high), low, high)
}

fn stream(weigher: &Weigher, samples: &[f64]) -> Seen {
    let mut seen = Seen::NOTHING;
    for &x in samples {
        seen.add(x, weigher.weigh(x));
    }
    seen
}

fn value(weigher: &Weigher, seen: &Seen) -> f64 {
    weigher.risk(seen, 1.0 / seen.count as f64)
}

/// The rounding that sums of so many samples may have.
fn streaming_accuracy(samples: &[f64]) -> f64 {
    ACCURACY * largest(samples) + (samples.len() + 4) as f64 * f64::EPSILON * range(samples)
}

fn largest(samples: &[f64]) -> f64 {
    samples.iter().fold(0.0, |m, x| x.abs().max(m))
}

fn range(samples: &[f64]) -> f64 {
    let high = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    high - samples.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The worst error of every way to evaluate, relative to what each may have.
fn worst_error(beta: f64, samples: &[f64], exact: &Big) -> f64 {
    let erm = erm(beta);
    let weigher = weigher(erm, samples);
    let mut merged = Seen::NOTHING;
    for part in samples.chunks(samples.len().div_ceil(7)) {
        merged.merge(&stream(&weigher, part));
    }
    let pairs: Vec<(f64, f64)> = samples.iter().map(|&x| (x, 0.125)).collect();
    let (whole, streamed) = (ACCURACY * largest(samples), streaming_accuracy(samples));
    let ways = [
        (erm.of_samples(samples), whole),
        (erm.of_distribution(&pairs), whole),
        (value(&weigher, &stream(&weigher, samples)), streamed),
        (value(&weigher, &merged), streamed),
        (erm.quickly(pairs.iter().copied()), streamed + QUICK * range(samples)),
    ];
    ways.map(|(value, allowed)| error(value, exact) / allowed).into_iter().fold(0.0, f64::max)
}

/// Deterministic numbers in [0, 1).
fn scattered(n: usize) -> Vec<f64> {
    (1..=n).map(|i| (i as f64 * 0.618_033_988_749_894_9).fract()).collect()
}

/// Both signs of |β|·range = 10^exponent.
fn betas(range: f64, exponents: impl Iterator<Item = i32>) -> impl Iterator<Item = f64> {
    exponents.flat_map(move |e| [10_f64.powi(e) / range, -(10_f64.powi(e)) / range])
}

fn check_orders(name: &str, samples: &[f64], exponents: impl Iterator<Item = i32>) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let pairs: Vec<(f64, f64)> = sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as f64)).collect();
    for beta in betas(range(samples), exponents).chain([0.0]) {
        let exact = reference(beta, &pairs);
        let check = |order: &str, samples: &[f64]| {
            let error = worst_error(beta, samples, &exact);
            assert!(error <= 1.0, "{name}, {order}, beta {beta}: {error:e}");
        };
        check("given", samples);
        check("ascending", &sorted);
        sorted.reverse();
        check("descending", &sorted);
        sorted.reverse();
    }
}

#[test]
fn small_sample_sets_match_the_reference() {
    let uniform = scattered(60);
    let map = |f: fn(f64) -> f64| uniform.iter().copied().map(f).collect::<Vec<_>>();
    let outlier = |x: f64| {
        let mut samples = map(|x| 0.1 * x);
        samples.insert(17, x);
        samples
    };
    check_orders("uniform", &uniform, -12..=6);
    check_orders("signed", &map(|x| 4.0 * x - 3.0), -12..=6);
    check_orders("heavy tail", &map(|x| (1.0 - x).powi(-3)), -12..=6);
    check_orders("high outlier", &outlier(10.0), -12..=6);
    check_orders("low outlier", &outlier(-10.0), -12..=6);
    check_orders("large offset", &map(|x| 1e6 + x), -12..=6);
    check_orders("tiny range", &map(|x| 1.0 + 1e-13 * x), -12..=6);
    check_orders("tiny values", &map(|x| 1e-100 * x), -12..=6);
    check_orders("huge values", &map(|x| 1e130 * (x - 0.5)), -12..=6);
    check_orders("two values", &[0.0, 1.0], -12..=6);
}

#[test]
fn ten_thousand_samples_match_the_reference() {
    check_orders("10 000", &scattered(10_000), [-6, 2].into_iter());
    let mut outlier: Vec<f64> = scattered(500).repeat(20);
    outlier[5_000] = 40.0;
    check_orders("10 000 with an outlier", &outlier, -12..=6);
}

#[test]
fn a_million_samples_do_not_drift() {
    let values = [0.0, 0.1, 0.33, 0.5, 0.77, 1.0];
    let counts = [400_000, 300_000, 200_000, 99_000, 999, 1_u32];
    let pairs: Vec<(f64, f64)> = values.into_iter().zip(counts.map(f64::from)).collect();
    let ascending: Vec<f64> =
        values.iter().zip(counts).flat_map(|(&x, count)| std::iter::repeat_n(x, count as usize)).collect();
    let n = ascending.len();
    // A stride coprime to n visits every sample once.
    let mixed: Vec<f64> = (0..n).map(|i| ascending[i * 617_369 % n]).collect();
    for beta in betas(1.0, -12..=6).chain([0.0, 5.0, 15.0, 20.0, 40.0]) {
        let exact = reference(beta, &pairs);
        for samples in [&ascending, &mixed] {
            let error = worst_error(beta, samples, &exact);
            assert!(error <= 1.0, "beta {beta}: {error:e}");
        }
    }
}

#[test]
fn a_million_records_do_not_drift() {
    // The reference sums the geometric series Σ q^k, q = exp(β/n).
    let n = 1_000_000_u32;
    for beta in [-1e3, -20.0, -1.0, 1e-3, 1.0, 20.0, 1e3] {
        // 2⁻²⁰ steps are exact.
        let step = 2_f64.powi(-20) * f64::signum(beta);
        let erm = erm(beta);
        let samples: Vec<f64> = (0..n).map(|i| f64::from(i) * step).collect();
        let weigher = weigher(erm, &samples);
        let ratio = (big(beta) * big(step)).exp();
        let power = (big(beta) * big(step) * big(f64::from(n))).exp();
        let mean = (power - big(1.0)) / (ratio - big(1.0)) / big(f64::from(n));
        let exact = mean.ln() / big(beta);
        let (at_once, streamed) = (erm.of_samples(&samples), value(&weigher, &stream(&weigher, &samples)));
        assert!(error(at_once, &exact) <= ACCURACY, "beta {beta}: {at_once}");
        assert!(error(streamed, &exact) <= streaming_accuracy(&samples), "beta {beta}: {streamed}");
    }
}

#[test]
fn small_probabilities_match_the_reference() {
    for rare in [1e-3, 1e-17, 1e-40, 1e-290] {
        let outcomes = [(0.2, 1.0 - rare), (0.3, 0.0), (1.0, rare), (0.1, 2.5)];
        for beta in betas(0.9, -12..=6).chain([0.0]) {
            let positive = [outcomes[0], outcomes[2], outcomes[3]];
            let exact = reference(beta, &positive);
            let error = error(erm(beta).of_distribution(&outcomes), &exact);
            assert!(error <= ACCURACY, "{rare:e}, beta {beta}: {error:e}");
        }
    }
}

#[test]
fn extreme_inputs_stay_finite() {
    let sets: [&[f64]; 5] = [
        &[-1e300, 1e300, 0.0],
        &[1e300, -1e300, 1e-300, 0.5],
        &[5e-324, 0.0, -5e-324],
        &[1.0, 1.0 + f64::EPSILON],
        &[-0.0, 0.0],
    ];
    let mut extreme = vec![0.0, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324];
    extreme.extend([1e-151, 1e-150, 1e-149, 1e-10, 1.0, 1e10, 1e150, 1e300]);
    for beta in extreme.into_iter().flat_map(|beta| [beta, -beta]) {
        let erm = erm(beta);
        for samples in sets {
            let (low, high) = (Erm::BEST.of_samples(samples), Erm::WORST.of_samples(samples));
            let weigher = weigher(erm, samples);
            let (whole, streamed) = (erm.of_samples(samples), value(&weigher, &stream(&weigher, samples)));
            assert!(low <= whole && whole <= high, "{beta} {samples:?} {whole}");
            // One unit in the last place of a subnormal number is all there is.
            let tolerance = streaming_accuracy(samples).max(1e-323);
            assert!((whole - streamed).abs() <= tolerance, "{beta} {samples:?} {whole} {streamed}");
        }
    }
}

#[test]
fn equal_samples_are_returned_exactly() {
    for beta in [f64::NEG_INFINITY, -7.0, 0.0, 1e-9, 0.3, 1e9, f64::INFINITY] {
        let erm = erm(beta);
        for x in [0.1, -3.7, 1e300, 0.0] {
            assert_eq!(erm.of_outcomes([(x, 0.3)].into_iter()), x);
            assert_eq!(erm.of_samples(&[x; 9]), x);
            let weigher = weigher(erm, &[x]);
            assert!((value(&weigher, &stream(&weigher, &[x; 9])) - x).abs() <= streaming_accuracy(&[x]));
        }
    }
}

#[test]
fn nothing_gives_nan() {
    assert!(Erm::MEAN.of_samples(&[]).is_nan());
    assert!(Erm::WORST.of_distribution(&[(1.0, 0.0)]).is_nan());
    assert!(value(&weigher(Erm::MEAN, &[1.0]), &Seen::NOTHING).is_nan());
    assert!(Erm::new(f64::NAN).is_err());
}

/// Every way to evaluate samples of any kind; where they are streamed, a planner asks whether all are finite.
fn every_way(erm: Erm, samples: &[f64]) -> [f64; 3] {
    let backwards: Vec<f64> = samples.iter().rev().copied().collect();
    let weigher = Weigher::new(erm, 0.5, 0.0, 1.0);
    let (first, rest) = samples.split_at(1);
    let mut merged = stream(&weigher, first);
    merged.merge(&stream(&weigher, rest));
    for seen in [stream(&weigher, samples), stream(&weigher, &backwards), merged] {
        assert_eq!(seen.is_finite(), samples.iter().all(|x| x.is_finite()), "{samples:?}");
    }
    let pairs: Vec<(f64, f64)> = samples.iter().map(|&x| (x, 0.125)).collect();
    [erm.of_samples(samples), erm.of_samples(&backwards), erm.of_distribution(&pairs)]
}

#[test]
fn bad_costs_are_not_cheap() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for beta in [-inf, -1e5, -1.0, -1e-3, 0.0, 1e-3, 1.0, 1e5, inf] {
        let erm = erm(beta);
        for samples in [vec![1.0, 2.0, nan], vec![nan, 1.0, 2.0], vec![1.0, nan, 1.0], vec![nan; 3], vec![nan, inf]] {
            assert!(every_way(erm, &samples).iter().all(|value| value.is_nan()), "beta {beta}: {samples:?}");
        }
        let all = |samples: &[f64], expected: f64| {
            for value in every_way(erm, samples) {
                let close = value == expected || (value - expected).abs() <= 1e-12 * expected.abs();
                assert!(close || value.is_nan() && expected.is_nan(), "beta {beta}, {samples:?}: {value} {expected}");
            }
        };
        // On the side that counts an infinite cost decides; on the other it is the limit of large costs.
        let limit = |far: f64| erm.of_samples(&[1.0, 0.5, far, 0.75]);
        all(&[1.0, 0.5, inf, 0.75], if beta < 0.0 { limit(1e300) } else { inf });
        all(&[1.0, 0.5, -inf, 0.75], if beta > 0.0 { limit(-1e300) } else { -inf });
        all(&[inf, 3.0, -inf, 1.0], if beta == 0.0 { nan } else { inf.copysign(beta) });
        all(&[inf, inf], inf);
        all(&[-inf, -inf, -inf], -inf);
    }
}

#[test]
fn weights_of_any_size_are_normalised() {
    for beta in [f64::NEG_INFINITY, -2.0, 0.0, 1e-9, 2.0, f64::INFINITY] {
        let erm = erm(beta);
        let expected = erm.of_samples(&[0.0, 1.0]);
        for weight in [1e-300, 1.0, 1e308] {
            let value = erm.of_distribution(&[(0.0, weight), (1.0, weight)]);
            assert!((value - expected).abs() < 1e-15, "beta {beta}, weight {weight}: {value}");
        }
        for weight in [f64::NAN, f64::INFINITY] {
            assert!(erm.of_distribution(&[(0.0, 1.0), (1.0, weight)]).is_nan(), "beta {beta}, weight {weight}");
        }
    }
    assert_eq!(Cvar::new(0.0).unwrap().of_distribution(&[(0.0, 1e308), (1.0, 1e308)]), Ok(0.5));
}

/// An objective may be able to cost far more than anything that happens.
#[test]
fn wide_bounds_do_no_harm() {
    let (erm, samples) = (erm(0.5), [0.1, 0.25, 0.6, 0.9]);
    let weigher = Weigher::new(erm, 0.4, 0.0, 1e16);
    assert!((value(&weigher, &stream(&weigher, &samples)) - erm.of_samples(&samples)).abs() < 1e-14);
}

/// A cheap action next to a dear one, β so large that one exponential is nothing next to the other.
#[test]
fn low_costs_do_not_vanish_next_to_high_ones() {
    let weigher = Weigher::new(erm(1e5), 0.5, 0.0, 1.0);
    let [cheap, mut dear] = [0.25, 1.0].map(|cost| stream(&weigher, &[cost; 3]));
    assert!((value(&weigher, &cheap) - 0.25).abs() < 1e-15);
    dear.merge(&cheap);
    assert!((value(&weigher, &dear) - (1.0 - 2.0_f64.ln() / 1e5)).abs() < 1e-15);
}
