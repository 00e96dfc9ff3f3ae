//! The file of a sweep: which problems, attitudes to risk, players, budgets, runs and seeds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gumdp::{Erm, MAX_SIMULATIONS, Risk, UNCHECKED, checksum};

use super::SweepError;
use super::plan::{Cell, Plan, ProblemEntry};
use crate::document::{Document, Table, Value, shortened};
use crate::error::did_you_mean;
use crate::files::read_problem_text;
use crate::mistakes::{Mistakes, Text};
use crate::pieces::Pieces;
use crate::{Player, Task, tasks};

const FIELDS: [&str; 7] = ["problems", "risks", "policies", "presets", "simulations", "runs", "seed"];
/// More runs than this are a typing error.
const MOST_RUNS: u64 = 1_000_000_000;
/// More cells than this are a typing error.
const MOST_CELLS: usize = 10_000_000;

/// More units of work than this, of two minutes or of one run, do not fit into memory.
const MOST_UNITS: f64 = 1e7;

/// A policy as the command line names it.
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Auto,
    Planner,
    Other(Player),
}

const POLICIES: [(&str, Policy); 5] = [
    ("auto", Policy::Auto),
    ("planner", Policy::Planner),
    ("uniform", Policy::Other(Player::Uniform)),
    ("exact", Policy::Other(Player::Exact)),
    ("backward-induction", Policy::Other(Player::BackwardInduction)),
];
const PRESETS: [(&str, Player); 2] = [("default", Player::Default), ("paper", Player::Paper)];

/// What the file says; what it leaves out is the task's.
struct Axes {
    problems: Vec<Problem>,
    risks: Option<Vec<Risk>>,
    players: Vec<Option<Player>>,
    simulations: Option<Vec<u64>>,
    runs: Option<Vec<u64>>,
    seeds: Vec<u64>,
}

enum Problem {
    BuiltIn(String),
    File(PathBuf),
}

impl Plan {
    /// Reads the file of a sweep and the problems it names, and hands each of them over once.
    ///
    /// # Errors
    /// The first mistake of the file or of a problem, with its place.
    pub fn read(path: &Path, allow_files: bool, mut each: impl FnMut(&Task)) -> Result<Self, SweepError> {
        let (file, text) = (path.display().to_string(), read_problem_text(path)?);
        let mistakes = Mistakes::default();
        let axes = read_axes(&file, &text, path.parent().unwrap_or(Path::new("")), &mistakes);
        let axes = match axes {
            Some(axes) if !mistakes.any() => axes,
            _ => return Err(mistakes.into_first(&file).into()),
        };
        let (mut problems, mut cells, mut known) = (Vec::<ProblemEntry>::new(), Vec::new(), BTreeSet::new());
        for problem in &axes.problems {
            let task = problem.load(allow_files)?;
            let check = format!("{:016x}", checksum(UNCHECKED, task.source.as_bytes()));
            match problems.iter().find(|known| known.name == task.name) {
                Some(same) if same.check == check => continue,
                Some(_) => {
                    let what = format!("two different problems are called \"{}\"; rename one of the files", task.name);
                    return Err(SweepError::Unfit { path: path.to_owned(), what });
                }
                None => {}
            }
            each(&task);
            axes.expand(&task, |cell| {
                if known.insert(cell.id.clone()) {
                    cells.push(cell);
                }
            });
            if cells.len() > MOST_CELLS {
                let what = format!("it has more than {MOST_CELLS} cells");
                return Err(SweepError::Unfit { path: path.to_owned(), what });
            }
            let horizon = task.problem.horizon() as u64;
            problems.push(ProblemEntry { name: task.name, horizon, check });
        }
        let plan = Self::new(problems, cells);
        if plan.unit_count() > MOST_UNITS {
            let years = plan.nominal_seconds() / (365.25 * 86400.0);
            let what = format!("its runs would take one core about {years:.0} years, which is more than can be cut");
            return Err(SweepError::Unfit { path: path.to_owned(), what });
        }
        Ok(plan)
    }
}

impl Problem {
    fn load(&self, allow_files: bool) -> Result<Task, SweepError> {
        match self {
            Self::BuiltIn(name) => Ok(tasks::get(name).expect("its name was looked up")),
            Self::File(path) => Ok(Task::load_allowing(path, allow_files)?),
        }
    }
}

