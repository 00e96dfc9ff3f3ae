//! The occupancy MDP of a problem as an ordinary MDP with costs, which any solver of MDPs can minimise: a witness.
//!
//! All cost is paid in the last step, as x = h(f(φ)) − m for the h of a [`FixedRisk`] and the least m of all h(f). An entropic risk
//! becomes an expectation by c = (exp(βx) − 1)/β, which is x for β = 0: with v the lowest expected c, the lowest risk is
//! m + ln(1 + βv)/β. Up to a factor and a constant that is the expectation of exp(β(f − max f)), but v keeps its digits for every β: it is
//! never negative, always to be minimised, and an error by the part ε of v is one of at most ε·min(v, 1/β) in the risk where β > 0. For
//! β < 0 it is ε·v/(1 + βv), where 1 + βv is at least the highest probability with which h(f) = m can be attained.
//! Not here: solving it.

use std::fmt;

use super::occupancy_dp::{Limits, Strategy};
use super::reduced::Reduced;
use super::sweep::{Expanded, Sweep, Unfolding};
use super::unfolded::Start;
use super::{OracleError, check_bounded, check_stop, known_cost};
use crate::model::{Mdp, Pair};
use crate::problem::Problem;
use crate::risk::FixedRisk;

/// Costs up to this can be added up and multiplied by a horizon.
const LARGEST: f64 = 1e300;

/// A problem for one attitude to risk as an MDP whose expected total cost is to be minimised.
#[derive(Clone, Debug)]
pub struct OccupancyMdp {
    /// State 0 is called `start` and has one action, which leads to the initial states; all paths end in `done` and stay there. Actions
    /// that make no difference are left out.
    pub mdp: Mdp,
    /// A cost for each pair, 0 or more: only pairs that lead to `done` have one.
    pub costs: Vec<f64>,
    /// Steps from `start` to `done`.
    pub steps: usize,
    fixed: FixedRisk,
    beta: f64,
    least: f64,
}

impl OccupancyMdp {
    /// Unfolds a problem for a measure that needs no outer variable ([`Risk::fixed`](crate::Risk::fixed)) or has one that is fixed
    /// ([`Solution::fixed`](super::Solution::fixed)).
    ///
    /// ```
    /// use gumdp::oracle::{Limits, OccupancyMdp, solve};
    /// use gumdp::{Erm, Objective, Problem};
    /// let problem = gumdp_files::tasks::get("msee").unwrap().problem;
    /// let (erm, limits) = (Erm::new(5.0)?, Limits::default());
    /// let unfolded = OccupancyMdp::new(&problem, erm.into(), &limits)?;
    /// let linear = Problem::new(unfolded.mdp.clone(), Objective::linear(unfolded.costs.clone())?, 1.0, unfolded.steps)?;
    /// // The objective of a problem is an average over steps.
    /// let total = solve(&linear, Erm::MEAN, &limits)?.value * unfolded.steps as f64;
    /// assert!((unfolded.risk_of(total) - solve(&problem, erm, &limits)?.value).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are too many states, the objective is not finite, or the measure is no expectation that can be computed with.
    pub fn new(problem: &Problem, fixed: FixedRisk, limits: &Limits) -> Result<Self, OracleError> {
        check_bounded(problem)?;
        let beta = fixed.erm().beta();
        if !beta.is_finite() {
            return Err(OracleError::NoExpectation(format!(
                "{} at beta = {beta} looks at one outcome only",
                fixed.measure()
            )));
        }
        let start = Start::of(problem);
        let reduced = Reduced::new(problem, &start);
        let limits = Limits { policy_bytes: 0, strategy: Strategy::Merge, ..limits.clone() };
        let unfolding = Sweep { problem, reduced: &reduced, limits: &limits }.unfold(&start)?;
        let counted = final_costs(problem, &reduced, &unfolding, fixed)?;
        check_stop(&limits.stop)?;
        let (least, most) =
            counted.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &h| (low.min(h), high.max(h)));
        // Where costs are closer than rounding allows to tell, the risk is the mean.
        let beta = if (beta * (most - least)).abs() < f64::EPSILON { 0.0 } else { beta };
        let cost = |h: f64| if beta == 0.0 { h - least } else { (beta * (h - least)).exp_m1() / beta };
        if cost(most) > LARGEST {
            let (measure, range) = (fixed.measure(), most - least);
            return Err(OracleError::NoExpectation(format!(
                "{measure} takes exp({beta} (f - min f)), and f - min f is up to {range}, which overflows; take a lower beta"
            )));
        }
        let last = counted.into_iter().map(cost);
        let (mdp, costs) = assemble(problem, &reduced, &start, &unfolding, last)?;
        Ok(Self { mdp, costs, steps: problem.horizon() + 1, fixed, beta, least })
    }

    /// The lowest risk, from the lowest expected total cost.
    #[must_use]
    pub fn risk_of(&self, total: f64) -> f64 {
        let above = if self.beta == 0.0 { total } else { (self.beta * total).ln_1p() / self.beta };
        self.fixed.price() + self.least + above
    }
}

