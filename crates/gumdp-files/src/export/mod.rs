//! Tasks in the formats of other programs, and what those formats cannot hold.
//!
//! Linear costs become rewards; the constant of an objective, which every step pays, is part of them. Not here: writing to
//! disk.

mod csv;
mod drn;
mod explicit;
mod objective;

use std::path::Path;

use super::document::look_at;
use super::files::{MAX_BYTES, MAX_TOML};
use super::world::{MAX_TRANSITIONS, World};
use super::{Task, read_world};
use gumdp::oracle::{Limits, OccupancyMdp, OracleError, solve};
use gumdp::{Mdp, Pair, Risk, State};

/// A format that tasks can be written in.
///
/// ```
/// use gumdp_files::ExportFormat;
/// assert_eq!(ExportFormat::of("model.drn".as_ref()), Some(ExportFormat::Drn));
/// assert_eq!(ExportFormat::of("model.pdf".as_ref()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Transitions as CSV, with the initial distribution and the parameters in two more files. Rewards are gains.
    Csv,
    /// Storm's explicit format. Rewards are costs.
    Drn,
    /// A problem file of kind "explicit".
    Toml,
}

impl ExportFormat {
    /// The format that a file's extension stands for.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "drn" => Some(Self::Drn),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// A task in another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The extension and the text of each file; the model comes first.
    pub files: Vec<(&'static str, String)>,
    /// What the format cannot hold.
    pub notes: Vec<String>,
}

/// Why a task cannot be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A problem file without its objective would be another problem.
    #[error("{0}; copy the file, or write the model alone: CSV and DRN have no objective to lose")]
    Objective(String),
    /// What could not be read again is not written.
    #[error("{0}, and what cannot be read again is not written")]
    Unreadable(String),
    /// The decisions of a policy are too many.
    #[error("the policy is too large to be saved: {0}")]
    Policy(String),
    /// A name that a problem file cannot refer to.
    #[error(
        "the name \"{name}\" cannot be written in a problem file; names must not be empty, \"*\", or contain \"/\""
    )]
    Name {
        /// The name.
        name: String,
    },
}

/// Writes a task in another format.
///
/// ```
/// use gumdp_files::{ExportFormat, export};
/// let task = gumdp_files::tasks::get("mdp").unwrap();
/// let csv = export(&task, ExportFormat::Csv)?;
/// assert_eq!(csv.files[0].0, "csv");
/// assert!(csv.files[0].1.starts_with("idstatefrom,idaction,idstateto,probability,reward\n"));
/// # Ok::<(), gumdp_files::ExportError>(())
/// ```
///
/// # Errors
/// If the file could not be read again: a problem file has no place for the objective or a name, or the model is too large.
pub fn export(task: &Task, format: ExportFormat) -> Result<Export, ExportError> {
    let (exported, most) = match format {
        ExportFormat::Csv => (csv::write(task), MAX_BYTES as usize),
        ExportFormat::Drn => (drn::write(task), MAX_BYTES as usize),
        ExportFormat::Toml => (explicit::write(task)?, MAX_TOML),
    };
    let mdp = task.problem.mdp();
    let transitions: usize = (0..mdp.pair_count() as u32).map(|pair| mdp.successors(Pair(pair)).len()).sum();
    let refused = |message: String| Err(ExportError::Unreadable(message));
    match exported.files[0].1.len() {
        bytes if bytes > most => {
            refused(format!("the file would have {} MiB; at most {} are read", bytes >> 20, most >> 20))
        }
        _ if transitions > MAX_TRANSITIONS => {
            refused(format!("the model has {transitions} transitions; at most {MAX_TRANSITIONS} are read"))
        }
        _ => Ok(exported),
    }
}

/// Writes the occupancy MDP of a task as DRN, with costs whose lowest expected total tells the lowest risk, so that other programs
/// can find it. A measure with an outer variable is solved first, and written at the best value of that.
///
/// ```
/// use gumdp::oracle::Limits;
/// let task = gumdp_files::tasks::get("msee").unwrap();
/// let drn = &gumdp_files::export_occupancy(&task, "cvar:0.9".parse()?, &Limits::default())?.files[0].1;
/// assert!(drn.contains("// v = R{\"cost\"}min=? [F \"done\"]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If it is too large, or the measure is no expectation.
pub fn export_occupancy(task: &Task, risk: Risk, limits: &Limits) -> Result<Export, OracleError> {
    let fixed = risk.fixed().map_or_else(|| Ok(solve(&task.problem, risk, limits)?.fixed()), Ok)?;
    Ok(drn::write_occupancy(task, &OccupancyMdp::new(&task.problem, fixed, limits)?))
}

/// The cost of each pair if the objective is linear, its constant included.
fn linear_costs(task: &Task) -> Option<Vec<f64>> {
    let (costs, constant) = task.problem.objective().as_linear()?;
    Some(costs.into_iter().map(|cost| cost + constant).collect())
}

/// Whether states and actions are called s0, s1, … and a0, a1, …
fn has_plain_names(mdp: &Mdp) -> bool {
    mdp.states().all(|state| mdp.state_name(state) == format!("s{}", state.index()))
        && (0..mdp.action_count() as u32).all(|action| mdp.action_name(action.into()) == format!("a{action}"))
}

fn lost_objective(task: &Task) -> String {
    format!("the objective is not linear and cannot be written: {}", task.problem.objective())
}

/// Names for sets of states, which a task does not keep but its file has.
fn groups(task: &Task) -> Vec<(String, Vec<State>)> {
    let world = look_at(&task.name, &task.source, read_world);
    // The states of the file are those of the task.
    let names = |mdp: &Mdp| mdp.states().map(|state| mdp.state_name(state).to_owned()).collect::<Vec<_>>();
    let same = |world: &World| names(&world.mdp) == names(task.problem.mdp());
    let groups = world.filter(same).map(|world| world.groups).unwrap_or_default();
    let useful =
        |(name, states): &(String, Vec<State>)| !states.is_empty() && task.problem.mdp().find_state(name).is_none();
    let mut groups: Vec<(String, Vec<State>)> = groups.into_iter().filter(useful).collect();
    groups.sort();
    groups
}
