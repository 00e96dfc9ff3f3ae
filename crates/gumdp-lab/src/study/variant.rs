//! Who is compared: the published planner, the default one, and the default one with one ingredient off or changed.

use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::Result;
use gumdp::{Erm, GuidedPlanner, GuidedSettings, Planner, experiment};
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
            Self::Paper => format!("{:?}", task.defaults.paper_settings(simulations)),
            _ => format!("{:?}", self.guided(task, simulations)),
        };
        let mut hasher = DefaultHasher::new();
        (gumdp::RESULTS_VERSION, &task.source, settings).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The costs of runs 0, 1, ….
    pub fn costs(self, task: &Task, erm: Erm, simulations: u64, runs: u64, seed: u64) -> Result<Vec<f64>> {
        let problem = &task.problem;
        let runs = if self == Self::Paper {
            let planner = Planner::new(problem, erm, task.defaults.paper_settings(simulations))?;
            experiment(problem, || planner.clone(), seed, 0..runs)
        } else {
            let planner = GuidedPlanner::new(problem, erm, self.guided(task, simulations))?;
            experiment(problem, || planner.clone(), seed, 0..runs)
        };
        Ok(runs?.iter().map(|run| run.episode.cost).collect())
    }

    fn guided(self, task: &Task, simulations: u64) -> GuidedSettings {
        let settings = task.defaults.guided_settings(simulations);
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
