//! Generated worlds: the text of problem files, the same for the same arguments.

use std::fmt::Write as _;

use gumdp::rng::{self, Purpose, Rng};

/// Outcomes of sparse random problems are at least this likely.
const LEAST_PERCENT: u32 = 5;

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

/// A sparse random problem without a map.
#[derive(Clone, Copy, Debug)]
pub struct Sparse {
    /// Number of states.
    pub states: usize,
    /// Actions of each state.
    pub actions: usize,
    /// Possible next states of each action, at most.
    pub outcomes: usize,
    /// Number of steps.
    pub horizon: usize,
    /// Discount factor.
    pub discount: f64,
    /// What is to be small.
    pub objective: Aim,
}

/// Objectives of sparse random problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A cost for each state.
    Linear,
    /// The larger of two costs.
    Maximum,
    /// The smaller of two costs.
    Minimum,
    /// Negative entropy of the states.
    Entropy,
    /// Distance to the occupancy of a random episode, squared.
    SquaredDistance,
    /// The same in absolute values.
    AbsoluteDistance,
}

/// Exploration of a square map with some difficult cells, started in its middle.
pub fn explore(side: usize, horizon: usize, terrain: &Terrain) -> String {
    let mut rng = generator(side as u64);
    let mut text = map(side, horizon, terrain, &mut rng);
    let lowest = -((side * side) as f64).ln();
    let _ = write!(text, "[objective]\nkind = \"entropy\"\nover = \"cells\"\nepsilon = 1e-7\nrange = [{lowest}, 0]\n");
    text
}

/// Imitation of a random path, which prefers cells it has not seen, on a square map with some difficult cells.
pub fn imitate(side: usize, horizon: usize, terrain: &Terrain) -> String {
    let mut rng = generator(1000 + side as u64);
    let mut text = map(side, horizon, terrain, &mut rng);
    let mut at = (side / 2, side / 2);
    let mut path = vec![at];
    while path.len() <= horizon {
        let (row, column) = at;
        let beyond =
            [(row.wrapping_sub(1), column), (row + 1, column), (row, column.wrapping_sub(1)), (row, column + 1)];
        let next: Vec<_> = beyond.into_iter().filter(|&(row, column)| row < side && column < side).collect();
        let new: Vec<_> = next.iter().copied().filter(|cell| !path.contains(cell)).collect();
        at = *pick(if new.is_empty() { &next } else { &new }, &mut rng);
        path.push(at);
    }
    let cells: Vec<usize> = path.iter().map(|(row, column)| row * side + column).collect();
    text.push_str(
        "[objective]\nkind = \"squared-distance\"\nover = \"cell-actions\"\nscale = 0.5\nrange = [0, 0.12]\n",
    );
    let _ = writeln!(text, "behaviour = {cells:?}");
    text
}

/// Two resources are to be brought home from among enemies; moves slip.
pub fn gather(side: usize, horizon: usize, enemies: usize) -> String {
    let mut rng = generator(2000 + side as u64);
    let mut cells = vec!['.'; side * side];
    let home = side * (side - 1) + side / 2;
    cells[home] = 'H';
    let signs = ['1', '2'].into_iter().chain(std::iter::repeat_n('E', enemies));
    for sign in signs {
        let free: Vec<usize> = (0..side * (side - 2)).filter(|&cell| cells[cell] == '.').collect();
        cells[*pick(&free, &mut rng)] = sign;
    }
    let rows: Vec<String> = cells.chunks(side).map(|row| row.iter().collect()).collect();
    format!(
        "kind = \"grid\"\ndiscount = 0.98\nhorizon = {horizon}\nslip = 0.08\nmap = \"\"\"\n{}\n\"\"\"\n[legend]\n\
         \".\" = \"floor\"\n\"H\" = {{ start = true, home = true }}\n\"1\" = {{ resource = \"R1\" }}\n\
         \"2\" = {{ resource = \"R2\" }}\n\"E\" = {{ enemy = 0.04 }}\n\
         [objective]\nkind = \"signed-power\"\ncosts = [{{ defeated = 1 }}, {{ delivered-R2 = -1 }}, {{ delivered-R1 = -1 }}]\n\
         weights = [1, 1, 1]\npowers = [1, 1, 0.5]\nrange = [-0.25, 0.05]\n",
        rows.join("\n")
    )
}

