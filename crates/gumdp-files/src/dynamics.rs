//! How an agent moves on a map: slipping, getting stuck, gathering resources, meeting enemies.
//!
//! A step is decided by the cell the agent is in, so whatever a cell does happens on the step *after* it is entered, in this
//! order: home (once it was left) takes the agent in and the episode is over after one step in "home with what it
//! carries"; an enemy may defeat it (one step in "defeated", then over); a resource is picked up; difficult terrain may
//! hold it; otherwise it moves, or slips to one side. Moving out of the map, into a wall, or out of a one-way cell in another
//! direction than its own stays. An absorbing cell is never left.

use gumdp::{Mdp, ModelError, State};
use hashbrown::HashMap;

use super::scene::GridScene;

/// The actions of every map.
pub(super) const ACTIONS: [&str; 4] = ["left", "up", "right", "down"];

/// Maps with more cells than this are refused: they would take gigabytes.
pub(super) const MAX_CELLS: usize = 10_000_000;
/// So are maps with more states than this, unless they have as many cells: what can be carried doubles states again and again.
const MAX_STATES: usize = 1_000_000;
const STATES_OF_A_CELL: usize = 2;

/// A map without its objective.
pub(super) struct Map {
    /// What is drawn; the cells of the states are not known yet.
    pub(super) grid: GridScene,
    /// Probability of moving to one of the two sides instead, each with half of it.
    pub(super) slip: f64,
    pub(super) resources: Vec<String>,
    /// For each terrain the resource found there, as a bit; 0 if there is none.
    pub(super) found: Vec<u32>,
}

/// A state of the model. The derived order is the order of the states' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Situation {
    /// On the map.
    On {
        /// Whether home was left; false throughout on a map without a home.
        left: bool,
        /// Resources carried, one bit for each.
        carried: u32,
        cell: u32,
        stuck: bool,
    },
    /// Back home with what was carried.
    Home { carried: u32 },
    /// An enemy won.
    Defeated,
    /// Nothing happens any more.
    Over,
}

/// Cells whose numbers are kept side by side: those around a cell of a large map are then near in memory.
const NEIGHBOURS: u32 = 32;

/// A number for each of some situations.
#[derive(Default)]
struct Numbers {
    /// Where the numbers of some neighbouring cells are, by what is carried, whether home was left, and the first of the cells.
    pages: HashMap<(u32, u32), u32>,
    /// For each cell free and stuck; [`u32::MAX`] if there is no number.
    numbers: Vec<[u32; 2 * NEIGHBOURS as usize]>,
}

impl Numbers {
    fn place(situation: Situation) -> ((u32, u32), usize) {
        // No cell has a number with one of the two highest bits.
        let (carried, place, slot) = match situation {
            Situation::On { left, carried, cell, stuck } => {
                (carried, (cell / NEIGHBOURS) | (u32::from(left) << 31), 2 * (cell % NEIGHBOURS) + u32::from(stuck))
            }
            Situation::Home { carried } => (carried, 1 << 30, 0),
            Situation::Defeated => (0, 1 << 30, 1),
            Situation::Over => (0, 1 << 30, 2),
        };
        ((carried, place), slot as usize)
    }

    /// The number of a situation, to be read or changed.
    fn of(&mut self, situation: Situation) -> &mut u32 {
        let (key, slot) = Self::place(situation);
        let page = *self.pages.entry(key).or_insert_with(|| {
            self.numbers.push([u32::MAX; 2 * NEIGHBOURS as usize]);
            self.numbers.len() as u32 - 1
        });
        &mut self.numbers[page as usize][slot]
    }
}

impl Map {
    /// Where episodes start. Coming home counts at once if they start elsewhere.
    fn start(&self) -> Situation {
        let left = self.grid.home.is_some_and(|home| home != self.grid.start);
        Situation::On { left, carried: 0, cell: self.grid.start, stuck: false }
    }

    /// The most states that it may have.
    pub(super) fn most_states(&self) -> usize {
        MAX_STATES.max(STATES_OF_A_CELL * self.grid.terrain_of_cell.len())
    }

    /// All situations that can be reached, in order; `None` if there are too many.
    pub(super) fn situations(&self) -> Option<Vec<Situation>> {
        let start = self.start();
        let mut reached = Numbers::default();
        *reached.of(start) = 0;
        let mut situations = vec![start];
        let mut next = 0;
        let mut outcomes = Vec::new();
        while let Some(&situation) = situations.get(next) {
            next += 1;
            for action in 0..ACTIONS.len() {
                self.outcomes(situation, action, &mut outcomes);
                let new = |&s: &Situation| std::mem::replace(reached.of(s), 0) == u32::MAX;
                situations.extend(outcomes.iter().map(|&(successor, _)| successor).filter(new));
            }
            if situations.len() > self.most_states() {
                return None;
            }
        }
        situations.sort_unstable();
        Some(situations)
    }

