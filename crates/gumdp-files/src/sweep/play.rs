//! Playing a shard: what no journal of the folder has yet.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use gumdp::oracle::{Limits, OracleError};
use gumdp::{Agent, AgentError, Experiment, ExperimentError, Stop, UNCHECKED, Watch, checksum};

use super::journal::{Done, Entry, Writer, journals, scan};
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
        let text = serde_json::to_string_pretty(&plan).unwrap_or_default() + "\n";
        write::write(&at, text.as_bytes()).map_err(|source| SweepError::write(&at, source))?;
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

    /// Which runs the journals of a folder hold.
    pub(super) fn done(&self, folder: &Path) -> Result<Done, SweepError> {
        let mut done = Done::nothing(self);
        for path in journals(folder)? {
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
        let patient = matches!(self.policy, Some(Player::Exact | Player::BackwardInduction));
        let limits = if patient { Limits::default() } else { Limits::QUICK };
        let mut spec = self.policy.unwrap_or_default().spec(task, self.risk, self.simulations, self.seed);
        if self.policy.is_none() {
            spec.who = gumdp::Who::Auto(task.defaults.guided.clone());
        }
        spec.limits = Limits { stop: stop.clone(), ..limits };
        Agent::new(&task.problem, &spec)
    }
}

/// Plays what is missing of a shard, in parallel in rayon's current thread pool. Cells that cannot be played are passed over and
/// listed.
///
/// # Errors
/// If a journal cannot be read or written, or it was stopped.
pub fn play(plan: &Plan, folder: &Path, shard: Shard, stop: &Stop, watch: &dyn Watcher) -> Result<Played, SweepError> {
    let done = plan.done(folder)?;
    let pieces = plan.pieces(shard);
    let mut played = Played::default();
    let (mut journal, mut task, mut agent): (Option<Writer>, Option<Task>, Option<(usize, Agent)>) = (None, None, None);
    for piece in pieces {
        let cell = &plan.cells[piece.cell];
        let missing = done.missing(piece.cell, piece.runs.clone());
        let known = piece.runs.end - piece.runs.start - missing.len() as u64;
        played.known += known;
        watch.finished(known);
        if missing.is_empty() || played.failed.iter().any(|(id, _)| *id == cell.id) {
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
        let outcome = play_piece(piece.cell, cell, missing, task, &mut agent, journal, stop, watch);
        match outcome {
            Ok(runs) => played.runs += runs,
            Err(Ended::Cell(why)) => {
                journal.failed(piece.cell, &why).map_err(unkept)?;
                played.failed.push((cell.id.clone(), why));
            }
            Err(Ended::Shard(error)) => return Err(error),
        }
    }
    journal.map_or(Ok(()), |journal| journal.end()).map_err(unkept)?;
    Ok(played)
}

/// Why a piece was not played to its end.
enum Ended {
    Cell(String),
    Shard(SweepError),
}

#[expect(clippy::too_many_arguments, reason = "what a shard keeps between its pieces")]
fn play_piece(
    number: usize,
    cell: &Cell,
    missing: Vec<u64>,
    task: &Task,
    kept: &mut Option<(usize, Agent)>,
    journal: &Writer,
    stop: &Stop,
    watch: &dyn Watcher,
) -> Result<u64, Ended> {
    if kept.as_ref().is_none_or(|(of, _)| *of != number) {
        let agent = cell.agent(task, stop).map_err(|error| match error {
            AgentError::Oracle(OracleError::Stopped) => Ended::Shard(SweepError::Stopped),
            error => Ended::Cell(error.to_string()),
        })?;
        *kept = Some((number, agent));
    }
    let Some((_, agent)) = kept else { return Ok(0) };
    if missing.contains(&0)
        && let Some(summary) = agent.exact_summary(&task.problem, cell.risk, stop)
    {
        journal.exact(number, &summary).map_err(|error| Ended::Shard(unkept(error)))?;
    }
    let experiment = Experiment { stop, watch, ..Experiment::new(&task.problem, agent.policy(), cell.seed) };
    let runs = missing.len() as u64;
    let kept = experiment.play_each(missing, |record| journal.run(number, record));
    match kept {
        Ok(()) => Ok(runs),
        Err(error) if error.is_stopped() => Err(Ended::Shard(SweepError::Stopped)),
        Err(ExperimentError::Run(error)) => Err(Ended::Cell(error.to_string())),
        Err(error) => Err(Ended::Shard(unkept(error))),
    }
}

fn unkept(error: ExperimentError) -> SweepError {
    match error {
        ExperimentError::Journal { path, source } => SweepError::Write { path, source },
        ExperimentError::Unread { path, source } => SweepError::Read { path, source },
        ExperimentError::Run(_) => SweepError::Stopped,
    }
}

/// About how many seconds of one core a sweep takes: some runs are played for at most so many seconds, one cell of each problem and
/// player, and the others are taken to be as much faster or slower than the nominal rate.
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
    let mut groups: BTreeMap<(&str, String), Vec<&Cell>> = BTreeMap::new();
    for cell in &plan.cells {
        groups.entry((&cell.task, cell.player())).or_default().push(cell);
    }
    let mut measured: BTreeMap<(&str, String), (f64, f64)> = BTreeMap::new();
    let share = seconds / groups.len() as f64;
    for (group, cells) in &groups {
        let Some(cell) = cells.iter().min_by_key(|cell| cell.simulations) else { continue };
        if began.elapsed().as_secs_f64() > seconds {
            break;
        }
        let (task, prepared) = (load(&cell.task)?, Instant::now());
        let Ok(agent) = cell.agent(&task, stop) else { continue };
        let preparation = prepared.elapsed().as_secs_f64();
        let (mut runs, playing) = (0, Instant::now());
        let mut policy = agent.policy().boxed();
        while runs < cell.runs && (runs == 0 || playing.elapsed().as_secs_f64() < share / 2.0) {
            if stop.is_requested() {
                return Err(SweepError::Stopped);
            }
            if gumdp::run(&task.problem, &mut *policy, cell.seed, runs).is_err() {
                break;
            }
            runs += 1;
        }
        if runs > 0 {
            let each = playing.elapsed().as_secs_f64() / runs as f64;
            measured.insert(group.clone(), (preparation, each / plan.run_seconds(cell)));
        }
    }
    let mut ratios: Vec<f64> = measured.values().map(|&(_, ratio)| ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let usual = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
    let of_cell = |group: &(&str, String), cell: &&Cell| {
        let (preparation, ratio) = measured.get(group).copied().unwrap_or((1.0, usual));
        preparation + cell.runs as f64 * plan.run_seconds(cell) * ratio
    };
    Ok(groups.iter().flat_map(|(group, cells)| cells.iter().map(move |cell| of_cell(group, cell))).sum())
}
