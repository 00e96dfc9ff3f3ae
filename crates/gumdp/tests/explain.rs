//! Decision trees: probabilities add up, values are those of the outcomes and of the optimum, trees stay small.
#![allow(missing_docs)]

use gumdp::explain::{Ending, Explanation, Node, Wanted, agent, explain};
use gumdp::{Erm, GuidedSettings, Risk, Spec, Who};
use gumdp_files::tasks;

fn wanted(depth: u64, nodes: u64) -> Wanted {
    Wanted { depth, nodes, ..Wanted::default() }
}

/// The explanation, and the entropic measure that is taken over outcomes.
fn explained(name: &str, risk: &str, wanted: Wanted) -> (Explanation, Erm) {
    let problem = tasks::get(name).unwrap().problem;
    let risk: Risk = risk.parse().unwrap();
    let spec = Spec::new(Who::Auto(GuidedSettings::default()), risk);
    let agent = agent(&problem, &spec).unwrap();
    let erm = agent.solution().unwrap().fixed().erm();
    (explain(&problem, &agent, &spec, &wanted, &()).unwrap(), erm)
}

/// Probabilities add up, and risk and mean of a situation are those of its outcomes.
fn check(node: &Node, erm: Erm) {
    assert!(node.outcomes.is_empty() || node.then == Ending::Chance);
    if node.then != Ending::Chance {
        return;
    }
    let folded = node.folded.as_ref().map(|folded| (folded.value.unwrap(), folded.mean.unwrap(), folded.probability));
    let all = || node.outcomes.iter().map(|of| (of.value, of.mean, of.probability)).chain(folded);
    assert!((all().map(|outcome| outcome.2).sum::<f64>() - 1.0).abs() < 1e-12);
    let risk = erm.of_outcomes(all().map(|(risk, _, p)| (risk, p)).collect::<Vec<_>>().into_iter());
    let mean: f64 = all().map(|(_, mean, p)| mean * p).sum();
    assert!((risk - node.value).abs() < 1e-9 && (mean - node.mean).abs() < 1e-9, "{node:?}");
    for outcome in &node.outcomes {
        assert!((outcome.reach - node.reach * outcome.probability).abs() < 1e-12);
        assert!(outcome.next_best.as_ref().is_none_or(|next| next.extra >= 0.0));
        check(outcome, erm);
    }
}

#[test]
fn situations_are_consistent_with_their_outcomes_and_the_optimum() {
    for (name, risks) in [
        ("rooms", ["erm:1", "erm:50"]),
        ("mdp", ["erm:0.1", "worst"]),
        ("grid-mo", ["seeking:1", "erm:8"]),
        ("grid-mo", ["cvar:0.9", "evar:0.5"]),
    ] {
        for risk in risks {
            let (Explanation { value, tree, .. }, erm) = explained(name, risk, wanted(4, 30));
            assert!((tree.value - value).abs() < 1e-9, "{name} {risk}");
            check(&tree, erm);
        }
    }
}

#[test]
fn trees_stay_small() {
    fn count(of: &Node) -> usize {
        1 + of.outcomes.iter().map(count).sum::<usize>()
    }
    let small = explained("grid-mo", "erm:1", wanted(100, 12)).0.tree;
    assert!((12..12 + 5).contains(&count(&small)), "{}", count(&small));
    let root = explained("grid-mo", "erm:1", wanted(0, 12)).0.tree;
    assert_eq!((count(&root), root.then), (1, Ending::Unshown));
}

/// Planned values are those of the same episodes for any number of threads, and every situation is told of.
#[test]
fn planned_trees_depend_on_the_seed_alone() {
    use gumdp::oracle::Limits;
    use gumdp::{Budget, Watch};
    use std::sync::atomic::{AtomicU64, Ordering};
    #[derive(Default)]
    struct Count(AtomicU64);
    impl Watch for Count {
        fn finished(&self, runs: u64) {
            self.0.fetch_add(runs, Ordering::Relaxed);
        }
    }
    let problem = tasks::get("rooms").unwrap().problem;
    let limits = Limits { max_states: 1, ..Limits::QUICK };
    let auto = Spec::new(Who::Auto(GuidedSettings::default()), Erm::MEAN);
    let spec = Spec { limits, budget: Some(Budget::simulations(100)), seed: 3, ..auto };
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let count = Count::default();
        let explained =
            pool.install(|| explain(&problem, &agent(&problem, &spec).unwrap(), &spec, &wanted(2, 6), &count).unwrap());
        assert!(count.0.into_inner() > 1);
        explained
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(3));
    assert!(!one.exact && one.bounds.is_none() && one.tree.next_best.is_none());
    assert!(one.origin.ends_with("(100 simulations); values from 30 episodes each"), "{}", one.origin);
}
