//! Which levels to look at if nobody says.

use crate::experiment::Experiment;
use crate::oracle::{Limits, OracleError, distribution, solve};
use crate::policy::Uniform;
use crate::problem::Problem;
use crate::risk::{Erm, Form, Risk, Swept};
use crate::words::rounded;

/// Levels of β that are neither 0 nor infinite.
const BETAS: usize = 24;
/// Their range, as multiples of one over the spread of the cost.
const RANGE: [f64; 2] = [0.1, 1000.0];
/// Levels if the planner plays, which takes long.
const SAMPLED: usize = 6;
/// Episodes that tell the spread of the cost if it cannot be computed.
const EPISODES: u64 = 256;

/// The measures to sweep, in the order in which they should be solved: those of the task itself, then a grid of growing aversion:
/// levels from 0 to 0.99; β from 0 to ∞ over the range given, or around one over the spread of the costs that are met if the mean is
/// lowest; costs from the best to the worst case.
///
/// # Errors
/// If the problem is too large to be solved, or to know the distribution of its costs.
pub fn usual(
    problem: &Problem,
    form: &Form,
    own: &[Risk],
    betas: Option<[f64; 2]>,
    limits: &Limits,
) -> Result<Vec<Risk>, OracleError> {
    let (low, high) = match form.sweep.map(|sweep| sweep.over) {
        Some(Swept::Cost) => {
            let of = |erm: Erm| solve(problem, erm, limits).map(|solution| solution.value);
            (of(Erm::BEST)?, of(Erm::WORST)?)
        }
        Some(Swept::Beta) if betas.is_none() => {
            let costs = distribution(problem, &solve(problem, Erm::MEAN, limits)?.policy(), &limits.of_distribution())?;
            (costs.min(), costs.max())
        }
        _ => (0.0, 1.0),
    };
    Ok(grid(form, own, betas, (low, high)))
}

/// Entropic risks from the best case through the mean to the worst, in the order in which they should be solved: the mean and both
/// ends, then those of the task itself, then `count` in all, far apart first, so that what is known after some of them is an outline
/// of the rest. β are spaced as in [`usual()`], on both sides of 0.
///
/// ```
/// use gumdp::frontier::attitudes;
/// use gumdp::oracle::Limits;
/// use gumdp::{Erm, Risk};
/// let problem = gumdp_files::tasks::get("grid-mo").unwrap().problem;
/// let risks = attitudes(&problem, &[], 64, &Limits::QUICK)?;
/// assert_eq!(risks[..3], [Risk::MEAN, Risk::WORST, Erm::BEST.into()]);
/// assert_eq!(risks.len(), 64);
/// # Ok::<(), gumdp::oracle::OracleError>(())
/// ```
///
/// # Errors
/// Those of [`usual()`].
pub fn attitudes(problem: &Problem, own: &[Risk], count: usize, limits: &Limits) -> Result<Vec<Risk>, OracleError> {
    let costs = distribution(problem, &solve(problem, Erm::MEAN, limits)?.policy(), &limits.of_distribution())?;
    let range = scaled([costs.min(), costs.max()]);
    let ends = [Risk::MEAN, Risk::WORST, Erm::BEST.into()];
    let own = own.iter().copied().filter(|risk| risk.beta().is_some());
    let first = distinct(ends.into_iter().chain(own));
    // More of the averse side, where there is more to see.
    let left = count.saturating_sub(first.len());
    let (loving, averse) = (left * 3 / 8, left - left * 3 / 8);
    let side = |sign: f64, many: usize| (0..many).map(move |k| Erm::new(sign * beta(range, k, many)));
    let grid: Vec<Risk> = side(-1.0, loving).rev().chain(side(1.0, averse)).flatten().map(Risk::from).collect();
    Ok(distinct(first.into_iter().chain(far_apart_first(grid))))
}

/// The same risks in another order, far apart first, so that what is known after some of them is an outline of the rest.
#[must_use]
pub fn far_apart_first(mut risks: Vec<Risk>) -> Vec<Risk> {
    let mut all = Vec::with_capacity(risks.len());
    for step in [16, 8, 4, 2, 1] {
        let (now, later) = risks.iter().enumerate().partition::<Vec<_>, _>(|(place, _)| place % step == step / 2);
        all.extend(now.into_iter().map(|(_, risk)| *risk));
        risks = later.into_iter().map(|(_, risk)| *risk).collect();
    }
    all
}

/// The range of β for costs between these. If every cost is the same, no β is better than another.
fn scaled([low, high]: [f64; 2]) -> [f64; 2] {
    let spread = Some(high - low).filter(|spread| spread.is_finite() && *spread > 0.0).unwrap_or(1.0);
    RANGE.map(|share| share / spread)
}

/// The β with this number of so many over a range. Three digits are easier to ask for again than seventeen.
fn beta(range: [f64; 2], number: usize, of: usize) -> f64 {
    let [low, high] = range.map(|beta| beta.clamp(1e-300, 1e300));
    let beta = low * (high / low).powf(number as f64 / of.saturating_sub(1).max(1) as f64);
    format!("{beta:.2e}").parse().unwrap_or(beta)
}

/// Some levels, ascending, where costs are sampled: from the first to the last of the grid, and those of the task. The costs that are
/// met are those of random actions.
#[must_use]
pub fn few(problem: &Problem, form: &Form, own: &[Risk], betas: Option<[f64; 2]>) -> Vec<Risk> {
    let uniform = Uniform::new(problem);
    let mut met = Vec::new();
    // What could not be played tells nothing.
    let played = Experiment::new(problem, &uniform, 0).play(0..EPISODES, |record| met.push(record.cost));
    let met = met.into_iter().filter(|_| played.is_ok());
    let met = met.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cost| (cost.min(low), cost.max(high)));
    let all = grid(form, &[], betas, met);
    let own = own.iter().copied().filter(|risk| is_of(form, *risk)).collect::<Vec<_>>();
    let some = SAMPLED.saturating_sub(own.len()).max(2);
    let spaced = (0..some).filter_map(|k| all.get(k * all.len().saturating_sub(1) / (some - 1)).copied());
    let mut risks = distinct(own.into_iter().chain(spaced));
    let level = |risk: &Risk| risk.swept().map_or(f64::NAN, |(_, level)| level);
    risks.sort_by(|a, b| level(a).total_cmp(&level(b)));
    risks
}

fn grid(form: &Form, own: &[Risk], betas: Option<[f64; 2]>, (low, high): (f64, f64)) -> Vec<Risk> {
    let levels: Vec<f64> = match form.sweep.map(|sweep| sweep.over) {
        Some(Swept::Level) => (0..20).map(|k| f64::from(k) / 20.0).chain([0.99]).collect(),
        Some(Swept::Cost) => (0..=20).map(|k| rounded(low + (high - low) * f64::from(k) / 20.0)).collect(),
        _ => {
            let range = betas.unwrap_or_else(|| scaled([low, high]));
            std::iter::once(0.0).chain((0..BETAS).map(|k| beta(range, k, BETAS))).chain([f64::INFINITY]).collect()
        }
    };
    let grid = levels.into_iter().filter_map(|level| form.at(level).ok());
    distinct(own.iter().copied().filter(|risk| is_of(form, *risk)).chain(grid))
}

fn is_of(form: &Form, risk: Risk) -> bool {
    risk.swept().is_some_and(|(own, _)| own.name == form.name)
}

fn distinct(risks: impl Iterator<Item = Risk>) -> Vec<Risk> {
    risks.fold(Vec::new(), |mut all, risk| {
        if !all.contains(&risk) {
            all.push(risk);
        }
        all
    })
}
