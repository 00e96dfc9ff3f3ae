//! Pilot episodes: they say how good a policy is before it plays, and meet what is rare on purpose.
//!
//! A ruin of probability 1/1000 is in none of 100 episodes, and decides all the same. So every other episode is *bent*: at its K-th step that
//! has rare outcomes one of them happens, each alike likely; P(K = k) is proportional to 1/k. An episode counts by how likely it is
//! over how likely it is to be played, straight or bent (the balance heuristic of Veach and Guibas 1995):
//!
//! w = 2/(1 + q/p), q/p = P(K > n) + Σ P(K = k)/(m·p),
//!
//! over those of its n such steps where a rare outcome was met, one of m, of probability p. No weight is above 2. Where no outcome is rare
//! all are 1, and episodes are those of an experiment with the same seed.

use rayon::prelude::*;

use crate::episode::play_watched;
use crate::model::{Mdp, Pair, State};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::rng::{self, Purpose, Rng};
use crate::stop::Stop;

/// An outcome is rare up to this probability.
const RARE: f64 = 0.02;

/// Where outcomes are rare.
#[derive(Clone, Debug)]
pub(crate) struct Rarities {
    /// The number of rare outcomes of each pair; empty if there is none at all.
    counts: Vec<u32>,
    /// P(K ≤ k).
    before: Vec<f64>,
}

/// What an episode cost, and what it counts for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pilot {
    pub(crate) cost: f64,
    pub(crate) weight: f64,
    pub(crate) simulated_steps: u64,
}

impl Rarities {
    pub(crate) fn new(problem: &Problem) -> Self {
        let mdp = problem.mdp();
        let count = |pair| mdp.successors(Pair(pair)).filter(|next| is_rare(next.1)).count() as u32;
        let counts: Vec<u32> = (0..mdp.pair_count() as u32).map(count).collect();
        let harmonic = (1..=problem.horizon()).scan(0.0, |sum, k| {
            *sum += 1.0 / k as f64;
            Some(*sum)
        });
        let harmonic: Vec<f64> = std::iter::once(0.0).chain(harmonic).collect();
        let all = harmonic[problem.horizon()];
        let before = harmonic.into_iter().map(|sum| sum / all).collect();
        Self { counts: if counts.iter().any(|&count| count > 0) { counts } else { Vec::new() }, before }
    }

    /// The chances of the episode with this number: odd ones are bent, if anything is rare.
    pub(crate) fn chances(&self, number: u64, rng: &mut Rng) -> Chances<'_> {
        let bent = if self.counts.is_empty() || number.is_multiple_of(2) {
            usize::MAX
        } else {
            let drawn = rng::unit(rng);
            self.before.partition_point(|&before| before <= drawn)
        };
        Chances { rarities: self, bent, passed: 0, ratio: 0.0 }
    }

    /// Plays the episodes with these numbers, in parallel in rayon's current thread pool; `None` if one fails or they are stopped.
    pub(crate) fn play(
        &self,
        problem: &Problem,
        policy: &dyn Policy,
        seed: u64,
        numbers: std::ops::Range<u64>,
        stop: &Stop,
    ) -> Option<Vec<Pilot>> {
        let mut prepared = policy.boxed();
        prepared.set_stop(stop);
        if !numbers.is_empty() {
            prepared.prepare().ok()?;
        }
        let play = |own: &mut Box<dyn Policy>, number: u64| {
            if stop.is_requested() {
                return None;
            }
            let [mut environment, mut policy_rng, mut bends] = [Purpose::Environment, Purpose::Policy, Purpose::Pilot]
                .map(|purpose| rng::stream(seed, number, purpose));
            let mut chances = self.chances(number, &mut bends);
            let before = own.simulated_steps();
            let start = problem.start(problem.mdp().sample_initial(&mut environment));
            let next = &mut |pair| chances.next(problem.mdp(), pair, &mut environment);
            let episode = play_watched(problem, &mut **own, start, next, &mut policy_rng, &mut |_| {}).ok()?;
            let simulated_steps = own.simulated_steps() - before;
            Some(Pilot { cost: episode.cost, weight: chances.weight(), simulated_steps })
        };
        numbers.into_par_iter().map_init(|| prepared.clone(), play).collect()
    }
}

fn is_rare(probability: f64) -> bool {
    probability > 0.0 && probability <= RARE
}

/// The chances of one episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chances<'a> {
    rarities: &'a Rarities,
    /// K; the largest number if the episode is straight.
    bent: usize,
    /// Steps with rare outcomes so far.
    passed: usize,
    /// Σ P(K = k)/(m·p) so far.
    ratio: f64,
}

