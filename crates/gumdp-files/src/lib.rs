//! Problem files: a task as TOML.
//!
//! A file says what the model is (`kind = "explicit"`: states and transitions by name, or `kind = "grid"`: a map with a
//! legend), what is to be minimised (`[objective]`), and with which settings it is usually run (`[experiment]`,
//! `[planner]`). The [built-in tasks](crate::tasks) are such files and show every feature. Here: reading and checking.
//! Every mistake is reported with its place, the field, the value found and what is allowed ([`FileError`]).
//!
//! | field | meaning |
//! |---|---|
//! | `title`, `description` | for people; optional |
//! | `discount`, `horizon` | γ and H; `accuracy` instead of `horizon` computes it ([`Problem::horizon_for`]) |
//! | `states`, `actions` | explicit: their names |
//! | `start` or `initial = { s0 = 0.5, … }` | explicit: where episodes start |
//! | `transitions = [{ from, action, to, stay }, …]` | explicit: `from` and `action` are a name, a list or `"*"`; `to` is a name or `{ s1 = 0.5, … }`; `stay` is the probability of staying. `[[transition]]` is the same |
//! | `[groups]` | explicit: names for sets of states |
//! | `[layout]` | explicit: `s0 = [x, y]`, where states are drawn; optional |
//! | `map`, `[legend]` | grid: one character for each cell; each is `"floor"`, `"wall"`, `"start"`, `"home"`, `"goal"` or a table of `name`, `wall`, `start`, `home`, `resource`, `enemy`, `stuck`, `unstuck`, `one_way`, `absorbing`, `cost` |
//! | `slip` | grid: probability of moving to one of the two sides instead |
//! | `[objective]` | `kind` and its fields, below; then (`scale`·f + `offset` − low)/(high − low) with `range = [low, high]` |
//! | `[experiment]`, `[planner]` | [`Defaults`]: `beta`, `curve`, `runs`, `simulations`; `exploration`, `variant`, `guided` |
//! | `[files]` | the texts of files that are named elsewhere; without it they are read from the file's folder |
//! | `[scripts]` | `name = ["left", …]`, policies to compare with |
//!
//! | objective | fields |
//! |---|---|
//! | `linear` | `cost` (that of the legend) |
//! | `weighted-sum`, `maximum`, `minimum` | `costs`, `weights` (1 each) |
//! | `signed-power` | `costs`, `weights` (1 each), `powers` |
//! | `entropy` | `over` (states or cells), `epsilon` (0), `unvisited_cells` (0) |
//! | `squared-distance`, `absolute-distance`, `kl` | `over` (pairs or cell-actions), `target` or `behaviour`; `kl` needs `epsilon` |
//! | `formula` | `expression` of features, `entropy()`, `distance(t)`, `absolute(t)`, `kl(t)`; `targets`, `over`, `epsilon` |
//! | `sum` | `terms`, each an objective with a `weight` (1) |
//!
//! Every kind takes `features = { name = cost, … }` and `limit = { feature, at_most or at_least, penalty }`, or a list of these: a
//! penalty for what a feature exceeds its limit by. A cost is the name of a feature or `{ name = number, … }`: of a state, of a group of states, of `"state/action"`, `"group/action"` or
//! `"*/action"`; all that apply to a pair are added. Maps have the groups `stuck`, `home`, `defeated`, `delivered-R1` for a
//! resource R1, and one for each terrain with a `name`. A target is such a table, a list, one number for each entry, or
//! `{ file = "demo.csv" }` with a trajectory, an occupancy or a Markov policy. `docs/problem-files.md` in the repository has examples.
//!
//! `kind = "import"` takes the model from a file of another program: transitions as CSV, Gymnasium's `P` as JSON, Storm's DRN,
//! Cassandra's MDP files.
//! Such files can also be opened by themselves. `docs/import.md` in the repository says how.
//!
//! The text becomes a tree of values that know their place (`document`); `explicit`, `grid` and `import` make a model of it,
//! `objective`, `formula` and `target` an objective. `check` reports all mistakes at once, `export` writes other formats. Not
//! here: drawing, planning.

use std::collections::BTreeMap;
use std::path::Path;