impl Axes {
    /// The cells of a task.
    fn expand(&self, task: &Task, mut each: impl FnMut(Cell)) {
        let risks = self.risks.clone().unwrap_or_else(|| task.defaults.risks());
        let own = |given: &Option<Vec<u64>>, usual: u64| given.clone().unwrap_or_else(|| vec![usual]);
        let (simulations, runs) =
            (own(&self.simulations, task.defaults.simulations), own(&self.runs, task.defaults.runs));
        for &risk in &risks {
            let risk = task.problem.measure(risk);
            for &player in &self.players {
                for &simulations in &simulations {
                    for &runs in &runs {
                        for &seed in &self.seeds {
                            each(Cell::new(task, risk, player, simulations, runs, seed));
                        }
                    }
                }
            }
        }
    }
}

fn read_axes(file: &str, text: &str, folder: &Path, mistakes: &Mistakes) -> Option<Axes> {
    let pieces = Pieces::cut(text);
    let document = Document::parse(Text::of_problem(file, text, mistakes), &pieces)?;
    let root = document.root();
    root.only(&FIELDS);
    let counts = |name: &str, low: u64, high: u64| list(root, name, |value| value.count(low, high));
    let problems = root.need("problems").and_then(|value| {
        let found = value.not_empty("name at least one problem")?.all(|value| named(value, folder))?;
        Some(found.into_iter().flatten().collect())
    });
    let risks = list(root, "risks", risk);
    let policies = list(root, "policies", |value| value.choice(&POLICIES)).unwrap_or_else(|| vec![Policy::Auto]);
    let presets = list(root, "presets", |value| value.choice(&PRESETS));
    // A list of presets means the planners, as --preset does on the command line.
    let policies = if root.get("policies").is_none() && presets.is_some() { vec![Policy::Planner] } else { policies };
    if let Some(value) = root.get("presets").filter(|_| !policies.contains(&Policy::Planner)) {
        let mistake = value.error("presets are settings of the planner, which policies does not name");
        mistake.hint("add \"planner\" to policies, or leave presets out").tell::<()>();
    }
    let presets = presets.unwrap_or_else(|| vec![Player::Default]);
    let players = policies.iter().flat_map(|policy| match *policy {
        Policy::Auto => vec![None],
        Policy::Planner => presets.iter().copied().map(Some).collect(),
        Policy::Other(player) => vec![Some(player)],
    });
    let players = players.collect();
    let simulations = counts("simulations", 1, MAX_SIMULATIONS);
    let runs = counts("runs", 1, MOST_RUNS);
    let seeds = counts("seed", 0, i64::MAX as u64).unwrap_or_else(|| vec![0]);
    Some(Axes { problems: problems?, risks, players, simulations, runs, seeds })
}

/// One value or a list of them, if the field is there.
fn list<'a, T>(root: Table<'a>, name: &str, read: impl FnMut(Value<'a>) -> Option<T>) -> Option<Vec<T>> {
    root.get(name)?.not_empty("have at least one value")?.all(read)
}

/// A measure by name, or an entropic one by its β.
fn risk(value: Value) -> Option<Risk> {
    if value.as_text().is_some() {
        return value.accept(value.text()?.parse());
    }
    let beta =
        value.number_that(|beta| !beta.is_nan(), "be a number or the name of a measure, such as \"cvar:0.9\"")?;
    // Minus zero is zero: the sum has no sign.
    value.accept(Erm::new(beta + 0.0)).map(Risk::from)
}

/// The problems that a text names: a built-in task, a file, or all files of a pattern, by name.
fn named(value: Value, folder: &Path) -> Option<Vec<Problem>> {
    let name = value.text()?;
    if tasks::source(name).is_some() {
        return Some(vec![Problem::BuiltIn(name.to_owned())]);
    }
    let path = folder.join(name);
    if path.is_file() {
        return Some(vec![Problem::File(path)]);
    }
    if name.contains(['*', '?', '[']) {
        let pattern = format!("{}", glob_escaped(folder).join(name).display());
        let Ok(found) = glob::glob(&pattern) else {
            let message = format!("{} is \"{}\", which is no pattern", value.name(), shortened(name));
            return value.error(message).hint("* is any text, ? a character, [abc] one of these").tell();
        };
        let files: Vec<PathBuf> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
        if files.is_empty() {
            return value.error(format!("{} is \"{}\", which no file matches", value.name(), shortened(name))).tell();
        }
        // In the same order on every machine.
        let files: BTreeSet<PathBuf> = files.into_iter().collect();
        return Some(files.into_iter().map(Problem::File).collect());
    }
    let message = format!("{} is \"{}\": there is no such task or file", value.name(), shortened(name));
    value.error(message).maybe_hint(did_you_mean(name, tasks::NAMES)).tell()
}

/// A folder whose name means itself in a pattern.
fn glob_escaped(folder: &Path) -> PathBuf {
    PathBuf::from(glob::Pattern::escape(&folder.display().to_string()))
}
