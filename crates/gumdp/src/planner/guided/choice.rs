//! How a planner decides, and which way is best for a problem: chosen by pilot episodes before the first decision.
//!
//! All candidates play the same pilot episodes (common random numbers), half of which meet rare outcomes on purpose; the better half plays on,
//! until the effort is spent. Another than the first is chosen only if it is better by a standard error of the difference. Effort is counted, never timed: the choice is
//! the same for the same problem. If all would take too long they have fewer simulations for a decision, and then the dearest are left out.

use super::moves::Spread;
use super::{GuidedPlanner, SHARE};
use crate::planner::settings::Budget;
use crate::policy::PolicyFailure;
use crate::risk::Erm;
use crate::rng::{self, Purpose};

/// A way to decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Manner {
    /// The optimum, which was found before the first decision.
    Exact,
    /// One step of look-ahead on the lattice.
    Lattice,
    /// Marginal backward induction with this forecast; the tree within this reach.
    Marginal { reach: f64, forecast: f64 },
    /// Legs of a plan, kept from decision to decision.
    Plans,
    /// The published planner.
    Published,
}

/// Simulated steps of all pilot episodes: a few seconds of one core.
const EFFORT: f64 = 1.2e8;
/// A transition that marginal backward induction looks at takes about this part of a simulated step.
const TRANSITION: f64 = 1.0 / 3.0;
/// A step in the guided tree takes so many of the published planner's.
const TREE: f64 = 2.0;
/// A step where f is a formula takes so many of others.
const FORMULA: f64 = 2.0;
/// The fewest episodes of a candidate that say anything, and the most that are worth it in the first round.
const FEWEST: f64 = 12.0;
const MOST: f64 = 48.0;
/// Pilots have as many simulations for a decision as leave so many episodes, but not fewer than this for it: with few, trees look worse than they are.
/// What is best with some simulations is seldom worse with more.
const ENOUGH: f64 = 2.0 * MOST;
const LEAST_SIMULATIONS: u64 = 500;
/// The seed of pilot episodes: the choice belongs to the problem, not to an experiment.
pub(super) const SEED: u64 = 0x0067_756d_6470;

struct Candidate {
    manner: Manner,
    /// What costs count for, and their weights.
    costs: Vec<(f64, f64)>,
    value: f64,
    /// Simulated steps of an episode.
    steps: f64,
}

/// The manner that plays best.
///
/// # Errors
/// If it was stopped.
pub(super) fn choose(planner: &GuidedPlanner, manners: &[Manner]) -> Result<Manner, PolicyFailure> {
    let effort = EFFORT * planner.worth();
    let mut planner = planner.clone();
    let dear = |planner: &GuidedPlanner| {
        effort / 3.0 / manners.iter().map(|&manner| steps_of(planner, manner)).sum::<f64>() < ENOUGH
    };
    while planner.settings.most() > LEAST_SIMULATIONS && dear(&planner) {
        planner.settings.budget = Budget::simulations((planner.settings.most() / 2).max(LEAST_SIMULATIONS));
    }
    let planner = &planner;
    let mut candidates: Vec<Candidate> = manners
        .iter()
        .map(|&manner| Candidate { manner, costs: Vec::new(), value: f64::INFINITY, steps: steps_of(planner, manner) })
        .collect();
    let first = candidates[0].manner;
    // The dearest are left out until all that are left can play enough.
    let episodes = loop {
        let episodes = effort / 3.0 / candidates.iter().map(|candidate| candidate.steps).sum::<f64>();
        let dearest = (1..candidates.len()).max_by(|&a, &b| candidates[a].steps.total_cmp(&candidates[b].steps));
        match dearest {
            None => return Ok(first),
            Some(dearest) if episodes < FEWEST => drop(candidates.remove(dearest)),
            Some(_) => break episodes,
        }
    };
    let seed = rng::word(&mut rng::stream(SEED, 0, Purpose::Pilot));
    let mut episodes = episodes.min(MOST) as u64;
    let mut left = effort;
    loop {
        for candidate in &mut candidates {
            let policy = planner.in_manner(candidate.manner);
            let missing = candidate.costs.len() as u64..episodes;
            left -= candidate.steps * missing.end.saturating_sub(missing.start) as f64;
            // One that fails fails again when it is played, and is not chosen.
            let pilots =
                planner.rarities.play(&planner.problem, &policy, seed, missing, &planner.stop).unwrap_or_default();
            if planner.stop.is_requested() {
                return Err(PolicyFailure::Stopped);
            }
            candidate.costs.extend(pilots.iter().map(|pilot| (planner.risk.of_cost(pilot.cost), pilot.weight)));
            let complete = candidate.costs.len() as u64 == episodes;
            candidate.value = if complete { risk_of(planner.erm, &candidate.costs) } else { f64::INFINITY };
        }
        // Stable: among equals the first stays.
        candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
        let keep_first = candidates.iter().position(|candidate| candidate.manner == first);
        let half = candidates.len().div_ceil(2).max(2);
        if keep_first.is_some_and(|place| place >= half) {
            candidates.swap(half - 1, keep_first.unwrap_or(0));
        }
        candidates.truncate(half);
        let next = 2 * episodes;
        let round: f64 = candidates.iter().map(|candidate| candidate.steps * episodes as f64).sum();
        if round > left || next as f64 > 16.0 * MOST {
            break;
        }
        episodes = next;
    }
    let base = candidates.iter().find(|candidate| candidate.manner == first);
    let best = &candidates[0];
    Ok(match base {
        Some(base) if best.value + error_of_difference(planner.erm, &base.costs, &best.costs) >= base.value => first,
        _ => best.manner,
    })
}

