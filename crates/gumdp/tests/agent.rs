//! What is played where the optimum can be computed is the optimum, and single exact decisions agree with it.

mod common;

use common::{OBJECTIVE_KINDS, Shape, generator, random_discount, random_mdp, random_objective, task};
use gumdp::oracle::{Limits, Method, OracleError, Strategy, decide, distribution, solve};
use gumdp::{
    Agent, AgentError, Erm, GuidedPlanner, GuidedSettings, OccupancyState, PlannerError, Policy, Problem, Spec, Who,
    experiment, rng,
};
use gumdp_files::tasks;

/// The built-in tasks that are too large to be solved.
const VAST: [&str; 3] = ["il", "grid-msee", "grid-il"];

fn auto(problem: &Problem, erm: Erm, limits: &Limits, settings: GuidedSettings) -> Result<Agent, AgentError> {
    Agent::new(problem, &Spec { limits: limits.clone(), ..Spec::new(Who::Auto(settings), erm) })
}

/// The optimum by other means than those of `auto`.
fn reference(problem: &Problem, erm: Erm) -> f64 {
    let merging = Limits { strategy: Strategy::Merge, ..Limits::default() };
    solve(problem, erm, &merging).unwrap().value
}

#[test]
fn every_task_that_can_be_solved_is_played_optimally() {
    for name in tasks::NAMES {
        let task = tasks::get(name).unwrap();
        for &beta in &task.defaults.betas {
            let erm = Erm::new(beta).unwrap();
            let auto = auto(&task.problem, erm, &Limits::QUICK, GuidedSettings::default()).unwrap();
            let Some(solution) = auto.solution() else {
                assert!(VAST.contains(&name), "{name}: {}", auto.what());
                // What is too large for one β is too large for all.
                break;
            };
            assert!(!VAST.contains(&name));
            let found = distribution(&task.problem, &solution.policy(), &Limits::default()).unwrap();
            let (played, best) = (found.erm(erm), reference(&task.problem, erm));
            assert!((played - best).abs() < 1e-9, "{name}, beta {beta}: {played} is played, {best} is possible");
            assert!((solution.high - best).abs() < 1e-9 && (solution.mean - found.mean()).abs() < 1e-9);
            // Every episode that is played is one of the distribution's.
            for run in experiment(&task.problem, auto.policy(), 0, 0..20).unwrap() {
                let cost = run.episode.cost;
                assert!(found.values().binary_search_by(|value| value.total_cmp(&cost)).is_ok(), "{name}: {cost}");
                assert_eq!(run.simulated_steps, 0);
            }
        }
    }
}

#[test]
fn it_says_what_it_does() {
    let text = |name: &str, limits: &Limits| {
        auto(&task(name), Erm::MEAN, limits, GuidedSettings::default()).unwrap().what().to_owned()
    };
    assert_eq!(text("mdp", &Limits::QUICK), "solved exactly by backward induction, 80 states");
    assert_eq!(text("grid-mo", &Limits::QUICK), "solved exactly, 5358 occupancy states");
    let vast = "too large to solve (more than 20000000 occupancy states), planning: ";
    for name in VAST {
        let said = text(name, &Limits::QUICK);
        assert!(said.strip_prefix(vast).is_some_and(|manner| !manner.is_empty()), "{name}: {said}");
    }
    let tight = Limits { max_states: 79, max_bytes: 1 << 20, ..Limits::QUICK };
    assert_eq!(
        text("mdp", &tight),
        "too large to solve (more than 79 occupancy states), planning: backward induction, 76 nodes"
    );
    let narrow = Limits { max_bytes: 1 << 20, ..Limits::QUICK };
    let msee = text("msee", &narrow);
    assert!(
        msee.starts_with("too large to solve (more than 1 MiB of memory), planning: lattice of 4 features"),
        "{msee}"
    );
    let wrong = GuidedSettings { rollouts: 0, ..GuidedSettings::default() };
    let refused = auto(&task("il"), Erm::MEAN, &tight, wrong.clone()).err();
    assert_eq!(refused, Some(AgentError::Planner(PlannerError::Rollouts)));
    assert!(auto(&task("mdp"), Erm::MEAN, &Limits::QUICK, wrong).is_ok(), "no planner, no settings");
}

#[test]
fn planning_is_what_the_planner_does() {
    let problem = task("il").with_horizon(12).unwrap();
    let (erm, settings) = (Erm::new(40.0).unwrap(), GuidedSettings::default());
    let tight = Limits { max_states: 100, ..Limits::QUICK };
    let auto = auto(&problem, erm, &tight, settings.clone()).unwrap();
    assert!(
        auto.what().starts_with("too large to solve (more than 100 occupancy states), planning: "),
        "{}",
        auto.what()
    );
    let runs = experiment(&problem, auto.policy(), 3, 0..4).unwrap();
    let planner = GuidedPlanner::new(&problem, erm, settings).unwrap();
    assert_eq!(runs, experiment(&problem, &planner, 3, 0..4).unwrap());
}

