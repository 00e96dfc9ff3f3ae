//! Policies as JSON files: optimal ones, and planners with their settings. `docs/json/policy.schema.json` describes the form.
//!
//! A policy belongs to one problem, whose fingerprint it carries. Numbers are written so that they are read back to the last
//! bit. Not here: tables that people write ([`PolicyTable`](crate::PolicyTable)), writing to disk.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Task;
use crate::error::FileError;
use crate::export::ExportError;
use crate::files::read_text;
use gumdp::oracle::Solution;
use gumdp::{
    Action, Budget, ByOccupancy, Exploration, Markov, OccupancyState, Pair, PlannerSettings, Policy, Problem, Risk,
    Spec, Who,
};

const FORMAT: &str = "gumdp policy";
/// Grows when older programs could not read the file. The first had `beta` and `erm` for `risk` and `value`; the third has actions by
/// chance, and is written only where there are any.
const VERSION: u32 = 3;
const CERTAIN: u32 = 2;
/// The most occupancy states that a saved policy may reach.
const MOST_OCCUPANCIES: usize = 1_000_000;
/// The most entries of a saved table by time and state.
const MOST_ENTRIES: usize = 10_000_000;

/// A policy that was saved.
///
/// ```
/// use gumdp::{Erm, oracle};
/// use gumdp_files::{SavedPolicy, Saved, tasks};
/// let task = tasks::get("rooms").unwrap();
/// let careful = Erm::new(50.0)?.into();
/// let solution = oracle::solve(&task.problem, careful, &oracle::Limits::QUICK)?;
/// let text = SavedPolicy::text_of_solution(&task, careful, &solution)?;
/// let saved = SavedPolicy::parse("policy.json", &text, &task)?;
/// assert_eq!((saved.risk, saved.value), (careful, Some(solution.high)));
/// assert!(matches!(saved.policy, Saved::Decisions(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SavedPolicy {
    /// The attitude to risk it is for.
    pub risk: Risk,
    /// Its exact risk, if it is known.
    pub value: Option<f64>,
    /// Its expected cost, if it is known.
    pub mean: Option<f64>,
    /// Who decides.
    pub policy: Saved,
}

/// Who decides: what was decided for all that can happen, or a planner.
pub enum Saved {
    /// All decisions.
    Decisions(Box<dyn Policy>),
    /// A planner, which decides anew.
    Planner(SavedPlanner),
}

/// Settings and seed of a planner.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPlanner {
    /// Which planner it is.
    pub preset: Preset,
    /// Simulations for each decision.
    pub simulations: u64,
    /// Exploration constant of the published planner; 0 for others.
    pub exploration: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Where it was when it was saved.
    pub first_state: String,
    /// What it decided there.
    pub first_action: String,
}

/// A planner by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// The published planner.
    Paper,
    /// The guided planner.
    Default,
}

impl SavedPlanner {
    /// The planner for a task, with what is not saved as the task has it.
    #[must_use]
    pub fn spec(&self, task: &Task, risk: Risk) -> Spec {
        let who = match self.preset {
            Preset::Default => Who::Guided(task.defaults.guided.clone()),
            Preset::Paper => Who::Published(PlannerSettings {
                exploration: Exploration::Constant(self.exploration),
                ..task.defaults.published()
            }),
        };
        Spec { budget: Some(Budget::simulations(self.simulations)), seed: self.seed, ..Spec::new(who, risk) }
    }
}

/// Everything up to the decisions, as it is written.
#[derive(Serialize)]
struct Header<'a> {
    format: &'a str,
    version: u32,
    gumdp: &'a str,
    task: &'a str,
    problem: String,
    risk: Risk,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    mean: Option<f64>,
}

/// A file of this or an older version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    #[serde(rename = "gumdp")]
    _gumdp: String,
    task: String,
    problem: String,
    #[serde(alias = "beta")]
    risk: Risk,
    #[serde(alias = "erm")]
    value: Option<f64>,
    #[serde(default, rename = "low")]
    _low: Option<f64>,
    #[serde(default, rename = "high")]
    _high: Option<f64>,
    mean: Option<f64>,
    policy: Content,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Content {
    ByTimeAndState {
        states: Vec<String>,
        /// For each time, what is done in each state.
        actions: Vec<Vec<Choice>>,
    },
    ByOccupancy {
        /// Time, state, features, action.
        rows: Vec<(usize, String, Vec<f64>, String)>,
    },
    Planner(SavedPlanner),
}

/// What is done in a state: an action, or actions by chance.
#[derive(Deserialize)]
#[serde(untagged)]
enum Choice {
    Action(String),
    Chance(BTreeMap<String, f64>),
}

