//! The guided planner: exact where it can be, deterministic, no allocation, and better than the published one at the same
//! number of simulations.

mod common;

use common::{OBJECTIVE_KINDS, Shape, generator, random_discount, random_mdp, random_objective, task};
use gumdp::oracle::{Limits, Solution, decide, solve};
use gumdp::rng::{self, Purpose};
use gumdp::{
    Budget, Erm, GuidedPlanner, GuidedSettings, Mdp, Objective, Partition, Planner, PlannerError, PlannerSettings,
    Policy, Problem, Run, StopReason, experiment, run,
};

fn settings(simulations: u64) -> GuidedSettings {
    GuidedSettings { budget: Budget::simulations(simulations), ..GuidedSettings::default() }
}

/// Marginal backward induction and the tree alone.
fn bare(simulations: u64) -> GuidedSettings {
    GuidedSettings { lattice: false, pilots: false, ..settings(simulations) }
}

/// With enough simulations the tree of a small problem is solved: every action then has its exact risk.
#[test]
fn a_solved_tree_is_the_exact_answer() {
    let shape = Shape { states: 4, actions: 3, successors: 3, initial: 1 };
    let betas = [f64::NEG_INFINITY, -3.0, 0.0, 0.1, 5.0, 200.0, f64::INFINITY];
    let (mut solved, mut lattices) = (0, 0);
    for number in 0..8 * OBJECTIVE_KINDS {
        let mut rng = generator(21, number as u64);
        let mdp = random_mdp(shape, &mut rng);
        let objective = random_objective(&mdp, number % OBJECTIVE_KINDS, &mut rng);
        let problem = Problem::new(mdp, objective, random_discount(&mut rng), 3).unwrap();
        let erm = Erm::new(betas[number % betas.len()]).unwrap();
        let at = problem.start(problem.mdp().initial()[0].0);
        let exact = decide(&problem, erm, &at, &Limits::default()).unwrap();
        let optimum = exact.reasons.iter().map(|reason| reason.value).fold(f64::INFINITY, f64::min);
        for settings in [bare(200_000), settings(200_000)] {
            let decision = GuidedPlanner::new(&problem, erm, settings).unwrap().decide(&at, &mut rng).unwrap();
            // Values are backed up with an error below 1e-7 of their spread.
            assert!((decision.root_estimate - optimum).abs() < 1e-5, "problem {number}: {decision:?}, {exact:?}");
            let played = exact.reasons.iter().find(|reason| reason.action == decision.action).unwrap();
            assert!(played.value < optimum + 1e-5, "problem {number}");
            match decision.stopped {
                StopReason::Solved => solved += 1,
                StopReason::Lattice => lattices += 1,
                other => assert_eq!(other, StopReason::Marginal),
            }
            if decision.stopped != StopReason::Marginal {
                for (reason, exact) in decision.reasons.iter().zip(&exact.reasons) {
                    assert!((reason.erm - exact.value).abs() < 1e-5, "problem {number}");
                }
            }
        }
    }
    assert!(lattices > 60, "{lattices} problems were solved by lattices");
    assert!(solved > 60, "{solved} problems were solved by search");
}

/// The optimal policy, 500 and 10 000 simulations with the same luck: the gap to the optimum closes, and never widens. Four
/// standard errors of the differences are allowed for, which chance exceeds once in 30 000 tests.
#[test]
fn more_simulations_approach_the_optimum() {
    for (name, beta) in [("msee", 25.0), ("mo-max", 10.0), ("mo-min", 20.0)] {
        let (problem, erm) = (task(name), Erm::new(beta).unwrap());
        let best = solve(&problem, erm, &Limits::default()).unwrap().policy();
        let best = costs(&experiment(&problem, &best, 0, 0..40).unwrap());
        let [few, many] = [500, 10_000].map(|simulations| {
            let planner = GuidedPlanner::new(&problem, erm, settings(simulations)).unwrap();
            costs(&experiment(&problem, &planner, 0, 0..40).unwrap())
        });
        for (costs, bar) in [(&few, 0.012), (&many, 0.004)] {
            let (gap, error) = difference_of_risks(erm, costs, &best);
            assert!(gap < bar + 4.0 * error, "{name}: {gap} ± {error}");
        }
        let (worse, error) = difference_of_risks(erm, &many, &few);
        assert!(worse <= 4.0 * error, "{name}: {worse} ± {error}");
    }
}

