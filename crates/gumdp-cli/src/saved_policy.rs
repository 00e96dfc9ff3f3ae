//! Policies as JSON files: what `solve --save` and `plan --save` write and `evaluate` reads. `docs/json/policy.schema.json`
//! describes the form.
//!
//! A policy belongs to one problem, whose fingerprint it carries. Numbers are written so that they are read back to the last
//! bit. Not here: tables that people write (see [`gumdp_files::PolicyTable`]).

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use gumdp::oracle::Solution;
use gumdp::{Action, ByOccupancy, Markov, OccupancyState, Risk};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use crate::cells::Cell;
use crate::failure::BadInput;
use crate::player::Who;
use crate::store::write_atomically;

const FORMAT: &str = "gumdp policy";
/// Grows when older programs could not read the file.
const VERSION: u32 = 1;
/// The most occupancy states that a saved policy may reach.
const MOST_OCCUPANCIES: usize = 1_000_000;
/// The most entries of a saved table by time and state.
const MOST_ENTRIES: usize = 10_000_000;

/// All but the decisions.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPolicy {
    format: String,
    version: u32,
    gumdp: String,
    /// Name of the task.
    pub task: String,
    problem: String,
    /// The attitude to risk it is for.
    #[serde(alias = "beta", with = "crate::number::attitude")]
    pub risk: Risk,
    /// Its exact risk, if it is known.
    #[serde(alias = "erm")]
    pub value: Option<f64>,
    /// No policy has a lower one, if that is known.
    #[serde(default)]
    low: Option<f64>,
    /// The risk again: it is certain.
    #[serde(default)]
    high: Option<f64>,
    /// Its expected cost, if it is known.
    pub mean: Option<f64>,
    #[serde(skip_serializing)]
    policy: Content,
}

/// The decisions, or who makes them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Content {
    ByTimeAndState(Table),
    ByOccupancy(Rows),
    Planner(PlannerOptions),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    states: Vec<String>,
    /// For each time, the action of each state.
    actions: Vec<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    /// Time, state, features, action.
    rows: Vec<(usize, String, Vec<f64>, String)>,
}

/// Settings and seed of a planner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannerOptions {
    preset: Who,
    simulations: u64,
    exploration: f64,
    seed: u64,
    /// What it decided when it was saved.
    first_state: String,
    first_action: String,
}

/// A policy that was read.
#[derive(Debug)]
pub enum Read {
    /// By time and state.
    Markov(Markov),
    /// By occupancy state.
    Occupancy(ByOccupancy),
    /// The cell of a planner.
    Planner(Cell),
}

/// Writes a file and says what is in it, whether it took the place of another, and whether its folder is new.
pub fn put(path: &Path, what: &str, write: impl FnOnce() -> Result<()>, quiet: bool) -> Result<()> {
    let replaced = path.is_file();
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    write()?;
    if !quiet {
        if let Some(folder) = folder {
            crate::talk::say!("created the folder {}", folder.display());
        }
        let instead = if replaced { ", which was replaced" } else { "" };
        crate::talk::say!("{what} in {}{instead}", path.display());
    }
    Ok(())
}

/// Writes the optimal policy of a task.
pub fn save_solution(path: &Path, task: &Task, risk: Risk, solution: &Solution) -> Result<()> {
    let problem = &task.problem;
    let mdp = problem.mdp();
    let optimal = solution.policy();
    let mut out = header(task, risk, Some(solution))?;
    // Other measures need to know the cost so far.
    if problem.objective().as_linear().is_some() && risk.beta().is_some() {
        let entries = mdp.state_count().saturating_mul(problem.horizon());
        if entries > MOST_ENTRIES {
            return Err(
                too_large(&format!("{entries} entries by time and state; at most {MOST_ENTRIES} are allowed")).into()
            );
        }
        let states: Vec<&str> = mdp.states().map(|state| mdp.state_name(state)).collect();
        let _ =
            write!(out, "    \"by-time-and-state\": {{\n      \"states\": {},\n      \"actions\": [", json(&states)?);
        for time in 0..problem.horizon() {
            let action =
                |state| mdp.action_name(mdp.action(optimal.best(&OccupancyState { time, ..problem.start(state) })));
            let actions: Vec<&str> = mdp.states().map(action).collect();
            let _ = write!(out, "{}\n        {}", if time == 0 { "" } else { "," }, json(&actions)?);
        }
    } else {
        let kept = ByOccupancy::reached(problem, |at| optimal.best(at), MOST_OCCUPANCIES)
            .map_err(|_| too_large(&format!("it reaches more than {MOST_OCCUPANCIES} occupancy states")))?;
        out.push_str("    \"by-occupancy\": {\n      \"rows\": [");
        for (number, (at, action)) in kept.rows().enumerate() {
            let row = (at.time, mdp.state_name(at.state), &at.features, mdp.action_name(action));
            let _ = write!(out, "{}\n        {}", if number == 0 { "" } else { "," }, json(&row)?);
        }
    }
    out.push_str("\n      ]\n    }\n  }\n}\n");
    write(path, &out)
}

/// A file that cannot be written is bad input, as an output folder is.
fn write(path: &Path, text: &str) -> Result<()> {
    Ok(write_atomically(path, text.as_bytes()).map_err(|error| BadInput::new(format!("{error:#}")))?)
}

