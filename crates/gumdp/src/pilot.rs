//! The outer variable of a risk measure where it cannot be computed: chosen by pilot episodes before the first decision.
//!
//! Players with six entropic attitudes to risk, from neutral to the worst case, play first. The law of each one's costs asks for
//! a λ or β of its own; players with these play next, and with three λ between the lowest and the highest cost met. The three with the lowest risk play on, and the best of them is kept: so
//! a plain entropic attitude is kept where no λ does better. All meet the same luck, so that equal players have equal costs.
//! Deterministic for a seed. Not here: the exact search ([`crate::oracle::minimise()`]).

use crate::experiment::experiment;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::risk::{Erm, FixedRisk, Risk, Tail};
use crate::rng::{self, Purpose};

/// Episodes for each candidate.
const EPISODES: u64 = 32;
/// Candidates that play on, and how many episodes they play then.
const FINALISTS: usize = 3;
const FINAL_EPISODES: u64 = 128;
/// Where λ is tried between the lowest and the highest cost met: the best may be one that no entropic attitude asks for.
const THRESHOLDS: [f64; 3] = [0.25, 0.5, 0.75];
/// Entropic attitudes: β times the spread of risk-neutral costs.
const ATTITUDES: [f64; 4] = [1.0, 3.0, 10.0, 30.0];

/// Fixes the outer variable of a measure, given who plays once it is fixed. Entropic measures have none, and nothing is
/// played for them.
///
/// ```
/// use gumdp::{Budget, GuidedPlanner, GuidedSettings, Risk, fix_outer, tasks};
/// let problem = tasks::get("rooms").unwrap().problem;
/// let settings = GuidedSettings { budget: Budget::simulations(50), ..GuidedSettings::default() };
/// let risk: Risk = "cvar:0.9".parse()?;
/// let fixed = fix_outer(&problem, risk, 0, |fixed| GuidedPlanner::new(&problem, fixed, settings.clone()))?;
/// // The same seed gives the same answer.
/// assert_eq!(fixed, fix_outer(&problem, risk, 0, |fixed| GuidedPlanner::new(&problem, fixed, settings.clone()))?);
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
    let play = |fixed: FixedRisk, episodes: u64| -> Result<Vec<f64>, E> {
        let policy = player(fixed)?;
        // A player that fails fails again in the real episodes, where it is reported.
        let runs = experiment(problem, || policy.clone(), seed, 0..episodes).unwrap_or_default();
        Ok(runs.iter().map(|run| run.episode.cost).collect())
    };
    let estimate = |costs: &[f64]| risk.of_samples(costs).unwrap_or(f64::INFINITY);
    let neutral = play(Erm::MEAN.into(), EPISODES)?;
    let mut asked_for: Vec<FixedRisk> = best_outer(risk, &neutral).into_iter().collect();
    let mut tried = vec![(estimate(&neutral), FixedRisk::from(Erm::MEAN))];
    let mut range = extent(&neutral);
    for attitude in attitudes(&neutral) {
        let costs = play(attitude, EPISODES)?;
        let (low, high) = extent(&costs);
        range = (range.0.min(low), range.1.max(high));
        tried.push((estimate(&costs), attitude));
        asked_for.extend(best_outer(risk, &costs));
    }
    asked_for.extend(thresholds(risk, range));
    for candidate in asked_for {
        if tried.iter().all(|&(_, known)| known != candidate) {
            tried.push((estimate(&play(candidate, EPISODES)?), candidate));
        }
    }
    // The sort is stable: among equals an entropic attitude is kept.
    tried.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    tried.truncate(FINALISTS);
    for (value, candidate) in &mut tried {
        *value = estimate(&play(*candidate, FINAL_EPISODES)?);
    }
    let best = tried.iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
    Ok(best.map_or(Erm::MEAN.into(), |&(_, candidate)| candidate))
}