/// Both planners with the paper's number of simulations and the same luck. On grid-il, whose costs have a long tail, runs are
/// counted: 26 wins of 30 come by chance once in 30 000 tests; on msee the risk is lower by more than four standard errors, as
/// rare.
#[test]
fn it_beats_the_published_planner() {
    let both = |name, beta, published: PlannerSettings, runs| {
        let (problem, erm) = (task(name), Erm::new(beta).unwrap());
        let settings = GuidedSettings { budget: published.budget, ..GuidedSettings::default() };
        let guided = GuidedPlanner::new(&problem, erm, settings).unwrap();
        let published = Planner::new(&problem, erm, published).unwrap();
        let published = costs(&experiment(&problem, &published, 1, 0..runs).unwrap());
        (published, costs(&experiment(&problem, &guided, 1, 0..runs).unwrap()))
    };
    let (published, guided) = both("grid-il", 1.0, PlannerSettings::paper_grid(), 30);
    let wins = guided.iter().zip(&published).filter(|(a, b)| a < b).count();
    assert!(wins >= 26, "{wins} wins");

    let (published, guided) = both("msee", 50.0, PlannerSettings::paper_illustrative(), 200);
    let (gain, error) = difference_of_risks(Erm::new(50.0).unwrap(), &published, &guided);
    assert!(gain > 4.0 * error, "{gain} ± {error}");
}

/// Covering the states of a problem that chance drives: states which chance brings anyway need not be sought. The same luck with
/// and without a forecast; four standard errors.
#[test]
fn a_forecast_pays_where_chance_decides() {
    let mut rng = generator(22, 0);
    let mut builder = Mdp::sized(20, 2).start(0);
    for (state, action) in (0..20).flat_map(|state| [(state, 0), (state, 1)]) {
        let to = [0.5, 0.3, 0.2].map(|probability| (rng::below(&mut rng, 20) as usize, probability));
        builder = builder.transition(state, action, to);
    }
    let mdp = builder.build().unwrap();
    let objective = Objective::entropy(Partition::states(&mdp), 0.0).unwrap();
    let (problem, erm) = (Problem::new(mdp, objective, 0.99, 30).unwrap(), Erm::new(3.0).unwrap());
    let [without, with] = [0.0, 0.5].map(|forecast| {
        let planner = GuidedPlanner::new(&problem, erm, GuidedSettings { forecast, ..bare(100) }).unwrap();
        costs(&experiment(&problem, &planner, 0, 0..1500).unwrap())
    });
    let (gain, error) = difference_of_risks(erm, &without, &with);
    assert!(gain > 4.0 * error, "{gain} ± {error}");
}

fn costs(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.episode.cost).collect()
}

/// ERM of a − ERM of b for costs of the same runs, and its standard error: an ERM changes by (e^{β(x − ERM)} − 1)/(βn) with each
/// sample x (the delta method).
fn difference_of_risks(erm: Erm, a: &[f64], b: &[f64]) -> (f64, f64) {
    let (risk_a, risk_b) = (erm.of_samples(a), erm.of_samples(b));
    let influence = |x: f64, risk: f64| ((erm.beta() * (x - risk)).exp() - 1.0) / erm.beta();
    let variance: f64 = a.iter().zip(b).map(|(&x, &y)| (influence(x, risk_a) - influence(y, risk_b)).powi(2)).sum();
    (risk_a - risk_b, variance.sqrt() / a.len() as f64)
}

