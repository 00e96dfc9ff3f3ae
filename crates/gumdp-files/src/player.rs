//! Who plays, by name: a planner by its preset, or another policy.

use std::fmt;

use gumdp::{Budget, Exploration, PlannerSettings, Risk, Spec};
use serde::{Deserialize, Serialize};

use crate::{Preset, Task};

/// Who plays.
///
/// ```
/// use gumdp_files::{Player, tasks};
/// let rooms = tasks::get("rooms").unwrap();
/// let spec = Player::Paper.spec(&rooms, gumdp::Risk::MEAN, 100, 7);
/// assert_eq!((spec.seed, Player::Paper.plans()), (7, true));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Player {
    /// The published planner with the paper's settings.
    Paper,
    /// The guided planner with the default settings.
    #[default]
    Default,
    /// Every action equally likely.
    Uniform,
    /// The exact optimum.
    Exact,
    /// The exact optimum of a linear objective.
    BackwardInduction,
}

impl Player {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Paper, Self::Default, Self::Uniform, Self::Exact, Self::BackwardInduction];

    /// Whether actions are chosen by simulations.
    #[must_use]
    pub fn plans(self) -> bool {
        matches!(self, Self::Paper | Self::Default)
    }

    /// What figures and reports call it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Paper => "ERM-MCTS",
            Self::Default => "default planner",
            Self::Uniform => "uniform",
            Self::Exact => "exact policy",
            Self::BackwardInduction => "ERM-BI",
        }
    }

    /// What makes the agent that plays a task with the task's own settings.
    #[must_use]
    pub fn spec(self, task: &Task, risk: Risk, simulations: u64, seed: u64) -> Spec {
        let who = match self {
            Self::Paper => {
                let exploration = Exploration::Constant(task.defaults.exploration);
                gumdp::Who::Published(PlannerSettings { exploration, ..task.defaults.published() })
            }
            Self::Default => gumdp::Who::Guided(task.defaults.guided.clone()),
            Self::Uniform => gumdp::Who::Uniform,
            Self::Exact => gumdp::Who::Exact,
            Self::BackwardInduction => gumdp::Who::BackwardInduction,
        };
        Spec { seed, budget: Some(Budget::simulations(simulations)), ..Spec::new(who, risk) }
    }
}

impl From<Preset> for Player {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::Paper => Self::Paper,
            Preset::Default => Self::Default,
        }
    }
}

/// The name in tables and files.
impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Paper => "paper",
            Self::Default => "default",
            Self::Uniform => "uniform",
            Self::Exact => "exact",
            Self::BackwardInduction => "backward-induction",
        })
    }
}