    /// The model over these situations.
    pub(super) fn model(&self, situations: &[Situation]) -> Result<Mdp, ModelError> {
        let mut numbers = Numbers::default();
        for (&situation, number) in situations.iter().zip(0..) {
            *numbers.of(situation) = number;
        }
        let names = situations.iter().map(|&situation| self.name(situation));
        let mut builder = Mdp::named(names, ACTIONS).start(State(*numbers.of(self.start())));
        let mut outcomes = Vec::new();
        for (state, &situation) in situations.iter().enumerate() {
            for action in 0..ACTIONS.len() {
                self.outcomes(situation, action, &mut outcomes);
                builder = builder.transition(state, action, outcomes.iter().map(|&(s, p)| (State(*numbers.of(s)), p)));
            }
        }
        builder.build()
    }

    /// The cell a situation is in.
    pub(super) fn cell(&self, situation: Situation) -> Option<u32> {
        match situation {
            Situation::On { cell, .. } => Some(cell),
            Situation::Home { .. } => self.grid.home,
            Situation::Defeated | Situation::Over => None,
        }
    }

    /// What may come next, with positive probabilities. A situation may be named twice.
    fn outcomes(&self, situation: Situation, action: usize, outcomes: &mut Vec<(Situation, f64)>) {
        outcomes.clear();
        let Situation::On { left, carried, cell, stuck } = situation else {
            outcomes.push((Situation::Over, 1.0));
            return;
        };
        let terrain = self.grid.terrain(cell);
        if terrain.absorbing {
            outcomes.push((situation, 1.0));
            return;
        }
        if terrain.home && left {
            outcomes.push((Situation::Home { carried }, 1.0));
            return;
        }
        let mut go_on = 1.0;
        if let Some(defeat) = terrain.enemy {
            outcomes.push((Situation::Defeated, defeat));
            go_on -= defeat;
        }
        let carried = carried | self.found[self.grid.terrain_of_cell[cell as usize] as usize];
        if let Some(sticky) = terrain.sticky {
            let (held, free) =
                if stuck { (1.0 - sticky.unstuck, sticky.unstuck) } else { (sticky.stuck, 1.0 - sticky.stuck) };
            outcomes.push((Situation::On { left, carried, cell, stuck: true }, go_on * held));
            go_on *= free;
        }
        // The perpendicular directions of an action are the neighbours of its number.
        for (direction, probability) in
            [(action, 1.0 - self.slip), ((action + 1) % 4, self.slip / 2.0), ((action + 3) % 4, self.slip / 2.0)]
        {
            let open = terrain.one_way.is_none_or(|only| only as usize == direction);
            let to = self.neighbour(cell, direction).filter(|_| open).unwrap_or(cell);
            let left = left || self.grid.home.is_some_and(|home| home != to);
            outcomes.push((Situation::On { left, carried, cell: to, stuck: false }, go_on * probability));
        }
        outcomes.retain(|&(_, probability)| probability > 0.0);
    }

    /// The cell in this direction, unless it is outside or a wall.
    pub(super) fn neighbour(&self, cell: u32, direction: usize) -> Option<u32> {
        let (row, column) = self.grid.position(cell);
        let (row, column) = match direction {
            0 => (row, column.checked_sub(1)?),
            1 => (row.checked_sub(1)?, column),
            2 => (row, column + 1),
            _ => (row + 1, column),
        };
        let GridScene { rows, columns, .. } = self.grid;
        let cell = (row * columns + column) as u32;
        (row < rows && column < columns && !self.grid.terrain(cell).wall).then_some(cell)
    }

    fn name(&self, situation: Situation) -> String {
        match situation {
            Situation::On { left, carried, cell, stuck } => {
                let (row, column) = self.grid.position(cell);
                // Home before it is left is not the same as home when one comes back.
                let at_start = !left && self.grid.home.is_some();
                let place = if at_start { "start".to_owned() } else { format!("({row},{column})") };
                let with = if carried == 0 { String::new() } else { format!(" with {}", self.load(carried)) };
                format!("{place}{with}{}", if stuck { " stuck" } else { "" })
            }
            Situation::Home { carried: 0 } => "home with nothing".to_owned(),
            Situation::Home { carried } => format!("home with {}", self.load(carried)),
            Situation::Defeated => "defeated".to_owned(),
            Situation::Over => "over".to_owned(),
        }
    }

    /// The resources carried, as in "R1+R2".
    fn load(&self, carried: u32) -> String {
        let names = (0..).zip(&self.resources).filter(|(bit, _)| carried & (1 << bit) != 0);
        names.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join("+")
    }
}
