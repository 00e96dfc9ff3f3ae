//! How sure it is that one planner's risk is lower than another's: tests that hold however rare and dear the costs are that were not met.
//!
//! Entropic risks, and what else has no outer variable, are means of what costs count for, u(cost), which is bounded as f is. If the first risk is not the lower
//! one, the differences d = u(second) − u(first) of paired runs, over the range of u, have a mean of 0 at most, and so
//! Π (1 + λ·d) has a mean of 1 at most for every λ from 0 to 1: so has the average over several λ, and it is beyond 1/p with probability p at
//! most (Markov). That is a bet against the claim (Waudby-Smith and Ramdas 2023); where all is well-behaved it is about as sharp as a t test.
//!
//! Other measures are monotone: a distribution function is known to ±ε, but for probability exp(−2nε²) on either side (Massart 1990). With ε of the probability
//! moved to the bounds of f the measure of both is an interval; the evidence is that of the largest ε that leaves them apart.
//!
//! Where f has no bounds, nothing is sure.

use gumdp::{Bounds, Erm, FixedRisk, Risk};

/// Fractions of the stake in a bet are powers of ½ from here on, this many.
const BETS: i32 = 24;
/// Halvings of the interval of ε.
const HALVINGS: usize = 30;

/// −ln p of the test that the first costs have the higher risk or the same; large if the first risk is surely lower.
pub fn of_lower(first: &[f64], second: &[f64], risk: Risk, bounds: Bounds) -> f64 {
    if !(bounds.low.is_finite() && bounds.high.is_finite() && bounds.low < bounds.high) {
        return 0.0;
    }
    match risk.fixed() {
        Some(fixed) => by_betting(first, second, fixed, bounds),
        None => by_bands(first, second, risk, bounds),
    }
    .max(0.0)
}

fn by_betting(first: &[f64], second: &[f64], fixed: FixedRisk, bounds: Bounds) -> f64 {
    let beta = fixed.erm().beta();
    if beta.is_infinite() {
        // The most that can be met is not known from samples.
        return 0.0;
    }
    let [low, high] = [bounds.low, bounds.high].map(|cost| fixed.of_cost(cost));
    // Between 0 and 1, and higher for higher costs.
    let utility = |cost: f64| {
        let (x, range) = (fixed.of_cost(cost), high - low);
        let part = if (beta * range).abs() < 1e-9 {
            (x - low) / range
        } else if beta > 0.0 {
            ((beta * (x - high)).exp() - (-beta * range).exp()) / -(-beta * range).exp_m1()
        } else {
            (beta * (x - low)).exp_m1() / (beta * range).exp_m1()
        };
        part.clamp(0.0, 1.0)
    };
    let differences: Vec<f64> = first.iter().zip(second).map(|(&a, &b)| utility(b) - utility(a)).collect();
    let stake = |power: i32| differences.iter().map(|d| (0.5_f64.powi(power) * d).ln_1p()).sum::<f64>();
    let won: Vec<(f64, f64)> = (1..=BETS).map(|power| (stake(power), 1.0)).collect();
    // ln of the mean of exp.
    Erm::new(1.0).map_or(0.0, |erm| erm.of_distribution(&won))
}

fn by_bands(first: &[f64], second: &[f64], risk: Risk, bounds: Bounds) -> f64 {
    let runs = first.len().min(second.len()) as f64;
    let moved = |costs: &[f64], part: f64, to: f64| {
        let mut sorted = costs.to_vec();
        sorted.sort_by(f64::total_cmp);
        if to == bounds.low {
            sorted.reverse();
        }
        let each = 1.0 / sorted.len() as f64;
        // What is farthest from where it goes is taken first.
        let mut left = part;
        let mut outcomes = vec![(to, part)];
        for cost in sorted {
            let taken = left.min(each);
            left -= taken;
            outcomes.push((cost, each - taken));
        }
        outcomes.retain(|outcome| outcome.1 > 0.0);
        risk.of_distribution(&outcomes).unwrap_or(f64::NAN)
    };
    let apart = |part: f64| moved(first, part, bounds.high) < moved(second, part, bounds.low);
    if !apart(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if apart(middle) { low = middle } else { high = middle }
    }
    // Both bands are to hold.
    2.0 * runs * low * low - 2.0_f64.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gumdp::rng::{self, Purpose};

    const UNIT: Bounds = Bounds { low: 0.0, high: 1.0 };

    /// What 60 runs met says little where others may be met; what is plain is seen.
    #[test]
    fn what_was_not_met_is_no_evidence() {
        let risks = ["mean", "erm:1", "erm:50", "erm:-3", "cvar:0.9", "evar:0.9", "var:0.8", "exceed:0.5"];
        for text in risks {
            let risk: Risk = text.parse().unwrap();
            assert!(of_lower(&[0.1; 60], &[0.100_01; 60], risk, UNIT) < 5.0, "{text}");
            assert_eq!(of_lower(&[0.4; 60], &[0.1; 60], risk, UNIT), 0.0, "{text}");
            assert!(of_lower(&vec![0.0; 4000], &vec![0.95; 4000], risk, UNIT) > 20.0, "{text}");
        }
        assert_eq!(of_lower(&[0.0; 60], &[1.0; 60], Risk::MEAN, Bounds { low: 0.0, high: f64::INFINITY }), 0.0);
    }

    /// Both have a cost of 1 once in 200 runs: at β = 20 that decides, and 60 runs often do not meet it. A level of 1 % is kept in 2000 studies (20 are expected
    /// at most, 40 have probability below 1e-4).
    #[test]
    fn the_level_holds_for_rare_costs() {
        let mut rng = rng::stream(2, 0, Purpose::Generation);
        for text in ["mean", "erm:20", "erm:-20"] {
            let risk: Risk = text.parse().unwrap();
            let mut wrong = 0;
            for _ in 0..2000 {
                let mut costs = || -> Vec<f64> {
                    let cost = |x: f64| if x < 0.005 { 1.0 } else { 0.1 * x };
                    (0..60).map(|_| cost(rng::unit(&mut rng))).collect()
                };
                wrong += u32::from(of_lower(&costs(), &costs(), risk, UNIT) > 100.0_f64.ln());
            }
            assert!(wrong < 40, "{text}: {wrong}");
        }
    }
}
