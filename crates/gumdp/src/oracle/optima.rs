//! Many optima of one problem in few passes: the occupancy MDP is walked through once for several aims, with the same bits as each
//! has alone.

use std::collections::HashMap;

use rayon::prelude::*;

use super::backward_induction::Linear;
use super::occupancy_dp::{Limits, Optimum};
use super::optimal::{Inner, optimum};
use super::unfolded::{Start, Unfolded};
use super::{OracleError, check_bounded};
use crate::problem::Problem;
use crate::risk::{Aim, Erm};

/// Aims of one pass. Fixed, so that results depend on nothing else; more would save little and slow every state down.
pub(crate) const PASS: usize = 8;

/// Solves one problem for aim after aim, and counts the work.
pub(crate) struct Passes<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    /// Whether there is room for policies.
    with_policies: bool,
    start: Start,
    /// If the objective is linear.
    linear: Option<Linear<'a>>,
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
    pub(super) fn new(problem: &'a Problem, limits: &'a Limits, start: Start) -> Result<Self, OracleError> {
        check_bounded(problem)?;
        Ok(Self {
            problem,
            limits,
            with_policies: false,
            start,
            linear: Linear::new(problem, limits),
            known: HashMap::new(),
            unfolded: None,
            transitions: 0,
            states: 0,
            solves: 0,
        })
    }

    /// For whole episodes.
    pub(crate) fn from_start(problem: &'a Problem, limits: &'a Limits) -> Result<Self, OracleError> {
        Self::new(problem, limits, Start::of(problem))
    }

    /// The same, for policies too.
    pub(super) fn with_policies(problem: &'a Problem, limits: &'a Limits) -> Result<Self, OracleError> {
        Ok(Self { with_policies: true, ..Self::from_start(problem, limits)? })
    }

    /// The optimum for an aim with its policy, for whole episodes.
    pub(super) fn inner(&mut self, aim: Aim) -> Result<Inner, OracleError> {
        let inner = if self.by_induction(&[aim]).is_some() {
            optimum(self.problem, aim, self.limits)?
        } else {
            self.unfolded()?.inner(aim)?
        };
        self.solves += 1;
        self.states += inner.states;
        Ok(inner)
    }

    fn unfolded(&mut self) -> Result<&Unfolded<'a>, OracleError> {
        if self.unfolded.is_none() {
            let policy_bytes = if self.with_policies { self.limits.policy_bytes } else { 0 };
            let limits = Limits { policy_bytes, ..self.limits.clone() };
            self.unfolded = Some(Unfolded::new(self.problem, &limits, &self.start)?);
        }
        self.unfolded.as_ref().ok_or(OracleError::Stopped)
    }

    /// The lowest possible entropic risks.
    pub(crate) fn lowest(&mut self, erms: &[Erm]) -> Result<Vec<f64>, OracleError> {
        let aims: Vec<Aim> = erms.iter().map(|&erm| erm.into()).collect();
        Ok(self.solve(&aims)?.into_iter().map(|optimum| optimum.value).collect())
    }

    /// All costs between these that an episode can end with, ascending, if they are known.
    pub(super) fn final_costs(&self, between: (f64, f64)) -> Option<Vec<f64>> {
        self.unfolded.as_ref()?.final_costs(between)
    }

    /// How far apart two costs can be, whatever the policy, if the objective is linear.
    pub(super) fn linear_range(&self) -> Result<Option<f64>, OracleError> {
        self.linear.as_ref().map(Linear::range).transpose()
    }

    /// The optimum of each aim; entropic risks of a linear cost by backward induction.
    pub(super) fn solve(&mut self, aims: &[Aim]) -> Result<Vec<Optimum>, OracleError> {
        self.optima(aims, true)
    }

    /// The optimal value of each aim, but for rounding.
    pub(super) fn values(&mut self, aims: &[Aim]) -> Result<Vec<f64>, OracleError> {
        if self.by_induction(aims).is_none() {
            return Ok(self.optima(aims, false)?.iter().map(|optimum| optimum.value).collect());
        }
        // Searches come back to the ends of their intervals.
        let bits = |aim: &Aim| aim.erm.beta().to_bits();
        let mut new: Vec<Aim> = aims.iter().filter(|aim| !self.known.contains_key(&bits(aim))).copied().collect();
        new.sort_by(|a, b| a.erm.beta().total_cmp(&b.erm.beta()));
        new.dedup_by_key(|aim| bits(aim));
        let optima = self.optima(&new, false)?;
        self.known.extend(new.iter().map(bits).zip(optima.iter().map(|optimum| optimum.value)));
        Ok(aims.iter().map(|aim| self.known[&bits(aim)]).collect())
    }

    fn optima(&mut self, aims: &[Aim], with_means: bool) -> Result<Vec<Optimum>, OracleError> {
        if let Some(linear) = self.by_induction(aims) {
            let solve = |aim: &Aim| linear.optimum(aim.erm, &self.start, with_means);
            let optima = aims.par_iter().map(solve).collect::<Result<_, _>>()?;
            let (solves, time) = (aims.len() as u64, self.start.time);
            let (states, transitions) = (linear.stages(time), linear.transitions(time));
            self.solves += solves;
            self.states += solves * states;
            self.transitions += solves * transitions;
            return Ok(optima);
        }
        let unfolded = self.unfolded()?;
        let (mut all, states) = (Vec::with_capacity(aims.len()), unfolded.states);
        for some in aims.chunks(PASS) {
            all.extend(match some.len() {
                1 => filled::<1>(unfolded, some, with_means)?,
                2 => filled::<2>(unfolded, some, with_means)?,
                3 | 4 => filled::<4>(unfolded, some, with_means)?,
                _ => filled::<PASS>(unfolded, some, with_means)?,
            });
        }
        self.solves += aims.len() as u64;
        self.states += states * aims.len().div_ceil(PASS) as u64;
        Ok(all)
    }

    /// The linear objective, if backward induction solves it for these aims.
    fn by_induction(&self, aims: &[Aim]) -> Option<&Linear<'a>> {
        self.linear.as_ref().filter(|_| aims.iter().all(Aim::is_entropic))
    }

    /// Transitions that one backward induction looks at.
    pub(super) fn transitions_of_induction(&self) -> u64 {
        self.linear.as_ref().map_or(0, |linear| linear.transitions(self.start.time))
    }
}

/// Solves at most `AIMS` aims in one pass. One with fewer is filled up; what fills it is not looked at.
fn filled<const AIMS: usize>(
    unfolded: &Unfolded<'_>,
    aims: &[Aim],
    with_means: bool,
) -> Result<Vec<Optimum>, OracleError> {
    let all = std::array::from_fn::<Aim, AIMS, _>(|k| aims[k.min(aims.len() - 1)]);
    Ok(unfolded.solve(all, with_means)?[..aims.len()].to_vec())
}
