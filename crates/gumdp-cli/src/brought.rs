//! Policies that a user brings: a saved one, a table, a script of the task, or chance.

use std::path::Path;

use anyhow::Result;
use gumdp::oracle::{Distribution, Limits, OracleError, distribution};
use gumdp::rng::Rng;
use gumdp::{Action, ByOccupancy, Markov, OccupancyState, Policy, Problem, Risk, Scripted, Uniform};
use gumdp_files::{FileError, PolicyTable, Task};

use crate::cells::Cell;
use crate::exact::Solver;
use crate::failure::BadInput;
use crate::player::Player;
use crate::saved_policy::{self, Read};

/// A policy with what is known of it.
#[derive(Debug)]
pub struct Brought {
    /// Who chooses the actions.
    pub policy: BroughtPolicy,
    /// What it is, for people.
    pub what: String,
    /// The attitude to risk it was made for.
    pub risk: Option<Risk>,
    /// The planner's cell, if it is one.
    pub planner: Option<Cell>,
}

/// One that can be played.
#[derive(Clone, Debug)]
pub enum BroughtPolicy {
    /// By chance.
    Uniform(Uniform),
    /// Of the task or of a table.
    Table(PolicyTable),
    /// By time and state.
    Markov(Markov),
    /// By occupancy state.
    Occupancy(ByOccupancy),
    /// Knows no probabilities; it can only be played.
    Planner(Box<Player>),
}

impl Brought {
    /// The policy with this name or in this file.
    pub fn load(name: &str, task: &Task) -> Result<Self> {
        let problem = &task.problem;
        let known = |policy, what: String| Self { policy, what, risk: None, planner: None };
        if name == "uniform" {
            return Ok(known(BroughtPolicy::Uniform(Uniform::new(problem)), "every action equally likely".to_owned()));
        }
        if let Some(script) = task.scripts.iter().find(|script| script.name == name) {
            let script = Scripted::new(problem, script.actions.clone()).map_err(BadInput::new)?;
            return Ok(known(BroughtPolicy::Table(PolicyTable::Script(script)), format!("script {name} of the task")));
        }
        let path = Path::new(name);
        let is_path = path.exists() || name.contains(std::path::is_separator) || path.extension().is_some();
        if !is_path {
            let scripts: Vec<&str> = task.scripts.iter().map(|script| script.name.as_str()).collect();
            let of_task = if scripts.is_empty() { String::new() } else { format!(", {}", scripts.join(", ")) };
            return Err(BadInput::new(format!("unknown policy \"{name}\""))
                .hint(format!(
                    "it may be uniform{of_task}, a file policy.json saved by gumdp, or a table such as ./table.csv"
                ))
                .into());
        }
        if path.extension().is_some_and(|extension| extension == "json") {
            return Self::load_saved(path, task);
        }
        let table = PolicyTable::load(path, problem).map_err(bad_table)?;
        let kind = if matches!(table, PolicyTable::Script(_)) { "script" } else { "table" };
        Ok(known(BroughtPolicy::Table(table), format!("{kind} {}", path.display())))
    }

    fn load_saved(path: &Path, task: &Task) -> Result<Self> {
        let (saved, read) = saved_policy::load(path, task)?;
        let risk = Some(saved.risk);
        let shown = format!("{}, saved for {}", path.display(), crate::number::risk_label(saved.risk));
        Ok(match read {
            Read::Markov(policy) => {
                Self { policy: BroughtPolicy::Markov(policy), what: format!("policy {shown}"), risk, planner: None }
            }
            Read::Occupancy(policy) => {
                Self { policy: BroughtPolicy::Occupancy(policy), what: format!("policy {shown}"), risk, planner: None }
            }
            Read::Planner(cell) => {
                let (player, outer) = Player::new(&cell, task, &mut Solver::new(&task.problem, Limits::QUICK))?;
                let (preset, simulations) = (cell.preset, cell.simulations);
                let outer = outer.map_or_else(String::new, |outer| format!(", {outer}"));
                let what = format!("planner {shown}: preset {preset}, {simulations} simulations per decision{outer}");
                Self { policy: BroughtPolicy::Planner(Box::new(player)), what, risk, planner: Some(cell) }
            }
        })
    }
}

impl BroughtPolicy {
    /// The exact law of the cost, or why it is not known; `None` if the policy can only be played.
    pub fn law(&self, problem: &Problem, limits: &Limits) -> Option<Result<Distribution, OracleError>> {
        Some(match self {
            Self::Uniform(policy) => distribution(problem, policy, limits),
            Self::Table(policy) => distribution(problem, policy, limits),
            Self::Markov(policy) => distribution(problem, policy, limits),
            Self::Occupancy(policy) => distribution(problem, policy, limits),
            Self::Planner(_) => return None,
        })
    }
}

impl Policy for BroughtPolicy {
    fn act(&mut self, at: &OccupancyState, rng: &mut Rng) -> Action {
        match self {
            Self::Uniform(policy) => policy.act(at, rng),
            Self::Table(policy) => policy.act(at, rng),
            Self::Markov(policy) => policy.act(at, rng),
            Self::Occupancy(policy) => policy.act(at, rng),
            Self::Planner(player) => player.act(at, rng),
        }
    }

    fn begin_episode(&mut self) {
        if let Self::Planner(player) = self {
            player.begin_episode();
        }
    }

    fn simulated_steps(&self) -> u64 {
        if let Self::Planner(player) = self { player.simulated_steps() } else { 0 }
    }
}

/// A mistake in a table, with its hint.
fn bad_table(error: FileError) -> BadInput {
    let bad = BadInput::new(&error);
    match error.hint {
        Some(hint) => bad.hint(hint),
        None => bad,
    }
}
