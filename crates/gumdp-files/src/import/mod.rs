//! Files of `kind = "import"`: a model in the format of another program, and what such a file does not say.
//!
//! The model stands in a file next to this one (`file`) or in this one (`text`). A file of another program that is opened by
//! itself is read as if a file of this kind with nothing but its name referred to it. Whatever has to be assumed becomes a
//! note for the user. `foreign` makes a model of what the readers of the formats find.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::document::{Table, Value, shortened};
use super::error::FileError;
use super::mistakes::Mistakes;
use super::scene::{GraphScene, Scene};
use super::text::Text;
use super::timing;
use super::world::{Doubts, World};
use content::Content;
use foreign::{Built, Foreign, Model, SplitError};
use gumdp::{MAX_HORIZON, normalised_discounts};
use source::self_contained;
use start::initial;

mod content;
mod csv;
mod drn;
mod foreign;
mod gymnasium;
mod json;
mod source;
mod start;
mod unread;

pub(super) use foreign::some_of;
pub(super) use source::quoted;

pub(super) const FIELDS: [&str; 7] = ["file", "format", "text", "start", "initial", "rewards", "gain"];

/// What is assumed where nothing is said.
const DISCOUNT: f64 = 0.95;
const UNDISCOUNTED_HORIZON: usize = 100;

/// A format of another program: one file of this folder, and one entry of [`FORMATS`].
pub(super) struct Format {
    /// What `format = …` calls it.
    name: &'static str,
    /// The extension of its files.
    extension: &'static str,
    /// Whether a text begins like a file of this format.
    looks_like: fn(&str) -> bool,
    read: fn(&Text) -> Result<Foreign, FileError>,
    /// Reads the files that belong to the one at this path.
    read_neighbours: Option<ReadNeighbours>,
}

type ReadNeighbours = fn(&Path, &mut Foreign, &mut Vec<String>, &Mistakes) -> Result<(), FileError>;

const FORMATS: [&Format; 3] = [&csv::FORMAT, &gymnasium::FORMAT, &drn::FORMAT];

impl Format {
    /// The format of a file by its extension or else its first characters; `None` if it is a problem file.
    pub(super) fn of(file: &str, text: &str) -> Option<&'static Self> {
        let extension = Path::new(file).extension().unwrap_or_default();
        let is = |other: &str| extension.eq_ignore_ascii_case(other);
        if is("toml") {
            return None;
        }
        let by_extension = FORMATS.into_iter().find(|format| is(format.extension));
        by_extension.or_else(|| FORMATS.into_iter().find(|format| (format.looks_like)(text)))
    }
}

/// A model of another program that was opened by itself.
#[derive(Clone, Copy)]
pub(super) struct Opened<'a> {
    pub(super) format: &'static Format,
    pub(super) text: &'a str,
    /// Whether files next to it may be looked for.
    pub(super) on_disk: bool,
}

/// The problem file that stands for a file opened by itself.
pub(super) fn wrapper(file: &str) -> String {
    let name = Path::new(file).file_name().map_or(Cow::Borrowed(file), |name| name.to_string_lossy());
    format!("kind = \"import\"\nfile = {}\n", quoted(&name))
}

/// What a file of this kind describes.
pub(super) struct Imported {
    pub(super) world: World,
    pub(super) discount: f64,
    /// `None` if it is to be computed from the accuracy.
    pub(super) horizon: Option<usize>,
    pub(super) notes: Vec<String>,
    /// A problem file that says the same without any other file.
    pub(super) source: String,
}

/// Reads a file of this kind.
pub(super) fn read(root: Table, opened: Option<Opened>) -> Result<Imported, FileError> {
    let document = root.document();
    let content = root.accept(Content::read(root, opened))?;
    let split = root.field("rewards", |rewards| rewards.choice(&[("expected", false), ("split", true)]))?;
    let split = split.unwrap_or(false);
    let gain = root.field("gain", Value::flag)?;
    let given = Given::read(root, split)?;
    let content = content.ok_or_else(FileError::told)?;
    let text = Text { file: &content.file, content: &content.text, mistakes: document.mistakes };
    let mut foreign = (content.format.read)(&text)?;
    let mut notes = std::mem::take(&mut foreign.notes);
    if let (Some(path), Some(read)) = (&content.path, content.format.read_neighbours) {
        read(path, &mut foreign, &mut notes, document.mistakes)?;
    }
    if let Some(gain) = gain {
        foreign.gains = gain;
    } else if foreign.gains {
        notes.push("rewards are taken for gains: a cost is minus a reward".to_owned());
    }
    let mut model = foreign.finish(&text)?;
    notes.append(&mut model.foreign.notes);

    let mut lines = String::new();
    let discount = discount(given.discount, &model.foreign, &mut notes, &mut lines);
    let initial = root.accept(initial(root, &model, &text, &mut notes, &mut lines))?;
    let initial = initial.unwrap_or_else(|| vec![(model.states[0], 1.0)]);
    let horizon = match given.horizon {
        Steps::Given(horizon) => Some(horizon),
        Steps::Computed => None,
        Steps::Unsaid => Some(horizon(&model.foreign, discount, split, &mut notes, &mut lines)),
    };
    let uncertain = model.uncertain_rewards();
    let (built, horizon) = match horizon {
        Some(horizon) if split => {
            let longer = horizon + 1;
            // A reward is paid one step later, with a discount γ times smaller, as a share of a longer horizon.
            let earned = normalised_discounts(discount, horizon)[0];
            let paid = normalised_discounts(discount, longer)[1];
            (split_states(&model, &initial, earned / paid, root, &text)?, Some(longer))
        }
        _ => {
            if uncertain > 0 && root.get("rewards").is_none() {
                notes.push(format!(
                    "in {uncertain} of {} state-action pairs the reward depends on the next state; the expected reward \
                     is the cost (rewards = \"split\" keeps the distribution of the total exact)",
                    model.pair_count()
                ));
            }
            (model.expected(&initial).map_err(|error| text.error(0, error.to_string()))?, horizon)
        }
    };
    if model.foreign.rewards.names.len() > 1 && root.get("objective").is_none() {
        let (first, others) = (&model.foreign.rewards.names[0], model.foreign.rewards.names[1..].join(", "));
        notes.push(format!("the cost is \"{first}\"; [objective] can use the others: {others}"));
    }
    let source = self_contained(root, &content, &lines);
    Ok(Imported { world: world(built, &model.foreign, &mut notes), discount, horizon, notes, source })
}

