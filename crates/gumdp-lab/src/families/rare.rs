//! Rare ruin: catastrophes that are met once in 50 to 1000 steps, where features are so many that simulations have to decide.

use gumdp::rng::{self, Rng};

use super::{Model, about, between, named, outcomes};

/// Maps with mines and models with traps.
pub fn rare(rng: &mut Rng, number: usize) -> (String, String) {
    if number.is_multiple_of(2) { mined(rng, number / 2) } else { trapped(rng, number / 2) }
}

/// How likely ruin is in a step where it can happen.
fn chance(rng: &mut Rng) -> f64 {
    [0.001, 0.003, 0.01, 0.02][rng::below(rng, 4) as usize]
}

/// A map with goals, and mines on many of the ways between them.
fn mined(rng: &mut Rng, number: usize) -> (String, String) {
    let (side, goals) = (between(rng, 5, 7), between(rng, 5, 8));
    let mut free: Vec<usize> = (0..side * side).collect();
    let mut take = |rng: &mut Rng| free.swap_remove(rng::below(rng, free.len() as u32) as usize);
    let mut cells: Vec<char> = (0..side * side).map(|_| if rng::unit(rng) < 0.45 { '*' } else { '.' }).collect();
    cells[take(rng)] = 'S';
    for sign in ('A'..).take(goals) {
        cells[take(rng)] = sign;
    }
    let horizon = between(rng, 16, 40);
    let price = about(rng, 2.0, 12.0);
    // One step in ruin, whatever the horizon.
    let ruin = format!("{}*r", price * horizon as f64);
    let each = |write: &dyn Fn(usize) -> String, between: &str| (0..goals).map(write).collect::<Vec<_>>().join(between);
    let features = each(&|k| format!("x{k} = {{ g{k} = 1 }}"), ", ");
    let (name, gains) = match number % 3 {
        0 => ("roots", each(&|k| format!("sqrt(x{k})"), " + ")),
        1 => ("fair", format!("{horizon}*min({})", each(&|k| format!("x{k}"), ", "))),
        _ => ("shares", each(&|k| format!("min(1, 20*x{k})"), " + ")),
    };
    let legend = each(&|k| format!("\"{}\" = {{ name = \"g{k}\" }}", char::from(b'A' + k as u8)), "\n");
    let slip = [0.0, 0.1, 0.2][rng::below(rng, 3) as usize];
    let rows: Vec<String> = cells.chunks(side).map(|row| row.iter().collect()).collect();
    let text = format!(
        "kind = \"grid\"\ndiscount = 1\nhorizon = {horizon}\nslip = {slip}\nmap = \"\"\"\n{}\n\"\"\"\n[legend]\n\".\" = \"floor\"\n\
         \"S\" = \"start\"\n\"*\" = {{ name = \"mined\", enemy = {} }}\n{legend}\n[objective]\nkind = \"formula\"\n\
         expression = \"{ruin} - ({gains})\"\nfeatures = {{ r = {{ defeated = 1 }}, {features} }}\n",
        rows.join("\n"),
        chance(rng)
    );
    (format!("mined-{name}"), text)
}

/// A sparse random model where one action of a state is quicker and may end in ruin, for good.
fn trapped(rng: &mut Rng, number: usize) -> (String, String) {
    let (states, actions) = (between(rng, 7, 9), 3);
    let p = chance(rng);
    let ruin = states;
    let mut rows = vec![(ruin, 0, vec![(ruin, 1.0)])];
    for state in 0..states {
        for action in 0..actions - 1 {
            rows.push((state, action, outcomes(rng, states, 3)));
        }
        // Where it wants to go, but for ruin.
        let to = (state + 1 + rng::below(rng, states as u32 - 1) as usize) % states;
        rows.push((state, actions - 1, vec![(to, 1.0 - p), (ruin, p)]));
    }
    let model = Model { states: named('s', states + 1), actions: named('a', actions), rows };
    let each =
        |write: &dyn Fn(usize) -> String, between: &str| (1..states).map(write).collect::<Vec<_>>().join(between);
    let features = each(&|k| format!("x{k} = {{ s{k} = 1 }}"), ", ");
    let (name, gains) = match number % 3 {
        0 => ("roots", each(&|k| format!("sqrt(x{k})"), " + ")),
        1 => ("shares", each(&|k| format!("min(1, 10*x{k})"), " + ")),
        _ => ("squares", format!("2 - 4*({})", each(&|k| format!("(x{k} - 0.1)^2"), " + "))),
    };
    // Ruin costs what it costs however late it comes.
    let price = about(rng, 2.0, 10.0);
    let objective = format!(
        "kind = \"formula\"\nexpression = \"{price}*min(1, 1000*r) - ({gains})\"\nfeatures = {{ r = {{ s{ruin} = 1 }}, {features} }}"
    );
    (format!("trapped-{name}"), model.text(1.0, between(rng, 9, 14), &objective))
}
