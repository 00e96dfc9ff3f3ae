//! ERM-MCTS against a literal transcription of the published algorithm, and what it promises: determinism, budgets,
//! reasons that add up, no allocation.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::Duration;

use gumdp::oracle::{self, Limits};
use gumdp::rng::{self, Choices, Purpose, Rng};
use gumdp::{
    Budget, Erm, Expansion, Exploration, FinalChoice, Mdp, Objective, OccupancyState, Pair, Partition, Planner,
    PlannerError, PlannerSettings, Policy, Problem, Roofline, Selection, State, StopReason, Uniform, UntriedOrder,
    experiment,
};

/// Two ways out of a crossroads, one of them slippery; the last state comes in two flavours that the objective cannot tell
/// apart. Actions differ by state.
fn crossroads(horizon: usize) -> Problem {
    let mdp = Mdp::named(["cross", "meadow", "bog", "bog, stuck"], ["north", "east", "south"])
        .initial([("cross", 0.75), ("meadow", 0.25)])
        .transition("cross", "north", [("meadow", 1.0)])
        .transition("cross", "east", [("bog", 0.6), ("meadow", 0.4)])
        .transition("cross", "south", [("cross", 0.5), ("bog, stuck", 0.5)])
        .transition("meadow", "north", [("cross", 0.9), ("meadow", 0.1)])
        .transition("meadow", "east", [("bog", 1.0)])
        .transition("bog", "north", [("bog, stuck", 0.3), ("cross", 0.7)])
        .transition("bog", "south", [("bog", 1.0)])
        .transition("bog, stuck", "north", [("bog, stuck", 0.95), ("bog", 0.05)])
        .build()
        .unwrap();
    let cell = |state: &str| u32::from(state != "cross") + u32::from(state.starts_with("bog"));
    let cells: Vec<u32> = mdp.states().flat_map(|s| vec![cell(mdp.state_name(s)); mdp.pairs(s).len()]).collect();
    let entropy = Objective::entropy(Partition::new(cells, vec![3, 2, 2]).unwrap(), 1e-6).unwrap();
    Problem::new(mdp, entropy, 0.95, horizon).unwrap()
}

/// A history from the root on: the pairs taken and the states they led to.
type History = Vec<(Pair, State)>;

/// Algorithm 1 of the paper, written down as it stands there: lists of all sampled costs, found by history.
struct Transcription<'p> {
    problem: &'p Problem,
    erm: Erm,
    nodes: HashSet<History>,
    samples: HashMap<(History, u32), Vec<f64>>,
}

impl Transcription<'_> {
    fn simulate(&mut self, at: &OccupancyState, settings: &PlannerSettings, rng: &mut Rng) {
        let mdp = self.problem.mdp();
        let mut occupancy = at.clone();
        let mut history = History::new();
        let mut visited = Vec::new();
        let mut in_tree = true;
        let mut choices = Choices::default();
        let mut stay = None;
        while occupancy.time < self.problem.horizon() {
            let pairs = mdp.pairs(occupancy.state);
            let pair = Pair::from(if in_tree {
                let chosen = self.select(&history, pairs, settings, occupancy.time, rng);
                visited.push((history.clone(), chosen));
                chosen
            } else {
                pairs.start + choices.below(pairs.len() as u32, rng)
            });
            // The planner draws no successor of the last pair.
            let last = occupancy.time + 1 == self.problem.horizon();
            let next = match last {
                true => occupancy.state,
                false if in_tree => mdp.sample(pair, rng),
                false => roll(mdp, pair, &mut stay, rng),
            };
            history.push((pair, next));
            // The authors' variant leaves the tree at the first new node, Algorithm 1 never does.
            in_tree = in_tree && (!self.nodes.insert(history.clone()) || settings.expansion == Expansion::WholePath);
            self.problem.advance(&mut occupancy, pair, next);
        }
        let cost = self.problem.cost(&occupancy);
        for edge in visited {
            self.samples.entry(edge).or_default().push(cost);
        }
    }

    fn select(
        &self,
        history: &History,
        mut pairs: Range<u32>,
        settings: &PlannerSettings,
        time: usize,
        rng: &mut Rng,
    ) -> u32 {
        let samples = |pair: u32| self.samples.get(&(history.clone(), pair)).map_or(&[][..], Vec::as_slice);
        let count = |pair: u32| samples(pair).len() as f64;
        let untried: Vec<u32> = pairs.clone().filter(|&pair| samples(pair).is_empty()).collect();
        if !untried.is_empty() {
            return match settings.untried {
                UntriedOrder::ByIndex => untried[0],
                UntriedOrder::Random => untried[rng::below(rng, untried.len() as u32) as usize],
            };
        }
        let visits: f64 = pairs.clone().map(count).sum();
        let theta = match &settings.exploration {
            Exploration::Constant(theta) => *theta,
            Exploration::ByTime(thetas) => thetas[time],
        };
        let score = |pair: u32| self.erm.of_samples(samples(pair)) - theta * (visits.sqrt() / count(pair)).sqrt();
        let first = pairs.next().unwrap();
        pairs.fold(first, |best, pair| if score(pair) < score(best) { pair } else { best })
    }
}

