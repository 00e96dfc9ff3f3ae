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
//! The text becomes a tree of values that know their place (`document`); `explicit` and `grid` make a model of it,
//! `objective`, `formula` and `target` an objective. Not here: drawing, planning.

use std::collections::BTreeMap;
use std::path::Path;

pub use error::FileError;
pub use scene::{GraphScene, GridScene, Scene, Sticky, Terrain};

mod behaviour;
mod document;
mod dynamics;
mod error;
mod explicit;
mod files;
mod formula;
mod grid;
mod objective;
mod pieces;
mod scene;
mod settings;
mod sheet;
mod target;
mod world;

pub use settings::{Defaults, PlannerVariant, Script};

use document::{Document, Table, Value};
use files::Files;
use pieces::Pieces;
use world::World;

use crate::objective::Objective;
use crate::policy::Scripted;
use crate::problem::{MAX_HORIZON, Problem, ProblemError};

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
}

/// What a problem file describes.
///
/// ```
/// use gumdp::Task;
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
/// # Ok::<(), gumdp::FileError>(())
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
    /// The text of the file, with the texts of the files that it refers to: it can be parsed anywhere.
    pub source: String,
}

impl Task {
    /// Reads the text of a problem file. `file` is shown in errors and gives the task its name.
    /// See the [example](Task).
    ///
    /// # Errors
    /// The first mistake found, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        Self::read(file, text, None)
    }

    /// Reads a text whose files are in a folder.
    fn read(file: &str, text: &str, folder: Option<&Path>) -> Result<Self, FileError> {
        let pieces = Pieces::cut(text);
        let document = Document::parse(file, text, &pieces)?;
        let root = document.root();
        let world = match root.need("kind")?.choice(&[("explicit", Kind::Explicit), ("grid", Kind::Grid)])? {
            Kind::Explicit => {
                root.only(&[&FIELDS[..], &explicit::FIELDS].concat())?;
                explicit::read(root)?
            }
            Kind::Grid => {
                root.only(&[&FIELDS[..], &grid::FIELDS].concat())?;
                grid::read(root)?
            }
        };
        let text_of = |field| root.get(field).map(Value::text).transpose();
        let name = Path::new(file).file_stem().map_or(file.into(), |stem| stem.to_string_lossy()).into_owned();
        let title = text_of("title")?.map_or_else(|| name.clone(), str::to_owned);
        let description = text_of("description")?.unwrap_or_default().trim().to_owned();
        let defaults = settings::read_defaults(root)?;
        let scripts = settings::read_scripts(root, &world.mdp)?;
        let Read { problem, behaviour, files } = read_problem(root, &world, Files::new(root, folder)?)?;
        for script in &scripts {
            if let Err(error) = Scripted::new(&problem, script.actions.clone()) {
                return Err(root.need("scripts")?.error(format!("script \"{}\": {error}", script.name)));
            }
        }
        let source = files.attached(text);
        let mut scene = world.scene;
        if let Scene::Grid(grid) = &mut scene {
            grid.behaviour = behaviour;
        }
        Ok(Self { name, title, description, problem, defaults, scripts, scene, source })
    }

    /// Reads a problem file. See the [example](Task).
    ///
    /// # Errors
    /// If the file cannot be read, is not UTF-8, or has a mistake.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| {
            let message = if path.is_dir() {
                "this is a folder; name a problem file".to_owned()
            } else if error.kind() == std::io::ErrorKind::NotFound {
                "there is no such file".to_owned()
            } else {
                format!("cannot be read: {error}")
            };
            FileError::unreadable(&file, message)
        })?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::read(&file, text, Some(path.parent().unwrap_or(Path::new("")))),
            Err(error) => {
                let valid = error.valid_up_to();
                let text = std::str::from_utf8(&bytes[..valid]).unwrap_or_default();
                Err(FileError::at(&file, text, valid, "the file is not text in UTF-8"))
            }
        }
    }
}

/// What is known once the objective is read.
struct Read<'a> {
    problem: Problem,
    /// The path to be imitated, if there is one.
    behaviour: Vec<u32>,
    files: Files<'a>,
}

fn read_problem<'a>(root: Table<'a>, world: &'a World, files: Files<'a>) -> Result<Read<'a>, FileError> {
    let discount_value = root.need("discount")?;
    let discount = discount_value.number()?;
    if !(discount > 0.0 && discount <= 1.0) {
        return Err(discount_value.error(ProblemError::Discount(discount).to_string()));
    }
    let given = match (root.get("horizon"), root.get("accuracy")) {
        (Some(horizon), None) => Some(horizon.count(1, MAX_HORIZON as u64)? as usize),
        (None, Some(_)) => None,
        (Some(_), Some(accuracy)) => {
            return Err(accuracy.error("both horizon and accuracy are given; give one of them"));
        }
        (None, None) => {
            let hint = "give the number of steps, or accuracy = … to have it computed";
            return Err(root.missing("horizon").hint(hint));
        }
    };
    let table = root.need("objective")?.table()?;
    let mut reader =
        objective::Reader { world, discount, horizon: given, behaviour: Vec::new(), files, features: BTreeMap::new() };
    let objective = reader.read(table)?;
    let horizon = match given {
        Some(horizon) => horizon,
        None => horizon_for(root.need("accuracy")?, &objective, discount)?,
    };
    let problem = Problem::new(std::sync::Arc::clone(&world.mdp), objective, discount, horizon)
        .map_err(|error| table.error(error.to_string()))?;
    Ok(Read { problem, behaviour: reader.behaviour, files: reader.files })
}

fn horizon_for(accuracy: Value, objective: &Objective, discount: f64) -> Result<usize, FileError> {
    Problem::horizon_for(objective, discount, accuracy.number()?).map_err(|error| accuracy.error(error.to_string()))
}
