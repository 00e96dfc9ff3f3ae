//! What holds for all costs and attitudes to risk: axioms and limits.

use proptest::prelude::*;

use super::*;

/// 1e-13 of the scale of the samples, above the rounding of every axiom's own arithmetic.
fn tolerance(samples: &[f64]) -> f64 {
    1e-13 * largest(samples).max(1e-3)
}

fn costs() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-10.0..10.0, 1..40)
}

/// β of both signs over many magnitudes.
fn finite_beta() -> impl Strategy<Value = f64> {
    (-12.0..6.0, prop::bool::ANY).prop_map(|(exponent, seeking)| {
        let magnitude = 10_f64.powf(exponent);
        if seeking { -magnitude } else { magnitude }
    })
}

fn any_beta() -> impl Strategy<Value = f64> {
    let special = [0.0, f64::INFINITY, f64::NEG_INFINITY];
    prop_oneof![8 => finite_beta(), 2 => prop::sample::select(special.to_vec())]
}

fn positive_beta() -> impl Strategy<Value = f64> {
    (-4.0..3.0).prop_map(|e| 10_f64.powf(e))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn moves_with_constants(beta in any_beta(), x in costs(), c in -10.0..10.0_f64) {
        let moved: Vec<f64> = x.iter().map(|x| x + c).collect();
        let difference = erm(beta).of_samples(&moved) - (erm(beta).of_samples(&x) + c);
        prop_assert!(difference.abs() <= tolerance(&[20.0]));
    }

    #[test]
    fn dearer_costs_are_no_better(beta in any_beta(), x in costs(), more in prop::collection::vec(0.0..5.0, 40)) {
        let dearer: Vec<f64> = x.iter().zip(more).map(|(x, m)| x + m).collect();
        prop_assert!(erm(beta).of_samples(&x) <= erm(beta).of_samples(&dearer) + tolerance(&dearer));
    }

    #[test]
    fn never_falls_as_beta_rises(a in any_beta(), b in any_beta(), x in costs()) {
        let (milder, sterner) = (erm(a.min(b)).of_samples(&x), erm(a.max(b)).of_samples(&x));
        prop_assert!(milder <= sterner + tolerance(&x));
    }

    #[test]
    fn lies_between_best_and_worst(beta in any_beta(), x in costs()) {
        let value = erm(beta).of_samples(&x);
        prop_assert!(Erm::BEST.of_samples(&x) <= value && value <= Erm::WORST.of_samples(&x));
    }

    #[test]
    fn tends_to_mean_and_extremes(x in costs()) {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        for (beta, limit) in [
            (1e-16, mean),
            (-1e-16, mean),
            (1e16, Erm::WORST.of_samples(&x)),
            (-1e16, Erm::BEST.of_samples(&x)),
        ] {
            prop_assert!((erm(beta).of_samples(&x) - limit).abs() <= tolerance(&x));
        }
    }

    #[test]
    fn aversion_rewards_mixing(
        beta in positive_beta(),
        pairs in prop::collection::vec((-10.0..10.0, -10.0..10.0), 1..40),
        share in 0.0..1.0,
    ) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let mixed: Vec<f64> = x.iter().zip(&y).map(|(x, y)| share * x + (1.0 - share) * y).collect();
        let apart = share * erm(beta).of_samples(&x) + (1.0 - share) * erm(beta).of_samples(&y);
        prop_assert!(erm(beta).of_samples(&mixed) <= apart + tolerance(&[10.0]));
    }

    #[test]
    fn adds_over_independent_costs(
        beta in any_beta(),
        x in prop::collection::vec((-10.0..10.0, 0.01..1.0), 1..8),
        y in prop::collection::vec((-10.0..10.0, 0.01..1.0), 1..8),
    ) {
        let sums: Vec<(f64, f64)> =
            x.iter().flat_map(|(x, p)| y.iter().map(move |(y, q)| (x + y, p * q))).collect();
        let apart = erm(beta).of_distribution(&x) + erm(beta).of_distribution(&y);
        prop_assert!((erm(beta).of_distribution(&sums) - apart).abs() <= tolerance(&[20.0]));
    }

    #[test]
    fn is_the_optimised_certainty_equivalent(tilt in positive_beta(), x in costs()) {
        // Beyond exp(500) u itself overflows.
        let beta = tilt.min(500.0) / range(&x).max(1e-3);
        let value = erm(beta).of_samples(&x);
        let oce = |lambda: f64| {
            lambda + x.iter().map(|x| (beta * (x - lambda)).exp_m1() / beta).sum::<f64>() / x.len() as f64
        };
        prop_assert!((oce(value) - value).abs() <= 1e-10 * largest(&x).max(1.0));
        for i in -50..=50 {
            prop_assert!(oce(value + 0.1 * f64::from(i)) >= value - 1e-10 * largest(&x).max(1.0));
        }
    }

    #[test]
    fn merging_equals_adding_in_sequence(beta in any_beta(), x in costs(), y in costs()) {
        let all = [&x[..], &y].concat();
        let weigher = weigher(erm(beta), &all);
        let mut merged = stream(&weigher, &x);
        merged.merge(&stream(&weigher, &y));
        prop_assert_eq!(merged.count, all.len() as u64);
        prop_assert!((value(&weigher, &merged) - value(&weigher, &stream(&weigher, &all))).abs() <= tolerance(&all));
        let mut with_nothing = merged;
        with_nothing.merge(&Seen::NOTHING);
        prop_assert_eq!(value(&weigher, &with_nothing), value(&weigher, &merged));
    }

    #[test]
    fn order_does_not_matter(beta in any_beta(), x in costs(), turn in 0_usize..40) {
        let mut y = x.clone();
        y.rotate_left(turn % x.len());
        y.reverse();
        let erm = erm(beta);
        prop_assert!((erm.of_samples(&x) - erm.of_samples(&y)).abs() <= tolerance(&x));
        let weigher = weigher(erm, &x);
        let [given, turned] = [&x, &y].map(|samples| value(&weigher, &stream(&weigher, samples)));
        prop_assert!((given - turned).abs() <= tolerance(&x));
    }

    #[test]
    fn random_samples_match_the_reference(beta in finite_beta(), x in costs()) {
        let pairs: Vec<(f64, f64)> = x.iter().map(|&x| (x, 1.0)).collect();
        prop_assert!(worst_error(beta, &x, &reference(beta, &pairs)) <= 1.0);
    }
}