/// Decisions hang on the occupancy state and the random numbers only, not on what was decided before.
#[test]
fn decisions_can_be_asked_for_in_any_order() {
    let (problem, erm) = (task("il"), Erm::new(40.0).unwrap());
    for settings in [settings(100), GuidedSettings { reach: 0.0, ..settings(100) }] {
        let planner = GuidedPlanner::new(&problem, erm, settings).unwrap();
        let mut states = Vec::new();
        for number in 0..4 {
            let mut rng = generator(22, number);
            let mut at = problem.start(problem.mdp().initial()[0].0);
            while at.time < 15 {
                states.push(at.clone());
                let pairs = problem.mdp().pairs(at.state);
                let pair = gumdp::Pair::from(pairs.start + rng::below(&mut rng, pairs.len() as u32));
                let next = problem.mdp().sample(pair, &mut rng);
                problem.advance(&mut at, pair, next);
            }
        }
        let mut used = planner.clone();
        for at in states.iter().rev().chain(&states).step_by(7) {
            used.begin_episode();
            let stream = || rng::stream(3, 0, Purpose::Policy);
            let (here, there) = (used.decide(at, &mut stream()), planner.clone().decide(at, &mut stream()));
            // As text: what is not estimated is NaN, which equals nothing.
            assert_eq!(format!("{here:?}"), format!("{there:?}"));
        }
    }
}

/// One state, one action, one step, a discount whose powers vanish.
#[test]
fn degenerate_problems_are_planned() {
    let alone = Mdp::sized(1, 1).start(0).transition(0, 0, [(0, 1.0)]).build().unwrap();
    let uneven = Mdp::sized(2, 3)
        .start(1)
        .transition(0, 0, [(1, 1.0)])
        .transition(1, 1, [(0, 0.5), (1, 0.5)])
        .transition(1, 2, [(1, 1.0)])
        .build()
        .unwrap();
    for (mdp, discount, horizon) in [(&alone, 1.0, 1), (&alone, 0.9, 5), (&uneven, 0.5, 1200), (&uneven, 1.0, 1)] {
        let objective = gumdp::Objective::entropy(gumdp::Partition::states(mdp), 0.0).unwrap();
        let problem = Problem::new(mdp.clone(), objective, discount, horizon).unwrap();
        for (beta, reach) in [(0.0, 3.0), (f64::INFINITY, f64::INFINITY), (-2.0, 0.0)] {
            let settings = GuidedSettings { reach, ..bare(3) };
            let mut planner = GuidedPlanner::new(&problem, Erm::new(beta).unwrap(), settings).unwrap();
            assert!(run(&problem, &mut planner, 0, 0).unwrap().episode.cost.is_finite());
            let decision = planner.decide(&problem.start(mdp.initial()[0].0), &mut generator(23, 0)).unwrap();
            assert!(decision.root_estimate.is_finite(), "{decision:?}");
        }
    }
}

#[test]
fn same_seed_same_bits_for_any_number_of_threads() {
    let (problem, erm) = (task("il"), Erm::new(40.0).unwrap());
    let planner = GuidedPlanner::new(&problem, erm, bare(200)).unwrap();
    let play = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| experiment(&problem, &planner, 5, 0..6).unwrap())
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
    let mut planner = GuidedPlanner::new(&problem, erm, bare(300)).unwrap();
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
    let mut planner = GuidedPlanner::new(&problem, erm, bare(500)).unwrap();
    let decision = planner.decide(&start, &mut rng).unwrap();
    assert_eq!((decision.stopped, decision.simulations), (StopReason::Simulations, 500));
    assert_eq!(decision.reasons.iter().map(|reason| reason.visits).sum::<u64>(), 500);
    assert_eq!(decision.simulated_steps, 500 * 20);

    // Beyond reach nothing is simulated, and a linear objective needs no search.
    let never = GuidedSettings { reach: 0.0, ..bare(500) };
    for problem in [problem, task("mdp")] {
        let mut planner = GuidedPlanner::new(&problem, erm, never.clone()).unwrap();
        let start = problem.start(problem.mdp().initial()[0].0);
        let decision = planner.decide(&start, &mut rng).unwrap();
        assert_eq!((decision.stopped, decision.simulations), (StopReason::Marginal, 0));
        assert!(decision.reasons.iter().all(|reason| reason.erm.is_finite() && reason.visits == 0));
        assert_eq!(planner.simulated_steps(), 0);
    }
}

