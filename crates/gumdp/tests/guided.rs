//! The guided planner: exact where it can be, deterministic, no allocation, and better than the published one at the same
//! number of simulations.

mod common;

use common::{OBJECTIVE_KINDS, Shape, generator, random_discount, random_mdp, random_objective, task};
use gumdp::oracle::{Limits, decide};
use gumdp::rng::{self, Purpose};
use gumdp::stats::Summary;
use gumdp::{
    Budget, Erm, GuidedPlanner, GuidedSettings, PlannerError, PlannerSettings, Policy, Problem, StopReason, experiment,
    run, tasks,
};

fn settings(simulations: u64) -> GuidedSettings {
    GuidedSettings { budget: Budget::simulations(simulations), ..GuidedSettings::default() }
}

/// With enough simulations the tree of a small problem is solved: every action then has its exact risk.
#[test]
fn a_solved_tree_is_the_exact_answer() {
    let shape = Shape { states: 4, actions: 3, successors: 3, initial: 1 };
    let betas = [f64::NEG_INFINITY, -3.0, 0.0, 0.1, 5.0, 200.0, f64::INFINITY];
    let mut solved = 0;
    for number in 0..8 * OBJECTIVE_KINDS {
        let mut rng = generator(21, number as u64);
        let mdp = random_mdp(shape, &mut rng);
        let objective = random_objective(&mdp, number % OBJECTIVE_KINDS, &mut rng);
        let problem = Problem::new(mdp, objective, random_discount(&mut rng), 3).unwrap();
        let erm = Erm::new(betas[number % betas.len()]).unwrap();
        let at = problem.start(problem.mdp().initial()[0].0);
        let mut planner = GuidedPlanner::new(&problem, erm, settings(200_000)).unwrap();
        let decision = planner.decide(&at, &mut rng);
        let exact = decide(&problem, erm, &at, &Limits::default()).unwrap();
        let optimum = exact.reasons.iter().map(|reason| reason.erm).fold(f64::INFINITY, f64::min);
        // Values are backed up with an error below 1e-7 of their spread.
        assert!((decision.root_estimate - optimum).abs() < 1e-5, "problem {number}: {decision:?}, {exact:?}");
        let played = exact.reasons.iter().find(|reason| reason.action == decision.action).unwrap();
        assert!(played.erm < optimum + 1e-5, "problem {number}");
        if decision.stopped == StopReason::Solved {
            solved += 1;
            for (reason, exact) in decision.reasons.iter().zip(&exact.reasons) {
                assert!((reason.erm - exact.erm).abs() < 1e-5, "problem {number}");
            }
        } else {
            assert_eq!(decision.stopped, StopReason::Marginal);
        }
    }
    assert!(solved > 60, "{solved} problems were solved by search");
}

/// Ten times and a hundred times the simulations bring the played risk to the optimum. Means of 400 and 60 runs: the
/// tolerances are four standard errors and more, which chance exceeds once in 30 000 tests.
#[test]
fn more_simulations_approach_the_optimum() {
    for (name, beta, optimum, tolerance) in [("msee", 25.0, 0.384_439, 0.004), ("mo-max", 10.0, 0.005_608, 0.006)] {
        let (problem, erm) = (task(name), Erm::new(beta).unwrap());
        let risk = |simulations, runs| {
            let planner = GuidedPlanner::new(&problem, erm, settings(simulations)).unwrap();
            let runs = experiment(&problem, || planner.clone(), 0, 0..runs).unwrap();
            Summary::of(&runs.iter().map(|run| run.episode.cost).collect::<Vec<_>>(), erm, 0).unwrap().erm
        };
        let (few, many) = (risk(500, 400), risk(20_000, 60));
        assert!(few < optimum + 0.012 && many < optimum + tolerance, "{name}: {few}, {many}, optimum {optimum}");
    }
}

/// At the paper's number of simulations, on tasks of each kind. 40 runs; the differences are many standard errors.
#[test]
fn it_beats_the_published_planner() {
    for (name, beta, published) in [("grid-il", 1.0, 0.09), ("grid-mo", 1.0, 0.15), ("msee", 50.0, 0.45)] {
        let (problem, erm) = (task(name), Erm::new(beta).unwrap());
        let planner =
            GuidedPlanner::new(&problem, erm, settings(tasks::get(name).unwrap().defaults.simulations)).unwrap();
        let runs = experiment(&problem, || planner.clone(), 1, 0..40).unwrap();
        let mean = runs.iter().map(|run| run.episode.cost).sum::<f64>() / 40.0;
        assert!(mean < 0.9 * published, "{name}: {mean}");
    }
}