/// The next state of a rollout, which draws at once how many steps a state holds it: where every action stays with the same
/// probability q ≥ 0.75, at least k more steps with probability qᵏ.
fn roll(mdp: &Mdp, pair: Pair, stay: &mut Option<u64>, rng: &mut Rng) -> State {
    let state = mdp.state(pair);
    let mut staying = mdp.pairs(state).map(|pair| {
        let again = mdp.successors(pair.into()).find(|outcome| outcome.0 == state);
        again.map_or(0.0, |outcome| outcome.1)
    });
    let q = staying.next().unwrap();
    if !(0.75..1.0).contains(&q) || staying.any(|other| other != q) {
        return mdp.sample(pair, rng);
    }
    let left = stay.get_or_insert_with(|| (rng::unit(rng).ln() * (1.0 / q.ln())) as u64);
    if *left > 0 {
        *left -= 1;
        return state;
    }
    *stay = None;
    let others: Vec<State> = mdp.successors(pair).map(|outcome| outcome.0).filter(|&other| other != state).collect();
    assert_eq!(others.len(), 1, "one way out of sticky states is enough here");
    rng::unit(rng);
    others[0]
}

/// Random paths have the distribution of the uniform policy, where states hold the agent too: the mean of 200 000 paths is within
/// five standard errors of the exact one, which by chance fails in one of 1.7 million tests.
#[test]
fn random_paths_have_the_law_of_the_uniform_policy() {
    let mdp = Mdp::sized(3, 2)
        .start(0)
        .transition(0, 0, [(1, 0.5), (0, 0.5)])
        .transition(0, 1, [(2, 1.0)])
        .transition(1, 0, [(1, 0.8), (0, 0.15), (2, 0.05)])
        .transition(1, 1, [(1, 0.8), (2, 0.2)])
        .transition(2, 0, [(2, 0.9), (0, 0.1)])
        .transition(2, 1, [(2, 0.75), (1, 0.25)])
        .build()
        .unwrap();
    let cost = Objective::linear(vec![0.3, -0.2, 1.0, 0.0, -1.0, 0.5]).unwrap();
    let by_state = Objective::entropy(Partition::states(&mdp), 0.0).unwrap();
    let by_pair = Objective::entropy(Partition::pairs(&mdp), 0.0).unwrap();
    for objective in [cost.clone(), by_state.clone(), by_pair, cost + by_state] {
        let problem = Problem::new(mdp.clone(), objective, 0.95, 7).unwrap();
        let found = oracle::distribution(&problem, &Uniform::new(&problem), &Limits::default()).unwrap();
        let mean = found.mean();
        let variance: f64 = found.outcomes().map(|(cost, weight)| weight * (cost - mean).powi(2)).sum();
        let start = problem.start(State::from(0));
        let paths = 200_000;
        let mut random = rng::stream(5, 0, Purpose::Policy);
        let sum = Roofline::new(&problem).simulate(&start, paths, &mut random);
        let z = (sum / paths as f64 - mean) / (variance / paths as f64).sqrt();
        assert!(z.abs() < 5.0, "{z}");
    }
}

