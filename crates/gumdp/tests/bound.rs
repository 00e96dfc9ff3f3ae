//! Lower bounds are below the exact optimum of every problem that can be solved, and say something where none can.
#![allow(missing_docs)]

mod common;

use common::{OBJECTIVE_KINDS, Shape, generator, random_discount, random_mdp, random_objective, task};
use gumdp::bound::{Method, lower_bound, relaxed_bound};
use gumdp::oracle::{Limits, solve};
use gumdp::rng;
use gumdp::{Erm, Problem, Risk};

const RISKS: [&str; 10] =
    ["mean", "erm:0.3", "erm:4", "erm:200", "erm:-2", "worst", "best", "cvar:0.8", "evar:0.5", "var:0.7"];

/// On random problems with every kind of objective, whose optimum is known; and many bounds are nearly tight.
#[test]
fn no_bound_is_above_the_optimum() {
    let (mut checked, mut tight, mut relaxed) = (0, 0, 0);
    for number in 0..560 {
        let mut rng = generator(31, number);
        let shape = Shape { states: 2 + number as u32 % 3, actions: 2, successors: 2, initial: 2 };
        let mdp = random_mdp(shape, &mut rng);
        let objective = random_objective(&mdp, number as usize % OBJECTIVE_KINDS, &mut rng);
        let horizon = 1 + rng::below(&mut rng, 6) as usize;
        let problem = Problem::new(mdp, objective, random_discount(&mut rng), horizon).unwrap();
        let risk: Risk = RISKS[(number / 3) as usize % RISKS.len()].parse().unwrap();
        let Ok(optimum) = solve(&problem, risk, &Limits::default()) else { continue };
        let bound = relaxed_bound(&problem, risk, &Limits::default()).unwrap();
        let bounds = problem.objective().bounds();
        // Costs themselves are rounded, also where f hardly varies.
        let range = (bounds.high - bounds.low).max(1e-3);
        assert!(bound.value <= optimum.high + 1e-9 * range, "{number} {risk}: {bound:?} above {}", optimum.high);
        checked += 1;
        relaxed += usize::from(bound.method != Method::Range);
        tight += usize::from(optimum.high - bound.value < 0.02 * range);
    }
    assert!(checked >= 500 && relaxed >= 200 && tight >= 100, "{checked} {relaxed} {tight}");
}

/// The maps of the paper, which nobody can solve: at least what a prototype proved.
#[test]
fn maps_have_bounds() {
    let known = [
        ("grid-msee", 0.001, 0.0391),
        ("grid-msee", 1.0, 0.0392),
        ("grid-msee", 1000.0, 0.0454),
        ("grid-il", 0.02, 0.0158),
        ("grid-il", 1.0, 0.0159),
        ("grid-il", 500.0, 0.0223),
    ];
    for (name, beta, least) in known {
        let bound = relaxed_bound(&task(name), Erm::new(beta).unwrap(), &Limits::default()).unwrap();
        assert!(bound.method == Method::Visits && bound.value >= least, "{name}: {bound:?}");
    }
}

/// What can be solved is.
#[test]
fn a_solved_problem_is_its_own_bound() {
    let bound = lower_bound(&task("rooms"), Erm::new(50.0).unwrap(), &Limits::default()).unwrap();
    assert!(bound.method == Method::Exact && (bound.value - 0.469_901_485_713).abs() < 1e-9);
}
