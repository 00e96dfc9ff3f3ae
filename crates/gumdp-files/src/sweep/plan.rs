//! The cells of a sweep, and how they are cut into units and shards.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Write};
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use gumdp::{Risk, UNCHECKED, checksum};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SweepError;
use crate::{Player, Task, write};

/// A unit is about so much work, in seconds of one core at the nominal rate: long enough to pay for its preparation, short enough
/// that shards are even.
const UNIT_SECONDS: f64 = 120.0;
/// Shards have at least so many units each, if they are not shorter than a second.
const UNITS_PER_SHARD: f64 = 4.0;
/// The nominal rate: a simulated step. Units never depend on the clock, so that all shards cut alike.
const STEP_SECONDS: f64 = 20e-9;

/// One problem, one attitude to risk, one player, one budget, one seed; many runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name, which depends on all that its runs depend on, and on nothing else.
    pub id: String,
    /// Name of the problem.
    pub task: String,
    /// Attitude to risk.
    pub risk: Risk,
    /// Who plays; `None` for the optimum where it is found soon, else the default planner.
    pub policy: Option<Player>,
    /// Simulations for a decision; 0 for those who do not plan.
    pub simulations: u64,
    /// Number of runs.
    pub runs: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Cell {
    /// A cell of a task.
    pub(super) fn new(task: &Task, risk: Risk, policy: Option<Player>, simulations: u64, runs: u64, seed: u64) -> Self {
        let simulations = if policy.is_none_or(Player::plans) { simulations } else { 0 };
        let mut cell = Self { id: String::new(), task: task.name.clone(), risk, policy, simulations, runs, seed };
        let (exploration, variant) = (task.defaults.exploration, task.defaults.variant);
        // Names that look alike without signs are told apart by this too.
        let key = format!(
            "{}\n{}\n{}\n{risk}\n{}\n{simulations}\n{exploration}\n{variant:?}\n{seed}\n{runs}",
            gumdp::RESULTS_VERSION,
            task.name,
            task.source,
            cell.player(),
        );
        let name: String = task.name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let risk = risk.to_string().replace(':', "-");
        cell.id = format!("{name}_{}_{risk}_{:016x}", cell.player(), checksum(UNCHECKED, key.as_bytes()));
        cell
    }

    /// Who plays, by name.
    #[must_use]
    pub fn player(&self) -> String {
        self.policy.map_or_else(|| "auto".to_owned(), |player| player.to_string())
    }

    /// About how long a run takes one core, in seconds at the nominal rate.
    pub(super) fn run_seconds(&self, horizon: u64) -> f64 {
        let steps = horizon as f64 * (self.simulations.max(1) as f64 * horizon as f64 / 2.0).max(8.0);
        steps * STEP_SECONDS
    }

    /// About how long it takes before the first decision.
    fn preparation_seconds(&self) -> f64 {
        match self.policy {
            None | Some(Player::Default | Player::Exact) => 1.0,
            _ => 0.0,
        }
    }
}

/// A problem of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemEntry {
    /// Its name; its file is `tasks/NAME.toml`.
    pub name: String,
    /// Steps of an episode.
    pub horizon: u64,
    /// Checksum of its file.
    pub check: String,
}

/// The cells of a sweep in the order in which results list them, problem by problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the program.
    pub gumdp: String,
    /// Results of another number differ.
    pub results_version: u32,
    /// Checksum of all cells.
    pub fingerprint: String,
    /// The problems.
    pub problems: Vec<ProblemEntry>,
    /// The cells.
    pub cells: Vec<Cell>,
}

/// Some runs of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the cell.
    pub cell: usize,
    /// Numbers of the runs.
    pub runs: Range<u64>,
}

impl Plan {
    pub(super) fn new(problems: Vec<ProblemEntry>, cells: Vec<Cell>) -> Self {
        let (gumdp, results_version) = (env!("CARGO_PKG_VERSION").to_owned(), gumdp::RESULTS_VERSION);
        Self { gumdp, results_version, fingerprint: fingerprint(&problems, &cells), problems, cells }
    }

