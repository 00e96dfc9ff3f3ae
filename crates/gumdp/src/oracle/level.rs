//! The occupancy states of one time, each kept once.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::{Limits, OracleError};
use crate::rng::mix;

/// States that the smallest level has room for.
const SMALLEST: usize = 4;

/// Occupancy states (s, Φo) of one time in the order in which they were found. Two are the same if the state and all bits
/// of the features are.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// Features of one occupancy state.
    width: usize,
    states: Vec<u32>,
    /// `width` numbers for each occupancy state.
    features: Vec<f64>,
    /// Hash and number of each occupancy state.
    numbers: HashTable<(u64, u32)>,
}

impl Level {
    pub(super) fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// The number of this occupancy state, which is added if it is new. `features_hash` is [`hash`] of the features.
    pub(super) fn insert(&mut self, state: u32, features: &[f64], features_hash: u64) -> u32 {
        let Self { width, states, features: all, numbers } = self;
        let hash = mix(features_hash ^ u64::from(state));
        let same = |&(other, number): &(u64, u32)| {
            let i = number as usize;
            other == hash && states[i] == state && bits_equal(&all[i * *width..(i + 1) * *width], features)
        };
        match numbers.entry(hash, same, |&(hash, _)| hash) {
            Entry::Occupied(found) => found.get().1,
            Entry::Vacant(place) => {
                let number = states.len() as u32;
                place.insert((hash, number));
                states.push(state);
                all.extend_from_slice(features);
                number
            }
        }
    }

    /// The same, if the limits allow the memory that is needed when there are so many states and bytes besides.
    pub(super) fn insert_within(
        &mut self,
        (state, features, features_hash): (u32, &[f64], u64),
        limits: &Limits,
        (states, bytes): (u64, u64),
    ) -> Result<u32, OracleError> {
        if self.states.len() == self.states.capacity() {
            limits.check_growth(states, bytes, self)?;
            let more = self.grown_capacity() - self.len();
            self.states.reserve_exact(more);
            self.features.reserve_exact(more * self.width);
            self.numbers.reserve(more, |&(hash, _)| hash);
        }
        Ok(self.insert(state, features, features_hash))
    }

    /// The number of this occupancy state, if it is here.
    pub(super) fn find(&self, state: u32, features: &[f64]) -> Option<usize> {
        let hash = mix(hash(features) ^ u64::from(state));
        let same = |&(other, number): &(u64, u32)| {
            let i = number as usize;
            other == hash && self.states[i] == state && bits_equal(self.features(i), features)
        };
        self.numbers.find(hash, same).map(|&(_, number)| number as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Memory taken with room for as many states again.
    pub(super) fn bytes_when_grown(&self) -> u64 {
        let capacity = self.grown_capacity();
        // The table keeps an eighth free, and its size is a power of two.
        let slots = (capacity + capacity / 7 + 1).next_power_of_two().max(4);
        let numbers = slots * (size_of::<(u64, u32)>() + 1);
        let vectors = 4 * capacity + 8 * self.width * capacity;
        (size_of::<Self>() + vectors + numbers) as u64
    }

    fn grown_capacity(&self) -> usize {
        (2 * self.len()).max(SMALLEST)
    }

    pub(super) fn states(&self) -> &[u32] {
        &self.states
    }

    pub(super) fn features(&self, number: usize) -> &[f64] {
        &self.features[number * self.width..(number + 1) * self.width]
    }

    /// Nothing will be inserted any more.
    pub(super) fn seal(&mut self) {
        self.features.shrink_to_fit();
        self.states.shrink_to_fit();
    }

    /// Keeps the states only: no features, and nothing can be found any more.
    pub(super) fn forget(&mut self) {
        self.seal();
        self.features = Vec::new();
        self.numbers = HashTable::new();
    }

    /// Memory taken.
    pub(super) fn bytes(&self) -> u64 {
        let vectors = 4 * self.states.capacity() + 8 * self.features.capacity();
        (size_of::<Self>() + vectors + self.numbers.allocation_size()) as u64
    }
}

/// Hash of a feature vector. The terms are independent, so that the processor can compute several at once.
pub(super) fn hash(features: &[f64]) -> u64 {
    const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut salt = 0_u64;
    features.iter().fold(0_u64, |sum, x| {
        salt = salt.wrapping_add(STRIDE);
        sum.wrapping_add(mix(x.to_bits() ^ salt))
    })
}

fn bits_equal(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_states_get_one_number() {
        let mut level = Level::new(2);
        let mut insert = |state: u32, features: [f64; 2]| level.insert(state, &features, hash(&features));
        assert_eq!(insert(3, [0.5, 0.25]), 0);
        assert_eq!(insert(3, [0.25, 0.5]), 1);
        assert_eq!(insert(4, [0.5, 0.25]), 2);
        assert_eq!(insert(3, [0.5, 0.25]), 0);
        assert_eq!(insert(3, [0.1 + 0.2, 0.25]), 3);
        assert_eq!(insert(3, [0.3, 0.25]), 4);
        level.seal();
        assert_eq!(level.find(4, &[0.5, 0.25]), Some(2));
        assert_eq!(level.find(5, &[0.5, 0.25]), None);
        assert_eq!((level.len(), level.features(1)), (5, &[0.25, 0.5][..]));
    }
}
