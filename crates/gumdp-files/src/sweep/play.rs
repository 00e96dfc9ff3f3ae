//! Playing a shard: what no journal of the folder has yet.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use gumdp::oracle::{self, Limits, OracleError};
use gumdp::stats::Summary;
use gumdp::{Agent, AgentError, Experiment, ExperimentError, Stop, UNCHECKED, Watch, checksum};

use super::journal::{Done, Entry, Name, Writer, journals, scan};
use super::plan::write_json;
use super::{Cell, Plan, Shard, SweepError};
use crate::{Player, Task, write};

/// Is told how a shard goes, by any of its threads.
pub trait Watcher: Watch {
    /// This cell is next.
    fn cell(&self, _cell: &Cell) {}
}

/// Nobody watches.
impl Watcher for () {}

/// What became of a shard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// Runs that were played now.
    pub runs: u64,
    /// Runs that were there before.
    pub known: u64,
    /// Cells that could not be played, and why.
    pub failed: Vec<(String, String)>,
}

impl Plan {
    /// Reads the file of a sweep, and makes or opens its folder: every shard may do so at any time.
    ///
    /// # Errors
    /// If the file or a problem has a mistake, the folder holds another sweep, or it cannot be written.
    pub fn open(path: &Path, allow_files: bool, folder: &Path) -> Result<Self, SweepError> {
        let mut sources = Vec::new();
        let plan = Self::read(path, allow_files, |task| sources.push((task.name.clone(), task.source.clone())))?;
        let at = folder.join("plan.json");
        if at.exists() {
            let there = Self::of_folder(folder)?;
            return if there == plan { Ok(plan) } else { Err(SweepError::Other { folder: folder.to_owned() }) };
        }
        if folder.join("manifest.json").exists() {
            return Err(SweepError::Other { folder: folder.to_owned() });
        }
        let runs = folder.join("runs");
        fs::create_dir_all(&runs).map_err(|source| SweepError::write(&runs, source))?;
        for (name, source) in sources {
            let file = folder.join("tasks").join(format!("{name}.toml"));
            write::write(&file, source.as_bytes()).map_err(|source| SweepError::write(&file, source))?;
        }
        // The plan comes last: where it is, the problems are.
        write_json(&at, &plan)?;
        Ok(plan)
    }

    /// A problem of the folder.
    ///
    /// # Errors
    /// If its file is not there or not what was written.
    pub fn task(&self, folder: &Path, name: &str) -> Result<Task, SweepError> {
        let path = folder.join("tasks").join(format!("{name}.toml"));
        let text = fs::read_to_string(&path).map_err(|source| SweepError::read(&path, source))?;
        let check = format!("{:016x}", checksum(UNCHECKED, text.as_bytes()));
        if !self.problems.iter().any(|problem| problem.name == name && problem.check == check) {
            let what = "it is not the problem that the sweep began with".to_owned();
            return Err(SweepError::Damaged { path, what });
        }
        Ok(Task::parse(&format!("{name}.toml"), &text)?)
    }

    /// Which runs of a shard the journals of a folder hold. Those of other shards of the same cut hold none and are not read: many
    /// processes may begin at once.
    fn done(&self, folder: &Path, shard: Shard) -> Result<Done, SweepError> {
        let mut done = Done::nothing(self);
        for path in journals(folder)? {
            if Name::of(&path).is_some_and(|name| name.is_apart_from(shard)) {
                continue;
            }
            scan(&path, self, |entry| {
                if let Entry::Run { cell, record, .. } = entry {
                    let run = record.split(',').next().and_then(|run| run.parse().ok());
                    if let Some(run) = run {
                        done.add(cell, run);
                    }
                }
                Ok(())
            })?;
        }
        Ok(done)
    }
}

impl Cell {
    /// Who plays it.
    ///
    /// # Errors
    /// If the optimum is wanted and not to be had, or it was stopped.
    pub fn agent(&self, task: &Task, stop: &Stop) -> Result<Agent, AgentError> {
        self.agent_knowing(task, stop, &mut None)
    }

