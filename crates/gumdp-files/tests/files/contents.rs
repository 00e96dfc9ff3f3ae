//! What files can say: states, costs, maps, defaults, settings.

use std::fmt::Write as _;

use gumdp::State;
use gumdp_files::{PlannerVariant, Scene};

use super::{EXPLICIT, GRID, parse};

#[test]
fn what_is_left_out_has_defaults() {
    let task = parse(&EXPLICIT.replace("[experiment]\nbeta = [0, 1]\n", "")).unwrap();
    assert_eq!((task.name.as_str(), task.title.as_str(), task.description.as_str()), ("my", "my", ""));
    assert_eq!(task.defaults, gumdp_files::Defaults::default());
    assert_eq!(task.defaults.betas, [0.1, 1.0, 10.0]);
    assert_eq!((task.defaults.runs, task.defaults.simulations), (100, 500));
    assert_eq!(task.defaults.exploration, 2.0_f64.sqrt());
    assert_eq!(task.defaults.variant, PlannerVariant::Grid);
    assert!(task.scripts.is_empty());
    let worst = parse(&EXPLICIT.replace("[0, 1]", "[0, inf, -inf, 2]")).unwrap();
    assert_eq!(worst.defaults.betas, [0.0, f64::INFINITY, f64::NEG_INFINITY, 2.0]);
}

#[test]
fn costs_of_states_groups_and_actions_add_up() {
    let text = EXPLICIT
        .replace("\"go\"]", "\"go\", \"run\"]")
        .replace("action = \"go\"", "action = \"*\"")
        .replace("{ y = 1 }", "{ y = 1, both = 10, \"*/run\" = 100, \"x/go\" = 1000 }")
        + "[groups]\nboth = [\"x\", \"y\"]\n";
    let (costs, _) = parse(&text).unwrap().problem.objective().as_linear().unwrap();
    assert_eq!(costs, [1010.0, 110.0, 11.0, 111.0]);
}

#[test]
fn sums_scales_and_ranges() {
    let sum = "kind = \"sum\"\nscale = 2\noffset = 1\nrange = [-1, 3]\nterms = [\n\
               { kind = \"linear\", cost = { y = 1 }, weight = 3 },\n\
               { kind = \"absolute-distance\", over = \"states\", target = { x = 1 } },\n]";
    let task = parse(&EXPLICIT.replace("kind = \"linear\"\ncost = { y = 1 }", sum)).unwrap();
    let f = 3.0 * 0.25 + 0.25 + 0.25;
    assert!((task.problem.objective().value(&[0.75, 0.25]) - (2.0 * f + 1.0 + 1.0) / 4.0).abs() < 1e-15);
}

#[test]
fn accuracy_gives_the_horizon() {
    let task = parse(&EXPLICIT.replace("horizon = 5", "accuracy = 0.01")).unwrap();
    assert_eq!(task.problem.horizon(), gumdp::Problem::horizon_for(task.problem.objective(), 0.9, 0.01).unwrap());
}

#[test]
fn walls_are_not_cells_and_enemies_need_no_home() {
    let task = parse(GRID).unwrap();
    let mdp = task.problem.mdp();
    let names: Vec<&str> = mdp.states().map(|s| mdp.state_name(s)).collect();
    assert_eq!(names, ["(0,0)", "(0,1)", "(0,2)", "(0,2) stuck", "(1,1)", "(1,2)", "defeated", "over"]);
    // 5 cells without the wall, and one each for the two states in no cell; 4 actions.
    assert_eq!(task.problem.objective().feature_count(), 7 * 4);
    let down = mdp.pair(State::from(0), mdp.find_action("down").unwrap()).unwrap();
    assert_eq!(mdp.successors(down).collect::<Vec<_>>(), [(State::from(0), 1.0)]);
    let Scene::Grid(scene) = task.scene else { panic!("not a grid") };
    assert_eq!(scene.behaviour, [0, 1, 4, 5]);
    assert_eq!(scene.terrain(2).name, "mud");
    assert!(scene.terrain(3).wall);
}