impl SavedPolicy {
    /// The text of a file with the optimal policy of a task.
    ///
    /// # Errors
    /// If the policy is too large.
    pub fn text_of_solution(task: &Task, risk: Risk, solution: &Solution) -> Result<String, ExportError> {
        let problem = &task.problem;
        let mdp = problem.mdp();
        let optimal = solution.policy();
        let mut out = header(task, risk, CERTAIN, Some(solution));
        // Other measures need to know the cost so far.
        if problem.objective().as_linear().is_some() && risk.beta().is_some() {
            by_time_and_state(problem, mdp.state_count(), &mut out, |time| {
                let action =
                    |state| mdp.action_name(mdp.action(optimal.best(&OccupancyState { time, ..problem.start(state) })));
                json(&mdp.states().map(action).collect::<Vec<&str>>())
            })?;
        } else {
            let kept = ByOccupancy::reached(problem, |at| optimal.best(at), MOST_OCCUPANCIES).map_err(|_| {
                ExportError::Policy(format!("it reaches more than {MOST_OCCUPANCIES} occupancy states"))
            })?;
            out.push_str("    \"by-occupancy\": {\n      \"rows\": [");
            for (number, (at, action)) in kept.rows().enumerate() {
                let row = (at.time, mdp.state_name(at.state), &at.features, mdp.action_name(action));
                let _ = write!(out, "{}\n        {}", if number == 0 { "" } else { "," }, json(&row));
            }
        }
        Ok(out + "\n      ]\n    }\n  }\n}\n")
    }

    /// The text of a file with a policy of time and state, by chance.
    ///
    /// # Errors
    /// If the policy is too large.
    pub fn text_of_markov(task: &Task, policy: &Markov) -> Result<String, ExportError> {
        let (problem, mdp) = (&task.problem, task.problem.mdp());
        let mut out = header(task, Risk::MEAN, VERSION, None);
        by_time_and_state(problem, mdp.pair_count(), &mut out, |time| {
            let choice = |state| {
                let name = |pair| mdp.action_name(mdp.action(Pair::from(pair)));
                let chances = mdp.pairs(state).map(|pair| (name(pair), policy.probability(time, pair.into())));
                let chances: BTreeMap<&str, f64> = chances.filter(|(_, p)| *p > 0.0).collect();
                if chances.len() == 1 { json(&chances.keys().next()) } else { json(&chances) }
            };
            format!("[{}]", mdp.states().map(choice).collect::<Vec<_>>().join(","))
        })?;
        Ok(out + "\n      ]\n    }\n  }\n}\n")
    }

    /// The text of a file with the settings of a planner, from which its decisions can be had again.
    #[must_use]
    pub fn text_of_planner(task: &Task, risk: Risk, planner: &SavedPlanner) -> String {
        format!("{}    \"planner\": {}\n  }}\n}}\n", header(task, risk, CERTAIN, None), json(planner))
    }

    /// Reads a policy for a task.
    ///
    /// # Errors
    /// If the file cannot be read, is no saved policy, or one for another problem.
    pub fn load(path: &Path, task: &Task) -> Result<Self, FileError> {
        Self::parse(&path.display().to_string(), &read_text(path, "a saved policy")?, task)
    }

    /// Reads the text of a file; `file` is shown in errors.
    ///
    /// # Errors
    /// Those of [`SavedPolicy::load`].
    pub fn parse(file: &str, text: &str, task: &Task) -> Result<Self, FileError> {
        let saved: File = serde_json::from_str(text).map_err(|error| {
            let what = error.to_string();
            let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
            let hint =
                "`gumdp solve TASK --beta B --save policy.json` writes one; a table that people write is a .csv file";
            let whole = FileError::unreadable(file, format!("not a saved policy: {what}")).hint(hint);
            FileError { line: Some(error.line()), column: Some(error.column()), ..whole }
        })?;
        if saved.format != FORMAT || !(1..=VERSION).contains(&saved.version) {
            let File { format, version, .. } = &saved;
            let message =
                format!("format is \"{format}\", version {version}; it must be \"{FORMAT}\", version 1 to {VERSION}");
            return Err(FileError::unreadable(file, message));
        }
        let (theirs, ours) = (&saved.problem, fingerprint(task));
        if *theirs != ours {
            let message = format!(
                "the policy is for another problem, saved as \"{}\" (fingerprint {theirs}; that of {} is {ours})",
                saved.task, task.name
            );
            let hint =
                "a saved policy fits the states, transitions, objective, discount and horizon it was solved for only";
            return Err(FileError::unreadable(file, message).hint(hint));
        }
        let policy = content(saved.policy, task).map_err(|message| FileError::unreadable(file, message))?;
        Ok(Self { risk: saved.risk, value: saved.value, mean: saved.mean, policy })
    }
}