#[test]
fn a_time_limit_ends_the_search() {
    let problem = task("msee");
    let budget = Budget::time(std::time::Duration::from_millis(5));
    let settings = GuidedSettings { budget, ..bare(1) };
    let mut planner = GuidedPlanner::new(&problem, Erm::MEAN, settings).unwrap();
    let start = problem.start(problem.mdp().initial()[0].0);
    let decision = planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
    assert_eq!(decision.stopped, StopReason::TimeLimit);
    assert!(decision.simulations > 0);
}

#[test]
fn settings_out_of_range_are_refused() {
    let problem = task("msee");
    let refused = |settings| GuidedPlanner::new(&problem, Erm::MEAN, settings).unwrap_err();
    let default = GuidedSettings::default;
    assert_eq!(refused(GuidedSettings { rollouts: 0, ..default() }), PlannerError::Rollouts);
    let message = refused(GuidedSettings { reach: -1.0, ..default() }).to_string();
    assert_eq!(message, "the planner's reach is -1; it must lie in [0, inf]");
    let message = refused(GuidedSettings { exploration: f64::NAN, ..default() }).to_string();
    assert!(message.starts_with("the planner's exploration is NaN"), "{message}");
    assert_eq!(refused(settings(0)), PlannerError::Simulations(0));
}

/// A lattice knows the places that an episode can get to; elsewhere the tree decides.
#[test]
fn places_that_no_episode_gets_to_are_decided_too() {
    let (problem, erm) = (task("msee"), Erm::new(25.0).unwrap());
    // So few simulations that the optimum is too dear.
    let mut planner = GuidedPlanner::new(&problem, erm, settings(5)).unwrap();
    let start = problem.start(problem.mdp().initial()[0].0);
    assert_eq!(planner.decide(&start, &mut generator(24, 0)).unwrap().stopped, StopReason::Lattice);
    let elsewhere = problem.start(problem.mdp().find_state("s4").unwrap());
    let decision = planner.decide(&elsewhere, &mut generator(24, 0)).unwrap();
    assert!(decision.root_estimate.is_finite() && decision.stopped != StopReason::Lattice, "{decision:?}");
}

/// Seven rooms around a hall, each to be visited as often as the others: a visit alone changes nothing, and no lattice may be used. A plan of
/// all rooms is found before the first decision and kept.
#[test]
fn a_tour_of_many_rooms_is_planned() {
    let rooms = 7;
    let mut mdp = Mdp::sized(1 + rooms, rooms).start(0);
    for room in 0..rooms {
        mdp = mdp.transition(0, room, [(1 + room, 0.9), (0, 0.1)]).transition(1 + room, 0, [(0, 1.0)]);
    }
    let mdp = mdp.build().unwrap();
    let share = |room: usize| {
        let mut costs = vec![0.0; 1 + rooms];
        costs[1 + room] = -1.0;
        Objective::linear(mdp.by_state(&costs).unwrap()).unwrap()
    };
    let names: Vec<String> = (0..rooms).map(|room| format!("x{room}")).collect();
    let inputs: Vec<(&str, Objective)> = names.iter().map(String::as_str).zip((0..rooms).map(share)).collect();
    let fair = Objective::formula(&format!("max({})", names.join(", ")), &inputs).unwrap();
    let problem = Problem::new(mdp, fair, 1.0, 20).unwrap();
    let mean = |settings| {
        let planner = GuidedPlanner::new(&problem, Erm::new(0.0).unwrap(), settings).unwrap();
        costs(&experiment(&problem, &planner, 1, 0..20).unwrap()).iter().sum::<f64>() / 20.0
    };
    assert_eq!(mean(bare(200)), 0.0);
    // One visit in twenty steps to each room, unless there are seven slips and more: once in ten thousand times.
    let planned = mean(GuidedSettings { lattice: false, ..settings(200) });
    assert!(planned < -0.049, "{planned}");
}

