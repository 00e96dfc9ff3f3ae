//! Drawing states follows the model's probabilities. Each chi-square test has a false-alarm rate of 1e-4.

use gumdp::rng::{self, Purpose, Rng};
use gumdp::{Mdp, Pair, State};

const DRAWS: u32 = 200_000;

/// Probabilities of `count` states that differ much: 1, 2, …, count divided by their sum.
fn ramp(count: usize) -> Vec<(usize, f64)> {
    let sum = (count * (count + 1)) as f64 / 2.0;
    (0..count).map(|state| (state, (state + 1) as f64 / sum)).collect()
}

/// The chi-square statistic of so many draws against these probabilities.
fn chi_square(expected: &[(usize, f64)], mut draw: impl FnMut() -> State) -> f64 {
    let mut counts = vec![0_u32; expected.len()];
    for _ in 0..DRAWS {
        counts[draw().index()] += 1;
    }
    let term = |&(state, probability): &(usize, f64)| {
        let mean = probability * f64::from(DRAWS);
        (f64::from(counts[state]) - mean).powi(2) / mean
    };
    expected.iter().map(term).sum()
}

/// A state from which every state is reached with the probabilities of [`ramp`], which are those of the start too.
fn ramp_model(count: usize) -> Mdp {
    let mut builder = Mdp::sized(count, 1).initial(ramp(count));
    for state in 0..count {
        builder = builder.transition(state, 0, ramp(count));
    }
    builder.build().unwrap()
}

#[test]
fn draws_follow_the_probabilities() {
    // Rows of up to 16 outcomes are scanned, longer ones halved. The bound is exceeded with probability 1e-4 by a
    // chi-square variable with count − 1 degrees of freedom.
    for (count, bound) in [(2, 15.137), (6, 25.745), (16, 44.263), (17, 45.925), (40, 80.646), (100, 160.056)] {
        let mdp = ramp_model(count);
        let mut rng: Rng = rng::stream(count as u64, 0, Purpose::Generation);
        let initial = chi_square(&ramp(count), || mdp.sample_initial(&mut rng));
        assert!(initial < bound, "initial state of {count}: {initial}");
        let next = chi_square(&ramp(count), || mdp.sample(Pair::from(0), &mut rng));
        assert!(next < bound, "next state of {count}: {next}");
    }
}