#[test]
fn large_files_are_read() {
    let mut map = format!("S{}\n", ".".repeat(299));
    for _ in 1..300 {
        writeln!(map, "{}", ".~".repeat(150)).unwrap();
    }
    let text = GRID
        .replace("S.~\n#.1\n", &map)
        .replace("kind = \"squared-distance\"\nbehaviour = [0, 1, 4, 5]", "kind = \"entropy\"");
    assert_eq!(parse(&text).unwrap().problem.mdp().state_count(), 300 * 300 + 299 * 150);

    let count = 100_000;
    let names: Vec<String> = (0..count).map(|n| format!("\"n{n}\"")).collect();
    let mut text = format!(
        "kind = \"explicit\"\nstates = [{}]\nactions = [\"go\"]\nstart = \"n0\"\ndiscount = 0.9\nhorizon = 5\n",
        names.join(", ")
    );
    text.push_str("[objective]\nkind = \"linear\"\ncost = { n7 = 1 }\n");
    for n in 0..count {
        writeln!(text, "[[transition]]\nfrom = \"n{n}\"\naction = \"go\"\nto = \"n{}\"", (n * 7 + 1) % count).unwrap();
    }
    assert_eq!(parse(&text).unwrap().problem.mdp().state_count(), count);
    let message = parse(&text.replace("to = \"n1\"\n", "to = \"m\"\n")).unwrap_err().to_string();
    assert!(message.ends_with("unknown state \"m\""), "{message}");
    let all = "from = \"*\"\naction = \"*\"\nto = { n0 = 0.5 }\n[[transition]]\n".repeat(300);
    let message = parse(&text.replacen("from", &format!("{all}from"), 1)).unwrap_err().message;
    assert_eq!(message, "the model has more than 20000000 transitions; at most that many are read");
}

#[test]
fn one_way_cells_goals_and_costs_of_cells() {
    let text = r#"kind = "grid"
discount = 0.9
horizon = 5
slip = 0.2
map = """
S>.G
"""
[legend]
"S" = "start"
"." = { cost = 0.25 }
">" = { one_way = "right", cost = 1 }
"G" = "goal"
[objective]
kind = "linear"
"#;
    let task = parse(text).unwrap();
    let mdp = task.problem.mdp();
    let state = |column: u32| mdp.find_state(&format!("(0,{column})")).unwrap();
    let reached = |column: u32, action: &str| {
        let pair = mdp.pair(state(column), mdp.find_action(action).unwrap()).unwrap();
        let mut reached: Vec<(State, f64)> = mdp.successors(pair).collect();
        reached.sort_by_key(|(state, _)| state.index());
        reached
    };
    assert_eq!(reached(1, "left"), [(state(1), 1.0)]);
    assert_eq!(reached(1, "right").last().unwrap().0, state(2));
    assert!(reached(1, "up").iter().any(|&(to, p)| to == state(2) && (p - 0.1).abs() < 1e-12), "slips obey it too");
    for action in ["left", "up", "right", "down"] {
        assert_eq!(reached(3, action), [(state(3), 1.0)]);
    }
    let (costs, _) = task.problem.objective().as_linear().unwrap();
    let cost = |column: u32| costs[mdp.pairs(state(column)).start as usize];
    assert_eq!([cost(0), cost(1), cost(2), cost(3)], [0.0, 1.0, 0.25, 0.0]);
    let formula = text.replace("kind = \"linear\"", "kind = \"formula\"\nexpression = \"cost^2\"");
    assert!(parse(&formula).unwrap().problem.objective().to_string().contains("cost^2"));
    let refused = |from: &str, to: &str| parse(&text.replace(from, to)).unwrap_err().to_string();
    assert!(
        refused("one_way = \"right\"", "one_way = \"east\"")
            .contains("it must be \"left\", \"up\", \"right\" or \"down\"")
    );
    assert!(refused("\"goal\"", "{ absorbing = true, enemy = 0.5 }").contains("an absorbing cell is never left"));
    assert!(refused("cost = 0.25", "cost = inf").contains("it must be finite"));
}

#[test]
fn many_resources_can_be_gathered() {
    let map: String = ('a'..='t').collect();
    let mut legend = String::new();
    for c in 'a'..='t' {
        writeln!(legend, "\"{c}\" = {{ resource = \"r{c}\", one_way = \"right\" }}").unwrap();
    }
    let text = format!(
        "kind = \"grid\"\ndiscount = 0.9\nhorizon = 30\nmap = \"S{map}H\"\n[legend]\nS = {{ start = true, one_way = \"right\" }}\n\
         H = \"home\"\n{legend}[objective]\nkind = \"linear\"\ncost = {{ delivered-rt = -1 }}\n"
    );
    let task = parse(&text).unwrap();
    assert!(
        task.problem.mdp().states().any(|state| task.problem.mdp().state_name(state).starts_with("home with ra+rb"))
    );
}

#[test]
fn settings_of_the_guided_planner() {
    let text = format!("{EXPLICIT}[planner.guided]\nreach = inf\nexploration = 0.1\nrollouts = 2\n");
    let guided = parse(&text).unwrap().defaults.guided;
    assert_eq!((guided.reach, guided.exploration), (f64::INFINITY, 0.1));
    assert_eq!((guided.rollouts, guided.budget.simulations), (2, Some(500)));
    let refused = |from: &str, to: &str| parse(&text.replace(from, to)).unwrap_err().to_string();
    assert!(refused("reach = inf", "reach = nan").contains("planner.guided.reach is NaN; it must not be negative"));
    assert!(
        refused("rollouts = 2", "rollouts = 0").contains("planner.guided.rollouts is 0; it must lie in [1, 1000000]")
    );
}