pub use broken::broken_formula;
pub use check::{Finding, Severity, check, check_allowing, check_text};
pub use error::{FileError, nearest};
pub use export::{Export, ExportError, ExportFormat, export, export_occupancy};
pub use player::Player;
pub use policy_table::PolicyTable;
pub use saved_policy::{Preset, Saved, SavedPlanner, SavedPolicy};
pub use scene::{GraphScene, GridScene, Scene, Sticky, Terrain};

mod broken;
mod check;
mod csv;
mod document;
mod dynamics;
mod error;
mod explicit;
mod export;
mod files;
mod formula;
mod grid;
mod import;
mod mistakes;
mod names;
mod objective;
mod over;
mod pieces;
mod player;
mod policy_table;
mod recording;
mod repair;
mod saved_policy;
mod scene;
mod settings;
pub mod shown;
pub mod sweep;
mod table;
mod target;
pub mod tasks;
mod world;
pub mod write;

pub use settings::{Defaults, PlannerVariant, Script};

use document::{Document, Either, Table, Value, shortened};
use files::{Files, read_problem_text};
use import::{Format, Opened};
use mistakes::{Mistakes, Text};
use pieces::Pieces;
use world::World;

use gumdp::oracle::check_bounded;
use gumdp::{MAX_HORIZON, Objective, Problem, ProblemError, Scripted};

const FIELDS: [&str; 11] = [
    "kind",
    "title",
    "description",
    "discount",
    "horizon",
    "accuracy",
    "objective",
    "experiment",
    "planner",
    "scripts",
    "files",
];

#[derive(Clone, Copy)]
enum Kind {
    Explicit,
    Grid,
    Import,
}

const KINDS: [(&str, Kind); 3] = [("explicit", Kind::Explicit), ("grid", Kind::Grid), ("import", Kind::Import)];

/// What a problem file describes.
///
/// ```
/// use gumdp_files::Task;
/// let task = Task::parse("coin.toml", r#"
///     kind = "explicit"
///     states = ["heads", "tails"]
///     actions = ["toss"]
///     start = "heads"
///     discount = 0.9
///     horizon = 10
///     transitions = [{ from = "*", action = "toss", to = { heads = 0.5, tails = 0.5 } }]
///     [objective]
///     kind = "linear"
///     cost = { tails = 1 }
/// "#)?;
/// assert_eq!(task.name, "coin");
/// assert_eq!(task.problem.mdp().state_count(), 2);
/// # Ok::<(), gumdp_files::FileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Task {
    /// The file's name without folders and extension.
    pub name: String,
    /// One line for people; the name if the file has none.
    pub title: String,
    /// A few sentences for people; may be empty.
    pub description: String,
    /// Model, objective, discount and horizon.
    pub problem: Problem,
    /// How the task is usually run.
    pub defaults: Defaults,
    /// Sequences of actions worth comparing with, in the order of the file.
    pub scripts: Vec<Script>,
    /// How the task can be drawn.
    pub scene: Scene,
    /// A problem file that says the same and needs no other file: the text of the file, with the texts of those it refers to.
    pub source: String,
    /// What had to be assumed or left out of an imported model, for the user to know.
    pub notes: Vec<String>,
    /// The costs of an imported model by name, each with one number for each state-action pair.
    pub costs: Vec<(String, Vec<f64>)>,
    /// The same and those of `[objective.features]`, by name.
    pub features: Vec<(String, Vec<f64>)>,
}

impl Task {
    /// Reads the text of a problem file, or of a model of another program, by the file's extension or, if it has none of
    /// theirs, by its first characters. `file` is shown in errors and gives the task its name.
    ///
    /// # Errors
    /// The first mistake found, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        Self::read(file, text, None, Mistakes::default())
    }

    /// Reads a problem file, or a model of another program together with the files that belong to it.
    ///
    /// # Errors
    /// If the file cannot be read, is not UTF-8, or has a mistake.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        Self::load_allowing(path, false)
    }

    /// The same; whether the file may name files outside of its own folder is for the one to say who trusts it.
    ///
    /// # Errors
    /// Those of [`Task::load`].
    pub fn load_allowing(path: &Path, allow_files: bool) -> Result<Self, FileError> {
        let (file, text) = (path.display().to_string(), read_problem_text(path)?);
        Self::read(&file, &text, Some(path.parent().unwrap_or(Path::new(""))), Mistakes::allowing(allow_files))
    }

    fn read(file: &str, text: &str, folder: Option<&Path>, mistakes: Mistakes) -> Result<Self, FileError> {
        let task = read(file, text, folder, &mistakes);
        task.ok_or_else(|| mistakes.into_first(file))
    }
}

