//! Who is compared: the published planner, the default one, and the default one with one ingredient off or changed.

use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::Result;
use gumdp::{Budget, Erm, GuidedPlanner, GuidedSettings, Planner, PlannerSettings, Policy};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

/// A planner with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variant {
    /// The published planner with the task's settings.
    #[serde(rename = "paper")]
    Paper,
    /// The default planner.
    #[serde(rename = "default")]
    Default,
    /// Marginal backward induction alone.
    #[serde(rename = "no tree")]
    NoTree,
    /// The tree at every decision, however far the horizon.
    #[serde(rename = "tree always")]
    TreeAlways,
    /// Marginal backward induction as if nothing were to come.
    #[serde(rename = "no forecast")]
    NoForecast,
    /// Leaves are expanded after their first rollout.
    #[serde(rename = "one rollout")]
    OneRollout,
    /// The lowest value is played, on whatever evidence.
    #[serde(rename = "no caution")]
    NoCaution,
    /// The exploration constant of the published planner.
    #[serde(rename = "theta of the paper")]
    PaperTheta,
}

impl Variant {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Paper,
        Self::Default,
        Self::NoTree,
        Self::TreeAlways,
        Self::NoForecast,
        Self::OneRollout,
        Self::NoCaution,
        Self::PaperTheta,
    ];
    /// The two planners that are offered.
    pub const PLANNERS: [Self; 2] = [Self::Paper, Self::Default];

    /// The name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Default => "default",
            Self::NoTree => "no tree",
            Self::TreeAlways => "tree always",
            Self::NoForecast => "no forecast",
            Self::OneRollout => "one rollout",
            Self::NoCaution => "no caution",
            Self::PaperTheta => "theta of the paper",
        }
    }

    /// A hash of all that decides how it plays: rows of other settings or of another problem are not the same.
    pub fn fingerprint(self, task: &Task, simulations: u64) -> String {
        let settings = match self {
            Self::Paper => format!("{:?}", published(task, simulations)),
            _ => format!("{:?}", self.guided(task, simulations)),
        };
        let mut hasher = DefaultHasher::new();
        (gumdp::RESULTS_VERSION, &task.source, settings).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The planner.
    pub fn policy(self, task: &Task, erm: Erm, simulations: u64) -> Result<Box<dyn Policy>> {
        let problem = &task.problem;
        Ok(match self {
            Self::Paper => Box::new(Planner::new(problem, erm, published(task, simulations))?),
            _ => Box::new(GuidedPlanner::new(problem, erm, self.guided(task, simulations))?),
        })
    }

    fn guided(self, task: &Task, simulations: u64) -> GuidedSettings {
        let settings = GuidedSettings { budget: Budget::simulations(simulations), ..task.defaults.guided.clone() };
        match self {
            Self::Paper | Self::Default => settings,
            Self::NoTree => GuidedSettings { reach: 0.0, ..settings },
            Self::TreeAlways => GuidedSettings { reach: f64::INFINITY, ..settings },
            Self::NoForecast => GuidedSettings { forecast: 0.0, ..settings },
            Self::OneRollout => GuidedSettings { rollouts: 1, ..settings },
            Self::NoCaution => GuidedSettings { caution: 0.0, ..settings },
            Self::PaperTheta => GuidedSettings { exploration: task.defaults.exploration, ..settings },
        }
    }
}

fn published(task: &Task, simulations: u64) -> PlannerSettings {
    PlannerSettings { budget: Budget::simulations(simulations), ..task.defaults.published() }
}
