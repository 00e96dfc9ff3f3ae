//! `gumdp show`: a task as text, as a drawing, or as its problem file.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use gumdp::{Mdp, Pair, Selection, State};
use gumdp_files::{GridScene, Scene, Task};

use super::{Run, heading, load};
use crate::failure::BadInput;
use crate::store::write_file;
use crate::{draw, number};

/// Show a task: parameters, objective, map.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gumdp show grid-msee\n  gumdp show mdp --svg mdp.svg\n  gumdp show rooms --toml > mine.toml"
)]
pub struct ShowArgs {
    /// Name of a built-in task, or a problem file.
    pub task: String,
    /// Print the problem file itself.
    #[arg(long, conflicts_with = "svg")]
    pub toml: bool,
    /// Draw the task into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Models with more rows than this are not listed.
const MAX_LISTED_PAIRS: usize = 60;

impl Run for ShowArgs {
    fn run(&self) -> Result<()> {
        let task = load(&self.task)?;
        if let Some(file) = &self.svg {
            let count = task.problem.mdp().state_count();
            let refusal =
                || format!("task {} has {count} states; only small models can be drawn as a graph", task.name);
            return write_drawing(file, &draw::task(&task).ok_or_else(|| BadInput::new(refusal()))?.0);
        }
        if self.toml && !io::stdout().is_terminal() {
            return Ok(io::stdout().lock().write_all(task.source.as_bytes())?);
        }
        let text = if self.toml { &task.source } else { &describe(&task) };
        Ok(crate::talk::stdout().write_all(text.as_bytes())?)
    }
}

/// Writes a drawing; a place where nothing can be written is bad input.
fn write_drawing(file: &Path, drawing: &str) -> Result<()> {
    write_file(file, drawing.as_bytes()).map_err(|error| match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::PermissionDenied) => {
            BadInput::caused(error).into()
        }
        _ => error,
    })
}

fn describe(task: &Task) -> String {
    let (problem, mdp, defaults) = (&task.problem, task.problem.mdp(), &task.defaults);
    let mut text = format!("{}\n", heading(task));
    if !task.description.is_empty() {
        let _ = writeln!(text, "{}", task.description.trim());
    }
    text.push('\n');
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<12} {value}");
    };
    let (states, pairs, steps) = (mdp.state_count(), mdp.pair_count(), mdp.transition_count());
    line("states", format!("{states} ({pairs} state-action pairs, {steps} transitions)"));
    line("actions", (0..mdp.action_count() as u32).map(|a| mdp.action_name(a.into())).collect::<Vec<_>>().join(", "));
    let starts = mdp.initial().iter().map(|&(state, probability)| outcome(mdp, state, probability));
    line("start", starts.collect::<Vec<_>>().join(", "));
    line("discount", problem.discount().to_string());
    line("horizon", problem.horizon().to_string());
    line("objective", problem.objective().to_string());
    let bounds = problem.objective().bounds();
    // Bounds are rounded outwards; a person wants to read 0, not -1e-12.
    let bound = |x: f64| number::short(if x.abs() < 1e-9 * (bounds.high - bounds.low) { 0.0 } else { x });
    line("costs lie in", format!("[{}, {}]", bound(bounds.low), bound(bounds.high)));
    let betas = || defaults.betas.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match &defaults.risks[..] {
        [] => line("beta", betas()),
        risks => line("risk", risks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
    line("runs", defaults.runs.to_string());
    let (simulations, exploration) = (defaults.simulations, number::short(defaults.exploration));
    let (selection, variant) = (defaults.selection, defaults.variant);
    let rule = if selection == Selection::default() { String::new() } else { format!(" ({selection})") };
    line("planner", format!("{simulations} simulations, exploration {exploration}{rule}, {variant} variant"));
    text.push('\n');
    match &task.scene {
        Scene::Grid(grid) => text.push_str(&map_with_legend(grid)),
        Scene::Graph(_) if mdp.pair_count() <= MAX_LISTED_PAIRS => text.push_str(&transitions(mdp)),
        Scene::Graph(_) => {}
    }
    text
}

fn transitions(mdp: &Mdp) -> String {
    let mut text = String::new();
    let states = mdp.states().map(|state| mdp.state_name(state).chars().count()).max().unwrap_or(0);
    let actions = (0..mdp.action_count() as u32).map(|a| mdp.action_name(a.into()).chars().count()).max().unwrap_or(0);
    for pair in (0..mdp.pair_count() as u32).map(Pair::from) {
        let outcomes: Vec<String> = mdp.successors(pair).map(|(state, p)| outcome(mdp, state, p)).collect();
        let (state, action) = (mdp.state_name(mdp.state(pair)), mdp.action_name(mdp.action(pair)));
        let _ = writeln!(text, "  {state:<states$}  {action:<actions$}  → {}", outcomes.join(", "));
    }
    text
}

/// A state with its probability, unless it is certain.
fn outcome(mdp: &Mdp, state: State, probability: f64) -> String {
    let name = mdp.state_name(state);
    if probability == 1.0 { name.to_owned() } else { format!("{name} {probability}") }
}

fn map_with_legend(grid: &GridScene) -> String {
    let mut text = map(grid, None);
    text.push('\n');
    for terrain in &grid.terrains {
        let direction = terrain.one_way.and_then(|action| ["left", "up", "right", "down"].get(action as usize));
        let notes = [
            (terrain.start && terrain.name != "start").then(|| "start".to_owned()),
            (terrain.home && terrain.name != "home").then(|| "home".to_owned()),
            terrain.sticky.map(|own| format!("gets stuck with probability {}, free with {}", own.stuck, own.unstuck)),
            terrain.enemy.map(|defeat| format!("defeats with probability {defeat}")),
            direction.map(|direction| format!("is left {direction} only")),
            terrain.absorbing.then(|| "is never left".to_owned()),
            (terrain.cost != 0.0).then(|| format!("cost {}", terrain.cost)),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        let notes = if notes.is_empty() { String::new() } else { format!(": {}", notes.join(", ")) };
        let _ = writeln!(text, "  {}  {}{notes}", terrain.symbol, terrain.name);
    }
    text
}

/// The ASCII map, with the agent as `@` if it is somewhere.
pub fn map(grid: &GridScene, agent: Option<u32>) -> String {
    let mut text = String::new();
    for row in 0..grid.rows {
        text.push_str("  ");
        for column in 0..grid.columns {
            let cell = (row * grid.columns + column) as u32;
            text.push(if agent == Some(cell) { '@' } else { grid.terrain(cell).symbol });
            text.push(' ');
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}
