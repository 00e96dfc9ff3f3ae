//! How a task is usually run: `[experiment]`, `[planner]` and `[scripts]`.

use super::document::{Key, Table, Value};
use super::error::FileError;
use super::world::World;
use gumdp::{Action, Budget, Erm, Exploration, GuidedSettings, PlannerSettings, Risk};

/// How a task is usually run; what a file leaves out has the values of [`Defaults::default`].
///
/// ```
/// use gumdp_files::{Defaults, PlannerVariant, tasks};
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
    /// The settings of the guided planner; its budget is `simulations`.
    pub guided: GuidedSettings,
}

impl Defaults {
    /// The attitudes to risk the task is usually played with.
    #[must_use]
    pub fn risks(&self) -> Vec<Risk> {
        let entropic = |&beta: &f64| Erm::new(beta).unwrap_or(Erm::MEAN).into();
        if self.risks.is_empty() { self.betas.iter().map(entropic).collect() } else { self.risks.clone() }
    }

    /// The settings of the published planner.
    #[must_use]
    pub fn published(&self) -> PlannerSettings {
        let variant = match self.variant {
            PlannerVariant::Illustrative => PlannerSettings::paper_illustrative(),
            PlannerVariant::Grid => PlannerSettings::paper_grid(),
        };
        let budget = Budget::simulations(self.simulations);
        PlannerSettings { budget, exploration: Exploration::Constant(self.exploration), ..variant }
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
            guided: GuidedSettings { budget: Budget::simulations(500), ..GuidedSettings::default() },
        }
    }
}

/// The two planners behind the published results.
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

/// A sequence of actions, repeated from its beginning when it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Its name in the file.
    pub name: String,
    /// The actions; at least one.
    pub actions: Vec<Action>,
}

pub(super) fn read_defaults(root: Table) -> Result<Defaults, FileError> {
    let mut defaults = Defaults::default();
    root.field("experiment", |experiment| read_experiment(experiment.table()?, &mut defaults))?;
    root.field("planner", |planner| read_planner(planner.table()?, &mut defaults))?;
    defaults.guided.budget = Budget::simulations(defaults.simulations);
    Ok(defaults)
}

fn read_experiment(table: Table, defaults: &mut Defaults) -> Result<(), FileError> {
    const MANY: u64 = 1_000_000_000;
    table.only(&["beta", "risk", "curve", "runs", "simulations"])?;
    if let Some(betas) = table.field("beta", read_betas)? {
        defaults.betas = betas;
    }
    let risks = table.field("risk", |risk| {
        let risks = risk.accept(read_risks(risk))?;
        if table.get("beta").is_some() {
            let error = risk.error("risk and beta are both given");
            return Err(error.hint("beta = 5 is risk = \"erm:5\"; leave one out"));
        }
        Ok(risks)
    })?;
    if let Some(risks) = risks.flatten() {
        defaults.risks = risks;
    }
    defaults.curve = table.field("curve", |curve| {
        let [low, high] = curve.two_numbers()?;
        if !(low > 0.0 && low < high) {
            return Err(curve.refused(format!("[{low}, {high}]"), "be [low, high] with 0 < low < high"));
        }
        Ok([low, high])
    })?;
    if let Some(runs) = table.field("runs", |runs| runs.count(1, MANY))? {
        defaults.runs = runs;
    }
    if let Some(simulations) = table.field("simulations", |simulations| simulations.count(1, MANY))? {
        defaults.simulations = simulations;
    }
    Ok(())
}

fn read_planner(table: Table, defaults: &mut Defaults) -> Result<(), FileError> {
    table.only(&["exploration", "variant", "guided"])?;
    let exploration = table.field("exploration", |value| {
        let exploration = value.finite()?;
        if exploration < 0.0 { Err(value.refused(exploration, "not be negative")) } else { Ok(exploration) }
    })?;
    if let Some(exploration) = exploration {
        defaults.exploration = exploration;
    }
    let variants = [("illustrative", PlannerVariant::Illustrative), ("grid", PlannerVariant::Grid)];
    if let Some(variant) = table.field("variant", |variant| variant.choice(&variants))? {
        defaults.variant = variant;
    }
    table.field("guided", |guided| read_guided(guided.table()?, &mut defaults.guided))?;
    Ok(())
}

fn read_guided(table: Table, settings: &mut GuidedSettings) -> Result<(), FileError> {
    const MANY: u64 = 1_000_000;
    table.only(&["reach", "forecast", "exploration", "rollouts", "caution"])?;
    for (name, setting, highest) in [
        ("reach", &mut settings.reach, f64::INFINITY),
        ("forecast", &mut settings.forecast, 1.0),
        ("exploration", &mut settings.exploration, f64::MAX),
        ("caution", &mut settings.caution, f64::MAX),
    ] {
        let read = table.field(name, |value| {
            let number = value.number()?;
            let valid = (0.0..=highest).contains(&number);
            let allowed = if highest == 1.0 { "lie in [0, 1]" } else { "not be negative" };
            if valid { Ok(number) } else { Err(value.refused(number, allowed)) }
        })?;
        *setting = read.unwrap_or(*setting);
    }
    if let Some(rollouts) = table.field("rollouts", |rollouts| rollouts.count(1, MANY))? {
        settings.rollouts = rollouts as u32;
    }
    Ok(())
}

/// One β or a list of them.
fn read_betas(value: Value) -> Result<Vec<f64>, FileError> {
    not_empty(value, "number")?;
    let beta = |value: Value| {
        let beta = value.number()?;
        if beta.is_nan() { Err(value.refused(beta, "be a number (inf is the worst case)")) } else { Ok(beta) }
    };
    value.all(beta)
}

/// One risk measure or a list of them.
fn read_risks(value: Value) -> Result<Vec<Risk>, FileError> {
    not_empty(value, "measure")?;
    let risk = |value: Value| value.text()?.parse::<Risk>().map_err(|error| value.error(error.to_string()));
    value.all(risk)
}

fn not_empty(value: Value, what: &str) -> Result<(), FileError> {
    let is_empty = value.is_list() && value.list()?.is_empty();
    let message = || format!("{} is empty; it must have at least one {what}", value.name());
    if is_empty { Err(value.error(message())) } else { Ok(()) }
}

pub(super) fn read_scripts(root: Table, world: &World) -> Result<Vec<Script>, FileError> {
    let Some(scripts) = root.get("scripts") else { return Ok(Vec::new()) };
    let action = |value: Value| world.action(value.text()?, |message| value.error(message));
    let script = |(key, value): (Key, Value)| {
        value.list()?;
        not_empty(value, "action")?;
        Ok(Script { name: key.text.to_owned(), actions: value.all(action)? })
    };
    let mut read = Vec::new();
    for entry in scripts.table()?.entries() {
        read.extend(scripts.accept(script(entry))?);
    }
    Ok(read)
}
