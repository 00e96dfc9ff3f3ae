//! What the exact oracles refuse: problems beyond the limits, before the memory is taken, and policies for another problem.

mod common;

use common::task;
use gumdp::oracle::{Limits, OracleError, Strategy, distribution, expected_occupancy, solve};
use gumdp::rng::Rng;
use gumdp::{
    Action, Erm, GuidedPlanner, GuidedSettings, Markov, Mdp, Objective, OccupancyState, Partition, Policy,
    PolicyFailure, Problem, Uniform,
};

#[test]
fn too_large_problems_are_refused_early() {
    let refused = |problem: &Problem, limits: Limits| solve(problem, Erm::new(1.0).unwrap(), &limits).unwrap_err();
    let small = Limits { max_states: 1000, ..Limits::default() };
    let error = refused(&task("mo-max"), small);
    assert!(matches!(error, OracleError::TooLarge { limit: 1000, reached: 1..2000, .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("at most 1000 are allowed; raise the limit, shorten the horizon, or use"), "{message}");
    // A hopeless problem is given up at a small part of the limit, in states and in memory.
    let error = refused(&common::grid(10, 0.99, 200), Limits::default());
    assert!(matches!(error, OracleError::TooLarge { reached: 0..4_000_000, projected: Some(1e12..), .. }), "{error:?}");
    // More states would not fit in memory, so nobody is told to allow them.
    assert!(!error.to_string().contains("raise") && !error.wants_states());
    let narrow = Limits { max_bytes: 1 << 20, ..Limits::default() };
    let error = refused(&common::grid(3, 1.0, 15), narrow);
    assert!(
        matches!(error, OracleError::Memory { .. }) && !error.to_string().contains("raise") && !error.wants_states()
    );
    let problem = task("msee");
    let error =
        distribution(&problem, &Uniform::new(&problem), &Limits { max_states: 100, ..Limits::default() }).unwrap_err();
    assert!(matches!(error, OracleError::TooLarge { limit: 100, .. }));
}

/// The search for the β of an `EVaR` is not begun where it would take too long, and where it cannot be finished nothing is
/// certified but the mean.
#[test]
fn long_searches_are_refused_or_end() {
    let problem = task("mdp");
    let evar: gumdp::Risk = "evar:0.5".parse().unwrap();
    let within = |search_transitions| solve(&problem, evar, &Limits { search_transitions, ..Limits::default() });
    let refused = within(100).unwrap_err();
    assert!(refused.is_limit() && matches!(refused, OracleError::LongSearch { limit: 100 }), "{refused:?}");
    let exact = within(u64::MAX).unwrap();
    assert!(exact.high - exact.low <= 1e-6);
    // Enough for a first look.
    let one = (problem.mdp().transition_count() * problem.horizon()) as u64;
    let ended = within(50 * one).unwrap();
    assert!(ended.high >= exact.low && ended.low <= exact.low && ended.solves < exact.solves, "{ended:?}");
}

/// One step to one of 20 000 states, each with a cell of its own: 3.2 GB of features at time 1.
fn wide() -> Problem {
    let many = 20_000;
    let mut builder = Mdp::sized(many + 1, 1).start(0);
    builder = builder.transition(0, 0, (1..=many).map(|state| (state, 1.0 / many as f64)));
    for state in 1..=many {
        builder = builder.transition(state, 0, [(state, 1.0)]);
    }
    let mdp = builder.build().unwrap();
    let explore = Objective::entropy(Partition::states(&mdp), 0.0).unwrap();
    Problem::new(mdp, explore, 1.0, 3).unwrap()
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    let problem = wide();
    let limits = Limits { max_bytes: 256 << 20, strategy: Strategy::Merge, ..Limits::default() };
    let refused = |result: Result<(), OracleError>| {
        assert!(matches!(result, Err(OracleError::Memory { bytes: 0x1000_0000..0x2100_0000, .. })), "{result:?}");
    };
    // A level is copied when it grows, so that for a moment half of it is there twice.
    let allowed = limits.max_bytes * 3 / 2;
    let used = allocation_counter::measure(|| refused(solve(&problem, Erm::MEAN, &limits).map(|_| ())));
    assert!(used.bytes_max < allowed, "{}", used.bytes_max);
    let uniform = Uniform::new(&problem);
    let used = allocation_counter::measure(|| refused(distribution(&problem, &uniform, &limits).map(|_| ())));
    assert!(used.bytes_max < allowed, "{}", used.bytes_max);
}

#[test]
fn what_does_not_fit_is_refused() {
    #[derive(Clone)]
    struct Careless;
    impl Policy for Careless {
        fn act(&mut self, _: &OccupancyState, _: &mut Rng) -> Result<Action, PolicyFailure> {
            Err(PolicyFailure::Other("it is not played".to_owned()))
        }
        fn probabilities(&self, _: &OccupancyState, probabilities: &mut Vec<f64>) -> bool {
            *probabilities = vec![0.5];
            true
        }
    }
    let problem = task("msee");
    let error = distribution(&problem, &Careless, &Limits::default()).unwrap_err().to_string();
    assert_eq!(error, "at time 0 in state \"s1\" the policy's 1 probabilities sum to 0.5; 2 are needed, with sum 1");
    let planner = GuidedPlanner::new(&problem, Erm::MEAN, GuidedSettings::default()).unwrap();
    assert_eq!(distribution(&problem, &planner, &Limits::default()).unwrap_err(), OracleError::NoProbabilities);
    let other = Uniform::new(&task("mdp"));
    let error = distribution(&problem, &other, &Limits::default()).unwrap_err();
    assert_eq!(error, OracleError::OtherProblem { what: "states", got: 4, expected: 5 });
    let mdp = Mdp::sized(1, 1).start(0).transition(0, 0, [(0, 1.0)]).build().unwrap();
    let astronomic = Problem::new(mdp.clone(), Objective::linear(vec![1e308]).unwrap(), 1.0, 2).unwrap();
    assert_eq!(solve(&astronomic, Erm::MEAN, &Limits::default()).unwrap_err(), OracleError::Overflow);
    // A long horizon is no reason to recurse deeply.
    let long = Problem::new(mdp, Objective::linear(vec![2.0]).unwrap(), 1.0, 100_000).unwrap();
    let deep = Limits { strategy: Strategy::DepthFirst, ..Limits::default() };
    assert!((solve(&long, Erm::MEAN, &deep).unwrap().value - 2.0).abs() < 1e-9);
}

#[test]
fn policies_of_another_problem_are_refused() {
    let problem = task("msee");
    let mdp = problem.mdp();
    let by_time = |of: &Problem| Markov::stochastic(of, vec![mdp.by_pair(|_, _| 0.5); of.horizon()]).unwrap();
    let short = problem.with_horizon(3).unwrap();
    let other = |what, got, expected| OracleError::OtherProblem { what, got, expected };
    let limits = Limits::default();
    let expected = other("time steps", 3, problem.horizon());
    assert_eq!(distribution(&problem, &by_time(&short), &limits).unwrap_err(), expected);
    assert_eq!(expected_occupancy(&problem, &by_time(&short)).unwrap_err(), expected);
    assert_eq!(
        expected.to_string(),
        format!("the policy is for a problem with 3 time steps; this problem has {}", problem.horizon())
    );
    let linear = Problem::new(mdp.clone(), Objective::linear(vec![1.0; 10]).unwrap(), problem.discount(), 3).unwrap();
    let optimal = solve(&short, Erm::MEAN, &limits).unwrap().policy();
    let error = distribution(&linear, &optimal, &limits).unwrap_err();
    assert_eq!(error, other("features of the occupancy", short.objective().feature_count(), 1));
    let error = expected_occupancy(&short, &Markov::stochastic(&task("mdp"), vec![vec![0.5; 8]]).unwrap()).unwrap_err();
    assert_eq!(error, other("states", 4, 5));
    // The expected occupancy does not depend on the objective.
    let same = expected_occupancy(&short, &by_time(&short)).unwrap();
    assert_eq!(expected_occupancy(&linear, &by_time(&short)).unwrap(), same);
    // A policy that is played for longer than it is made for stays at its last step.
    let mut rngs = [common::generator(1, 0), common::generator(1, 1)];
    let [environment, own] = &mut rngs;
    assert!(gumdp::play(&problem, &mut by_time(&short), environment, own).is_ok());
}