/// Six goals on a map of 5 × 5, all to be visited: the least share is 0 until the last of them.
fn tour(starts: Vec<(usize, f64)>, horizon: usize) -> Problem {
    let side = 5;
    let goals = [8, 0, 6, 20, 18, 23];
    let mut mdp = Mdp::sized(side * side, 4).initial(starts);
    for cell in 0..side * side {
        let (row, column) = (cell / side, cell % side);
        let to = [
            (row.saturating_sub(1), column),
            ((row + 1).min(side - 1), column),
            (row, column.saturating_sub(1)),
            (row, (column + 1).min(side - 1)),
        ];
        for (action, (row, column)) in to.into_iter().enumerate() {
            mdp = mdp.transition(cell, action, [(row * side + column, 1.0)]);
        }
    }
    let mdp = mdp.build().unwrap();
    let share = |goal: usize| {
        let mut costs = vec![0.0; side * side];
        costs[goal] = -1.0;
        Objective::linear(mdp.by_state(&costs).unwrap()).unwrap()
    };
    let names: Vec<String> = (0..goals.len()).map(|goal| format!("x{goal}")).collect();
    let inputs: Vec<(&str, Objective)> = names.iter().map(String::as_str).zip(goals.map(share)).collect();
    let least = Objective::formula(&format!("max({})", names.join(", ")), &inputs).unwrap();
    Problem::new(mdp, least, 1.0, horizon).unwrap()
}

/// Plans are looked for with a smoothed f, and from every state where episodes start.
#[test]
fn a_tour_is_found_where_f_is_flat() {
    let settings = GuidedSettings { lattice: false, ..settings(200) };
    for (problem, runs) in [(tour(vec![(17, 1.0)], 20), 5), (tour(vec![(17, 0.6), (24, 0.4)], 23), 12)] {
        let planner = GuidedPlanner::new(&problem, Erm::new(0.0).unwrap(), settings.clone()).unwrap();
        let optimum = solve(&problem, Erm::new(0.0).unwrap(), &Limits::QUICK).unwrap().value;
        assert!(optimum < -0.049, "{optimum}");
        let costs = costs(&experiment(&problem, &planner, 1, 0..runs).unwrap());
        assert!(costs.iter().all(|cost| (cost - optimum).abs() < 1e-12), "{costs:?} {optimum}");
    }
}

/// f is 0 but for 25 visits of 120, where it is −1: two coarse lattices that overlook it agree. What is cheap to solve is solved.
#[test]
fn a_narrow_valley_is_not_overlooked() {
    let mdp = Mdp::sized(3, 2)
        .start(0)
        .transition(0, 0, [(1, 0.6), (0, 0.4)])
        .transition(0, 1, [(2, 0.7), (1, 0.3)])
        .transition(1, 0, [(0, 0.5), (2, 0.5)])
        .transition(1, 1, [(1, 0.3), (0, 0.7)])
        .transition(2, 0, [(2, 0.8), (0, 0.2)])
        .transition(2, 1, [(1, 0.9), (0, 0.1)])
        .build()
        .unwrap();
    let share = Objective::linear(mdp.by_state(&[0.0, 0.0, 1.0]).unwrap()).unwrap();
    let valley = Objective::formula("-max(0, 1 - 1000*abs(x - 25/120))", &[("x", share)]).unwrap();
    let problem = Problem::new(mdp, valley, 1.0, 120).unwrap();
    let erm = Erm::new(5.0).unwrap();
    let optimum = solve(&problem, erm, &Limits::QUICK).unwrap();
    let planner = GuidedPlanner::new(&problem, erm, settings(500)).unwrap();
    let played = costs(&experiment(&problem, &planner, 1, 0..20).unwrap());
    let best = costs(&experiment(&problem, &optimum.policy(), 1, 0..20).unwrap());
    assert!(optimum.value < -0.1 && played == best, "{}: {played:?} {best:?}", optimum.value);
}