    /// The plan of a folder.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or it is of another version.
    pub fn of_folder(folder: &Path) -> Result<Self, SweepError> {
        let path = folder.join("plan.json");
        if !path.is_file() {
            return Err(SweepError::Nothing { folder: folder.to_owned() });
        }
        let plan: Self = read_json(&path)?;
        if (&*plan.gumdp, plan.results_version) != (env!("CARGO_PKG_VERSION"), gumdp::RESULTS_VERSION) {
            return Err(SweepError::version(&path, &plan.gumdp, &plan.results_version.to_string()));
        }
        if fingerprint(&plan.problems, &plan.cells) != plan.fingerprint {
            return Err(SweepError::Damaged {
                path,
                what: "it was changed: its fingerprint is not that of its cells".to_owned(),
            });
        }
        Ok(plan)
    }

    /// All runs of all cells.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.cells.iter().map(|cell| cell.runs).sum()
    }

    /// About how long it takes one core at the nominal rate, in seconds.
    #[must_use]
    pub fn nominal_seconds(&self) -> f64 {
        let seconds = |(cell, each): (&Cell, f64)| cell.preparation_seconds() + cell.runs as f64 * each;
        self.cells.iter().zip(self.run_seconds()).map(seconds).sum()
    }

    /// The same for one run of each cell.
    #[must_use]
    pub fn run_seconds(&self) -> Vec<f64> {
        let horizons: BTreeMap<&str, u64> = self.problems.iter().map(|of| (&*of.name, of.horizon)).collect();
        let seconds = |cell: &Cell| cell.run_seconds(horizons.get(&*cell.task).copied().unwrap_or(1));
        self.cells.iter().map(seconds).collect()
    }

    /// About how many units there are, without making them.
    pub(super) fn unit_count(&self) -> f64 {
        let units = |(cell, each): (&Cell, f64)| cell.runs as f64 * (each / UNIT_SECONDS).min(1.0);
        self.cells.iter().zip(self.run_seconds()).map(units).sum()
    }

    /// The work in units of even size: a thousand tiny runs are one, a huge cell is many.
    #[must_use]
    pub fn units(&self, shards: u64) -> Vec<Vec<Piece>> {
        let share = self.nominal_seconds() / (shards as f64 * UNITS_PER_SHARD);
        let size = if shards == 1 { UNIT_SECONDS } else { share.clamp(f64::MIN_POSITIVE, UNIT_SECONDS) };
        let (mut units, mut unit, mut filled) = (Vec::new(), Vec::new(), 0.0);
        for (number, (cell, each)) in self.cells.iter().zip(self.run_seconds()).enumerate() {
            let mut next = 0;
            while next < cell.runs {
                let room = size - filled - cell.preparation_seconds().min(size / 2.0);
                let fits = (room / each).ceil().clamp(1.0, (cell.runs - next) as f64) as u64;
                unit.push(Piece { cell: number, runs: next..next + fits });
                filled += cell.preparation_seconds().min(size / 2.0) + fits as f64 * each;
                next += fits;
                if filled >= size {
                    units.push(std::mem::take(&mut unit));
                    filled = 0.0;
                }
            }
        }
        units.extend(Some(unit).filter(|unit| !unit.is_empty()));
        units
    }

    /// What a shard plays: every so-manieth unit.
    #[must_use]
    pub fn pieces(&self, shard: Shard) -> Vec<Piece> {
        let Shard { index, count } = shard;
        let of_shard = self.units(count).into_iter().skip(index as usize - 1).step_by(count as usize);
        of_shard.flatten().collect()
    }
}

/// Checksum of all problems and cells, and of what plays them.
fn fingerprint(problems: &[ProblemEntry], cells: &[Cell]) -> String {
    let add = |sum: u64, text: serde_json::Result<String>| checksum(sum, text.unwrap_or_default().as_bytes());
    let begun = add(UNCHECKED, serde_json::to_string(&(env!("CARGO_PKG_VERSION"), gumdp::RESULTS_VERSION)));
    let sum = problems.iter().fold(begun, |sum, problem| add(sum, serde_json::to_string(problem)));
    let sum = cells.iter().fold(sum, |sum, cell| add(sum, serde_json::to_string(cell)));
    format!("{sum:016x}")
}

