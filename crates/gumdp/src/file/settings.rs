//! How a task is usually run: `[experiment]`, `[planner]` and `[scripts]`.

use super::document::{Table, Value, shortened};
use super::error::{FileError, nearest};
use crate::model::{Action, Mdp};
use crate::risk::{Erm, Risk};

/// How a task is usually run; what a file leaves out has the values of [`Defaults::default`].
///
/// ```
/// use gumdp::{Defaults, PlannerVariant, tasks};
/// assert_eq!((Defaults::default().runs, Defaults::default().variant), (100, PlannerVariant::Grid));
/// let task = tasks::get("rooms").unwrap();
/// assert!(!task.defaults.betas.is_empty() && !task.scripts.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Defaults {
    /// Risk parameters β, one box of the figure for each. Any number but NaN; 0 is the mean, ∞ the worst case.
    pub betas: Vec<f64>,
    /// Risk measures to be played instead of the β, if the file names some.
    pub risks: Vec<Risk>,
    /// The range of β over which a curve is drawn, if the task has one.
    pub curve: Option<[f64; 2]>,
    /// Number of episodes.
    pub runs: u64,
    /// Simulations for each decision.
    pub simulations: u64,
    /// Exploration constant of the tree search.
    pub exploration: f64,
    /// Which of the published planners is meant for the task.
    pub variant: PlannerVariant,
}

impl Defaults {
    /// The attitudes to risk the task is usually played with. See the [example](Defaults).
    #[must_use]
    pub fn risks(&self) -> Vec<Risk> {
        let entropic = |&beta: &f64| Erm::new(beta).unwrap_or(Erm::MEAN).into();
        if self.risks.is_empty() { self.betas.iter().map(entropic).collect() } else { self.risks.clone() }
    }
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            betas: vec![0.1, 1.0, 10.0],
            risks: Vec::new(),
            curve: None,
            runs: 100,
            simulations: 500,
            exploration: std::f64::consts::SQRT_2,
            variant: PlannerVariant::Grid,
        }
    }
}

/// The two planners behind the published results. See the [example](Defaults).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannerVariant {
    /// The tree is kept between decisions and the most visited action is played.
    Illustrative,
    /// Every decision grows a new tree and the action with the lowest risk is played.
    Grid,
}

impl std::fmt::Display for PlannerVariant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Illustrative => "illustrative",
            Self::Grid => "grid",
        })
    }
}

/// A sequence of actions, repeated from its beginning when it ends. See the [example](Defaults).
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Its name in the file.
    pub name: String,
    /// The actions; at least one.
    pub actions: Vec<Action>,
}

pub(super) fn read_defaults(root: Table) -> Result<Defaults, FileError> {
    const MANY: u64 = 1_000_000_000;
    let mut defaults = Defaults::default();
    if let Some(experiment) = root.get("experiment") {
        let table = experiment.table()?;
        table.only(&["beta", "risk", "curve", "runs", "simulations"])?;
        if let Some(beta) = table.get("beta") {
            defaults.betas = read_betas(beta)?;
        }
        if let Some(risk) = table.get("risk") {
            if table.get("beta").is_some() {
                return Err(risk
                    .error("risk and beta are both given")
                    .hint("beta = 5 is risk = \"erm:5\"; leave one out"));
            }
            defaults.risks = read_risks(risk)?;
        }
        if let Some(curve) = table.get("curve") {
            let [low, high] = curve.two_numbers()?;
            if !(low > 0.0 && low < high) {
                return Err(curve.refused(format!("[{low}, {high}]"), "be [low, high] with 0 < low < high"));
            }
            defaults.curve = Some([low, high]);
        }
        if let Some(runs) = table.get("runs") {
            defaults.runs = runs.count(1, MANY)?;
        }
        if let Some(simulations) = table.get("simulations") {
            defaults.simulations = simulations.count(1, MANY)?;
        }
    }
    if let Some(planner) = root.get("planner") {
        let table = planner.table()?;
        table.only(&["exploration", "variant"])?;
        if let Some(value) = table.get("exploration") {
            defaults.exploration = value.finite()?;
            if defaults.exploration < 0.0 {
                return Err(value.refused(defaults.exploration, "not be negative"));
            }
        }
        if let Some(variant) = table.get("variant") {
            let variants = [("illustrative", PlannerVariant::Illustrative), ("grid", PlannerVariant::Grid)];
            defaults.variant = variant.choice(&variants)?;
        }
    }
    Ok(defaults)
}

/// One β or a list of them.
fn read_betas(value: Value) -> Result<Vec<f64>, FileError> {
    let values = if value.is_list() { value.list()? } else { vec![value] };
    if values.is_empty() {
        return Err(value.error(format!("{} is empty; it must have at least one number", value.name())));
    }
    let beta = |value: Value| {
        let beta = value.number()?;
        if beta.is_nan() { Err(value.refused(beta, "be a number (inf is the worst case)")) } else { Ok(beta) }
    };
    values.into_iter().map(beta).collect()
}

/// One risk measure or a list of them.
fn read_risks(value: Value) -> Result<Vec<Risk>, FileError> {
    let values = if value.is_list() { value.list()? } else { vec![value] };
    if values.is_empty() {
        return Err(value.error(format!("{} is empty; it must have at least one measure", value.name())));
    }
    let risk = |value: Value| value.text()?.parse::<Risk>().map_err(|error| value.error(error.to_string()));
    values.into_iter().map(risk).collect()
}

pub(super) fn read_scripts(root: Table, mdp: &Mdp) -> Result<Vec<Script>, FileError> {
    let Some(scripts) = root.get("scripts") else { return Ok(Vec::new()) };
    let action = |value: Value| {
        let name = value.text()?;
        mdp.find_action(name).ok_or_else(|| {
            let known = (0..mdp.action_count() as u32).map(|action| mdp.action_name(action.into()));
            value.error(format!("unknown action \"{}\"", shortened(name))).maybe_hint(nearest(name, known))
        })
    };
    let script = |(key, value): (super::document::Key, Value)| {
        let actions: Vec<Action> = value.list()?.into_iter().map(action).collect::<Result<_, _>>()?;
        if actions.is_empty() {
            return Err(value.error(format!("{} is empty; it must have at least one action", value.name())));
        }
        Ok(Script { name: key.text.to_owned(), actions })
    };
    scripts.table()?.entries().into_iter().map(script).collect()
}
