//! A tournament of values of an outer variable: who plays how much, and who plays on.

use std::cell::Cell;

use crate::problem::Problem;
use crate::risk::{Erm, FixedRisk, OuterForm, Risk, Tail};

/// Simulated steps of all pilot episodes: about two seconds of one core.
const EFFORT: f64 = 3e7;
/// A transition that marginal backward induction looks at takes about this part of a simulated step.
const TRANSITION: f64 = 1.0 / 6.0;
/// Transitions that it looks at for each step to go, at most: in larger models it looks less far ahead.
const MOST_TRANSITIONS: usize = 2048;
/// The fewest and the most pilot episodes, whatever one takes.
const LEAST: f64 = 24.0;
const MOST: f64 = 6000.0;
/// Episodes of the neutral player before it is known how many there are.
const PROBE: u64 = 2;
/// With fewer episodes than this, fewer candidates play.
const PLENTY: u64 = 120;
/// Entropic attitudes: β times the spread of risk-neutral costs; and those that play where episodes are few.
pub(super) const ATTITUDES: [f64; 4] = [1.0, 3.0, 10.0, 30.0];
pub(super) const FEW_ATTITUDES: [f64; 1] = [10.0];

/// Candidates play so many episodes each, and the better half plays on.
pub(super) fn tournament<P, E>(
    risk: Risk,
    outer: &dyn OuterForm,
    rounds: impl FnOnce(f64) -> Rounds,
    mut more: impl FnMut(&mut Candidate<P>, u64) -> Result<f64, E>,
) -> Result<FixedRisk, E> {
    let played = Cell::new(0);
    let mut play = |candidate: &mut Candidate<P>, episodes: u64| -> Result<f64, E> {
        played.set(played.get() + episodes.saturating_sub(candidate.costs.len() as u64));
        let steps = more(candidate, episodes)?;
        candidate.risk = risk.of_distribution(&candidate.costs).unwrap_or(f64::INFINITY);
        Ok(steps)
    };
    let mut neutral = Candidate::new(outer.attitude(Erm::MEAN));
    let rounds = rounds(play(&mut neutral, PROBE)?);
    if outer.is_known_for_few() && rounds.all < PLENTY {
        play(&mut neutral, rounds.all)?;
        if let Some(value) = outer.for_few(&neutral.costs) {
            return Ok(outer.at(value));
        }
    }
    play(&mut neutral, rounds.episodes)?;
    let mut candidates: Vec<Candidate<P>> = attitudes(outer, &neutral.costs, rounds.attitudes);
    candidates.insert(0, neutral);
    for candidate in &mut candidates[1..] {
        play(candidate, rounds.episodes)?;
    }
    let range = extent(candidates.iter().flat_map(|candidate| &candidate.costs));
    candidates.sort_by(Candidate::by_risk);
    let asked = candidates.iter().take(rounds.asked).filter_map(|candidate| best_outer(outer, &candidate.costs));
    let between = outer.tried(range).into_iter().map(|y| outer.at(y)).filter(|_| rounds.thresholds);
    for fixed in asked.chain(between).collect::<Vec<_>>() {
        if candidates.iter().all(|known| known.fixed.aim != fixed.aim) {
            let mut candidate = Candidate::new(fixed);
            play(&mut candidate, rounds.episodes)?;
            candidates.push(candidate);
        }
    }
    let mut episodes = rounds.episodes;
    for halving in 1..=rounds.halvings {
        candidates = better_half(candidates);
        if candidates.len() == 1 {
            break;
        }
        episodes *= 2;
        if halving == rounds.halvings {
            // Equal candidates have left some.
            let needed: u64 =
                candidates.iter().map(|candidate| episodes.saturating_sub(candidate.costs.len() as u64)).sum();
            episodes += rounds.all.saturating_sub(played.get() + needed) / candidates.len() as u64;
        }
        for candidate in &mut candidates {
            play(candidate, episodes)?;
        }
    }
    let best = candidates.into_iter().min_by(Candidate::by_risk);
    Ok(best.map_or(outer.attitude(Erm::MEAN), |candidate| candidate.fixed))
}