/// What a file of the folder says; its text is never in memory as a whole.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, SweepError> {
    let file = File::open(path).map_err(|source| SweepError::read(path, source))?;
    serde_json::from_reader(BufReader::new(file)).map_err(|error| match error.io_error_kind() {
        Some(kind) => SweepError::read(path, kind.into()),
        None => SweepError::Damaged { path: path.to_owned(), what: error.to_string() },
    })
}

/// Writes it, in the same way.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), SweepError> {
    let content = |out: &mut dyn Write| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    };
    write::write_with(path, content).map_err(|source| SweepError::write(path, source))
}

/// One of several parts of a sweep.
///
/// ```
/// use gumdp_files::sweep::Shard;
/// let shard: Shard = "3/8".parse()?;
/// assert_eq!((shard.index, shard.count), (3, 8));
/// assert!("9/8".parse::<Shard>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub index: u64,
    /// How many there are.
    pub count: u64,
}

impl Shard {
    /// The only one.
    pub const WHOLE: Self = Self { index: 1, count: 1 };
    /// More shards than this are a typing error.
    pub const MOST: u64 = 1_000_000;
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, count)| {
            Some(Self { index: index.trim().parse().ok()?, count: count.trim().parse().ok()? })
        });
        parts
            .filter(|shard| (1..=Self::MOST).contains(&shard.count) && (1..=shard.count).contains(&shard.index))
            .ok_or_else(|| format!("it must be i/n with 1 <= i <= n <= {}, such as 3/8", Self::MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks;

    fn plan(cells: &[(u64, u64)]) -> Plan {
        let rooms = tasks::get("rooms").unwrap();
        let cell = |(seed, &(simulations, runs)): (usize, &(u64, u64))| {
            Cell::new(&rooms, Risk::MEAN, Some(Player::Paper), simulations, runs, seed as u64)
        };
        let problem = ProblemEntry { name: "rooms".to_owned(), horizon: 20, check: String::new() };
        Plan::new(vec![problem], cells.iter().enumerate().map(cell).collect())
    }

    /// However the work is cut, each run is in one piece.
    #[test]
    fn shards_share_all_runs() {
        let plan = plan(&[(10, 7), (1_000_000, 50), (1, 1), (100, 100_000), (1, 3)]);
        for count in [1, 2, 3, 8, 100, 1000] {
            let mut played: Vec<(usize, u64)> = Vec::new();
            for index in 1..=count {
                let pieces = plan.pieces(Shard { index, count });
                played.extend(pieces.into_iter().flat_map(|piece| piece.runs.map(move |run| (piece.cell, run))));
            }
            played.sort_unstable();
            let all = plan.cells.iter().enumerate().flat_map(|(cell, of)| (0..of.runs).map(move |run| (cell, run)));
            assert!(played.into_iter().eq(all), "{count} shards");
        }
    }

    #[test]
    fn units_take_minutes() {
        let tiny = plan(&[(1, 10); 200]);
        assert_eq!(tiny.units(1).len(), 1);
        let huge = plan(&[(1_000_000, 1000)]);
        let units = huge.units(1);
        let seconds = huge.run_seconds()[0];
        assert!(units.len() > 10);
        for unit in &units[..units.len() - 1] {
            let runs: u64 = unit.iter().map(|piece| piece.runs.end - piece.runs.start).sum();
            assert!((60.0..200.0).contains(&(runs as f64 * seconds)));
        }
        // Shards of a small sweep are even too.
        let parts: Vec<usize> = (1..=8).map(|index| tiny.pieces(Shard { index, count: 8 }).len()).collect();
        assert!(parts.iter().all(|&pieces| (20..=32).contains(&pieces)), "{parts:?}");
    }
}
