//! How a task is usually run: `[experiment]`, `[planner]` and `[scripts]`.

use super::document::{Key, Table, Value};
use super::world::World;
use gumdp::{Action, Budget, Erm, Exploration, GuidedSettings, PlannerSettings, Risk, Selection};

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
    /// Rule by which the tree search explores.
    pub selection: Selection,
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

    /// Those that the file itself names.
    #[must_use]
    pub fn own_risks(&self) -> Vec<Risk> {
        let own = |risks: &Vec<Risk>| *risks != Self::default().risks();
        Some(self.risks()).filter(own).unwrap_or_default()
    }

    /// The settings of the published planner.
    #[must_use]
    pub fn published(&self) -> PlannerSettings {
        let variant = match self.variant {
            PlannerVariant::Illustrative => PlannerSettings::paper_illustrative(),
            PlannerVariant::Grid => PlannerSettings::paper_grid(),
        };
        let budget = Budget::simulations(self.simulations);
        let exploration = Exploration::Constant(self.exploration);
        PlannerSettings { budget, exploration, selection: self.selection, ..variant }
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
            selection: Selection::default(),
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

/// What a field says, where there is one without a mistake.
fn set<T>(setting: &mut T, read: Option<T>) {
    if let Some(read) = read {
        *setting = read;
    }
}

pub(super) fn read_defaults(root: Table) -> Defaults {
    let mut defaults = Defaults::default();
    if let Some(table) = root.get("experiment").and_then(Value::table) {
        read_experiment(table, &mut defaults);
    }
    if let Some(table) = root.get("planner").and_then(Value::table) {
        read_planner(table, &mut defaults);
    }
    defaults.guided.budget = Budget::simulations(defaults.simulations);
    defaults
}

fn read_experiment(table: Table, defaults: &mut Defaults) {
    const MANY: u64 = 1_000_000_000;
    table.only(&["beta", "risk", "curve", "runs", "simulations"]);
    // One β or measure, or a list of them.
    set(
        &mut defaults.betas,
        table.get("beta").and_then(|betas| betas.not_empty("have at least one number")?.all(beta)),
    );
    if let Some(risks) = table.get("risk") {
        set(&mut defaults.risks, risks.not_empty("have at least one measure").and_then(|risks| risks.all(risk)));
        if table.get("beta").is_some() {
            let mistake = risks.error("risk and beta are both given");
            mistake.hint("beta = 5 is risk = \"erm:5\"; leave one out").tell::<()>();
        }
    }
    let must = "be [low, high] with 0 < low < high";
    defaults.curve = table.get("curve").and_then(|curve| curve.range(|low| low > 0.0, must));
    set(&mut defaults.runs, table.get("runs").and_then(|runs| runs.count(1, MANY)));
    set(&mut defaults.simulations, table.get("simulations").and_then(|simulations| simulations.count(1, MANY)));
}

fn read_planner(table: Table, defaults: &mut Defaults) {
    table.only(&["exploration", "selection", "variant", "guided"]);
    set(&mut defaults.exploration, table.get("exploration").and_then(Value::amount));
    set(&mut defaults.selection, table.get("selection").and_then(|rule| rule.choice(&Selection::ALL)));
    let variants = [("illustrative", PlannerVariant::Illustrative), ("grid", PlannerVariant::Grid)];
    set(&mut defaults.variant, table.get("variant").and_then(|variant| variant.choice(&variants)));
    if let Some(table) = table.get("guided").and_then(Value::table) {
        read_guided(table, &mut defaults.guided);
    }
}

fn read_guided(table: Table, settings: &mut GuidedSettings) {
    const MANY: u64 = 1_000_000;
    table.only(&["reach", "forecast", "exploration", "rollouts", "caution"]);
    for (name, setting, highest) in [
        ("reach", &mut settings.reach, f64::INFINITY),
        ("forecast", &mut settings.forecast, 1.0),
        ("exploration", &mut settings.exploration, f64::MAX),
        ("caution", &mut settings.caution, f64::MAX),
    ] {
        let must = if highest == 1.0 { "lie in [0, 1]" } else { "not be negative" };
        let valid = |number| (0.0..=highest).contains(&number);
        set(setting, table.get(name).and_then(|value| value.number_that(valid, must)));
    }
    let rollouts = table.get("rollouts").and_then(|rollouts| rollouts.count(1, MANY));
    set(&mut settings.rollouts, rollouts.map(|rollouts| rollouts as u32));
}

fn beta(value: Value) -> Option<f64> {
    value.number_that(|beta| !beta.is_nan(), "be a number (inf is the worst case)")
}

fn risk(value: Value) -> Option<Risk> {
    value.accept(value.text()?.parse())
}

pub(super) fn read_scripts(root: Table, world: &World) -> Vec<Script> {
    let action = |value: Value| world.action(value.text()?, |message| value.error(message));
    let script = |(key, value): (Key, Value)| {
        value.list()?;
        if key.text.contains('\n') {
            return value.error(format!("script name {:?} has a line break; a name is one line", key.text)).tell();
        }
        let actions = value.not_empty("have at least one action")?.all(action)?;
        Some(Script { name: key.text.to_owned(), actions })
    };
    let scripts = root.get("scripts").and_then(Value::entries).unwrap_or_default();
    scripts.into_iter().filter_map(script).collect()
}
