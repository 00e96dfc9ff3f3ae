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
}

impl Selection {
    /// All rules with their names.
    pub const ALL: [(&'static str, Self); 1] = [("polynomial", Self::Polynomial)];

    /// w of a node with so many visits.
    #[inline]
    pub(super) fn weight(self, visits: f64) -> f64 {
        match self {
            Self::Polynomial => visits.sqrt().sqrt(),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::ALL.iter().filter(|(_, rule)| rule == self).try_for_each(|(name, _)| f.write_str(name))
    }
}