/// What the costs are, and how they tell the risk.
impl fmt::Display for OccupancyMdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fixed, beta, least, .. } = self;
        let offset = fixed.price() + least;
        let h = fixed.aim.terminal;
        if *beta == 0.0 {
            writeln!(f, "cost = {h} - m with m = {least:?}, the least that there is")?;
            write!(f, "lowest risk = {offset:?} + v")?;
        } else {
            writeln!(
                f,
                "cost = (exp(b ({h} - m)) - 1) / b with b = {beta:?} and m = {least:?}, the least that there is"
            )?;
            write!(f, "lowest risk = {offset:?} + ln(1 + b v) / b")?;
        }
        write!(f, ", which is {}", fixed.measure())?;
        fixed.outer().map_or(Ok(()), |outer| write!(f, " at {} = {:?}", outer.variable, outer.value))
    }
}

/// What each pair of the last step costs, for one state of the last level after the other.
fn final_costs(
    problem: &Problem,
    reduced: &Reduced,
    Unfolding { frontier, time, .. }: &Unfolding,
    fixed: FixedRisk,
) -> Result<Vec<f64>, OracleError> {
    let mut costs = Vec::new();
    for (number, &state) in frontier.states().iter().enumerate() {
        for &pair in reduced.last_pairs(state) {
            let mut features = frontier.features(number).to_vec();
            problem.gather(&mut features, *time, Pair(pair));
            costs.push(fixed.of_cost(known_cost(problem.objective().value_of_features(&features))));
        }
    }
    if costs.iter().all(|cost| cost.is_finite()) { Ok(costs) } else { Err(OracleError::NotFinite) }
}

/// The model and the cost of each pair, from those of the last step.
fn assemble(
    problem: &Problem,
    reduced: &Reduced,
    start: &Start,
    Unfolding { levels, frontier, .. }: &Unfolding,
    mut last: impl Iterator<Item = f64>,
) -> Result<(Mdp, Vec<f64>), OracleError> {
    let model = problem.mdp();
    let done = levels.states as usize + 1;
    let names = (0..=done).map(|number| match number {
        0 => "start".to_owned(),
        _ if number == done => "done".to_owned(),
        _ => format!("s{number}"),
    });
    let actions = (0..model.action_count() as u32).map(|action| model.action_name(action.into()).to_owned());
    let initial = start.outcomes.iter().zip(1_usize..).map(|(&(_, probability), number)| (number, probability));
    let mut builder = Mdp::named(names, actions).start(0).transition(0, 0, initial);
    let (mut costs, mut first) = (vec![0.0], 1);
    for Expanded { level, links, .. } in &levels.expanded {
        let next = first + level.len();
        let mut links = links.iter().map(|&link| next + link as usize);
        for (number, &state) in (first..).zip(level.states()) {
            for &choice in reduced.choices(state) {
                let successors = reduced.successors(choice).iter();
                // Links come first: a zip would take one that belongs to the next choice.
                let outcomes = successors.filter_map(|to| Some((links.next()?, to.probability)));
                builder = builder.transition(number, model.action(Pair(choice.pair)), outcomes);
                costs.push(0.0);
            }
        }
        first = next;
    }
    for (number, &state) in (first..).zip(frontier.states()) {
        for &pair in reduced.last_pairs(state) {
            builder = builder.transition(number, model.action(Pair(pair)), [(done, 1.0)]);
            costs.extend(last.next());
        }
    }
    costs.push(0.0);
    let built = builder.transition(done, 0, [(done, 1.0)]).build();
    // More pairs than a model can have.
    let mdp = built.map_err(|_| OracleError::TooLarge {
        reached: levels.states,
        projected: None,
        limit: u64::from(u32::MAX),
    })?;
    Ok((mdp, costs))
}
