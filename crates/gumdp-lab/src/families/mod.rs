//! Families of problems that nobody tuned on, as texts of problem files: the same for the same seed, others of the same kinds with
//! another. All but maps that are large or have many goals are small enough to be solved exactly.

mod aimed;
mod maps;
mod rare;

use std::fmt::Write as _;

use gumdp::rng::{self, Purpose, Rng};

use aimed::aimed;
pub use maps::{Terrain, explore};
use maps::{imitate, with_goals, with_many_goals};
use rare::rare;

/// A problem and an attitude to risk.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it has in common with others.
    pub family: &'static str,
    /// Its name.
    pub name: String,
    /// Its file.
    pub text: String,
    /// The measure, as it is written.
    pub risk: String,
}

/// The cells of all families.
pub fn cells(seed: u64) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |family: &'static str, number: u64, write: &dyn Fn(&mut Rng) -> (String, String), risks: &[&str]| {
        let mut rng = rng::stream(seed, 10_000 + 1000 * (cells_of(family)) + number, Purpose::Generation);
        let (name, text) = write(&mut rng);
        let risk = risks[rng::below(&mut rng, risks.len() as u32) as usize].to_owned();
        cells.push(Cell { family, name: format!("{name}-{number}"), text, risk });
    };
    let averse = ["mean", "erm:1", "erm:3", "erm:10"];
    let others = [
        "erm:-5",
        "erm:-1",
        "erm:50",
        "erm:300",
        "cvar:0.5",
        "cvar:0.9",
        "evar:0.5",
        "evar:0.9",
        "mean-cvar:0.9:0.5",
        "worst",
        "var:0.8",
    ];
    for number in 0..48 {
        add("sparse", number, &|rng| sparse(rng, number as usize, 1.0), &averse);
    }
    for number in 0..32 {
        add("aimed", number, &|rng| aimed(rng, number as usize, 1.0), &averse);
    }
    for number in 0..20 {
        add("maps", number, &|rng| with_goals(rng, number as usize), &averse);
    }
    for number in 0..33 {
        let write = |rng: &mut Rng| {
            if number % 2 == 0 { sparse(rng, number as usize, 1.0) } else { aimed(rng, number as usize, 1.0) }
        };
        add("risks", number, &write, &others[number as usize % others.len()..][..1]);
    }
    for number in 0..12 {
        add("long", number, &|rng| long(rng, number as usize), &averse);
    }
    for number in 0..24 {
        let write = |rng: &mut Rng| {
            let discount = [0.9, 0.95, 0.98][rng::below(rng, 3) as usize];
            if number % 2 == 0 {
                sparse(rng, 3 + number as usize, discount)
            } else {
                aimed(rng, number as usize, discount)
            }
        };
        add("discounted", number, &write, &averse);
    }
    for number in 0..10 {
        add("many", number, &|rng| with_many_goals(rng, number as usize), &averse);
    }
    let attitudes = ["mean", "erm:1", "erm:10", "erm:-1", "erm:50", "cvar:0.9", "evar:0.9", "mean"];
    for number in 0..24 {
        add("rare", number, &|rng| rare(rng, number as usize), &attitudes[number as usize % attitudes.len()..][..1]);
    }
    for number in 0..6 {
        let terrain = Terrain { share: 0.25, stuck: 0.1, unstuck: 0.03 };
        let write = |rng: &mut Rng| match number % 2 {
            0 => ("explore".to_owned(), explore(6 + 3 * number as usize, 60 + 20 * number as usize, &terrain, rng)),
            _ => ("imitate".to_owned(), imitate(5 + 3 * number as usize, 50 + 10 * number as usize, &terrain, rng)),
        };
        add("large", number, &write, &averse);
    }
    cells
}

fn cells_of(family: &str) -> u64 {
    family.bytes().map(u64::from).sum()
}

fn between(rng: &mut Rng, low: u32, high: u32) -> usize {
    (low + rng::below(rng, high - low + 1)) as usize
}

/// A number with two digits.
fn about(rng: &mut Rng, low: f64, high: f64) -> f64 {
    ((low + (high - low) * rng::unit(rng)) * 100.0).round() / 100.0
}

/// A state, an action, and where it leads with which probability.
type Row = (usize, usize, Vec<(usize, f64)>);

/// An explicit model.
struct Model {
    states: Vec<String>,
    actions: Vec<String>,
    rows: Vec<Row>,
}

impl Model {
    fn text(&self, discount: f64, horizon: usize, objective: &str) -> String {
        let names = |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let (states, actions) = (names(&self.states), names(&self.actions));
        let start = &self.states[0];
        let mut text = format!(
            "kind = \"explicit\"\nstates = [{states}]\nactions = [{actions}]\nstart = \"{start}\"\ndiscount = {discount}\n\
             horizon = {horizon}\ntransitions = [\n"
        );
        for (from, action, to) in &self.rows {
            let to: Vec<String> = to.iter().map(|(next, p)| format!("{} = {p}", self.states[*next])).collect();
            let (from, action, to) = (&self.states[*from], &self.actions[*action], to.join(", "));
            let _ = writeln!(text, "  {{ from = \"{from}\", action = \"{action}\", to = {{ {to} }} }},");
        }
        let _ = write!(text, "]\n[objective]\n{objective}\n");
        text
    }
}

fn named(letter: char, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{letter}{number}")).collect()
}

