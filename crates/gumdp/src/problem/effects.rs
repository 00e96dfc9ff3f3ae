//! Actions with the same effect: solvers, planners and the check of problem files look at one of them.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::Problem;
use crate::model::{Pair, State};
use crate::rng::mix;

/// Tells which pairs of a state do the same: change the features alike and lead to the same states with the same probabilities.
///
/// ```
/// use gumdp::{Effects, Mdp, Objective, Pair, Problem};
/// let mdp = Mdp::sized(2, 3).start(0).transition(0, 0, [(0, 1.0)]).transition(0, 1, [(0, 1.0)]).transition(0, 2, [(1, 1.0)]);
/// let mdp = mdp.transition(1, 0, [(1, 1.0)]).build()?;
/// let problem = Problem::new(mdp, Objective::linear(vec![1.0; 4])?, 1.0, 3)?;
/// let start = problem.mdp().initial()[0].0;
/// let mut effects = Effects::new(&problem);
/// assert_eq!(effects.firsts(start, false), [0, 0, 2].map(Pair::from));
/// // Where the last step leads does not matter.
/// assert_eq!(effects.firsts(start, true), [0, 0, 0].map(Pair::from));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Effects<'a> {
    problem: &'a Problem,
    /// Hash and number of pairs met.
    met: HashTable<(u64, u32)>,
    firsts: Vec<Pair>,
}

impl<'a> Effects<'a> {
    /// Looks at the pairs of this problem.
    #[must_use]
    pub fn new(problem: &'a Problem) -> Self {
        Self { problem, met: HashTable::new(), firsts: Vec::new() }
    }

    /// For each pair of a state the first that does the same: itself, if no earlier one does. At the last step of an episode it
    /// does not matter where a pair leads.
    pub fn firsts(&mut self, state: State, last_step: bool) -> &[Pair] {
        let Self { problem, met, firsts } = self;
        let (mdp, objective) = (problem.mdp(), problem.objective());
        let row = |pair: u32| {
            let successors = mdp.successors(Pair(pair)).filter(|_| !last_step);
            successors.flat_map(|(state, probability)| [u64::from(state.0), probability.to_bits()])
        };
        let words = |pair: u32| objective.effect(pair as usize).chain(row(pair));
        met.clear();
        firsts.clear();
        for pair in mdp.pairs(state) {
            let hash = words(pair).fold(0, |hash, word| mix(hash ^ word));
            let same = |&(other_hash, other): &(u64, u32)| other_hash == hash && words(pair).eq(words(other));
            firsts.push(match met.entry(hash, same, |&(hash, _)| hash) {
                Entry::Occupied(found) => Pair(found.get().1),
                Entry::Vacant(place) => {
                    place.insert((hash, pair));
                    Pair(pair)
                }
            });
        }
        firsts
    }
}