/// The risk of costs with their weights.
pub(in crate::planner) fn risk_of(erm: Erm, costs: &[(f64, f64)]) -> f64 {
    erm.quickly(costs.iter().copied())
}

/// The standard error of the difference of two risks over the same episodes, by their influence functions.
pub(in crate::planner) fn error_of_difference(erm: Erm, a: &[(f64, f64)], b: &[(f64, f64)]) -> f64 {
    let (beta, risks) = (erm.beta(), (risk_of(erm, a), risk_of(erm, b)));
    let influence = |risk: f64, (cost, weight): (f64, f64)| {
        let excess = cost - risk;
        weight * if beta == 0.0 || !beta.is_finite() { excess } else { ((beta * excess).exp() - 1.0) / beta }
    };
    let n = a.len().min(b.len()) as f64;
    let squares: f64 = a.iter().zip(b).map(|(&x, &y)| (influence(risks.0, x) - influence(risks.1, y)).powi(2)).sum();
    let error = (squares / n / n).sqrt();
    if error.is_finite() { error } else { f64::MAX }
}

/// Simulated steps that an episode takes in this manner, about.
fn steps_of(planner: &GuidedPlanner, manner: Manner) -> f64 {
    let horizon = planner.problem.horizon();
    let all = (horizon * (horizon + 1)) as f64 / 2.0;
    let formula = if planner.problem.objective().has_formula() { FORMULA } else { 1.0 };
    let simulated = planner.settings.most() as f64 * all * formula;
    let looked_at = TRANSITION * planner.problem.mdp().transition_count() as f64 * all;
    match manner {
        Manner::Exact | Manner::Lattice => horizon as f64,
        Manner::Published => simulated,
        Manner::Plans => simulated / SHARE as f64 + looked_at.min(simulated),
        Manner::Marginal { reach, .. } => {
            let within =
                (1..=horizon).filter(|&steps| planner.within(reach, steps)).map(|steps| steps as f64).sum::<f64>();
            TREE * formula * planner.settings.most() as f64 * within + looked_at.min(simulated) + horizon as f64
        }
    }
}

impl GuidedPlanner {
    /// Whether the tree sees the horizon from so many steps before it.
    pub(super) fn within(&self, reach: f64, steps: usize) -> bool {
        let simulations = self.settings.usual(steps) as f64;
        let Spread { choice, chance } = self.spread;
        let near = || steps as f64 * (choice + chance) <= reach * simulations.ln();
        !self.linear && reach > 0.0 && (reach == f64::INFINITY || near())
    }

    /// Whether the simulations would do to meet all that may follow in so many steps, if every move has its usual outcomes.
    pub(super) fn covers(&self, steps: usize) -> bool {
        let Spread { choice, chance } = self.spread;
        steps as f64 * (2.0 * choice + chance) <= (self.settings.usual(steps) as f64).ln()
    }
}
