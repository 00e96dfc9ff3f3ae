//! Which action a tree search tries next: one list of rules.
//!
//! Where all actions of a node have been tried, each rule takes
//!
//! ```text
//! a ∈ argmin_a ρ̂(s, a) − θ_t · w(N(s)) / √N(s, a)
//! ```
//!
//! with ρ̂ the estimated risk, θ_t the exploration constant, N(s) and N(s, a) the numbers of simulations. A rule is its w.

use std::fmt;

/// A rule of selection: how the bonus of an action that was seldom tried grows with the visits N of its node.
///
/// ```
/// use gumdp::{PlannerSettings, Selection};
/// assert_eq!(PlannerSettings::paper_grid().selection, Selection::Polynomial);
/// assert_eq!(Selection::Polynomial.to_string(), "polynomial");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// w = N^(1/4), the bonus θ·√(√N(s)/N(s, a)) of the paper, which follows Shah, Xie and Xu (*Non-asymptotic analysis of Monte
    /// Carlo tree search*, 2022).
    #[default]
    Polynomial,
    /// w = √(2 ln N), the bonus θ·√(2 ln N(s)/N(s, a)) of UCT (Kocsis and Szepesvári, *Bandit based Monte-Carlo planning*, 2006) with
    /// the index UCB1 of Auer, Cesa-Bianchi and Fischer (*Finite-time analysis of the multiarmed bandit problem*, 2002), which is
    /// made for costs in [0, 1] and θ = 1. It grows more slowly: from 75 visits on it is below the paper's.
    Ucb1,
}

impl Selection {
    /// All rules with their names.
    pub const ALL: [(&'static str, Self); 2] = [("polynomial", Self::Polynomial), ("ucb1", Self::Ucb1)];

    /// w of a node with so many visits.
    #[inline]
    pub(super) fn weight(self, visits: f64) -> f64 {
        match self {
            Self::Polynomial => visits.sqrt().sqrt(),
            Self::Ucb1 => (2.0 * visits.max(1.0).ln()).sqrt(),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::ALL.iter().filter(|(_, rule)| rule == self).try_for_each(|(name, _)| f.write_str(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{self, Limits};
    use crate::rng::{self, Purpose};
    use crate::{Budget, Erm, Planner, PlannerSettings, Policy};

    /// By hand, and at the visits from which on the logarithm stays below the root.
    #[test]
    fn bonuses_are_those_of_the_papers() {
        assert_eq!([1.0, 16.0, 81.0].map(|n| Selection::Polynomial.weight(n)), [1.0, 2.0, 3.0]);
        assert!((Selection::Ucb1.weight(std::f64::consts::E) - std::f64::consts::SQRT_2).abs() < 1e-15);
        assert_eq!([0.0, 1.0].map(|n| Selection::Ucb1.weight(n)), [0.0; 2]);
        let lower = |n: f64| Selection::Ucb1.weight(n) < Selection::Polynomial.weight(n);
        assert!(!lower(74.0) && lower(75.0) && lower(1e9));
    }

    /// Every rule finds the first action that is best, and they are not one and the same.
    #[test]
    fn all_rules_plan() {
        let problem = crate::test_problems::rooms();
        let erm = Erm::new(50.0).unwrap();
        let start = problem.start(problem.mdp().initial()[0].0);
        let best = oracle::decide(&problem, erm, &start, &Limits::QUICK).unwrap().action;
        let visits = Selection::ALL.map(|(name, selection)| {
            let budget = Budget::simulations(4000);
            let settings = PlannerSettings { budget, selection, ..PlannerSettings::paper_grid() };
            let mut planner = Planner::new(&problem, erm, settings).unwrap();
            let decision = planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
            assert_eq!(decision.action, best, "{name}");
            decision.reasons[0].visits
        });
        assert_ne!(visits[0], visits[1]);
    }

    /// An action that is not taken any more is wanted in the end: its bonus grows without bound.
    #[test]
    fn bonuses_grow_without_bound() {
        for (name, rule) in Selection::ALL {
            let weights: Vec<f64> = (0..300).map(|k| rule.weight(10.0_f64.powi(k))).collect();
            assert!(weights.windows(2).all(|pair| pair[0] < pair[1]) && weights[299] > 30.0, "{name}");
        }
    }
}
