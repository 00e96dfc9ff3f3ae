//! The distribution of the cost under every deterministic history-dependent policy of a tiny problem, by enumeration.

use gumdp::rng::{self, Rng};
use gumdp::{Pair, Problem, State};

use super::{Shape, random_discount, random_mdp, random_objective};

/// A distribution as (cost, probability), found without features or occupancy states.
pub type Outcomes = Vec<(f64, f64)>;

/// Number of deterministic history-dependent policies from here on, capped.
fn policy_count(problem: &Problem, state: State, remaining: usize) -> u64 {
    if remaining == 0 {
        return 1;
    }
    let mdp = problem.mdp();
    let count = |pair| {
        mdp.successors(Pair::from(pair))
            .fold(1_u64, |product, (next, _)| product.saturating_mul(policy_count(problem, next, remaining - 1)))
    };
    mdp.pairs(state).map(count).fold(0, u64::saturating_add)
}

/// All ways to take one distribution from each list, mixed with these probabilities.
fn mixtures(parts: &[(Vec<Outcomes>, f64)]) -> Vec<Outcomes> {
    parts.iter().fold(vec![vec![]], |mixed, (distributions, p)| {
        let scaled = |found: &Outcomes| found.iter().map(|&(x, q)| (x, p * q)).collect::<Outcomes>();
        mixed.iter().flat_map(|m| distributions.iter().map(move |found| [m.clone(), scaled(found)].concat())).collect()
    })
}

/// The distribution of f under every deterministic history-dependent policy, after this history.
fn all_laws(problem: &Problem, state: State, history: &[Pair]) -> Vec<Outcomes> {
    if history.len() == problem.horizon() {
        return vec![vec![(problem.objective().value(&problem.occupancy(history)), 1.0)]];
    }
    let mdp = problem.mdp();
    let of_pair = |pair| {
        let longer = [history, &[pair]].concat();
        let parts: Vec<_> = mdp.successors(pair).map(|(next, p)| (all_laws(problem, next, &longer), p)).collect();
        mixtures(&parts)
    };
    mdp.pairs(state).map(Pair::from).flat_map(of_pair).collect()
}

/// The distribution of f under every deterministic history-dependent policy.
pub fn distributions(problem: &Problem) -> Vec<Outcomes> {
    let initial = problem.mdp().initial();
    mixtures(&initial.iter().map(|&(s, p)| (all_laws(problem, s, &[]), p)).collect::<Vec<_>>())
}

/// A random problem with all its distributions. Problems without a choice teach little, those with too many take too long: they are
/// refused.
pub fn tiny_problem(shape: Shape, kind: usize, most: u64, rng: &mut Rng) -> Option<(Problem, Vec<Outcomes>)> {
    let mdp = random_mdp(shape, rng);
    let objective = random_objective(&mdp, kind, rng);
    let horizon = 1 + rng::below(rng, 4) as usize;
    let problem = Problem::new(mdp, objective, random_discount(rng), horizon).unwrap();
    let initial = problem.mdp().initial();
    let count = initial.iter().fold(1, |n: u64, &(s, _)| n.saturating_mul(policy_count(&problem, s, horizon)));
    if !(8..=most).contains(&count) {
        return None;
    }
    let distributions = distributions(&problem);
    assert_eq!(distributions.len() as u64, count);
    Some((problem, distributions))
}