#[test]
fn same_seed_same_bits_for_any_number_of_threads() {
    let (problem, erm) = (task("il"), Erm::new(40.0).unwrap());
    let planner = GuidedPlanner::new(&problem, erm, settings(200)).unwrap();
    let play = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| experiment(&problem, || planner.clone(), 5, 0..6).unwrap())
    };
    assert_eq!(play(1), play(4));
    // A planner that has played other episodes before plays the same.
    let mut used = planner.clone();
    let _ = run(&problem, &mut used, 9, 0).unwrap();
    assert_eq!(run(&problem, &mut used, 5, 3).unwrap().episode, play(1)[3].episode);
}

#[test]
fn simulations_allocate_nothing_in_steady_state() {
    let (problem, erm) = (task("il"), Erm::new(40.0).unwrap());
    let mut planner = GuidedPlanner::new(&problem, erm, settings(300)).unwrap();
    let episode = |planner: &mut GuidedPlanner| run(&problem, planner, 0, 0).unwrap();
    // Two vectors take turns, so it takes two episodes until both are large enough.
    for _ in 0..2 {
        let _ = episode(&mut planner);
    }
    let allocated = allocation_counter::measure(|| {
        let _ = episode(&mut planner);
    });
    // The episode itself allocates its features and its path.
    assert_eq!(allocated.count_total, 2);
}

#[test]
fn reasons_say_what_was_searched() {
    let (problem, erm) = (task("msee"), Erm::new(25.0).unwrap());
    let start = problem.start(problem.mdp().initial()[0].0);
    let mut rng = rng::stream(0, 0, Purpose::Policy);
    let mut planner = GuidedPlanner::new(&problem, erm, settings(500)).unwrap();
    let decision = planner.decide(&start, &mut rng);
    assert_eq!((decision.stopped, decision.simulations), (StopReason::Simulations, 500));
    assert_eq!(decision.reasons.iter().map(|reason| reason.visits).sum::<u64>(), 500);
    assert_eq!(decision.simulated_steps, 500 * 20);

    // Beyond reach nothing is simulated, and a linear objective needs no search.
    let never = GuidedSettings { reach: 0.0, ..settings(500) };
    for problem in [problem, task("mdp")] {
        let mut planner = GuidedPlanner::new(&problem, erm, never.clone()).unwrap();
        let start = problem.start(problem.mdp().initial()[0].0);
        let decision = planner.decide(&start, &mut rng);
        assert_eq!((decision.stopped, decision.simulations), (StopReason::Marginal, 0));
        assert!(decision.reasons.iter().all(|reason| reason.erm.is_finite() && reason.visits == 0));
        assert_eq!(planner.simulated_steps(), 0);
    }
}

#[test]
fn a_time_limit_ends_the_search() {
    let problem = task("il");
    let budget = Budget::time(std::time::Duration::from_millis(5));
    let settings = GuidedSettings { budget, ..GuidedSettings::default() };
    let mut planner = GuidedPlanner::new(&problem, Erm::MEAN, settings).unwrap();
    let start = problem.start(problem.mdp().initial()[0].0);
    let decision = planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy));
    assert_eq!(decision.stopped, StopReason::TimeLimit);
    assert!(decision.simulations > 0);
}

#[test]
fn settings_out_of_range_are_refused() {
    let problem = task("msee");
    let refused = |settings| GuidedPlanner::new(&problem, Erm::MEAN, settings).unwrap_err();
    let default = GuidedSettings::default;
    assert_eq!(refused(GuidedSettings { rollouts: 0, ..default() }), PlannerError::Rollouts);
    let message = refused(GuidedSettings { share: 1.5, ..default() }).to_string();
    assert_eq!(message, "the planner's share is 1.5; it must lie in [0, 1]");
    let message = refused(GuidedSettings { caution: f64::NAN, ..default() }).to_string();
    assert!(message.starts_with("the planner's caution is NaN"), "{message}");
    assert_eq!(refused(settings(0)), PlannerError::Simulations(0));
    assert_ne!(PlannerSettings::paper_grid().budget, default().budget);
}