impl Sparse {
    /// The text of its file; another seed, another problem.
    pub fn text(&self, seed: u64) -> String {
        let Self { states, actions, outcomes, horizon, discount, objective } = *self;
        let mut rng = generator(3000 + seed);
        let names = |letter: char, count: usize| {
            let names: Vec<String> = (0..count).map(|number| format!("\"{letter}{number}\"")).collect();
            names.join(", ")
        };
        let mut text = format!(
            "kind = \"explicit\"\nstates = [{}]\nactions = [{}]\nstart = \"s0\"\ndiscount = {discount}\n\
             horizon = {horizon}\ntransitions = [\n",
            names('s', states),
            names('a', actions)
        );
        let mut next = Vec::new();
        for state in 0..states {
            for action in 0..actions {
                let to = self.outcomes(outcomes, &mut rng);
                let listed: Vec<String> =
                    to.iter().map(|(next, percent)| format!("s{next} = {}", f64::from(*percent) / 100.0)).collect();
                let listed = listed.join(", ");
                let _ = writeln!(text, "  {{ from = \"s{state}\", action = \"a{action}\", to = {{ {listed} }} }},");
                next.push(to);
            }
        }
        text.push_str("]\n[objective]\n");
        match objective {
            Aim::Linear => {
                let _ = writeln!(text, "kind = \"linear\"\ncost = {}", self.costs(0.0, &mut rng));
            }
            Aim::Maximum | Aim::Minimum => {
                let kind = if objective == Aim::Maximum { "maximum" } else { "minimum" };
                let costs = [(); 2].map(|()| self.costs(-0.5, &mut rng)).join(", ");
                let _ = writeln!(text, "kind = \"{kind}\"\ncosts = [{costs}]");
            }
            Aim::Entropy => {
                let lowest = -(states as f64).ln();
                let _ = writeln!(text, "kind = \"entropy\"\nover = \"states\"\nrange = [{lowest}, 0]");
            }
            Aim::SquaredDistance | Aim::AbsoluteDistance => {
                let kind = if objective == Aim::SquaredDistance { "squared" } else { "absolute" };
                let target = self.target(&next, &mut rng);
                let _ = writeln!(text, "kind = \"{kind}-distance\"\nover = \"pairs\"\ntarget = {target:?}");
            }
        }
        text
    }

    /// Next states, each once, with percentages that sum to 100.
    fn outcomes(&self, most: usize, rng: &mut Rng) -> Vec<(usize, u32)> {
        let count = 2 + rng::below(rng, most as u32 - 1);
        let mut others: Vec<usize> = (0..self.states).collect();
        let mut left = 100;
        let outcome = |number| {
            let state = others.swap_remove(rng::below(rng, others.len() as u32) as usize);
            let kept = LEAST_PERCENT * (count - number - 1);
            let percent =
                if kept == 0 { left } else { LEAST_PERCENT + rng::below(rng, left - kept - LEAST_PERCENT + 1) };
            left -= percent;
            (state, percent)
        };
        (0..count).map(outcome).collect()
    }

    /// A cost from `low` to `low` + 1 for each state.
    fn costs(&self, low: f64, rng: &mut Rng) -> String {
        let costs: Vec<String> =
            (0..self.states).map(|state| format!("s{state} = {:.2}", low + rng::unit(rng))).collect();
        format!("{{ {} }}", costs.join(", "))
    }

    /// The occupancy of an episode of random actions, by pair.
    fn target(&self, next: &[Vec<(usize, u32)>], rng: &mut Rng) -> Vec<f64> {
        let mut target = vec![0.0; next.len()];
        let (mut state, mut mass, mut total) = (0, 1.0, 0.0);
        for _ in 0..self.horizon {
            let pair = state * self.actions + rng::below(rng, self.actions as u32) as usize;
            target[pair] += mass;
            total += mass;
            mass *= self.discount;
            let mut chance = rng::below(rng, 100);
            for &(to, percent) in &next[pair] {
                state = to;
                match chance.checked_sub(percent) {
                    Some(left) => chance = left,
                    None => break,
                }
            }
        }
        target.iter().map(|mass| mass / total).collect()
    }
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

fn generator(world: u64) -> Rng {
    rng::stream(0, world, Purpose::Generation)
}

fn pick<'a, T>(items: &'a [T], rng: &mut Rng) -> &'a T {
    &items[rng::below(rng, items.len() as u32) as usize]
}