/// A row of text for each time, if they are not too many.
fn by_time_and_state(
    problem: &Problem,
    width: usize,
    out: &mut String,
    row: impl Fn(usize) -> String,
) -> Result<(), ExportError> {
    let entries = width.saturating_mul(problem.horizon());
    if entries > MOST_ENTRIES {
        let size = format!("{entries} entries by time and state; at most {MOST_ENTRIES} are allowed");
        return Err(ExportError::Policy(size));
    }
    let states: Vec<&str> = problem.mdp().states().map(|state| problem.mdp().state_name(state)).collect();
    let _ = write!(out, "    \"by-time-and-state\": {{\n      \"states\": {},\n      \"actions\": [", json(&states));
    for time in 0..problem.horizon() {
        let _ = write!(out, "{}\n        {}", if time == 0 { "" } else { "," }, row(time));
    }
    Ok(())
}

fn header(task: &Task, risk: Risk, version: u32, solution: Option<&Solution>) -> String {
    let header = Header {
        format: FORMAT,
        version,
        gumdp: env!("CARGO_PKG_VERSION"),
        task: &task.name,
        problem: fingerprint(task),
        risk,
        value: solution.map(|solution| solution.high),
        low: solution.map(|solution| solution.low),
        high: solution.map(|solution| solution.high),
        mean: solution.map(|solution| solution.mean),
    };
    let text = serde_json::to_string_pretty(&header).unwrap_or_default();
    format!("{},\n  \"policy\": {{\n", text.trim_end_matches(['}', '\n']))
}

/// Texts and numbers can always be written.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn fingerprint(task: &Task) -> String {
    format!("{:016x}", task.problem.fingerprint())
}

fn content(content: Content, task: &Task) -> Result<Saved, String> {
    let (problem, mdp) = (&task.problem, task.problem.mdp());
    let action = |place: &str, name: &str| -> Result<Action, String> {
        mdp.find_action(name).ok_or_else(|| format!("policy.{place}: unknown action \"{name}\""))
    };
    let policy: Box<dyn Policy> = match content {
        Content::Planner(planner) => return Ok(Saved::Planner(planner)),
        Content::ByTimeAndState { states, actions } => {
            if !states.iter().map(String::as_str).eq(mdp.states().map(|state| mdp.state_name(state))) {
                return Err("policy.by-time-and-state.states are not those of the problem, in its order".to_owned());
            }
            let place = "by-time-and-state.actions";
            let certain = |choice: &Choice| match choice {
                Choice::Action(name) => Some(action(place, name)),
                Choice::Chance(_) => None,
            };
            let rows = actions.iter().map(|row| row.iter().map(certain).collect::<Option<Result<Vec<Action>, _>>>());
            if let Some(rows) = rows.collect::<Option<Result<Vec<_>, String>>>() {
                return Ok(Saved::Decisions(Box::new(
                    Markov::deterministic(problem, &rows?).map_err(|error| error.to_string())?,
                )));
            }
            let row = |(time, choices): (usize, &Vec<Choice>)| {
                let mut row = vec![0.0; mdp.pair_count()];
                for (state, choice) in mdp.states().zip(choices) {
                    let mut set = |name: &str, p: f64| {
                        let pair = mdp.pair(state, action(place, name)?).ok_or_else(|| {
                            let state = mdp.state_name(state);
                            format!("policy.{place}: at time {time} state \"{state}\" does not allow action \"{name}\"")
                        })?;
                        row[pair.index()] = p;
                        Ok::<(), String>(())
                    };
                    match choice {
                        Choice::Action(name) => set(name, 1.0)?,
                        Choice::Chance(chances) => chances.iter().try_for_each(|(name, &p)| set(name, p))?,
                    }
                }
                Ok(row)
            };
            if let Some(row) = actions.iter().find(|row| row.len() != mdp.state_count()) {
                return Err(format!(
                    "policy.{place}: a row has {} states; {} are needed",
                    row.len(),
                    mdp.state_count()
                ));
            }
            let rows: Vec<Vec<f64>> = actions.iter().enumerate().map(row).collect::<Result<_, String>>()?;
            Box::new(Markov::stochastic(problem, rows).map_err(|error| error.to_string())?)
        }
        Content::ByOccupancy { rows } => {
            let row = |(number, (time, state, features, chosen)): (usize, (usize, String, Vec<f64>, String))| {
                let place = format!("by-occupancy.rows[{number}]");
                let state =
                    mdp.find_state(&state).ok_or_else(|| format!("policy.{place}: unknown state \"{state}\""))?;
                Ok((OccupancyState { time, state, features }, action(&place, &chosen)?))
            };
            let rows: Vec<_> = rows.into_iter().enumerate().map(row).collect::<Result<_, String>>()?;
            Box::new(ByOccupancy::new(problem, rows).map_err(|error| error.to_string())?)
        }
    };
    Ok(Saved::Decisions(policy))
}