impl Chances<'_> {
    /// What follows a pair.
    #[inline]
    pub(crate) fn next(&mut self, mdp: &Mdp, pair: Pair, rng: &mut Rng) -> State {
        match self.rarities.counts.get(pair.index()) {
            None | Some(0) => mdp.sample(pair, rng),
            Some(&count) => self.with_rare(mdp, pair, count, rng),
        }
    }

    fn with_rare(&mut self, mdp: &Mdp, pair: Pair, count: u32, rng: &mut Rng) -> State {
        self.passed += 1;
        let mut rare = mdp.successors(pair).filter(|next| is_rare(next.1));
        let next = if self.passed == self.bent {
            let forced = ((rng::unit(rng) * f64::from(count)) as u32).min(count - 1);
            rare.clone().nth(forced as usize).map_or_else(|| mdp.sample(pair, rng), |next| next.0)
        } else {
            mdp.sample(pair, rng)
        };
        if let Some((_, probability)) = rare.find(|known| known.0 == next) {
            let before = &self.rarities.before;
            let chosen = before[self.passed] - before[self.passed - 1];
            self.ratio += chosen / (f64::from(count) * probability);
        }
        next
    }

    /// What the episode counts for, now that it is over.
    pub(crate) fn weight(&self) -> f64 {
        if self.passed == 0 {
            return 1.0;
        }
        2.0 / (1.0 + self.ratio + 1.0 - self.rarities.before[self.passed])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Limits, distribution};
    use crate::risk::Erm;
    use crate::{Markov, Objective, Uniform, experiment};

    /// Digging may end in ruin, which is for good.
    fn mine(p: f64) -> Problem {
        let mdp = Mdp::sized(3, 2)
            .start(0)
            .transition(0, 0, [(0, 1.0)])
            .transition(0, 1, [(0, 0.5), (1, 0.5 - p), (2, p)])
            .transition(1, 0, [(0, 1.0)])
            .transition(1, 1, [(1, 1.0 - p), (2, p)])
            .transition(2, 0, [(2, 1.0)])
            .build()
            .unwrap();
        let costs = mdp.by_state(&[0.0, -1.0, 5.0]).unwrap();
        Problem::new(mdp, Objective::linear(costs).unwrap(), 1.0, 12).unwrap()
    }

    /// Weighted pilots have the mean and the risk of the exact distribution, within five standard errors (false alarm below 1e-5).
    #[test]
    fn weights_undo_what_is_done_on_purpose() {
        for p in [0.0002, 0.02] {
            let problem = mine(p);
            let policy = Markov::stochastic(&problem, vec![vec![0.3, 0.7, 0.3, 0.7, 1.0]]).unwrap();
            let exact = distribution(&problem, &policy, &Limits::QUICK).unwrap();
            let pilots = Rarities::new(&problem).play(&problem, &policy, 3, 0..20_000, &Stop::NEVER).unwrap();
            assert!(pilots.iter().all(|pilot| pilot.weight > 0.0 && pilot.weight <= 2.0));
            let n = pilots.len() as f64;
            for erm in [Erm::MEAN, Erm::new(1.0).unwrap()] {
                let count = |cost: f64| if erm == Erm::MEAN { cost } else { cost.exp() };
                for (what, expected) in [("weights", 1.0), ("costs", count(exact.erm(erm)))] {
                    let terms: Vec<f64> = pilots
                        .iter()
                        .map(|pilot| pilot.weight * if what == "costs" { count(pilot.cost) } else { 1.0 })
                        .collect();
                    let mean = terms.iter().sum::<f64>() / n;
                    let error = (terms.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / n).sqrt();
                    assert!(
                        (mean - expected).abs() < 5.0 * error,
                        "{p} {what}: {mean} instead of {expected} ± {error}"
                    );
                }
            }
        }
    }

    /// Where nothing is rare, pilots are the runs of an experiment.
    #[test]
    fn plain_episodes_are_those_of_an_experiment() {
        let problem = mine(0.1);
        let uniform = Uniform::new(&problem);
        let pilots = Rarities::new(&problem).play(&problem, &uniform, 5, 3..40, &Stop::NEVER).unwrap();
        let runs = experiment(&problem, &uniform, 5, 3..40).unwrap();
        let expected = runs.iter().map(|run| (run.episode.cost, 1.0));
        assert!(pilots.iter().map(|pilot| (pilot.cost, pilot.weight)).eq(expected));
    }
}
