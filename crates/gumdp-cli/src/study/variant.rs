//! Who is compared: the published planner, the default one, and the default one with one ingredient off or changed.

use anyhow::Result;
use gumdp::{GuidedPlanner, GuidedSettings, Planner, Policy};
use gumdp_files::Task;
use serde::{Deserialize, Serialize};

use crate::cells::{Cell, fnv1a};
use crate::player::Who;

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

    /// Who plays, as far as a cell knows.
    pub fn who(self) -> Who {
        if self == Self::Paper { Who::Paper } else { Who::Default }
    }

    /// The planner.
    pub fn player(self, cell: &Cell, task: &Task) -> Result<Box<dyn Policy>> {
        let (problem, erm) = (&task.problem, cell.erm()?);
        Ok(match self {
            Self::Paper => Box::new(Planner::new(problem, erm, cell.planner_settings(task))?),
            _ => Box::new(GuidedPlanner::new(problem, erm, self.guided(cell, task))?),
        })
    }

    /// A hash of all that decides how it plays: rows of other settings or of another problem are not the same.
    pub fn fingerprint(self, cell: &Cell, task: &Task) -> String {
        let settings = match self {
            Self::Paper => format!("{:?}", cell.planner_settings(task)),
            _ => format!("{:?}", self.guided(cell, task)),
        };
        let key = format!("{}\n{}\n{settings}", gumdp::RESULTS_VERSION, task.source);
        format!("{:016x}", fnv1a(key.as_bytes()))
    }

    fn guided(self, cell: &Cell, task: &Task) -> GuidedSettings {
        let settings = cell.guided_settings(task);
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
