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
use super::files::quoted;
use super::mistakes::{Mistakes, Text};
use super::scene::{GraphScene, Scene};
use super::world::{ALL, Doubts, MAX_TRANSITIONS, World};
use super::{Steps, Timing};
use content::{Content, self_contained};
use foreign::{Built, Foreign};
use gumdp::{MAX_HORIZON, normalised_discounts};
use start::initial;

mod cassandra;
mod content;
mod csv;
mod drn;
mod foreign;
mod gymnasium;
mod json;
mod lines;
mod start;
mod unread;

pub(super) use foreign::some_of;

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
    read: fn(Text) -> Option<Foreign>,
    /// Reads the files that belong to the one at this path.
    read_neighbours: Option<fn(&Path, &mut Foreign, &Mistakes)>,
}

const FORMATS: [&Format; 4] = [&csv::FORMAT, &gymnasium::FORMAT, &drn::FORMAT, &cassandra::FORMAT];

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
    pub(super) timing: Timing,
    pub(super) notes: Vec<String>,
    /// A problem file that says the same without any other file.
    pub(super) source: String,
}

/// What had to be assumed.
#[derive(Default)]
struct Assumed {
    /// For the user to know.
    notes: Vec<String>,
    /// Fields of a problem file that say it.
    lines: String,
}

/// Reads a file of this kind.
pub(super) fn read(root: Table, opened: Option<Opened>) -> Option<Imported> {
    let content = Content::read(root, opened);
    let rewards = root.get("rewards");
    let split = rewards.and_then(|rewards| rewards.choice(&[("expected", false), ("split", true)])).unwrap_or(false);
    let gain = root.get("gain").and_then(Value::flag);
    let discount = root.get("discount").and_then(Timing::discount);
    // Split states need one step more.
    let longest = if split { MAX_HORIZON - 1 } else { MAX_HORIZON };
    let mut steps = Timing::steps(root, longest).unwrap_or(Steps::Unsaid);
    if let (Steps::Computed, true, Some(accuracy)) = (&steps, split, root.get("accuracy")) {
        accuracy.error("rewards = \"split\" needs horizon instead of accuracy").tell::<()>();
        steps = Steps::Unsaid;
    }
    let content = content?;
    let text = Text::of_data(&content.file, &content.text, root.text().mistakes);
    let mut foreign = (content.format.read)(text)?;
    if let (Some(path), Some(read)) = (&content.path, content.format.read_neighbours) {
        read(path, &mut foreign, text.mistakes);
    }
    if let Some(gain) = gain {
        foreign.gains = gain;
    } else if foreign.gains {
        foreign.notes.push("rewards are taken for gains: a cost is minus a reward".to_owned());
    }
    let mut model = foreign.finish(text)?;

    let mut assumed = Assumed { notes: std::mem::take(&mut model.foreign.notes), ..Assumed::default() };
    let discount = discount.unwrap_or_else(|| assumed.discount(&model.foreign));
    let initial = initial(root, &model, text, &mut assumed).unwrap_or_else(|| vec![(model.states[0], 1.0)]);
    let horizon = match steps {
        Steps::Given(horizon) => Some(horizon),
        Steps::Computed => None,
        Steps::Unsaid => Some(assumed.horizon(&model.foreign, discount, longest)),
    };
    let uncertain = model.uncertain_rewards();
    let (built, horizon) = match horizon {
        Some(horizon) if split => {
            let (copies, transitions) = model.copies(&initial);
            if transitions > MAX_TRANSITIONS {
                let most = format!("at most {MAX_TRANSITIONS} are supported");
                let mistake = rewards?.error(format!("the split model has {transitions} transitions; {most}"));
                return mistake.hint("rewards = \"expected\" needs no split").tell();
            }
            let longer = horizon + 1;
            // A reward is paid one step later, with a discount γ times smaller, as a share of a longer horizon.
            let earned = normalised_discounts(discount, horizon)[0];
            let paid = normalised_discounts(discount, longer)[1];
            (model.split(&initial, &copies, earned / paid), Some(longer))
        }
        _ => {
            if uncertain > 0 && rewards.is_none() {
                assumed.notes.push(format!(
                    "in {uncertain} of {} state-action pairs the reward depends on the next state; the expected reward \
                     is the cost (rewards = \"split\" keeps the distribution of the total exact)",
                    model.pair_count()
                ));
            }
            (model.expected(&initial), horizon)
        }
    };
    let built = built.map_err(|error| text.error(0, error.to_string()).tell::<()>()).ok()?;
    if model.foreign.rewards.names.len() > 1 && root.get("objective").is_none() {
        let (first, others) = (&model.foreign.rewards.names[0], model.foreign.rewards.names[1..].join(", "));
        assumed.notes.push(format!("the cost is \"{first}\"; [objective] can use the others: {others}"));
    }
    let source = self_contained(root, &content, &assumed.lines);
    let world = world(built, &model.foreign, &mut assumed.notes);
    Some(Imported { world, timing: Timing { discount, horizon }, notes: assumed.notes, source })
}

impl Assumed {
    fn discount(&mut self, foreign: &Foreign) -> f64 {
        let discount = foreign.discount.unwrap_or_else(|| {
            self.notes.push(format!("no discount is given: it is {DISCOUNT}"));
            DISCOUNT
        });
        let _ = writeln!(self.lines, "discount = {discount:?}");
        discount
    }

    fn horizon(&mut self, foreign: &Foreign, discount: f64, longest: usize) -> usize {
        let horizon = foreign.horizon.unwrap_or_else(|| {
            let (horizon, because) = if discount == 1.0 {
                (UNDISCOUNTED_HORIZON, "")
            } else {
                let steps = ((0.01_f64 / 8.0).ln() / discount.ln()).ceil().max(1.0);
                let horizon = if steps > longest as f64 { longest } else { steps as usize };
                (horizon, ", which leaves at most a hundredth of the largest cost")
            };
            self.notes.push(format!("no horizon is given: it is {horizon}{because}"));
            horizon
        });
        let horizon = horizon.min(longest);
        let _ = writeln!(self.lines, "horizon = {horizon}");
        horizon
    }
}

fn world(built: Built, foreign: &Foreign, notes: &mut Vec<String>) -> World {
    let Built { mdp, mut groups, costs } = built;
    let mut taken: Vec<String> = groups.keys().filter(|name| mdp.find_state(name).is_some()).cloned().collect();
    taken.sort_unstable();
    for name in taken {
        notes.push(format!("the label \"{}\" has the name of a state and is ignored", shortened(&name)));
        groups.remove(&name);
    }
    groups.remove(ALL);
    let costs = foreign.rewards.names.iter().cloned().zip(costs).collect();
    let unread = foreign.unread.any();
    let doubts = Doubts { states: unread, actions: unread, transitions: unread, ..Doubts::default() };
    World { mdp: Arc::new(mdp), groups, scene: Scene::Graph(GraphScene { positions: None }), doubts, costs }
}