/// The task of a file; `None` if it has mistakes.
fn read(file: &str, text: &str, folder: Option<&Path>, mistakes: &Mistakes) -> Option<Task> {
    match Format::of(file, text) {
        Some(format) => {
            let opened = Opened { format, text, on_disk: folder.is_some() };
            read_task(Text::of_problem(file, &import::wrapper(file), mistakes), folder, Some(opened))
        }
        None => read_task(Text::of_problem(file, text, mistakes), folder, None),
    }
}

/// Reads a text whose files are in a folder.
fn read_task(text: Text, folder: Option<&Path>, opened: Option<Opened>) -> Option<Task> {
    let pieces = Pieces::cut(text.content);
    let document = Document::parse(text, &pieces)?;
    let root = document.root();
    let kind = kind(root).or_else(|| likely_kind(root))?;
    let fields: &[&str] = match kind {
        Kind::Explicit => &explicit::FIELDS,
        Kind::Grid => &grid::FIELDS,
        Kind::Import => &import::FIELDS,
    };
    root.only(&[&FIELDS[..], fields].concat());
    let name =
        Path::new(text.file).file_stem().map_or(text.file.into(), |stem| stem.to_string_lossy()).replace('\n', " ");
    let title = root.get("title").and_then(Value::text).unwrap_or(&name).replace('\n', " ");
    let description = root.get("description").and_then(Value::text).unwrap_or_default().trim().to_owned();
    let defaults = settings::read_defaults(root);
    let timing = if matches!(kind, Kind::Import) { None } else { Timing::read(root) };
    let own = |world| (world, timing, Vec::new(), text.content.to_owned());
    let read = match kind {
        Kind::Explicit => explicit::read(root).map(own),
        Kind::Grid => grid::read(root).map(own),
        Kind::Import => import::read(root, opened).map(|read| (read.world, Some(read.timing), read.notes, read.source)),
    };
    // What stands outside the model is looked at even if nothing is known of the model.
    let (world, timing, notes, source) =
        read.or_else(|| Some(own(root.accept(World::placeholder(matches!(kind, Kind::Grid)))?)))?;
    let scripts = settings::read_scripts(root, &world);
    let Read { problem, features, behaviour, files } = read_problem(root, &world, timing, Files::new(root, folder))?;
    let source = files.attached(&source);
    for script in scripts.iter().filter(|_| !world.doubts.any()) {
        if let Err(error) = Scripted::new(&problem, script.actions.clone()) {
            root.need("scripts")?.error(format!("script \"{}\": {error}", script.name)).tell::<()>();
        }
    }
    if text.mistakes.any() {
        return None;
    }
    let mut scene = world.scene;
    if let Scene::Grid(grid) = &mut scene {
        grid.behaviour = behaviour;
    }
    Some(Task {
        name,
        title,
        description,
        problem,
        defaults,
        scripts,
        scene,
        source,
        notes,
        costs: world.costs,
        features,
    })
}

fn kind(root: Table) -> Option<Kind> {
    let hint = "it is \"explicit\", \"grid\" or \"import\"; `gumdp show rooms --toml` prints an example";
    root.get("kind").or_else(|| root.missing("kind", Some(hint)))?.choice(&KINDS)
}

/// The model of a file without mistakes.
fn read_world(root: Table) -> Option<World> {
    match kind(root)? {
        Kind::Explicit => explicit::read(root),
        Kind::Grid => grid::read(root),
        Kind::Import => import::read(root, None).map(|import| import.world),
    }
}