/// Next states with probabilities in percent.
fn outcomes(rng: &mut Rng, states: usize, most: usize) -> Vec<(usize, f64)> {
    let count = between(rng, 1, most as u32).min(states);
    let mut others: Vec<usize> = (0..states).collect();
    let mut left = 100;
    (0..count)
        .map(|number| {
            let next = others.swap_remove(rng::below(rng, others.len() as u32) as usize);
            let kept = 5 * (count - number - 1) as u32;
            let percent = if kept == 0 { left } else { 5 + rng::below(rng, left - kept - 5 + 1) };
            left -= percent;
            (next, f64::from(percent) / 100.0)
        })
        .collect()
}

/// The states in a random set, as a feature.
fn some_states(rng: &mut Rng, states: usize, count: usize) -> String {
    let mut others: Vec<usize> = (1..states).collect();
    let chosen = (0..count.min(states - 1)).map(|_| others.swap_remove(rng::below(rng, others.len() as u32) as usize));
    let chosen: Vec<String> = chosen.map(|state| format!("s{state} = 1")).collect();
    format!("{{ {} }}", chosen.join(", "))
}

/// A sparse random model with any kind of objective.
fn sparse(rng: &mut Rng, number: usize, discount: f64) -> (String, String) {
    let kinds = [
        "entropy",
        "squared",
        "coverage",
        "absolute",
        "max",
        "min",
        "product",
        "threshold",
        "targets",
        "roots",
        "linear",
        "smooth",
    ];
    let kind = kinds[number % kinds.len()];
    let many = matches!(kind, "entropy" | "squared" | "coverage" | "absolute" | "smooth");
    let states = if many { between(rng, 4, 6) } else { between(rng, 5, 20) };
    let actions = between(rng, 2, 3);
    let horizon = match (many, discount < 1.0) {
        (true, false) => between(rng, 10, 16),
        (false, false) => between(rng, 14, 36),
        (_, true) => between(rng, 8, 11),
    };
    let mut rows = Vec::new();
    for state in 0..states {
        for action in 0..actions {
            rows.push((state, action, outcomes(rng, states, 3)));
        }
    }
    let model = Model { states: named('s', states), actions: named('a', actions), rows };
    let group = |rng: &mut Rng| some_states(rng, states, 1 + states / 6);
    let costs = |rng: &mut Rng| {
        let costs: Vec<String> =
            (0..states).map(|state| format!("s{state} = {}", f64::from(rng::below(rng, 9)) / 4.0 - 1.0)).collect();
        format!("{{ {} }}", costs.join(", "))
    };
    let pairs = |rng: &mut Rng| {
        let weights: Vec<u32> = (0..states * actions).map(|_| rng::below(rng, 4)).collect();
        let sum: u32 = weights.iter().sum::<u32>().max(1);
        weights.iter().map(|&weight| f64::from(weight) / f64::from(sum)).collect::<Vec<_>>()
    };
    let formula = |expression: String, x: String, y: String| {
        format!("kind = \"formula\"\nexpression = \"{expression}\"\nfeatures = {{ x = {x}, y = {y} }}")
    };
    let objective = match kind {
        "entropy" => "kind = \"entropy\"\nover = \"states\"".to_owned(),
        "squared" => format!("kind = \"squared-distance\"\nover = \"pairs\"\ntarget = {:?}", pairs(rng)),
        "absolute" => format!("kind = \"absolute-distance\"\nover = \"pairs\"\ntarget = {:?}", pairs(rng)),
        "coverage" => "kind = \"coverage\"".to_owned(),
        "smooth" => "kind = \"coverage\"\nsmooth = 0.1".to_owned(),
        "max" => formula("max(-x, -y)".to_owned(), group(rng), group(rng)),
        "min" => format!("kind = \"minimum\"\ncosts = [{}, {}]", costs(rng), costs(rng)),
        "product" => formula("-4*x*y".to_owned(), group(rng), group(rng)),
        "threshold" => {
            let share = about(rng, 0.15, 0.4);
            formula(format!("min(1, max(0, ({share} - y)*50)) + x"), group(rng), group(rng))
        }
        "targets" => {
            let (a, b) = (about(rng, 0.1, 0.4), about(rng, 0.1, 0.4));
            formula(format!("abs(x - {a}) + 2*abs(y - {b})"), group(rng), group(rng))
        }
        "roots" => formula("2*y - sqrt(x)".to_owned(), group(rng), group(rng)),
        _ => format!("kind = \"linear\"\ncost = {}", costs(rng)),
    };
    (format!("sparse-{kind}"), model.text(discount, horizon, &objective))
}

/// Few features over long horizons.
fn long(rng: &mut Rng, number: usize) -> (String, String) {
    let states = between(rng, 3, 8);
    let mut rows = Vec::new();
    for state in 0..states {
        for action in 0..2 {
            rows.push((state, action, outcomes(rng, states, 2)));
        }
    }
    let model = Model { states: named('s', states), actions: named('a', 2), rows };
    let (x, y) = (some_states(rng, states, 1), some_states(rng, states, 1));
    let share = about(rng, 0.1, 0.4);
    let expression = [
        format!("abs(x - {share})"),
        format!("max(-x, {share} - 2*x)"),
        "x*(1 - x)".to_owned(),
        "-sqrt(x) + y".to_owned(),
    ];
    let expression = &expression[number % 4];
    let horizon = between(rng, 200, 400);
    let features = if expression.contains('y') { format!("{{ x = {x}, y = {y} }}") } else { format!("{{ x = {x} }}") };
    let objective = format!("kind = \"formula\"\nexpression = \"{expression}\"\nfeatures = {features}");
    ("long".to_owned(), model.text(1.0, horizon, &objective))
}
