//! Formulas: what they mean, what is refused, and that one that breaks stops whoever meets it.

use exmex::Express;
use gumdp::oracle::{Limits, OracleError, decide, distribution, solve};
use gumdp::rng::{self, Purpose};
use gumdp::{
    Budget, EpisodeError, Erm, GuidedPlanner, GuidedSettings, Mdp, Objective, ObjectiveError, Planner, PlannerSettings,
    Policy, PolicyFailure, Problem, Uniform, run,
};
use proptest::prelude::*;

fn linear(costs: &[f64]) -> Objective {
    Objective::linear(costs.to_vec()).unwrap()
}

/// Three pairs; x and y are their first and second cost.
fn inputs() -> [(&'static str, Objective); 2] {
    [("x", linear(&[1.0, 0.0, 0.5])), ("y", linear(&[-1.0, 2.0, 0.25]))]
}

/// The value at an occupancy with x = 0.5 and y = 0.25.
fn value(expression: &str) -> f64 {
    Objective::formula(expression, &inputs()).unwrap().value(&[0.0, 0.0, 1.0])
}

#[test]
fn operators_bind_as_in_mathematics() {
    for (expression, expected) in [
        ("x + 1 - 2", -0.5),
        ("10 - 2 - 3 + 0*x", 5.0),
        ("24 / 4 / 2 + 0*x", 3.0),
        ("2 + 3 * 4 ^ 2 + 0*x", 50.0),
        ("-2^2 + 0*x", -4.0),
        ("(-2)^2 + 0*x", 4.0),
        ("2^-1 + 0*x", 0.5),
        ("2^3^2 + 0*x", 512.0),
        ("--x", 0.5),
        ("2*-x", -1.0),
        ("max(1, max(2, x), -3)", 2.0),
        ("min(max(x, y), 7, x*x)", 0.25),
        ("sqrt(x*x) + abs(-x) + exp(0*x) + ln(exp(y))", 0.5 + 0.5 + 1.0 + 0.25),
        ("1e-3 + 2.5E2 + .5 + 3. + 0*x", 253.501),
        (" ( ( x ) ) ", 0.5),
    ] {
        assert!((value(expression) - expected).abs() < 1e-12, "{expression}: {}", value(expression));
    }
    // Names may begin like functions.
    let inputs = [("maximum_load", linear(&[1.0])), ("min2", linear(&[3.0])), ("größe", linear(&[2.0]))];
    let formula = Objective::formula("max(maximum_load, min2)*größe", &inputs).unwrap();
    assert_eq!(formula.value(&[1.0]), 6.0);
}

#[test]
fn mistakes_are_found_at_their_place() {
    let message = |expression: &str| Objective::formula(expression, &inputs()).unwrap_err().to_string();
    for (expression, expected) in [
        ("", "the expression is wrong at character 1: the expression ends where a number or a name is needed"),
        ("x +", "the expression is wrong at character 4: the expression ends where a number or a name is needed"),
        ("x y", "the expression is wrong at character 3: an operator such as + or * is missing here"),
        ("2x", "the expression is wrong at character 2: an operator such as + or * is missing here"),
        ("(x", "the expression is wrong at character 3: a ) is missing here"),
        ("x)", "the expression is wrong at character 2: this ) closes nothing"),
        ("x, y", "the expression is wrong at character 2: a comma stands only between the arguments of min and max"),
        ("x ** 2", "the expression is wrong at character 3: ** is not an operator; a power is written with ^"),
        ("x * % 2", "the expression is wrong at character 5: a number, a name or ( is needed here, not '%'"),
        ("max(x)", "the expression is wrong at character 1: max has one argument; it needs at least two"),
        ("sqrt(x, y)", "the expression is wrong at character 1: sqrt has 2 arguments; it needs one"),
        ("1 + ln x", "the expression is wrong at character 5: ln is a function; its argument follows in parentheses"),
        ("1e999*x", "the expression is wrong at character 1: 1e999 is too large for a number"),
        ("x + z", "the expression has an unknown name at character 5: \"z\""),
        ("log(x + 1)", "the expression has an unknown name at character 1: \"log\""),
        ("3", "the objective has no inputs in its expression; it needs at least one"),
    ] {
        assert_eq!(message(expression), expected, "{expression}");
    }
    for deep in ["(".repeat(5000), "-".repeat(5000), "x^".repeat(3000), format!("{}x", "sqrt(".repeat(700))] {
        assert!(message(&deep).contains("the expression is"), "{deep}");
    }
    let named_max = Objective::formula("max", &[("max", linear(&[1.0]))]).unwrap_err();
    assert_eq!(named_max, ObjectiveError::ReservedName("max".to_owned()));
    let nested = Objective::maximum(&[vec![1.0], vec![2.0]]).unwrap();
    let refused = Objective::formula("sqrt(a)", &[("a", nested)]).unwrap_err().to_string();
    assert_eq!(refused, "the input \"a\" of the expression must be linear, an entropy or a distance");
    let other_length = [("x", linear(&[1.0])), ("y", linear(&[1.0, 2.0]))];
    assert!(Objective::formula("x*y", &other_length).is_err());
}

#[test]
fn weighted_sums_are_recognised() {
    let linear_one = Objective::formula("x/2 - 3*(y - 1) + -x*2^2", &inputs()).unwrap();
    let (costs, constant) = linear_one.as_linear().unwrap();
    assert_eq!((costs, constant), (vec![-0.5, -6.0, -2.5], 3.0));
    for other in ["x*y", "max(0, x)", "abs(y)", "2/(x + 1)", "x^2"] {
        assert!(Objective::formula(other, &inputs()).unwrap().as_linear().is_none(), "{other}");
    }
}

#[test]
fn formulas_that_break_are_refused_with_the_point() {
    let refused = |expression: &str| Objective::formula(expression, &inputs()).unwrap_err().to_string();
    assert_eq!(refused("ln(x)"), "the formula is -inf at the occupancy with 1.0000 in pair 1");
    assert_eq!(refused("sqrt(y)"), "the formula is NaN at the occupancy with 1.0000 in pair 0");
    // Halfway between two pairs only.
    assert!(refused("1/(x - 0.5)").starts_with("the formula is inf at"), "{}", refused("1/(x - 0.5)"));
    assert_eq!(
        refused("1/(2*x - 0.25)"),
        "the formula is inf at the occupancy with 0.8750 in pair 1, 0.1250 in pair 0"
    );
    // max and min do not hide what is not a number.
    assert!(refused("max(0, sqrt(y))").contains("NaN") && refused("min(sqrt(y), 0)").contains("NaN"));
    assert!(refused("exp(1000*x)").contains("inf"));
}

/// Staying costs x, leaving does not; three steps, each with a third of the occupancy. The formula breaks at x = 1/3, which
/// no sample finds.
fn breaking() -> Problem {
    let mdp = Mdp::named(["s"], ["stay", "leave"])
        .start("s")
        .transition("s", "stay", [("s", 1.0)])
        .transition("s", "leave", [("s", 1.0)])
        .build()
        .unwrap();
    let formula = Objective::formula("1/(3*x - 1)", &[("x", linear(&[1.0, 0.0]))]).unwrap();
    Problem::new(mdp, formula, 1.0, 3).unwrap()
}

#[test]
fn whoever_meets_what_is_not_finite_stops() {
    let problem = breaking();
    let start = problem.start(problem.mdp().initial()[0].0);
    let mut rng = rng::stream(0, 0, Purpose::Policy);
    for beta in [0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY] {
        let erm = Erm::new(beta).unwrap();
        for settings in [PlannerSettings::paper_grid(), PlannerSettings { workers: 3, ..PlannerSettings::paper_grid() }]
        {
            let mut planner = Planner::new(&problem, erm, settings).unwrap();
            assert_eq!(planner.decide(&start, &mut rng).unwrap_err(), PolicyFailure::NotFinite);
            let error = run(&problem, &mut planner, 0, 0).unwrap_err().error;
            assert_eq!(
                error,
                EpisodeError::Policy { time: 0, state: "s".to_owned(), failure: PolicyFailure::NotFinite }
            );
        }
        let mut guided = GuidedPlanner::new(&problem, erm, GuidedSettings::default()).unwrap();
        assert_eq!(guided.decide(&start, &mut rng).unwrap_err(), PolicyFailure::NotFinite);
        assert!(run(&problem, &mut guided, 0, 0).is_err());
        assert_eq!(solve(&problem, erm, &Limits::default()).unwrap_err(), OracleError::NotFinite);
        assert_eq!(decide(&problem, erm, &start, &Limits::default()).unwrap_err(), OracleError::NotFinite);
    }
    let uniform = Uniform::new(&problem);
    assert_eq!(distribution(&problem, &uniform, &Limits::default()).unwrap_err(), OracleError::NotFinite);
    let met = (0..50).filter_map(|number| run(&problem, &mut Uniform::new(&problem), 0, number).err());
    assert!(met.clone().count() > 5 && met.into_iter().all(|error| error.error == EpisodeError::NotFinite));
}

/// A formula that has no value before its end, and bounds that say nothing, is planned and solved all the same.
#[test]
fn values_before_the_end_are_not_needed() {
    let mdp = Mdp::named(["s", "t"], ["a", "b"])
        .start("s")
        .transition("s", "a", [("s", 0.5), ("t", 0.5)])
        .transition("s", "b", [("t", 1.0)])
        .transition("t", "a", [("s", 1.0)])
        .transition("t", "b", [("s", 0.9), ("t", 0.1)])
        .build()
        .unwrap();
    let inputs = [("u", linear(&[1.0, 2.0, 1.5, 4.0])), ("v", linear(&[0.0, 1.0, -1.0, 0.5]))];
    let formula = Objective::formula("v/u + ln(u) + 1/(v - v + u)", &inputs).unwrap();
    assert!(formula.bounds().high.is_infinite());
    let problem = Problem::new(mdp, formula, 0.9, 6).unwrap();
    let erm = Erm::new(3.0).unwrap();
    let solution = solve(&problem, erm, &Limits::default()).unwrap();
    let settings = GuidedSettings {
        budget: Budget::simulations(2000),
        lattice: false,
        pilots: false,
        ..GuidedSettings::default()
    };
    let mut planner = GuidedPlanner::new(&problem, erm, settings).unwrap();
    let start = problem.start(problem.mdp().initial()[0].0);
    let decision = planner.decide(&start, &mut rng::stream(0, 0, Purpose::Policy)).unwrap();
    assert!((decision.root_estimate - solution.value).abs() < 1e-6);
    let never = GuidedSettings { reach: 0.0, lattice: false, pilots: false, ..GuidedSettings::default() };
    let marginal = GuidedPlanner::new(&problem, erm, never)
        .unwrap()
        .decide(&start, &mut rng::stream(0, 0, Purpose::Policy))
        .unwrap();
    assert!(marginal.reasons.iter().all(|reason| reason.erm.is_finite()));
}

#[test]
fn simulations_allocate_nothing() {
    let task = gumdp_files::tasks::get("msee").unwrap().problem;
    let states = gumdp::Partition::states(task.mdp());
    let mut costs = vec![0.0; task.mdp().pair_count()];
    costs[0] = 1.0;
    let inputs = [("x", linear(&costs)), ("entropy()", Objective::entropy(states, 0.0).unwrap())];
    let formula = Objective::formula("sqrt(x) + max(entropy(), -1) + 2^(1/(1 + exp(-x)))", &inputs).unwrap();
    let problem = Problem::new(task.mdp().clone(), formula, 0.99, 20).unwrap();
    // It could be solved, too: nothing would be simulated.
    let settings =
        GuidedSettings { budget: Budget::simulations(200), lattice: false, pilots: false, ..GuidedSettings::default() };
    let mut planner = GuidedPlanner::new(&problem, Erm::new(5.0).unwrap(), settings).unwrap();
    for _ in 0..2 {
        let _ = run(&problem, &mut planner, 0, 0).unwrap();
    }
    let allocated = allocation_counter::measure(|| {
        let _ = run(&problem, &mut planner, 0, 0).unwrap();
    });
    // The episode itself allocates its features and its path.
    assert_eq!(allocated.count_total, 2);
}

/// An expression with all parentheses, and no function of two arguments in the second: exmex reads those wrong.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_owned()),
        Just("y".to_owned()),
        (0_u32..40).prop_map(|number| format!("{}", f64::from(number) / 8.0)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), prop::sample::select(vec!["+", "-", "*", "/"]))
                .prop_map(|(a, b, operator)| format!("({a} {operator} {b})")),
            (inner.clone(), 0_u32..4).prop_map(|(a, power)| format!("(({a})^{power})")),
            (inner.clone(), prop::sample::select(vec!["abs", "exp", "sqrt", "ln", "-", "+"]))
                .prop_map(|(a, function)| format!("({function}({a}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Another implementation finds the same values, and bounds hold.
    #[test]
    fn values_are_those_of_exmex(expression in expression(), a in 0.0..1.0, b in 0.0..1.0) {
        let text = format!("({expression}) + 0*x + 0*y");
        let Ok(formula) = Objective::formula(&text, &inputs()) else { return Ok(()) };
        let (a, b): (f64, f64) = (a, b);
        let point = [a * b, a * (1.0 - b), 1.0 - a];
        let value = formula.value(&point);
        let bounds = formula.bounds();
        prop_assert!(value.is_nan() || (bounds.low <= value && value <= bounds.high), "{text}: {value} in {bounds:?}");
        let (x, y) = (inputs()[0].1.value(&point), inputs()[1].1.value(&point));
        let reference = exmex::parse::<f64>(&text).unwrap().eval(&[x, y]).unwrap();
        prop_assert!(
            value == reference
                || (value - reference).abs() <= 1e-9 * (1.0 + reference.abs())
                || (value.is_nan() && reference.is_nan()),
            "{text}: {value} and {reference}"
        );
    }

    /// Nothing that anyone types makes it panic.
    #[test]
    fn any_text_is_read_or_refused(text in "[-+*/^(),.0-9a-z _e]{0,40}|\\PC{0,30}") {
        let _ = Objective::formula(&text, &inputs());
    }
}

/// Why formulas are not read by exmex, which tests them: it refuses or misreads what people write.
#[test]
fn exmex_is_not_enough() {
    let read = |text: &str| exmex::parse::<f64>(text);
    assert_eq!(exmex::eval_str::<f64>("-2^2").unwrap(), 4.0);
    assert!(!matches!(exmex::eval_str::<f64>("max(1, max(2, 3))"), Ok(3.0)));
    assert!(read("max(1, 2, 3)").is_err());
    assert!(!read("max_load").is_ok_and(|read| read.var_names() == ["max_load"]));
}