#[test]
fn the_suitable_solver_gives_the_same_optimum() {
    let shape = Shape { states: 5, actions: 2, successors: 2, initial: 2 };
    for number in 0..4 * OBJECTIVE_KINDS {
        let mut rng = generator(8, number as u64);
        let mdp = random_mdp(shape, &mut rng);
        let kind = number % OBJECTIVE_KINDS;
        let objective = random_objective(&mdp, kind, &mut rng);
        let problem = Problem::new(mdp, objective, random_discount(&mut rng), 4).unwrap();
        let erm = Erm::new(2.0).unwrap();
        let mixed = Limits { strategy: Strategy::Mixed, ..Limits::default() };
        let (best, general) = (solve(&problem, erm, &Limits::QUICK).unwrap(), solve(&problem, erm, &mixed).unwrap());
        let linear = common::LINEAR_KINDS.contains(&kind);
        assert_eq!(best.method == Method::BackwardInduction, linear, "kind {kind}");
        assert!((best.value - general.value).abs() < 1e-12 && (best.mean - general.mean).abs() < 1e-9);
        let policy = best.policy();
        assert_eq!(policy.problem().unwrap().horizon(), 4);
        let found = distribution(&problem, &policy, &Limits::default()).unwrap();
        assert!((found.erm(erm) - best.value).abs() < 1e-12);
    }
}

#[test]
fn exact_decisions_follow_from_those_one_step_later() {
    let shape = Shape { states: 4, actions: 3, successors: 3, initial: 1 };
    let betas = [f64::NEG_INFINITY, -3.0, 0.0, 5.0, f64::INFINITY];
    for number in 0..6 * OBJECTIVE_KINDS {
        let mut rng = generator(9, number as u64);
        let mdp = random_mdp(shape, &mut rng);
        let objective = random_objective(&mdp, number % OBJECTIVE_KINDS, &mut rng);
        let horizon = 1 + number % 5;
        let problem = Problem::new(mdp, objective, random_discount(&mut rng), horizon).unwrap();
        let mdp = problem.mdp();
        let erm = Erm::new(betas[number % betas.len()]).unwrap();
        let exact = |at: &OccupancyState| decide(&problem, erm, at, &Limits::QUICK).unwrap();
        let lowest =
            |at: &OccupancyState| exact(at).reasons.iter().map(|reason| reason.value).fold(f64::INFINITY, f64::min);
        let mut at = problem.start(mdp.sample_initial(&mut rng));
        assert!((lowest(&at) - solve(&problem, erm, &Limits::QUICK).unwrap().value).abs() < 1e-11);
        let policy = solve(&problem, erm, &Limits::QUICK).unwrap().policy();
        while at.time < horizon {
            let decision = exact(&at);
            let pairs: Vec<u32> = mdp.pairs(at.state).collect();
            assert_eq!(decision.reasons.len(), pairs.len());
            for (&pair, reason) in pairs.iter().zip(&decision.reasons) {
                assert_eq!(reason.action, mdp.action(pair.into()));
                let outcomes: Vec<(f64, f64)> = mdp
                    .successors(pair.into())
                    .map(|(next, probability)| {
                        let mut after = at.clone();
                        problem.advance(&mut after, pair.into(), next);
                        let value = if after.time == horizon { problem.cost(&after) } else { lowest(&after) };
                        (value, probability)
                    })
                    .collect();
                let expected = erm.of_distribution(&outcomes);
                assert!((reason.value - expected).abs() < 1e-11, "problem {number}: {} {expected}", reason.value);
            }
            let reason = |action| decision.reasons.iter().find(|reason| reason.action == action).unwrap().value;
            let played = mdp.action(policy.best(&at));
            assert!((reason(played) - reason(decision.action)).abs() < 1e-11, "problem {number}");
            let pair = pairs[rng::below(&mut rng, pairs.len() as u32) as usize].into();
            problem.advance(&mut at, pair, mdp.sample(pair, &mut rng));
        }
    }
}

#[test]
fn decisions_beyond_the_limits_are_refused() {
    let tight = Limits { max_states: 100, ..Limits::QUICK };
    for name in ["mdp", "msee"] {
        // 4 states of the linear task, for 26 steps.
        let problem = if name == "mdp" { task(name).with_horizon(26).unwrap() } else { task(name) };
        let start = problem.start(problem.mdp().initial()[0].0);
        let error = decide(&problem, Erm::MEAN, &start, &tight).unwrap_err();
        assert!(matches!(error, OracleError::TooLarge { limit: 100, projected: Some(_), .. }), "{error:?}");
    }
}