    /// The same for those who may know why the problem cannot be solved soon, or want to.
    fn agent_knowing(&self, task: &Task, stop: &Stop, unsolved: &mut Option<OracleError>) -> Result<Agent, AgentError> {
        let patient = matches!(self.policy, Some(Player::Exact | Player::BackwardInduction));
        let limits = if patient { Limits::default() } else { Limits::QUICK };
        let mut spec = self.policy.unwrap_or_default().spec(task, self.risk, self.simulations, self.seed);
        spec.limits = Limits { stop: stop.clone(), ..limits };
        if self.policy.is_some() {
            return Agent::new(&task.problem, &spec);
        }
        spec.who = gumdp::Who::Auto(task.defaults.guided.clone());
        Agent::with_solver(&task.problem, &spec, || {
            let solved = match unsolved.clone() {
                Some(because) => Err(because),
                None => oracle::solve(&task.problem, self.risk, &spec.limits),
            };
            *unsolved = solved.as_ref().err().cloned();
            solved
        })
    }

    /// Whether it has the same problem, attitude and player as another.
    fn is_like(&self, other: &Self) -> bool {
        (&self.task, self.risk, self.policy) == (&other.task, other.risk, other.policy)
    }
}

/// Who plays a cell, kept as long as the next one has the same problem, attitude and player: solutions and what is known exactly do
/// not depend on budgets and seeds.
pub(super) struct Kept {
    cell: Cell,
    pub(super) agent: Result<Agent, String>,
    unsolved: Option<OracleError>,
    /// What is known exactly, once somebody has asked.
    pub(super) exact: OnceCell<Option<Summary>>,
}

impl Kept {
    /// Who plays the next cell.
    pub(super) fn of(cell: &Cell, task: &Task, before: Option<Self>, stop: &Stop) -> Result<Self, SweepError> {
        let before = before.filter(|before| before.cell.is_like(cell));
        let serves =
            |kept: &Self| !kept.plans() || (kept.cell.simulations, kept.cell.seed) == (cell.simulations, cell.seed);
        let mut unsolved = match before {
            Some(before) if serves(&before) => return Ok(before),
            before => before.and_then(|before| before.unsolved),
        };
        let agent = match cell.agent_knowing(task, stop, &mut unsolved) {
            Err(AgentError::Oracle(OracleError::Stopped)) => return Err(SweepError::Stopped),
            made => made.map_err(|error| error.to_string()),
        };
        Ok(Self { cell: cell.clone(), agent, unsolved, exact: OnceCell::new() })
    }

    /// Whether another budget or seed is another player.
    pub(super) fn plans(&self) -> bool {
        match &self.agent {
            Ok(agent) => agent.fixed().is_some(),
            Err(_) => self.cell.policy.is_none_or(Player::plans),
        }
    }
}

/// Plays what is missing of a shard, in parallel in rayon's current thread pool. Cells that cannot be played are passed over and
/// listed.
///
/// # Errors
/// If a journal cannot be read or written, or it was stopped.
pub fn play(plan: &Plan, folder: &Path, shard: Shard, stop: &Stop, watch: &dyn Watcher) -> Result<Played, SweepError> {
    let done = plan.done(folder, shard)?;
    let mut played = Played::default();
    let (mut journal, mut task, mut kept): (Option<Writer>, Option<Task>, Option<Kept>) = (None, None, None);
    let mut failed = None;
    for piece in plan.pieces(shard) {
        let (number, cell) = (piece.cell, &plan.cells[piece.cell]);
        let missing = done.missing(number, piece.runs.clone());
        let known = piece.runs.end - piece.runs.start - missing.len() as u64;
        played.known += known;
        watch.finished(known);
        // The pieces of a cell follow each other.
        if missing.is_empty() || failed == Some(number) {
            continue;
        }
        if journal.is_none() {
            journal = Some(Writer::create(folder, plan, shard)?);
        }
        let Some(journal) = &journal else { continue };
        if task.as_ref().is_none_or(|task| task.name != cell.task) {
            task = Some(plan.task(folder, &cell.task)?);
        }
        let Some(task) = &task else { continue };
        watch.cell(cell);
        let next = Kept::of(cell, task, kept.take(), stop)?;
        let who = &*kept.insert(next);
        match play_runs(number, cell, missing, task, who, journal, stop, watch)? {
            Ok(runs) => played.runs += runs,
            Err(why) => {
                journal.failed(number, &why).map_err(unkept)?;
                played.failed.push((cell.id.clone(), why));
                failed = Some(number);
            }
        }
    }
    journal.map_or(Ok(()), |journal| journal.end()).map_err(unkept)?;
    Ok(played)
}

