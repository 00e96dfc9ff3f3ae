//! Many optima of one problem in few passes: the occupancy MDP is walked through once for several aims, with the same bits as each
//! has alone.

use std::collections::HashMap;

use rayon::prelude::*;

use super::backward_induction::{onwards, stages};
use super::occupancy_dp::Limits;
use super::optimal::check_stages;
use super::unfolded::{Start, Unfolded};
use super::{OracleError, check_bounded};
use crate::problem::Problem;
use crate::risk::{Aim, Erm};

/// Aims of one pass. Fixed, so that results depend on nothing else; more would save little and slow every state down.
pub(crate) const PASS: usize = 8;

/// The optimum of a problem without its policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Optimum {
    /// The lowest value of the aim.
    pub(super) value: f64,
    /// The expected cost of a policy that attains it.
    pub(super) mean: f64,
}

/// Solves one problem for aim after aim, and counts the work.
pub(crate) struct Passes<'a> {
    problem: &'a Problem,
    limits: Limits,
    start: Start,
    /// Costs and constant of a linear objective.
    linear: Option<(Vec<f64>, f64)>,
    /// Values of backward inductions, by the bits of β.
    known: HashMap<u64, f64>,
    /// From the first pass on.
    unfolded: Option<Unfolded<'a>>,
    /// Transitions looked at in backward inductions.
    pub(super) transitions: u64,
    /// Occupancy states expanded (for backward induction, states of the model times the horizon), in all passes.
    pub(super) states: u64,
    /// Aims solved.
    pub(super) solves: u64,
}

impl<'a> Passes<'a> {
    pub(super) fn new(problem: &'a Problem, limits: &Limits, start: Start) -> Result<Self, OracleError> {
        check_bounded(problem)?;
        let linear = problem.objective().as_linear();
        Ok(Self {
            problem,
            limits: limits.clone(),
            start,
            linear,
            known: HashMap::new(),
            unfolded: None,
            transitions: 0,
            states: 0,
            solves: 0,
        })
    }

    /// For whole episodes.
    pub(crate) fn from_start(problem: &'a Problem, limits: &Limits) -> Result<Self, OracleError> {
        Self::new(problem, limits, Start::of(problem))
    }

    /// The lowest possible entropic risks.
    pub(crate) fn lowest(&mut self, erms: &[Erm]) -> Result<Vec<f64>, OracleError> {
        let aims: Vec<Aim> = erms.iter().map(|&erm| erm.into()).collect();
        Ok(self.solve(&aims)?.into_iter().map(|optimum| optimum.value).collect())
    }

    /// How far apart two costs can be, whatever the policy, if the objective is linear.
    pub(super) fn linear_range(&self) -> Result<Option<f64>, OracleError> {
        let Some((costs, constant)) = &self.linear else { return Ok(None) };
        let gains: Vec<f64> = costs.iter().map(|cost| -cost).collect();
        let best = |costs: &[f64], constant: f64| {
            let initial = self.problem.mdp().initial();
            let (best, _) = onwards(self.problem, Erm::BEST, costs, 0, initial, false, &self.limits.stop)?;
            Ok(constant + best)
        };
        Ok(Some(-best(&gains, -constant)? - best(costs, *constant)?))
    }

    /// The optimum of each aim; entropic risks of a linear cost by backward induction.
    pub(super) fn solve(&mut self, aims: &[Aim]) -> Result<Vec<Optimum>, OracleError> {
        if self.is_by_induction(aims) {
            let erms: Vec<Erm> = aims.iter().map(|aim| aim.erm).collect();
            return self.by_induction(&erms, true);
        }
        let mut all = Vec::with_capacity(aims.len());
        self.in_passes(aims, |unfolded, some| {
            all.extend(match some.len() {
                1 => filled::<1, _>(unfolded, Unfolded::solve, some)?,
                2 => filled::<2, _>(unfolded, Unfolded::solve, some)?,
                3 | 4 => filled::<4, _>(unfolded, Unfolded::solve, some)?,
                _ => filled::<PASS, _>(unfolded, Unfolded::solve, some)?,
            });
            Ok(())
        })?;
        Ok(all)
    }