/// The optimum plays where an episode would simulate fewer steps than there are states, but pilots more: "visit all goals" is flat until the end.
#[test]
fn the_optimum_plays_where_pilots_would_take_longer() {
    let shape = Shape { states: 7, actions: 3, successors: 2, initial: 1 };
    let mdp = random_mdp(shape, &mut generator(67, 0));
    let states = mdp.state_count();
    let share = |state: usize| {
        let costs: Vec<f64> = (0..states).map(|other| if other == state { -1.0 } else { 0.0 }).collect();
        Objective::linear(mdp.by_state(&costs).unwrap()).unwrap()
    };
    let names: Vec<String> = (1..states).map(|goal| format!("x{goal}")).collect();
    let inputs: Vec<(&str, Objective)> = names.iter().map(String::as_str).zip((1..states).map(share)).collect();
    let least = Objective::formula(&format!("max({})", names.join(", ")), &inputs).unwrap();
    let solved = |horizon: usize| {
        let problem = Problem::new(mdp.clone(), least.clone(), 0.97, horizon).unwrap();
        let solution = solve(&problem, Erm::MEAN, &Limits::QUICK).unwrap();
        (horizon, problem, solution)
    };
    let more =
        |(horizon, _, solution): &(usize, Problem, Solution)| solution.states as usize > 100 * horizon * (horizon + 1);
    let (_, problem, solution) = (7..16).map(solved).find(more).unwrap();
    assert!(solution.states < 4_000_000, "{}", solution.states);
    let mut planner = GuidedPlanner::new(&problem, Erm::MEAN, settings(100)).unwrap();
    let start = problem.start(problem.mdp().initial()[0].0);
    let decision = planner.decide(&start, &mut generator(67, 1)).unwrap();
    assert_eq!(decision.stopped, StopReason::Solved);
    assert!((decision.root_estimate - solution.value).abs() < 1e-9, "{decision:?} {}", solution.value);
}

/// Where solving takes no longer than simulating the optimum plays: estimates are those of the oracle, other measures' without what the outer
/// variable costs; and places where no episode gets to are decided as well.
#[test]
fn the_optimum_plays_where_it_is_cheap() {
    let shape = Shape { states: 8, actions: 3, successors: 2, initial: 1 };
    let mut rng = generator(61, 0);
    let mdp = random_mdp(shape, &mut rng);
    let target: Vec<f64> = vec![1.0 / mdp.pair_count() as f64; mdp.pair_count()];
    let objective = Objective::squared_distance(Partition::pairs(&mdp), target).unwrap();
    let problem = Problem::new(mdp, objective, 0.97, 8).unwrap();
    let start = problem.start(problem.mdp().initial()[0].0);
    for risk in ["mean", "erm:5", "evar:0.5"] {
        let solution = solve(&problem, risk.parse::<gumdp::Risk>().unwrap(), &Limits::default()).unwrap();
        let fixed = solution.fixed();
        let mut planner = GuidedPlanner::new(&problem, fixed, settings(5000)).unwrap();
        let decision = planner.decide(&start, &mut rng).unwrap();
        assert_eq!(planner.manner(), "solved exactly, as that takes no longer than simulating", "{risk}");
        assert_eq!((decision.stopped, decision.simulations), (StopReason::Solved, 0));
        assert!((decision.root_estimate + fixed.price() - solution.value).abs() < 1e-9, "{risk}: {decision:?}");
        let mut elsewhere = problem.start(problem.mdp().initial()[0].0);
        elsewhere.features.iter_mut().for_each(|feature| *feature += 0.01);
        assert!(planner.act(&elsewhere, &mut rng).is_ok() && planner.decide(&elsewhere, &mut rng).is_ok());
    }
}