/// The kind whose fields a file has, where it does not say so.
fn likely_kind(root: Table) -> Option<Kind> {
    let likely = [("map", Kind::Grid), ("legend", Kind::Grid), ("states", Kind::Explicit), ("actions", Kind::Explicit)];
    let others = [("transitions", Kind::Explicit), ("transition", Kind::Explicit), ("file", Kind::Import)];
    likely.into_iter().chain(others).find(|(field, _)| root.get(field).is_some()).map(|(_, kind)| kind)
}

/// The discount and the horizon.
#[derive(Clone, Copy)]
struct Timing {
    discount: f64,
    /// `None` if it is to be computed from the accuracy.
    horizon: Option<usize>,
}

/// How many steps a file says an episode has.
enum Steps {
    Given(usize),
    /// To be computed from the accuracy.
    Computed,
    Unsaid,
}

impl Timing {
    /// Those of a file that has its model itself; imported models have their own rules.
    fn read(root: Table) -> Option<Self> {
        let discount = root.need("discount").and_then(Self::discount);
        let horizon = match Self::steps(root, MAX_HORIZON)? {
            Steps::Given(steps) => Some(steps),
            Steps::Computed => None,
            Steps::Unsaid => {
                root.missing("horizon", Some("give the number of steps, or accuracy = … to have it computed"))?
            }
        };
        Some(Self { discount: discount?, horizon })
    }

    fn discount(value: Value) -> Option<f64> {
        let discount = value.number()?;
        let valid = discount > 0.0 && discount <= 1.0;
        if valid { Some(discount) } else { value.accept(Err(ProblemError::Discount(discount))) }
    }

    fn steps(root: Table, longest: usize) -> Option<Steps> {
        match root.either("horizon", "accuracy")? {
            Either::One(horizon) => Some(Steps::Given(horizon.count(1, longest as u64)? as usize)),
            Either::Other(_) => Some(Steps::Computed),
            Either::Neither => Some(Steps::Unsaid),
        }
    }
}

/// What is known once the objective is read.
struct Read<'a> {
    problem: Problem,
    /// The path to be imitated, if there is one.
    behaviour: Vec<u32>,
    files: Files<'a>,
    /// Costs with names.
    features: Vec<(String, Vec<f64>)>,
}

fn read_problem<'a>(root: Table<'a>, world: &'a World, timing: Option<Timing>, files: Files<'a>) -> Option<Read<'a>> {
    let Timing { discount, horizon } = timing.unwrap_or(Timing { discount: 0.5, horizon: Some(1) });
    let mut reader = objective::Reader {
        world,
        discount,
        horizon,
        timed: timing.is_some(),
        behaviour: Vec::new(),
        longest: Vec::new(),
        files,
        features: BTreeMap::new(),
        features_broken: false,
    };
    let read = match (root.get("objective"), world.costs.first()) {
        (None, Some((_, cost))) => root.accept(Objective::linear(cost.clone())).map(|objective| (root, objective)),
        (None, None) if world.doubts.costs => None,
        _ => root.need("objective").and_then(Value::table).and_then(|table| Some((table, reader.read(table)?))),
    };
    let accuracy = |objective: &Objective, accuracy: Value| {
        accuracy.accept(Problem::horizon_for(objective, discount, accuracy.number()?))
    };
    if read.is_none() || timing.is_none() {
        // Any objective will do to see whether the accuracy is a number that can be asked for.
        let nothing = root.accept(Objective::linear(vec![0.0]))?;
        root.get("accuracy").and_then(|value| accuracy(&nothing, value));
    }
    let (place, objective) = read?;
    let horizon = horizon.or_else(|| accuracy(&objective, root.need("accuracy")?))?;
    if let Some((_, mistake)) = reader.longest.into_iter().find(|&(steps, _)| timing.is_some() && steps > horizon) {
        return mistake.tell();
    }
    let problem = place.accept(Problem::new(std::sync::Arc::clone(&world.mdp), objective, discount, horizon))?;
    place.accept(check_bounded(&problem))?;
    let features = reader.features.into_iter().filter_map(|(name, cost)| Some((name, cost?))).collect();
    Some(Read { problem, features, behaviour: reader.behaviour, files: reader.files })
}
