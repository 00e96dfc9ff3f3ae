//! One seed, many independent random streams.
//!
//! Every random number of the library comes from a stream named by `(seed, run, purpose)`. Runs can therefore be computed
//! in any order, on any number of threads, or again after an interruption, and give the same bits. The generator is
//! Xoshiro256++; the names are mixed by `SplitMix64` (Steele, Lea and Flood, 2014).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// The random generator that every function of this library takes as an argument.
pub type Rng = Xoshiro256PlusPlus;

/// What a random stream is used for, so that streams of one run never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The environment: initial state and transitions of the played episode.
    Environment = 1,
    /// The policy's own randomness: action draws and simulations.
    Policy = 2,
    /// Bootstrap resampling.
    Bootstrap = 3,
    /// Random problems and random points, in tests and checks.
    Generation = 4,
    /// Pilot episodes, which fix the outer variable of a risk measure.
    Pilot = 5,
}

/// The stream of `purpose` in run number `run` of an experiment with this `seed`.
///
/// ```
/// use gumdp::rng::{self, Purpose};
/// let a = rng::stream(1, 0, Purpose::Environment);
/// let b = rng::stream(1, 0, Purpose::Environment);
/// let c = rng::stream(1, 1, Purpose::Environment);
/// assert_eq!(a, b);
/// assert_ne!(a, c);
/// ```
#[must_use]
pub fn stream(seed: u64, run: u64, purpose: Purpose) -> Rng {
    let mixed = mix(mix(mix(seed) ^ run) ^ purpose as u64);
    Rng::seed_from_u64(mixed)
}

/// A number drawn uniformly from [0, 1), a multiple of 2⁻⁵³.
///
/// ```
/// use gumdp::rng::{self, Purpose};
/// let mut rng = rng::stream(1, 0, Purpose::Generation);
/// assert!((0.0..1.0).contains(&rng::unit(&mut rng)));
/// assert!(rng::below(&mut rng, 6) < 6);
/// ```
#[inline]
pub fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// An integer drawn uniformly from `0..bound` (multiply-high; its bias is below `bound`·2⁻⁶⁴).
#[inline]
pub fn below(rng: &mut Rng, bound: u32) -> u32 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u32
}

/// Draws many small integers from few random words: an integer below 4, say, takes two bits.
///
/// ```
/// use gumdp::rng::{self, Choices, Purpose};
/// let mut rng = rng::stream(0, 0, Purpose::Policy);
/// let mut choices = Choices::default();
/// assert!((0..100).all(|_| choices.below(4, &mut rng) < 4));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Choices {
    word: u64,
    /// Unused bits of the word.
    left: u32,
}

impl Choices {
    /// An integer drawn uniformly from `0..bound`. Exactly uniform if `bound` is a power of two, else as [`below`].
    #[inline]
    pub fn below(&mut self, bound: u32, rng: &mut Rng) -> u32 {
        if !bound.is_power_of_two() {
            return below(rng, bound);
        }
        let bits = bound.trailing_zeros();
        if self.left < bits {
            self.word = word(rng);
            self.left = 64;
        }
        let drawn = self.word as u32 & (bound - 1);
        self.word >>= bits;
        self.left -= bits;
        drawn
    }
}

/// 64 random bits. Out of line: it is needed rarely, and its state would take registers from the loop around it.
#[cold]
#[inline(never)]
pub fn word(rng: &mut Rng) -> u64 {
    rng.next_u64()
}

/// The finaliser of `SplitMix64`: a bijection of the 64-bit words without visible structure.
pub(crate) fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_is_uniform() {
        // Chi-square over 6 cells, 60 000 draws, 5 degrees of freedom: 25.7 is exceeded with probability 1e-4.
        let mut rng = stream(7, 0, Purpose::Generation);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[below(&mut rng, 6) as usize] += 1;
        }
        let chi_square: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi_square < 25.7, "{counts:?}");
    }

    #[test]
    fn unit_stays_below_one() {
        let mut rng = stream(8, 0, Purpose::Generation);
        assert!((0..10_000).map(|_| unit(&mut rng)).all(|u| (0.0..1.0).contains(&u)));
    }
}