/// The better half, without those that had the very costs of a better or equal one.
pub(super) fn better_half<P>(mut candidates: Vec<Candidate<P>>) -> Vec<Candidate<P>> {
    // The sort is stable: among equals an entropic attitude is kept.
    candidates.sort_by(Candidate::by_risk);
    let half = candidates.len().div_ceil(2);
    let mut kept: Vec<Candidate<P>> = Vec::with_capacity(half);
    for candidate in candidates {
        if kept.len() < half && kept.iter().all(|other| other.costs != candidate.costs) {
            kept.push(candidate);
        }
    }
    kept
}

/// A value of the outer variable, or an entropic attitude instead, and how it did.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate<P> {
    pub(super) fixed: FixedRisk,
    /// Who plays, once it has played.
    pub(super) policy: Option<P>,
    /// With their weights.
    pub(super) costs: Vec<(f64, f64)>,
    /// Of these costs.
    risk: f64,
}

impl<P> Candidate<P> {
    pub(super) fn new(fixed: FixedRisk) -> Self {
        Self { fixed, policy: None, costs: Vec::new(), risk: f64::INFINITY }
    }

    fn by_risk(a: &Self, b: &Self) -> std::cmp::Ordering {
        a.risk.total_cmp(&b.risk)
    }
}

/// Who plays how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounds {
    /// Episodes of all candidates.
    pub(super) all: u64,
    /// Episodes of each candidate at first.
    pub(super) episodes: u64,
    /// Times that the better half plays twice as many.
    pub(super) halvings: u32,
    attitudes: &'static [f64],
    /// Attitudes whose distributions are asked for their λ or β.
    asked: usize,
    thresholds: bool,
}

impl Rounds {
    /// What can be afforded if an episode takes so many simulated steps.
    pub(super) fn new(problem: &Problem, simulated_steps: f64) -> Self {
        let (transitions, horizon) = (problem.mdp().transition_count(), problem.horizon() as f64);
        let looked_at = transitions.min(MOST_TRANSITIONS) as f64 * horizon * (horizon + 1.0) / 2.0;
        let steps = simulated_steps + TRANSITION * looked_at + transitions as f64;
        Self::affordable(EFFORT / steps)
    }

    /// With about so many episodes of all candidates.
    pub(super) fn affordable(episodes: f64) -> Self {
        let all = episodes.clamp(LEAST, MOST) as u64;
        if all >= PLENTY {
            // At most 6 attitudes, 3 values asked for and 3 thresholds: 12 + 12/2 + 2·12/4 times the first episodes; the
            // finalists have the rest.
            Self { all, episodes: all / 30, halvings: 2, attitudes: &ATTITUDES, asked: 3, thresholds: true }
        } else {
            // At most 3 attitudes and a value asked for: 4 + 4/2.
            Self { all, episodes: all / 8, halvings: 1, attitudes: &FEW_ATTITUDES, asked: 1, thresholds: false }
        }
    }
}

/// Entropic attitudes that are worth a try besides the neutral one, given its costs.
pub(super) fn attitudes<P>(outer: &dyn OuterForm, neutral: &[(f64, f64)], tried: &[f64]) -> Vec<Candidate<P>> {
    let (lowest, highest) = extent(neutral);
    let spread = highest - lowest;
    let finite = tried.iter().filter(|_| spread > 0.0).filter_map(|attitude| Erm::new(attitude / spread).ok());
    finite.chain([Erm::WORST]).map(|erm| Candidate::new(outer.attitude(erm))).collect()
}

/// The lowest and the highest cost.
pub(super) fn extent<'a>(costs: impl IntoIterator<Item = &'a (f64, f64)>) -> (f64, f64) {
    let wider = |(low, high): (f64, f64), &(cost, _): &(f64, f64)| (low.min(cost), high.max(cost));
    costs.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider)
}

/// The measure at the outer variable that is best for the distribution of these costs.
pub(super) fn best_outer(outer: &dyn OuterForm, costs: &[(f64, f64)]) -> Option<FixedRisk> {
    Some(outer.at(outer.best(&Tail::new(costs.iter().copied()).ok()?)))
}
