//! Problems where one visit alone says little: commitment, shares to be reached, gambles, traps.

use gumdp::rng::{self, Rng};

use super::{Model, about, between};

/// Commitment, thresholds, gambles, traps: where one visit alone says little.
pub fn aimed(rng: &mut Rng, number: usize, discount: f64) -> (String, String) {
    [commit, share, gamble, shares][number % 4](rng, discount)
}

/// Two places on either side of the start.
fn commit(rng: &mut Rng, discount: f64) -> (String, String) {
    let short = discount < 1.0;
    let far = between(rng, 2, if short { 2 } else { 4 });
    let states: Vec<String> = std::iter::once("mid".to_owned())
        .chain((0..far).map(|k| format!("l{k}")))
        .chain((0..far).map(|k| format!("r{k}")))
        .collect();
    let slip = about(rng, 0.0, 0.2);
    let go = |to: usize, stay: usize| {
        if slip > 0.0 { vec![(to, 1.0 - slip), (stay, slip)] } else { vec![(to, 1.0)] }
    };
    let mut rows = Vec::new();
    for state in 0..states.len() {
        rows.push((state, 0, vec![(state, 1.0)]));
        let (left, right) = match state {
            0 => (Some(1), Some(1 + far)),
            s if s <= far => ((s < far).then_some(s + 1), Some(s - 1)),
            s => (Some(if s == 1 + far { 0 } else { s - 1 }), (s < 2 * far).then_some(s + 1)),
        };
        rows.extend(left.map(|to| (state, 1, go(to, state))));
        rows.extend(right.map(|to| (state, 2, go(to, state))));
    }
    let actions = ["stay", "left", "right"].map(str::to_owned).to_vec();
    let model = Model { states, actions, rows };
    let expression = ["max(-x, -y)", "-4*x*y", "-sqrt(x*y)", "-x^2 - y^2"][rng::below(rng, 4) as usize];
    let horizon = if short { 12 } else { between(rng, 5 * far as u32, 8 * far as u32) };
    let objective = format!(
        "kind = \"formula\"\nexpression = \"{expression}\"\nfeatures = {{ x = {{ l{} = 1 }}, y = {{ r{} = 1 }} }}",
        far - 1,
        far - 1
    );
    ("commit".to_owned(), model.text(discount, horizon, &objective))
}

/// Work that must be done to a share, with a way that jams.
fn share(rng: &mut Rng, discount: f64) -> (String, String) {
    let short = discount < 1.0;
    let states = ["idle", "slow", "fast", "done", "jam"].map(str::to_owned).to_vec();
    let actions = ["rest", "go", "rush"].map(str::to_owned).to_vec();
    let p = |rng: &mut Rng| about(rng, 0.5, 0.95);
    let two = |a: usize, p: f64, b: usize| vec![(a, p), (b, ((1.0 - p) * 100.0).round() / 100.0)];
    let rows = vec![
        (0, 0, vec![(0, 1.0)]),
        (0, 1, two(1, p(rng), 4)),
        (0, 2, two(2, p(rng), 4)),
        (1, 0, vec![(0, 1.0)]),
        (1, 1, two(3, p(rng), 1)),
        (2, 0, vec![(1, 1.0)]),
        (2, 2, two(3, p(rng), 4)),
        (3, 0, vec![(0, 1.0)]),
        (3, 1, two(3, p(rng), 1)),
        (4, 0, two(0, p(rng), 4)),
        (4, 1, two(1, about(rng, 0.2, 0.5), 4)),
    ];
    let share = about(rng, 0.2, 0.45);
    let expression = [
        format!("min(1, max(0, ({share} - y)*1000)) + x"),
        format!("5*max(0, {share} - y) + x"),
        format!("max(0, y - {share})*20 + max(0, {share} - y)*4 + x/2"),
    ];
    let expression = &expression[rng::below(rng, 3) as usize];
    let objective = format!(
        "kind = \"formula\"\nexpression = \"{expression}\"\nfeatures = {{ x = {{ fast = 1, jam = 1 }}, y = {{ done = 1 }} }}"
    );
    let horizon = if short { 10 } else { between(rng, 15, 30) };
    ("share".to_owned(), Model { states, actions, rows }.text(discount, horizon, &objective))
}

/// A better way with a rare, lasting catastrophe.
fn gamble(rng: &mut Rng, discount: f64) -> (String, String) {
    let short = discount < 1.0;
    let states = ["base", "mine", "ruin", "home"].map(str::to_owned).to_vec();
    let actions = ["wait", "dig", "quit"].map(str::to_owned).to_vec();
    let p = [0.002, 0.01, 0.03][rng::below(rng, 3) as usize];
    let rows = vec![
        (0, 0, vec![(0, 1.0)]),
        (0, 1, vec![(1, 0.9), (0, 0.1)]),
        (0, 2, vec![(3, 1.0)]),
        (1, 0, vec![(0, 1.0)]),
        (1, 1, vec![(1, 1.0 - p), (2, p)]),
        (2, 0, vec![(2, 1.0)]),
        (3, 0, vec![(3, 1.0)]),
    ];
    let expression = ["3*r - sqrt(m)", "2*r - m - h/3", "4*max(0, r - 0.1) - m + h^2"][rng::below(rng, 3) as usize];
    let objective = format!(
        "kind = \"formula\"\nexpression = \"{expression}\"\nfeatures = {{ m = {{ mine = 1 }}, r = {{ ruin = 1 }}, h = {{ home = 1 }} }}"
    );
    let horizon = if short { 11 } else { between(rng, 15, 40) };
    ("gamble".to_owned(), Model { states, actions, rows }.text(discount, horizon, &objective))
}

/// Shares to be hit, one of them for good.
fn shares(rng: &mut Rng, discount: f64) -> (String, String) {
    let short = discount < 1.0;
    let states = ["a", "b", "c", "end"].map(str::to_owned).to_vec();
    let actions = ["go", "stay", "quit"].map(str::to_owned).to_vec();
    let p = |rng: &mut Rng| about(rng, 0.5, 0.9);
    let two = |a: usize, p: f64, b: usize| vec![(a, p), (b, ((1.0 - p) * 100.0).round() / 100.0)];
    let mut rows = vec![
        (0, 0, two(1, p(rng), 2)),
        (0, 1, two(0, p(rng), 2)),
        (1, 0, two(2, p(rng), 0)),
        (1, 1, two(1, p(rng), 0)),
        (2, 0, two(0, p(rng), 2)),
        (2, 1, two(2, p(rng), 1)),
        (3, 0, vec![(3, 1.0)]),
    ];
    rows.extend((0..3).map(|state| (state, 2, vec![(3, 1.0)])));
    let (b, e) = (about(rng, 0.15, 0.35), about(rng, 0.2, 0.5));
    let objective = format!(
        "kind = \"formula\"\nexpression = \"4*abs(b - {b}) + 4*abs(e - {e}) + c^2\"\n\
         features = {{ b = {{ b = 1 }}, e = {{ end = 1 }}, c = {{ c = 1 }} }}"
    );
    let horizon = if short { 9 } else { between(rng, 12, 20) };
    ("shares".to_owned(), Model { states, actions, rows }.text(discount, horizon, &objective))
}
