//! How long a sweep takes: some runs of some of its cells tell.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use gumdp::Stop;

use super::play::Kept;
use super::{Cell, Plan, SweepError};
use crate::Task;

/// What a rehearsal tells of cells that have much in common.
struct Pilot {
    /// Seconds before the first run.
    preparation: f64,
    /// Whether each cell is prepared, or those with the same attitude once.
    each: bool,
    /// How much slower runs are than the nominal rate.
    slower: f64,
}

/// Cells of about the same speed: those of a problem, a player and a measure of risk.
type Group<'a> = (&'a str, String, &'a str);

/// About how many seconds of one core a sweep takes: some runs are played for at most so many seconds, one cell of each problem,
/// player and measure, and the others are taken to be as much faster or slower than the nominal rate.
///
/// # Errors
/// If a problem cannot be read, or it was stopped.
pub fn rehearse(
    plan: &Plan,
    load: impl Fn(&str) -> Result<Task, SweepError>,
    seconds: f64,
    stop: &Stop,
) -> Result<f64, SweepError> {
    let began = Instant::now();
    let mut groups: BTreeMap<Group<'_>, Vec<(&Cell, f64)>> = BTreeMap::new();
    for (cell, nominal) in plan.cells.iter().zip(plan.run_seconds()) {
        let measure = cell.risk.swept().map_or("", |(form, _)| form.name);
        groups.entry((&cell.task, cell.player(), measure)).or_default().push((cell, nominal));
    }
    let mut pilots: BTreeMap<&Group<'_>, Pilot> = BTreeMap::new();
    let share = seconds / groups.len() as f64;
    for (group, cells) in &groups {
        let Some(&(cell, nominal)) = cells.iter().min_by_key(|(cell, _)| cell.simulations) else { continue };
        if began.elapsed().as_secs_f64() > seconds {
            break;
        }
        let task = load(&cell.task)?;
        let (short, nominal) = shortened(cell, nominal, task.problem.horizon() as u64, share / 2.0);
        if let Some(pilot) = pilot(&short, nominal, &task, share / 2.0, stop)? {
            pilots.insert(group, pilot);
        }
    }
    let median = |number: fn(&Pilot) -> f64| {
        let mut all: Vec<f64> = pilots.values().map(number).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(1.0)
    };
    let unknown = Pilot { preparation: median(|one| one.preparation), each: true, slower: median(|one| one.slower) };
    let of_group = |(group, cells): (&Group<'_>, &Vec<(&Cell, f64)>)| {
        let pilot = pilots.get(group).unwrap_or(&unknown);
        let played: f64 = cells.iter().map(|&(cell, nominal)| cell.runs as f64 * nominal * pilot.slower).sum();
        let prepared = if pilot.each {
            cells.len()
        } else {
            cells.iter().map(|(cell, _)| cell.risk.to_string()).collect::<BTreeSet<_>>().len()
        };
        played + prepared as f64 * pilot.preparation
    };
    Ok(groups.iter().map(of_group).sum())
}

/// A cell of which a run takes no more than so many seconds at the nominal rate, if fewer simulations do that, and how many it takes.
fn shortened(cell: &Cell, nominal: f64, horizon: u64, seconds: f64) -> (Cell, f64) {
    if nominal <= seconds {
        return (cell.clone(), nominal);
    }
    let short = Cell { simulations: ((cell.simulations as f64 * seconds / nominal) as u64).max(1), ..cell.clone() };
    let nominal = short.run_seconds(horizon);
    (short, nominal)
}

/// Prepares a cell and plays some of its runs for so many seconds.
fn pilot(cell: &Cell, nominal: f64, task: &Task, seconds: f64, stop: &Stop) -> Result<Option<Pilot>, SweepError> {
    let prepared = Instant::now();
    let kept = Kept::of(cell, task, None, stop)?;
    let Ok(agent) = &kept.agent else { return Ok(None) };
    kept.exact.get_or_init(|| agent.exact_summary(&task.problem, cell.risk, stop));
    let preparation = prepared.elapsed().as_secs_f64();
    let (mut runs, playing) = (0, Instant::now());
    let mut policy = agent.policy().boxed();
    while runs < cell.runs && (runs == 0 || playing.elapsed().as_secs_f64() < seconds) {
        if stop.is_requested() {
            return Err(SweepError::Stopped);
        }
        if gumdp::run(&task.problem, &mut *policy, cell.seed, runs).is_err() {
            return Ok(None);
        }
        runs += 1;
    }
    let slower = playing.elapsed().as_secs_f64() / runs.max(1) as f64 / nominal;
    Ok(Some(Pilot { preparation, each: kept.plans(), slower }))
}

#[cfg(test)]
mod tests {
    use super::super::ProblemEntry;
    use super::*;
    use crate::Player;

    /// Measures differ in how long they take to prepare, so each has its own pilot; seeds, budgets and levels do not.
    #[test]
    fn each_problem_player_and_measure_has_a_pilot() {
        let rooms = crate::tasks::get("rooms").unwrap();
        let mut cells = Vec::new();
        for policy in [Player::Uniform, Player::Paper] {
            for risk in ["mean", "erm:2", "cvar:0.5", "cvar:0.9"] {
                cells.extend([0, 1].map(|seed| Cell::new(&rooms, risk.parse().unwrap(), Some(policy), 5, 2, seed)));
            }
        }
        let entry =
            ProblemEntry { name: "rooms".into(), horizon: rooms.problem.horizon() as u64, check: String::new() };
        let plan = Plan::new(vec![entry], cells);
        let loaded = std::cell::Cell::new(0);
        let load = |_: &str| {
            loaded.set(loaded.get() + 1);
            Ok(rooms.clone())
        };
        let seconds = rehearse(&plan, load, 1e9, &Stop::NEVER).unwrap();
        assert_eq!(loaded.get(), 4);
        assert!(seconds > 0.0 && seconds.is_finite());
    }

    /// A run of a large budget is shorter in the rehearsal, and scaled.
    #[test]
    fn rehearsals_of_large_budgets_are_short() {
        let rooms = crate::tasks::get("rooms").unwrap();
        let horizon = rooms.problem.horizon() as u64;
        let cell = Cell::new(&rooms, gumdp::Risk::MEAN, Some(Player::Paper), 1_000_000_000, 1, 0);
        let nominal = cell.run_seconds(horizon);
        assert!(nominal > 1000.0);
        let (short, own) = shortened(&cell, nominal, horizon, 0.01);
        assert!(own <= 0.01 && short.simulations > 1000);
        assert!((nominal / own * short.simulations as f64 / 1e9 - 1.0).abs() < 1e-3);
        let entry = ProblemEntry { name: "rooms".into(), horizon, check: String::new() };
        let plan = Plan::new(vec![entry], vec![cell]);
        assert!(rehearse(&plan, |_| Ok(rooms.clone()), 0.02, &Stop::NEVER).unwrap() > 100.0);
    }
}