/// Plays runs of a cell: how many, or why it cannot be played.
#[expect(clippy::too_many_arguments, reason = "what a shard keeps between its pieces")]
fn play_runs(
    number: usize,
    cell: &Cell,
    missing: Vec<u64>,
    task: &Task,
    who: &Kept,
    journal: &Writer,
    stop: &Stop,
    watch: &dyn Watcher,
) -> Result<Result<u64, String>, SweepError> {
    let agent = match &who.agent {
        Ok(agent) => agent,
        Err(why) => return Ok(Err(why.clone())),
    };
    if missing.contains(&0) {
        let exact = *who.exact.get_or_init(|| agent.exact_summary(&task.problem, cell.risk, stop));
        // A summary that was not finished says nothing.
        if stop.is_requested() {
            return Err(SweepError::Stopped);
        }
        if let Some(summary) = exact {
            journal.exact(number, &summary).map_err(unkept)?;
        }
    }
    let experiment = Experiment { stop, watch, ..Experiment::new(&task.problem, agent.policy(), cell.seed) };
    let runs = missing.len() as u64;
    match experiment.play_each(missing, |record| journal.run(number, record)) {
        Ok(()) => Ok(Ok(runs)),
        Err(error) if error.is_stopped() => Err(SweepError::Stopped),
        Err(ExperimentError::Run(error)) => Ok(Err(error.to_string())),
        Err(error) => Err(unkept(error)),
    }
}

fn unkept(error: ExperimentError) -> SweepError {
    match error {
        ExperimentError::Journal { path, source } => SweepError::Write { path, source },
        ExperimentError::Unread { path, source } => SweepError::Read { path, source },
        ExperimentError::Run(_) => SweepError::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gumdp::{Erm, Risk};

    /// What does not depend on seeds and budgets is solved and known once; planners are made for each.
    #[test]
    fn solutions_are_kept_between_seeds() {
        let rooms = crate::tasks::get("rooms").unwrap();
        let cell = |policy, risk, seed| Cell::new(&rooms, risk, policy, 10, 5, seed);
        let careful: Risk = "cvar:0.9".parse().unwrap();
        for (policy, risk, is_kept) in [
            (Some(Player::Uniform), Risk::MEAN, true),
            (Some(Player::Exact), Risk::MEAN, true),
            (None, Risk::MEAN, true),
            (Some(Player::BackwardInduction), Risk::MEAN, true),
            (Some(Player::Paper), Risk::MEAN, false),
            (Some(Player::Paper), careful, false),
        ] {
            let first = Kept::of(&cell(policy, risk, 0), &rooms, None, &Stop::NEVER).unwrap();
            // Marks it.
            first.exact.get_or_init(|| None);
            let second = Kept::of(&cell(policy, risk, 1), &rooms, Some(first), &Stop::NEVER).unwrap();
            assert_eq!(second.exact.get().is_some(), is_kept, "{policy:?} {risk}");
            let other = Kept::of(&cell(policy, Erm::WORST.into(), 1), &rooms, Some(second), &Stop::NEVER).unwrap();
            assert!(other.exact.get().is_none(), "{policy:?} with another attitude");
        }
    }
}
