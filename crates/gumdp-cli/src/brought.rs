//! Policies that a user brings: a saved one, a table, a script of the task, or chance.

use std::path::Path;

use anyhow::Result;
use gumdp::{Agent, Policy, Risk, Scripted, Spec, Uniform};
use gumdp_files::{PolicyTable, Saved, SavedPlanner, SavedPolicy, Task};

use crate::failure::BadInput;
use crate::progress::Preparing;
use gumdp_files::Player;

/// A policy with what is known of it.
pub struct Brought {
    /// Who chooses the actions.
    pub policy: Box<dyn Policy>,
    /// What it is, for people.
    pub what: String,
    /// The attitude to risk it was made for.
    pub risk: Option<Risk>,
    /// The planner, if it is one.
    pub planner: Option<SavedPlanner>,
}

impl Brought {
    /// The policy with this name or in this file.
    pub fn load(name: &str, task: &Task) -> Result<Self> {
        let problem = &task.problem;
        let known = |policy: Box<dyn Policy>, what: String| Self { policy, what, risk: None, planner: None };
        if name == "uniform" {
            return Ok(known(Box::new(Uniform::new(problem)), "every action equally likely".to_owned()));
        }
        if let Some(script) = task.scripts.iter().find(|script| script.name == name) {
            let script = Scripted::new(problem, script.actions.clone()).map_err(BadInput::new)?;
            return Ok(known(Box::new(script), format!("script {name} of the task")));
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
        let table = PolicyTable::load(path, problem).map_err(BadInput::from)?;
        let kind = if matches!(table, PolicyTable::Script(_)) { "script" } else { "table" };
        Ok(known(table.into_policy(), format!("{kind} {}", path.display())))
    }

    fn load_saved(path: &Path, task: &Task) -> Result<Self> {
        let saved = SavedPolicy::load(path, task).map_err(BadInput::from)?;
        let risk = Some(saved.risk);
        let shown = format!("{}, saved for {}", path.display(), crate::number::risk_label(saved.risk));
        Ok(match saved.policy {
            Saved::Decisions(policy) => Self { policy, what: format!("policy {shown}"), risk, planner: None },
            Saved::Planner(planner) => {
                let preparing = Preparing::new();
                let spec = Spec { tell: Some(preparing.tell()), ..planner.spec(task, saved.risk) };
                let agent = Agent::new(&task.problem, &spec).map_err(BadInput::new)?;
                let (preset, simulations) = (Player::from(planner.preset), planner.simulations);
                let outer = agent.outer().map_or_else(String::new, |outer| format!(", {outer}"));
                let what = format!("planner {shown}: preset {preset}, {simulations} simulations per decision{outer}");
                Self { policy: agent.policy().boxed(), what, risk, planner: Some(planner) }
            }
        })
    }
}