/// What the file around the model says about time, where it does.
struct Given {
    discount: Option<f64>,
    horizon: Steps,
}

/// How many steps an episode has.
enum Steps {
    Given(usize),
    /// To be computed from the accuracy.
    Computed,
    Unsaid,
}

impl Given {
    fn read(root: Table, split: bool) -> Result<Self, FileError> {
        let discount = root.field("discount", timing::discount)?;
        let horizon = root.accept(match (root.get("horizon"), root.get("accuracy")) {
            (Some(horizon), None) => horizon.count(1, longest(split) as u64).map(|steps| Steps::Given(steps as usize)),
            (Some(_), Some(accuracy)) => Err(accuracy.error("both horizon and accuracy are given; give one of them")),
            (None, Some(accuracy)) if split => {
                Err(accuracy.error("rewards = \"split\" needs horizon instead of accuracy"))
            }
            (None, Some(_)) => Ok(Steps::Computed),
            (None, None) => Ok(Steps::Unsaid),
        })?;
        Ok(Self { discount, horizon: horizon.unwrap_or(Steps::Unsaid) })
    }
}

/// Split states need one step more.
fn longest(split: bool) -> usize {
    if split { MAX_HORIZON - 1 } else { MAX_HORIZON }
}

fn discount(given: Option<f64>, foreign: &Foreign, notes: &mut Vec<String>, lines: &mut String) -> f64 {
    if let Some(discount) = given {
        return discount;
    }
    let discount = foreign.discount.unwrap_or_else(|| {
        notes.push(format!("no discount is given: it is {DISCOUNT}"));
        DISCOUNT
    });
    let _ = writeln!(lines, "discount = {discount:?}");
    discount
}

fn horizon(foreign: &Foreign, discount: f64, split: bool, notes: &mut Vec<String>, lines: &mut String) -> usize {
    let longest = longest(split);
    let horizon = foreign.horizon.unwrap_or_else(|| {
        if discount == 1.0 {
            notes.push(format!("no horizon is given: it is {UNDISCOUNTED_HORIZON}"));
            return UNDISCOUNTED_HORIZON;
        }
        let steps = ((0.01_f64 / 8.0).ln() / discount.ln()).ceil().max(1.0);
        let horizon = if steps > longest as f64 { longest } else { steps as usize };
        notes.push(format!(
            "no horizon is given: it is {horizon}, which leaves at most a hundredth of the largest cost"
        ));
        horizon
    });
    let _ = writeln!(lines, "horizon = {}", horizon.min(longest));
    horizon.min(longest)
}

fn split_states(
    model: &Model,
    initial: &[(u32, f64)],
    factor: f64,
    root: Table,
    text: &Text,
) -> Result<Built, FileError> {
    model.split(initial, factor).map_err(|error| match error {
        SplitError::Model(error) => text.error(0, error.to_string()),
        SplitError::TooMany { transitions } => {
            let limit = super::world::MAX_TRANSITIONS;
            let message = format!("the split model has {transitions} transitions; at most {limit} are supported");
            let error = root.get("rewards").map_or_else(|| root.error(&message), |value| value.error(&message));
            error.hint("rewards = \"expected\" needs no split")
        }
    })
}

fn world(built: Built, foreign: &Foreign, notes: &mut Vec<String>) -> World {
    let Built { mdp, mut groups, costs } = built;
    let mut taken: Vec<String> = groups.keys().filter(|name| mdp.find_state(name).is_some()).cloned().collect();
    taken.sort_unstable();
    for name in taken {
        notes.push(format!("the label \"{}\" has the name of a state and is ignored", shortened(&name)));
        groups.remove(&name);
    }
    groups.remove(super::world::ALL);
    let costs = foreign.rewards.names.iter().cloned().zip(costs).collect();
    let unread = foreign.unread.any();
    let doubts = Doubts { states: unread, actions: unread, transitions: unread, ..Doubts::default() };
    World { mdp: Arc::new(mdp), groups, scene: Scene::Graph(GraphScene { positions: None }), doubts, costs }
}