/// Entropic attitudes that are worth a try besides the neutral one, given its costs.
fn attitudes(neutral: &[f64]) -> Vec<FixedRisk> {
    let (lowest, highest) = extent(neutral);
    let spread = highest - lowest;
    let finite = ATTITUDES.iter().filter(|_| spread > 0.0).filter_map(|attitude| Erm::new(attitude / spread).ok());
    finite.chain([Erm::WORST]).map(FixedRisk::Erm).collect()
}

/// The lowest and the highest cost.
fn extent(costs: &[f64]) -> (f64, f64) {
    let highest = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (costs.iter().copied().fold(f64::INFINITY, f64::min), highest)
}

/// The measure at thresholds between two costs, if it has one.
fn thresholds(risk: Risk, (low, high): (f64, f64)) -> Vec<FixedRisk> {
    let measure = match risk {
        Risk::Cvar(cvar) => cvar.into(),
        Risk::MeanCvar(mixture) => mixture,
        Risk::Erm(_) | Risk::Evar(_) => return Vec::new(),
    };
    let between = THRESHOLDS.into_iter().filter(|_| high > low && (high - low).is_finite());
    between.map(|share| FixedRisk::Threshold { measure, lambda: low + share * (high - low) }).collect()
}

/// The measure at the outer variable that is best for the law of these costs.
fn best_outer(risk: Risk, costs: &[f64]) -> Option<FixedRisk> {
    let law = Tail::new(costs.iter().map(|&cost| (cost, 1.0))).ok()?;
    let measure = match risk {
        Risk::Erm(erm) => return Some(erm.into()),
        Risk::Evar(evar) => return Erm::new(evar.of_tail(&law).1).ok().map(FixedRisk::Erm),
        Risk::Cvar(cvar) => cvar.into(),
        Risk::MeanCvar(mixture) => mixture,
    };
    Some(FixedRisk::Threshold { measure, lambda: law.value_at_risk(measure.level()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guided::{GuidedPlanner, GuidedSettings};
    use crate::oracle::{Limits, minimise};
    use crate::{Budget, tasks};

    /// A coarse bar, a tenth of the range of costs, that a wrong choice of the variable misses on `rooms`. Seeds are fixed.
    #[test]
    fn the_kept_variable_is_nearly_the_best() {
        for (name, measure) in [("rooms", "cvar:0.95"), ("rooms", "evar:0.9"), ("msee", "cvar:0.95")] {
            let problem = tasks::get(name).unwrap().problem;
            let risk: Risk = measure.parse().unwrap();
            let settings = GuidedSettings { budget: Budget::simulations(50), ..GuidedSettings::default() };
            let player = |fixed| GuidedPlanner::new(&problem, fixed, settings.clone());
            let fixed = fix_outer(&problem, risk, 1, player).unwrap();
            let policy = player(fixed).unwrap();
            let runs = experiment(&problem, || policy.clone(), 2, 0..400).unwrap();
            let costs: Vec<f64> = runs.iter().map(|run| run.episode.cost).collect();
            let (played, best) = (risk.of_samples(&costs).unwrap(), minimise(&problem, risk, &Limits::QUICK).unwrap());
            let bounds = problem.objective().bounds();
            assert!(
                played <= best.high + 0.1 * (bounds.high - bounds.low),
                "{name} {measure}: {fixed} {played} {}",
                best.high
            );
        }
    }

    /// The coin costs 0.4 in the mean and 0.8 in the worse half, the sure thing 0.55: only a measure of the tail asks for that.
    #[test]
    fn a_threshold_changes_the_first_action_and_threads_change_nothing() {
        let mdp = crate::Mdp::named(["start", "nothing", "sure", "much"], ["pay", "toss"])
            .start("start")
            .transition("start", "pay", [("sure", 1.0)])
            .transition("start", "toss", [("nothing", 0.6), ("much", 0.4)])
            .transition("nothing", "pay", [("nothing", 1.0)])
            .transition("sure", "pay", [("sure", 1.0)])
            .transition("much", "pay", [("much", 1.0)])
            .build()
            .unwrap();
        let objective = crate::Objective::linear(mdp.by_state(&[0.0, 0.0, 1.1, 2.0]).unwrap()).unwrap();
        let problem = Problem::new(mdp, objective, 1.0, 2).unwrap();
        let settings = GuidedSettings { budget: Budget::simulations(200), ..GuidedSettings::default() };
        let player = |fixed| GuidedPlanner::new(&problem, fixed, settings.clone());
        let start = problem.start(problem.mdp().initial()[0].0);
        for (measure, action) in [("mean", "toss"), ("cvar:0.5", "pay"), ("evar:0.9", "pay")] {
            let risk: Risk = measure.parse().unwrap();
            let fixed_by = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| fix_outer(&problem, risk, 3, player).unwrap())
            };
            let fixed = fixed_by(1);
            assert_eq!(fixed, fixed_by(4), "{measure}");
            let mut planner = player(fixed).unwrap();
            planner.begin_episode();
            let chosen = planner.act(&start, &mut rng::stream(5, 0, Purpose::Policy));
            assert_eq!(problem.mdp().action_name(chosen), action, "{measure}: {fixed}");
        }
    }

    /// Three lotteries. Entropic attitudes choose the first (mean 0.3) or the sure cost of 0.42; `CVaR` at 0.5 is 0.6, 0.42 and, for the
    /// second, 0.394, since it does not mind a rare large cost more than its mean. Only a threshold near 0.3 finds that.
    #[test]
    fn a_threshold_is_kept_where_no_entropic_attitude_will_do() {
        let mdp = crate::Mdp::sized(6, 3)
            .start(0)
            .transition(0, 0, [(1, 0.7), (2, 0.3)])
            .transition(0, 1, [(3, 0.99), (4, 0.01)])
            .transition(0, 2, [(5, 1.0)]);
        let mdp = (1..6).fold(mdp, |mdp, state| mdp.transition(state, 0, [(state, 1.0)])).build().unwrap();
        let costs = mdp.by_state(&[0.0, 0.0, 2.0, 0.6, 10.0, 0.84]).unwrap();
        let problem = Problem::new(mdp, crate::Objective::linear(costs).unwrap(), 1.0, 2).unwrap();
        let settings = GuidedSettings { budget: Budget::simulations(2000), ..GuidedSettings::default() };
        let player = |fixed| GuidedPlanner::new(&problem, fixed, settings.clone());
        let start = problem.start(problem.mdp().initial()[0].0);
        let first = |fixed: FixedRisk| {
            let mut planner = player(fixed).unwrap();
            planner.begin_episode();
            planner.act(&start, &mut rng::stream(5, 0, Purpose::Policy)).index()
        };
        let fixed = fix_outer(&problem, "cvar:0.5".parse().unwrap(), 3, player).unwrap();
        assert!(matches!(fixed, FixedRisk::Threshold { .. }), "{fixed}");
        assert_eq!((first(fixed), first(Erm::MEAN.into()), first(Erm::WORST.into())), (1, 0, 2));
        let exact = minimise(&problem, "cvar:0.5".parse().unwrap(), &Limits::QUICK).unwrap();
        assert!((exact.high - 0.394).abs() < 1e-9);
    }

    #[test]
    fn attitudes_are_few_and_need_a_spread() {
        assert_eq!(attitudes(&[1.0, 1.0]), [FixedRisk::Erm(Erm::WORST)]);
        assert_eq!(attitudes(&[1.0, 3.0]).len(), 5);
        assert_eq!(attitudes(&[]), [FixedRisk::Erm(Erm::WORST)]);
        let risk: Risk = "cvar:0.5".parse().unwrap();
        assert!(best_outer(risk, &[]).is_none());
        let Some(FixedRisk::Threshold { lambda, .. }) = best_outer(risk, &[4.0, 1.0, 2.0, 3.0]) else { panic!() };
        assert!((2.0..=3.0).contains(&lambda));
        let worst = best_outer("evar:0.5".parse().unwrap(), &[0.0, 1.0]);
        assert_eq!(worst, Some(FixedRisk::Erm(Erm::WORST)));
    }
}