#[test]
fn decisions_equal_the_transcribed_algorithm() {
    let entropy = crossroads(7);
    // Rollouts add up a whole stay at once, which rounds otherwise than step by step. Ties must not hang on that: here no two
    // paths cost the same.
    let target = vec![0.31, 0.05, 0.13, 0.07, 0.11, 0.17, 0.02, 0.14];
    let distance = Objective::squared_distance(Partition::pairs(entropy.mdp()), target).unwrap();
    let distance = Problem::new(entropy.mdp().clone(), distance, 0.95, 7).unwrap();
    let by_time = Exploration::ByTime(vec![0.0, 0.2, 1.5, 0.1, 0.7, 0.0, 2.0]);
    let constant = Exploration::Constant;
    let cases = [
        (0.1, constant(1.0), UntriedOrder::ByIndex),
        (5.0, constant(0.3), UntriedOrder::Random),
        (50.0, constant(1.0), UntriedOrder::ByIndex),
        (-3.0, constant(0.1), UntriedOrder::Random),
        (f64::INFINITY, constant(0.5), UntriedOrder::ByIndex),
        (3.0, by_time, UntriedOrder::ByIndex),
    ];
    for (expansion, problem) in [(Expansion::WholePath, &entropy), (Expansion::OneNode, &distance)] {
        for (beta, exploration, untried) in cases.clone() {
            let erm = Erm::new(beta).unwrap();
            let settings = PlannerSettings {
                budget: Budget::simulations(300),
                exploration,
                selection: Selection::Polynomial,
                expansion,
                untried,
                keep_tree: false,
                play: FinalChoice::MostVisited,
                workers: 1,
            };
            let mut at = problem.start(State::from(0));
            problem.advance(&mut at, Pair::from(0), State::from(1));
            let mut transcription = Transcription { problem, erm, nodes: HashSet::new(), samples: HashMap::new() };
            let mut rng = rng::stream(3, 0, Purpose::Policy);
            for _ in 0..300 {
                transcription.simulate(&at, &settings, &mut rng);
            }
            let mut planner = Planner::new(problem, erm, settings).unwrap();
            let decision = planner.decide(&at, &mut rng::stream(3, 0, Purpose::Policy)).unwrap();
            for (pair, reason) in problem.mdp().pairs(at.state).zip(&decision.reasons) {
                let samples = &transcription.samples[&(Vec::new(), pair)];
                assert_eq!(reason.visits, samples.len() as u64, "{expansion:?}, beta {beta}");
                assert!((reason.erm - erm.of_samples(samples)).abs() < 1e-12);
                assert!((reason.mean - samples.iter().sum::<f64>() / samples.len() as f64).abs() < 1e-12);
                assert!((reason.max - samples.iter().copied().fold(f64::MIN, f64::max)).abs() < 1e-12);
                assert!((reason.min - samples.iter().copied().fold(f64::MAX, f64::min)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn presets_are_the_authors() {
    let illustrative = PlannerSettings::paper_illustrative();
    let expected = PlannerSettings {
        budget: Budget { simulations: Some(500), time_limit: None },
        exploration: Exploration::Constant(1.0),
        selection: Selection::Polynomial,
        expansion: Expansion::OneNode,
        untried: UntriedOrder::ByIndex,
        keep_tree: true,
        play: FinalChoice::MostVisited,
        workers: 1,
    };
    assert_eq!(illustrative, expected);
    let grid = PlannerSettings {
        budget: Budget { simulations: Some(1024), time_limit: None },
        exploration: Exploration::Constant(2.0_f64.sqrt()),
        keep_tree: false,
        play: FinalChoice::LowestRisk,
        ..expected
    };
    assert_eq!(PlannerSettings::paper_grid(), grid);
}

#[test]
fn the_final_choice_is_the_one_that_was_set() {
    let problem = crossroads(9);
    let decide = |seed: u64, play: FinalChoice| {
        // So much exploration that visits hardly depend on risk.
        let exploration = Exploration::Constant(100.0);
        let budget = Budget::simulations(40);
        let settings = PlannerSettings { budget, exploration, play, ..PlannerSettings::paper_grid() };
        let mut planner = Planner::new(&problem, Erm::new(5.0).unwrap(), settings).unwrap();
        planner
            .decide(&problem.start(State::from(seed as u32 % 3)), &mut rng::stream(seed, 0, Purpose::Policy))
            .unwrap()
    };
    let mut differ = 0;
    for seed in 0..50 {
        let lowest = decide(seed, FinalChoice::LowestRisk);
        let best = lowest.reasons.iter().min_by(|a, b| a.erm.total_cmp(&b.erm)).unwrap();
        assert_eq!(lowest.action, best.action);
        let most = decide(seed, FinalChoice::MostVisited);
        let visits = most.reasons.iter().map(|reason| reason.visits).max().unwrap();
        assert_eq!(most.action, most.reasons.iter().find(|reason| reason.visits == visits).unwrap().action);
        assert_eq!(lowest.reasons, most.reasons);
        differ += usize::from(lowest.action != most.action);
    }
    assert!(differ > 0, "the two choices must be told apart");
}

#[test]
fn reasons_add_up() {
    let problem = crossroads(9);
    let erm = Erm::new(4.0).unwrap();
    let mut planner = Planner::new(&problem, erm, PlannerSettings::paper_illustrative()).unwrap();
    let mut rng = rng::stream(1, 0, Purpose::Policy);
    let start = problem.start(State::from(0));
    let first = planner.decide(&start, &mut rng).unwrap();
    assert_eq!(first.reasons.iter().map(|r| r.visits).sum::<u64>(), 500);
    assert_eq!((first.simulations, first.simulated_steps), (500, 500 * 9));
    assert_eq!(first.stopped, StopReason::Simulations);
    assert!(first.tree_nodes <= 501, "one new node per simulation, not {}", first.tree_nodes);
    let (low, high) = first.reasons.iter().fold((f64::MAX, f64::MIN), |(l, h), r| (l.min(r.erm), h.max(r.erm)));
    assert!((low..=high).contains(&first.root_estimate));
    let most = first.reasons.iter().map(|r| r.visits).max().unwrap();
    assert_eq!(first.reasons.iter().find(|r| r.visits == most).unwrap().action, first.action);

    // The tree is kept: the next decision starts with the simulations that went the way that came true.
    let pair = problem.mdp().pair(start.state, first.action).unwrap();
    let mut next = start.clone();
    problem.advance(&mut next, pair, problem.mdp().sample(pair, &mut rng));
    let second = planner.decide(&next, &mut rng).unwrap();
    let visits: u64 = second.reasons.iter().map(|r| r.visits).sum();
    assert!(visits > 500 && visits <= 500 + most, "{visits}");

    // It is not kept for a situation that did not follow, be it another time or another past.
    let elsewhere = planner.decide(&problem.start(State::from(1)), &mut rng).unwrap();
    assert_eq!(elsewhere.reasons.iter().map(|r| r.visits).sum::<u64>(), 500);
    let mut other_past = problem.start(State::from(2));
    problem.advance(&mut other_past, problem.mdp().pairs(State::from(2)).start.into(), State::from(0));
    let without_past = planner.decide(&other_past, &mut rng).unwrap();
    assert_eq!(without_past.reasons.iter().map(|r| r.visits).sum::<u64>(), 500);
}

#[test]
fn a_budget_in_time_ends_the_search() {
    let problem = crossroads(9);
    let settings = PlannerSettings { budget: Budget::time(Duration::from_millis(5)), ..PlannerSettings::paper_grid() };
    let mut planner = Planner::new(&problem, Erm::MEAN, settings).unwrap();
    let decision = planner.decide(&problem.start(State::from(0)), &mut rng::stream(1, 0, Purpose::Policy)).unwrap();
    assert_eq!(decision.stopped, StopReason::TimeLimit);
    assert!(decision.simulations >= 16);
    let both = Budget { simulations: Some(20), time_limit: Some(Duration::from_hours(1)) };
    let settings = PlannerSettings { budget: both, ..PlannerSettings::paper_grid() };
    let mut planner = Planner::new(&problem, Erm::MEAN, settings).unwrap();
    let decision = planner.decide(&problem.start(State::from(0)), &mut rng::stream(1, 0, Purpose::Policy)).unwrap();
    assert_eq!((decision.stopped, decision.simulations), (StopReason::Simulations, 20));
}

#[test]
fn settings_out_of_range_are_refused() {
    let problem = crossroads(4);
    let refused = |change: fn(&mut PlannerSettings)| {
        let mut settings = PlannerSettings::paper_grid();
        change(&mut settings);
        Planner::new(&problem, Erm::MEAN, settings).unwrap_err()
    };
    assert_eq!(refused(|s| s.budget = Budget { simulations: None, time_limit: None }), PlannerError::NoBudget);
    assert_eq!(refused(|s| s.budget = Budget::simulations(0)), PlannerError::Simulations(0));
    assert_eq!(refused(|s| s.budget = Budget::time(Duration::ZERO)), PlannerError::TimeLimit);
    assert_eq!(refused(|s| s.exploration = Exploration::Constant(-1.0)), PlannerError::Theta(-1.0));
    assert_eq!(
        refused(|s| s.exploration = Exploration::ByTime(vec![1.0; 3])).to_string(),
        "3 exploration constants are given for a horizon of 4"
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let problem = crossroads(8);
    let settings = PlannerSettings {
        budget: Budget::simulations(60),
        play: FinalChoice::LowestRisk,
        ..PlannerSettings::paper_illustrative()
    };
    let erm = Erm::new(6.0).unwrap();
    let play = |threads: usize, runs: std::ops::Range<u64>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let planner = Planner::new(&problem, erm, settings.clone()).unwrap();
        pool.install(|| experiment(&problem, &planner, 11, runs).unwrap())
    };
    let one = play(1, 0..40);
    assert_eq!(one, play(7, 0..40));
    // An experiment in two parts is the same experiment.
    let mut parts = play(2, 0..13);
    parts.extend(play(3, 13..40));
    assert_eq!(one, parts);
    assert!(one.windows(2).any(|w| w[0].episode != w[1].episode), "runs must differ from each other");
}

#[test]
fn workers_share_a_decision_whatever_the_threads() {
    let problem = crossroads(12);
    let settings =
        PlannerSettings { budget: Budget::simulations(203), workers: 4, ..PlannerSettings::paper_illustrative() };
    let erm = Erm::new(6.0).unwrap();
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut planner = Planner::new(&problem, erm, settings.clone()).unwrap();
            let decision =
                planner.decide(&problem.start(State::from(0)), &mut rng::stream(2, 0, Purpose::Policy)).unwrap();
            (decision, gumdp::run(&problem, &mut planner, 3, 0).unwrap())
        })
    };
    let (decision, run) = in_pool(1);
    assert_eq!((decision.clone(), run), in_pool(3));
    assert_eq!(decision.simulations, 203);
    assert_eq!(decision.reasons.iter().map(|reason| reason.visits).sum::<u64>(), 203);
    let refused = Planner::new(&problem, erm, PlannerSettings { workers: 0, ..settings }).unwrap_err();
    assert_eq!(refused.to_string(), "the number of workers is 0; it must lie in [1, 1024]");
}

#[test]
fn a_simulation_allocates_nothing() {
    let problem = crossroads(30);
    for expansion in [Expansion::OneNode, Expansion::WholePath] {
        let settings = PlannerSettings { budget: Budget::simulations(200), expansion, ..PlannerSettings::paper_grid() };
        let mut planner = Planner::new(&problem, Erm::new(2.0).unwrap(), settings).unwrap();
        let start = problem.start(State::from(0));
        for run in 0..3 {
            planner.act(&start, &mut rng::stream(1, run, Purpose::Policy)).unwrap();
        }
        let allocated = allocation_counter::measure(|| {
            for run in 0..3 {
                planner.act(&start, &mut rng::stream(1, run, Purpose::Policy)).unwrap();
            }
        });
        assert_eq!(allocated.count_total, 0, "{expansion:?}");
    }
}

#[test]
fn keeping_the_tree_allocates_nothing_in_steady_state() {
    let problem = crossroads(20);
    let mut planner = Planner::new(&problem, Erm::new(2.0).unwrap(), PlannerSettings::paper_illustrative()).unwrap();
    let episode = |planner: &mut Planner| gumdp::run(&problem, planner, 5, 0).unwrap();
    let first = episode(&mut planner);
    let mut second = None;
    let allocated = allocation_counter::measure(|| second = Some(episode(&mut planner)));
    assert_eq!(Some(first), second);
    // The episode itself allocates its features and its path; none of 20 decisions × 500 simulations does.
    assert_eq!(allocated.count_total, 2);
}