/// Writes the settings of a planner, from which its decisions can be had again.
pub fn save_planner(path: &Path, task: &Task, cell: &Cell, first: (&str, &str)) -> Result<()> {
    let options = PlannerOptions {
        preset: cell.preset,
        simulations: cell.simulations,
        exploration: cell.exploration,
        seed: cell.seed,
        first_state: first.0.to_owned(),
        first_action: first.1.to_owned(),
    };
    let mut out = header(task, cell.risk, None)?;
    let _ = write!(out, "    \"planner\": {}\n  }}\n}}\n", json(&options)?);
    write(path, &out)
}

/// Everything up to the decisions.
fn header(task: &Task, risk: Risk, solution: Option<&Solution>) -> Result<String> {
    let saved = SavedPolicy {
        format: FORMAT.to_owned(),
        version: VERSION,
        gumdp: env!("CARGO_PKG_VERSION").to_owned(),
        task: task.name.clone(),
        problem: fingerprint(task),
        risk,
        value: solution.map(|solution| solution.high),
        low: solution.map(|solution| solution.low),
        high: solution.map(|solution| solution.high),
        mean: solution.map(|solution| solution.mean),
        policy: Content::ByOccupancy(Rows { rows: Vec::new() }),
    };
    let text = serde_json::to_string_pretty(&saved)?;
    Ok(format!("{},\n  \"policy\": {{\n", text.trim_end_matches(['}', '\n'])))
}

fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}

fn fingerprint(task: &Task) -> String {
    format!("{:016x}", task.problem.fingerprint())
}

fn too_large(size: &str) -> BadInput {
    BadInput::new(format!("the policy is too large to be saved: {size}"))
        .hint("shorten the horizon, or play it without saving it: gumdp run TASK --policy exact")
}

/// Reads a policy for a task.
pub fn load(path: &Path, task: &Task) -> Result<(SavedPolicy, Read)> {
    let file = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| BadInput::new(format!("{file}: cannot be read: {error}")))?;
    let saved: SavedPolicy = serde_json::from_str(&text).map_err(|error| {
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
        BadInput::new(format!("{file}:{}:{}: not a saved policy: {what}", error.line(), error.column()))
            .hint("`gumdp solve TASK --beta B --save policy.json` writes one; a table that people write is a .csv file")
    })?;
    if saved.format != FORMAT || saved.version != VERSION {
        let (format, version) = (&saved.format, saved.version);
        let message =
            format!("{file}: format is \"{format}\", version {version}; it must be \"{FORMAT}\", version {VERSION}");
        return Err(BadInput::new(message).into());
    }
    let (theirs, ours) = (&saved.problem, fingerprint(task));
    if *theirs != ours {
        let message = format!(
            "{file}: the policy is for another problem, saved as \"{}\" (fingerprint {theirs}; that of {} is {ours})",
            saved.task, task.name
        );
        return Err(BadInput::new(message)
            .hint("a saved policy fits the states, transitions, objective, discount and horizon it was solved for only")
            .into());
    }
    let read = content(&saved, task).map_err(|message| BadInput::new(format!("{file}: {message}")))?;
    Ok((saved, read))
}

fn content(saved: &SavedPolicy, task: &Task) -> Result<Read, String> {
    let (problem, mdp) = (&task.problem, task.problem.mdp());
    let action = |place: &str, name: &str| -> Result<Action, String> {
        mdp.find_action(name).ok_or_else(|| format!("policy.{place}: unknown action \"{name}\""))
    };
    match &saved.policy {
        Content::ByTimeAndState(Table { states, actions }) => {
            if !states.iter().map(String::as_str).eq(mdp.states().map(|state| mdp.state_name(state))) {
                return Err("policy.by-time-and-state.states are not those of the problem, in its order".to_owned());
            }
            let row =
                |names: &Vec<String>| names.iter().map(|name| action("by-time-and-state.actions", name)).collect();
            let rows: Vec<Vec<Action>> = actions.iter().map(row).collect::<Result<_, _>>()?;
            Markov::deterministic(problem, &rows).map(Read::Markov).map_err(|error| error.to_string())
        }
        Content::ByOccupancy(Rows { rows }) => {
            let row = |(number, (time, state, features, chosen)): (usize, &(usize, String, Vec<f64>, String))| {
                let place = format!("by-occupancy.rows[{number}]");
                let state =
                    mdp.find_state(state).ok_or_else(|| format!("policy.{place}: unknown state \"{state}\""))?;
                Ok((OccupancyState { time: *time, state, features: features.clone() }, action(&place, chosen)?))
            };
            let rows: Vec<_> = rows.iter().enumerate().map(row).collect::<Result<_, String>>()?;
            ByOccupancy::new(problem, rows).map(Read::Occupancy).map_err(|error| error.to_string())
        }
        Content::Planner(PlannerOptions { preset, simulations, exploration, seed, .. }) => {
            if !preset.plans() {
                return Err(format!("policy.planner.preset is {preset}; it must be paper or default"));
            }
            let cell = Cell::new(task, saved.risk, *preset, *seed).with(None, Some(*simulations));
            Ok(Read::Planner(Cell { exploration: *exploration, ..cell }))
        }
    }
}
