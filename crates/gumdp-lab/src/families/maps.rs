//! Maps: small ones with goals, and larger ones to explore or to imitate a path on.

use std::fmt::Write as _;

use gumdp::rng::{self, Rng};

use super::between;

/// Difficult cells of a map.
#[derive(Clone, Copy, Debug)]
pub struct Terrain {
    /// Share of the cells that are difficult, as a probability.
    pub share: f64,
    /// Probability to get stuck in one instead of moving.
    pub stuck: f64,
    /// Probability to get free again.
    pub unstuck: f64,
}

/// A small map with goals.
pub fn with_goals(rng: &mut Rng, number: usize) -> (String, String) {
    let side = between(rng, 5, 7);
    let mut cells = vec!['.'; side * side];
    for cell in &mut cells {
        let x = rng::unit(rng);
        *cell = if x < 0.12 {
            '#'
        } else if x < 0.24 {
            '~'
        } else {
            '.'
        };
    }
    let mut free: Vec<usize> = (0..side * side).collect();
    let mut take = |rng: &mut Rng| free.swap_remove(rng::below(rng, free.len() as u32) as usize);
    for sign in ['S', 'A', 'B'] {
        let cell = take(rng);
        cells[cell] = sign;
        // Its neighbours are open.
        if cell % side > 0 && cells[cell - 1] == '#' {
            cells[cell - 1] = '.';
        }
        if cell + side < cells.len() && cells[cell + side] == '#' {
            cells[cell + side] = '.';
        }
    }
    let rows: Vec<String> = cells.chunks(side).map(|row| row.iter().collect()).collect();
    let slip = [0.0, 0.1, 0.2][rng::below(rng, 3) as usize];
    let (name, expression) = [
        ("both", "-4*a*b"),
        ("fair", "max(-a, -b)"),
        ("mud", "2*m - sqrt(a) - b"),
        ("far", "m/5 - a"),
        ("visit", "max(0, 0.1 - a)*5 + max(0, 0.2 - b)*5 + m"),
    ][number % 5];
    let horizon = between(rng, 16, 36);
    let text = format!(
        "kind = \"grid\"\ndiscount = 1\nhorizon = {horizon}\nslip = {slip}\nmap = \"\"\"\n{}\n\"\"\"\n[legend]\n\".\" = \"floor\"\n\
         \"#\" = \"wall\"\n\"S\" = \"start\"\n\"A\" = {{ name = \"ga\" }}\n\"B\" = {{ name = \"gb\" }}\n\
         \"~\" = {{ name = \"mud\", stuck = 0.3, unstuck = 0.3 }}\n[objective]\nkind = \"formula\"\nexpression = \"{expression}\"\n\
         features = {{ a = {{ ga = 1 }}, b = {{ gb = 1 }}, m = {{ mud = 1 }} }}\n",
        rows.join("\n")
    );
    (format!("map-{name}"), text)
}