    /// The optimal value of each aim, but for rounding.
    pub(super) fn values(&mut self, aims: &[Aim]) -> Result<Vec<f64>, OracleError> {
        if self.is_by_induction(aims) {
            // Searches come back to the ends of their intervals.
            let mut erms: Vec<Erm> = aims.iter().map(|aim| aim.erm).collect();
            erms.sort_by(|a, b| a.beta().total_cmp(&b.beta()));
            erms.dedup();
            erms.retain(|erm| !self.known.contains_key(&erm.beta().to_bits()));
            let optima = self.by_induction(&erms, false)?;
            self.known
                .extend(erms.iter().map(|erm| erm.beta().to_bits()).zip(optima.iter().map(|optimum| optimum.value)));
            return Ok(aims.iter().map(|aim| self.known[&aim.erm.beta().to_bits()]).collect());
        }
        let mut all = Vec::with_capacity(aims.len());
        self.in_passes(aims, |unfolded, some| {
            all.extend(match some.len() {
                1 => filled::<1, _>(unfolded, Unfolded::values, some)?,
                2 => filled::<2, _>(unfolded, Unfolded::values, some)?,
                3 | 4 => filled::<4, _>(unfolded, Unfolded::values, some)?,
                _ => filled::<PASS, _>(unfolded, Unfolded::values, some)?,
            });
            Ok(())
        })?;
        Ok(all)
    }

    fn is_by_induction(&self, aims: &[Aim]) -> bool {
        self.linear.is_some() && aims.iter().all(Aim::is_entropic)
    }

    fn by_induction(&mut self, erms: &[Erm], with_means: bool) -> Result<Vec<Optimum>, OracleError> {
        let Some((costs, constant)) = &self.linear else { return Err(OracleError::NotLinear) };
        let Start { time, features, outcomes } = &self.start;
        check_stages(self.problem, *time, &self.limits)?;
        self.solves += erms.len() as u64;
        self.states += erms.len() as u64 * stages(self.problem, *time);
        self.transitions += erms.len() as u64 * self.transitions_of_induction();
        let so_far = if *time == 0 { *constant } else { self.problem.objective().value_of_features(features) };
        let solve = |&erm: &Erm| {
            let (value, mean) = onwards(self.problem, erm, costs, *time, outcomes, with_means, &self.limits.stop)?;
            Ok(Optimum { value: so_far + value, mean: so_far + mean })
        };
        erms.par_iter().map(solve).collect()
    }

    /// Transitions that one backward induction looks at.
    pub(super) fn transitions_of_induction(&self) -> u64 {
        let steps = self.problem.horizon().saturating_sub(self.start.time);
        (self.problem.mdp().transition_count() as u64).saturating_mul(steps as u64)
    }

    fn in_passes(
        &mut self,
        aims: &[Aim],
        mut pass: impl FnMut(&Unfolded<'a>, &[Aim]) -> Result<(), OracleError>,
    ) -> Result<(), OracleError> {
        let unfolded = match &self.unfolded {
            Some(unfolded) => unfolded,
            None => self.unfolded.insert(Unfolded::new(self.problem, &self.limits, &self.start)?),
        };
        for some in aims.chunks(PASS) {
            self.solves += some.len() as u64;
            self.states += unfolded.states;
            pass(unfolded, some)?;
        }
        Ok(())
    }
}

/// Solves at most `AIMS` aims in one pass. One with fewer is filled up; what fills it is not looked at.
fn filled<'a, const AIMS: usize, T: Copy>(
    unfolded: &Unfolded<'a>,
    solve: impl Fn(&Unfolded<'a>, [Aim; AIMS]) -> Result<[T; AIMS], OracleError>,
    aims: &[Aim],
) -> Result<Vec<T>, OracleError> {
    let all = std::array::from_fn::<Aim, AIMS, _>(|k| aims[k.min(aims.len() - 1)]);
    Ok(solve(unfolded, all)?[..aims.len()].to_vec())
}
