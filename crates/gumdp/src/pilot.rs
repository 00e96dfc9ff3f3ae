//! The outer variable of a risk measure where it cannot be computed: chosen by pilot episodes before the first decision.
//!
//! A few values are tried, a fixed number of episodes each, and the one whose costs have the lowest risk is kept. Candidates for
//! λ are quantiles of the costs of a risk-neutral player, those for β a geometric grid around what a normal law of these costs
//! would ask for. Deterministic for a seed. Not here: the exact search ([`crate::oracle::minimise()`]).

use crate::experiment::experiment;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::risk::{Erm, FixedRisk, MeanCvar, Risk};
use crate::rng::{self, Purpose};
use crate::stats::quantile;

/// Episodes for each candidate.
const EPISODES: u64 = 32;
/// Quantiles of the risk-neutral costs that are tried as λ.
const QUANTILES: [f64; 5] = [0.1, 0.5, 0.75, 0.9, 1.0];
/// Multiples of the normal law's β that are tried.
const MULTIPLES: [f64; 5] = [0.25, 1.0, 4.0, 16.0, f64::INFINITY];

/// Fixes the outer variable of a measure, given who plays once it is fixed. Entropic measures have none, and nothing is
/// played for them.
///
/// ```
/// use gumdp::risk::FixedRisk;
/// use gumdp::{Budget, GuidedPlanner, GuidedSettings, Risk, fix_outer, tasks};
/// let problem = tasks::get("rooms").unwrap().problem;
/// let settings = GuidedSettings { budget: Budget::simulations(50), ..GuidedSettings::default() };
/// let risk: Risk = "cvar:0.9".parse()?;
/// let fixed = fix_outer(&problem, risk, 0, |fixed| GuidedPlanner::new(&problem, fixed, settings.clone()))?;
/// assert!(matches!(fixed, FixedRisk::Threshold { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of `player`.
pub fn fix_outer<P: Policy + Clone + Sync + Send, E>(
    problem: &Problem,
    risk: Risk,
    seed: u64,
    player: impl Fn(FixedRisk) -> Result<P, E>,
) -> Result<FixedRisk, E> {
    if let Some(erm) = risk.as_erm() {
        return Ok(erm.into());
    }
    let seed = rng::word(&mut rng::stream(seed, 0, Purpose::Pilot));
    let play = |fixed: FixedRisk| -> Result<Vec<f64>, E> {
        let policy = player(fixed)?;
        // A player that fails fails again in the real episodes, where it is reported.
        let runs = experiment(problem, || policy.clone(), seed, 0..EPISODES).unwrap_or_default();
        let mut costs: Vec<f64> = runs.iter().map(|run| run.episode.cost).collect();
        costs.sort_unstable_by(f64::total_cmp);
        Ok(costs)
    };
    let neutral = play(Erm::MEAN.into())?;
    let mut best: Option<(f64, FixedRisk)> = None;
    for candidate in candidates(risk, &neutral) {
        let value = risk.of_samples(&play(candidate)?).unwrap_or(f64::INFINITY);
        if best.is_none_or(|(lowest, _)| value < lowest) {
            best = Some((value, candidate));
        }
    }
    Ok(best.map_or(Erm::MEAN.into(), |(_, candidate)| candidate))
}

/// What is tried, given the sorted costs of a risk-neutral player.
fn candidates(risk: Risk, neutral: &[f64]) -> Vec<FixedRisk> {
    let thresholds = |measure: MeanCvar| {
        let mut lambdas = QUANTILES.map(|q| quantile(neutral, q)).to_vec();
        lambdas.dedup();
        lambdas.retain(|lambda| lambda.is_finite());
        lambdas.into_iter().map(|lambda| FixedRisk::Threshold { measure, lambda }).collect()
    };
    match risk {
        Risk::Erm(erm) => vec![erm.into()],
        Risk::Cvar(cvar) => thresholds(cvar.into()),
        Risk::MeanCvar(mixture) => thresholds(mixture),
        Risk::Evar(evar) => {
            let mean = Erm::MEAN.of_samples(neutral);
            let variance = neutral.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / neutral.len() as f64;
            // ERM_β of a normal law is mean + β·variance/2; without spread any β is as good.
            let usual = if variance > 0.0 { (2.0 * evar.price() / variance).sqrt() } else { 1.0 };
            let betas = MULTIPLES.iter().filter_map(|multiple| Erm::new(usual * multiple).ok());
            betas.map(FixedRisk::Erm).collect()
        }
    }
}