/// A map with more goals than a lattice can carry: all of them alike, products, shares to be reached, tours.
pub fn with_many_goals(rng: &mut Rng, number: usize) -> (String, String) {
    let (side, goals) = (between(rng, 6, 9), between(rng, 6, 12));
    let mut free: Vec<usize> = (0..side * side).collect();
    let mut take = |rng: &mut Rng| free.swap_remove(rng::below(rng, free.len() as u32) as usize);
    let mut cells = vec!['.'; side * side];
    cells[take(rng)] = 'S';
    for sign in ('A'..).take(goals) {
        cells[take(rng)] = sign;
    }
    let each = |write: &dyn Fn(usize) -> String, between: &str| (0..goals).map(write).collect::<Vec<_>>().join(between);
    let features = each(&|k| format!("x{k} = {{ g{k} = 1 }}"), ", ");
    let formula =
        |expression: String| format!("kind = \"formula\"\nexpression = \"{expression}\"\nfeatures = {{ {features} }}");
    let (name, objective) = match number % 5 {
        0 => ("fair", formula(format!("max({})", each(&|k| format!("-x{k}"), ", ")))),
        1 => ("product", formula(format!("-100*{}", each(&|k| format!("sqrt(0.02 + x{k})"), "*")))),
        2 => ("shares", formula(each(&|k| format!("min(1, max(0, 100*(0.05 - x{k})))"), " + "))),
        3 => ("roots", formula(format!("-({})", each(&|k| format!("sqrt(x{k})"), " + ")))),
        _ => ("patrol", format!("kind = \"coverage\"\ngroups = [{}]", each(&|k| format!("\"g{k}\""), ", "))),
    };
    let legend = each(&|k| format!("\"{}\" = {{ name = \"g{k}\" }}", char::from(b'A' + k as u8)), "\n");
    let (slip, horizon) = ([0.0, 0.1, 0.2][rng::below(rng, 3) as usize], between(rng, 16, 60));
    let rows: Vec<String> = cells.chunks(side).map(|row| row.iter().collect()).collect();
    let text = format!(
        "kind = \"grid\"\ndiscount = 1\nhorizon = {horizon}\nslip = {slip}\nmap = \"\"\"\n{}\n\"\"\"\n[legend]\n\".\" = \"floor\"\n\
         \"S\" = \"start\"\n{legend}\n[objective]\n{objective}\n",
        rows.join("\n")
    );
    (format!("many-{name}"), text)
}

/// Exploration of a square map with some difficult cells, started in its middle.
pub fn explore(side: usize, horizon: usize, terrain: &Terrain, rng: &mut Rng) -> String {
    let mut text = map(side, horizon, terrain, rng);
    let lowest = -((side * side) as f64).ln();
    let _ = write!(text, "[objective]\nkind = \"entropy\"\nover = \"cells\"\nepsilon = 1e-7\nrange = [{lowest}, 0]\n");
    text
}

/// Imitation of a random path, which prefers cells it has not seen, on a square map with some difficult cells.
pub fn imitate(side: usize, horizon: usize, terrain: &Terrain, rng: &mut Rng) -> String {
    let mut text = map(side, horizon, terrain, rng);
    let mut at = (side / 2, side / 2);
    let mut path = vec![at];
    while path.len() <= horizon {
        let (row, column) = at;
        let beyond =
            [(row.wrapping_sub(1), column), (row + 1, column), (row, column.wrapping_sub(1)), (row, column + 1)];
        let next: Vec<_> = beyond.into_iter().filter(|&(row, column)| row < side && column < side).collect();
        let new: Vec<_> = next.iter().copied().filter(|cell| !path.contains(cell)).collect();
        let open = if new.is_empty() { &next } else { &new };
        at = open[rng::below(rng, open.len() as u32) as usize];
        path.push(at);
    }
    let cells: Vec<usize> = path.iter().map(|(row, column)| row * side + column).collect();
    text.push_str(
        "[objective]\nkind = \"squared-distance\"\nover = \"cell-actions\"\nscale = 0.5\nrange = [0, 0.12]\n",
    );
    let _ = writeln!(text, "behaviour = {cells:?}");
    text
}

/// A square map, up to its objective.
fn map(side: usize, horizon: usize, terrain: &Terrain, rng: &mut Rng) -> String {
    let Terrain { share, stuck, unstuck } = terrain;
    let mut text = format!("kind = \"grid\"\ndiscount = 0.99\nhorizon = {horizon}\nmap = \"\"\"\n");
    for row in 0..side {
        for column in 0..side {
            let difficult = rng::unit(rng) < *share;
            let start = (row, column) == (side / 2, side / 2);
            text.push(match (start, difficult) {
                (true, _) => 'S',
                (false, true) => '#',
                (false, false) => '.',
            });
        }
        text.push('\n');
    }
    text.push_str("\"\"\"\n[legend]\n\".\" = \"floor\"\n\"S\" = \"start\"\n");
    let _ = writeln!(text, "\"#\" = {{ name = \"difficult\", stuck = {stuck}, unstuck = {unstuck} }}");
    text
}
