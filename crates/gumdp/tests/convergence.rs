//! With more simulations ERM-MCTS approaches the exact optimum: its root estimate and what it plays.

use gumdp::oracle::{self, Limits};
use gumdp::rng::{self, Purpose};
use gumdp::{Budget, Erm, Expansion, Exploration, Planner, PlannerSettings, Policy, UntriedOrder, experiment};
use gumdp_files::{Task, tasks};

fn settings(expansion: Expansion, simulations: u64, exploration: f64) -> PlannerSettings {
    PlannerSettings {
        budget: Budget::simulations(simulations),
        exploration: Exploration::Constant(exploration),
        expansion,
        untried: UntriedOrder::Random,
        ..PlannerSettings::paper_illustrative()
    }
}

/// |V̂_n − optimum| at the initial state, averaged over seeds: the fewer simulations, the more seeds against the noise.
fn root_error(task: &Task, erm: Erm, optimum: f64, seeds: u64, settings: &PlannerSettings) -> f64 {
    let start = task.problem.start(task.problem.mdp().initial()[0].0);
    let errors = (0..seeds).map(|seed| {
        let mut planner = Planner::new(&task.problem, erm, settings.clone()).unwrap();
        let decision = planner.decide(&start, &mut rng::stream(seed, 0, Purpose::Policy)).unwrap();
        (decision.root_estimate - optimum).abs()
    });
    errors.sum::<f64>() / seeds as f64
}

/// The ERM of 200 played episodes above the optimum.
fn played_gap(task: &Task, erm: Erm, optimum: f64, settings: &PlannerSettings) -> f64 {
    let planner = Planner::new(&task.problem, erm, settings.clone()).unwrap();
    let runs = experiment(&task.problem, &planner, 1, 0..200).unwrap();
    let costs: Vec<f64> = runs.iter().map(|run| run.episode.cost).collect();
    erm.of_samples(&costs) - optimum
}

#[test]
fn more_simulations_come_closer_to_the_optimum() {
    // The exploration constants follow the spread of the costs.
    for (name, beta, theta, last_gap) in [("msee", 25.0, 0.3, 0.05), ("mo-max", 10.0, 0.02, 0.006)] {
        let task = tasks::get(name).unwrap();
        let erm = Erm::new(beta).unwrap();
        let optimum = oracle::solve(&task.problem, erm, &Limits::default()).unwrap().value;
        for expansion in [Expansion::WholePath, Expansion::OneNode] {
            let errors = [(200, 60), (3_000, 16), (50_000, 6)]
                .map(|(n, seeds)| root_error(&task, erm, optimum, seeds, &settings(expansion, n, theta)));
            println!("{name} {expansion:?}: root estimate off by {errors:?}");
            assert!(errors[0] > errors[1] && errors[1] > errors[2], "{name} {expansion:?}: {errors:?}");
        }
        let gaps = [10, 100, 2_000].map(|n| played_gap(&task, erm, optimum, &settings(Expansion::OneNode, n, theta)));
        println!("{name}: played above the optimum by {gaps:?}");
        assert!(gaps[0] > gaps[1] && gaps[1] > gaps[2] && gaps[2] < last_gap, "{name}: {gaps:?}");
    }
}
