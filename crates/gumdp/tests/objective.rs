//! Objectives against their formulas: values, gradients, Lipschitz constants and bounds, on random points of the simplex.

use gumdp::oracle::{Limits, OracleError, solve};
use gumdp::rng::{self, Purpose, Rng};
use gumdp::{
    Bounds, Budget, Erm, GuidedPlanner, GuidedSettings, Mdp, Objective, ObjectiveError, Partition, Problem, run,
};

/// Four states; s0 and s3 allow two actions, the others one: six pairs.
fn model() -> Mdp {
    let mdp = Mdp::sized(4, 2).start(0);
    [(0, 0), (0, 1), (1, 0), (2, 1), (3, 0), (3, 1)]
        .into_iter()
        .fold(mdp, |mdp, (s, a)| mdp.transition(s, a, [(s, 0.5), ((s + 1) % 4, 0.5)]))
        .build()
        .unwrap()
}

const C1: [f64; 6] = [0.0, -1.0, 0.5, 2.0, 0.25, -0.75];
const C2: [f64; 6] = [0.3, 0.1, -0.2, 0.0, 1.0, 0.4];
const TARGET: [f64; 6] = [0.3, 0.0, 0.25, 0.15, 0.2, 0.11];

/// A name, the objective, and its formula written down once more.
type Case = (&'static str, Objective, fn(&[f64]) -> f64);

fn dot(c: &[f64], d: &[f64]) -> f64 {
    c.iter().zip(d).map(|(c, d)| c * d).sum()
}

fn states(d: &[f64]) -> [f64; 4] {
    [d[0] + d[1], d[2], d[3], d[4] + d[5]]
}

/// Σ y ln y of the state marginal after smoothing every one of the six entries.
fn state_entropy(d: &[f64], epsilon: f64) -> f64 {
    let smoothed: Vec<f64> = d.iter().map(|x| (1.0 - 6.0 * epsilon) * x + epsilon).collect();
    states(&smoothed).iter().filter(|y| **y > 0.0).map(|y| y * y.ln()).sum()
}

/// A formula of all inputs that there are.
fn formula(expression: &str) -> Objective {
    let mdp = model();
    let entropy = Objective::entropy(Partition::states(&mdp), 1e-3).unwrap();
    let inputs = [
        ("C1", Objective::linear(C1.to_vec()).unwrap()),
        ("C2", Objective::linear(C2.to_vec()).unwrap()),
        ("entropy()", -0.5 * entropy.shifted(-2.0)),
        ("distance(t)", Objective::squared_distance(Partition::pairs(&mdp), TARGET.to_vec()).unwrap()),
    ];
    Objective::formula(expression, &inputs).unwrap()
}

fn cases() -> Vec<Case> {
    let mdp = model();
    let pairs = || Partition::pairs(&mdp);
    let costs = [C1.to_vec(), C2.to_vec()];
    let entropy = |epsilon| Objective::entropy(Partition::states(&mdp), epsilon).unwrap();
    let linear = || Objective::linear(C1.to_vec()).unwrap();
    vec![
        ("linear", linear(), |d| dot(&C1, d)),
        ("state entropy", entropy(1e-3), |d| state_entropy(d, 1e-3)),
        ("unsmoothed entropy", entropy(0.0), |d| state_entropy(d, 0.0)),
        ("pair entropy", Objective::entropy(pairs(), 1e-4).unwrap(), |d| {
            d.iter().map(|x| (1.0 - 6e-4) * x + 1e-4).map(|y| y * y.ln()).sum()
        }),
        ("excess", Objective::excess(C1.to_vec(), 0.2).unwrap(), |d| (dot(&C1, d) - 0.2).max(0.0)),
        ("formula", formula("-C2^2/(2 + C1) + abs(C1)*exp(C2) - 2^C1 + max(0, C1 - 0.2, C2) - ln(1.5 + C1)"), |d| {
            let (x, y) = (dot(&C1, d), dot(&C2, d));
            -(y * y) / (2.0 + x) + x.abs() * y.exp() - x.exp2() + 0.0_f64.max(x - 0.2).max(y) - (1.5 + x).ln()
        }),
        ("formula of sums", formula("min(entropy(), C1)*2 - sqrt(1 + distance(t) - C2/7)"), |d| {
            let distance: f64 = d.iter().zip(TARGET).map(|(x, t)| (x - t).powi(2)).sum();
            let entropy = 1.0 - 0.5 * state_entropy(d, 1e-3);
            entropy.min(dot(&C1, d)) * 2.0 - (1.0 + distance - dot(&C2, d) / 7.0).sqrt()
        }),
        ("affine formula", formula("C1/2 - 3*(C2 - 1) + distance(t)"), |d| {
            let distance: f64 = d.iter().zip(TARGET).map(|(x, t)| (x - t).powi(2)).sum();
            dot(&C1, d) / 2.0 - 3.0 * (dot(&C2, d) - 1.0) + distance
        }),
        ("squared distance", Objective::squared_distance(pairs(), TARGET.to_vec()).unwrap(), |d| {
            d.iter().zip(TARGET).map(|(x, t)| (x - t).powi(2)).sum()
        }),
        ("absolute distance", Objective::absolute_distance(pairs(), TARGET.to_vec()).unwrap(), |d| {
            d.iter().zip(TARGET).map(|(x, t)| (x - t).abs()).sum()
        }),
        ("KL", Objective::kl_divergence(pairs(), TARGET.to_vec(), 1e-3).unwrap(), |d| {
            let smooth = |x: f64| (1.0 - 6e-3) * x + 1e-3;
            d.iter().zip(TARGET).map(|(x, t)| smooth(*x) * (smooth(*x) / smooth(t)).ln()).sum()
        }),
        ("weighted sum", Objective::weighted_sum(&costs, &[0.5, -2.0]).unwrap(), |d| {
            0.5 * dot(&C1, d) - 2.0 * dot(&C2, d)
        }),
        ("maximum", Objective::maximum(&costs).unwrap(), |d| dot(&C1, d).max(dot(&C2, d))),
        ("minimum", Objective::minimum(&costs).unwrap(), |d| dot(&C1, d).min(dot(&C2, d))),
        ("signed root", Objective::signed_power(&costs, &[1.0, 3.0], &[0.5, 1.0]).unwrap(), |d| {
            let z = dot(&C1, d);
            z.signum() * z.abs().sqrt() + 3.0 * dot(&C2, d)
        }),
        ("signed square", Objective::signed_power(&costs, &[-1.0, 0.5], &[2.0, 1.5]).unwrap(), |d| {
            let (y, z) = (dot(&C1, d), dot(&C2, d));
            -y * y.abs() + 0.5 * z.signum() * z.abs().powf(1.5)
        }),
        ("rescaled sum", (2.0 * entropy(1e-3) + -0.5 * linear()).shifted(0.75), |d| {
            2.0 * state_entropy(d, 1e-3) - 0.5 * dot(&C1, d) + 0.75
        }),
    ]
}

/// A point of the simplex: uniform, near a vertex, or a vertex.
fn point(rng: &mut Rng) -> Vec<f64> {
    let power = [1.0, 4.0, 200.0][rng::below(rng, 3) as usize];
    let mut d: Vec<f64> = (0..6).map(|_| (-(1.0 - rng::unit(rng)).ln()).powf(power)).collect();
    let sum: f64 = d.iter().sum();
    for x in &mut d {
        *x /= sum;
    }
    d
}

fn l1(d: &[f64], e: &[f64]) -> f64 {
    d.iter().zip(e).map(|(x, y)| (x - y).abs()).sum()
}

#[test]
fn values_follow_the_formulas() {
    let mut rng = rng::stream(1, 0, Purpose::Generation);
    for (name, objective, formula) in cases() {
        for _ in 0..200 {
            let d = point(&mut rng);
            let (value, expected) = (objective.value(&d), formula(&d));
            assert!((value - expected).abs() < 1e-12, "{name}: {value} instead of {expected} at {d:?}");
        }
    }
}

#[test]
fn gradients_are_the_limit_of_differences() {
    let mut rng = rng::stream(2, 0, Purpose::Generation);
    for (name, objective, _) in cases() {
        for _ in 0..100 {
            let (d, e) = (point(&mut rng), point(&mut rng));
            // Inside the simplex, where every objective is smooth unless two costs happen to tie.
            let at: Vec<f64> = d.iter().zip(&e).map(|(x, y)| 0.45 * x + 0.45 * y + 0.1 / 6.0).collect();
            let gradient = objective.gradient(&at).unwrap();
            let step = 1e-6;
            let moved =
                |sign: f64| -> Vec<f64> { at.iter().zip(&d).map(|(x, y)| x + sign * step * (y - 1.0 / 6.0)).collect() };
            let slope = (objective.value(&moved(1.0)) - objective.value(&moved(-1.0))) / (2.0 * step);
            let expected: f64 = gradient.iter().zip(&d).map(|(g, y)| g * (y - 1.0 / 6.0)).sum();
            assert!((slope - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{name}: {slope} and {expected}");
        }
    }
}

#[test]
fn gradients_exist_where_they_should() {
    let mdp = model();
    let vertex = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(Objective::entropy(Partition::states(&mdp), 0.0).unwrap().gradient(&vertex), None);
    assert!(Objective::entropy(Partition::states(&mdp), 1e-9).unwrap().gradient(&vertex).is_some());
    // C1 is 0 at this vertex: the root has no slope there, the square has slope 0.
    let root = Objective::signed_power(&[C1.to_vec()], &[1.0], &[0.5]).unwrap();
    assert_eq!(root.gradient(&vertex), None);
    let square = Objective::signed_power(&[C1.to_vec()], &[1.0], &[2.0]).unwrap();
    assert_eq!(square.gradient(&vertex), Some(vec![0.0; 6]));
    // At a tie the gradient of one of the two costs is an element of the Clarke subdifferential.
    let tie = Objective::maximum(&[C1.to_vec(), C1.to_vec()]).unwrap();
    assert_eq!(tie.gradient(&vertex), Some(C1.to_vec()));
}

#[test]
fn lipschitz_constants_and_bounds_hold() {
    let mut rng = rng::stream(3, 0, Purpose::Generation);
    for (name, objective, _) in cases() {
        let bounds = objective.bounds();
        for _ in 0..2000 {
            let (d, mut e) = (point(&mut rng), point(&mut rng));
            if rng::below(&mut rng, 2) == 0 {
                // A close neighbour, where the slope shows.
                for (y, x) in e.iter_mut().zip(&d) {
                    *y = x + 1e-5 * (*y - x);
                }
            }
            let (f, g) = (objective.value(&d), objective.value(&e));
            assert!(bounds.low <= f && f <= bounds.high, "{name}: {f} is outside {bounds:?}");
            if let Some(constant) = objective.lipschitz() {
                assert!((f - g).abs() <= constant * l1(&d, &e) * (1.0 + 1e-9) + 1e-15, "{name}: {d:?} {e:?}");
            }
        }
    }
}

#[test]
fn lipschitz_constants_do_not_exceed_the_papers() {
    let constant = |name: &str| cases().iter().find(|case| case.0 == name).unwrap().1.lipschitz();
    assert_eq!(constant("linear"), Some(2.0));
    assert!(constant("state entropy").unwrap() <= (1e-3_f64.ln() + 1.0).abs());
    assert!(constant("pair entropy").unwrap() <= (1e-4_f64.ln() + 1.0).abs());
    assert!(constant("squared distance").unwrap() <= 4.0);
    assert_eq!(constant("maximum"), Some(2.0));
    assert_eq!(constant("minimum"), Some(2.0));
    assert_eq!(constant("signed root"), None);
    assert_eq!(constant("unsmoothed entropy"), None);
    let sum = 2.0 * constant("state entropy").unwrap() + 0.5 * 2.0;
    assert!((constant("rescaled sum").unwrap() - sum).abs() < 1e-12);
}

#[test]
fn bounds_are_reached_where_they_can_be() {
    let mdp = model();
    let entropy = Objective::entropy(Partition::states(&mdp), 0.0).unwrap().bounds();
    assert!((entropy.low + 4.0_f64.ln()).abs() < 1e-9 && entropy.high.abs() < 1e-9);
    let linear = Objective::linear(C1.to_vec()).unwrap().bounds();
    assert!((linear.low + 1.0).abs() < 1e-9 && (linear.high - 2.0).abs() < 1e-9);
    // The target sums to 1.01, so no occupancy is closer than (0.01)² / 6.
    let imitation = Objective::squared_distance(Partition::pairs(&mdp), TARGET.to_vec()).unwrap().bounds();
    assert!((imitation.low - 1e-4 / 6.0).abs() < 1e-9);
}

#[test]
fn only_what_f_sees_is_carried() {
    let features = |name: &str| cases().iter().find(|case| case.0 == name).unwrap().1.feature_count();
    assert_eq!(features("linear"), 1);
    assert_eq!(features("weighted sum"), 1);
    assert_eq!(features("maximum"), 2);
    assert_eq!(features("state entropy"), 4);
    assert_eq!(features("pair entropy"), 6);
    assert!(cases().iter().filter(|case| case.1.as_linear().is_some()).count() == 2);
}

#[test]
fn mistakes_are_named() {
    let mdp = model();
    let message = |refused: Result<Objective, gumdp::ObjectiveError>| refused.unwrap_err().to_string();
    assert_eq!(message(Objective::linear(vec![0.0, f64::NAN])), "cost 1 of the objective is NaN; it must be finite");
    assert_eq!(
        message(Objective::entropy(Partition::states(&mdp), 0.5)),
        "the smoothing epsilon is 0.5; it must lie in [0, 1.6666666666666666e-1] (1 / number of entries)"
    );
    assert_eq!(
        message(Objective::kl_divergence(Partition::pairs(&mdp), TARGET.to_vec(), 0.0)),
        "the smoothing epsilon is 0; it must lie in (0, 1.6666666666666666e-1] (1 / number of entries)"
    );
    assert_eq!(
        message(Objective::squared_distance(Partition::pairs(&mdp), vec![0.5; 3])),
        "the objective has 3 targets; 6 are needed"
    );
    assert_eq!(
        message(Objective::absolute_distance(Partition::states(&mdp), vec![0.5, -0.1, 0.5, 0.1])),
        "target 1 of the objective is -0.1; it must be finite and not negative"
    );
    assert_eq!(
        message(Objective::signed_power(&[C1.to_vec()], &[1.0], &[0.0])),
        "power 0 of the objective is 0; it must be finite and positive"
    );
    assert_eq!(message(Objective::maximum(&[])), "the objective has no costs; it needs at least one");
    // No cell stands for an entry: nothing to smooth with.
    let none = || Partition::new(vec![0, 0], vec![0]).unwrap();
    assert!(Objective::entropy(none(), 0.0).is_ok());
    assert!(message(Objective::entropy(none(), f64::INFINITY)).starts_with("the smoothing epsilon is inf"));
}

#[test]
fn a_weight_of_zero_needs_no_lipschitz_constant() {
    let explore = || Objective::entropy(Partition::states(&model()), 0.0).unwrap();
    assert_eq!((explore().lipschitz(), (0.0 * explore()).lipschitz()), (None, Some(0.0)));
}

#[test]
#[should_panic(expected = "one entry for each pair")]
fn an_occupancy_of_another_length_is_refused() {
    let _ = Objective::linear(vec![1.0, 2.0]).unwrap().value(&[1.0]);
}

/// A function is asked about whole occupancies only, and solved as the objective it computes.
#[test]
fn functions_are_solved_as_what_they_compute() {
    let mdp = model();
    let solved = |objective: Objective| {
        let problem = Problem::new(mdp.clone(), objective, 0.9, 6).unwrap();
        let erm = Erm::new(3.0).unwrap();
        let exact = solve(&problem, erm, &Limits::QUICK).unwrap().value;
        let settings = GuidedSettings { budget: Budget::simulations(20), ..GuidedSettings::default() };
        let mut planner = GuidedPlanner::new(&problem, erm, settings).unwrap();
        (exact, run(&problem, &mut planner, 0, 0).unwrap().episode.cost)
    };
    let checked = |d: &[f64]| {
        assert!((d.iter().sum::<f64>() - 1.0).abs() < 1e-9 && d.iter().all(|&x| x >= 0.0));
        state_entropy(d, 0.0)
    };
    let bounds = Bounds { low: -2.0, high: 0.0 };
    let (exact, played) = solved(Objective::custom(6, bounds, checked).unwrap());
    let (expected, _) = solved(Objective::entropy(Partition::states(&mdp), 0.0).unwrap());
    assert!((exact - expected).abs() < 1e-12);
    assert!((-2.0..=0.0).contains(&played));
}

#[test]
fn functions_that_break_are_refused() {
    let everything = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
    let empty = Bounds { low: 1.0, high: 0.0 };
    let message = |result: Result<Objective, ObjectiveError>| result.unwrap_err().to_string();
    assert!(message(Objective::custom(0, everything, |_| 0.0)).contains("no pairs"));
    assert!(message(Objective::custom(6, empty, |_| 0.0)).contains("the bounds of the objective are 1 and 0"));
    for broken in [|_: &[f64]| f64::NAN, |_: &[f64]| 7.0] {
        let objective = Objective::custom(6, Bounds { low: 0.0, high: 1.0 }, broken).unwrap();
        let problem = Problem::new(model(), objective, 0.9, 3).unwrap();
        assert_eq!(solve(&problem, Erm::MEAN, &Limits::QUICK).unwrap_err(), OracleError::NotFinite);
    }
}
